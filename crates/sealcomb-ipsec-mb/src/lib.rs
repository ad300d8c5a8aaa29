//! Bindings to Intel's Multi-Buffer Crypto for IPsec, for comparisons with sealcomb: bursts of messages under one
//! key.
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
use core::ptr::{NonNull, null_mut};

/// An AES mode of the library, in the order of `enum mode` in `burst.c`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// ECB on whole blocks.
    Ecb,
    /// CBC on whole blocks, with a 16-byte IV.
    Cbc,
    /// CFB with feedback of whole blocks and a 16-byte IV, supported since version 2.0.
    Cfb,
    /// CTR with a 16-byte initial counter block, of which 32 bits count.
    Ctr,
    /// CMAC with 16-byte tags.
    Cmac,
    /// CCM with nonces of 7 to 13 bytes and 16-byte tags.
    Ccm,
    /// GCM with 12-byte nonces and 16-byte tags.
    Gcm,
}

impl Mode {
    /// Returns whether messages have tags.
    pub fn has_tags(self) -> bool {
        matches!(self, Self::Cmac | Self::Ccm | Self::Gcm)
    }
}

/// A message to seal or open in place, in the layout of `struct message` in `burst.c`.
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
    /// Creates a message from its nonce, its data, and a buffer for the tag. A MAC does not modify `data`, and an
    /// unauthenticated cipher does not write `tag`.
    pub fn new(nonce: &'a [u8], data: &'a mut [u8], tag: &'a mut [u8; 16]) -> Self {
        Self { tag: tag.as_mut_ptr(), ..Self::without_tag(nonce, data) }
    }

    /// Creates a message of a mode without tags.
    pub fn without_tag(nonce: &'a [u8], data: &'a mut [u8]) -> Self {
        Self {
            nonce: nonce.as_ptr(),
            nonce_bytes: nonce.len(),
            data: data.as_mut_ptr(),
            data_bytes: data.len(),
            tag: null_mut(),
            memory: PhantomData,
        }
    }
}

/// `struct peer` of `burst.c`.
#[repr(C)]
struct Object([u8; 0]);

// SAFETY: the declarations match those in `burst.c`, which this crate compiles.
unsafe extern "C" {
    fn sealcomb_imb_new(mode: c_int, key: *const u8, key_bytes: usize) -> *mut Object;
    fn sealcomb_imb_free(object: *mut Object);
    fn sealcomb_imb_rekey(object: *mut Object, key: *const u8);
    fn sealcomb_imb_run(object: *mut Object, messages: *mut Message<'_>, count: usize, opens: c_int)
    -> usize;
    fn sealcomb_imb_version() -> *const c_char;
}

/// An expanded key and the library's job queues.
pub struct Peer {
    object: NonNull<Object>,
    mode: Mode,
    key_bytes: usize,
}

impl Peer {
    /// Expands a key. Returns `None` unless it has 16 or 32 bytes and the library supports the mode, or if the
    /// library cannot allocate memory.
    pub fn new(mode: Mode, key: &[u8]) -> Option<Self> {
        if !matches!(key.len(), 16 | 32) {
            return None;
        }
        // SAFETY: pointer and length are those of a slice, and the length is supported.
        let object = unsafe { sealcomb_imb_new(mode as c_int, key.as_ptr(), key.len()) };
        Some(Self { object: NonNull::new(object)?, mode, key_bytes: key.len() })
    }

    /// Replaces the key.
    ///
    /// # Panics
    /// If the length differs from that of the first key.
    pub fn rekey(&mut self, key: &[u8]) {
        assert_eq!(key.len(), self.key_bytes, "the new key must be as long as the first");
        // SAFETY: the object is valid and exclusively borrowed, and the key is as long as its first one.
        unsafe { sealcomb_imb_rekey(self.object.as_ptr(), key.as_ptr()) };
    }

    /// Seals messages in place.
    ///
    /// # Panics
    /// If a nonce has a length that the mode does not accept, a required tag is missing, or the library does not
    /// process all messages.
    pub fn seal(&self, messages: &mut [Message<'_>]) {
        self.run(messages, false);
    }

    /// Opens messages in place, and writes the computed tags to their tag buffers. The caller compares them.
    ///
    /// # Panics
    /// If a nonce has a length that the mode does not accept, a required tag is missing, or the library does not
    /// process all messages.
    pub fn open(&self, messages: &mut [Message<'_>]) {
        self.run(messages, true);
    }

    fn run(&self, messages: &mut [Message<'_>], opens: bool) {
        let takes = |bytes| match self.mode {
            Mode::Ecb | Mode::Cmac => true,
            Mode::Cbc | Mode::Cfb | Mode::Ctr => bytes == 16,
            Mode::Ccm => (7..=13).contains(&bytes),
            Mode::Gcm => bytes == 12,
        };
        assert!(messages.iter().all(|message| takes(message.nonce_bytes)), "nonce of an unsupported length");
        let tagged = messages.iter().all(|message| !message.tag.is_null());
        assert!(tagged || !self.mode.has_tags(), "message without a tag");
        // SAFETY: `Message::new` took all pointers from slices that are still borrowed. Nonces are as long as the
        // mode reads, and tags have 16 bytes; modes without tags do not access them. Bytes that do not fill a block are unchanged in modes that require
        // whole blocks.
        let done = unsafe {
            sealcomb_imb_run(self.object.as_ptr(), messages.as_mut_ptr(), messages.len(), c_int::from(opens))
        };
        assert_eq!(done, messages.len(), "the library did not process all messages");
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // SAFETY: `sealcomb_imb_new` created the object, and this is the only pointer to it.
        unsafe { sealcomb_imb_free(self.object.as_ptr()) };
    }
}

/// Returns the library's version.
pub fn version() -> &'static str {
    // SAFETY: the function returns a constant of the library, terminated by a null byte.
    unsafe { CStr::from_ptr(sealcomb_imb_version()) }.to_str().unwrap_or("unknown")
}
