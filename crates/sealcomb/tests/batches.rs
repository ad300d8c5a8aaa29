//! Batch equivalence: in any batch and under any schedule, a job yields the result of a single call, which is that of
//! the reference model. Forged jobs are refused and zeroed, and the other jobs are not affected.

mod common {
    pub(crate) mod backends;
    pub(crate) mod borders;
}

use common::{backends, borders};
use proptest::prelude::*;
use proptest::sample::{Index, select};
use rand::rngs::StdRng;
use rand::{Rng, RngExt, SeedableRng};
use sealcomb::hazmat;
use sealcomb::study::{self, ALGORITHMS, Schedule, open_jobs_with, seal_jobs_with};
use sealcomb::{
    Aad, Algorithm, Backend, Error, Key, KeyOptions, Kind, OpenError, OpenJob, Opened, SealJob, TagPosition,
    Verdict, open_jobs, reference,
};
use std::collections::HashMap;

/// The bytes that follow the result in an output and must not change.
const REST: [u8; 5] = [0xA5; 5];

/// The sizes and options of a job. Its `Debug` output is enough to rebuild a failing batch.
#[derive(Clone, Debug)]
struct Shape {
    id: &'static str,
    /// Jobs with equal algorithm, tag size and key number share a key.
    key: usize,
    nonce: usize,
    aad: usize,
    /// The number of slices of the additional data.
    slices: usize,
    msg: usize,
    tag: usize,
    forged: bool,
    in_place: bool,
}

/// A job with its bytes and the model's results.
struct Message {
    shape: Shape,
    algorithm: Algorithm,
    key: Vec<u8>,
    nonce: Vec<u8>,
    aad: Vec<u8>,
    msg: Vec<u8>,
    ct: Vec<u8>,
    tag: Vec<u8>,
    /// The tag that the receiver gets.
    received: Vec<u8>,
}

impl Message {
    fn new(shape: &Shape, rng: &mut StdRng) -> Self {
        let algorithm = study::by_id(shape.id).expect("a listed algorithm");
        let mut random = |bytes| borders::bytes(rng, bytes);
        let key = random_bytes(&mut StdRng::seed_from_u64(shape.key as u64), algorithm.key_bytes());
        let (nonce, aad, msg) = (random(shape.nonce), random(shape.aad), random(shape.msg));
        let (ct, tag) = reference::seal(shape.id, &key, &nonce, &aad, &msg, shape.tag)
            .expect("the model takes what the catalog allows");
        let mut received = tag.clone();
        if shape.forged {
            received[rng.random_range(0..shape.tag)] ^= 1 << rng.random_range(0..8);
        }
        Self { shape: shape.clone(), algorithm, key, nonce, aad, msg, ct, tag, received }
    }

    /// Returns the additional data in slices.
    fn slices(&self) -> Vec<&[u8]> {
        let n = self.shape.slices;
        let border = |i| i * self.aad.len() / n;
        (0..n).map(|i| &self.aad[border(i)..border(i + 1)]).collect()
    }

    /// Returns the initial contents of an output buffer of `room` bytes: the input if the job is in place, then
    /// filler, and then `REST` where it is allowed.
    fn buffer(&self, input: &[u8], room: usize) -> Vec<u8> {
        let mut buffer = if self.shape.in_place { input.to_vec() } else { Vec::new() };
        buffer.resize(room, 0x5A);
        if self.has_rest() {
            buffer.extend(REST);
        }
        buffer
    }

    /// Returns whether `REST` follows the result. Where the output's length defines the message's, it cannot.
    fn has_rest(&self) -> bool {
        !self.shape.in_place && !self.algorithm.needs_message_bytes()
    }

    /// Returns the result in a buffer, or `None` if the bytes after it have changed.
    fn result<'a>(&self, buffer: &'a [u8]) -> Option<&'a [u8]> {
        if self.has_rest() { buffer.strip_suffix(&REST) } else { Some(buffer) }
    }

    /// Returns the buffer size in bytes that opening needs.
    fn room(&self) -> usize {
        if self.shape.in_place {
            self.ct.len()
        } else if self.algorithm.needs_message_bytes() {
            self.msg.len()
        } else {
            self.algorithm.max_message_bytes(self.ct.len()).expect("the ciphertext of a message")
        }
    }

    fn expected_verdict(&self) -> Verdict {
        match self.algorithm.kind() {
            Kind::Cipher => Verdict::Unauthenticated,
            _ if self.shape.forged => Verdict::Forged,
            _ => Verdict::Verified,
        }
    }

    /// Returns the expected output of `room` bytes: the message, unless it is forged, then zeros.
    fn expected_opening(&self, room: usize) -> Vec<u8> {
        let mut opening = if self.shape.forged { Vec::new() } else { self.msg.clone() };
        opening.resize(room, 0);
        opening
    }
}

