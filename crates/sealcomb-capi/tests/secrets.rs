//! Checks that the C functions leave no keys or messages in memory that they free, and access nothing outside of the
//! buffers. `crates/sealcomb-checks` tests the underlying library in more depth.

#[path = "../../sealcomb-checks/tests/common/arena.rs"]
mod arena;
#[path = "../../sealcomb-checks/tests/common/guarded.rs"]
mod guarded;

use std::ffi::CString;
use std::mem::MaybeUninit;
use std::ptr;

use arena::{differences, in_arena};
use guarded::Guarded;
use sealcomb::study::ALGORITHMS;
use sealcomb::{Algorithm, Kind};
use sealcomb_capi::sealcomb_status;
use sealcomb_capi::sealcomb_status::{SEALCOMB_FORGED, SEALCOMB_OK, SEALCOMB_UNAUTHENTICATED};
use sealcomb_capi::{
    sealcomb_burst, sealcomb_hazmat_algorithm_by_id, sealcomb_iovec, sealcomb_job, sealcomb_key,
    sealcomb_key_free, sealcomb_key_new, sealcomb_key_new_many, sealcomb_key_new_with, sealcomb_key_options,
    sealcomb_mac, sealcomb_mac_verify, sealcomb_open, sealcomb_open_burst, sealcomb_open_jobs, sealcomb_seal,
    sealcomb_seal_burst, sealcomb_seal_jobs,
};
#[cfg(feature = "hazmat")]
use sealcomb_capi::{
    sealcomb_stream_aad, sealcomb_stream_begin_open, sealcomb_stream_begin_seal, sealcomb_stream_finish,
    sealcomb_stream_free, sealcomb_stream_new, sealcomb_stream_update, sealcomb_stream_verify,
};

/// Returns bytes that depend on the secret's number, next to a guard page.
fn secret(number: u64, bytes: usize, at_end: bool) -> Guarded {
    let bytes: Vec<u8> = (0..bytes)
        .map(|i| (number as u8).wrapping_mul(167).wrapping_add((i as u8).wrapping_mul(29)))
        .collect();
    Guarded::new(&bytes, at_end)
}

fn public(bytes: usize, at_end: bool) -> Guarded {
    Guarded::new(&vec![7; bytes], at_end)
}

/// Creates a key: with `sealcomb_key_new_with` if a tag size is given, else with `sealcomb_key_new`.
fn new_key(algorithm: Algorithm, bytes: &[u8], tag_bytes: Option<usize>) -> *mut sealcomb_key {
    let id = CString::new(algorithm.id()).unwrap();
    let mut key = ptr::null_mut();
    // Allocations that live as long as the process must not be in the arena.
    sealcomb::Backend::selected().unwrap();
    // SAFETY: a NUL-terminated id.
    let algorithm = unsafe { sealcomb_hazmat_algorithm_by_id(id.as_ptr()) };
    // SAFETY: the key's bytes, and space for the pointer.
    let status = in_arena(|| unsafe {
        match tag_bytes {
            None => sealcomb_key_new(algorithm, bytes.as_ptr(), bytes.len(), &raw mut key),
            Some(tag) => {
                let options = sealcomb_key_options {
                    size: size_of::<sealcomb_key_options>(),
                    tag_bytes: 0,
                    short_tag_bytes: tag,
                    nonce_bytes: 0,
                    backend: ptr::null(),
                };
                let (secret, secret_bytes) = (bytes.as_ptr(), bytes.len());
                sealcomb_key_new_with(algorithm, secret, secret_bytes, &raw const options, &raw mut key)
            }
        }
    });
    assert_eq!(status, SEALCOMB_OK);
    key
}

fn free(key: *mut sealcomb_key) {
    // SAFETY: created by `new_key`, and not used afterwards.
    in_arena(|| unsafe { sealcomb_key_free(key) });
}

