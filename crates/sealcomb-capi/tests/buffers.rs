//! Tests every buffer of the C ABI with NULL and a nonzero length, with impossible lengths, and with overlaps within
//! a job.

use std::collections::BTreeSet;
use std::mem::MaybeUninit;
use std::ptr;

use sealcomb::{Aad, Key, OpenJob, SealJob, Verdict, open_jobs, seal_jobs};
#[allow(clippy::enum_glob_use, reason = "the tests expect nearly all of them")]
use sealcomb_capi::sealcomb_status::*;
use sealcomb_capi::{
    sealcomb_algorithm_by_id, sealcomb_hazmat_algorithm_by_id, sealcomb_iovec, sealcomb_job, sealcomb_key,
    sealcomb_key_free, sealcomb_key_new, sealcomb_key_new_with, sealcomb_key_options, sealcomb_mac,
    sealcomb_mac_verify, sealcomb_open, sealcomb_open_jobs, sealcomb_seal, sealcomb_seal_jobs,
    sealcomb_status, sealcomb_stream, sealcomb_stream_aad, sealcomb_stream_begin_open,
    sealcomb_stream_begin_seal, sealcomb_stream_finish, sealcomb_stream_free, sealcomb_stream_new,
    sealcomb_stream_update, sealcomb_stream_verify,
};

/// One byte more than a buffer can have.
const IMPOSSIBLE: usize = isize::MAX as usize + 1;
/// Fill byte of memory before a call.
const FILL: u8 = 0xA5;

/// A C key with the bytes 0, 1, 2, …, freed on drop.
struct OwnedKey(*mut sealcomb_key);

impl OwnedKey {
    fn new(id: &str) -> Self {
        let bytes = key_bytes(id);
        let id = std::ffi::CString::new(id).unwrap();
        let mut key = ptr::null_mut();
        // SAFETY: a NUL-terminated id, the key's bytes, and space for the pointer.
        let status = unsafe {
            sealcomb_key_new(
                sealcomb_hazmat_algorithm_by_id(id.as_ptr()),
                bytes.as_ptr(),
                bytes.len(),
                &raw mut key,
            )
        };
        assert_eq!(status, SEALCOMB_OK);
        Self(key)
    }
}

impl Drop for OwnedKey {
    fn drop(&mut self) {
        // SAFETY: created above, and not used afterwards.
        unsafe { sealcomb_key_free(self.0) };
    }
}

fn key_bytes(id: &str) -> Vec<u8> {
    (0..sealcomb::study::by_id(id).unwrap().key_bytes() as u8).collect()
}

fn empty_job(key: &OwnedKey) -> sealcomb_job {
    sealcomb_job {
        size: size_of::<sealcomb_job>(),
        key: key.0,
        nonce: ptr::null(),
        nonce_bytes: 0,
        aad: ptr::null(),
        aad_bytes: 0,
        aad_parts: ptr::null(),
        aad_part_count: 0,
        input: ptr::null(),
        input_bytes: 0,
        output: ptr::null_mut(),
        output_bytes: 0,
        tag: ptr::null_mut(),
        tag_bytes: 0,
        written: MaybeUninit::new(usize::MAX),
        status: MaybeUninit::new(SEALCOMB_ERROR_INTERNAL),
        flags: 0,
    }
}

/// A pointer and its length or count.
type Buffer = (*mut u8, usize);

/// A buffer parameter or job field: its name, its usual number of elements, and the status if it is empty.
struct Place {
    name: &'static str,
    count: usize,
    if_empty: sealcomb_status,
}

const fn place(name: &'static str, count: usize, if_empty: sealcomb_status) -> Place {
    Place { name, count, if_empty }
}

/// A function or structure of the ABI, with all its buffers.
struct Target {
    name: &'static str,
    places: &'static [Place],
    call: fn(&[Buffer]) -> sealcomb_status,
}

/// Index of the job under test, and the number of jobs in its batch.
const IN_A_BATCH: [(usize, usize); 6] = [(0, 1), (0, 200), (127, 200), (128, 200), (199, 200), (64, 65)];

