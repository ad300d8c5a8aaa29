//! GCM-SIV, for messages in one piece that follows the additional data.

use std::sync::Arc;

use sealcomb::Key;

use crate::aead_pipeline::Mode;
use crate::cipher::{self, Base, Cipher};
use crate::context::Context;
use crate::data::Buffers;
use crate::errors::{Outcome, Refused};
use crate::iv::{Iv, TAG_BYTES, Tag};
use crate::openssl::Param;
use crate::params;
use crate::whole;

const IV_BYTES: usize = 12;

#[derive(Clone)]
pub(crate) struct GcmSiv {
    /// The message in progress consists of its additional data.
    base: Base<Vec<u8>, IV_BYTES>,
    key: Option<Arc<Key>>,
}

impl GcmSiv {
    /// Encrypts or decrypts the whole message, and ends it.
    ///
    /// # Safety
    /// See [`Buffers::data`].
    unsafe fn message(&mut self, buffers: Buffers) -> Outcome {
        let key = self.key.clone().ok_or(Refused::SILENTLY)?;
        let aad = match std::mem::replace(&mut self.base.state, Iv::Finished) {
            Iv::Running(aad) => aad,
            Iv::Buffered => Vec::new(),
            before => {
                self.base.state = before;
                return Err(Refused::SILENTLY);
            }
        };
        // SAFETY: guaranteed by the caller.
        let data = unsafe { buffers.data() }?;
        self.base.tag = if self.base.encrypts {
            Tag::Computed(whole::seal(&key, &self.base.iv, &[aad], data)?)
        } else {
            whole::open(&key, &self.base.iv, &[aad], data, &self.base.tag.take_expected()?)?;
            Tag::Done
        };
        Ok(())
    }
}

impl Cipher for GcmSiv {
    const INFO: cipher::Info =
        cipher::Info { mode: 0x10005, block_bytes: 1, iv_bytes: IV_BYTES, is_aead: true, has_own_iv: true };
    const GETTABLE: &'static [Param] = &params::AEAD_GETTABLE;
    const SETTABLE: &'static [Param] = &params::AEAD_SETTABLE;

    fn new(key_bytes: usize) -> Self {
        Self { base: Base::new(key_bytes, IV_BYTES), key: None }
    }

    fn init(&mut self, encrypts: bool, key: Option<&[u8]>, iv: Option<&[u8]>) -> Outcome {
        self.base.set_direction(encrypts);
        self.base.set_iv(iv, IV_BYTES..=IV_BYTES)?;
        if let Some(key) = key {
            self.key = Some(cipher::key("gcm-siv", key, self.base.key_bytes)?);
            self.base.state.abort();
        }
        if iv.is_some() || key.is_some() {
            self.base.tag.begin(encrypts);
        }
        Ok(())
    }

    unsafe fn update(&mut self, buffers: Buffers) -> Outcome<usize> {
        if buffers.output.is_null() {
            if self.key.is_none() {
                return Err(Refused::SILENTLY);
            }
            if matches!(self.base.state, Iv::Buffered) {
                self.base.state = Iv::Running(Vec::new());
            }
            let Iv::Running(aad) = &mut self.base.state else {
                return Err(Refused::SILENTLY);
            };
            // SAFETY: guaranteed by the caller.
            aad.extend_from_slice(unsafe { buffers.aad() }?);
            return Ok(buffers.count);
        }
        // Ignore empty pieces: the message may follow.
        if buffers.count > 0 {
            buffers.check()?;
            // SAFETY: guaranteed by the caller.
            unsafe { self.message(buffers) }?;
        }
        Ok(buffers.count)
    }

    /// Processes the message if it is empty, because `update` ignores empty pieces. `update` has processed all other
    /// messages.
    unsafe fn finish(&mut self, _: *mut u8, _: usize) -> Outcome<usize> {
        if !self.base.tag.is_done() {
            // SAFETY: an empty message has no buffers.
            unsafe { self.message(Buffers::EMPTY) }?;
        }
        Ok(0)
    }
}

impl Mode for GcmSiv {
    fn id(_: usize) -> Option<&'static str> {
        Some("gcm-siv")
    }

    fn tag_bytes(&self) -> usize {
        TAG_BYTES
    }
}

impl Context for GcmSiv {
    fn duplicate(&self) -> Option<Self> {
        Some(self.clone())
    }

    fn get(&mut self, param: &mut Param) -> Outcome {
        match param.name() {
            b"tag" => self.base.get_whole_tag(param),
            _ => self.base.get(param, TAG_BYTES),
        }
    }

    fn set_one(&mut self, param: &Param) -> Outcome {
        match param.name() {
            b"tag" => {
                let tag = params::whole_tag(param)?;
                if !self.base.encrypts {
                    self.base.tag = Tag::Expected(tag);
                }
                Ok(())
            }
            b"ivlen" if param.get_number()? != IV_BYTES => Err(Refused::INVALID_IV_LENGTH),
            b"keylen" => self.base.check_key_bytes(param, Refused::INVALID_KEY_LENGTH),
            b"tlsaad" | b"tlsivfixed" | b"tlsivinv" => Err(Refused::SILENTLY),
            _ => Ok(()),
        }
    }
}
