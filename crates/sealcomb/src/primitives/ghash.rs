//! Polynomial hashes with deferred reduction and precomputed powers of the key: GHASH (SP 800-38D, section 6.4), POLYVAL
//! (RFC 8452, section 3) and the seed of Julius.
//!
//! A group of at most as many blocks as the table has powers is reduced once, after the sum of its products:
//! `Y ← (Y + X_1) H^n + X_2 H^(n-1) + ... + X_n H`. The table is computed in wide registers: each step multiplies all powers known so far by one of them, which
//! doubles their number (the VAES paper's figures 3-5). GHASH is POLYVAL of the byte-reversed blocks under the
//! key `x H` (RFC 8452, appendix A).

use alloc::boxed::Box;
use core::marker::PhantomData;

use super::gf128::{Field, GcmOrder, Unreduced, haswell, short, square};
use crate::backend::{BLOCK, Block, Chunk, Exponents, Isa, LINE, REGISTERS, Span, Weave, Wiped};

/// Number of blocks after the powers of a table: a one, for a hash whose last block is not multiplied, and zeros, by
/// which a register multiplies up to four lanes without a block.
const BEHIND: usize = 4;

/// Maximum number of powers: eight registers of four blocks, and one more register.
const POWERS: usize = 4 * REGISTERS + 4;

/// The powers and the blocks after them: `H^POWERS ... H^1`, 1, zeros.
type Row = [Block; POWERS + BEHIND];

/// Number of blocks in a cache line.
const PLACES: usize = LINE / BLOCK;

const ROOM_FOR_ROWS: &str = "two rows, wherever they begin";

/// The powers of a hash key, byte-reversed, and the sum of each power's halves, in both halves, for Karatsuba's method.
// `room` comes first, so that it has the alignment that allocators always provide.
#[repr(C, align(16))]
pub(crate) struct Table {
    // A row of powers and a row of sums, from the first cache line on. Requesting the alignment of a line from the
    // allocator would take longer than the rest of a key's construction.
    room: [Block; 2 * (POWERS + BEHIND) + PLACES - 1],
    first: usize,
}

impl Table {
    /// Returns a table without powers. A kernel should not allocate between its computations, since a call makes it
    /// store secrets of its registers on the stack.
    pub(crate) fn empty() -> Box<Wiped<Self>> {
        let mut table = Box::new(Wiped::new(Self { room: [[0; BLOCK]; _], first: 0 }));
        table.first = table.room.as_ptr().align_offset(LINE) % PLACES;
        table
    }

    /// Fills in the powers of `h`.
    #[inline(always)]
    fn fill<B: Isa>(&mut self, b: B, powers: [B::V; REGISTERS + 1]) {
        let [blocks, sums] = self.rows_mut();
        blocks[POWERS][0] = 1;
        sums[POWERS] = short(1);
        // A loop, because closures are not always inlined.
        for (r, powers) in powers.into_iter().enumerate() {
            let at = POWERS - (r + 1) * B::BLOCKS;
            b.store(powers, &mut blocks[at..]);
            b.store(b.xor(powers, b.swap(powers)), &mut sums[at..]);
        }
    }

    #[inline(always)]
    fn rows(&self) -> &[Row; 2] {
        self.room[self.first % PLACES..].as_chunks().0.first_chunk().expect(ROOM_FOR_ROWS)
    }

    #[inline(always)]
    fn rows_mut(&mut self) -> &mut [Row; 2] {
        self.room[self.first % PLACES..].as_chunks_mut().0.first_chunk_mut().expect(ROOM_FOR_ROWS)
    }

    /// Returns the number of blocks of a group of eight full registers.
    #[inline(always)]
    pub(crate) const fn full_group<B: Isa>() -> usize {
        REGISTERS * B::BLOCKS
    }

    /// Returns the maximum number of blocks between two reductions: a full group, and a register for the lengths.
    #[inline(always)]
    pub(crate) const fn count<B: Isa>() -> usize {
        Self::full_group::<B>() + B::BLOCKS
    }

