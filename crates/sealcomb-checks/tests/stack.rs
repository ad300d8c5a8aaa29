//! The library uses no more stack than its documentation promises.

mod common {
    pub(crate) mod painted;
}

use std::collections::BTreeMap;
use std::env;
use std::hint::black_box;
use std::process::Command;
use std::thread;

use common::painted::Painted;
use sealcomb::study::{self, ALGORITHMS, Schedule};
use sealcomb::{Algorithm, Backend, Kind, Status};
use sealcomb_checks::{BORDERS, Call, Case, Memory, Role, SCHEDULES, Sizes, backends};

/// Promised maximum stack use in bytes of the algorithms that require no feature.
const STANDARD: usize = 32 << 10;
/// Promised maximum stack use in bytes of all other algorithms.
const ANY: usize = 96 << 10;
/// Additional stack use in bytes of a burst.
const BURST: usize = 8 << 10;
/// Stack in bytes that a thread itself needs: thread-local storage and the frames of the standard library.
const THREAD: usize = 8 << 10;

fn promised(algorithm: Algorithm) -> usize {
    let in_every_build = matches!(algorithm.status(), Status::Standard | Status::Portfolio)
        && algorithm.kind() != Kind::Cipher;
    if in_every_build { STANDARD } else { ANY }
}

/// Runs each call on a separate stack, and measures how much of it was overwritten.
struct Measured {
    stack: Painted,
    deepest: BTreeMap<Call, usize>,
}

impl Memory for Measured {
    type Buffer = Vec<u8>;

    fn hold(&mut self, _: Role, bytes: &[u8]) -> Vec<u8> {
        bytes.to_vec()
    }

    fn publish(&mut self, result: &mut [u8]) -> Vec<u8> {
        result.to_vec()
    }

    fn call<R>(&mut self, kind: Call, call: impl FnOnce() -> R) -> R {
        // Creating a job only stores references, and there are too many to measure each.
        if kind == Call::Job {
            return call();
        }
        let (result, written) = self.stack.call(call);
        let deepest = self.deepest.entry(kind).or_default();
        *deepest = (*deepest).max(size_of_val(&written[..]));
        result
    }
}

/// Ordinary memory, and calls on the thread's stack.
struct Plain;

impl Memory for Plain {
    type Buffer = Vec<u8>;

    fn hold(&mut self, _: Role, bytes: &[u8]) -> Vec<u8> {
        bytes.to_vec()
    }

    fn publish(&mut self, result: &mut [u8]) -> Vec<u8> {
        result.to_vec()
    }
}

/// Returns single messages, and batches larger than a flight.
fn cases(algorithm: Algorithm, backend: Backend) -> Vec<Case> {
    let case = |keys, schedule, in_place, jobs| {
        let tag = algorithm.tag_bytes();
        Case { algorithm, backend, keys, tag, schedule, in_place, jobs, secrets: 1, seed: 2 }
    };
    let sizes = |nonce, message| Sizes::of(algorithm, nonce, message / 2, message);
    let usual = algorithm.nonce_bytes();
    let mut cases = Vec::new();
    for (message, nonce) in [(0, usual), (33, 29), (1000, usual)] {
        cases.push(case(1, Schedule::Auto, message % 2 == 0, vec![sizes(nonce, message)]));
    }
    let mixed: Vec<_> =
        (0..150).map(|i| sizes(if i % 5 == 0 { 1 } else { usual }, BORDERS[i * 7 % 18])).collect();
    for schedule in SCHEDULES {
        cases.push(case(3, schedule, true, mixed.clone()));
    }
    cases.push(case(1, Schedule::Auto, false, mixed.clone()));
    cases.push(case(1, Schedule::Auto, true, mixed));
    cases.push(case(3, Schedule::Auto, false, vec![sizes(usual, 64); 130]));
    cases
}

#[test]
fn no_call_takes_more_stack_than_is_promised() {
    let mut violations = Vec::new();
    println!(
        "{:20} {:10} stack bytes: new keys, single messages, batches, bursts, dropped keys",
        "algorithm", "backend",
    );
    for backend in backends() {
        for &algorithm in ALGORITHMS {
            let mut memory = Measured { stack: Painted::new(), deepest: BTreeMap::new() };
            for case in cases(algorithm, backend) {
                case.run(&mut memory);
            }
            let deepest: Vec<_> = memory.deepest.values().map(|bytes| format!("{bytes:7}")).collect();
            println!("{:20} {:10} {}", algorithm.id(), backend.name(), deepest.join(" "));
            let too_deep = |(call, bytes): (&Call, &usize)| {
                let burst = matches!(call, Call::SealBurst | Call::OpenBurst);
                *bytes > promised(algorithm) + if burst { BURST } else { 0 }
            };
            if memory.deepest.iter().any(too_deep) {
                violations.push(format!("{algorithm:?} on {backend:?}"));
            }
        }
    }
    assert!(violations.is_empty(), "these use more stack than promised: {violations:?}");
    sealcomb_checks::assert_all_were_made();
}

/// The child process of the next test, killed by a stack that is too small. Runs the cases of an algorithm, or uses
/// 64 KiB if there is none of that name.
#[test]
#[ignore = "the next test runs it with an algorithm"]
fn run_in_a_small_thread() {
    let name = env::var("ALGORITHM").expect("a name");
    let stack = env::var("STACK").expect("a number").parse().expect("a number");
    let bursts = env::var("BURSTS").is_ok();
    let algorithm = study::by_id(&name).ok();
    let cases: Vec<_> = backends()
        .into_iter()
        .flat_map(|backend| algorithm.map(|algorithm| cases(algorithm, backend)).unwrap_or_default())
        .filter(|case| case.has_columns() == bursts)
        .collect();
    let run = move || {
        if algorithm.is_none() {
            take_64_kib();
        }
        for case in &cases {
            case.run(&mut Plain);
        }
    };
    thread::Builder::new().stack_size(stack).spawn(run).expect("a thread").join().expect("no panic");
}

/// Uses 64 KiB of stack. Not inlined, because its caller would then always reserve them.
#[inline(never)]
#[expect(clippy::large_stack_arrays, reason = "the function's purpose")]
fn take_64_kib() {
    black_box(&mut [1_u8; 64 << 10]);
}

/// Returns whether an algorithm runs on a thread with `stack` bytes: its cases with bursts, or all others.
fn survives(algorithm: &str, bursts: bool, stack: usize) -> bool {
    Command::new(env::current_exe().expect("this program"))
        .args(["--exact", "run_in_a_small_thread", "--ignored"])
        .envs(bursts.then_some(("BURSTS", "")))
        .env("ALGORITHM", algorithm)
        .env("STACK", stack.to_string())
        .output()
        .expect("this program again")
        .status
        .success()
}

#[test]
fn every_algorithm_runs_on_a_thread_with_the_stack_that_is_promised() {
    assert!(
        survives("none", false, 80 << 10) && !survives("none", false, 48 << 10),
        "a stack that is too small is not detected"
    );
    let is_dead = |algorithm: &Algorithm| {
        let stack = promised(*algorithm) + THREAD;
        !survives(algorithm.id(), false, stack) || !survives(algorithm.id(), true, stack + BURST)
    };
    let dead: Vec<_> = ALGORITHMS.iter().copied().filter(is_dead).collect();
    assert!(dead.is_empty(), "the promised stack is too small for {dead:?}");
}
