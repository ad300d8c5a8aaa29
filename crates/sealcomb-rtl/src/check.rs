//! Comparison of a top with the library on random packets, and with files of known answers.

use crate::vectors::{self, KnownAnswer};
use crate::{Action, Bench, Expected, Fault, Flow, Forgery, Mode};
use rand::rngs::StdRng;
use rand::{Rng, RngExt, SeedableRng};
use sealcomb::Key;
use std::env;
use std::sync::OnceLock;

/// Number of packets sent back to back.
const PACKETS_PER_RUN: usize = 500;
/// Number of packets if `SEALCOMB_RTL_PACKETS` is not set.
const DEFAULT_PACKETS: usize = 3000;

/// Compares a top with the library on random packets: lengths from 0, changing keys, forgeries, malformed streams and
/// illegal commands among valid packets, with and without pauses on every stream. `SEALCOMB_RTL_PACKETS` is their
/// number; [`seed`] determines them. Some nonces repeat after their slot has received another key, and an engine is also
/// offered keys for slots in use.
///
/// # Panics
/// If the top and the library disagree, or the top is not in this build.
pub fn random(mode: &Mode) {
    let seed = seed();
    let packets = number("SEALCOMB_RTL_PACKETS").unwrap_or(DEFAULT_PACKETS as u64) as usize;
    println!("{}: {packets} random packets", mode.top);
    let mut bench = Bench::new(mode.top, seed);
    let mut workload = Workload::new(mode, seed, bench.width());
    for round in 0..packets.div_ceil(PACKETS_PER_RUN) {
        let flow = Flow::ALL[round % Flow::ALL.len()];
        let actions = workload.actions(PACKETS_PER_RUN.min(packets - round * PACKETS_PER_RUN));
        println!("  from packet {}: {flow:?}", round * PACKETS_PER_RUN);
        bench.run(actions, flow);
    }
}

/// Compares a top with all known answers of its algorithm that it supports: each is sealed, opened, and opened with a
/// flipped bit in the tag. The answers are in `testvectors/` and in the folders of `SEALCOMB_RTL_VECTORS`, separated
/// by colons.
///
/// # Panics
/// If the top returns other results, supports none of the answers, or is not in this build.
pub fn vectors(mode: &Mode) {
    let answers = vectors::fitting(mode);
    assert!(!answers.is_empty(), "{}: no known answers that the top supports", mode.top);
    println!("{}: {} known answers", mode.top, answers.len());
    for (i, flow) in (0..).zip(Flow::ALL) {
        let seed = seed().wrapping_add(i);
        let mut bench = Bench::new(mode.top, seed);
        let mut random = StdRng::seed_from_u64(seed);
        bench.run(known(mode, &answers, &mut random), flow);
    }
}

/// Compares a top with the library on messages of 16,385 bytes, and on messages and additional data of the maximum size:
/// counters of blocks and beats must not wrap before.
///
/// # Panics
/// If the top and the library disagree, or the top is not in this build.
pub fn longest(mode: &Mode) {
    let seed = seed();
    let mut random = StdRng::seed_from_u64(seed);
    let key = bytes(&mut random, mode.algorithm.key_bytes());
    let mut bench = Bench::new(mode.top, seed);
    bench.run(vec![Action::Load { slot: 0, key: (mode.key)(&key) }], Flow::FULL);
    let key = Key::new(mode.algorithm, &key).expect("a key of the algorithm");
    let max_ad_bytes = if mode.max_random_ad_bytes == 0 { 0 } else { mode.max_bytes };
    for (ad, message) in [(17, 16_385), (17, mode.max_bytes), (max_ad_bytes, 17)] {
        let message = longest_message(mode, message);
        // The ciphertext of an expanding mode may be longer than the message.
        let fitting = if mode.is_flagged() { message - message % 16 } else { message };
        let nonce = bytes(&mut random, mode.nonce_bytes);
        let ad = bytes(&mut random, ad.min(max_ad_bytes));
        let message = bytes(&mut random, message);
        let sealed = mode.seal(&key, 0, &nonce, &ad, &message);
        let opened = mode.open(&key, 0, &nonce, &ad, &message[..fitting]);
        bench.run(vec![Action::Send(sealed), Action::Send(opened)], Flow::FULL);
    }
}

/// Returns the largest size up to `bytes` that the top takes, for modes with whole blocks only as well.
fn longest_message(mode: &Mode, bytes: usize) -> usize {
    let padded = mode.algorithm.padded_bytes(bytes.min(mode.max_bytes));
    if padded > mode.max_bytes { mode.max_bytes - mode.max_bytes % 16 } else { padded }
}

