//! Sealed values in Tink's format.
//!
//! A sealed value is the byte 1, the key id (4 bytes, big-endian), and then the nonce (IV or salt and IV in Tink's
//! terms), ciphertext and tag of AES-GCM, AES-GCM-SIV or XAES-256-GCM, or the synthetic IV and ciphertext of AES-SIV.

use std::mem;
use std::ops::Range;

use sealcomb::{BatchError, OpenJob, SealJob, Verdict, open_jobs, seal_jobs};
use sealcomb_random::Generator;

use crate::error::{Mismatch, Reason};
use crate::keyset::{Keyset, NamedKey};
use crate::kind::{Kind, PREFIX, TAG, VERSION};

/// Maximum bytes of a nonce.
const MAX_NONCE: usize = 24;

/// The number of values in a batch of the library.
pub(crate) const BATCH: usize = 512;

/// Random nonces for the batches of one task.
pub(crate) struct Nonces {
    /// Seeded for the first batch that needs nonces.
    generator: Option<Generator>,
    batch: [u8; BATCH * MAX_NONCE],
}

impl Default for Nonces {
    fn default() -> Self {
        Self { generator: None, batch: [0; BATCH * MAX_NONCE] }
    }
}

impl Nonces {
    /// Draws nonces of `bytes` bytes in total.
    fn draw(&mut self, bytes: usize) -> Result<&[u8], sealcomb_random::Error> {
        if bytes == 0 {
            return Ok(&[]);
        }
        let generator = match &mut self.generator {
            Some(generator) => generator,
            empty => empty.insert(Generator::new()?),
        };
        let nonces = &mut self.batch[..bytes];
        generator.fill(nonces)?;
        Ok(nonces)
    }
}

/// Why a batch was not sealed.
#[derive(Clone, Copy)]
pub(crate) enum SealError {
    /// A value is too long for the algorithm.
    Batch(BatchError),
    /// The operating system provides no random bytes for nonces.
    Random(sealcomb_random::Error),
}

impl From<BatchError> for SealError {
    fn from(error: BatchError) -> Self {
        Self::Batch(error)
    }
}

impl From<sealcomb_random::Error> for SealError {
    fn from(error: sealcomb_random::Error) -> Self {
        Self::Random(error)
    }
}

/// The associated data of a batch's rows.
pub(crate) enum Aads<'a> {
    Same(&'a [u8]),
    /// The concatenated associated data, and the end offset of each row's.
    Each(Vec<u8>, Vec<usize>),
}

impl Aads<'_> {
    #[inline]
    fn of(&self, index: usize) -> &[u8] {
        match self {
            Self::Same(context) => context,
            Self::Each(bytes, ends) => {
                let start = index.checked_sub(1).map_or(0, |before| ends[before]);
                &bytes[start..ends[index]]
            }
        }
    }
}

/// A parsed sealed value.
pub(crate) struct Sealed<'k, 'v> {
    key: &'k NamedKey,
    nonce: &'v [u8],
    ciphertext: &'v [u8],
    tag: &'v [u8],
}

impl<'v> Sealed<'_, 'v> {
    /// The job that opens this value under `key`.
    fn job<'a>(
        &self,
        key: &'a NamedKey,
        aad: &'a [u8],
        value: &'a mut [u8],
    ) -> Result<OpenJob<'a>, sealcomb::Error>
    where
        'v: 'a,
    {
        OpenJob::new(&key.key, self.nonce, aad, self.ciphertext, value, self.tag)
    }
}

/// Returns the id of the key that sealed a value, or `None` if this is not a sealed value.
#[inline]
pub(crate) fn key_id(envelope: &[u8]) -> Option<u32> {
    match envelope {
        [VERSION, a, b, c, d, rest @ ..] if rest.len() >= TAG => Some(u32::from_be_bytes([*a, *b, *c, *d])),
        _ => None,
    }
}

#[inline]
fn parse<'k, 'v>(keyset: &'k Keyset, envelope: &'v [u8]) -> Result<Sealed<'k, 'v>, Reason> {
    let id = key_id(envelope).ok_or(Reason::NotSealed(envelope.len()))?;
    let key = keyset.key(id).ok_or(Reason::UnknownKey(id))?;
    if envelope.len() < key.kind.overhead() {
        return Err(Reason::NotSealed(envelope.len()));
    }
    let body = &envelope[PREFIX..];
    let (nonce, body) = body.split_at(key.kind.nonce_bytes());
    let (ciphertext, tag) = if key.kind == Kind::Siv {
        let (tag, ciphertext) = body.split_at(TAG);
        (ciphertext, tag)
    } else {
        body.split_at(body.len() - TAG)
    };
    Ok(Sealed { key, nonce, ciphertext, tag })
}

