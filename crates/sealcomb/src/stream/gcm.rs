//! GCM and GMAC (SP 800-38D) of messages in pieces, with the standard's notation.
//!
//! Most messages have one piece. It is sealed or opened like a whole message, at the same cost, and its tag `T` is
//! the message's tag if no other piece follows. Otherwise the hash continues from this tag:
//!
//! ```text
//! S = T ⊕ E_K(J0) = (Y ⊕ L) • H        Y: the hash so far, L: the block of lengths
//! (Y ⊕ X) • H = S ⊕ (X ⊕ L) • H        for the next block X
//! Y ← (Y ⊕ X) • H                      for further blocks X
//! T = (Y ⊕ L) • H ⊕ E_K(J0)            at the end
//! ```
//!
//! If the first piece ends within a block, `Y` includes that block padded with zeros. The bytes that belong there
//! arrive later. They form a block `D`, preceded by zeros, and `D • H` is added to `Y` before the second line
//! multiplies it by `H` again.

use alloc::borrow::Cow;

use arrayvec::ArrayVec;
use inout::InOutBuf;

use super::crypt;
use crate::Key;
use crate::backend::{BLOCK, Block, Isa, Kernel, read_part};
use crate::batch;
use crate::engine::blocks::{encrypt_alone, keystream};
use crate::engine::{AssociatedData, Batch, Message, Schedule};
use crate::primitives::block::{add, join, xor};
use crate::primitives::counter::{Be32, Be128, Counter};
use crate::primitives::ghash::{Ghash, Table};

/// The maximum size in bytes of additional data that is buffered until the first piece of the message, to be hashed
/// with it.
const SHORT_AAD: usize = 64;

/// The number of bytes that are encrypted and then hashed, or hashed and then decrypted, while they are in the L1
/// cache.
const CHUNK: usize = 8192;

#[derive(Clone, Default)]
pub(super) struct Gcm {
    j0: Block,
    /// Whether `j0` is a nonce of 12 bytes followed by the number 1.
    plain_j0: bool,
    /// The additional data, unless it has been hashed already.
    aad: ArrayVec<u8, SHORT_AAD>,
    aad_bytes: u64,
    message_bytes: u64,
    hash: Hash,
}

impl Gcm {
    pub(super) fn begin(&mut self, key: &Key, nonce: &[u8]) {
        self.plain_j0 = nonce.len() == 12;
        self.j0 = if let Ok(nonce) = <&[u8; 12]>::try_from(nonce) {
            join(&read_part(nonce), 12, &[0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0])
        } else {
            absorb(key, &absorb(key, &[0; BLOCK], nonce), &lengths(0, nonce.len() as u64))
        };
        self.aad.clear();
        self.aad_bytes = 0;
        self.message_bytes = 0;
        self.hash = Hash::default();
    }

    pub(super) fn aad(&mut self, key: &Key, aad: &[u8]) {
        if !self.aad_waits() || self.aad.try_extend_from_slice(aad).is_err() {
            self.hash_aad(key);
            self.hash.update(key, aad);
        }
        self.aad_bytes += aad.len() as u64;
    }

    /// Returns whether none of the additional data has been hashed yet.
    fn aad_waits(&self) -> bool {
        self.aad.len() as u64 == self.aad_bytes
    }

    fn hash_aad(&mut self, key: &Key) {
        self.hash.update(key, &self.aad);
        self.aad.clear();
    }

    /// Returns whether the next piece can be processed like a whole message.
    fn is_whole(&self) -> bool {
        self.message_bytes == 0 && self.plain_j0 && self.aad_waits()
    }

    /// Processes a piece, which is not empty.
    pub(super) fn update(&mut self, key: &Key, opens: bool, data: InOutBuf<'_, '_, u8>) {
        let bytes = data.len() as u64;
        if self.is_whole() {
            let tag = crypt(key, opens, &self.j0[..12], &self.aad, data);
            self.message_bytes = bytes;
            self.hash.continue_from(tag, lengths(self.aad_bytes, bytes), bytes);
            return;
        }
        if self.message_bytes == 0 {
            self.hash_aad(key);
            self.hash.fill_up(key);
        }
        self.update_further(key, opens, data);
    }

