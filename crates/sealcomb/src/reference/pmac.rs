//! PMAC (Black, Rogaway, EUROCRYPT 2002).

use super::gf128::double;
use super::{Block, BlockCipher, pad, pad_one, xor};
use alloc::vec::Vec;

/// Returns the first `tag_bytes` bytes of the PMAC of a message (figure 2 of the paper).
///
/// # Panics
///
/// If `tag_bytes` is more than 16.
#[must_use]
pub fn tag<C: BlockCipher>(cipher: &C, msg: &[u8], tag_bytes: usize) -> Vec<u8> {
    let l = cipher.encrypt([0; 16]);
    let mut blocks: Vec<&[u8]> = msg.chunks(16).collect();
    let last = blocks.pop().unwrap_or_default();
    let mut sum = [0; 16];
    let mut offset = [0; 16];
    for (i, m) in (1u64..).zip(blocks) {
        let multiple = (0..i.trailing_zeros()).fold(l, |multiple, _| double(multiple));
        offset = xor(offset, multiple);
        sum = xor(sum, cipher.encrypt(xor(pad(m), offset)));
    }
    sum = xor(sum, if last.len() == 16 { xor(pad(last), halve(l)) } else { pad_one(last) });
    cipher.encrypt(sum)[..tag_bytes].to_vec()
}

/// Returns `x^-1` times a block: the block whose double it is.
fn halve(block: Block) -> Block {
    let v = u128::from_be_bytes(block);
    let even = if v & 1 == 1 { (v ^ 0x87) >> 1 | 1 << 127 } else { v >> 1 };
    even.to_be_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_half_doubled_is_the_whole() {
        for v in [[0; 16], [1; 16], [0xfe; 16], [0xff; 16], core::array::from_fn(|i| 17 * i as u8)] {
            assert_eq!(double(halve(v)), v);
        }
    }
}
