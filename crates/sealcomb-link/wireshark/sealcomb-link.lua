-- Dissects the control messages of sealcomb-link in Wireshark and tshark, and verifies them.
--
--     datagram:  00 00 00 00 | HMAC-SHA-256 of the text, 32 bytes | text, JSON
--
--     root     = HKDF-Extract("sealcomb-link", control key)
--     key[e]   = HKDF-Expand(root, "control " e, 32)            e: the sender, "master" or "slave"
--     verified = HMAC-SHA-256(key[e], text) is the tag, for one of the two senders
--
-- Wireshark takes these messages for ISAKMP, because they share the port and the zero bytes of IKE (RFC 3948). All other
-- packets of the ports go to Wireshark's own dissector, which shows them as ESP.
--
-- Lua in Wireshark has no hash functions, so SHA-256 (FIPS 180-4) is below. It processes nothing but captured messages
-- and the key that verifies them.

local link = Proto("sealcomb-link", "sealcomb link")

local MARKER, TAG = 4, 32

local fields = {
    tag = ProtoField.bytes("sealcomb-link.tag", "HMAC-SHA-256"),
    verified = ProtoField.bool("sealcomb-link.verified", "Verified"),
    sender = ProtoField.string("sealcomb-link.sender", "Sender"),
    type = ProtoField.string("sealcomb-link.type", "Type"),
    from = ProtoField.string("sealcomb-link.from", "Boot ID of the sender"),
    to = ProtoField.string("sealcomb-link.to", "Boot ID of the receiver"),
    count = ProtoField.uint64("sealcomb-link.count", "Count"),
    epoch = ProtoField.uint64("sealcomb-link.epoch", "Epoch"),
    why = ProtoField.string("sealcomb-link.why", "Reason of the refusal"),
}
link.fields = fields

local forged = ProtoExpert.new(
    "sealcomb-link.forged", "The message does not verify under the control key",
    expert.group.SECURITY, expert.severity.WARN)
local unknown = ProtoExpert.new(
    "sealcomb-link.unknown", "The type of the message is unknown", expert.group.UNDECODED, expert.severity.NOTE)
local no_key = ProtoExpert.new(
    "sealcomb-link.no_key", "The control key cannot be read", expert.group.COMMENTS_GROUP, expert.severity.ERROR)
link.experts = { forged, unknown, no_key }

link.prefs.ports = Pref.range("UDP ports", "4500", "The ports of the link: one per worker", 65535)
link.prefs.key_file = Pref.string(
    "Control key file", "", "The file `control-key` of the link: hex digits. Empty: messages are not verified.")

-- What each type means.
local TYPES = {
    ["hello"] = "challenge to prove that the peer is alive",
    ["welcome"] = "answer to a challenge",
    ["offer"] = "rekey to this key",
    ["accept"] = "ready to receive under the offered key",
    ["refuse"] = "offer refused",
    ["confirm"] = "the master sends and receives under the key",
    ["done"] = "the slave sends and receives under the key",
    ["worn"] = "the key has reached a soft limit",
}

-- ---- SHA-256, HMAC and HKDF

local band, bxor, bnot, ror, rshift, tobit = bit.band, bit.bxor, bit.bnot, bit.ror, bit.rshift, bit.tobit

