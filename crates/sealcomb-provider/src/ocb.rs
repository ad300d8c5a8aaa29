//! OCB, for messages and additional data in any number of pieces. A piece returns the whole blocks so far, and the
//! end returns the final partial block.

use std::slice;
use std::sync::Arc;

use ctutils::CtEq;
use sealcomb::Key;

use crate::aead_pipeline::Mode;
use crate::cipher::{self, Base, Cipher};
use crate::context::Context;
use crate::data::{Buffers, Data};
use crate::errors::{Outcome, Refused};
use crate::iv::{Iv, TAG_BYTES, Tag};
use crate::openssl::Param;
use crate::params;
use crate::partial::{BLOCK, Partial};
use crate::stream::Stream;

/// Maximum size of an IV in bytes.
const IV_BYTES: usize = 15;

#[derive(Clone)]
pub(crate) struct Ocb {
    base: Base<Message, IV_BYTES>,
    key: Option<Arc<Key>>,
    /// The library's stream, created with the first message under a key and tag size.
    stream: Option<Stream>,
    tag_bytes: usize,
}

/// A message in progress.
#[derive(Clone, Default)]
struct Message {
    partial: Partial,
    /// Size of the additional data in bytes; only its remainder modulo [`BLOCK`] is significant.
    aad_bytes: usize,
}

impl Ocb {
    /// Begins a message with the current IV.
    fn start(&mut self) -> Outcome {
        let key = self.key.as_ref().ok_or(Refused::SILENTLY)?;
        Stream::begin(&mut self.stream, key, self.base.encrypts, self.base.iv(), self.tag_bytes)?;
        self.base.tag.begin(self.base.encrypts);
        self.base.state = Iv::Running(Message::default());
        Ok(())
    }

    /// Returns the message in progress, beginning one if needed.
    fn message(&mut self) -> Outcome<(&mut Stream, &mut Message)> {
        if self.key.is_some() && matches!(self.base.state, Iv::Buffered) {
            self.start()?;
        }
        match (&mut self.base.state, &mut self.stream, &self.key) {
            (Iv::Running(message), Some(stream), Some(_)) => Ok((stream, message)),
            _ => Err(Refused::SILENTLY),
        }
    }

    fn set_tag(&mut self, param: &Param) -> Outcome {
        let bytes = param.octet_size()?;
        if !param.has_data() {
            // The tag size affects the whole message. OpenSSL would use one size for the nonce, the other for the tag.
            if bytes > TAG_BYTES || (matches!(self.base.state, Iv::Running(_)) && bytes != self.tag_bytes) {
                return Err(Refused::INVALID_TAG_LENGTH);
            }
            // OpenSSL would return a part of the last message's tag, or append bytes of an earlier one.
            if bytes != self.tag_bytes && self.base.tag.computed().is_some() {
                self.base.tag = Tag::None;
            }
            self.tag_bytes = bytes;
            return Ok(());
        }
        if self.base.encrypts {
            return Err(Refused::PASSED_INVALID_ARGUMENT);
        }
        if bytes != self.tag_bytes {
            return Err(Refused::INVALID_TAG_LENGTH);
        }
        self.base.tag = Tag::expected(param.octets()?);
        Ok(())
    }
}

impl Cipher for Ocb {
    const INFO: cipher::Info =
        cipher::Info { mode: 0x10003, block_bytes: BLOCK, iv_bytes: 12, is_aead: true, has_own_iv: true };
    const GETTABLE: &'static [Param] = &params::AEAD_GETTABLE;
    const SETTABLE: &'static [Param] = &params::AEAD_SETTABLE;

    fn new(key_bytes: usize) -> Self {
        Self {
            base: Base::new(key_bytes, Self::INFO.iv_bytes),
            key: None,
            stream: None,
            tag_bytes: TAG_BYTES,
        }
    }

    fn init(&mut self, encrypts: bool, key: Option<&[u8]>, iv: Option<&[u8]>) -> Outcome {
        // OpenSSL would discard the partial block and continue the message.
        if matches!(&self.base.state, Iv::Running(message) if message.partial.count > 0 || message.aad_bytes % BLOCK > 0)
        {
            self.base.state = Iv::Finished;
        }
        self.base.set_direction(encrypts);
        self.base.set_iv(iv, 1..=IV_BYTES)?;
        if let Some(key) = key {
            self.key = Some(cipher::key("ocb3-t128", key, self.base.key_bytes)?);
            self.stream = None;
            // OpenSSL would continue the message with an offset of zeros.
            self.base.state.abort();
        }
        if iv.is_some() || key.is_some() {
            self.base.tag.begin(encrypts);
        }
        Ok(())
    }

