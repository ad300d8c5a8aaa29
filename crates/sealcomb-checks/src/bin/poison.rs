//! Seals and opens with keys and messages that memcheck takes for undefined, so that it names every jump and every
//! address that depends on them. `tools/check_poison.py` runs it under valgrind, and says which of these are public.
//!
//! usage: poison [--long] [WORD...]
//!
//! WORD leaves but the algorithms with one of these words in their names. Everything that depends on a key is tainted
//! by the key. Ciphertexts, and the tags that come with them, are no secrets. Nonces and additional data need not be,
//! yet nothing depends on their bytes either, but where a counter begins with a nonce: there it is left defined.

use std::env;
use std::hint::black_box;

use crabgrind::memcheck::{self, MemState};
use sealcomb::{ALGORITHMS, Algorithm, Backend, Schedule};
use sealcomb_checks::{BORDERS, Call, Case, Memory, Role, SCHEDULES, Sizes, backends};

/// The modes whose counter blocks begin with the nonce, byte for byte, in the half that may overflow.
const COUNT_ON_FROM_THE_NONCE: [&str; 2] = ["CTR", "CCM"];

/// Memory in which what a caller may want to be secret is undefined, as memcheck sees it.
struct Poisoned {
    /// Whether that holds for nonces.
    nonces: bool,
    /// Results that depended on a secret.
    secret_results: usize,
}

impl Poisoned {
    fn of(algorithm: &Algorithm) -> Self {
        Self { nonces: !COUNT_ON_FROM_THE_NONCE.contains(&algorithm.mode), secret_results: 0 }
    }
}

impl Memory for Poisoned {
    type Buffer = Vec<u8>;

    fn hold(&mut self, role: Role, bytes: &[u8]) -> Vec<u8> {
        let mut buffer = bytes.to_vec();
        let is_secret = match role {
            Role::Key | Role::Message | Role::Aad => true,
            Role::Nonce => self.nonces,
            Role::Ciphertext | Role::Tag | Role::Output => false,
        };
        if is_secret {
            mark(&mut buffer, MemState::Undefined);
        }
        buffer
    }

    fn publish(&mut self, result: &mut [u8]) -> Vec<u8> {
        self.secret_results += usize::from(is_secret(result));
        mark(result, MemState::Defined);
        result.to_vec()
    }

    fn public<T>(&mut self, mut value: T) -> T {
        let place: *mut T = &raw mut value;
        _ = memcheck::mark_mem(place.cast(), size_of::<T>(), MemState::Defined);
        value
    }

    /// What a call returns tells no more than a verdict and a length: bytes are behind pointers.
    fn call<R>(&mut self, _: Call, call: impl FnOnce() -> R) -> R {
        let result = call();
        self.public(result)
    }
}

fn mark(bytes: &mut [u8], state: MemState) {
    // Its result says the contrary of what was done.
    _ = memcheck::mark_mem(bytes.as_mut_ptr().cast(), bytes.len(), state);
}

/// Whether a bit of it depends on a secret. Without a complaint, which memcheck's own question would make.
fn is_secret(bytes: &mut [u8]) -> bool {
    let mut bits = vec![0; bytes.len()];
    let written: *mut u8 = bits.as_mut_ptr();
    memcheck::vbits(bytes.as_mut_ptr().cast(), written, bytes.len())
        .expect("memory of this process, under valgrind");
    mark(&mut bits, MemState::Defined);
    bits.iter().any(|bits| *bits != 0)
}

#[inline(never)]
fn leak_by_a_branch(secret: &[u8; 16]) -> u8 {
    if black_box(secret[3]) > 7 { black_box(1) } else { black_box(2) + black_box(3) }
}

#[inline(never)]
fn leak_by_an_address(secret: &[u8; 16], table: &[u8; 256]) -> u8 {
    table[usize::from(secret[5])]
}

#[inline(never)]
fn leak_nothing(secret: &[u8; 16]) -> u8 {
    let all = secret.iter().fold(0, |all, byte| all ^ byte.rotate_left(3));
    all & (all.wrapping_neg() >> 7)
}

/// Leaks a secret by a branch and by an address, and works on it without a leak: the first two must be named.
fn leak() {
    let mut secret = [9; 16];
    mark(&mut secret, MemState::Undefined);
    assert!(is_secret(&mut secret), "this is to be run under valgrind");
    black_box(leak_by_a_branch(black_box(&secret)));
    black_box(leak_by_an_address(black_box(&secret), black_box(&[7; 256])));
    black_box(leak_nothing(black_box(&secret)));
    mark(&mut secret, MemState::Defined);
    assert!(!is_secret(&mut secret));
}

/// Batches of one algorithm: of 1, 3 and 40 jobs, under one key and under many.
fn cases(algorithm: &'static Algorithm, backend: Backend, long: bool) -> Vec<Case> {
    let mut cases = Vec::new();
    let mut add = |keys, schedule, in_place, jobs: Vec<Sizes>| {
        let seed = cases.len() as u64;
        let tag = algorithm.tag_bytes;
        cases.push(Case { algorithm, backend, keys, tag, schedule, in_place, jobs, secrets: seed, seed });
    };
    // The usual nonces, and the least and longer ones.
    let nonces = [algorithm.nonce_bytes, algorithm.nonce_bytes, algorithm.nonce.min, 29];
    let sizes = |i: usize, message| Sizes::of(algorithm, nonces[i % 4], BORDERS[(5 * i) % 14], message);
    let jobs = |count: usize| (0..count).map(|i| sizes(i, BORDERS[(7 * i + 3) % BORDERS.len()])).collect();
    let singles = if long { &BORDERS[..] } else { &[0, 17, 100, 300] };
    for (i, &message) in singles.iter().enumerate() {
        add(1, Schedule::Auto, i % 2 == 0, vec![sizes(i, message)]);
    }
    add(3, Schedule::Auto, true, jobs(3));
    add(1, Schedule::Auto, true, jobs(40));
    add(40, Schedule::Auto, false, jobs(40));
    if long {
        for schedule in SCHEDULES {
            for keys in [1, 3, 40] {
                add(keys, schedule, keys != 3, jobs(3));
                add(keys, schedule, keys == 3, jobs(40));
            }
        }
    }
    cases
}

fn main() {
    let (long, words): (Vec<_>, Vec<_>) = env::args().skip(1).partition(|argument| argument == "--long");
    leak();
    let mut batches = 0;
    for backend in backends() {
        let wanted =
            |algorithm: &&Algorithm| words.is_empty() || words.iter().any(|word| algorithm.id.contains(word));
        for case in
            ALGORITHMS.iter().filter(wanted).flat_map(|algorithm| cases(algorithm, backend, !long.is_empty()))
        {
            let mut memory = Poisoned::of(case.algorithm);
            case.run(&mut memory);
            let expected = case.jobs.iter().filter(|sizes| sizes.message + case.tag > 0).count();
            assert!(memory.secret_results >= expected, "secrets do not reach the results of {case:?}");
            batches += 1;
        }
        println!("{}: done", backend.name());
    }
    println!("{batches} batches and single messages");
    if words.is_empty() {
        sealcomb_checks::assert_all_were_made();
    }
}