/// Seals or opens batches of valid jobs with one job that has the given buffers. Returns that job's status.
fn among_others(
    buffers: &[Buffer],
    opens: bool,
    fill: impl Fn(&mut sealcomb_job, &[Buffer]),
) -> sealcomb_status {
    let key = OwnedKey::new("aes128-gcm");
    let results = IN_A_BATCH.map(|(at, count)| {
        let mut others = vec![[FILL; 12 + 32 + 16]; count];
        let mut jobs: Vec<_> = others
            .iter_mut()
            .map(|memory| {
                let mut job = empty_job(&key);
                let memory = memory.as_mut_ptr();
                let tag = memory.wrapping_add(44);
                let message = memory.wrapping_add(12);
                fill_in(&mut job, (memory, 12), (message, 32), (message, 32), (tag, 16));
                job
            })
            .collect();
        fill(&mut jobs[at], buffers);
        let call = if opens { sealcomb_open_jobs } else { sealcomb_seal_jobs };
        // SAFETY: the buffers are live, except for impossible ones, which the call must reject.
        let status = unsafe { call(jobs.as_mut_ptr(), count) };
        // SAFETY: initialized above.
        let of_job = unsafe { jobs[at].status.assume_init() };
        if status == SEALCOMB_ERROR_POINTER {
            assert_eq!(of_job, status);
            assert!(
                others.iter().all(|memory| *memory == [FILL; 60]),
                "job {at} of {count}: memory changed, although an invalid job follows"
            );
            return status;
        }
        of_job
    });
    assert!(results.iter().all(|status| *status == results[0]), "{results:?}");
    results[0]
}

fn fill_in(job: &mut sealcomb_job, nonce: Buffer, input: Buffer, output: Buffer, tag: Buffer) {
    (job.nonce, job.nonce_bytes) = (nonce.0, nonce.1);
    (job.input, job.input_bytes) = (input.0, input.1);
    (job.output, job.output_bytes) = output;
    (job.tag, job.tag_bytes) = tag;
}

fn with_one_aad(job: &mut sealcomb_job, buffers: &[Buffer]) {
    let [nonce, aad, input, output, tag] = *buffers else { panic!("five buffers") };
    fill_in(job, nonce, input, output, tag);
    (job.aad, job.aad_bytes) = (aad.0, aad.1);
}

fn with_parts(job: &mut sealcomb_job, buffers: &[Buffer]) {
    let [nonce, parts, input, output, tag] = *buffers else { panic!("five buffers") };
    fill_in(job, nonce, input, output, tag);
    (job.aad_parts, job.aad_part_count) = (parts.0.cast(), parts.1);
}

/// Passes the second buffer as the only piece of additional data.
fn with_a_piece(buffers: &[Buffer], opens: bool) -> sealcomb_status {
    let [nonce, (data, bytes), input, output, tag] = *buffers else { panic!("five buffers") };
    let piece = sealcomb_iovec { data, bytes };
    let parts = ((&raw const piece).cast_mut().cast(), 1);
    among_others(&[nonce, parts, input, output, tag], opens, with_parts)
}

/// Calls a function on a stream whose message to seal or open has begun.
fn with_stream(opens: bool, call: impl FnOnce(*mut sealcomb_stream) -> sealcomb_status) -> sealcomb_status {
    let (key, nonce, mut stream) = (OwnedKey::new("aes128-gcm"), [1; 12], ptr::null_mut());
    let begin = if opens { sealcomb_stream_begin_open } else { sealcomb_stream_begin_seal };
    // SAFETY: a key, space for the pointer, and a live nonce.
    unsafe {
        assert_eq!(sealcomb_stream_new(key.0, &raw mut stream), SEALCOMB_OK);
        assert_eq!(begin(stream, nonce.as_ptr(), nonce.len()), SEALCOMB_OK);
    }
    let status = call(stream);
    // SAFETY: created above, and not used afterwards.
    unsafe { sealcomb_stream_free(stream) };
    status
}

