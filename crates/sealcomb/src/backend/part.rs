//! Partial blocks, read and written by two overlapping accesses. A vector load of bytes that were stored one by one,
//! or by a call of `memcpy`, would be slow: the CPU could not forward the stores to it.

use super::{BLOCK, Block};

/// Returns the first 16 bytes of `bytes` as a block, zero-padded if there are fewer.
#[inline(always)]
pub(crate) fn read_part(bytes: &[u8]) -> Block {
    if let Some(block) = bytes.first_chunk::<BLOCK>() {
        return u128::from_ne_bytes(*block).to_ne_bytes();
    }
    let number = match bytes.len() {
        8.. => overlapped(bytes, |part| u64::from_le_bytes(part).into()),
        4.. => overlapped(bytes, |part| u32::from_le_bytes(part).into()),
        2.. => overlapped(bytes, |part| u16::from_le_bytes(part).into()),
        _ => bytes.first().map_or(0, |byte| (*byte).into()),
    };
    number.to_le_bytes()
}

/// Combines the first and the last `N` bytes, which overlap, into one little-endian number.
#[inline(always)]
fn overlapped<const N: usize>(bytes: &[u8], part: impl Fn([u8; N]) -> u128) -> u128 {
    match (bytes.first_chunk(), bytes.last_chunk()) {
        (Some(head), Some(tail)) => part(*head) | part(*tail) << (8 * (bytes.len() - N)),
        _ => 0,
    }
}

/// Writes the first bytes of a block, as many as fit into `to`.
#[inline(always)]
pub(crate) fn write_part(block: &Block, to: &mut [u8]) {
    if let Some(to) = to.first_chunk_mut() {
        *to = u128::from_ne_bytes(*block).to_ne_bytes();
        return;
    }
    let number = u128::from_le_bytes(*block);
    match to.len() {
        8.. => overlap(number, to, |part| (part as u64).to_le_bytes()),
        4.. => overlap(number, to, |part| (part as u32).to_le_bytes()),
        2.. => overlap(number, to, |part| (part as u16).to_le_bytes()),
        _ => to.iter_mut().for_each(|byte| *byte = number as u8),
    }
}

/// Writes the low `to.len()` bytes of a number by two overlapping stores of `N` bytes.
#[inline(always)]
fn overlap<const N: usize>(number: u128, to: &mut [u8], part: impl Fn(u128) -> [u8; N]) {
    let tail = number >> (8 * (to.len() - N));
    if let Some(first) = to.first_chunk_mut() {
        *first = part(number);
    }
    if let Some(last) = to.last_chunk_mut() {
        *last = part(tail);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_all_sizes_are_read_and_written() {
        let block: Block = core::array::from_fn(|i| 0x80 | i as u8);
        for bytes in 0..=BLOCK {
            let mut part = [0; BLOCK];
            part[..bytes].copy_from_slice(&block[..bytes]);
            assert_eq!(read_part(&block[..bytes]), part);
            let mut written = [0; BLOCK];
            write_part(&block, &mut written[..bytes]);
            assert_eq!(written, part);
        }
    }
}
