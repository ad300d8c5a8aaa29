//! A chain of dependent instructions whose length in core cycles is known.

use std::hint::black_box;

/// Cycles of one round of the chain.
const ROUND_CYCLES: u64 = 64;

/// Runs for `cycles` core cycles (rounded up to whole rounds).
///
/// Each step is an exclusive-or and an addition with operands that the compiler does not know: the two do not
/// commute, so no step can be merged with its neighbour, and each takes one cycle on every CPU that people run.
/// Operands are registers; additions of constants can be free (Golden Cove does them while renaming).
#[inline(never)]
pub(crate) fn run_chain(cycles: u64) {
    let (mask, addend) = (black_box(0x5555_5555_5555_5555u64), black_box(0x0123_4567_89ab_cdefu64));
    let mut x = black_box(1u64);
    for _ in 0..cycles.div_ceil(ROUND_CYCLES) {
        for _ in 0..ROUND_CYCLES / 2 {
            x = (x ^ mask).wrapping_add(addend);
        }
    }
    black_box(x);
}