-- The first 32 bits of the fractional parts of the roots of the first `count` primes.
local function fractions(count, root)
    local found, candidate = {}, 2
    while #found < count do
        local prime = true
        for divisor = 2, math.floor(math.sqrt(candidate)) do
            prime = prime and candidate % divisor ~= 0
        end
        if prime then
            local value = candidate ^ root
            found[#found + 1] = tobit(math.floor((value - math.floor(value)) * 2 ^ 32))
        end
        candidate = candidate + 1
    end
    return found
end

local ROUND = fractions(64, 1 / 3)
local START = fractions(8, 1 / 2)

local function word(number)
    local byte = function(shift) return band(rshift(number, shift), 255) end
    return string.char(byte(24), byte(16), byte(8), byte(0))
end

local function schedule(block)
    local w = {}
    for at = 1, 16 do
        local a, b, c, d = block:byte(4 * at - 3, 4 * at)
        w[at] = tobit(a * 2 ^ 24 + b * 2 ^ 16 + c * 2 ^ 8 + d)
    end
    for at = 17, 64 do
        local x, y = w[at - 15], w[at - 2]
        local s0 = bxor(ror(x, 7), ror(x, 18), rshift(x, 3))
        local s1 = bxor(ror(y, 17), ror(y, 19), rshift(y, 10))
        w[at] = tobit(w[at - 16] + s0 + w[at - 7] + s1)
    end
    return w
end

local function compress(state, block)
    local w = schedule(block)
    local a, b, c, d, e, f, g, h = table.unpack(state)
    for at = 1, 64 do
        local s1 = bxor(ror(e, 6), ror(e, 11), ror(e, 25))
        local choice = bxor(band(e, f), band(bnot(e), g))
        local t1 = h + s1 + choice + ROUND[at] + w[at]
        local s0 = bxor(ror(a, 2), ror(a, 13), ror(a, 22))
        local majority = bxor(band(a, b), band(a, c), band(b, c))
        a, b, c, d, e, f, g, h = tobit(t1 + s0 + majority), a, b, c, tobit(d + t1), e, f, g
    end
    local step = { a, b, c, d, e, f, g, h }
    for at = 1, 8 do
        state[at] = tobit(state[at] + step[at])
    end
end

local function sha256(message)
    local padding = string.rep("\0", (55 - #message) % 64)
    local padded = message .. "\128" .. padding .. word(0) .. word(8 * #message)
    local state = { table.unpack(START) }
    for at = 1, #padded, 64 do
        compress(state, padded:sub(at, at + 63))
    end
    local digest = {}
    for at = 1, 8 do
        digest[at] = word(state[at])
    end
    return table.concat(digest)
end

local function hmac(key, message)
    if #key > 64 then
        key = sha256(key)
    end
    key = key .. string.rep("\0", 64 - #key)
    local with = function(mask)
        return (key:gsub(".", function(byte) return string.char(bxor(byte:byte(), mask)) end))
    end
    return sha256(with(0x5c) .. sha256(with(0x36) .. message))
end

-- ---- Keys

local keys, key_problem = nil, nil

-- Reads the control key, and derives the keys of both senders.
local function read_keys(path)
    keys, key_problem = nil, nil
    if path == "" then
        return
    end
    local file, problem = io.open(path, "r")
    if not file then
        key_problem = problem
        return
    end
    local text = file:read("*a"):gsub("%s", "")
    file:close()
    if #text < 64 or #text % 2 == 1 or text:find("%X") then
        key_problem = path .. ": expected at least 64 hex digits"
        return
    end
    local key = text:gsub("%x%x", function(digits) return string.char(tonumber(digits, 16)) end)
    local root = hmac("sealcomb-link", key)
    keys = {}
    for _, sender in ipairs({ "master", "slave" }) do
        keys[sender] = hmac(root, "control " .. sender .. "\1")
    end
end

local function sender_of(tag, text)
    for sender, key in pairs(keys) do
        if hmac(key, text) == tag then
            return sender
        end
    end
end

-- ---- Messages

local function is_control(buffer)
    return buffer:len() > MARKER + TAG and buffer(0, MARKER):uint() == 0 and buffer(MARKER + TAG, 1):string() == "{"
end

local function add_verdict(tree, tag, text)
    if key_problem then
        tree:add_proto_expert_info(no_key, key_problem)
    end
    if not keys then
        return ""
    end
    local sender = sender_of(tag, text)
    tree:add(fields.verified, sender ~= nil):set_generated()
    if not sender then
        tree:add_proto_expert_info(forged)
        return ", not verified"
    end
    tree:add(fields.sender, sender):set_generated()
    return ", verified, from the " .. sender
end

local function dissect_control(buffer, packet, root)
    local tag, text = buffer(MARKER, TAG), buffer(MARKER + TAG)
    local json = text:raw()
    local kind = json:match('"say"%s*:%s*{%s*"([%w-]+)"') or json:match('"say"%s*:%s*"([%w-]+)"') or "?"
    local tree = root:add(link, buffer())
    local verdict = add_verdict(tree, tag:raw(), json)
    local summary = kind
    local type_item = tree:add(fields.type, text, kind)
    if TYPES[kind] then
        type_item:append_text(" (" .. TYPES[kind] .. ")")
    else
        tree:add_proto_expert_info(unknown)
    end
    for _, name in ipairs({ "from", "to" }) do
        local id = json:match('"' .. name .. '"%s*:%s*"(%x+)"')
        if id then
            tree:add(fields[name], text, id)
        end
    end
    for _, name in ipairs({ "count", "epoch" }) do
        local number = json:match('"' .. name .. '"%s*:%s*(%d+)')
        if number then
            tree:add(fields[name], text, UInt64(tonumber(number)))
            if name == "epoch" then
                summary = summary .. ", epoch " .. number
            end
        end
    end
    local why = json:match('"why"%s*:%s*"([%w-]+)"')
    if why then
        tree:add(fields.why, text, why)
        summary = summary .. ": " .. why
    end
    tree:add(fields.tag, tag)
    tree:append_text(": " .. summary .. verdict)
    Dissector.get("json"):call(text:tvb(), packet, tree)
    packet.cols.protocol = "sealcomb-link"
    packet.cols.info = summary .. verdict
end

local table_of_ports = DissectorTable.get("udp.port")
-- Taken before this dissector replaces it.
local esp_in_udp = table_of_ports:get_dissector(4500)

function link.dissector(buffer, packet, root)
    if not is_control(buffer) then
        return esp_in_udp:call(buffer, packet, root)
    end
    dissect_control(buffer, packet, root)
    return buffer:len()
end

local ports = nil

local function apply_preferences()
    if ports ~= link.prefs.ports then
        if ports then
            table_of_ports:remove(ports, link)
        end
        ports = link.prefs.ports
        table_of_ports:add(ports, link)
    end
    read_keys(link.prefs.key_file)
end

link.prefs_changed = apply_preferences
apply_preferences()