/// Seals and opens a single message with an AEAD or cipher, once authentic and once forged.
fn single(algorithm: Algorithm, number: u64, at_end: bool) {
    let key = new_key(algorithm, &secret(number, algorithm.key_bytes(), at_end), None);
    let (nonce, aad) = (
        public(algorithm.nonce_bytes(), at_end),
        public(if is_plain_cipher(algorithm) { 0 } else { 21 }, at_end),
    );
    let message = secret(number, 48, at_end);
    let mut sealed = public(algorithm.ciphertext_bytes(48) + algorithm.tag_bytes(), at_end);
    let mut opened = public(
        if algorithm.needs_message_bytes() { 48 } else { sealed.len() - algorithm.tag_bytes() },
        at_end,
    );
    let mut written = 0;
    // SAFETY: live buffers with their lengths.
    let status = in_arena(|| unsafe {
        let (nonce_bytes, aad_bytes, room) = (nonce.len(), aad.len(), sealed.len());
        sealcomb_seal(
            key,
            nonce.as_ptr(),
            nonce_bytes,
            aad.as_ptr(),
            aad_bytes,
            message.as_ptr(),
            message.len(),
            sealed.as_mut_ptr(),
            room,
            &raw mut written,
        )
    });
    assert_eq!((status, written), (SEALCOMB_OK, sealed.len()), "{algorithm:?}");
    for forged in [false, true] {
        if forged {
            let last = sealed.len() - 1;
            sealed[last] ^= 1;
        }
        let room = opened.len();
        // SAFETY: live buffers with their lengths.
        let status = in_arena(|| unsafe {
            sealcomb_open(
                key,
                nonce.as_ptr(),
                nonce.len(),
                aad.as_ptr(),
                aad.len(),
                sealed.as_ptr(),
                sealed.len(),
                opened.as_mut_ptr(),
                room,
                &raw mut written,
            )
        });
        match algorithm.kind() {
            Kind::Cipher => assert_eq!(status, SEALCOMB_UNAUTHENTICATED, "{algorithm:?}"),
            _ if forged => assert_eq!((status, written), (SEALCOMB_FORGED, 0), "{algorithm:?}"),
            _ => assert_eq!((status, &opened[..written]), (SEALCOMB_OK, &*message), "{algorithm:?}"),
        }
    }
    free(key);
}

fn is_plain_cipher(algorithm: Algorithm) -> bool {
    algorithm.kind() == Kind::Cipher && !algorithm.tweaked()
}

/// Returns the status of a batch in which messages of AEADs are forged.
fn with_forgeries(algorithm: Algorithm) -> sealcomb_status {
    match algorithm.kind() {
        Kind::Aead => SEALCOMB_FORGED,
        Kind::Mac => SEALCOMB_OK,
        _ => SEALCOMB_UNAUTHENTICATED,
    }
}

/// Computes the tag of a message and verifies a correct and a wrong tag.
fn mac(algorithm: Algorithm, number: u64, at_end: bool) {
    let key = new_key(
        algorithm,
        &secret(number, algorithm.key_bytes(), at_end),
        algorithm.tag_sizes().first().copied(),
    );
    let (nonce, message) = (public(algorithm.nonce_bytes(), at_end), secret(number, 77, at_end));
    let mut tag = public(algorithm.tag_sizes()[0], at_end);
    // SAFETY: live buffers with their lengths.
    unsafe {
        let room = tag.len();
        let (nonce, nonce_bytes, message, bytes) =
            (nonce.as_ptr(), nonce.len(), message.as_ptr(), message.len());
        let made = in_arena(|| sealcomb_mac(key, nonce, nonce_bytes, message, bytes, tag.as_mut_ptr(), room));
        assert_eq!(made, SEALCOMB_OK, "{algorithm:?}");
        let verify = |tag: &[u8]| {
            in_arena(|| sealcomb_mac_verify(key, nonce, nonce_bytes, message, bytes, tag.as_ptr(), tag.len()))
        };
        assert_eq!(verify(&tag), SEALCOMB_OK, "{algorithm:?}");
        tag[0] ^= 1;
        assert_eq!(verify(&tag), SEALCOMB_FORGED, "{algorithm:?}");
    }
    free(key);
}

