//! The doublings of an element of GF(2^128), which mask the blocks of a message, and sums of multiples of blocks.
//!
//! A mask is a doubling times a small factor, a polynomial in `x`. It is therefore the sum of as many table entries
//! as the factor has terms.
//!
//! A table has the doublings of a chapter, 128 blocks. Since `x^128 = x^7 + x^2 + x + 1`, each doubling is the sum of
//! the doublings 128, 127, 126 and 121 positions before it. Long messages replace the entries that they have used by
//! those of the next chapter, with these sums. So no length requires a multiplication.

use alloc::boxed::Box;

use super::gf128::double_number;
use crate::backend::{BLOCK, Block, Isa, REGISTERS, Wiped};

/// Number of positions after which a table entry is used again.
const CHAPTER: usize = 128;
/// Number of entries that the masks of eight registers use. A mask is a sum of doublings up to 7 positions after its
/// block's.
const AHEAD: usize = 4 * REGISTERS + 7;

/// Number of registers per step of a long message.
const PACE: usize = REGISTERS / 2;

/// The doublings of an element `L`.
#[derive(Clone)]
#[repr(C, align(64))]
pub(crate) struct Doublings {
    // Aligns `entries[1]`, the first block's mask, to a cache line.
    before: [Block; 3],
    /// The entry at `i` is `2^(i-1) L`.
    entries: [Block; CHAPTER + AHEAD + 1],
}

impl Doublings {
    /// Returns the doublings of `l` in CMAC's convention, in constant time.
    pub(crate) fn new(l: &Block) -> Box<Wiped<Self>> {
        Self::of(u128::from_be_bytes(*l), u128::to_be_bytes)
    }

    /// Returns the doublings of `l` if blocks are little-endian numbers, in constant time.
    pub(crate) fn little_endian(l: &Block) -> Box<Wiped<Self>> {
        Self::of(u128::from_le_bytes(*l), u128::to_le_bytes)
    }

    fn of(l: u128, to_block: fn(u128) -> Block) -> Box<Wiped<Self>> {
        let entries = [[0; BLOCK]; CHAPTER + AHEAD + 1];
        let mut doublings = Box::new(Wiped::new(Self { before: [[0; BLOCK]; 3], entries }));
        let mut v = halve(l);
        for entry in &mut doublings.entries {
            *entry = to_block(v);
            v = double_number(v);
        }
        doublings
    }

    /// Replaces the entries of `PACE` full registers, beginning with `at`, by those `CHAPTER` positions later.
    #[inline(always)]
    fn renew_full<B: Isa>(&mut self, b: B, at: usize) {
        let entries = &mut self.entries[at..at + PACE * B::BLOCKS + 7];
        for r in 0..PACE {
            let from = &mut entries[r * B::BLOCKS..];
            let sum = b.xor3(b.load(from), b.load(&from[1..]), b.load(&from[2..]));
            b.store(b.xor(sum, b.load(&from[7..])), from);
        }
    }

    /// Writes to the entries `to..end` those that come `CHAPTER` positions after the entries starting at `from`.
    #[inline(always)]
    fn renew<B: Isa>(&mut self, b: B, from: usize, to: usize, end: usize) {
        let mut i = 0;
        while to + i < end {
            let from = &self.entries[from + i..];
            let sum = b.xor3(b.load(from), b.load(&from[1..]), b.load(&from[2..]));
            let sum = b.xor(sum, b.load(&from[7..]));
            b.store_some(sum, &mut self.entries[to + i..end]);
            i += B::BLOCKS;
        }
    }
}

/// Returns `v / 2`.
fn halve(v: u128) -> u128 {
    v >> 1 ^ (v & 1).wrapping_neg() & (1 << 127 | 0x43)
}

/// Memory for the table of a message that is longer than a chapter. Allocating it on the heap would take as long as a
/// hundred blocks.
pub(crate) type Room = Option<Wiped<Doublings>>;

