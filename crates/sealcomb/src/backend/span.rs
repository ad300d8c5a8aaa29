//! A message on its way through a kernel: where its bytes come from and where they go, in place or elsewhere.

use core::marker::PhantomData;

use inout::InOutBuf;

use super::{BLOCK, Block, Isa, read_part, write_part};

/// Bytes to read and bytes to write, which may be the same memory: as many of both, unless the mode has ciphertexts that
/// are longer than their messages; none to write where it was made of a shared slice. Every access is checked.
pub(crate) struct Span<'a> {
    src: *const u8,
    dst: *mut u8,
    // Bytes to read.
    len: usize,
    // Bytes to write.
    room: usize,
    memory: PhantomData<&'a mut [u8]>,
}

// SAFETY: a span stands for a shared slice, or for a shared and an exclusive one; both may go to another thread.
unsafe impl Send for Span<'_> {}

impl<'a> From<InOutBuf<'a, 'a, u8>> for Span<'a> {
    #[inline(always)]
    fn from(data: InOutBuf<'a, 'a, u8>) -> Self {
        let len = data.len();
        let (src, dst) = data.into_raw();
        Self { src, dst, len, room: len, memory: PhantomData }
    }
}

impl<'a> From<&'a mut [u8]> for Span<'a> {
    #[inline(always)]
    fn from(data: &'a mut [u8]) -> Self {
        let dst = data.as_mut_ptr();
        Self { src: dst, dst, len: data.len(), room: data.len(), memory: PhantomData }
    }
}

impl<'a> From<&'a [u8]> for Span<'a> {
    #[inline(always)]
    fn from(data: &'a [u8]) -> Self {
        let src = data.as_ptr();
        Self { src, dst: src.cast_mut(), len: data.len(), room: 0, memory: PhantomData }
    }
}

impl<'a> Span<'a> {
    /// Reads `input` and writes `output`.
    #[inline(always)]
    pub(crate) fn new(input: &'a [u8], output: &'a mut [u8]) -> Self {
        let (src, dst) = (input.as_ptr(), output.as_mut_ptr());
        Self { src, dst, len: input.len(), room: output.len(), memory: PhantomData }
    }

    /// Reads the first `len` bytes of `data` and writes all of it.
    #[inline(always)]
    pub(crate) fn beginning(data: &'a mut [u8], len: usize) -> Self {
        assert!(len <= data.len());
        Self { len, ..Self::from(data) }
    }
}

