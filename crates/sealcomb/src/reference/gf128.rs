//! GF(2^128), bit by bit: multiplication in the conventions of GHASH, POLYVAL and CMAC, and doubling in those of
//! CMAC and XTS.

use super::Block;

/// Returns `2 x` in CMAC's convention (SP 800-38B, section 6.1): the leftmost bit of a block is the coefficient of
/// `x^127`, and the field polynomial is `x^128 + x^7 + x^2 + x + 1`.
#[must_use]
pub fn double(x: Block) -> Block {
    let x = u128::from_be_bytes(x);
    let shifted = x << 1;
    let doubled = if x >> 127 == 0 { shifted } else { shifted ^ 0x87 };
    doubled.to_be_bytes()
}

/// Returns `2 x` in XTS's convention: CMAC's with the bytes of the block reversed.
#[must_use]
pub fn double_little_endian(mut x: Block) -> Block {
    x.reverse();
    let mut doubled = double(x);
    doubled.reverse();
    doubled
}

/// Returns the product of two blocks in CMAC's convention.
#[must_use]
pub fn multiply(x: Block, y: Block) -> Block {
    let y = u128::from_be_bytes(y);
    let mut product = [0; 16];
    for i in (0..128).rev() {
        product = double(product);
        if y >> i & 1 == 1 {
            product = super::xor(product, x);
        }
    }
    product
}

/// Returns the product of two blocks in GHASH's convention (SP 800-38D, section 6.3): the leftmost bit of a block is
/// the coefficient of `x^0`, and the field polynomial is `x^128 + x^7 + x^2 + x + 1`.
#[must_use]
pub fn ghash_multiply(x: Block, y: Block) -> Block {
    const R: u128 = 0b1110_0001 << 120;
    let x = u128::from_be_bytes(x);
    let mut z = 0;
    let mut v = u128::from_be_bytes(y);
    for i in 0..128 {
        if x >> (127 - i) & 1 == 1 {
            z ^= v;
        }
        v = if v & 1 == 0 { v >> 1 } else { (v >> 1) ^ R };
    }
    z.to_be_bytes()
}

/// Returns `dot(a, b) = a · b · x^-128` of POLYVAL (RFC 8452, section 3): bit `i` of a little-endian block is the
/// coefficient of `x^i`, and the field polynomial is `x^128 + x^127 + x^126 + x^121 + 1`.
#[must_use]
pub fn polyval_dot(a: Block, b: Block) -> Block {
    /// `x^-128 = x^127 + x^124 + x^121 + x^114 + 1`.
    const X_TO_MINUS_128: u128 = 1 << 127 | 1 << 124 | 1 << 121 | 1 << 114 | 1;
    let product = polyval_multiply(u128::from_le_bytes(a), u128::from_le_bytes(b));
    polyval_multiply(product, X_TO_MINUS_128).to_le_bytes()
}

/// Returns `a · b` in POLYVAL's field.
fn polyval_multiply(a: u128, b: u128) -> u128 {
    const REDUCTION: u128 = 1 << 127 | 1 << 126 | 1 << 121 | 1;
    let mut product = 0;
    let mut power = a;
    for i in 0..128 {
        if b >> i & 1 == 1 {
            product ^= power;
        }
        power = if power >> 127 == 0 { power << 1 } else { (power << 1) ^ REDUCTION };
    }
    product
}

/// The examples of RFC 8452, section 3 and appendix A.
#[cfg(test)]
mod tests {
    use super::super::{Block, xor};
    use super::{ghash_multiply, polyval_dot, polyval_multiply};

    fn block(number: u128) -> Block {
        number.to_be_bytes()
    }

    fn reversed(mut x: Block) -> Block {
        x.reverse();
        x
    }

    #[test]
    fn a_product_and_a_dot_product_differ_by_a_power_of_x() {
        let a = block(0x66e9_4bd4_ef8a_2c3b_884c_fa59_ca34_2b2e);
        let b = block(0xff00_0000_0000_0000_0000_0000_0000_0000);
        let product = polyval_multiply(u128::from_le_bytes(a), u128::from_le_bytes(b));
        assert_eq!(product.to_le_bytes(), block(0x3785_6175_e9dc_9df2_6ebc_6d61_71aa_0ae9));
        assert_eq!(polyval_dot(a, b), block(0xebe5_6340_1e7e_91ea_3ad6_426b_8140_c394));
    }

    #[test]
    fn two_blocks_hash_as_printed_in_both_conventions() {
        let h = block(0x2562_9347_5892_4276_1d31_f826_ba4b_757b);
        let x1 = block(0x4f4f_9566_8c83_dfb6_4017_62bb_2d01_a262);
        let x2 = block(0xd1a2_4ddd_2721_d006_bbe4_5f20_d3c9_f362);
        let ghash = |h, x1, x2| ghash_multiply(xor(ghash_multiply(x1, h), x2), h);
        let polyval = polyval_dot(xor(polyval_dot(x1, h), x2), h);
        assert_eq!(polyval, block(0xf7a3_b47b_8461_19fa_e5b7_866c_f5e5_b77e));
        assert_eq!(ghash(h, x1, x2), block(0xbd9b_3997_0467_31fb_9625_1b91_f9c9_9d7a));

        let mul_x_of_reversed_h = block(0xdcba_a5dd_137c_188e_bb21_492c_23c9_b112);
        assert_eq!(ghash_multiply(reversed(h), block(1 << 126)), mul_x_of_reversed_h);
        assert_eq!(ghash(mul_x_of_reversed_h, reversed(x1), reversed(x2)), reversed(polyval));
    }
}
