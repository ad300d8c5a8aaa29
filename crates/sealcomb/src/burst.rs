//! Bursts: messages under one key, with one slice per field.

use alloc::borrow::Cow;
use alloc::vec;
use core::fmt;
use core::mem::MaybeUninit;

use arrayvec::ArrayVec;

use crate::backend::{BLOCK, Block, Columns, FLIGHT, Tags, read_part, write_part};
use crate::batch::{Sizes, verdict};
use crate::engine::flights::{Flights, Results};
use crate::engine::{AssociatedData, Batch, Message, Schedule};
use crate::packet::Whole;
use crate::{BatchError, Error, Key, Kind, Opened, PacketLayout, Verdict};

/// Messages under one key, in columns: one slice each of nonces, additional data, buffers and tags, with one entry
/// per message, as in a ring of packets or a table.
///
/// A burst seals and opens in place, with the results of [`seal_jobs`](crate::seal_jobs) and
/// [`open_jobs`](crate::open_jobs). It avoids the construction of jobs, which takes a large part of the time for
/// short messages. A call takes 8 KiB more stack than one with jobs.
///
/// Entries are byte strings of any type, such as `[u8; 12]`, `&[u8]` or `Vec<u8>`. Use jobs for messages that are not
/// in place, and for algorithms with [longer ciphertexts](crate::Algorithm::expands).
///
/// ```
/// use sealcomb::{Algorithm, Burst, Key, Verdict};
///
/// let key = Key::new(Algorithm::AES_128_GCM, &[7; 16])?;
/// let nonces = [1u128, 2, 3].map(|n| <[u8; 12]>::try_from(&n.to_be_bytes()[4..]).unwrap());
/// let mut packets = [b"one".to_vec(), b"two".to_vec(), b"three".to_vec()];
/// let mut tags = [[0; 16]; 3];
///
/// let burst = Burst::new(&key, &nonces).aad(b"header");
/// burst.seal(&mut packets, &mut tags).unwrap();
///
/// tags[1][0] ^= 1;
/// let mut verdicts = [Verdict::Pending; 3];
/// assert_eq!(burst.open(&mut packets, &tags, &mut verdicts).unwrap().forged(), 1);
/// assert_eq!(verdicts, [Verdict::Verified, Verdict::Forged, Verdict::Verified]);
/// assert_eq!(packets, [b"one".to_vec(), vec![0; 3], b"three".to_vec()]);
/// # Ok::<(), sealcomb::Error>(())
/// ```
pub struct Burst<'a, N, A = [u8; 0]> {
    key: &'a Key,
    nonces: &'a [N],
    aads: Aads<'a, A>,
}

/// The additional data of the messages.
struct Aads<'a, A> {
    /// The additional data of all messages, unless each message has its own.
    all: &'a [u8],
    each: Option<&'a [A]>,
}

impl<A> Clone for Aads<'_, A> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<A> Copy for Aads<'_, A> {}

impl<'a, A: AsRef<[u8]>> Aads<'a, A> {
    /// Returns the additional data of the message with this index.
    #[inline(always)]
    fn at(self, index: usize) -> &'a [u8] {
        self.each.map_or(self.all, |each| each[index].as_ref())
    }
}

impl<'a, N: AsRef<[u8]>> Burst<'a, N> {
    /// Returns a burst under this key, with one nonce per message and no additional data.
    #[inline]
    pub fn new(key: &'a Key, nonces: &'a [N]) -> Self {
        Self { key, nonces, aads: Aads { all: &[], each: None } }
    }

    /// Sets the additional data that all messages share.
    #[inline]
    #[must_use]
    pub fn aad(self, aad: &'a [u8]) -> Self {
        Self { aads: Aads { all: aad, each: None }, ..self }
    }

