//! How much stack the library takes: it says so in its documentation, and a thread may have no more.

use std::collections::BTreeMap;
use std::env;
use std::hint::black_box;
use std::process::Command;
use std::ptr;
use std::thread;

use sealcomb::{ALGORITHMS, Algorithm, Backend, Kind, Schedule, Status};
use sealcomb_checks::{BORDERS, Call, Case, Memory, Role, SCHEDULES, Sizes, backends};

/// The stack that the library promises to be enough for the algorithms that it has without further features.
const STANDARD: usize = 32 << 10;
/// And for all others.
const ANY: usize = 96 << 10;
/// What a burst takes more.
const BURST: usize = 8 << 10;
/// What a thread of the standard library needs for itself: its local storage, and the calls down to ours.
const THREAD: usize = 8 << 10;

fn promised(algorithm: &Algorithm) -> usize {
    let in_every_build =
        matches!(algorithm.status, Status::Standard | Status::Portfolio) && algorithm.kind != Kind::Cipher;
    if in_every_build { STANDARD } else { ANY }
}

/// Makes each call on a stack of its own, and looks how much of it was written.
struct Painted {
    stack: Vec<u64>,
    deepest: BTreeMap<Call, usize>,
}

/// More than anything takes.
const STACK: usize = 256 << 10;
const PAINT: u64 = 0xA5C3_96F0_5A3C_690F;

impl Painted {
    fn new() -> Self {
        Self { stack: vec![PAINT; STACK / 8], deepest: BTreeMap::new() }
    }
}

impl Memory for Painted {
    type Buffer = Vec<u8>;

    fn hold(&mut self, _: Role, bytes: &[u8]) -> Vec<u8> {
        bytes.to_vec()
    }

    fn publish(&mut self, result: &mut [u8]) -> Vec<u8> {
        result.to_vec()
    }

    fn call<R>(&mut self, kind: Call, call: impl FnOnce() -> R) -> R {
        // It only borrows, and there are many of them.
        if kind == Call::Job {
            return call();
        }
        let bytes = size_of_val(&self.stack[..]);
        let base = self.stack.as_mut_ptr();
        // SAFETY: the stack is this vector's memory, aligned, of many pages, and nobody else's until the call is over.
        let result = unsafe { psm::on_stack(base.cast(), bytes, call) };
        // SAFETY: within the vector. The call wrote there behind the compiler's back.
        let is_fresh = |i: &usize| unsafe { ptr::read_volatile(base.add(*i)) } == PAINT;
        let fresh = (0..self.stack.len()).take_while(is_fresh).count();
        assert!(fresh > self.stack.len() / 8, "the stack was hardly enough");
        self.stack[fresh..].fill(PAINT);
        let deepest = self.deepest.entry(kind).or_default();
        *deepest = (*deepest).max(bytes - 8 * fresh);
        result
    }
}

/// Plain memory, and calls on the stack of the thread.
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

/// Messages alone, and batches of more than fly together.
fn cases(algorithm: &'static Algorithm, backend: Backend) -> Vec<Case> {
    let case = |keys, schedule, in_place, jobs| {
        let tag = algorithm.tag_bytes;
        Case { algorithm, backend, keys, tag, schedule, in_place, jobs, secrets: 1, seed: 2 }
    };
    let sizes = |nonce, message| Sizes::of(algorithm, nonce, message / 2, message);
    let usual = algorithm.nonce_bytes;
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
    let mut offences = Vec::new();
    println!(
        "{:20} {:10} bytes, of new keys, single messages, batches, bursts, dropped keys",
        "algorithm", "backend",
    );
    for backend in backends() {
        for algorithm in ALGORITHMS {
            let mut memory = Painted::new();
            for case in cases(algorithm, backend) {
                case.run(&mut memory);
            }
            let deepest: Vec<_> = memory.deepest.values().map(|bytes| format!("{bytes:7}")).collect();
            println!("{:20} {:10} {}", algorithm.id, backend.name(), deepest.join(" "));
            let too_deep = |(call, bytes): (&Call, &usize)| {
                let burst = matches!(call, Call::SealBurst | Call::OpenBurst);
                *bytes > promised(algorithm) + if burst { BURST } else { 0 }
            };
            if memory.deepest.iter().any(too_deep) {
                offences.push(format!("{algorithm:?} on {backend:?}"));
            }
        }
    }
    assert!(offences.is_empty(), "more than is promised: {offences:?}");
    sealcomb_checks::assert_all_were_made();
}

/// The child of the next test, which a stack that is too small kills: with an algorithm, or with what takes 64 KiB.
#[test]
#[ignore = "the next test runs it with an algorithm"]
fn run_in_a_small_thread() {
    let name = env::var("ALGORITHM").expect("a name");
    let stack = env::var("STACK").expect("a number").parse().expect("a number");
    let bursts = env::var("BURSTS").is_ok();
    let algorithm = Algorithm::by_id(&name).ok();
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

/// Apart, or its caller would take them in any case.
#[inline(never)]
#[expect(clippy::large_stack_arrays, reason = "that is what it is for")]
fn take_64_kib() {
    black_box(&mut [1_u8; 64 << 10]);
}

/// Whether it does, with the cases that are bursts too, or with all others.
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
        "a stack that is too small is noticed"
    );
    let is_dead = |algorithm: &&Algorithm| {
        let stack = promised(algorithm) + THREAD;
        !survives(algorithm.id, false, stack) || !survives(algorithm.id, true, stack + BURST)
    };
    let dead: Vec<_> = ALGORITHMS.iter().filter(is_dead).collect();
    assert!(dead.is_empty(), "the stack is not enough for {dead:?}");
}
