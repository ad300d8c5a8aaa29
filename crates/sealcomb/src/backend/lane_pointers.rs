//! Lane pointers: the positions of up to 64 lanes in their messages, which all lanes advance through in lockstep.

use core::hint::black_box;
use core::marker::PhantomData;

use super::vendor::stores_are_dear;
use super::{BLOCK, Isa, Span, Square};

/// Four blocks in bytes: a whole number of registers on every backend.
pub(crate) const LINE: usize = 4 * BLOCK;

/// Number of blocks that an idle lane advances through the scratch buffer before its pointers are reset.
const IDLE_BLOCKS: usize = 64;

/// Number of sets of the L1 data cache, and of lanes that can have a line in the same set before they evict each
/// other's.
const SETS: usize = 64;
const SET_LANES: u32 = 8;

/// Memory that idle lanes read and write, and one line per lane for a tail of less than a line.
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

/// The positions of `N` lanes, at most 64, in their messages. One comparison checks the accesses of all lanes: a
/// window is as long as the shortest lane, and no access exceeds it. Idle lanes, which have no message, use the
/// scratch buffer.
pub(crate) struct LanePointers<'a, const N: usize> {
    // Whether the messages are written as well as read.
    writes: bool,
    // Whether per-block stores are the bottleneck on this CPU.
    stores_are_dear: bool,
    // Each lane's pointers, less `at` bytes, so that a step advances all lanes by increasing `at`.
    src: [*const u8; N],
    dst: [*mut u8; N],
    // The value of `at` at which each lane's message ends; `usize::MAX` for idle lanes.
    end: [usize; N],
    // The destination of each lane's scratch line, and the number of its bytes that belong to the message.
    home: [*mut u8; N],
    tail: [usize; N],
    // The lanes that have a message, as a bit mask.
    busy: u64,
    // The value of `at` at which idle lanes reach the end of the scratch buffer.
    idle_end: usize,
    // Bytes advanced so far.
    at: usize,
    // The open window: the value of `at` at its end, and the number of lanes that it covers.
    limit: usize,
    lanes: usize,
    scratch: *mut Scratch<N>,
    memory: PhantomData<(Span<'a>, &'a mut Scratch<N>)>,
}

