//! A mistake in any message refuses the whole batch before anything is written, wherever the message is: also after
//! the first flight.

mod common {
    pub(crate) mod misuse;
}

use common::misuse;
use sealcomb::study::{self, Schedule, open_jobs_with, seal_jobs_with};
use sealcomb::{Algorithm, BatchError, Burst, Error, Key, KeyOptions, OpenJob, SealJob, Verdict};

/// Numbers of messages around the flights: 64 messages of a burst, 128 jobs of a batch.
const COUNTS: [usize; 11] = [1, 2, 63, 64, 65, 127, 128, 129, 192, 257, 1000];

/// The positions of the first and last messages of a batch and of its flights.
fn places(count: usize) -> impl Iterator<Item = usize> {
    let borders =
        [0, 1, 31, 62, 63, 64, 65, 126, 127, 128, 129, 191, 192, 255, 256, 511, 512, 959, 960, 998, 999];
    borders.into_iter().filter(move |place| *place < count)
}

/// The buffers of all messages of a batch.
#[derive(Clone, Debug, PartialEq)]
struct Messages {
    nonces: Vec<Vec<u8>>,
    aads: Vec<Vec<u8>>,
    data: Vec<Vec<u8>>,
    tags: Vec<Vec<u8>>,
}

impl Messages {
    fn new(algorithm: Algorithm, count: usize) -> Self {
        let is_mac = algorithm.kind() == sealcomb::Kind::Mac;
        let data = if is_mac { 0 } else { 32 };
        let aad = if algorithm.kind() == sealcomb::Kind::Cipher { 0 } else { 5 };
        Self {
            nonces: vec![vec![0x11; algorithm.nonce_bytes()]; count],
            aads: vec![vec![0x22; aad]; count],
            data: vec![vec![0xA5; data]; count],
            tags: vec![vec![0x5A; algorithm.tag_bytes()]; count],
        }
    }
}

/// A way to make one message invalid, and the error that it leads to.
struct Mistake {
    id: &'static str,
    make: fn(&mut Messages, usize),
    error: fn(Algorithm) -> Error,
}

const MISTAKES: &[Mistake] = &[
    Mistake {
        id: "aes128-gcm",
        make: |messages, at| messages.nonces[at].clear(),
        error: |algorithm| misuse::nonce_length(algorithm, 0),
    },
    Mistake {
        id: "aes128-gcm",
        make: |messages, at| messages.tags[at].truncate(15),
        error: |algorithm| misuse::tag_length(algorithm, 15),
    },
    Mistake {
        id: "aes128-gcm",
        make: |messages, at| messages.tags[at].push(0x5A),
        error: |algorithm| misuse::tag_length(algorithm, 17),
    },
    Mistake {
        id: "aes128-ccm",
        make: |messages, at| messages.nonces[at].resize(14, 0x11),
        error: |algorithm| misuse::nonce_length(algorithm, 14),
    },
    Mistake {
        id: "aes128-ccm",
        make: |messages, at| {
            messages.nonces[at].resize(13, 0x11);
            messages.data[at].resize(1 << 16, 0xA5);
        },
        error: |_| Error::MessageTooLong { limit: 65_535, got: 65_536 },
    },
    Mistake {
        id: "aes128-cbc",
        make: |messages, at| messages.data[at].truncate(17),
        error: |_| Error::NotWholeBlocks { got: 17 },
    },
    Mistake {
        id: "aes128-ctr",
        make: |messages, at| messages.aads[at].push(0x22),
        error: |_| Error::TakesNoAad,
    },
    Mistake {
        id: "aes128-eme2",
        make: |messages, at| messages.data[at].truncate(15),
        error: |_| Error::MessageTooShort { min: 16, got: 15 },
    },
    Mistake {
        id: "aes256-hctr2",
        make: |messages, at| messages.data[at].truncate(15),
        error: |_| Error::MessageTooShort { min: 16, got: 15 },
    },
    Mistake {
        id: "aes128-gmac",
        make: |messages, at| messages.data[at].push(0xA5),
        error: |_| Error::TakesNoMessage,
    },
    Mistake {
        id: "aes128-cmac",
        make: |messages, at| messages.tags[at].clear(),
        error: |algorithm| misuse::tag_length(algorithm, 0),
    },
];

/// Asserts that `call` refuses a batch with any mistake in any place, and changes nothing.
fn must_refuse(call: impl Fn(&[Key], &mut Messages) -> Result<(), BatchError>, keys: &[usize]) {
    for Mistake { id, make, error } in MISTAKES {
        let algorithm = study::by_id(id).expect("a listed algorithm");
        for keys in keys {
            let key = |i: usize| {
                let secret: Vec<u8> = (i as u8..).take(algorithm.key_bytes()).collect();
                KeyOptions::new().any_nonce_bytes().expand(algorithm, &secret)
            };
            let keys: Vec<_> = (0..*keys).map(|i| key(i).expect("a key of the right length")).collect();
            for count in COUNTS {
                let good = Messages::new(algorithm, count);
                for index in places(count) {
                    let mut bad = good.clone();
                    make(&mut bad, index);
                    let before = bad.clone();
                    let refused = call(&keys, &mut bad);
                    assert_eq!(
                        refused,
                        Err(BatchError::new(index, error(algorithm))),
                        "{id}, {index} of {count}"
                    );
                    assert!(bad == before, "{id}, {index} of {count}: something was written");
                }
            }
        }
    }
}

#[test]
fn a_mistake_anywhere_refuses_all_of_a_burst_to_seal() {
    let seal = |keys: &[Key], messages: &mut Messages| {
        let Messages { nonces, aads, data, tags } = messages;
        Burst::new(&keys[0], nonces).aads(aads).seal(data, tags)
    };
    must_refuse(seal, &[1]);
}

