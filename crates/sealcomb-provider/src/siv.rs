//! SIV, for messages in one piece that follows the associated strings. There is no IV: setting a key begins a
//! message.

use std::sync::Arc;

use sealcomb::Key;

use crate::cipher::{self, Base, Cipher};
use crate::context::Context;
use crate::data::Buffers;
use crate::errors::{Outcome, Refused};
use crate::iv::{Iv, TAG_BYTES, Tag};
use crate::openssl::Param;
use crate::params;
use crate::whole;

#[derive(Clone)]
pub(crate) struct Siv {
    /// The message in progress consists of its associated strings; the last one may be a nonce.
    base: Base<Vec<Vec<u8>>, 0>,
    key: Option<Arc<Key>>,
}

impl Siv {
    /// Encrypts or decrypts the whole message, and ends it.
    ///
    /// # Safety
    /// See [`Buffers::data`].
    unsafe fn message(&mut self, buffers: Buffers) -> Outcome {
        let key = self.key.clone().ok_or(Refused::SILENTLY)?;
        let Iv::Running(strings) = std::mem::replace(&mut self.base.state, Iv::Finished) else {
            return Err(Refused::SILENTLY);
        };
        // SAFETY: guaranteed by the caller.
        let data = unsafe { buffers.data() }?;
        self.base.tag = if self.base.encrypts {
            Tag::Computed(whole::seal(&key, b"", &strings, data)?)
        } else {
            whole::open(&key, b"", &strings, data, &self.base.tag.take_expected()?)?;
            Tag::Done
        };
        Ok(())
    }
}

impl Cipher for Siv {
    const INFO: cipher::Info =
        cipher::Info { mode: 0x10004, block_bytes: 1, iv_bytes: 0, is_aead: true, has_own_iv: true };
    const GETTABLE: &'static [Param] = &params::SIV_GETTABLE;
    const SETTABLE: &'static [Param] = &params::SIV_SETTABLE;

    fn new(key_bytes: usize) -> Self {
        Self { base: Base::new(key_bytes, 0), key: None }
    }

    fn init(&mut self, encrypts: bool, key: Option<&[u8]>, _: Option<&[u8]>) -> Outcome {
        if encrypts != self.base.encrypts {
            self.base.encrypts = encrypts;
            self.base.tag = Tag::None;
        }
        if let Some(key) = key {
            self.key = Some(cipher::key("siv", key, self.base.key_bytes)?);
            self.base.state = Iv::Running(Vec::new());
            self.base.tag.begin(encrypts);
        }
        Ok(())
    }

    unsafe fn update(&mut self, buffers: Buffers) -> Outcome<usize> {
        if buffers.output.is_null() {
            let Iv::Running(strings) = &mut self.base.state else {
                return Err(Refused::SILENTLY);
            };
            // SAFETY: guaranteed by the caller.
            strings.push(unsafe { buffers.aad() }?.to_vec());
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

impl Context for Siv {
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
            // Ignored when encrypting, as in OpenSSL.
            b"tag" if self.base.encrypts => Ok(()),
            b"tag" => {
                self.base.tag = Tag::Expected(params::whole_tag(param)?);
                Ok(())
            }
            b"ivlen" if param.get_number()? != 0 => Err(Refused::INVALID_IV_LENGTH),
            b"keylen" => self.base.check_key_bytes(param, Refused::SILENTLY),
            b"tlsaad" | b"tlsivfixed" | b"tlsivinv" => Err(Refused::SILENTLY),
            _ => Ok(()),
        }
    }
}
