//! Many messages under one key, in columns.

use alloc::borrow::Cow;
use alloc::vec;

use arrayvec::ArrayVec;

use crate::backend::{read_part, write_part};
use crate::batch::{check, verdict};
use crate::engine::{AssociatedData, Batch, Message, Schedule};
use crate::{BatchError, Error, Key, Verdict};

/// Messages that are laid out together. Fewer than of jobs: they are on the stack.
const FLIGHT: usize = 64;

/// Messages under one key, in columns: each of their nonces, additional data, buffers and tags is a slice that has an entry a
/// message, as a ring of packets or a table has them anyway.
///
/// It does what [`seal_batch`](crate::seal_batch) and [`open_batch`](crate::open_batch) do with jobs, in place and for one key,
/// and spares what it takes to write the jobs and to read them: for short messages a good part of the time. A call takes 8 KiB of
/// stack more than with jobs.
///
/// An entry is whatever has bytes to lend: `[u8; 12]`, `&[u8]`, `Vec<u8>`. Messages whose ciphertexts are longer than they are
/// ([`Algorithm::expands`](crate::Algorithm::expands)), and those that don't stay in place, take jobs.
///
/// ```
/// use sealcomb::{Algorithm, Burst, Key, Verdict};
///
/// let key = Key::new(Algorithm::by_id("aes128-gcm")?, &[7; 16])?;
/// let nonces = [1u128, 2, 3].map(|n| <[u8; 12]>::try_from(&n.to_be_bytes()[4..]).unwrap());
/// let mut packets = [b"one".to_vec(), b"two".to_vec(), b"three".to_vec()];
/// let mut tags = [[0; 16]; 3];
///
/// let burst = Burst::new(&key, &nonces).aad(b"header");
/// burst.seal(&mut packets, &mut tags).unwrap();
///
/// tags[1][0] ^= 1;
/// let mut verdicts = [Verdict::Pending; 3];
/// assert_eq!(burst.open(&mut packets, &tags, &mut verdicts), Ok(1));
/// assert_eq!(verdicts, [Verdict::Verified, Verdict::Forged, Verdict::Verified]);
/// assert_eq!(packets, [b"one".to_vec(), vec![0; 3], b"three".to_vec()]);
/// # Ok::<(), sealcomb::Error>(())
/// ```
pub struct Burst<'a, N, A = [u8; 0]> {
    key: &'a Key,
    nonces: &'a [N],
    aads: Aads<'a, A>,
}

