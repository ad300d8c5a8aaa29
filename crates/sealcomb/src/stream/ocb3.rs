//! OCB3 (RFC 7253) of messages in pieces, with the RFC's notation.
//!
//! The first piece is sealed or opened like a whole message without additional data, with the tag
//! `E(Checksum ⊕ Offset ⊕ L_$)`. If no other piece follows, the message's tag is its XOR with `HASH(K, A)`. Otherwise
//! the checksum is recovered from it, and the other blocks are computed with the block cipher:
//!
//! ```text
//! Offset_i = Offset_{i-1} ⊕ L_{ntz(i)}
//! C_i = Offset_i ⊕ E(P_i ⊕ Offset_i)
//! C_* = P_* ⊕ E(Offset_m ⊕ L_*)
//! ```

use alloc::borrow::Cow;
use alloc::vec::Vec;

use inout::InOutBuf;
use zeroize::Zeroizing;

use super::crypt;
use crate::backend::{BLOCK, Block};
use crate::engine::blocks::encrypt_alone;
use crate::engine::{AssociatedData, Batch, Message, Schedule};
use crate::modes::Mode;
use crate::modes::ecb;
use crate::primitives::block::{add, padded, xor};
use crate::primitives::gf128::{BigEndian, Field};
use crate::primitives::offsets::OffsetTable;
use crate::primitives::wipe;
use crate::{Error, Key};

/// The number of blocks that the cipher processes together.
const CHUNK: usize = 128;

/// The number of different `L_j` in a message of the maximum length of 2^48 blocks.
const LEVELS: usize = 49;

#[derive(Clone, Default)]
pub(super) struct Ocb3 {
    /// `Nonce`: the tag length, a one bit, and at the end the nonce.
    nonce: Block,
    nonce_bytes: usize,
    /// Whether the stream's tag length is the key's, which processing a whole message requires.
    usual_tag: bool,
    body: Body,
    hash: Hash,
    l: Levels,
}

/// The progress of the message.
#[derive(Clone, Default)]
enum Body {
    #[default]
    Start,
    /// One piece, of `bytes` bytes, and its tag as a message without additional data.
    One { bytes: usize, tag: Block },
    /// The number of whole blocks, `Offset_i` and `Checksum_i` after them, and the size of the last piece in bytes.
    Several { blocks: u64, offset: Block, checksum: Block, bytes: usize },
}

impl Ocb3 {
    pub(super) fn begin(&mut self, key: &Key, nonce: &[u8], tag_bytes: usize) {
        self.nonce = [0; BLOCK];
        self.nonce[BLOCK - nonce.len()..].copy_from_slice(nonce);
        self.nonce[BLOCK - 1 - nonce.len()] |= 1;
        self.nonce[0] |= ((8 * tag_bytes % 128) << 1) as u8;
        self.nonce_bytes = nonce.len();
        self.usual_tag = tag_bytes == key.tag_bytes();
        self.body = Body::Start;
        self.hash = Hash::default();
    }

    pub(super) fn aad(&mut self, key: &Key, aad: &[u8]) {
        self.hash.update(key, &mut self.l, aad);
    }

    /// Refuses a piece that follows a partial block.
    pub(super) fn check(&self) -> Result<(), Error> {
        match self.body {
            Body::One { bytes, .. } | Body::Several { bytes, .. } if !bytes.is_multiple_of(BLOCK) => {
                Err(Error::NotWholeBlocks { got: bytes })
            }
            _ => Ok(()),
        }
    }

    /// Processes a piece, which is not empty.
    pub(super) fn update(&mut self, key: &Key, opens: bool, data: InOutBuf<'_, '_, u8>) {
        if matches!(self.body, Body::Start) && self.usual_tag {
            let bytes = data.len();
            let tag = crypt(key, opens, &self.nonce[BLOCK - self.nonce_bytes..], &[], data);
            self.body = Body::One { bytes, tag };
            return;
        }
        self.switch_to_several(key);
        let Self { body: Body::Several { blocks, offset, checksum, bytes }, l, .. } = self else { return };
        *bytes = data.len();
        let (mut whole, last) = data.split_at(*bytes / BLOCK * BLOCK);
        while !whole.is_empty() {
            let taken = whole.len().min(BLOCK * CHUNK);
            let (chunk, after) = whole.split_at(taken);
            crypt_blocks(key, opens, l, blocks, offset, checksum, chunk);
            whole = after;
        }
        if !last.is_empty() {
            xor(offset, table(key).asterisk());
            crypt_last(key, opens, offset, checksum, last);
        }
    }

