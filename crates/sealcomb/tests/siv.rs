//! AES-SIV's associated strings: any number of them, authenticated separately.

mod common {
    pub(crate) mod backends;
}

use aes::cipher::KeyInit;
use aes::{Aes128, Aes192, Aes256};
use common::backends;
use sealcomb::reference::{BlockCipher, siv};
use sealcomb::study::{self, Schedule, open_jobs_with, seal_jobs_with};
use sealcomb::{
    Aad, Algorithm, Backend, Error, Key, KeyOptions, OpenError, OpenJob, Opened, SealJob, Verdict,
};

/// A message with its nonce and strings, and the expected ciphertext and tag.
struct Sealed {
    nonce: Vec<u8>,
    strings: Vec<Vec<u8>>,
    msg: Vec<u8>,
    ct: Vec<u8>,
    v: Vec<u8>,
}

fn by_id(id: &str) -> Algorithm {
    study::by_id(id).unwrap()
}

fn slices(strings: &[Vec<u8>]) -> Vec<&[u8]> {
    strings.iter().map(Vec::as_slice).collect()
}

/// Asserts that sealing and opening all messages in one batch yields the expected results.
fn must_hold(key: &Key, schedule: Schedule, messages: &[Sealed]) {
    let strings: Vec<Vec<&[u8]>> = messages.iter().map(|message| slices(&message.strings)).collect();
    let mut data: Vec<Vec<u8>> = messages.iter().map(|message| message.msg.clone()).collect();
    let mut tags = vec![[0; 16]; messages.len()];
    let mut jobs = Vec::new();
    for (((message, strings), data), tag) in messages.iter().zip(&strings).zip(&mut data).zip(&mut tags) {
        jobs.push(SealJob::in_place(key, &message.nonce, Aad::strings(strings), data, tag));
    }
    seal_jobs_with(schedule, &mut jobs).unwrap();
    for (i, ((message, ct), v)) in messages.iter().zip(&data).zip(&tags).enumerate() {
        assert_eq!((ct, v.as_slice()), (&message.ct, message.v.as_slice()), "{key:?} {schedule:?} {i}");
    }
    let mut jobs = Vec::new();
    for (((message, strings), data), tag) in messages.iter().zip(&strings).zip(&mut data).zip(&tags) {
        jobs.push(OpenJob::in_place(key, &message.nonce, Aad::strings(strings), data, tag));
    }
    assert_eq!(open_jobs_with(schedule, &mut jobs).map(Opened::all_verified), Ok(Ok(())));
    assert!(jobs.iter().all(|job| job.verdict() == Verdict::Verified));
    drop(jobs);
    for (message, opened) in messages.iter().zip(&data) {
        assert_eq!(&message.msg, opened);
    }
}

/// Returns a key that takes nonces of every length, and none.
fn any(id: &str, key: &[u8]) -> Key {
    KeyOptions::new().any_nonce_bytes().expand(by_id(id), key).unwrap()
}

fn keys(id: &str, key: &[u8]) -> Vec<Key> {
    backends::available()
        .into_iter()
        .map(|backend| KeyOptions::new().backend(backend).any_nonce_bytes().expand(by_id(id), key).unwrap())
        .collect()
}

#[test]
fn the_examples_of_the_rfc_hold() {
    let bytes = |text: &str| hex::decode(text).unwrap();
    let deterministic = Sealed {
        nonce: vec![],
        strings: vec![bytes("101112131415161718191a1b1c1d1e1f2021222324252627")],
        msg: bytes("112233445566778899aabbccddee"),
        ct: bytes("40c02b9690c4dc04daef7f6afe5c"),
        v: bytes("85632d07c6e8f37f950acd320a2ecc93"),
    };
    let key = bytes("fffefdfcfbfaf9f8f7f6f5f4f3f2f1f0f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff");
    for key in keys("aes128-siv", &key) {
        must_hold(&key, Schedule::Auto, std::slice::from_ref(&deterministic));
    }
    let with_nonce = Sealed {
        nonce: bytes("09f911029d74e35bd84156c5635688c0"),
        strings: vec![
            bytes("00112233445566778899aabbccddeeffdeaddadadeaddadaffeeddccbbaa99887766554433221100"),
            bytes("102030405060708090a0"),
        ],
        msg: b"this is some plaintext to encrypt using SIV-AES".to_vec(),
        ct: bytes(
            "cb900f2fddbe404326601965c889bf17dba77ceb094fa663b7a3f748ba8af829ea64ad544a272e9c485b62a3fd5c0d",
        ),
        v: bytes("7bdb6e3b432667eb06f4d14bff2fbd0f"),
    };
    let key = bytes("7f7e7d7c7b7a79787776757473727170404142434445464748494a4b4c4d4e4f");
    for key in keys("aes128-siv", &key) {
        must_hold(&key, Schedule::Auto, std::slice::from_ref(&with_nonce));
    }
}

