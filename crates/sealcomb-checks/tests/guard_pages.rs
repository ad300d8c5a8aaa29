//! Every buffer passed to the library ends at the start of a guard page, or begins at the end of one. An access
//! beyond the buffer kills the process.

mod common {
    pub(crate) mod guarded;
}

use std::env;
use std::hint::black_box;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};

use common::guarded::Guarded;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use sealcomb::hazmat;
use sealcomb::study::ALGORITHMS;
use sealcomb::{Algorithm, Backend};
use sealcomb_checks::{BORDERS, Case, Memory, Role, SCHEDULES, Sizes, backends};

/// Buffers that alternately end and begin at a guard page.
struct AtGuards {
    at_end: bool,
}

impl Memory for AtGuards {
    type Buffer = Guarded;

    fn hold(&mut self, _: Role, bytes: &[u8]) -> Guarded {
        self.at_end = !self.at_end;
        Guarded::new(bytes, self.at_end)
    }

    fn publish(&mut self, result: &mut [u8]) -> Vec<u8> {
        result.to_vec()
    }
}

/// Draws the sizes of a job, two thirds of them from [`BORDERS`].
fn draw(algorithm: Algorithm, rng: &mut StdRng) -> Sizes {
    let mut length = |max| match rng.random_range(0..3) {
        0 => rng.random_range(0..=max),
        _ => BORDERS[rng.random_range(0..BORDERS.len())].min(max),
    };
    let (aad, message) = (length(300), length(1100));
    let nonce = match rng.random_range(0..4) {
        0 => rng.random_range(0..40),
        _ => algorithm.nonce_bytes(),
    };
    Sizes::of(algorithm, nonce, aad, message)
}

fn cases(algorithm: Algorithm, backend: Backend, many: usize) -> Vec<Case> {
    let mut rng = StdRng::seed_from_u64(algorithm.id().len() as u64);
    let mut cases = Vec::new();
    let mut add = |rng: &mut StdRng, schedule, in_place, jobs: Vec<Sizes>| {
        let keys = [1, jobs.len()][rng.random_range(0..2)];
        let tag = *hazmat::tag_sizes(algorithm)
            .get(rng.random_range(0..hazmat::tag_sizes(algorithm).len().max(1)))
            .unwrap_or(&0);
        let seed = rng.random_range(0..1 << 32);
        cases.push(Case { algorithm, backend, keys, tag, schedule, in_place, jobs, secrets: seed, seed });
    };
    for (i, message) in BORDERS.into_iter().enumerate() {
        let aad = BORDERS[(i * 7 + 2) % 17];
        let nonce = if i % 5 == 0 { 1 + i } else { algorithm.nonce_bytes() };
        for in_place in [false, true] {
            add(&mut rng, SCHEDULES[0], in_place, vec![Sizes::of(algorithm, nonce, aad, message)]);
        }
    }
    for i in 0..many {
        for schedule in SCHEDULES {
            let count = [2, 5, 9, 17, 33, 70][rng.random_range(0..6)];
            let jobs = (0..count).map(|_| draw(algorithm, &mut rng)).collect();
            add(&mut rng, schedule, i % 2 == 0, jobs);
        }
    }
    cases
}

#[test]
fn nothing_beyond_a_buffer_is_touched() {
    // Number of random batches per schedule.
    let many = env::var("SEALCOMB_CHECKS_BATCHES")
        .map_or(1, |many| many.parse().expect("SEALCOMB_CHECKS_BATCHES is a number"));
    let mut jobs = 0;
    for backend in backends() {
        for &algorithm in ALGORITHMS {
            for case in cases(algorithm, backend, many) {
                // If an access kills the process, the last line names the case.
                println!("{case:?}");
                case.run(&mut AtGuards { at_end: jobs % 2 == 0 });
                jobs += case.jobs.len();
            }
        }
    }
    println!("checked {jobs} jobs");
    sealcomb_checks::assert_all_were_made();
}

/// The child process of the next test: accesses a byte outside of a buffer. `GUARD` selects the end, `TOUCH` the
/// access.
#[test]
#[ignore = "kills its process"]
fn touch_a_byte_too_many() {
    let buffer = Guarded::new(&[1; 33], env::var("GUARD").as_deref() == Ok("end"));
    let place = if buffer.start == region::page::size() {
        buffer.as_ptr().wrapping_sub(1)
    } else {
        buffer.as_ptr().wrapping_add(33)
    };
    if env::var("TOUCH").as_deref() == Ok("write") {
        // SAFETY: none. The access to the guard page ends the process.
        unsafe { place.cast_mut().write_volatile(1) };
    } else {
        // SAFETY: none. The access to the guard page ends the process.
        black_box(unsafe { place.read_volatile() });
    }
}

#[test]
fn a_byte_too_many_is_fatal() {
    const SIGSEGV: i32 = 11;
    for guard in ["start", "end"] {
        for touch in ["read", "write"] {
            let status = Command::new(env::current_exe().expect("this program"))
                .args(["--exact", "touch_a_byte_too_many", "--ignored"])
                .envs([("GUARD", guard), ("TOUCH", touch)])
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status()
                .expect("this program again");
            assert_eq!(status.signal(), Some(SIGSEGV), "{touch} at the {guard}: {status}");
        }
    }
}
