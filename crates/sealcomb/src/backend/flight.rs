//! Flights: up to 64 messages under one key, in columns, with the secrets of each.
//!
//! ```text
//! fill      addresses and lengths of each message
//! classify  the number of registers of each message's tail
//! begin     the state and the tag's mask of each message, several per register
//! finish    the hash of each message
//! rows      the hashes, masks and lengths of several messages, one per lane
//! ```
//!
//! A message consists of whole *chunks* of eight registers and a *tail* of one to eight registers, the last of which may
//! be partial. Lengths are checked when a message enters, so that chunks and tails are accessed without checks. The
//! columns are neither initialized nor zeroed as a whole: the memory of a column is written before it is read, in the
//! order above, and of the secrets only as many rows are zeroed as were used.
//!
//! An [`Index`] is the index of a message, tied to its flight by the lifetime `'id`, which no other flight has.

use core::marker::PhantomData;
use core::mem::MaybeUninit;

use generativity::{Guard, Id};
use zeroize::optimization_barrier;

use super::isa::Part;
use super::lines::{Text, Texts};
use super::span::{Chunk, Span};
use super::{BLOCK, Block, Isa, REGISTERS};

/// The maximum number of messages of a flight: one bit of a `u64` each.
pub(crate) const FLIGHT: usize = u64::BITS as usize;

/// The length and the address of bytes: a block with the length in its low half.
#[derive(Clone, Copy)]
#[repr(C, align(16))]
struct Entry {
    len: u64,
    data: *mut u8,
}

impl Entry {
    const EMPTY: Self = Self { len: 0, data: core::ptr::null_mut() };
}

/// The number of messages whose lengths are examined together.
const STEP: usize = 8;

type Cells<T> = [MaybeUninit<T>; FLIGHT];

/// The messages of a flight.
pub(crate) struct Columns<'a> {
    outputs: Cells<Entry>,
    inputs: Cells<*const u8>,
    aads: Cells<Entry>,
    nonces: Cells<*const u8>,
    len: usize,
    /// The number of bytes of the first nonce, and whether another one has more or fewer.
    nonce_bytes: usize,
    uneven: bool,
    /// The additional data of all messages, unless each has its own.
    shared_aad: Option<&'a [u8]>,
    has_aads: bool,
    memory: PhantomData<&'a mut [u8]>,
}

impl<'a> Columns<'a> {
    #[inline(always)]
    pub(crate) fn new() -> Self {
        Self {
            outputs: [const { MaybeUninit::uninit() }; _],
            inputs: [const { MaybeUninit::uninit() }; _],
            aads: [const { MaybeUninit::uninit() }; _],
            nonces: [const { MaybeUninit::uninit() }; _],
            len: 0,
            nonce_bytes: 0,
            uneven: false,
            shared_aad: None,
            has_aads: false,
            memory: PhantomData,
        }
    }