/// Returns bytes that depend on the seed.
fn some_bytes(seed: usize, bytes: usize) -> Vec<u8> {
    (0..bytes).map(|i| (seed * 31 + i * 7 + i / 256) as u8).collect()
}

/// Returns messages sealed by the model, of every length around a block and around some registers, with 0 to 4
/// strings of different lengths; every third has a nonce.
fn by_the_model<C: BlockCipher + KeyInit>(key: &[u8]) -> Vec<Sealed> {
    let (k1, k2) = key.split_at(key.len() / 2);
    let [mac, encryption] = [k1, k2].map(|key| C::with_key(key).unwrap());
    let lengths = (0..=81).chain([111, 112, 113, 127, 128, 129, 160, 255, 256, 257, 300, 512, 1000]);
    let seal = |(i, length): (usize, usize)| {
        let strings: Vec<Vec<u8>> = (0..i % 5)
            .map(|s| some_bytes(i + s, [0, 1, 16, 15, 17, 32, 100, 31, 33][(i + 2 * s) % 9]))
            .collect();
        let nonce = if i % 3 == 2 { some_bytes(i, 1 + i % 20) } else { vec![] };
        let msg = some_bytes(i, length);
        let mut all = slices(&strings);
        if !nonce.is_empty() {
            all.push(&nonce);
        }
        let (ct, v) = siv::seal(&mac, &encryption, &all, &msg);
        Sealed { nonce, strings, msg, ct, v }
    };
    lengths.enumerate().map(seal).collect()
}

#[test]
fn batches_with_different_numbers_of_strings_equal_the_model() {
    let (short, middle, long) = (some_bytes(1, 32), some_bytes(2, 48), some_bytes(3, 64));
    for (id, key, messages) in [
        ("aes128-siv", &short, by_the_model::<Aes128>(&short)),
        ("aes192-siv", &middle, by_the_model::<Aes192>(&middle)),
        ("aes256-siv", &long, by_the_model::<Aes256>(&long)),
    ] {
        for key in keys(id, key) {
            for schedule in [Schedule::Auto, Schedule::Single, Schedule::Comb(5), Schedule::Refill] {
                must_hold(&key, schedule, &messages);
                for few in messages.chunks(3) {
                    must_hold(&key, schedule, few);
                }
            }
        }
    }
}

/// Shares one string in memory among all messages, as sealing a column does.
#[test]
fn a_string_that_messages_share_counts_for_each_of_them() {
    let key = any("aes256-siv", &[7; 64]);
    let other = any("aes256-siv", &[8; 64]);
    let context = some_bytes(5, 37);
    for keys in [[&key, &key, &key], [&key, &other, &key]] {
        let mut data = [some_bytes(1, 5), some_bytes(2, 16), some_bytes(3, 64)];
        let mut tags = [[0; 16]; 3];
        let mut jobs = Vec::new();
        for ((key, data), tag) in keys.iter().zip(&mut data).zip(&mut tags) {
            jobs.push(SealJob::in_place(key, b"", context.as_slice(), data, tag));
        }
        seal_jobs_with(Schedule::Auto, &mut jobs).unwrap();
        for (i, (key, bytes)) in keys.iter().zip([5, 16, 64]).enumerate() {
            let single = key.seal(b"", &context, &some_bytes(i + 1, bytes)).unwrap();
            assert_eq!([&tags[i], &data[i][..]].concat(), single);
        }
    }
}

fn tag_of(key: &Key, nonce: &[u8], aad: Aad<'_>) -> [u8; 16] {
    let (mut data, mut tag) = (*b"message", [0; 16]);
    seal_jobs_with(Schedule::Auto, &mut [SealJob::in_place(key, nonce, aad, &mut data, &mut tag)]).unwrap();
    tag
}

