//! Fuzz targets: functions that take arbitrary bytes and panic if a property does not hold.
//!
//! libFuzzer runs them with a nightly compiler (`fuzz/libfuzzer`). The runner in `tests` runs them with any
//! compiler, as [`Campaign`]s without instrumentation. Both start from the inputs in `corpus`.
#![forbid(unsafe_code)]

mod campaign;
mod columns;
mod control;
pub mod differential;
mod mutate;

pub use campaign::{Campaign, Report, last};

/// A function to fuzz, with hints for generating inputs.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// The name of the target, and of its folder in `corpus`.
    pub name: &'static str,
    /// Runs the target on arbitrary bytes. Returns a number that identifies the path taken.
    pub run: fn(&[u8]) -> u64,
    /// Maximum useful input size in bytes.
    pub max_bytes: usize,
    /// Whether inputs are text.
    pub text: bool,
    /// Tokens to insert into inputs.
    pub dictionary: &'static [&'static [u8]],
}

/// All targets.
pub const TARGETS: [Target; 11] = [
    CAPTURE,
    PACKETS,
    ASSOCIATIONS,
    FRAMES,
    MACSEC_ASSOCIATIONS,
    ANSWERS,
    DIFFERENTIAL,
    STREAMS,
    CONTROL,
    TYPES,
    KEYSETS,
];

/// Parses a capture, pcap or pcapng.
pub const CAPTURE: Target = Target {
    name: "capture",
    run: sealcomb_cli::fuzz::capture,
    max_bytes: 1024,
    text: false,
    dictionary: &[
        b"\xd4\xc3\xb2\xa1\x02\0\x04\0",
        b"\xa1\xb2\xc3\xd4\0\x02\0\x04",
        b"\x4d\x3c\xb2\xa1\x02\0\x04\0",
        b"\x0a\x0d\x0d\x0a",
        b"\x4d\x3c\x2b\x1a\x01\0\0\0",
        b"\x1a\x2b\x3c\x4d\0\x01\0\0",
        b"\x01\0\0\0\x14\0\0\0\x01\0\0\0",
        b"\x02\0\0\0",
        b"\x03\0\0\0",
        b"\x06\0\0\0",
        b"\x09\0\x01\0\x06\0\0\0",
        b"\x09\0\x01\0\x89\0\0\0",
        b"\x0e\0\x08\0\xff\xff\xff\xff\xff\xff\xff\xff",
        b"\x65\0\0\0",
        b"\x71\0\0\0",
        b"\x14\x01\0\0",
        b"\x08\0\x45\0",
        b"\x81\0\0\x05",
        b"\x86\xdd\x60\0",
        b"\x88\xe5\x2c\0\0\0\0\x01",
        b"\x88\x64\x11\0\0\x01\0\x2a\0\x21",
        b"\x88\x47\0\0\x11\x40",
        b"\x0d\0\x01\0\x04\0\0\0",
        b"\x02\0\x04\0\x80\0\0\0",
        b"\x20\0\x40\x32",
        b"\x20\0\x40\x11",
        b"\x2c\x40",
        b"\x11\x94\x11\x94\0\x20\0\0",
    ],
};

/// Seals and opens a burst of packets as ESP.
pub const PACKETS: Target = Target {
    name: "packets",
    run: sealcomb_cli::fuzz::packets,
    max_bytes: 512,
    text: false,
    dictionary: &[],
};

/// Parses an ESP SA file.
pub const ASSOCIATIONS: Target = Target {
    name: "sa",
    run: sealcomb_cli::fuzz::associations,
    max_bytes: 400,
    text: true,
    dictionary: &[
        b"[[sa]]\n",
        b"spi = 0x1001\n",
        b"source = \"192.0.2.1\"\n",
        b"destination = \"2001:db8::1\"\n",
        b"match = \"::/0\"\n",
        b"match = \"192.0.2.0/24\"\n",
        b"cipher = \"aes-gcm\"\n",
        b"cipher = \"aes-ccm\"\n",
        b"cipher = \"aes-cbc\"\n",
        b"cipher = \"aes-ctr\"\n",
        b"key = \"000102030405060708090a0b0c0d0e0f\"\n",
        b"key = 000102030405060708090a0b0c0d0e0f\n",
        b"salt = \"cafebabe\"\n",
        b"icv = 8\n",
        b"auth = \"hmac-sha-256-128\"\n",
        b"auth = \"aes-cmac-96\"\n",
        b"auth-key = \"101112131415161718191a1b1c1d1e1f\"\n",
        b"sequence = 4294967295\n",
        b"window = 64\n",
        b"esn = true\n",
        b"keys-are-public = true\n",
        b"\"\"\"",
        b"'",
        b"\\u0000",
        b"# ",
    ],
};

/// Seals and opens a burst of frames as MACsec.
pub const FRAMES: Target = Target {
    name: "frames",
    run: sealcomb_cli::fuzz::frames,
    max_bytes: 512,
    text: false,
    dictionary: &[
        b"\x88\xe5\x2c\0\0\0\0\x01",
        b"\x88\xe5\x4e\x10\0\0\0\x01",
        b"\x88\x8e",
        b"\x2a\x7b\x45\x4d\xf8\x17\0\x07",
        b"\x6e\xc2\x80\x57\x96\xc3",
        b"\x02\0\0\0\0\x03\0\x01",
        b"\x02\0\0\0\0\x04\0\x01",
    ],
};

