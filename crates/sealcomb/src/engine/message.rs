//! What a mode gets: messages that were found in order, each with its key.

use alloc::borrow::Cow;
use alloc::boxed::Box;

use arrayvec::ArrayVec;
use zeroize::{Zeroize, ZeroizeOnDrop};

use super::blocks::Loose;
use super::comb::{self, Chain, Strand};
use super::{FLIGHT, Schedule};
use crate::backend::{BLOCK, Backend, Block, Span};
use crate::primitives::aes::Schedule as AesSchedule;
use crate::primitives::ghash::Table;
use crate::primitives::offsets::OffsetTable;
use crate::primitives::serpent;

/// What a mode keeps of a key.
pub(crate) struct Material {
    /// Without a use where the cipher is Serpent.
    pub(crate) aes: AesSchedule,
    pub(crate) serpent: Option<Box<serpent::Schedule>>,
    /// Blocks derived from the key; each mode says which.
    pub(crate) subkeys: [Block; 2],
    /// The powers of the hash key, for the modes that hash.
    pub(crate) table: Option<Box<Table>>,
    /// What the offsets of OCB3 are made of.
    pub(crate) offsets: Option<Box<OffsetTable>>,
    /// Bytes of a tag under this key.
    pub(crate) tag_bytes: usize,
}

impl Material {
    /// A key of which a mode needs nothing but the cipher.
    pub(crate) fn plain(aes: AesSchedule) -> Self {
        Self { aes, serpent: None, subkeys: [[0; 16]; 2], table: None, offsets: None, tag_bytes: 0 }
    }
}

impl Drop for Material {
    fn drop(&mut self) {
        self.subkeys.zeroize();
    }
}

impl ZeroizeOnDrop for Material {}

/// A message to seal or open.
pub(crate) struct Message<'a> {
    pub(crate) key: &'a Material,
    pub(crate) nonce: &'a [u8],
    pub(crate) aad: Cow<'a, [u8]>,
    pub(crate) data: Span<'a>,
    /// Before opening: the tag that came with the message. Afterwards: the tag that it should have, in 16 bytes
    /// however long the tag is.
    pub(crate) tag: Block,
}

/// Messages for one mode, all under keys of one algorithm.
pub(crate) struct Batch<'b, 'm, 'a> {
    pub(crate) backend: Backend,
    pub(crate) schedule: Schedule,
    pub(crate) messages: &'b mut [&'m mut Message<'a>],
}

/// Takes the whole blocks of each message through a chain that begins with its nonce. Returns the chains' ends.
pub(crate) fn chain_whole_blocks<M: Chain<1>>(batch: &mut Batch<'_, '_, '_>) -> ArrayVec<Block, FLIGHT> {
    let mut strands = ArrayVec::<Strand<'_, 1>, FLIGHT>::new();
    for message in batch.messages.iter_mut() {
        let Message { key, nonce, data, .. } = &mut **message;
        let state = [*nonce.first_chunk().expect("an IV of 16 bytes")];
        strands.push(Strand { aes: &key.aes, state, data: data.part(0, data.len() / BLOCK * BLOCK) });
    }
    comb::run::<M, 1>(batch.backend, batch.schedule, &mut strands);
    strands.iter().map(|strand| strand.state[0]).collect()
}

/// Adds to each message's last bytes, those after its whole blocks, the encryption of its feedback block.
pub(crate) fn finish_stream(batch: &mut Batch<'_, '_, '_>, feedback: &[Block]) {
    let is_ragged = |message: &Message<'_>| !message.data.len().is_multiple_of(BLOCK);
    let mut keystream = Loose::new();
    for (message, feedback) in batch.messages.iter().zip(feedback) {
        if is_ragged(message) {
            keystream.push(&message.key.aes, *feedback);
        }
    }
    keystream.encrypt(batch.backend);
    let ragged = batch.messages.iter_mut().filter(|message| is_ragged(message));
    for (message, mut block) in ragged.zip(keystream.blocks) {
        let at = message.data.len() / BLOCK * BLOCK;
        xor(&mut block, &message.data.block(at));
        message.data.set_block(at, &block);
    }
}

/// A one bit after so many bytes.
pub(crate) static PADDING: [Block; BLOCK] = {
    let mut padding = [[0; BLOCK]; BLOCK];
    let mut i = 0;
    while i < BLOCK {
        padding[i][i] = 0x80;
        i += 1;
    }
    padding
};

/// `block ← block ⊕ bytes`, for up to 16 bytes.
#[inline(always)]
pub(crate) fn xor(block: &mut Block, bytes: &[u8]) {
    for (x, y) in block.iter_mut().zip(bytes) {
        *x ^= y;
    }
}