impl Span<'_> {
    /// Bytes to read.
    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Bytes to write.
    #[inline(always)]
    pub(crate) fn room(&self) -> usize {
        self.room
    }

    #[inline(always)]
    pub(super) fn pointers(&self) -> (*const u8, *mut u8) {
        (self.src, self.dst)
    }

    /// The bytes `from..to` of this span, as one of its own.
    #[inline(always)]
    pub(crate) fn part(&mut self, from: usize, to: usize) -> Span<'_> {
        assert!(from <= to && to <= self.len);
        Span {
            src: self.src.wrapping_add(from),
            dst: self.dst.wrapping_add(from),
            len: to - from,
            room: self.room.min(to).saturating_sub(from),
            memory: PhantomData,
        }
    }

    /// The first bytes alone.
    #[inline(always)]
    pub(crate) fn first(self, bytes: usize) -> Self {
        assert!(bytes <= self.len);
        Self { len: bytes, room: self.room.min(bytes), ..self }
    }

    /// All but the first bytes.
    #[inline(always)]
    pub(crate) fn after(self, bytes: usize) -> Self {
        assert!(bytes <= self.len);
        Self {
            src: self.src.wrapping_add(bytes),
            dst: self.dst.wrapping_add(bytes),
            len: self.len - bytes,
            room: self.room.saturating_sub(bytes),
            ..self
        }
    }

    /// Reads the bytes `from..to` of this span and writes as many from byte `at` on.
    #[inline(always)]
    pub(crate) fn part_at(&mut self, from: usize, to: usize, at: usize) -> Span<'_> {
        assert!(from <= to && to <= self.len && at <= self.room);
        Span {
            src: self.src.wrapping_add(from),
            dst: self.dst.wrapping_add(at),
            len: to - from,
            room: (self.room - at).min(to - from),
            memory: PhantomData,
        }
    }

    /// Copies the bytes `from..to` that are read to where byte `at` on is written; in place, they may overlap.
    pub(crate) fn copy(&mut self, from: usize, to: usize, at: usize) {
        assert!(from <= to && to <= self.len && at <= self.room && to - from <= self.room - at);
        // SAFETY: the assertion covers the access.
        unsafe { core::ptr::copy(self.src.add(from), self.dst.add(at), to - from) };
    }

    /// The whole span, borrowed for a while.
    #[inline(always)]
    pub(crate) fn reborrow(&mut self) -> Span<'_> {
        Span { memory: PhantomData, ..*self }
    }

    /// What is read, for reading alone.
    #[inline(always)]
    pub(crate) fn input(&self) -> Span<'_> {
        Span { room: 0, memory: PhantomData, ..*self }
    }

    /// What is written, for reading alone: the second pass of a mode.
    #[inline(always)]
    pub(crate) fn output(&self) -> Span<'_> {
        Span { src: self.dst, len: self.room, room: 0, memory: PhantomData, ..*self }
    }

    /// What is written, for reading and writing it once more.
    #[inline(always)]
    pub(crate) fn written(&mut self) -> Span<'_> {
        Span { src: self.dst, len: self.room, memory: PhantomData, ..*self }
    }

    /// `R` registers of whole blocks from byte `at` on: one check for all of them.
    #[inline(always)]
    pub(crate) fn chunk<B: Isa, const R: usize>(&mut self, at: usize) -> Chunk<'_, B, R> {
        // Apart from the loop over the chunks, so that only the other half is checked for each.
        assert!(self.room >= self.len);
        Chunk { dst: self.dst.wrapping_add(at), read: self.chunk_to_read(at), memory: PhantomData }
    }

    /// The same, for reading alone.
    #[inline(always)]
    pub(crate) fn chunk_to_read<B: Isa, const R: usize>(&self, at: usize) -> ReadChunk<'_, B, R> {
        assert!(at <= self.len && self.len - at >= R * BLOCK * B::BLOCKS);
        ReadChunk { src: self.src.wrapping_add(at), memory: PhantomData }
    }

    /// The register of whole blocks from byte `at` on.
    #[inline(always)]
    pub(crate) fn load<B: Isa>(&self, b: B, at: usize) -> B::V {
        assert!(at <= self.len && self.len - at >= BLOCK * B::BLOCKS);
        // SAFETY: the assertion covers the access.
        unsafe { b.load_from(self.src.add(at)) }
    }

    /// `R` registers of whole blocks from byte `at` on: one check for all of them.
    #[inline(always)]
    pub(crate) fn load_all<B: Isa, const R: usize>(&self, b: B, at: usize) -> [B::V; R] {
        let register = BLOCK * B::BLOCKS;
        assert!(at <= self.len && self.len - at >= R * register);
        let mut v = [b.zero(); R];
        for r in 0..R {
            // SAFETY: the assertion covers the access.
            v[r] = unsafe { b.load_from(self.src.add(at + r * register)) };
        }
        v
    }

    /// Writes a register of whole blocks from byte `at` on.
    #[inline(always)]
    pub(crate) fn store<B: Isa>(&mut self, b: B, at: usize, v: B::V) {
        assert!(at <= self.room && self.room - at >= BLOCK * B::BLOCKS);
        // SAFETY: the assertion covers the access.
        unsafe { b.store_to(v, self.dst.add(at)) }
    }

    /// The bytes from `at` on, at most a register of them, the rest zero.
    #[inline(always)]
    pub(crate) fn load_part<B: Isa>(&self, b: B, at: usize) -> B::V {
        assert!(at <= self.len);
        let bytes = (self.len - at).min(BLOCK * B::BLOCKS);
        // SAFETY: the assertion covers the access.
        unsafe { b.load_part_from(self.src.add(at), bytes) }
    }

    /// Writes as much of a register as there is room from byte `at` on.
    #[inline(always)]
    pub(crate) fn store_part<B: Isa>(&mut self, b: B, at: usize, v: B::V) {
        assert!(at <= self.room);
        let bytes = (self.room - at).min(BLOCK * B::BLOCKS);
        // SAFETY: the assertion covers the access.
        unsafe { b.store_part_to(v, self.dst.add(at), bytes) }
    }

    /// Adds a register to the bytes from `at` on, at least one and at most a register of them. Returns what was read and what
    /// was written, with zeros behind them.
    #[inline(always)]
    pub(crate) fn xor_part<B: Isa>(&mut self, b: B, at: usize, x: B::V) -> (B::V, B::V) {
        assert!(at < self.len && self.len <= self.room);
        let bytes = (self.len - at).min(BLOCK * B::BLOCKS);
        // SAFETY: the assertion covers the access.
        let input = unsafe { b.load_part_from(self.src.add(at), bytes) };
        let output = b.xor(input, b.keep(x, bytes));
        // SAFETY: there is at least as much room as there are bytes to read.
        unsafe { b.store_part_to(output, self.dst.add(at), bytes) };
        (input, output)
    }

    /// The bytes from `at` on as one block, the rest zero.
    #[inline(always)]
    pub(crate) fn block(&self, at: usize) -> Block {
        assert!(at <= self.len);
        // SAFETY: the assertion covers the access.
        read_part(unsafe { core::slice::from_raw_parts(self.src.add(at), self.len - at) })
    }

    /// Writes the first bytes of a block from `at` on, as many as there is room.
    #[inline(always)]
    pub(crate) fn set_block(&mut self, at: usize, block: &Block) {
        assert!(at <= self.room);
        // SAFETY: the assertion covers the access.
        write_part(block, unsafe { core::slice::from_raw_parts_mut(self.dst.add(at), self.room - at) });
    }

    /// Zeros everything that may have been written, from byte `at` on.
    pub(crate) fn wipe(&mut self, at: usize) {
        assert!(at <= self.room);
        // Wide stores to an empty slice's dangling address can be slow.
        if at < self.room {
            // SAFETY: the assertion covers the access.
            unsafe { core::ptr::write_bytes(self.dst.add(at), 0, self.room - at) };
        }
    }
}