/// Computes and verifies the tag of a message in two pieces, which are too long to be joined on the stack.
fn long_mac(algorithm: Algorithm, number: u64) {
    let key = new_key(algorithm, &secret(number, algorithm.key_bytes(), true), None);
    let nonce = public(algorithm.nonce_bytes(), true);
    let pieces = [3000, 2000].map(|bytes| secret(number, bytes, true));
    let parts: Vec<_> =
        pieces.iter().map(|piece| sealcomb_iovec { data: piece.as_ptr(), bytes: piece.len() }).collect();
    let mut tag = public(algorithm.tag_bytes(), true);
    let mut job = sealcomb_job {
        size: size_of::<sealcomb_job>(),
        key,
        nonce: nonce.as_ptr(),
        nonce_bytes: nonce.len(),
        aad: ptr::null(),
        aad_bytes: 0,
        aad_parts: parts.as_ptr(),
        aad_part_count: parts.len(),
        input: ptr::null(),
        input_bytes: 0,
        output: ptr::null_mut(),
        output_bytes: 0,
        tag: tag.as_mut_ptr(),
        tag_bytes: algorithm.tag_bytes(),
        written: MaybeUninit::new(0),
        status: MaybeUninit::new(SEALCOMB_OK),
        flags: 0,
    };
    for call in [sealcomb_seal_jobs, sealcomb_open_jobs] {
        // SAFETY: the job's buffers are live.
        let status = in_arena(|| unsafe { call(&raw mut job, 1) });
        assert_eq!(status, SEALCOMB_OK, "{algorithm:?}");
    }
    free(key);
}

/// Seals and opens a batch in place under two alternating keys, with additional data in pieces. Every third job is
/// forged.
fn batch(algorithm: Algorithm, number: u64, count: usize) {
    let keys = [0, 1].map(|i| new_key(algorithm, &secret(number + i, algorithm.key_bytes(), i == 0), None));
    let nonce = public(algorithm.nonce_bytes(), true);
    let aad_bytes = if is_plain_cipher(algorithm) { 0 } else { 9 };
    let aads: Vec<_> = (0..2).map(|i| public(aad_bytes, i == 0)).collect();
    let parts: Vec<_> =
        aads.iter().map(|aad| sealcomb_iovec { data: aad.as_ptr(), bytes: aad.len() }).collect();
    let room = algorithm.ciphertext_bytes(32);
    let mut buffers: Vec<_> = (0..count).map(|i| secret(number, room, i % 2 == 0)).collect();
    let mut tags: Vec<_> = (0..count).map(|i| public(algorithm.tag_bytes(), i % 2 == 0)).collect();
    let mut jobs: Vec<_> = (buffers.iter_mut().zip(&mut tags).enumerate())
        .map(|(i, (buffer, tag))| sealcomb_job {
            size: size_of::<sealcomb_job>(),
            key: keys[i % 2],
            nonce: nonce.as_ptr(),
            nonce_bytes: nonce.len(),
            aad: ptr::null(),
            aad_bytes: 0,
            aad_parts: if aad_bytes == 0 { ptr::null() } else { parts.as_ptr() },
            aad_part_count: if aad_bytes == 0 { 0 } else { parts.len() },
            input: buffer.as_ptr(),
            input_bytes: 32,
            output: buffer.as_mut_ptr(),
            output_bytes: buffer.len(),
            tag: tag.as_mut_ptr(),
            tag_bytes: tag.len(),
            written: MaybeUninit::new(0),
            status: MaybeUninit::new(SEALCOMB_OK),
            flags: 0,
        })
        .collect();
    // SAFETY: the jobs' buffers are live.
    let sealed = in_arena(|| unsafe { sealcomb_seal_jobs(jobs.as_mut_ptr(), count) });
    assert_eq!(sealed, SEALCOMB_OK, "{algorithm:?}");
    for (i, job) in jobs.iter_mut().enumerate() {
        job.input_bytes = room;
        job.output_bytes = if algorithm.needs_message_bytes() { 32 } else { room };
        if i % 3 == 0 && algorithm.kind() == Kind::Aead {
            // SAFETY: the tag has at least one byte and is not used otherwise at this point.
            unsafe { *job.tag ^= 1 };
        }
    }
    // SAFETY: the jobs' buffers are live.
    let opened = in_arena(|| unsafe { sealcomb_open_jobs(jobs.as_mut_ptr(), count) });
    assert_eq!(opened, with_forgeries(algorithm), "{algorithm:?}");
    keys.into_iter().for_each(free);
}

