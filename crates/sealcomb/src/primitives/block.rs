//! Operations on single blocks in memory: XOR, padding, masks, and cuts at byte positions.
//!
//! All of them compute on whole numbers, because blocks assembled from bytes in memory are slow to load. Sizes and
//! positions must be public.

use crate::backend::{BLOCK, Block, read_part};

/// Computes `a ← a ⊕ b`.
#[inline(always)]
pub(crate) fn xor(a: &mut Block, b: &Block) {
    *a = add(*a, *b);
}

/// Returns `a ⊕ b`.
#[inline(always)]
pub(crate) fn add(a: Block, b: Block) -> Block {
    (u128::from_ne_bytes(a) ^ u128::from_ne_bytes(b)).to_ne_bytes()
}

/// The padding `10…0` after `i` bytes, at index `i`: a one bit, then zeros. Zero for a whole block.
pub(crate) static PADDING: [Block; BLOCK + 1] = {
    let mut padding = [[0; BLOCK]; BLOCK + 1];
    let mut i = 0;
    while i < BLOCK {
        padding[i][i] = 0x80;
        i += 1;
    }
    padding
};

/// Returns a string of at most 16 bytes, padded with a one bit and zeros if it is shorter.
#[inline(always)]
pub(crate) fn padded(bytes: &[u8]) -> Block {
    add(read_part(bytes), PADDING[bytes.len()])
}

/// Returns the mask of a block's first `bytes` bytes.
#[inline(always)]
pub(crate) fn bytes_mask(bytes: usize) -> Block {
    (!beyond(bytes)).to_le_bytes()
}

/// Returns the mask of a block's bytes after the first `bytes`.
#[inline(always)]
pub(crate) fn rest_mask(bytes: usize) -> Block {
    beyond(bytes).to_le_bytes()
}

/// Returns the mask of a whole block, or zero.
#[inline(always)]
pub(crate) fn mask(whole: bool) -> Block {
    bytes_mask(if whole { BLOCK } else { 0 })
}

/// Returns the first `bytes` bytes of `head`, followed by the first bytes of `tail`. The other bytes of `head` must
/// be zero.
#[inline(always)]
pub(crate) fn join(head: &Block, bytes: usize, tail: &Block) -> Block {
    let tail = u128::from_le_bytes(*tail).checked_shl(8 * bytes as u32).unwrap_or(0);
    (u128::from_le_bytes(*head) | tail).to_le_bytes()
}

/// Returns the first `bytes` bytes of a block, zero-padded.
#[inline(always)]
pub(crate) fn head(block: &Block, bytes: usize) -> Block {
    (u128::from_le_bytes(*block) & !beyond(bytes)).to_le_bytes()
}

/// Returns the bytes of a block after the first `bytes`, zero-padded.
#[inline(always)]
pub(crate) fn skip(block: &Block, bytes: usize) -> Block {
    u128::from_le_bytes(*block).checked_shr(8 * bytes as u32).unwrap_or(0).to_le_bytes()
}

/// Returns a tag that begins in the last block of ciphertext: `last[bytes..] ‖ rest[..bytes]`.
#[inline(always)]
pub(crate) fn split(last: &Block, rest: &Block, bytes: usize) -> Block {
    join(&skip(last, bytes), BLOCK - bytes, rest)
}

/// Returns the mask of the bytes after the first `bytes`, as a little-endian number.
#[inline(always)]
fn beyond(bytes: usize) -> u128 {
    u128::MAX.checked_shl(8 * bytes as u32).unwrap_or(0)
}

/// Returns the number of bytes that precede the last block of a string. That block is empty only if the string is.
#[inline(always)]
pub(crate) fn before_last(bytes: usize) -> usize {
    bytes.saturating_sub(1) / BLOCK * BLOCK
}

/// Returns the number of bytes in the whole blocks of a string.
#[inline(always)]
pub(crate) fn whole(bytes: usize) -> usize {
    bytes / BLOCK * BLOCK
}

/// Returns the sizes in bits of two strings, given those in bytes, as the low and the high half of a number.
#[inline(always)]
pub(crate) fn bit_lengths(low: u64, high: u64) -> u128 {
    u128::from(8 * high) << 64 | u128::from(8 * low)
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
    fn lengths_in_bits_lose_nothing_at_any_size() {
        // Where a narrower integer would overflow.
        for shift in [5, 8, 13, 16, 28, 29, 32, 36, 60] {
            let bytes = 1_u64 << shift;
            for (bytes, expected) in [(bytes - 1, (1_u128 << (shift + 3)) - 8), (bytes, 1 << (shift + 3))] {
                assert_eq!(bit_lengths(bytes, 5), (40 << 64) | expected);
                assert_eq!(bit_lengths(7, bytes), (expected << 64) | 0x38);
            }
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
