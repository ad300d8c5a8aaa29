//! SIV, for messages in one piece that follows the associated strings. There is no IV: setting a key begins a
//! message.

use std::sync::Arc;

use sealcomb::Key;

use crate::cipher::{self, Cipher};
use crate::context::Context;
use crate::data::{Buffers, Data};
use crate::iv::{Iv, TAG_BYTES, Tag};
use crate::openssl::Param;
use crate::whole;

#[derive(Clone)]
pub(crate) struct Siv {
    key_bytes: usize,
    encrypts: bool,
    key: Option<Arc<Key>>,
    /// The associated strings of the message in progress; the last one may be a nonce.
    state: Iv<Vec<Vec<u8>>>,
    tag: Tag,
}

impl Siv {
    fn message(&mut self, data: Data<'_>) -> Option<()> {
        let key = self.key.clone()?;
        let Iv::Running(strings) = std::mem::replace(&mut self.state, Iv::Finished) else { return None };
        self.tag = if self.encrypts {
            Tag::Computed(whole::seal(&key, b"", &strings, data)?)
        } else {
            whole::open(&key, b"", &strings, data, &self.tag.take_expected()?)?;
            Tag::Done
        };
        Some(())
    }
}

impl Cipher for Siv {
    const INFO: cipher::Info = cipher::Info { mode: 0x10004, block_bytes: 1, iv_bytes: 0 };

    fn new(key_bytes: usize) -> Self {
        Self { key_bytes, encrypts: true, key: None, state: Iv::Unset, tag: Tag::None }
    }

    fn init(&mut self, encrypts: bool, key: Option<&[u8]>, _: Option<&[u8]>) -> Option<()> {
        if encrypts != self.encrypts {
            self.encrypts = encrypts;
            self.tag = Tag::None;
        }
        if let Some(key) = key {
            self.key = Some(cipher::key("siv", key, self.key_bytes)?);
            self.state = Iv::Running(Vec::new());
            self.tag.begin(encrypts);
        }
        Some(())
    }

    unsafe fn update(&mut self, buffers: Buffers) -> Option<usize> {
        if buffers.output.is_null() {
            let Iv::Running(strings) = &mut self.state else { return None };
            // SAFETY: guaranteed by the caller.
            strings.push(unsafe { buffers.aad() }?.to_vec());
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

impl Context for Siv {
    fn duplicate(&self) -> Option<Self> {
        Some(self.clone())
    }

    fn get(&mut self, param: &mut Param) -> bool {
        match param.name() {
            b"keylen" => param.set_number(self.key_bytes),
            b"ivlen" => param.set_number(0),
            b"taglen" => param.set_number(TAG_BYTES),
            b"iv" | b"updated-iv" => param.set_iv(&[]),
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
            // Ignored when encrypting, as in OpenSSL.
            b"tag" if self.encrypts => Some(()),
            b"tag" => {
                let tag: &[u8; TAG_BYTES] = param.octets()?.try_into().ok()?;
                self.tag = Tag::Expected(*tag);
                Some(())
            }
            b"ivlen" => (param.get_number()? == 0).then_some(()),
            b"keylen" => (param.get_number()? == self.key_bytes).then_some(()),
            b"tlsaad" | b"tlsivfixed" | b"tlsivinv" => None,
            _ => Some(()),
        }
    }
}
