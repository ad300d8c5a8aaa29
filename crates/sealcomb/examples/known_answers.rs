//! Prints a file of known answers for an algorithm, computed by its reference model, in the format of
//! `testvectors/README.md`:
//!
//! ```console
//! $ cargo run -p sealcomb --all-features --example known_answers -- aes128-gcm > testvectors/aes128-gcm.json
//! ```
//!
//! Keys, nonces and messages are the same in every run: they are the output of AES-256 in counter mode, with the
//! algorithm's id as the key.

use sealcomb::hazmat;
use sealcomb::study;
use sealcomb::{Algorithm, Kind, reference};
use std::fmt::Write;
use std::process::ExitCode;

fn main() -> ExitCode {
    let ids: Vec<String> = std::env::args().skip(1).collect();
    let [id] = &ids[..] else {
        eprintln!("usage: known_answers ALGORITHM; `sealcomb list` prints the algorithms");
        return ExitCode::from(2);
    };
    match study::by_id(id) {
        Ok(algorithm) => {
            print!("{}", file(algorithm));
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{id}: {error}");
            ExitCode::from(2)
        }
    }
}

/// The maximum number of blocks that a backend processes at a time: eight registers of four blocks.
const GROUP: usize = 32;

/// The number of consecutive tests that share a key.
const UNDER_ONE_KEY: usize = 8;

/// Returns the file for an algorithm.
///
/// # Panics
/// If the model refuses sizes that the catalog allows.
pub fn file(algorithm: Algorithm) -> String {
    let mut bytes = Stream::new(algorithm.id());
    let mut tests = Vec::new();
    for (i, &long) in lengths(algorithm).iter().enumerate() {
        if i % UNDER_ONE_KEY == 0 {
            bytes.key = key(algorithm, i / UNDER_ONE_KEY, &mut bytes);
        }
        tests.push(test(algorithm, i, long, &mut bytes));
    }
    let (id, key_bytes) = (algorithm.id(), algorithm.key_bytes());
    format!(
        "{{\n\"algorithm\": \"{id}\",\n\"source\": \"the model in crates/sealcomb/src/reference\",\n\
         \"key_bytes\": {key_bytes},\n\"tests\": [\n{}\n]\n}}\n",
        tests.join(",\n")
    )
}

/// Returns all lengths around a block, lengths around the sizes of registers and of groups of them, and long ones.
fn lengths(algorithm: Algorithm) -> Vec<usize> {
    let mut lengths: Vec<usize> = (0..=33).collect();
    for blocks in [3, 4, 6, 8, 12, 16, 24, GROUP, 2 * GROUP] {
        let border = 16 * blocks;
        lengths.extend([border - 16, border - 1, border, border + 1, border + 15, border + 16, border + 17]);
    }
    lengths.extend([127 * 16, 127 * 16 + 1, 128 * 16, 2 * 127 * 16 + 5, 4096 + 7]);
    for length in &mut lengths {
        *length = algorithm.padded_bytes(*length).max(algorithm.min_message_bytes());
    }
    lengths.sort_unstable();
    lengths.dedup();
    lengths
}

/// Returns key number `number`: zeros for 1, ones for 2, otherwise pseudo-random bytes. XTS refuses equal halves, so
/// one of them is inverted.
fn key(algorithm: Algorithm, number: usize, bytes: &mut Stream) -> Vec<u8> {
    match number {
        1 | 2 if algorithm.mode_id() == "xts" => {
            let byte = if number == 1 { 0x00 } else { 0xff };
            let half = algorithm.key_bytes() / 2;
            [vec![byte; half], vec![!byte; half]].concat()
        }
        1 => vec![0x00; algorithm.key_bytes()],
        2 => vec![0xff; algorithm.key_bytes()],
        _ => bytes.take(algorithm.key_bytes()),
    }
}

fn test(algorithm: Algorithm, i: usize, long: usize, bytes: &mut Stream) -> String {
    // All fifteen lengths occur, since 7 and 15 are coprime.
    let short = [0, 1, 13, 15, 16, 17, 31, 32, 33, 64, 127, 255, 256, 257, 16 * GROUP][7 * i % 15];
    let (aad, message) = match algorithm.kind() {
        Kind::Mac => (long, 0),
        Kind::Cipher if !algorithm.tweaked() => (0, long),
        _ => (short, long),
    };
    let tag_bytes =
        hazmat::tag_sizes(algorithm).get(i % hazmat::tag_sizes(algorithm).len().max(1)).copied().unwrap_or(0);
    let nonce = nonce(algorithm, i, long / 16, bytes);
    let (aad, message) = (bytes.take(aad), bytes.take(message));
    let (ciphertext, tag) = reference::seal(algorithm.id(), &bytes.key, &nonce, &aad, &message, tag_bytes)
        .expect("the model takes what the catalog allows");
    let mut fields = format!("\"id\": {}", i + 1);
    let mut field = |name: &str, bytes: &[u8]| {
        write!(fields, ",\n\"{name}\": \"{}\"", hex::encode(bytes)).expect("memory");
    };
    field("key", &bytes.key);
    if algorithm.max_nonce_bytes() > 0 || algorithm.kind() == Kind::Cipher && !algorithm.tweaked() {
        field("nonce", &nonce);
    }
    match algorithm.kind() {
        Kind::Mac => field("msg", &aad),
        Kind::Cipher => {
            if algorithm.tweaked() {
                field("tweak", &aad);
            }
            field("msg", &message);
            field("ct", &ciphertext);
        }
        _ => {
            field("aad", &aad);
            field("msg", &message);
            field("ct", &ciphertext);
        }
    }
    if algorithm.kind() != Kind::Cipher {
        field("tag", &tag);
    }
    format!("{{\n{fields}\n}}")
}

/// Returns a nonce of the usual length or, for every third test, of another one. Some have extreme values, and in
/// some the last 4, 8 or 16 bytes, as a counter, overflow within a message of `blocks` blocks.
fn nonce(algorithm: Algorithm, i: usize, blocks: usize, bytes: &mut Stream) -> Vec<u8> {
    let (min, max) = (algorithm.min_nonce_bytes(), algorithm.max_nonce_bytes().min(64));
    let len = if i.is_multiple_of(3) { min + 5 * i % (max - min + 1) } else { algorithm.nonce_bytes() };
    let mut nonce = bytes.take(len);
    match i % 8 {
        0 => nonce.fill(0xff),
        1 => nonce.fill(0x00),
        2 if len > 0 => nonce[0] = 0x80,
        3..6 => {
            let width = [4, 8, 16][i % 3].min(len);
            let before = (5 * i % (blocks + 2)) as u128;
            nonce[len - width..].copy_from_slice(&before.wrapping_neg().to_be_bytes()[16 - width..]);
        }
        _ => {}
    }
    nonce
}

/// The pseudo-random bytes derived from an id, and the current key.
struct Stream {
    id: Vec<u8>,
    counter: u128,
    key: Vec<u8>,
}

impl Stream {
    fn new(id: &str) -> Self {
        let mut padded = id.as_bytes().to_vec();
        padded.resize(32, 0);
        Self { id: padded, counter: 0, key: Vec::new() }
    }

    fn take(&mut self, bytes: usize) -> Vec<u8> {
        let nonce = self.counter.to_be_bytes();
        self.counter += bytes.div_ceil(16) as u128;
        reference::seal("aes256-ctr", &self.id, &nonce, &[], &vec![0; bytes], 0)
            .expect("a model of AES-256-CTR")
            .0
    }
}
