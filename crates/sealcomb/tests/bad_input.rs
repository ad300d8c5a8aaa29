//! Bad input leads to a typed error, and nothing is written.

mod common {
    pub(crate) mod backends;
    pub(crate) mod misuse;
}

use common::{backends, misuse};
use sealcomb::hazmat;
use sealcomb::study::{self, ALGORITHMS, Schedule, open_jobs_with, seal_jobs_with};
use sealcomb::{
    Algorithm, Backend, BatchError, Error, Key, KeyOptions, Kind, OpenError, OpenJob, Opened, SealJob,
    Verdict, open_jobs, seal_jobs,
};
use std::env;
use std::process::Command;

/// The buffers of a job: zeros where they are read, other bytes where they might be written. The message is the first
/// `message` bytes of `data`.
#[derive(Clone, PartialEq, Eq)]
struct Bytes {
    nonce: Vec<u8>,
    aad: Vec<u8>,
    data: Vec<u8>,
    message: usize,
    tag: Vec<u8>,
}

impl Bytes {
    fn new(nonce: usize, aad: usize, data: usize, tag: usize) -> Self {
        let (nonce, aad, tag) = (vec![0; nonce], vec![0; aad], vec![0x5A; tag]);
        Self { nonce, aad, data: vec![0xA5; data], message: data, tag }
    }

    /// Returns buffers of sizes that the algorithm takes.
    fn good(algorithm: Algorithm) -> Self {
        let (aad, data) = match algorithm.kind() {
            Kind::Cipher => (0, 48),
            Kind::Mac => (48, 0),
            _ => (20, 48),
        };
        let data_and_room = vec![0xA5; algorithm.ciphertext_bytes(data)];
        Self { data: data_and_room, ..Self::new(algorithm.nonce_bytes(), aad, data, algorithm.tag_bytes()) }
    }

    fn seal_job<'a>(&'a mut self, key: &'a Key) -> SealJob<'a> {
        let Self { nonce, aad, data, message, tag } = self;
        SealJob::in_buffer(key, nonce, aad.as_slice(), data, *message, tag).expect("room for the ciphertext")
    }

    fn open_job<'a>(&'a mut self, key: &'a Key) -> OpenJob<'a> {
        OpenJob::in_place(key, &self.nonce, self.aad.as_slice(), &mut self.data, &self.tag)
    }
}

fn key(algorithm: Algorithm, backend: Backend) -> Key {
    KeyOptions::new()
        .backend(backend)
        .expand(algorithm, &key_bytes(algorithm))
        .expect("the key's length is right")
}

fn key_bytes(algorithm: Algorithm) -> Vec<u8> {
    (1..).take(algorithm.key_bytes()).collect()
}

fn by_id(id: &str) -> Algorithm {
    study::by_id(id).expect("a listed algorithm")
}

/// Asserts that sealing and opening refuse `bad` with this error, alone and between good jobs, and change no byte.
fn is_refused(algorithm: Algorithm, bad: &Bytes, error: Error) {
    for backend in backends::available() {
        let mut options = KeyOptions::new().backend(backend);
        if !matches!(error, Error::NonceLength { .. }) {
            options = options.nonce_bytes(bad.nonce.len());
        }
        let key = options.expand(algorithm, &key_bytes(algorithm)).expect("sizes of the algorithm");
        let context = format!("{} {}", backend.name(), algorithm.id());

        let Bytes { nonce, aad, mut data, mut tag, .. } = bad.clone();
        assert_eq!(key.seal_in_place_detached(&nonce, &aad, &mut data, &mut tag), Err(error), "{context}");
        assert!(data == bad.data && tag == bad.tag, "{context}");
        let opened = key.open_in_place_detached(&nonce, &aad, &mut data, &tag);
        assert_eq!(opened, Err(OpenError::Misuse(error)), "{context}");
        assert!(data == bad.data, "{context}");

        let mut good = Bytes::good(algorithm);
        good.nonce.resize(key.nonce_bytes().unwrap_or_default(), 0);
        let expected = Err(BatchError::new(2, error));
        let mut batch = [good.clone(), good.clone(), bad.clone(), good.clone()];
        let mut jobs: Vec<_> = batch.iter_mut().map(|bytes| bytes.seal_job(&key)).collect();
        assert_eq!(seal_jobs(&mut jobs), expected, "{context}");
        drop(jobs);
        assert!(batch == [good.clone(), good.clone(), bad.clone(), good.clone()], "{context}");

        let mut jobs: Vec<_> = batch.iter_mut().map(|bytes| bytes.open_job(&key)).collect();
        assert_eq!(open_jobs(&mut jobs).map(Opened::forged), expected.map(|()| 0), "{context}");
        assert!(jobs.iter().all(|job| job.verdict() == Verdict::Pending), "{context}");
        drop(jobs);
        assert!(batch == [good.clone(), good.clone(), bad.clone(), good], "{context}");
    }
}