const TARGETS: &[Target] = &[
    Target {
        name: "sealcomb_job",
        places: &[
            place("nonce", 12, SEALCOMB_ERROR_NONCE_LENGTH),
            place("aad", 20, SEALCOMB_OK),
            place("input", 32, SEALCOMB_OK),
            place("output", 32, SEALCOMB_ERROR_OUTPUT_TOO_SHORT),
            place("tag", 16, SEALCOMB_ERROR_TAG_LENGTH),
        ],
        call: |buffers| among_others(buffers, false, with_one_aad),
    },
    Target {
        name: "sealcomb_job",
        places: &[
            place("nonce", 12, SEALCOMB_ERROR_NONCE_LENGTH),
            place("aad_parts", 3, SEALCOMB_OK),
            place("input", 32, SEALCOMB_OK),
            place("output", 32, SEALCOMB_ERROR_OUTPUT_TOO_SHORT),
            place("tag", 16, SEALCOMB_ERROR_TAG_LENGTH),
        ],
        call: |buffers| among_others(buffers, false, with_parts),
    },
    Target {
        name: "sealcomb_job",
        places: &[
            place("nonce", 12, SEALCOMB_ERROR_NONCE_LENGTH),
            place("aad", 20, SEALCOMB_FORGED),
            place("input", 32, SEALCOMB_FORGED),
            place("output", 32, SEALCOMB_ERROR_OUTPUT_TOO_SHORT),
            place("tag", 16, SEALCOMB_ERROR_TAG_LENGTH),
        ],
        call: |buffers| among_others(buffers, true, with_one_aad),
    },
    Target {
        name: "sealcomb_job",
        places: &[
            place("nonce", 12, SEALCOMB_ERROR_NONCE_LENGTH),
            place("aad_parts", 3, SEALCOMB_FORGED),
            place("input", 32, SEALCOMB_FORGED),
            place("output", 32, SEALCOMB_ERROR_OUTPUT_TOO_SHORT),
            place("tag", 16, SEALCOMB_ERROR_TAG_LENGTH),
        ],
        call: |buffers| among_others(buffers, true, with_parts),
    },
    Target {
        name: "sealcomb_iovec",
        places: &[
            place("", 12, SEALCOMB_ERROR_NONCE_LENGTH),
            place("data", 20, SEALCOMB_OK),
            place("", 32, SEALCOMB_OK),
            place("", 32, SEALCOMB_ERROR_OUTPUT_TOO_SHORT),
            place("", 16, SEALCOMB_ERROR_TAG_LENGTH),
        ],
        call: |buffers| with_a_piece(buffers, false),
    },
    Target {
        name: "sealcomb_iovec",
        places: &[
            place("", 12, SEALCOMB_ERROR_NONCE_LENGTH),
            place("data", 20, SEALCOMB_FORGED),
            place("", 32, SEALCOMB_FORGED),
            place("", 32, SEALCOMB_ERROR_OUTPUT_TOO_SHORT),
            place("", 16, SEALCOMB_ERROR_TAG_LENGTH),
        ],
        call: |buffers| with_a_piece(buffers, true),
    },
    Target {
        name: "sealcomb_seal",
        places: &[
            place("nonce", 12, SEALCOMB_ERROR_NONCE_LENGTH),
            place("aad", 20, SEALCOMB_OK),
            place("message", 32, SEALCOMB_OK),
            place("sealed", 48, SEALCOMB_ERROR_OUTPUT_TOO_SHORT),
        ],
        call: |buffers| {
            let [nonce, aad, message, sealed] = *buffers else { panic!("four buffers") };
            let (key, mut written) = (OwnedKey::new("aes128-gcm"), usize::MAX);
            // SAFETY: the buffers are live, except for impossible ones, which the call must reject.
            let status = unsafe {
                sealcomb_seal(
                    key.0,
                    nonce.0,
                    nonce.1,
                    aad.0,
                    aad.1,
                    message.0,
                    message.1,
                    sealed.0,
                    sealed.1,
                    &raw mut written,
                )
            };
            assert_eq!(written, if status == SEALCOMB_OK { message.1 + 16 } else { 0 });
            status
        },
    },
    Target {
        name: "sealcomb_open",
        places: &[
            place("nonce", 12, SEALCOMB_ERROR_NONCE_LENGTH),
            place("aad", 20, SEALCOMB_FORGED),
            place("sealed", 48, SEALCOMB_FORGED),
            place("message", 32, SEALCOMB_ERROR_OUTPUT_TOO_SHORT),
        ],
        call: |buffers| {
            let [nonce, aad, sealed, message] = *buffers else { panic!("four buffers") };
            let (key, mut written) = (OwnedKey::new("aes128-gcm"), usize::MAX);
            // SAFETY: the buffers are live, except for impossible ones, which the call must reject.
            let status = unsafe {
                sealcomb_open(
                    key.0,
                    nonce.0,
                    nonce.1,
                    aad.0,
                    aad.1,
                    sealed.0,
                    sealed.1,
                    message.0,
                    message.1,
                    &raw mut written,
                )
            };
            assert_eq!(written, 0);
            status
        },
    },
    Target {
        name: "sealcomb_mac",
        places: &[
            place("nonce", 12, SEALCOMB_ERROR_NONCE_LENGTH),
            place("message", 20, SEALCOMB_OK),
            place("tag", 16, SEALCOMB_ERROR_TAG_LENGTH),
        ],
        call: |buffers| {
            let [nonce, message, tag] = *buffers else { panic!("three buffers") };
            let key = OwnedKey::new("aes128-gmac");
            // SAFETY: the buffers are live, except for impossible ones, which the call must reject.
            unsafe { sealcomb_mac(key.0, nonce.0, nonce.1, message.0, message.1, tag.0, tag.1) }
        },
    },
    Target {
        name: "sealcomb_mac_verify",
        places: &[
            place("nonce", 12, SEALCOMB_ERROR_NONCE_LENGTH),
            place("message", 20, SEALCOMB_FORGED),
            place("tag", 16, SEALCOMB_ERROR_TAG_LENGTH),
        ],
        call: |buffers| {
            let [nonce, message, tag] = *buffers else { panic!("three buffers") };
            let key = OwnedKey::new("aes128-gmac");
            // SAFETY: the buffers are live, except for impossible ones, which the call must reject.
            unsafe { sealcomb_mac_verify(key.0, nonce.0, nonce.1, message.0, message.1, tag.0, tag.1) }
        },
    },
    Target {
        name: "sealcomb_key_new",
        places: &[place("secret", 16, SEALCOMB_ERROR_KEY_LENGTH)],
        call: |buffers| {
            let mut key = ptr::dangling_mut();
            // SAFETY: the buffer is live unless impossible, which the call must reject.
            let status = unsafe {
                let algorithm = sealcomb_algorithm_by_id(c"aes128-gcm".as_ptr());
                sealcomb_key_new(algorithm, buffers[0].0, buffers[0].1, &raw mut key)
            };
            drop(OwnedKey(key));
            assert_eq!(key.is_null(), status != SEALCOMB_OK);
            status
        },
    },
    Target {
        name: "sealcomb_key_new_with",
        places: &[place("secret", 16, SEALCOMB_ERROR_KEY_LENGTH)],
        call: |buffers| {
            let mut key = ptr::dangling_mut();
            // SAFETY: the buffer is live unless impossible, which the call must reject.
            let status = unsafe {
                let algorithm = sealcomb_algorithm_by_id(c"aes128-gcm".as_ptr());
                {
                    let options = sealcomb_key_options {
                        size: size_of::<sealcomb_key_options>(),
                        tag_bytes: 12,
                        short_tag_bytes: 0,
                        nonce_bytes: 0,
                        backend: ptr::null(),
                    };
                    let (secret, secret_bytes) = buffers[0];
                    sealcomb_key_new_with(algorithm, secret, secret_bytes, &raw const options, &raw mut key)
                }
            };
            drop(OwnedKey(key));
            assert_eq!(key.is_null(), status != SEALCOMB_OK);
            status
        },
    },
    Target {
        name: "sealcomb_stream_begin_seal",
        places: &[place("nonce", 12, SEALCOMB_ERROR_NONCE_LENGTH)],
        call: |buffers| {
            with_stream(false, |stream| {
                // SAFETY: the buffers are live, except for impossible ones, which the call must reject.
                unsafe { sealcomb_stream_begin_seal(stream, buffers[0].0, buffers[0].1) }
            })
        },
    },
    Target {
        name: "sealcomb_stream_begin_open",
        places: &[place("nonce", 12, SEALCOMB_ERROR_NONCE_LENGTH)],
        call: |buffers| {
            with_stream(true, |stream| {
                // SAFETY: the buffers are live, except for impossible ones, which the call must reject.
                unsafe { sealcomb_stream_begin_open(stream, buffers[0].0, buffers[0].1) }
            })
        },
    },
    Target {
        name: "sealcomb_stream_aad",
        places: &[place("aad", 20, SEALCOMB_OK)],
        call: |buffers| {
            with_stream(false, |stream| {
                // SAFETY: the buffers are live, except for impossible ones, which the call must reject.
                unsafe { sealcomb_stream_aad(stream, buffers[0].0, buffers[0].1) }
            })
        },
    },
    Target {
        name: "sealcomb_stream_update",
        places: &[place("input", 32, SEALCOMB_OK), place("output", 32, SEALCOMB_ERROR_OUTPUT_TOO_SHORT)],
        call: |buffers| {
            with_stream(false, |stream| {
                // SAFETY: the buffers are live, except for impossible ones, which the call must reject.
                unsafe {
                    sealcomb_stream_update(stream, buffers[0].0, buffers[0].1, buffers[1].0, buffers[1].1)
                }
            })
        },
    },
    Target {
        name: "sealcomb_stream_finish",
        places: &[place("tag", 16, SEALCOMB_ERROR_TAG_LENGTH)],
        call: |buffers| {
            with_stream(false, |stream| {
                // SAFETY: the buffers are live, except for impossible ones, which the call must reject.
                unsafe { sealcomb_stream_finish(stream, buffers[0].0, buffers[0].1) }
            })
        },
    },
    Target {
        name: "sealcomb_stream_verify",
        places: &[place("tag", 16, SEALCOMB_ERROR_TAG_LENGTH)],
        call: |buffers| {
            with_stream(true, |stream| {
                // SAFETY: the buffers are live, except for impossible ones, which the call must reject.
                unsafe { sealcomb_stream_verify(stream, buffers[0].0, buffers[0].1) }
            })
        },
    },
];

