//! Additional data in several pieces: where they are put together. A fixed room on the stack, so that a batch takes no
//! memory from the heap.

use std::cell::OnceCell;
use std::mem::MaybeUninit;
use std::slice;

use sealcomb::Aad;

use crate::sealcomb_status;
use crate::sealcomb_status::SEALCOMB_ERROR_AAD_TOO_LONG;

/// Bytes of joined pieces that a flight has room for.
const TEXT_BYTES: usize = 4096;
/// Strings of AES-SIV that a flight has room for: as many as a message may have (RFC 5297, section 2.6).
const STRINGS: usize = 126;

/// The room of a flight.
pub(crate) struct Room<'a> {
    text: [MaybeUninit<u8>; TEXT_BYTES],
    strings: [MaybeUninit<&'a [u8]>; STRINGS],
    /// What is longer than the text may be: of one message, on the heap.
    long: OnceCell<Vec<u8>>,
}

/// Too little is left for a message that would fit into what nobody has taken from yet.
pub(crate) struct Full;

/// What is left of a room, for messages that live as long as it does.
pub(crate) struct Pool<'a> {
    text: &'a mut [MaybeUninit<u8>],
    strings: &'a mut [MaybeUninit<&'a [u8]>],
    long: &'a OnceCell<Vec<u8>>,
}

impl<'a> Room<'a> {
    pub(crate) const fn new() -> Self {
        Self {
            text: [MaybeUninit::uninit(); TEXT_BYTES],
            strings: [MaybeUninit::uninit(); STRINGS],
            long: OnceCell::new(),
        }
    }

    /// All of it.
    pub(crate) fn pool(&'a mut self) -> Pool<'a> {
        Pool { text: &mut self.text, strings: &mut self.strings, long: &self.long }
    }
}

impl<'a> Pool<'a> {
    /// The pieces as strings of their own.
    pub(crate) fn strings(
        &mut self,
        pieces: impl ExactSizeIterator<Item = &'a [u8]>,
    ) -> Result<Result<Aad<'a>, Full>, sealcomb_status> {
        if pieces.len() > STRINGS {
            return Err(SEALCOMB_ERROR_AAD_TOO_LONG);
        }
        Ok(take(&mut self.strings, pieces.len()).map(|taken| Aad::strings(filled(taken, pieces))))
    }

    /// The pieces as one string: on the heap, if not even a whole room would do.
    pub(crate) fn joined(
        &mut self,
        pieces: impl Iterator<Item = &'a [u8]> + Clone,
    ) -> Result<Result<Aad<'a>, Full>, sealcomb_status> {
        let bytes = pieces.clone().fold(0_usize, |sum, piece| sum.saturating_add(piece.len()));
        if bytes > TEXT_BYTES {
            if self.long.get().is_some() {
                return Ok(Err(Full));
            }
            let joined = concatenated(bytes, pieces)?;
            return Ok(Ok(Aad::from(self.long.get_or_init(|| joined).as_slice())));
        }
        let taken = take(&mut self.text, bytes);
        Ok(taken.map(|taken| Aad::from(filled(taken, pieces.flatten().copied()))))
    }
}

/// The pieces in memory of their own. Pieces may name the same memory many times, and so be more than there is memory
/// for.
fn concatenated<'a>(
    bytes: usize,
    pieces: impl Iterator<Item = &'a [u8]>,
) -> Result<Vec<u8>, sealcomb_status> {
    let mut joined = Vec::new();
    joined.try_reserve_exact(bytes).map_err(|_| SEALCOMB_ERROR_AAD_TOO_LONG)?;
    pieces.for_each(|piece| joined.extend_from_slice(piece));
    Ok(joined)
}

/// The first of what is left.
#[expect(clippy::mut_mut, reason = "what is taken is no longer in what is left")]
fn take<'a, T>(left: &mut &'a mut [MaybeUninit<T>], count: usize) -> Result<&'a mut [MaybeUninit<T>], Full> {
    left.split_off_mut(..count).ok_or(Full)
}

/// Puts values into the places that were taken for them, as many as there are.
fn filled<T>(places: &mut [MaybeUninit<T>], values: impl Iterator<Item = T>) -> &[T] {
    let count = places.iter_mut().zip(values).map(|(place, value)| place.write(value)).count();
    // SAFETY: so many places, from the first on, were just written.
    unsafe { slice::from_raw_parts(places.as_ptr().cast(), count) }
}