    /// Fills empty columns with the nonces, the additional data and the texts of messages, up to the first error. The
    /// additional data is ignored if all messages have the data `shared_aad`.
    ///
    /// # Panics
    /// If there are more than [`FLIGHT`] messages, or if an output is shorter than its input.
    #[inline(always)]
    pub(crate) fn fill<E>(
        &mut self,
        shared_aad: Option<&'a [u8]>,
        messages: impl Iterator<Item = Result<(&'a [u8], &'a [u8], Span<'a>), E>>,
    ) -> Result<(), E> {
        // The compiler keeps local variables in registers.
        let (mut len, mut first, mut uneven, mut has_aads) = (0, None, false, false);
        for message in messages {
            let (nonce, aad, data) = message?;
            let i = len;
            assert!(i < FLIGHT && data.len() <= data.room());
            let (input, output) = data.pointers();
            self.outputs[i].write(Entry { len: data.len() as u64, data: output });
            self.inputs[i].write(input);
            if shared_aad.is_none() {
                self.aads[i].write(Entry { len: aad.len() as u64, data: aad.as_ptr().cast_mut() });
                has_aads |= !aad.is_empty();
            }
            self.nonces[i].write(nonce.as_ptr());
            uneven |= nonce.len() != *first.get_or_insert(nonce.len());
            len = i + 1;
        }
        self.len = len;
        self.shared_aad = shared_aad;
        self.has_aads = shared_aad.map_or(has_aads, |aad| !aad.is_empty());
        (self.nonce_bytes, self.uneven) = (first.unwrap_or(0), uneven);
        Ok(())
    }

    /// Returns the number of bytes of all nonces, or `None` if they differ.
    #[inline(always)]
    pub(crate) fn nonce_bytes(&self) -> Option<usize> {
        if self.uneven { None } else { Some(self.nonce_bytes) }
    }

    /// Returns the number of messages.
    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Returns the nonce, the additional data and the text of each message.
    ///
    /// # Panics
    /// If the lengths of the nonces differ.
    #[inline(always)]
    pub(crate) fn messages(&mut self) -> impl Iterator<Item = (&[u8], &[u8], Span<'_>)> {
        assert!(!self.uneven);
        let (shared_aad, nonce_bytes) = (self.shared_aad, self.nonce_bytes);
        let entries = self.outputs.iter().zip(&self.inputs).zip(self.nonces.iter().zip(&self.aads));
        entries.take(self.len).map(move |((output, input), (nonce, aad))| {
            // SAFETY: `fill` has written the entries, from slices that the columns borrow, exclusively in case of the
            // output. All nonces have as many bytes as the first one.
            unsafe {
                let Entry { len, data } = output.assume_init();
                let aad = shared_aad.unwrap_or_else(|| {
                    let Entry { len, data } = aad.assume_init();
                    core::slice::from_raw_parts(data, len as usize)
                });
                let nonce = core::slice::from_raw_parts(nonce.assume_init(), nonce_bytes);
                (nonce, aad, Span::from_raw(input.assume_init(), data, len as usize))
            }
        })
    }

    /// Returns whether a message has additional data.
    #[inline(always)]
    pub(crate) fn has_aads(&self) -> bool {
        self.has_aads
    }

    /// Returns the nonce of each message.
    ///
    /// # Panics
    /// If the lengths of the nonces differ.
    #[inline(always)]
    pub(crate) fn nonces(&self) -> impl Iterator<Item = &[u8]> {
        assert!(!self.uneven);
        // SAFETY: `fill` has written the addresses of nonces of this length, which the columns borrow.
        self.nonces[..self.len]
            .iter()
            .map(|nonce| unsafe { core::slice::from_raw_parts(nonce.assume_init(), self.nonce_bytes) })
    }

    /// Appends the texts to a list.
    #[inline(always)]
    pub(crate) fn list_texts<'t, const N: usize>(&'t mut self, list: &mut Texts<'t, N>) {
        let entries = self.outputs[..self.len].iter().zip(&self.inputs);
        // SAFETY: `fill` has written the entries, from spans that the columns borrow exclusively, and that have room for as
        // many bytes as they have.
        unsafe {
            list.extend_raw(entries.map(|(output, input)| {
                let Entry { len, data } = output.assume_init();
                Text { src: input.assume_init(), dst: data, len: len as usize }
            }));
        }
    }

    /// Zeroes the outputs of a set of messages.
    #[cold]
    pub(crate) fn wipe(&mut self, set: u64) {
        for (i, output) in self.outputs[..self.len].iter().enumerate() {
            if set >> i & 1 == 1 {
                // SAFETY: `fill` has written the entry from a span that the columns borrow exclusively.
                unsafe {
                    let Entry { len, data } = output.assume_init();
                    data.write_bytes(0, len as usize);
                }
            }
        }
    }
}

/// The tags of a flight's messages, in a row.
pub(crate) struct Tags {
    blocks: Cells<Block>,
    len: usize,
}

impl Tags {
    #[inline(always)]
    pub(crate) fn new() -> Self {
        Self { blocks: [const { MaybeUninit::uninit() }; _], len: 0 }
    }

    /// Adds a register of tags.
    #[inline(always)]
    pub(crate) fn push<B: Isa>(&mut self, b: B, tags: B::V) {
        let at = self.len;
        assert!(at + B::BLOCKS <= FLIGHT);
        // SAFETY: there is a register of blocks from `at` on.
        unsafe { b.store_to(tags, self.blocks.as_mut_ptr().add(at).cast()) };
        self.len = at + B::BLOCKS;
    }

    /// Adds the tag in the first lane of a register.
    #[inline(always)]
    pub(crate) fn push_one<B: Isa>(&mut self, b: B, tag: B::V) {
        self.blocks[self.len].write(b.first(tag));
        self.len += 1;
    }

