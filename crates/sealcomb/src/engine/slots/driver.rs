//! The driver of the slots: the steps, and the end of each line.
//!
//! ```text
//! s ← IV ⊕ k_0 ⊕ block 1                        for each message of a new group
//! for each step of all slots:
//!     s ← rounds 1 to n-1 of s
//!     s ← last round of s with k_n ⊕ k_0 ⊕ next block
//!     output ← s ⊕ k_0 ⊕ next block
//! ```
//!
//! This is CBC; [`Added`] defines what other chains add. The next block is not known at the end of a line, and is
//! then added at the beginning of the next line. With counters, a step is:
//!
//! ```text
//! P or C ← block ⊕ stream                       if the chain reads what is written
//! s ← E(s ⊕ block), or E(s ⊕ P), or E(s ⊕ C)
//! stream ← E(counter), counter ← counter + 1
//! P or C ← block ⊕ stream                       if the chain reads what is read
//! ```

use core::marker::PhantomData;

use super::keys::Keys;
use super::{Added, ChainJobs, Counters, Ends, SlotChain, Subkeys, TEXTS};
use crate::backend::{BLOCK, Block, Isa, Kernel, LANES, LastBlocks, Line, Lines, RoundKeys, STEPS};
use crate::primitives::block::PADDING;

/// The counter mode of `C` slots: all of them, or none if the chain has none.
struct Counting<B: Isa, const C: usize> {
    /// The output of each slot's current line, the states after its blocks, and ones where it has bytes of the messages.
    output: [Line<B>; C],
    chain: [Line<B>; C],
    trims: [Line<B>; C],
    /// What EAX and SIV add to each slot's current line, which they may not change: the first round key, and more at ends.
    added: [Line<B>; C],
    /// The counter blocks of each slot with number 0, the first round key added, and the number of the next one; in EAX
    /// and SIV the next counter blocks, byte-reversed.
    bases: [B::V; C],
    counts: [u32; C],
    /// The keystream of the next blocks at the beginning of a line, if the chain reads what is written.
    streams: [B::V; C],
}

/// `S` slots with their groups, with the keys `A`.
pub(super) struct Driver<'d, 's, B: Isa, M, A, const S: usize, const C: usize, const ABREAST: bool> {
    b: B,
    lines: Lines<'d, 's, TEXTS, S>,
    /// The current line of each slot. The steps that have been processed contain their output or, if the chain does
    /// not write, the state; the others contain their input.
    line: [Line<B>; S],
    /// The places of the messages in each slot. The last group may have the last message in several lanes.
    places: [[usize; LANES]; S],
    counting: Counting<B, C>,
    /// The states of those messages in each slot that have ended.
    ended: [B::V; S],
    /// The position of the next message in the order.
    next: usize,
    /// The slots that have a group or may get one, and those that have one, as bit masks.
    awake: u32,
    taken: u32,
    jobs: &'d ChainJobs<'s>,
    states: &'d mut [Block],
    keys: A,
    mode: PhantomData<M>,
}

