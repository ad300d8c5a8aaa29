//! Joins additional data that a job passes in several pieces. The space is on the stack, so that a batch needs no
//! heap allocation.

use std::cell::OnceCell;
use std::mem::MaybeUninit;
use std::slice;

use sealcomb::Aad;
use zeroize::Zeroizing;

use crate::sealcomb_status;
use crate::sealcomb_status::SEALCOMB_ERROR_AAD_TOO_LONG;

/// Space for the joined pieces of a flight, in bytes.
const TEXT_BYTES: usize = 4096;
/// Space for AES-SIV's associated strings of a flight: as many as one message may have (RFC 5297, section 2.6).
const STRINGS: usize = 126;

/// The stack space of a flight.
pub(crate) struct Room<'a> {
    text: [MaybeUninit<u8>; TEXT_BYTES],
    strings: [MaybeUninit<&'a [u8]>; STRINGS],
    /// One message's joined pieces that exceed `TEXT_BYTES`, on the heap. For a MAC, they are the message.
    long: OnceCell<Zeroizing<Vec<u8>>>,
}

/// The remaining space is too small for a message that fits into an unused `Room`: end the flight before it.
pub(crate) struct Full;

/// The unused rest of a [`Room`].
pub(crate) struct Pool<'a> {
    text: &'a mut [MaybeUninit<u8>],
    strings: &'a mut [MaybeUninit<&'a [u8]>],
    long: &'a OnceCell<Zeroizing<Vec<u8>>>,
}

impl<'a> Room<'a> {
    pub(crate) const fn new() -> Self {
        Self {
            text: [MaybeUninit::uninit(); TEXT_BYTES],
            strings: [MaybeUninit::uninit(); STRINGS],
            long: OnceCell::new(),
        }
    }

    /// Returns all of the space, unused.
    pub(crate) fn pool(&'a mut self) -> Pool<'a> {
        Pool { text: &mut self.text, strings: &mut self.strings, long: &self.long }
    }
}

impl<'a> Pool<'a> {
    /// Returns additional data in which each piece is a separate string.
    pub(crate) fn strings(
        &mut self,
        pieces: impl ExactSizeIterator<Item = &'a [u8]>,
    ) -> Result<Result<Aad<'a>, Full>, sealcomb_status> {
        if pieces.len() > STRINGS {
            return Err(SEALCOMB_ERROR_AAD_TOO_LONG);
        }
        Ok(take(&mut self.strings, pieces.len()).map(|taken| Aad::strings(filled(taken, pieces))))
    }

    /// Returns the pieces joined to one string, on the heap if they exceed `TEXT_BYTES`.
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

/// Returns the pieces joined on the heap. Many pieces may point to the same memory, so their total size can exceed
/// the available memory: that is an error, not an abort.
fn concatenated<'a>(
    bytes: usize,
    pieces: impl Iterator<Item = &'a [u8]>,
) -> Result<Zeroizing<Vec<u8>>, sealcomb_status> {
    let mut joined = Zeroizing::new(Vec::new());
    joined.try_reserve_exact(bytes).map_err(|_| SEALCOMB_ERROR_AAD_TOO_LONG)?;
    pieces.for_each(|piece| joined.extend_from_slice(piece));
    Ok(joined)
}

/// Splits `count` elements off the front of the unused space.
#[expect(clippy::mut_mut, reason = "the elements taken must leave the unused slice")]
fn take<'a, T>(left: &mut &'a mut [MaybeUninit<T>], count: usize) -> Result<&'a mut [MaybeUninit<T>], Full> {
    left.split_off_mut(..count).ok_or(Full)
}

/// Fills the places with values, and returns those that were filled.
fn filled<T>(places: &mut [MaybeUninit<T>], values: impl Iterator<Item = T>) -> &[T] {
    let count = places.iter_mut().zip(values).map(|(place, value)| place.write(value)).count();
    // SAFETY: the first `count` places were just initialized.
    unsafe { slice::from_raw_parts(places.as_ptr().cast(), count) }
}