#[test]
fn a_mistake_anywhere_refuses_all_of_a_burst_to_open() {
    let open = |keys: &[Key], messages: &mut Messages| {
        let Messages { nonces, aads, data, tags } = messages;
        let mut verdicts = vec![Verdict::Pending; data.len()];
        let opened = Burst::new(&keys[0], nonces).aads(aads).open(data, tags, &mut verdicts);
        assert!(opened.is_ok() || verdicts.iter().all(|verdict| *verdict == Verdict::Pending));
        opened.map(|_| ())
    };
    must_refuse(open, &[1]);
}

#[test]
fn a_mistake_anywhere_refuses_all_of_a_burst_of_macs() {
    let cmac = Algorithm::by_id("aes128-cmac").expect("a listed algorithm");
    let key = Key::new(cmac, &[1; 16]).expect("a key of the right length");
    for count in COUNTS {
        for index in places(count) {
            let mut messages = Messages::new(cmac, count);
            messages.tags[index].pop();
            let Messages { nonces, aads, mut tags, .. } = messages;
            let before = tags.clone();
            let burst = Burst::new(&key, &nonces).aads(&aads);
            let refused = BatchError::new(index, misuse::tag_length(cmac, 15));
            assert_eq!(burst.mac(&mut tags), Err(refused), "{index} of {count}");
            let mut verdicts = vec![Verdict::Pending; count];
            assert_eq!(burst.verify(&tags, &mut verdicts), Err(refused), "{index} of {count}");
            assert!(tags == before && verdicts.iter().all(|verdict| *verdict == Verdict::Pending));
        }
    }
}

#[test]
fn a_mistake_anywhere_refuses_all_of_a_batch_to_seal() {
    for schedule in [Schedule::Auto, Schedule::Single, Schedule::Comb(8), Schedule::Refill, Schedule::Blocks]
    {
        let seal = |keys: &[Key], messages: &mut Messages| {
            let Messages { nonces, aads, data, tags } = messages;
            let mut jobs: Vec<_> = (nonces.iter().zip(&*aads))
                .zip(data.iter_mut().zip(tags))
                .zip(keys.iter().cycle())
                .map(|(((nonce, aad), (data, tag)), key)| SealJob::in_place(key, nonce, &aad[..], data, tag))
                .collect();
            seal_jobs_with(schedule, &mut jobs)
        };
        must_refuse(seal, if schedule == Schedule::Auto { &[1, 3] } else { &[1] });
    }
}

#[test]
fn a_mistake_anywhere_refuses_all_of_a_batch_to_open() {
    for schedule in [Schedule::Auto, Schedule::Single, Schedule::Comb(8), Schedule::Refill, Schedule::Blocks]
    {
        let open = |keys: &[Key], messages: &mut Messages| {
            let Messages { nonces, aads, data, tags } = messages;
            let mut jobs: Vec<_> = (nonces.iter().zip(&*aads))
                .zip(data.iter_mut().zip(&*tags))
                .zip(keys.iter().cycle())
                .map(|(((nonce, aad), (data, tag)), key)| OpenJob::in_place(key, nonce, &aad[..], data, tag))
                .collect();
            let opened = open_jobs_with(schedule, &mut jobs);
            assert!(opened.is_ok() || jobs.iter().all(|job| job.verdict() == Verdict::Pending));
            opened.map(|_| ())
        };
        must_refuse(open, if schedule == Schedule::Auto { &[1, 3] } else { &[1] });
    }
}

/// Jobs of several algorithms are sorted before they are processed.
#[test]
fn a_mistake_anywhere_refuses_all_of_a_batch_of_several_algorithms() {
    let keys = ["aes128-gcm", "aes128-ccm", "aes256-gcm-siv"].map(|id| {
        let algorithm = study::by_id(id).expect("a listed algorithm");
        Key::new(algorithm, &vec![1; algorithm.key_bytes()]).expect("a key of the right length")
    });
    for count in COUNTS {
        for index in places(count) {
            let mut data = vec![[0xA5; 32]; count];
            let mut tags = vec![vec![0x5A; 16]; count];
            tags[index].pop();
            let before = tags.clone();
            let refused = BatchError::new(index, misuse::tag_length(keys[index % 3].algorithm(), 15));
            let mut jobs: Vec<_> = (data.iter_mut().zip(&mut tags).zip(keys.iter().cycle()))
                .map(|((data, tag), key)| SealJob::in_place(key, b"unique nonce", b"", data, tag))
                .collect();
            assert_eq!(seal_jobs_with(Schedule::Auto, &mut jobs), Err(refused), "{index} of {count}");
            drop(jobs);
            let mut jobs: Vec<_> = (data.iter_mut().zip(&tags).zip(keys.iter().cycle()))
                .map(|((data, tag), key)| OpenJob::in_place(key, b"unique nonce", b"", data, tag))
                .collect();
            assert_eq!(open_jobs_with(Schedule::Auto, &mut jobs), Err(refused), "{index} of {count}");
            assert!(jobs.iter().all(|job| job.verdict() == Verdict::Pending));
            drop(jobs);
            assert!(tags == before && data.iter().all(|data| *data == [0xA5; 32]), "{index} of {count}");
        }
    }
}

#[test]
fn a_key_of_another_length_anywhere_refuses_all_of_many_keys() {
    let algorithm = Algorithm::by_id("aes128-gcm").expect("a listed algorithm");
    for count in COUNTS {
        for index in places(count) {
            let mut keys = vec![vec![7; 16]; count];
            keys[index].push(7);
            let made = Key::new_many(algorithm, &keys);
            assert_eq!(made.err(), Some(misuse::key_length(algorithm, 17)), "{index} of {count}");
        }
    }
}
