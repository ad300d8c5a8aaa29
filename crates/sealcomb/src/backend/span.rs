//! Spans: the input and output buffers of a message, in place or separate, with every access checked.

use core::marker::PhantomData;

use inout::InOutBuf;

use super::isa::Part;
use super::{BLOCK, Block, Isa, read_part, write_part};

/// The bytes to read and the bytes to write of a message, which may be the same memory. Their numbers are equal,
/// except in modes whose ciphertexts are longer than their messages; a span of a shared slice has none to write.
/// Every access is checked.
pub(crate) struct Span<'a> {
    src: *const u8,
    dst: *mut u8,
    // Number of bytes to read.
    len: usize,
    // Number of bytes to write.
    room: usize,
    memory: PhantomData<&'a mut [u8]>,
}

// SAFETY: a span borrows a shared slice, an exclusive one, or one of each; all may be sent to another thread.
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
    /// Creates a span that reads `input` and writes `output`.
    #[inline(always)]
    pub(crate) fn new(input: &'a [u8], output: &'a mut [u8]) -> Self {
        let (src, dst) = (input.as_ptr(), output.as_mut_ptr());
        Self { src, dst, len: input.len(), room: output.len(), memory: PhantomData }
    }

    /// Creates a span that reads and writes `len` bytes.
    ///
    /// # Safety
    /// The bytes must be readable from `src` on and writable from `dst` on during the span's lifetime. Nothing else may
    /// access those that are written.
    #[inline(always)]
    pub(super) unsafe fn from_raw(src: *const u8, dst: *mut u8, len: usize) -> Self {
        Self { src, dst, len, room: len, memory: PhantomData }
    }

    /// Creates a span that reads the first `len` bytes of `data` and writes all of it.
    #[inline(always)]
    pub(crate) fn beginning(data: &'a mut [u8], len: usize) -> Self {
        assert!(len <= data.len());
        Self { len, ..Self::from(data) }
    }
}