    /// Processes a piece that is not a whole message.
    fn update_further(&mut self, key: &Key, opens: bool, data: InOutBuf<'_, '_, u8>) {
        let mask = self.mask(key);
        self.hash.unmask(&mask);
        let mut rest = data;
        while !rest.is_empty() {
            let taken = rest.len().min(CHUNK);
            let (mut chunk, after) = rest.split_at(taken);
            if opens {
                self.hash.update(key, chunk.get_in());
                self.add_keystream(key, chunk);
            } else {
                self.add_keystream(key, chunk.reborrow());
                self.hash.update(key, chunk.get_out());
            }
            self.message_bytes += taken as u64;
            rest = after;
        }
    }

    fn mask(&self, key: &Key) -> Block {
        let [mask] = encrypt_alone(key.backend(), &key.material().aes, [self.j0]);
        mask
    }

    /// XORs the keystream, from the current position, onto a piece.
    fn add_keystream(&self, key: &Key, data: InOutBuf<'_, '_, u8>) {
        let within = (self.message_bytes % BLOCK as u64) as usize;
        let block = self.message_bytes / BLOCK as u64;
        let head_bytes = if within > 0 { data.len().min(BLOCK - within) } else { 0 };
        let (mut head, mut rest) = data.split_at(head_bytes);
        if within > 0 {
            let [pad] = encrypt_alone(key.backend(), &key.material().aes, [self.counter(block)]);
            head.xor_in2out(&pad[within..][..head_bytes]);
        }
        let mut block = block + u64::from(within > 0);
        while !rest.is_empty() {
            let counter = self.counter(block);
            // CTR increments the whole block, GCM only its last 32 bits: stop before these wrap.
            let number = u32::from_be_bytes([counter[12], counter[13], counter[14], counter[15]]);
            let run = BLOCK as u64 * (u64::from(u32::MAX - number) + 1);
            let taken = rest.len().min(usize::try_from(run).unwrap_or(usize::MAX));
            let (part, after) = rest.split_at(taken);
            let mut message = Message {
                key: key.material(),
                nonce: &counter,
                aad: AssociatedData::One(Cow::Borrowed(&[])),
                bytes: taken,
                data: part.into(),
                tag: [0; BLOCK],
            };
            let messages = &mut [&mut message];
            let mut batch = Batch { backend: key.backend(), schedule: Schedule::Single, messages };
            keystream::<Be128>(&mut batch, |_| counter);
            block += taken as u64 / BLOCK as u64;
            rest = after;
        }
    }

    /// Returns the counter block of the message's block with this index, counted from 0.
    fn counter(&self, block: u64) -> Block {
        Be32::skip(&self.j0, block + 1)
    }

    pub(super) fn tag(&mut self, key: &Key) -> Block {
        if self.is_whole() {
            let mut tag = [0; BLOCK];
            batch::seal_one(key, &self.j0[..12], self.aad.as_slice(), (&mut [][..]).into(), &mut tag);
            return tag;
        }
        if let Some(tag) = self.hash.tag_of_first() {
            return tag;
        }
        if self.message_bytes == 0 {
            self.hash_aad(key);
        }
        let mask = self.mask(key);
        self.hash.unmask(&mask);
        self.hash.fill_up(key);
        self.hash.absorb(key, &lengths(self.aad_bytes, self.message_bytes));
        add(self.hash.y, mask)
    }
}

/// A running GHASH, and a buffer for the bytes after its last whole block.
#[derive(Clone, Default)]
struct Hash {
    y: Block,
    last: Block,
    filled: usize,
    first: Option<First>,
}

/// The tag of the first piece of the message, kept until a block after this piece is hashed.
#[derive(Clone)]
struct First {
    /// `T`, or `S` once it is unmasked.
    tag: Block,
    masked: bool,
    /// `L`
    lengths: Block,
    /// Whether the next block to hash is `D`.
    divided: bool,
}