    /// Returns the tags, and arbitrary blocks after them.
    #[inline(always)]
    pub(crate) fn get(&self) -> &[Block] {
        // SAFETY: `push` or `push_one` has written these blocks.
        unsafe { core::slice::from_raw_parts(self.blocks.as_ptr().cast(), self.len.min(FLIGHT)) }
    }
}

impl Drop for Tags {
    /// Zeroes the tags, also after a panic. Lanes without a message may have the mask of a message's tag, from which an
    /// attacker who knows the tag can compute the hash key.
    fn drop(&mut self) {
        for block in &mut self.blocks[..self.len.min(FLIGHT)] {
            block.write([0; BLOCK]);
        }
        optimization_barrier(self);
    }
}

/// The secrets of the messages of a flight, which [`Secrets::wipe`] zeroes, or the drop after a panic.
#[repr(C, align(64))]
pub(crate) struct Secrets<B: Isa> {
    /// The states of the first counter blocks, or of those of the tails.
    states: Cells<Block>,
    /// The blocks that mask the tags.
    masks: Cells<Block>,
    /// The hashes of what precedes the tails.
    hashes: Cells<Block>,
    /// The hashes of whole messages, as sums over all lanes.
    sums: Cells<B::V>,
    /// The numbers of messages whose states and hashes may have been written.
    begun: usize,
    hashed: usize,
    finished: bool,
}

impl<B: Isa> Secrets<B> {
    #[inline(always)]
    pub(crate) fn new() -> Self {
        Self {
            states: [const { MaybeUninit::uninit() }; _],
            masks: [const { MaybeUninit::uninit() }; _],
            hashes: [const { MaybeUninit::uninit() }; _],
            sums: [const { MaybeUninit::uninit() }; _],
            begun: 0,
            hashed: 0,
            finished: false,
        }
    }

    /// Zeroes everything.
    #[cold]
    pub(crate) fn wipe_all(&mut self) {
        // SAFETY: a column of `MaybeUninit` may contain any bytes.
        unsafe {
            (&raw mut self.states).write_bytes(0, 1);
            (&raw mut self.masks).write_bytes(0, 1);
            (&raw mut self.hashes).write_bytes(0, 1);
            (&raw mut self.sums).write_bytes(0, 1);
        }
        optimization_barrier(self);
    }

    /// Zeroes what was written.
    #[inline(always)]
    pub(crate) fn wipe(&mut self, b: B) {
        Self::wipe_column(b, &mut self.states, self.begun);
        Self::wipe_column(b, &mut self.masks, self.begun);
        Self::wipe_column(b, &mut self.hashes, self.hashed);
        if self.finished {
            Self::wipe_column(b, &mut self.sums, self.begun);
        }
        (self.begun, self.hashed, self.finished) = (0, 0, false);
        optimization_barrier(self);
    }

    /// Zeroes the first `messages` entries of a column, in whole registers.
    #[inline(always)]
    fn wipe_column<T>(b: B, column: &mut Cells<T>, messages: usize) {
        let register = BLOCK * B::BLOCKS;
        let bytes = (messages * size_of::<T>()).next_multiple_of(register).min(size_of_val(column));
        for at in (0..bytes).step_by(register) {
            // A pinned zero: the compiler would turn the loop into a call.
            // SAFETY: the column has these bytes, and `MaybeUninit` may contain any.
            unsafe { b.store_to(b.pin(b.zero()), column.as_mut_ptr().cast::<u8>().add(at)) };
        }
    }
}

#[cfg(test)]
impl<B: Isa> Secrets<B> {
    /// Returns the offset and the value of each byte that a flight of this number of messages has written.
    pub(crate) fn written(&self, messages: usize) -> alloc::vec::Vec<(usize, u8)> {
        let columns = [
            (self.states.as_ptr().addr(), BLOCK * self.begun),
            (self.masks.as_ptr().addr(), BLOCK * self.begun),
            (self.hashes.as_ptr().addr(), BLOCK * self.hashed),
            (self.sums.as_ptr().addr(), size_of::<B::V>() * messages),
        ];
        let base = core::ptr::from_ref(self).addr();
        let places = columns.into_iter().flat_map(|(from, bytes)| from - base..from - base + bytes);
        let places: alloc::vec::Vec<usize> = places.collect();
        let bytes = self.bytes_at(places.iter().copied());
        places.into_iter().zip(bytes).collect()
    }

