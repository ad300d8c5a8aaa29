//! Random messages for another library to seal.

use super::borders;
use super::known_answer::KnownAnswer;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use sealcomb::{Algorithm, Kind};

/// Generates 1 to 39 messages of one algorithm under at most three keys. Until a peer seals them, `ct` is the message
/// and `tag` is zero.
pub(crate) fn messages(
    algorithm: Algorithm,
    nonces: Vec<usize>,
    tags: Vec<usize>,
) -> impl Strategy<Value = Vec<KnownAnswer>> {
    let message = (select(nonces), select(tags), length(), 0..=100_usize, 0..3_u64);
    (vec(message, 1..40), any::<u64>()).prop_map(move |(messages, seed)| {
        let mut rng = StdRng::seed_from_u64(seed);
        messages
            .into_iter()
            .enumerate()
            .map(|(i, (nonce, tag, long, short, key))| {
                let (aad, msg) = match algorithm.kind() {
                    Kind::Cipher => (0, long),
                    Kind::Mac => (long, 0),
                    _ => (short, long),
                };
                let msg = algorithm.padded_bytes(msg);
                let mut random = |bytes| borders::bytes(&mut rng, bytes);
                let msg = random(msg);
                KnownAnswer {
                    origin: format!("{} {i}", algorithm.id()),
                    algorithm,
                    key: random_bytes(
                        &mut StdRng::seed_from_u64(seed.wrapping_add(key)),
                        algorithm.key_bytes(),
                    ),
                    nonce: random(nonce),
                    aad: random(aad),
                    ct: msg.clone(),
                    msg,
                    tag: vec![0; tag],
                }
            })
            .collect()
    })
}

/// Generates a length up to 3000 bytes, or one around some groups of blocks.
fn length() -> impl Strategy<Value = usize> {
    prop_oneof![0..=3000_usize, borders::length()]
}

fn random_bytes(rng: &mut StdRng, bytes: usize) -> Vec<u8> {
    let mut string = vec![0; bytes];
    rng.fill_bytes(&mut string);
    string
}