    /// Sets the additional data of each message. For algorithms of [`Kind::Mac`](crate::Kind::Mac), these are the
    /// messages.
    ///
    /// ```
    /// use sealcomb::{Algorithm, Burst, Key};
    ///
    /// let key = Key::new(Algorithm::AES_128_CMAC, &[7; 16])?;
    /// let mut tags = [[0; 16]; 2];
    /// Burst::new(&key, &[[]; 2]).aads(&["one", "another"]).mac(&mut tags).unwrap();
    /// # Ok::<(), sealcomb::Error>(())
    /// ```
    #[inline]
    pub fn aads<A: AsRef<[u8]>>(self, aads: &'a [A]) -> Burst<'a, N, A> {
        Burst { key: self.key, nonces: self.nonces, aads: Aads { all: &[], each: Some(aads) } }
    }
}

impl<N: AsRef<[u8]>, A: AsRef<[u8]>> Burst<'_, N, A> {
    /// Encrypts all messages in place and writes their tags of [`Key::tag_bytes`] bytes each: 0 bytes if the
    /// algorithm is an unauthenticated cipher.
    ///
    /// # Errors
    /// A [`BatchError`] with the first message whose sizes the algorithm does not take. [`Error::UnevenColumns`],
    /// with the index of the first message that lacks an entry, if a column does not have one entry per message.
    /// [`Error::CiphertextIsLonger`] if the algorithm's ciphertexts are longer than their messages. Nothing was
    /// written to any message in these cases, unless [`AsMut::as_mut`] or [`AsRef::as_ref`] of an entry returns a
    /// slice of another length than before.
    pub fn seal<D: AsMut<[u8]>, T: AsMut<[u8]>>(
        &self,
        data: &mut [D],
        tags: &mut [T],
    ) -> Result<(), BatchError> {
        self.check_columns(data.len(), &[tags.len()])?;
        self.seal_all(Detached { data, tags })
    }

    /// Seals packets in place. Each packet contains its header, its message, and room for the tag where the combined form
    /// of the algorithm has it ([`Algorithm::tag_position`](crate::Algorithm::tag_position)): at the end, or for AES-SIV
    /// before the message. A header of `layout` replaces the additional data of the burst.
    ///
    /// ```
    /// use sealcomb::{Algorithm, Burst, Key, PacketLayout, Verdict};
    ///
    /// let key = Key::new(Algorithm::AES_128_GCM, &[7; 16])?;
    /// // Headers of 3 bytes, messages, and 16 bytes for the tag.
    /// let mut packets = [b"one: message".to_vec(), b"two: another message".to_vec()];
    /// packets.iter_mut().for_each(|packet| packet.extend([0; 16]));
    ///
    /// let burst = Burst::new(&key, &[[1; 12], [2; 12]]);
    /// burst.seal_packets(PacketLayout::header(3), &mut packets).unwrap();
    /// assert_eq!(&packets[0][..3], b"one");
    /// assert_ne!(&packets[0][3..12], b": message");
    ///
    /// let mut verdicts = [Verdict::Pending; 2];
    /// burst.open_packets(PacketLayout::header(3), &mut packets, &mut verdicts).unwrap().all_verified().unwrap();
    /// assert_eq!(&packets[0][..12], b"one: message");
    /// # Ok::<(), sealcomb::Error>(())
    /// ```
    ///
    /// # Errors
    /// The errors of [`Burst::seal`], in the same cases, and [`Error::PacketTooShort`] for a packet that is shorter than its
    /// header, what follows it, and a tag.
    pub fn seal_packets<P: AsMut<[u8]>>(
        &self,
        layout: PacketLayout,
        packets: &mut [P],
    ) -> Result<(), BatchError> {
        self.check_columns(packets.len(), &[])?;
        let whole = layout.with_tag(self.key);
        if layout.has_header() {
            self.seal_all(Packets::<_, true> { packets, whole })
        } else {
            self.seal_all(Packets::<_, false> { packets, whole })
        }
    }

    /// Seals messages whose columns have been checked.
    #[inline(always)]
    fn seal_all<B: Sealing>(&self, mut buffers: B) -> Result<(), BatchError> {
        if buffers.len() > FLIGHT {
            self.check_all::<B>(buffers.entries())?;
        }
        let mut first = 0;
        while buffers.len() > 0 {
            let together = FLIGHT.min(buffers.len());
            let (mut flight, later) = buffers.split(together);
            self.seal_flight(first, &mut flight)?;
            (first, buffers) = (first + FLIGHT, later);
        }
        Ok(())
    }

    /// Seals up to a flight of messages, the first of which has this index.
    #[inline(always)]
    fn seal_flight<B: Sealing>(&self, first: usize, buffers: &mut B) -> Result<(), BatchError> {
        if let Some(flights) = self.flights(false, buffers.len())
            && self.seal_columns(flights, first, buffers)?
        {
            return Ok(());
        }
        self.seal_messages(first, buffers)
    }

    /// Returns how this number of messages is processed in columns, if that is better.
    #[inline(always)]
    fn flights(&self, opens: bool, messages: usize) -> Option<Flights> {
        let flights = self.key.algorithm().code().flights(opens)?;
        (flights.takes)(self.key.backend(), messages).then_some(flights)
    }