    /// Returns the powers and their sums, for sums of products.
    #[inline(always)]
    pub(crate) fn products(&self) -> Products<'_> {
        Products(self.rows())
    }

    /// Returns `H^n` and the powers below it, byte-reversed. `n` is at most the count.
    #[inline(always)]
    pub(crate) fn powers_from(&self, n: usize) -> &[Block] {
        &self.rows()[0][POWERS - n..]
    }
}

/// Fills in the tables of up to one hash key per lane.
///
/// ```text
/// p := h ^ BLOCKS
/// R_1 := h ^ BLOCKS ... h ^ 1
/// for n = 1, 2, 4, 8:
///     R_(n+1) ... R_2n := R_1 p ... R_n p
///     p := p^2
/// ```
///
/// All keys share the products for `p`. These do not wait for the registers `R`, so the chains of dependent products
/// are short.
#[inline(always)]
pub(crate) fn fill<F: Field, B: Isa>(b: B, h: B::V, tables: &mut [&mut Table]) {
    let h = F::factor(b, h);
    let (mut p, mut lowest) = ([h; 4], [h; 4]);
    if B::BLOCKS > 1 {
        p[0] = square::<F, B>(b, h);
        lowest = b.transpose([p[0], h, p[0], h]);
    }
    if B::BLOCKS > 2 {
        let (second, third) = (p[0], haswell::<F, B>(b, p[0], h));
        p[0] = square::<F, B>(b, second);
        lowest = b.transpose([p[0], third, second, h]);
    }
    for n in 1..if B::BLOCKS < 4 { 1 } else { 4 } {
        p[n] = square::<F, B>(b, p[n - 1]);
    }
    each_register!(4, 0 1 2 3, k => {
        if k < B::BLOCKS && let Some(table) = tables.get_mut(k) {
            let mut powers = [lowest[k]; REGISTERS + 1];
            each_register!(4, 0 1 2 3, n => {
                let known = 1 << n;
                // Too few keys of narrow registers would share the squares. Their highest power is `p` as well.
                let p = if B::BLOCKS < 4 { b.spread(powers[known - 1]) } else { b.transpose([p[n]; 4])[k] };
                for r in known..(2 * known).min(REGISTERS + 1) {
                    powers[r] = if B::BLOCKS < 4 {
                        haswell::<F, B>(b, powers[r - known], p)
                    } else {
                        product::<F, B>(b, powers[r - known], p)
                    };
                }
            });
            table.fill(b, powers);
        }
    });
}

/// Multiplies byte-reversed blocks by Karatsuba's method. The table needs the sums of the halves of `x` as well, so the
/// compiler computes them once.
#[inline(always)]
fn product<F: Field, B: Isa>(b: B, x: B::V, h: B::V) -> B::V {
    let mut product = Unreduced::zero(b);
    product.add(b, x, h, b.xor(h, b.swap(h)));
    product.reduce::<F>(b)
}

/// The powers of a hash key and their sums.
#[derive(Clone, Copy)]
pub(crate) struct Products<'t>(&'t [Row; 2]);

impl Products<'_> {
    /// Adds the product of register `r` of a tail to the sum `X_1 H^n + X_2 H^(n-1) + ...`. The blocks are byte-reversed.
    #[inline(always)]
    pub(crate) fn add_register<B: Isa, const R: usize>(
        self,
        b: B,
        exponents: Exponents<B, R>,
        r: usize,
        x: B::V,
        sum: &mut Unreduced<B>,
    ) {
        let [blocks, sums] = self.0;
        sum.add(b, x, exponents.load::<BEHIND, _>(b, blocks, r), exponents.load::<BEHIND, _>(b, sums, r));
    }

    /// Does the same by four products instead of three.
    #[inline(always)]
    pub(crate) fn add_register_by_four<B: Isa, const R: usize>(
        self,
        b: B,
        exponents: Exponents<B, R>,
        r: usize,
        x: B::V,
        sum: &mut Unreduced<B>,
    ) {
        sum.add_by_four(b, x, exponents.load::<BEHIND, _>(b, &self.0[0], r));
    }
}