#[test]
fn a_key_of_another_length_is_refused() {
    for &algorithm in ALGORITHMS {
        for got in (0..=70).filter(|&got| got != algorithm.key_bytes()) {
            for backend in backends::available() {
                let made =
                    KeyOptions::new().backend(backend).any_nonce_bytes().expand(algorithm, &vec![0; got]);
                assert_eq!(made.err(), Some(misuse::key_length(algorithm, got)), "{}", algorithm.id());
            }
        }
    }
}

#[test]
fn a_nonce_of_another_length_is_refused() {
    for &algorithm in ALGORITHMS {
        let (min, max) = (algorithm.min_nonce_bytes(), algorithm.max_nonce_bytes());
        for got in (0..=33).filter(|&got| got != algorithm.nonce_bytes()) {
            let bad = Bytes { nonce: vec![0; got], ..Bytes::good(algorithm) };
            is_refused(algorithm, &bad, misuse::fixed_nonce_length(algorithm, algorithm.nonce_bytes(), got));
        }
        for got in (0..=33).filter(|got| !(min..=max).contains(got)) {
            let refused = Err(misuse::nonce_length(algorithm, got));
            let made = KeyOptions::new().nonce_bytes(got).expand(algorithm, &key_bytes(algorithm));
            assert_eq!(made.map(drop), refused, "{}", algorithm.id());
            let any =
                KeyOptions::new().any_nonce_bytes().expand(algorithm, &key_bytes(algorithm)).expect("a key");
            let bytes = algorithm.min_message_bytes() as u64;
            assert_eq!(any.check(got, algorithm.tag_bytes(), 0, bytes), refused, "{}", algorithm.id());
        }
    }
}

/// A constant header in place of the nonce must not encrypt all messages under one nonce.
#[test]
fn a_key_takes_nonces_of_the_length_that_it_was_created_for() {
    let algorithm = by_id("aes128-gcm");
    let (nonce, header) = ([1; 12], [2; 20]);
    let key_for = |options: KeyOptions| options.expand(algorithm, &[7; 16]).expect("a key");
    let [usual, other, any] =
        [KeyOptions::new(), KeyOptions::new().nonce_bytes(20), KeyOptions::new().any_nonce_bytes()]
            .map(key_for);
    assert_eq!([&usual, &other, &any].map(Key::nonce_bytes), [Some(12), Some(20), None]);
    let refused = |fixed, got| Err(misuse::fixed_nonce_length(algorithm, fixed, got));
    assert_eq!(usual.seal(&header, &nonce, b"swapped"), refused(12, 20));
    assert_eq!(other.seal(&nonce, &header, b"swapped"), refused(20, 12));
    for nonce in [&nonce[..], &header] {
        let sealed = any.seal(nonce, b"", b"message").expect("a nonce of any length");
        let fixed = if nonce.len() == 12 { &usual } else { &other };
        assert_eq!(fixed.seal(nonce, b"", b"message").as_ref(), Ok(&sealed));
        assert_eq!(fixed.open(nonce, b"", &sealed).expect("an authentic message"), b"message");
    }
}