impl Target {
    /// Calls the target with one buffer replaced. Returns the status and whether all memory is unchanged.
    fn with(&self, place: usize, replace: impl Fn(Buffer) -> Buffer) -> (sealcomb_status, bool) {
        static PIECE: [u8; 4] = [FILL; 4];
        let mut memory: Vec<Vec<u8>> = self.places.iter().map(|place| vec![FILL; place.count]).collect();
        let parts: Vec<_> = (0..3).map(|i| sealcomb_iovec { data: PIECE.as_ptr(), bytes: 1 + i }).collect();
        let mut buffers: Vec<Buffer> = (memory.iter_mut().zip(self.places))
            .map(|(memory, place)| match place.name {
                "aad_parts" => (parts.as_ptr().cast_mut().cast(), parts.len()),
                _ => (memory.as_mut_ptr(), memory.len()),
            })
            .collect();
        buffers[place] = replace(buffers[place]);
        let status = (self.call)(&buffers);
        (status, memory.iter().flatten().all(|byte| *byte == FILL))
    }
}

#[test]
fn null_is_an_empty_buffer_and_no_other() {
    for target in TARGETS {
        for (at, Place { name, count, if_empty }) in target.places.iter().enumerate() {
            let context = format!("{} of {}", name, target.name);
            let null = |count| target.with(at, |_| (ptr::null_mut(), count));
            assert_eq!(null(0).0, *if_empty, "{context}, NULL with 0");
            assert_eq!(target.with(at, |(data, _)| (data, 0)).0, *if_empty, "{context}, valid with 0");
            let dangling = |_| (ptr::without_provenance_mut(8), 0);
            assert_eq!(target.with(at, dangling).0, *if_empty, "{context}, any pointer with 0");
            for count in [1, 2, *count, 64, 4096, isize::MAX as usize, IMPOSSIBLE, usize::MAX] {
                assert_eq!(null(count), (SEALCOMB_ERROR_POINTER, true), "{context}, NULL with {count}");
            }
        }
    }
}