    /// Returns the bytes at some offsets, which must have been written.
    pub(crate) fn bytes_at(&self, offsets: impl Iterator<Item = usize>) -> alloc::vec::Vec<u8> {
        let base = core::ptr::from_ref(self).cast::<u8>();
        // SAFETY: the caller only passes offsets of bytes that have been written.
        offsets.map(|offset| unsafe { base.add(offset).read_volatile() }).collect()
    }
}

impl<B: Isa> Drop for Secrets<B> {
    /// Zeroes everything after a panic. A drop is a function without the backend's instructions.
    #[inline(always)]
    fn drop(&mut self) {
        if self.begun > 0 {
            self.wipe_all();
        }
    }
}

/// The index of a message of the flight `'id`. Its state has been written.
#[derive(Clone, Copy)]
pub(crate) struct Index<'id>(usize, Id<'id>);

/// A set of messages of the flight `'id`.
pub(crate) struct Indices<'id>(u64, Id<'id>);

impl<'id> Iterator for Indices<'id> {
    type Item = Index<'id>;

    #[inline(always)]
    fn next(&mut self) -> Option<Index<'id>> {
        if self.0 == 0 {
            return None;
        }
        let index = Index(self.0.trailing_zeros() as usize, self.1);
        self.0 &= self.0 - 1;
        Some(index)
    }
}

/// A set of messages of the flight `'id` whose tails have `R` registers.
pub(crate) struct Tails<'id, const R: usize>(Indices<'id>);

impl<const R: usize> Tails<'_, R> {
    #[inline(always)]
    pub(crate) fn is_empty(&self) -> bool {
        self.0.0 == 0
    }
}

/// A message of the flight `'id` whose tail has `R` registers.
#[derive(Clone, Copy)]
pub(crate) struct Member<'id, const R: usize>(Index<'id>);

impl<'id, const R: usize> Member<'id, R> {
    #[inline(always)]
    pub(crate) fn index(self) -> Index<'id> {
        self.0
    }
}

/// A flight of messages.
pub(crate) struct Flight<'id, 'f, 'a, B: Isa> {
    columns: &'f Columns<'a>,
    secrets: &'f mut Secrets<B>,
    /// The number of registers of each message's tail; 0 for an empty message.
    classes: &'f [u8; FLIGHT],
    /// The messages that are longer than a tail.
    long: u64,
    /// The number of messages whose states have been written.
    begun: usize,
    /// The number of messages whose hashes have been written, and whether that column is not in use: all are zero.
    hashed: usize,
    unhashed: bool,
    /// The messages whose sums have been written.
    finished: u64,
    id: Id<'id>,
}

impl<'id, 'f, 'a, B: Isa> Flight<'id, 'f, 'a, B> {
    const REGISTER: usize = BLOCK * B::BLOCKS;
    const CHUNK: usize = REGISTERS * Self::REGISTER;

    /// Returns a flight of at least one message.
    #[inline(always)]
    pub(crate) fn new(
        b: B,
        guard: Guard<'id>,
        columns: &'f mut Columns<'a>,
        secrets: &'f mut Secrets<B>,
        classes: &'f mut [u8; FLIGHT],
    ) -> Self {
        let len = columns.len;
        assert!(len > 0 && len <= FLIGHT && !columns.uneven);
        // Empty messages fill up the last step, which contains the last row.
        let steps = len.div_ceil(STEP);
        for i in len..steps * STEP {
            columns.outputs[i].write(Entry::EMPTY);
            columns.aads[i].write(Entry::EMPTY);
        }
        let mut longest = 0;
        let outputs = columns.outputs.as_chunks::<STEP>().0;
        for (classes, outputs) in classes.as_chunks_mut::<STEP>().0.iter_mut().zip(outputs).take(steps) {
            // SAFETY: `fill` has written the entries, and those after them were written just now. They have the size of a
            // block, and no padding.
            let lengths = unsafe { &*outputs.as_ptr().cast::<[Block; STEP]>() };
            *classes = b.tail_registers(lengths);
            for output in outputs {
                // SAFETY: as above.
                longest = longest.max(unsafe { output.assume_init() }.len);
            }
        }
        let mut long = 0;
        if longest > Self::CHUNK as u64 {
            for (i, output) in columns.outputs[..len].iter().enumerate() {
                // SAFETY: as above.
                let Entry { len, .. } = unsafe { output.assume_init() };
                long |= u64::from(len > Self::CHUNK as u64) << i;
            }
        }
        let id = guard.into();
        Self { columns, secrets, classes, long, begun: 0, hashed: 0, unhashed: false, finished: 0, id }
    }

