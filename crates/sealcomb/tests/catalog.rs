//! What the catalog says about each algorithm is true.

use sealcomb::study::{self, ALGORITHMS, Parallel};
use sealcomb::{Algorithm, Key, KeyOptions, Kind, SealJob, seal_jobs};

#[test]
fn every_algorithm_has_a_unique_id_and_a_reason_for_its_status() {
    for (i, algorithm) in ALGORITHMS.iter().copied().enumerate() {
        assert!(ALGORITHMS[..i].iter().all(|other| other.id() != algorithm.id()), "{}", algorithm.id());
        assert!(!algorithm.reason().is_empty() && !algorithm.spec().is_empty(), "{}", algorithm.id());
        assert!(algorithm.cipher_key_bytes() <= algorithm.key_bytes(), "{}", algorithm.id());
        assert!(algorithm.kind() == Kind::Cipher || algorithm.tag_sizes().contains(&algorithm.tag_bytes()));
    }
}

/// Covers sizes around 65 535 bytes, up to which a shorter check applies.
#[test]
fn a_job_is_refused_exactly_as_the_catalog_says() {
    const LONGEST: usize = (1 << 16) - 1;
    let sizes = [0, 1, 15, 16, 17, 32, LONGEST - 15, LONGEST, LONGEST + 1];
    let aad = vec![0xAA; LONGEST + 1];
    for &algorithm in ALGORITHMS {
        let bytes: Vec<u8> = (1..).take(algorithm.key_bytes()).collect();
        let options = KeyOptions::new().any_nonce_bytes();
        let key = options.expand(algorithm, &bytes).expect("the key's length is right");
        let nonces =
            [algorithm.min_nonce_bytes(), algorithm.nonce_bytes(), algorithm.max_nonce_bytes().min(20)];
        for (nonce, aad_bytes, message) in nonces.into_iter().flat_map(|nonce| {
            sizes.into_iter().flat_map(move |aad| sizes.map(|message| (nonce, aad, message)))
        }) {
            let nonce = vec![7; nonce];
            let mut data = vec![0xA5; algorithm.ciphertext_bytes(message)];
            let mut tag = vec![0; algorithm.tag_bytes()];
            let expected = algorithm.check(nonce.len(), tag.len(), aad_bytes as u64, message as u64);
            let job = SealJob::in_buffer(&key, &nonce, &aad[..aad_bytes], &mut data, message, &mut tag);
            let sealed = job.map_or_else(Err, |job| seal_jobs(&mut [job]).map_err(|error| error.error()));
            assert_eq!(sealed, expected, "{} {} {aad_bytes} {message}", algorithm.id(), nonce.len());
        }
    }
}

#[test]
fn sizes_that_no_buffer_has_do_not_overflow() {
    for &algorithm in ALGORITHMS {
        for bytes in [usize::MAX - 16, usize::MAX - 15, usize::MAX - 1, usize::MAX] {
            assert!(algorithm.padded_bytes(bytes) >= bytes, "{} {bytes}", algorithm.id());
            assert!(algorithm.ciphertext_bytes(bytes) >= bytes, "{} {bytes}", algorithm.id());
            assert!(algorithm.max_message_bytes(bytes).is_ok_and(|max| max <= bytes) || algorithm.expands());
        }
    }
}

/// Under a repeated nonce, a mode that adds a keystream to the first block reveals the XOR of two messages' first blocks.
#[test]
fn a_note_that_limits_what_a_repeated_nonce_reveals_is_true() {
    let limits = ["leading blocks", "common prefixes", "reveals only whether"];
    let limited =
        |a: &Algorithm| a.kind() == Kind::Aead && limits.iter().any(|limit| a.note().contains(limit));
    let found: Vec<_> = ALGORITHMS.iter().copied().filter(limited).collect();
    assert!(found.len() > 10, "the notes have other words");
    for algorithm in found {
        let bytes: Vec<u8> = (1..).take(algorithm.key_bytes()).collect();
        let key = Key::new(algorithm, &bytes).expect("the key's length is right");
        let nonce = vec![7; algorithm.nonce_bytes()];
        let [one, other] =
            [1, 2].map(|byte| key.seal(&nonce, b"header", &[byte; 48]).expect("the sizes are right"));
        let is_revealed = one.iter().zip(&other).take(16).all(|(a, b)| a ^ b == 3);
        assert_eq!(is_revealed, algorithm.note().contains("XOR"), "{}: {}", algorithm.id(), algorithm.note());
    }
}

/// A mode is online if the beginning of the ciphertext does not depend on what follows. CCM is the exception: its
/// first authenticated block contains the message's length.
#[test]
fn online_modes_map_equal_beginnings_to_equal_beginnings() {
    for algorithm in ALGORITHMS.iter().copied().filter(|algorithm| algorithm.kind() != Kind::Mac) {
        let bytes: Vec<u8> = (1..).take(algorithm.key_bytes()).collect();
        let key = Key::new(algorithm, &bytes).expect("the key's length is right");
        let beginning = |bytes: usize, last: u8| {
            let mut message = vec![0x5a; bytes];
            message[bytes - 1] = last;
            key.seal(&vec![2; algorithm.nonce_bytes()], b"", &message).unwrap()[..64].to_vec()
        };
        let sealed = [beginning(256, 1), beginning(256, 2), beginning(320, 3)];
        let alike = sealed.iter().all(|other| *other == sealed[0]);
        let encodes_its_length = algorithm.mode() == "CCM";
        assert_eq!(alike && !encodes_its_length, algorithm.structure().online, "{}", algorithm.id());
    }
    assert!(
        ALGORITHMS
            .iter()
            .copied()
            .all(|algorithm| algorithm.kind() != Kind::Mac || algorithm.structure().online)
    );
}

/// Compares with the definitions in SP 800-38A to -D, RFC 7253 and RFC 8452.
#[test]
fn standard_modes_are_parallel_where_their_equations_allow_it() {
    let parallel = |id: &str| study::by_id(id).unwrap().structure().parallel;
    for mode in ["ecb", "ctr", "gcm", "gmac", "gcm-siv", "ocb3-t128"] {
        assert_eq!(parallel(&format!("aes128-{mode}")), Parallel::Both, "{mode}");
    }
    for mode in ["cbc", "cfb128"] {
        assert_eq!(parallel(&format!("aes128-{mode}")), Parallel::Opening, "{mode}");
    }
    for mode in ["ofb", "cmac", "ccm"] {
        assert_eq!(parallel(&format!("aes128-{mode}")), Parallel::Neither, "{mode}");
    }
}
