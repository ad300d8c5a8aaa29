//! The algorithms of a build with the features of some modes.

use sealcomb::{ALGORITHMS, Algorithm, Error, Key};

/// An algorithm of each mode, the feature that it requires, and whether this build has it.
const MODES: [(&str, &str, bool); 12] = [
    ("aegis128l", "aegis", cfg!(feature = "aegis")),
    ("aegis256", "aegis", cfg!(feature = "aegis")),
    ("aes128-ccm", "ccm", cfg!(feature = "ccm")),
    ("aes128-cmac", "cmac", cfg!(feature = "cmac")),
    ("aes128-colm0", "colm", cfg!(feature = "colm")),
    ("aes128-eax", "eax", cfg!(feature = "eax")),
    ("aes128-gcm", "gcm", cfg!(feature = "gcm")),
    ("aes128-gmac", "gcm", cfg!(feature = "gcm")),
    ("aes128-gcm-siv", "gcm-siv", cfg!(feature = "gcm-siv")),
    ("aes128-ocb3-t128", "ocb3", cfg!(feature = "ocb3")),
    ("aes128-siv", "siv", cfg!(feature = "siv")),
    ("xaes256-gcm", "xaes", cfg!(feature = "xaes")),
];

#[test]
fn a_build_has_the_algorithms_of_its_modes_and_names_the_features_of_the_others() {
    for (id, feature, is_built) in MODES {
        match Algorithm::by_id(id) {
            Ok(algorithm) => assert!(is_built && ALGORITHMS.contains(&algorithm), "{id}"),
            error => assert!(!is_built && error == Err(Error::AlgorithmNotBuilt { id, feature }), "{id}"),
        }
    }
    let modes: Vec<&str> = MODES
        .iter()
        .filter(|(.., is_built)| *is_built)
        .map(|(id, ..)| Algorithm::by_id(id).unwrap().mode_id())
        .collect();
    for algorithm in ALGORITHMS.iter().filter(|algorithm| !algorithm.mode_id().starts_with("ocb3")) {
        assert!(modes.contains(&algorithm.mode_id()), "{algorithm}");
    }
}

#[test]
fn each_algorithm_of_the_build_opens_what_it_sealed() {
    for algorithm in ALGORITHMS {
        let key_bytes: Vec<u8> = (1..).take(algorithm.key_bytes()).collect();
        let key = Key::new(*algorithm, &key_bytes).unwrap();
        let nonce = vec![7; algorithm.nonce_bytes()];
        if algorithm.kind() == sealcomb::Kind::Mac || algorithm.expands() {
            continue;
        }
        let sealed = key.seal(&nonce, b"header", b"message").unwrap();
        assert_eq!(key.open(&nonce, b"header", &sealed).unwrap(), b"message", "{algorithm}");
        assert!(key.open(&nonce, b"another", &sealed).is_err(), "{algorithm}");
    }
}