    /// Returns a copy that borrows the columns. The compiler keeps its fields in registers, because it knows that no
    /// store changes them.
    #[inline(always)]
    pub(crate) fn local(&mut self) -> Flight<'id, '_, 'a, B> {
        Flight { secrets: &mut *self.secrets, ..*self }
    }

    /// Adds the sums that a local copy has written, given [`Flight::finished`] of it.
    #[inline(always)]
    pub(crate) fn adopt(&mut self, Finished(finished): Finished<'id>) {
        self.finished |= finished.0;
    }

    #[inline(always)]
    pub(crate) fn finished(&self) -> Finished<'id> {
        Finished(Indices(self.finished, self.id))
    }

    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        self.columns.len
    }

    #[inline(always)]
    fn all(&self) -> u64 {
        u64::MAX >> (FLIGHT - self.columns.len)
    }

    #[inline(always)]
    fn output(&self, Index(i, _): Index<'id>) -> Entry {
        // SAFETY: indices are of messages, which `fill` has written.
        unsafe { self.columns.outputs.get_unchecked(i).assume_init() }
    }

    /// Returns the message with an index, which must exist.
    #[inline(always)]
    fn index(&self, i: usize) -> Index<'id> {
        assert!(i < self.columns.len);
        Index(i, self.id)
    }

    /// Returns the nonce of a message.
    #[inline(always)]
    pub(crate) fn nonce(&self, Index(i, _): Index<'id>) -> &'a [u8] {
        // SAFETY: indices are of messages, of which `fill` has written the address of the nonce. `new` has checked that all
        // nonces have this number of bytes.
        unsafe {
            core::slice::from_raw_parts(
                self.columns.nonces.get_unchecked(i).assume_init(),
                self.columns.nonce_bytes,
            )
        }
    }

    /// Returns the nonce of the message with an index, or that of the last message if there is no such message.
    #[inline(always)]
    pub(crate) fn nonce_at(&self, i: usize) -> &'a [u8] {
        self.nonce(Index(i.min(self.columns.len - 1), self.id))
    }

    /// Returns the additional data of the message with an index, or no bytes if there is no such message.
    #[inline(always)]
    pub(crate) fn aad_at(&self, i: usize) -> &'a [u8] {
        if let Some(aad) = self.columns.shared_aad {
            return aad;
        }
        if i >= self.columns.len {
            return &[];
        }
        // SAFETY: `fill` has written the entry from a slice that the flight borrows.
        unsafe {
            let Entry { len, data } = self.columns.aads[i].assume_init();
            core::slice::from_raw_parts(data, len as usize)
        }
    }

    /// Returns the additional data of all messages, unless each has its own.
    #[inline(always)]
    pub(crate) fn shared_aad(&self) -> Option<&'a [u8]> {
        self.columns.shared_aad
    }

    /// Returns whether a message has additional data.
    #[inline(always)]
    pub(crate) fn has_aads(&self) -> bool {
        self.columns.has_aads
    }

    /// Returns whether a message is longer than a tail.
    #[inline(always)]
    pub(crate) fn is_long(&self) -> bool {
        self.long != 0
    }

    /// Writes the states and masks of the next register of messages.
    #[inline(always)]
    pub(crate) fn begin(&mut self, b: B, states: B::V, masks: B::V) {
        let at = self.begun;
        assert!(at + B::BLOCKS <= FLIGHT);
        self.begun = at + B::BLOCKS;
        self.secrets.begun = self.begun;
        // SAFETY: the columns have a register of blocks from `at` on.
        unsafe {
            b.store_to(states, self.secrets.states.as_mut_ptr().add(at).cast());
            b.store_to(masks, self.secrets.masks.as_mut_ptr().add(at).cast());
        }
    }

    /// Writes the hashes of what precedes the next register of messages.
    #[inline(always)]
    pub(crate) fn begin_hashes(&mut self, b: B, hashes: B::V) {
        let at = self.hashed;
        assert!(at + B::BLOCKS <= FLIGHT);
        self.hashed = at + B::BLOCKS;
        self.secrets.hashed = self.hashed;
        self.secrets.finished = true;
        // SAFETY: the column has a register of blocks from `at` on.
        unsafe { b.store_to(hashes, self.secrets.hashes.as_mut_ptr().add(at).cast()) };
    }

    /// Declares that nothing precedes any tail, in place of [`Flight::begin_hashes`].
    #[inline(always)]
    pub(crate) fn begin_without_hashes(&mut self) {
        assert!(self.long == 0);
        self.unhashed = true;
        self.secrets.finished = true;
    }

    /// Returns the messages of a set, after [`Flight::begin`] and [`Flight::begin_hashes`] of all messages.
    #[inline(always)]
    fn indices(&self, set: u64) -> Indices<'id> {
        let len = self.columns.len;
        assert!(self.begun >= len && (self.unhashed || self.hashed >= len));
        Indices(set & self.all(), self.id)
    }

    /// Returns the messages that are longer than a tail.
    #[inline(always)]
    pub(crate) fn long(&self) -> Indices<'id> {
        self.indices(self.long)
    }

    /// Returns the empty messages.
    #[inline(always)]
    pub(crate) fn empty(&self, b: B) -> Indices<'id> {
        self.indices(b.equal(self.classes, 0))
    }

    /// Returns the messages whose tails have `R` registers.
    #[inline(always)]
    pub(crate) fn tails<const R: usize>(&self, b: B) -> Tails<'id, R> {
        Tails(self.indices(b.equal(self.classes, R as u8)))
    }

    /// Takes the first message of a set.
    #[inline(always)]
    pub(crate) fn first<const R: usize>(&self, tails: &mut Tails<'id, R>) -> Option<Member<'id, R>> {
        tails.0.next().map(Member)
    }

    /// Takes the next message of a set. At the end, it returns `otherwise` again, by a conditional move: a branch would
    /// make the compiler store registers on the stack.
    #[inline(always)]
    pub(crate) fn next_or<const R: usize>(
        &self,
        Tails(Indices(set, id)): &mut Tails<'id, R>,
        otherwise: Member<'id, R>,
    ) -> Member<'id, R> {
        let i = if *set == 0 { otherwise.0.0 } else { set.trailing_zeros() as usize };
        *set &= set.wrapping_sub(1);
        Member(Index(i, *id))
    }

    /// Returns the tail of a message.
    #[inline(always)]
    pub(crate) fn tail<const R: usize>(&self, Member(index): Member<'id, R>) -> Tail<'a, B, R> {
        let Entry { len, data } = self.output(index);
        // SAFETY: indices are of messages, which `fill` has written.
        let input = unsafe { self.columns.inputs.get_unchecked(index.0).assume_init() };
        let last = (len as usize).wrapping_sub(1);
        let at = last & !(Self::CHUNK - 1);
        let part = B::Part::of(last % Self::REGISTER + 1);
        Tail { src: input.wrapping_add(at), dst: data.wrapping_add(at), last, part, memory: PhantomData }
    }

    /// Returns the chunks of a message before its tail, with their positions.
    #[inline(always)]
    pub(crate) fn chunks(&self, index: Index<'id>) -> Chunks<'a, B> {
        let Entry { len, data } = self.output(index);
        // SAFETY: indices are of messages, which `fill` has written.
        let input = unsafe { self.columns.inputs.get_unchecked(index.0).assume_init() };
        Chunks {
            src: input,
            dst: data,
            at: 0,
            end: (len as usize).saturating_sub(1) & !(Self::CHUNK - 1),
            memory: PhantomData,
        }
    }

    /// Returns the state of a message in all lanes.
    #[inline(always)]
    pub(crate) fn state(&self, b: B, Index(i, _): Index<'id>) -> B::V {
        // SAFETY: there are indices only after `begin` has written the states of all messages.
        b.splat(unsafe { self.secrets.states.get_unchecked(i).assume_init_ref() })
    }

    #[inline(always)]
    pub(crate) fn set_state(&mut self, b: B, Index(i, _): Index<'id>, state: B::V) {
        self.secrets.states[i].write(b.first(state));
    }

    /// Returns the hash of what precedes a message's tail, in the first lane.
    #[inline(always)]
    pub(crate) fn hash(&self, b: B, Index(i, _): Index<'id>) -> B::V {
        if self.unhashed {
            return b.zero();
        }
        // SAFETY: there are indices only after `begin_hashes` has written the hashes of all messages.
        b.one(unsafe { self.secrets.hashes.get_unchecked(i).assume_init_ref() })
    }

    /// Replaces the hash of what precedes a message's tail.
    #[inline(always)]
    pub(crate) fn set_hash(&mut self, b: B, Index(i, _): Index<'id>, hash: B::V) {
        self.secrets.hashes[i].write(b.first(hash));
    }

    /// Replaces the hash of the message with an index, after [`Flight::begin_hashes`] of it.
    #[inline(always)]
    pub(crate) fn set_hash_at(&mut self, b: B, i: usize, hash: B::V) {
        assert!(i < self.hashed);
        self.set_hash(b, self.index(i), hash);
    }

    /// Writes the sum of a message.
    #[inline(always)]
    pub(crate) fn finish(&mut self, Index(i, _): Index<'id>, sum: B::V) {
        // SAFETY: indices are of messages, and there are no more of them than sums.
        unsafe { self.secrets.sums.get_unchecked_mut(i).write(sum) };
        self.finished |= 1 << i;
    }

    /// Returns the number of registers of messages, all of which must be finished.
    #[inline(always)]
    pub(crate) fn rows(&self) -> usize {
        assert!(self.finished == self.all() && self.begun >= self.columns.len);
        self.columns.len.div_ceil(B::BLOCKS)
    }

    /// Returns the sums of a register of messages.
    #[inline(always)]
    pub(crate) fn sums(&self, b: B, row: usize) -> [B::V; 4] {
        let mut sums = [b.zero(); 4];
        let at = row * B::BLOCKS;
        assert!(at + B::BLOCKS <= FLIGHT);
        for n in 0..B::BLOCKS {
            if at + B::BLOCKS <= self.columns.len || at + n < self.columns.len {
                // SAFETY: `rows` has checked that `finish` has written the sums of all messages.
                sums[n] = unsafe { self.secrets.sums.get_unchecked(at + n).assume_init() };
            }
        }
        sums
    }

    /// Returns the masks of a register of messages.
    #[inline(always)]
    pub(crate) fn masks(&self, b: B, row: usize) -> B::V {
        let at = row * B::BLOCKS;
        assert!(at + B::BLOCKS <= self.begun && self.begun <= FLIGHT);
        // SAFETY: `begin` has written this row.
        unsafe { b.load_from(self.secrets.masks.as_ptr().add(at).cast()) }
    }

    /// Returns the lengths of a register of messages, and those of their additional data, in the low halves of the lanes.
    /// Addresses are in the high halves.
    #[inline(always)]
    pub(crate) fn lengths(&self, b: B, row: usize) -> [B::V; 2] {
        let at = row * B::BLOCKS;
        assert!(at < self.columns.len && at + B::BLOCKS <= FLIGHT);
        let aads = match self.columns.shared_aad {
            Some(aad) => b.splat(&(aad.len() as u128).to_le_bytes()),
            // SAFETY: without shared data, `fill` and `new` have written the entries of this row, which have the size of
            // a block and no padding.
            None => unsafe { b.load_from(self.columns.aads.as_ptr().add(at).cast()) },
        };
        // SAFETY: `fill` and `new` have written the entries of this row.
        [unsafe { b.load_from(self.columns.outputs.as_ptr().add(at).cast()) }, aads]
    }
}

/// Messages whose sums have been written.
pub(crate) struct Finished<'id>(Indices<'id>);

