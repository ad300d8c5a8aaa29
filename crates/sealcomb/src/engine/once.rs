//! Steps that every message takes once, before its chain or after it, on blocks of its own: all messages of a flight side
//! by side.

use core::marker::PhantomData;

use arrayvec::ArrayVec;

use super::lanes::{Lanes, Registers};
use super::message::{Batch, Column, Message, share_key};
use crate::backend::{BLOCK, Backend, Block, Isa, Kernel, REGISTERS, RoundKeys, Span};

/// What a mode does with `N` blocks of each message.
pub(crate) trait Once<const N: usize> {
    fn step<L: Lanes>(lanes: L, x: &mut [L::Blocks; N]);
}

/// Takes all messages through such a step.
pub(crate) fn run<M: Once<N>, const N: usize>(batch: &Batch<'_, '_, '_>, columns: [&mut Column; N]) {
    let columns = columns.map(ArrayVec::as_mut_slice);
    batch.backend.run(Step::<M, N> { messages: batch.messages, columns, once: PhantomData });
}

struct Step<'b, 'm, 'a, 'c, M, const N: usize> {
    messages: &'b [&'m mut Message<'a>],
    columns: [&'c mut [Block]; N],
    once: PhantomData<M>,
}

impl<M: Once<N>, const N: usize> Kernel for Step<'_, '_, '_, '_, M, N> {
    type Output = ();

    #[inline(always)]
    fn run<B: Isa>(self, b: B) {
        let Self { messages, mut columns, .. } = self;
        // Messages under different keys go one by one.
        let lanes = if share_key(messages) { REGISTERS * B::BLOCKS } else { 1 };
        for from in (0..messages.len()).step_by(lanes) {
            let to = messages.len().min(from + lanes);
            let keys = messages[from].key.aes.encrypting();
            if to - from <= B::BLOCKS {
                step::<M, B, _, 1, N>(b, keys, &mut columns, from, to);
            } else {
                step::<M, B, _, REGISTERS, N>(b, keys, &mut columns, from, to);
            }
        }
    }
}

/// Takes the messages from one to another, at most as many as `R` registers hold.
#[inline(always)]
fn step<M: Once<N>, B: Isa, K: RoundKeys<B>, const R: usize, const N: usize>(
    b: B,
    keys: K,
    columns: &mut [&mut [Block]; N],
    from: usize,
    to: usize,
) {
    let mut x = [[b.zero(); R]; N];
    for n in 0..N {
        for (x, blocks) in x[n].iter_mut().zip(columns[n][from..to].chunks(B::BLOCKS)) {
            *x = if blocks.len() == B::BLOCKS { b.load(blocks) } else { b.load_bytes(blocks.as_flattened()) };
        }
    }
    M::step(Registers::<B, K, R>::new(b, [keys], &[]), &mut x);
    for n in 0..N {
        for (x, blocks) in x[n].iter().zip(columns[n][from..to].chunks_mut(B::BLOCKS)) {
            if blocks.len() == B::BLOCKS {
                b.store(*x, blocks);
            } else {
                b.store_some(*x, blocks);
            }
        }
    }
}

/// Fills a column with the blocks that begin at a byte of each span, padded with zeros.
pub(crate) fn blocks_at<'s>(
    backend: Backend,
    places: impl Iterator<Item = (Span<'s>, usize)>,
    column: &mut Column,
) {
    backend.run(BlocksAt { places, column });
}

struct BlocksAt<'c, I> {
    places: I,
    column: &'c mut Column,
}

impl<'s, I: Iterator<Item = (Span<'s>, usize)>> Kernel for BlocksAt<'_, I> {
    type Output = ();

    #[inline(always)]
    fn run<B: Isa>(self, b: B) {
        for (span, at) in self.places {
            self.column.push(b.first(span.load_part(b, at)));
        }
    }
}

/// Writes a block of each message where the bytes after its whole blocks go, as many bytes as there are.
pub(crate) fn write_last(batch: &mut Batch<'_, '_, '_>, blocks: &Column) {
    batch.backend.run(WriteLast { messages: batch.messages, blocks });
}

struct WriteLast<'b, 'm, 'a> {
    messages: &'b mut [&'m mut Message<'a>],
    blocks: &'b [Block],
}

impl Kernel for WriteLast<'_, '_, '_> {
    type Output = ();

    #[inline(always)]
    fn run<B: Isa>(self, b: B) {
        for (message, block) in self.messages.iter_mut().zip(self.blocks) {
            let at = message.data.len() / BLOCK * BLOCK;
            message.data.store_part(b, at, b.one(block));
        }
    }
}

/// The mask of so many bytes.
pub(crate) fn bytes_mask(bytes: usize) -> Block {
    static MASK: [Block; BLOCK + 1] = {
        let mut mask = [[0; BLOCK]; BLOCK + 1];
        let mut i = 0;
        while i <= BLOCK {
            let mut j = 0;
            while j < i {
                mask[i][j] = 0xff;
                j += 1;
            }
            i += 1;
        }
        mask
    };
    MASK[bytes]
}

/// The mask of a whole block, or of nothing.
pub(crate) fn mask(whole: bool) -> Block {
    bytes_mask(if whole { BLOCK } else { 0 })
}
