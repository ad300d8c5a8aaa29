//! Counters that overflow their field, at each position in a register and in a sequence of registers.

mod common {
    pub(crate) mod backends;
    pub(crate) mod forgery;
    pub(crate) mod known_answer;
}

use common::forgery::must_be_refused;
use common::known_answer::{KnownAnswer, must_hold};
use sealcomb::Kind;
use sealcomb::reference::gf128::ghash_multiply;
use sealcomb::reference::{self, Block};
use sealcomb::study;

/// The numbers of blocks before a counter overflows.
const BEFORE: std::ops::RangeInclusive<u128> = 0..=40;

/// The size in bytes of a message that takes 65 counter blocks.
const LONG: usize = 64 * 16 + 5;

/// Returns the model's answer for a message.
fn answer(id: &str, nonce: &[u8], msg_bytes: usize) -> KnownAnswer {
    let algorithm = study::by_id(id).expect("a listed algorithm");
    let key = key(id);
    let msg: Vec<u8> = (0..msg_bytes).map(|i| (i % 251) as u8).collect();
    let aad = if algorithm.kind() == Kind::Aead { b"header".to_vec() } else { Vec::new() };
    let (ct, tag) = reference::seal(id, &key, nonce, &aad, &msg, algorithm.tag_bytes())
        .expect("the model takes these sizes");
    let origin = format!("{id}, nonce {}, {msg_bytes} bytes", hex::encode(nonce));
    KnownAnswer { origin, algorithm, key, nonce: nonce.to_vec(), aad, msg, ct, tag }
}