fn random_bytes(rng: &mut StdRng, bytes: usize) -> Vec<u8> {
    let mut string = vec![0; bytes];
    rng.fill_bytes(&mut string);
    string
}

/// The keys of a batch by algorithm, key number and tag size.
type Keys = HashMap<(&'static str, usize, usize), Key>;

fn keys_of(backend: Backend, messages: &[Message]) -> Keys {
    let mut keys = HashMap::new();
    for Message { shape, algorithm, key, .. } in messages {
        keys.entry((shape.id, shape.key, shape.tag)).or_insert_with(|| {
            let options = KeyOptions::new().backend(backend).short_tag_bytes(shape.tag).any_nonce_bytes();
            options.expand(*algorithm, key).expect("sizes from the catalog")
        });
    }
    keys
}

fn key_of<'a>(keys: &'a Keys, message: &Message) -> &'a Key {
    &keys[&(message.shape.id, message.shape.key, message.shape.tag)]
}

/// Checks batch equivalence for these jobs, on every backend and under each schedule. The error names the job that
/// differs.
fn batch_equivalence(shapes: &[Shape], schedules: &[Schedule]) -> Result<(), String> {
    let mut rng = StdRng::seed_from_u64(3);
    let messages: Vec<_> = shapes.iter().map(|shape| Message::new(shape, &mut rng)).collect();
    for backend in backends::available() {
        let keys = keys_of(backend, &messages);
        for (i, message) in messages.iter().enumerate() {
            holds_alone(message, key_of(&keys, message))
                .map_err(|what| format!("{}, alone, job {i}: {what}", backend.name()))?;
        }
        for &schedule in schedules {
            sealing_holds(&messages, &keys, schedule)
                .and_then(|()| opening_holds(&messages, &keys, schedule))
                .map_err(|what| format!("{}, {schedule:?}, {what}", backend.name()))?;
        }
    }
    Ok(())
}

fn holds_alone(message: &Message, key: &Key) -> Result<(), String> {
    let Message { nonce, aad, .. } = message;
    let sealed = key.seal(nonce, aad, &message.msg).map_err(|error| error.to_string())?;
    let (ct, tag) = match message.algorithm.tag_position() {
        TagPosition::First => {
            let (tag, ct) = sealed.split_at(message.shape.tag);
            (ct, tag)
        }
        TagPosition::Last => sealed.split_at(sealed.len() - message.shape.tag),
    };
    same("ciphertext", ct, &message.ct)?;
    same("tag", tag, &message.tag)?;
    let mut output = vec![0x5A; message.algorithm.max_message_bytes(ct.len()).unwrap_or(0)];
    if message.algorithm.needs_message_bytes() {
        output.truncate(message.msg.len());
    }
    let mut job = OpenJob::new(key, nonce, aad, &message.ct, &mut output, &message.received)
        .map_err(|error| error.to_string())?;
    let _ = open_jobs(core::slice::from_mut(&mut job)).map_err(|error| error.to_string())?;
    let (verdict, bytes) = (job.verdict(), job.message_bytes());
    let expected = if message.shape.forged { 0 } else { message.msg.len() };
    if verdict != message.expected_verdict() || bytes != expected {
        return Err(format!("opening gave {verdict:?} and {bytes} bytes"));
    }
    same("message", &output, &message.expected_opening(output.len()))?;
    if message.algorithm.expands() {
        return Ok(());
    }
    let (mut data, mut tag) = (message.msg.clone(), vec![0; message.shape.tag]);
    key.seal_in_place_detached(nonce, aad, &mut data, &mut tag).map_err(|error| error.to_string())?;
    same("ciphertext, in place", &data, &message.ct)?;
    same("tag, in place", &tag, &message.tag)?;
    let opened = key.open_in_place_detached(nonce, aad, &mut data, &message.received);
    let refused = Error::Unauthenticated { algorithm: message.algorithm.id() };
    let expected = match message.algorithm.kind() {
        Kind::Cipher => Err(OpenError::Misuse(refused)),
        _ if message.shape.forged => Err(OpenError::Forged),
        _ => Ok(()),
    };
    if opened != expected {
        return Err(format!("opening in place gave {opened:?}"));
    }
    if message.algorithm.kind() == Kind::Cipher {
        key.open_unverified_in_place_detached(nonce, aad, &mut data, &mut [])
            .map_err(|error| error.to_string())?;
    }
    same("message, in place", &data, &message.expected_opening(data.len()))
}

