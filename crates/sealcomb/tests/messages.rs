//! Error messages say what was found and what was expected.

#[cfg(not(feature = "unstable-study"))]
use sealcomb::ALGORITHMS;
#[cfg(feature = "unstable-study")]
use sealcomb::study::ALGORITHMS;
use sealcomb::{Backend, BatchError, Error, Forged, Key, KeyOptions, OpenError};

/// Lists the variants whose messages are tested below.
fn is_tested(error: Error) -> Error {
    match error {
        Error::KeyLength { .. }
        | Error::EqualKeyHalves { .. }
        | Error::NonceLength { .. }
        | Error::TagLength { .. }
        | Error::MessageTooShort { .. }
        | Error::MessageTooLong { .. }
        | Error::AadTooLong { .. }
        | Error::TooManyStrings { .. }
        | Error::TakesNoStrings { .. }
        | Error::NotWholeBlocks { .. }
        | Error::OutputTooShort { .. }
        | Error::CiphertextIsLonger
        | Error::UnevenColumns { .. }
        | Error::TakesNoAad
        | Error::Unauthenticated { .. }
        | Error::TakesNoMessage
        | Error::AadAfterMessage
        | Error::MessageEnded
        | Error::NotInPieces
        | Error::NoSectors { .. }
        | Error::PacketTooShort { .. }
        | Error::UnknownAlgorithm
        | Error::AlgorithmNotBuilt { .. }
        | Error::RestrictedAlgorithm { .. }
        | Error::UnknownBackend
        | Error::BackendUnavailable { .. }
        | Error::BackendNotBuilt { .. } => error,
        // The enum is `non_exhaustive`.
        _ => panic!("add {error:?} to this list and to the tests below"),
    }
}

#[test]
fn messages_about_keys_nonces_and_tags_say_what_was_found_and_expected() {
    let algorithm = "aes128-gcm-siv";
    for (error, expected) in [
        (Error::KeyLength { algorithm, expected: 16, got: 24 }, "key of 24 bytes; aes128-gcm-siv takes 16"),
        (
            Error::EqualKeyHalves { algorithm: "aes128-xts" },
            "key of two equal halves; aes128-xts takes two different keys",
        ),
        (
            Error::NonceLength { algorithm, min: 12, max: 12, got: 5 },
            "nonce of 5 bytes; aes128-gcm-siv takes 12",
        ),
        (
            Error::NonceLength { algorithm: "aes128-ccm", min: 7, max: 13, got: 5 },
            "nonce of 5 bytes; aes128-ccm takes 7 to 13",
        ),
        (
            Error::NonceLength { algorithm: "aes128-gcm", min: 1, max: usize::MAX, got: 0 },
            "nonce of 0 bytes; aes128-gcm takes at least 1",
        ),
        (
            Error::NonceLength { algorithm: "aes128-cmac", min: 0, max: 0, got: 12 },
            "nonce of 12 bytes; aes128-cmac takes none",
        ),
        (
            Error::TagLength { algorithm, expected: &[16], got: 3 },
            "tag of 3 bytes; aes128-gcm-siv takes 16 here",
        ),
        (
            Error::TagLength { algorithm: "aes128-gcm", expected: &[12, 13, 14, 15, 16], got: 3 },
            "tag of 3 bytes; aes128-gcm takes 12 to 16",
        ),
        (
            Error::TagLength { algorithm: "aes128-gcm", expected: &[4, 8, 12, 13, 14, 15, 16], got: 3 },
            "tag of 3 bytes; aes128-gcm takes 4, 8, or 12 to 16",
        ),
        (
            Error::TagLength { algorithm: "aes128-gcm", expected: &[16], got: 12 },
            "tag of 12 bytes; aes128-gcm takes 16 here",
        ),
        (
            Error::TagLength { algorithm: "aes128-ecb", expected: &[], got: 16 },
            "tag of 16 bytes; aes128-ecb takes none",
        ),
    ] {
        assert_eq!(is_tested(error).to_string(), expected, "{error:?}");
    }
}

