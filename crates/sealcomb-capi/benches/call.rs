//! Measures the overhead of the C API: the same batches through `sealcomb_seal_jobs` and Rust's `seal_jobs`,
//! interleaved.
//!
//! Rust builds its jobs for each call, which is part of calling it. C is measured twice: with jobs filled for each
//! call, and with prepared jobs, where only the call remains. Fails if a call with prepared jobs costs over 2 % more
//! than Rust for messages of 2048 bytes, or over 15 cycles per message more for messages of 64 bytes: a Zen 4 takes
//! up to 13, an Intel Xeon 6. Both are medians over all algorithms, because the overhead does not depend on the
//! algorithm.
// Cycle counts have far fewer than 52 significant bits.
#![allow(clippy::cast_precision_loss)]

use std::hint::black_box;
use std::mem::MaybeUninit;
use std::process::ExitCode;
use std::ptr;

use sealcomb::study;
use sealcomb::{Key, SealJob, seal_jobs};
use sealcomb_capi::{
    sealcomb_hazmat_algorithm_by_id, sealcomb_job, sealcomb_key, sealcomb_key_free, sealcomb_key_new,
    sealcomb_seal_jobs, sealcomb_status,
};
use sealcomb_timing::{Clock, Quartiles};

const MESSAGES: usize = 64;
const SHORT: usize = 64;
const LONG: usize = 2048;
/// Limits of the overhead: cycles per message of `SHORT` bytes, and the ratio for messages of `LONG` bytes.
const MAX_MORE: f64 = 15.0;
const MAX_RATIO: f64 = 1.02;
const TURNS: usize = 39;
const PLACES: usize = 9;
const AAD: &[u8] = b"header of a packet!!";

/// The buffers that all contenders seal, so that they differ only in the call: buffer placement affects the time more
/// than the call does. For the same reason there are `PLACES` copies, each with its own page offset, key and stack
/// depth.
#[derive(Clone)]
struct Buffers {
    nonces: [[u8; 12]; MESSAGES],
    data: [u8; MESSAGES * LONG],
    tags: [[u8; 16]; MESSAGES],
}

impl Buffers {
    #[expect(clippy::large_stack_arrays, reason = "a constant that initializes a vector on the heap")]
    const fn new() -> Self {
        Self { nonces: [[7; 12]; MESSAGES], data: [0; MESSAGES * LONG], tags: [[0; 16]; MESSAGES] }
    }

    fn seal_from_rust(&mut self, key: &Key, bytes: usize) {
        let mut jobs = arrayvec::ArrayVec::<SealJob<'_>, MESSAGES>::new();
        let data = self.data.chunks_exact_mut(bytes);
        for ((nonce, tag), data) in self.nonces.iter().zip(&mut self.tags).zip(data) {
            jobs.push(SealJob::in_place(key, nonce, AAD, data, tag));
        }
        assert!(black_box(seal_jobs)(&mut jobs).is_ok());
    }
}

type Jobs = [MaybeUninit<sealcomb_job>; MESSAGES];

/// Fills the jobs as a C program would.
///
/// # Safety
/// `buffers` is valid.
unsafe fn fill(jobs: &mut Jobs, buffers: *mut Buffers, key: *const sealcomb_key, bytes: usize) {
    // SAFETY: guaranteed by the caller. Without references, the pointers stay valid while Rust also uses the buffers.
    let (nonces, data, tags) =
        unsafe { (&raw const (*buffers).nonces, &raw mut (*buffers).data, &raw mut (*buffers).tags) };
    for (i, job) in jobs.iter_mut().enumerate() {
        let data = data.cast::<u8>().wrapping_add(i * bytes);
        job.write(sealcomb_job {
            size: size_of::<sealcomb_job>(),
            key,
            nonce: nonces.cast::<[u8; 12]>().wrapping_add(i).cast(),
            nonce_bytes: 12,
            aad: AAD.as_ptr(),
            aad_bytes: AAD.len(),
            aad_parts: ptr::null(),
            aad_part_count: 0,
            input: data,
            input_bytes: bytes,
            output: data,
            output_bytes: bytes,
            tag: tags.cast::<[u8; 16]>().wrapping_add(i).cast(),
            tag_bytes: 16,
            written: MaybeUninit::new(0),
            status: MaybeUninit::new(sealcomb_status::SEALCOMB_OK),
            flags: 0,
        });
    }
}

/// Seals the jobs through a call that the compiler cannot inline.
///
/// # Safety
/// [`fill`] initialized the jobs, and their buffers are valid and not used concurrently.
unsafe fn call(jobs: &mut Jobs) {
    let call =
        black_box(sealcomb_seal_jobs as unsafe extern "C" fn(*mut sealcomb_job, usize) -> sealcomb_status);
    // SAFETY: guaranteed by the caller.
    let status = unsafe { call(jobs.as_mut_ptr().cast(), MESSAGES) };
    assert_eq!(status, sealcomb_status::SEALCOMB_OK);
}

