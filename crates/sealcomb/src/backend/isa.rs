//! The verbs of a CPU generation on a register of blocks.

use core::hint::black_box;

use super::{Kernel, SoftAes};

/// Bytes of an AES block.
pub(crate) const BLOCK: usize = 16;

/// One AES block.
pub(crate) type Block = [u8; BLOCK];

/// Registers of independent blocks that go through the cipher together. Eight rounds of latency 4 fill two AES units.
pub(crate) const REGISTERS: usize = 8;

/// Where the round keys of the blocks in a register come from: one key for all lanes, or one a lane.
pub(crate) trait RoundKeys<B: Isa>: Copy {
    /// 10, 12 or 14.
    fn rounds(self) -> usize;
    /// Round key `round` for the lanes of register `reg`.
    fn key(self, b: B, round: usize, reg: usize) -> B::V;
    /// The portable cipher of one lane, where the lane has a key and the backend works with it.
    fn soft(&self, lane: usize) -> Option<&SoftAes>;
    /// Whether every lane has the same key.
    const SHARED: bool;
    /// The same, of which the compiler doesn't know where they are.
    #[inline(always)]
    fn hidden(self) -> Self {
        black_box(self)
    }
}

/// The same reference, of which the compiler doesn't know where it points: as of [`black_box`], but not by way of memory.
#[inline(always)]
pub(crate) fn hidden<T>(reference: &T) -> &T {
    #[cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(miri)))]
    {
        let mut place = core::ptr::from_ref(reference);
        // SAFETY: no instruction at all, so that the pointer is the reference's.
        unsafe {
            core::arch::asm!("/* {0} */", inout(reg) place, options(nomem, nostack, preserves_flags));
            &*place
        }
    }
    #[cfg(any(not(any(target_arch = "x86_64", target_arch = "aarch64")), miri))]
    black_box(reference)
}

/// Steps of lanes in `R` registers: as many blocks of each lane as a register has, at most four.
pub(crate) type Square<B, const R: usize> = [[<B as Isa>::V; R]; 4];

/// Work to be done between AES rounds, in at most nine pieces, so that both fill the CPU's units.
pub(crate) trait Weave<B: Isa> {
    /// Whether the pieces are so long that the compiler would leave the rounds around them a loop, which asks each time
    /// which piece it is, or move the rounds away from them.
    const LONG: bool = false;

    /// Whether there is work for the next rounds: asked before them, so that none of the pieces has to ask.
    #[inline(always)]
    fn begin(&mut self, _: B) -> bool {
        true
    }
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

/// How to ask for the top bit of a block: the ways that the papers compare.
#[derive(Clone, Copy)]
pub(crate) enum TopBit {
    /// Extract its byte.
    Extract,
    /// Test the block against a mask.
    Test,
    /// Collect the top bits of all bytes.
    Collect,
    /// Compare the bytes with zero, then extract.
    Compare,
}

/// What a backend can do with a register `V` of `BLOCKS` blocks of 16 bytes.
///
/// A value of the implementing type proves that the CPU has the instructions. "Low" and "high" are the halves of 64
/// bits of each block, low the one at the lower address; all verbs work on each block (or half) alone unless they say
/// otherwise.
pub(crate) trait Isa: Copy + Send + Sync + 'static {
    /// Blocks in a register: 1, 2 or 4.
    const BLOCKS: usize;
    /// Registers of chained blocks that are in flight at most: 8 or 12. One key and temporaries must fit beside
    /// them, and what their lanes read and write has to keep up with them.
    const CHAINS: usize;
    /// Whether AES keys are [`SoftAes`] rather than round keys.
    const SOFT: bool = false;
    type V: Copy;

    fn zero(self) -> Self::V;
    /// The same block in every lane.
    fn splat(self, block: &Block) -> Self::V;
    /// The block in the first lane, the others zero.
    fn one(self, block: &Block) -> Self::V;
    /// The first block of a register.
    fn first(self, v: Self::V) -> Block;
    /// The first block of a register in every lane.
    fn spread(self, v: Self::V) -> Self::V;

