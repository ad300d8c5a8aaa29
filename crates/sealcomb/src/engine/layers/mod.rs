//! Two layers of the cipher with a linear mixing between them, as COPA, COLM and ELmD have it: across the blocks of one
//! message or of messages abreast, then the last two blocks of all messages side by side.
//!
//! Letters are those of the specifications: `M` and `C` are the blocks of message and ciphertext, `X` and `Y` what
//! leaves the upper layer and what enters the lower one, `W` the mixing's state, `l` the number of blocks, `T` the tag.

mod absorb;
mod bulk;
mod last;
mod mixing;

use alloc::boxed::Box;
use core::marker::PhantomData;

use arrayvec::ArrayVec;

#[cfg(feature = "research")]
pub(crate) use absorb::absorb;
pub(crate) use absorb::absorb_nonce_and_aad;
use bulk::before_last;
use last::{Last, open_last, seal_last};
use mixing::Mixing;
pub(crate) use mixing::{Rho, Sum};

use super::{Batch, FLIGHT, Material, Message, Schedule, share_key};
use crate::backend::{BLOCK, Backend, Block, Isa, Kept, Kernel, REGISTERS, Wiped};
use crate::primitives::doublings::Doublings;
pub(crate) use crate::primitives::doublings::Room;
use crate::primitives::rounds::LayerCipher;
use crate::primitives::wipe;

/// Registers that are in a layer at a time: with those in the other, as many as fill the units.
const GROUP: usize = REGISTERS / 2;

/// Messages that go through the layers side by side: a flight would take more of the stack than all other modes do.
const SIDE_BY_SIDE: usize = FLIGHT / 2;

/// A block of each of them.
pub(crate) type Column = ArrayVec<Block, SIDE_BY_SIDE>;

/// A mode of two layers.
///
/// Masks are polynomials, bit `k` for `x^k`, which multiply `2^(i-1) L` for block `i`, counted from 1.
pub(crate) trait Layers {
    type Upper: LayerCipher;
    type UpperInverse: LayerCipher;
    type Lower: LayerCipher;
    type LowerInverse: LayerCipher;
    type Mixing: Mixing;

    /// The masks of blocks `i < l`.
    const TOP: u8;
    const BOTTOM: u8;
    /// The masks of block `l` and of the block for the tag, where the message's last block is full, and where it was padded.
    /// They multiply `2^(l-2) L`.
    const LAST_TOP: [[u16; 2]; 2];
    const LAST_BOTTOM: [[u16; 2]; 2];
    /// Whether the sum of all blocks takes the place of block `l`, not only that of the block for the tag.
    const SUM_IS_LAST: bool;
    /// What is added before the tag's call of the lower layer.
    const BEFORE_TAG: u128;
    /// Blocks between intermediate tags; 0 if there are none.
    const GAP: usize;

    /// Whether the ciphertext has whole blocks and a byte that says whether the last was padded. If not, it is as long as
    /// the message, and the tag begins within its last block.
    fn is_flagged(&self) -> bool;
    /// The mixing's state before the first block, from nonce and additional data; `room` is for their masks.
    fn start<B: Isa>(&self, b: B, messages: &[&mut Message<'_>], room: &mut Room, states: &mut Column);
}

/// The doublings of a key's `L`.
#[inline(always)]
pub(crate) fn doublings(key: &Material) -> &Doublings {
    key.kept.get()
}

/// The key of such a mode: `L` is what `calls` calls of the cipher make of zero.
pub(crate) fn key<C: LayerCipher>(backend: Backend, calls: usize, material: &mut Material) {
    material.aes.invert(backend);
    let doublings = backend.run(Derive::<C> { key: material, calls, cipher: PhantomData });
    material.kept = Kept::new(doublings);
}

struct Derive<'k, C> {
    key: &'k Material,
    calls: usize,
    cipher: PhantomData<C>,
}

impl<C: LayerCipher> Kernel for Derive<'_, C> {
    type Output = Box<Wiped<Doublings>>;

    #[inline(always)]
    fn run<B: Isa>(self, b: B) -> Box<Wiped<Doublings>> {
        let mut l = [[0; BLOCK]];
        for _ in 0..self.calls {
            some::<C, B, 1>(b, self.key, &mut l);
        }
        let doublings = Doublings::new(&l[0]);
        wipe(&mut l);
        doublings
    }
}

