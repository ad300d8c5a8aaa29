//! Counter blocks and keystreams of CTR, CCM, GCM and GCM-SIV, which differ in the position of the counter in its block,
//! and the counter blocks of HCTR2.

use super::first_round::{FirstRounds, States};
use super::permutation::Permutation;
use crate::backend::{BLOCK, Block, Isa, REGISTERS, Span, Weave};

/// A kind of counter block: which of its bits count, and in which byte order.
pub(crate) trait Counter {
    /// Whether the counter is big-endian, at the end of the block. Such blocks are byte-reversed before they are counted.
    const BIG_ENDIAN: bool;
    /// Adds numbers of blocks to counters, which are byte-reversed if they are big-endian.
    fn add<B: Isa>(b: B, counter: B::V, blocks: B::V) -> B::V;
    /// Returns the counter block that follows `start` after this many blocks.
    fn skip(start: &Block, blocks: u64) -> Block;
    /// Returns the number of blocks, from `start` on, after which `add` would lose a carry; `None` if it never does.
    fn until_overflow(start: &Block) -> Option<u64>;
}

/// A counter in the last 32 bits, big-endian: GCM.
pub(crate) struct Be32;

/// The whole block as a big-endian counter: CTR and CCM.
pub(crate) struct Be128;

/// A counter in the first 32 bits, little-endian: GCM-SIV.
pub(crate) struct Le32;

impl Counter for Be32 {
    const BIG_ENDIAN: bool = true;

    #[inline(always)]
    fn add<B: Isa>(b: B, counter: B::V, blocks: B::V) -> B::V {
        b.add32(counter, blocks)
    }

    fn skip(start: &Block, blocks: u64) -> Block {
        let mut block = *start;
        let [.., c0, c1, c2, c3] = *start;
        let counter = u32::from_be_bytes([c0, c1, c2, c3]).wrapping_add(blocks as u32);
        block[12..].copy_from_slice(&counter.to_be_bytes());
        block
    }

    fn until_overflow(_: &Block) -> Option<u64> {
        None
    }
}

impl Counter for Be128 {
    const BIG_ENDIAN: bool = true;

    #[inline(always)]
    fn add<B: Isa>(b: B, counter: B::V, blocks: B::V) -> B::V {
        b.add64(counter, blocks)
    }

    fn skip(start: &Block, blocks: u64) -> Block {
        u128::from_be_bytes(*start).wrapping_add(blocks.into()).to_be_bytes()
    }

    // `add` does not carry from the low 64 bits to the high ones.
    #[inline(always)]
    fn until_overflow(start: &Block) -> Option<u64> {
        let low = u128::from_be_bytes(*start) as u64;
        (low != 0).then(|| low.wrapping_neg())
    }
}

impl Counter for Le32 {
    const BIG_ENDIAN: bool = false;

    #[inline(always)]
    fn add<B: Isa>(b: B, counter: B::V, blocks: B::V) -> B::V {
        b.add32(counter, blocks)
    }

    fn skip(start: &Block, blocks: u64) -> Block {
        let mut block = *start;
        let [c0, c1, c2, c3, ..] = *start;
        let counter = u32::from_le_bytes([c0, c1, c2, c3]).wrapping_add(blocks as u32);
        block[..4].copy_from_slice(&counter.to_le_bytes());
        block
    }

    fn until_overflow(_: &Block) -> Option<u64> {
        None
    }
}

/// The numbers from 0 on as little-endian blocks.
#[repr(align(64))]
pub(crate) struct Numbers(pub(crate) [Block; 5 * REGISTERS]);

pub(crate) static NUMBERS: Numbers = {
    let mut numbers = [[0; BLOCK]; 5 * REGISTERS];
    let mut i = 0;
    while i < numbers.len() {
        numbers[i][0] = i as u8;
        i += 1;
    }
    Numbers(numbers)
};

/// Blocks whose last byte counts from 0: the big-endian counters of a short message.
pub(crate) static LAST_BYTES: [Block; 5 * REGISTERS] = {
    let mut blocks = [[0; BLOCK]; 5 * REGISTERS];
    let mut value = 0;
    while value < blocks.len() {
        blocks[value][BLOCK - 1] = value as u8;
        value += 1;
    }
    blocks
};

/// A sequence of counter blocks, taken in registers.
pub(crate) struct Counters<B: Isa, C: Counter> {
    next: B::V,
    kind: core::marker::PhantomData<C>,
}

impl<B: Isa, C: Counter> Counters<B, C> {
    /// Returns the counter blocks that follow `start` after this many blocks. `start` is in every lane.
    #[inline(always)]
    pub(crate) fn skipping(b: B, start: B::V, blocks: usize) -> Self {
        let start = if C::BIG_ENDIAN { b.reverse(start) } else { start };
        let next = C::add(b, start, b.load(&NUMBERS.0[blocks..]));
        Self { next, kind: core::marker::PhantomData }
    }

