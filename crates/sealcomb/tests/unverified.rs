//! Opening without verifying, for interfaces that receive the tag last; and checking a job before its batch.

mod common {
    pub(crate) mod misuse;
}

use std::collections::BTreeSet;

use common::misuse;
use sealcomb::study::ALGORITHMS;
use sealcomb::{Algorithm, Backend, Key, KeyOptions, OpenJob, SealJob};

#[test]
fn opening_unverified_returns_the_message_and_the_correct_tag() {
    for backend in Backend::available() {
        for algorithm in ALGORITHMS.iter().copied().filter(|algorithm| !algorithm.expands()) {
            let bytes: Vec<u8> = (7..).take(algorithm.key_bytes()).collect();
            let key = KeyOptions::new().backend(backend).any_nonce_bytes().expand(algorithm, &bytes).unwrap();
            let nonce = vec![9; algorithm.nonce_bytes()];
            let aad = if algorithm.tag_bytes() > 0 { &b"header"[..] } else { b"" };
            let message = if algorithm.kind() == sealcomb::Kind::Mac { vec![] } else { (0..96).collect() };
            let (mut data, mut tag) = (message.clone(), vec![0; algorithm.tag_bytes()]);
            key.seal_in_place_detached(&nonce, aad, &mut data, &mut tag).unwrap();
            let mut computed = tag.clone();
            key.open_unverified_in_place_detached(&nonce, aad, &mut data, &mut computed).unwrap();
            assert_eq!((data, computed), (message, tag), "{algorithm:?} {backend:?}");
        }
    }
}

/// The modes that decrypt with the received tag. The documentation of `Key::open_unverified_in_place_detached` names them.
const READ_THE_TAG: &[&str] = &[
    "COBRA",
    "COLM0",
    "ELmD with a variable tag",
    "GCM-SIV",
    "McOE-G",
    "POET",
    "POET-AES4",
    "POET-G",
    "SIV",
];

#[test]
fn only_the_modes_that_decrypt_with_the_tag_require_it() {
    let mut found = BTreeSet::new();
    for algorithm in
        ALGORITHMS.iter().copied().filter(|algorithm| !algorithm.expands() && algorithm.tag_bytes() > 0)
    {
        let bytes: Vec<u8> = (7..).take(algorithm.key_bytes()).collect();
        let key = Key::new(algorithm, &bytes).unwrap();
        let nonce = vec![9; algorithm.nonce_bytes()];
        for length in [0, 1, 15, 16, 17, 91, 96, 112] {
            let length = if algorithm.kind() == sealcomb::Kind::Mac { 0 } else { length };
            let message: Vec<u8> = (0..length).collect();
            let (mut data, mut tag) = (message.clone(), vec![0; algorithm.tag_bytes()]);
            key.seal_in_place_detached(&nonce, b"header", &mut data, &mut tag).unwrap();
            let mut computed = vec![0; algorithm.tag_bytes()];
            key.open_unverified_in_place_detached(&nonce, b"header", &mut data, &mut computed).unwrap();
            if (data, computed) != (message, tag) {
                found.insert(algorithm.mode());
            }
        }
    }
    assert_eq!(Vec::from_iter(found), READ_THE_TAG);
}

#[test]
fn a_forged_message_has_another_tag_than_the_received_one() {
    let key = Key::new(Algorithm::by_id("aes128-gcm").unwrap(), &[7; 16]).unwrap();
    let (mut data, mut tag) = ([1; 40], [0; 16]);
    key.seal_in_place_detached(&[2; 12], b"", &mut data, &mut tag).unwrap();
    data[39] ^= 1;
    let mut computed = [0; 16];
    key.open_unverified_in_place_detached(&[2; 12], b"", &mut data, &mut computed).unwrap();
    assert_ne!(computed, tag);
    let short = key.open_unverified_in_place_detached(&[2; 12], b"", &mut data, &mut computed[..15]);
    assert_eq!(short, Err(misuse::tag_length(key.algorithm(), 15)));
}

#[test]
fn a_job_checks_for_the_errors_of_its_batch() {
    let key = Key::new(Algorithm::by_id("aes128-ccm").unwrap(), &[7; 16]).unwrap();
    let (mut data, mut tag) = ([1; 40], [0; 16]);
    let refused = Err(misuse::fixed_nonce_length(key.algorithm(), 12, 6));
    for (nonce, expected) in [(&[0; 12][..], Ok(())), (&[0; 6], refused)] {
        assert_eq!(SealJob::in_place(&key, nonce, b"", &mut data, &mut tag).check(), expected);
        assert_eq!(OpenJob::in_place(&key, nonce, b"", &mut data, &tag).check(), expected);
    }
}