/// The tail of a message: `R` registers, the last of which may be partial.
#[derive(Clone, Copy)]
pub(crate) struct Tail<'a, B: Isa, const R: usize> {
    src: *const u8,
    dst: *mut u8,
    /// The index of the message's last byte.
    last: usize,
    /// The bytes of the last register.
    part: B::Part,
    memory: PhantomData<(&'a mut [u8], B)>,
}

impl<'a, B: Isa, const R: usize> Tail<'a, B, R> {
    const REGISTER: usize = BLOCK * B::BLOCKS;

    /// Returns a whole message as its tail.
    ///
    /// # Panics
    /// If it has fewer or more registers, or if the output is shorter than the input.
    #[inline(always)]
    #[expect(clippy::needless_pass_by_value, reason = "the tail takes over the span's exclusive borrow")]
    pub(crate) fn whole(data: Span<'a>) -> Self {
        let last = data.len().wrapping_sub(1);
        assert!(R <= REGISTERS && last / Self::REGISTER == R - 1 && data.len() <= data.room());
        let (src, dst) = data.pointers();
        Self { src, dst, last, part: B::Part::of(last % Self::REGISTER + 1), memory: PhantomData }
    }

    /// Returns the number of the message's bytes before the tail.
    #[inline(always)]
    pub(crate) fn at(&self) -> usize {
        self.last & !(REGISTERS * Self::REGISTER - 1)
    }

