//! Jobs of every algorithm, in buffers that the check provides.
//!
//! The macro `call!` calls every function of the library that takes or returns a secret. Thus each check (freed
//! memory, guard pages, poison, stack) covers all of them. `crates/sealcomb-trace/tests/coverage.rs` fails if one is
//! missing.

#[macro_use]
mod calls;
mod sectors;
mod stream;
mod typed;

pub use calls::assert_all_were_made;

use std::ops::DerefMut;

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use sealcomb::study::{Schedule, open_jobs_with, seal_jobs_with};
use sealcomb::{
    Algorithm, Backend, Burst, Key, KeyOptions, Kind, OpenError, OpenJob, PacketLayout, SealJob, TagPosition,
    Verdict, open_jobs, seal_jobs,
};

/// Size in bytes of what precedes the message in a packet.
const GAP: usize = 5;
/// Lengths in bytes around multiples of the block size, and of the register groups that backends process at once.
pub const BORDERS: [usize; 24] = [
    0, 1, 15, 16, 17, 31, 32, 33, 47, 48, 63, 64, 65, 100, 127, 128, 129, 255, 256, 257, 511, 512, 513, 1023,
];

/// All schedules of a batch.
pub const SCHEDULES: [Schedule; 6] = [
    Schedule::Auto,
    Schedule::Single,
    Schedule::Comb(7),
    Schedule::Comb(16),
    Schedule::Refill,
    Schedule::Blocks,
];

/// The purpose of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A key, before it is expanded.
    Key,
    /// A nonce.
    Nonce,
    /// Additional data, including that which a MAC authenticates.
    Aad,
    /// A message to seal; in place, also the output.
    Message,
    /// A ciphertext to open; in place, also the output.
    Ciphertext,
    /// A received tag.
    Tag,
    /// An output buffer for a ciphertext, a message or a tag.
    Output,
}

/// A kind of library call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Call {
    /// Expands keys.
    NewKey,
    /// Seals a single message.
    Seal,
    /// Opens a single message.
    Open,
    /// Seals a batch.
    SealBatch,
    /// Opens a batch.
    OpenBatch,
    /// Seals a burst.
    SealBurst,
    /// Opens a burst.
    OpenBurst,
    /// Drops keys.
    DropKeys,
    /// Creates a job.
    Job,
}

/// A check's allocator for the buffers passed to the library, and its hooks around library calls.
pub trait Memory {
    /// A buffer.
    type Buffer: DerefMut<Target = [u8]>;

    /// Returns a buffer with exactly these bytes.
    fn hold(&mut self, role: Role, bytes: &[u8]) -> Self::Buffer;

    /// Returns a copy of a result as public data. The check no longer uses `result` afterward.
    fn publish(&mut self, result: &mut [u8]) -> Vec<u8>;

    /// Declares a verdict or a length public, whatever it depends on.
    fn public<T>(&mut self, value: T) -> T {
        value
    }

    /// Runs a call of the library.
    fn call<R>(&mut self, _: Call, call: impl FnOnce() -> R) -> R {
        call()
    }
}

/// The sizes of a job, in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    /// Size of the nonce.
    pub nonce: usize,
    /// Size of the additional data.
    pub aad: usize,
    /// Size of the message.
    pub message: usize,
}

impl Sizes {
    /// Returns the sizes closest to these that the algorithm accepts. The message of a MAC becomes its additional
    /// data.
    pub fn of(algorithm: Algorithm, nonce: usize, aad: usize, message: usize) -> Self {
        let nonce = nonce.clamp(algorithm.min_nonce_bytes(), algorithm.max_nonce_bytes());
        match algorithm.kind() {
            Kind::Mac => Self { nonce, aad: message, message: 0 },
            Kind::Cipher if !algorithm.tweaked() => {
                Self { nonce, aad: 0, message: algorithm.padded_bytes(message) }
            }
            _ => Self { nonce, aad, message: algorithm.padded_bytes(message) },
        }
    }
}

/// A batch to seal and open. Its `Debug` output is sufficient to reproduce it.
#[derive(Clone, Debug)]
pub struct Case {
    /// The algorithm of all jobs.
    pub algorithm: Algorithm,
    /// The backend of all keys.
    pub backend: Backend,
    /// Number of keys, which the jobs use in turn.
    pub keys: usize,
    /// Tag length in bytes.
    pub tag: usize,
    /// The schedule of the batch.
    pub schedule: Schedule,
    /// Whether the input buffer is also the output buffer.
    pub in_place: bool,
    /// The sizes of each job.
    pub jobs: Vec<Sizes>,
    /// The seed of keys and messages.
    pub secrets: u64,
    /// The seed of nonces, additional data and forgeries.
    pub seed: u64,
}

