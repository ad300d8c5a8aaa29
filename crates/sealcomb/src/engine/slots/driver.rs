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
//! then added at the beginning of the next line.

use core::marker::PhantomData;

use super::keys::Keys;
use super::{Added, ChainJobs, SlotChain, TEXTS};
use crate::backend::{BLOCK, Block, Isa, Kernel, LANES, LastBlocks, Line, Lines, RoundKeys, STEPS};
use crate::primitives::block::PADDING;

/// `S` slots with their groups, with the keys `A`.
pub(super) struct Driver<'d, 's, B: Isa, M, A, const S: usize, const ABREAST: bool> {
    b: B,
    lines: Lines<'d, 's, TEXTS, S>,
    /// The current line of each slot. The steps that have been processed contain their output or, if the chain does
    /// not write, the state; the others contain their input.
    line: [Line<B>; S],
    /// The places of the messages in each slot. Lanes without a message have that of the last one.
    places: [[usize; LANES]; S],
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
    chain: PhantomData<M>,
}

impl<'d, 's, B: Isa, M: SlotChain, A: Keys<'s, B>, const S: usize, const ABREAST: bool>
    Driver<'d, 's, B, M, A, S, ABREAST>
{
    #[inline(always)]
    pub(super) fn new(b: B, jobs: &'d ChainJobs<'s>, states: &'d mut [Block], keys: A) -> Self {
        const { assert!(S.is_multiple_of(STEPS) && S < u32::BITS as usize) };
        Self {
            b,
            lines: Lines::new(&jobs.texts),
            line: [[b.zero(); STEPS]; S],
            places: [[0; LANES]; S],
            ended: [b.zero(); S],
            next: 0,
            awake: (1 << S) - 1,
            taken: 0,
            jobs,
            states,
            keys,
            chain: PhantomData,
        }
    }

    /// Processes all chain jobs.
    #[inline(always)]
    pub(super) fn run(mut self) {
        let mut s = [self.b.zero(); S];
        while self.turn::<0>(&mut s)
            && self.turn::<1>(&mut s)
            && self.turn::<2>(&mut s)
            && self.turn::<3>(&mut s)
        {}
    }

    /// Begins the lines of the slots whose lines begin in turn `T`, and advances all slots by one block. Returns
    /// whether any slot has a group; if none has, nothing is advanced.
    #[inline(always)]
    fn turn<const T: usize>(&mut self, s: &mut [B::V; S]) -> bool {
        each_register!(S, slot => {
            if (if ABREAST { T == 0 } else { slot % STEPS == T }) && !self.new_line(slot, &mut s[slot]) {
                return false;
            }
        });
        self.step::<T>(s);
        true
    }

    /// Ends the line of a slot and begins the next one. `s` is the sum of the chain's state and the first round key,
    /// before and afterwards. Returns whether any slot has a group.
    #[inline(always)]
    fn new_line(&mut self, number: usize, s: &mut B::V) -> bool {
        let b = self.b;
        if let Some(line) = self.lines.pass(b, number, &self.line[number]) {
            self.line[number] = line;
        } else if self.awake & (1 << number) != 0 {
            *s = b.call(Event { driver: self, slot: number, s: *s });
            if self.awake == 0 {
                return false;
            }
        } else {
            return true;
        }
        if M::ADDED == Added::Next {
            *s = b.xor(*s, self.line[number][0]);
        }
        true
    }

    /// Advances all slots by one block. This is step `T` of the line in slot 0; each of the next slots is one step
    /// behind the slot before it.
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
            let step = if ABREAST { T } else { (STEPS + T - slot % STEPS) % STEPS };
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

/// The end of a line that is not written as a whole, or after which a message or the group ends.
struct Event<'e, D, V> {
    driver: &'e mut D,
    slot: usize,
    s: V,
}

impl<'s, B: Isa, M: SlotChain, A: Keys<'s, B>, const S: usize, const ABREAST: bool> Kernel
    for Event<'_, Driver<'_, 's, B, M, A, S, ABREAST>, B::V>
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