/// Seals and opens a burst, under one key or under two keys that are expanded together. Every third message is forged.
fn burst(algorithm: Algorithm, number: u64, count: usize, several_keys: bool) {
    let id = CString::new(algorithm.id()).unwrap();
    let secrets: Vec<u8> =
        (0..2).flat_map(|i| secret(number + i, algorithm.key_bytes(), true).to_vec()).collect();
    let mut keys = [ptr::null_mut(); 2];
    // Allocations that live as long as the process must not be in the arena.
    sealcomb::Backend::selected().unwrap();
    // SAFETY: a NUL-terminated id.
    let entry = unsafe { sealcomb_hazmat_algorithm_by_id(id.as_ptr()) };
    // SAFETY: two keys, and space for two pointers.
    let status = in_arena(|| unsafe {
        sealcomb_key_new_many(
            entry,
            secrets.as_ptr(),
            algorithm.key_bytes(),
            2,
            ptr::null(),
            keys.as_mut_ptr(),
        )
    });
    assert_eq!(status, SEALCOMB_OK);
    let key_of: Vec<_> = (0..count).map(|i| keys[i % 2].cast_const()).collect();
    let nonces = public(algorithm.nonce_bytes() * count, true);
    let aad = public(if is_plain_cipher(algorithm) { 0 } else { 9 }, true);
    let mut messages: Vec<_> = (0..count).map(|i| secret(number, 32, i % 2 == 0)).collect();
    let pointers: Vec<_> = messages.iter_mut().map(|message| message.as_mut_ptr()).collect();
    let mut tags = public(algorithm.tag_bytes() * count, true);
    let mut statuses = vec![SEALCOMB_OK; count];
    let burst = sealcomb_burst {
        size: size_of::<sealcomb_burst>(),
        count,
        key: if several_keys { ptr::null() } else { keys[0] },
        keys: if several_keys { key_of.as_ptr() } else { ptr::null() },
        messages: pointers.as_ptr(),
        message_bytes: vec![32; count].leak().as_ptr(),
        aads: vec![aad.as_ptr(); count].leak().as_ptr(),
        aad_bytes: vec![aad.len(); count].leak().as_ptr(),
        nonces: nonces.as_ptr(),
        nonce_bytes: algorithm.nonce_bytes(),
        nonce_stride: algorithm.nonce_bytes(),
        tags: tags.as_mut_ptr(),
        tag_bytes: algorithm.tag_bytes(),
        tag_stride: algorithm.tag_bytes(),
        statuses: statuses.as_mut_ptr(),
        header_bytes: 0,
        reserved: 0,
    };
    // SAFETY: the burst's columns are live.
    assert_eq!(in_arena(|| unsafe { sealcomb_seal_burst(&raw const burst) }), SEALCOMB_OK, "{algorithm:?}");
    let is_aead = algorithm.kind() == Kind::Aead;
    if is_aead {
        (0..count).step_by(3).for_each(|i| tags[i * algorithm.tag_bytes()] ^= 1);
    }
    // SAFETY: the burst's columns are live.
    let opened = in_arena(|| unsafe { sealcomb_open_burst(&raw const burst) });
    assert_eq!(opened, with_forgeries(algorithm), "{algorithm:?}");
    keys.into_iter().for_each(free);
}