    /// # Safety
    /// `16 * BLOCKS` bytes from `from` on must be readable.
    unsafe fn load_from(self, from: *const u8) -> Self::V;
    /// # Safety
    /// `16 * BLOCKS` bytes from `to` on must be writable.
    unsafe fn store_to(self, v: Self::V, to: *mut u8);
    /// Loads `bytes` bytes and zeros the rest.
    /// # Safety
    /// `bytes <= 16 * BLOCKS` bytes from `from` on must be readable.
    unsafe fn load_part_from(self, from: *const u8, bytes: usize) -> Self::V;
    /// Stores the first `bytes` bytes.
    /// # Safety
    /// `bytes <= 16 * BLOCKS` bytes from `to` on must be writable.
    unsafe fn store_part_to(self, v: Self::V, to: *mut u8, bytes: usize);
    /// One block of each of `BLOCKS` messages: lane `i` from `at` bytes past `*from.add(i)`.
    /// # Safety
    /// Those blocks must be readable.
    unsafe fn gather(self, from: *const *const u8, at: usize) -> Self::V;
    /// The reverse of `gather`.
    /// # Safety
    /// Those blocks must be writable.
    unsafe fn scatter(self, v: Self::V, to: *const *mut u8, at: usize);
    /// Writes `BLOCKS` blocks of each of `BLOCKS` messages: those of step `s`, as `scatter` does it with `from[s][reg]` at
    /// `at + 16 * s`.
    /// # Safety
    /// Those blocks must be writable.
    #[inline(always)]
    unsafe fn scatter_square<const R: usize>(
        self,
        from: &Square<Self, R>,
        reg: usize,
        to: *const *mut u8,
        at: usize,
    ) {
        for s in 0..Self::BLOCKS {
            // SAFETY: the caller's promise covers each step.
            unsafe { self.scatter(from[s][reg], to, at + BLOCK * s) };
        }
    }

    fn xor(self, a: Self::V, b: Self::V) -> Self::V;
    fn and(self, a: Self::V, b: Self::V) -> Self::V;
    fn or(self, a: Self::V, b: Self::V) -> Self::V;
    #[inline(always)]
    fn xor3(self, a: Self::V, b: Self::V, c: Self::V) -> Self::V {
        self.xor(self.xor(a, b), c)
    }
    /// 32-bit sums.
    fn add32(self, a: Self::V, b: Self::V) -> Self::V;
    /// 64-bit sums.
    fn add64(self, a: Self::V, b: Self::V) -> Self::V;
    /// 64-bit differences.
    fn sub64(self, a: Self::V, b: Self::V) -> Self::V;
    /// The same 32-bit word in every place of the register.
    fn splat32(self, word: u32) -> Self::V;
    /// Each 32-bit word shifted to the left by `n` bits.
    fn shift_left32(self, a: Self::V, n: u32) -> Self::V;
    /// Each 32-bit word rotated to the left by `n` bits, 1 to 31.
    fn rotate_left32(self, a: Self::V, n: u32) -> Self::V;
    /// Transposes the square that the 32-bit words of four registers' blocks make: word `j` of each block of register
    /// `i` changes places with word `i` of the same block of register `j`.
    fn transpose32(self, rows: [Self::V; 4]) -> [Self::V; 4];
    /// Each half shifted to the left by `n` bits.
    fn shift_left(self, a: Self::V, n: u32) -> Self::V;
    /// Each half shifted to the right by `n` bits.
    fn shift_right(self, a: Self::V, n: u32) -> Self::V;
    /// Byte `i` of each block from its byte `order[i]`; zero where that is 128 or more.
    fn shuffle(self, a: Self::V, order: &Block) -> Self::V;
    /// Reverses the 16 bytes of each block.
    #[inline(always)]
    fn reverse(self, a: Self::V) -> Self::V {
        self.shuffle(a, &[15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0])
    }
    /// Exchanges the halves.
    fn swap(self, a: Self::V) -> Self::V;
    /// Moves low to high; low becomes zero.
    fn low_to_high(self, a: Self::V) -> Self::V;
    /// Moves high to low; high becomes zero.
    fn high_to_low(self, a: Self::V) -> Self::V;
    /// Carry-less product of the low halves.
    fn mul_low(self, a: Self::V, b: Self::V) -> Self::V;
    /// Carry-less product of the high halves.
    fn mul_high(self, a: Self::V, b: Self::V) -> Self::V;
    /// Carry-less product of the low half of `a` and the high half of `b`.
    fn mul_cross(self, a: Self::V, b: Self::V) -> Self::V;
    /// Whether the last byte of the first block has its top bit set. What branches on it is not constant time: for
    /// measurements alone.
    #[inline(always)]
    fn top_bit(self, v: Self::V, _: TopBit) -> bool {
        self.first(v)[BLOCK - 1] >> 7 == 1
    }
    /// The last block of `before`, then all but the last block of `v`: a run of blocks moved up by one.
    fn push(self, before: Self::V, v: Self::V) -> Self::V;
    /// Splits the run of blocks `a`, `b` into the first ones of its pairs and the second ones.
    fn unzip(self, a: Self::V, b: Self::V) -> (Self::V, Self::V);
    /// Rows for columns: block `j` of register `i` changes places with block `i` of register `j`, among as many registers
    /// as a register has blocks.
    #[inline(always)]
    fn transpose(self, [x0, x1, x2, x3]: [Self::V; 4]) -> [Self::V; 4] {
        let ((even, odd), (even_too, odd_too)) = (self.unzip(x0, x1), self.unzip(x2, x3));
        if Self::BLOCKS < 4 {
            return [even, odd, even_too, odd_too];
        }
        let ((x0, x2), (x1, x3)) = (self.unzip(even, even_too), self.unzip(odd, odd_too));
        [x0, x1, x2, x3]
    }
    /// The reverse of `unzip`.
    fn zip(self, first: Self::V, second: Self::V) -> (Self::V, Self::V);
    /// The blocks in reverse order.
    fn reverse_blocks(self, v: Self::V) -> Self::V;
    /// The sum (xor) of all blocks in the first lane; the others are zero.
    fn fold(self, v: Self::V) -> Self::V;