/// Nothing else in such a job makes it fail the fast check.
#[test]
fn pieces_that_are_null_are_refused_beside_additional_data_in_one_piece() {
    for opens in [false, true] {
        for count in [1, 3, 4096, IMPOSSIBLE, usize::MAX] {
            let mut memory = [[FILL; 32]; 5];
            let [nonce, aad, input, output, tag] = memory.each_mut().map(|memory| memory.as_mut_ptr());
            let buffers = [(nonce, 12), (aad, 20), (input, 32), (output, 32), (tag, 16)];
            let status = among_others(&buffers, opens, |job, buffers| {
                with_one_aad(job, buffers);
                job.aad_part_count = count;
            });
            assert_eq!((status, memory), (SEALCOMB_ERROR_POINTER, [[FILL; 32]; 5]), "{count}");
        }
    }
}

#[test]
fn a_length_that_no_buffer_can_have_is_refused() {
    for target in TARGETS {
        for (at, Place { name, .. }) in target.places.iter().enumerate() {
            let element = if *name == "aad_parts" { size_of::<sealcomb_iovec>() } else { 1 };
            // The last two overflow to about 0 when multiplied by the size of an element.
            let max = isize::MAX as usize / element;
            for count in
                [max + 1, IMPOSSIBLE, usize::MAX - 1, usize::MAX, (usize::MAX / element).wrapping_add(1)]
            {
                if count > max {
                    let result = target.with(at, |(data, _)| (data, count));
                    assert_eq!(result, (SEALCOMB_ERROR_POINTER, true), "{name} of {}, {count}", target.name);
                }
            }
            if element > 1 {
                let result = target.with(at, |(data, count)| (data.wrapping_add(1), count));
                assert_eq!(result, (SEALCOMB_ERROR_POINTER, true), "{name} of {}, misaligned", target.name);
            }
        }
    }
}