#[test]
fn modes_take_the_nonces_of_their_standards() {
    let takes = |mode: &str| -> Vec<usize> {
        let algorithm = by_id(&format!("aes128-{mode}"));
        let message = algorithm.min_message_bytes() as u64;
        let takes = |&bytes: &usize| algorithm.check(bytes, algorithm.tag_bytes(), 0, message).is_ok();
        (0..=200).filter(takes).collect()
    };
    assert_eq!(takes("ecb"), [0]);
    for mode in
        ["cbc", "cfb128", "ofb", "ctr", "poet", "poet-aes4", "poet-g", "mcoe-g", "cobra", "julius-ecb", "xts"]
    {
        assert_eq!(takes(mode), [16], "{mode}");
    }
    assert_eq!(takes("cmac"), [0]);
    assert_eq!(takes("pmac"), [0]);
    assert_eq!(takes("ccm"), (7..=13).collect::<Vec<_>>());
    assert_eq!(takes("eax"), (0..=200).collect::<Vec<_>>());
    assert_eq!(takes("gcm"), (1..=200).collect::<Vec<_>>());
    assert_eq!(takes("gmac"), (1..=200).collect::<Vec<_>>());
    assert_eq!(takes("gcm-siv"), [12]);
    assert_eq!(takes("siv"), (0..=200).collect::<Vec<_>>());
    assert_eq!(takes("cloc"), [12]);
    assert_eq!(takes("silc"), [12]);
    assert_eq!(takes("jambu"), [8]);
}

#[test]
fn a_tag_of_another_length_is_refused() {
    for &algorithm in ALGORITHMS {
        let (usual, all) = (algorithm.tag_sizes(), hazmat::tag_sizes(algorithm));
        for backend in backends::available() {
            let options = KeyOptions::new().backend(backend);
            for got in (0..=33).filter(|&got| got != algorithm.tag_bytes()) {
                let id = algorithm.id();
                let key = |options: KeyOptions| options.expand(algorithm, &key_bytes(algorithm)).err();
                let refused = |expected| Some(Error::TagLength { algorithm: id, expected, got });
                let expected = if usual.contains(&got) { None } else { refused(usual) };
                assert_eq!(key(options.tag_bytes(got)), expected, "{id} {got}");
                assert_eq!(key(options.short_tag_bytes(got).tag_bytes(got)), expected, "{id} {got}");
                let expected = if all.contains(&got) { None } else { refused(all) };
                assert_eq!(key(options.short_tag_bytes(got)), expected, "{id} {got}");
            }
        }
        for got in (0..=33).filter(|&got| got != algorithm.tag_bytes()) {
            let bad = Bytes { tag: vec![0; got], ..Bytes::good(algorithm) };
            is_refused(algorithm, &bad, misuse::tag_length(algorithm, got));
        }
    }
}

#[test]
fn input_shorter_than_a_tag_is_not_opened() {
    for algorithm in ALGORITHMS.iter().copied().filter(|algorithm| algorithm.kind() != Kind::Cipher) {
        for backend in backends::available() {
            let nonce = vec![0; algorithm.nonce_bytes()];
            for bytes in 0..algorithm.tag_bytes() {
                let opened = key(algorithm, backend).open(&nonce, &[], &vec![0; bytes]);
                assert!(opened.is_err(), "{} {bytes}", algorithm.id());
            }
        }
    }
}

/// Asserts the maximum sizes of message and additional data, without allocating them.
fn limits_are(id: &str, nonce: usize, message: u64, aad: u64) {
    let algorithm = by_id(id);
    let check = |aad, message| algorithm.check(nonce, algorithm.tag_bytes(), aad, message);
    assert_eq!(check(aad, message), Ok(()), "{id}");
    if let Some(longer) = message.checked_add(1) {
        assert_eq!(check(0, longer), Err(Error::MessageTooLong { limit: message, got: longer }), "{id}");
    }
    if let Some(longer) = aad.checked_add(1) {
        assert_eq!(check(longer, 0), Err(Error::AadTooLong { limit: aad, got: longer }), "{id}");
    }
}

