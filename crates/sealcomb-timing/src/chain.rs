//! A chain of dependent instructions whose length in core cycles is known.

use std::hint::black_box;

/// Core cycles per round of the chain.
const ROUND_CYCLES: u64 = 64;

/// Runs for `cycles` core cycles, rounded up to whole rounds.
///
/// A step is an XOR and an addition with operands unknown to the compiler. The two do not commute, so adjacent steps
/// cannot be merged, and each instruction takes one cycle on all common CPUs. The operands are in registers, because
/// additions of constants may take no time (Golden Cove computes them during register renaming).
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