fn sealing_holds(messages: &[Message], keys: &Keys, schedule: Schedule) -> Result<(), String> {
    let slices: Vec<_> = messages.iter().map(Message::slices).collect();
    let mut outputs: Vec<_> = messages
        .iter()
        .map(|message| (message.buffer(&message.msg, message.ct.len()), vec![0; message.shape.tag]))
        .collect();
    let mut jobs: Vec<_> = messages
        .iter()
        .zip(&slices)
        .zip(&mut outputs)
        .map(|((message, aad), (output, tag))| {
            let (key, nonce) = (key_of(keys, message), &message.nonce);
            if message.shape.in_place {
                SealJob::in_buffer(key, nonce, Aad::joined(aad), output, message.msg.len(), tag)
                    .expect("the buffer is long enough")
            } else if message.algorithm.kind() == Kind::Mac {
                SealJob::mac(key, nonce, Aad::joined(aad), tag)
            } else {
                SealJob::new(key, nonce, Aad::joined(aad), &message.msg, output, tag)
                    .expect("the output is long enough")
            }
        })
        .collect();
    seal_jobs_with(schedule, &mut jobs).map_err(|error| error.to_string())?;
    drop(jobs);
    for (i, (message, (output, tag))) in messages.iter().zip(&outputs).enumerate() {
        let at = |what| format!("sealing job {i}: {what}");
        let ct = message.result(output).ok_or_else(|| at("wrote past the result".into()))?;
        same("ciphertext", ct, &message.ct).map_err(at)?;
        same("tag", tag, &message.tag).map_err(at)?;
    }
    Ok(())
}

fn opening_holds(messages: &[Message], keys: &Keys, schedule: Schedule) -> Result<(), String> {
    let slices: Vec<_> = messages.iter().map(Message::slices).collect();
    let mut outputs: Vec<_> =
        messages.iter().map(|message| message.buffer(&message.ct, message.room())).collect();
    let mut jobs: Vec<_> = messages
        .iter()
        .zip(&slices)
        .zip(&mut outputs)
        .map(|((message, aad), output)| {
            let (key, nonce, tag) = (key_of(keys, message), &message.nonce, &message.received);
            if message.shape.in_place {
                OpenJob::in_buffer(key, nonce, Aad::joined(aad), output, message.msg.len(), tag)
                    .expect("the buffer is long enough")
            } else if message.algorithm.kind() == Kind::Mac {
                OpenJob::mac(key, nonce, Aad::joined(aad), tag)
            } else {
                OpenJob::new(key, nonce, Aad::joined(aad), &message.ct, output, tag)
                    .expect("the output is long enough")
            }
        })
        .collect();
    let forged = open_jobs_with(schedule, &mut jobs).map_err(|error| error.to_string())?.forged();
    let verdicts: Vec<_> = jobs.iter().map(|job| (job.verdict(), job.message_bytes())).collect();
    drop(jobs);
    let expected = messages.iter().filter(|message| message.shape.forged).count();
    if forged != expected {
        return Err(format!("opening counted {forged} forgeries, not {expected}"));
    }
    for (i, (message, output)) in messages.iter().zip(&outputs).enumerate() {
        let at = |what| format!("opening job {i}: {what}");
        let msg = message.result(output).ok_or_else(|| at("wrote past the result".into()))?;
        same("message", msg, &message.expected_opening(msg.len())).map_err(at)?;
        let bytes = if message.shape.forged { 0 } else { message.msg.len() };
        if verdicts[i] != (message.expected_verdict(), bytes) {
            return Err(at(format!("verdict and bytes {:?}", verdicts[i])));
        }
    }
    Ok(())
}

fn same(what: &str, got: &[u8], expected: &[u8]) -> Result<(), String> {
    if got == expected {
        return Ok(());
    }
    let place = got.iter().zip(expected).position(|(got, expected)| got != expected);
    Err(format!("{what} of {} bytes differs at byte {place:?}", expected.len()))
}