/// Returns the seed of all random choices of a test program: `SEALCOMB_SEED`, or a random number, so that repeated
/// runs cover more. It is printed; a run with that `SEALCOMB_SEED` repeats it.
pub fn seed() -> u64 {
    static SEED: OnceLock<u64> = OnceLock::new();
    let seed = *SEED.get_or_init(|| number("SEALCOMB_SEED").unwrap_or_else(|| rand::random::<u32>().into()));
    println!("seed {seed}: repeat this run with SEALCOMB_SEED={seed}");
    seed
}

/// Returns the number in an environment variable, if it is set and not empty.
fn number(variable: &str) -> Option<u64> {
    let text = env::var(variable).ok().filter(|text| !text.is_empty())?;
    Some(text.parse().unwrap_or_else(|_| panic!("{variable}: `{text}` is not a number")))
}

/// Returns the actions for known answers. Their expected results are those of the file, not of the library.
fn known(mode: &Mode, answers: &[KnownAnswer], random: &mut StdRng) -> Vec<Action> {
    let mut actions = Vec::new();
    let mut slots = Slots::new(mode.slots);
    for answer in answers {
        let KnownAnswer { origin, key, nonce, ad, message, output, padded, tag } = answer;
        let slot = slots.of(mode, key, &mut actions);
        let library = Key::new(mode.algorithm, key).expect("a key of the algorithm");
        let mut seal = mode.seal(&library, slot, nonce, ad, message);
        let expected = Expected::Sound { output: output.clone(), tag: *tag, padded: *padded };
        assert_eq!(seal.expected, expected, "the library disagrees with the known answer: {origin}");
        seal.expected = expected;
        let mut open = mode.open(&library, slot, nonce, ad, message);
        (open.message, open.padded) = (output.clone(), *padded);
        open.tag = open.tag.map(|_| *tag);
        let mut forged = open.clone();
        mode.forge(&mut forged, Forgery::Tag, random);
        actions.extend([seal, forged, open].map(Action::Send));
        if message.is_empty() {
            // A forged packet may have output or not, so a valid packet with output must follow.
            let between = mode.seal(&library, slot, nonce, ad, &[0; 16]);
            actions.insert(actions.len() - 1, Action::Send(between));
        }
    }
    actions
}

/// The keys in the slots, the last of which stays empty.
struct Slots {
    keys: Vec<Option<Vec<u8>>>,
    next: usize,
}

impl Slots {
    fn new(slots: u8) -> Self {
        assert!(slots >= 2, "random packets require at least 2 slots");
        Self { keys: vec![None; usize::from(slots) - 1], next: 0 }
    }

    /// Returns the slot of a key, which is loaded if it is in no slot.
    fn of(&mut self, mode: &Mode, key: &[u8], actions: &mut Vec<Action>) -> u8 {
        if let Some(slot) = self.keys.iter().position(|held| held.as_deref() == Some(key)) {
            return slot as u8;
        }
        let slot = self.next;
        self.next = (slot + 1) % self.keys.len();
        self.put(mode, slot as u8, key, actions);
        slot as u8
    }

    /// Loads a key into a slot.
    fn put(&mut self, mode: &Mode, slot: u8, key: &[u8], actions: &mut Vec<Action>) {
        self.keys[usize::from(slot)] = Some(key.to_vec());
        actions.push(Action::Load { slot, key: (mode.key)(key) });
    }
}

/// Generator of random packets, with the keys in the slots.
struct Workload<'a> {
    mode: &'a Mode,
    random: StdRng,
    width: usize,
    keys: Vec<Vec<u8>>,
    expanded: Vec<Key>,
    slots: Slots,
    /// The preceding packet may have output or not, so a valid packet with output must follow.
    uncertain: bool,
}

impl<'a> Workload<'a> {
    fn new(mode: &'a Mode, seed: u64, width: usize) -> Self {
        let mut random = StdRng::seed_from_u64(seed);
        let (mut keys, mut expanded) = (Vec::new(), Vec::new());
        let algorithms = [mode.algorithm, mode.other_size.unwrap_or(mode.algorithm)];
        for algorithm in algorithms.into_iter().cycle().take(usize::from(3 * mode.slots)) {
            let key = bytes(&mut random, algorithm.key_bytes());
            expanded.push(Key::new(algorithm, &key).expect("a key of the algorithm"));
            keys.push(key);
        }
        Self { mode, random, width, keys, expanded, slots: Slots::new(mode.slots), uncertain: false }
    }

