//! The linear mixing between the layers, for consecutive blocks of one message or for messages abreast.
//!
//! ```text
//! COPA          Y ← X ⊕ S, S ← Y
//! ELmD, COLM    Y ← X ⊕ 3 W, W ← X ⊕ 2 W
//! ```
//!
//! Within a register of consecutive blocks, the state of each block is a sum over the blocks before it, so all blocks
//! are mixed at once.

use super::GROUP;
use crate::backend::{BLOCK, Block, Isa};
use crate::primitives::doublings::sum_of_multiples;

/// A linear mixing.
pub(crate) trait Mixing {
    /// Whether mixing one block per lane takes less work than mixing the consecutive blocks of a register.
    const ABREAST: bool;

    /// Returns `Y` for a register of consecutive blocks `X`.
    fn mix<B: Isa>(b: B, state: &mut State<B>, x: B::V) -> B::V;
    /// Returns `X` for a register of consecutive blocks `Y`.
    fn unmix<B: Isa>(b: B, state: &mut State<B>, y: B::V) -> B::V;
    /// Returns `Y` for one block `X` per lane. `w` has the state of each lane.
    fn mix_lanes<B: Isa>(b: B, w: &mut B::V, x: B::V) -> B::V;
    /// Returns `X` for one block `Y` per lane. `w` has the state of each lane.
    fn unmix_lanes<B: Isa>(b: B, w: &mut B::V, y: B::V) -> B::V;
    /// Converts blocks between the mode's byte order and that of the state.
    fn turn<B: Isa>(b: B, v: B::V) -> B::V;
}

/// Mixes one block.
#[inline(always)]
pub(super) fn mix_block<X: Mixing, B: Isa>(b: B, w: &mut Block, x: Block) -> Block {
    let mut state = X::turn(b, b.one(w));
    let y = X::mix_lanes(b, &mut state, b.one(&x));
    *w = b.first(X::turn(b, state));
    b.first(y)
}

/// Inverts the mixing for one block.
#[inline(always)]
pub(super) fn unmix_block<X: Mixing, B: Isa>(b: B, w: &mut Block, y: Block) -> Block {
    let mut state = X::turn(b, b.one(w));
    let x = X::unmix_lanes(b, &mut state, b.one(&y));
    *w = b.first(X::turn(b, state));
    b.first(x)
}

/// The state of the mixing between registers of consecutive blocks.
#[derive(Clone, Copy)]
pub(crate) struct State<B: Isa> {
    /// `W` after each block of the last register.
    w: B::V,
    /// The blocks of the last register, and the sequence shifted by one and by two blocks.
    before: [B::V; 3],
}

impl<B: Isa> State<B> {
    /// Returns the state after a first block that leaves `w`.
    #[inline(always)]
    pub(super) fn new<X: Mixing>(b: B, w: &Block) -> Self {
        let all = X::turn(b, b.splat(w));
        let w = b.xor(all, b.keep(all, BLOCK * (B::BLOCKS - 1)));
        Self { w, before: [w, b.zero(), b.zero()] }
    }

    /// Returns `W` after block number `block` of the last register.
    #[inline(always)]
    pub(super) fn after<X: Mixing>(&self, b: B, block: usize) -> Block {
        lane::<X, B>(b, self.w, block)
    }

    /// Returns a register of blocks, and the sequence shifted by one, two and three blocks. Only as many entries as a
    /// register has blocks are valid.
    #[inline(always)]
    fn moved(&mut self, b: B, x: B::V) -> [B::V; 4] {
        let mut moved = [x; 4];
        for k in 1..B::BLOCKS {
            moved[k] = b.push(self.before[k - 1], moved[k - 1]);
            self.before[k - 1] = moved[k - 1];
        }
        moved
    }
}

/// Returns one lane of a register of states.
#[inline(always)]
fn lane<X: Mixing, B: Isa>(b: B, w: B::V, lane: usize) -> Block {
    let mut blocks = [[0; BLOCK]; 4];
    b.store(X::turn(b, w), &mut blocks);
    blocks[lane]
}

/// COPA's mixing: `Y = S' = X ⊕ S`.
pub(crate) struct Sum;

impl Mixing for Sum {
    const ABREAST: bool = false;

    /// The state after a block is the state after the block one register earlier, plus all blocks since.
    #[inline(always)]
    fn mix<B: Isa>(b: B, state: &mut State<B>, x: B::V) -> B::V {
        let moved = state.moved(b, x);
        for k in 0..B::BLOCKS {
            state.w = b.xor(state.w, moved[k]);
        }
        state.w
    }

    #[inline(always)]
    fn unmix<B: Isa>(b: B, state: &mut State<B>, y: B::V) -> B::V {
        let before = b.push(state.w, y);
        state.w = y;
        b.xor(y, before)
    }

