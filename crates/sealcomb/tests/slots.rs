//! Batch equivalence of the chained modes: the lengths, counts, keys and buffers at which the slots of a batch change
//! their messages. The expected results come from single calls on the portable backend.

mod common {
    pub(crate) mod backends;
}

use common::backends;
use rand::rngs::StdRng;
use rand::{Rng, RngExt, SeedableRng};
use sealcomb::study;
use sealcomb::{Algorithm, Backend, Key, KeyOptions, Kind, SealJob, TagPosition, seal_jobs};

const CHAINED: [&str; 9] = [
    "aes128-cbc",
    "aes256-cbc",
    "aes128-cfb128",
    "aes128-ofb",
    "aes128-cmac",
    "aes192-cmac",
    "aes256-ccm",
    "aes128-eax",
    "aes256-siv",
];

/// The lengths around those of blocks and lines.
const BORDERS: [usize; 20] =
    [0, 1, 15, 16, 17, 31, 32, 47, 48, 49, 63, 64, 65, 80, 127, 128, 129, 255, 256, 257];

/// Where the buffers of a batch are.
#[derive(Clone, Copy, Debug)]
enum Layout {
    /// In place, each message this many bytes after the one before.
    Apart(usize),
    /// In place, side by side.
    Packed,
    /// Input and output side by side, in two buffers.
    Separate,
}

/// The algorithms that this build has.
fn chained() -> impl Iterator<Item = Algorithm> {
    CHAINED.iter().filter_map(|id| study::by_id(id).ok())
}

fn random(rng: &mut StdRng, bytes: usize) -> Vec<u8> {
    let mut string = vec![0; bytes];
    rng.fill_bytes(&mut string);
    string
}

/// A message and the result of sealing it alone.
struct Message {
    key: usize,
    nonce: Vec<u8>,
    text: Vec<u8>,
    sealed: Vec<u8>,
}

/// Keys of an algorithm, on the portable backend and on all others.
struct Keys {
    algorithm: Algorithm,
    secrets: Vec<Vec<u8>>,
    portable: Vec<Key>,
}

impl Keys {
    fn new(algorithm: Algorithm, count: usize) -> Self {
        let mut rng = StdRng::seed_from_u64(count as u64);
        let secrets: Vec<_> = (0..count).map(|_| random(&mut rng, algorithm.key_bytes())).collect();
        let portable = Backend::named("portable").expect("the portable backend");
        Self { algorithm, portable: on(algorithm, &secrets, portable), secrets }
    }

    fn messages(&self, lengths: &[usize]) -> Vec<Message> {
        let mut rng = StdRng::seed_from_u64(lengths.len() as u64);
        let mut messages = Vec::new();
        for &length in lengths {
            let key = rng.random_range(0..self.portable.len());
            let nonce = random(&mut rng, self.algorithm.nonce_bytes());
            let text = random(&mut rng, self.algorithm.padded_bytes(length));
            let alone = &self.portable[key];
            let sealed = match self.algorithm.kind() {
                Kind::Mac => alone.seal(&nonce, &text, b""),
                _ => alone.seal(&nonce, b"", &text),
            };
            messages.push(Message { key, nonce, text, sealed: sealed.expect("a message") });
        }
        messages
    }
}

fn on(algorithm: Algorithm, secrets: &[Vec<u8>], backend: Backend) -> Vec<Key> {
    secrets
        .iter()
        .map(|secret| KeyOptions::new().backend(backend).expand(algorithm, secret).expect("a key"))
        .collect()
}

/// Returns the number of bytes from the beginning of each message to that of the next.
fn strides(messages: &[Message], layout: Layout) -> Vec<usize> {
    messages
        .iter()
        .map(|message| match layout {
            Layout::Apart(stride) => stride,
            Layout::Packed | Layout::Separate => message.text.len(),
        })
        .collect()
}