    /// Seals a flight in columns. Returns whether it did: the mode does not if the lengths of the nonces differ. A
    /// separate function, so that the columns and the messages are not on the stack together.
    #[inline(never)]
    fn seal_columns<B: Sealing>(
        &self,
        flights: Flights,
        first: usize,
        buffers: &mut B,
    ) -> Result<bool, BatchError> {
        let (mut columns, mut computed) = (Columns::new(), Tags::new());
        self.fill_columns::<B>(first, &mut columns, buffers.entries(), |_| ())?;
        let (backend, key) = (self.key.backend(), self.key.material());
        let sealed = (flights.run)(
            backend,
            key,
            &mut columns,
            &mut Results::Write { tags: &mut computed, received: &[] },
        );
        buffers.write(computed.get());
        Ok(sealed)
    }

    /// Does the same for modes that do not take columns.
    #[inline(never)]
    fn seal_messages<B: Sealing>(&self, first: usize, buffers: &mut B) -> Result<(), BatchError> {
        let mut computed = ArrayVec::<Block, FLIGHT>::new();
        let (mut places, mut messages) = (PLACES, Messages::new());
        self.fill::<B>(first, &mut places, &mut messages, buffers.entries(), |_| [0; BLOCK])?;
        self.key.algorithm().code().seal(&mut self.batch(&mut messages));
        computed.extend(messages.iter().map(|message| message.tag));
        drop(messages);
        buffers.write(&computed);
        Ok(())
    }

    /// Opens all messages in place, writes a verdict for each, and returns how many are forged. Forged messages are
    /// zeroed. The results of the other messages do not depend on them.
    ///
    /// `Ok` means that every message was processed, not that it is authentic: see [`Opened`].
    ///
    /// # Errors
    /// The errors of [`Burst::seal`]. Nothing was written to any message or verdict in these cases.
    pub fn open<D: AsMut<[u8]>, T: AsRef<[u8]>>(
        &self,
        data: &mut [D],
        tags: &[T],
        verdicts: &mut [Verdict],
    ) -> Result<Opened, BatchError> {
        self.check_columns(data.len(), &[tags.len(), verdicts.len()])?;
        self.open_all(Received { data, tags }, verdicts)
    }

    /// Opens packets in place, see [`Burst::seal_packets`]. The messages of forged packets are zeroed; headers and tags are
    /// never changed.
    ///
    /// # Errors
    /// The errors of [`Burst::seal_packets`]. Nothing was written to any packet or verdict in these cases. Check the
    /// lengths of received packets first.
    pub fn open_packets<P: AsMut<[u8]>>(
        &self,
        layout: PacketLayout,
        packets: &mut [P],
        verdicts: &mut [Verdict],
    ) -> Result<Opened, BatchError> {
        self.check_columns(packets.len(), &[verdicts.len()])?;
        let whole = layout.with_tag(self.key);
        if layout.has_header() {
            self.open_all(Packets::<_, true> { packets, whole }, verdicts)
        } else {
            self.open_all(Packets::<_, false> { packets, whole }, verdicts)
        }
    }

    /// Opens messages whose columns have been checked.
    #[inline(always)]
    fn open_all<B: Buffers>(&self, mut buffers: B, verdicts: &mut [Verdict]) -> Result<Opened, BatchError> {
        let messages = buffers.len();
        if messages > FLIGHT {
            self.check_all::<B>(buffers.entries())?;
        }
        let (mut first, mut forged, mut verdicts) = (0, 0, verdicts);
        while buffers.len() > 0 {
            let together = FLIGHT.min(buffers.len());
            let (mut flight, later) = buffers.split(together);
            let (places, later_verdicts) = verdicts.split_at_mut(together);
            forged += self.open_flight(first, &mut flight, places)?;
            (first, buffers, verdicts) = (first + FLIGHT, later, later_verdicts);
        }
        Ok(Opened::under(self.key, messages, forged))
    }

    /// Opens up to a flight of messages, the first of which has this index. Returns the number of forged messages.
    #[inline(always)]
    fn open_flight<B: Buffers>(
        &self,
        first: usize,
        buffers: &mut B,
        verdicts: &mut [Verdict],
    ) -> Result<usize, BatchError> {
        if let Some(flights) = self.flights(true, buffers.len())
            && let Some(forged) = self.open_columns(flights, first, buffers, verdicts)?
        {
            return Ok(forged);
        }
        self.open_messages(first, buffers, verdicts)
    }