#[test]
fn an_array_of_jobs_that_cannot_be_is_refused() {
    const JOB: usize = size_of::<sealcomb_job>();
    let key = OwnedKey::new("aes128-gcm");
    let mut jobs = [empty_job(&key), empty_job(&key)];
    let mut larger = [empty_job(&key), empty_job(&key)];
    larger[0].size = 2 * JOB;
    larger[1].size = 0;
    for call in [sealcomb_seal_jobs, sealcomb_open_jobs] {
        // SAFETY: every possible array exists.
        unsafe {
            assert_eq!(call(ptr::null_mut(), 0), SEALCOMB_OK);
            assert_eq!(call(jobs.as_mut_ptr(), 0), SEALCOMB_OK);
            for count in [1, 2, 128, 129, isize::MAX as usize / JOB, IMPOSSIBLE, usize::MAX] {
                assert_eq!(call(ptr::null_mut(), count), SEALCOMB_ERROR_POINTER, "NULL with {count}");
            }
            for count in [isize::MAX as usize / JOB + 1, usize::MAX / JOB + 1, IMPOSSIBLE, usize::MAX] {
                assert_eq!(call(jobs.as_mut_ptr(), count), SEALCOMB_ERROR_POINTER, "{count} jobs");
            }
            // Jobs of a later version may be larger.
            let count = isize::MAX as usize / JOB;
            assert_eq!(call(larger.as_mut_ptr(), count), SEALCOMB_ERROR_POINTER, "{count} larger jobs");
            for by in 1..align_of::<sealcomb_job>() {
                assert_eq!(
                    call(jobs.as_mut_ptr().wrapping_byte_add(by), 1),
                    SEALCOMB_ERROR_POINTER,
                    "misaligned by {by}"
                );
            }
        }
    }
    // SAFETY: initialized above.
    assert!(jobs.iter().all(|job| unsafe { job.status.assume_init() } == SEALCOMB_ERROR_INTERNAL));
}

#[test]
fn pieces_that_are_more_than_there_is_memory_for_are_refused() {
    let (key, nonce, mut memory) = (OwnedKey::new("aes128-gcm"), [1; 12], [FILL; 48]);
    // One untouched gigabyte, listed so often that no process can address the total.
    let piece = vec![0; 1 << 30];
    let mut parts = Vec::new();
    parts.resize_with(1 << 18, || sealcomb_iovec { data: piece.as_ptr(), bytes: piece.len() });
    let mut job = empty_job(&key);
    let message = memory.as_mut_ptr();
    fill_in(
        &mut job,
        (nonce.as_ptr().cast_mut(), 12),
        (message, 32),
        (message, 32),
        (message.wrapping_add(32), 16),
    );
    (job.aad_parts, job.aad_part_count) = (parts.as_ptr(), parts.len());
    for call in [sealcomb_seal_jobs, sealcomb_open_jobs] {
        // SAFETY: all of the job's buffers exist.
        assert_eq!(unsafe { call(&raw mut job, 1) }, SEALCOMB_ERROR_AAD_TOO_LONG);
    }
    assert_eq!(memory, [FILL; 48]);
}

/// Returns the buffers in the header that have a length or a count, such as `sealcomb_seal(nonce)`.
fn buffers_in_the_header() -> BTreeSet<String> {
    let header = include_str!("../include/sealcomb.h");
    let mut code = String::new();
    for (i, piece) in header.split("/*").enumerate() {
        code.push_str(if i == 0 { piece } else { piece.split_once("*/").map_or("", |(_, code)| code) });
    }
    let code: String = code.lines().filter(|line| !line.starts_with('#')).collect::<Vec<_>>().join(" ");
    let mut found = BTreeSet::new();
    // Structures have fields in braces, functions have parameters in parentheses.
    for (open, close, separator) in [('{', '}', ';'), ('(', ')', ',')] {
        for (before, rest) in code.match_indices(open).map(|(at, _)| (&code[..at], &code[at + 1..])) {
            let owner = before.trim_end().rsplit([' ', '*']).next().unwrap_or_default();
            let declared: Vec<_> = rest.split(close).next().unwrap_or_default().split(separator).collect();
            for pair in declared.windows(2) {
                let name = |declaration: &str| {
                    let declaration = declaration.trim();
                    declaration.rsplit([' ', '*']).next().unwrap_or_default().to_owned()
                };
                let (data, count) = (name(pair[0]), name(pair[1]));
                let counts = [
                    format!("{data}_bytes"),
                    format!("{}_count", data.trim_end_matches('s')),
                    "count".to_owned(),
                    "bytes".to_owned(),
                ];
                let is_number = pair[1].trim().starts_with("size_t ") && !pair[1].contains('*');
                if pair[0].contains('*') && is_number && counts.contains(&count) {
                    found.insert(format!("{owner}({data})"));
                }
            }
        }
    }
    found
}