impl Hash {
    /// Continues from the tag of a first piece of `bytes` bytes.
    fn continue_from(&mut self, tag: Block, lengths: Block, bytes: u64) {
        self.filled = (bytes % BLOCK as u64) as usize;
        self.first = Some(First { tag, masked: true, lengths, divided: self.filled > 0 });
    }

    /// Returns the tag of the first piece, if nothing has followed it.
    fn tag_of_first(&self) -> Option<Block> {
        self.first.as_ref().filter(|first| first.masked).map(|first| first.tag)
    }

    fn unmask(&mut self, mask: &Block) {
        if let Some(first) = &mut self.first
            && first.masked
        {
            xor(&mut first.tag, mask);
            first.masked = false;
        }
    }

    fn update(&mut self, key: &Key, mut data: &[u8]) {
        if self.filled > 0 {
            let (head, rest) = data.split_at(data.len().min(BLOCK - self.filled));
            self.keep(head);
            if self.filled < BLOCK {
                return;
            }
            self.fill_up(key);
            data = rest;
        }
        let (whole, rest) = data.split_at(data.len() / BLOCK * BLOCK);
        self.absorb(key, whole);
        self.keep(rest);
    }

    fn keep(&mut self, bytes: &[u8]) {
        self.last[self.filled..][..bytes.len()].copy_from_slice(bytes);
        self.filled += bytes.len();
    }

    /// Hashes the buffered bytes, padded with zeros.
    fn fill_up(&mut self, key: &Key) {
        if self.filled > 0 {
            let last = core::mem::take(&mut self.last);
            self.filled = 0;
            self.absorb(key, &last);
        }
    }

    /// Hashes whole blocks.
    fn absorb(&mut self, key: &Key, mut blocks: &[u8]) {
        while let Some(first) = &mut self.first
            && let Some((block, rest)) = blocks.split_first_chunk()
        {
            if first.divided {
                first.divided = false;
                self.y = absorb(key, &self.y, block);
            } else {
                self.y = add(absorb(key, &self.y, &add(*block, first.lengths)), first.tag);
                self.first = None;
            }
            blocks = rest;
        }
        self.y = absorb(key, &self.y, blocks);
    }
}

/// Returns `Y` after a string, which is padded with zeros to whole blocks.
fn absorb(key: &Key, y: &Block, string: &[u8]) -> Block {
    if string.is_empty() {
        return *y;
    }
    key.backend().run(Absorb { table: key.material().mode_state.get(), y, string })
}

struct Absorb<'a> {
    table: &'a Table,
    y: &'a Block,
    string: &'a [u8],
}

impl Kernel for Absorb<'_> {
    type Output = Block;

    /// `Y ← (Y ⊕ X) • H`
    #[inline(always)]
    fn run<B: Isa>(self, b: B) -> Block {
        let (first, rest) = self.string.split_at(self.string.len().min(BLOCK));
        let mut hash = Ghash::new(b, self.table);
        hash.begin(b, 1);
        hash.absorb(b, b.xor(b.load_bytes(first), b.one(self.y)), 1);
        hash.end(b);
        hash.absorb_string(b, &rest.into());
        b.first(hash.value(b))
    }
}

/// Returns the lengths of two strings in bits, as the hash's last block.
fn lengths(aad: u64, message: u64) -> Block {
    (u128::from(8 * aad) << 64 | u128::from(8 * message)).to_be_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_in_bits_lose_nothing_at_any_size() {
        // Where a narrower integer would overflow.
        for shift in [5, 8, 13, 16, 28, 29, 32, 36, 60] {
            let bytes = 1_u64 << shift;
            for (bytes, bits) in [(bytes - 1, (1_u128 << (shift + 3)) - 8), (bytes, 1 << (shift + 3))] {
                assert_eq!(u128::from_be_bytes(lengths(5, bytes)), (8 * 5) << 64 | bits);
                assert_eq!(u128::from_be_bytes(lengths(bytes, 7)), bits << 64 | (8 * 7));
            }
        }
    }
}