    fn aes_round(self, x: Self::V, key: Self::V) -> Self::V;
    fn aes_last(self, x: Self::V, key: Self::V) -> Self::V;
    fn aes_inv_round(self, x: Self::V, key: Self::V) -> Self::V;
    fn aes_inv_last(self, x: Self::V, key: Self::V) -> Self::V;
    /// A round as whole ciphers take it, where the CPU's own begins with the key. For measurements alone.
    #[inline(always)]
    fn aes_own_round(self, x: Self::V, key: Self::V) -> Self::V {
        self.aes_round(x, key)
    }
    /// The same of the inverse cipher.
    #[inline(always)]
    fn aes_own_inv_round(self, x: Self::V, key: Self::V) -> Self::V {
        self.aes_inv_round(x, key)
    }
    /// `InvMixColumns`, which makes round keys of the equivalent inverse cipher.
    fn aes_inv_mix(self, x: Self::V) -> Self::V;
    /// `AESKEYGENASSIST` with the first round constant: of the second and of the fourth word, `SubWord`, and beside it
    /// `RotWord` of that plus the constant. For measurements alone: the key schedule takes rounds.
    #[inline(always)]
    fn aes_key_assist(self, x: Self::V) -> Self::V {
        // `SubBytes` is the last round with its `ShiftRows` undone beforehand.
        let unshifted = self.shuffle(x, &[0, 13, 10, 7, 4, 1, 14, 11, 8, 5, 2, 15, 12, 9, 6, 3]);
        let substituted = self.aes_last(unshifted, self.zero());
        let words = self.shuffle(substituted, &[4, 5, 6, 7, 5, 6, 7, 4, 12, 13, 14, 15, 13, 14, 15, 12]);
        self.xor(words, self.splat(&[0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0]))
    }

    /// The value as it is: the compiler leaves what makes it before what makes the next one that is pinned.
    #[inline(always)]
    fn pin(self, v: Self::V) -> Self::V {
        v
    }

    /// Runs a kernel as a function of its own: what is too long to be a part of each kernel that needs it.
    fn call<K: Kernel>(self, kernel: K) -> K::Output;

    /// Encrypts every block of `x`.
    #[inline(always)]
    fn encrypt<K: RoundKeys<Self>, const R: usize>(self, keys: K, x: &mut [Self::V; R]) {
        self.encrypt_with(keys, x, &mut ());
    }