impl<'d, 's, B: Isa, M: SlotChain, A: Keys<'s, B>, const S: usize, const C: usize, const ABREAST: bool>
    Driver<'d, 's, B, M, A, S, C, ABREAST>
{
    #[inline(always)]
    pub(super) fn new(b: B, jobs: &'d ChainJobs<'s>, states: &'d mut [Block], keys: A) -> Self {
        const { assert!(S < u32::BITS as usize && (C == 0 || C == S)) };
        Self {
            b,
            lines: Lines::new(&jobs.texts),
            line: [[b.zero(); STEPS]; S],
            places: [[0; LANES]; S],
            counting: Counting {
                output: [[b.zero(); STEPS]; C],
                chain: [[b.zero(); STEPS]; C],
                trims: [[b.zero(); STEPS]; C],
                added: [[b.zero(); STEPS]; C],
                bases: [b.zero(); C],
                counts: [0; C],
                streams: [b.zero(); C],
            },
            ended: [b.zero(); S],
            next: 0,
            awake: (1 << S) - 1,
            taken: 0,
            jobs,
            states,
            keys,
            mode: PhantomData,
        }
    }

    /// Processes all chain jobs.
    #[inline(always)]
    pub(super) fn run(mut self) {
        let mut registers = Registers { s: [self.b.zero(); S], stream: [self.b.zero(); C] };
        let r = &mut registers;
        while self.turn::<0>(r) && self.turn::<1>(r) && self.turn::<2>(r) && self.turn::<3>(r) {}
    }

    /// Begins the lines of the slots whose lines begin in turn `T`, and advances all slots by one block. Returns
    /// whether any slot has a group; if none has, nothing is advanced.
    #[inline(always)]
    fn turn<const T: usize>(&mut self, r: &mut Registers<B::V, S, C>) -> bool {
        each_register!(S, slot => {
            if (if ABREAST { T == 0 } else { slot % STEPS == T }) && !self.new_line(slot, r) {
                return false;
            }
        });
        if const { M::COUNTS } {
            self.step_with_counters::<T>(r);
        } else {
            self.step::<T>(&mut r.s);
        }
        true
    }

    /// Ends the line of a slot and begins the next one. Returns whether any slot has a group.
    #[inline(always)]
    fn new_line(&mut self, number: usize, r: &mut Registers<B::V, S, C>) -> bool {
        let b = self.b;
        let written = if M::COUNTS { &self.counting.output[number] } else { &self.line[number] };
        if let Some(line) = self.lines.pass(b, number, written) {
            self.line[number] = line;
        } else if self.awake & (1 << number) != 0 {
            if M::COUNTS {
                self.counting.streams[number] = r.stream[number];
            }
            r.s[number] = b.call(Event { driver: self, slot: number, s: r.s[number] });
            if M::COUNTS {
                r.stream[number] = self.counting.streams[number];
            }
            if self.awake == 0 {
                return false;
            }
        } else {
            return true;
        }
        if !M::COUNTS && M::ADDED == Added::Next {
            r.s[number] = b.xor(r.s[number], self.line[number][0]);
        }
        true
    }

    /// Advances all chains by one block, like [`Self::step`], and the counters next to them.
    #[inline(always)]
    fn step_with_counters<const T: usize>(&mut self, r: &mut Registers<B::V, S, C>) {
        let (b, keys) = (self.b, self.keys.round_keys().hidden());
        let counter_keys = RoundKeys::<B>::hidden(self.jobs.counter_key.encrypting());
        let key_of_counters = |key, round| if M::TWO_KEYS { counter_keys.key(b, round, 0) } else { key };
        let first = keys.key(b, 0, 0);
        let (mut x, mut z) = (r.s, r.s);
        each_register!(S, slot => {
            let step = Self::step_of::<T>(slot);
            let mut text = self.line[slot][step];
            if M::READS_OUTPUT {
                text = b.and(b.xor(text, r.stream[slot]), self.counting.trims[slot][step]);
                self.counting.output[slot][step] = text;
            }
            if M::WHOLE_COUNTERS {
                x[slot] = b.xor3(x[slot], text, self.counting.added[slot][step]);
                z[slot] = b.xor(b.reverse(self.counting.bases[slot]), key_of_counters(first, 0));
                self.counting.bases[slot] = b.increment(self.counting.bases[slot]);
            } else {
                x[slot] = b.xor3(x[slot], text, first);
                z[slot] = b.xor(self.counting.bases[slot], b.last_word(self.counting.counts[slot]));
                self.counting.counts[slot] = self.counting.counts[slot].wrapping_add(1);
            }
        });
        each_round!(I => {
            let key = keys.key(b, I, 0);
            each_register!(S, slot => {
                x[slot] = b.aes_round(x[slot], key);
            });
            let key = key_of_counters(key, I);
            each_register!(S, slot => {
                z[slot] = b.aes_round(z[slot], key);
            });
        });
        for round in 10..keys.rounds() {
            let key = keys.key(b, round, 0);
            each_register!(S, slot => {
                x[slot] = b.aes_round(x[slot], key);
                z[slot] = b.aes_round(z[slot], key_of_counters(key, round));
            });
        }
        let last = keys.last_key(b, 0);
        let last_of_counters = key_of_counters(last, keys.rounds());
        each_register!(S, slot => {
            let step = Self::step_of::<T>(slot);
            r.s[slot] = b.aes_last(x[slot], last);
            self.counting.chain[slot][step] = r.s[slot];
            if M::READS_OUTPUT {
                r.stream[slot] = b.aes_last(z[slot], last_of_counters);
            } else {
                self.counting.output[slot][step] = b.aes_last(z[slot], b.xor(last_of_counters, self.line[slot][step]));
            }
        });
    }

    /// Returns the step of its line in which a slot is in turn `T`: all slots are in the same one, or each is one behind the
    /// slot before it.
    #[inline(always)]
    const fn step_of<const T: usize>(slot: usize) -> usize {
        if ABREAST { T } else { (STEPS + T - slot % STEPS) % STEPS }
    }

    /// Advances all slots by one block.
    #[inline(always)]
    fn step<const T: usize>(&mut self, s: &mut [B::V; S]) {
        let (b, keys) = (self.b, self.keys.round_keys().hidden());
        let rounds = keys.rounds();
        each_round!(I => {
            each_register!(S, slot => {
                s[slot] = b.aes_round(s[slot], keys.key(b, I, slot));
            });
            each_register!(S, slot => {
                s[slot] = b.pin(s[slot]);
            });
        });
        for round in 10..rounds {
            each_register!(S, slot => {
                s[slot] = b.aes_round(s[slot], keys.key(b, round, slot));
            });
        }
        let mut ends = [b.zero(); 2];
        each_register!(S, slot => {
            if slot == 0 || !A::SHARED {
                let first = keys.key(b, 0, slot);
                ends = [first, b.xor(first, keys.key(b, rounds, slot))];
            }
            let step = Self::step_of::<T>(slot);
            let line = &mut self.line[slot];
            // The next line has not been read yet.
            let added = match M::ADDED {
                Added::Next if step < STEPS - 1 => Some(line[step + 1]),
                Added::Current => Some(line[step]),
                Added::Next | Added::Nothing => None,
            };
            let last_key = added.map_or(ends[1], |added| b.xor(ends[1], added));
            s[slot] = b.aes_last(s[slot], last_key);
            line[step] = match (M::ADDED, added) {
                _ if !M::WRITES => s[slot],
                (Added::Next, Some(added)) => b.xor3(s[slot], ends[0], added),
                (Added::Nothing, _) => b.xor3(s[slot], ends[0], line[step]),
                _ => b.xor(s[slot], ends[0]),
            };
        });
    }
}

