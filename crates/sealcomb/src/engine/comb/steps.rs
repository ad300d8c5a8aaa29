//! The steps of a window: as many blocks as every lane has left, with the states in registers.
//!
//! ```text
//! load the lanes' states
//! for each step:
//!     x ← the next block of every lane
//!     take the mode's step
//!     the lanes' output ← x
//! store the lanes' states
//! ```
//!
//! A register of four lanes reads one block from each of four messages, and writes one to each. With squares, the
//! outputs of four steps are kept and transposed, and then each message is written once, by whole registers:
//!
//! ```text
//!            lane 1  2  3  4                    step 1  2  3  4
//! step 1   |  A1 B1 C1 D1  |           lane 1 |  A1 A2 A3 A4  |  → 64 bytes of message A
//! step 2   |  A2 B2 C2 D2  |    →      lane 2 |  B1 B2 B3 B4  |  → 64 bytes of message B
//! step 3   |  A3 B3 C3 D3  |           lane 3 |  C1 C2 C3 C4  |
//! step 4   |  A4 B4 C4 D4  |           lane 4 |  D1 D2 D3 D4  |
//! ```

use core::cell::Cell;

use super::Chain;
use super::jobs::{Comb, LaneBlocks};
use super::keys::ChainKeys;
use crate::backend::{Isa, Square, SquareAt, Weave};
use crate::engine::lanes::Registers;

impl<
    'a: 'r,
    'r,
    B: Isa,
    M: Chain<S, K, C, T>,
    A: ChainKeys<'a, B, K, C>,
    const S: usize,
    const K: usize,
    const C: usize,
    const T: usize,
    const W: usize,
    const N: usize,
> Comb<'r, B, M, A, S, K, C, T, W, N>
{
    /// Whether windows can be written in squares.
    const SQUARES: bool = M::WRITES && B::BLOCKS > 1;

    /// Advances all lanes that have a chain job by as many blocks as each of them has, at most `most`. Returns this
    /// number.
    ///
    /// A step takes almost the same time however few lanes are live, and every number of registers adds a kernel.
    /// Therefore there are only three numbers of registers.
    #[inline(always)]
    pub(super) fn window(&mut self, most: usize) -> usize {
        let registers = match self.pointers.live().div_ceil(B::BLOCKS) {
            0 | 1 if !B::SOFT => 1,
            2..=4 if !B::SOFT => 4,
            _ => W,
        };
        let steps = self.pointers.window(registers * B::BLOCKS).min(most);
        // With four registers or fewer, squares pay off only if lines evict each other.
        let room = const { S <= 2 } && registers > 4;
        let squares = Self::SQUARES && registers > 1 && self.pointers.writes_squares(room);
        match (registers, W) {
            (1, _) if const { !B::SOFT } => self.advance::<1, 1>(steps),
            (4, _) if const { !B::SOFT && Self::SQUARES } && squares => self.advance_in_squares::<4>(steps),
            (4, _) if const { !B::SOFT } => self.advance::<1, 4>(steps),
            _ if const { Self::SQUARES } && squares => self.advance_in_squares::<W>(steps),
            (_, 8) if const { A::SHARED } => self.advance::<2, 4>(steps),
            (_, 12) if const { A::SHARED } => self.advance::<2, 6>(steps),
            _ => self.advance::<1, W>(steps),
        }
        steps
    }

    /// Advances the lanes of `G` groups of `R` registers, one or two, by `steps` blocks. The CPU overlaps the rounds
    /// of one group, which wait for each other, with the rounds or products of the other.
    #[inline(always)]
    fn advance<const G: usize, const R: usize>(&mut self, steps: usize) {
        let Self { b, pointers, state: memory, line_states, in_tail, chain_keys, .. } = self;
        let b = *b;
        let mut state = [[[b.zero(); R]; S]; G];
        for g in 0..G {
            load_lanes(b, memory, g * R, &mut state[g]);
        }
        // If a chain job ends within the line, its state is taken from the step at which it ends.
        let leave_trail = *in_tail != 0;
        for i in (0..steps).step_by(T) {
            // A loop would keep the states of the groups in memory.
            macro_rules! step {
                ($g:expr) => {
                    let (mut x, first) = ([[b.zero(); R]; T], $g * R);
                    for t in 0..T {
                        pointers.gather(b, i + t, first, &mut x[t]);
                    }
                    M::step(
                        Registers::new(b, chain_keys.keys(), chain_keys.constants()),
                        &mut state[$g],
                        &mut x,
                    );
                    if leave_trail {
                        store_lanes(b, &state[$g], first, &mut line_states[i + T - 1]);
                    }
                    if M::WRITES {
                        for t in 0..T {
                            pointers.scatter(b, i + t, first, &x[t]);
                        }
                    }
                };
            }
            step!(0);
            if G == 2 {
                step!(G - 1);
            }
        }
        pointers.go(steps);
        for g in 0..G {
            store_lanes(b, &state[g], g * R, memory);
        }
    }

    /// Advances the lanes of `R` registers by `steps` blocks, all together, in squares of as many steps as a register
    /// has blocks. A square is written by whole registers during the steps of the next one, a few registers per step.
    /// If there are enough vector registers, these stores and shuffles are interleaved with the rounds. The last
    /// square is written after all steps or, where a square saves few stores, block by block.
    #[inline(always)]
    fn advance_in_squares<const R: usize>(&mut self, steps: usize) {
        let Self { b, pointers, state: memory, line_states, in_tail, squares, chain_keys, .. } = self;
        let (b, blocks) = (*b, B::BLOCKS);
        let squares: &mut [_; 2] = squares.first_chunk_mut().expect("memory for squares");
        let mut state = [[b.zero(); R]; S];
        load_lanes(b, memory, 0, &mut state);
        let leave_trail = *in_tail != 0;
        let whole = steps / blocks;
        let at_once = const { B::BLOCKS == 4 };
        let squared = if at_once { whole } else { whole.saturating_sub(1) };
        for i in (0..steps).step_by(T) {
            let mut x = [[b.zero(); R]; T];
            for t in 0..T {
                pointers.gather(b, i + t, 0, &mut x[t]);
            }
            let (square, step) = (i / blocks, i % blocks);
            let mut part = (square > 0 && square < whole).then(|| Part::<B, T, R, W> {
                at: pointers.square((square - 1) * blocks),
                square: &squares[(square - 1) % 2],
                first: step * R.div_ceil(blocks),
            });
            let interleaved = Cell::new(if const { B::BLOCKS == 4 } { part.take() } else { None });
            M::step(
                Registers::with(b, chain_keys.keys(), chain_keys.constants(), &interleaved),
                &mut state,
                &mut x,
            );
            // What the step did not interleave, because it has no encryption by all rounds or too few registers.
            let mut left = interleaved.take().or(part);
            for piece in 0..R {
                left.thread(b, piece);
            }
            if leave_trail {
                store_lanes(b, &state, 0, &mut line_states[i + T - 1]);
            }
            for t in 0..T {
                if square < squared {
                    squares[square % 2][step + t][..R].copy_from_slice(&x[t]);
                } else {
                    pointers.scatter(b, i + t, 0, &x[t]);
                }
            }
        }
        if at_once && whole > 0 {
            let last = whole - 1;
            let at = pointers.square::<B, R>(last * blocks);
            for r in 0..R {
                at.write(b, &squares[last % 2], r);
            }
        }
        pointers.go(steps);
        store_lanes(b, &state, 0, memory);
    }
}

