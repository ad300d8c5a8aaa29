//! Tests of a top with random packets and known answers.

use crate::vectors::{self, KnownAnswer};
use crate::{Action, Bench, Expected, Fault, Flow, Forgery, Mode, is_built};
use rand::rngs::StdRng;
use rand::{Rng, RngExt, SeedableRng};
use sealcomb::Key;
use std::env;
use std::sync::OnceLock;

/// The number of packets in a run of the bench.
const TOGETHER: usize = 500;
/// The default of `SEALCOMB_RTL_PACKETS`.
const FEW: usize = 3000;

/// Plays random packets through a top: all lengths, changing keys, forgeries, faulty streams and illegal commands
/// among valid packets, with and without pauses on every stream. `SEALCOMB_RTL_PACKETS` is the number of packets, and
/// [`seed`] determines them. Does nothing if the build does not include the top.
///
/// # Panics
/// If the top's results differ from the library's.
pub fn random(mode: &Mode) {
    if !is_built(mode.top) {
        println!("{}: not in this build, skipped", mode.top);
        return;
    }
    let seed = seed();
    let packets = number("SEALCOMB_RTL_PACKETS").unwrap_or(FEW as u64) as usize;
    println!("{}: {packets} random packets", mode.top);
    let mut bench = Bench::new(mode.top, seed);
    let mut workload = Workload::new(mode, seed, bench.width());
    for round in 0..packets.div_ceil(TOGETHER) {
        let flow = Flow::ALL[round % Flow::ALL.len()];
        let actions = workload.actions(TOGETHER.min(packets - round * TOGETHER));
        println!("  from packet {}, {flow:?}", round * TOGETHER);
        bench.run(actions, flow);
    }
}

/// Seals and opens all known answers for the mode's algorithm that the top supports, and opens them with a flipped
/// bit in the tag. The answers are in `testvectors/` and in the colon-separated folders of `SEALCOMB_RTL_VECTORS`.
/// Does nothing if the build does not include the top.
///
/// # Panics
/// If the top's results differ, or it supports none of the answers.
pub fn vectors(mode: &Mode) {
    if !is_built(mode.top) {
        println!("{}: not in this build, skipped", mode.top);
        return;
    }
    let answers = vectors::fitting(mode);
    assert!(!answers.is_empty(), "{}: the top supports none of the known answers", mode.top);
    println!("{}: {} known answers", mode.top, answers.len());
    for (i, flow) in (0..).zip(Flow::ALL) {
        let seed = seed().wrapping_add(i);
        let mut bench = Bench::new(mode.top, seed);
        let mut random = StdRng::seed_from_u64(seed);
        bench.run(known(mode, &answers, &mut random), flow);
    }
}

/// Returns and prints the seed of all random choices of a test program: `SEALCOMB_SEED`, or a random number. Setting
/// `SEALCOMB_SEED` to it repeats the run.
pub fn seed() -> u64 {
    static SEED: OnceLock<u64> = OnceLock::new();
    let seed = *SEED.get_or_init(|| number("SEALCOMB_SEED").unwrap_or_else(|| rand::random::<u32>().into()));
    println!("seed {seed}: repeat this run with SEALCOMB_SEED={seed}");
    seed
}

/// Returns the number in an environment variable, or `None` if it is unset or empty.
fn number(variable: &str) -> Option<u64> {
    let text = env::var(variable).ok().filter(|text| !text.is_empty())?;
    Some(text.parse().unwrap_or_else(|_| panic!("{variable} is not a number: {text}")))
}

/// Converts known answers to actions. The expected results are those of the file, and must equal the library's.
fn known(mode: &Mode, answers: &[KnownAnswer], random: &mut StdRng) -> Vec<Action> {
    let mut actions = Vec::new();
    let mut slots = Slots::new(mode.slots);
    for answer in answers {
        let KnownAnswer { origin, key, nonce, ad, message, output, padded, tag } = answer;
        let slot = slots.of(mode, key, &mut actions);
        let library = Key::new(mode.algorithm, key).expect("a key of the algorithm");
        let mut seal = mode.seal(&library, slot, nonce, ad, message);
        let expected = Expected::Sound { output: output.clone(), tag: *tag, padded: *padded };
        assert_eq!(seal.expected, expected, "the library differs from {origin}");
        seal.expected = expected;
        let mut open = mode.open(&library, slot, nonce, ad, message);
        (open.message, open.padded) = (output.clone(), *padded);
        open.tag = open.tag.map(|_| *tag);
        let mut forged = open.clone();
        mode.forge(&mut forged, Forgery::Tag, random);
        actions.extend([seal, forged, open].map(Action::Send));
        if message.is_empty() {
            // The core may choose to have output for a forged packet, so a valid one with output must follow.
            let between = mode.seal(&library, slot, nonce, ad, &[0; 16]);
            actions.insert(actions.len() - 1, Action::Send(between));
        }
    }
    actions
}

