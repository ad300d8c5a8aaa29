//! GCM, for messages in any number of pieces, and for TLS records.

use std::sync::Arc;

use ctutils::CtEq;
use sealcomb::Key;

use crate::aead_pipeline::Mode;
use crate::cipher::{self, Base, Cipher};
use crate::context::Context;
use crate::data::Buffers;
use crate::errors::{Outcome, Refused};
use crate::iv::{Iv, TAG_BYTES, Tag};
use crate::openssl::Param;
use crate::params;
use crate::stream::Stream;
use crate::tls;

/// Maximum size of an IV in bytes, as in OpenSSL.
const IV_BYTES: usize = 128;
/// Minimum size of a random IV in bytes.
const RANDOM_IV: usize = 12;
/// Size in bytes of the counter at the end of a generated IV.
const COUNTER: usize = 8;

#[derive(Clone)]
pub(crate) struct Gcm {
    base: Base<(), IV_BYTES>,
    key: Option<Arc<Key>>,
    /// The library's stream, created with the first message under a key.
    stream: Option<Stream>,
    /// Whether the IV has a fixed part and a counter, so that the next IV can be generated.
    has_counter: bool,
    /// Whether a message has used the IV, and the counter was not incremented since.
    iv_is_used: bool,
    /// Size in bytes of the last tag set or computed.
    tag_bytes: Option<usize>,
    /// The additional data of the next TLS record.
    tls_header: Option<[u8; tls::HEADER]>,
    /// By how many bytes a TLS record is longer than its text; 0 before the first one.
    tls_padding: usize,
    /// Number of TLS records encrypted under the key.
    records: u64,
}

fn fill_randomly(iv: &mut [u8]) -> Outcome {
    sealcomb_random::fill(iv).map_err(|_| Refused::SILENTLY)
}

impl Gcm {
    /// Begins a message with the current IV.
    fn start(&mut self) -> Outcome<&mut Stream> {
        let key = self.key.as_ref().ok_or(Refused::SILENTLY)?;
        Stream::begin(&mut self.stream, key, self.base.encrypts, self.base.iv(), TAG_BYTES)?;
        self.base.tag.begin(self.base.encrypts);
        self.base.state = Iv::Running(());
        self.iv_is_used = true;
        self.stream.as_mut().ok_or(Refused::SILENTLY)
    }

    /// Returns the message in progress, beginning one if needed.
    fn message(&mut self) -> Outcome<&mut Stream> {
        match self.base.state {
            _ if self.key.is_none() => Err(Refused::SILENTLY),
            Iv::Running(()) => self.stream.as_mut().ok_or(Refused::SILENTLY),
            Iv::Buffered => self.start(),
            Iv::Unset if self.base.encrypts && self.base.iv_bytes >= RANDOM_IV => {
                fill_randomly(&mut self.base.iv[..self.base.iv_bytes])?;
                self.start()
            }
            Iv::Unset | Iv::Finished => Err(Refused::SILENTLY),
        }
    }

    /// Processes a piece of the message, or of the additional data if the output is NULL, or ends the message if the
    /// input is NULL. Returns the number of result bytes.
    ///
    /// # Safety
    /// See [`Buffers::data`] and [`Buffers::aad`].
    unsafe fn piece(&mut self, buffers: Buffers) -> Outcome<usize> {
        if self.tls_header.is_some() {
            // SAFETY: guaranteed by the caller.
            let bytes = unsafe { buffers.record() }.and_then(|record| self.record(record));
            self.tls_header = None;
            self.base.state = Iv::Finished;
            return bytes;
        }
        if buffers.input.is_null() {
            self.end()?;
            return Ok(0);
        }
        let stream = self.message()?;
        if buffers.output.is_null() {
            // SAFETY: guaranteed by the caller.
            stream.aad(unsafe { buffers.aad() }?)?;
        } else {
            // SAFETY: guaranteed by the caller.
            stream.update(unsafe { buffers.data() }?)?;
        }
        Ok(buffers.count)
    }

    fn end(&mut self) -> Outcome {
        self.message()?;
        if !self.base.encrypts && !self.base.tag.is_expected() {
            // A context's first tag may still be set. Later, OpenSSL would compare with the previous message's tag.
            if self.tag_bytes.is_some() {
                self.base.state = Iv::Finished;
            }
            return Err(Refused::SILENTLY);
        }
        self.base.state = Iv::Finished;
        let mut computed = [0; TAG_BYTES];
        self.stream.as_mut().ok_or(Refused::SILENTLY)?.finish(&mut computed)?;
        if self.base.encrypts {
            self.base.tag = Tag::Computed(computed);
            self.tag_bytes = Some(TAG_BYTES);
            return Ok(());
        }
        let expected = self.base.tag.take_expected()?;
        let bytes = self.tag_bytes.ok_or(Refused::SILENTLY)?;
        let verified = expected[..bytes].ct_eq(&computed[..bytes]).to_bool();
        if verified { Ok(()) } else { Err(Refused::SILENTLY) }
    }