    /// Returns the next `R` registers of counter blocks.
    #[inline(always)]
    pub(crate) fn take<const R: usize>(&mut self, b: B) -> [B::V; R] {
        let mut blocks = [b.zero(); R];
        let step = b.splat(&NUMBERS.0[B::BLOCKS]);
        for r in 0..R {
            blocks[r] = if C::BIG_ENDIAN { b.reverse(self.next) } else { self.next };
            self.next = C::add(b, self.next, step);
        }
        blocks
    }

    /// Returns the next register of counter blocks, without taking it.
    #[inline(always)]
    pub(crate) fn peek(&self, b: B) -> B::V {
        if C::BIG_ENDIAN { b.reverse(self.next) } else { self.next }
    }

    /// Skips this many registers of counter blocks.
    #[inline(always)]
    pub(crate) fn skip(&mut self, b: B, registers: usize) {
        self.next = C::add(b, self.next, b.splat(&NUMBERS.0[registers * B::BLOCKS]));
    }
}

/// The counter blocks `S ⊕ i` of HCTR2, where `i` counts from 0 as a little-endian number.
#[cfg(feature = "hazmat")]
pub(crate) struct XorCounters<B: Isa> {
    s: B::V,
    next: B::V,
}

#[cfg(feature = "hazmat")]
impl<B: Isa> XorCounters<B> {
    /// `s` is in every lane.
    #[inline(always)]
    pub(crate) fn new(b: B, s: B::V) -> Self {
        Self { s, next: b.load(&NUMBERS.0) }
    }

    /// Returns the next `R` registers of counter blocks.
    #[inline(always)]
    pub(crate) fn take<const R: usize>(&mut self, b: B) -> [B::V; R] {
        let mut blocks = [b.zero(); R];
        let step = b.splat(&NUMBERS.0[B::BLOCKS]);
        for r in 0..R {
            blocks[r] = b.xor(self.next, self.s);
            self.next = b.add64(self.next, step);
        }
        blocks
    }
}

/// Adds the keystream that starts with counter block `start` to a message of any length.
#[inline(always)]
pub(crate) fn xor_keystream<C: Counter, B: Isa, K: Permutation<B>>(
    b: B,
    keys: K,
    start: &Block,
    data: &mut Span<'_>,
) {
    xor_keystream_with::<C, B, K, ()>(b, keys, start, data, &mut (), None);
}

/// Adds the keystream that starts with counter block `start` to a message of any length. For each eight full registers,
/// eight pieces of other work are interleaved with the rounds. `table` is for their first round.
#[inline(always)]
pub(crate) fn xor_keystream_with<C: Counter, B: Isa, K: Permutation<B>, W: Weave<B>>(
    b: B,
    keys: K,
    start: &Block,
    data: &mut Span<'_>,
    weave: &mut W,
    table: Option<&FirstRounds>,
) {
    let mut start = *start;
    let mut at = 0;
    while at < data.len() {
        let left = data.len() - at;
        let run = match C::until_overflow(&start) {
            // A partial last block has a counter, too.
            Some(blocks) if blocks < left.div_ceil(BLOCK) as u64 => BLOCK * blocks as usize,
            _ => left,
        };
        let part = &mut data.part(at, at + run);
        if K::CACHES && table.is_some() {
            xor_run::<C, B, K, W, true>(b, keys, &start, part, weave, table);
        } else {
            xor_run::<C, B, K, W, false>(b, keys, &start, part, weave, None);
        }
        at += run;
        if run == left {
            break;
        }
        start = C::skip(&start, (run / BLOCK) as u64);
    }
}

#[inline(always)]
fn xor_run<C: Counter, B: Isa, K: Permutation<B>, W: Weave<B>, const CACHED: bool>(
    b: B,
    keys: K,
    start: &Block,
    data: &mut Span<'_>,
    weave: &mut W,
    table: Option<&FirstRounds>,
) {
    // A local span stays in registers, because the compiler knows that no store changes it.
    let mut data = data.reborrow();
    let mut states = States::<B, C, K, CACHED>::skipping(b, keys, b.splat(start), start[BLOCK - 1], 0, table);
    let register = BLOCK * B::BLOCKS;
    let mut at = 0;
    while data.len() - at >= REGISTERS * register {
        let mut x: [B::V; REGISTERS] = states.take(b);
        if weave.begin(b) {
            states.finish(b, &mut x, weave);
        } else {
            states.finish(b, &mut x, &mut ());
        }
        let mut chunk = data.chunk::<B, REGISTERS>(at);
        for r in 0..REGISTERS {
            chunk.store(b, r, b.xor(x[r], chunk.load(b, r)));
        }
        at += REGISTERS * register;
    }
    let left = (data.len() - at).div_ceil(register);
    each_count!(left, R => {
        let mut x: [B::V; R] = states.take(b);
        states.finish(b, &mut x, &mut ());
        let text = data.load_tail::<B, R>(b, at);
        for r in 0..R {
            x[r] = b.xor(x[r], text[r]);
        }
        data.store_tail(b, at, &x);
    });
}