    /// Converts the state to that of several pieces.
    fn switch_to_several(&mut self, key: &Key) {
        let (bytes, tag) = match self.body {
            Body::Start => (0, None),
            Body::One { bytes, tag } => (bytes, Some(tag)),
            Body::Several { .. } => return,
        };
        let blocks = (bytes / BLOCK) as u64;
        let offset = self.offset(key, blocks);
        let mut checksum = [0; BLOCK];
        if let Some(mut tag) = tag {
            ecb_in_place(key, true, &mut tag);
            checksum = add(add(tag, offset), *table(key).dollar());
        }
        self.body = Body::Several { blocks, offset, checksum, bytes: 0 };
    }

    /// Returns `Offset_i` after `i` blocks.
    fn offset(&mut self, key: &Key, i: u64) -> Block {
        let bottom = self.nonce[BLOCK - 1] & 63;
        let mut top = self.nonce;
        top[BLOCK - 1] &= !63;
        let [ktop] = encrypt_alone(key.backend(), &key.material().aes, [top]);
        let ktop = u128::from_be_bytes(ktop);
        let further = (ktop >> 64) as u64 ^ (ktop >> 56) as u64;
        let mut offset = (ktop << bottom | (u128::from(further) << bottom) >> 64).to_be_bytes();
        // L_j is in the sum if j was the number of trailing zeros an odd number of times. These are the bits of the
        // Gray code of i.
        let gray = i ^ i >> 1;
        for j in 0..u64::BITS - gray.leading_zeros() {
            if gray >> j & 1 == 1 {
                xor(&mut offset, &self.l.get(key, j));
            }
        }
        offset
    }

    pub(super) fn tag(&mut self, key: &Key) -> Block {
        let hash = self.hash.sum(key);
        if matches!(self.body, Body::Start) {
            self.switch_to_several(key);
        }
        let tag = match &self.body {
            Body::One { tag, .. } => *tag,
            Body::Several { offset, checksum, .. } => {
                let sum = add(add(*checksum, *offset), *table(key).dollar());
                let [tag] = encrypt_alone(key.backend(), &key.material().aes, [sum]);
                tag
            }
            Body::Start => [0; BLOCK],
        };
        add(tag, hash)
    }
}

fn table(key: &Key) -> &OffsetTable {
    key.material().mode_state.get()
}

/// Encrypts or decrypts at most [`CHUNK`] whole blocks, which follow the first `blocks` blocks of the message.
fn crypt_blocks(
    key: &Key,
    opens: bool,
    l: &mut Levels,
    blocks: &mut u64,
    offset: &mut Block,
    checksum: &mut Block,
    mut data: InOutBuf<'_, '_, u8>,
) {
    let count = data.len() / BLOCK;
    let mut offsets = [[0; BLOCK]; CHUNK];
    for each in &mut offsets[..count] {
        *blocks += 1;
        xor(offset, &l.get(key, blocks.trailing_zeros()));
        *each = *offset;
    }
    let offsets_used = offsets[..count].as_flattened();
    if !opens {
        sum_blocks(checksum, data.get_in());
    }
    data.xor_in2out(offsets_used);
    let output = data.into_out();
    ecb_in_place(key, opens, output);
    InOutBuf::from(&mut *output).xor_in2out(offsets_used);
    if opens {
        sum_blocks(checksum, output);
    }
    wipe(&mut offsets);
}

/// Encrypts or decrypts the partial last block under `Offset_*`.
fn crypt_last(key: &Key, opens: bool, offset: &Block, checksum: &mut Block, mut data: InOutBuf<'_, '_, u8>) {
    let [pad] = encrypt_alone(key.backend(), &key.material().aes, [*offset]);
    if !opens {
        xor(checksum, &padded(data.get_in()));
    }
    data.xor_in2out(&pad[..data.len()]);
    if opens {
        xor(checksum, &padded(data.get_out()));
    }
}