    unsafe fn update(&mut self, buffers: Buffers) -> Outcome<usize> {
        let (stream, message) = self.message()?;
        if buffers.count == 0 {
            return Ok(0);
        }
        if buffers.output.is_null() {
            // SAFETY: guaranteed by the caller.
            stream.aad(unsafe { buffers.aad() }?).map_err(|_| Refused::CIPHER_OPERATION_FAILED)?;
            let before = message.aad_bytes % BLOCK;
            message.aad_bytes = before + buffers.count % BLOCK;
            // OpenSSL's return value: the bytes in the blocks that are now complete.
            return Ok((before + buffers.count) / BLOCK * BLOCK);
        }
        let all = message.partial.count.checked_add(buffers.count).ok_or(Refused::CIPHER_OPERATION_FAILED)?;
        let whole = all / BLOCK * BLOCK;
        // SAFETY: guaranteed by the caller.
        let whole = unsafe { message.partial.join(buffers, whole) }?;
        stream.update(Data::InPlace(whole)).map_err(|_| Refused::CIPHER_OPERATION_FAILED)?;
        Ok(whole.len())
    }

    unsafe fn finish(&mut self, output: *mut u8, room: usize) -> Outcome<usize> {
        let count = self.message()?.1.partial.count;
        let fits = count == 0 || (count <= room && !output.is_null());
        let (Some(stream), true) = (&mut self.stream, fits) else { return Err(Refused::SILENTLY) };
        let Iv::Running(message) = std::mem::replace(&mut self.base.state, Iv::Finished) else {
            return Err(Refused::SILENTLY);
        };
        // SAFETY: guaranteed by the caller. The slice is no longer than needed, as OpenSSL's `room` can exceed the
        // buffer.
        let output = if count == 0 { &mut [] } else { unsafe { slice::from_raw_parts_mut(output, count) } };
        stream.update(Data::Apart(message.partial.bytes(), output))?;
        let (mut computed, bytes) = ([0; TAG_BYTES], stream.tag_bytes());
        stream.finish(&mut computed[..bytes])?;
        if self.base.encrypts {
            self.base.tag = Tag::Computed(computed);
            return Ok(count);
        }
        let verified = self
            .base
            .tag
            .take_expected()
            .is_ok_and(|expected| expected[..bytes].ct_eq(&computed[..bytes]).to_bool());
        if !verified {
            output.fill(0);
            return Err(Refused::SILENTLY);
        }
        Ok(count)
    }

    /// Returns the number of bytes written, as the other bytes of a partial block are buffered.
    unsafe fn cipher(&mut self, buffers: Buffers) -> Outcome<usize> {
        if buffers.input.is_null() {
            // SAFETY: guaranteed by the caller.
            return unsafe { self.finish(buffers.output, buffers.room) };
        }
        buffers.check_room()?;
        // SAFETY: guaranteed by the caller.
        unsafe { self.update(buffers) }.map_err(|_| Refused::CIPHER_OPERATION_FAILED)
    }
}

impl Mode for Ocb {
    fn id(tag_bytes: usize) -> Option<&'static str> {
        match tag_bytes {
            8 => Some("ocb3-t64"),
            12 => Some("ocb3-t96"),
            16 => Some("ocb3-t128"),
            _ => None,
        }
    }

    fn tag_bytes(&self) -> usize {
        self.tag_bytes
    }
}

impl Context for Ocb {
    fn duplicate(&self) -> Option<Self> {
        Some(self.clone())
    }

    fn get(&mut self, param: &mut Param) -> Outcome {
        match param.name() {
            b"tag" => match self.base.computed_tag() {
                _ if !param.is_octets() => Err(Refused::FAILED_TO_GET_PARAMETER),
                Some(tag) if param.size() == self.tag_bytes => param.set_bytes(&tag[..self.tag_bytes]),
                _ => Err(Refused::INVALID_TAG_LENGTH),
            },
            _ => self.base.get(param, self.tag_bytes),
        }
    }

    fn set_one(&mut self, param: &Param) -> Outcome {
        match param.name() {
            b"tag" => self.set_tag(param),
            b"ivlen" => {
                let is_new =
                    self.base.set_iv_bytes(param, 1..=IV_BYTES).map_err(|refused| match refused {
                        Refused::INVALID_IV_LENGTH => Refused::SILENTLY,
                        other => other,
                    })?;
                if is_new {
                    self.base.state = Iv::Unset;
                }
                Ok(())
            }
            b"keylen" => self.base.check_key_bytes(param, Refused::INVALID_KEY_LENGTH),
            _ => Ok(()),
        }
    }
}