struct Job<M: Memory> {
    sizes: Sizes,
    nonce: M::Buffer,
    aad: M::Buffer,
    message: Vec<u8>,
    ciphertext: Vec<u8>,
    tag: Vec<u8>,
    forged: bool,
}

impl Case {
    /// Seals all jobs, opens them, and opens them again with forgeries among them. A case with one job also uses the
    /// functions for single messages, and a case that fits a burst also uses bursts.
    ///
    /// # Panics
    /// If a result is wrong, or a forged message is accepted.
    pub fn run<M: Memory>(&self, memory: &mut M) {
        let mut rng = StdRng::seed_from_u64(self.seed);
        let mut secrets = StdRng::seed_from_u64(self.secrets);
        let key_bytes: Vec<_> =
            (0..self.keys).map(|_| random_bytes(&mut secrets, self.algorithm.key_bytes())).collect();
        let keys = self.expand(memory, &key_bytes);
        let mut jobs: Vec<Job<M>> = self
            .jobs
            .iter()
            .map(|&sizes| Job {
                sizes,
                nonce: memory.hold(Role::Nonce, &random_bytes(&mut rng, sizes.nonce)),
                aad: memory.hold(Role::Aad, &random_bytes(&mut rng, sizes.aad)),
                message: random_bytes(&mut secrets, sizes.message),
                ciphertext: Vec::new(),
                tag: Vec::new(),
                forged: false,
            })
            .collect();
        let each = keys.each();
        self.seal(memory, &each, &mut jobs);
        self.open(memory, &each, &jobs);
        if let [job] = &jobs[..] {
            self.alone(memory, each[0], job);
            self.in_pieces(memory, &key_bytes[0], job);
            if let Some(same) = self.typed() {
                same(memory, &key_bytes[0], job);
            }
        }
        if self.has_columns() {
            self.seal_burst(memory, each[0], &jobs);
            self.open_burst(memory, each[0], &jobs);
            self.seal_packets(memory, each[0], &jobs);
            self.open_packets(memory, each[0], &jobs);
            self.in_sectors(memory, each[0], &jobs[0]);
        }
        if self.algorithm.kind() != Kind::Cipher {
            self.forge(&mut jobs);
            self.open(memory, &each, &jobs);
            if self.has_columns() {
                self.open_burst(memory, each[0], &jobs);
                self.open_packets(memory, each[0], &jobs);
            }
            if let [job] = &jobs[..] {
                self.alone_and_forged(memory, each[0], job);
            }
        }
        memory.call(Call::DropKeys, || drop(keys));
    }

    /// Returns whether keys use the case's backend by default.
    fn is_on_the_selected_backend(&self) -> bool {
        Backend::selected() == Ok(self.backend)
    }

    /// Flips a bit of the tag or the ciphertext of every third job, starting with the first.
    fn forge<M: Memory>(&self, jobs: &mut [Job<M>]) {
        for (i, job) in jobs.iter_mut().enumerate().step_by(3) {
            job.forged = true;
            let the_tag = (self.seed as usize + i).is_multiple_of(2) || job.ciphertext.is_empty();
            let forged = if the_tag { &mut job.tag } else { &mut job.ciphertext };
            let at = self.seed as usize % (8 * forged.len());
            forged[at / 8] ^= 1 << (at % 8);
        }
    }

