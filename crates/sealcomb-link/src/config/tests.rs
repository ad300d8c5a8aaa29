use super::*;

/// Creates a folder with the secret files of a configuration.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("control.key"), "ab".repeat(32) + "\n").unwrap();
    fs::write(folder.path().join("link.key"), "cd".repeat(32)).unwrap();
    fs::write(folder.path().join("short.key"), "cd".repeat(31)).unwrap();
    fs::write(folder.path().join("empty.key"), "\n").unwrap();
    folder
}

const GOOD: &str = r#"
role = "master"
local = "192.0.2.1:4500"
peer = "192.0.2.2:4500"
suite = "aes256-gcm"
control-key = "control.key"
[tun]
name = "seal0"
addresses = ["10.9.0.1/24", "fd09::1/64"]
[keys]
file = "link.key"
[rekey]
every = "100ms"
packets = 1_000
"#;

#[test]
fn a_valid_file_is_read_completely() {
    let folder = folder();
    let Ok(config) = parse("link.toml", GOOD, folder.path()) else { panic!() };
    assert_eq!((config.peers[0].role, config.peers[0].rekey.age), (Role::Master, Duration::from_millis(100)));
    assert_eq!((config.peers[0].rekey.packets, config.peers[0].limits.age), (1000, Duration::from_secs(10)));
    // 1500 - (20 + 8) for IPv4 and UDP - (8 + 8) for ESP header and IV - (2 + 16) for trailer and ICV. 1438 + 2 is a
    // multiple of 4.
    assert_eq!(config.inner_mtu(), 1438);
    assert_eq!(config.peers[0].last_number(), (1 << 32) - 1);
}

#[test]
fn every_error_is_reported_on_its_own_line_and_quotes_nothing() {
    let folder = folder();
    let text = r#"role = "boss"
local = "192.0.2.1"
peer = "192.0.2.2:4500"
suite = "des"
secret-secret = 5
control-key = "nowhere.key"
[tun]
name = "a name that is too long"
addresses = ["10.9.0.1/24", "here"]
[keys]
file = "short.key"
[rekey]
every = "1ms"
"#;
    let Err(lines) = parse("link.toml", text, folder.path()) else { panic!() };
    let at: Vec<&str> = lines.iter().map(|line| line.split(": ").next().unwrap()).collect();
    let expected = [1, 2, 4, 5, 6, 8, 9, 10, 12].map(|line| format!("link.toml:{line}"));
    assert_eq!(at, expected, "{lines:#?}");
    assert!(lines.iter().all(|line| !line.contains("secret-secret") && !line.contains("boss")));
}

#[test]
fn a_field_or_table_that_the_file_has_already_is_named_as_such() {
    for (from, to, line) in [
        ("suite = \"aes256-gcm\"", "suite = \"aes256-gcm\"\nsuite = \"aes256-gcm\"", 6),
        ("[keys]", "[tun]\n[keys]", 10),
        ("[keys]", "[[peer]]\nname = \"a\"\n[keys]", 10),
    ] {
        let expected = format!("link.toml:{line}: the file has this field or table already");
        assert_eq!(errors(from, to), [expected], "{to}");
    }
}

#[test]
fn tables_are_named_by_their_headers() {
    for (from, to, expected) in [
        ("file = \"link.key\"", "[keys.command]", "[keys.command] lacks the required field `program`"),
        ("file = \"link.key\"", "skip = 5", "`skip` must be a table with the header [keys.skip]"),
        ("peer = \"192.0.2.2:4500\"", "peer = { name = \"a\" }", "tables with the header [[peer]]"),
    ] {
        let lines = errors(from, to);
        assert!(lines.iter().any(|line| line.contains(expected)), "{lines:?}");
    }
    let lines = tables(&TABLES.replacen("[peer.keys]\nfile", "[peer.keys.etsi014]\nfile", 1)).err().unwrap();
    assert!(lines.iter().any(|line| line.contains("unknown field in [peer.keys.etsi014]")), "{lines:?}");
}

