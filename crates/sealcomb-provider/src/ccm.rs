//! CCM, for messages in one piece whose length is set before the additional data, and for TLS records.

use std::sync::Arc;

use sealcomb::Key;

use crate::aead_pipeline::Mode;
use crate::cipher::{self, Base, Cipher};
use crate::context::Context;
use crate::data::{Buffers, Data};
use crate::iv::{Iv, TAG_BYTES, Tag};
use crate::openssl::Param;
use crate::{params, tls, whole};

/// Maximum size of an IV in bytes.
const IV_BYTES: usize = 13;

#[derive(Clone)]
pub(crate) struct Ccm {
    base: Base<Message, IV_BYTES>,
    key: Option<SizedKey>,
    tag_bytes: usize,
    tls_header: Option<[u8; tls::HEADER]>,
    /// Whether the fixed part of the TLS nonce was set.
    has_fixed_iv: bool,
}

/// A key, with the IV and tag sizes at the time it was set: OpenSSL would use the key with these.
#[derive(Clone)]
struct SizedKey {
    key: Arc<Key>,
    iv_bytes: usize,
}

/// A message in progress.
#[derive(Clone)]
struct Message {
    bytes: usize,
    aad: Vec<u8>,
}

impl Ccm {
    /// Returns the key if the IV and tag sizes have not changed since it was set. OpenSSL would truncate longer IVs.
    fn key(&self) -> Option<&Key> {
        let SizedKey { key, iv_bytes } = self.key.as_ref()?;
        (*iv_bytes == self.base.iv_bytes && key.tag_bytes() == self.tag_bytes).then_some(key)
    }

    /// Encrypts or decrypts the whole message, and ends it.
    fn message(&mut self, data: Data<'_>) -> Option<()> {
        self.key()?;
        if !self.base.encrypts && !self.base.tag.is_expected() {
            return None;
        }
        let Iv::Running(message) = std::mem::replace(&mut self.base.state, Iv::Finished) else { return None };
        if message.bytes != data.input().len() {
            return None;
        }
        let expected = self.base.tag.take_expected();
        let (key, iv) = (self.key()?, self.base.iv());
        self.base.tag = if self.base.encrypts {
            Tag::Computed(whole::seal(key, iv, &[message.aad], data)?)
        } else {
            whole::open(key, iv, &[message.aad], data, &expected?[..self.tag_bytes])?;
            Tag::Done
        };
        Some(())
    }

    /// Begins a message of `bytes` bytes; fails without an unused IV.
    fn start(&mut self, bytes: usize) -> Option<()> {
        if !matches!(self.base.state, Iv::Buffered | Iv::Running(_)) {
            return None;
        }
        self.key()?;
        self.base.tag.begin(self.base.encrypts);
        self.base.state = Iv::Running(Message { bytes, aad: Vec::new() });
        Some(())
    }

    fn add_aad(&mut self, aad: &[u8]) -> Option<()> {
        match &mut self.base.state {
            // OpenSSL would authenticate only the last of several pieces.
            Iv::Running(message) if message.aad.is_empty() || aad.is_empty() => {
                message.aad.extend_from_slice(aad);
                Some(())
            }
            Iv::Buffered if aad.is_empty() => Some(()),
            _ => None,
        }
    }

    /// Encrypts or decrypts a TLS record. Returns the number of result bytes.
    fn record(&mut self, record: &mut [u8], header: [u8; tls::HEADER]) -> Option<usize> {
        self.key()?;
        if !self.has_fixed_iv || self.base.iv_bytes != tls::FIXED_IV + tls::EXPLICIT_IV {
            return None;
        }
        let record_bytes = record.len();
        let (explicit, text, tag) = tls::parts(record, self.tag_bytes)?;
        if self.base.encrypts {
            // The record's sequence number, at the start of the additional data.
            explicit.copy_from_slice(&header[..tls::EXPLICIT_IV]);
        }
        self.base.iv[tls::FIXED_IV..self.base.iv_bytes].copy_from_slice(explicit);
        let (key, iv) = (self.key()?, self.base.iv());
        if self.base.encrypts {
            key.seal_in_place(iv, &header, text, tag).ok()?;
            return Some(record_bytes);
        }
        key.open_in_place(iv, &header, text, tag).ok()?;
        Some(text.len())
    }

    fn set_tag(&mut self, param: &Param) -> Option<()> {
        let bytes = param.octet_size()?;
        if !(4..=TAG_BYTES).contains(&bytes) || !bytes.is_multiple_of(2) {
            return None;
        }
        if param.has_data() {
            if self.base.encrypts {
                return None;
            }
            self.base.tag = Tag::expected(param.octets()?);
        }
        self.tag_bytes = bytes;
        Some(())
    }

    fn set_tls_header(&mut self, param: &Param) -> Option<()> {
        let (header, possible) = tls::header(param.octets()?, self.base.encrypts, self.tag_bytes)?;
        self.tls_header = Some(header);
        self.base.tag = Tag::None;
        possible.then_some(())
    }