/// The state of GHASH.
pub(crate) type Ghash<'t, B> = KeyHash<'t, B, GcmOrder>;

/// The state of a hash in any convention of the field: the hash of earlier groups, and the sum of the current group.
pub(crate) struct KeyHash<'t, B: Isa, F> {
    // The powers, and the sums of their halves.
    rows: &'t [Row; 2],
    // The hash of earlier groups, in the first lane, until it is added to the group's first block.
    y: B::V,
    sum: Unreduced<B>,
    // Index of the power of the group's next block, and its value after the group.
    at: usize,
    end: usize,
    field: PhantomData<F>,
}

impl<'t, B: Isa, F: Field> KeyHash<'t, B, F> {
    #[inline(always)]
    pub(crate) fn new(b: B, table: &'t Table) -> Self {
        Self::after(b, table, b.zero())
    }

    /// Returns the state of a hash that adds `y` to its first block. Only the first lane of `y` is not zero.
    #[inline(always)]
    pub(crate) fn after(b: B, table: &'t Table, y: B::V) -> Self {
        let y = F::turn(b, y);
        Self { rows: table.rows(), y, sum: Unreduced::zero(b), at: 0, end: 0, field: PhantomData }
    }

    /// Returns the hash of a string, zero-padded to whole blocks, byte-reversed in the first lane.
    #[inline(always)]
    pub(crate) fn of(b: B, table: &'t Table, string: &[u8]) -> B::V {
        let mut hash = Self::new(b, table);
        hash.absorb_string(b, &string.into());
        hash.get()
    }

    /// Returns the hash of the groups so far, byte-reversed in the first lane.
    #[inline(always)]
    pub(crate) fn get(&self) -> B::V {
        self.y
    }

    /// Continues with another hash, from [`KeyHash::get`].
    #[inline(always)]
    pub(crate) fn set(&mut self, y: B::V) {
        self.y = y;
    }

    /// Begins a group of this many blocks, at most [`Table::count`].
    #[inline(always)]
    pub(crate) fn begin(&mut self, b: B, blocks: usize) {
        debug_assert!(self.at == self.end && blocks <= Table::count::<B>());
        self.end = POWERS;
        self.at = self.end - blocks;
        self.sum = Unreduced::zero(b);
    }

    /// Begins the last group, of this many blocks. Its last block is added without being multiplied.
    #[cfg(feature = "research")]
    #[inline(always)]
    pub(crate) fn begin_last(&mut self, b: B, blocks: usize) {
        self.begin(b, blocks - 1);
        self.end += 1;
    }

    /// Absorbs the next `blocks` blocks of the group. The register's other lanes must be zero.
    #[inline(always)]
    pub(crate) fn absorb(&mut self, b: B, x: B::V, blocks: usize) {
        let h = b.load(&self.rows[0][self.at..]);
        let h_sum = b.load(&self.rows[1][self.at..]);
        let x = F::turn(b, x);
        self.sum.add(b, b.xor(x, self.y), h, h_sum);
        self.y = b.zero();
        self.at += blocks;
    }

    /// Absorbs the next blocks of the group, given as a slice of blocks.
    #[cfg(feature = "research")]
    #[inline(always)]
    pub(crate) fn absorb_blocks(&mut self, b: B, blocks: &[Block]) {
        for blocks in blocks.chunks(B::BLOCKS) {
            self.absorb(b, b.load_bytes(blocks.as_flattened()), blocks.len());
        }
    }

    /// Returns the register that is absorbed as piece `piece` of a group of `registers` full ones. The first register is
    /// the last piece, because it waits for the preceding group.
    #[inline(always)]
    pub(crate) fn register(piece: usize, registers: usize) -> usize {
        (piece + 1) % registers
    }