/// XORs whole blocks onto a sum.
fn sum_blocks(sum: &mut Block, blocks: &[u8]) {
    for block in blocks.as_chunks().0 {
        xor(sum, block);
    }
}

/// Encrypts or decrypts whole blocks in ECB mode.
fn ecb_in_place(key: &Key, decrypts: bool, blocks: &mut [u8]) {
    let mut message = Message {
        key: key.material(),
        nonce: &[],
        aad: AssociatedData::One(Cow::Borrowed(&[])),
        bytes: blocks.len(),
        data: blocks.into(),
        tag: [0; BLOCK],
    };
    let messages = &mut [&mut message];
    let mut batch = Batch { backend: key.backend(), schedule: Schedule::Single, messages };
    if decrypts {
        ecb::AES.open(&mut batch);
    } else {
        ecb::AES.seal(&mut batch);
    }
}

/// `L_0`, `L_1` and so on, computed on demand. The vector has room for all of them, since growing it would leave copies
/// in freed memory.
#[derive(Default)]
struct Levels(Zeroizing<Vec<Block>>);

impl Clone for Levels {
    fn clone(&self) -> Self {
        let mut levels = Vec::with_capacity(LEVELS);
        levels.extend_from_slice(&self.0);
        Self(Zeroizing::new(levels))
    }
}

impl Levels {
    fn get(&mut self, key: &Key, j: u32) -> Block {
        if self.0.is_empty() {
            self.0.reserve_exact(LEVELS);
        }
        while self.0.len() <= j as usize {
            let last = self.0.last().unwrap_or(table(key).dollar());
            let next = BigEndian::double_block(last);
            self.0.push(next);
        }
        self.0[j as usize]
    }
}

/// A running `HASH(K, A)`.
#[derive(Clone, Default)]
struct Hash {
    blocks: u64,
    offset: Block,
    sum: Block,
    last: Block,
    filled: usize,
}

impl Hash {
    fn update(&mut self, key: &Key, l: &mut Levels, mut aad: &[u8]) {
        if self.filled > 0 {
            let (head, rest) = aad.split_at(aad.len().min(BLOCK - self.filled));
            self.keep(head);
            if self.filled < BLOCK {
                return;
            }
            let last = self.last;
            self.filled = 0;
            self.absorb(key, l, &last);
            aad = rest;
        }
        let (whole, rest) = aad.split_at(aad.len() / BLOCK * BLOCK);
        for chunk in whole.chunks(BLOCK * CHUNK) {
            self.absorb(key, l, chunk);
        }
        self.keep(rest);
    }

    fn keep(&mut self, bytes: &[u8]) {
        self.last[self.filled..][..bytes.len()].copy_from_slice(bytes);
        self.filled += bytes.len();
    }

    /// Computes `Sum_i = Sum_{i-1} ⊕ E(A_i ⊕ Offset_i)` for at most [`CHUNK`] whole blocks.
    fn absorb(&mut self, key: &Key, l: &mut Levels, blocks: &[u8]) {
        let blocks = blocks.as_chunks().0;
        let mut x = [[0; BLOCK]; CHUNK];
        for (x, block) in x.iter_mut().zip(blocks) {
            self.blocks += 1;
            xor(&mut self.offset, &l.get(key, self.blocks.trailing_zeros()));
            *x = add(*block, self.offset);
        }
        let x = &mut x[..blocks.len()];
        ecb_in_place(key, false, x.as_flattened_mut());
        sum_blocks(&mut self.sum, x.as_flattened());
        wipe(x);
    }

    /// Returns the sum, including the partial last block.
    fn sum(&self, key: &Key) -> Block {
        if self.filled == 0 {
            return self.sum;
        }
        let offset = add(self.offset, *table(key).asterisk());
        let x = add(padded(&self.last[..self.filled]), offset);
        let [x] = encrypt_alone(key.backend(), &key.material().aes, [x]);
        add(self.sum, x)
    }
}