#[test]
fn a_message_or_aad_over_the_limit_of_the_mode_is_refused() {
    for bits in [128, 192, 256] {
        for nonce in [1, 12, 16] {
            limits_are(&format!("aes{bits}-gcm"), nonce, (1 << 36) - 32, (1 << 61) - 1);
        }
        for nonce in 8..=13 {
            let longest = (1 << (8 * (15 - nonce))) - 1;
            limits_are(&format!("aes{bits}-ccm"), nonce, longest, u64::MAX);
        }
        limits_are(&format!("aes{bits}-ccm"), 7, u64::MAX, u64::MAX);
    }
    limits_are("aes128-gcm-siv", 12, 1 << 36, 1 << 36);
    limits_are("aes256-gcm-siv", 12, 1 << 36, 1 << 36);
    limits_are("aegis128l", 16, (1 << 61) - 1, (1 << 61) - 1);
    limits_are("aegis256", 32, (1 << 61) - 1, (1 << 61) - 1);
    limits_are("xaes256-gcm", 24, (1 << 36) - 32, (1 << 61) - 1);
    for tag in [64, 96, 128] {
        limits_are(&format!("aes256-ocb3-t{tag}"), 12, 1 << 52, 1 << 52);
    }
    let (limit, got) = ((1 << 61) - 1, 1 << 61);
    assert_eq!(by_id("aes128-gmac").check(12, 16, limit, 0), Ok(()));
    assert_eq!(by_id("aes128-gmac").check(12, 16, got, 0), Err(Error::AadTooLong { limit, got }));
}

#[test]
fn a_data_unit_of_xts_has_at_most_2_to_the_20_blocks() {
    for id in ["aes128-xts", "aes256-xts"] {
        let (limit, got) = (1 << 24, (1 << 24) + 1);
        assert_eq!(by_id(id).check(16, 0, 0, limit), Ok(()), "{id}");
        assert_eq!(by_id(id).check(16, 0, 0, got), Err(Error::MessageTooLong { limit, got }), "{id}");
    }
}

#[test]
fn ccm_with_two_bytes_of_length_refuses_65536_bytes_and_takes_one_less() {
    for id in ["aes128-ccm", "aes192-ccm", "aes256-ccm"] {
        let limit = 65_535;
        let bad = Bytes::new(13, 0, 65_536, 16);
        is_refused(by_id(id), &bad, Error::MessageTooLong { limit, got: 65_536 });
        for backend in backends::available() {
            let mut bytes = Bytes::new(13, 0, 65_535, 16);
            let options = KeyOptions::new().backend(backend).nonce_bytes(13);
            let key = options.expand(by_id(id), &key_bytes(by_id(id))).expect("sizes of CCM");
            assert_eq!(seal_jobs(&mut [bytes.seal_job(&key)]), Ok(()), "{id}");
            assert_eq!(open_jobs(&mut [bytes.open_job(&key)]).map(Opened::forged), Ok(0), "{id}");
        }
    }
}

