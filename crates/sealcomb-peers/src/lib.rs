//! A common interface to other AES libraries, to compare them with sealcomb.
//!
//! Every peer is used as its documentation recommends for many messages under one key: the key is expanded once, and
//! each message is sealed in place with a detached tag.
//!
//! ```
//! for peer in sealcomb_peers::peers("aes128-gcm", &[7; 16]) {
//!     let (mut message, mut tag) = (*b"attack at dawn", [0; 16]);
//!     peer.seal(&[1; 12], &mut message, &mut tag);
//!     println!("{}: {message:02x?} {tag:02x?}", peer.library());
//! }
//! ```
#![forbid(unsafe_code)]

#[cfg(feature = "native")]
mod aegis;
#[cfg(feature = "native")]
mod aws_lc_rs;
#[cfg(all(feature = "ipsec-mb", target_arch = "x86_64"))]
mod ipsec_mb;
#[cfg(feature = "openssl")]
mod openssl;
#[cfg(feature = "native")]
mod ring;
mod rustcrypto;
mod versions;

/// A message to seal or open in place, without additional data.
pub struct Message<'a> {
    /// The nonce, of the algorithm's usual length.
    pub nonce: &'a [u8],
    /// The data, changed in place. A MAC does not change it.
    pub data: &'a mut [u8],
    /// The tag, written when sealing and read when opening. An unauthenticated cipher does not use it.
    pub tag: &'a mut [u8],
}

/// A library's operations under an expanded key.
trait Library {
    /// Replaces the key.
    fn rekey(&mut self, key: &[u8]);

    /// Seals a message.
    fn seal(&self, message: Message<'_>);

    /// Opens a message and returns whether it verified. Always `true` for an unauthenticated cipher.
    fn open(&self, message: Message<'_>) -> bool;

    /// Returns whether the library has a call for many messages.
    fn takes_many(&self) -> bool {
        false
    }

    /// Returns whether the library processes a message of `bytes` bytes under this nonce correctly.
    fn takes(&self, _nonce: &[u8], _bytes: usize) -> bool {
        true
    }

    /// Seals many messages, or opens them and returns whether all of them verified. The default processes them one
    /// by one.
    fn run(&self, messages: &mut [Message<'_>], opens: bool) -> bool {
        let mut genuine = true;
        for Message { nonce, data, tag } in messages {
            if opens {
                genuine &= self.open(Message { nonce, data, tag });
            } else {
                self.seal(Message { nonce, data, tag });
            }
        }
        genuine
    }
}

/// A library that processes one message at a time: the expanded key, the function that expands it, and a function per
/// direction.
struct OneByOne<K, M, S, O> {
    key: K,
    make: M,
    seal: S,
    open: O,
}

impl<K, M, S, O> Library for OneByOne<K, M, S, O>
where
    M: Fn(&[u8]) -> K,
    S: Fn(&K, &[u8], &mut [u8], &mut [u8]),
    O: Fn(&K, &[u8], &mut [u8], &[u8]) -> bool,
{
    fn rekey(&mut self, key: &[u8]) {
        self.key = (self.make)(key);
    }

    fn seal(&self, Message { nonce, data, tag }: Message<'_>) {
        (self.seal)(&self.key, nonce, data, tag);
    }

    fn open(&self, Message { nonce, data, tag }: Message<'_>) -> bool {
        (self.open)(&self.key, nonce, data, tag)
    }
}

/// A library's implementation of an algorithm, with an expanded key.
pub struct Peer {
    library: String,
    calls: Box<dyn Library>,
}

impl Peer {
    /// Creates a peer that processes one message at a time. `make` expands a key; `seal` and `open` take the
    /// expanded key, a nonce, a message and its tag.
    fn new<K: 'static>(
        library: String,
        key: &[u8],
        make: impl Fn(&[u8]) -> K + 'static,
        seal: impl Fn(&K, &[u8], &mut [u8], &mut [u8]) + 'static,
        open: impl Fn(&K, &[u8], &mut [u8], &[u8]) -> bool + 'static,
    ) -> Self {
        Self { library, calls: Box::new(OneByOne { key: make(key), make, seal, open }) }
    }

    /// Returns the name and version of the library, for example `ring-0.17.14`.
    pub fn library(&self) -> &str {
        &self.library
    }

    /// Replaces the key by one of the same length.
    ///
    /// # Panics
    /// If the length differs.
    pub fn rekey(&mut self, key: &[u8]) {
        self.calls.rekey(key);
    }

    /// Seals `message` in place, without additional data. A MAC does not change `message`, and an unauthenticated
    /// cipher does not change `tag`.
    ///
    /// # Panics
    /// If the algorithm does not accept the length of the nonce, the tag or the message.
    pub fn seal(&self, nonce: &[u8], message: &mut [u8], tag: &mut [u8]) {
        self.calls.seal(Message { nonce, data: message, tag });
    }

    /// Opens `message` in place and returns whether it verified. Always `true` for an unauthenticated cipher. The
    /// contents of a forged message afterward depend on the library.
    ///
    /// # Panics
    /// If the algorithm does not accept the length of the nonce, the tag or the message.
    #[must_use]
    pub fn open(&self, nonce: &[u8], message: &mut [u8], tag: &mut [u8]) -> bool {
        self.calls.open(Message { nonce, data: message, tag })
    }

    /// Returns whether the library processes a message of `bytes` bytes under this nonce correctly. Intel's library
    /// does not support empty messages, its CTR counts 32 bits only, and its CFB leaves a partial block unchanged.
    pub fn takes(&self, nonce: &[u8], bytes: usize) -> bool {
        self.calls.takes(nonce, bytes)
    }

    /// Returns whether the library has a call for many messages.
    pub fn takes_many(&self) -> bool {
        self.calls.takes_many()
    }

    /// Seals many messages, by one call if the library has one for many, otherwise one by one.
    ///
    /// # Panics
    /// If the algorithm does not accept the length of a nonce, a tag or a message.
    pub fn seal_many(&self, messages: &mut [Message<'_>]) {
        self.calls.run(messages, false);
    }

    /// Opens many messages and returns whether all of them verified: by one call if the library has one for many,
    /// otherwise one by one.
    ///
    /// # Panics
    /// If the algorithm does not accept the length of a nonce, a tag or a message.
    #[must_use]
    pub fn open_many(&self, messages: &mut [Message<'_>]) -> bool {
        self.calls.run(messages, true)
    }
}

/// Returns the libraries that implement `algorithm`, an id from sealcomb's catalog, with `key` expanded.
///
/// # Panics
/// If the algorithm does not accept the length of the key.
pub fn peers(algorithm: &str, key: &[u8]) -> Vec<Peer> {
    let made = [
        rustcrypto::peer(algorithm, key),
        #[cfg(all(feature = "ipsec-mb", target_arch = "x86_64"))]
        ipsec_mb::peer(algorithm, key),
        #[cfg(feature = "native")]
        aegis::peer(algorithm, key),
        #[cfg(feature = "native")]
        ring::peer(algorithm, key),
        #[cfg(feature = "native")]
        aws_lc_rs::peer(algorithm, key),
        #[cfg(feature = "openssl")]
        openssl::peer(algorithm, key),
    ];
    made.into_iter().flatten().collect()
}
