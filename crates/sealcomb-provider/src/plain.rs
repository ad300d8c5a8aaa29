//! CBC and CTR: messages in any number of pieces, encrypted but not authenticated. Contexts are as in OpenSSL's
//! default provider: without an IV, the first message has one of zeros, and after the end a message can continue.
//!
//! ```text
//! update: encrypt or decrypt what the buffered bytes and the piece allow
//! final:  encrypt the padded last block, or decrypt it and remove the padding
//! ```

use std::sync::Arc;

use sealcomb::Key;

use crate::cipher::{self, Cipher, Info};
use crate::context::Context;
use crate::data::{Buffers, Data};
use crate::errors::{Outcome, Refused};
use crate::openssl::Param;
use crate::params;
use crate::partial::{BLOCK, Partial};
use crate::tls_cbc::Records;
use crate::whole;

const NO_AAD: &[&[u8]] = &[];

/// Whether messages are encrypted, and whether the last block is padded.
#[derive(Clone, Copy)]
pub(crate) struct Way {
    pub(crate) encrypts: bool,
    pub(crate) pads: bool,
}

/// The bytes that a piece allows to process.
pub(crate) struct Taken<'a> {
    /// Number of bytes that the call returns.
    pub(crate) written: usize,
    /// The bytes that still have to be encrypted or decrypted.
    pub(crate) data: Data<'a>,
}

/// A message in progress, which as a byte string is the IV of its next bytes.
pub(crate) trait Progress: AsRef<[u8]> + Clone {
    const INFO: Info;
    /// The mode's part of the library's algorithm id.
    const ID: &'static str;
    /// Whether decrypting is encrypting. If not, the records of TLS cipher suites are processed.
    const IS_SYMMETRIC: bool;

    /// Begins a message.
    fn new(iv: [u8; BLOCK]) -> Self;

    /// Begins a message without a new IV, given the previous one if it was ever set.
    fn restart(&mut self, iv: Option<[u8; BLOCK]>);

    /// Returns the parameter `updated-iv`, to which programs can keep a pointer.
    fn next_iv(&mut self) -> &[u8; BLOCK];

    /// Returns the parameter `num`: how many bytes of the current block of keystream are used.
    fn used_in_block(&self) -> usize {
        0
    }

    /// Discards the rest of the current block of keystream.
    fn skip_block(&mut self) {}

    /// Returns the number of bytes that [`Progress::take`] writes. Refuses buffers that it refuses.
    fn check(&self, way: Way, buffers: &Buffers) -> Outcome<usize>;

    /// Moves what a piece allows to process to the output, if it is not there, and buffers the remainder. Refuses NULL,
    /// and too small an output.
    ///
    /// # Safety
    /// See [`Buffers::data`].
    unsafe fn take<'a>(&mut self, key: &Key, way: Way, buffers: Buffers) -> Outcome<Taken<'a>>;

    /// Looks at the bytes that are encrypted or decrypted next.
    fn look_ahead(&mut self, encrypts: bool, input: &[u8]);

    /// Proceeds after the result of these bytes.
    fn advance(&mut self, encrypts: bool, output: &[u8]);

    /// Returns the last block to process, padded, or 0 bytes if there is none. Refuses a message that is not a multiple
    /// of blocks but has to be.
    fn last(&self, way: Way) -> Outcome<Partial>;

    /// Ends the message with the result of its last block. Returns the bytes without padding. Refuses wrong padding.
    fn end(&mut self, way: Way, last: Partial) -> Outcome<Partial>;
}

/// A context for single messages.
#[derive(Clone)]
pub(crate) struct Plain<P> {
    key_bytes: usize,
    way: Way,
    key: Option<Arc<Key>>,
    /// The IV of the last init that had one, to which programs can keep a pointer; before that, zeros.
    iv: [u8; BLOCK],
    has_iv: bool,
    message: P,
    records: Records,
    /// The parameter `num` of CBC, which has no effect.
    unused_number: usize,
}

/// Encrypts or decrypts a message, or a part of one that has its own IV.
pub(crate) fn crypt(key: &Key, encrypts: bool, iv: &[u8], data: Data<'_>) -> Outcome {
    let done = if encrypts {
        whole::seal(key, iv, NO_AAD, data).map(drop)
    } else {
        whole::open(key, iv, NO_AAD, data, &[])
    };
    done.map_err(|_| Refused::CIPHER_OPERATION_FAILED)
}

impl<P: Progress> Plain<P> {
    pub(crate) fn way(&self) -> Way {
        self.way
    }

    /// Encrypts or decrypts the next whole blocks of the message, or all of CTR's next bytes.
    fn process(&mut self, mut data: Data<'_>) -> Outcome {
        if data.input().is_empty() {
            return Ok(());
        }
        let encrypts = self.way.encrypts;
        self.message.look_ahead(encrypts, data.input());
        let key = self.key.as_ref().ok_or(Refused::NO_KEY_SET)?;
        crypt(key, encrypts || P::IS_SYMMETRIC, self.message.as_ref(), data.reborrow())?;
        self.message.advance(encrypts, data.output());
        Ok(())
    }