    /// Expands the keys with each of the library's constructors. Keys are boxed at once, since a move leaves a copy
    /// behind.
    fn expand<M: Memory>(&self, memory: &mut M, keys: &[Vec<u8>]) -> Keys {
        let algorithm = self.algorithm;
        let options = KeyOptions::new().backend(self.backend).short_tag_bytes(self.tag).any_nonce_bytes();
        let usual = self.tag == algorithm.tag_bytes()
            && self.jobs.iter().all(|sizes| sizes.nonce == algorithm.nonce_bytes());
        let selected = self.is_on_the_selected_backend();
        let held: Vec<_> = keys.iter().map(|key| memory.hold(Role::Key, key)).collect();
        if selected && keys.len() > 1 {
            let held: Vec<&[u8]> = held.iter().map(|key| &**key).collect();
            let made = memory.call(Call::NewKey, || {
                if usual && self.schedule == Schedule::Auto {
                    call!(Key::new_many(algorithm, &held))
                } else {
                    call!(KeyOptions::expand_many(options, algorithm, &held))
                }
            });
            return Keys::Together(made.expect("keys of the right length"));
        }
        let each = held.iter().enumerate().map(|(i, key)| {
            memory.call(Call::NewKey, || {
                let made = if selected && usual && i % 2 == 0 {
                    call!(Key::new(algorithm, key))
                } else {
                    call!(KeyOptions::expand(options, algorithm, key))
                };
                let key = Box::new(made.expect("a key of the right length, and sizes from the catalog"));
                // Otherwise, the first batch prepares the key.
                if self.in_place {
                    call!(Key::prepare(&key));
                }
                key
            })
        });
        Keys::Each(each.collect())
    }

    fn seal<M: Memory>(&self, memory: &mut M, keys: &[&Key], jobs: &mut [Job<M>]) {
        let mut buffers: Vec<_> = jobs
            .iter()
            .map(|Job { message, .. }| {
                let room = vec![0; self.algorithm.ciphertext_bytes(message.len())];
                let tag = memory.hold(Role::Output, &vec![0; self.tag]);
                if self.in_place {
                    let mut buffer = message.clone();
                    buffer.resize(room.len(), 0);
                    (None, memory.hold(Role::Message, &buffer), tag)
                } else {
                    (Some(memory.hold(Role::Message, message)), memory.hold(Role::Output, &room), tag)
                }
            })
            .collect();
        let mut batch: Vec<_> = jobs
            .iter()
            .zip(&mut buffers)
            .zip(keys.iter().cycle())
            .map(|((Job { nonce, aad, message, .. }, (input, output, tag)), key)| {
                let (nonce, aad) = (&**nonce, &**aad);
                memory.call(Call::Job, || match input {
                    Some(_) if self.algorithm.kind() == Kind::Mac => {
                        Ok(call!(SealJob::mac(key, nonce, aad, tag)))
                    }
                    Some(input) => call!(SealJob::new(key, nonce, aad, input, output, tag)),
                    None if self.algorithm.expands() || message.len() % 2 == 0 => {
                        call!(SealJob::in_buffer(key, nonce, aad, output, message.len(), tag))
                    }
                    None => Ok(call!(SealJob::in_place(key, nonce, aad, output, tag))),
                })
            })
            .collect::<Result<_, _>>()
            .expect("room for the ciphertexts");
        let sealed = memory.call(Call::SealBatch, || {
            if self.schedule == Schedule::Auto {
                call!(seal_jobs(&mut batch))
            } else {
                call!(seal_jobs_with(self.schedule, &mut batch))
            }
        });
        sealed.expect("sizes that the algorithm takes");
        drop(batch);
        for (job, (_, output, tag)) in jobs.iter_mut().zip(&mut buffers) {
            job.ciphertext = memory.publish(output);
            job.tag = memory.publish(tag);
        }
    }