    #[inline(always)]
    fn mix_lanes<B: Isa>(b: B, w: &mut B::V, x: B::V) -> B::V {
        *w = b.xor(*w, x);
        *w
    }

    #[inline(always)]
    fn unmix_lanes<B: Isa>(b: B, w: &mut B::V, y: B::V) -> B::V {
        let x = b.xor(*w, y);
        *w = y;
        x
    }

    #[inline(always)]
    fn turn<B: Isa>(_: B, v: B::V) -> B::V {
        v
    }
}

/// The mixing `ρ` of ELmD and COLM: `Y = X ⊕ 3 W`, `W' = X ⊕ 2 W`. The state is byte-reversed.
pub(crate) struct Rho;

impl Mixing for Rho {
    const ABREAST: bool = true;

    #[inline(always)]
    fn mix<B: Isa>(b: B, state: &mut State<B>, x: B::V) -> B::V {
        let [x0, x1, x2, x3] = state.moved(b, b.reverse(x));
        let w = match B::BLOCKS {
            1 => sum_of_multiples(b, [(x0, 0), (state.w, 1)]),
            2 => sum_of_multiples(b, [(x0, 0), (x1, 1), (state.w, 2)]),
            _ => sum_of_multiples(b, [(x0, 0), (x1, 1), (x2, 2), (x3, 3), (state.w, 4)]),
        };
        // `Y = W' ⊕ W`
        let y = b.xor(w, b.push(state.w, w));
        state.w = w;
        b.reverse(y)
    }

    #[inline(always)]
    fn unmix<B: Isa>(b: B, state: &mut State<B>, y: B::V) -> B::V {
        let before = state.w;
        let moved = state.moved(b, b.reverse(y));
        for k in 0..B::BLOCKS {
            state.w = b.xor(state.w, moved[k]);
        }
        // `X = W' ⊕ 2 W`
        b.reverse(sum_of_multiples(b, [(state.w, 0), (b.push(before, state.w), 1)]))
    }

    #[inline(always)]
    fn mix_lanes<B: Isa>(b: B, w: &mut B::V, x: B::V) -> B::V {
        let before = *w;
        *w = sum_of_multiples(b, [(b.reverse(x), 0), (before, 1)]);
        b.reverse(b.xor(*w, before))
    }

    #[inline(always)]
    fn unmix_lanes<B: Isa>(b: B, w: &mut B::V, y: B::V) -> B::V {
        let before = *w;
        *w = b.xor(b.reverse(y), before);
        b.reverse(sum_of_multiples(b, [(*w, 0), (before, 1)]))
    }

    #[inline(always)]
    fn turn<B: Isa>(b: B, v: B::V) -> B::V {
        b.reverse(v)
    }
}

/// Returns one of the states. It compares instead of indexing, because an index that is not a constant would keep all
/// states in memory.
#[inline(always)]
fn pick<B: Isa>(w: [B::V; GROUP], which: usize) -> B::V {
    let mut picked = w[0];
    for r in 1..GROUP {
        if r == which {
            picked = w[r];
        }
    }
    picked
}

/// The way in which `N` messages pass through the mixing, one group of registers at a time.
pub(super) trait Course<B: Isa, const N: usize>: Copy {
    /// Begins after blocks that leave `w`.
    fn new<X: Mixing>(b: B, w: &[Block; N]) -> Self;

    /// Mixes register number `piece` of a group. The pieces must be mixed in order.
    fn mix<X: Mixing, const OPENS: bool>(&mut self, b: B, x: &mut [B::V; GROUP], piece: usize);

    /// Returns `W` of a message after its block number `block` in the last group.
    fn after<X: Mixing>(&self, b: B, message: usize, block: usize) -> Block;
}

/// A single message: each register continues from the previous one.
#[derive(Clone, Copy)]
pub(super) struct Alone<B: Isa> {
    state: State<B>,
    /// `W` after each block of the last group.
    w: [B::V; GROUP],
}

impl<B: Isa> Course<B, 1> for Alone<B> {
    #[inline(always)]
    fn new<X: Mixing>(b: B, [w]: &[Block; 1]) -> Self {
        Self { state: State::new::<X>(b, w), w: [b.zero(); GROUP] }
    }

    #[inline(always)]
    fn mix<X: Mixing, const OPENS: bool>(&mut self, b: B, x: &mut [B::V; GROUP], piece: usize) {
        let state = &mut self.state;
        x[piece] = if OPENS { X::unmix(b, state, x[piece]) } else { X::mix(b, state, x[piece]) };
        self.w[piece] = state.w;
    }

    #[inline(always)]
    fn after<X: Mixing>(&self, b: B, _: usize, block: usize) -> Block {
        lane::<X, B>(b, pick::<B>(self.w, block / B::BLOCKS), block % B::BLOCKS)
    }
}