impl Span<'_> {
    /// Returns the number of bytes to read.
    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Returns the number of bytes to write.
    #[inline(always)]
    pub(crate) fn room(&self) -> usize {
        self.room
    }

    /// Returns the address of the input.
    #[inline(always)]
    pub(crate) fn address(&self) -> usize {
        self.src.addr()
    }

    #[inline(always)]
    pub(super) fn pointers(&self) -> (*const u8, *mut u8) {
        (self.src, self.dst)
    }

    /// Returns a span of the bytes `from..to`.
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

    /// Returns a span of the first `bytes` bytes.
    #[inline(always)]
    pub(crate) fn first(self, bytes: usize) -> Self {
        assert!(bytes <= self.len);
        Self { len: bytes, room: self.room.min(bytes), ..self }
    }

    /// Returns a span of all but the first `bytes` bytes.
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

    /// Returns a span that reads the bytes `from..to` and writes as many, starting at byte `at`.
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

    /// Copies the input bytes `from..to` to the output, starting at byte `at`. The two may overlap in place.
    pub(crate) fn copy(&mut self, from: usize, to: usize, at: usize) {
        assert!(from <= to && to <= self.len && at <= self.room && to - from <= self.room - at);
        // SAFETY: the assertion covers the access.
        unsafe { core::ptr::copy(self.src.add(from), self.dst.add(at), to - from) };
    }

    /// Borrows the whole span for a shorter lifetime.
    #[inline(always)]
    pub(crate) fn reborrow(&mut self) -> Span<'_> {
        Span { memory: PhantomData, ..*self }
    }

    /// Returns a read-only span of the input.
    #[inline(always)]
    pub(crate) fn input(&self) -> Span<'_> {
        Span { room: 0, memory: PhantomData, ..*self }
    }

    /// Returns a read-only span of the output, for the second pass of a mode.
    #[inline(always)]
    pub(crate) fn output(&self) -> Span<'_> {
        Span { src: self.dst, len: self.room, room: 0, memory: PhantomData, ..*self }
    }

    /// Returns a span that reads and rewrites the output.
    #[inline(always)]
    pub(crate) fn written(&mut self) -> Span<'_> {
        Span { src: self.dst, len: self.room, memory: PhantomData, ..*self }
    }

    /// Returns `R` registers of whole blocks from byte `at` on, for reading and writing. One check covers all of
    /// them.
    #[inline(always)]
    pub(crate) fn chunk<B: Isa, const R: usize>(&mut self, at: usize) -> Chunk<'_, B, R> {
        // A loop-invariant check, which the compiler hoists: per chunk, only the input length is checked.
        assert!(self.room >= self.len);
        Chunk { dst: self.dst.wrapping_add(at), read: self.chunk_to_read(at), memory: PhantomData }
    }

    /// Returns `R` registers of whole blocks from byte `at` on, read-only. One check covers all of them.
    #[inline(always)]
    pub(crate) fn chunk_to_read<B: Isa, const R: usize>(&self, at: usize) -> ReadChunk<'_, B, R> {
        assert!(at <= self.len && self.len - at >= R * BLOCK * B::BLOCKS);
        ReadChunk { src: self.src.wrapping_add(at), memory: PhantomData }
    }

    /// Loads a register of whole blocks from byte `at` on.
    #[inline(always)]
    pub(crate) fn load<B: Isa>(&self, b: B, at: usize) -> B::V {
        assert!(at <= self.len && self.len - at >= BLOCK * B::BLOCKS);
        // SAFETY: the assertion covers the access.
        unsafe { b.load_from(self.src.add(at)) }
    }

    /// Loads `R` registers of whole blocks from byte `at` on. One check covers all of them.
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

    /// Loads the bytes from `at` on, `R` registers of them, the last of which may be partial, zero-padded. One check covers
    /// all of them.
    #[inline(always)]
    pub(crate) fn load_tail<B: Isa, const R: usize>(&self, b: B, at: usize) -> [B::V; R] {
        let part = Self::last_part::<B, R>(self.len, at);
        let mut v = [b.zero(); R];
        each_register!(R, r => {
            let from = self.src.wrapping_add(at + r * BLOCK * B::BLOCKS);
            // SAFETY: there are `R - 1` whole registers from `at` on, and then the bytes of `part`.
            v[r] = unsafe { if r < R - 1 { b.load_from(from) } else { b.load_last_from(from, part) } };
        });
        v
    }

    /// Writes the bytes from `at` on, as many as [`Span::load_tail`] reads.
    #[inline(always)]
    pub(crate) fn store_tail<B: Isa, const R: usize>(&mut self, b: B, at: usize, v: &[B::V; R]) {
        assert!(self.room >= self.len);
        let part = Self::last_part::<B, R>(self.len, at);
        each_register!(R, r => {
            let to = self.dst.wrapping_add(at + r * BLOCK * B::BLOCKS);
            // SAFETY: as in `load_tail`; the output has as many bytes as the input.
            unsafe { if r < R - 1 { b.store_to(v[r], to) } else { b.store_last_to(v[r], to, part) } };
        });
    }

    /// Returns the part of the last of `R` registers from byte `at` of `len` on.
    ///
    /// # Panics
    /// If these are fewer or more registers.
    #[inline(always)]
    fn last_part<B: Isa, const R: usize>(len: usize, at: usize) -> B::Part {
        let register = BLOCK * B::BLOCKS;
        assert!(at < len && (len - at).div_ceil(register) == R);
        Part::of(len - at - (R - 1) * register)
    }

    /// Loads the bytes from `at` on, at most a register of them, zero-padded.
    #[inline(always)]
    pub(crate) fn load_part<B: Isa>(&self, b: B, at: usize) -> B::V {
        assert!(at <= self.len);
        let bytes = (self.len - at).min(BLOCK * B::BLOCKS);
        // SAFETY: the assertion covers the access.
        unsafe { b.load_part_from(self.src.add(at), bytes) }
    }

    /// Writes the first bytes of a register from byte `at` on, as many as the output has room for.
    #[inline(always)]
    pub(crate) fn store_part<B: Isa>(&mut self, b: B, at: usize, v: B::V) {
        assert!(at <= self.room);
        let bytes = (self.room - at).min(BLOCK * B::BLOCKS);
        // SAFETY: the assertion covers the access.
        unsafe { b.store_part_to(v, self.dst.add(at), bytes) }
    }

    /// XORs a register into the bytes from `at` on, of which there must be at least one, and at most a register is
    /// processed. Returns the bytes read and the bytes written, both zero-padded.
    #[inline(always)]
    pub(crate) fn xor_part<B: Isa>(&mut self, b: B, at: usize, x: B::V) -> (B::V, B::V) {
        assert!(at < self.len && self.len <= self.room);
        let bytes = (self.len - at).min(BLOCK * B::BLOCKS);
        // SAFETY: the assertion covers the access.
        let input = unsafe { b.load_part_from(self.src.add(at), bytes) };
        let output = b.xor(input, b.keep(x, bytes));
        // SAFETY: `room` is at least `len`, so these bytes are writable too.
        unsafe { b.store_part_to(output, self.dst.add(at), bytes) };
        (input, output)
    }

    /// Returns the first 16 bytes from `at` on as a block, zero-padded if there are fewer.
    #[inline(always)]
    pub(crate) fn block(&self, at: usize) -> Block {
        assert!(at <= self.len);
        // SAFETY: the assertion covers the access.
        read_part(unsafe { core::slice::from_raw_parts(self.src.add(at), self.len - at) })
    }

    /// Writes the first bytes of a block from byte `at` on, as many as the output has room for.
    #[inline(always)]
    pub(crate) fn set_block(&mut self, at: usize, block: &Block) {
        assert!(at <= self.room);
        // SAFETY: the assertion covers the access.
        write_part(block, unsafe { core::slice::from_raw_parts_mut(self.dst.add(at), self.room - at) });
    }

    /// Zeroes the output from byte `at` on.
    pub(crate) fn wipe(&mut self, at: usize) {
        assert!(at <= self.room);
        // Wide stores to the dangling address of an empty slice can be slow.
        if at < self.room {
            // SAFETY: the assertion covers the access.
            unsafe { core::ptr::write_bytes(self.dst.add(at), 0, self.room - at) };
        }
    }
}