#[test]
fn every_buffer_of_the_header_is_tried() {
    let mut tried: BTreeSet<_> = TARGETS
        .iter()
        .flat_map(|target| target.places.iter().map(move |place| format!("{}({})", target.name, place.name)))
        .collect();
    tried.retain(|buffer| !buffer.ends_with("()"));
    // Covered by the test of arrays.
    tried.extend(["sealcomb_seal_jobs(jobs)", "sealcomb_open_jobs(jobs)"].map(str::to_owned));
    assert_eq!(buffers_in_the_header(), tried);
}

/// The buffers of a job in one piece of memory: offset and size in bytes. In place, `input` and `output` are equal.
#[derive(Clone, Copy, Debug)]
struct Layout {
    nonce: (usize, usize),
    aads: [(usize, usize); 2],
    input: (usize, usize),
    output: (usize, usize),
    tag: (usize, usize),
}

const ARENA: usize = 1200;

fn share_a_byte(a: (usize, usize), b: (usize, usize)) -> bool {
    (a.0..a.0 + a.1).any(|byte| (b.0..b.0 + b.1).contains(&byte))
}

impl Layout {
    /// The model: except in place, no written byte may also be read, or be written twice.
    fn is_allowed(&self, opens: bool) -> bool {
        let is_in_place = self.input.0 == self.output.0;
        let mut read = vec![self.nonce, self.aads[0], self.aads[1]];
        if !is_in_place {
            read.push(self.input);
        }
        if opens {
            read.push(self.tag);
            return !read.iter().any(|read| share_a_byte(*read, self.output));
        }
        if share_a_byte(self.tag, self.output) {
            return false;
        }
        // The tag is written, so it must not overlap the input, which in place is the output.
        !read.iter().any(|read| share_a_byte(*read, self.output) || share_a_byte(*read, self.tag))
    }

    fn buffers(&mut self) -> [&mut (usize, usize); 6] {
        let [first, second] = &mut self.aads;
        [&mut self.nonce, first, second, &mut self.input, &mut self.output, &mut self.tag]
    }
}

/// Whether a job's additional data is in one piece or several.
#[derive(Clone, Copy, Debug, PartialEq)]
enum AadIn {
    One,
    Parts,
}

/// Computes the memory after a job, from copies of everything that it reads, and whether the job verifies.
fn expected(key: &Key, layout: &Layout, aad_in: AadIn, opens: bool, before: &[u8]) -> (Vec<u8>, bool) {
    let at = |(start, bytes): (usize, usize)| before[start..start + bytes].to_vec();
    let (nonce, input, mut tag) = (at(layout.nonce), at(layout.input), at(layout.tag));
    let aads = layout.aads.map(at);
    let pieces = [&aads[0][..], &aads[1]];
    let aad = match aad_in {
        AadIn::One => Aad::from(pieces[0]),
        AadIn::Parts => Aad::joined(&pieces),
    };
    let mut output = vec![0; layout.output.1];
    let mut after = before.to_vec();
    let mut verified = true;
    if opens {
        let mut jobs = [OpenJob::new(key, &nonce, aad, &input, &mut output, &tag).unwrap()];
        let _ = open_jobs(&mut jobs).unwrap();
        verified = jobs[0].verdict() == Verdict::Verified;
    } else {
        seal_jobs(&mut [SealJob::new(key, &nonce, aad, &input, &mut output, &mut tag).unwrap()]).unwrap();
        after[layout.tag.0..layout.tag.0 + layout.tag.1].copy_from_slice(&tag);
    }
    after[layout.output.0..layout.output.0 + layout.output.1].copy_from_slice(&output);
    (after, verified)
}

