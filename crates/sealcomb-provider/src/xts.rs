//! XTS: each piece is a data unit, encrypted or decrypted with the IV that was set last as its tweak.

use std::sync::Arc;

use sealcomb::Key;

use crate::cipher::{self, Cipher};
use crate::context::Context;
use crate::data::{Buffers, Data};
use crate::openssl::Param;
use crate::params;
use crate::whole;

const TWEAK_BYTES: usize = 16;
const NO_AAD: &[&[u8]] = &[];

#[derive(Clone)]
pub(crate) struct Xts {
    key_bytes: usize,
    encrypts: bool,
    key: Option<Arc<Key>>,
    tweak: Option<[u8; TWEAK_BYTES]>,
}

impl Xts {
    fn data_unit(&self, data: Data<'_>) -> Option<()> {
        let (key, tweak) = (self.key.as_ref()?, self.tweak.as_ref()?);
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

    fn init(&mut self, encrypts: bool, key: Option<&[u8]>, iv: Option<&[u8]>) -> Option<()> {
        if encrypts != self.encrypts {
            self.encrypts = encrypts;
            // OpenSSL would continue in the previous direction.
            self.key = None;
        }
        if let Some(iv) = iv {
            self.tweak = Some(iv.try_into().ok()?);
        }
        if let Some(key) = key {
            self.key = Some(cipher::key("xts", key, self.key_bytes)?);
        }
        Some(())
    }

    unsafe fn update(&mut self, buffers: Buffers) -> Option<usize> {
        // SAFETY: guaranteed by the caller.
        self.data_unit(unsafe { buffers.data() }?)?;
        Some(buffers.count)
    }

    /// Does nothing, because every piece is complete.
    unsafe fn finish(&mut self, _: *mut u8, _: usize) -> Option<usize> {
        Some(0)
    }

    /// Processes a data unit. There is no call for the end.
    unsafe fn cipher(&mut self, buffers: Buffers) -> Option<usize> {
        // SAFETY: guaranteed by the caller.
        unsafe { self.update(buffers) }
    }
}

impl Context for Xts {
    fn duplicate(&self) -> Option<Self> {
        Some(self.clone())
    }

    fn get(&mut self, param: &mut Param) -> bool {
        match param.name() {
            b"keylen" => param.set_number(self.key_bytes),
            b"ivlen" => param.set_number(TWEAK_BYTES),
            b"iv" | b"updated-iv" => param.set_iv(self.tweak.as_ref().unwrap_or(&[0; TWEAK_BYTES])),
            _ => true,
        }
    }

    fn set_one(&mut self, param: &Param) -> Option<()> {
        match param.name() {
            b"keylen" => (param.get_number()? == self.key_bytes).then_some(()),
            _ => Some(()),
        }
    }
}