#[test]
fn an_output_that_is_too_short_is_refused() {
    for algorithm in ALGORITHMS.iter().copied().filter(|algorithm| algorithm.kind() != Kind::Mac) {
        for backend in backends::available() {
            let key = key(algorithm, backend);
            let Bytes { nonce, mut data, message, mut tag, .. } = Bytes::good(algorithm);
            let needed = data.len();
            for got in 0..needed {
                let mut output = vec![0x5A; got];
                let expected = Some(Error::OutputTooShort { needed, got });
                let job = SealJob::new(&key, &nonce, &[], &data[..message], &mut output, &mut tag);
                assert_eq!(job.err(), expected, "{}", algorithm.id());
                let job = SealJob::in_buffer(&key, &nonce, &[], &mut output, message, &mut tag);
                assert_eq!(job.err(), expected, "{}", algorithm.id());
                let job = OpenJob::in_buffer(&key, &nonce, &[], &mut output, message, &tag);
                assert_eq!(job.err(), expected, "{}", algorithm.id());
                assert_eq!(output, vec![0x5A; got]);
            }
            if algorithm.needs_message_bytes() {
                continue;
            }
            let needed = algorithm.max_message_bytes(data.len()).expect("the ciphertext of a message");
            for got in 0..needed {
                let mut output = vec![0x5A; got];
                let job = OpenJob::new(&key, &nonce, &[], &data, &mut output, &tag);
                assert_eq!(job.err(), Some(Error::OutputTooShort { needed, got }), "{}", algorithm.id());
                assert_eq!(output, vec![0x5A; got]);
            }
            let got = 20;
            let needed = algorithm.ciphertext_bytes(got);
            let job = SealJob::in_place(&key, &nonce, &[], &mut data[..got], &mut tag);
            if needed > got {
                let expected = BatchError::new(0, Error::OutputTooShort { needed, got });
                assert_eq!(seal_jobs(&mut [job]), Err(expected), "{}", algorithm.id());
            }
        }
    }
}

#[test]
fn ecb_and_cbc_refuse_what_is_not_whole_blocks() {
    for algorithm in ALGORITHMS.iter().copied().filter(|algorithm| algorithm.whole_blocks()) {
        for got in [1, 15, 17, 31, 33, 100] {
            let bad = Bytes { data: vec![0xA5; got], message: got, ..Bytes::good(algorithm) };
            is_refused(algorithm, &bad, Error::NotWholeBlocks { got });
        }
    }
    let whole: Vec<_> = ALGORITHMS.iter().copied().filter(|algorithm| algorithm.whole_blocks()).collect();
    assert_eq!(whole.len(), 9, "ECB and CBC of AES, ECB of Serpent");
}

#[test]
fn a_message_below_the_minimum_is_refused() {
    for &algorithm in ALGORITHMS {
        for got in 0..algorithm.min_message_bytes() {
            let bad = Bytes { data: vec![0xA5; got], message: got, ..Bytes::good(algorithm) };
            is_refused(algorithm, &bad, Error::MessageTooShort { min: algorithm.min_message_bytes(), got });
        }
    }
}

#[test]
fn a_cipher_without_a_tweak_refuses_aad_and_a_mac_refuses_a_message() {
    for &algorithm in ALGORITHMS {
        let good = Bytes::good(algorithm);
        match algorithm.kind() {
            Kind::Cipher if algorithm.tweaked() => {}
            Kind::Cipher => {
                is_refused(algorithm, &Bytes { aad: vec![0; 1], ..good }, Error::TakesNoAad);
            }
            Kind::Mac => {
                is_refused(
                    algorithm,
                    &Bytes { data: vec![0; 16], message: 16, ..good },
                    Error::TakesNoMessage,
                );
            }
            _ => {}
        }
    }
}

#[test]
fn no_jobs_are_a_batch() {
    assert_eq!(seal_jobs(&mut []), Ok(()));
    assert_eq!(open_jobs(&mut []), Ok(Opened::default()));
    let schedules = [Schedule::Single, Schedule::Comb(1), Schedule::Comb(32), Schedule::Refill];
    for schedule in schedules.into_iter().chain([Schedule::Auto, Schedule::Blocks]) {
        assert_eq!(seal_jobs_with(schedule, &mut []), Ok(()));
        assert_eq!(open_jobs_with(schedule, &mut []), Ok(Opened::default()));
    }
}

