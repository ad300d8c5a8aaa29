//! A job with the model's result. Its sizes and its nonce are often at a boundary.

use super::{Choices, KeyName};
use sealcomb::hazmat;
use sealcomb::study::ALGORITHMS;
use sealcomb::{Algorithm, Kind, reference};
use std::fmt;

/// Sizes in bytes of the groups that backends process at once: 1 to 8 registers of 1, 2 or 4 blocks, and two such
/// groups.
const GROUPS: [usize; 12] = [16, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024];

/// Number of keys per algorithm: all zeros, all ones, and random ones.
const KEYS: usize = 4;

/// A message with the model's ciphertext and tag.
pub(super) struct Job {
    pub(super) algorithm: Algorithm,
    /// The index of the key among those of the algorithm.
    number: usize,
    pub(super) key: Vec<u8>,
    pub(super) nonce: Vec<u8>,
    pub(super) aad: Vec<u8>,
    pub(super) message: Vec<u8>,
    pub(super) ciphertext: Vec<u8>,
    pub(super) tag: Vec<u8>,
    /// The change applied before the job is opened.
    pub(super) forged: Option<Forgery>,
    pub(super) in_place: bool,
    /// Number of slices in which the additional data is passed.
    pub(super) slices: usize,
}

/// The index of a bit to flip, and the value that it belongs to.
#[derive(Clone, Copy, Debug)]
pub(super) enum Forgery {
    Nonce(usize),
    Aad(usize),
    Ciphertext(usize),
    Tag(usize),
}

impl Job {
    /// Draws 1 to 200 jobs of one algorithm, a few, or all.
    pub(super) fn batch(choices: &mut Choices<'_>) -> Vec<Self> {
        let first = choices.below(ALGORITHMS.len());
        let algorithms = choices.pick(&[1, 1, 1, 1, 1, 2, 5, ALGORITHMS.len()]);
        let keys = choices.pick(&[1, 1, 2, KEYS]);
        // The maximum number of jobs, and the maximum number of blocks of each, chosen so that no batch takes long.
        let (max, blocks) =
            choices.pick(&[(1, 130), (2, 130), (8, 66), (20, 34), (40, 18), (70, 10), (200, 4)]);
        let jobs = 1 + choices.below(max);
        (0..jobs)
            .map(|_| {
                let algorithm = &ALGORITHMS[(first + choices.below(algorithms)) % ALGORITHMS.len()];
                Self::new(*algorithm, keys, 16 * blocks, choices)
            })
            .collect()
    }

    fn new(algorithm: Algorithm, keys: usize, max_bytes: usize, choices: &mut Choices<'_>) -> Self {
        let number = choices.below(keys);
        let long = length(max_bytes, choices);
        let short = if choices.below(3) == 0 { 0 } else { length(max_bytes.min(320), choices) };
        let message = match algorithm.kind() {
            Kind::Mac => 0,
            _ => algorithm.padded_bytes(long).max(algorithm.min_message_bytes()),
        };
        let aad = match algorithm.kind() {
            Kind::Mac => long,
            Kind::Cipher if !algorithm.tweaked() => 0,
            _ => short,
        };
        let tag_bytes = if choices.below(2) == 0 || hazmat::tag_sizes(algorithm).is_empty() {
            algorithm.tag_bytes()
        } else {
            choices.pick(hazmat::tag_sizes(algorithm))
        };
        let nonce = nonce(algorithm, message.div_ceil(16), choices);
        let (key, aad, message) = (key(algorithm, number), choices.fill(aad), choices.fill(message));
        let (ciphertext, tag) = reference::seal(algorithm.id(), &key, &nonce, &aad, &message, tag_bytes)
            .expect("the model takes what the catalog allows");
        let flags = choices.byte();
        let mut job = Self {
            algorithm,
            number,
            key,
            nonce,
            aad,
            message,
            ciphertext,
            tag,
            forged: None,
            in_place: flags & 1 == 0,
            slices: 1 + usize::from(flags >> 1) % 4,
        };
        if choices.below(4) == 0 {
            job.forged = job.forgery(choices);
        }
        job
    }

    /// Draws a bit to flip. Returns `None` if the model accepts the result: modes that multiply by a part of their
    /// key do so if that part is zero, and short tags can match by chance.
    fn forgery(&self, choices: &mut Choices<'_>) -> Option<Forgery> {
        if self.algorithm.kind() == Kind::Cipher {
            return None;
        }
        let kind = choices.below(8);
        let mut bit = |bytes: &[u8]| choices.dice.usize(..8 * bytes.len());
        let forgery = match kind {
            0 if !self.nonce.is_empty() => Forgery::Nonce(bit(&self.nonce)),
            1 if !self.aad.is_empty() => Forgery::Aad(bit(&self.aad)),
            2 | 3 if !self.ciphertext.is_empty() => Forgery::Ciphertext(bit(&self.ciphertext)),
            _ => Forgery::Tag(bit(&self.tag)),
        };
        let Received { nonce, aad, ciphertext, tag } = Received::of(self, Some(forgery));
        let opened = reference::open(self.algorithm.id(), &self.key, &nonce, &aad, &ciphertext, &tag);
        opened.is_none().then_some(forgery)
    }

