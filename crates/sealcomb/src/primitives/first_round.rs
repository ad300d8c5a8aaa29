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

use super::counter::{Counter, Counters, NUMBERS};
use super::permutation::Permutation;
use crate::backend::{BLOCK, Block, Isa, REGISTERS, Weave};

/// Number of values of a last byte.
const BYTES: usize = 1 << u8::BITS;

/// Number of entries that are repeated after the last one, for eight registers in which the last byte overflows.
const REPEATED: usize = 4 * REGISTERS;

/// A block in which only the last byte is selected.
static LAST_BYTE: Block = (u8::MAX as u128).to_be_bytes();

/// `T` of all last bytes. If the cipher does not [cache](Permutation::CACHES) its first round, its "round" is the
/// identity, and `T` is the last byte itself.
pub(crate) struct FirstRounds([Block; BYTES + REPEATED]);

impl FirstRounds {
    /// Returns a table of zeros.
    pub(crate) fn empty() -> Self {
        Self([[0; BLOCK]; _])
    }

    /// Fills in an empty table.
    #[inline(always)]
    pub(crate) fn fill<B: Isa, K: Permutation<B>>(&mut self, b: B, keys: K) {
        let mut zero = [b.zero()];
        keys.first_round(b, &mut zero);
        let mut next = b.load(&NUMBERS.0);
        let step = b.splat(&NUMBERS.0[B::BLOCKS]);
        for row in self.0.chunks_exact_mut(B::BLOCKS) {
            let mut x = [b.and(b.reverse(next), b.splat(&LAST_BYTE))];
            keys.first_round(b, &mut x);
            b.store(b.xor(x[0], zero[0]), row);
            next = b.add32(next, step);
        }
    }

    /// Returns `T` of a register of counter blocks, the first of which has the last byte `last`. It may overflow in the
    /// register.
    #[inline(always)]
    pub(crate) fn at<B: Isa>(&self, b: B, last: usize) -> B::V {
        b.load(&self.0[last..])
    }

    /// Returns `T` of `R` registers of counter blocks, the first of which has last byte `last`. `None` if the last byte
    /// overflows there.
    #[inline(always)]
    fn get<B: Isa, const R: usize>(&self, last: u8) -> Option<&[Block]> {
        let entries = self.0.get(usize::from(last)..BYTES)?;
        if entries.len() < R * B::BLOCKS { None } else { Some(entries) }
    }
}

/// A sequence of counter blocks. If `CACHED` and the cipher [caches](Permutation::CACHES) the first round, they are
/// states after it.
pub(crate) struct States<'t, B: Isa, C: Counter, K, const CACHED: bool> {
    counters: Counters<B, C>,
    keys: K,
    table: Option<&'t FirstRounds>,
    // The last byte of the next counter block, and the base of the following ones until it overflows.
    last: u8,
    base: B::V,
}

impl<'t, B: Isa, C: Counter, K: Permutation<B>, const CACHED: bool> States<'t, B, C, K, CACHED> {
    const CACHES: bool = CACHED && K::CACHES && C::BIG_ENDIAN;

    /// Returns the states of the counter blocks that follow `start` after this many blocks. `start` is in every lane, and
    /// `last` is its last byte, which only matters with a table.
    #[inline(always)]
    pub(crate) fn skipping(
        b: B,
        keys: K,
        start: B::V,
        last: u8,
        blocks: usize,
        table: Option<&'t FirstRounds>,
    ) -> Self {
        let counters = Counters::<B, C>::skipping(b, start, blocks);
        let last = last.wrapping_add(blocks as u8);
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
        if let Some(entries) = self.table.and_then(|table| table.get::<B, R>(last)) {
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

    /// Prepares another counter block, to be completed together with registers of [`States::take`].
    #[inline(always)]
    pub(crate) fn prepare(&self, b: B, block: B::V) -> B::V {
        let mut block = [block];
        if Self::CACHES {
            self.keys.first_round(b, &mut block);
        }
        block[0]
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
    use alloc::vec::Vec;

    /// Number of times that registers are taken: more than 256 blocks.
    const TAKES: usize = 12;

    struct Compare<'k>(&'k KeySchedule);

    impl Kernel for Compare<'_> {
        type Output = ();

        #[inline(always)]
        fn run<B: Isa>(self, b: B) {
            let mut table = FirstRounds::empty();
            table.fill(b, self.0.encrypting());
            for table in [None, Some(&table)] {
                for last in 0..=u8::MAX {
                    let mut start = [0xff; BLOCK];
                    start[BLOCK - 1] = last;
                    // Runs of `Be128` end where the low 64 bits would overflow.
                    let mut short = start;
                    short[BLOCK / 2] = 0;
                    assert!(
                        keystream::<B, Be32>(b, self.0, &start, table)
                            == reference::<B, Be32>(b, self.0, &start),
                        "last byte {last}"
                    );
                    assert!(
                        keystream::<B, Be128>(b, self.0, &short, table)
                            == reference::<B, Be128>(b, self.0, &short),
                        "last byte {last}"
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
        table: Option<&FirstRounds>,
    ) -> Vec<Block> {
        let mut states = States::<B, C, _, true>::skipping(
            b,
            key.encrypting(),
            b.splat(start),
            start[BLOCK - 1],
            1,
            table,
        );
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
    fn states_are_those_of_the_counter_blocks_from_any_start_with_and_without_a_table() {
        for backend in Backend::available() {
            for key in [&[7; 16][..], &[8; 24], &[9; 32]] {
                let mut schedule = KeySchedule::empty();
                schedule.expand(backend, key);
                backend.run(Compare(&schedule));
            }
        }
    }
}