    fn set_fixed_iv(&mut self, param: &Param) -> Option<()> {
        let fixed: &[u8; tls::FIXED_IV] = param.octets()?.try_into().ok()?;
        self.base.iv[..tls::FIXED_IV].copy_from_slice(fixed);
        self.has_fixed_iv = true;
        Some(())
    }
}

impl Cipher for Ccm {
    const INFO: cipher::Info =
        cipher::Info { mode: 0x7, block_bytes: 1, iv_bytes: 12, is_aead: true, has_own_iv: true };
    const GETTABLE: &'static [Param] = &params::RECORD_GETTABLE;
    const SETTABLE: &'static [Param] = &params::RECORD_SETTABLE;

    fn new(key_bytes: usize) -> Self {
        Self {
            // OpenSSL's initial IV size, which differs from the cipher's default of 12.
            base: Base::new(key_bytes, 7),
            key: None,
            tag_bytes: 12,
            tls_header: None,
            has_fixed_iv: false,
        }
    }

    fn init(&mut self, encrypts: bool, key: Option<&[u8]>, iv: Option<&[u8]>) -> Option<()> {
        self.base.set_direction(encrypts);
        self.base.set_iv(iv, self.base.iv_bytes..=self.base.iv_bytes)?;
        if let Some(key) = key {
            let key = cipher::key("ccm", key, self.base.key_bytes)?;
            let key = Arc::into_inner(key)?.with_tag_bytes(self.tag_bytes).ok()?;
            self.key = Some(SizedKey { key: Arc::new(key), iv_bytes: self.base.iv_bytes });
            self.base.state.abort();
        }
        if iv.is_some() || key.is_some() {
            self.base.tag.begin(encrypts);
        }
        Some(())
    }

    unsafe fn update(&mut self, buffers: Buffers) -> Option<usize> {
        self.key.as_ref()?;
        let count = buffers.count;
        if let Some(header) = self.tls_header.take() {
            self.base.state = Iv::Finished;
            // SAFETY: guaranteed by the caller.
            return self.record(unsafe { buffers.record() }?, header);
        }
        if buffers.output.is_null() {
            if buffers.input.is_null() {
                self.start(count)?;
            } else {
                // SAFETY: guaranteed by the caller.
                self.add_aad(unsafe { buffers.aad() }?)?;
            }
            return Some(count);
        }
        // SAFETY: guaranteed by the caller.
        let data = unsafe { buffers.data() }?;
        if matches!(self.base.state, Iv::Buffered) {
            self.start(count)?;
        }
        self.message(data)?;
        Some(count)
    }

    /// Processes the message if it is empty, because `update` need not be called for it. `update` has processed all
    /// others.
    unsafe fn finish(&mut self, _: *mut u8, _: usize) -> Option<usize> {
        self.key.as_ref()?;
        if self.tls_header.take().is_some() {
            self.base.state = Iv::Finished;
            return None;
        }
        if matches!(self.base.state, Iv::Buffered) {
            self.start(0)?;
        }
        match self.base.state {
            Iv::Running(_) => self.message(Data::InPlace(&mut []))?,
            Iv::Finished if self.base.tag.is_done() => {}
            _ => return None,
        }
        Some(0)
    }

    /// Sets the length of the message if there are no buffers. Calls for the end have a length of 0.
    unsafe fn cipher(&mut self, buffers: Buffers) -> Option<usize> {
        let is_length = buffers.input.is_null() && buffers.output.is_null() && buffers.count > 0;
        // SAFETY: guaranteed by the caller.
        unsafe { if is_length { self.update(buffers) } else { self.update_or_finish(buffers) } }?;
        Some(buffers.count)
    }
}

impl Mode for Ccm {
    fn id(_: usize) -> Option<&'static str> {
        Some("ccm")
    }

    fn tag_bytes(&self) -> usize {
        self.tag_bytes
    }
}

impl Context for Ccm {
    fn duplicate(&self) -> Option<Self> {
        Some(self.clone())
    }

    fn get(&mut self, param: &mut Param) -> bool {
        match param.name() {
            b"tlsaadpad" => param.set_number(self.tag_bytes),
            b"tag" => match self.base.tag.computed() {
                Some(&tag) if self.base.encrypts => {
                    let bytes = self.key.as_ref().map_or(0, |sized| sized.key.tag_bytes());
                    let done = param.octet_size() == Some(bytes) && param.set_tag(&tag[..bytes]);
                    if done {
                        self.base.tag = Tag::Done;
                    }
                    done
                }
                _ => false,
            },
            _ => self.base.get(param, self.tag_bytes),
        }
    }

    fn set_one(&mut self, param: &Param) -> Option<()> {
        match param.name() {
            b"tag" => self.set_tag(param),
            b"ivlen" => {
                if self.base.set_iv_bytes(param, 7..=IV_BYTES)? {
                    self.base.state = Iv::Unset;
                }
                Some(())
            }
            b"keylen" => (param.get_number()? == self.base.key_bytes).then_some(()),
            b"tlsaad" => self.set_tls_header(param),
            b"tlsivfixed" => self.set_fixed_iv(param),
            b"tlsivinv" => None,
            _ => Some(()),
        }
    }
}
