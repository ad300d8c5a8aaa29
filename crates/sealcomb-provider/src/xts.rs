//! XTS: each piece is a data unit, encrypted or decrypted with the IV that was set last as its tweak.

use std::sync::Arc;

use sealcomb::Key;

use crate::cipher::{self, Cipher};
use crate::context::Context;
use crate::data::Buffers;
use crate::errors::{Outcome, Refused};
use crate::openssl::Param;
use crate::params;
use crate::partial::BLOCK;
use crate::whole;

const TWEAK_BYTES: usize = BLOCK;
const NO_AAD: &[&[u8]] = &[];
/// Maximum size of a data unit in bytes: 2^20 blocks. The minimum is one block.
const DATA_UNIT_BYTES: usize = 16 << 20;

#[derive(Clone)]
pub(crate) struct Xts {
    key_bytes: usize,
    encrypts: bool,
    key: Option<Arc<Key>>,
    tweak: Option<[u8; TWEAK_BYTES]>,
}

impl Xts {
    /// Encrypts or decrypts a data unit.
    ///
    /// # Safety
    /// See [`Buffers::data`].
    unsafe fn data_unit(&self, buffers: Buffers) -> Outcome {
        let (Some(key), Some(tweak)) = (&self.key, &self.tweak) else { return Err(Refused::SILENTLY) };
        if buffers.count > DATA_UNIT_BYTES {
            return Err(Refused::XTS_DATA_UNIT_IS_TOO_LARGE);
        }
        if buffers.count < BLOCK {
            return Err(Refused::SILENTLY);
        }
        // SAFETY: guaranteed by the caller.
        let data = unsafe { buffers.data() }.map_err(|_| Refused::SILENTLY)?;
        if self.encrypts {
            whole::seal(key, tweak, NO_AAD, data).map(drop)
        } else {
            whole::open(key, tweak, NO_AAD, data, &[])
        }
    }
}

impl Cipher for Xts {
    const INFO: cipher::Info = cipher::Info {
        mode: 0x10001,
        block_bytes: 1,
        iv_bytes: TWEAK_BYTES,
        is_aead: false,
        has_own_iv: true,
    };
    const GETTABLE: &'static [Param] = &params::XTS_GETTABLE;
    const SETTABLE: &'static [Param] = &params::XTS_SETTABLE;

    fn new(key_bytes: usize) -> Self {
        Self { key_bytes, encrypts: true, key: None, tweak: None }
    }

    fn init(&mut self, encrypts: bool, key: Option<&[u8]>, iv: Option<&[u8]>) -> Outcome {
        if encrypts != self.encrypts {
            self.encrypts = encrypts;
            // OpenSSL would continue in the previous direction.
            self.key = None;
        }
        if let Some(iv) = iv {
            self.tweak = Some(iv.try_into().map_err(|_| Refused::INVALID_IV_LENGTH)?);
        }
        if let Some(key) = key {
            self.key = Some(cipher::key("xts", key, self.key_bytes).map_err(|refused| match refused {
                Refused::SILENTLY => Refused::XTS_DUPLICATED_KEYS,
                other => other,
            })?);
        }
        Ok(())
    }

    unsafe fn update(&mut self, buffers: Buffers) -> Outcome<usize> {
        buffers.check_room()?;
        // SAFETY: guaranteed by the caller.
        unsafe { self.cipher(buffers) }.map_err(|refused| match refused {
            Refused::XTS_DATA_UNIT_IS_TOO_LARGE => Refused::XTS_PIECE_IS_TOO_LARGE,
            _ => Refused::CIPHER_OPERATION_FAILED,
        })
    }

    /// Does nothing, because every piece is complete.
    unsafe fn finish(&mut self, _: *mut u8, _: usize) -> Outcome<usize> {
        Ok(0)
    }

    /// Processes a data unit. There is no call for the end.
    unsafe fn cipher(&mut self, buffers: Buffers) -> Outcome<usize> {
        // SAFETY: guaranteed by the caller.
        unsafe { self.data_unit(buffers) }?;
        Ok(buffers.count)
    }
}

impl Context for Xts {
    fn duplicate(&self) -> Option<Self> {
        Some(self.clone())
    }

    fn get(&mut self, param: &mut Param) -> Outcome {
        match param.name() {
            b"keylen" => param.set_number(self.key_bytes),
            b"ivlen" => param.set_number(TWEAK_BYTES),
            b"iv" | b"updated-iv" => param.set_iv(self.tweak.as_ref().unwrap_or(&[0; TWEAK_BYTES])),
            _ => Ok(()),
        }
    }

    fn set_one(&mut self, param: &Param) -> Outcome {
        match param.name() {
            b"keylen" if param.get_number()? != self.key_bytes => Err(Refused::SILENTLY),
            _ => Ok(()),
        }
    }
}