#[test]
fn link_local_addresses_have_an_interface_and_others_have_none() {
    let ends = |local: &str, peer: &str| {
        let text = GOOD.replacen("192.0.2.1:4500", local, 1).replacen("192.0.2.2:4500", peer, 1);
        parse("link.toml", &text, folder().path())
    };
    let lo = nix::net::if_::if_nametoindex("lo").unwrap();
    for (local, peer) in [
        ("[fe80::1%lo]:4500", "[fe80::2%lo]:4500"),
        (&format!("[fe80::1%{lo}]:4500"), "[fe80::2%lo]:4500"),
        ("[::]:4500", "[fe80::2%lo]:4500"),
        ("[fe80::1%lo]:4500", "[2001:db8::2]:4500"),
    ] {
        let Ok(config) = ends(local, peer) else { panic!("{local} {peer}: {:?}", ends(local, peer).err()) };
        let zone = |address| match address {
            SocketAddr::V6(address) => address.scope_id(),
            SocketAddr::V4(_) => panic!("not IPv6"),
        };
        let zones = [config.local, config.peers[0].address.address().unwrap()].map(zone);
        assert_eq!(zones.map(|zone| zone == lo), [local, peer].map(|text| text.contains('%')));
    }
    for (local, peer, expected) in [
        ("[fe80::1]:4500", "[2001:db8::2]:4500", "`local`: a link-local address must name its interface"),
        ("[::]:4500", "[fe80::2]:4500", "`peer`: a link-local address must name its interface"),
        ("[::]:4500", "[febf::2]:4500", "`peer`: a link-local address must name its interface"),
        ("[::]:4500", "[fe80::2%no-such-one]:4500", "`peer`: this machine has no interface of the name"),
        ("[fe80::1%no-such-one]:4500", "[::2]:4500", "`local`: this machine has no interface of the name"),
        ("[::]:4500", "[fe80::2%4294967295]:4500", "`peer`: this machine has no interface of the number"),
        ("[::]:4500", "[2001:db8::2%lo]:4500", "`peer`: only a link-local address has an interface"),
        ("[::]:4500", "[fe80::2%lo]", "`peer` must be an address or host name with a port"),
    ] {
        let lines = ends(local, peer).err().unwrap_or_default();
        assert!(lines.len() == 1 && lines[0].contains(expected), "{local} {peer}: {lines:?}");
    }
    let listen = |address: &str| errors("role =", &format!("listen = \"{address}\"\nrole ="));
    assert!(listen("[fe80::1]:9469").iter().any(|line| line.contains("`listen`: a link-local address")));
    assert!(listen("[::1%lo]:9469").iter().any(|line| line.contains("`listen`: only a link-local address")));
}

#[test]
fn missing_required_fields_are_reported() {
    let Err(lines) = parse("link.toml", "esn = true\n", Path::new(".")) else { panic!() };
    for name in ["role", "local", "suite", "control-key", "tun", "keys"] {
        assert!(
            lines.iter().any(|line| line.contains(&format!("lacks the required field `{name}`"))),
            "{name}"
        );
    }
}

/// Returns the errors after replacing `from` by `to` in a valid file.
fn errors(from: &str, to: &str) -> Vec<String> {
    assert!(GOOD.contains(from));
    match parse("link.toml", &GOOD.replacen(from, to, 1), folder().path()) {
        Ok(_) => Vec::new(),
        Err(lines) => lines,
    }
}

