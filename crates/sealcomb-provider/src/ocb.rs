//! OCB (RFC 7253), whose messages come in pieces, with the RFC's letters and names.
//!
//! ```text
//! whole blocks that come first:  one call of the library without additional data: its tag is E(Checksum ⊕ Offset_m ⊕ L_$)
//! others:                        C_i = Offset_i ⊕ E(P_i ⊕ Offset_i), where Offset_i = Offset_{i-1} ⊕ L_{ntz(i)}
//! the end:                       C_* = P_* ⊕ E(Offset_*), Tag = E(Checksum ⊕ Offset_* ⊕ L_$) ⊕ HASH(K, A)
//! ```
//!
//! As OpenSSL's own does, a piece gives out whole blocks, and the end what is left.

use std::{ptr, slice};

use sealcomb::{Algorithm, Key};
use zeroize::Zeroizing;

use crate::gcm::{Block, block, sum};

/// The tags of the library's key. The length of a tag is a part of the nonce's block, so others are made without it.
const TAG_BYTES: usize = 16;
/// Bytes that are worked on together, so that they stay in the fastest cache.
const CHUNK: usize = 4096;
/// Any nonce: HASH(K, A) depends on none.
const NO_NONCE: [u8; 12] = [0; 12];

/// A key, and what the RFC calls key-dependent variables.
pub(crate) struct OcbKey {
    raw: Zeroizing<Vec<u8>>,
    ocb: Key,
    ecb: Key,
    asterisk: Zeroizing<Block>,
    dollar: Zeroizing<Block>,
    l: Zeroizing<[Block; 64]>,
    /// The tag of nothing under [`NO_NONCE`].
    nothing: Zeroizing<Block>,
}

impl OcbKey {
    pub(crate) fn new(raw: &[u8]) -> Option<Self> {
        let named = |mode: &str| {
            let algorithm = Algorithm::by_id(&format!("aes{}-{mode}", 8 * raw.len())).ok()?;
            Key::new(algorithm, raw).ok()
        };
        let mut key = Self {
            raw: Zeroizing::new(raw.to_vec()),
            ocb: named("ocb3-t128")?,
            ecb: named("ecb")?,
            asterisk: Zeroizing::default(),
            dollar: Zeroizing::default(),
            l: Zeroizing::new([[0; 16]; 64]),
            nothing: Zeroizing::default(),
        };
        *key.asterisk = key.encrypted(&[0; 16])?;
        *key.dollar = double(&key.asterisk);
        let mut last = *key.dollar;
        for l in key.l.iter_mut() {
            last = double(&last);
            *l = last;
        }
        *key.nothing = key.tag_of_nothing(b"")?;
        Some(key)
    }

    pub(crate) fn again(&self) -> Option<Self> {
        Self::new(&self.raw)
    }

    fn encrypted(&self, block: &Block) -> Option<Block> {
        let mut result = *block;
        self.ecb.seal_in_place(b"", b"", &mut result, &mut []).ok()?;
        Some(result)
    }

    fn tag_of_nothing(&self, aad: &[u8]) -> Option<Block> {
        let mut tag = [0; TAG_BYTES];
        self.ocb.seal_in_place(&NO_NONCE, aad, &mut [], &mut tag).ok()?;
        Some(tag)
    }

    /// HASH(K, A) (section 4.1).
    fn hash(&self, aad: &[u8]) -> Option<Block> {
        if aad.is_empty() {
            return Some([0; 16]);
        }
        Some(sum(&self.tag_of_nothing(aad)?, &self.nothing))
    }

