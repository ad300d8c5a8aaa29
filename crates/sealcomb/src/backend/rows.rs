//! Registers in memory that can be read from any block on.

use arrayvec::ArrayVec;
use zeroize::optimization_barrier;

use super::{BLOCK, Block, Isa};

/// Up to `N` registers of secrets. Their memory is zeroed on drop.
pub(crate) struct Rows<B: Isa, const N: usize>(ArrayVec<B::V, N>);

impl<B: Isa, const N: usize> Rows<B, N> {
    #[inline(always)]
    pub(crate) fn new() -> Self {
        Self(ArrayVec::new())
    }

    #[inline(always)]
    pub(crate) fn push(&mut self, row: B::V) {
        self.0.push(row);
    }

    /// Returns the blocks of all registers.
    #[inline(always)]
    pub(crate) fn blocks(&self) -> &[Block] {
        const { assert!(size_of::<B::V>() == BLOCK * B::BLOCKS) };
        let count = self.0.len() * B::BLOCKS;
        // SAFETY: a register consists of `BLOCKS` blocks of bytes, which have no alignment.
        unsafe { core::slice::from_raw_parts(self.0.as_ptr().cast(), count) }
    }
}

impl<B: Isa, const N: usize> Drop for Rows<B, N> {
    #[inline(always)]
    fn drop(&mut self) {
        let count = self.0.len() * B::BLOCKS;
        // SAFETY: as in `blocks`. Any bytes are a valid register.
        let blocks: &mut [Block] =
            unsafe { core::slice::from_raw_parts_mut(self.0.as_mut_ptr().cast(), count) };
        blocks.fill([0; BLOCK]);
        optimization_barrier(blocks);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::{Backend, Kernel, after_drop};
    use alloc::vec;
    use alloc::vec::Vec;

    struct Drops;

    impl Kernel for Drops {
        type Output = (Vec<Block>, Vec<u8>);

        /// Returns the blocks of some rows, and the bytes that remain after their drop.
        #[inline(always)]
        fn run<B: Isa>(self, b: B) -> Self::Output {
            let mut rows = Rows::<B, 3>::new();
            for byte in 0xa1..=0xa3 {
                rows.push(b.splat(&[byte; BLOCK]));
            }
            (rows.blocks().to_vec(), after_drop(rows))
        }
    }

    #[test]
    fn rows_are_read_block_by_block_and_wiped() {
        for backend in Backend::available() {
            let (blocks, after) = backend.run(Drops);
            let expected: Vec<Block> =
                (0xa1..=0xa3).flat_map(|byte| vec![[byte; BLOCK]; backend.blocks()]).collect();
            assert_eq!(blocks, expected, "{backend:?}");
            // The number of rows remains, and padding, which holds arbitrary bytes.
            for byte in 0xa1..=0xa3 {
                assert!(!after.windows(BLOCK).any(|bytes| bytes == [byte; BLOCK]), "{backend:?}");
            }
        }
    }
}
