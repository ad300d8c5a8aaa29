//! Messages side by side: lane `i` of a batch walks through span `i`, all in lock step.

use core::hint::black_box;
use core::marker::PhantomData;

use super::vendor::stores_are_dear;
use super::{BLOCK, Isa, Span, Square};

/// Four blocks: a whole number of registers of each width.
pub(crate) const LINE: usize = 4 * BLOCK;

/// Blocks that a lane without a message may run on before it is set back.
const IDLE_BLOCKS: usize = 64;

/// Sets of the nearest cache, and how many lanes may have a line in each before they drive each other out.
const SETS: usize = 64;
const SET_LANES: u32 = 8;

/// What lanes without a message read and write, and a line for each lane whose message has less than one left.
#[repr(align(64))]
pub(crate) struct Scratch<const N: usize> {
    lines: [[u8; LINE]; N],
    idle: [u8; BLOCK * IDLE_BLOCKS],
}

impl<const N: usize> Scratch<N> {
    #[inline(always)]
    pub(crate) fn new() -> Self {
        Self { lines: [[0; LINE]; N], idle: [0; BLOCK * IDLE_BLOCKS] }
    }
}

/// The places of `N` lanes, at most 64, in their messages. One comparison covers the accesses of all lanes: a window is
/// as long as the shortest lane, and no access goes beyond it. Lanes without a message go on in the scratch buffer.
pub(crate) struct Rows<'a, const N: usize> {
    // Whether the lanes' messages are written, not only read.
    writes: bool,
    stores_are_dear: bool,
    // Every lane's pointers are kept `at` bytes before its place, so that a step advances one number for all.
    src: [*const u8; N],
    dst: [*mut u8; N],
    end: [usize; N],
    // Where the blocks of a lane's line belong, and how many bytes they have.
    home: [*mut u8; N],
    rest: [usize; N],
    busy: u64,
    // Where the scratch memory ends for the lanes without a message.
    idle_end: usize,
    at: usize,
    // The open window: its end, and the lanes that it covers.
    limit: usize,
    lanes: usize,
    scratch: *mut Scratch<N>,
    memory: PhantomData<(Span<'a>, &'a mut Scratch<N>)>,
}

impl<'a, const N: usize> Rows<'a, N> {
    #[inline(always)]
    pub(crate) fn new(writes: bool, scratch: &'a mut Scratch<N>) -> Self {
        const { assert!(N <= 64) };
        Self {
            writes,
            stores_are_dear: stores_are_dear(),
            src: [core::ptr::null(); N],
            dst: [core::ptr::null_mut(); N],
            end: [usize::MAX; N],
            home: [core::ptr::null_mut(); N],
            rest: [0; N],
            busy: 0,
            idle_end: 0,
            at: 0,
            limit: 0,
            lanes: 0,
            scratch,
            memory: PhantomData,
        }
    }

    /// Gives a lane the first `bytes` bytes of a message, which are whole blocks.
    #[inline(always)]
    pub(crate) fn begin(&mut self, lane: usize, span: &Span<'a>, bytes: usize) {
        assert!(bytes <= span.len() && bytes.is_multiple_of(BLOCK));
        assert!(bytes <= span.room() || !self.writes);
        let (src, dst) = span.pointers();
        self.go_through(lane, src, dst, bytes);
    }

    /// Gives a lane the last bytes of a message, from `from` on and less than a line, filled up with zeros to a line.
    /// They are copied, and written back by [`Rows::put_back`].
    #[inline(always)]
    pub(crate) fn begin_rest<B: Isa>(&mut self, b: B, lane: usize, span: &Span<'a>, from: usize) {
        assert!(lane < N && from <= span.len() && span.len() - from < LINE);
        assert!(span.len() <= span.room() || !self.writes);
        let rest = span.len() - from;
        let (src, dst) = span.pointers();
        // SAFETY: the lane has a line of its own in the scratch memory, and the message has the bytes after `from`.
        unsafe {
            let line = (&raw mut (*self.scratch).lines).cast::<[u8; LINE]>().add(lane).cast::<u8>();
            for at in (0..LINE).step_by(BLOCK * B::BLOCKS) {
                let bytes = rest.saturating_sub(at).min(BLOCK * B::BLOCKS);
                let x = b.load_part_from(src.wrapping_add(from + at), bytes);
                b.store_to(x, line.add(at));
            }
            self.home[lane] = dst.wrapping_add(from);
            self.rest[lane] = rest;
            self.go_through(lane, line, line, LINE);
        }
    }