#[test]
fn a_hard_limit_must_exceed_its_soft_limit() {
    let end = "packets = 1_000\n";
    let longer = |limits: &str| errors(end, &format!("{end}[limits]\n{limits}\n"));
    assert_eq!(longer("age = \"101ms\"\npackets = 1001\nbytes = 34_359_738_369"), [""; 0]);
    for limit in
        ["age = \"100ms\"", "age = \"50ms\"", "packets = 1000", "packets = 999", "bytes = 34_359_738_368"]
    {
        let lines = longer(limit);
        let (name, _) = limit.split_once(' ').unwrap();
        assert!(lines.len() == 1 && lines[0].contains(&format!("[limits]: `{name}`")), "{limit}: {lines:?}");
    }
    // The default hard limits count too, as does the last sequence number.
    for rekey in ["packets = 4_294_967_295", "bytes = 68_719_476_736"] {
        assert_eq!(errors("packets = 1_000", rekey).len(), 1, "{rekey}");
    }
    let numbers = "packets = 4_294_967_295\n[limits]\npackets = 4_294_967_297\n";
    assert_eq!(errors("packets = 1_000\n", numbers), [""; 0]);
    let short = GOOD.replacen("packets = 1_000\n", numbers, 1).replacen("[tun]", "esn = false\n[tun]", 1);
    assert!(parse("link.toml", &short, folder().path()).is_err());
}

#[test]
fn a_key_may_carry_the_longest_packet() {
    let limits = |bytes: u64| {
        let end = "packets = 1_000\n";
        errors(end, &format!("{end}bytes = 1000\n[limits]\nbytes = {bytes}\n"))
    };
    assert_eq!(limits(1438), [""; 0]);
    let lines = limits(1437);
    assert!(lines.len() == 1 && lines[0].contains("[limits]: `bytes` must be at least 1438"), "{lines:?}");
}

#[test]
fn the_overlap_is_limited_by_the_rekey_interval() {
    let with = |overlap: &str| errors("[tun]", &format!("overlap = \"{overlap}\"\n[tun]"));
    assert_eq!((with("0s"), with("25600ms")), (vec![], vec![]));
    for overlap in ["25601ms", "1h"] {
        let lines = with(overlap);
        let is_named = |line: &String| line.contains("`overlap` must be at most 256 times `every`");
        assert!(lines.len() == 1 && lines.iter().all(is_named) && lines[0].contains("100ms"), "{lines:?}");
    }
    // A peer's own table counts, wherever the other field is.
    let text = |every: &str| {
        let own = TABLES.replacen("every = \"1s\"", &format!("every = \"{every}\""), 1);
        own.replacen("[tun]", "overlap = \"25s\"\n[tun]", 1)
    };
    assert!(tables(&text("1s")).is_ok());
    assert_eq!(tables(&text("50ms")).err().map(|lines| lines.len()), Some(1));
}

#[test]
fn an_interface_name_is_one_that_the_kernel_takes_as_it_is() {
    for name in ["a", "seal-0_1.x", "...", "abcdefghijklmno"] {
        assert_eq!(errors("seal0", name), [""; 0], "{name}");
    }
    for name in ["", ".", "..", "a/b", "a:1", "seal%d", "a b", "s\u{e9}al", "abcdefghijklmnop"] {
        let lines = errors("seal0", name);
        assert!(
            lines.len() == 1 && lines[0].contains("`name` must be an interface name"),
            "{name}: {lines:?}"
        );
    }
}

#[test]
fn the_addresses_of_the_interface_are_different_hosts() {
    let lines = |addresses: &str| errors("\"10.9.0.1/24\", \"fd09::1/64\"", addresses);
    for good in ["", "\"10.9.0.1/32\", \"10.9.0.2/24\", \"fd09::1/64\", \"fe80::1/64\"", "\"10.9.0.0/24\""] {
        assert_eq!(lines(good), [""; 0], "{good}");
    }
    for wrong in [
        "fd09::1/64\", \"fd09::1/64",
        "10.9.0.1/24\", \"10.9.0.1/16",
        "0.0.0.0/0",
        "::/0",
        "224.0.0.1/4",
        "ff02::1/64",
    ] {
        let lines = lines(&format!("\"{wrong}\""));
        assert!(lines.len() == 1 && lines[0].contains("address of a single host"), "{wrong}: {lines:?}");
    }
}

