//! A burst equals a batch of jobs, for all entry types, and refuses columns of different lengths.

mod common {
    pub(crate) mod backends;
    pub(crate) mod misuse;
}

use std::cell::Cell;

use common::{backends, misuse};
#[cfg(not(feature = "unstable-study"))]
use sealcomb::ALGORITHMS;
#[cfg(feature = "unstable-study")]
use sealcomb::study::ALGORITHMS;
use sealcomb::{
    Algorithm, BatchError, Burst, Error, Key, KeyOptions, Kind, OpenJob, Opened, SealJob, Verdict, open_jobs,
    seal_jobs,
};

/// Numbers of messages around the size of a flight and the numbers of lanes.
const COUNTS: [usize; 12] = [0, 1, 2, 7, 8, 31, 32, 63, 64, 65, 128, 150];

/// The buffers of valid messages.
struct Messages {
    nonces: Vec<Vec<u8>>,
    aads: Vec<Vec<u8>>,
    data: Vec<Vec<u8>>,
}

impl Messages {
    /// Returns messages of different lengths, with nonces of one length unless they are `uneven`.
    fn new(algorithm: Algorithm, count: usize, uneven: bool) -> Self {
        let bytes = |i: usize, bytes: usize| (0..bytes).map(|j| (i * 31 + j * 7) as u8).collect::<Vec<_>>();
        let nonce_bytes = |i: usize| match i % 5 {
            4 if uneven => algorithm.min_nonce_bytes().max(1).min(algorithm.max_nonce_bytes()),
            _ => algorithm.nonce_bytes(),
        };
        let data_bytes = |i: usize| match algorithm.kind() {
            Kind::Mac => 0,
            _ if uneven => algorithm.padded_bytes(i * 37 % 300),
            _ => algorithm.padded_bytes(i * 137 % 1500),
        };
        let aad_bytes = |i: usize| match algorithm.kind() {
            Kind::Mac => i * 37 % 300,
            Kind::Cipher if !algorithm.tweaked() => 0,
            _ => i * 13 % 40,
        };
        Self {
            nonces: (0..count).map(|i| bytes(i, nonce_bytes(i))).collect(),
            aads: (0..count).map(|i| bytes(i + 1, aad_bytes(i))).collect(),
            data: (0..count).map(|i| bytes(i + 2, data_bytes(i))).collect(),
        }
    }

    /// Returns the ciphertexts and tags that jobs yield.
    fn sealed(&self, key: &Key) -> (Vec<Vec<u8>>, Vec<Vec<u8>>) {
        let mut data = self.data.clone();
        let mut tags = vec![vec![0; key.tag_bytes()]; data.len()];
        let mut jobs: Vec<_> = (self.nonces.iter().zip(&self.aads))
            .zip(data.iter_mut().zip(&mut tags))
            .map(|((nonce, aad), (data, tag))| SealJob::in_place(key, nonce, &aad[..], data, tag))
            .collect();
        seal_jobs(&mut jobs).unwrap();
        (data, tags)
    }
}

#[test]
fn a_burst_is_a_batch_of_jobs() {
    for backend in backends::available() {
        for algorithm in ALGORITHMS.iter().copied().filter(|algorithm| !algorithm.expands()) {
            let bytes: Vec<u8> = (3..).take(algorithm.key_bytes()).collect();
            let key = KeyOptions::new().backend(backend).any_nonce_bytes().expand(algorithm, &bytes).unwrap();
            for (count, uneven) in COUNTS.into_iter().flat_map(|count| [(count, false), (count, true)]) {
                let messages = Messages::new(algorithm, count, uneven);
                let (ciphertexts, tags) = messages.sealed(&key);
                let burst = Burst::new(&key, &messages.nonces).aads(&messages.aads);

                let mut data = messages.data.clone();
                let mut made = vec![vec![0; key.tag_bytes()]; count];
                burst.seal(&mut data, &mut made).unwrap();
                assert_eq!((&data, &made), (&ciphertexts, &tags), "{algorithm:?} {backend:?} {count}");

                let mut received = tags.clone();
                received
                    .iter_mut()
                    .skip(1)
                    .step_by(3)
                    .filter_map(|tag| tag.last_mut())
                    .for_each(|byte| *byte ^= 8);
                let mut verdicts = vec![Verdict::Pending; count];
                let opened = burst.open(&mut data, &received, &mut verdicts).unwrap();

                let mut expected = ciphertexts.clone();
                let mut jobs: Vec<_> = (messages.nonces.iter().zip(&messages.aads))
                    .zip(expected.iter_mut().zip(&received))
                    .map(|((nonce, aad), (data, tag))| OpenJob::in_place(&key, nonce, &aad[..], data, tag))
                    .collect();
                assert_eq!(open_jobs(&mut jobs), Ok(opened));
                assert_eq!(verdicts, jobs.iter().map(OpenJob::verdict).collect::<Vec<_>>());
                drop(jobs);
                assert_eq!(data, expected, "{algorithm:?} {backend:?} {count}");
            }
        }
    }
}

