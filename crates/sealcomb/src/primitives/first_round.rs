//! Counter-mode caching: the first AES round of consecutive counter blocks, from a table (D. J. Bernstein and
//! P. Schwabe, *New AES software speed records*, 2008).
//!
//! Consecutive counter blocks differ only in their last byte, until it overflows. In a round, each byte contributes
//! to one column of the state, and the contributions are added:
//!
//! ```text
//! round_1(x) = base(x) ⊕ T[last byte of x]
//! base(x)    = round_1(x with a last byte of 0)
//! T[c]       = round_1(c) ⊕ round_1(0)
//! ```
//!
//! With a table, one addition from memory replaces an addition to the counter, a byte shuffle, the addition of the
//! first round key, and a round. The table depends on the key, so it is zeroed on drop. Its indices must be public:
//! counters that a nonce determines without the key.

use core::hint::black_box;

use super::counter::{Counter, Counters, LAST_BYTES, NUMBERS};
use super::permutation::Permutation;
use crate::backend::{BLOCK, Block, Isa, Rows, Weave};

/// Number of values of a last byte.
const BYTES: usize = 1 << u8::BITS;

/// Maximum number of registers of a table. Only registers of four blocks use it.
const MOST: usize = BYTES / 4;

/// A table is worthwhile if, on average, each of its entries is used this often.
const USES: usize = 16;

/// Minimum number of runs. Fewer runs only need a table if they are very long, and must not pay for the question.
const FEWEST: usize = 8;

/// Number of runs that are examined first.
const SAMPLE: usize = 4;

/// A block in which only the last byte is selected.
static LAST_BYTE: Block = (u8::MAX as u128).to_be_bytes();

/// What some runs of counter blocks need: the number of all blocks, the minimum of the last bytes of first blocks, and
/// the maximum of their sums with the numbers of blocks.
pub(crate) struct Demand {
    blocks: usize,
    first: usize,
    end: usize,
}

impl Demand {
    /// Returns the demand of `count` runs if a table for them is worthwhile. `run` returns the last byte of the first
    /// block of a run, and the size of the run in bytes. `shared` returns whether all runs are under one key.
    #[inline(always)]
    pub(crate) fn of<B: Isa, K: Permutation<B>>(
        _: B,
        _: K,
        count: usize,
        run: impl Fn(usize) -> (u8, usize),
        shared: impl Fn() -> bool,
    ) -> Option<Self> {
        if !K::CACHES || count < FEWEST {
            return None;
        }
        // A sample finds most batches that have too few blocks.
        let sample = |i: usize| run(i * count / SAMPLE);
        if !Self::sum::<B>(SAMPLE, sample).suffices(count, SAMPLE) || !shared() {
            return None;
        }
        let demand = Self::sum::<B>(count, run);
        demand.suffices(1, 1).then_some(demand)
    }

    #[inline(always)]
    fn sum<B: Isa>(count: usize, run: impl Fn(usize) -> (u8, usize)) -> Self {
        let mut sum = Self { blocks: 0, first: BYTES, end: 0 };
        for i in 0..count {
            // The compiler would gather the lengths of several messages. That is slow, and the addresses of inactive
            // lanes look like a leak to the tracer.
            let (last, bytes) = run(black_box(i));
            let (last, blocks) = (usize::from(last), bytes.div_ceil(BLOCK).next_multiple_of(B::BLOCKS));
            sum.blocks += blocks;
            sum.first = sum.first.min(last);
            sum.end = sum.end.max(last + blocks);
        }
        sum
    }

    /// Returns whether `count / of` times as many blocks make a table worthwhile.
    #[inline(always)]
    fn suffices(&self, count: usize, of: usize) -> bool {
        self.blocks > 0 && self.blocks * count >= USES * self.entries() * of
    }

    /// Returns the number of last bytes until the overflow.
    #[inline(always)]
    fn entries(&self) -> usize {
        self.end.min(BYTES).saturating_sub(self.first)
    }
}

/// `T` of consecutive last bytes, from `first` on.
pub(crate) struct FirstRounds<B: Isa> {
    rows: Rows<B, MOST>,
    first: usize,
    entries: usize,
}

impl<B: Isa> FirstRounds<B> {
    /// Returns an empty table.
    #[inline(always)]
    pub(crate) fn new() -> Self {
        Self { rows: Rows::new(), first: 0, entries: 0 }
    }