fn main() -> ExitCode {
    // `cargo test --all-targets` also runs benchmarks, without this argument.
    if !std::env::args().any(|argument| argument == "--bench") {
        return ExitCode::SUCCESS;
    }
    let mut clock = Clock::new();
    let (mut more_short, mut ratios_long) = (Vec::new(), Vec::new());
    let mut places = vec![const { Buffers::new() }; PLACES];
    println!("{MESSAGES} messages, core cycles per message, median; cycle source: {}", clock.source());
    println!(
        "{:16} {:>6} {:>9} {:>9} {:>9} {:>17} {:>7}",
        "algorithm", "bytes", "Rust", "C, filled", "C, ready", "C, ready - Rust", "ratio"
    );
    for id in ["aes128-gcm", "aes128-ocb3-t128", "aes128-ccm"] {
        let algorithm = study::by_id(id).expect("an algorithm");
        let keys: Vec<_> = (0..PLACES)
            .map(|_| (Box::new(Key::new(algorithm, &[1; 16]).expect("a key")), new_key(id)))
            .collect();
        for bytes in [SHORT, 256, LONG] {
            let mut timings = vec![Vec::new(); 3];
            for (place, (buffers, &(ref key, c_key))) in places.iter_mut().zip(&keys).enumerate() {
                let buffers = &raw mut *buffers;
                let [mut jobs, mut ready] = [const { [const { MaybeUninit::uninit() }; MESSAGES] }; 2];
                // SAFETY: the buffers live as long as `places`, and only one contender at a time uses them.
                let cycles = unsafe {
                    fill(&mut ready, buffers, c_key, bytes);
                    deeper(place, &mut || {
                        clock.interleave(
                            TURNS,
                            &mut [
                                &mut || (*buffers).seal_from_rust(key, bytes),
                                &mut || {
                                    fill(&mut jobs, buffers, c_key, bytes);
                                    call(&mut jobs);
                                },
                                &mut || call(&mut ready),
                            ],
                        )
                    })
                };
                for (timings, place_cycles) in timings.iter_mut().zip(cycles) {
                    timings.extend(place_cycles.into_iter().map(|cycles| cycles / MESSAGES as f64));
                }
            }
            let [rust, c, ready]: [Vec<f64>; 3] = timings.try_into().expect("three contenders");
            let more: Vec<_> = rust.iter().zip(&ready).map(|(rust, c)| c - rust).collect();
            let ratios: Vec<_> = rust.iter().zip(&ready).map(|(rust, c)| c / rust).collect();
            match bytes {
                SHORT => more_short.extend_from_slice(&more),
                LONG => ratios_long.extend_from_slice(&ratios),
                _ => {}
            }
            let (more, ratio) = (Quartiles::of(more), Quartiles::of(ratios));
            println!(
                "{id:16} {bytes:6} {:9.1} {:9.1} {:9.1} {:5.1} ({:4.1} - {:4.1}) {:7.3}",
                Quartiles::of(rust).median,
                Quartiles::of(c).median,
                Quartiles::of(ready).median,
                more.median,
                more.q1,
                more.q3,
                ratio.median
            );
        }
        for (_, c_key) in keys {
            // SAFETY: created by `new_key`, and not used afterwards.
            unsafe { sealcomb_key_free(c_key) };
        }
    }
    let (more, ratio) = (Quartiles::of(more_short).median, Quartiles::of(ratios_long).median);
    println!("all algorithms: {more:.1} cycles more at {SHORT} bytes, ratio {ratio:.3} at {LONG} bytes");
    if more > MAX_MORE || ratio > MAX_RATIO {
        println!(
            "the C API exceeds its limit: {MAX_MORE} cycles more at {SHORT} bytes, ratio {MAX_RATIO} at {LONG} bytes"
        );
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

/// Runs `call` at a greater stack depth: `times` frames, whose size is not a multiple of a cache line.
fn deeper<T>(times: usize, call: &mut dyn FnMut() -> T) -> T {
    if times == 0 {
        return call();
    }
    let padding = black_box([0_u8; 16]);
    let result = deeper(times - 1, call);
    black_box(padding);
    result
}

fn new_key(id: &str) -> *mut sealcomb_key {
    let (id, mut key) = (std::ffi::CString::new(id).expect("no NUL"), ptr::null_mut());
    // SAFETY: a NUL-terminated id, the key's bytes, and space for the pointer.
    let status = unsafe {
        sealcomb_key_new(sealcomb_hazmat_algorithm_by_id(id.as_ptr()), [1; 16].as_ptr(), 16, &raw mut key)
    };
    assert_eq!(status, sealcomb_status::SEALCOMB_OK);
    key
}
