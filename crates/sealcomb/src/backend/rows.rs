//! Messages side by side: lane `i` of a batch walks through span `i`, all in lock step.

use core::hint::black_box;
use core::marker::PhantomData;
use core::ops::Not;

use super::{BLOCK, Isa, Span, Square};

/// The most lanes that there are: sixteen registers of four blocks.
const MAX_LANES: usize = 64;

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

/// The places of `N` lanes, at most 64, in their messages. One comparison covers the accesses of all lanes: a window is
/// as long as the shortest lane, and no access goes beyond it. Lanes without a message go on in the scratch buffer.
pub(crate) struct Rows<'a, const N: usize> {
    // Whether the lanes' messages are written, not only read.
    writes: bool,
    // Every lane's pointers are kept `at` bytes before its place, so that a step advances one number for all.
    src: [*const u8; N],
    dst: [*mut u8; N],
    end: [usize; N],
    idle: u64,
    at: usize,
    // The open window: its end, and the lanes that it covers.
    limit: usize,
    lanes: usize,
    scratch: *mut u8,
    memory: PhantomData<(Span<'a>, &'a mut Scratch)>,
}

impl<'a, const N: usize> Rows<'a, N> {
    #[inline(always)]
    pub(crate) fn new(writes: bool, scratch: &'a mut Scratch) -> Self {
        Self {
            writes,
            src: [core::ptr::null(); N],
            dst: [core::ptr::null_mut(); N],
            end: [usize::MAX; N],
            idle: u64::MAX,
            at: 0,
            limit: 0,
            lanes: 0,
            scratch: scratch.0.as_mut_ptr(),
            memory: PhantomData,
        }
    }

    /// Gives a lane the bytes `from..to` of a message, which are whole blocks.
    #[inline(always)]
    pub(crate) fn begin(&mut self, lane: usize, span: &Span<'a>, from: usize, to: usize) {
        assert!(from <= to && to <= span.len() && (to - from).is_multiple_of(BLOCK));
        assert!(span.writable() || !self.writes);
        let (src, dst) = span.pointers();
        self.src[lane] = src.wrapping_add(from).wrapping_sub(self.at);
        self.dst[lane] = dst.wrapping_add(from).wrapping_sub(self.at);
        self.end[lane] = self.at + (to - from);
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
    pub(crate) fn ended(&self, lanes: usize) -> u64 {
        let mut ended = 0;
        for (lane, &end) in self.end[..lanes].iter().enumerate() {
            ended |= u64::from(end == self.at) << lane;
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
        let mut idle = self.idle & (u64::MAX >> (MAX_LANES - lanes));
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

    /// One block of each lane, `ahead` blocks from here.
    #[inline(always)]
    pub(crate) fn gather<B: Isa, const R: usize>(&self, b: B, ahead: usize, x: &mut [B::V; R]) {
        let at = self.place(R * B::BLOCKS, ahead, 1);
        for r in 0..R {
            // SAFETY: the window holds another block for each lane.
            x[r] = unsafe { b.gather(self.src[r * B::BLOCKS..].as_ptr(), at) };
        }
    }

    /// Writes one block of each lane, if the lanes are written.
    #[inline(always)]
    pub(crate) fn scatter<B: Isa, const R: usize>(&mut self, b: B, x: &[B::V; R]) {
        let at = self.place(R * B::BLOCKS, 0, 1);
        if self.writes {
            for r in 0..R {
                // SAFETY: the window holds another block for each lane, and all spans are writable.
                unsafe { b.scatter(x[r], self.dst[r * B::BLOCKS..].as_ptr(), at) };
            }
        }
    }

    /// Writes as many blocks as a register has of each lane of register `r`, `ahead` blocks from here.
    #[inline(always)]
    pub(crate) fn scatter_square<B: Isa, const R: usize>(
        &mut self,
        b: B,
        ahead: usize,
        x: &Square<B, R>,
        r: usize,
    ) {
        let at = self.place((r + 1) * B::BLOCKS, ahead, B::BLOCKS);
        if self.writes {
            let dst = &self.dst[r * B::BLOCKS..(r + 1) * B::BLOCKS];
            // SAFETY: the window holds those blocks for each lane, and all spans are writable.
            unsafe { b.scatter_square(x, r, dst.as_ptr(), at) };
        }
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
