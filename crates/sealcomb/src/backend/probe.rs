//! [`Probe`]: operations that only measurements use. Their comments name instructions as those of [`Isa`] do.

use super::{BLOCK, Isa};

/// Ways to read the top bit of a block, as compared in the papers. Only `aesni` distinguishes them.
#[derive(Clone, Copy)]
pub(crate) enum TopBit {
    /// Extracts the top byte: `PEXTRB`.
    Extract,
    /// Tests the block against a mask: `PTEST`.
    Test,
    /// Collects the top bits of all bytes: `PMOVMSKB`.
    Collect,
    /// Compares all bytes with zero, then extracts the top one: `PCMPGTB`, `PEXTRB`.
    Compare,
}

/// The operations of a backend that only measurements use.
pub(crate) trait Probe: Isa {
    /// Returns whether the last byte of the first block has its top bit set. A caller that branches on the result is
    /// not constant-time. See [`TopBit`] for the instructions.
    #[inline(always)]
    fn top_bit(self, v: Self::V, _: TopBit) -> bool {
        self.first(v)[BLOCK - 1] >> 7 == 1
    }

    /// One AES round in the order of the CPU's own instructions, which on Arm add the round key first.
    /// [`Isa::aes_round`]; on `neon` `AESE`, `AESMC`.
    #[inline(always)]
    fn aes_own_round(self, x: Self::V, key: Self::V) -> Self::V {
        self.aes_round(x, key)
    }

    /// One round of the inverse cipher in the order of the CPU's own instructions. [`Isa::aes_inv_round`]; on `neon`
    /// `AESD`, `AESIMC`.
    #[inline(always)]
    fn aes_own_inv_round(self, x: Self::V, key: Self::V) -> Self::V {
        self.aes_inv_round(x, key)
    }

    /// `AESKEYGENASSIST` with round constant 1. For the second and the fourth word of each block it returns
    /// `SubWord(word)` followed by `RotWord(SubWord(word))` XOR 1. The key schedule uses AES rounds instead.
    /// `AESKEYGENASSIST` on `aesni`; elsewhere the last AES round and two byte shuffles.
    #[inline(always)]
    fn aes_key_assist(self, x: Self::V) -> Self::V {
        // The last round is SubBytes after ShiftRows; the shuffle cancels ShiftRows.
        let unshifted = self.shuffle(x, &[0, 13, 10, 7, 4, 1, 14, 11, 8, 5, 2, 15, 12, 9, 6, 3]);
        let substituted = self.aes_last(unshifted, self.zero());
        let words = self.shuffle(substituted, &[4, 5, 6, 7, 5, 6, 7, 4, 12, 13, 14, 15, 13, 14, 15, 12]);
        self.xor(words, self.splat(&[0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0]))
    }
}