impl<'a, const N: usize> LanePointers<'a, N> {
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
            tail: [0; N],
            busy: 0,
            idle_end: 0,
            at: 0,
            limit: 0,
            lanes: 0,
            scratch,
            memory: PhantomData,
        }
    }

    /// Assigns the first `bytes` bytes of a message, a multiple of 16, to a lane.
    #[inline(always)]
    pub(crate) fn begin(&mut self, lane: usize, span: &Span<'a>, bytes: usize) {
        assert!(bytes <= span.len() && bytes.is_multiple_of(BLOCK));
        assert!(bytes <= span.room() || !self.writes);
        let (src, dst) = span.pointers();
        self.go_through(lane, src, dst, bytes);
    }

    /// Assigns the tail of a message, its bytes from `from` on, to a lane. The tail must be shorter than a line. It
    /// is copied to the lane's scratch line, zero-padded; [`LanePointers::put_back`] writes the result to the message.
    #[inline(always)]
    pub(crate) fn begin_tail<B: Isa>(&mut self, b: B, lane: usize, span: &Span<'a>, from: usize) {
        assert!(lane < N && from <= span.len() && span.len() - from < LINE);
        assert!(span.len() <= span.room() || !self.writes);
        let tail = span.len() - from;
        let (src, dst) = span.pointers();
        // SAFETY: each lane has its own line in the scratch memory, and the message has `tail` bytes from `from` on.
        unsafe {
            let line = (&raw mut (*self.scratch).lines).cast::<[u8; LINE]>().add(lane).cast::<u8>();
            for at in (0..LINE).step_by(BLOCK * B::BLOCKS) {
                let bytes = tail.saturating_sub(at).min(BLOCK * B::BLOCKS);
                let x = b.load_part_from(src.wrapping_add(from + at), bytes);
                b.store_to(x, line.add(at));
            }
            self.home[lane] = dst.wrapping_add(from);
            self.tail[lane] = tail;
            self.go_through(lane, line, line, LINE);
        }
    }

    /// Copies a lane's processed tail from its scratch line to the message.
    #[inline(always)]
    pub(crate) fn put_back<B: Isa>(&mut self, b: B, lane: usize) {
        assert!(lane < N && self.writes);
        // SAFETY: `begin_tail` checked that `tail` bytes are writable at `home`; before its first call, `tail` is 0.
        unsafe {
            let line = (&raw const (*self.scratch).lines).cast::<[u8; LINE]>().add(lane).cast::<u8>();
            for at in (0..LINE).step_by(BLOCK * B::BLOCKS) {
                let bytes = self.tail[lane].saturating_sub(at).min(BLOCK * B::BLOCKS);
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

    /// Removes a lane's message and makes the lane idle.
    #[inline(always)]
    pub(crate) fn idle(&mut self, lane: usize) {
        self.busy &= !(1 << lane);
        self.end[lane] = usize::MAX;
        self.go_idle(lane);
    }

    /// Points an idle lane into the scratch memory, where all idle lanes share one position.
    #[inline(always)]
    fn go_idle(&mut self, lane: usize) {
        // SAFETY: `self` borrows the scratch memory for its whole lifetime.
        let end = unsafe { (&raw mut (*self.scratch).idle).add(1) }.cast::<u8>();
        self.src[lane] = end.wrapping_sub(self.idle_end);
        self.dst[lane] = end.wrapping_sub(self.idle_end);
    }

    /// Returns the lanes that have a message, as a bit mask.
    #[inline(always)]
    pub(crate) fn busy(&self) -> u64 {
        self.busy
    }

    /// Returns the lanes whose message has ended, as a bit mask.
    #[inline(always)]
    pub(crate) fn ended(&self) -> u64 {
        let mut ended = 0;
        for (lane, &end) in self.end.iter().enumerate() {
            ended |= u64::from(end == self.at) << lane;
        }
        ended
    }

    /// Returns one more than the index of the last lane that has a message, or 0 if there is none.
    #[inline(always)]
    pub(crate) fn live(&self) -> usize {
        (u64::BITS - self.busy.leading_zeros()) as usize
    }

    /// Opens a window over the first `lanes` lanes; no lane after these may have a message. Returns its length: the
    /// number of steps in which every lane has a block, or 0 if no lane has a message.
    #[inline(always)]
    pub(crate) fn window(&mut self, lanes: usize) -> usize {
        assert!(lanes <= N && self.live() <= lanes);
        if self.busy == 0 {
            return 0;
        }
        // Scans all `N` lanes, because a constant number unrolls; idle lanes do not shorten the window.
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

    /// Loads one block per lane into `R` registers: for the lanes from register `first` on, `ahead` blocks after the
    /// current position.
    #[inline(always)]
    pub(crate) fn gather<B: Isa, const R: usize>(&self, b: B, ahead: usize, first: usize, x: &mut [B::V; R]) {
        let at = self.place((first + R) * B::BLOCKS, ahead, 1);
        for r in 0..R {
            // SAFETY: `place` checked that the window contains this block of each lane.
            x[r] = unsafe { b.gather(self.src[(first + r) * B::BLOCKS..].as_ptr(), at) };
        }
    }

    /// Stores one block per lane from `R` registers: for the lanes from register `first` on, `ahead` blocks after
    /// the current position.
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
            // SAFETY: `place` checked that the window contains this block of each lane, and all spans are writable.
            unsafe { b.scatter(x[r], self.dst[(first + r) * B::BLOCKS..].as_ptr(), at) };
        }
    }

    /// Returns whether to collect the blocks of several steps and write them in squares. That pays off if stores are
    /// the bottleneck and there is `room` for the blocks of all lanes in registers. It also pays off if so many
    /// lanes share a set of the L1 cache that a line would be evicted between two stores to it.
    #[inline(always)]
    pub(crate) fn writes_squares(&self, room: bool) -> bool {
        let mut sets = 0u64;
        for dst in &self.dst {
            sets |= 1 << (dst.addr().wrapping_add(self.at) / LINE % SETS);
        }
        self.stores_are_dear && room || SET_LANES * sets.count_ones() < self.busy.count_ones()
    }

    /// Returns the destination of a square: `B::BLOCKS` steps of the lanes of `R` registers, `ahead` blocks after
    /// the current position.
    #[inline(always)]
    pub(crate) fn square<B: Isa, const R: usize>(&self, ahead: usize) -> SquareAt<'_, B, R> {
        assert!(self.writes);
        let at = self.place(R * B::BLOCKS, ahead, B::BLOCKS);
        SquareAt { dst: &self.dst[..R * B::BLOCKS], at, registers: PhantomData }
    }

    /// Advances all lanes by `blocks` blocks.
    #[inline(always)]
    pub(crate) fn go(&mut self, blocks: usize) {
        self.at = self.place(0, 0, blocks) + BLOCK * blocks;
    }

    /// Returns the offset of the position `ahead` blocks from the current one. Checks that the window contains
    /// `blocks` blocks from there on, for the first `lanes` lanes.
    #[inline(always)]
    fn place(&self, lanes: usize, ahead: usize, blocks: usize) -> usize {
        assert!(lanes <= self.lanes && ahead + blocks <= (self.limit - self.at) / BLOCK);
        // Hidden from the compiler, which would otherwise add the two summands to each lane's pointer separately.
        black_box(self.at + BLOCK * ahead)
    }
}

/// The destination of a square, checked to be within the window.
pub(crate) struct SquareAt<'w, B, const R: usize> {
    dst: &'w [*mut u8],
    at: usize,
    registers: PhantomData<[B; R]>,
}

impl<B: Isa, const R: usize> SquareAt<'_, B, R> {
    /// Writes register `r` of a square, which has memory for `W` registers: `B::BLOCKS` blocks of each of its lanes.
    #[inline(always)]
    pub(crate) fn write<const W: usize>(&self, b: B, x: &Square<B, W>, r: usize) {
        let dst = &self.dst[r * B::BLOCKS..(r + 1) * B::BLOCKS];
        // SAFETY: `LanePointers::square` checked that the window contains these blocks of each lane, and all spans are
        // writable.
        unsafe { b.scatter_square(x, r, dst.as_ptr(), self.at) };
    }
}