/// Adds blocks to the ends of messages. It is a separate function, so that other chains do not pay for SIV.
struct AddBlocks<'e, D> {
    driver: &'e mut D,
    slot: usize,
    last: &'e [Block],
    before: &'e [Block],
}

impl<'s, B: Isa, M: SlotChain, A: Keys<'s, B>, const S: usize, const C: usize, const ABREAST: bool> Kernel
    for AddBlocks<'_, Driver<'_, 's, B, M, A, S, C, ABREAST>>
{
    type Output = ();

    #[inline(always)]
    fn run<I: Isa>(self, _: I) {
        let Self { driver, slot, last, before } = self;
        let (b, places) = (driver.b, driver.places[slot]);
        let steps = driver.lines.last_steps(b, slot, true);
        let last = b.load_each(places.map(|place| &last[place]));
        let before = b.load_each(places.map(|place| &before[place]));
        each_register!(STEPS, 0 1 2 3, step => {
            let added = b.select_equal(steps, step as u64, last, b.zero());
            driver.add(slot, step, b.select_equal(steps, step as u64 + 1, before, added));
        });
    }
}

/// What stays in registers.
struct Registers<V, const S: usize, const C: usize> {
    /// The states. Without counters, the first round key has been added, and at the beginning of a step the block that the
    /// chain adds.
    s: [V; S],
    /// The keystream of the next blocks, if the chain reads what is written.
    stream: [V; C],
}