#[test]
fn a_bad_tag_among_good_ones_is_refused_alone() {
    for algorithm in ALGORITHMS.iter().copied().filter(|algorithm| algorithm.kind() != Kind::Cipher) {
        for backend in backends::available() {
            let key = key(algorithm, backend);
            let good = Bytes::good(algorithm);
            let mut batch = vec![good.clone(); 20];
            let mut jobs: Vec<_> = batch.iter_mut().map(|bytes| bytes.seal_job(&key)).collect();
            seal_jobs(&mut jobs).expect("the sizes are right");
            drop(jobs);
            batch[7].tag[3] ^= 0x10;
            let mut jobs: Vec<_> = batch.iter_mut().map(|bytes| bytes.open_job(&key)).collect();
            assert_eq!(
                open_jobs(&mut jobs).map(Opened::forged),
                Ok(1),
                "{} {}",
                backend.name(),
                algorithm.id()
            );
            for (i, job) in jobs.iter().enumerate() {
                let expected = if i == 7 { Verdict::Forged } else { Verdict::Verified };
                assert_eq!(job.verdict(), expected, "{} {} {i}", backend.name(), algorithm.id());
            }
            drop(jobs);
            for (i, bytes) in batch.iter().enumerate() {
                let mut expected = if i == 7 { Vec::new() } else { good.data[..good.message].to_vec() };
                expected.resize(good.data.len(), 0);
                assert!(bytes.data == expected, "{} {} {i}", backend.name(), algorithm.id());
            }
        }
    }
}

#[test]
fn an_unknown_algorithm_is_refused() {
    for id in ["", "aes128", "aes128-", "AES128-GCM", "aes512-gcm", "aes192-gcm-siv", "rot13"] {
        assert_eq!(study::by_id(id).err(), Some(Error::UnknownAlgorithm), "{id}");
    }
}

#[test]
fn an_unknown_backend_is_refused_with_a_message_that_lists_all_backends() {
    assert_eq!(Backend::named("nonsense"), Err(Error::UnknownBackend));
    let message = Error::UnknownBackend.to_string();
    for name in Backend::names() {
        assert!(message.contains(name), "{message}");
    }
}

/// Precedes the result that the child process prints.
const MADE: &str = "made: ";

/// The variable is read once per process, so this test runs itself in a child process for each value.
#[test]
fn the_variable_selects_the_backend_or_its_error() {
    if env::var_os("SEALCOMB_TEST_CHILD").is_some() {
        let made = Key::new(by_id("aes128-gcm"), &[0; 16]);
        println!("{MADE}{:?}", made.map(|key| key.backend().name()));
        return;
    }
    let made = |value: Option<&str>| {
        let mut child = Command::new(env::current_exe().expect("this test's program"));
        child.args(["--exact", "the_variable_selects_the_backend_or_its_error", "--nocapture"]);
        child.env("SEALCOMB_TEST_CHILD", "1").env_remove("SEALCOMB_BACKEND");
        if let Some(value) = value {
            child.env("SEALCOMB_BACKEND", value);
        }
        let output = child.output().expect("the test's program runs");
        let output = String::from_utf8(output.stdout).expect("text");
        let (_, made) = output.split_once(MADE).unwrap_or_else(|| panic!("no result: {output}"));
        made.lines().next().expect("a line").to_owned()
    };
    let expected = |backend: Result<Backend, Error>| format!("{:?}", backend.map(Backend::name));
    assert_eq!(made(None), expected(Ok(Backend::best())));
    assert_eq!(made(Some("nonsense")), expected(Err(Error::UnknownBackend)));
    for name in Backend::names() {
        let backend = Backend::named(name);
        match backend {
            Ok(_) | Err(Error::BackendUnavailable { .. }) => {}
            Err(Error::BackendNotBuilt { needs, .. }) => {
                assert!(!needs.contains(env::consts::ARCH), "this build runs on {needs} and lacks {name}");
            }
            Err(error) => panic!("all others are built with all features: {error}"),
        }
        assert_eq!(made(Some(name)), expected(backend));
    }
}