    /// Writes a lane's rest to where it belongs.
    #[inline(always)]
    pub(crate) fn put_back<B: Isa>(&mut self, b: B, lane: usize) {
        assert!(lane < N && self.writes);
        // SAFETY: `begin_rest` found so many bytes there to be writable, or there are none.
        unsafe {
            let line = (&raw const (*self.scratch).lines).cast::<[u8; LINE]>().add(lane).cast::<u8>();
            for at in (0..LINE).step_by(BLOCK * B::BLOCKS) {
                let bytes = self.rest[lane].saturating_sub(at).min(BLOCK * B::BLOCKS);
                b.store_part_to(b.load_from(line.add(at)), self.home[lane].wrapping_add(at), bytes);
            }
        }
    }

    #[inline(always)]
    fn go_through(&mut self, lane: usize, src: *const u8, dst: *mut u8, bytes: usize) {
        self.src[lane] = src.wrapping_sub(self.at);
        self.dst[lane] = dst.wrapping_sub(self.at);
        self.end[lane] = self.at + bytes;
        self.busy |= 1 << lane;
        self.limit = self.at;
    }

    /// Takes a lane's message away.
    #[inline(always)]
    pub(crate) fn idle(&mut self, lane: usize) {
        self.busy &= !(1 << lane);
        self.end[lane] = usize::MAX;
        self.go_idle(lane);
    }

    /// Sends a lane through the scratch memory, in which all lanes without a message are at the same place.
    #[inline(always)]
    fn go_idle(&mut self, lane: usize) {
        // SAFETY: the scratch memory is borrowed for as long as this lives.
        let end = unsafe { (&raw mut (*self.scratch).idle).add(1) }.cast::<u8>();
        self.src[lane] = end.wrapping_sub(self.idle_end);
        self.dst[lane] = end.wrapping_sub(self.idle_end);
    }

    /// The lanes that have a message, as bits.
    #[inline(always)]
    pub(crate) fn busy(&self) -> u64 {
        self.busy
    }

    /// Which lanes have a message that is at its end, as bits.
    #[inline(always)]
    pub(crate) fn ended(&self) -> u64 {
        let mut ended = 0;
        for (lane, &end) in self.end.iter().enumerate() {
            ended |= u64::from(end == self.at) << lane;
        }
        ended
    }

    /// How many lanes there are up to the last that has a message.
    #[inline(always)]
    pub(crate) fn live(&self) -> usize {
        (u64::BITS - self.busy.leading_zeros()) as usize
    }

    /// Opens a window over the first `lanes` lanes, beyond which none may have a message: the number of steps that all
    /// of them can go, 0 if none has a message.
    #[inline(always)]
    pub(crate) fn window(&mut self, lanes: usize) -> usize {
        assert!(lanes <= N && self.live() <= lanes);
        if self.busy == 0 {
            return 0;
        }
        // Over all lanes, so that their number is a constant: those without a message have no end.
        let mut end = usize::MAX;
        for &lane_end in &self.end {
            end = end.min(lane_end);
        }
        let mut idle = !self.busy & (u64::MAX >> (u64::BITS as usize - N));
        if idle & (u64::MAX >> (u64::BITS as usize - lanes)) != 0 {
            if self.idle_end <= self.at {
                self.idle_end = self.at + BLOCK * IDLE_BLOCKS;
                while idle != 0 {
                    self.go_idle(idle.trailing_zeros() as usize);
                    idle &= idle - 1;
                }
            }
            end = end.min(self.idle_end);
        }
        self.limit = end;
        self.lanes = lanes;
        (end - self.at) / BLOCK
    }