    /// The offset after so many blocks (section 4.2).
    fn offset(&self, nonce: &[u8], tag_bytes: usize, blocks: u64) -> Option<Block> {
        let mut top = [0; 16];
        top[16 - nonce.len()..].copy_from_slice(nonce);
        top[15 - nonce.len()] |= 1;
        top[0] |= ((8 * tag_bytes % 128) << 1) as u8;
        let bottom = top[15] & 63;
        top[15] &= !63;
        let top = u128::from_be_bytes(self.encrypted(&top)?);
        let stretch = (top >> 64) as u64 ^ (top >> 56) as u64;
        let first = (top << bottom) | (u128::from(stretch) >> (64 - bottom));
        // L_j is in the sum where bit j has changed an odd number of times: these are the bits of Gray's code.
        let gray = blocks ^ (blocks >> 1);
        let changed = self.l[..(64 - gray.leading_zeros()) as usize]
            .iter()
            .enumerate()
            .filter(|(j, _)| (gray >> j) & 1 == 1);
        Some(changed.fold(first.to_be_bytes(), |offset, (_, l)| sum(&offset, l)))
    }

    /// Encrypts or decrypts whole blocks, `before` of which came before. `offset` is the last one's, before and after.
    fn crypt(&self, encrypts: bool, offset: &mut Block, mut before: u64, data: &mut [u8]) -> Option<()> {
        for chunk in data.chunks_mut(CHUNK) {
            let mut offsets = [[0; 16]; CHUNK / 16];
            for (each, block) in offsets.iter_mut().zip(chunk.chunks_exact_mut(16)) {
                before += 1;
                *offset = sum(offset, &self.l[before.trailing_zeros() as usize]);
                *each = *offset;
                add(block, each);
            }
            if encrypts {
                self.ecb.seal_in_place(b"", b"", chunk, &mut []).ok()?;
            } else {
                self.ecb.open_unverified_in_place(b"", b"", chunk, &mut []).ok()?;
            }
            for (each, block) in offsets.iter().zip(chunk.chunks_exact_mut(16)) {
                add(block, each);
            }
        }
        Some(())
    }
}

/// What of a message came after its whole blocks.
#[derive(Clone, Default)]
struct Rest {
    block: Zeroizing<Block>,
    count: usize,
}

impl Rest {
    /// Puts this and the input together at `output`, and keeps what is no whole block of it. None if there is too little room.
    ///
    /// # Safety
    /// `count` bytes can be read at `input` and `room` be written at `output`, and are nobody else's meanwhile. Both may overlap.
    unsafe fn join<'a>(
        &mut self,
        input: *const u8,
        count: usize,
        output: *mut u8,
        room: usize,
    ) -> Option<&'a mut [u8]> {
        let whole = self.count.checked_add(count)? / 16 * 16;
        if whole > room {
            return None;
        }
        // SAFETY: the caller's promise. What is kept is less than a block.
        unsafe {
            if whole == 0 {
                ptr::copy_nonoverlapping(input, self.block[self.count..].as_mut_ptr(), count);
                self.count += count;
                return Some(&mut []);
            }
            let taken = whole - self.count;
            let left = count - taken;
            let mut next = Zeroizing::new([0; 16]);
            ptr::copy_nonoverlapping(input.add(taken), next.as_mut_ptr(), left);
            ptr::copy(input, output.add(self.count), taken);
            ptr::copy_nonoverlapping(self.block.as_ptr(), output, self.count);
            *self = Self { block: next, count: left };
            Some(slice::from_raw_parts_mut(output, whole))
        }
    }

    fn bytes(&self) -> &[u8] {
        &self.block[..self.count]
    }
}

/// Where a message is.
#[derive(Clone, Default)]
pub(crate) struct Ocb {
    /// Whole blocks that are done.
    blocks: u64,
    checksum: Zeroizing<Block>,
    /// The offset after those blocks, if it is known.
    offset: Option<Zeroizing<Block>>,
    rest: Rest,
    /// What the library says is the tag, if it did all of those blocks in one call.
    tag: Option<Block>,
}

/// How a message is worked on.
#[derive(Clone, Copy)]
pub(crate) struct Terms<'a> {
    pub(crate) encrypts: bool,
    pub(crate) nonce: &'a [u8],
    pub(crate) tag_bytes: usize,
}