#[test]
fn common_additional_data_counts_for_each_message() {
    let key = Key::new(Algorithm::by_id("aes128-gcm").unwrap(), &[1; 16]).unwrap();
    let nonces = [[1; 12], [2; 12]];
    let (mut data, mut tags) = ([[7; 20], [8; 20]], [[0; 16]; 2]);
    Burst::new(&key, &nonces).aad(b"header").seal(&mut data, &mut tags).unwrap();
    for i in 0..2 {
        let sealed = key.seal(&nonces[i], b"header", &[7 + i as u8; 20]).unwrap();
        assert_eq!([&data[i][..], &tags[i]].concat(), sealed);
    }
}

#[test]
fn tags_of_macs_are_made_and_verified_without_data() {
    let key = Key::new(Algorithm::by_id("aes128-cmac").unwrap(), &[1; 16]).unwrap();
    let messages = ["", "a", "the message"];
    let burst = Burst::new(&key, &[[]; 3]).aads(&messages);
    let mut tags = [[0; 16]; 3];
    burst.mac(&mut tags).unwrap();
    let mut verdicts = [Verdict::Pending; 3];
    assert_eq!(burst.verify(&tags, &mut verdicts).map(Opened::forged), Ok(0));
    tags[2][15] ^= 1;
    assert_eq!(burst.verify(&tags, &mut verdicts).map(Opened::forged), Ok(1));
    assert_eq!(verdicts, [Verdict::Verified, Verdict::Verified, Verdict::Forged]);
}

#[test]
fn columns_of_different_lengths_are_refused() {
    let key = Key::new(Algorithm::by_id("aes128-gcm").unwrap(), &[1; 16]).unwrap();
    let nonces = [[1; 12]; 3];
    let uneven = |index, messages, got| Err(BatchError::new(index, Error::UnevenColumns { messages, got }));
    let seal = |nonces: usize, aads: usize, data: usize, tags: usize| {
        let mut bytes = vec![*b"untouched"; data];
        let (nonces, aads) = (vec![[1; 12]; nonces], vec![b"aad"; aads]);
        let burst = Burst::new(&key, &nonces).aads(&aads);
        let result = burst.seal(&mut bytes, &mut vec![[0; 16]; tags]);
        if result.is_err() {
            assert!(bytes.iter().all(|bytes| bytes == b"untouched"));
        }
        result
    };
    assert_eq!(seal(3, 3, 3, 3), Ok(()));
    assert_eq!(seal(2, 3, 3, 3), uneven(2, 3, 2));
    assert_eq!(seal(4, 3, 3, 3), uneven(3, 3, 4));
    assert_eq!(seal(3, 0, 3, 3), uneven(0, 3, 0));
    assert_eq!(seal(3, 3, 0, 3), uneven(0, 0, 3));
    assert_eq!(seal(3, 3, 3, 1), uneven(1, 3, 1));
    let (mut data, tags) = ([[0; 9]; 3], [[0; 16]; 3]);
    for verdicts in [2, 4] {
        let mut verdicts = vec![Verdict::Pending; verdicts];
        let refused = Burst::new(&key, &nonces).open(&mut data, &tags, &mut verdicts);
        assert_eq!(refused.map(drop), uneven(verdicts.len().min(3), 3, verdicts.len()));
        assert!(verdicts.iter().all(|verdict| *verdict == Verdict::Pending));
    }
}