    /// Encrypts or decrypts a TLS record. Returns the number of result bytes.
    fn record(&mut self, record: &mut [u8]) -> Outcome<usize> {
        let (Some(key), Some(header)) = (self.key.clone(), self.tls_header) else {
            return Err(Refused::SILENTLY);
        };
        let record_bytes = record.len();
        let (explicit, text, tag) = tls::parts(record, TAG_BYTES).ok_or(Refused::SILENTLY)?;
        if self.base.encrypts {
            self.records = self.records.checked_add(1).ok_or(Refused::SILENTLY)?;
            self.copy_iv_end(explicit)?;
            self.tag_bytes = Some(TAG_BYTES);
            key.seal_in_place_detached(self.base.iv(), &header, text, tag)?;
            self.increment_counter();
            Ok(record_bytes)
        } else {
            self.set_counter(explicit)?;
            self.tag_bytes = Some(TAG_BYTES);
            key.open_in_place_detached(self.base.iv(), &header, text, tag).map_err(|_| Refused::SILENTLY)?;
            Ok(text.len())
        }
    }

    /// Copies the last bytes of the next IV to `part`. Fails if a message was encrypted under this IV, which was set
    /// and not generated: OpenSSL would encrypt a second one.
    fn copy_iv_end(&self, part: &mut [u8]) -> Outcome {
        let is_used = self.base.encrypts && self.iv_is_used;
        if !self.has_counter || is_used || self.key.is_none() || self.base.iv_bytes < COUNTER {
            return Err(Refused::SILENTLY);
        }
        let first = self.base.iv_bytes.checked_sub(part.len()).ok_or(Refused::SILENTLY)?;
        part.copy_from_slice(&self.base.iv()[first..]);
        Ok(())
    }

    fn increment_counter(&mut self) {
        self.iv_is_used = false;
        let counter = &mut self.base.iv[self.base.iv_bytes - COUNTER..self.base.iv_bytes];
        for byte in counter.iter_mut().rev() {
            *byte = byte.wrapping_add(1);
            if *byte != 0 {
                break;
            }
        }
    }

    /// Sets the last bytes of the IV to those that the sender chose.
    fn set_counter(&mut self, part: &[u8]) -> Outcome {
        if !self.has_counter || self.key.is_none() || self.base.encrypts || part.len() > self.base.iv_bytes {
            return Err(Refused::SILENTLY);
        }
        self.base.iv[self.base.iv_bytes - part.len()..self.base.iv_bytes].copy_from_slice(part);
        Ok(())
    }

    /// Begins a message with the next IV and returns its last bytes: as many as the parameter's size, or all of them
    /// if that is 0 or too large.
    fn generate_iv(&mut self, param: &mut Param) -> Outcome {
        let bytes = match param.octet_size().map_err(|_| Refused::SILENTLY)? {
            0 => self.base.iv_bytes,
            room => room.min(self.base.iv_bytes),
        };
        let mut part = [0; IV_BYTES];
        self.copy_iv_end(&mut part[..bytes])?;
        // SAFETY: EVP_EncryptInit(3), EVP_CTRL_GCM_IV_GEN: with size 0, the caller has space for a whole IV.
        if !unsafe { param.write_octets(&part[..bytes]) } {
            return Err(Refused::SILENTLY);
        }
        self.start()?;
        self.increment_counter();
        Ok(())
    }

    /// Sets the fixed part of the IV. When encrypting, the counter starts at a random value.
    fn set_fixed_iv(&mut self, param: &Param) -> Outcome {
        // SAFETY: EVP_EncryptInit(3), EVP_CTRL_AEAD_SET_IV_FIXED: with size -1, the caller passes a whole IV.
        if let Some(whole) = unsafe { param.octets_of_any_size(self.base.iv_bytes) } {
            self.base.iv[..self.base.iv_bytes].copy_from_slice(whole);
        } else {
            let fixed = param.octets()?;
            if fixed.len() < tls::FIXED_IV || self.base.iv_bytes < fixed.len() + COUNTER {
                return Err(Refused::FAILED_TO_GET_PARAMETER);
            }
            self.base.iv[..fixed.len()].copy_from_slice(fixed);
            if self.base.encrypts {
                fill_randomly(&mut self.base.iv[fixed.len()..self.base.iv_bytes])?;
            }
        }
        self.has_counter = true;
        self.iv_is_used = false;
        self.base.state = Iv::Buffered;
        self.base.tag.begin(self.base.encrypts);
        Ok(())
    }

