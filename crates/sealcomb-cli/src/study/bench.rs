//! Times batches and keys of one algorithm.

use super::results::Direction;
use super::workload::BATCH;
use sealcomb::study::{Schedule, open_jobs_with, seal_jobs_with};
use sealcomb::{Algorithm, Backend, Key, KeyOptions, Kind, OpenJob, Opened, SealJob, seal_jobs};
use sealcomb_peers::Peer;
use sealcomb_timing::{Clock, Quartiles};
use std::hint::black_box;
use std::slice;

/// A message and its output buffers. Nonces differ within a batch but repeat from timing to timing, which does not
/// affect the speed; the data is not secret.
#[derive(Clone)]
struct Message {
    nonce: Vec<u8>,
    /// The message, in a buffer as long as its ciphertext.
    data: Vec<u8>,
    /// Length of the message in bytes.
    bytes: usize,
    tag: Vec<u8>,
}

impl Message {
    fn batches(algorithm: Algorithm, lengths: &[Vec<usize>]) -> Vec<Vec<Self>> {
        let message = |(index, &bytes): (usize, &usize)| Self {
            nonce: (0..algorithm.nonce_bytes()).map(|i| if i == 0 { index as u8 } else { 0x24 }).collect(),
            data: vec![0x3c; algorithm.ciphertext_bytes(bytes)],
            bytes,
            tag: vec![0; algorithm.tag_bytes()],
        };
        lengths.iter().map(|batch| batch.iter().enumerate().map(message).collect()).collect()
    }
}

/// A clock and the number of timings per figure.
pub(crate) struct Bench {
    pub(crate) clock: Clock,
    pub(crate) samples: usize,
}

impl Bench {
    /// Measures cycles per byte for batches of these message lengths. Messages use the keys in rotation.
    pub(crate) fn time(
        &mut self,
        keys: &[Key],
        direction: Direction,
        schedule: Schedule,
        lengths: &[Vec<usize>],
    ) -> Quartiles {
        let cycles = match direction {
            Direction::Seal => self.seal(keys, schedule, lengths),
            Direction::Open => self.open(keys, schedule, lengths),
        };
        cycles.per(bytes(lengths))
    }

    /// Measures cycles per byte of another library, sealing message by message in place.
    pub(crate) fn time_peer(
        &mut self,
        peer: &Peer,
        algorithm: Algorithm,
        lengths: &[Vec<usize>],
    ) -> Quartiles {
        let mut messages = Message::batches(algorithm, lengths).concat();
        let cycles = self.clock.measure(self.samples, || {
            for message in &mut messages {
                peer.seal(&message.nonce, &mut message.data, &mut message.tag);
            }
        });
        cycles.per(bytes(lengths))
    }

    /// Times sealing in place, including job construction.
    fn seal(&mut self, keys: &[Key], schedule: Schedule, lengths: &[Vec<usize>]) -> Quartiles {
        let mut batches = Message::batches(keys[0].algorithm(), lengths);
        self.clock.measure(self.samples, || {
            for batch in &mut batches {
                seal_jobs_with(schedule, &mut jobs_to_seal(keys, batch))
                    .expect("message lengths that the algorithm accepts");
            }
        })
    }

    /// Measures cycles per key for creating and dropping keys.
    pub(crate) fn new_key(&mut self, algorithm: Algorithm, backend: Backend) -> Quartiles {
        let bytes = key_bytes(algorithm, BATCH);
        let cycles = self.clock.measure(self.samples, || {
            for bytes in &bytes {
                black_box(new_key(algorithm, backend, bytes));
            }
        });
        cycles.per(bytes.len() as f64)
    }

    /// Measures cycles per message for messages of `bytes` bytes, each sealed under a new key. Includes creating and
    /// dropping the key.
    pub(crate) fn message_with_its_key(
        &mut self,
        algorithm: Algorithm,
        backend: Backend,
        bytes: usize,
    ) -> Quartiles {
        let keys = key_bytes(algorithm, BATCH);
        let lengths = vec![algorithm.padded_bytes(bytes); BATCH];
        let mut messages = Message::batches(algorithm, &[lengths]).concat();
        let cycles = self.clock.measure(self.samples, || {
            for (key, message) in keys.iter().zip(&mut messages) {
                let key = [new_key(algorithm, backend, key)];
                seal_jobs(&mut jobs_to_seal(&key, slice::from_mut(message)))
                    .expect("message lengths that the algorithm accepts");
            }
        });
        cycles.per(messages.len() as f64)
    }

