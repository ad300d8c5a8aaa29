//! [`Isa`]: the operations that every backend implements on a register of AES blocks.
//!
//! The comment of each operation ends with the instructions that implement it, in the order `aesni` / `vaes256` /
//! `vaes512` / `neon`. Two entries mean x86-64 / Arm: the three x86-64 backends then use the same instruction, with
//! the prefix `V` on wide registers. The portable backends use integer arithmetic and RustCrypto's AES throughout.

use core::hint::black_box;

use super::{Kernel, SoftAes, rounds};

/// Size of an AES block in bytes.
pub(crate) const BLOCK: usize = 16;

/// One AES block.
pub(crate) type Block = [u8; BLOCK];

/// Number of registers of independent blocks that pass through the cipher together. Eight rounds of latency 4 fill
/// two AES units.
pub(crate) const REGISTERS: usize = 8;

/// Source of the round keys for the blocks in a register: one key for all lanes, or one key per lane.
pub(crate) trait RoundKeys<B: Isa>: Copy {
    /// Number of rounds: 10, 12 or 14.
    fn rounds(self) -> usize;
    /// Returns round key `round` for the lanes of register `reg`.
    fn key(self, b: B, round: usize, reg: usize) -> B::V;
    /// Returns the last round key for the lanes of register `reg`.
    #[inline(always)]
    fn last_key(self, b: B, reg: usize) -> B::V {
        self.key(b, self.rounds(), reg)
    }
    /// Returns the portable cipher of a lane. `None` if the lane has no key or the backend does not use [`SoftAes`].
    fn soft(&self, lane: usize) -> Option<&SoftAes>;
    /// Whether all lanes share one key.
    const SHARED: bool;
    /// Returns `self` through an optimization barrier that hides the address of the keys from the compiler.
    #[inline(always)]
    fn hidden(self) -> Self {
        black_box(self)
    }
}

/// Returns `reference` through an optimization barrier that hides its address from the compiler. Unlike
/// [`black_box`], it keeps the pointer in a register.
#[inline(always)]
pub(crate) fn hidden<T>(reference: &T) -> &T {
    #[cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(miri)))]
    {
        let mut place = core::ptr::from_ref(reference);
        // SAFETY: the assembly is empty, so `place` still is the pointer of `reference`.
        unsafe {
            core::arch::asm!("/* {0} */", inout(reg) place, options(nomem, nostack, preserves_flags));
            &*place
        }
    }
    #[cfg(any(not(any(target_arch = "x86_64", target_arch = "aarch64")), miri))]
    black_box(reference)
}

/// The first bytes of a register, at least one, as the backend selects them.
pub(crate) trait Part: Copy {
    /// Returns the part of this many bytes, from 1 to the size of a register.
    fn of(bytes: usize) -> Self;
    /// Returns the number of bytes.
    fn bytes(self) -> usize;
}

impl Part for usize {
    #[inline(always)]
    fn of(bytes: usize) -> Self {
        bytes
    }

    #[inline(always)]
    fn bytes(self) -> usize {
        self
    }
}

/// Output blocks of up to four consecutive steps in `R` registers, indexed by step and register. A square has as many
/// steps as a register has blocks.
pub(crate) type Square<B, const R: usize> = [[<B as Isa>::V; R]; 4];

/// Work that is interleaved with AES rounds, in at most nine pieces, to keep all execution units of the CPU busy.
pub(crate) trait Weave<B: Isa> {
    /// Whether the pieces are long. The compiler would keep the rounds around long pieces in a loop that selects the
    /// piece each time, or move the rounds away from the pieces. Setting this unrolls and pins the rounds.
    const LONG: bool = false;

    /// Returns whether there is work for the next rounds. It is called once before them, so that no piece has to
    /// check.
    #[inline(always)]
    fn begin(&mut self, _: B) -> bool {
        true
    }
    /// Does piece number `piece`, counted from 0.
    fn thread(&mut self, b: B, piece: usize);
}

impl<B: Isa> Weave<B> for () {
    #[inline(always)]
    fn thread(&mut self, _: B, _: usize) {}
}