impl Ocb {
    /// Encrypts or decrypts the next piece, and returns how many bytes were written. None if that cannot be.
    ///
    /// # Safety
    /// `count` bytes can be read at `input` and `room` be written at `output`, and are nobody else's meanwhile. Both may overlap.
    pub(crate) unsafe fn update(
        &mut self,
        key: &OcbKey,
        terms: Terms<'_>,
        input: *const u8,
        count: usize,
        output: *mut u8,
        room: usize,
    ) -> Option<usize> {
        if count == 0 {
            return Some(0);
        }
        if input.is_null() {
            return None;
        }
        // SAFETY: the caller's promise.
        let data = unsafe { self.rest.join(input, count, output, room) }?;
        self.blocks_of(key, terms, data)?;
        Some(data.len())
    }

    fn blocks_of(&mut self, key: &OcbKey, terms: Terms<'_>, data: &mut [u8]) -> Option<()> {
        if data.is_empty() {
            return Some(());
        }
        if terms.encrypts {
            self.count_in(data);
        }
        if self.blocks == 0 && terms.tag_bytes == TAG_BYTES {
            let mut tag = [0; TAG_BYTES];
            if terms.encrypts {
                key.ocb.seal_in_place(terms.nonce, b"", data, &mut tag).ok()?;
            } else {
                key.ocb.open_unverified_in_place(terms.nonce, b"", data, &mut tag).ok()?;
            }
            self.tag = Some(tag);
        } else {
            self.tag = None;
            let mut offset = self.offset(key, terms)?;
            key.crypt(terms.encrypts, &mut offset, self.blocks, data)?;
            self.offset = Some(offset);
        }
        if !terms.encrypts {
            self.count_in(data);
        }
        self.blocks = self.blocks.checked_add(data.len() as u64 / 16)?;
        Some(())
    }

    fn offset(&self, key: &OcbKey, terms: Terms<'_>) -> Option<Zeroizing<Block>> {
        if self.offset.is_some() {
            return self.offset.clone();
        }
        key.offset(terms.nonce, terms.tag_bytes, self.blocks).map(Zeroizing::new)
    }

    /// Adds plaintext to the checksum.
    fn count_in(&mut self, plaintext: &[u8]) {
        for block in plaintext.chunks_exact(16) {
            add(&mut *self.checksum, block);
        }
    }

    pub(crate) fn has_begun(&self) -> bool {
        self.blocks > 0 || self.rest.count > 0
    }

    /// Bytes that the end of the message writes.
    pub(crate) fn bytes_left(&self) -> usize {
        self.rest.count
    }

    /// The end of the message: writes what is left of it, and returns how many bytes that are, and the tag.
    pub(crate) fn finish(
        mut self,
        key: &OcbKey,
        terms: Terms<'_>,
        aad: &[u8],
        output: &mut [u8],
    ) -> Option<(usize, Block)> {
        let (rest, hash) = (&self.rest, key.hash(aad)?);
        if let Some(tag) = self.tag.filter(|_| rest.count == 0) {
            return Some((0, sum(&tag, &hash)));
        }
        let mut offset = self.offset(key, terms)?;
        if rest.count > 0 {
            let output = output.get_mut(..rest.count)?;
            *offset = sum(&offset, &key.asterisk);
            let pad = key.encrypted(&offset)?;
            output.copy_from_slice(rest.bytes());
            add(output, &pad);
            let plaintext = if terms.encrypts { rest.bytes() } else { &*output };
            let mut padded = Zeroizing::new(block(plaintext));
            padded[rest.count] = 0x80;
            add(&mut *self.checksum, &*padded);
        }
        let tag = key.encrypted(&sum(&sum(&self.checksum, &offset), &key.dollar))?;
        Some((rest.count, sum(&tag, &hash)))
    }
}

/// Adds the first bytes of `b`.
fn add(a: &mut [u8], b: &[u8]) {
    for (a, b) in a.iter_mut().zip(b) {
        *a ^= b;
    }
}

