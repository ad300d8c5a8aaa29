//! The catalog's own promises, for every algorithm.

use sealcomb::{ALGORITHMS, BatchError, Key, Kind, SealJob, seal_batch};

#[test]
fn every_algorithm_has_an_id_of_its_own_and_says_why_it_has_its_status() {
    for (i, algorithm) in ALGORITHMS.iter().enumerate() {
        assert!(ALGORITHMS[..i].iter().all(|other| other.id != algorithm.id), "{}", algorithm.id);
        assert!(!algorithm.reason.is_empty() && !algorithm.spec.is_empty(), "{}", algorithm.id);
        assert!(algorithm.cipher_key_bytes <= algorithm.key_bytes, "{}", algorithm.id);
        assert!(algorithm.kind == Kind::Cipher || algorithm.tag.contains(&algorithm.tag_bytes));
    }
}

/// Sizes up to 65 535 bytes take a short way through the checks.
#[test]
fn a_job_is_refused_exactly_as_the_catalog_says() {
    const LONGEST: usize = (1 << 16) - 1;
    let sizes = [0, 1, 15, 16, 17, 32, LONGEST - 15, LONGEST, LONGEST + 1];
    let aad = vec![0xAA; LONGEST + 1];
    for algorithm in ALGORITHMS {
        let key = Key::new(algorithm, &vec![1; algorithm.key_bytes]).expect("the key's length is right");
        let nonces = [algorithm.nonce.min, algorithm.nonce_bytes, algorithm.nonce.max.min(20)];
        for (nonce, aad_bytes, message) in nonces.into_iter().flat_map(|nonce| {
            sizes.into_iter().flat_map(move |aad| sizes.map(|message| (nonce, aad, message)))
        }) {
            let nonce = vec![7; nonce];
            let mut data = vec![0xA5; algorithm.ciphertext_bytes(message)];
            let mut tag = vec![0; algorithm.tag_bytes];
            let expected = algorithm.check(nonce.len(), tag.len(), aad_bytes as u64, message as u64);
            let job = SealJob::in_buffer(&key, &nonce, &aad[..aad_bytes], &mut data, message, &mut tag);
            let sealed =
                job.map_or_else(Err, |job| seal_batch(&mut [job]).map_err(|BatchError { error, .. }| error));
            assert_eq!(sealed, expected, "{} {} {aad_bytes} {message}", algorithm.id, nonce.len());
        }
    }
}