/// Generates a job of one of `algorithms` under one of `keys` keys.
fn shape(algorithms: Vec<Algorithm>, keys: usize) -> impl Strategy<Value = Shape> {
    (
        (select(algorithms), 0..keys, any::<Index>(), length()),
        (length(), any::<Index>(), 1..5_usize),
        (proptest::bool::weighted(0.2), any::<bool>()),
    )
        .prop_map(|((algorithm, key, nonce, long), (short, tag, slices), (forged, in_place))| {
            let is_mac = algorithm.kind() == Kind::Mac;
            let is_cipher = algorithm.kind() == Kind::Cipher;
            let whole = algorithm.padded_bytes(long);
            Shape {
                id: algorithm.id(),
                key,
                nonce: nonce_bytes(algorithm, nonce),
                aad: if is_mac {
                    long
                } else if is_cipher && !algorithm.tweaked() {
                    0
                } else {
                    short.min(300)
                },
                slices,
                msg: if is_mac { 0 } else { whole },
                tag: if is_cipher { 0 } else { *tag.get(hazmat::tag_sizes(algorithm)) },
                forged: forged && !is_cipher,
                in_place,
            }
        })
}

/// Returns the usual nonce length half of the time, otherwise a length up to 130 bytes that the algorithm takes.
fn nonce_bytes(algorithm: Algorithm, index: Index) -> usize {
    let (min, max) = (algorithm.min_nonce_bytes(), algorithm.max_nonce_bytes().min(130));
    let choices = 2 * (max - min + 1);
    let choice = index.index(choices);
    if choice < choices / 2 { min + choice } else { algorithm.nonce_bytes() }
}

/// Generates a length up to 9000 bytes, often small, and often next to a multiple of a block or of a group of blocks.
fn length() -> impl Strategy<Value = usize> {
    prop_oneof![
        3 => 0..=64_usize,
        3 => borders::length(),
        2 => (0..=32_usize, 0..3_usize).prop_map(|(blocks, offset)| (16 * blocks + offset).saturating_sub(1)),
        2 => (0..=562_usize, 0..3_usize).prop_map(|(blocks, offset)| (16 * blocks + offset).saturating_sub(1)),
        1 => 0..=9000_usize,
    ]
}

/// Generates batches of 1 to 300 jobs, of one, a few or all algorithms, under one key, a few keys, or one key per
/// job.
fn batch() -> impl Strategy<Value = Vec<Shape>> {
    let all: Vec<Algorithm> = ALGORITHMS.to_vec();
    let algorithms = prop_oneof![
        4 => select(all.clone()).prop_map(|algorithm| vec![algorithm]),
        1 => proptest::sample::subsequence(all.clone(), 2..5),
        1 => Just(all),
    ];
    let keys = prop_oneof![Just(1_usize), 2..5_usize, Just(1_000_000)];
    let jobs = prop_oneof![1..20_usize, 1..=300_usize];
    (algorithms, keys, jobs).prop_flat_map(|(algorithms, keys, jobs)| {
        proptest::collection::vec(shape(algorithms, keys), 1..=jobs)
    })
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 192,
        failure_persistence: None,
        max_shrink_time: 60_000,
        ..ProptestConfig::default()
    })]

    #[test]
    fn a_batch_equals_its_jobs_one_by_one(shapes in batch(), parallelism in 1..=64_usize) {
        let schedules = [
            Schedule::Auto,
            Schedule::Single,
            Schedule::Comb(parallelism),
            Schedule::Refill,
            Schedule::Blocks,
        ];
        batch_equivalence(&shapes, &schedules).map_err(TestCaseError::fail)?;
    }
}

/// Checks one algorithm in batches of one job to more jobs than any backend has lanes, under every schedule.
fn equivalence_under_every_schedule(algorithm: Algorithm) {
    let lanes = Backend::available().map(study::lanes).max();
    let schedules: Vec<_> = (1..=lanes.expect("a backend"))
        .map(Schedule::Comb)
        .chain([Schedule::Auto, Schedule::Single, Schedule::Refill, Schedule::Blocks])
        .collect();
    let mut rng = StdRng::seed_from_u64(4);
    for jobs in [1, 2, 3, 7, 16, 17, 33, 65, 130] {
        for keys in [1, 1000] {
            let shapes: Vec<_> = (0..jobs)
                .map(|i| {
                    let blocks = rng.random_range(0..40);
                    let long = algorithm.padded_bytes(16 * blocks + rng.random_range(0..16));
                    Shape {
                        id: algorithm.id(),
                        key: rng.random_range(0..keys),
                        nonce: algorithm.nonce_bytes(),
                        aad: match algorithm.kind() {
                            Kind::Cipher if !algorithm.tweaked() => 0,
                            Kind::Mac => long,
                            _ => rng.random_range(0..40),
                        },
                        slices: 1 + i % 3,
                        msg: if algorithm.kind() == Kind::Mac { 0 } else { long },
                        tag: algorithm.tag_bytes(),
                        forged: algorithm.kind() != Kind::Cipher && rng.random_ratio(1, 5),
                        in_place: rng.random(),
                    }
                })
                .collect();
            batch_equivalence(&shapes, &schedules)
                .unwrap_or_else(|what| panic!("{jobs} jobs, {keys} keys: {what}: {shapes:?}"));
        }
    }
}