/// The part of a square that is written during the next `T` steps.
struct Part<'w, B: Isa, const T: usize, const R: usize, const W: usize> {
    at: SquareAt<'w, B, R>,
    square: &'w Square<B, W>,
    // The index of the first register of the part.
    first: usize,
}

impl<B: Isa, const T: usize, const R: usize, const W: usize> Weave<B> for Part<'_, B, T, R, W> {
    const LONG: bool = true;

    /// Writes one register, or none.
    #[inline(always)]
    fn thread(&mut self, b: B, piece: usize) {
        let registers = const { T * R.div_ceil(B::BLOCKS) };
        let apart = R / registers;
        if (piece + 1).is_multiple_of(apart) && piece / apart < registers {
            self.at.write(b, self.square, self.first + piece / apart);
        }
    }
}

/// Loads the blocks of the lanes of `R` registers, from register `first` on.
#[inline(always)]
fn load_lanes<B: Isa, const S: usize, const R: usize, const N: usize>(
    b: B,
    memory: &[LaneBlocks<N>; S],
    first: usize,
    lanes: &mut [[B::V; R]; S],
) {
    for s in 0..S {
        for r in 0..R {
            lanes[s][r] = b.load(&memory[s].0[(first + r) * B::BLOCKS..]);
        }
    }
}

/// Stores the blocks of the lanes of `R` registers, from register `first` on.
#[inline(always)]
fn store_lanes<B: Isa, const S: usize, const R: usize, const N: usize>(
    b: B,
    lanes: &[[B::V; R]; S],
    first: usize,
    memory: &mut [LaneBlocks<N>; S],
) {
    for s in 0..S {
        for r in 0..R {
            b.store(lanes[s][r], &mut memory[s].0[(first + r) * B::BLOCKS..]);
        }
    }
}