    /// Returns the exponents of the tail's powers.
    #[inline(always)]
    pub(crate) fn exponents(&self) -> Exponents<B, R> {
        Exponents((self.last % (REGISTERS * Self::REGISTER)) | (BLOCK - 1), PhantomData)
    }

    /// Loads the input, zero-padded to whole registers.
    #[inline(always)]
    pub(crate) fn load(&self, b: B) -> [B::V; R] {
        let mut x = [b.zero(); R];
        each_register!(R, r => {
            let from = self.src.wrapping_add(r * Self::REGISTER);
            // SAFETY: the message has `R - 1` whole registers here, and then the bytes of `part`.
            x[r] = unsafe { if r < R - 1 { b.load_from(from) } else { b.load_last_from(from, self.part) } };
        });
        x
    }

    /// Stores the output. Bytes after the end of the message are ignored.
    #[inline(always)]
    pub(crate) fn store(&self, b: B, x: &[B::V; R]) {
        each_register!(R, r => {
            let to = self.dst.wrapping_add(r * Self::REGISTER);
            // SAFETY: as above; the output has as many bytes as the input.
            unsafe { if r < R - 1 { b.store_to(x[r], to) } else { b.store_last_to(x[r], to, self.part) } };
        });
    }

    /// Zeros the bytes after the end of the message.
    #[inline(always)]
    pub(crate) fn trim(&self, b: B, x: &mut [B::V; R]) {
        x[R - 1] = b.keep_last(x[R - 1], self.part);
    }
}

