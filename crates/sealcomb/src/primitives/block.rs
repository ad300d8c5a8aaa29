//! Single blocks in memory: sums, paddings, masks and cuts.
//!
//! All of it goes by whole numbers, since blocks that are put together from bytes are slow to load, and takes public
//! lengths alone.

use crate::backend::{BLOCK, Block, read_part};

/// `a ← a ⊕ b`
#[inline(always)]
pub(crate) fn xor(a: &mut Block, b: &Block) {
    *a = add(*a, *b);
}

/// `a ⊕ b`
#[inline(always)]
pub(crate) fn add(a: Block, b: Block) -> Block {
    (u128::from_ne_bytes(a) ^ u128::from_ne_bytes(b)).to_ne_bytes()
}

/// A one bit after so many bytes, if that is not a whole block: `10…0`.
pub(crate) static PADDING: [Block; BLOCK + 1] = {
    let mut padding = [[0; BLOCK]; BLOCK + 1];
    let mut i = 0;
    while i < BLOCK {
        padding[i][i] = 0x80;
        i += 1;
    }
    padding
};

/// A string of at most 16 bytes, with a one bit and zeros after it if it is shorter.
#[inline(always)]
pub(crate) fn padded(bytes: &[u8]) -> Block {
    add(read_part(bytes), PADDING[bytes.len()])
}

/// The mask of so many bytes.
#[inline(always)]
pub(crate) fn bytes_mask(bytes: usize) -> Block {
    (!beyond(bytes)).to_le_bytes()
}

/// The mask of the bytes after so many.
#[inline(always)]
pub(crate) fn rest_mask(bytes: usize) -> Block {
    beyond(bytes).to_le_bytes()
}

/// The mask of a whole block, or of nothing.
#[inline(always)]
pub(crate) fn mask(whole: bool) -> Block {
    bytes_mask(if whole { BLOCK } else { 0 })
}

/// A block of so many bytes, and after them the first bytes of another.
#[inline(always)]
pub(crate) fn join(head: &Block, bytes: usize, tail: &Block) -> Block {
    let tail = u128::from_le_bytes(*tail).checked_shl(8 * bytes as u32).unwrap_or(0);
    (u128::from_le_bytes(*head) | tail).to_le_bytes()
}

/// The first bytes of a block, and zeros.
#[inline(always)]
pub(crate) fn head(block: &Block, bytes: usize) -> Block {
    (u128::from_le_bytes(*block) & !beyond(bytes)).to_le_bytes()
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

/// The bits after so many bytes, of a block as a little-endian number.
#[inline(always)]
fn beyond(bytes: usize) -> u128 {
    u128::MAX.checked_shl(8 * bytes as u32).unwrap_or(0)
}

/// Bytes of a string before its last block, which is never empty unless the string is.
#[inline(always)]
pub(crate) fn before_last(bytes: usize) -> usize {
    bytes.saturating_sub(1) / BLOCK * BLOCK
}

/// Bytes of a string in whole blocks.
#[inline(always)]
pub(crate) fn whole(bytes: usize) -> usize {
    bytes / BLOCK * BLOCK
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted() -> Block {
        core::array::from_fn(|i| i as u8 + 1)
    }

    #[test]
    fn cuts_hold_at_every_byte() {
        let block = counted();
        for bytes in 0..=BLOCK {
            let (kept, left) = block.split_at(bytes);
            assert_eq!(&head(&block, bytes)[..bytes], kept);
            assert!(head(&block, bytes)[bytes..].iter().all(|&byte| byte == 0));
            assert_eq!(&skip(&block, bytes)[..BLOCK - bytes], left);
            assert!(skip(&block, bytes)[BLOCK - bytes..].iter().all(|&byte| byte == 0));
            assert_eq!(padded(kept)[..bytes], *kept);
            assert_eq!(
                padded(kept)[bytes..],
                [0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0][..BLOCK - bytes]
            );
            assert_eq!(bytes_mask(bytes), core::array::from_fn(|i| if i < bytes { 0xff } else { 0 }));
            assert_eq!(rest_mask(bytes), core::array::from_fn(|i| if i < bytes { 0 } else { 0xff }));
            assert_eq!(join(&head(&block, bytes), bytes, &skip(&block, bytes)), block);
            assert_eq!(split(&block, &block, bytes)[BLOCK - bytes..], block[..bytes]);
        }
    }

    #[test]
    fn a_last_block_is_empty_in_an_empty_string_alone() {
        for (bytes, before) in [(0, 0), (1, 0), (16, 0), (17, 16), (32, 16), (33, 32)] {
            assert_eq!(before_last(bytes), before, "{bytes}");
        }
        assert_eq!([whole(0), whole(15), whole(16), whole(33)], [0, 0, 16, 32]);
    }
}
