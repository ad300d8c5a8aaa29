//! Serpent's S-boxes as Boolean formulas on four words, which have one nibble in each bit position.
//!
//! A beam search over `&`, `|`, `^` and `& !` found the formulas from the tables. They have 13 to 15 operations, and
//! the longest chain of dependent ones is 5 to 8. Formulas with fewer operations in longer chains were slower when
//! measured. A complement costs an operation, so some outputs are complemented. Which ones is constant, and the round
//! keys compensate for them.

use core::ops::{BitAnd, BitOr, BitXor, Not};

/// 32-bit words that are processed together: a single one, or those of a register.
pub(super) trait Words:
    Copy + BitXor<Output = Self> + BitAnd<Output = Self> + BitOr<Output = Self> + Not<Output = Self>
{
}

/// The outputs of each S-box that [`forward`] complements, as the bits of a nibble.
pub(super) const FORWARD_COMPLEMENTS: [u8; 8] =
    [0b0011, 0b1111, 0b1000, 0b0000, 0b0001, 0b1111, 0b0111, 0b0001];

/// The outputs of each inverse S-box that [`inverse`] complements, as the bits of a nibble.
pub(super) const INVERSE_COMPLEMENTS: [u8; 8] =
    [0b1101, 0b0101, 0b1100, 0b0000, 0b0101, 0b1000, 0b1111, 0b0011];

/// Computes S-box `I`, up to the complements.
#[inline(always)]
pub(super) fn forward<const I: usize, W: Words>(x: [W; 4]) -> [W; 4] {
    match I {
        0 => s0(x),
        1 => s1(x),
        2 => s2(x),
        3 => s3(x),
        4 => s4(x),
        5 => s5(x),
        6 => s6(x),
        _ => s7(x),
    }
}

/// Computes the inverse of S-box `I`, up to the complements.
#[inline(always)]
pub(super) fn inverse<const I: usize, W: Words>(x: [W; 4]) -> [W; 4] {
    match I {
        0 => inverse_s0(x),
        1 => inverse_s1(x),
        2 => inverse_s2(x),
        3 => inverse_s3(x),
        4 => inverse_s4(x),
        5 => inverse_s5(x),
        6 => inverse_s6(x),
        _ => inverse_s7(x),
    }
}

#[inline(always)]
fn s0<W: Words>([x0, x1, x2, x3]: [W; 4]) -> [W; 4] {
    let t0 = x0 ^ x3;
    let t1 = x2 ^ t0;
    let t2 = x1 ^ t1;
    let t3 = x0 & x3;
    let y3 = t2 ^ t3;
    let t4 = t0 & !x1;
    let t5 = x3 ^ t4;
    let t6 = t1 ^ t5;
    let t7 = t6 & !y3;
    let y1 = t5 ^ t7;
    let t8 = x2 | t5;
    let y2 = t2 ^ t8;
    let y0 = t1 ^ t7;
    [y0, y1, y2, y3]
}

#[inline(always)]
fn s1<W: Words>([x0, x1, x2, x3]: [W; 4]) -> [W; 4] {
    let t0 = x1 & !x0;
    let t1 = x0 ^ x1;
    let t2 = t1 & !x3;
    let t3 = x1 ^ t2;
    let t4 = x2 ^ t0;
    let t5 = x3 ^ t1;
    let t6 = t3 ^ t4;
    let t7 = t3 & !t4;
    let y3 = t5 ^ t7;
    let t8 = t6 & y3;
    let y1 = t6 ^ y3;
    let y0 = t3 ^ t8;
    let y2 = x3 ^ t4;
    [y0, y1, y2, y3]
}

#[inline(always)]
fn s2<W: Words>([x0, x1, x2, x3]: [W; 4]) -> [W; 4] {
    let t0 = x0 & x2;
    let t1 = x1 ^ x2;
    let t2 = x3 ^ t0;
    let t3 = x0 ^ t1;
    let t4 = x0 | x3;
    let t5 = x1 ^ t4;
    let t6 = x1 & t2;
    let y3 = t3 ^ t6;
    let t7 = t5 & !t3;
    let t8 = t2 ^ t7;
    let y2 = t5 ^ t8;
    let y1 = y3 ^ t8;
    let y0 = t1 ^ t2;
    [y0, y1, y2, y3]
}