    /// Opens a flight in columns. Returns the number of forged messages, or `None` if it did nothing, like
    /// [`Burst::seal_columns`].
    #[inline(never)]
    fn open_columns<B: Buffers>(
        &self,
        flights: Flights,
        first: usize,
        buffers: &mut B,
        verdicts: &mut [Verdict],
    ) -> Result<Option<usize>, BatchError> {
        let (mut columns, mut received) = (Columns::new(), ArrayVec::<Block, FLIGHT>::new());
        // Each tag is read once: a second `as_ref` could return fewer bytes to compare.
        let read = |tag: &[u8]| received.push(read_part(tag));
        self.fill_columns::<B>(first, &mut columns, buffers.entries(), read)?;
        let (backend, key) = (self.key.backend(), self.key.material());
        let mut results = Results::Compare { received: &received, bytes: key.tag_bytes, forged: 0 };
        if !(flights.run)(backend, key, &mut columns, &mut results) {
            return Ok(None);
        }
        let forged = results.forged();
        verdicts.fill(if self.key.algorithm().kind() == Kind::Cipher {
            Verdict::Unauthenticated
        } else {
            Verdict::Verified
        });
        if forged != 0 {
            columns.wipe(forged);
            for (i, verdict) in verdicts.iter_mut().enumerate() {
                if forged >> i & 1 == 1 {
                    *verdict = Verdict::Forged;
                }
            }
        }
        Ok(Some(forged.count_ones() as usize))
    }

    /// Does the same for modes that do not take columns.
    #[inline(never)]
    fn open_messages<B: Buffers>(
        &self,
        first: usize,
        buffers: &mut B,
        verdicts: &mut [Verdict],
    ) -> Result<usize, BatchError> {
        let (algorithm, tag_bytes) = (self.key.algorithm(), self.key.tag_bytes());
        let (mut places, mut messages) = (PLACES, Messages::new());
        // Each tag is read once: a second `as_ref` could return fewer bytes to compare.
        let mut received = ArrayVec::<Block, FLIGHT>::new();
        self.fill::<B>(first, &mut places, &mut messages, buffers.entries(), |tag| {
            let tag = read_part(tag);
            received.push(tag);
            tag
        })?;
        algorithm.code().open(&mut self.batch(&mut messages));
        let mut forged = 0;
        for ((message, tag), place) in messages.iter_mut().zip(received).zip(verdicts) {
            *place = verdict(algorithm.kind(), message, &tag[..tag_bytes]);
            forged += usize::from(*place == Verdict::Forged);
        }
        Ok(forged)
    }

    /// Computes the tags of the messages set by [`Burst::aads`], for algorithms of [`Kind::Mac`](crate::Kind::Mac).
    ///
    /// # Errors
    /// The errors of [`Burst::seal`]. No tag was written in these cases.
    #[inline]
    pub fn mac<T: AsMut<[u8]>>(&self, tags: &mut [T]) -> Result<(), BatchError> {
        // A vector of empty arrays allocates nothing.
        self.seal(&mut vec![[]; tags.len()], tags)
    }

    /// Verifies the tags of the messages set by [`Burst::aads`], writes a verdict for each, and returns how many are
    /// forged.
    ///
    /// # Errors
    /// The errors of [`Burst::seal`]. No verdict was written in these cases.
    #[inline]
    pub fn verify<T: AsRef<[u8]>>(&self, tags: &[T], verdicts: &mut [Verdict]) -> Result<Opened, BatchError> {
        self.open(&mut vec![[]; tags.len()], tags, verdicts)
    }

    /// Checks whether every column has exactly one entry per message.
    fn check_columns(&self, messages: usize, columns: &[usize]) -> Result<(), BatchError> {
        let aads = self.aads.each.map_or(messages, <[A]>::len);
        match [self.nonces.len(), aads].iter().chain(columns).find(|&&entries| entries != messages) {
            Some(&got) => {
                Err(BatchError { index: messages.min(got), error: Error::UnevenColumns { messages, got } })
            }
            None if self.key.algorithm().expands() => {
                Err(BatchError { index: 0, error: Error::CiphertextIsLonger })
            }
            None => Ok(()),
        }
    }

