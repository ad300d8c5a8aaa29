//! Sizes beyond those of packets: messages of more than 2^16 blocks, long additional data, long nonces.

mod common {
    pub(crate) mod backends;
    pub(crate) mod forgery;
    pub(crate) mod known_answer;
}

use common::forgery::must_be_refused;
use common::known_answer::{KnownAnswer, must_hold};
use sealcomb::study::{self, ALGORITHMS};
use sealcomb::{Algorithm, Kind, reference};

/// A message size in bytes with more than 2^16 blocks and a partial block.
const LONG: usize = (1 << 20) + 16 + 7;

/// Returns the model's answer for a message of these sizes.
fn answer(algorithm: Algorithm, nonce: usize, aad: usize, msg: usize) -> KnownAnswer {
    let pattern = |bytes: usize| -> Vec<u8> { (0..bytes).map(|i| (i % 251) as u8).collect() };
    let (key, nonce) = (pattern(algorithm.key_bytes()), pattern(nonce));
    let (aad, msg) = (pattern(aad), pattern(msg));
    let origin = format!("nonce {}, aad {}, msg {}", nonce.len(), aad.len(), msg.len());
    let (ct, tag) = reference::seal(algorithm.id(), &key, &nonce, &aad, &msg, algorithm.tag_bytes())
        .expect("the model takes these sizes");
    KnownAnswer { origin, algorithm, key, nonce, aad, msg, ct, tag }
}

fn by_id(id: &str) -> Algorithm {
    study::by_id(id).expect("a listed algorithm")
}

#[test]
fn messages_of_a_mebibyte_hold_among_short_ones() {
    let is_aes128 = |algorithm: &Algorithm| algorithm.id().starts_with("aes128-");
    for algorithm in ALGORITHMS.iter().copied().filter(is_aes128).chain([by_id("xaes256-gcm")]) {
        let answers = [LONG, 16, 0, 4096, LONG].map(|long| {
            let long = algorithm.padded_bytes(long);
            let (aad, msg) = if algorithm.kind() == Kind::Mac { (long, 0) } else { (0, long) };
            answer(algorithm, algorithm.nonce_bytes(), aad, msg)
        });
        must_hold(&answers);
    }
}

#[test]
fn ccm_encodes_the_length_of_aad_from_65280_bytes_on_in_six_bytes() {
    for id in ["aes128-ccm", "aes192-ccm", "aes256-ccm"] {
        let answers = [0xfeff, 0xff00, 0xff01, 0xffff, 0x1_0000, 0x1_0001, 0x2_0000]
            .map(|aad| answer(by_id(id), 13, aad, 100));
        must_hold(&answers);
    }
}

#[test]
fn additional_data_and_tweaks_whose_length_exceeds_a_byte_or_two_hold() {
    let takes_aad = |algorithm: &Algorithm| algorithm.kind() == Kind::Aead || algorithm.tweaked();
    for algorithm in ALGORITHMS.iter().copied().filter(takes_aad) {
        let msg = algorithm.padded_bytes(40);
        let answers = [0xff, 0x100, 0x101, 0xffff, 0x1_0000, 0x1_0001]
            .map(|aad| answer(algorithm, algorithm.nonce_bytes(), aad, msg));
        must_hold(&answers);
    }
}

#[test]
fn long_aad_and_long_nonces_hold_and_their_last_bit_counts() {
    for id in ["aes128-gcm", "aes256-gcm", "aes128-gcm-siv", "aes256-gcm-siv", "aes192-ccm"] {
        let algorithm = by_id(id);
        let nonces = if id.ends_with("-gcm") { [12, 1000, 100_001] } else { [12; 3] };
        let answers = nonces.map(|nonce| answer(algorithm, nonce, 200_003, 33));
        must_hold(&answers);
        must_be_refused(&answers.map(|mut answer| {
            *answer.aad.last_mut().expect("long additional data") ^= 0x80;
            answer
        }));
    }
}