#[inline(always)]
fn s3<W: Words>([x0, x1, x2, x3]: [W; 4]) -> [W; 4] {
    let t0 = x0 & x1;
    let t1 = x0 & x3;
    let t2 = x0 | x3;
    let t3 = t0 ^ t2;
    let t4 = x2 | t3;
    let t5 = x1 ^ t4;
    let t6 = x2 ^ x3;
    let t7 = t0 | t6;
    let y1 = t5 ^ t7;
    let t8 = x1 & x3;
    let t9 = x0 ^ t8;
    let y2 = t7 ^ t9;
    let t10 = y1 & !y2;
    let y0 = t3 ^ t10;
    let y3 = t1 ^ t5;
    [y0, y1, y2, y3]
}

#[inline(always)]
fn s4<W: Words>([x0, x1, x2, x3]: [W; 4]) -> [W; 4] {
    let t0 = x3 & !x0;
    let t1 = x2 ^ t0;
    let t2 = x3 ^ t1;
    let t3 = x0 ^ x3;
    let t4 = x1 & !t3;
    let t5 = x1 ^ t3;
    let t6 = t1 | t5;
    let y0 = t1 ^ t4;
    let t7 = t6 & !t2;
    let y1 = x1 ^ t7;
    let t8 = t2 | y0;
    let t9 = x1 | t1;
    let y3 = t3 ^ t9;
    let y2 = t5 ^ t8;
    [y0, y1, y2, y3]
}

#[inline(always)]
fn s5<W: Words>([x0, x1, x2, x3]: [W; 4]) -> [W; 4] {
    let t0 = x0 ^ x1;
    let t1 = x1 & !x0;
    let t2 = x2 ^ t1;
    let t3 = x3 & !t0;
    let y0 = t2 ^ t3;
    let t4 = x0 ^ t2;
    let t5 = t4 & !y0;
    let t6 = x3 | t2;
    let t7 = x3 ^ t0;
    let t8 = t2 | t7;
    let t9 = t4 & t8;
    let y1 = t0 ^ t6;
    let y3 = x3 ^ t9;
    let y2 = t5 ^ t7;
    [y0, y1, y2, y3]
}

#[inline(always)]
fn s6<W: Words>([x0, x1, x2, x3]: [W; 4]) -> [W; 4] {
    let t0 = x0 & x3;
    let t1 = x2 ^ t0;
    let y1 = x1 ^ t1;
    let t2 = x2 & !x1;
    let t3 = x0 ^ x1;
    let t4 = x3 ^ t3;
    let t5 = x0 ^ t2;
    let t6 = t1 ^ t4;
    let t7 = t3 | t6;
    let t8 = x2 & !x0;
    let t9 = t4 & !t5;
    let t10 = t4 | t8;
    let y3 = t1 ^ t9;
    let y0 = t7 & t10;
    let y2 = t7 ^ t9;
    [y0, y1, y2, y3]
}

#[inline(always)]
fn s7<W: Words>([x0, x1, x2, x3]: [W; 4]) -> [W; 4] {
    let t0 = x2 & !x1;
    let t1 = x3 ^ t0;
    let t2 = x0 & !t1;
    let t3 = x2 | x3;
    let t4 = x1 ^ x2;
    let y3 = t2 ^ t4;
    let t5 = x0 ^ t3;
    let t6 = t5 & !y3;
    let t7 = y3 & !t5;
    let t8 = t2 & !t4;
    let t9 = t1 ^ t8;
    let y2 = t7 ^ t9;
    let y0 = t1 ^ t6;
    let t10 = x0 ^ x1;
    let y1 = t9 ^ t10;
    [y0, y1, y2, y3]
}

