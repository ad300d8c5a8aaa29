//! Seals and opens with keys and messages that memcheck considers undefined, so that it reports every branch and
//! every address that depends on them. `tools/check_poison.py` runs this program under valgrind and knows the few
//! reports that depend on public values only.
//!
//! usage: poison [--long] [WORD...]
//!
//! With WORDs, only algorithms whose ids contain one of them are checked.
//!
//! Memcheck propagates the taint of a key to all that is computed from it. Ciphertexts and received tags are public
//! and defined. Nonces and additional data may be public, but are undefined too, because no branch or address should
//! depend on their bytes. The exception are modes whose counter begins with the nonce: their nonces are defined.

use std::env;
use std::hint::black_box;

use crabgrind::memcheck::{self, MemState};
use sealcomb::study::{ALGORITHMS, Schedule};
use sealcomb::{Algorithm, Backend};
use sealcomb_checks::{BORDERS, Call, Case, Memory, Role, SCHEDULES, Sizes, backends};

/// The modes whose first counter block contains the nonce in the half that is checked for overflow.
const COUNT_ON_FROM_THE_NONCE: [&str; 2] = ["CTR", "CCM"];

/// Memory that marks secret inputs as undefined for memcheck.
struct Poisoned {
    /// Whether nonces are marked.
    nonces: bool,
    /// Number of results that depended on a secret.
    secret_results: usize,
}

impl Poisoned {
    fn of(algorithm: Algorithm) -> Self {
        Self { nonces: !COUNT_ON_FROM_THE_NONCE.contains(&algorithm.mode()), secret_results: 0 }
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

    /// Runs a call and declares its result public. A result has verdicts and lengths; message bytes are behind
    /// pointers, which are not followed.
    fn call<R>(&mut self, _: Call, call: impl FnOnce() -> R) -> R {
        let result = call();
        self.public(result)
    }
}

fn mark(bytes: &mut [u8], state: MemState) {
    // The result is ignored: crabgrind reports the opposite of what was done.
    _ = memcheck::mark_mem(bytes.as_mut_ptr().cast(), bytes.len(), state);
}

/// Returns whether any bit depends on a secret. Reads memcheck's validity bits, because its own check would report
/// an error.
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

/// Leaks a secret by a branch and by an address, then processes it without a leak. Memcheck must report the first two
/// only.
fn leak() {
    let mut secret = [9; 16];
    mark(&mut secret, MemState::Undefined);
    assert!(is_secret(&mut secret), "memcheck is not active; run this program under valgrind");
    black_box(leak_by_a_branch(black_box(&secret)));
    black_box(leak_by_an_address(black_box(&secret), black_box(&[7; 256])));
    black_box(leak_nothing(black_box(&secret)));
    mark(&mut secret, MemState::Defined);
    assert!(!is_secret(&mut secret));
}

/// Returns batches of one algorithm: 1, 3 and 40 jobs, under one key and under many.
fn cases(algorithm: Algorithm, backend: Backend, long: bool) -> Vec<Case> {
    let mut cases = Vec::new();
    let mut add = |keys, schedule, in_place, jobs: Vec<Sizes>| {
        let seed = cases.len() as u64;
        let tag = algorithm.tag_bytes();
        cases.push(Case { algorithm, backend, keys, tag, schedule, in_place, jobs, secrets: seed, seed });
    };
    // Nonces of the usual, the minimum and a greater length.
    let nonces = [algorithm.nonce_bytes(), algorithm.nonce_bytes(), algorithm.min_nonce_bytes(), 29];
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
        let wanted = |algorithm: &Algorithm| {
            words.is_empty() || words.iter().any(|word| algorithm.id().contains(word))
        };
        for case in ALGORITHMS
            .iter()
            .copied()
            .filter(wanted)
            .flat_map(|algorithm| cases(algorithm, backend, !long.is_empty()))
        {
            let mut memory = Poisoned::of(case.algorithm);
            case.run(&mut memory);
            let expected = case.jobs.iter().filter(|sizes| sizes.message + case.tag > 0).count();
            assert!(
                memory.secret_results >= expected,
                "{} results depend on secrets; at least {expected} expected: {case:?}",
                memory.secret_results
            );
            batches += 1;
        }
        println!("{}: done", backend.name());
    }
    println!("checked {batches} batches and single messages");
    if words.is_empty() {
        sealcomb_checks::assert_all_were_made();
    }
}