    /// Times opening, including job construction. Opens from one buffer into another, because a message opened in
    /// place can be opened only once.
    fn open(&mut self, keys: &[Key], schedule: Schedule, lengths: &[Vec<usize>]) -> Quartiles {
        let algorithm = keys[0].algorithm();
        let mut sealed = Message::batches(algorithm, lengths);
        for batch in &mut sealed {
            seal_jobs_with(Schedule::Auto, &mut jobs_to_seal(keys, batch))
                .expect("message lengths that the algorithm accepts");
        }
        let mut outputs: Vec<Vec<Vec<u8>>> = sealed
            .iter()
            .map(|batch| batch.iter().map(|message| output_buffer(algorithm, message)).collect())
            .collect();
        self.clock.measure(self.samples, || {
            for (batch, outputs) in sealed.iter().zip(&mut outputs) {
                let opened = open_jobs_with(schedule, &mut jobs_to_open(keys, batch, outputs));
                assert_eq!(
                    opened.map(Opened::forged),
                    Ok(0),
                    "{} did not open what it sealed",
                    algorithm.id()
                );
            }
        })
    }
}

/// Passes `call` a function that seals `messages` messages of `bytes` bytes. Their jobs are constructed beforehand,
/// so the function makes only the sealing call.
pub(crate) fn sealing<T>(
    keys: &[Key],
    bytes: usize,
    messages: usize,
    call: impl FnOnce(&mut dyn FnMut()) -> T,
) -> T {
    let mut batch = Message::batches(keys[0].algorithm(), &[vec![bytes; messages]]).concat();
    let mut jobs = jobs_to_seal(keys, &mut batch);
    call(&mut || {
        seal_jobs_with(Schedule::Auto, &mut jobs).expect("a message length that the algorithm accepts");
    })
}

/// Returns an output buffer for opening a message: of its exact length if the algorithm requires that, otherwise of
/// the maximum length for its ciphertext.
fn output_buffer(algorithm: Algorithm, message: &Message) -> Vec<u8> {
    let max = algorithm.max_message_bytes(message.data.len()).expect("a valid ciphertext length");
    vec![0; if algorithm.needs_message_bytes() { message.bytes } else { max }]
}

fn jobs_to_seal<'a>(keys: &'a [Key], batch: &'a mut [Message]) -> Vec<SealJob<'a>> {
    let job = |(key, message): (&'a Key, &'a mut Message)| match key.algorithm().kind() {
        Kind::Mac => SealJob::mac(key, &message.nonce, &message.data[..], &mut message.tag),
        _ => SealJob::in_buffer(key, &message.nonce, b"", &mut message.data, message.bytes, &mut message.tag)
            .expect("a buffer as long as the ciphertext"),
    };
    keys.iter().cycle().zip(batch).map(job).collect()
}

fn jobs_to_open<'a>(keys: &'a [Key], batch: &'a [Message], outputs: &'a mut [Vec<u8>]) -> Vec<OpenJob<'a>> {
    let job =
        |((key, message), output): ((&'a Key, &'a Message), &'a mut Vec<u8>)| match key.algorithm().kind() {
            Kind::Mac => OpenJob::mac(key, &message.nonce, &message.data[..], &message.tag),
            _ => OpenJob::new(key, &message.nonce, b"", &message.data, output, &message.tag)
                .expect("an output as long as the message"),
        };
    keys.iter().cycle().zip(batch).zip(outputs).map(job).collect()
}

/// Returns `count` different keys of an algorithm on a backend.
pub(crate) fn keys(algorithm: Algorithm, backend: Backend, count: usize) -> Vec<Key> {
    key_bytes(algorithm, count).iter().map(|bytes| new_key(algorithm, backend, bytes)).collect()
}

fn new_key(algorithm: Algorithm, backend: Backend, bytes: &[u8]) -> Key {
    KeyOptions::new().backend(backend).expand(algorithm, bytes).expect("a key of the algorithm's length")
}

/// Returns the bytes of `count` different keys.
fn key_bytes(algorithm: Algorithm, count: usize) -> Vec<Vec<u8>> {
    (0..count).map(|index| (0..algorithm.key_bytes()).map(|i| (i + 31 * index) as u8).collect()).collect()
}

fn bytes(lengths: &[Vec<usize>]) -> f64 {
    lengths.iter().flatten().sum::<usize>() as f64
}