#[test]
fn the_peer_may_be_an_address_a_name_or_absent() {
    let peer = |line: &str| {
        let text = GOOD.replacen("peer = \"192.0.2.2:4500\"\n", line, 1);
        parse("link.toml", &text, folder().path()).map(|mut config| config.peers.remove(0).address).ok()
    };
    let name = |host: &str| Some(Peer::Name { host: host.into(), port: 4500 });
    assert_eq!(peer("peer = \"192.0.2.2:4500\"\n"), Some(Peer::Address("192.0.2.2:4500".parse().unwrap())));
    assert_eq!(peer("peer = \"hub.example:4500\"\n"), name("hub.example"));
    assert_eq!(peer("peer = \"7-hub_1:4500\"\n"), name("7-hub_1"));
    assert_eq!(peer(""), Some(Peer::Absent));
    for wrong in [
        "hub.example",
        "hub.example:0",
        "hub.example:65536",
        "192.0.2.300:4500",
        "a..b:4500",
        ":4500",
        "hub example:1",
    ] {
        assert_eq!(peer(&format!("peer = \"{wrong}\"\n")), None, "{wrong}");
    }
    assert_eq!(peer("workers = 2\n"), None, "only `peer` tells the ports of the workers");
}

#[test]
fn routes_and_commands_are_read_and_checked() {
    let tun = |lines: &str| {
        let text = GOOD.replacen("[keys]", &format!("{lines}\n[keys]"), 1);
        parse("link.toml", &text, folder().path()).map(|config| config.tun).ok()
    };
    let all = "routes = [\"10.10.0.0/16\", \"::/0\"]\nroute-mtu = 1300\nroute-table = 100\nup = [\"true\"]\ndown = [\"a\", \"b\"]";
    let read = tun(all).unwrap();
    assert_eq!((read.routes.len(), read.route_mtu, read.route_table), (2, Some(1300), Some(100)));
    assert_eq!((read.up.len(), read.down.len()), (1, 2));
    for wrong in
        ["routes = [\"10.10.0.0/33\"]", "route-mtu = 575", "route-table = 0", "up = \"true\"", "down = [5]"]
    {
        assert!(tun(wrong).is_none(), "{wrong}");
    }
}

#[test]
fn a_field_that_has_no_effect_without_another_requires_it() {
    for (place, line, other) in [
        ("[tun]", "listen-token = \"link.key\"", "listen"),
        ("[keys]", "route-mtu = 1300", "routes"),
        ("[keys]", "route-table = 100", "routes"),
        ("[keys]", "search = [\"example.org\"]", "dns"),
    ] {
        let lines = errors(place, &format!("{line}\n{place}"));
        assert!(lines.len() == 1 && lines[0].contains(&format!("requires `{other}`")), "{line}: {lines:?}");
    }
}

