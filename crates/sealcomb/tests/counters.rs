//! Counters that pass the border of their field, at each place in a register and in a run of registers.

mod common {
    pub(crate) mod backends;
    pub(crate) mod forgery;
    pub(crate) mod known_answer;
}

use common::forgery::must_be_refused;
use common::known_answer::{KnownAnswer, must_hold};
use sealcomb::reference::gf128::ghash_multiply;
use sealcomb::reference::{self, Block};
use sealcomb::{Algorithm, Kind};

/// Blocks that a counter makes before it passes its border.
const BEFORE: std::ops::RangeInclusive<u128> = 0..=40;

/// A message that takes 65 counters.
const LONG: usize = 64 * 16 + 5;

/// What the model makes of a message under one key.
fn answer(id: &str, nonce: &[u8], msg_bytes: usize) -> KnownAnswer {
    let algorithm = Algorithm::by_id(id).expect("a listed algorithm");
    let key = key(id);
    let msg: Vec<u8> = (0..msg_bytes).map(|i| (i % 251) as u8).collect();
    let aad = if algorithm.kind == Kind::Aead { b"header".to_vec() } else { Vec::new() };
    let (ct, tag) = reference::seal(id, &key, nonce, &aad, &msg, algorithm.tag_bytes)
        .expect("the model takes these sizes");
    let origin = format!("{id}, nonce {}, {msg_bytes} bytes", hex::encode(nonce));
    KnownAnswer { origin, algorithm, key, nonce: nonce.to_vec(), aad, msg, ct, tag }
}

fn key(id: &str) -> Vec<u8> {
    (0..Algorithm::by_id(id).expect("a listed algorithm").key_bytes as u8).collect()
}

#[test]
fn ctr_counts_through_the_whole_block() {
    let high = 0x0102_0304_0506_0708_090a_0b0c_0d0e_0f10_u128;
    let answers: Vec<_> = ["aes128-ctr", "aes192-ctr", "aes256-ctr"]
        .into_iter()
        .flat_map(|id| {
            BEFORE.flat_map(move |before| {
                [8, 16, 32, 64, 96]
                    .map(|bits| ((high >> bits) + 1) << bits)
                    .into_iter()
                    .chain([0])
                    .map(move |border| answer(id, &border.wrapping_sub(before).to_be_bytes(), LONG))
            })
        })
        .collect();
    must_hold(&answers);
}

#[test]
fn gcm_counts_in_32_bits_and_leaves_the_rest_of_the_block() {
    let answers: Vec<_> = ["aes128-gcm", "aes192-gcm", "aes256-gcm"]
        .into_iter()
        .flat_map(|id| {
            BEFORE.map(move |before| {
                let high = 0x0102_0304_0506_0708_090a_0b0c_u128;
                let last = u32::MAX.wrapping_sub(before as u32);
                let j0 = high << 32 | u128::from(last);
                answer(id, &iv_of(id, j0.to_be_bytes()), LONG)
            })
        })
        .collect();
    must_hold(&answers);
    must_be_refused(&answers.into_iter().map(with_another_end).collect::<Vec<_>>());
}

/// The answer with a bit of its last block flipped, beyond the border.
fn with_another_end(mut answer: KnownAnswer) -> KnownAnswer {
    *answer.ct.last_mut().expect("a long message") ^= 1;
    answer
}

/// The 16-byte IV that GCM hashes to this pre-counter block: `J_0 = (IV • H ⊕ len) • H`, solved for the IV.
fn iv_of(id: &str, j0: Block) -> Block {
    let ecb = id.replace("gcm", "ecb");
    let (h, _) = reference::seal(&ecb, &key(id), &[], &[], &[0; 16], 0).expect("one block");
    let h: Block = h.try_into().expect("one block");
    let inverse = inverse(h);
    let plus_length = |block: Block| (u128::from_be_bytes(block) ^ 128).to_be_bytes();
    let iv = ghash_multiply(plus_length(ghash_multiply(j0, inverse)), inverse);
    assert_eq!(ghash_multiply(plus_length(ghash_multiply(iv, h)), h), j0);
    iv
}

/// `x^-1 = x^(2^128 - 2)`.
fn inverse(x: Block) -> Block {
    let mut square = ghash_multiply(x, x);
    let mut product = square;
    for _ in 2..128 {
        square = ghash_multiply(square, square);
        product = ghash_multiply(product, square);
    }
    product
}

#[test]
fn ccm_counts_to_the_end_of_a_field_of_two_bytes() {
    let answers: Vec<_> = ["aes128-ccm", "aes192-ccm", "aes256-ccm"]
        .into_iter()
        .flat_map(|id| [255 * 16, 256 * 16, 257 * 16, 65_535].map(|long| answer(id, &[7; 13], long)))
        .collect();
    must_hold(&answers);
}
