//! GCM-SIV, for messages in one piece that follows the additional data.

use std::sync::Arc;

use sealcomb::Key;

use crate::aead_pipeline::Mode;
use crate::cipher::{self, Base, Cipher};
use crate::context::Context;
use crate::data::{Buffers, Data};
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
    fn message(&mut self, data: Data<'_>) -> Option<()> {
        let key = self.key.clone()?;
        let aad = match std::mem::replace(&mut self.base.state, Iv::Finished) {
            Iv::Running(aad) => aad,
            Iv::Buffered => Vec::new(),
            before => {
                self.base.state = before;
                return None;
            }
        };
        self.base.tag = if self.base.encrypts {
            Tag::Computed(whole::seal(&key, &self.base.iv, &[aad], data)?)
        } else {
            whole::open(&key, &self.base.iv, &[aad], data, &self.base.tag.take_expected()?)?;
            Tag::Done
        };
        Some(())
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

    fn init(&mut self, encrypts: bool, key: Option<&[u8]>, iv: Option<&[u8]>) -> Option<()> {
        self.base.set_direction(encrypts);
        self.base.set_iv(iv, IV_BYTES..=IV_BYTES)?;
        if let Some(key) = key {
            self.key = Some(cipher::key("gcm-siv", key, self.base.key_bytes)?);
            self.base.state.abort();
        }
        if iv.is_some() || key.is_some() {
            self.base.tag.begin(encrypts);
        }
        Some(())
    }

    unsafe fn update(&mut self, buffers: Buffers) -> Option<usize> {
        if buffers.output.is_null() {
            self.key.as_ref()?;
            if matches!(self.base.state, Iv::Buffered) {
                self.base.state = Iv::Running(Vec::new());
            }
            let Iv::Running(aad) = &mut self.base.state else { return None };
            // SAFETY: guaranteed by the caller.
            aad.extend_from_slice(unsafe { buffers.aad() }?);
            return Some(buffers.count);
        }
        // Ignore empty pieces: the message may follow.
        if buffers.count > 0 {
            // SAFETY: guaranteed by the caller.
            self.message(unsafe { buffers.data() }?)?;
        }
        Some(buffers.count)
    }

    /// Processes the message if it is empty, because `update` ignores empty pieces. `update` has processed all other
    /// messages.
    unsafe fn finish(&mut self, _: *mut u8, _: usize) -> Option<usize> {
        if !self.base.tag.is_done() {
            self.message(Data::InPlace(&mut []))?;
        }
        Some(0)
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

    fn get(&mut self, param: &mut Param) -> bool {
        self.base.get(param, TAG_BYTES)
    }

    fn set_one(&mut self, param: &Param) -> Option<()> {
        match param.name() {
            b"tag" => {
                let tag: &[u8; TAG_BYTES] = param.octets()?.try_into().ok()?;
                if !self.base.encrypts {
                    self.base.tag = Tag::Expected(*tag);
                }
                Some(())
            }
            b"ivlen" => (param.get_number()? == IV_BYTES).then_some(()),
            b"keylen" => (param.get_number()? == self.base.key_bytes).then_some(()),
            b"tlsaad" | b"tlsivfixed" | b"tlsivinv" => None,
            _ => Some(()),
        }
    }
}