/// The keys in the slots. The last slot stays empty.
struct Slots {
    keys: Vec<Option<Vec<u8>>>,
    next: usize,
}

impl Slots {
    fn new(slots: u8) -> Self {
        assert!(slots >= 2, "the top has {slots} slots; expected at least 2");
        Self { keys: vec![None; usize::from(slots) - 1], next: 0 }
    }

    /// Returns the slot of a key, loading it if it is in no slot.
    fn of(&mut self, mode: &Mode, key: &[u8], actions: &mut Vec<Action>) -> u8 {
        if let Some(slot) = self.keys.iter().position(|held| held.as_deref() == Some(key)) {
            return slot as u8;
        }
        let slot = self.next;
        self.next = (slot + 1) % self.keys.len();
        self.keys[slot] = Some(key.to_vec());
        actions.push(Action::Load { slot: slot as u8, key: (mode.key)(key) });
        slot as u8
    }
}

/// A generator of random packets that tracks the keys in the slots.
struct Workload<'a> {
    mode: &'a Mode,
    random: StdRng,
    width: usize,
    keys: Vec<Vec<u8>>,
    expanded: Vec<Key>,
    slots: Slots,
    /// Whether the core could choose to have output for the previous packet. If so, a valid one with output must
    /// follow.
    uncertain: bool,
}

impl<'a> Workload<'a> {
    fn new(mode: &'a Mode, seed: u64, width: usize) -> Self {
        let mut random = StdRng::seed_from_u64(seed);
        let keys: Vec<Vec<u8>> =
            (0..3 * mode.slots).map(|_| bytes(&mut random, mode.algorithm.key_bytes)).collect();
        let expand = |key: &Vec<u8>| Key::new(mode.algorithm, key).expect("a key of the algorithm");
        let expanded = keys.iter().map(expand).collect();
        Self { mode, random, width, keys, expanded, slots: Slots::new(mode.slots), uncertain: false }
    }

    /// Returns `packets` packets. Some consecutive packets use one key, others a new key each.
    fn actions(&mut self, packets: usize) -> Vec<Action> {
        let mut actions = Vec::new();
        let mut key = 0;
        let mut stretch = 0;
        for _ in 0..packets {
            if stretch == 0 {
                let max = *choose(&mut self.random, &[1, 1, 1, 30]);
                stretch = self.random.random_range(1..=max);
                // Mostly keys that are already in a slot.
                let among =
                    if self.random.random_bool(0.95) { self.slots.keys.len() } else { self.keys.len() };
                key = self.random.random_range(0..among);
            }
            stretch -= 1;
            self.push(key, &mut actions);
        }
        actions
    }

    fn push(&mut self, key: usize, actions: &mut Vec<Action>) {
        let Self { mode, random, .. } = self;
        let empty_slot = mode.slots - 1;
        if !self.uncertain && !mode.illegal.is_empty() && random.random_bool(0.02) {
            let lengths = *choose(random, &mode.illegal);
            let slot = self.slots.of(mode, &self.keys[key], actions);
            actions.push(Action::Send(mode.refused(slot, lengths, random)));
            self.uncertain = true;
            return;
        }
        let slot = self.slots.of(mode, &self.keys[key], actions);
        let nonce = bytes(random, mode.nonce_bytes);
        let ad = length(random, mode.longest_ad);
        let ad = bytes(random, ad);
        let min = mode.algorithm.min_message_bytes.max(usize::from(self.uncertain));
        let message = length(random, mode.longest).max(min);
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

/// Returns a random length: mostly short, often at block and beat boundaries, sometimes up to `longest`.
fn length(random: &mut StdRng, longest: usize) -> usize {
    let length = match random.random_range(0..10) {
        0 => 0,
        1 => *choose(random, &[1, 15, 16, 17, 31, 32, 33, 48]),
        2 => *choose(random, &[63, 64, 65, 127, 128, 129, 192, 256]),
        3..=6 => random.random_range(0..80),
        7 | 8 => random.random_range(0..400),
        _ => random.random_range(0..=longest),
    };
    length.min(longest)
}

fn choose<'a, T>(random: &mut StdRng, among: &'a [T]) -> &'a T {
    &among[random.random_range(0..among.len())]
}