/// The end of a line that is not written as a whole, or after which a message or the group ends. Returns the state of the
/// slot.
struct Event<'e, D, V> {
    driver: &'e mut D,
    slot: usize,
    s: V,
}

impl<'s, B: Isa, M: SlotChain, A: Keys<'s, B>, const S: usize, const C: usize, const ABREAST: bool> Kernel
    for Event<'_, Driver<'_, 's, B, M, A, S, C, ABREAST>, B::V>
{
    type Output = B::V;

    #[inline(always)]
    fn run<I: Isa>(self, _: I) -> B::V {
        let Self { driver, slot, s } = self;
        if driver.taken & (1 << slot) != 0 {
            driver.end_line(slot);
            if driver.lines.advance(slot) {
                driver.read_line(slot);
                return s;
            }
            driver.end_group(slot);
        }
        driver.begin_group(slot)
    }
}

impl<'s, B: Isa, M: SlotChain, A: Keys<'s, B>, const S: usize, const C: usize, const ABREAST: bool>
    Driver<'_, 's, B, M, A, S, C, ABREAST>
{
    /// Writes the output of a slot's line, or keeps the states of the messages that end in it.
    #[inline(always)]
    fn end_line(&mut self, slot: usize) {
        let b = self.b;
        if M::WRITES {
            self.lines.write(b, slot, if M::COUNTS { &self.counting.output[slot] } else { &self.line[slot] });
        }
        if !M::HAS_RESULT {
            return;
        }
        let states = if M::COUNTS { self.counting.chain[slot] } else { self.line[slot] };
        match self.lines.last_blocks(slot) {
            LastBlocks::None => {}
            LastBlocks::All(step) => self.ended[slot] = states[step],
            LastBlocks::Some => {
                let last = self.lines.last_steps(b, slot, self.jobs.ends.bytes() > 0);
                each_register!(STEPS, 0 1 2 3, step => {
                    self.ended[slot] = b.select_equal(last, step as u64, states[step], self.ended[slot]);
                });
            }
        }
    }

    /// Reads a slot's line, and adds the padding and the subkeys to the last blocks of the messages that end in it.
    #[inline(always)]
    fn read_line(&mut self, slot: usize) {
        let b = self.b;
        self.line[slot] = b.transpose(self.lines.rows(b, slot));
        if M::READS_OUTPUT {
            self.counting.trims[slot] = if self.lines.is_whole(slot) {
                [b.splat(&[0xff; BLOCK]); STEPS]
            } else {
                b.transpose(self.lines.masks(b, slot))
            };
        }
        if M::WHOLE_COUNTERS {
            self.counting.added[slot] = [self.keys.round_keys().key(b, 0, slot); STEPS];
        }
        match self.jobs.ends {
            Ends::None => {}
            Ends::Omac(subkeys) => self.add_omac_ends(slot, subkeys),
            Ends::Blocks { last, before } => b.call(AddBlocks { driver: self, slot, last, before }),
        }
    }

    /// Adds blocks to a step of a slot's current line, as the chain reads it.
    #[inline(always)]
    fn add(&mut self, slot: usize, step: usize, blocks: B::V) {
        let line = if M::WHOLE_COUNTERS { &mut self.counting.added[slot] } else { &mut self.line[slot] };
        line[step] = self.b.xor(line[step], blocks);
    }

    /// Adds the padding and the subkeys to the last blocks in a slot's current line.
    #[inline(always)]
    fn add_omac_ends(&mut self, slot: usize, subkeys: &'s [Subkeys<'s>]) {
        let b = self.b;
        match self.lines.last_blocks(slot) {
            LastBlocks::None => {}
            LastBlocks::All(step) => {
                let blocks = if A::SHARED {
                    let [padding, subkey] = self.omac_end(slot, subkeys, 0);
                    b.xor(b.splat(padding), b.splat(subkey))
                } else {
                    self.gather_omac_ends(slot, subkeys)
                };
                self.add(slot, step, blocks);
            }
            LastBlocks::Some => {
                let blocks = self.gather_omac_ends(slot, subkeys);
                let last = self.lines.last_steps(b, slot, true);
                each_register!(STEPS, 0 1 2 3, step => {
                    self.add(slot, step, b.select_equal(last, step as u64, blocks, b.zero()));
                });
            }
        }
    }

    /// Returns what the last block of a lane's message adds: its padding, and `K1` if it is whole or `K2`.
    #[inline(always)]
    fn omac_end(&self, slot: usize, subkeys: &'s [Subkeys<'s>], lane: usize) -> [&'s Block; 2] {
        let bytes = self.lines.last_bytes(slot, lane);
        let [whole, partial] = subkeys[if A::SHARED { 0 } else { self.places[slot][lane] }];
        [&PADDING[bytes], if bytes == BLOCK { whole } else { partial }]
    }

    /// Returns the sum of these two blocks for each lane.
    #[inline(always)]
    fn gather_omac_ends(&self, slot: usize, subkeys: &'s [Subkeys<'s>]) -> B::V {
        let (b, mut blocks) = (self.b, [[&PADDING[0]; LANES]; 2]);
        each_register!(LANES, 0 1 2 3, lane => {
            [blocks[0][lane], blocks[1][lane]] = self.omac_end(slot, subkeys, lane);
        });
        b.xor(b.load_each(blocks[0]), b.load_each(blocks[1]))
    }

    /// Stores the states of a slot's messages.
    #[inline(always)]
    fn end_group(&mut self, slot: usize) {
        if !M::HAS_RESULT {
            return;
        }
        let b = self.b;
        let mut states = self.ended[slot];
        if !M::COUNTS {
            states = b.xor(states, self.keys.round_keys().key(b, 0, slot));
        }
        let lanes = b.transpose([states, b.zero(), b.zero(), b.zero()]);
        each_register!(LANES, 0 1 2 3, lane => {
            if lane < B::BLOCKS {
                self.states[self.places[slot][lane]] = b.first(lanes[lane]);
            }
        });
    }

    /// Assigns the next group to a slot, if there is one. Returns its first states.
    #[inline(always)]
    fn begin_group(&mut self, slot: usize) -> B::V {
        let b = self.b;
        if self.next >= self.jobs.count() {
            self.awake &= !(1 << slot);
            self.taken &= !(1 << slot);
            return b.zero();
        }
        let (next, mut places) = (self.next, [0; LANES]);
        each_register!(LANES, 0 1 2 3, lane => {
            places[lane] = self.jobs.place(next + lane);
        });
        self.places[slot] = places;
        self.next += B::BLOCKS;
        self.taken |= 1 << slot;
        self.lines.begin(b, slot, places, self.jobs.ends.bytes());
        self.read_line(slot);
        if !A::SHARED {
            self.keys.assign(slot, places.map(|place| self.jobs.keys[place]));
        }
        let mut states = b.load_each(places.map(|place| &self.states[place]));
        if M::COUNTS {
            self.begin_counters(slot);
        } else {
            states = b.xor(states, self.keys.round_keys().key(b, 0, slot));
        }
        self.ended[slot] = states;
        states
    }

    /// Begins the counters of a slot's messages.
    #[inline(always)]
    fn begin_counters(&mut self, slot: usize) {
        let (b, places) = (self.b, self.places[slot]);
        let Counters { bases, first: streams, .. } = self.jobs.counters;
        let base = b.load_each(places.map(|place| &bases[place]));
        if M::WHOLE_COUNTERS {
            let base = b.reverse(base);
            self.counting.bases[slot] = if M::READS_OUTPUT { b.increment(base) } else { base };
        } else {
            self.counting.bases[slot] = b.xor(base, self.keys.round_keys().key(b, 0, slot));
            self.counting.counts[slot] = if M::READS_OUTPUT { 2 } else { 1 };
        }
        if M::READS_OUTPUT {
            self.counting.streams[slot] = b.load_each(places.map(|place| &streams[place]));
        }
    }
}
