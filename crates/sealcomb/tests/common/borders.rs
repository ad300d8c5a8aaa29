//! Random values that are biased towards boundaries.

use proptest::prelude::*;
use proptest::sample::select;
use rand::rngs::StdRng;
use rand::{Rng, RngExt};

/// Numbers of blocks that some backend processes at a time: a register, a cache line, several registers, a flight, a
/// table of masks.
const GROUPS: [usize; 9] = [1, 2, 4, 8, 12, 16, 32, 127, 128];

/// The maximum number of blocks before a counter overflows.
const FEW: u8 = 40;

/// Returns random bytes. Half of the time all or some of them are ones, zeros or a sign bit, so that a counter at
/// either end, in any number of bytes, is about to overflow.
pub(crate) fn bytes(rng: &mut StdRng, bytes: usize) -> Vec<u8> {
    let mut string = vec![0; bytes];
    rng.fill_bytes(&mut string);
    let some = rng.random_range(0..=bytes);
    match rng.random_range(0..12) {
        0 => string.fill(0xff),
        1 => string.fill(0),
        2 | 3 => {
            string[some..].fill(0xff);
            string[some..].last_mut().into_iter().for_each(|last| *last -= rng.random_range(0..=FEW));
        }
        4 => {
            string[..some].fill(0xff);
            string[..some].first_mut().into_iter().for_each(|first| *first -= rng.random_range(0..=FEW));
        }
        5 => {
            string[some..].fill(0);
            string[some..].iter_mut().take(1).for_each(|byte| *byte = 0x80);
        }
        _ => {}
    }
    string
}

/// Generates lengths around multiples of the groups.
pub(crate) fn length() -> impl Strategy<Value = usize> {
    (select(GROUPS.to_vec()), 1..=4_usize, 0..=34_usize)
        .prop_map(|(blocks, groups, offset)| (16 * blocks * groups + offset).saturating_sub(17))
}