/// Messages abreast, with one register of each in a group. The registers are transposed in groups of as many messages
/// as a register has blocks. Then each message has a lane, and a piece mixes one block of each message. This is less
/// work than mixing the consecutive blocks of a register.
#[derive(Clone, Copy)]
pub(super) struct Abreast<B: Isa> {
    /// `W` of the first register's messages after each of the blocks that they have in the last group, then of the
    /// next register's messages.
    w: [B::V; GROUP],
}

impl<B: Isa> Course<B, GROUP> for Abreast<B> {
    #[inline(always)]
    fn new<X: Mixing>(b: B, w: &[Block; GROUP]) -> Self {
        let mut last = [b.zero(); GROUP];
        for first in (0..GROUP).step_by(B::BLOCKS) {
            last[first + B::BLOCKS - 1] = X::turn(b, b.load(&w[first..]));
        }
        Self { w: last }
    }

    #[inline(always)]
    fn mix<X: Mixing, const OPENS: bool>(&mut self, b: B, x: &mut [B::V; GROUP], piece: usize) {
        if piece == 0 {
            *x = b.transpose(*x);
        }
        // The first block continues from the last one of the previous group.
        let before = if piece.is_multiple_of(B::BLOCKS) { piece + B::BLOCKS - 1 } else { piece - 1 };
        let mut w = self.w[before];
        x[piece] =
            if OPENS { X::unmix_lanes(b, &mut w, x[piece]) } else { X::mix_lanes(b, &mut w, x[piece]) };
        self.w[piece] = w;
        if piece == GROUP - 1 {
            *x = b.transpose(*x);
        }
    }

    #[inline(always)]
    fn after<X: Mixing>(&self, b: B, message: usize, block: usize) -> Block {
        let first = message / B::BLOCKS * B::BLOCKS;
        lane::<X, B>(b, pick::<B>(self.w, first + block), message % B::BLOCKS)
    }
}

#[cfg(test)]
mod tests {
    use core::array::from_fn;
    use core::marker::PhantomData;

    use super::*;
    use crate::backend::{Backend, Kernel};

    /// Returns block `i` of a message.
    fn block(message: usize, i: usize) -> Block {
        from_fn(|k| (0x35 + 89 * message + 57 * i + 23 * k + 7 * i * k) as u8)
    }

    fn blocks<B: Isa>(b: B, v: B::V) -> [Block; 4] {
        let mut blocks = [[0; BLOCK]; 4];
        b.store(v, &mut blocks);
        blocks
    }

    /// Mixes as many messages as a group has registers, each of as many registers, in all ways.
    struct AllWays<X, const OPENS: bool>(PhantomData<X>);

    impl<X: Mixing, const OPENS: bool> Kernel for AllWays<X, OPENS> {
        type Output = ();

        #[inline(always)]
        fn run<B: Isa>(self, b: B) {
            let w: [Block; GROUP] = from_fn(|message| block(message, 99));
            let register = |message: usize, r: usize| {
                b.load(&from_fn::<Block, 4, _>(|i| block(message, r * B::BLOCKS + i)))
            };
            let mut abreast = Abreast::new::<X>(b, &w);
            let columns: [_; GROUP] = from_fn(|r| {
                let mut x: [B::V; GROUP] = from_fn(|message| register(message, r));
                for piece in 0..GROUP {
                    abreast.mix::<X, OPENS>(b, &mut x, piece);
                }
                x
            });
            for message in 0..GROUP {
                let mut alone = Alone::new::<X>(b, &[w[message]]);
                let mut x: [B::V; GROUP] = from_fn(|r| register(message, r));
                for piece in 0..GROUP {
                    alone.mix::<X, OPENS>(b, &mut x, piece);
                }
                let mut w = w[message];
                for i in 0..GROUP * B::BLOCKS {
                    let (r, lane) = (i / B::BLOCKS, i % B::BLOCKS);
                    let y = if OPENS {
                        unmix_block::<X, B>(b, &mut w, block(message, i))
                    } else {
                        mix_block::<X, B>(b, &mut w, block(message, i))
                    };
                    assert_eq!(blocks(b, x[r])[lane], y, "alone, message {message}, block {i}");
                    assert_eq!(
                        blocks(b, columns[r][message])[lane],
                        y,
                        "abreast, message {message}, block {i}"
                    );
                    assert_eq!(alone.after::<X>(b, 0, i), w, "alone, message {message}, W after block {i}");
                    if r == GROUP - 1 {
                        assert_eq!(abreast.after::<X>(b, message, lane), w, "abreast, message {message}, W");
                    }
                }
            }
        }
    }

    #[test]
    fn messages_alone_abreast_and_block_by_block_are_mixed_alike() {
        for backend in Backend::available() {
            backend.run(AllWays::<Sum, false>(PhantomData));
            backend.run(AllWays::<Sum, true>(PhantomData));
            backend.run(AllWays::<Rho, false>(PhantomData));
            backend.run(AllWays::<Rho, true>(PhantomData));
        }
    }
}