    fn open<M: Memory>(&self, memory: &mut M, keys: &[&Key], jobs: &[Job<M>]) {
        let mut buffers: Vec<_> = jobs
            .iter()
            .map(|Job { message, ciphertext, tag, .. }| {
                let tag = memory.hold(Role::Tag, tag);
                let input = memory.hold(Role::Ciphertext, ciphertext);
                if self.in_place {
                    return (None, input, tag);
                }
                let room = if self.algorithm.needs_message_bytes() {
                    message.len()
                } else {
                    self.algorithm.max_message_bytes(ciphertext.len()).expect("a message's ciphertext")
                };
                (Some(input), memory.hold(Role::Output, &vec![0x5A; room]), tag)
            })
            .collect();
        let mut batch: Vec<_> = jobs
            .iter()
            .zip(&mut buffers)
            .zip(keys.iter().cycle())
            .map(|((Job { nonce, aad, message, .. }, (input, output, tag)), key)| {
                let (nonce, aad) = (&**nonce, &**aad);
                memory.call(Call::Job, || match input {
                    Some(_) if self.algorithm.kind() == Kind::Mac => {
                        Ok(call!(OpenJob::mac(key, nonce, aad, tag)))
                    }
                    Some(input) => call!(OpenJob::new(key, nonce, aad, input, output, tag)),
                    None if self.algorithm.needs_message_bytes() || message.len() % 2 == 0 => {
                        call!(OpenJob::in_buffer(key, nonce, aad, output, message.len(), tag))
                    }
                    None => Ok(call!(OpenJob::in_place(key, nonce, aad, output, tag))),
                })
            })
            .collect::<Result<_, _>>()
            .expect("room for the messages");
        let opened = memory.call(Call::OpenBatch, || {
            if self.schedule == Schedule::Auto {
                call!(open_jobs(&mut batch))
            } else {
                call!(open_jobs_with(self.schedule, &mut batch))
            }
        });
        let forged = opened.expect("sizes that the algorithm takes").forged();
        let ends: Vec<_> =
            batch.iter().map(|job| memory.public((job.verdict(), job.message_bytes()))).collect();
        drop(batch);
        assert_eq!(forged, jobs.iter().filter(|job| job.forged).count(), "{self:?}");
        for ((job, (_, output, _)), (verdict, bytes)) in jobs.iter().zip(&mut buffers).zip(ends) {
            assert_eq!(verdict, self.expected(job), "{:?} of {self:?}", job.sizes);
            let mut expected = if job.forged { Vec::new() } else { job.message.clone() };
            assert_eq!(bytes, expected.len(), "{:?} of {self:?}", job.sizes);
            let opened = memory.publish(output);
            // Zeros follow a message that is shorter than its ciphertext, and replace a message that was rejected.
            expected.resize(opened.len(), 0);
            assert_eq!(opened, expected, "{:?} of {self:?}", job.sizes);
        }
    }

    /// Returns whether the jobs also fit a burst.
    pub fn has_columns(&self) -> bool {
        self.keys == 1 && self.in_place && self.schedule == Schedule::Auto && !self.algorithm.expands()
    }

    fn seal_burst<M: Memory>(&self, memory: &mut M, key: &Key, jobs: &[Job<M>]) {
        let mut data: Vec<_> = jobs.iter().map(|job| memory.hold(Role::Message, &job.message)).collect();
        let mut tags: Vec<_> = jobs.iter().map(|_| memory.hold(Role::Output, &vec![0; self.tag])).collect();
        let (nonces, aads) = (nonces(jobs), aads(jobs));
        let burst = Burst::new(key, &nonces).aads(&aads);
        let (mut data_column, mut tag_column) = (column(&mut data), column(&mut tags));
        memory
            .call(Call::SealBurst, || {
                if self.algorithm.kind() == Kind::Mac {
                    call!(Burst::mac(&burst, &mut tag_column))
                } else {
                    call!(Burst::seal(&burst, &mut data_column, &mut tag_column))
                }
            })
            .expect("sizes that the algorithm takes");
        for ((job, data), tag) in jobs.iter().zip(&mut data).zip(&mut tags) {
            assert_eq!(memory.publish(data), job.ciphertext, "{:?} of {self:?}", job.sizes);
            assert_eq!(memory.publish(tag), job.tag, "{:?} of {self:?}", job.sizes);
        }
    }

    fn open_burst<M: Memory>(&self, memory: &mut M, key: &Key, jobs: &[Job<M>]) {
        let mut data: Vec<_> =
            jobs.iter().map(|job| memory.hold(Role::Ciphertext, &job.ciphertext)).collect();
        let mut tags: Vec<_> = jobs.iter().map(|job| memory.hold(Role::Tag, &job.tag)).collect();
        let (nonces, aads) = (nonces(jobs), aads(jobs));
        let burst = Burst::new(key, &nonces).aads(&aads);
        let (mut data_column, tag_column) = (column(&mut data), column(&mut tags));
        let mut verdicts = vec![Verdict::Pending; jobs.len()];
        let forged = memory
            .call(Call::OpenBurst, || {
                if self.algorithm.kind() == Kind::Mac {
                    call!(Burst::verify(&burst, &tag_column, &mut verdicts))
                } else {
                    call!(Burst::open(&burst, &mut data_column, &tag_column, &mut verdicts))
                }
            })
            .expect("sizes that the algorithm takes")
            .forged();
        assert_eq!(forged, jobs.iter().filter(|job| job.forged).count(), "{self:?}");
        for ((job, data), verdict) in jobs.iter().zip(&mut data).zip(verdicts) {
            assert_eq!(memory.public(verdict), self.expected(job), "{:?} of {self:?}", job.sizes);
            let zeros = vec![0; job.message.len()];
            let expected = if job.forged { &zeros } else { &job.message };
            assert_eq!(memory.publish(data), *expected, "{:?} of {self:?}", job.sizes);
        }
    }

