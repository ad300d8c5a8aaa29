//! CCM, SIV and GCM-SIV, whose messages come in one piece: their standards need to know the length or the whole of a message
//! before its first block.

use sealcomb::{Aad, Algorithm, Key, OpenJob, Schedule, SealJob, Verdict, open_batch_with, seal_batch_with};
use zeroize::Zeroizing;

use crate::cipher::{Data, Mode};
use crate::gcm::Block;

/// A key, for tags of whatever length a message has.
pub(crate) struct WholeKey {
    mode: Mode,
    raw: Zeroizing<Vec<u8>>,
    ready: Option<Key>,
}

impl WholeKey {
    /// None if the library has no such key.
    pub(crate) fn new(mode: Mode, raw: &[u8]) -> Option<Self> {
        let mut key = Self { mode, raw: Zeroizing::new(raw.to_vec()), ready: None };
        key.ready(16)?;
        Some(key)
    }

    pub(crate) fn again(&self) -> Option<Self> {
        Self::new(self.mode, &self.raw)
    }

    fn ready(&mut self, tag_bytes: usize) -> Option<&Key> {
        if self.ready.as_ref().is_none_or(|key| key.tag_bytes() != tag_bytes) {
            let bits = 8 * self.raw.len();
            let id = match self.mode {
                Mode::Gcm | Mode::Ocb => return None,
                Mode::Ccm => format!("aes{bits}-ccm"),
                Mode::Siv => format!("aes{}-siv", bits / 2),
                Mode::GcmSiv => format!("aes{bits}-gcm-siv"),
            };
            let key = Key::new(Algorithm::by_id(&id).ok()?, &self.raw).ok()?;
            self.ready = Some(key.with_tag_bytes(tag_bytes).ok()?);
        }
        self.ready.as_ref()
    }

    /// Encrypts, and returns the tag in the first bytes of a block.
    pub(crate) fn seal(
        &mut self,
        iv: &[u8],
        aad: &[impl AsRef<[u8]>],
        data: Data<'_>,
        tag_bytes: usize,
    ) -> Option<Block> {
        let slices: Vec<&[u8]> = aad.iter().map(AsRef::as_ref).collect();
        let (key, mut tag) = (self.ready(tag_bytes)?, [0; 16]);
        let aad = Aad::strings(&slices);
        let job = match data {
            Data::InPlace(data) => SealJob::in_place(key, iv, aad, data, &mut tag[..tag_bytes]),
            Data::Apart(input, output) => {
                SealJob::new(key, iv, aad, input, output, &mut tag[..tag_bytes]).ok()?
            }
        };
        seal_batch_with(Schedule::Single, &mut [job]).ok()?;
        Some(tag)
    }

    /// Decrypts. None if the message is forged, and its place zeroed, or cannot be.
    pub(crate) fn open(
        &mut self,
        iv: &[u8],
        aad: &[impl AsRef<[u8]>],
        data: Data<'_>,
        tag: &[u8],
    ) -> Option<()> {
        let slices: Vec<&[u8]> = aad.iter().map(AsRef::as_ref).collect();
        let key = self.ready(tag.len())?;
        let aad = Aad::strings(&slices);
        let mut jobs = [match data {
            Data::InPlace(data) => OpenJob::in_place(key, iv, aad, data, tag),
            Data::Apart(input, output) => OpenJob::new(key, iv, aad, input, output, tag).ok()?,
        }];
        open_batch_with(Schedule::Single, &mut jobs).ok()?;
        (jobs[0].verdict() == Verdict::Verified).then_some(())
    }
}