impl<'s, B: Isa, M: SlotChain, A: Keys<'s, B>, const S: usize, const ABREAST: bool>
    Driver<'_, 's, B, M, A, S, ABREAST>
{
    /// Writes the output of a slot's line, or keeps the states of the messages that end in it.
    #[inline(always)]
    fn end_line(&mut self, slot: usize) {
        let b = self.b;
        if M::WRITES {
            return self.lines.write(b, slot, &self.line[slot]);
        }
        match self.lines.last_blocks(slot) {
            LastBlocks::None => {}
            LastBlocks::All(step) => self.ended[slot] = self.line[slot][step],
            LastBlocks::Some => {
                let last = self.lines.last_steps(b, slot, !self.jobs.subkeys.is_empty());
                each_register!(STEPS, 0 1 2 3, step => {
                    let state = self.line[slot][step];
                    self.ended[slot] = b.select_equal(last, step as u64, state, self.ended[slot]);
                });
            }
        }
    }

    /// Reads a slot's line, and adds the padding and the subkeys to the last blocks of the messages that end in it.
    #[inline(always)]
    fn read_line(&mut self, slot: usize) {
        let b = self.b;
        let line = b.transpose(self.lines.rows(b, slot));
        self.line[slot] = line;
        if self.jobs.subkeys.is_empty() {
            return;
        }
        match self.lines.last_blocks(slot) {
            LastBlocks::None => {}
            LastBlocks::All(step) => {
                let addition = if A::SHARED {
                    let [padding, subkey] = self.last_block_additions(slot, 0);
                    b.xor(b.splat(padding), b.splat(subkey))
                } else {
                    self.gather_last_block_additions(slot)
                };
                self.line[slot][step] = b.xor(line[step], addition);
            }
            LastBlocks::Some => {
                let addition = self.gather_last_block_additions(slot);
                let last = self.lines.last_steps(b, slot, !self.jobs.subkeys.is_empty());
                each_register!(STEPS, 0 1 2 3, step => {
                    let sum = b.xor(line[step], addition);
                    self.line[slot][step] = b.select_equal(last, step as u64, sum, line[step]);
                });
            }
        }
    }

    /// Returns what the last block of a lane's message adds: its padding, and `K1` if it is whole or `K2`.
    #[inline(always)]
    fn last_block_additions(&self, slot: usize, lane: usize) -> [&'s Block; 2] {
        let bytes = self.lines.last_bytes(slot, lane);
        let [whole, partial] = self.jobs.subkeys[if A::SHARED { 0 } else { self.places[slot][lane] }];
        [&PADDING[bytes], if bytes == BLOCK { whole } else { partial }]
    }

    /// Returns the sum of these two blocks for each lane.
    #[inline(always)]
    fn gather_last_block_additions(&self, slot: usize) -> B::V {
        let b = self.b;
        let (mut paddings, mut subkeys) = ([&PADDING[0]; LANES], [&PADDING[0]; LANES]);
        each_register!(LANES, 0 1 2 3, lane => {
            [paddings[lane], subkeys[lane]] = self.last_block_additions(slot, lane);
        });
        b.xor(b.load_each(paddings), b.load_each(subkeys))
    }

    /// Stores the states of a slot's messages.
    #[inline(always)]
    fn end_group(&mut self, slot: usize) {
        if M::WRITES {
            return;
        }
        let b = self.b;
        let states = b.xor(self.ended[slot], self.keys.round_keys().key(b, 0, slot));
        let lanes = b.transpose([states, b.zero(), b.zero(), b.zero()]);
        each_register!(LANES, 0 1 2 3, lane => {
            if lane < B::BLOCKS {
                self.states[self.places[slot][lane]] = b.first(lanes[lane]);
            }
        });
    }

    /// Assigns the next group to a slot, if there is one. Returns its first states, with the first round key added.
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
        self.lines.begin(b, slot, places, !self.jobs.subkeys.is_empty());
        self.read_line(slot);
        if !A::SHARED {
            self.keys.assign(slot, places.map(|place| self.jobs.keys[place]));
        }
        let states = b.load_each(places.map(|place| &self.states[place]));
        let states = b.xor(states, self.keys.round_keys().key(b, 0, slot));
        self.ended[slot] = states;
        states
    }
}