impl<B: Isa, W: Weave<B>> Weave<B> for Option<W> {
    const LONG: bool = W::LONG;

    #[inline(always)]
    fn thread(&mut self, b: B, piece: usize) {
        if let Some(weave) = self {
            weave.thread(b, piece);
        }
    }
}

/// The operations of a backend on a register `V` of `BLOCKS` blocks of 16 bytes.
///
/// A value of the implementing type (a token) proves that the CPU has the instructions and that the operating system
/// has enabled their registers. "Low" and "high" are the 64-bit halves of each block; low is the half at the lower
/// address. Operations work on each block or half independently unless their comment says otherwise.
pub(crate) trait Isa: Copy + Send + Sync + 'static {
    /// Number of blocks in a register: 1, 2 or 4.
    const BLOCKS: usize;
    /// Maximum number of registers of chained blocks in flight: 8, or 12 if `BLOCKS` is 1. A round key and
    /// temporaries must fit into the remaining registers, and loads and stores must keep pace with the rounds.
    const CHAINS: usize;
    /// Whether AES keys are [`SoftAes`] instead of round keys.
    const SOFT: bool = false;
    /// A register of `BLOCKS` blocks: `__m128i` / `__m256i` / `__m512i` / `uint8x16_t`.
    type V: Copy;

    /// The operations on registers of one block.
    type Narrow: Isa;

    /// The first bytes of a register: a mask on `vaes512`, elsewhere their number.
    type Part: Part;

    /// Returns the token for registers of one block.
    fn narrow(self) -> Self::Narrow;

    /// Returns a register of zeros. `PXOR` / `VPXOR` / `VPXOR` / `MOVI`.
    fn zero(self) -> Self::V;
    /// Broadcasts `block` to all lanes. `MOVDQU` / `VBROADCASTI128` / `VBROADCASTI32X4` / `LD1`.
    fn splat(self, block: &Block) -> Self::V;
    /// Returns a register with `block` in the first lane and zeros in the others. `MOVDQU`, which zero-extends on
    /// wider registers / `LD1`.
    fn one(self, block: &Block) -> Self::V;
    /// Returns the first block of a register. `MOVDQU` / `ST1`.
    fn first(self, v: Self::V) -> Block;
    /// Broadcasts the first block of a register to all lanes. No instruction / `_mm256_broadcastsi128_si256` /
    /// `_mm512_broadcast_i32x4` / no instruction.
    fn spread(self, v: Self::V) -> Self::V;

    /// Loads `BLOCKS` consecutive blocks from any alignment. `MOVDQU` / `VMOVDQU` / `VMOVDQU64` / `LD1`.
    ///
    /// # Safety
    /// `16 * BLOCKS` bytes starting at `from` must be readable.
    unsafe fn load_from(self, from: *const u8) -> Self::V;
    /// Stores `BLOCKS` consecutive blocks to any alignment. `MOVDQU` / `VMOVDQU` / `VMOVDQU64` / `ST1`.
    ///
    /// # Safety
    /// `16 * BLOCKS` bytes starting at `to` must be writable.
    unsafe fn store_to(self, v: Self::V, to: *mut u8);
    /// Loads `bytes` bytes, zero-padded to a register, and accesses no byte beyond them. Overlapping scalar loads;
    /// masked `VMOVDQU8` on `vaes512`.
    ///
    /// # Safety
    /// `bytes` must be at most `16 * BLOCKS`, and that many bytes starting at `from` must be readable.
    unsafe fn load_part_from(self, from: *const u8, bytes: usize) -> Self::V;
    /// Stores the first `bytes` bytes of a register and accesses no byte beyond them. Scalar stores; masked
    /// `VMOVDQU8` on `vaes512`.
    ///
    /// # Safety
    /// `bytes` must be at most `16 * BLOCKS`, and that many bytes starting at `to` must be writable.
    unsafe fn store_part_to(self, v: Self::V, to: *mut u8, bytes: usize);
    /// Loads the first bytes of a register, zero-padded. [`Isa::load_part_from`], without its test for zero bytes on
    /// `vaes512`.
    ///
    /// # Safety
    /// The bytes of `part` starting at `from` must be readable.
    #[inline(always)]
    unsafe fn load_last_from(self, from: *const u8, part: Self::Part) -> Self::V {
        // SAFETY: a part is at most a register, and the caller upholds the rest of the contract.
        unsafe { self.load_part_from(from, part.bytes()) }
    }
    /// Stores the first bytes of a register. [`Isa::store_part_to`], without its test for zero bytes on `vaes512`.
    ///
    /// # Safety
    /// The bytes of `part` starting at `to` must be writable.
    #[inline(always)]
    unsafe fn store_last_to(self, v: Self::V, to: *mut u8, part: Self::Part) {
        // SAFETY: a part is at most a register, and the caller upholds the rest of the contract.
        unsafe { self.store_part_to(v, to, part.bytes()) }
    }
    /// Keeps the first bytes of a register, and zeros the others. [`Isa::keep`].
    #[inline(always)]
    fn keep_last(self, v: Self::V, part: Self::Part) -> Self::V {
        self.keep(v, part.bytes())
    }
    /// Returns the set of the bytes that equal `byte`: bit `i` stands for `bytes[i]`. `VPCMPEQB`, with
    /// `VPMOVMSKB` on `vaes256`; elsewhere integer arithmetic.
    #[inline(always)]
    fn equal(self, bytes: &[u8; 64], byte: u8) -> u64 {
        let mut equal = 0;
        for (i, &other) in bytes.iter().enumerate() {
            equal |= u64::from(other == byte) << i;
        }
        equal
    }
    /// Loads one block from each of `BLOCKS` messages: lane `i` is the block at `*from.add(i) + at`, `at` in bytes.
    /// `MOVDQU` / with `VINSERTI128` / with `VINSERTI128` and `VINSERTI64X4` / `LD1`.
    ///
    /// # Safety
    /// `BLOCKS` pointers starting at `from`, and the block at each of them plus `at`, must be readable.
    unsafe fn gather(self, from: *const *const u8, at: usize) -> Self::V;
    /// Stores one block to each of `BLOCKS` messages; the inverse of [`Isa::gather`]. `MOVDQU` / with `VEXTRACTI128`
    /// / with `VEXTRACTI64X2` / `ST1`.
    ///
    /// # Safety
    /// `BLOCKS` pointers starting at `to` must be readable, and the block at each of them plus `at` must be writable.
    unsafe fn scatter(self, v: Self::V, to: *const *mut u8, at: usize);
    /// Stores `BLOCKS` consecutive blocks to each of `BLOCKS` messages: those of step `s` are register `reg` of
    /// `from[s]`, stored at byte `at + 16 * s`. Equivalent to one `scatter` per step, but `vaes256` and `vaes512`
    /// transpose in registers and store whole ones. Two `VPERM2I128` on `vaes256`, eight `VSHUFI64X2` on `vaes512`;
    /// elsewhere `scatter`.
    ///
    /// # Safety
    /// `BLOCKS` pointers starting at `to` must be readable, and `BLOCKS` blocks at each of them plus `at` must be
    /// writable.
    #[inline(always)]
    unsafe fn scatter_square<const R: usize>(
        self,
        from: &Square<Self, R>,
        reg: usize,
        to: *const *mut u8,
        at: usize,
    ) {
        for s in 0..Self::BLOCKS {
            // SAFETY: the caller guarantees that the blocks of every step are writable.
            unsafe { self.scatter(from[s][reg], to, at + BLOCK * s) };
        }
    }

    /// Bitwise XOR. `PXOR` / `VPXOR` / `VPXORQ` / `EOR`.
    fn xor(self, a: Self::V, b: Self::V) -> Self::V;
    /// Bitwise AND. `PAND` / `VPAND` / `VPANDQ` / `AND`.
    fn and(self, a: Self::V, b: Self::V) -> Self::V;
    /// Bitwise OR. `POR` / `VPOR` / `VPORQ` / `ORR`.
    fn or(self, a: Self::V, b: Self::V) -> Self::V;
    /// XOR of three registers. `VPTERNLOGQ` on `vaes512`, `EOR3` on `neon-sha3`; elsewhere two XORs.
    #[inline(always)]
    fn xor3(self, a: Self::V, b: Self::V, c: Self::V) -> Self::V {
        self.xor(self.xor(a, b), c)
    }
    /// Returns `a ⊕ (b ∧ c)`. `VPTERNLOGQ` on `vaes512`; elsewhere AND and XOR.
    #[inline(always)]
    fn xor_and(self, a: Self::V, b: Self::V, c: Self::V) -> Self::V {
        self.xor(a, self.and(b, c))
    }
    /// Returns the bits of `a` where those of `mask` are 1, and the bits of `b` elsewhere. `VPTERNLOGQ` on `vaes512`;
    /// elsewhere two XORs and an AND.
    #[inline(always)]
    fn select(self, mask: Self::V, a: Self::V, b: Self::V) -> Self::V {
        self.xor(b, self.and(self.xor(a, b), mask))
    }
    /// Adds 32-bit words, wrapping. `PADDD` / `ADD`.
    fn add32(self, a: Self::V, b: Self::V) -> Self::V;
    /// Adds 64-bit halves, wrapping. `PADDQ` / `ADD`.
    fn add64(self, a: Self::V, b: Self::V) -> Self::V;
    /// Subtracts 64-bit halves, wrapping: `a - b`. `PSUBQ` / `SUB`.
    fn sub64(self, a: Self::V, b: Self::V) -> Self::V;
    /// Broadcasts a 32-bit word to all words of the register. `MOVD`, `PSHUFD` / `VPBROADCASTD` / `VPBROADCASTD` /
    /// `DUP`.
    fn splat32(self, word: u32) -> Self::V;
    /// Shifts each 32-bit word left by `n` bits. `PSLLD` / `USHL`.
    fn shift_left32(self, a: Self::V, n: u32) -> Self::V;
    /// Rotates each 32-bit word left by `n` bits, 1 to 31. `PSLLD`, `PSRLD`, `POR` / `VPSLLD`, `VPSRLD`, `VPOR` /
    /// `VPROLVD` / two `USHL`, `ORR`.
    fn rotate_left32(self, a: Self::V, n: u32) -> Self::V;
    /// Transposes the 4 × 4 matrix of 32-bit words that corresponding blocks of four registers form: word `j` of each
    /// block of register `i` trades places with word `i` of the same block of register `j`. `PUNPCK(L|H)DQ`,
    /// `PUNPCK(L|H)QDQ` / `TRN1`, `TRN2`.
    fn transpose32(self, rows: [Self::V; 4]) -> [Self::V; 4];
    /// Shifts each 64-bit half left by `n` bits. `PSLLQ` / `USHL`.
    fn shift_left(self, a: Self::V, n: u32) -> Self::V;
    /// Shifts each 64-bit half right by `n` bits. `PSRLQ` / `USHL` with a negative count.
    fn shift_right(self, a: Self::V, n: u32) -> Self::V;
    /// Permutes the bytes of each block: byte `i` of the result is byte `order[i]` of the block, or zero if
    /// `order[i]` is 128 or more. Other values above 15 are not allowed. `PSHUFB` / `TBL`.
    #[inline(always)]
    fn shuffle(self, a: Self::V, order: &Block) -> Self::V {
        self.shuffle_each(a, self.splat(order))
    }
    /// Permutes the bytes of each block like [`Isa::shuffle`]; the orders of the blocks may differ. `PSHUFB` / `TBL`.
    fn shuffle_each(self, a: Self::V, orders: Self::V) -> Self::V;
    /// Reverses the 16 bytes of each block. `PSHUFB` / `TBL`.
    #[inline(always)]
    fn reverse(self, a: Self::V) -> Self::V {
        self.shuffle(a, &[15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0])
    }
    /// Swaps the halves of each block. `PSHUFD` / `EXT`.
    fn swap(self, a: Self::V) -> Self::V;
    /// Moves the low half to the high half and zeros the low half. `PSLLDQ` / `EXT` with zeros.
    fn low_to_high(self, a: Self::V) -> Self::V;
    /// Moves the high half to the low half and zeros the high half. `PSRLDQ` / `EXT` with zeros.
    fn high_to_low(self, a: Self::V) -> Self::V;
    /// Carry-less product of the low halves. `PCLMULQDQ` 0x00 / `VPCLMULQDQ` / `VPCLMULQDQ` / `PMULL`.
    fn mul_low(self, a: Self::V, b: Self::V) -> Self::V;
    /// Carry-less product of the high halves. `PCLMULQDQ` 0x11 / `VPCLMULQDQ` / `VPCLMULQDQ` / `PMULL`.
    fn mul_high(self, a: Self::V, b: Self::V) -> Self::V;
    /// Carry-less product of the low half of `a` and the high half of `b`. `PCLMULQDQ` 0x10 / `VPCLMULQDQ` /
    /// `VPCLMULQDQ` / `PMULL`.
    fn mul_cross(self, a: Self::V, b: Self::V) -> Self::V;
    /// Shifts a sequence of blocks by one: returns the last block of `before`, followed by all but the last block of
    /// `v`. No instruction / `VPERM2I128` / `VALIGNQ` / no instruction.
    fn push(self, before: Self::V, v: Self::V) -> Self::V;
    /// Splits the blocks of `a` followed by `b` into those at even and those at odd positions. No instruction /
    /// two `VPERM2I128` / two `VSHUFI64X2` / no instruction.
    fn unzip(self, a: Self::V, b: Self::V) -> (Self::V, Self::V);
    /// Transposes a square matrix of blocks: block `j` of register `i` trades places with block `i` of register `j`,
    /// in each group of `BLOCKS` registers. Uses [`Isa::unzip`].
    #[inline(always)]
    fn transpose(self, [x0, x1, x2, x3]: [Self::V; 4]) -> [Self::V; 4] {
        let ((even, odd), (even_too, odd_too)) = (self.unzip(x0, x1), self.unzip(x2, x3));
        if Self::BLOCKS < 4 {
            return [even, odd, even_too, odd_too];
        }
        let ((x0, x2), (x1, x3)) = (self.unzip(even, even_too), self.unzip(odd, odd_too));
        [x0, x1, x2, x3]
    }
    /// Interleaves the blocks of two registers; the inverse of [`Isa::unzip`]. No instruction / two `VPERM2I128` /
    /// two `VPERMT2Q` / no instruction.
    fn zip(self, first: Self::V, second: Self::V) -> (Self::V, Self::V);
    /// Reverses the order of the blocks. No instruction / `VPERMQ` / `VSHUFI64X2` / no instruction.
    fn reverse_blocks(self, v: Self::V) -> Self::V;
    /// Returns the XOR of all blocks in the first lane, zeros in the others. No instruction / `VEXTRACTI128`,
    /// `VPXOR` / `VEXTRACTI64X4`, `VEXTRACTI128`, two `VPXOR` / no instruction.
    fn fold(self, v: Self::V) -> Self::V;

    /// One AES round: `ShiftRows`, `SubBytes`, `MixColumns`, `AddRoundKey`. `AESENC` / `VAESENC` / `VAESENC` /
    /// `AESE` with a zero key, `AESMC`, `EOR`.
    fn aes_round(self, x: Self::V, key: Self::V) -> Self::V;
    /// One AES round of each register, with the key at its index. [`Isa::aes_round`]; the portable backends process up
    /// to eight blocks together.
    #[inline(always)]
    fn aes_round_each<const R: usize>(self, x: [Self::V; R], keys: [Self::V; R]) -> [Self::V; R] {
        let mut rounds = x;
        each_register!(R, r => {
            rounds[r] = self.aes_round(x[r], keys[r]);
        });
        rounds
    }
    /// The last AES round, which has no `MixColumns`. `AESENCLAST` / `VAESENCLAST` / `VAESENCLAST` / `AESE` with a
    /// zero key, `EOR`.
    fn aes_last(self, x: Self::V, key: Self::V) -> Self::V;
    /// One round of the equivalent inverse cipher. `AESDEC` / `VAESDEC` / `VAESDEC` / `AESD` with a zero key,
    /// `AESIMC`, `EOR`.
    fn aes_inv_round(self, x: Self::V, key: Self::V) -> Self::V;
    /// The last round of the equivalent inverse cipher. `AESDECLAST` / `VAESDECLAST` / `VAESDECLAST` / `AESD` with a
    /// zero key, `EOR`.
    fn aes_inv_last(self, x: Self::V, key: Self::V) -> Self::V;
    /// `InvMixColumns`, which turns round keys into those of the equivalent inverse cipher. `AESIMC` / two `AESIMC` /
    /// `VAESENCLAST`, `VAESDEC` / `AESIMC`.
    fn aes_inv_mix(self, x: Self::V) -> Self::V;
    /// Returns `v`, and keeps the compiler from reordering the computations of pinned values. An empty `asm!` on
    /// `vaes512`; elsewhere it has no effect.
    #[inline(always)]
    fn pin(self, v: Self::V) -> Self::V {
        v
    }

    /// Runs a kernel in a separate function, for code that is too long to inline into every kernel that uses it.
    fn call<K: Kernel>(self, kernel: K) -> K::Output;

    /// Encrypts every block of `x`.
    #[inline(always)]
    fn encrypt<K: RoundKeys<Self>, const R: usize>(self, keys: K, x: &mut [Self::V; R]) {
        self.encrypt_with(keys, x, &mut ());
    }

    /// Encrypts every block of `x`, with the `R` pieces of `weave` between the rounds.
    #[inline(always)]
    fn encrypt_with<K: RoundKeys<Self>, W: Weave<Self>, const R: usize>(
        self,
        keys: K,
        x: &mut [Self::V; R],
        weave: &mut W,
    ) {
        self.crypt_with::<K, W, R, false>(keys, x, weave);
    }

    /// Decrypts every block of `x`.
    #[inline(always)]
    fn decrypt<K: RoundKeys<Self>, const R: usize>(self, keys: K, x: &mut [Self::V; R]) {
        self.decrypt_with(keys, x, &mut ());
    }

    /// Decrypts every block of `x`, with the `R` pieces of `weave` between the rounds.
    #[inline(always)]
    fn decrypt_with<K: RoundKeys<Self>, W: Weave<Self>, const R: usize>(
        self,
        keys: K,
        x: &mut [Self::V; R],
        weave: &mut W,
    ) {
        self.crypt_with::<K, W, R, true>(keys, x, weave);
    }

    /// Encrypts every block of `x`, or decrypts it by the `INVERSE` cipher.
    #[inline(always)]
    fn crypt_with<K: RoundKeys<Self>, W: Weave<Self>, const R: usize, const INVERSE: bool>(
        self,
        keys: K,
        x: &mut [Self::V; R],
        weave: &mut W,
    ) {
        let keys = keys.hidden();
        rounds::add_first_key(self, keys, x);
        rounds::from::<_, _, _, R, 1, INVERSE>(self, keys, x, weave);
    }

    /// Computes the rounds after the first one, with the `R` pieces of `weave` between them.
    #[inline(always)]
    fn finish_with<K: RoundKeys<Self>, W: Weave<Self>, const R: usize>(
        self,
        keys: K,
        x: &mut [Self::V; R],
        weave: &mut W,
    ) {
        rounds::from::<_, _, _, R, 2, false>(self, keys.hidden(), x, weave);
    }

    /// Computes the first `rounds` rounds of the cipher on every block of `x`, after adding round key 0. All of them
    /// are full rounds, including the last.
    #[inline(always)]
    fn aes_rounds<K: RoundKeys<Self>, const R: usize>(self, keys: K, rounds: usize, x: &mut [Self::V; R]) {
        let keys = keys.hidden();
        rounds::add_first_key(self, keys, x);
        for i in 1..=rounds {
            rounds::round::<_, _, R, false>(self, keys, i, x);
        }
    }

    /// Loads the first `BLOCKS` blocks of `from`.
    #[inline(always)]
    fn load(self, from: &[Block]) -> Self::V {
        assert!(from.len() >= Self::BLOCKS);
        // SAFETY: the slice has at least `16 * BLOCKS` bytes.
        unsafe { self.load_from(from.as_ptr().cast()) }
    }

    /// Stores a register to the first `BLOCKS` blocks of `to`.
    #[inline(always)]
    fn store(self, v: Self::V, to: &mut [Block]) {
        assert!(to.len() >= Self::BLOCKS);
        // SAFETY: the slice has at least `16 * BLOCKS` bytes.
        unsafe { self.store_to(v, to.as_mut_ptr().cast()) }
    }

    /// Loads lane `i` from `from[i]`. See [`Isa::gather`].
    #[inline(always)]
    fn gather_blocks(self, from: &[&Block]) -> Self::V {
        assert!(from.len() >= Self::BLOCKS);
        // SAFETY: the slice has at least `BLOCKS` references to blocks, and a reference has the layout of a pointer.
        unsafe { self.gather(from.as_ptr().cast(), 0) }
    }

    /// Stores lane `i` to `to[i]`, from byte `at` on. See [`Isa::scatter`].
    #[inline(always)]
    fn scatter_blocks<const N: usize>(self, v: Self::V, to: &mut [&mut [Block; N]], at: usize) {
        assert!(to.len() >= Self::BLOCKS && at + BLOCK <= N * BLOCK);
        // SAFETY: the slice has at least `BLOCKS` references to memory with room for a block at `at`, and a reference
        // has the layout of a pointer.
        unsafe { self.scatter(v, to.as_mut_ptr().cast(), at) }
    }

    /// Loads the first bytes of `from`, at most a register of them, zero-padded to a register.
    #[inline(always)]
    fn load_bytes(self, from: &[u8]) -> Self::V {
        let bytes = from.len().min(BLOCK * Self::BLOCKS);
        // SAFETY: the slice has at least `bytes` bytes, which fit into a register.
        unsafe { self.load_part_from(from.as_ptr(), bytes) }
    }

    /// Stores the first blocks of a register, as many as fit into `to`.
    #[inline(always)]
    fn store_some(self, v: Self::V, to: &mut [Block]) {
        let bytes = BLOCK * to.len().min(Self::BLOCKS);
        // SAFETY: the slice has at least `bytes` bytes, which are at most a register.
        unsafe { self.store_part_to(v, to.as_mut_ptr().cast(), bytes) }
    }

    /// Returns the blocks of each message of these lengths after its last group of eight registers, in registers rounded up:
    /// 1 to 8, or 0 for an empty message. The lengths are the low halves of the blocks. Integer arithmetic; on `vaes512`,
    /// eight messages at a time.
    #[inline(always)]
    fn tail_registers(self, lengths: &[Block; 8]) -> [u8; 8] {
        let mut registers = [0; 8];
        for (registers, length) in registers.iter_mut().zip(lengths) {
            let length = u128::from_le_bytes(*length) as u64;
            let before_last = length.wrapping_sub(1) / (BLOCK * Self::BLOCKS) as u64 % REGISTERS as u64;
            *registers = if length == 0 { 0 } else { before_last as u8 + 1 };
        }
        registers
    }

    /// Loads 12 bytes into each lane, zero-padded, from the first `BLOCKS` references. [`Isa::load_bytes`] and
    /// [`Isa::transpose`]; masked `VMOVDQU32` and insertions on `vaes512`.
    #[inline(always)]
    fn load_each_12(self, from: [&[u8; 12]; 4]) -> Self::V {
        let mut first = [self.zero(); 4];
        each_register!(4, 0 1 2 3, n => {
            if n < Self::BLOCKS {
                first[n] = self.load_bytes(from[n]);
            }
        });
        self.transpose(first)[0]
    }

    /// Returns the set of the blocks that are not zero, in constant time. `VPTESTMQ` on `vaes512`; elsewhere integer
    /// arithmetic.
    #[inline(always)]
    fn nonzero(self, v: Self::V) -> u64 {
        let mut blocks = [[0; BLOCK]; 4];
        self.store(v, &mut blocks);
        let mut set = 0;
        for (i, block) in blocks.iter().enumerate() {
            let number = u128::from_le_bytes(*block);
            set |= (((number | number.wrapping_neg()) >> 127) as u64) << i;
        }
        set
    }

    /// Keeps the first `bytes` bytes of a register, at most 64, and zeros the others. AND with a mask from memory;
    /// masked `VMOVDQU8` on `vaes512`.
    #[inline(always)]
    fn keep(self, v: Self::V, bytes: usize) -> Self::V {
        const MAX: usize = 4 * BLOCK;
        static MASK: [u8; 2 * MAX] = {
            let mut mask = [0; 2 * MAX];
            let mut i = 0;
            while i < MAX {
                mask[i] = 0xff;
                i += 1;
            }
            mask
        };
        assert!(bytes <= MAX);
        // SAFETY: a register is at most `MAX` bytes, and the mask has `MAX + bytes` bytes from this offset on.
        self.and(v, unsafe { self.load_from(MASK.as_ptr().add(MAX - bytes)) })
    }

    /// Loads one block into each lane, from the first `BLOCKS` references. [`Isa::gather`].
    #[inline(always)]
    fn load_each(self, blocks: [&Block; 4]) -> Self::V {
        let pointers = blocks.map(|block| block.as_ptr());
        // SAFETY: there are at least `BLOCKS` pointers, each to a block.
        unsafe { self.gather(pointers.as_ptr(), 0) }
    }

    /// Returns a number in both halves of each lane. A store and a load; `VPERMQ` on `vaes512`.
    #[inline(always)]
    fn numbers(self, numbers: &[u64; 4]) -> Self::V {
        let mut blocks = [[0; BLOCK]; 4];
        each_register!(4, 0 1 2 3, n => {
            let number = u128::from(numbers[n]);
            blocks[n] = (number << 64 | number).to_le_bytes();
        });
        self.load(&blocks)
    }

    /// Returns a number, big-endian, in the last word of each block, after zeros. A store and a load; `VPBROADCASTD` with a
    /// mask on `vaes512`.
    #[inline(always)]
    fn last_word(self, n: u32) -> Self::V {
        self.splat(&u128::from(n).to_be_bytes())
    }

    /// Adds 1 to each block, a little-endian number of 128 bits, in constant time. Integer arithmetic; `VPADDQ` and
    /// `VPTESTNMQ` on `vaes512`.
    #[inline(always)]
    fn increment(self, a: Self::V) -> Self::V {
        let sum = self.add64(a, self.splat(&1u128.to_le_bytes()));
        // The low half carries if its top bit changes from 1 to 0.
        let carries = self.shift_right(self.and(a, self.xor(a, sum)), 63);
        self.add64(sum, self.low_to_high(carries))
    }

    /// Returns the blocks of `a` whose numbers, less than 2^63, are `n`, and those of `b` elsewhere. Integer
    /// arithmetic; `VPCMPEQQ` and `VPBLENDMQ` on `vaes512`.
    #[inline(always)]
    fn select_equal(self, numbers: Self::V, n: u64, a: Self::V, b: Self::V) -> Self::V {
        let differ = self.xor(numbers, self.numbers(&[n; 4]));
        // Negative only without a difference.
        let equal = self.shift_right(self.sub64(differ, self.numbers(&[1; 4])), 63);
        self.select(self.sub64(self.zero(), equal), a, b)
    }

    /// Fetches the cache line of an address, which need not be readable. `PREFETCHT0`; no effect on `neon`.
    #[inline(always)]
    fn prefetch(self, _: *const u8) {}
}