/// `N` spans that a group of registers is divided among equally.
pub(crate) struct Spans<'a, const N: usize> {
    spans: [Span<'a>; N],
    // Number of bytes that can be read and written in every span.
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

    /// Returns the number of bytes to read in each span.
    #[inline(always)]
    pub(crate) fn lens(&self) -> [usize; N] {
        let mut lens = [0; N];
        for n in 0..N {
            lens[n] = self.spans[n].len;
        }
        lens
    }

    /// Returns whether `bytes` bytes from `at` on can be read and written in every span.
    #[inline(always)]
    pub(crate) fn hold(&self, at: usize, bytes: usize) -> bool {
        at <= self.shortest && self.shortest - at >= bytes
    }

    /// Loads `R` registers from byte `at` on, register `r` from span `r % N`, zero-padded after the end of a span.
    /// One check covers all of them if no span ends there.
    #[inline(always)]
    pub(crate) fn load<B: Isa, const R: usize>(&self, b: B, at: usize) -> [B::V; R] {
        let register = BLOCK * B::BLOCKS;
        let mut x = [b.zero(); R];
        if self.hold(at, R.div_ceil(N) * register) {
            for r in 0..R {
                // SAFETY: `hold` checked that every span has `⌈R / N⌉` registers from `at` on.
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

    /// Writes `R` registers to the positions that [`Spans::load`] reads, up to the end of each span.
    #[inline(always)]
    pub(crate) fn store<B: Isa, const R: usize>(&mut self, b: B, at: usize, x: &[B::V; R]) {
        let register = BLOCK * B::BLOCKS;
        if self.hold(at, R.div_ceil(N) * register) {
            for r in 0..R {
                // SAFETY: `hold` checked that every span has room for `⌈R / N⌉` registers from `at` on.
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

/// `R` registers of a message, checked for reading.
pub(crate) struct ReadChunk<'a, B, const R: usize> {
    src: *const u8,
    memory: PhantomData<(&'a [u8], B)>,
}

impl<B: Isa, const R: usize> ReadChunk<'_, B, R> {
    /// Loads register `r`.
    #[inline(always)]
    pub(crate) fn load(&self, b: B, r: usize) -> B::V {
        assert!(r < R);
        // SAFETY: the chunk was checked to have `R` registers.
        unsafe { b.load_from(self.src.add(r * BLOCK * B::BLOCKS)) }
    }
}

/// `R` registers of a message, checked for reading and writing.
pub(crate) struct Chunk<'a, B, const R: usize> {
    read: ReadChunk<'a, B, R>,
    dst: *mut u8,
    memory: PhantomData<&'a mut [u8]>,
}

impl<B: Isa, const R: usize> Chunk<'_, B, R> {
    /// # Safety
    /// `R` registers must be readable from `src` on, and writable from `dst` on, as long as the chunk exists.
    #[inline(always)]
    pub(super) unsafe fn new(src: *const u8, dst: *mut u8) -> Self {
        Self { read: ReadChunk { src, memory: PhantomData }, dst, memory: PhantomData }
    }

    /// Loads register `r` of the input.
    #[inline(always)]
    pub(crate) fn load(&self, b: B, r: usize) -> B::V {
        self.read.load(b, r)
    }

    /// Stores register `r` of the output.
    #[inline(always)]
    pub(crate) fn store(&mut self, b: B, r: usize, v: B::V) {
        assert!(r < R);
        // SAFETY: the chunk was checked to have `R` registers and to be writable.
        unsafe { b.store_to(v, self.dst.add(r * BLOCK * B::BLOCKS)) }
    }

    /// Loads register `r` of the output.
    #[inline(always)]
    pub(crate) fn load_written(&self, b: B, r: usize) -> B::V {
        assert!(r < R);
        // SAFETY: the chunk was checked to have `R` registers, and writable bytes are initialized.
        unsafe { b.load_from(self.dst.add(r * BLOCK * B::BLOCKS)) }
    }
}