#[test]
fn sizes_that_no_algorithm_takes_are_refused_before_anything_is_written() {
    // More messages than a flight has, with the mistake in the last one.
    const COUNT: usize = 100;
    let key = Key::new(Algorithm::by_id("aes128-gcm").unwrap(), &[1; 16]).unwrap();
    let mut nonces = vec![vec![1; 12]; COUNT];
    let mut data = vec![*b"untouched"; COUNT];
    nonces[99].clear();
    let refused = Burst::new(&key, &nonces).seal(&mut data, &mut [[0; 16]; COUNT]);
    assert_eq!(refused, Err(BatchError::new(99, misuse::fixed_nonce_length(key.algorithm(), 12, 0))));
    let mut tags = vec![vec![0; 16]; COUNT];
    tags[98].pop();
    let refused = Burst::new(&key, &nonces[..99]).seal(&mut data[..99], &mut tags[..99]);
    assert_eq!(refused, Err(BatchError::new(98, misuse::tag_length(key.algorithm(), 15))));
    assert!(data.iter().all(|data| data == b"untouched"));

    let mac = Key::new(Algorithm::by_id("aes128-cmac").unwrap(), &[1; 16]).unwrap();
    let refused = Burst::new(&mac, &[[]; COUNT]).seal(&mut data, &mut [[0; 16]; COUNT]);
    assert_eq!(refused, Err(BatchError::new(0, Error::TakesNoMessage)));
}

#[test]
fn algorithms_with_longer_ciphertexts_take_jobs() {
    for algorithm in ALGORITHMS.iter().copied().filter(|algorithm| algorithm.expands()) {
        let key = Key::new(algorithm, &vec![1; algorithm.key_bytes()]).unwrap();
        let nonces = [vec![1; algorithm.nonce_bytes()]];
        let (mut data, mut tags) = ([[5; 32]], [vec![0; algorithm.tag_bytes()]]);
        let refused = BatchError::new(0, Error::CiphertextIsLonger);
        let burst = Burst::new(&key, &nonces);
        assert_eq!(burst.seal(&mut data, &mut tags), Err(refused));
        assert_eq!(burst.open(&mut data, &tags, &mut [Verdict::Pending]), Err(refused));
        assert_eq!(data, [[5; 32]]);
    }
}

/// A tag that `as_ref` returns once. Later calls return no bytes.
struct Once<'a>(&'a [u8], Cell<bool>);

impl AsRef<[u8]> for Once<'_> {
    fn as_ref(&self) -> &[u8] {
        if self.1.replace(false) { self.0 } else { &[] }
    }
}

#[test]
fn a_tag_that_changes_between_calls_verifies_nothing() {
    let key = Key::new(Algorithm::by_id("aes128-gcm").unwrap(), &[7; 16]).unwrap();
    let mut data = [[1; 40]; 2];
    let mut tags = [[0; 16]; 2];
    Burst::new(&key, &[[2; 12]; 2]).seal(&mut data, &mut tags).unwrap();
    tags[1][0] ^= 1;
    let tags = [Once(&tags[0], Cell::new(true)), Once(&tags[1], Cell::new(true))];
    let mut verdicts = [Verdict::Forged; 2];
    assert_eq!(
        Burst::new(&key, &[[2; 12]; 2]).open(&mut data, &tags, &mut verdicts).map(Opened::forged),
        Ok(1)
    );
    assert_eq!(verdicts, [Verdict::Verified, Verdict::Forged]);
    assert_eq!(data, [[1; 40], [0; 40]]);
}

/// The first burst of a key computes tables that later ones share.
#[test]
fn threads_that_use_a_new_key_at_the_same_time_seal_alike() {
    let ids = ["aes128-gcm", "aes256-gcm", "aes128-gmac", "aes128-ctr"];
    for algorithm in ALGORITHMS.iter().copied().filter(|algorithm| ids.contains(&algorithm.id())) {
        let bytes: Vec<u8> = (3..).take(algorithm.key_bytes()).collect();
        let messages = Messages::new(algorithm, 20, false);
        for backend in backends::available() {
            let (expected, _) = messages.sealed(
                &KeyOptions::new().backend(backend).any_nonce_bytes().expand(algorithm, &bytes).unwrap(),
            );
            let key = KeyOptions::new().backend(backend).any_nonce_bytes().expand(algorithm, &bytes).unwrap();
            let start = std::sync::Barrier::new(4);
            std::thread::scope(|scope| {
                for _ in 0..4 {
                    scope.spawn(|| {
                        let burst = Burst::new(&key, &messages.nonces).aads(&messages.aads);
                        let mut data = messages.data.clone();
                        let mut tags = vec![vec![0; key.tag_bytes()]; 20];
                        start.wait();
                        burst.seal(&mut data, &mut tags).unwrap();
                        assert_eq!(data, expected, "{algorithm} {backend:?}");
                    });
                }
            });
        }
    }
}