    /// Returns a packet with a gap, and with the additional data elsewhere.
    fn packet(&self, text: &[u8], tag: &[u8]) -> Vec<u8> {
        match self.algorithm.tag_position() {
            TagPosition::First => [&[0; GAP], tag, text].concat(),
            TagPosition::Last => [&[0; GAP], text, tag].concat(),
        }
    }

    fn seal_packets<M: Memory>(&self, memory: &mut M, key: &Key, jobs: &[Job<M>]) {
        let room = vec![0; self.tag];
        let mut packets: Vec<_> =
            jobs.iter().map(|job| memory.hold(Role::Message, &self.packet(&job.message, &room))).collect();
        let (nonces, aads) = (nonces(jobs), aads(jobs));
        let burst = Burst::new(key, &nonces).aads(&aads);
        let mut column = column(&mut packets);
        memory
            .call(Call::SealBurst, || {
                call!(Burst::seal_packets(&burst, PacketLayout::new().gap(GAP), &mut column))
            })
            .expect("sizes that the algorithm takes");
        for (job, packet) in jobs.iter().zip(&mut packets) {
            let expected = self.packet(&job.ciphertext, &job.tag);
            assert_eq!(memory.publish(packet), expected, "{:?} of {self:?}", job.sizes);
        }
    }

    fn open_packets<M: Memory>(&self, memory: &mut M, key: &Key, jobs: &[Job<M>]) {
        let mut packets: Vec<_> = jobs
            .iter()
            .map(|job| memory.hold(Role::Ciphertext, &self.packet(&job.ciphertext, &job.tag)))
            .collect();
        let (nonces, aads) = (nonces(jobs), aads(jobs));
        let burst = Burst::new(key, &nonces).aads(&aads);
        let mut column = column(&mut packets);
        let mut verdicts = vec![Verdict::Pending; jobs.len()];
        let opened = memory
            .call(Call::OpenBurst, || {
                call!(Burst::open_packets(&burst, PacketLayout::new().gap(GAP), &mut column, &mut verdicts))
            })
            .expect("sizes that the algorithm takes");
        assert_eq!(opened.forged(), jobs.iter().filter(|job| job.forged).count(), "{self:?}");
        for ((job, packet), verdict) in jobs.iter().zip(&mut packets).zip(verdicts) {
            assert_eq!(memory.public(verdict), self.expected(job), "{:?} of {self:?}", job.sizes);
            let zeros = vec![0; job.message.len()];
            let text = if job.forged { &zeros } else { &job.message };
            let expected = self.packet(text, &job.tag);
            assert_eq!(memory.publish(packet), expected, "{:?} of {self:?}", job.sizes);
        }
    }

    fn expected<M: Memory>(&self, job: &Job<M>) -> Verdict {
        match self.algorithm.kind() {
            Kind::Cipher => Verdict::Unauthenticated,
            _ if job.forged => Verdict::Forged,
            _ => Verdict::Verified,
        }
    }