    fn set_tag(&mut self, param: &Param) -> Outcome {
        let tag = param.octets()?;
        if tag.len() > TAG_BYTES {
            return Err(Refused::FAILED_TO_GET_PARAMETER);
        }
        if self.base.encrypts || tag.is_empty() {
            return Err(Refused::INVALID_TAG);
        }
        self.base.tag = Tag::expected(tag);
        self.tag_bytes = Some(tag.len());
        Ok(())
    }

    fn set_tls_header(&mut self, param: &Param) -> Outcome {
        let header = tls::header(param.octets()?, self.base.encrypts, TAG_BYTES);
        let (header, possible) = header.ok_or(Refused::INVALID_AAD)?;
        self.tls_header = Some(header);
        self.base.tag = Tag::None;
        if !possible {
            return Err(Refused::INVALID_AAD);
        }
        self.tls_padding = TAG_BYTES;
        Ok(())
    }
}

impl Cipher for Gcm {
    const INFO: cipher::Info =
        cipher::Info { mode: 0x6, block_bytes: 1, iv_bytes: 12, is_aead: true, has_own_iv: true };
    const GETTABLE: &'static [Param] = &params::RECORD_GETTABLE;
    const SETTABLE: &'static [Param] = &params::RECORD_SETTABLE;

    fn new(key_bytes: usize) -> Self {
        Self {
            base: Base::new(key_bytes, Self::INFO.iv_bytes),
            key: None,
            stream: None,
            has_counter: false,
            iv_is_used: false,
            tag_bytes: None,
            tls_header: None,
            tls_padding: 0,
            records: 0,
        }
    }

    fn init(&mut self, encrypts: bool, key: Option<&[u8]>, iv: Option<&[u8]>) -> Outcome {
        self.base.set_direction(encrypts);
        self.base.set_iv(iv, 1..=IV_BYTES)?;
        self.iv_is_used &= iv.is_none();
        if let Some(key) = key {
            self.key = Some(cipher::key("gcm", key, self.base.key_bytes)?);
            self.stream = None;
            // OpenSSL would continue the message with a counter of zeros.
            self.base.state.abort();
            self.records = 0;
        }
        if iv.is_some() || key.is_some() {
            self.base.tag.begin(encrypts);
        }
        Ok(())
    }

    unsafe fn update(&mut self, buffers: Buffers) -> Outcome<usize> {
        if buffers.count == 0 {
            return Ok(0);
        }
        buffers.check_room()?;
        // SAFETY: guaranteed by the caller.
        unsafe { self.piece(buffers) }.map_err(|_| Refused::CIPHER_OPERATION_FAILED)
    }

    unsafe fn finish(&mut self, output: *mut u8, room: usize) -> Outcome<usize> {
        // SAFETY: there is no input, so nothing is read or written.
        unsafe { self.piece(Buffers { input: std::ptr::null(), count: 0, output, room }) }?;
        Ok(0)
    }

    unsafe fn cipher(&mut self, buffers: Buffers) -> Outcome<usize> {
        buffers.check_room()?;
        // SAFETY: guaranteed by the caller.
        unsafe { self.piece(buffers) }.map_err(|_| Refused::SILENTLY)?;
        Ok(buffers.count)
    }
}

impl Mode for Gcm {
    const TRUNCATES_TAGS: bool = true;

    fn id(_: usize) -> Option<&'static str> {
        Some("gcm")
    }

    fn tag_bytes(&self) -> usize {
        TAG_BYTES
    }
}

impl Context for Gcm {
    fn duplicate(&self) -> Option<Self> {
        Some(self.clone())
    }

    fn get(&mut self, param: &mut Param) -> Outcome {
        match param.name() {
            b"tlsaadpad" => param.set_number(self.tls_padding),
            b"iv" | b"updated-iv" if matches!(self.base.state, Iv::Unset) => Err(Refused::SILENTLY),
            b"tag" => match self.base.computed_tag() {
                Some(tag) if !param.has_data() => param.set_bytes(tag),
                Some(tag) if (1..=TAG_BYTES).contains(&param.size()) => param.set_bytes(&tag[..param.size()]),
                _ => Err(Refused::INVALID_TAG),
            },
            b"tlsivgen" => self.generate_iv(param),
            _ => self.base.get(param, self.tag_bytes.unwrap_or(TAG_BYTES)),
        }
    }

    fn set_one(&mut self, param: &Param) -> Outcome {
        match param.name() {
            b"tag" => self.set_tag(param),
            b"ivlen" => {
                if self.base.set_iv_bytes(param, 1..=IV_BYTES)? && !matches!(self.base.state, Iv::Unset) {
                    self.base.state = Iv::Finished;
                }
                Ok(())
            }
            b"tlsaad" => self.set_tls_header(param),
            b"tlsivfixed" => self.set_fixed_iv(param),
            b"tlsivinv" => {
                self.set_counter(param.octets().map_err(|_| Refused::SILENTLY)?)?;
                self.start().map(|_| ())
            }
            _ => Ok(()),
        }
    }
}