    pub(super) fn key_name(&self) -> KeyName {
        (self.algorithm.id(), self.number)
    }
}

/// A sealed message as received.
pub(super) struct Received {
    pub(super) nonce: Vec<u8>,
    pub(super) aad: Vec<u8>,
    pub(super) ciphertext: Vec<u8>,
    pub(super) tag: Vec<u8>,
}

impl Received {
    /// Returns the job's sealed message, with one bit flipped if it is forged.
    pub(super) fn of(job: &Job, forged: Option<Forgery>) -> Self {
        let Job { nonce, aad, ciphertext, tag, .. } = job;
        let mut received =
            Self { nonce: nonce.clone(), aad: aad.clone(), ciphertext: ciphertext.clone(), tag: tag.clone() };
        let (bytes, bit) = match forged {
            None => return received,
            Some(Forgery::Nonce(bit)) => (&mut received.nonce, bit),
            Some(Forgery::Aad(bit)) => (&mut received.aad, bit),
            Some(Forgery::Ciphertext(bit)) => (&mut received.ciphertext, bit),
            Some(Forgery::Tag(bit)) => (&mut received.tag, bit),
        };
        bytes[bit / 8] ^= 1 << (bit % 8);
        received
    }
}

/// Prints what is needed to reproduce a failure. The bytes of the message do not matter.
impl fmt::Debug for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(self.algorithm.id())
            .field("key", &self.number)
            .field("nonce", &format_args!("{:02x?}", self.nonce))
            .field("aad", &self.aad.len())
            .field("message", &self.message.len())
            .field("tag", &self.tag.len())
            .field("forged", &self.forged)
            .field("in_place", &self.in_place)
            .field("slices", &self.slices)
            .finish_non_exhaustive()
    }
}

fn key(algorithm: Algorithm, number: usize) -> Vec<u8> {
    match number {
        0 | 1 if algorithm.mode_id() == "xts" => {
            // XTS refuses equal halves.
            let half = algorithm.key_bytes() / 2;
            let byte = if number == 0 { 0 } else { 0xff };
            [vec![byte; half], vec![!byte; half]].concat()
        }
        0 => vec![0; algorithm.key_bytes()],
        1 => vec![0xff; algorithm.key_bytes()],
        _ => {
            let mut key = vec![0; algorithm.key_bytes()];
            fastrand::Rng::with_seed(number as u64).fill(&mut key);
            key
        }
    }
}

/// Draws a length up to `max_bytes`: a small one, one near a group size or a group size plus some blocks, or any.
fn length(max_bytes: usize, choices: &mut Choices<'_>) -> usize {
    let near = |border: usize, choices: &mut Choices<'_>| {
        (border + choices.pick(&[0, 0, 1, 15, 16, 17])).saturating_sub(16)
    };
    let length = match choices.below(8) {
        0 | 1 => choices.below(65),
        2..5 => 16 + near(choices.pick(&GROUPS), choices),
        5 | 6 => near(choices.pick(&GROUPS) + 16 * choices.below(9), choices),
        _ => 8 * choices.below(256) + choices.below(16),
    };
    length.min(max_bytes)
}

/// Draws a nonce, often one whose counter overflows within a message of `blocks` blocks.
fn nonce(algorithm: Algorithm, blocks: usize, choices: &mut Choices<'_>) -> Vec<u8> {
    let (min, max) = (algorithm.min_nonce_bytes(), algorithm.max_nonce_bytes().min(130));
    let bytes =
        if choices.below(3) > 0 { algorithm.nonce_bytes() } else { min + choices.below(max - min + 1) };
    match choices.below(8) {
        0 => vec![0; bytes],
        1 => vec![0xff; bytes],
        2 => [vec![0x80; bytes.min(1)], vec![0; bytes.saturating_sub(1)]].concat(),
        3 => [vec![0x7f; bytes.min(1)], vec![0xff; bytes.saturating_sub(1)]].concat(),
        // A counter in the last 4, 8 or 16 bytes overflows after at most `blocks + 2` blocks.
        4..7 => {
            let mut nonce = choices.fill(bytes);
            let width = choices.pick(&[4, 8, 16]).min(bytes);
            let before = choices.below((blocks + 3).min(256)) as u128;
            nonce[bytes - width..].copy_from_slice(&before.wrapping_neg().to_be_bytes()[16 - width..]);
            nonce
        }
        _ => choices.fill(bytes),
    }
}
