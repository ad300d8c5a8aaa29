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
use crate::backend::{BLOCK, Block, Isa, Kernel, LANES, Line, Lines, RoundKeys, STEPS, add_to_row};

/// `S` slots with their groups, with the keys `A`.
pub(super) struct Driver<'d, 's, B: Isa, M, A, const S: usize> {
    b: B,
    lines: Lines<'d, 's, TEXTS, S>,
    /// The current line of each slot. The steps that have been processed contain their output or, if the chain does
    /// not write, the state; the others contain their input.
    line: [Line<B>; S],
    /// The position of the first message of each slot in the order, and the number of messages in the slot.
    first: [usize; S],
    live: [usize; S],
    /// The position of the next message in the order.
    next: usize,
    /// The slots that have a group or may get one, as a bit mask.
    awake: u32,
    jobs: &'d ChainJobs<'s>,
    states: &'d mut [Block],
    keys: A,
    chain: PhantomData<M>,
}

impl<'d, 's, B: Isa, M: SlotChain, A: Keys<'s, B>, const S: usize> Driver<'d, 's, B, M, A, S> {
    #[inline(always)]
    pub(super) fn new(b: B, jobs: &'d ChainJobs<'s>, states: &'d mut [Block], keys: A) -> Self {
        const { assert!(S.is_multiple_of(STEPS) && S < u32::BITS as usize) };
        Self {
            b,
            lines: Lines::new(&jobs.texts),
            line: [[b.zero(); STEPS]; S],
            first: [0; S],
            live: [0; S],
            next: 0,
            awake: (1 << S) - 1,
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
            if slot % STEPS == T && !self.new_line(slot, &mut s[slot]) {
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
            let step = (STEPS + T - slot % STEPS) % STEPS;
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

impl<'s, B: Isa, M: SlotChain, A: Keys<'s, B>, const S: usize> Kernel
    for Event<'_, Driver<'_, 's, B, M, A, S>, B::V>
{
    type Output = B::V;

    #[inline(always)]
    fn run<I: Isa>(self, _: I) -> B::V {
        let Self { driver, slot, s } = self;
        if driver.live[slot] > 0 {
            driver.end_line(slot);
        }
        if driver.lines.advance(slot) {
            driver.read_line(slot);
            s
        } else {
            driver.begin_group(slot)
        }
    }
}

impl<'s, B: Isa, M: SlotChain, A: Keys<'s, B>, const S: usize> Driver<'_, 's, B, M, A, S> {
    /// Writes the output of a slot's line, or stores the states of the messages that end in it.
    #[inline(always)]
    fn end_line(&mut self, slot: usize) {
        let b = self.b;
        if M::WRITES {
            self.lines.write(b, slot, &self.line[slot]);
            return;
        }
        let (mut blocks, mut stored) = ([[0; BLOCK]; LANES], STEPS);
        for lane in 0..B::BLOCKS {
            if lane < self.live[slot]
                && let Some(step) = self.lines.last_step(slot, lane)
            {
                if step != stored {
                    let first_key = self.keys.round_keys().key(b, 0, slot);
                    b.store(b.xor(self.line[slot][step], first_key), &mut blocks);
                    stored = step;
                }
                self.states[self.jobs.order.place(self.first[slot] + lane)] = blocks[lane];
            }
        }
    }

    /// Reads a slot's line, and adds the end blocks of the messages that end in it.
    #[inline(always)]
    fn read_line(&mut self, slot: usize) {
        let (b, ends) = (self.b, self.jobs.ends);
        let mut rows = self.lines.rows(b, slot);
        if ends.is_empty() {
            self.line[slot] = b.transpose(rows);
        } else if let Some(step) = self.lines.common_last_step(slot) {
            self.line[slot] = b.transpose(rows);
            let places = self.places(slot);
            let first = b.load_each(places.map(|place| ends[place][0]));
            let second = b.load_each(places.map(|place| ends[place][1]));
            self.line[slot][step] = b.xor3(self.line[slot][step], first, second);
        } else {
            for lane in 0..B::BLOCKS {
                if lane < self.live[slot]
                    && let Some(step) = self.lines.last_step(slot, lane)
                {
                    let place = self.jobs.order.place(self.first[slot] + lane);
                    add_to_row(b, &mut rows, lane, step, ends[place]);
                }
            }
            self.line[slot] = b.transpose(rows);
        }
    }

    /// Returns the places of the messages in a slot. Lanes without a message have the place 0.
    #[inline(always)]
    fn places(&self, slot: usize) -> [usize; LANES] {
        let mut places = [0; LANES];
        for lane in 0..B::BLOCKS {
            if lane < self.live[slot] {
                places[lane] = self.jobs.order.place(self.first[slot] + lane);
            }
        }
        places
    }

    /// Assigns the next group to a slot, if there is one. Returns its first states, with the first round key added.
    #[inline(always)]
    fn begin_group(&mut self, slot: usize) -> B::V {
        let b = self.b;
        let left = self.jobs.order.len() - self.next;
        if left == 0 {
            self.awake &= !(1 << slot);
            return b.zero();
        }
        (self.first[slot], self.live[slot]) = (self.next, left.min(B::BLOCKS));
        self.next += self.live[slot];
        self.lines.begin(b, slot, self.first[slot], !self.jobs.ends.is_empty());
        self.read_line(slot);
        let places = self.places(slot);
        if !A::SHARED {
            self.keys.assign(slot, places.map(|place| self.jobs.keys[place]));
        }
        let states = b.load_each(places.map(|place| &self.states[place]));
        b.xor(states, self.keys.round_keys().key(b, 0, slot))
    }
}