    /// Checks the sizes of all messages. A burst of one flight does not need this: nothing is written before all of its
    /// messages are filled in.
    #[inline(always)]
    fn check_all<'m, B: Buffers>(
        &'m self,
        entries: impl Iterator<Item = Result<Entry<'m>, Error>>,
    ) -> Result<(), BatchError> {
        let sizes = Sizes::of(self.key);
        self.nonces
            .iter()
            .zip(entries)
            .enumerate()
            .try_for_each(|(index, (nonce, entry))| self.checked::<B>(sizes, index, nonce, entry).map(|_| ()))
    }

    /// Checks the sizes of a message. Returns its nonce, and its entry with its additional data.
    #[inline(always)]
    fn checked<'m, B: Buffers>(
        &'m self,
        sizes: Sizes<'_>,
        index: usize,
        nonce: &'m N,
        entry: Result<Entry<'m>, Error>,
    ) -> Result<(&'m [u8], &'m [u8], Entry<'m>), BatchError> {
        let nonce = nonce.as_ref();
        let checked = entry.and_then(|entry| {
            let aad = if B::HAS_AADS { entry.aad } else { self.aads.at(index) };
            sizes.check(nonce.len(), entry.tag.len(), aad.len(), entry.data.len())?;
            Ok((nonce, aad, entry))
        });
        checked.map_err(|error| BatchError { index, error })
    }

    /// Checks and fills in the messages of a flight that starts with the message of index `first`, given their buffers
    /// and, for each tag, what the message has as its tag.
    #[inline(always)]
    fn fill<'m, B: Buffers>(
        &'m self,
        first: usize,
        places: &'m mut Places<'m>,
        messages: &mut Messages<'m>,
        entries: impl Iterator<Item = Result<Entry<'m>, Error>>,
        mut tag_of: impl FnMut(&[u8]) -> Block,
    ) -> Result<(), BatchError> {
        let (sizes, key) = (Sizes::of(self.key), self.key.material());
        let nonces = self.nonces[first..].iter().enumerate();
        for ((place, (i, nonce)), entry) in places.iter_mut().zip(nonces).zip(entries) {
            let (nonce, aad, Entry { data, tag, .. }) = self.checked::<B>(sizes, first + i, nonce, entry)?;
            let (aad, bytes) = (AssociatedData::One(Cow::Borrowed(aad)), data.len());
            messages.push(place.write(Message {
                key,
                nonce,
                aad,
                data: data.into(),
                bytes,
                tag: tag_of(tag),
            }));
        }
        Ok(())
    }

    /// Checks and fills in the messages of a flight like [`Burst::fill`], in columns. Passes their tags to `read`.
    #[inline(always)]
    fn fill_columns<'m, B: Buffers>(
        &'m self,
        first: usize,
        columns: &mut Columns<'m>,
        entries: impl Iterator<Item = Result<Entry<'m>, Error>>,
        mut read: impl FnMut(&[u8]),
    ) -> Result<(), BatchError> {
        let sizes = Sizes::of(self.key);
        let nonces = self.nonces[first..].iter().enumerate();
        let shared = if B::HAS_AADS || self.aads.each.is_some() { None } else { Some(self.aads.all) };
        columns.fill(
            shared,
            nonces.zip(entries).map(|((i, nonce), entry)| {
                let (nonce, aad, Entry { data, tag, .. }) =
                    self.checked::<B>(sizes, first + i, nonce, entry)?;
                read(tag);
                Ok((nonce, aad, data.into()))
            }),
        )
    }

    #[inline(always)]
    fn batch<'b, 'm>(&self, messages: &'b mut Messages<'m>) -> Batch<'b, 'm, 'm> {
        Batch { backend: self.key.backend(), schedule: Schedule::Auto, messages }
    }
}

impl<N, A> fmt::Debug for Burst<'_, N, A> {
    /// Writes the key's algorithm and backend and the number of messages.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Burst").field("key", self.key).field("messages", &self.nonces.len()).finish()
    }
}

const _: fn() = || {
    fn shareable<T: Send + Sync>() {}
    shareable::<Burst<'_, [u8; 12], [u8; 8]>>();
};

/// A message of a burst.
struct Entry<'m> {
    /// The additional data, if [`Buffers::HAS_AADS`].
    aad: &'m [u8],
    data: &'m mut [u8],
    /// The tag, or the room for it.
    tag: &'m [u8],
}

/// The buffers of messages.
trait Buffers: Sized {
    /// Whether the additional data is in the buffers.
    const HAS_AADS: bool;

    fn len(&self) -> usize;

    /// Returns the first `count` messages, and the others.
    fn split(self, count: usize) -> (Self, Self);

