//! Seals one batch, for `tools/model_arm.py`, which analyzes the executed instructions.
//!
//! usage: `one_batch` ID MESSAGES BYTES

use sealcomb::study;
use sealcomb::{Key, Kind, SealJob, seal_jobs};
use std::env;
use std::hint::black_box;

fn main() {
    let words: Vec<String> = env::args().skip(1).collect();
    let [id, messages, bytes] = words.as_slice() else {
        panic!("usage: one_batch ID MESSAGES BYTES");
    };
    let algorithm = study::by_id(id).expect("an algorithm");
    let messages: usize = messages.parse().expect("a number of messages");
    let bytes: usize = bytes.parse().expect("a number of bytes");

    let key: Vec<u8> = (7..).take(algorithm.key_bytes()).collect();
    let key = Key::new(algorithm, &key).expect("a key");
    let nonce = vec![1; algorithm.nonce_bytes()];
    let mut data = vec![vec![0; algorithm.ciphertext_bytes(bytes)]; messages];
    let mut tags = vec![vec![0; algorithm.tag_bytes()]; messages];
    let mut jobs: Vec<_> = data
        .iter_mut()
        .zip(&mut tags)
        .map(|(data, tag)| match algorithm.kind() {
            Kind::Mac => SealJob::mac(&key, &nonce, data.as_slice(), tag),
            _ => SealJob::in_buffer(&key, &nonce, b"", data, bytes, tag).expect("room"),
        })
        .collect();
    begin(&mut jobs);
    end();
}

/// Makes the call that is analyzed, up to `end`; the tool finds both functions by name.
#[inline(never)]
fn begin(jobs: &mut [SealJob<'_>]) {
    black_box(seal_jobs(jobs)).expect("sizes that the algorithm takes");
}

#[inline(never)]
fn end() {
    black_box(());
}