    /// Fills in an empty table. It is not returned by a function: a move would leave a copy of it.
    #[inline(always)]
    pub(crate) fn fill<K: Permutation<B>>(&mut self, b: B, keys: K, demand: &Demand) {
        (self.first, self.entries) = (demand.first, demand.entries());
        let mut zero = [b.zero()];
        keys.first_round(b, &mut zero);
        let mut next = b.add32(b.splat(&(self.first as u128).to_le_bytes()), b.load(&NUMBERS.0));
        let step = b.splat(&NUMBERS.0[B::BLOCKS]);
        for _ in 0..self.entries.div_ceil(B::BLOCKS) {
            let mut x = [b.and(b.reverse(next), b.splat(&LAST_BYTE))];
            keys.first_round(b, &mut x);
            self.rows.push(b.xor(x[0], zero[0]));
            next = b.add32(next, step);
        }
    }

    /// Returns `T` of `R` registers of counter blocks, the first of which has last byte `last`. `None` if the last byte
    /// overflows there, or if the table does not contain all of them.
    #[inline(always)]
    fn get<const R: usize>(&self, last: u8) -> Option<&[Block]> {
        let entries = self.rows.blocks().get(..self.entries)?;
        let entries = entries.get(usize::from(last).wrapping_sub(self.first)..)?;
        if entries.len() < R * B::BLOCKS { None } else { Some(entries) }
    }
}

/// Fills in the counter blocks of four short messages after their first round, or the counter blocks if the cipher does
/// not cache it. In the first register of each message are blocks to whose last bytes the counters from `first` on are
/// added; these must not overflow.
///
/// ```text
/// x_r = round_1(x_0) ⊕ (round_1(r) ⊕ round_1(0))
/// ```
#[inline(always)]
pub(crate) fn short_states<B: Isa, K: Permutation<B>, const R: usize>(
    b: B,
    keys: K,
    first: usize,
    x: &mut [[B::V; R]; 4],
) {
    let mut counters = [b.zero(); R];
    each_register!(R, r => {
        counters[r] = b.load(&LAST_BYTES[first + r * B::BLOCKS..]);
    });
    if !K::CACHES {
        each_register!(4, 0 1 2 3, n => {
            if n < B::BLOCKS {
                let start = x[n][0];
                each_register!(R, r => {
                    x[n][r] = b.xor(start, counters[r]);
                });
            }
        });
        return;
    }
    let mut base = [b.zero(); 4];
    each_register!(4, 0 1 2 3, n => {
        base[n] = b.xor(x[n][0], counters[0]);
    });
    keys.first_round(b, &mut base);
    if R > 1 {
        keys.first_round(b, &mut counters);
    }
    each_register!(4, 0 1 2 3, n => {
        x[n][0] = base[n];
    });
    each_register!(R, r => {
        if r > 0 {
            let change = b.xor(counters[r], counters[0]);
            each_register!(4, 0 1 2 3, n => {
                x[n][r] = b.xor(base[n], change);
            });
        }
    });
}

/// A sequence of counter blocks. If `CACHED` and the cipher [caches](Permutation::CACHES) the first round, they are
/// states after it.
pub(crate) struct States<'t, B: Isa, C: Counter, K, const CACHED: bool> {
    counters: Counters<B, C>,
    keys: K,
    table: Option<&'t FirstRounds<B>>,
    // The last byte of the next counter block, and the base of the following ones until it overflows.
    last: u8,
    base: B::V,
}

impl<'t, B: Isa, C: Counter, K: Permutation<B>, const CACHED: bool> States<'t, B, C, K, CACHED> {
    const CACHES: bool = CACHED && K::CACHES && C::BIG_ENDIAN;

    /// Returns the states of the counter blocks that follow `start` after this many blocks.
    #[inline(always)]
    pub(crate) fn skipping(
        b: B,
        keys: K,
        start: &Block,
        blocks: usize,
        table: Option<&'t FirstRounds<B>>,
    ) -> Self {
        let counters = Counters::<B, C>::skipping(b, b.splat(start), blocks);
        let last = start[BLOCK - 1].wrapping_add(blocks as u8);
        let mut states = Self { counters, keys, table, last, base: b.zero() };
        states.set_base(b);
        states
    }

    /// Computes the base of the next counter blocks.
    #[inline(always)]
    fn set_base(&mut self, b: B) {
        if Self::CACHES && self.table.is_some() {
            let next = self.counters.peek(b);
            let mut base = [b.xor_and(next, next, b.splat(&LAST_BYTE))];
            self.keys.first_round(b, &mut base);
            [self.base] = base;
        }
    }