/// Returns the size in bytes of the opened value. If the keyset cannot open the envelope, the result is arbitrary.
#[inline]
pub(crate) fn opened_bytes(keyset: &Keyset, envelope: &[u8]) -> usize {
    match keyset.overhead() {
        Some(overhead) => envelope.len().saturating_sub(overhead),
        None => parse(keyset, envelope).map_or(0, |sealed| sealed.ciphertext.len()),
    }
}

/// Seals a batch of rows into their consecutive slots of `out`. Slots of null rows stay unchanged.
///
/// # Errors
/// If a value is too long for the algorithm, or the operating system provides no random bytes for the nonces.
pub(crate) fn seal<'v>(
    key: &NamedKey,
    nonces: &mut Nonces,
    rows: Range<usize>,
    value: impl Fn(usize) -> Option<&'v [u8]>,
    slot: impl Fn(usize) -> usize,
    aads: &Aads<'_>,
    mut out: &mut [u8],
) -> Result<(), SealError> {
    let prefix = key.prefix();
    let nonce_bytes = key.kind.nonce_bytes();
    let nonces = nonces.draw(rows.len() * nonce_bytes)?;
    let mut jobs = Vec::with_capacity(rows.len());
    for (index, row) in rows.enumerate() {
        let (envelope, rest) = mem::take(&mut out).split_at_mut(slot(row));
        out = rest;
        let Some(value) = value(row) else { continue };
        let (head, body) = envelope.split_at_mut(PREFIX);
        head.copy_from_slice(&prefix);
        let (nonce, body) = body.split_at_mut(nonce_bytes);
        nonce.copy_from_slice(&nonces[index * nonce_bytes..][..nonce_bytes]);
        let (ciphertext, tag) = if key.kind == Kind::Siv {
            let (tag, ciphertext) = body.split_at_mut(TAG);
            (ciphertext, tag)
        } else {
            body.split_at_mut(value.len())
        };
        let job = SealJob::new(&key.key, nonce, aads.of(index), value, ciphertext, tag);
        jobs.push(job.map_err(|error| BatchError::new(index, error))?);
    }
    Ok(seal_jobs(&mut jobs)?)
}

/// Opens a batch of rows into their consecutive slots of `out`. Returns the rows that did not open, in ascending
/// order. Their slots are zero. A value whose size is not that of its slot does not open.
///
/// # Errors
/// If a value is too long for the algorithm.
pub(crate) fn open<'v>(
    keyset: &Keyset,
    rows: Range<usize>,
    envelope: impl Fn(usize) -> Option<&'v [u8]>,
    slot: impl Fn(usize) -> usize,
    aads: &Aads<'_>,
    out: &mut [u8],
) -> Result<Vec<(usize, Reason)>, BatchError> {
    let mut unopened = Vec::new();
    let mut jobs = Vec::with_capacity(rows.len());
    let mut opening = Vec::with_capacity(rows.len());
    let mut rest = &mut *out;
    for (index, row) in rows.clone().enumerate() {
        let (value, others) = mem::take(&mut rest).split_at_mut(slot(row));
        rest = others;
        let Some(envelope) = envelope(row) else { continue };
        match parse(keyset, envelope) {
            Err(reason) => unopened.push((row, reason)),
            Ok(sealed) if sealed.ciphertext.len() != value.len() => {
                unopened.push((row, Reason::WrongType(Mismatch::Size(sealed.ciphertext.len()))));
            }
            Ok(sealed) => {
                jobs.push(
                    sealed
                        .job(sealed.key, aads.of(index), value)
                        .map_err(|error| BatchError::new(index, error))?,
                );
                opening.push((row, sealed.key.id));
            }
        }
    }
    if open_jobs(&mut jobs)?.all_verified().is_err() {
        let forged = jobs.iter().zip(&opening).filter(|(job, _)| job.verdict() == Verdict::Forged);
        unopened.extend(forged.map(|(_, (row, id))| (*row, Reason::Forged(*id))));
        unopened.sort_unstable_by_key(|(row, _)| *row);
        drop(jobs);
        unopened.retain(|(row, reason)| {
            let Reason::Forged(id) = *reason else { return true };
            let start: usize =
                if keyset.duplicates(id).next().is_some() { (rows.start..*row).map(&slot).sum() } else { 0 };
            !keyset.duplicates(id).any(|other| {
                let sealed = envelope(*row).and_then(|envelope| parse(keyset, envelope).ok());
                let value = &mut out[start..start + slot(*row)];
                let job = sealed.and_then(|sealed| sealed.job(other, aads.of(row - rows.start), value).ok());
                job.is_some_and(|job| open_jobs(&mut [job]).is_ok_and(|opened| opened.all_verified().is_ok()))
            })
        });
    }
    Ok(unopened)
}