/// Seals the messages as one batch on every backend, and compares with the single calls.
fn check(keys: &Keys, lengths: &[usize], layout: Layout) {
    let messages = keys.messages(lengths);
    for backend in backends::available() {
        let keys = &on(keys.algorithm, &keys.secrets, backend);
        let tag = keys[0].tag_bytes();
        let strides = strides(&messages, layout);
        let mut data = vec![0xA5; strides.iter().sum::<usize>() + 4096];
        // Pages, so that messages apart share sets of the L1 cache.
        let page = data.as_ptr().align_offset(4096);
        let mut place = page;
        for (message, stride) in messages.iter().zip(&strides) {
            data[place..place + message.text.len()].copy_from_slice(&message.text);
            place += stride;
        }
        let mut output = vec![0; if matches!(layout, Layout::Separate) { data.len() } else { 0 }];
        let mut tags = vec![vec![0; tag]; messages.len()];
        let (mut rest, mut rest_of_output) = (&mut data[page..], &mut output[..]);
        let mut jobs = Vec::new();
        for ((message, stride), tag) in messages.iter().zip(&strides).zip(&mut tags) {
            let buffer = rest.split_off_mut(..*stride).expect("a buffer");
            let text = &mut buffer[..message.text.len()];
            let key = &keys[message.key];
            jobs.push(if key.algorithm().kind() == Kind::Mac {
                SealJob::mac(key, &message.nonce, &*text, tag)
            } else if matches!(layout, Layout::Separate) {
                let output = rest_of_output.split_off_mut(..*stride).expect("an output");
                SealJob::new(key, &message.nonce, b"", text, output, tag).expect("a job")
            } else {
                SealJob::in_place(key, &message.nonce, b"", text, tag)
            });
        }
        seal_jobs(&mut jobs).expect("a batch");
        drop(jobs);
        let sealed = if matches!(layout, Layout::Separate) { &output[..] } else { &data[page..] };
        let mut place = 0;
        for (i, ((message, stride), tag)) in messages.iter().zip(&strides).zip(&tags).enumerate() {
            let text = if keys[0].algorithm().kind() == Kind::Mac { 0 } else { message.text.len() };
            let ciphertext = &sealed[place..place + text];
            let result = match keys[0].algorithm().tag_position() {
                TagPosition::First => [tag, ciphertext].concat(),
                TagPosition::Last => [ciphertext, tag].concat(),
            };
            assert!(
                result == message.sealed,
                "message {i} of {}, {backend:?}, {layout:?}, {lengths:?}",
                keys[0].algorithm().id()
            );
            if let Layout::Apart(_) = layout {
                let between = &sealed[place + message.text.len()..place + stride];
                assert!(between.iter().all(|&byte| byte == 0xA5), "{backend:?}, {layout:?}, {lengths:?}");
            }
            place += stride;
        }
    }
}

#[test]
fn batches_of_every_size_and_length_are_equivalent() {
    for algorithm in chained() {
        for key_count in [1, 50] {
            let keys = Keys::new(algorithm, key_count);
            let mut rng = StdRng::seed_from_u64(7);
            for count in 1..=70 {
                let equal = BORDERS[count % BORDERS.len()];
                check(&keys, &vec![equal; count], Layout::Packed);
                let mixed: Vec<_> = (0..count).map(|_| BORDERS[rng.random_range(0..BORDERS.len())]).collect();
                check(&keys, &mixed, if count % 2 == 0 { Layout::Packed } else { Layout::Separate });
            }
        }
    }
}

#[test]
fn every_length_at_a_border_is_equivalent_in_a_batch_of_its_own() {
    for algorithm in chained() {
        let keys = Keys::new(algorithm, 1);
        for length in BORDERS {
            for count in [16, 30, 67, 128] {
                check(&keys, &vec![length; count], Layout::Separate);
                check(&keys, &vec![length; count], Layout::Apart(length + 19));
            }
        }
    }
}

/// Checks values of a column: 16 to 48 bytes, side by side.
#[test]
fn short_values_side_by_side_are_equivalent() {
    for algorithm in chained() {
        let keys = Keys::new(algorithm, 1);
        let mut rng = StdRng::seed_from_u64(8);
        for count in [5, 28, 33, 64, 130] {
            let lengths: Vec<_> = (0..count).map(|_| rng.random_range(16..=48)).collect();
            check(&keys, &lengths, Layout::Packed);
        }
    }
}

#[test]
fn short_and_long_messages_are_equivalent_together() {
    for algorithm in chained() {
        for key_count in [1, 20] {
            let keys = Keys::new(algorithm, key_count);
            let mut rng = StdRng::seed_from_u64(9);
            for count in [6, 16, 64, 100] {
                let lengths: Vec<_> =
                    (0..count)
                        .map(|_| {
                            if rng.random() { rng.random_range(0..100) } else { rng.random_range(1000..1600) }
                        })
                        .collect();
                check(&keys, &lengths, Layout::Packed);
                check(&keys, &lengths, Layout::Apart(2048));
            }
        }
    }
}

/// Checks buffers whose lines share a few sets of the L1 cache.
#[test]
fn messages_pages_apart_are_equivalent() {
    for algorithm in chained().filter(|algorithm| algorithm.id().starts_with("aes128")) {
        let keys = Keys::new(algorithm, 1);
        for stride in [4096, 8192, 8208] {
            for count in 1..=64 {
                let lengths: Vec<_> = (0..count).map(|i| 300 - 16 * (i % 3)).collect();
                check(&keys, &lengths, Layout::Apart(stride));
            }
        }
    }
}