    /// Encrypts or decrypts a TLS record in place. Returns the number of result bytes.
    ///
    /// # Safety
    /// See [`Buffers::record`].
    unsafe fn record(&mut self, buffers: Buffers) -> Outcome<usize> {
        let Buffers { count, room, .. } = buffers;
        if !self.way.pads || count > room {
            return Err(Refused::CIPHER_OPERATION_FAILED);
        }
        if !self.way.encrypts {
            // SAFETY: guaranteed by the caller.
            let record = unsafe { buffers.record() }?;
            self.process(Data::InPlace(&mut *record))?;
            return self.records.remove_padding(record).ok_or(Refused::CIPHER_OPERATION_FAILED);
        }
        let padded = self.records.padded(count).filter(|padded| *padded <= room);
        let padded = padded.ok_or(Refused::CIPHER_OPERATION_FAILED)?;
        // SAFETY: guaranteed by the caller; there is room for the padding.
        let record = unsafe { Buffers { count: padded, ..buffers }.record() }?;
        Records::pad(record, count);
        self.process(Data::InPlace(record))?;
        Ok(padded)
    }
}

impl<P: Progress> Cipher for Plain<P> {
    const INFO: Info = P::INFO;
    const GETTABLE: &'static [Param] = &params::PLAIN_GETTABLE;
    const SETTABLE: &'static [Param] = &params::PLAIN_SETTABLE;

    fn new(key_bytes: usize) -> Self {
        Self {
            key_bytes,
            way: Way { encrypts: true, pads: true },
            key: None,
            iv: [0; BLOCK],
            has_iv: false,
            message: P::new([0; BLOCK]),
            records: Records::default(),
            unused_number: 0,
        }
    }

    fn init(&mut self, encrypts: bool, key: Option<&[u8]>, iv: Option<&[u8]>) -> Outcome {
        if encrypts != self.way.encrypts && !P::IS_SYMMETRIC {
            // OpenSSL would decrypt with a key expanded for encryption, or the reverse.
            self.key = None;
        }
        self.way.encrypts = encrypts;
        self.unused_number = 0;
        match iv {
            Some(iv) => {
                self.iv = iv.try_into().map_err(|_| Refused::INVALID_IV_LENGTH)?;
                self.has_iv = true;
                self.message = P::new(self.iv);
            }
            None => self.message.restart(self.has_iv.then_some(self.iv)),
        }
        if let Some(key) = key {
            self.key = Some(cipher::key(P::ID, key, self.key_bytes)?);
        }
        Ok(())
    }

    unsafe fn update(&mut self, buffers: Buffers) -> Outcome<usize> {
        let (key, way) = (self.key.as_ref().ok_or(Refused::NO_KEY_SET)?, self.way);
        if !P::IS_SYMMETRIC && self.records.are_pieces() {
            // SAFETY: guaranteed by the caller.
            return unsafe { self.record(buffers) };
        }
        // SAFETY: guaranteed by the caller.
        let Taken { written, data } = unsafe { self.message.take(key, way, buffers) }?;
        self.process(data)?;
        Ok(written)
    }

    unsafe fn finish(&mut self, output: *mut u8, room: usize) -> Outcome<usize> {
        if self.key.is_none() {
            return Err(Refused::NO_KEY_SET);
        }
        if !P::IS_SYMMETRIC && self.records.are_pieces() {
            return Err(Refused::CIPHER_OPERATION_FAILED);
        }
        let mut last = self.message.last(self.way)?;
        let buffers = Buffers { input: std::ptr::null(), count: 0, output, room };
        if self.way.encrypts {
            last.check_room(&buffers)?;
        }
        self.process(Data::InPlace(last.bytes_mut()))?;
        let last = self.message.end(self.way, last)?;
        // SAFETY: guaranteed by the caller.
        unsafe { last.write_to(&buffers) }
    }

    /// Processes whole blocks, or for CTR any number of bytes, without regard to buffered bytes and padding.
    unsafe fn cipher(&mut self, buffers: Buffers) -> Outcome<usize> {
        let key = self.key.as_ref().ok_or(Refused::NO_KEY_SET)?;
        let data = if P::IS_SYMMETRIC {
            // SAFETY: guaranteed by the caller.
            unsafe { self.message.take(key, self.way, buffers) }?.data
        } else {
            // SAFETY: guaranteed by the caller.
            unsafe { buffers.data() }?
        };
        self.process(data)?;
        Ok(buffers.count)
    }
}

impl<P: Progress> Context for Plain<P> {
    fn duplicate(&self) -> Option<Self> {
        Some(self.clone())
    }

    fn get(&mut self, param: &mut Param) -> Outcome {
        match param.name() {
            b"keylen" => param.set_number(self.key_bytes),
            b"ivlen" => param.set_number(BLOCK),
            b"padding" => param.set_number(self.way.pads.into()),
            b"num" => param.set_number(self.unused_number + self.message.used_in_block()),
            b"iv" => param.set_iv(&self.iv),
            b"updated-iv" => param.set_iv(self.message.next_iv()),
            b"tls-mac" => self.records.get_mac(param),
            _ => Ok(()),
        }
    }

    fn set_one(&mut self, param: &Param) -> Outcome {
        match param.name() {
            b"padding" => self.way.pads = param.get_uint()? != 0,
            b"num" => {
                let number = param.get_uint()? as usize;
                if number >= P::INFO.block_bytes {
                    return Err(Refused::FAILED_TO_GET_PARAMETER);
                }
                self.unused_number = number;
                self.message.skip_block();
            }
            b"tls-version" => self.records.set_version(param)?,
            b"tls-mac-size" => self.records.set_mac_bytes(param)?,
            _ => {}
        }
        Ok(())
    }
}