/// The product with x in the field of OCB (section 2).
fn double(a: &Block) -> Block {
    let a = u128::from_be_bytes(*a);
    ((a << 1) ^ ((a >> 127) * 0x87)).to_be_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENCRYPTING: Terms<'_> = Terms { encrypts: true, nonce: &[5; 12], tag_bytes: 16 };

    fn in_pieces(terms: Terms<'_>, aad: &[u8], from: &[u8], cuts: [usize; 2]) -> (Vec<u8>, Block) {
        let key = OcbKey::new(&[7; 16]).unwrap();
        let (mut to, mut done, mut ocb) = (vec![0; from.len() + 16], 0, Ocb::default());
        for piece in [&from[..cuts[0]], &from[cuts[0]..cuts[1]], &from[cuts[1]..]] {
            let room = &mut to[done..];
            // SAFETY: two slices.
            done += unsafe {
                ocb.update(&key, terms, piece.as_ptr(), piece.len(), room.as_mut_ptr(), room.len())
            }
            .unwrap();
        }
        let (last, tag) = ocb.finish(&key, terms, aad, &mut to[done..]).unwrap();
        to.truncate(done + last);
        (to, tag)
    }

    #[test]
    fn the_pieces_of_a_message_make_the_same_as_the_whole() {
        let message: Vec<u8> = (0..CHUNK * 3).map(|i| (i * i / 7) as u8).collect();
        for tag_bytes in [8, 12, 16] {
            let id = format!("aes128-ocb3-t{}", 8 * tag_bytes);
            let key = Key::new(Algorithm::by_id(&id).unwrap(), &[7; 16]).unwrap();
            for (i, len) in (0..100).chain([CHUNK, CHUNK + 17, message.len()]).enumerate() {
                for cuts in [[0, 0], [1, 2], [16, 32], [16, 33], [31, 60], [len / 3, len / 2], [len, len]] {
                    let cuts = cuts.map(|cut| cut.min(len));
                    let nonce: Vec<u8> = (0..15).map(|byte| byte ^ i as u8).take(6 + i % 10).collect();
                    let (message, aad) = (&message[..len], &message[..i % 50]);
                    let (mut sealed, mut tag) = (message.to_vec(), [0; 16]);
                    key.seal_in_place(&nonce, aad, &mut sealed, &mut tag[..tag_bytes]).unwrap();
                    for encrypts in [true, false] {
                        let (from, to) = if encrypts { (message, &*sealed) } else { (&*sealed, message) };
                        let terms = Terms { encrypts, nonce: &nonce, tag_bytes };
                        let (done, computed) = in_pieces(terms, aad, from, cuts);
                        assert_eq!(
                            (&*done, &computed[..tag_bytes]),
                            (to, &tag[..tag_bytes]),
                            "{id} {len} {cuts:?}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn offsets_are_the_sums_of_what_each_block_adds() {
        let key = OcbKey::new(&[7; 16]).unwrap();
        let mut offset = key.offset(&[5; 12], 16, 0).unwrap();
        for i in 1..5000_u64 {
            offset = sum(&offset, &key.l[i.trailing_zeros() as usize]);
            assert_eq!(offset, key.offset(&[5; 12], 16, i).unwrap());
        }
    }

    #[test]
    fn a_piece_may_be_put_where_what_was_left_before_begins() {
        let message: Vec<u8> = (0..100).collect();
        let expected = in_pieces(ENCRYPTING, b"", &message, [100, 100]);
        let (key, mut ocb, mut data, mut done) = (OcbKey::new(&[7; 16]).unwrap(), Ocb::default(), message, 0);
        for (from, to) in [(0, 9), (9, 40), (40, 63), (63, 100)] {
            let base = data.as_mut_ptr();
            // SAFETY: within the buffer.
            done += unsafe {
                ocb.update(&key, ENCRYPTING, base.add(from), to - from, base.add(done), 100 - done)
            }
            .unwrap();
        }
        let (last, tag) = ocb.finish(&key, ENCRYPTING, b"", &mut data[done..]).unwrap();
        assert_eq!((done + last, data, tag), (100, expected.0, expected.1));
    }

    #[test]
    fn too_little_room_is_refused() {
        let (key, mut ocb, mut room) = (OcbKey::new(&[7; 16]).unwrap(), Ocb::default(), [0; 32]);
        // SAFETY: two buffers.
        let written = unsafe { ocb.update(&key, ENCRYPTING, [0; 40].as_ptr(), 40, room.as_mut_ptr(), 31) };
        assert_eq!(written, None);
    }
}
