//! What a mode gets: messages that were found in order, each with its key.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use core::ops::Deref;

use arrayvec::ArrayVec;

use super::blocks::encrypt_each;
use super::comb::{Chain, Strand};
use super::{FLIGHT, Schedule};
use crate::backend::{BLOCK, Backend, Block, Isa, Kernel, Span, Wiped};
use crate::primitives::aes::Schedule as AesSchedule;
use crate::primitives::doublings::Doublings;
use crate::primitives::ghash::Table;
use crate::primitives::offsets::OffsetTable;
use crate::primitives::serpent;

/// The most blocks that a mode derives from a key.
pub(crate) const SUBKEYS: usize = 8;

/// What a mode keeps of a key, within memory that is wiped: its own is the [`Key`](crate::Key)'s.
pub(crate) struct Material {
    /// Without a use where the cipher is Serpent.
    pub(crate) aes: AesSchedule,
    pub(crate) serpent: Option<Box<Wiped<serpent::Schedule>>>,
    /// Blocks derived from the key; each mode says which.
    pub(crate) subkeys: [Block; SUBKEYS],
    /// The cipher under the key of a hash, for the modes that hash with it.
    pub(crate) hash: Option<Box<Wiped<AesSchedule>>>,
    /// The powers of the hash key, for the modes that hash.
    pub(crate) table: Option<Box<Wiped<Table>>>,
    /// What the offsets of OCB3 are made of.
    pub(crate) offsets: Option<Box<Wiped<OffsetTable>>>,
    /// The doublings that mask blocks, for the modes of two layers and EME2.
    pub(crate) doublings: Option<Box<Wiped<Doublings>>>,
    /// Bytes of a tag under this key.
    pub(crate) tag_bytes: usize,
}

impl Material {
    /// A key of which a mode needs nothing but the cipher.
    pub(crate) fn plain(aes: AesSchedule) -> Self {
        Self {
            aes,
            serpent: None,
            subkeys: [[0; 16]; SUBKEYS],
            hash: None,
            table: None,
            offsets: None,
            doublings: None,
            tag_bytes: 0,
        }
    }
}

/// The additional data of a message: one string of bytes, as which it also reads, or, for the mode that tells strings apart,
/// any number of them, of which nothing can be read but string by string.
#[derive(Clone, Debug)]
pub(crate) enum AssociatedData<'a> {
    One(Cow<'a, [u8]>),
    Several(&'a [&'a [u8]]),
}

impl AssociatedData<'_> {
    /// How many strings there are.
    pub(crate) fn strings(&self) -> usize {
        match self {
            Self::One(_) => 1,
            Self::Several(strings) => strings.len(),
        }
    }

    /// The string of this number, counted from 0.
    pub(crate) fn string(&self, number: usize) -> &[u8] {
        match self {
            Self::One(string) => string,
            Self::Several(strings) => strings[number],
        }
    }
}

impl Deref for AssociatedData<'_> {
    type Target = [u8];

    #[inline(always)]
    fn deref(&self) -> &[u8] {
        match self {
            Self::One(string) => string,
            Self::Several(_) => &[],
        }
    }
}

/// A message to seal or open.
pub(crate) struct Message<'a> {
    pub(crate) key: &'a Material,
    pub(crate) nonce: &'a [u8],
    pub(crate) aad: AssociatedData<'a>,
    pub(crate) data: Span<'a>,
    /// Bytes of the message. When opening: as many as it can have, until the mode finds that it has fewer.
    pub(crate) bytes: usize,
    /// Before opening: the tag that came with the message. Afterwards: the tag that it should have, in 16 bytes
    /// however long the tag is.
    pub(crate) tag: Block,
}

impl Message<'_> {
    /// Zeros the bytes of the output after the message.
    #[inline]
    pub(crate) fn wipe_rest(&mut self) {
        if self.bytes < self.data.room() {
            self.data.wipe(self.bytes);
        }
    }
}

