//! Freed memory contains no secrets. Everything runs twice, with different keys and messages; any freed byte that
//! differs depends on a secret.

mod common {
    pub(crate) mod arena;
}

use std::hint::black_box;
use std::sync::Arc;

use common::arena::{differences, in_arena};
use sealcomb::hazmat;
use sealcomb::rustcrypto::aead::{Aes256Ccm, Aes256GcmSiv, KeyInit};
use sealcomb::rustcrypto::mac::{Aes256Cmac, Mac};
use sealcomb::study::{ALGORITHMS, Schedule};
use sealcomb::{Algorithm, Backend, Key, KeyOptions};
use sealcomb_checks::{Call, Case, Memory, Role, Sizes, backends};

/// Memory outside of the arena. Only library calls allocate in the arena.
struct Watched;

impl Memory for Watched {
    type Buffer = Vec<u8>;

    fn hold(&mut self, _: Role, bytes: &[u8]) -> Vec<u8> {
        bytes.to_vec()
    }

    /// Zeroes the result after copying it. It may be in the arena, but belongs to the caller, who no longer needs it.
    fn publish(&mut self, result: &mut [u8]) -> Vec<u8> {
        let copy = result.to_vec();
        result.fill(0);
        black_box(result);
        copy
    }

    fn call<R>(&mut self, _: Call, call: impl FnOnce() -> R) -> R {
        in_arena(call)
    }
}

/// Checks that `work` leaves no secret in freed memory, with every algorithm and backend. Prints a line for each that
/// does.
fn must_be_clean(what: &str, work: impl Fn(Algorithm, Backend, u64)) {
    let mut failures = 0;
    for backend in backends() {
        for &algorithm in ALGORITHMS {
            let found = differences(|secret| work(algorithm, backend, secret));
            if let [first, ..] = found[..] {
                println!(
                    "{what}: {algorithm:?} on {backend:?} leaves {} bytes of secrets, the first at offset {first}",
                    found.len()
                );
                failures += 1;
            }
        }
    }
    assert_eq!(
        failures, 0,
        "{what}: combinations of algorithm and backend that leave secrets in freed memory"
    );
}

fn key_of(algorithm: Algorithm, backend: Backend, secret: u64) -> Key {
    key_with(KeyOptions::new().backend(backend), algorithm, secret).expect("a key of the right length")
}

fn key_with(options: KeyOptions, algorithm: Algorithm, secret: u64) -> Result<Key, sealcomb::Error> {
    // On the stack, because the arena is in use.
    let mut key = [0; 64];
    for (i, byte) in key.iter_mut().enumerate() {
        *byte = (secret as u8).wrapping_mul(167).wrapping_add((i as u8).wrapping_mul(29).wrapping_add(1));
    }
    options.expand(algorithm, &key[..algorithm.key_bytes()])
}

#[test]
fn a_secret_in_freed_memory_is_found() {
    let secret = |secret: u64| in_arena(|| drop(black_box(Box::new([secret; 4]))));
    assert_eq!(differences(secret), [0, 8, 16, 24]);
    assert_eq!(differences(|secret| in_arena(|| drop(black_box(Box::new([secret / 4; 4]))))), []);
}

#[test]
fn a_dropped_key_leaves_nothing_wherever_it_was() {
    must_be_clean("in a box", |algorithm, backend, secret| {
        in_arena(|| drop(black_box(Box::new(key_of(algorithm, backend, secret)))));
    });
    must_be_clean("shared", |algorithm, backend, secret| {
        in_arena(|| drop(black_box(Arc::new(key_of(algorithm, backend, secret)))));
    });
    must_be_clean("in a vector", |algorithm, backend, secret| {
        in_arena(|| {
            let mut keys = Vec::with_capacity(3);
            keys.extend((0..3).map(|i| key_of(algorithm, backend, secret + i)));
            keys.truncate(1);
            drop(black_box(keys));
        });
    });
    must_be_clean("with another tag", |algorithm, backend, secret| {
        let Some(tag_bytes) = hazmat::tag_sizes(algorithm).first() else { return };
        in_arena(|| {
            let options = KeyOptions::new().backend(backend).short_tag_bytes(*tag_bytes);
            drop(black_box(Box::new(
                key_with(options, algorithm, secret).expect("a tag length from the catalog"),
            )));
        });
    });
}

#[test]
fn types_with_rustcrypto_traits_leave_nothing() {
    let found = differences(|secret| {
        let key = [secret as u8; 32];
        in_arena(|| {
            drop(black_box(Box::new(Aes256GcmSiv::new(&key.into()))));
            drop(black_box(Box::new(Aes256Ccm::new(&key.into()))));
            let mac = Aes256Cmac::new(&key.into()).chain_update(&key[..27]);
            drop(black_box(Box::new(mac)));
        });
    });
    assert_eq!(found, []);
}

#[test]
fn a_key_that_cannot_be_made_leaves_nothing() {
    must_be_clean("too short", |algorithm, backend, secret| {
        let key = [secret as u8; 64];
        in_arena(|| {
            assert!(
                KeyOptions::new()
                    .backend(backend)
                    .expand(algorithm, &key[..algorithm.key_bytes() - 1])
                    .is_err()
            );
        });
    });
    must_be_clean("with an impossible tag", |algorithm, backend, secret| {
        in_arena(|| {
            assert!(key_with(KeyOptions::new().backend(backend).tag_bytes(99), algorithm, secret).is_err());
        });
    });
}

#[test]
fn sealing_and_opening_leave_nothing_of_keys_and_messages() {
    must_be_clean("sealed and opened", |algorithm, backend, secrets| {
        let sizes = |message| Sizes::of(algorithm, algorithm.nonce_bytes(), message / 2, message);
        let batch = |lengths: &[usize]| lengths.iter().map(|bytes| sizes(*bytes)).collect();
        let lengths: Vec<_> = (0..70).map(|i| i * i % 300).collect();
        for (keys, schedule, in_place, jobs) in [
            (1, Schedule::Auto, false, batch(&[77])),
            (1, Schedule::Auto, true, batch(&[256])),
            // A stream's copy, made after two pieces, needs more of the table than they did.
            (1, Schedule::Auto, true, batch(&[1536])),
            (1, Schedule::Auto, true, batch(&lengths)),
            (70, Schedule::Auto, false, batch(&lengths)),
            (9, Schedule::Comb(16), false, batch(&lengths)),
            (9, Schedule::Refill, true, batch(&lengths)),
        ] {
            let tag = algorithm.tag_bytes();
            Case { algorithm, backend, keys, tag, schedule, in_place, jobs, secrets, seed: 5 }
                .run(&mut Watched);
        }
    });
    sealcomb_checks::assert_all_were_made();
}
