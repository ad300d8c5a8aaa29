//! Measures the overhead of bursts through C: the same messages through Rust's `Burst` and `sealcomb_seal_burst`,
//! interleaved, with columns that the caller already has. Rust is measured twice: with arrays, whose sizes the
//! compiler knows, and with slices, whose sizes are known only at run time, as in C.
//!
//! Fails if C costs over 3 cycles per message more than Rust with slices for messages of 64 bytes, as the median over
//! all algorithms and places of the buffers.
// Cycle counts have far fewer than 52 significant bits.
#![allow(clippy::cast_precision_loss)]

use std::hint::black_box;
use std::process::ExitCode;
use std::ptr;

use sealcomb::study;
use sealcomb::{Burst, Key};
use sealcomb_capi::{
    sealcomb_burst, sealcomb_hazmat_algorithm_by_id, sealcomb_key, sealcomb_key_free, sealcomb_key_new,
    sealcomb_seal_burst, sealcomb_status,
};
use sealcomb_timing::{Clock, Quartiles};

const MESSAGES: usize = 64;
const SHORT: usize = 64;
const LONG: usize = 2048;
const TURNS: usize = 39;
/// Copies of the buffers, as their placement affects the time more than the call does.
const PLACES: usize = 9;
const LIMIT: f64 = 3.0;
const AAD: &[u8; 20] = b"header of a packet!!";

/// The messages that both contenders seal.
struct Buffers {
    nonces: [[u8; 12]; MESSAGES],
    aads: [[u8; 20]; MESSAGES],
    data: Vec<u8>,
    tags: [[u8; 16]; MESSAGES],
}

impl Buffers {
    fn new(place: usize) -> Self {
        let data = vec![0; MESSAGES * LONG + 80 * place];
        Self { nonces: [[7; 12]; MESSAGES], aads: [*AAD; MESSAGES], data, tags: [[0; 16]; MESSAGES] }
    }
}

/// The columns of a burst in C.
struct Columns {
    messages: [*mut u8; MESSAGES],
    message_bytes: [usize; MESSAGES],
    aads: [*const u8; MESSAGES],
    aad_bytes: [usize; MESSAGES],
}

fn main() -> ExitCode {
    // `cargo test --all-targets` also runs benchmarks, without this argument.
    if !std::env::args().any(|argument| argument == "--bench") {
        return ExitCode::SUCCESS;
    }
    let mut clock = Clock::new();
    let mut short = Vec::new();
    println!("{MESSAGES} messages, core cycles per message, median; cycle source: {}", clock.source());
    println!(
        "{:16} {:>6} {:>9} {:>9} {:>9} {:>17}",
        "algorithm", "bytes", "arrays", "slices", "C", "C - slices"
    );
    for id in ["aes128-gcm", "aes128-ocb3-t128", "aes128-ccm"] {
        for bytes in [SHORT, 256, LONG] {
            let timings: Vec<[f64; 3]> =
                (0..PLACES).flat_map(|place| measure(&mut clock, id, bytes, place)).collect();
            let more: Vec<f64> = timings.iter().map(|[_, slices, c]| c - slices).collect();
            if bytes == SHORT {
                short.extend_from_slice(&more);
            }
            let median =
                |which: usize| Quartiles::of(timings.iter().map(|pair| pair[which]).collect()).median;
            let more = Quartiles::of(more);
            println!(
                "{id:16} {bytes:6} {:9.1} {:9.1} {:9.1} {:5.1} ({:4.1} - {:4.1})",
                median(0),
                median(1),
                median(2),
                more.median,
                more.q1,
                more.q3
            );
        }
    }
    let more = Quartiles::of(short).median;
    println!("all algorithms: {more:.1} cycles more at {SHORT} bytes");
    if more > LIMIT {
        println!("bursts through C exceed their limit of {LIMIT} cycles more");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

/// Returns the cycles per message through Rust with arrays, through Rust with slices, and through C.
fn measure(clock: &mut Clock, id: &str, bytes: usize, place: usize) -> Vec<[f64; 3]> {
    let key = Key::new(study::by_id(id).expect("an algorithm"), &[1; 16]).expect("a key");
    let c_key = new_key(id);
    let mut buffers = Buffers::new(place);
    let Buffers { nonces, aads, data, tags } = &mut buffers;
    let start = data.as_mut_ptr().wrapping_add(80 * place);
    let columns = Columns {
        messages: std::array::from_fn(|i| start.wrapping_add(i * bytes)),
        message_bytes: [bytes; MESSAGES],
        aads: std::array::from_fn(|i| aads[i].as_ptr()),
        aad_bytes: [AAD.len(); MESSAGES],
    };
    let burst = sealcomb_burst {
        size: size_of::<sealcomb_burst>(),
        count: MESSAGES,
        key: c_key,
        keys: ptr::null(),
        messages: columns.messages.as_ptr(),
        message_bytes: columns.message_bytes.as_ptr(),
        aads: columns.aads.as_ptr(),
        aad_bytes: columns.aad_bytes.as_ptr(),
        nonces: nonces.as_ptr().cast(),
        nonce_bytes: 12,
        nonce_stride: 12,
        tags: tags.as_mut_ptr().cast(),
        tag_bytes: 16,
        tag_stride: 16,
        statuses: ptr::null_mut(),
        header_bytes: 0,
        reserved: 0,
    };
    let call =
        black_box(sealcomb_seal_burst as unsafe extern "C" fn(*const sealcomb_burst) -> sealcomb_status);
    let tags = tags.as_mut_ptr();
    let cycles = clock.interleave(
        TURNS,
        &mut [
            &mut || {
                // SAFETY: the messages are disjoint parts of `data`, and only one contender at a time uses them.
                let mut messages: [&mut [u8]; MESSAGES] =
                    columns.messages.map(|message| unsafe { std::slice::from_raw_parts_mut(message, bytes) });
                // SAFETY: as above.
                let tags = unsafe { std::slice::from_raw_parts_mut(tags, MESSAGES) };
                let burst = Burst::new(&key, &*nonces).aads(&*aads);
                assert!(black_box(&burst).seal(black_box(&mut messages), tags).is_ok());
            },
            &mut || {
                // SAFETY: the messages and the tags are disjoint, and only one contender at a time uses them.
                let mut messages: [&mut [u8]; MESSAGES] =
                    columns.messages.map(|message| unsafe { std::slice::from_raw_parts_mut(message, bytes) });
                // SAFETY: as above.
                let tags = unsafe { std::slice::from_raw_parts_mut(tags, MESSAGES) };
                let mut tags: Vec<&mut [u8]> = tags.iter_mut().map(|tag| &mut tag[..]).collect();
                let nonces: [&[u8]; MESSAGES] = nonces.each_ref().map(|nonce| &nonce[..]);
                let aads: [&[u8]; MESSAGES] = aads.each_ref().map(|aad| &aad[..]);
                let burst = Burst::new(&key, black_box(&nonces)).aads(black_box(&aads));
                assert!(black_box(&burst).seal(black_box(&mut messages), black_box(&mut tags)).is_ok());
            },
            // SAFETY: the burst describes valid buffers, and only one contender at a time uses them.
            &mut || assert_eq!(unsafe { call(&raw const burst) }, sealcomb_status::SEALCOMB_OK),
        ],
    );
    // SAFETY: created by `new_key`, and not used afterwards.
    unsafe { sealcomb_key_free(c_key) };
    (0..cycles[0].len())
        .map(|turn| std::array::from_fn(|which| cycles[which][turn] / MESSAGES as f64))
        .collect()
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
