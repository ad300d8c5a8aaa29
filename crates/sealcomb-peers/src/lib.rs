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
#[cfg(feature = "openssl")]
mod openssl;
#[cfg(feature = "native")]
mod ring;
mod rustcrypto;
mod versions;

/// Seals one message in place: nonce, message, tag.
type Seal = Box<dyn Fn(&[u8], &mut [u8], &mut [u8])>;

/// One library's implementation of an algorithm, with a key made ready.
pub struct Peer {
    library: String,
    seal: Seal,
}

impl Peer {
    fn new(library: String, seal: impl Fn(&[u8], &mut [u8], &mut [u8]) + 'static) -> Self {
        Self { library, seal: Box::new(seal) }
    }

    /// The library and its version, for instance `ring-0.17.14`.
    pub fn library(&self) -> &str {
        &self.library
    }

    /// Seals `message` in place, without additional data. A cipher leaves `tag` alone; a MAC leaves `message` alone.
    ///
    /// # Panics
    /// If the library refuses: a nonce, a tag or a message of a length that the algorithm does not take.
    pub fn seal(&self, nonce: &[u8], message: &mut [u8], tag: &mut [u8]) {
        (self.seal)(nonce, message, tag);
    }
}

/// The libraries that have the algorithm of this id (as the catalog of `sealcomb` names it), ready with `key`.
///
/// # Panics
/// If the algorithm takes keys of another length.
pub fn peers(algorithm: &str, key: &[u8]) -> Vec<Peer> {
    let made = [
        rustcrypto::peer(algorithm, key),
        #[cfg(feature = "native")]
        ring::peer(algorithm, key),
        #[cfg(feature = "native")]
        aws_lc_rs::peer(algorithm, key),
        #[cfg(feature = "openssl")]
        openssl::peer(algorithm, key),
    ];
    made.into_iter().flatten().collect()
}