#[test]
fn batches_of_every_algorithm_equal_single_calls_under_every_schedule() {
    for &algorithm in ALGORITHMS {
        equivalence_under_every_schedule(algorithm);
    }
}

/// Checks equal lengths, the lengths of the comb paper's example, long jobs that end at all offsets, and empty ones.
#[test]
fn equal_and_very_unequal_lengths_are_equivalent() {
    for &algorithm in ALGORITHMS {
        for lengths in [
            vec![1488; 64],
            vec![1504, 80, 80, 80, 1360, 1504, 1504],
            (0..16).map(|i| 2000 + 150 * i + 7 * i * i).collect(),
            vec![0; 40],
        ] {
            let shapes: Vec<_> = lengths
                .iter()
                .map(|&long| algorithm.padded_bytes(long))
                .map(|long| Shape {
                    id: algorithm.id(),
                    key: 0,
                    nonce: algorithm.nonce_bytes(),
                    aad: if algorithm.kind() == Kind::Mac { long } else { 0 },
                    slices: 1,
                    msg: if algorithm.kind() == Kind::Mac { 0 } else { long },
                    tag: algorithm.tag_bytes(),
                    forged: false,
                    in_place: true,
                })
                .collect();
            // A parallelism of 0, or of more than the number of lanes, is clamped.
            let schedules = [
                Schedule::Auto,
                Schedule::Comb(0),
                Schedule::Comb(7),
                Schedule::Comb(1000),
                Schedule::Refill,
                Schedule::Blocks,
            ];
            batch_equivalence(&shapes, &schedules).unwrap_or_else(|what| panic!("{lengths:?}: {what}"));
        }
    }
}

/// Checks buffers 2 KiB apart, as in many packet pools: their lines share two sets of the L1 cache.
#[test]
fn messages_two_kib_apart_are_equivalent() {
    const APART: usize = 2048;
    let mut rng = StdRng::seed_from_u64(5);
    for algorithm in
        ALGORITHMS.iter().copied().filter(|algorithm| algorithm.kind() != Kind::Mac && !algorithm.expands())
    {
        let messages: Vec<_> = (0..70)
            .map(|i| random_bytes(&mut rng, algorithm.padded_bytes(APART - 16 - i * i % 50)))
            .collect();
        let nonce = random_bytes(&mut rng, algorithm.nonce_bytes());
        let bytes: Vec<u8> = (9..).take(algorithm.key_bytes()).collect();
        for backend in backends::available() {
            let key = KeyOptions::new()
                .backend(backend)
                .any_nonce_bytes()
                .expand(algorithm, &bytes)
                .expect("a key");
            let mut buffer = vec![0; APART * messages.len()];
            let mut tags = vec![vec![0; key.tag_bytes()]; messages.len()];
            let mut jobs = Vec::new();
            for ((message, data), tag) in messages.iter().zip(buffer.chunks_mut(APART)).zip(&mut tags) {
                let data = &mut data[..message.len()];
                data.copy_from_slice(message);
                jobs.push(SealJob::in_place(&key, &nonce, b"", data, tag));
            }
            seal_jobs_with(Schedule::Auto, &mut jobs).expect("a batch");
            drop(jobs);
            let mut jobs = Vec::new();
            for ((message, data), tag) in messages.iter().zip(buffer.chunks_mut(APART)).zip(&tags) {
                let (mut alone, mut tag_alone) = (message.clone(), vec![0; key.tag_bytes()]);
                key.seal_in_place_detached(&nonce, b"", &mut alone, &mut tag_alone).expect("a message");
                let data = &mut data[..message.len()];
                assert!(*data == alone && *tag == tag_alone, "{}, {backend:?}", algorithm.id());
                jobs.push(OpenJob::in_place(&key, &nonce, b"", data, tag));
            }
            assert_eq!(open_jobs(&mut jobs).map(Opened::forged), Ok(0), "{}, {backend:?}", algorithm.id());
            drop(jobs);
            for (message, data) in messages.iter().zip(buffer.chunks(APART)) {
                assert!(data.starts_with(message), "{}, {backend:?}", algorithm.id());
            }
        }
    }
}