/// The last of a row of blocks, one for each block of a tail of `R` registers: the index of the last one's last byte.
#[derive(Clone, Copy)]
pub(crate) struct Exponents<B, const R: usize>(usize, PhantomData<B>);

impl<B: Isa, const R: usize> Exponents<B, R> {
    /// Loads register `r` of the blocks. The row has as many blocks as the longest tail, and `BEHIND` more, which are
    /// loaded after those of the tail's last block.
    #[inline(always)]
    pub(crate) fn load<const BEHIND: usize, const N: usize>(self, b: B, row: &[Block; N], r: usize) -> B::V {
        const { assert!(BEHIND >= B::BLOCKS && N >= REGISTERS * B::BLOCKS + BEHIND) };
        assert!(r < R);
        let at = BLOCK * (N - BEHIND + r * B::BLOCKS) - 1;
        // SAFETY: a tail of `R` registers has more than `(R - 1) * BLOCKS` blocks, and at most `REGISTERS * BLOCKS`, which
        // the row has before `BEHIND` others. Its register `r` begins at most at the last of these.
        unsafe { b.load_from(row.as_ptr().cast::<u8>().add(at).sub(self.0)) }
    }
}

/// The chunks of a message.
pub(crate) struct Chunks<'a, B> {
    src: *const u8,
    dst: *mut u8,
    at: usize,
    end: usize,
    memory: PhantomData<(&'a mut [u8], B)>,
}

impl<'a, B: Isa> Iterator for Chunks<'a, B> {
    type Item = (usize, Chunk<'a, B, REGISTERS>);

    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        if self.at == self.end {
            return None;
        }
        let at = self.at;
        // SAFETY: the message has a whole chunk here, to read and to write.
        let chunk = unsafe { Chunk::new(self.src.wrapping_add(at), self.dst.wrapping_add(at)) };
        self.at += REGISTERS * BLOCK * B::BLOCKS;
        Some((at, chunk))
    }
}
