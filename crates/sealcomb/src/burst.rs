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
use crate::{BatchError, Error, Key, Kind, Opened, Verdict};

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
        if data.len() > FLIGHT {
            let sizes = data.iter_mut().zip(&mut *tags);
            self.check_all(sizes.map(|(data, tag)| (data.as_mut().len(), tag.as_mut().len())))?;
        }
        let (mut first, mut data, mut tags) = (0, data, tags);
        while !data.is_empty() {
            let messages = FLIGHT.min(data.len());
            let (flight, later) = data.split_at_mut(messages);
            let (places, later_tags) = tags.split_at_mut(messages);
            self.seal_flight(first, flight, places)?;
            (first, data, tags) = (first + FLIGHT, later, later_tags);
        }
        Ok(())
    }

    /// Seals up to a flight of messages, the first of which has this index.
    #[inline(always)]
    fn seal_flight<D: AsMut<[u8]>, T: AsMut<[u8]>>(
        &self,
        first: usize,
        data: &mut [D],
        tags: &mut [T],
    ) -> Result<(), BatchError> {
        if let Some(flights) = self.key.algorithm().code().flights(false)
            && self.seal_columns(flights, first, data, tags)?
        {
            return Ok(());
        }
        self.seal_messages(first, data, tags)
    }

    /// Seals a flight in columns. Returns whether it did: the mode does not if the lengths of the nonces differ. A
    /// separate function, so that the columns and the messages are not on the stack together.
    #[inline(never)]
    fn seal_columns<D: AsMut<[u8]>, T: AsMut<[u8]>>(
        &self,
        flights: Flights,
        first: usize,
        data: &mut [D],
        tags: &mut [T],
    ) -> Result<bool, BatchError> {
        let (mut columns, mut computed) = (Columns::new(), Tags::new());
        let entries = data.iter_mut().zip(&mut *tags);
        let entries = entries.map(|(data, tag)| (data.as_mut(), tag.as_mut().len()));
        self.fill_columns(first, &mut columns, entries)?;
        let (backend, key) = (self.key.backend(), self.key.material());
        let sealed = (flights.run)(backend, key, &mut columns, &mut Results::Write(&mut computed));
        for (computed, tag) in computed.get().iter().zip(tags) {
            write_part(computed, tag.as_mut());
        }
        Ok(sealed)
    }

    /// Does the same for modes that do not take columns.
    #[inline(never)]
    fn seal_messages<D: AsMut<[u8]>, T: AsMut<[u8]>>(
        &self,
        first: usize,
        data: &mut [D],
        tags: &mut [T],
    ) -> Result<(), BatchError> {
        let (mut places, mut messages) = (PLACES, Messages::new());
        let entries = data.iter_mut().zip(&mut *tags);
        let entries = entries.map(|(data, tag)| (data.as_mut(), tag.as_mut().len(), [0; BLOCK]));
        self.fill(first, &mut places, &mut messages, entries)?;
        self.key.algorithm().code().seal(&mut self.batch(&mut messages));
        for (message, tag) in messages.iter().zip(tags) {
            write_part(&message.tag, tag.as_mut());
        }
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
        let messages = data.len();
        if data.len() > FLIGHT {
            let sizes = data.iter_mut().zip(tags);
            self.check_all(sizes.map(|(data, tag)| (data.as_mut().len(), tag.as_ref().len())))?;
        }
        let (mut first, mut data, mut tags, mut verdicts) = (0, data, tags, verdicts);
        let mut forged = 0;
        while !data.is_empty() {
            let together = FLIGHT.min(data.len());
            let (flight, later) = data.split_at_mut(together);
            let (received, later_tags) = tags.split_at(together);
            let (places, later_verdicts) = verdicts.split_at_mut(together);
            forged += self.open_flight(first, flight, received, places)?;
            (first, data, tags, verdicts) = (first + FLIGHT, later, later_tags, later_verdicts);
        }
        Ok(Opened::under(self.key, messages, forged))
    }

    /// Opens up to a flight of messages, the first of which has this index. Returns the number of forged messages.
    #[inline(always)]
    fn open_flight<D: AsMut<[u8]>, T: AsRef<[u8]>>(
        &self,
        first: usize,
        data: &mut [D],
        tags: &[T],
        verdicts: &mut [Verdict],
    ) -> Result<usize, BatchError> {
        if let Some(flights) = self.key.algorithm().code().flights(true)
            && let Some(forged) = self.open_columns(flights, first, data, tags, verdicts)?
        {
            return Ok(forged);
        }
        self.open_messages(first, data, tags, verdicts)
    }

    /// Opens a flight in columns. Returns the number of forged messages, or `None` if it did nothing, like
    /// [`Burst::seal_columns`].
    #[inline(never)]
    fn open_columns<D: AsMut<[u8]>, T: AsRef<[u8]>>(
        &self,
        flights: Flights,
        first: usize,
        data: &mut [D],
        tags: &[T],
        verdicts: &mut [Verdict],
    ) -> Result<Option<usize>, BatchError> {
        let (mut columns, mut received) = (Columns::new(), ArrayVec::<Block, FLIGHT>::new());
        // Each tag is read once: a second `as_ref` could return fewer bytes to compare.
        let entries = data.iter_mut().zip(tags).map(|(data, tag)| {
            let tag = tag.as_ref();
            received.push(read_part(tag));
            (data.as_mut(), tag.len())
        });
        self.fill_columns(first, &mut columns, entries)?;
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
    fn open_messages<D: AsMut<[u8]>, T: AsRef<[u8]>>(
        &self,
        first: usize,
        data: &mut [D],
        tags: &[T],
        verdicts: &mut [Verdict],
    ) -> Result<usize, BatchError> {
        let algorithm = self.key.algorithm();
        let (mut places, mut messages) = (PLACES, Messages::new());
        // Each tag is read once: a second `as_ref` could return fewer bytes to compare.
        let mut received = ArrayVec::<&[u8], FLIGHT>::new();
        received.extend(tags.iter().map(AsRef::as_ref));
        let entries = data.iter_mut().zip(&received);
        let entries = entries.map(|(data, tag)| (data.as_mut(), tag.len(), read_part(tag)));
        self.fill(first, &mut places, &mut messages, entries)?;
        algorithm.code().open(&mut self.batch(&mut messages));
        let mut forged = 0;
        for ((message, tag), place) in messages.iter_mut().zip(received).zip(verdicts) {
            *place = verdict(algorithm.kind(), message, tag);
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

    /// Checks the sizes of all messages, given those of their data and tags. A burst of one flight does not need
    /// this: nothing is written before all of its messages are filled in.
    #[inline(always)]
    fn check_all(&self, entries: impl Iterator<Item = (usize, usize)>) -> Result<(), BatchError> {
        let sizes = Sizes::of(self.key);
        let nonces = self.nonces.iter().enumerate();
        nonces.zip(entries).try_for_each(|((index, nonce), (bytes, tag_bytes))| {
            sizes
                .check(nonce.as_ref().len(), tag_bytes, self.aads.at(index).len(), bytes)
                .map_err(|error| BatchError { index, error })
        })
    }

    /// Checks and fills in the messages of a flight that starts with the message of index `first`, given their data,
    /// the lengths of their tags, and what the messages have as tags.
    #[inline(always)]
    fn fill<'m>(
        &'m self,
        first: usize,
        places: &'m mut Places<'m>,
        messages: &mut Messages<'m>,
        entries: impl Iterator<Item = (&'m mut [u8], usize, Block)>,
    ) -> Result<(), BatchError> {
        let (sizes, key, aads) = (Sizes::of(self.key), self.key.material(), self.aads);
        let nonces = self.nonces[first..].iter().enumerate();
        for ((place, (i, nonce)), (data, tag_bytes, tag)) in places.iter_mut().zip(nonces).zip(entries) {
            let (index, nonce, bytes) = (first + i, nonce.as_ref(), data.len());
            let aad = aads.at(index);
            if let Err(error) = sizes.check(nonce.len(), tag_bytes, aad.len(), bytes) {
                return Err(BatchError { index, error });
            }
            let aad = AssociatedData::One(Cow::Borrowed(aad));
            messages.push(place.write(Message { key, nonce, aad, data: data.into(), bytes, tag }));
        }
        Ok(())
    }

    /// Checks and fills in the messages of a flight like [`Burst::fill`], in columns.
    #[inline(always)]
    fn fill_columns<'m>(
        &'m self,
        first: usize,
        columns: &mut Columns<'m>,
        entries: impl Iterator<Item = (&'m mut [u8], usize)>,
    ) -> Result<(), BatchError> {
        let (sizes, aads) = (Sizes::of(self.key), self.aads);
        let nonces = self.nonces[first..].iter().enumerate();
        let shared = if aads.each.is_none() { Some(aads.all) } else { None };
        columns.fill(
            shared,
            nonces.zip(entries).map(|((i, nonce), (data, tag_bytes))| {
                let (index, nonce) = (first + i, nonce.as_ref());
                let aad = aads.at(index);
                match sizes.check(nonce.len(), tag_bytes, aad.len(), data.len()) {
                    Ok(()) => Ok((nonce, aad, data.into())),
                    Err(error) => Err(BatchError { index, error }),
                }
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

/// Memory for the messages of a flight. It drops none of them: what they borrow needs no drop.
pub(crate) type Places<'a> = [MaybeUninit<Message<'a>>; FLIGHT];

pub(crate) const PLACES: Places<'_> = [const { MaybeUninit::uninit() }; FLIGHT];

/// The messages of a flight, filled through a reference: returning the vector by value would copy its whole capacity.
pub(crate) type Messages<'a> = ArrayVec<&'a mut Message<'a>, FLIGHT>;