#[test]
fn messages_about_data_and_calls_say_what_was_found_and_expected() {
    let algorithm = "aes128-gcm-siv";
    for (error, expected) in [
        (Error::MessageTooShort { min: 16, got: 15 }, "message of 15 bytes; this mode takes at least 16"),
        (
            Error::MessageTooLong { limit: 65_535, got: 65_536 },
            "message of 65536 bytes; this mode takes at most 65535",
        ),
        (
            Error::AadTooLong { limit: 65_535, got: 65_536 },
            "additional data of 65536 bytes; this mode takes at most 65535",
        ),
        (
            Error::TooManyStrings { limit: 126, got: 127 },
            "127 associated strings; AES-SIV takes at most 126, the nonce included",
        ),
        (
            Error::TakesNoStrings { algorithm },
            "associated strings for aes128-gcm-siv; only AES-SIV takes them, others take Aad::joined",
        ),
        (Error::NotWholeBlocks { got: 17 }, "message or piece of 17 bytes; expected a multiple of 16"),
        (Error::OutputTooShort { needed: 33, got: 32 }, "output buffer of 32 bytes; the result takes 33"),
        (
            Error::CiphertextIsLonger,
            "this algorithm's ciphertexts are longer than their messages; use SealJob and OpenJob",
        ),
        (
            Error::UnevenColumns { messages: 3, got: 2 },
            "column of 2 entries for 3 messages; expected one entry per message",
        ),
        (Error::TakesNoAad, "additional data for an unauthenticated cipher, which takes none; use an AEAD"),
        (Error::TakesNoMessage, "message for a MAC, which encrypts nothing; pass it as additional data"),
        (
            Error::AadAfterMessage,
            "additional data after the message has begun; GCM takes it before the message",
        ),
        (Error::MessageEnded, "the message has ended; begin another one first"),
        (
            Error::NotInPieces,
            "this algorithm takes whole messages only; GCM, GMAC, OCB3 and CMAC of AES take pieces",
        ),
        (
            Error::Unauthenticated { algorithm: "aes128-ctr" },
            "aes128-ctr does not authenticate messages; use an AEAD, or open_unverified_in_place_detached",
        ),
        (Error::PacketTooShort { min: 29, got: 28 }, "packet of 28 bytes; header and tag take 29"),
        (
            Error::NoSectors { algorithm: "aes128-cbc" },
            "aes128-cbc does not encrypt sectors by their numbers; use XTS",
        ),
        (
            Error::UnknownAlgorithm,
            "no algorithm has this id; `sealcomb list` and sealcomb::ALGORITHMS list the ids",
        ),
        (
            Error::RestrictedAlgorithm { id: "aes128-ctr", features: &["hazmat"] },
            "`aes128-ctr` is unauthenticated: use hazmat::by_id, which requires the feature `hazmat`",
        ),
        (
            Error::AlgorithmNotBuilt { id: "aes128-ccm", feature: "ccm" },
            "algorithm `aes128-ccm` is not in this build: it requires the feature `ccm`",
        ),
        (
            Error::RestrictedAlgorithm { id: "aes128-otr-p", features: &["research"] },
            "`aes128-otr-p` is not a standard: use research::by_id, which requires the feature `research`",
        ),
        (
            Error::RestrictedAlgorithm { id: "serpent128-ecb", features: &["hazmat", "research"] },
            "`serpent128-ecb` is unauthenticated and not a standard: use research::by_id, which requires the features \
             `hazmat` and `research`",
        ),
        (
            Error::BackendNotBuilt { name: "portable4", needs: "the feature `unstable-reference`" },
            "backend `portable4` is not in this build: it requires the feature `unstable-reference`",
        ),
    ] {
        assert_eq!(is_tested(error).to_string(), expected, "{error:?}");
    }
}

#[test]
fn messages_about_backends_list_what_helps() {
    let unknown = is_tested(Error::UnknownBackend).to_string();
    assert!(unknown.starts_with("no backend has this name; use one of "), "{unknown}");
    for name in Backend::names() {
        assert!(unknown.contains(name), "{unknown}");
        let unavailable = is_tested(Error::BackendUnavailable { name }).to_string();
        assert!(unavailable.starts_with(&format!("backend `{name}`: the CPU lacks")), "{unavailable}");
        #[cfg(feature = "unstable-study")]
        for feature in sealcomb::study::needs(name) {
            assert!(unavailable.contains(feature), "{unavailable}");
        }
    }
}

#[test]
fn a_batch_error_names_the_job_and_an_open_error_its_cause() {
    let error = Error::MessageTooShort { min: 16, got: 15 };
    assert_eq!(BatchError::new(7, error).to_string(), format!("message 7: {error}"));
    for reported in [&BatchError::new(7, error) as &dyn std::error::Error, &OpenError::Misuse(error)] {
        assert_eq!(reported.source().map(ToString::to_string), Some(error.to_string()));
    }
    assert_eq!(OpenError::Misuse(error).to_string(), error.to_string());
    assert_eq!(OpenError::Forged.to_string(), Forged.to_string());
    assert_eq!(Forged.to_string(), "the message did not verify");
}

#[test]
fn wrong_lengths_name_the_algorithm_and_its_lengths() {
    for &algorithm in ALGORITHMS {
        let id = algorithm.id();
        let key = Key::new(algorithm, &[0; 5]).err().map(|error| error.to_string());
        assert_eq!(key, Some(format!("key of 5 bytes; {id} takes {}", algorithm.key_bytes())));
        let bytes: Vec<u8> = (1..).take(algorithm.key_bytes()).collect();
        let key = KeyOptions::new().tag_bytes(3).expand(algorithm, &bytes);
        let tag = key.expect_err("no algorithm takes 3 bytes").to_string();
        assert!(tag.starts_with(&format!("tag of 3 bytes; {id} takes ")), "{tag}");
    }
}
