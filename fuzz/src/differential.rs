//! Random batches and streams: every backend, RustCrypto and OpenSSL agree with the reference models.

mod batch;
mod job;
pub mod streams;

use batch::{bursts, opens, seals};
use job::Job;
use sealcomb::study::Schedule;
use sealcomb::{Backend, Key, KeyOptions, Kind};
use sealcomb_peers::Peer;
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};

static JOBS: AtomicU64 = AtomicU64::new(0);

/// Returns the number of jobs in all batches so far. A job is counted once, not once per backend.
pub fn jobs() -> u64 {
    JOBS.load(Ordering::Relaxed)
}

/// Derives a batch from `bytes` and checks it.
///
/// # Panics
/// If a backend or another library does not agree with the model.
pub fn run(bytes: &[u8]) -> u64 {
    let mut choices = Choices::new(bytes);
    let schedule = match choices.below(8) {
        0..3 => Schedule::Auto,
        3 => Schedule::Single,
        4 => Schedule::Comb(choices.below(65)),
        5 => Schedule::Comb(choices.pick(&[1, 7, 8, 12, 16, 32])),
        6 => Schedule::Refill,
        _ => Schedule::Blocks,
    };
    let jobs = Job::batch(&mut choices);
    JOBS.fetch_add(jobs.len() as u64, Ordering::Relaxed);
    PEERS.with_borrow_mut(|peers| jobs.iter().for_each(|job| agrees(job, peers)));
    KEYS.with_borrow_mut(|keys| {
        for backend in Backend::available() {
            let keys = keys_of(&jobs, backend, keys);
            seals(&jobs, &keys, schedule);
            opens(&jobs, &keys, schedule);
            if keys.iter().all(|key| std::ptr::eq(*key, keys[0])) && !jobs[0].algorithm.expands() {
                bursts(&jobs, keys[0]);
            }
        }
    });
    sealcomb_cli::fuzz::outcome((jobs[0].algorithm.id(), format!("{schedule:?}"), jobs.len().ilog2()))
}

/// An algorithm's id and the number of its key.
type KeyName = (&'static str, usize);

thread_local! {
    /// Keys for each tag length and backend. Expanding them takes longer than most batches.
    static KEYS: RefCell<HashMap<(KeyName, usize, &'static str), Key>> = RefCell::default();
    static PEERS: RefCell<HashMap<KeyName, Vec<Peer>>> = RefCell::default();
}

fn keys_of<'a>(
    jobs: &[Job],
    backend: Backend,
    keys: &'a mut HashMap<(KeyName, usize, &'static str), Key>,
) -> Vec<&'a Key> {
    let name = |job: &Job| (job.key_name(), job.tag.len(), backend.name());
    for job in jobs {
        keys.entry(name(job)).or_insert_with(|| {
            let options = KeyOptions::new().backend(backend).short_tag_bytes(job.tag.len()).any_nonce_bytes();
            options.expand(job.algorithm, &job.key).expect("sizes from the catalog")
        });
    }
    jobs.iter().map(|job| &keys[&name(job)]).collect()
}

/// Checks that other libraries agree with the model. Skips jobs with sizes that they do not support.
fn agrees(job: &Job, peers: &mut HashMap<KeyName, Vec<Peer>>) {
    let Job { algorithm, nonce, aad, message, ciphertext, tag, .. } = job;
    let is_mac = algorithm.kind() == Kind::Mac;
    let is_usual = nonce.len() == algorithm.nonce_bytes() && tag.len() == algorithm.tag_bytes();
    if !is_usual || !(is_mac || aad.is_empty()) || algorithm.expands() {
        return;
    }
    let peers =
        peers.entry(job.key_name()).or_insert_with(|| sealcomb_peers::peers(algorithm.id(), &job.key));
    for peer in peers {
        let mut data = if is_mac { aad.clone() } else { message.clone() };
        let mut made = vec![0; tag.len()];
        if !peer.takes(nonce, data.len()) {
            continue;
        }
        peer.seal(nonce, &mut data, &mut made);
        let expected = if is_mac { aad } else { ciphertext };
        assert!(data == *expected && made == *tag, "{} differs from the model: {job:?}", peer.library());
    }
}

/// Decisions derived from the bytes of the input, then from a generator seeded with the input.
pub(crate) struct Choices<'a> {
    bytes: &'a [u8],
    dice: fastrand::Rng,
}

impl<'a> Choices<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, dice: fastrand::Rng::with_seed(sealcomb_cli::fuzz::outcome(bytes)) }
    }

    fn byte(&mut self) -> u8 {
        match self.bytes.split_first() {
            Some((&byte, rest)) => {
                self.bytes = rest;
                byte
            }
            None => self.dice.u8(..),
        }
    }

    /// Draws a number less than `end`, which must be at most 256.
    fn below(&mut self, end: usize) -> usize {
        usize::from(self.byte()) % end
    }

    fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }

    /// Returns random bytes that do not consume input, for values that do not affect the path.
    fn fill(&mut self, bytes: usize) -> Vec<u8> {
        let mut filled = vec![0; bytes];
        self.dice.fill(&mut filled);
        filled
    }
}