#[inline(always)]
fn inverse_s0<W: Words>([x0, x1, x2, x3]: [W; 4]) -> [W; 4] {
    let t0 = x0 | x1;
    let t1 = x0 ^ x1;
    let t2 = x2 ^ t0;
    let y2 = x3 ^ t2;
    let t3 = t1 ^ y2;
    let t4 = x3 & !t1;
    let t5 = x1 ^ t4;
    let t6 = t2 ^ t5;
    let t7 = t3 & !t6;
    let t8 = t5 & !t2;
    let y0 = t3 ^ t8;
    let y1 = t2 ^ t7;
    let y3 = t6 ^ y0;
    [y0, y1, y2, y3]
}

#[inline(always)]
fn inverse_s1<W: Words>([x0, x1, x2, x3]: [W; 4]) -> [W; 4] {
    let t0 = x3 & !x1;
    let t1 = x0 ^ t0;
    let t2 = x1 ^ x3;
    let t3 = x2 ^ t2;
    let y3 = x2 ^ t1;
    let t4 = x0 | t2;
    let t5 = x3 ^ t4;
    let t6 = t3 ^ t5;
    let t7 = t6 & !y3;
    let y1 = t3 ^ t7;
    let t8 = t3 & t5;
    let y2 = t1 ^ t8;
    let y0 = t5 ^ t7;
    [y0, y1, y2, y3]
}

#[inline(always)]
fn inverse_s2<W: Words>([x0, x1, x2, x3]: [W; 4]) -> [W; 4] {
    let t0 = x2 ^ x3;
    let t1 = x1 | t0;
    let t2 = x0 ^ t1;
    let y0 = x3 ^ t2;
    let t3 = x1 ^ t0;
    let t4 = x2 & t3;
    let t5 = t1 ^ t4;
    let t6 = x0 ^ t3;
    let t7 = t5 & !y0;
    let y1 = t3 ^ t7;
    let t8 = y0 & !t6;
    let t9 = t5 ^ t6;
    let y2 = t7 ^ t9;
    let y3 = t7 ^ t8;
    [y0, y1, y2, y3]
}

#[inline(always)]
fn inverse_s3<W: Words>([x0, x1, x2, x3]: [W; 4]) -> [W; 4] {
    let t0 = x1 & !x2;
    let t1 = x0 ^ t0;
    let t2 = x3 | t1;
    let t3 = x1 ^ x2;
    let t4 = x3 ^ t3;
    let t5 = x1 ^ t1;
    let t6 = t2 & !t4;
    let t7 = x0 | x1;
    let t8 = x3 ^ t7;
    let t9 = t4 & !t8;
    let y3 = t1 ^ t9;
    let y2 = t5 ^ t6;
    let t10 = t8 | y3;
    let y0 = t2 ^ t3;
    let y1 = t6 ^ t10;
    [y0, y1, y2, y3]
}

#[inline(always)]
fn inverse_s4<W: Words>([x0, x1, x2, x3]: [W; 4]) -> [W; 4] {
    let t0 = x0 & !x1;
    let t1 = x0 & !x2;
    let t2 = x2 ^ t0;
    let t3 = x3 | t2;
    let t4 = x1 ^ t3;
    let t5 = x3 | t1;
    let y1 = t2 ^ t5;
    let t6 = x0 ^ x3;
    let y3 = t4 ^ t6;
    let t7 = x1 & !t5;
    let t8 = x2 & !t0;
    let t9 = x0 & y1;
    let t10 = t6 | t7;
    let y2 = t8 ^ t10;
    let y0 = t4 ^ t9;
    [y0, y1, y2, y3]
}

#[inline(always)]
fn inverse_s5<W: Words>([x0, x1, x2, x3]: [W; 4]) -> [W; 4] {
    let t0 = x0 & !x2;
    let t1 = x1 & !t0;
    let t2 = x0 & x3;
    let t3 = x2 ^ t2;
    let t4 = x1 & !t3;
    let t5 = x3 ^ t4;
    let y3 = t1 ^ t3;
    let t6 = x1 & !x3;
    let t7 = x0 ^ x1;
    let t8 = x0 & !y3;
    let t9 = t7 & !t6;
    let t10 = x2 & !t2;
    let y2 = t9 ^ t10;
    let y0 = t5 ^ t7;
    let y1 = t5 ^ t8;
    [y0, y1, y2, y3]
}