    /// Absorbs register `r` of a group of `registers` full ones, in any order.
    #[inline(always)]
    pub(crate) fn absorb_register(&mut self, b: B, registers: usize, r: usize, x: B::V) {
        let at = POWERS - (registers - r) * B::BLOCKS;
        let h = b.load(&self.rows[0][at..]);
        let h_sum = b.load(&self.rows[1][at..]);
        let x = F::turn(b, x);
        let x = if r == 0 { b.xor(x, self.y) } else { x };
        self.sum.add(b, x, h, h_sum);
    }

    /// Pins the group's sum. Otherwise, the compiler may compute all products before their sum, and run out of registers.
    #[inline(always)]
    pub(crate) fn pin(&mut self, b: B) {
        self.sum.pin(b);
    }

    /// Ends the group.
    #[inline(always)]
    pub(crate) fn end(&mut self, b: B) {
        debug_assert_eq!(self.at, self.end);
        self.y = b.fold(self.sum.reduce::<F>(b));
    }

    /// Absorbs a whole string, zero-padded to whole blocks, in separate groups.
    #[inline(always)]
    pub(crate) fn absorb_string(&mut self, b: B, string: &Span<'_>) {
        let at = self.absorb_groups(b, string, string.len());
        if at < string.len() {
            self.begin(b, (string.len() - at).div_ceil(BLOCK));
            self.absorb_part(b, string, at, string.len());
            self.end(b);
        }
    }

    /// Absorbs all full groups of the first `to` bytes of a string. Returns the offset of their end.
    #[inline(always)]
    pub(crate) fn absorb_groups(&mut self, b: B, string: &Span<'_>, to: usize) -> usize {
        let group = BLOCK * Table::full_group::<B>();
        let mut at = 0;
        while to - at >= group {
            self.begin(b, 0);
            for piece in 0..REGISTERS {
                let r = Self::register(piece, REGISTERS);
                self.absorb_register(b, REGISTERS, r, string.load(b, at + r * BLOCK * B::BLOCKS));
            }
            self.end(b);
            at += group;
        }
        at
    }

    /// Absorbs the bytes `from..to` of a string, zero-padded to whole blocks, in the current group. Both are multiples of
    /// the block size, unless `to` is the end of the string.
    #[inline(always)]
    pub(crate) fn absorb_part(&mut self, b: B, string: &Span<'_>, from: usize, to: usize) {
        let register = BLOCK * B::BLOCKS;
        let mut at = from;
        while to - at >= register {
            self.absorb(b, string.load(b, at), B::BLOCKS);
            at += register;
        }
        if at < to {
            let x = b.keep(string.load_part(b, at), to - at);
            self.absorb(b, x, (to - at).div_ceil(BLOCK));
        }
    }

    /// Returns the hash after the last group, in the first lane.
    #[inline(always)]
    pub(crate) fn value(&self, b: B) -> B::V {
        F::turn(b, self.y)
    }
}

/// Hashes a group of text, one register between two AES rounds. It is the input when opening, and earlier output when
/// sealing. The order of rounds and products is pinned on registers of up to `PINNED` blocks.
pub(crate) struct Absorb<'h, 't, 'd, B: Isa, F, const OPENS: bool, const PINNED: usize> {
    pub(crate) hash: &'h mut KeyHash<'t, B, F>,
    pub(crate) chunk: &'h Chunk<'d, B, REGISTERS>,
}

impl<B: Isa, F: Field, const OPENS: bool, const PINNED: usize> Weave<B>
    for Absorb<'_, '_, '_, B, F, OPENS, PINNED>
{
    const LONG: bool = B::BLOCKS <= PINNED;

    #[inline(always)]
    fn thread(&mut self, b: B, piece: usize) {
        if piece >= REGISTERS {
            return;
        }
        let r = KeyHash::<B, F>::register(piece, REGISTERS);
        let x = if OPENS { self.chunk.load(b, r) } else { self.chunk.load_written(b, r) };
        self.hash.absorb_register(b, REGISTERS, r, x);
        if Self::LONG {
            self.hash.pin(b);
        }
    }
}