/// Seals and opens a message in two pieces with a stream that outlives its key, and leaves a third message unfinished.
#[cfg(feature = "hazmat")]
fn stream(algorithm: Algorithm, number: u64, at_end: bool) {
    let key = new_key(algorithm, &secret(number, algorithm.key_bytes(), at_end), None);
    let (nonce, aad) = (public(algorithm.nonce_bytes(), at_end), secret(number, 40, at_end));
    let mut pieces = [32, 21].map(|bytes| secret(number, bytes, at_end));
    let mut tag = public(algorithm.tag_bytes(), at_end);
    let mut stream = ptr::null_mut();
    // SAFETY: a live key, and space for the pointer.
    let status = in_arena(|| unsafe { sealcomb_stream_new(key, &raw mut stream) });
    assert_eq!(status, SEALCOMB_OK, "{algorithm:?}");
    free(key);
    for turn in 0..3 {
        // SAFETY: a live stream, and live buffers with their lengths.
        let status = in_arena(|| unsafe {
            let mut statuses = vec![match turn {
                0 => sealcomb_stream_begin_seal(stream, nonce.as_ptr(), nonce.len()),
                _ => sealcomb_stream_begin_open(stream, nonce.as_ptr(), nonce.len()),
            }];
            statuses.push(sealcomb_stream_aad(stream, aad.as_ptr(), aad.len()));
            for piece in pieces.iter_mut().filter(|_| algorithm.kind() == Kind::Aead) {
                let (data, bytes) = (piece.as_mut_ptr(), piece.len());
                statuses.push(sealcomb_stream_update(stream, data, bytes, data, bytes));
            }
            statuses.push(match turn {
                0 => sealcomb_stream_finish(stream, tag.as_mut_ptr(), algorithm.tag_bytes()),
                1 => sealcomb_stream_verify(stream, tag.as_ptr(), algorithm.tag_bytes()),
                _ => SEALCOMB_OK,
            });
            statuses.into_iter().find(|status| *status != SEALCOMB_OK)
        });
        assert_eq!(status, None, "{algorithm:?}");
    }
    // SAFETY: a live stream, which is not used afterwards.
    in_arena(|| unsafe { sealcomb_stream_free(stream) });
}

/// Fails with the list of algorithms that leave secrets in freed memory.
fn must_leave_nothing(what: &str, works: impl Fn(Algorithm) -> bool, work: impl Fn(Algorithm, u64)) {
    let mut leaks = Vec::new();
    for algorithm in ALGORITHMS.iter().copied().filter(|algorithm| works(*algorithm)) {
        let found = differences(|secret| work(algorithm, secret));
        if !found.is_empty() {
            leaks.push(format!("{what}: {algorithm:?} leaves {} bytes of a secret", found.len()));
        }
    }
    assert!(leaks.is_empty(), "{leaks:#?}");
}

#[test]
fn single_messages_leave_nothing_and_touch_nothing_else() {
    for at_end in [true, false] {
        let work = |algorithm: Algorithm, number| single(algorithm, number, at_end);
        must_leave_nothing("a message", |algorithm| algorithm.kind() != Kind::Mac, work);
    }
}

#[test]
fn bursts_leave_nothing_and_touch_nothing_else() {
    for several_keys in [false, true] {
        let work = |algorithm: Algorithm, number| burst(algorithm, number, 7, several_keys);
        must_leave_nothing(
            "a burst",
            |algorithm| algorithm.kind() != Kind::Mac && !algorithm.expands(),
            work,
        );
    }
}

#[test]
fn macs_leave_nothing_and_touch_nothing_else() {
    for at_end in [true, false] {
        let work = |algorithm: Algorithm, number| mac(algorithm, number, at_end);
        must_leave_nothing("a tag", |algorithm| algorithm.kind() == Kind::Mac, work);
    }
}

#[test]
fn macs_of_long_pieces_leave_nothing_and_touch_nothing_else() {
    must_leave_nothing("a tag of pieces", |algorithm| algorithm.kind() == Kind::Mac, long_mac);
}

#[test]
fn batches_leave_nothing_and_touch_nothing_else() {
    let work = |algorithm: Algorithm, number| batch(algorithm, number, 7);
    must_leave_nothing("a batch", |algorithm| algorithm.kind() != Kind::Mac, work);
}

#[test]
#[cfg(feature = "hazmat")]
fn streams_leave_nothing_and_touch_nothing_else() {
    let has_streams = |algorithm: Algorithm| {
        let modes = ["-gcm", "-gmac", "-ocb3-t64", "-ocb3-t96", "-ocb3-t128", "-cmac"];
        algorithm.id().starts_with("aes") && modes.iter().any(|mode| algorithm.id().ends_with(mode))
    };
    for at_end in [true, false] {
        must_leave_nothing("a stream", has_streams, |algorithm, number| stream(algorithm, number, at_end));
    }
}