/// The sequence of a message's masks.
pub(crate) struct Masks<'k> {
    key: &'k Doublings,
    /// The message's own table, if it is longer than a chapter. Entries before the position are those of the next
    /// chapter.
    own: Option<&'k mut Doublings>,
    /// Table position of the next block, 1 to `CHAPTER`; `CHAPTER + 1` after a message of exactly one chapter.
    place: usize,
}

impl<'k> Masks<'k> {
    /// Returns the masks of a message of at most one chapter.
    #[inline(always)]
    pub(crate) fn short(key: &'k Doublings) -> Self {
        Self { key, own: None, place: 1 }
    }

    /// Returns the masks of a message of at most `blocks` blocks.
    #[inline(always)]
    pub(crate) fn new(key: &'k Doublings, blocks: usize, room: &'k mut Room) -> Self {
        let own = if blocks > CHAPTER { Some(&mut **room.insert(Wiped::new(key.clone()))) } else { None };
        Self { key, own, place: 1 }
    }

    /// Returns the table: the message's own, or the key's.
    #[inline(always)]
    fn entries(&self) -> &[Block] {
        match &self.own {
            Some(own) => &own.entries,
            None => &self.key.entries,
        }
    }

    /// Returns the doublings for the next blocks, up to eight registers of them.
    #[inline(always)]
    pub(crate) fn ahead(&self) -> Ahead<'_> {
        Ahead(self.entries()[self.place..].first_chunk().expect("masks after each place"))
    }

    /// Returns the mask of the `n`th next block, counted from 1, or of the block before it if `n` is 0. `n` is at
    /// most the number of blocks that [`Masks::ahead`] covers.
    #[inline(always)]
    pub(crate) fn block(&self, n: usize, factor: u16) -> Block {
        let entries = &self.entries()[self.place - 1 + n..];
        let mut sum = 0;
        for k in 0..9 {
            if factor >> k & 1 == 1 {
                sum ^= u128::from_ne_bytes(entries[k]);
            }
        }
        sum.to_ne_bytes()
    }

    /// Advances by `blocks` blocks, at most eight registers of them.
    #[inline(always)]
    pub(crate) fn go<B: Isa>(&mut self, b: B, blocks: usize) {
        let next = self.place + blocks;
        self.place = next;
        if let Some(own) = &mut self.own {
            // The last entry passed is not replaced: it is the mask for `n = 0`.
            let used = (next - 1).min(CHAPTER + 1);
            let place = next - blocks;
            if blocks == PACE * B::BLOCKS && next <= CHAPTER {
                own.renew_full(b, place - 1);
            } else {
                own.renew(b, place - 1, place - 1, used);
            }
            if next > CHAPTER {
                own.renew(b, used, used, CHAPTER + 1);
                own.renew(b, 1, CHAPTER + 1, CHAPTER + AHEAD + 1);
                own.renew(b, 0, 0, next - CHAPTER - 1);
                self.place = next - CHAPTER;
            }
        }
    }
}

/// The doublings that begin with one block's.
#[derive(Clone, Copy)]
pub(crate) struct Ahead<'t>(&'t [Block; AHEAD]);

impl Ahead<'_> {
    /// Returns the masks of the blocks of register `r`.
    #[inline(always)]
    pub(crate) fn register<B: Isa>(self, b: B, r: usize, factor: u8) -> B::V {
        let mut sum = b.zero();
        for k in 0..4 {
            if factor >> k & 1 == 1 {
                sum = b.xor(sum, b.load(&self.0[r * B::BLOCKS + k..]));
            }
        }
        sum
    }
}

