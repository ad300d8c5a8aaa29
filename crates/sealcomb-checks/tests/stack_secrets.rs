//! What calls leave on the stack. Everything runs twice, with different keys and messages; what differs depends on a
//! secret, unless it is a ciphertext or a tag.
//!
//! Prints the maximum number of bytes that each kind of call leaves of secrets, and fails if a call leaves any that may
//! not. With `EXPECT_BACKEND`, which is set on slow emulated CPUs, only that backend is tested, with the longest keys.

mod common {
    pub(crate) mod painted;
}

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::hint::black_box;
use std::iter;
use std::ops::RangeInclusive;

use common::painted::{PAINT, Painted};
use sealcomb::study::{ALGORITHMS, Schedule};
use sealcomb::{Algorithm, Backend};
use sealcomb_checks::{Call, Case, Memory, Role, Sizes, backends};

/// The minimum and the maximum number of messages that GCM processes together.
const TOGETHER: RangeInclusive<usize> = 5..=64;

/// Returns whether a call must leave no secrets, as SECURITY.md promises.
fn must_be_clean(case: &Case, call: Call) -> bool {
    match (case.algorithm.mode(), case.backend.name()) {
        ("CTR", "aesni" | "vaes512") => true,
        ("GCM" | "GMAC", "vaes512") => match call {
            Call::OpenBatch | Call::OpenBurst => true,
            Call::SealBatch | Call::SealBurst => TOGETHER.contains(&case.jobs.len()),
            _ => false,
        },
        _ => false,
    }
}

/// Runs each call on a separate stack, and keeps what is left there.
struct Watched {
    stack: Painted,
    left: Vec<(Call, Vec<u64>)>,
    /// Ciphertexts and tags.
    public: BTreeSet<Vec<u8>>,
}

impl Watched {
    fn new() -> Self {
        Self { stack: Painted::new(), left: Vec::new(), public: BTreeSet::new() }
    }

    /// Removes the words that occur in ciphertexts and tags, also byte-reversed, or at an end padded with zeros.
    fn remove_public(&self, words: &mut BTreeSet<u64>) {
        for string in &self.public {
            if words.is_empty() {
                return;
            }
            let padded = [&[0; 7], &string[..], &[0; 7]].concat();
            for window in padded.windows(8) {
                let word = u64::from_le_bytes(window.try_into().expect("8 bytes"));
                words.remove(&word);
                words.remove(&word.swap_bytes());
            }
        }
    }
}

impl Memory for Watched {
    type Buffer = Vec<u8>;

    fn hold(&mut self, role: Role, bytes: &[u8]) -> Vec<u8> {
        if matches!(role, Role::Ciphertext | Role::Tag) {
            self.public.insert(bytes.to_vec());
        }
        bytes.to_vec()
    }

    fn publish(&mut self, result: &mut [u8]) -> Vec<u8> {
        result.to_vec()
    }

    fn call<R>(&mut self, kind: Call, call: impl FnOnce() -> R) -> R {
        // Keys are promised to leave nothing only in their own memory. Creating a job only stores references.
        if matches!(kind, Call::NewKey | Call::DropKeys | Call::Job) {
            return call();
        }
        let (result, left) = self.stack.call(call);
        self.left.push((kind, left));
        result
    }
}

/// Returns whether a word can be part of a secret: it is no address, and has been written completely.
fn is_random(word: u64) -> bool {
    word >> 47 != 0 && word as u32 != PAINT as u32 && word >> 32 != PAINT >> 32
}