    /// Uses the functions for single messages, whose results must equal those of the batch.
    fn alone<M: Memory>(&self, memory: &mut M, key: &Key, job: &Job<M>) {
        let Job { nonce, aad, message, ciphertext, tag, .. } = job;
        let aad: &[u8] = aad;
        let both = combined(self.algorithm, ciphertext, tag);
        let input = memory.hold(Role::Message, message);
        let sealed = memory.call(Call::Seal, || call!(Key::seal(key, nonce, aad, &input)));
        let mut sealed = sealed.expect("sizes that the algorithm takes");
        assert_eq!(memory.publish(&mut sealed), both, "{self:?}");
        let authenticates = self.algorithm.kind() != Kind::Cipher;
        if authenticates && !self.algorithm.needs_message_bytes() {
            let input = memory.hold(Role::Ciphertext, &both);
            let opened = memory.call(Call::Open, || call!(Key::open(key, nonce, aad, &input)));
            let mut opened = opened.expect("a sealed message");
            assert_eq!(memory.publish(&mut opened), *message, "{self:?}");
        }
        if self.algorithm.expands() {
            return;
        }
        let mut data = memory.hold(Role::Message, message);
        let mut output = memory.hold(Role::Output, &vec![0; self.tag]);
        memory
            .call(Call::Seal, || call!(Key::seal_in_place_detached(key, nonce, aad, &mut data, &mut output)))
            .expect("sizes that the algorithm takes");
        let detached = [memory.publish(&mut data), memory.publish(&mut output)];
        assert_eq!(detached, [&ciphertext[..], tag], "{self:?}");
        if authenticates {
            let mut data = memory.hold(Role::Ciphertext, ciphertext);
            let tag = memory.hold(Role::Tag, tag);
            memory
                .call(Call::Open, || call!(Key::open_in_place_detached(key, nonce, aad, &mut data, &tag)))
                .expect("a sealed message");
            assert_eq!(memory.publish(&mut data), *message, "{self:?}");
        }
        let mut data = memory.hold(Role::Ciphertext, ciphertext);
        // Some modes decrypt with the received tag.
        let mut output = memory.hold(Role::Tag, &job.tag);
        memory
            .call(Call::Open, || {
                call!(Key::open_unverified_in_place_detached(key, nonce, aad, &mut data, &mut output))
            })
            .expect("sizes that the algorithm takes");
        assert_eq!(
            [memory.publish(&mut data), memory.publish(&mut output)],
            [&message[..], &job.tag],
            "{self:?}"
        );
    }

    fn alone_and_forged<M: Memory>(&self, memory: &mut M, key: &Key, job: &Job<M>) {
        let Job { nonce, aad, ciphertext, tag, .. } = job;
        let aad: &[u8] = aad;
        let input = memory.hold(Role::Ciphertext, &combined(self.algorithm, ciphertext, tag));
        let opened = memory.call(Call::Open, || call!(Key::open(key, nonce, aad, &input)));
        assert_eq!(opened, Err(OpenError::Forged), "{self:?}");
        if self.algorithm.expands() {
            return;
        }
        let mut data = memory.hold(Role::Ciphertext, ciphertext);
        let tag = memory.hold(Role::Tag, tag);
        let opened =
            memory.call(Call::Open, || call!(Key::open_in_place_detached(key, nonce, aad, &mut data, &tag)));
        assert_eq!(opened, Err(OpenError::Forged), "{self:?}");
        assert!(memory.publish(&mut data).iter().all(|byte| *byte == 0), "{self:?}");
    }
}

/// Returns a ciphertext with its tag, as [`Key::seal`] does.
fn combined(algorithm: Algorithm, ciphertext: &[u8], tag: &[u8]) -> Vec<u8> {
    match algorithm.tag_position() {
        TagPosition::First => [tag, ciphertext].concat(),
        TagPosition::Last => [ciphertext, tag].concat(),
    }
}

/// Expanded keys, at the address where they were created.
enum Keys {
    Together(Vec<Key>),
    #[expect(clippy::vec_box, reason = "a key that is moved leaves a copy behind")]
    Each(Vec<Box<Key>>),
}

impl Keys {
    fn each(&self) -> Vec<&Key> {
        match self {
            Self::Together(keys) => keys.iter().collect(),
            Self::Each(keys) => keys.iter().map(|key| &**key).collect(),
        }
    }
}

fn nonces<M: Memory>(jobs: &[Job<M>]) -> Vec<&[u8]> {
    jobs.iter().map(|job| &*job.nonce).collect()
}

fn aads<M: Memory>(jobs: &[Job<M>]) -> Vec<&[u8]> {
    jobs.iter().map(|job| &*job.aad).collect()
}

fn column<B: DerefMut<Target = [u8]>>(buffers: &mut [B]) -> Vec<&mut [u8]> {
    buffers.iter_mut().map(|buffer| &mut **buffer).collect()
}

fn random_bytes(rng: &mut StdRng, bytes: usize) -> Vec<u8> {
    let mut string = vec![0; bytes];
    rng.fill_bytes(&mut string);
    string
}

/// Returns the available backends, and prints which ones are not.
pub fn backends() -> Vec<Backend> {
    for name in Backend::names().filter(|name| Backend::named(name).is_err()) {
        println!("skipped: backend {name}, which this CPU or this build lacks");
    }
    Backend::available().collect()
}