    /// Returns the next `R` registers.
    #[inline(always)]
    pub(crate) fn take<const R: usize>(&mut self, b: B) -> [B::V; R] {
        if !Self::CACHES {
            return self.counters.take(b);
        }
        let last = self.last;
        self.last = last.wrapping_add((R * B::BLOCKS) as u8);
        let mut x = [b.zero(); R];
        if let Some(entries) = self.table.and_then(|table| table.get::<R>(last)) {
            self.counters.skip(b, R);
            each_register!(R, r => {
                x[r] = b.xor(self.base, b.load(&entries[r * B::BLOCKS..]));
            });
        } else {
            x = self.counters.take(b);
            self.keys.first_round(b, &mut x);
        }
        if self.last < last {
            self.set_base(b);
        }
        x
    }

    /// Completes the encryption of registers that [`States::take`] returned, and does the `R` pieces of `weave`
    /// meanwhile.
    #[inline(always)]
    pub(crate) fn finish<W: Weave<B>, const R: usize>(&self, b: B, x: &mut [B::V; R], weave: &mut W) {
        if Self::CACHES {
            self.keys.finish_with(b, x, weave);
        } else {
            self.keys.encrypt_with(b, x, weave);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::{Backend, Kernel};
    use crate::primitives::aes::KeySchedule;
    use crate::primitives::counter::{Be32, Be128};
    use alloc::format;
    use alloc::vec::Vec;

    /// The last byte of a table's first entry, and the number of its entries.
    const TABLES: [(usize, usize); 7] =
        [(0, 256), (2, 254), (1, 64), (64, 192), (31, 4), (255, 1), (200, 33)];

    /// Number of times that registers are taken: more than 256 blocks.
    const TAKES: usize = 12;

    struct Compare<'k>(&'k KeySchedule);

    impl Kernel for Compare<'_> {
        type Output = ();

        #[inline(always)]
        fn run<B: Isa>(self, b: B) {
            for (first, entries) in TABLES {
                let mut table = FirstRounds::new();
                if B::BLOCKS == 4 && !B::SOFT {
                    let demand = Demand { blocks: entries, first, end: first + entries };
                    table.fill(b, self.0.encrypting(), &demand);
                }
                for last in 0..=u8::MAX {
                    let mut start = [0xff; BLOCK];
                    start[BLOCK - 1] = last;
                    // Runs of `Be128` end where the low 64 bits would overflow.
                    let mut short = start;
                    short[BLOCK / 2] = 0;
                    let context = format!("table of {entries} from {first}, last byte {last}");
                    assert!(
                        keystream::<B, Be32>(b, self.0, &start, &table)
                            == reference::<B, Be32>(b, self.0, &start),
                        "{context}"
                    );
                    assert!(
                        keystream::<B, Be128>(b, self.0, &short, &table)
                            == reference::<B, Be128>(b, self.0, &short),
                        "{context}"
                    );
                }
            }
        }
    }

    /// Encrypts counter blocks in steps of eight registers, three and one.
    #[inline(always)]
    fn keystream<B: Isa, C: Counter>(
        b: B,
        key: &KeySchedule,
        start: &Block,
        table: &FirstRounds<B>,
    ) -> Vec<Block> {
        let mut states = States::<B, C, _, true>::skipping(b, key.encrypting(), start, 1, Some(table));
        let mut blocks = Vec::new();
        for take in 0..TAKES {
            if take % 3 < 2 {
                push::<B, C, 8>(b, &mut states, &mut blocks);
            } else {
                push::<B, C, 3>(b, &mut states, &mut blocks);
                push::<B, C, 1>(b, &mut states, &mut blocks);
            }
        }
        blocks
    }

    #[inline(always)]
    fn push<'k, B: Isa, C: Counter, const R: usize>(
        b: B,
        states: &mut States<'k, B, C, crate::primitives::aes::Shared<'k>, true>,
        blocks: &mut Vec<Block>,
    ) {
        let mut x: [B::V; R] = states.take(b);
        states.finish(b, &mut x, &mut ());
        for x in x {
            let mut register = [[0; BLOCK]; 4];
            b.store(x, &mut register);
            blocks.extend(&register[..B::BLOCKS]);
        }
    }

    /// Encrypts the same counter blocks one by one.
    #[inline(always)]
    fn reference<B: Isa, C: Counter>(b: B, key: &KeySchedule, start: &Block) -> Vec<Block> {
        let count = TAKES / 3 * 20 * B::BLOCKS;
        (1..=count as u64)
            .map(|i| {
                let mut x = [b.one(&C::skip(start, i))];
                key.encrypting().encrypt(b, &mut x);
                b.first(x[0])
            })
            .collect()
    }

    #[test]
    fn states_are_those_of_the_counter_blocks_with_any_table_and_any_start() {
        for backend in Backend::available() {
            for key in [&[7; 16][..], &[8; 24], &[9; 32]] {
                let mut schedule = KeySchedule::empty();
                schedule.expand(backend, key);
                backend.run(Compare(&schedule));
            }
        }
    }
}
