//! Messages side by side: lane `i` of a batch walks through span `i`, all in lock step.

use core::marker::PhantomData;
use core::ops::Not;

use super::isa::REGISTERS;
use super::{BLOCK, Isa, Span};

/// The most lanes that a kernel has: eight registers of four blocks.
pub(crate) const MAX_LANES: usize = REGISTERS * 4;

/// Blocks that a lane without a message may run on before it is set back.
const IDLE_BLOCKS: usize = 64;

/// What lanes without a message read and write.
pub(crate) struct Scratch([u8; BLOCK * IDLE_BLOCKS]);

impl Scratch {
    #[inline(always)]
    pub(crate) fn new() -> Self {
        Self([0; BLOCK * IDLE_BLOCKS])
    }
}

/// The lanes' places in their messages. One comparison covers the accesses of all lanes: a window is as long as the
/// shortest lane, and no access goes beyond it. Lanes without a message go on
/// in the scratch buffer.
pub(crate) struct Rows<'a> {
    // Whether the lanes' messages are written, not only read.
    writes: bool,
    // Every lane's pointers are kept `at` bytes before its place, so that a step advances one number for all.
    src: [*const u8; MAX_LANES],
    dst: [*mut u8; MAX_LANES],
    end: [usize; MAX_LANES],
    idle: u32,
    at: usize,
    // The open window: its end, and the lanes that it covers.
    limit: usize,
    lanes: usize,
    scratch: *mut u8,
    memory: PhantomData<(Span<'a>, &'a mut Scratch)>,
}

impl<'a> Rows<'a> {
    #[inline(always)]
    pub(crate) fn new(writes: bool, scratch: &'a mut Scratch) -> Self {
        Self {
            writes,
            src: [core::ptr::null(); MAX_LANES],
            dst: [core::ptr::null_mut(); MAX_LANES],
            end: [usize::MAX; MAX_LANES],
            idle: u32::MAX,
            at: 0,
            limit: 0,
            lanes: 0,
            scratch: scratch.0.as_mut_ptr(),
            memory: PhantomData,
        }
    }

    /// Gives a lane a message of whole blocks.
    #[inline(always)]
    pub(crate) fn begin(&mut self, lane: usize, span: &Span<'a>) {
        assert!(span.len().is_multiple_of(BLOCK) && (span.writable() || !self.writes));
        let (src, dst) = span.pointers();
        self.src[lane] = src.wrapping_sub(self.at);
        self.dst[lane] = dst.wrapping_sub(self.at);
        self.end[lane] = self.at + span.len();
        self.idle &= !(1 << lane);
        self.limit = self.at;
    }

    /// Takes a lane's message away.
    #[inline(always)]
    pub(crate) fn idle(&mut self, lane: usize) {
        self.idle |= 1 << lane;
        self.end[lane] = usize::MAX;
    }

    /// Which of the first `lanes` lanes have a message that is at its end, as bits.
    #[inline(always)]
    pub(crate) fn ended(&self, lanes: usize) -> u32 {
        let mut ended = 0;
        for (lane, &end) in self.end[..lanes].iter().enumerate() {
            ended |= u32::from(end == self.at) << lane;
        }
        ended
    }

    /// How many lanes there are up to the last that has a message.
    #[inline(always)]
    pub(crate) fn live(&self) -> usize {
        MAX_LANES - self.idle.not().leading_zeros() as usize
    }

    /// Opens a window over the first `lanes` lanes: the number of steps that all of them can go, 0 if none has a
    /// message.
    #[inline(always)]
    pub(crate) fn window(&mut self, lanes: usize) -> usize {
        let mut end = usize::MAX;
        for &lane_end in &self.end[..lanes] {
            end = end.min(lane_end);
        }
        if end == usize::MAX {
            return 0;
        }
        let mut idle = self.idle & (u32::MAX >> (MAX_LANES - lanes));
        if idle != 0 {
            end = end.min(self.at + BLOCK * IDLE_BLOCKS);
            let scratch = self.scratch.wrapping_sub(self.at);
            while idle != 0 {
                let lane = idle.trailing_zeros() as usize;
                self.src[lane] = scratch;
                self.dst[lane] = scratch;
                idle &= idle - 1;
            }
        }
        self.limit = end;
        self.lanes = lanes;
        (end - self.at) / BLOCK
    }

    /// One block of each lane.
    #[inline(always)]
    pub(crate) fn gather<B: Isa, const R: usize>(&self, b: B, x: &mut [B::V; R]) {
        assert!(R * B::BLOCKS <= self.lanes && self.at + BLOCK <= self.limit);
        for r in 0..R {
            // SAFETY: the window holds another block for each lane.
            x[r] = unsafe { b.gather(self.src.as_ptr().add(r * B::BLOCKS), self.at) };
        }
    }

    /// Writes one block of each lane and steps on.
    #[inline(always)]
    pub(crate) fn scatter<B: Isa, const R: usize>(&mut self, b: B, x: &[B::V; R]) {
        assert!(R * B::BLOCKS <= self.lanes && self.at + BLOCK <= self.limit);
        if self.writes {
            for r in 0..R {
                // SAFETY: the window holds another block for each lane, and all spans are writable.
                unsafe { b.scatter(x[r], self.dst.as_ptr().add(r * B::BLOCKS), self.at) };
            }
        }
        self.at += BLOCK;
    }

    /// `B::BLOCKS` blocks of each lane: `x[s]` holds step `s`.
    #[inline(always)]
    pub(crate) fn gather_square<B: Isa, const R: usize>(&self, b: B, x: &mut [[B::V; R]; 4]) {
        assert!(R * B::BLOCKS <= self.lanes && self.at + BLOCK * B::BLOCKS <= self.limit);
        for r in 0..R {
            // SAFETY: the window holds as many blocks for each lane.
            unsafe { b.gather_square(self.src.as_ptr().add(r * B::BLOCKS), self.at, x, r) };
        }
    }

    /// Writes `B::BLOCKS` blocks of each lane and steps on as far.
    #[inline(always)]
    pub(crate) fn scatter_square<B: Isa, const R: usize>(&mut self, b: B, x: &[[B::V; R]; 4]) {
        assert!(R * B::BLOCKS <= self.lanes && self.at + BLOCK * B::BLOCKS <= self.limit);
        if self.writes {
            for r in 0..R {
                // SAFETY: the window holds as many blocks for each lane, and all spans are writable.
                unsafe { b.scatter_square(x, r, self.dst.as_ptr().add(r * B::BLOCKS), self.at) };
            }
        }
        self.at += BLOCK * B::BLOCKS;
    }
}