#[test]
fn boundaries_and_number_of_strings_are_authenticated() {
    let key = any("aes128-siv", &[7; 32]);
    let ways: [&[&[u8]]; 6] = [&[], &[b""], &[b"", b""], &[b"ab"], &[b"a", b"b"], &[b"b", b"a"]];
    let tags: std::collections::HashSet<[u8; 16]> =
        ways.iter().map(|strings| tag_of(&key, b"", Aad::strings(strings))).collect();
    assert_eq!(tags.len(), ways.len());
    assert_eq!(
        tag_of(&key, b"", b"ab".into()),
        tag_of(&key, b"", Aad::strings(&[b"ab"])),
        "a slice is a string"
    );
    assert_eq!(tag_of(&key, b"", (&[]).into()), tag_of(&key, b"", Aad::strings(&[b""])), "even an empty one");
    assert_eq!(
        tag_of(&key, b"n", Aad::strings(&[b"a"])),
        tag_of(&key, b"", Aad::strings(&[b"a", b"n"])),
        "a nonce is the last string"
    );
}

#[test]
fn more_strings_than_the_rfc_allows_are_refused() {
    let key = any("aes128-siv", &[7; 32]);
    let strings = [b"".as_slice(); 127];
    let seal = |nonce: &[u8], strings: &[&[u8]]| {
        let (mut data, mut tag) = (*b"message", [0; 16]);
        let job = SealJob::in_place(&key, nonce, Aad::strings(strings), &mut data, &mut tag);
        seal_jobs_with(Schedule::Auto, &mut [job]).map_err(|error| error.error())
    };
    assert_eq!(seal(b"", &strings[..126]), Ok(()));
    let refused = Err(Error::TooManyStrings { limit: 126, got: 127 });
    assert_eq!(seal(b"", &strings), refused);
    assert_eq!(seal(b"n", &strings[..125]), Ok(()));
    assert_eq!(seal(b"n", &strings[..126]), refused);
}

#[test]
fn other_algorithms_refuse_strings_and_join_parts() {
    for backend in Backend::available() {
        let key = KeyOptions::new().backend(backend).expand(by_id("aes128-gcm"), &[7; 16]).unwrap();
        let nonce = [1; 12];
        let refused = Error::TakesNoStrings { algorithm: "aes128-gcm" };
        let several: [&[&[u8]]; 3] = [&[], &[b"abc"], &[b"a", b"bc"]];
        for strings in several {
            let (mut data, mut tag) = (*b"message", [0; 16]);
            let job = SealJob::in_place(&key, &nonce, Aad::strings(strings), &mut data, &mut tag);
            assert_eq!(
                seal_jobs_with(Schedule::Auto, &mut [job]).map_err(|error| error.error()),
                Err(refused)
            );
            assert_eq!(key.seal(&nonce, Aad::strings(strings), b"message"), Err(refused));
        }
        assert_eq!(
            tag_of(&key, &nonce, Aad::joined(&[b"a", b"", b"bc"])),
            tag_of(&key, &nonce, b"abc".into())
        );
    }
}

#[test]
fn single_messages_take_strings() {
    for key in keys("aes256-siv", &[7; 64]) {
        let strings = Aad::strings(&[b"a", b"b"]);
        let sealed = key.seal(b"nonce", strings.clone(), b"message").unwrap();
        assert_eq!(sealed[..16], tag_of(&key, b"nonce", strings.clone()));
        assert_eq!(key.open(b"nonce", strings, &sealed).unwrap(), b"message");
        assert_eq!(key.open(b"nonce", b"ab", &sealed), Err(OpenError::Forged));
    }
}

#[test]
fn sealed_messages_begin_with_the_synthetic_iv() {
    // RFC 5297, appendix A.1: Z is V || C.
    let key = "fffefdfcfbfaf9f8f7f6f5f4f3f2f1f0f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff";
    let aad = hex::decode("101112131415161718191a1b1c1d1e1f2021222324252627").unwrap();
    let message = hex::decode("112233445566778899aabbccddee").unwrap();
    let expected = "85632d07c6e8f37f950acd320a2ecc9340c02b9690c4dc04daef7f6afe5c";
    for key in keys("aes128-siv", &hex::decode(key).unwrap()) {
        let sealed = key.seal(b"", &aad, &message).unwrap();
        assert_eq!(hex::encode(&sealed), expected, "{key:?}");
        assert_eq!(key.open(b"", &aad, &sealed).unwrap(), message);
        let wrong_order = [&sealed[16..], &sealed[..16]].concat();
        assert_eq!(key.open(b"", &aad, &wrong_order), Err(OpenError::Forged));
    }
}