#[inline(always)]
fn inverse_s6<W: Words>([x0, x1, x2, x3]: [W; 4]) -> [W; 4] {
    let t0 = x2 & !x0;
    let t1 = x3 ^ t0;
    let y1 = x1 ^ t1;
    let t2 = x0 ^ x2;
    let t3 = t1 & t2;
    let t4 = x0 ^ t3;
    let t5 = y1 ^ t2;
    let t6 = x1 ^ t4;
    let t7 = t5 | t6;
    let t8 = t4 & !x1;
    let y2 = t1 ^ t7;
    let y3 = t5 ^ t8;
    let y0 = t6 ^ y3;
    [y0, y1, y2, y3]
}

#[inline(always)]
fn inverse_s7<W: Words>([x0, x1, x2, x3]: [W; 4]) -> [W; 4] {
    let t0 = x0 & x3;
    let t1 = x1 | t0;
    let t2 = x2 ^ t1;
    let t3 = x2 | x3;
    let t4 = x0 | x3;
    let t5 = t3 & !x0;
    let y2 = t2 ^ t5;
    let t6 = t3 & !x1;
    let t7 = t4 ^ t6;
    let y0 = t2 ^ t7;
    let t8 = t5 | y0;
    let t9 = x3 ^ t8;
    let t10 = x1 & t9;
    let y1 = y2 ^ t9;
    let y3 = t2 ^ t10;
    [y0, y1, y2, y3]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The S-boxes as printed in the paper.
    const TABLES: [[u8; 16]; 8] = [
        [3, 8, 15, 1, 10, 6, 5, 11, 14, 13, 4, 2, 7, 0, 9, 12],
        [15, 12, 2, 7, 9, 0, 5, 10, 1, 11, 14, 8, 6, 13, 3, 4],
        [8, 6, 7, 9, 3, 12, 10, 15, 13, 1, 14, 4, 0, 11, 5, 2],
        [0, 15, 11, 8, 12, 9, 6, 3, 13, 1, 2, 4, 10, 7, 5, 14],
        [1, 15, 8, 3, 12, 0, 11, 6, 2, 5, 4, 10, 9, 14, 7, 13],
        [15, 5, 2, 11, 4, 10, 9, 12, 0, 3, 14, 8, 13, 6, 7, 1],
        [7, 2, 12, 5, 8, 4, 6, 11, 14, 9, 1, 15, 13, 3, 10, 0],
        [1, 13, 15, 0, 14, 8, 2, 11, 7, 4, 12, 10, 9, 3, 5, 6],
    ];

    impl Words for u16 {}

    /// Returns bit `i` of each number of a table in word `i`.
    fn slice(table: [u8; 16]) -> [u16; 4] {
        core::array::from_fn(|i| (0..16).fold(0, |word, x| word | u16::from(table[x] >> i & 1) << x))
    }

    /// Returns the words that a formula computes, without the complements.
    fn corrected(words: [u16; 4], complements: u8) -> [u16; 4] {
        core::array::from_fn(|i| if complements >> i & 1 == 1 { !words[i] } else { words[i] })
    }

    fn formulas_hold<const I: usize>() {
        let numbers = core::array::from_fn(|x| x as u8);
        let y = corrected(forward::<I, _>(slice(numbers)), FORWARD_COMPLEMENTS[I]);
        assert_eq!(y, slice(TABLES[I]), "S{I}");
        let x = corrected(inverse::<I, _>(slice(TABLES[I])), INVERSE_COMPLEMENTS[I]);
        assert_eq!(x, slice(numbers), "the inverse of S{I}");
    }

    #[test]
    fn every_formula_is_its_table() {
        formulas_hold::<0>();
        formulas_hold::<1>();
        formulas_hold::<2>();
        formulas_hold::<3>();
        formulas_hold::<4>();
        formulas_hold::<5>();
        formulas_hold::<6>();
        formulas_hold::<7>();
    }
}
