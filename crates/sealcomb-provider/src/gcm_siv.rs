//! GCM-SIV, for messages in one piece that follows the additional data.

use std::sync::Arc;

use sealcomb::Key;

use crate::cipher::{self, Cipher};
use crate::context::Context;
use crate::data::{Buffers, Data};
use crate::iv::{Iv, TAG_BYTES, Tag};
use crate::openssl::Param;
use crate::whole;

const IV_BYTES: usize = 12;

#[derive(Clone)]
pub(crate) struct GcmSiv {
    key_bytes: usize,
    encrypts: bool,
    key: Option<Arc<Key>>,
    iv: [u8; IV_BYTES],
    /// The IV, with the additional data of the message in progress.
    state: Iv<Vec<u8>>,
    tag: Tag,
}

impl GcmSiv {
    fn message(&mut self, data: Data<'_>) -> Option<()> {
        let key = self.key.clone()?;
        let aad = match std::mem::replace(&mut self.state, Iv::Finished) {
            Iv::Running(aad) => aad,
            Iv::Buffered => Vec::new(),
            before => {
                self.state = before;
                return None;
            }
        };
        self.tag = if self.encrypts {
            Tag::Computed(whole::seal(&key, &self.iv, &[aad], data)?)
        } else {
            whole::open(&key, &self.iv, &[aad], data, &self.tag.take_expected()?)?;
            Tag::Done
        };
        Some(())
    }
}

impl Cipher for GcmSiv {
    const INFO: cipher::Info = cipher::Info { mode: 0x10005, block_bytes: 1, iv_bytes: IV_BYTES };

    fn new(key_bytes: usize) -> Self {
        Self { key_bytes, encrypts: true, key: None, iv: [0; IV_BYTES], state: Iv::Unset, tag: Tag::None }
    }

    fn init(&mut self, encrypts: bool, key: Option<&[u8]>, iv: Option<&[u8]>) -> Option<()> {
        if encrypts != self.encrypts {
            self.encrypts = encrypts;
            self.state.abort();
            self.tag = Tag::None;
        }
        if let Some(iv) = iv {
            self.iv = iv.try_into().ok()?;
            self.state = Iv::Buffered;
        }
        if let Some(key) = key {
            self.key = Some(cipher::key("gcm-siv", key, self.key_bytes)?);
            self.state.abort();
        }
        if iv.is_some() || key.is_some() {
            self.tag.begin(encrypts);
        }
        Some(())
    }

    unsafe fn update(&mut self, buffers: Buffers) -> Option<usize> {
        if buffers.output.is_null() {
            self.key.as_ref()?;
            if matches!(self.state, Iv::Buffered) {
                self.state = Iv::Running(Vec::new());
            }
            let Iv::Running(aad) = &mut self.state else { return None };
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

    /// Processes a message now if it is empty, as it has no piece.
    unsafe fn finish(&mut self, _: *mut u8, _: usize) -> Option<usize> {
        if !self.tag.is_done() {
            self.message(Data::InPlace(&mut []))?;
        }
        Some(0)
    }
}

impl Context for GcmSiv {
    fn duplicate(&self) -> Option<Self> {
        Some(self.clone())
    }

    fn get(&mut self, param: &mut Param) -> bool {
        match param.name() {
            b"keylen" => param.set_number(self.key_bytes),
            b"ivlen" => param.set_number(IV_BYTES),
            b"taglen" => param.set_number(TAG_BYTES),
            b"iv" | b"updated-iv" => param.set_iv(&self.iv),
            b"tag" => match self.tag.computed() {
                Some(tag) if self.encrypts => param.octet_size() == Some(TAG_BYTES) && param.set_tag(tag),
                _ => false,
            },
            b"tlsivgen" => false,
            _ => true,
        }
    }

    fn set_one(&mut self, param: &Param) -> Option<()> {
        match param.name() {
            b"tag" => {
                let tag: &[u8; TAG_BYTES] = param.octets()?.try_into().ok()?;
                if !self.encrypts {
                    self.tag = Tag::Expected(*tag);
                }
                Some(())
            }
            b"ivlen" => (param.get_number()? == IV_BYTES).then_some(()),
            b"keylen" => (param.get_number()? == self.key_bytes).then_some(()),
            b"tlsaad" | b"tlsivfixed" | b"tlsivinv" => None,
            _ => Some(()),
        }
    }
}