fn key(id: &str) -> Vec<u8> {
    (0..study::by_id(id).expect("a listed algorithm").key_bytes() as u8).collect()
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

/// The maximum number of blocks of a message: more than any backend processes at a time.
const BLOCKS: usize = 40;

/// Returns the lengths in bytes of messages of `blocks` blocks with a last block of 16, 15 and 1 bytes.
fn lengths(blocks: usize) -> [usize; 3] {
    [16 * blocks, (16 * blocks).saturating_sub(1), (16 * blocks).saturating_sub(15)]
}

/// Returns the model's answers for messages of 0 to 40 blocks whose counters overflow before each of their blocks,
/// the last one included. `nonce` returns the nonce for which `before` counters precede the overflow.
fn sweep(id: &str, nonce: impl Fn(usize) -> Vec<u8>) -> Vec<KnownAnswer> {
    (0..=BLOCKS)
        .flat_map(|before| {
            let nonce = nonce(before);
            let blocks = [before, before + 1, before + 2, BLOCKS];
            blocks
                .into_iter()
                .flat_map(lengths)
                .map(move |bytes| answer(id, &nonce, bytes))
                .collect::<Vec<_>>()
        })
        .collect()
}

#[test]
fn ctr_carries_before_every_block_of_every_length() {
    for bits in [32, 64, 128] {
        // With ones above the field, a carry propagates further.
        for high in [0_u128, u128::MAX, 0x0102_0304_0506_0708_090a_0b0c_0d0e_0f10] {
            let border = high.checked_shl(bits).unwrap_or(0);
            must_hold(&sweep("aes128-ctr", |before| {
                border.wrapping_sub(before as u128).to_be_bytes().to_vec()
            }));
        }
    }
}

#[test]
fn gcm_wraps_before_every_block_of_every_length() {
    let high = 0x0102_0304_0506_0708_090a_0b0c_u128;
    let nonce = |before: usize| {
        // The message's first counter is the successor of this one.
        let j0 = high << 32 | u128::from(u32::MAX - before as u32);
        iv_of("aes128-gcm", j0.to_be_bytes()).to_vec()
    };
    let answers = sweep("aes128-gcm", nonce);
    must_hold(&answers);
    must_be_refused(
        &answers.into_iter().filter(|answer| !answer.ct.is_empty()).map(with_another_end).collect::<Vec<_>>(),
    );
}

#[test]
fn gcm_siv_wraps_before_every_block_of_every_length() {
    for id in ["aes128-gcm-siv", "aes256-gcm-siv"] {
        let answers: Vec<_> = (0..=BLOCKS)
            .flat_map(|before| {
                [before, before + 1, before + 2, BLOCKS]
                    .into_iter()
                    .flat_map(lengths)
                    .map(move |bytes| with_gcm_siv_counter(id, 0_u32.wrapping_sub(before as u32), bytes))
            })
            .collect();
        must_hold(&answers);
    }
}

/// Returns the model's answer for a message with additional data for which the tag, and so the first counter, begins
/// with `counter`.
fn with_gcm_siv_counter(id: &str, counter: u32, msg_bytes: usize) -> KnownAnswer {
    let nonce = [3; 12];
    let key = key(id);
    // RFC 8452, section 4: the first half of each cipher output is key material.
    let cipher = id.replace("gcm-siv", "ecb");
    let derived: Vec<u8> = (0..2 + key.len() as u32 / 8)
        .flat_map(|i| {
            let block = [&i.to_le_bytes()[..], &nonce].concat();
            reference::seal(&cipher, &key, &[], &[], &block, 0).expect("one block").0[..8].to_vec()
        })
        .collect();
    let (hash_key, message_key) = derived.split_at(16);
    let mut answer = answer(id, &nonce, msg_bytes);

    // Finds the sum that leads to this tag. Its last bit must be zero, as it is for half of all tags.
    let sum = (0_u8..=255)
        .find_map(|more| {
            let mut tag = [more; 16];
            tag[..4].copy_from_slice(&counter.to_le_bytes());
            let mut sum = decrypt_block(message_key, tag);
            (sum[15] >> 7 == 0).then(|| {
                sum.iter_mut().zip(&nonce).for_each(|(sum, nonce)| *sum ^= nonce);
                sum
            })
        })
        .expect("a tag out of 256");

    // POLYVAL is GHASH of reversed blocks under a related key (RFC 8452, appendix A). Solves for one block of
    // additional data.
    let h = double(reversed(hash_key.try_into().expect("16 bytes")));
    let lengths = [128_u64.to_le_bytes(), (8 * msg_bytes as u64).to_le_bytes()].concat();
    let mut rest = [0; 16];
    let mut power = h;
    for chunk in answer.msg.chunks(16).chain([&lengths[..]]) {
        let mut block = [0; 16];
        block[..chunk.len()].copy_from_slice(chunk);
        rest = ghash_multiply(xor(rest, reversed(block)), h);
        power = ghash_multiply(power, h);
    }
    let first = reversed(ghash_multiply(xor(rest, reversed(sum)), inverse(power)));

    answer.aad = first.to_vec();
    (answer.ct, answer.tag) =
        reference::seal(id, &key, &nonce, &answer.aad, &answer.msg, 16).expect("the model takes these sizes");
    assert_eq!(answer.tag[..4], counter.to_le_bytes(), "the additional data was found");
    answer
}

fn decrypt_block(key: &[u8], block: Block) -> Block {
    use aes::cipher::{BlockCipherDecrypt, KeyInit};
    let mut block = block.into();
    match key.len() {
        16 => aes::Aes128::new_from_slice(key).expect("16 bytes").decrypt_block(&mut block),
        _ => aes::Aes256::new_from_slice(key).expect("32 bytes").decrypt_block(&mut block),
    }
    block.0
}

fn reversed(mut block: Block) -> Block {
    block.reverse();
    block
}

fn xor(a: Block, b: Block) -> Block {
    (u128::from_ne_bytes(a) ^ u128::from_ne_bytes(b)).to_ne_bytes()
}

/// Doubles a block in GHASH's bit order, where doubling shifts to the right.
fn double(block: Block) -> Block {
    let v = u128::from_be_bytes(block);
    (v >> 1 ^ (v & 1).wrapping_neg() & 0xe1 << 120).to_be_bytes()
}

#[test]
fn eax_carries_before_every_block_of_every_length() {
    for id in ["aes128-eax", "aes256-eax"] {
        for high in [0, u128::MAX, 0x0102_0304_0506_0708_090a_0b0c_0d0e_0f10] {
            let answers = sweep(id, |before| {
                let counter = (high << 64).wrapping_sub(before as u128);
                eax_nonce_of(id, counter.to_be_bytes()).to_vec()
            });
            must_hold(&answers);
            // Without the others, short messages are processed one per lane.
            let is_short = |answer: &KnownAnswer| (1..=512).contains(&answer.msg.len());
            must_hold(&answers.into_iter().filter(is_short).collect::<Vec<_>>());
        }
    }
}

/// Returns the nonce of EAX, one block, whose first counter block is `counter`: solves `counter = E(E(0) ⊕ N ⊕ K1)`,
/// where `K1 = 2 E(0)`.
fn eax_nonce_of(id: &str, counter: Block) -> Block {
    let (zero, _) =
        reference::seal(&id.replace("eax", "ecb"), &key(id), &[], &[], &[0; 16], 0).expect("one block");
    let zero = u128::from_be_bytes(zero.try_into().expect("one block"));
    let k1 = (zero << 1) ^ ((zero >> 127) * 0x87);
    xor(decrypt_block(&key(id), counter), (zero ^ k1).to_be_bytes())
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

/// Returns the answer with a flipped bit in its last block, after the overflow.
fn with_another_end(mut answer: KnownAnswer) -> KnownAnswer {
    *answer.ct.last_mut().expect("a long message") ^= 1;
    answer
}

/// Returns the 16-byte IV that GCM hashes to this pre-counter block: solves `J_0 = (IV • H ⊕ len) • H` for the IV.
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

/// Returns `x^-1 = x^(2^128 - 2)`.
fn inverse(x: Block) -> Block {
    let mut square = ghash_multiply(x, x);
    let mut product = square;
    for _ in 2..128 {
        square = ghash_multiply(square, square);
        product = ghash_multiply(product, square);
    }
    product
}

/// Lengths in bytes of messages whose counters overflow in their last byte once or more. In a batch, the first round of
/// their counter blocks comes from a table.
const TOGETHER: [usize; 16] =
    [4096, 4097, 513, 4079, 9000, 12_305, 4096, 2048, 8192, 1024, 5000, 4112, 4111, 3000, 8200, 6000];

/// The last bytes of first counter blocks: every position in a register, at several distances from the overflow.
fn last_bytes() -> impl Iterator<Item = u8> {
    (0..=u8::MAX).filter(|last| last % 37 == 0 || last % 65 > 61)
}

#[test]
fn ctr_carries_out_of_the_last_byte_anywhere_in_the_long_messages_of_a_batch() {
    for id in ["aes128-ctr", "aes256-ctr"] {
        for last in last_bytes() {
            let steps = [0, 4, 1, 8, 2, 220, 0, 32, 64, 128, 192, 3, 5, 31, 33, 254];
            let answers: Vec<_> = TOGETHER
                .into_iter()
                .zip(steps)
                .map(|(bytes, step)| {
                    let mut nonce = [0xff; 16];
                    nonce[..8].fill(7);
                    nonce[15] = last.wrapping_add(step);
                    answer(id, &nonce, bytes)
                })
                .collect();
            must_hold(&answers);
        }
    }
}

#[test]
fn gcm_carries_out_of_the_last_byte_anywhere_in_the_long_messages_of_a_batch() {
    for id in ["aes128-gcm", "aes256-gcm"] {
        for last in last_bytes() {
            // An IV of 96 bits is the common case: its first counter is 2. Others are processed one by one.
            for iv_bytes in [12, usize::MAX] {
                let answers: Vec<_> = TOGETHER
                    .into_iter()
                    .map(|bytes| {
                        let j0 = 0x0102_0304_0506_0708_090a_0b0c_ffff_ff00_u128 | u128::from(last);
                        let any = iv_of(id, j0.to_be_bytes());
                        answer(id, &any[..iv_bytes.min(any.len())], bytes)
                    })
                    .collect();
                must_hold(&answers);
            }
        }
    }
}

#[test]
fn ccm_counts_to_the_end_of_a_field_of_two_bytes() {
    let answers: Vec<_> = ["aes128-ccm", "aes192-ccm", "aes256-ccm"]
        .into_iter()
        .flat_map(|id| [255 * 16, 256 * 16, 257 * 16, 65_535].map(|long| answer(id, &[7; 13], long)))
        .collect();
    must_hold(&answers);
}
