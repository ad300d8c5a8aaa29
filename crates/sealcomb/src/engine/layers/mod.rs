//! Two cipher layers with a linear mixing between them, for COPA, COLM and ELmD.
//!
//! ```text
//! W ← state after the nonce and the additional data
//! for i = 1, …, l + 1:                       M[l+1]: the sum of all blocks
//!     X ← Upper(M[i] ⊕ top mask)
//!     (Y, W) ← mixing(X, W)
//!     C[i] ← Lower(Y) ⊕ bottom mask
//! T ← C[l+1]                                 if the ciphertext has a flag byte
//!     the 16 bytes of C after the first |M|  otherwise
//! ```
//!
//! - `absorb` computes the state after the nonce and the additional data.
//! - `bulk` processes all blocks but the last, across the blocks of one message or of messages abreast.
//! - `mixing` has the linear mixings.
//! - `last` processes the last block and the tag block of all messages together.
//!
//! Letters are those of the specifications: `M` and `C` are the blocks of message and ciphertext, `X` the upper
//! layer's output, `Y` the lower layer's input, `W` the mixing's state, `l` the number of blocks, and `T` the tag.

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
use crate::backend::{BLOCK, Backend, Block, Isa, Kernel, ModeState, REGISTERS, Wiped};
use crate::primitives::doublings::Doublings;
pub(crate) use crate::primitives::doublings::Room;
use crate::primitives::rounds::LayerCipher;
use crate::primitives::wipe;

/// Number of registers in a layer at a time. Together with those in the other layer, they fill the AES units.
const GROUP: usize = REGISTERS / 2;

/// Maximum number of messages processed together. A whole flight would need more stack than any other mode.
const SIDE_BY_SIDE: usize = FLIGHT / 2;

/// One block of each of these messages.
pub(crate) type Column = ArrayVec<Block, SIDE_BY_SIDE>;

/// A two-layer mode.
///
/// Masks are given by factors: polynomials in `x`, bit `k` for `x^k`. The factor of block `i`, counted from 1,
/// multiplies `2^(i-1) L`.
pub(crate) trait Layers {
    /// The upper layer's cipher.
    type Upper: LayerCipher;
    /// Inverse of the upper layer's cipher.
    type UpperInverse: LayerCipher;
    /// The lower layer's cipher.
    type Lower: LayerCipher;
    /// Inverse of the lower layer's cipher.
    type LowerInverse: LayerCipher;
    /// The linear mixing between the layers.
    type Mixing: Mixing;

    /// Factor of the upper layer's masks, for blocks `i < l`.
    const TOP: u8;
    /// Factor of the lower layer's masks, for blocks `i < l`.
    const BOTTOM: u8;
    /// Factors of the upper layer's masks for block `l` and the tag block: first if the message's last block is full,
    /// then if it was padded. They multiply `2^(l-2) L`.
    const LAST_TOP: [[u16; 2]; 2];
    /// Factors of the lower layer's masks, in the order of [`Self::LAST_TOP`].
    const LAST_BOTTOM: [[u16; 2]; 2];
    /// Whether the sum of all blocks also replaces block `l`, and not only serves as the tag block.
    const SUM_IS_LAST: bool;
    /// Block that is added to the tag block before the lower layer.
    const BEFORE_TAG: u128;
    /// Number of blocks between intermediate tags; 0 if there are none.
    const GAP: usize;

    /// Returns whether the ciphertext consists of whole blocks and a byte that says whether the last one was padded.
    /// Otherwise it is as long as the message, and the tag begins within its last block.
    fn is_flagged(&self) -> bool;
    /// Computes the mixing's state before the first block, from the nonce and the additional data. `room` is memory
    /// for their masks.
    fn start<B: Isa>(&self, b: B, messages: &[&mut Message<'_>], room: &mut Room, states: &mut Column);
}

/// Returns the doublings of a key's `L`.
#[inline(always)]
pub(crate) fn doublings(key: &Material) -> &Doublings {
    key.mode_state.get()
}

/// Computes the key material of a two-layer mode. `L` is the zero block after `calls` calls of the cipher.
pub(crate) fn expand_key<C: LayerCipher>(backend: Backend, calls: usize, material: &mut Material) {
    material.aes.invert(backend);
    let doublings = backend.run(Derive::<C> { key: material, calls, cipher: PhantomData });
    material.mode_state = ModeState::new(doublings);
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

/// Applies a layer to blocks of several messages. Every message has the same number of blocks, and `blocks` lists them
/// message by message.
#[inline(always)]
pub(crate) fn each<C: LayerCipher, B: Isa>(b: B, messages: &[&mut Message<'_>], blocks: &mut [Block]) {
    b.call(Each::<C> { messages, blocks, cipher: PhantomData });
}

/// A separate function for a layer of any mode. Inlining its many calls takes the compiler longer than everything
/// else in these modes.
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

/// Applies a layer to blocks under one key.
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

/// Applies a layer to at most `R` registers of blocks.
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
