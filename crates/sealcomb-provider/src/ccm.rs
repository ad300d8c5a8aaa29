//! CCM, for messages in one piece whose length is set before the additional data, and for TLS records.

use std::sync::Arc;

use sealcomb::{Key, KeyOptions};

use crate::aead_pipeline::Mode;
use crate::cipher::{self, Base, Cipher};
use crate::context::Context;
use crate::data::Buffers;
use crate::errors::{Outcome, Refused};
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
    /// By how many bytes a TLS record is longer than its text; 0 before the first one.
    tls_padding: usize,
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
    fn key(&self) -> Outcome<&Key> {
        match &self.key {
            Some(SizedKey { key, iv_bytes })
                if *iv_bytes == self.base.iv_bytes && key.tag_bytes() == self.tag_bytes =>
            {
                Ok(key)
            }
            _ => Err(Refused::SILENTLY),
        }
    }

    /// Encrypts or decrypts the whole message, and ends it.
    ///
    /// # Safety
    /// See [`Buffers::data`].
    unsafe fn message(&mut self, buffers: Buffers) -> Outcome {
        self.key()?;
        if !self.base.encrypts && !self.base.tag.is_expected() {
            return Err(Refused::SILENTLY);
        }
        let Iv::Running(message) = std::mem::replace(&mut self.base.state, Iv::Finished) else {
            return Err(Refused::SILENTLY);
        };
        if message.bytes != buffers.count {
            return Err(Refused::SILENTLY);
        }
        // SAFETY: guaranteed by the caller.
        let data = unsafe { buffers.data() }?;
        let expected = self.base.tag.take_expected();
        let (key, iv) = (self.key()?, self.base.iv());
        self.base.tag = if self.base.encrypts {
            Tag::Computed(whole::seal(key, iv, &[message.aad], data)?)
        } else {
            whole::open(key, iv, &[message.aad], data, &expected?[..self.tag_bytes])?;
            Tag::Done
        };
        Ok(())
    }

    /// Begins a message of `bytes` bytes; fails without an unused IV.
    fn start(&mut self, bytes: usize) -> Outcome {
        if !matches!(self.base.state, Iv::Buffered | Iv::Running(_)) {
            return Err(Refused::SILENTLY);
        }
        self.key()?;
        self.base.tag.begin(self.base.encrypts);
        self.base.state = Iv::Running(Message { bytes, aad: Vec::new() });
        Ok(())
    }

    fn add_aad(&mut self, aad: &[u8]) -> Outcome {
        match &mut self.base.state {
            // OpenSSL would authenticate only the last of several pieces.
            Iv::Running(message) if message.aad.is_empty() || aad.is_empty() => {
                message.aad.extend_from_slice(aad);
                Ok(())
            }
            Iv::Buffered if aad.is_empty() => Ok(()),
            _ => Err(Refused::SILENTLY),
        }
    }

    /// Encrypts or decrypts a TLS record. Returns the number of result bytes.
    fn record(&mut self, record: &mut [u8], header: [u8; tls::HEADER]) -> Outcome<usize> {
        self.key()?;
        if !self.has_fixed_iv || self.base.iv_bytes != tls::FIXED_IV + tls::EXPLICIT_IV {
            return Err(Refused::SILENTLY);
        }
        let record_bytes = record.len();
        let (explicit, text, tag) = tls::parts(record, self.tag_bytes).ok_or(Refused::SILENTLY)?;
        if self.base.encrypts {
            // The record's sequence number, at the start of the additional data.
            explicit.copy_from_slice(&header[..tls::EXPLICIT_IV]);
        }
        self.base.iv[tls::FIXED_IV..self.base.iv_bytes].copy_from_slice(explicit);
        let (key, iv) = (self.key()?, self.base.iv());
        if self.base.encrypts {
            key.seal_in_place_detached(iv, &header, text, tag)?;
            return Ok(record_bytes);
        }
        key.open_in_place_detached(iv, &header, text, tag).map_err(|_| Refused::SILENTLY)?;
        Ok(text.len())
    }

    /// Processes a TLS record, the message, or its additional data if the output is NULL, or sets the length of the
    /// message if the input is NULL as well. Returns the number of result bytes.
    ///
    /// # Safety
    /// See [`Cipher::update`].
    unsafe fn piece(&mut self, buffers: Buffers) -> Outcome<usize> {
        if self.key.is_none() {
            return Err(Refused::SILENTLY);
        }
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
            return Ok(count);
        }
        buffers.check()?;
        if matches!(self.base.state, Iv::Buffered) {
            self.start(count)?;
        }
        // SAFETY: guaranteed by the caller.
        unsafe { self.message(buffers) }?;
        Ok(count)
    }

    fn set_tag(&mut self, param: &Param) -> Outcome {
        let bytes = param.octet_size()?;
        if !(4..=TAG_BYTES).contains(&bytes) || !bytes.is_multiple_of(2) {
            return Err(Refused::INVALID_TAG_LENGTH);
        }
        if param.has_data() {
            if self.base.encrypts {
                return Err(Refused::TAG_NOT_NEEDED);
            }
            self.base.tag = Tag::expected(param.octets()?);
        }
        self.tag_bytes = bytes;
        Ok(())
    }

    /// Returns the tag of a message once.
    fn get_tag(&mut self, param: &mut Param) -> Outcome {
        let Some(tag) = self.base.computed_tag() else { return Err(Refused::TAG_NOT_SET) };
        if !param.is_octets() {
            return Err(Refused::FAILED_TO_SET_PARAMETER);
        }
        let bytes = self.key.as_ref().map_or(0, |sized| sized.key.tag_bytes());
        if param.size() != bytes {
            return Err(Refused::SILENTLY);
        }
        param.set_bytes(&tag[..bytes])?;
        self.base.tag = Tag::Done;
        Ok(())
    }

    fn set_tls_header(&mut self, param: &Param) -> Outcome {
        let header = tls::header(param.octets()?, self.base.encrypts, self.tag_bytes);
        let (header, possible) = header.ok_or(Refused::INVALID_DATA)?;
        self.tls_header = Some(header);
        self.base.tag = Tag::None;
        if !possible {
            return Err(Refused::INVALID_DATA);
        }
        self.tls_padding = self.tag_bytes;
        Ok(())
    }

    fn set_fixed_iv(&mut self, param: &Param) -> Outcome {
        let fixed = param.octets()?;
        let fixed: &[u8; tls::FIXED_IV] = fixed.try_into().map_err(|_| Refused::INVALID_IV_LENGTH)?;
        self.base.iv[..tls::FIXED_IV].copy_from_slice(fixed);
        self.has_fixed_iv = true;
        Ok(())
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
            tls_padding: 0,
            has_fixed_iv: false,
        }
    }

    fn init(&mut self, encrypts: bool, key: Option<&[u8]>, iv: Option<&[u8]>) -> Outcome {
        self.base.set_direction(encrypts);
        self.base.set_iv(iv, self.base.iv_bytes..=self.base.iv_bytes)?;
        if let Some(key) = key {
            let options = KeyOptions::new().short_tag_bytes(self.tag_bytes);
            let key = cipher::key_with(options, "ccm", key, self.base.key_bytes)?;
            self.key = Some(SizedKey { key, iv_bytes: self.base.iv_bytes });
            self.base.state.abort();
        }
        if iv.is_some() || key.is_some() {
            self.base.tag.begin(encrypts);
        }
        Ok(())
    }

    unsafe fn update(&mut self, buffers: Buffers) -> Outcome<usize> {
        buffers.check_room()?;
        // SAFETY: guaranteed by the caller.
        unsafe { self.piece(buffers) }.map_err(|_| Refused::CIPHER_OPERATION_FAILED)
    }

    /// Processes the message if it is empty, because `update` need not be called for it. `update` has processed all
    /// others.
    unsafe fn finish(&mut self, _: *mut u8, _: usize) -> Outcome<usize> {
        if self.key.is_none() {
            return Err(Refused::SILENTLY);
        }
        if self.tls_header.take().is_some() {
            self.base.state = Iv::Finished;
            return Err(Refused::SILENTLY);
        }
        if matches!(self.base.state, Iv::Buffered) {
            self.start(0)?;
        }
        match self.base.state {
            // SAFETY: an empty message has no buffers.
            Iv::Running(_) => unsafe { self.message(Buffers::EMPTY) }?,
            Iv::Finished if self.base.tag.is_done() => {}
            _ => return Err(Refused::SILENTLY),
        }
        Ok(0)
    }

    /// Sets the length of the message if there are no buffers. Calls for the end have a length of 0.
    unsafe fn cipher(&mut self, buffers: Buffers) -> Outcome<usize> {
        let is_length = buffers.input.is_null() && buffers.output.is_null() && buffers.count > 0;
        if buffers.input.is_null() && !is_length {
            // SAFETY: guaranteed by the caller.
            unsafe { self.finish(buffers.output, buffers.room) }?;
            return Ok(buffers.count);
        }
        buffers.check_room()?;
        // SAFETY: guaranteed by the caller.
        unsafe { self.piece(buffers) }.map_err(|_| Refused::SILENTLY)?;
        Ok(buffers.count)
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

    fn get(&mut self, param: &mut Param) -> Outcome {
        match param.name() {
            b"tlsaadpad" => param.set_number(self.tls_padding),
            b"tag" => self.get_tag(param),
            _ => self.base.get(param, self.tag_bytes),
        }
    }

    fn set_one(&mut self, param: &Param) -> Outcome {
        match param.name() {
            b"tag" => self.set_tag(param),
            b"ivlen" => {
                if self.base.set_iv_bytes(param, 7..=IV_BYTES)? {
                    self.base.state = Iv::Unset;
                }
                Ok(())
            }
            b"keylen" => self.base.check_key_bytes(param, Refused::INVALID_KEY_LENGTH),
            b"tlsaad" => self.set_tls_header(param),
            b"tlsivfixed" => self.set_fixed_iv(param),
            b"tlsivinv" => Err(Refused::SILENTLY),
            _ => Ok(()),
        }
    }
}