/// Parses a MACsec SA file.
pub const MACSEC_ASSOCIATIONS: Target = Target {
    name: "macsec_sa",
    run: sealcomb_cli::fuzz::macsec_associations,
    max_bytes: 400,
    text: true,
    dictionary: &[
        b"[[sa]]\n",
        b"sci = \"0200000000010001\"\n",
        b"an = 3\n",
        b"key = \"000102030405060708090a0b0c0d0e0f\"\n",
        b"source = \"020000000001\"\n",
        b"encrypt = false\n",
        b"send-sci = \"never\"\n",
        b"send-sci = \"end-station\"\n",
        b"pn = 4294967295\n",
        b"window = 64\n",
        b"ssci = 1\n",
        b"salt = \"000102030405060708090a0b\"\n",
        b"keys-are-public = true\n",
    ],
};

/// Parses a file of known answers.
pub const ANSWERS: Target = Target {
    name: "answers",
    run: sealcomb_cli::fuzz::known_answers,
    max_bytes: 512,
    text: true,
    dictionary: &[
        b"\"algorithm\": \"aes128-",
        b"\"tests\": [",
        b"{\"id\": 1, ",
        b"\"key\": \"",
        b"\"nonce\": \"",
        b"\"aad\": \"",
        b"\"tweak\": \"",
        b"\"msg\": \"\"",
        b"\"pt\": \"00\"",
        b"\"ct\": \"\"",
        b"\"tag\": \"\"",
        b"00000000000000000000000000000000",
        b"null",
        b"-1",
        b"18446744073709551616",
        b"\\ud800",
        b"gcm",
        b"cbc",
        b"ocb3-t128",
        b"julius-ecb",
        b"elmd-vartag",
        b"eme2",
        b"hctr2",
        b"cmac",
        b"serpent",
    ],
};

/// Compares batches of jobs, and bursts, on every backend with the reference models and other libraries.
pub const DIFFERENTIAL: Target =
    Target { name: "differential", run: differential::run, max_bytes: 160, text: false, dictionary: &[] };

/// Compares messages in pieces with the reference models, after any sequence of calls.
pub const STREAMS: Target =
    Target { name: "streams", run: differential::streams::run, max_bytes: 160, text: false, dictionary: &[] };

/// Reads the name of a column's type.
pub const TYPES: Target = Target {
    name: "types",
    run: columns::types,
    max_bytes: 4_000,
    text: true,
    dictionary: &[
        b"int64",
        b"string",
        b"decimal(10, 2)",
        b"decimal256(76, -3)",
        b"timestamp[us, tz=UTC]",
        b"time32[ms]",
        b"fixed_size_binary[5]",
        b"dictionary<values=",
        b", indices=int32, ordered=0>",
        b"run_end_encoded<run_ends: int32, values: ",
        b"list<item: ",
        b"fixed_size_list<item: ",
        b"array<",
        b"struct<a: ",
        b"STRUCT(a ",
        b"MAP(VARCHAR, ",
        b"map<string, ",
        b"dense_union<a: int64=0, b: ",
        b"=1>",
        b" not null",
        b" ('entries')",
        b"[]",
        b"[3]",
        b"[-1]",
        b">",
        b"<",
        b"\"",
        b"`",
    ],
};

/// Reads the keyset of a column.
pub const KEYSETS: Target = Target {
    name: "keysets",
    run: columns::keysets,
    max_bytes: 2_000,
    text: true,
    dictionary: &[
        b"{\"primaryKeyId\": 7, \"key\": [",
        b"{\"keyData\": {\"typeUrl\": \"type.googleapis.com/google.crypto.tink.AesGcmSivKey\", \"value\": \"",
        b"\", \"keyMaterialType\": \"SYMMETRIC\"}, ",
        b"\"status\": \"ENABLED\", \"keyId\": 7, \"outputPrefixType\": \"TINK\"}",
        b"\"outputPrefixType\": \"RAW\"",
        b"\"status\": \"DESTROYED\"",
        b"GiAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
        b"AesSivKey",
        b"XAesGcmKey",
        b"AesGcmKey",
        b"{\"unknown\": ",
        b"[[[[[[[[[[[[[[[[",
        b"]]]]]]]]]]]]]]]]",
        b"null",
        b"1e3",
        b"-1",
        b"4294967296",
    ],
};

/// Runs the link's key exchange with an attacker on the wire, who may have the control key.
pub const CONTROL: Target = Target {
    name: "control",
    run: control::run,
    max_bytes: 3000,
    text: true,
    dictionary: &[
        b"\nt\n",
        b"\nt\nt\nt\nt\n",
        b"\nl\n",
        b"\nd\n",
        b"\nh\nh\nu\n",
        b"\nf\n",
        b"\np1\n",
        b"\nx\n",
        b"\nk\n",
        b"\nr\n",
        b"\nR\n",
        b"\nm",
        b"\ns",
        b"\nM{\"from\":\"@B\",\"to\":\"@A\",\"count\":@X,\"say\":",
        b"\nS{\"from\":\"@A\",\"to\":\"@B\",\"count\":@X,\"say\":",
        b"{\"hello\":{\"challenge\":\"@C\"}}\n",
        b"{\"welcome\":{\"challenge\":\"@C\"}}\n",
        b"{\"refuse\":{\"epoch\":@E,\"why\":\"no-key\"}}\n",
        b"{\"done\":{\"epoch\":@E,\"proof\":\"@P\"}}\n",
        b"{\"worn\":{\"epoch\":@E}}",
        b"{\"confirm\":{\"epoch\":@E,\"proof\":\"@P\"}}\n",
        b"{\"accept\":{\"epoch\":@E,\"nonce\":\"@N\",\"spi\":4096,\"proof\":\"@P\"}}\n",
        b"\"next-keys\":[\"@K\"]",
        b"\"key\":\"@K\"",
        b"@X",
        b"@E",
        b"@P",
    ],
};