#[test]
fn the_dead_time_follows_the_interval_and_exceeds_it() {
    let read = |table: &str| {
        let text = format!("{GOOD}[liveness]\n{table}\n");
        parse("link.toml", &text, folder().path()).map(|config| config.peers[0].liveness).ok()
    };
    let Ok(config) = parse("link.toml", GOOD, folder().path()) else { panic!() };
    assert_eq!(config.peers[0].liveness, Liveness::DEFAULT);
    let seconds = Duration::from_secs;
    let made = |interval, dead, nat_keepalive| Some(Liveness { interval, dead, nat_keepalive });
    assert_eq!(read(r#"interval = "10s""#), made(seconds(10), seconds(50), Some(seconds(20))));
    assert_eq!(read(r#"nat-keepalive = "0s""#), made(seconds(1), seconds(5), None));
    let all = "interval = \"100ms\"\ndead = \"200ms\"\nnat-keepalive = \"100ms\"";
    let tenth = Duration::from_millis(100);
    assert_eq!(read(all), made(tenth, tenth * 2, Some(tenth)));
    for wrong in [
        r#"interval = "99ms""#,
        r#"dead = "1999ms""#,
        r#"nat-keepalive = "99ms""#,
        r#"dead = "soon""#,
        "x = 1",
    ] {
        assert_eq!(read(wrong), None, "{wrong}");
    }
}

#[test]
fn unusable_addresses_are_rejected() {
    let (local, peer) = ("192.0.2.1:4500", "192.0.2.2:4500");
    for (from, to, line) in [
        (local, "192.0.2.1:0", 3),
        (local, "224.0.0.1:4500", 3),
        (local, "[2001:db8::1]:4500", 4),
        (peer, "192.0.2.2:0", 4),
        (peer, "0.0.0.0:4500", 4),
        (peer, "239.1.2.3:4500", 4),
        (peer, "255.255.255.255:4500", 4),
        (peer, "[ff02::1]:4500", 4),
        (peer, local, 4),
    ] {
        let lines = errors(from, to);
        assert!(!lines.is_empty(), "{to}");
        assert!(
            lines.iter().all(|found| found.starts_with(&format!("link.toml:{line}: "))),
            "{to}: {lines:?}"
        );
    }
    assert_eq!(errors(local, "0.0.0.0:4500"), [""; 0], "the local address may be unspecified");
    for (ports, workers, is_good) in [("65535", 1, true), ("65535", 2, false), ("65472", 64, true)] {
        let text = format!("{ports}\"\nworkers = {workers}");
        assert_eq!(errors("4500\"", &text).is_empty(), is_good, "{text}");
    }
    assert_eq!(errors("[tun]", "listen = \"127.0.0.1:0\"\n[tun]").len(), 1);
    assert_eq!(errors("[tun]", "listen = \"192.0.2.1:9469\"\n[tun]").len(), 1, "without a token");
    let listen =
        |token| errors("[tun]", &format!("listen = \"192.0.2.1:9469\"\nlisten-token = \"{token}\"\n[tun]"));
    assert_eq!(listen("link.key"), [""; 0]);
    assert_eq!(listen("nowhere").len(), 1);
    assert_eq!(listen("empty.key").len(), 1);
}

#[test]
fn durations_that_could_overflow_are_rejected() {
    for every in ["10years", "3652days", "1h"] {
        assert_eq!(errors("100ms", every), [""; 0], "{every}");
    }
    for every in ["10years 1s", "3653days", "500000000000years", "18446744073709551615s"] {
        assert_eq!(errors("100ms", every).len(), 1, "{every}");
    }
}

#[test]
fn ipv6_requires_its_minimum_mtu() {
    assert_eq!(errors("[tun]", "path-mtu = 1344\n[tun]"), [""; 0]);
    let lines = errors("[tun]", "path-mtu = 1341\n[tun]");
    assert!(lines.len() == 1 && lines[0].contains("1280"), "{lines:?}");
    let v4 = GOOD.replace(", \"fd09::1/64\"", "").replacen("[tun]", "path-mtu = 600\n[tun]", 1);
    assert!(parse("link.toml", &v4, folder().path()).is_ok());
    let route = v4.replacen("[keys]", "routes = [\"fd10::/16\"]\n[keys]", 1);
    let lines = parse("link.toml", &route, folder().path()).err().unwrap();
    assert!(lines.len() == 1 && lines[0].contains("route in [tun] requires 1280"), "{lines:?}");
}

#[test]
fn the_mtu_of_routes_is_at_most_that_of_the_interface() {
    let lines = |mtu: u16| errors("[keys]", &format!("routes = [\"10.0.0.0/8\"]\nroute-mtu = {mtu}\n[keys]"));
    assert_eq!(lines(1438), [""; 0]);
    let found = lines(1439);
    assert!(found.len() == 1 && found[0].contains("`route-mtu` must be at most 1438"), "{found:?}");
}

#[test]
fn a_timeout_of_zero_is_rejected() {
    let folder = folder();
    for name in ["ca.pem", "alice.pem", "alice.key.pem"] {
        fs::write(folder.path().join(name), "PEM").unwrap();
    }
    for (timeout, count) in [("1ms", 0), ("0s", 1)] {
        let entity = format!(
            r#"[keys.etsi014]
url = "https://kme.example"
sae = "alice"
peer-sae = "bob"
ca = "ca.pem"
cert = "alice.pem"
key = "alice.key.pem"
timeout = "{timeout}"
"#
        );
        let text = GOOD.replacen("[keys]\nfile = \"link.key\"\n", &entity, 1);
        let found = parse("link.toml", &text, folder.path()).err().unwrap_or_default();
        assert_eq!(found.len(), count, "{found:?}");
    }
}

#[test]
fn fields_that_a_reload_does_not_apply_are_named() {
    let folder = folder();
    let old = parse("link.toml", GOOD, folder.path()).ok().unwrap();
    assert_eq!(old.fields_fixed_until_restart(&old), [""; 0]);
    fs::write(folder.path().join("control.key"), "ba".repeat(32)).unwrap();
    let text = r#"
role = "slave"
local = "192.0.2.3:4500"
peer = "192.0.2.4:4500"
suite = "aes128-gcm"
esn = false
window = 64
workers = 2
path-mtu = 1400
mss-clamp = false
control-key = "control.key"
listen = "127.0.0.1:1"
listen-token = "link.key"
listen-cert = "link.key"
listen-key = "link.key"
user = "nobody"
[tun]
name = "seal1"
[keys]
file = "link.key"
[rekey]
every = "1s"
"#;
    let new = parse("link.toml", text, folder.path()).ok().unwrap();
    let fields = old.fields_fixed_until_restart(&new);
    for field in text.lines().filter_map(|line| line.split_once(" = ")).map(|(name, _)| name) {
        // `listen-key` is named together with `listen-cert`.
        let is_table = ["name", "file", "every", "listen-key"].contains(&field);
        assert!(is_table || fields.contains(&field), "{field}");
    }
    assert_eq!(fields.len(), 15, "{fields:?}");
}

/// A file with two peers.
const TABLES: &str = r#"
role = "master"
local = "192.0.2.1:4500"
suite = "aes256-gcm"
[tun]
name = "seal0"
[rekey]
every = "100ms"
[[peer]]
name = "berlin"
address = "192.0.2.2:4500"
control-key = "control.key"
allowed = ["10.9.1.7/24", "fd09:1::/64"]
keys = { file = "link.key" }
[[peer]]
name = "madrid"
role = "slave"
suite = "aes128-ccm"
control-key = "link.key"
allowed = ["10.9.2.0/24"]
[peer.keys]
file = "control.key"
[peer.rekey]
every = "1s"
"#;

fn tables(text: &str) -> Result<Config, Vec<String>> {
    parse("link.toml", text, folder().path())
}

#[test]
fn a_table_of_a_peer_takes_what_it_leaves_out_from_the_file() {
    let config = tables(TABLES).unwrap_or_else(|errors| panic!("{errors:?}"));
    let [berlin, madrid] = &config.peers[..] else { panic!("two peers") };
    assert_eq!((berlin.name.as_deref(), madrid.name.as_deref()), (Some("berlin"), Some("madrid")));
    assert_eq!((berlin.role, madrid.role), (Role::Master, Role::Slave));
    assert_eq!((berlin.transform.id, madrid.transform.id), ("aes256-gcm", "aes128-ccm"));
    assert_eq!((berlin.rekey.age.as_millis(), madrid.rekey.age.as_millis()), (100, 1000));
    assert_eq!((berlin.address.address().is_some(), &madrid.address), (true, &Peer::Absent));
    let prefixes: Vec<String> = berlin.allowed.iter().map(ToString::to_string).collect();
    assert_eq!(prefixes, ["10.9.1.0/24", "fd09:1::/64"], "without host bits");
    assert_eq!(config.files.len(), 4);
    assert!(config.has_tables() && berlin.prefix() == "berlin: ");
    let single = parse("link.toml", GOOD, folder().path()).ok().unwrap();
    assert!(!single.has_tables() && single.peers[0].prefix().is_empty());
}

#[test]
fn mistakes_in_tables_are_found_once_and_named() {
    for (from, to, line) in [
        ("name = \"madrid\"", "name = \"berlin\"", "has the same `name`"),
        ("name = \"madrid\"", "name = \"a b\"", "`name` must be a name"),
        ("name = \"madrid\"\n", "", "lacks the required field `name`"),
        ("control-key = \"link.key\"", "control-key = \"control.key\"", "has the same `control-key`"),
        ("control-key = \"link.key\"\n", "", "lacks the required field `control-key`"),
        ("allowed = [\"10.9.2.0/24\"]", "allowed = [\"10.9.1.0/24\"]", "has the prefix 10.9.1.0/24 too"),
        ("allowed = [\"10.9.2.0/24\"]\n", "", "lacks the required field `allowed`"),
        ("allowed = [\"10.9.2.0/24\"]", "allowed = []", "must name a prefix"),
        ("allowed = [\"10.9.2.0/24\"]", "allowed = [\"10.9.2.0/33\"]", "`allowed`: each entry"),
        ("address = \"192.0.2.2:4500\"", "peer = \"192.0.2.2:4500\"", "unknown field in [[peer]]"),
        ("address = \"192.0.2.2:4500\"", "address = \"192.0.2.1:4500\"", "must differ from `local`"),
        ("every = \"100ms\"", "every = \"1ms\"", "`every` must be at least 50 ms"),
        ("suite = \"aes256-gcm\"\n", "", "lacks the required field `suite`"),
        ("[tun]", "workers = 2\n[tun]", "`workers` must be 1 without `address`"),
        ("[tun]", "control-key = \"control.key\"\n[tun]", "unknown field in the file"),
    ] {
        assert!(TABLES.contains(from), "{from}");
        let errors = tables(&TABLES.replacen(from, to, 1)).err().unwrap_or_default();
        assert!(errors.len() == 1 && errors[0].contains(line), "{to}: {errors:?}");
    }
    let none = TABLES.split("[[peer]]").next().unwrap();
    let errors = tables(&none.replacen("[tun]", "peer = []\n[tun]", 1)).err().unwrap();
    assert!(errors.len() == 1 && errors[0].contains("1 to 4096 tables"), "{errors:?}");
}

#[test]
fn a_reload_tells_peers_that_change_from_those_that_start_anew() {
    let old = tables(TABLES).ok().unwrap();
    let madrid = &old.peers[1];
    for (from, to, is_same, can_become) in [
        ("", "", true, true),
        ("every = \"1s\"", "every = \"2s\"", false, true),
        ("10.9.2.0/24", "10.9.3.0/24", false, true),
        ("file = \"control.key\"", "file = \"third.key\"", false, true),
        ("aes128-ccm", "aes128-gcm", false, false),
        ("role = \"slave\"", "role = \"master\"", false, false),
        ("control-key = \"link.key\"", "control-key = \"third.key\"", false, false),
        ("name = \"madrid\"", "name = \"madrid\"\naddress = \"192.0.2.3:4500\"", false, false),
    ] {
        let folder = folder();
        fs::write(folder.path().join("third.key"), "ef".repeat(32)).unwrap();
        let new = parse("link.toml", &TABLES.replacen(from, to, 1), folder.path()).ok().unwrap();
        assert_eq!(madrid.is_same(&new.peers[1]), is_same, "{to}");
        assert_eq!(madrid.can_become(&new.peers[1]), can_become, "{to}");
        assert_eq!(old.fields_fixed_until_restart(&new), [""; 0], "{to}");
    }
    let single = parse("link.toml", GOOD, folder().path()).ok().unwrap();
    assert!(old.fields_fixed_until_restart(&single).contains(&"[[peer]]"));
}
