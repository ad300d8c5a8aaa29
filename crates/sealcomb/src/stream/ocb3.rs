//! OCB3 (RFC 7253) of a message in pieces, with the RFC's letters and names.
//!
//! The first piece is sealed or opened like a whole message without additional data, whose tag is
//! `E(Checksum ⊕ Offset ⊕ L_$)`. If no other piece comes, that is the message's tag less `HASH(K, A)`. Otherwise the
//! checksum follows from it, and the other blocks are put together of the block cipher:
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

/// Blocks that go through the cipher together.
const CHUNK: usize = 128;

/// How many `L_j` there are for the most blocks under a key, 2^48.
const LEVELS: usize = 49;

#[derive(Clone, Default)]
pub(super) struct Ocb3 {
    /// `Nonce`: the tag's length, a one bit, and the nonce at the end.
    nonce: Block,
    nonce_bytes: usize,
    /// Whether the key's tags are as long as the message's, which a call for a whole message needs.
    usual_tag: bool,
    body: Body,
    hash: Hash,
    l: Levels,
}

/// Where the message is.
#[derive(Clone, Default)]
enum Body {
    #[default]
    Start,
    /// One piece, and the tag of a message that has no other, nor additional data.
    One { bytes: usize, tag: Block },
    /// So many blocks, `Offset_i` and `Checksum_i` after them, and bytes after the last whole block if those have
    /// come.
    Several { blocks: u64, offset: Block, checksum: Block, ragged: usize },
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

    /// Refuses a piece after one that wasn't whole blocks.
    pub(super) fn check(&self) -> Result<(), Error> {
        match self.body {
            Body::One { bytes, .. } if !bytes.is_multiple_of(BLOCK) => {
                Err(Error::NotWholeBlocks { got: bytes })
            }
            Body::Several { ragged, .. } if ragged > 0 => Err(Error::NotWholeBlocks { got: ragged }),
            _ => Ok(()),
        }
    }

    pub(super) fn update(&mut self, key: &Key, opens: bool, data: InOutBuf<'_, '_, u8>) {
        if data.is_empty() {
            return;
        }
        if matches!(self.body, Body::Start) && self.usual_tag {
            let bytes = data.len();
            let tag = crypt(key, opens, &self.nonce[BLOCK - self.nonce_bytes..], &[], data);
            self.body = Body::One { bytes, tag };
            return;
        }
        self.go_on(key);
        let Self { body: Body::Several { blocks, offset, checksum, ragged }, l, .. } = self else { return };
        let bytes = data.len();
        let (mut whole, last) = data.split_at(bytes / BLOCK * BLOCK);
        while !whole.is_empty() {
            let taken = whole.len().min(BLOCK * CHUNK);
            let (chunk, after) = whole.split_at(taken);
            crypt_blocks(key, opens, l, blocks, offset, checksum, chunk);
            whole = after;
        }
        *ragged = last.len();
        if !last.is_empty() {
            xor(offset, table(key).asterisk());
            crypt_last(key, opens, offset, checksum, last);
        }
    }

    /// Makes the state of several pieces of that of one or none.
    fn go_on(&mut self, key: &Key) {
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
        self.body = Body::Several { blocks, offset, checksum, ragged: 0 };
    }

    /// `Offset_i` for the number of blocks `i`.
    fn offset(&mut self, key: &Key, i: u64) -> Block {
        let bottom = self.nonce[BLOCK - 1] & 63;
        let mut top = self.nonce;
        top[BLOCK - 1] &= !63;
        let [ktop] = encrypt_alone(key.backend(), &key.material().aes, [top]);
        let ktop = u128::from_be_bytes(ktop);
        let further = (ktop >> 64) as u64 ^ (ktop >> 56) as u64;
        let mut offset = (ktop << bottom | (u128::from(further) << bottom) >> 64).to_be_bytes();
        // L_j is in the sum if j was the number of trailing zeros an odd number of times: the bits of the Gray code.
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
            self.go_on(key);
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
    key.material().kept.get()
}

/// Encrypts or decrypts whole blocks, [`CHUNK`] or fewer, after the first `blocks` of the message.
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

/// Encrypts or decrypts the bytes after the last whole block under `Offset_*`.
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

/// Adds whole blocks.
fn sum_blocks(sum: &mut Block, blocks: &[u8]) {
    for block in blocks.as_chunks().0 {
        xor(sum, block);
    }
}

/// Takes whole blocks through the cipher, each on its own.
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

/// `L_0`, `L_1` and so on, as far as they were needed.
#[derive(Clone, Default)]
struct Levels(Zeroizing<Vec<Block>>);

impl Levels {
    fn get(&mut self, key: &Key, j: u32) -> Block {
        // With room for all, so that none is left behind where a smaller vector was.
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

/// `HASH(K, A)` on its way.
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

    /// `Sum_i = Sum_{i-1} ⊕ E(A_i ⊕ Offset_i)` for whole blocks, [`CHUNK`] or fewer.
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

    /// The sum, with the bytes after the last whole block.
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