    /// One block of each lane of `R` registers, from register `first` on, `ahead` blocks from here.
    #[inline(always)]
    pub(crate) fn gather<B: Isa, const R: usize>(&self, b: B, ahead: usize, first: usize, x: &mut [B::V; R]) {
        let at = self.place((first + R) * B::BLOCKS, ahead, 1);
        for r in 0..R {
            // SAFETY: the window holds another block for each lane.
            x[r] = unsafe { b.gather(self.src[(first + r) * B::BLOCKS..].as_ptr(), at) };
        }
    }

    /// Writes one block of each of those lanes.
    #[inline(always)]
    pub(crate) fn scatter<B: Isa, const R: usize>(
        &mut self,
        b: B,
        ahead: usize,
        first: usize,
        x: &[B::V; R],
    ) {
        assert!(self.writes);
        let at = self.place((first + R) * B::BLOCKS, ahead, 1);
        for r in 0..R {
            // SAFETY: the window holds another block for each lane, and all spans are writable.
            unsafe { b.scatter(x[r], self.dst[(first + r) * B::BLOCKS..].as_ptr(), at) };
        }
    }

    /// Whether blocks of several steps had better be collected and written in squares: where stores are dear, if there is
    /// room for all lanes' blocks in registers at once, or where so many lanes are in the same set of the nearest cache that
    /// a line would leave it between two of its blocks.
    #[inline(always)]
    pub(crate) fn writes_squares(&self, room: bool) -> bool {
        let mut sets = 0u64;
        for dst in &self.dst {
            sets |= 1 << (dst.addr().wrapping_add(self.at) / LINE % SETS);
        }
        self.stores_are_dear && room || SET_LANES * sets.count_ones() < self.busy.count_ones()
    }

    /// Where the blocks of as many steps as a register has blocks are written, for the lanes of `R` registers, `ahead` blocks
    /// from here.
    #[inline(always)]
    pub(crate) fn square<B: Isa, const R: usize>(&self, ahead: usize) -> SquareAt<'_, B, R> {
        assert!(self.writes);
        let at = self.place(R * B::BLOCKS, ahead, B::BLOCKS);
        SquareAt { dst: &self.dst[..R * B::BLOCKS], at, registers: PhantomData }
    }

    /// Goes on by so many blocks.
    #[inline(always)]
    pub(crate) fn go(&mut self, blocks: usize) {
        self.at = self.place(0, 0, blocks) + BLOCK * blocks;
    }

    /// Where the `blocks` blocks begin that are `ahead` blocks from here: the check that the window holds them, for the
    /// first `lanes` lanes.
    #[inline(always)]
    fn place(&self, lanes: usize, ahead: usize, blocks: usize) -> usize {
        assert!(lanes <= self.lanes && ahead + blocks <= (self.limit - self.at) / BLOCK);
        // Opaque, so that it stays one number: the compiler would add its parts to each lane's pointer in turn.
        black_box(self.at + BLOCK * ahead)
    }
}

/// The place of a square, which the window holds.
pub(crate) struct SquareAt<'w, B, const R: usize> {
    dst: &'w [*mut u8],
    at: usize,
    registers: PhantomData<[B; R]>,
}

impl<B: Isa, const R: usize> SquareAt<'_, B, R> {
    /// Writes register `r`: as many blocks as it has of each of its lanes.
    #[inline(always)]
    pub(crate) fn write(&self, b: B, x: &Square<B, R>, r: usize) {
        let dst = &self.dst[r * B::BLOCKS..(r + 1) * B::BLOCKS];
        // SAFETY: the window holds those blocks for each lane, and all spans are writable.
        unsafe { b.scatter_square(x, r, dst.as_ptr(), self.at) };
    }
}
