//! Other AES libraries behind one call, to be measured beside sealcomb.
//!
//! Every peer does what its own documentation recommends for many messages under one key: the key is made ready
//! once, each message is sealed in place with a detached tag.
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
    /// As long as the algorithm's usual nonce.
    pub nonce: &'a [u8],
    /// Changed in place; a MAC leaves it alone.
    pub data: &'a mut [u8],
    /// Written when sealing, read when opening; a cipher leaves it alone.
    pub tag: &'a mut [u8],
}

/// What a library does under a key that was made ready.
trait Library {
    /// Makes another key ready, and has done with the one before.
    fn rekey(&mut self, key: &[u8]);

    /// Seals a message.
    fn seal(&self, message: Message<'_>);

    /// Opens a message and says whether it is genuine; a cipher always says so.
    fn open(&self, message: Message<'_>) -> bool;

    /// Whether there is a call for many messages.
    fn takes_many(&self) -> bool {
        false
    }

    /// Whether a message of so many bytes under this nonce comes out as it should.
    fn takes(&self, _nonce: &[u8], _bytes: usize) -> bool {
        true
    }

    /// Seals many messages, or opens them and says whether all are genuine: one by one, unless the library has a call for
    /// that.
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

/// A library that takes a message at a time: a key made ready, how that is done, and a function for each direction.
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

/// One library's implementation of an algorithm, with a key made ready.
pub struct Peer {
    library: String,
    calls: Box<dyn Library>,
}

impl Peer {
    /// A library that makes a key ready, and whose functions take such a key, a nonce, a message and its tag.
    fn new<K: 'static>(
        library: String,
        key: &[u8],
        make: impl Fn(&[u8]) -> K + 'static,
        seal: impl Fn(&K, &[u8], &mut [u8], &mut [u8]) + 'static,
        open: impl Fn(&K, &[u8], &mut [u8], &[u8]) -> bool + 'static,
    ) -> Self {
        Self { library, calls: Box::new(OneByOne { key: make(key), make, seal, open }) }
    }

    /// The library and its version, for instance `ring-0.17.14`.
    pub fn library(&self) -> &str {
        &self.library
    }

    /// Makes another key ready, as long as the first, and has done with the one before.
    ///
    /// # Panics
    /// If the key has another length.
    pub fn rekey(&mut self, key: &[u8]) {
        self.calls.rekey(key);
    }

    /// Seals `message` in place, without additional data. A cipher leaves `tag` alone; a MAC leaves `message` alone.
    ///
    /// # Panics
    /// If the library refuses: a nonce, a tag or a message of a length that the algorithm does not take.
    pub fn seal(&self, nonce: &[u8], message: &mut [u8], tag: &mut [u8]) {
        self.calls.seal(Message { nonce, data: message, tag });
    }

    /// Opens `message` in place and says whether it is genuine, which that of a cipher always is. What stands in a forged one
    /// then depends on the library.
    ///
    /// # Panics
    /// As [`Peer::seal`].
    #[must_use]
    pub fn open(&self, nonce: &[u8], message: &mut [u8], tag: &mut [u8]) -> bool {
        self.calls.open(Message { nonce, data: message, tag })
    }

    /// Whether a message of so many bytes under this nonce comes out as the algorithm says. Intel's library wants messages that
    /// are not empty, and its CTR counts 32 bits and no more.
    pub fn takes(&self, nonce: &[u8], bytes: usize) -> bool {
        self.calls.takes(nonce, bytes)
    }

    /// Whether the library has a call for many messages.
    pub fn takes_many(&self) -> bool {
        self.calls.takes_many()
    }

    /// Seals many messages as the library does it best: by one call, if it has one for many, else one by one.
    ///
    /// # Panics
    /// As [`Peer::seal`].
    pub fn seal_many(&self, messages: &mut [Message<'_>]) {
        self.calls.run(messages, false);
    }

    /// Opens many messages, as [`Peer::seal_many`] seals them, and says whether all of them are genuine.
    ///
    /// # Panics
    /// As [`Peer::seal`].
    #[must_use]
    pub fn open_many(&self, messages: &mut [Message<'_>]) -> bool {
        self.calls.run(messages, true)
    }
}

/// The libraries that have the algorithm of this id (as the catalog of `sealcomb` names it), ready with `key`.
///
/// # Panics
/// If the algorithm takes keys of another length.
pub fn peers(algorithm: &str, key: &[u8]) -> Vec<Peer> {
    let made = [
        rustcrypto::peer(algorithm, key),
        #[cfg(all(feature = "ipsec-mb", target_arch = "x86_64"))]
        ipsec_mb::peer(algorithm, key),
        #[cfg(feature = "native")]
        ring::peer(algorithm, key),
        #[cfg(feature = "native")]
        aws_lc_rs::peer(algorithm, key),
        #[cfg(feature = "openssl")]
        openssl::peer(algorithm, key),
    ];
    made.into_iter().flatten().collect()
}