    /// Returns this number of random packets. Some stretches use one key, others a new key for each packet.
    fn actions(&mut self, packets: usize) -> Vec<Action> {
        let mut actions = Vec::new();
        let mut key = 0;
        let mut stretch = 0;
        for _ in 0..packets {
            if stretch == 0 {
                let max_stretch = *choose(&mut self.random, &[1, 1, 1, 30]);
                stretch = self.random.random_range(1..=max_stretch);
                // Mostly keys that are already in a slot.
                let among =
                    if self.random.random_bool(0.95) { self.slots.keys.len() } else { self.keys.len() };
                key = self.random.random_range(0..among);
            }
            stretch -= 1;
            if !self.uncertain && self.random.random_bool(0.02) {
                self.push_rekeyed(key, &mut actions);
            } else {
                self.push(key, &mut actions);
            }
        }
        actions
    }

    /// Seals a packet, loads another key into its slot, and seals another packet there whose nonce is equal, or differs
    /// in the low six bits only: what the top keeps of a nonce must not outlast its key.
    fn push_rekeyed(&mut self, key: usize, actions: &mut Vec<Action>) {
        let Self { mode, random, keys, expanded, slots, .. } = self;
        let other = (key + random.random_range(1..keys.len())) % keys.len();
        let slot = slots.of(mode, &keys[key], actions);
        let mut nonce = bytes(random, mode.nonce_bytes);
        let ad = bytes(random, mode.max_random_ad_bytes.min(20));
        let message = bytes(random, mode.algorithm.padded_bytes(40));
        actions.push(Action::Send(mode.seal(&expanded[key], slot, &nonce, &ad, &message)));
        slots.put(mode, slot, &keys[other], actions);
        if let Some(last) = nonce.last_mut() {
            *last ^= random.random_range(0..2) * random.random_range(0..64);
        }
        actions.push(Action::Send(mode.seal(&expanded[other], slot, &nonce, &ad, &message)));
    }

    fn push(&mut self, key: usize, actions: &mut Vec<Action>) {
        let Self { mode, random, .. } = self;
        let empty_slot = mode.slots - 1;
        if !self.uncertain && !mode.illegal.is_empty() && random.random_bool(0.02) {
            let lengths = *choose(random, &mode.illegal);
            let slot = self.slots.of(mode, &self.keys[key], actions);
            actions.push(Action::Send(mode.rejected(slot, lengths, random)));
            self.uncertain = true;
            return;
        }
        let slot = self.slots.of(mode, &self.keys[key], actions);
        let nonce = bytes(random, mode.nonce_bytes);
        let ad = length(random, mode.max_random_ad_bytes);
        let ad = bytes(random, ad);
        let min_bytes = mode.algorithm.min_message_bytes().max(usize::from(self.uncertain));
        let message = length(random, mode.max_random_message_bytes).max(min_bytes);
        let message = bytes(random, mode.algorithm.padded_bytes(message));
        let open = random.random_bool(0.5);
        let make = if open { Mode::open } else { Mode::seal };
        let mut packet = make(mode, &self.expanded[key], slot, &nonce, &ad, &message);
        let sound = self.uncertain;
        if !sound && open && random.random_bool(0.2) {
            let forgery = *choose(random, &[Forgery::Tag, Forgery::Ciphertext, Forgery::Ad, Forgery::Nonce]);
            mode.forge(&mut packet, forgery, random);
        }
        if !sound && random.random_bool(0.04) {
            let fault = *choose(random, &[Fault::Early, Fault::Late, Fault::Kind, Fault::Keep]);
            if packet.can_have(fault, self.width) {
                packet.fault = Some(fault);
                packet.expected = Expected::Error;
            }
        }
        if !sound && random.random_bool(0.01) {
            packet.slot = empty_slot;
            packet.expected = Expected::Error;
        }
        self.uncertain = packet.is_uncertain();
        actions.push(Action::Send(packet));
    }
}

fn bytes(random: &mut StdRng, count: usize) -> Vec<u8> {
    let mut bytes = vec![0; count];
    random.fill_bytes(&mut bytes);
    bytes
}

/// Returns a random length: mostly short, often at the edges of blocks and beats, sometimes up to the maximum.
fn length(random: &mut StdRng, max: usize) -> usize {
    let length = match random.random_range(0..10) {
        0 => 0,
        1 => *choose(random, &[1, 15, 16, 17, 31, 32, 33, 48]),
        2 => *choose(random, &[63, 64, 65, 127, 128, 129, 192, 256]),
        3..=6 => random.random_range(0..80),
        7 | 8 => random.random_range(0..400),
        _ => random.random_range(0..=max),
    };
    length.min(max)
}

fn choose<'a, T>(random: &mut StdRng, among: &'a [T]) -> &'a T {
    &among[random.random_range(0..among.len())]
}