/// Additional data of the messages.
enum Aads<'a, A> {
    All(&'a [u8]),
    Each(&'a [A]),
}

impl<'a, N: AsRef<[u8]>> Burst<'a, N> {
    /// Messages under this key, with these nonces and no additional data.
    #[inline]
    pub fn new(key: &'a Key, nonces: &'a [N]) -> Self {
        Self { key, nonces, aads: Aads::All(&[]) }
    }

    /// The same additional data for all of them.
    #[inline]
    #[must_use]
    pub fn aad(self, aad: &'a [u8]) -> Self {
        Self { aads: Aads::All(aad), ..self }
    }

    /// Additional data for each of them; for the algorithms of [`Kind::Mac`](crate::Kind::Mac), the messages.
    ///
    /// ```
    /// use sealcomb::{Algorithm, Burst, Key};
    ///
    /// let key = Key::new(Algorithm::by_id("aes128-cmac")?, &[7; 16])?;
    /// let mut tags = [[0; 16]; 2];
    /// Burst::new(&key, &[[]; 2]).aads(&["one", "another"]).mac(&mut tags).unwrap();
    /// # Ok::<(), sealcomb::Error>(())
    /// ```
    #[inline]
    pub fn aads<A: AsRef<[u8]>>(self, aads: &'a [A]) -> Burst<'a, N, A> {
        Burst { key: self.key, nonces: self.nonces, aads: Aads::Each(aads) }
    }
}

impl<N: AsRef<[u8]>, A: AsRef<[u8]>> Burst<'_, N, A> {
    /// Encrypts all messages where they are and writes their tags, each of [`Key::tag_bytes`] bytes: none, where the
    /// algorithm is a bare cipher.
    ///
    /// # Errors
    /// The first message whose sizes the algorithm doesn't take; [`Error::UnevenColumns`] with the first that not every column
    /// has; [`Error::CiphertextIsLonger`] where the algorithm takes jobs. Nothing was written then, to no message.
    pub fn seal<D: AsMut<[u8]>, T: AsMut<[u8]>>(
        &self,
        data: &mut [D],
        tags: &mut [T],
    ) -> Result<(), BatchError> {
        self.check_columns(data.len(), &[tags.len()])?;
        for (index, (data, tag)) in data.iter_mut().zip(&mut *tags).enumerate() {
            self.check(index, data.as_mut().len(), tag.as_mut().len())?;
        }
        let code = self.key.algorithm().code;
        for (flight, (data, tags)) in data.chunks_mut(FLIGHT).zip(tags.chunks_mut(FLIGHT)).enumerate() {
            let mut messages = Messages::new();
            self.fill(&mut messages, flight * FLIGHT, data);
            fly(self.key, &mut messages, |batch| code.seal(batch));
            for (message, tag) in messages.iter().zip(tags) {
                write_part(&message.tag, tag.as_mut());
            }
        }
        Ok(())
    }

    /// Decrypts all messages where they are, writes the verdict on each, and returns how many were forged. Those are zeroed;
    /// their neighbours aren't touched by it.
    ///
    /// # Errors
    /// As [`Burst::seal`].
    pub fn open<D: AsMut<[u8]>, T: AsRef<[u8]>>(
        &self,
        data: &mut [D],
        tags: &[T],
        verdicts: &mut [Verdict],
    ) -> Result<usize, BatchError> {
        self.check_columns(data.len(), &[tags.len(), verdicts.len()])?;
        for (index, (data, tag)) in data.iter_mut().zip(tags).enumerate() {
            self.check(index, data.as_mut().len(), tag.as_ref().len())?;
        }
        let code = self.key.algorithm().code;
        let results = tags.chunks(FLIGHT).zip(verdicts.chunks_mut(FLIGHT));
        let mut forged = 0;
        for (flight, (data, (tags, verdicts))) in data.chunks_mut(FLIGHT).zip(results).enumerate() {
            let mut messages = Messages::new();
            self.fill(&mut messages, flight * FLIGHT, data);
            for (message, tag) in messages.iter_mut().zip(tags) {
                message.tag = read_part(tag.as_ref());
            }
            fly(self.key, &mut messages, |batch| code.open(batch));
            for ((message, tag), place) in messages.iter_mut().zip(tags).zip(verdicts) {
                *place = verdict(self.key, message, tag.as_ref());
                forged += usize::from(*place == Verdict::Forged);
            }
        }
        Ok(forged)
    }

    /// Computes the tags of messages that aren't encrypted, for the algorithms of [`Kind::Mac`](crate::Kind::Mac).
    ///
    /// # Errors
    /// As [`Burst::seal`].
    #[inline]
    pub fn mac<T: AsMut<[u8]>>(&self, tags: &mut [T]) -> Result<(), BatchError> {
        // These take no memory.
        self.seal(&mut vec![[]; tags.len()], tags)
    }

    /// Verifies the tags of messages that aren't encrypted, writes the verdict on each, and returns how many were forged.
    ///
    /// # Errors
    /// As [`Burst::seal`].
    #[inline]
    pub fn verify<T: AsRef<[u8]>>(&self, tags: &[T], verdicts: &mut [Verdict]) -> Result<usize, BatchError> {
        self.open(&mut vec![[]; tags.len()], tags, verdicts)
    }

    /// Finds out whether every column has an entry for each message, and no other.
    fn check_columns(&self, messages: usize, columns: &[usize]) -> Result<(), BatchError> {
        let aads = match self.aads {
            Aads::All(_) => messages,
            Aads::Each(aads) => aads.len(),
        };
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

    /// Finds out whether a message's sizes are in order.
    #[inline(always)]
    fn check(&self, index: usize, bytes: usize, tag_bytes: usize) -> Result<(), BatchError> {
        check(self.key, self.nonce_at(index), tag_bytes, self.aad_at(index).len(), bytes)
            .map_err(|error| BatchError { index, error })
    }

    #[inline(always)]
    fn nonce_at(&self, index: usize) -> &[u8] {
        self.nonces[index].as_ref()
    }

    #[inline(always)]
    fn aad_at(&self, index: usize) -> &[u8] {
        match self.aads {
            Aads::All(aad) => aad,
            Aads::Each(aads) => aads[index].as_ref(),
        }
    }

    /// Fills in the messages of a flight, the first of which has this index.
    #[inline(always)]
    fn fill<'m, D: AsMut<[u8]>>(&'m self, messages: &mut Messages<'m>, first: usize, data: &'m mut [D]) {
        for (i, data) in data.iter_mut().enumerate() {
            let data = data.as_mut();
            messages.push(Message {
                key: self.key.material(),
                nonce: self.nonce_at(first + i),
                aad: AssociatedData::One(Cow::Borrowed(self.aad_at(first + i))),
                bytes: data.len(),
                data: data.into(),
                tag: [0; 16],
            });
        }
    }
}

/// Filled where they stay: to return or collect them would copy all that there is room for.
type Messages<'a> = ArrayVec<Message<'a>, FLIGHT>;

/// Hands the messages of a flight to their mode.
#[inline(always)]
fn fly<'a>(key: &Key, messages: &mut Messages<'a>, process: impl FnOnce(&mut Batch<'_, '_, 'a>)) {
    let mut flying = ArrayVec::<&mut Message<'a>, FLIGHT>::new();
    flying.extend(messages);
    process(&mut Batch { backend: key.backend(), schedule: Schedule::Auto, messages: &mut flying });
}