/// Seals or opens with a layout, compares the memory and the status with the model, and returns the status.
fn try_layout(key: &OwnedKey, model: &Key, layout: &Layout, aad_in: AadIn, opens: bool) -> sealcomb_status {
    let mut arena: Vec<u8> = (0..ARENA).map(|i| (i * i / 7) as u8).collect();
    if opens {
        // A message that verifies, unless its buffers overlap.
        let message = vec![0x33; layout.output.1];
        let at = |(start, bytes): (usize, usize)| arena[start..start + bytes].to_vec();
        let (nonce, aads) = (at(layout.nonce), layout.aads.map(at));
        let pieces = [&aads[0][..], &aads[1]];
        let aad = if aad_in == AadIn::One { Aad::from(pieces[0]) } else { Aad::joined(&pieces) };
        let (mut sealed, mut tag) = (vec![0; layout.input.1], vec![0; layout.tag.1]);
        seal_jobs(&mut [SealJob::new(model, &nonce, aad, &message, &mut sealed, &mut tag).unwrap()]).unwrap();
        arena[layout.input.0..layout.input.0 + layout.input.1].copy_from_slice(&sealed);
        arena[layout.tag.0..layout.tag.0 + layout.tag.1].copy_from_slice(&tag);
    }
    let before = arena.clone();
    let start = arena.as_mut_ptr();
    let at = |(offset, bytes): (usize, usize)| (start.wrapping_add(offset), bytes);
    let parts = layout.aads.map(|piece| sealcomb_iovec { data: at(piece).0, bytes: piece.1 });
    let mut job = empty_job(key);
    fill_in(&mut job, at(layout.nonce), at(layout.input), at(layout.output), at(layout.tag));
    match aad_in {
        AadIn::One => (job.aad, job.aad_bytes) = (at(layout.aads[0]).0, layout.aads[0].1),
        AadIn::Parts => (job.aad_parts, job.aad_part_count) = (parts.as_ptr(), parts.len()),
    }
    let call = if opens { sealcomb_open_jobs } else { sealcomb_seal_jobs };
    // SAFETY: all buffers are within the arena.
    let status = unsafe { call(&raw mut job, 1) };
    let context = format!("{layout:?} {aad_in:?} {}", if opens { "opened" } else { "sealed" });
    if layout.is_allowed(opens) {
        let (after, verified) = expected(model, layout, aad_in, opens, &before);
        assert_eq!(status, if verified { SEALCOMB_OK } else { SEALCOMB_FORGED }, "{context}");
        assert!(arena == after, "{context}");
    } else {
        assert_eq!(status, SEALCOMB_ERROR_OVERLAP, "{context}");
        assert!(arena == before, "{context}: memory changed");
    }
    status
}

#[test]
fn buffers_of_a_job_overlap_only_where_nothing_is_written_or_in_place() {
    // A common algorithm, one with associated strings, one whose ciphertexts are longer than the messages.
    for id in ["aes128-gcm", "aes128-siv", "aes128-copa"] {
        let Ok(algorithm) = sealcomb::study::by_id(id) else { continue };
        let (key, model) = (OwnedKey::new(id), Key::new(algorithm, &key_bytes(id)).unwrap());
        let mut ends = BTreeSet::new();
        for (opens, aad_in) in
            [(false, AadIn::One), (false, AadIn::Parts), (true, AadIn::One), (true, AadIn::Parts)]
        {
            let (message, ciphertext) = (36, algorithm.ciphertext_bytes(36));
            let message = if opens { algorithm.max_message_bytes(ciphertext).unwrap() } else { message };
            let (input, output) = if opens { (ciphertext, message) } else { (message, ciphertext) };
            let second = if aad_in == AadIn::One { 0 } else { 9 };
            let apart = Layout {
                nonce: (0, algorithm.nonce_bytes()),
                aads: [(100, 20), (200, second)],
                input: (300, input),
                output: (400, output),
                tag: (500, algorithm.tag_bytes()),
            };
            for in_place in [false, true] {
                let mut start = apart;
                if in_place {
                    start.output.0 = start.input.0;
                    if opens {
                        // In place, the whole ciphertext buffer may be written.
                        start.output.1 = input;
                    }
                }
                for (fixed, moved) in (0..36).map(|pair| (pair / 6, pair % 6)).filter(|(a, b)| a != b) {
                    // In place, input and output move together.
                    if in_place && (fixed.max(moved) == 4 || algorithm.expands() && opens) {
                        continue;
                    }
                    let mut layout = start;
                    *layout.buffers()[fixed] = (800, layout.buffers()[fixed].1);
                    let (fixed_bytes, moved_bytes) = (layout.buffers()[fixed].1, layout.buffers()[moved].1);
                    for offset in 800 - moved_bytes..=800 + fixed_bytes {
                        layout.buffers()[moved].0 = offset;
                        if in_place {
                            layout.output.0 = layout.input.0;
                        } else if opens && algorithm.expands() && layout.input.0 == layout.output.0 {
                            continue;
                        }
                        ends.insert(format!("{:?}", try_layout(&key, &model, &layout, aad_in, opens)));
                    }
                }
            }
        }
        let all = ["SEALCOMB_OK", "SEALCOMB_FORGED", "SEALCOMB_ERROR_OVERLAP"];
        assert_eq!(ends, all.map(str::to_owned).into_iter().collect(), "{id}");
    }
}
