//! Intel's Multi-Buffer Crypto for IPsec, as far as it is measured beside sealcomb: bursts of messages under one key.
//!
//! ```
//! use sealcomb_ipsec_mb::{Message, Mode, Peer};
//!
//! let peer = Peer::new(Mode::Gcm, &[7; 16]).expect("a key of 16 bytes");
//! let (mut data, mut tag) = (*b"attack at dawn", [0; 16]);
//! peer.seal(&mut [Message::new(&[1; 12], &mut data, &mut tag)]);
//! println!("{} {data:02x?} {tag:02x?}", sealcomb_ipsec_mb::version());
//! ```

use core::ffi::{CStr, c_char, c_int};
use core::marker::PhantomData;
use core::ptr::NonNull;

/// A mode of AES that the library has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// ECB, of whole blocks.
    Ecb,
    /// CBC, of whole blocks.
    Cbc,
    /// CTR with a counter block of 16 bytes.
    Ctr,
    /// CMAC.
    Cmac,
    /// CCM with nonces of 7 to 13 bytes and tags of 16 bytes.
    Ccm,
    /// GCM with nonces of 12 bytes and tags of 16 bytes.
    Gcm,
}

/// A message to seal or open in place; as the other side of the border reads it.
#[repr(C)]
pub struct Message<'a> {
    nonce: *const u8,
    nonce_bytes: usize,
    data: *mut u8,
    data_bytes: usize,
    tag: *mut u8,
    memory: PhantomData<&'a mut [u8]>,
}

impl<'a> Message<'a> {
    /// Data to be changed in place, unless the mode is a MAC, and where its tag goes, unless the mode is a bare cipher.
    pub fn new(nonce: &'a [u8], data: &'a mut [u8], tag: &'a mut [u8; 16]) -> Self {
        Self {
            nonce: nonce.as_ptr(),
            nonce_bytes: nonce.len(),
            data: data.as_mut_ptr(),
            data_bytes: data.len(),
            tag: tag.as_mut_ptr(),
            memory: PhantomData,
        }
    }
}

/// The other side's object.
#[repr(C)]
struct Object([u8; 0]);

// SAFETY: the declarations are those of `burst.c`, which this crate compiles.
unsafe extern "C" {
    fn sealcomb_imb_new(mode: c_int, key: *const u8, key_bytes: usize) -> *mut Object;
    fn sealcomb_imb_free(object: *mut Object);
    fn sealcomb_imb_rekey(object: *mut Object, key: *const u8);
    fn sealcomb_imb_run(object: *mut Object, messages: *mut Message<'_>, count: usize, opens: c_int)
    -> usize;
    fn sealcomb_imb_version() -> *const c_char;
}

/// A key made ready, with the library's queues.
pub struct Peer {
    object: NonNull<Object>,
    mode: Mode,
    key_bytes: usize,
}

impl Peer {
    /// A key of 16 or 32 bytes; none for other sizes, or where a mode does not take this one.
    pub fn new(mode: Mode, key: &[u8]) -> Option<Self> {
        if !matches!(key.len(), 16 | 32) {
            return None;
        }
        // SAFETY: the key has as many bytes as are said.
        let object = unsafe { sealcomb_imb_new(mode as c_int, key.as_ptr(), key.len()) };
        Some(Self { object: NonNull::new(object)?, mode, key_bytes: key.len() })
    }

    /// Takes another key of the same length.
    ///
    /// # Panics
    /// If it has another length.
    pub fn rekey(&mut self, key: &[u8]) {
        assert_eq!(key.len(), self.key_bytes, "a key of the same length");
        // SAFETY: the object is whole, nobody else uses it meanwhile, and the key has as many bytes as its first one.
        unsafe { sealcomb_imb_rekey(self.object.as_ptr(), key.as_ptr()) };
    }

    /// Seals messages, each in place.
    ///
    /// # Panics
    /// If the nonce of a message has another length than the mode takes, or the library returns fewer messages.
    pub fn seal(&self, messages: &mut [Message<'_>]) {
        self.run(messages, false);
    }

    /// Opens messages, each in place, and leaves the tag that each should have in it.
    ///
    /// # Panics
    /// As [`Peer::seal`].
    pub fn open(&self, messages: &mut [Message<'_>]) {
        self.run(messages, true);
    }

    fn run(&self, messages: &mut [Message<'_>], opens: bool) {
        let takes = |bytes| match self.mode {
            Mode::Ecb | Mode::Cmac => true,
            Mode::Cbc | Mode::Ctr => bytes == 16,
            Mode::Ccm => (7..=13).contains(&bytes),
            Mode::Gcm => bytes == 12,
        };
        assert!(messages.iter().all(|message| takes(message.nonce_bytes)), "a nonce of another length");
        // SAFETY: the messages are what their slices were, nonces are as long as the mode reads them, tags have 16 bytes.
        // Whole blocks are for the caller to see to: less than one is left as it is.
        let done = unsafe {
            sealcomb_imb_run(self.object.as_ptr(), messages.as_mut_ptr(), messages.len(), c_int::from(opens))
        };
        assert_eq!(done, messages.len(), "the library gives back each message");
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // SAFETY: it was made by `sealcomb_imb_new`, and nobody else has it.
        unsafe { sealcomb_imb_free(self.object.as_ptr()) };
    }
}

/// The library's version.
pub fn version() -> &'static str {
    // SAFETY: a literal of the other side.
    unsafe { CStr::from_ptr(sealcomb_imb_version()) }.to_str().unwrap_or("unknown")
}
