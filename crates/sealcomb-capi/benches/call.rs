//! What the call from C costs beyond Rust's: the same batches through `sealcomb_seal_batch` and `seal_batch`, in turns.
//!
//! Rust makes its jobs for each call, which is a part of calling it. C is measured with jobs that it fills for each call, and with
//! jobs that are ready: then only the call is new. Ends with status 1 where that call costs over 2 % more than Rust's for messages of
//! 2048 bytes, or over 10 cycles a message more for 64.
// Measured numbers have far fewer than 52 significant bits.
#![allow(clippy::cast_precision_loss)]

use std::hint::black_box;
use std::mem::MaybeUninit;
use std::process::ExitCode;
use std::ptr;

use sealcomb::{Algorithm, Key, SealJob, seal_batch};
use sealcomb_capi::{
    sealcomb_algorithm_by_id, sealcomb_job, sealcomb_key, sealcomb_key_free, sealcomb_key_new,
    sealcomb_seal_batch, sealcomb_status,
};
use sealcomb_timing::{Clock, Quartiles};

const MESSAGES: usize = 64;
const TURNS: usize = 191;

struct Buffers {
    nonces: [[u8; 12]; MESSAGES],
    data: Vec<u8>,
    tags: [[u8; 16]; MESSAGES],
    bytes: usize,
}

impl Buffers {
    fn new(bytes: usize) -> Self {
        Self {
            nonces: [[7; 12]; MESSAGES],
            data: vec![0; bytes * MESSAGES],
            tags: [[0; 16]; MESSAGES],
            bytes,
        }
    }

    fn seal_from_rust(&mut self, key: &Key) {
        let mut jobs = arrayvec::ArrayVec::<SealJob<'_>, MESSAGES>::new();
        let data = self.data.chunks_exact_mut(self.bytes);
        for ((nonce, tag), data) in self.nonces.iter().zip(&mut self.tags).zip(data) {
            jobs.push(SealJob::in_place(key, nonce, b"header of a packet!!", data, tag));
        }
        assert!(black_box(seal_batch)(&mut jobs).is_ok());
    }

    /// As a C program has it: structures that stay where they are, and a function that the compiler doesn't see into.
    fn seal_from_c(&mut self, key: *const sealcomb_key, jobs: &mut [MaybeUninit<sealcomb_job>; MESSAGES]) {
        self.fill(key, jobs);
        call(jobs);
    }

    fn fill(&mut self, key: *const sealcomb_key, jobs: &mut [MaybeUninit<sealcomb_job>; MESSAGES]) {
        let data = self.data.chunks_exact_mut(self.bytes);
        for (((job, nonce), tag), data) in jobs.iter_mut().zip(&self.nonces).zip(&mut self.tags).zip(data) {
            let aad = b"header of a packet!!";
            job.write(sealcomb_job {
                size: size_of::<sealcomb_job>(),
                key,
                nonce: nonce.as_ptr(),
                nonce_bytes: nonce.len(),
                aad: aad.as_ptr(),
                aad_bytes: aad.len(),
                aad_parts: ptr::null(),
                aad_part_count: 0,
                input: data.as_ptr(),
                input_bytes: data.len(),
                output: data.as_mut_ptr(),
                output_bytes: data.len(),
                tag: tag.as_mut_ptr(),
                tag_bytes: tag.len(),
                written: MaybeUninit::new(0),
                status: MaybeUninit::new(sealcomb_status::SEALCOMB_OK),
                reserved: 0,
            });
        }
    }
}

fn call(jobs: &mut [MaybeUninit<sealcomb_job>; MESSAGES]) {
    let call =
        black_box(sealcomb_seal_batch as unsafe extern "C" fn(*mut sealcomb_job, usize) -> sealcomb_status);
    // SAFETY: so many jobs, which were filled, each with buffers of its own that live until the call is over.
    let status = unsafe { call(jobs.as_mut_ptr().cast(), MESSAGES) };
    assert_eq!(status, sealcomb_status::SEALCOMB_OK);
}

fn main() -> ExitCode {
    // `cargo test --all-targets` runs benches too, without this argument.
    if !std::env::args().any(|argument| argument == "--bench") {
        return ExitCode::SUCCESS;
    }
    let (mut clock, mut too_dear) = (Clock::new(), false);
    println!("{MESSAGES} messages, core cycles a message, median; cycles: {}", clock.source());
    println!(
        "{:16} {:>6} {:>9} {:>9} {:>9} {:>17} {:>7}",
        "algorithm", "bytes", "Rust", "C, filled", "C, ready", "call beyond Rust", "ratio"
    );
    for id in ["aes128-gcm", "aes128-ocb3-t128", "aes128-ccm"] {
        let key = Key::new(Algorithm::by_id(id).expect("an algorithm"), &[1; 16]).expect("a key");
        let c_key = new_key(id);
        for bytes in [64, 256, 2048] {
            let (mut rust, mut c) = (Buffers::new(bytes), Buffers::new(bytes));
            let mut ready_buffers = Buffers::new(bytes);
            let mut jobs = [const { MaybeUninit::<sealcomb_job>::uninit() }; MESSAGES];
            let mut ready = [const { MaybeUninit::<sealcomb_job>::uninit() }; MESSAGES];
            ready_buffers.fill(c_key, &mut ready);
            let timings = clock.interleave(
                TURNS,
                &mut [
                    &mut || rust.seal_from_rust(&key),
                    &mut || c.seal_from_c(c_key, &mut jobs),
                    &mut || {
                        call(&mut ready);
                    },
                ],
            );
            let a_message = |timings: &[f64]| timings.iter().map(|cycles| cycles / MESSAGES as f64).collect();
            let [rust, c, ready]: [Vec<f64>; 3] =
                [a_message(&timings[0]), a_message(&timings[1]), a_message(&timings[2])];
            let more = Quartiles::of(rust.iter().zip(&ready).map(|(rust, c)| c - rust).collect());
            let ratio = Quartiles::of(rust.iter().zip(&ready).map(|(rust, c)| c / rust).collect());
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
            too_dear |= bytes == 64 && more.median > 10.0 || bytes == 2048 && ratio.median > 1.02;
        }
        // SAFETY: made below, and not used again.
        unsafe { sealcomb_key_free(c_key) };
    }
    if too_dear {
        println!("the call from C costs more than it may");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

fn new_key(id: &str) -> *mut sealcomb_key {
    let (id, mut key) = (std::ffi::CString::new(id).expect("no NUL"), ptr::null_mut());
    // SAFETY: a text with a NUL at its end, bytes that are there, and a place for the key.
    let status = unsafe {
        sealcomb_key_new(sealcomb_algorithm_by_id(id.as_ptr()), [1; 16].as_ptr(), 16, &raw mut key)
    };
    assert_eq!(status, sealcomb_status::SEALCOMB_OK);
    key
}