    fn entries(&mut self) -> impl Iterator<Item = Result<Entry<'_>, Error>>;
}

/// Buffers to which tags are written.
trait Sealing: Buffers {
    fn write(&mut self, tags: &[Block]);
}

/// Messages to seal, whose tags are apart.
struct Detached<'m, D, T> {
    data: &'m mut [D],
    tags: &'m mut [T],
}

impl<D: AsMut<[u8]>, T: AsMut<[u8]>> Buffers for Detached<'_, D, T> {
    const HAS_AADS: bool = false;

    #[inline(always)]
    fn len(&self) -> usize {
        self.data.len()
    }

    #[inline(always)]
    fn split(self, count: usize) -> (Self, Self) {
        let (data, tags) = (self.data.split_at_mut(count), self.tags.split_at_mut(count));
        (Self { data: data.0, tags: tags.0 }, Self { data: data.1, tags: tags.1 })
    }

    #[inline(always)]
    fn entries(&mut self) -> impl Iterator<Item = Result<Entry<'_>, Error>> {
        let entries = self.data.iter_mut().zip(&mut *self.tags);
        entries.map(|(data, tag)| Ok(Entry { aad: &[], data: data.as_mut(), tag: tag.as_mut() }))
    }
}

impl<D: AsMut<[u8]>, T: AsMut<[u8]>> Sealing for Detached<'_, D, T> {
    #[inline(always)]
    fn write(&mut self, tags: &[Block]) {
        for (computed, tag) in tags.iter().zip(&mut *self.tags) {
            write_part(computed, tag.as_mut());
        }
    }
}

/// Messages to open, whose tags are apart.
struct Received<'m, D, T> {
    data: &'m mut [D],
    tags: &'m [T],
}

impl<D: AsMut<[u8]>, T: AsRef<[u8]>> Buffers for Received<'_, D, T> {
    const HAS_AADS: bool = false;

    #[inline(always)]
    fn len(&self) -> usize {
        self.data.len()
    }

    #[inline(always)]
    fn split(self, count: usize) -> (Self, Self) {
        let (data, tags) = (self.data.split_at_mut(count), self.tags.split_at(count));
        (Self { data: data.0, tags: tags.0 }, Self { data: data.1, tags: tags.1 })
    }

    #[inline(always)]
    fn entries(&mut self) -> impl Iterator<Item = Result<Entry<'_>, Error>> {
        let entries = self.data.iter_mut().zip(self.tags);
        entries.map(|(data, tag)| Ok(Entry { aad: &[], data: data.as_mut(), tag: tag.as_ref() }))
    }
}

/// Packets, which contain their tags, and their additional data if `HEADER`.
struct Packets<'m, P, const HEADER: bool> {
    packets: &'m mut [P],
    whole: Whole,
}

impl<P: AsMut<[u8]>, const HEADER: bool> Buffers for Packets<'_, P, HEADER> {
    const HAS_AADS: bool = HEADER;

    #[inline(always)]
    fn len(&self) -> usize {
        self.packets.len()
    }

    #[inline(always)]
    fn split(self, count: usize) -> (Self, Self) {
        let (first, others) = self.packets.split_at_mut(count);
        (Self { packets: first, ..self }, Self { packets: others, whole: self.whole })
    }

    #[inline(always)]
    fn entries(&mut self) -> impl Iterator<Item = Result<Entry<'_>, Error>> {
        let whole = self.whole;
        self.packets.iter_mut().map(move |packet| {
            let (aad, data, tag) = whole.parts(packet.as_mut())?;
            Ok(Entry { aad, data, tag })
        })
    }
}

impl<P: AsMut<[u8]>, const HEADER: bool> Sealing for Packets<'_, P, HEADER> {
    #[inline(always)]
    fn write(&mut self, tags: &[Block]) {
        for (computed, packet) in tags.iter().zip(&mut *self.packets) {
            if let Ok((_, _, tag)) = self.whole.parts(packet.as_mut()) {
                write_part(computed, tag);
            }
        }
    }
}

/// Memory for the messages of a flight. It drops none of them: what they borrow needs no drop.
pub(crate) type Places<'a> = [MaybeUninit<Message<'a>>; FLIGHT];

pub(crate) const PLACES: Places<'_> = [const { MaybeUninit::uninit() }; FLIGHT];

/// The messages of a flight, filled through a reference: returning the vector by value would copy its whole capacity.
pub(crate) type Messages<'a> = ArrayVec<&'a mut Message<'a>, FLIGHT>;