/// Returns the sum of byte-reversed blocks, each times a power of `x` below 8.
#[inline(always)]
pub(crate) fn sum_of_multiples<B: Isa, const N: usize>(b: B, terms: [(B::V, u32); N]) -> B::V {
    const POLYNOMIAL: Block = 0x87_u128.to_le_bytes();
    let (mut sum, mut beyond) = (b.zero(), b.zero());
    for (v, power) in terms {
        if power == 0 {
            sum = b.xor(sum, v);
        } else {
            sum = b.xor(sum, b.shift_left(v, power));
            beyond = b.xor(beyond, b.shift_right(v, 64 - power));
        }
    }
    // Bits shifted out of the low half move into the high half. Bits shifted out of the high half are reduced.
    b.xor3(sum, b.low_to_high(beyond), b.mul_cross(b.splat(&POLYNOMIAL), beyond))
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;
    use crate::backend::{Backend, Kernel};

    const L: u128 = 0xc6a1_3b37_878f_5b82_6f4f_8162_a1c8_d879;

    /// Returns masks with two factors, and masks of the previous block, in steps of the given sizes.
    struct Walk {
        steps: Vec<usize>,
    }

    impl Kernel for Walk {
        type Output = Vec<[Block; 4]>;

        #[inline(always)]
        fn run<B: Isa>(self, b: B) -> Self::Output {
            let key = Doublings::new(&L.to_be_bytes());
            let mut room = None;
            let mut masks = Masks::new(&key, self.steps.iter().sum(), &mut room);
            let mut all = Vec::new();
            for step in self.steps {
                let first = b.first(masks.ahead().register(b, 0, 0b1011));
                let eighth = b.first(masks.ahead().register(b, 7, 0b1));
                all.push([first, eighth, masks.block(1, 0b1000_0001), masks.block(0, 0b111)]);
                masks.go(b, step.min(8 * B::BLOCKS));
            }
            all
        }
    }

    #[test]
    fn masks_are_multiples_of_doublings_however_long_the_message() {
        let doubling = |place: usize| (0..place).fold(halve(L), |v, _| double_number(v));
        for backend in Backend::available() {
            // Exactly one chapter, and more than one.
            for (size, total) in
                [1, 5, 8, 16, 31, 32].map(|size| (size, 600)).into_iter().chain([(1, 128), (32, 128)])
            {
                let steps: Vec<_> = (0..total / size).map(|_| size).collect();
                let mut place = 1;
                for (i, masks) in backend.run(Walk { steps }).into_iter().enumerate() {
                    let [first, eighth, far, before] = masks.map(u128::from_be_bytes);
                    let d = |ahead: usize| doubling(place + ahead);
                    assert_eq!(first, d(0) ^ d(1) ^ d(3), "{backend:?} {size} {i}");
                    assert_eq!(eighth, d(7 * backend.blocks()), "{backend:?} {size} {i}");
                    assert_eq!(far, d(0) ^ d(7), "{backend:?} {size} {i}");
                    assert_eq!(before, doubling(place - 1) ^ d(0) ^ d(1), "{backend:?} {size} {i}");
                    place += size.min(8 * backend.blocks());
                }
            }
        }
    }

    struct Sum {
        terms: [(Block, u32); 3],
    }

    impl Kernel for Sum {
        type Output = Block;

        #[inline(always)]
        fn run<B: Isa>(self, b: B) -> Block {
            let sum =
                sum_of_multiples(b, self.terms.map(|(block, power)| (b.reverse(b.splat(&block)), power)));
            b.first(b.reverse(sum))
        }
    }

    #[test]
    fn a_sum_of_multiples_is_that_of_doublings() {
        let numbers = [L, L.rotate_left(64), !L];
        for backend in Backend::available() {
            for powers in [[0, 1, 4], [2, 3, 7], [0, 0, 0], [1, 1, 1]] {
                let terms = core::array::from_fn(|i| (numbers[i].to_be_bytes(), powers[i]));
                let expected = (0..3)
                    .map(|i| (0..powers[i]).fold(numbers[i], |v, _| double_number(v)))
                    .fold(0, |sum, v| sum ^ v);
                let sum = backend.run(Sum { terms });
                assert_eq!(u128::from_be_bytes(sum), expected, "{backend:?} {powers:?}");
            }
        }
    }
}