/// `N` spans, of which groups of registers take equal parts.
pub(crate) struct Spans<'a, const N: usize> {
    spans: [Span<'a>; N],
    // Bytes that every span can read and write.
    shortest: usize,
}

impl<'a, const N: usize> Spans<'a, N> {
    #[inline(always)]
    pub(crate) fn new(spans: [Span<'a>; N]) -> Self {
        let mut shortest = usize::MAX;
        for span in &spans {
            shortest = shortest.min(span.len).min(span.room);
        }
        Self { spans, shortest }
    }

    /// Bytes to read of each span.
    #[inline(always)]
    pub(crate) fn lens(&self) -> [usize; N] {
        let mut lens = [0; N];
        for n in 0..N {
            lens[n] = self.spans[n].len;
        }
        lens
    }

    /// Whether all spans have so many bytes from byte `at` on.
    #[inline(always)]
    pub(crate) fn hold(&self, at: usize, bytes: usize) -> bool {
        at <= self.shortest && self.shortest - at >= bytes
    }

    /// `R` registers, of which the `r`th is one of span `r % N`: those from byte `at` on, filled up with zeros where a
    /// span ends before. One check for all of them, where it doesn't.
    #[inline(always)]
    pub(crate) fn load<B: Isa, const R: usize>(&self, b: B, at: usize) -> [B::V; R] {
        let register = BLOCK * B::BLOCKS;
        let mut x = [b.zero(); R];
        if self.hold(at, R.div_ceil(N) * register) {
            for r in 0..R {
                // SAFETY: the span has `R / N` registers there.
                x[r] = unsafe { b.load_from(self.spans[r % N].src.add(at + r / N * register)) };
            }
        } else {
            for r in 0..R {
                let span = &self.spans[r % N];
                x[r] = span.load_part(b, (at + r / N * register).min(span.len));
            }
        }
        x
    }

    /// Writes registers where `load` reads them, as far as the spans go.
    #[inline(always)]
    pub(crate) fn store<B: Isa, const R: usize>(&mut self, b: B, at: usize, x: &[B::V; R]) {
        let register = BLOCK * B::BLOCKS;
        if self.hold(at, R.div_ceil(N) * register) {
            for r in 0..R {
                // SAFETY: the span has room for `R / N` registers there.
                unsafe { b.store_to(x[r], self.spans[r % N].dst.add(at + r / N * register)) };
            }
        } else {
            for r in 0..R {
                let span = &mut self.spans[r % N];
                span.store_part(b, (at + r / N * register).min(span.room), x[r]);
            }
        }
    }
}

/// `R` registers of a message, to be read.
pub(crate) struct ReadChunk<'a, B, const R: usize> {
    src: *const u8,
    memory: PhantomData<(&'a [u8], B)>,
}

impl<B: Isa, const R: usize> ReadChunk<'_, B, R> {
    /// Register `r`.
    #[inline(always)]
    pub(crate) fn load(&self, b: B, r: usize) -> B::V {
        assert!(r < R);
        // SAFETY: the chunk was checked to hold `R` registers.
        unsafe { b.load_from(self.src.add(r * BLOCK * B::BLOCKS)) }
    }
}

/// `R` registers of a message, to be read and written.
pub(crate) struct Chunk<'a, B, const R: usize> {
    read: ReadChunk<'a, B, R>,
    dst: *mut u8,
    memory: PhantomData<&'a mut [u8]>,
}

impl<B: Isa, const R: usize> Chunk<'_, B, R> {
    /// Register `r` of what is read.
    #[inline(always)]
    pub(crate) fn load(&self, b: B, r: usize) -> B::V {
        self.read.load(b, r)
    }

    /// Writes register `r`.
    #[inline(always)]
    pub(crate) fn store(&mut self, b: B, r: usize, v: B::V) {
        assert!(r < R);
        // SAFETY: the chunk was checked to hold `R` registers and to be writable.
        unsafe { b.store_to(v, self.dst.add(r * BLOCK * B::BLOCKS)) }
    }

    /// Register `r` of what was written.
    #[inline(always)]
    pub(crate) fn load_written(&self, b: B, r: usize) -> B::V {
        assert!(r < R);
        // SAFETY: the chunk was checked to hold `R` registers; what is writable is initialized.
        unsafe { b.load_from(self.dst.add(r * BLOCK * B::BLOCKS)) }
    }
}