/// Takes blocks of messages that have the same number of them, one message's after the other's, through a layer.
#[inline(always)]
pub(crate) fn each<C: LayerCipher, B: Isa>(b: B, messages: &[&mut Message<'_>], blocks: &mut [Block]) {
    b.call(Each::<C> { messages, blocks, cipher: PhantomData });
}

/// A function for all modes and all their calls of a layer: there are so many that to write each out takes the compiler
/// longer than all else of these modes.
struct Each<'b, 'm, 'a, C> {
    messages: &'b [&'m mut Message<'a>],
    blocks: &'b mut [Block],
    cipher: PhantomData<C>,
}

impl<C: LayerCipher> Kernel for Each<'_, '_, '_, C> {
    type Output = ();

    #[inline(always)]
    fn run<B: Isa>(self, b: B) {
        let Self { messages, blocks, .. } = self;
        if messages.is_empty() {
            return;
        }
        let each = if share_key(messages) { blocks.len() } else { blocks.len() / messages.len() };
        for (message, blocks) in messages.iter().zip(blocks.chunks_mut(each.max(1))) {
            layer::<C, B>(b, message.key, blocks);
        }
    }
}

/// Takes blocks through a layer under one key.
#[inline(always)]
fn layer<C: LayerCipher, B: Isa>(b: B, key: &Material, blocks: &mut [Block]) {
    let mut chunks = blocks.chunks_exact_mut(REGISTERS * B::BLOCKS);
    for chunk in &mut chunks {
        some::<C, B, REGISTERS>(b, key, chunk);
    }
    for chunk in chunks.into_remainder().chunks_mut(B::BLOCKS) {
        some::<C, B, 1>(b, key, chunk);
    }
}

#[inline(always)]
fn some<C: LayerCipher, B: Isa, const R: usize>(b: B, key: &Material, blocks: &mut [Block]) {
    let mut x = [b.zero(); R];
    for (x, blocks) in x.iter_mut().zip(blocks.chunks(B::BLOCKS)) {
        *x = b.load_bytes(blocks.as_flattened());
    }
    C::run(b, &key.aes, &mut x);
    for (x, blocks) in x.iter().zip(blocks.chunks_mut(B::BLOCKS)) {
        b.store_some(*x, blocks);
    }
}

/// Seals the messages of a flight.
pub(crate) fn seal<M: Layers>(mode: &M, batch: &mut Batch<'_, '_, '_>) {
    batch.backend.run(Crypt::<M, false> { mode, schedule: batch.schedule, messages: batch.messages });
}

/// Opens the messages of a flight.
pub(crate) fn open<M: Layers>(mode: &M, batch: &mut Batch<'_, '_, '_>) {
    batch.backend.run(Crypt::<M, true> { mode, schedule: batch.schedule, messages: batch.messages });
}

struct Crypt<'b, 'm, 'a, M, const OPENS: bool> {
    mode: &'b M,
    schedule: Schedule,
    messages: &'b mut [&'m mut Message<'a>],
}

impl<M: Layers, const OPENS: bool> Kernel for Crypt<'_, '_, '_, M, OPENS> {
    type Output = ();

    #[inline(always)]
    fn run<B: Isa>(self, b: B) {
        let is_flagged = self.mode.is_flagged();
        let mut rooms = [None, None];
        for messages in self.messages.chunks_mut(SIDE_BY_SIDE) {
            let mut start = Column::new();
            self.mode.start(b, messages, &mut rooms[0], &mut start);
            let mut lasts = ArrayVec::<Last, SIDE_BY_SIDE>::new();
            for (message, w) in messages.iter().zip(&start) {
                lasts.push(Last::new::<M, OPENS>(message, w, is_flagged));
            }
            before_last::<M, B, OPENS>(b, self.schedule, messages, &mut rooms, &mut lasts);
            if OPENS {
                open_last::<M, B>(b, messages, &mut lasts, is_flagged);
            } else {
                seal_last::<M, B>(b, messages, &mut lasts, is_flagged);
            }
        }
    }
}