    /// Encrypts every block of `x` and does the `R` pieces of `weave` between the rounds.
    ///
    /// The nine rounds that every key size has are straight-line code, so that the weave's pieces are too; the further
    /// ones of the longer keys are a loop. Where the keys are is opaque: the compiler would load them ahead of the loop
    /// over the blocks, run out of registers, and leave copies of them on the stack.
    #[inline(always)]
    fn encrypt_with<K: RoundKeys<Self>, W: Weave<Self>, const R: usize>(
        self,
        keys: K,
        x: &mut [Self::V; R],
        weave: &mut W,
    ) {
        let keys = keys.hidden();
        let rounds = keys.rounds();
        each_register!(R, r => {
            x[r] = self.xor(x[r], keys.key(self, 0, r));
        });
        if W::LONG {
            each_round!(I => {
                self.round_with(keys, I, x, weave);
            });
        } else {
            for i in 1..10 {
                self.round_with(keys, i, x, weave);
            }
        }
        for i in 10..rounds {
            each_register!(R, r => {
                x[r] = self.aes_round(x[r], keys.key(self, i, r));
            });
        }
        each_register!(R, r => {
            x[r] = self.aes_last(x[r], keys.key(self, rounds, r));
        });
    }

    /// Round `i` of the cipher, and the piece of `weave` after it.
    #[inline(always)]
    fn round_with<K: RoundKeys<Self>, W: Weave<Self>, const R: usize>(
        self,
        keys: K,
        i: usize,
        x: &mut [Self::V; R],
        weave: &mut W,
    ) {
        each_register!(R, r => {
            x[r] = self.aes_round(x[r], keys.key(self, i, r));
        });
        if W::LONG {
            each_register!(R, r => {
                x[r] = self.pin(x[r]);
            });
        }
        if i <= R {
            weave.thread(self, i - 1);
        }
    }

    /// The first rounds of the cipher on every block of `x`, so many after the first round key was added, the last of
    /// them as full as the others.
    #[inline(always)]
    fn aes_rounds<K: RoundKeys<Self>, const R: usize>(self, keys: K, rounds: usize, x: &mut [Self::V; R]) {
        let keys = keys.hidden();
        each_register!(R, r => {
            x[r] = self.xor(x[r], keys.key(self, 0, r));
        });
        for i in 1..=rounds {
            each_register!(R, r => {
                x[r] = self.aes_round(x[r], keys.key(self, i, r));
            });
        }
    }

    /// Decrypts every block of `x`, with rounds as in [`Isa::encrypt_with`].
    #[inline(always)]
    fn decrypt<K: RoundKeys<Self>, const R: usize>(self, keys: K, x: &mut [Self::V; R]) {
        let keys = keys.hidden();
        let rounds = keys.rounds();
        each_register!(R, r => {
            x[r] = self.xor(x[r], keys.key(self, 0, r));
        });
        for i in 1..10 {
            each_register!(R, r => {
                x[r] = self.aes_inv_round(x[r], keys.key(self, i, r));
            });
        }
        for i in 10..rounds {
            each_register!(R, r => {
                x[r] = self.aes_inv_round(x[r], keys.key(self, i, r));
            });
        }
        each_register!(R, r => {
            x[r] = self.aes_inv_last(x[r], keys.key(self, rounds, r));
        });
    }

    /// The register that `BLOCKS` consecutive blocks of `from` make.
    #[inline(always)]
    fn load(self, from: &[Block]) -> Self::V {
        assert!(from.len() >= Self::BLOCKS);
        // SAFETY: the slice holds 16 * BLOCKS bytes.
        unsafe { self.load_from(from.as_ptr().cast()) }
    }

    /// The reverse of `load`.
    #[inline(always)]
    fn store(self, v: Self::V, to: &mut [Block]) {
        assert!(to.len() >= Self::BLOCKS);
        // SAFETY: the slice holds 16 * BLOCKS bytes.
        unsafe { self.store_to(v, to.as_mut_ptr().cast()) }
    }

    /// A register of the first bytes of a string, as many as it has or the register holds, the rest zero.
    #[inline(always)]
    fn load_bytes(self, from: &[u8]) -> Self::V {
        let bytes = from.len().min(BLOCK * Self::BLOCKS);
        // SAFETY: the slice holds at least as many bytes.
        unsafe { self.load_part_from(from.as_ptr(), bytes) }
    }

    /// Stores the first blocks of a register, as many as `to` has.
    #[inline(always)]
    fn store_some(self, v: Self::V, to: &mut [Block]) {
        let bytes = BLOCK * to.len().min(Self::BLOCKS);
        // SAFETY: the slice holds at least as many bytes.
        unsafe { self.store_part_to(v, to.as_mut_ptr().cast(), bytes) }
    }

    /// Keeps the first `bytes` bytes of a register and zeros the others.
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
        // SAFETY: a register from byte `MAX - bytes` on ends within the mask.
        self.and(v, unsafe { self.load_from(MASK.as_ptr().add(MAX - bytes)) })
    }
}