/// Runs something twice with different secrets, and returns how many bytes of them each call leaves on the stack.
fn secrets_left(run: impl Fn(u64, &mut Watched)) -> Vec<(Call, usize)> {
    let [a, b] = [1, 2].map(|secrets| {
        let mut memory = Watched::new();
        run(secrets, &mut memory);
        memory
    });
    assert_eq!(a.left.len(), b.left.len());
    // Stacks begin at the same address, and may end at different ones.
    let from_the_top =
        |left: &Vec<u64>| left.iter().rev().copied().chain(iter::repeat(PAINT)).take(4096).collect();
    let differing: Vec<(Call, Vec<[u64; 2]>)> = a
        .left
        .iter()
        .zip(&b.left)
        .map(|((call, left), (_, right))| {
            let (left, right): (Vec<u64>, Vec<u64>) = (from_the_top(left), from_the_top(right));
            let pairs = left.into_iter().zip(right).map(|(left, right)| [left, right]);
            (
                *call,
                pairs
                    .filter(|[left, right]| left != right && is_random(*left) && is_random(*right))
                    .collect(),
            )
        })
        .collect();
    let secret = [(0, &a), (1, &b)].map(|(which, memory)| {
        let mut words =
            differing.iter().flat_map(|(_, pairs)| pairs.iter().map(|pair| pair[which])).collect();
        memory.remove_public(&mut words);
        words
    });
    let count = |pairs: &Vec<[u64; 2]>| {
        8 * pairs.iter().filter(|[left, right]| secret[0].contains(left) && secret[1].contains(right)).count()
    };
    differing.iter().map(|(call, pairs)| (*call, count(pairs))).collect()
}

/// Returns batches below and above the number of messages that are processed together, and single messages.
fn cases(algorithm: Algorithm, backend: Backend) -> Vec<Case> {
    let lengths: [&[usize]; 5] = [&[64], &[200], &[512], &[2048, 40], &[576, 1500, 4, 64, 999, 40]];
    let mut cases = Vec::new();
    for count in [1, 3, *TOGETHER.start(), 7, *TOGETHER.end()] {
        for (i, lengths) in lengths.iter().enumerate() {
            let aad = if i % 2 == count % 2 { 13 } else { 0 };
            let jobs = lengths.iter().cycle().take(count);
            let jobs = jobs.map(|bytes| Sizes::of(algorithm, algorithm.nonce_bytes(), aad, *bytes));
            cases.push(Case {
                algorithm,
                backend,
                keys: 1,
                tag: algorithm.tag_bytes(),
                schedule: Schedule::Auto,
                // Only then are there bursts.
                in_place: i != 2,
                jobs: jobs.collect(),
                secrets: 0,
                seed: 4,
            });
        }
    }
    cases
}

#[test]
fn gcm_and_ctr_leave_no_secrets_on_the_stack_where_that_is_promised() {
    let mut violations = Vec::new();
    let only = env::var("EXPECT_BACKEND").ok();
    let is_wanted = |algorithm: &Algorithm| {
        algorithm.id().starts_with("aes")
            && ["CTR", "GCM", "GMAC"].contains(&algorithm.mode())
            && (only.is_none() || algorithm.key_bytes() == 32)
    };
    for backend in backends() {
        if only.as_ref().is_some_and(|name| name != backend.name()) {
            continue;
        }
        for algorithm in ALGORITHMS.iter().copied().filter(is_wanted) {
            let mut most = BTreeMap::new();
            for case in cases(algorithm, backend) {
                for (call, bytes) in
                    secrets_left(|secrets, memory| Case { secrets, ..case.clone() }.run(memory))
                {
                    let most = most.entry(call).or_insert(0);
                    *most = bytes.max(*most);
                    if bytes > 0 && must_be_clean(&case, call) {
                        violations.push(format!("{call:?} leaves {bytes} bytes: {case:?}"));
                    }
                }
            }
            println!("{:12} {:10} {most:?}", algorithm.id(), backend.name());
        }
    }
    assert!(violations.is_empty(), "{violations:#?}");
}

#[test]
fn a_secret_on_the_stack_is_found() {
    let leave = |words: [u64; 2]| {
        move |secrets: u64, memory: &mut Watched| {
            memory.public.insert(secrets.wrapping_mul(PAINT).to_be_bytes().to_vec());
            memory.call(Call::Seal, || {
                let words = words.map(|word| word.wrapping_mul(secrets));
                black_box(&words);
            });
        }
    };
    // One of the words is public.
    assert_eq!(secrets_left(leave([!PAINT, PAINT])), [(Call::Seal, 8)]);
    assert_eq!(secrets_left(leave([0x7FFF_1234_5678, PAINT])), [(Call::Seal, 0)]);
}