/// Whether all messages have one key.
#[inline(always)]
pub(crate) fn share_key(messages: &[&mut Message<'_>]) -> bool {
    messages.iter().all(|message| core::ptr::eq(message.key, messages[0].key))
}

/// Messages for one mode, all under keys of one algorithm.
pub(crate) struct Batch<'b, 'm, 'a> {
    pub(crate) backend: Backend,
    pub(crate) schedule: Schedule,
    pub(crate) messages: &'b mut [&'m mut Message<'a>],
}

/// Takes each message through a chain that begins with its nonce.
pub(crate) fn chain<M: Chain<1>>(batch: &mut Batch<'_, '_, '_>) {
    let mut strands = ArrayVec::<Strand<'_, 1>, FLIGHT>::new();
    for message in batch.messages.iter_mut() {
        let Message { key, nonce, data, .. } = &mut **message;
        let state = [*nonce.first_chunk().expect("an IV of 16 bytes")];
        let keys = [key.aes.encrypting()];
        strands.push(Strand { keys, constants: [], state, data: data.reborrow() });
    }
    M::run(batch.backend, batch.schedule, &mut strands);
}

/// A block of each message of a flight. Filled where it stays: to return or collect an array copies all that it has room
/// for, which is more than a short message costs.
pub(crate) type Column = ArrayVec<Block, FLIGHT>;

/// Encrypts a block of each message under its key.
pub(crate) fn encrypt_for_each(batch: &Batch<'_, '_, '_>, blocks: &mut [Block]) {
    assert!(blocks.len() == batch.messages.len());
    batch.backend.run(EncryptForEach { messages: batch.messages, blocks });
}

struct EncryptForEach<'b, 'm, 'a> {
    messages: &'b [&'m mut Message<'a>],
    blocks: &'b mut [Block],
}

impl Kernel for EncryptForEach<'_, '_, '_> {
    type Output = ();

    #[inline(always)]
    fn run<B: Isa>(self, b: B) {
        encrypt_each(b, self.messages, self.blocks);
    }
}

/// A one bit after so many bytes, if that is not a whole block.
pub(crate) static PADDING: [Block; BLOCK + 1] = {
    let mut padding = [[0; BLOCK]; BLOCK + 1];
    let mut i = 0;
    while i < BLOCK {
        padding[i][i] = 0x80;
        i += 1;
    }
    padding
};

/// A block of so many bytes, and after them the first bytes of another; in whole numbers, since blocks that are put
/// together from bytes are slow to load.
#[inline(always)]
pub(crate) fn join(head: &Block, bytes: usize, tail: &Block) -> Block {
    let tail = u128::from_le_bytes(*tail).checked_shl(8 * bytes as u32).unwrap_or(0);
    (u128::from_le_bytes(*head) | tail).to_le_bytes()
}

/// The first bytes of a block, and zeros.
#[inline(always)]
pub(crate) fn head(block: &Block, bytes: usize) -> Block {
    let beyond = u128::MAX.checked_shl(8 * bytes as u32).unwrap_or(0);
    (u128::from_le_bytes(*block) & !beyond).to_le_bytes()
}

/// The bytes of a block after the first ones, and zeros.
#[inline(always)]
pub(crate) fn skip(block: &Block, bytes: usize) -> Block {
    u128::from_le_bytes(*block).checked_shr(8 * bytes as u32).unwrap_or(0).to_le_bytes()
}

/// A tag that begins within the last block of ciphertext: `last[bytes..] ‖ rest[..bytes]`.
#[inline(always)]
pub(crate) fn split(last: &Block, rest: &Block, bytes: usize) -> Block {
    join(&skip(last, bytes), BLOCK - bytes, rest)
}

/// `a ← a ⊕ b`
#[inline(always)]
pub(crate) fn xor(a: &mut Block, b: &Block) {
    *a = (u128::from_ne_bytes(*a) ^ u128::from_ne_bytes(*b)).to_ne_bytes();
}
