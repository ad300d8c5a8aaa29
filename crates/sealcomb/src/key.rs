//! Keys, and sealing and opening of single messages.

use alloc::vec;
use alloc::vec::Vec;
use core::fmt;

use arrayvec::ArrayVec;
use zeroize::ZeroizeOnDrop;

use crate::backend::{Span, Wiped};
use crate::batch;
use crate::catalog::{Algorithm, Ordinary, TagPosition};
use crate::engine::Material;
use crate::primitives::aes::{GROUP, KeySchedule};
use crate::{Aad, Backend, Error, Forged, Kind, OpenError, PacketLayout};

/// A key of one algorithm, expanded once. Any number of messages and threads can share it. Its memory is zeroized on
/// drop.
///
/// With an algorithm of [`Kind::Mac`](crate::Kind::Mac), pass the data to authenticate as additional data, and an
/// empty message. With one of [`Kind::Cipher`](crate::Kind::Cipher), tags are empty, and opening a single message is
/// [`Error::Unauthenticated`], since `Ok` means that a message is authentic.
///
/// ```
/// use sealcomb::{Algorithm, Key};
///
/// let key = Key::new(Algorithm::AES_256_GCM, &[7; 32])?;
/// let sealed = key.seal(b"unique nonce", b"header", b"message")?;
/// assert_eq!(key.open(b"unique nonce", b"header", &sealed).unwrap(), b"message");
/// assert!(key.open(b"unique nonce", b"another", &sealed).is_err());
/// # Ok::<(), sealcomb::Error>(())
/// ```
pub struct Key(Wiped<Expanded>);

struct Expanded {
    algorithm: Algorithm,
    backend: Backend,
    /// Size of a nonce in bytes under this key; `None` for every size that the algorithm takes.
    nonce_bytes: Option<usize>,
    material: Material,
}

/// Options for expanding keys: the backend, and the sizes of all nonces and tags under a key. The defaults are
/// [`Backend::selected`], [`Algorithm::nonce_bytes`] and [`Algorithm::tag_bytes`].
///
/// ```
/// use sealcomb::{Algorithm, Backend, KeyOptions};
///
/// let options = KeyOptions::new().tag_bytes(12).backend(Backend::best());
/// let key = options.expand(Algorithm::AES_128_GCM, &[7; 16])?;
/// assert_eq!(key.tag_bytes(), 12);
/// # Ok::<(), sealcomb::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[must_use]
pub struct KeyOptions {
    backend: Option<Backend>,
    tag_bytes: Option<usize>,
    takes_short_tags: bool,
    nonces: Nonces,
}

/// The nonces that a key takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Nonces {
    /// Nonces of the algorithm's usual size.
    #[default]
    Usual,
    /// Nonces of this size in bytes.
    Of(usize),
    /// Nonces of every size that the algorithm takes.
    Any,
}

impl KeyOptions {
    /// Returns the default options.
    pub const fn new() -> Self {
        Self { backend: None, tag_bytes: None, takes_short_tags: false, nonces: Nonces::Usual }
    }

    /// Sets the backend, instead of [`Backend::selected`].
    pub const fn backend(self, backend: Backend) -> Self {
        Self { backend: Some(backend), ..self }
    }

    /// Sets the tag length in bytes, instead of [`Algorithm::tag_bytes`]. All tags under the key must have this
    /// length, so that an attacker cannot truncate one.
    pub const fn tag_bytes(self, tag_bytes: usize) -> Self {
        Self { tag_bytes: Some(tag_bytes), takes_short_tags: false, ..self }
    }

    /// Sets the tag length in bytes, see [`KeyOptions::tag_bytes`], and also accepts tags that the algorithm's standard
    /// allows only under conditions: see [`hazmat::tag_sizes`](crate::hazmat::tag_sizes).
    #[cfg(feature = "hazmat")]
    pub const fn short_tag_bytes(self, tag_bytes: usize) -> Self {
        Self { tag_bytes: Some(tag_bytes), takes_short_tags: true, ..self }
    }

    /// Sets the nonce length in bytes, instead of [`Algorithm::nonce_bytes`]: 0 for AES-SIV without nonces. All nonces
    /// under the key must have this length. A program that swaps a nonce and additional data of another length then
    /// gets an error, instead of messages under one nonce.
    pub const fn nonce_bytes(self, nonce_bytes: usize) -> Self {
        Self { nonces: Nonces::Of(nonce_bytes), ..self }
    }

    /// Accepts nonces of every length that the algorithm takes. This is for interfaces that set the length per
    /// message, such as OpenSSL's EVP.
    pub const fn any_nonce_bytes(self) -> Self {
        Self { nonces: Nonces::Any, ..self }
    }

    /// Expands a key of [`Algorithm::key_bytes`] bytes.
    ///
    /// # Errors
    /// [`Error::KeyLength`] for a key of another length, [`Error::EqualKeyHalves`] for a key of XTS with equal halves,
    /// [`Error::TagLength`] and [`Error::NonceLength`] for lengths that the algorithm does not take, and the errors of
    /// [`Backend::selected`] if no backend is set.
    pub fn expand(self, algorithm: Algorithm, key: &[u8]) -> Result<Key, Error> {
        check_key(algorithm, key)?;
        let chosen = self.chosen(algorithm)?;
        let expand = |expanded: &mut Expanded| {
            let Expanded { material, .. } = expanded;
            material.aes.expand(chosen.backend, algorithm.code().aes_key(key));
            algorithm.code().expand_key(chosen.backend, key, material);
            material.tag_bytes = chosen.tag_bytes;
        };
        Ok(Key(Wiped::in_place(|| chosen.empty(algorithm), expand)))
    }

    /// Expands many keys of one algorithm, each of [`Algorithm::key_bytes`] bytes. The keys are expanded in parallel
    /// lanes, which takes less time than [`KeyOptions::expand`] for each.
    ///
    /// ```
    /// use sealcomb::{Algorithm, KeyOptions};
    ///
    /// let fresh = [[1; 16], [2; 16], [3; 16]];
    /// let keys = KeyOptions::new().expand_many(Algorithm::AES_128_GCM, &fresh)?;
    /// assert_eq!(keys.len(), 3);
    /// # Ok::<(), sealcomb::Error>(())
    /// ```
    ///
    /// # Errors
    /// The errors of [`KeyOptions::expand`] for any of the keys. No key is returned in these cases.
    pub fn expand_many<K: AsRef<[u8]>>(self, algorithm: Algorithm, keys: &[K]) -> Result<Vec<Key>, Error> {
        keys.iter().try_for_each(|key| check_key(algorithm, key.as_ref()))?;
        let chosen = self.chosen(algorithm)?;
        let mut expanded: Vec<Key> = keys.iter().map(|_| Key(Wiped::new(chosen.empty(algorithm)))).collect();
        for (expanded, keys) in expanded.chunks_mut(GROUP).zip(keys.chunks(GROUP)) {
            let aes_keys = keys.iter().map(|key| algorithm.code().aes_key(key.as_ref()));
            let schedules = expanded.iter_mut().map(|expanded| &mut expanded.0.material.aes);
            KeySchedule::expand_group(chosen.backend, aes_keys.zip(schedules).collect());
            let materials = expanded.iter_mut().map(|expanded| &mut expanded.0.material);
            let mut pairs: ArrayVec<_, GROUP> = keys.iter().map(AsRef::as_ref).zip(materials).collect();
            algorithm.code().expand_keys(chosen.backend, &mut pairs);
            pairs.iter_mut().for_each(|(_, material)| material.tag_bytes = chosen.tag_bytes);
        }
        Ok(expanded)
    }

    /// Returns the values of all options for an algorithm that takes them.
    #[inline(always)]
    fn chosen(self, algorithm: Algorithm) -> Result<Chosen, Error> {
        let tag_bytes = self.tag_bytes.unwrap_or(algorithm.tag_bytes());
        if tag_bytes != algorithm.tag_bytes() {
            let expected =
                if self.takes_short_tags { algorithm.all_tag_sizes() } else { algorithm.tag_sizes() };
            algorithm.check_tag(tag_bytes, expected)?;
        }
        let nonce_bytes = match self.nonces {
            Nonces::Usual => Some(algorithm.nonce_bytes()),
            Nonces::Of(nonce_bytes) => {
                algorithm.check_nonce(nonce_bytes)?;
                Some(nonce_bytes)
            }
            Nonces::Any => None,
        };
        let backend = match self.backend {
            Some(backend) => backend,
            None => Backend::selected()?,
        };
        Ok(Chosen { backend, tag_bytes, nonce_bytes })
    }
}

/// The values of all options.
#[derive(Clone, Copy)]
struct Chosen {
    backend: Backend,
    tag_bytes: usize,
    nonce_bytes: Option<usize>,
}

impl Chosen {
    /// Returns the memory of a key before it is expanded.
    #[inline(always)]
    fn empty(self, algorithm: Algorithm) -> Expanded {
        let Self { backend, nonce_bytes, .. } = self;
        Expanded { algorithm, backend, nonce_bytes, material: const { Material::empty() } }
    }
}

impl Key {
    /// Expands a key of [`Algorithm::key_bytes`] bytes with the default options, see [`KeyOptions`].
    ///
    /// # Errors
    /// [`Error::KeyLength`] for a key of another length, [`Error::EqualKeyHalves`] for a key of XTS with equal halves,
    /// and the errors of [`Backend::selected`].
    pub fn new(algorithm: Algorithm, key: &[u8]) -> Result<Self, Error> {
        KeyOptions::new().expand(algorithm, key)
    }

    /// Expands many keys of one algorithm with the default options, see [`KeyOptions::expand_many`].
    ///
    /// # Errors
    /// The errors of [`Key::new`] for any of the keys. No key is returned in these cases.
    pub fn new_many<K: AsRef<[u8]>>(algorithm: Algorithm, keys: &[K]) -> Result<Vec<Self>, Error> {
        KeyOptions::new().expand_many(algorithm, keys)
    }

    /// Expands the key of a RustCrypto type, which fixes the algorithm and the key size. Falls back to the best
    /// backend if `SEALCOMB_BACKEND` is invalid, since these types cannot return an error.
    #[cfg(any(
        feature = "rustcrypto-aead-05",
        feature = "rustcrypto-aead-06",
        feature = "rustcrypto-digest-011"
    ))]
    pub(crate) fn of_type(id: &str, key: &[u8]) -> Self {
        let algorithm = Algorithm::by_id(id).expect("the catalog has every type's algorithm");
        let backend = Backend::selected().unwrap_or_else(|_| Backend::best());
        KeyOptions::new().backend(backend).expand(algorithm, key).expect("the type fixes the key's size")
    }

    /// Computes and allocates now what the first batch or burst under this key does otherwise, so that none under the
    /// prepared key allocates for it: 5 KiB of tables for GCM, GMAC and CTR on backends with vectors, nothing for other
    /// algorithms. They are zeroized with the key. Results are the same without it, and single messages do not need it.
    ///
    /// ```
    /// use sealcomb::{Algorithm, Key};
    ///
    /// let key = Key::new(Algorithm::AES_128_GCM, &[7; 16])?;
    /// key.prepare();
    /// # Ok::<(), sealcomb::Error>(())
    /// ```
    pub fn prepare(&self) {
        if let Some(flights) = self.algorithm().code().flights(false) {
            (flights.prepare)(self.backend(), &self.0.material);
        }
    }

    /// Returns the key's algorithm.
    #[inline]
    pub fn algorithm(&self) -> Algorithm {
        self.0.algorithm
    }

    /// Returns the backend that the key was expanded for.
    #[inline]
    pub fn backend(&self) -> Backend {
        self.0.backend
    }

    /// Returns the length in bytes of all tags under this key: 0 for an unauthenticated cipher.
    #[inline]
    pub fn tag_bytes(&self) -> usize {
        self.0.material.tag_bytes
    }

    /// Returns the length in bytes of all nonces under this key; `None` if it takes every length that the algorithm
    /// does.
    #[inline]
    pub fn nonce_bytes(&self) -> Option<usize> {
        self.0.nonce_bytes
    }

    /// Checks whether a message of these sizes can be sealed under this key. Every call checks its messages this way.
    /// For a MAC, `aad_bytes` is the size of the data to authenticate.
    ///
    /// # Errors
    /// The [`Error`] that sealing such a message returns.
    pub fn check(
        &self,
        nonce_bytes: usize,
        tag_bytes: usize,
        aad_bytes: u64,
        message_bytes: u64,
    ) -> Result<(), Error> {
        if tag_bytes != self.tag_bytes() {
            return Err(Error::tag_length(self.algorithm().id(), self.tag_bytes(), tag_bytes));
        }
        self.check_nonce(nonce_bytes)?;
        self.algorithm().check_sizes(nonce_bytes, aad_bytes, message_bytes)
    }

    /// Checks whether opening verifies anything.
    #[inline]
    fn check_authenticates(&self) -> Result<(), Error> {
        match self.algorithm().kind() {
            Kind::Cipher => Err(Error::Unauthenticated { algorithm: self.algorithm().id() }),
            _ => Ok(()),
        }
    }

    /// Checks the length of a nonce in bytes, as far as the key fixes it.
    pub(crate) fn check_nonce(&self, got: usize) -> Result<(), Error> {
        match self.nonce_bytes() {
            Some(fixed) if got != fixed => {
                Err(Error::NonceLength { algorithm: self.algorithm().id(), min: fixed, max: fixed, got })
            }
            _ => Ok(()),
        }
    }

    /// Returns the common sizes of messages under this key, with tags of `tag_bytes` bytes.
    #[inline(always)]
    pub(crate) fn ordinary(&self, tag_bytes: usize) -> Ordinary {
        let algorithm = self.algorithm();
        algorithm.ordinary(self.nonce_bytes().unwrap_or(algorithm.nonce_bytes()), tag_bytes)
    }

    #[inline]
    pub(crate) fn material(&self) -> &Material {
        &self.0.material
    }

    #[cfg(test)]
    pub(crate) fn material_mut(&mut self) -> &mut Material {
        &mut self.0.material
    }

    /// Encrypts `data` in place and writes the tag of [`Key::tag_bytes`] bytes.
    ///
    /// # Errors
    /// An [`Error`] for sizes that the algorithm does not take, and [`Error::OutputTooShort`] if its ciphertexts are
    /// longer than their messages. Nothing was written in these cases.
    #[inline]
    pub fn seal_in_place_detached<'a>(
        &self,
        nonce: &[u8],
        aad: impl Into<Aad<'a>>,
        data: &mut [u8],
        tag: &mut [u8],
    ) -> Result<(), Error> {
        let aad = aad.into();
        batch::check_one(self, nonce, tag.len(), &aad, data.len())?;
        batch::check_room(self, data.len(), data.len())?;
        batch::seal_one(self, nonce, aad, data.into(), tag);
        Ok(())
    }

    /// Verifies the tag of [`Key::tag_bytes`] bytes and decrypts `data` in place.
    ///
    /// # Errors
    /// [`OpenError::Forged`] if verification fails: `data` is zeroed. [`OpenError::Misuse`] for sizes that the
    /// algorithm does not take, with [`Error::Unauthenticated`] if it is an unauthenticated cipher, and with [`Error::CiphertextIsLonger`] if its ciphertexts are longer than their
    /// messages, since this function cannot return the message's length. Nothing was written in these cases.
    #[inline]
    pub fn open_in_place_detached<'a>(
        &self,
        nonce: &[u8],
        aad: impl Into<Aad<'a>>,
        data: &mut [u8],
        tag: &[u8],
    ) -> Result<(), OpenError> {
        let aad = aad.into();
        batch::check_one(self, nonce, tag.len(), &aad, data.len())?;
        self.check_authenticates()?;
        if self.algorithm().expands() {
            return Err(Error::CiphertextIsLonger.into());
        }
        batch::open_one(self, nonce, aad, data.into(), tag)?;
        Ok(())
    }

    /// Decrypts `data` in place **without verifying it**, and writes the correct tag into `tag`. This is for
    /// interfaces that receive the tag after they have released the message, such as OpenSSL's EVP. The caller must
    /// compare the tags in constant time, and must destroy the message if they differ.
    ///
    /// AES-SIV, GCM-SIV, COLM0 and, with the feature `research`, COBRA, ELmD with a variable tag, McOE-G and all forms
    /// of POET decrypt with the received tag, which `tag` must contain on entry. It then contains the same tag if and
    /// only if the message verifies. Other algorithms ignore what it contains. It also decrypts with unauthenticated
    /// ciphers, whose tags are empty.
    ///
    /// ```
    /// use sealcomb::{Algorithm, Key};
    ///
    /// let key = Key::new(Algorithm::AES_128_GCM, &[7; 16])?;
    /// let (mut data, mut tag) = (*b"message", [0; 16]);
    /// key.seal_in_place_detached(b"unique nonce", b"", &mut data, &mut tag)?;
    /// let mut should_be = [0; 16];
    /// key.open_unverified_in_place_detached(b"unique nonce", b"", &mut data, &mut should_be)?;
    /// assert_eq!((&data, should_be), (b"message", tag));
    /// # Ok::<(), sealcomb::Error>(())
    /// ```
    ///
    /// # Errors
    /// An [`Error`] for sizes that the algorithm does not take, and [`Error::CiphertextIsLonger`] if its ciphertexts
    /// are longer than their messages. Nothing was written in these cases.
    #[cfg(feature = "hazmat")]
    pub fn open_unverified_in_place_detached<'a>(
        &self,
        nonce: &[u8],
        aad: impl Into<Aad<'a>>,
        data: &mut [u8],
        tag: &mut [u8],
    ) -> Result<(), Error> {
        let aad = aad.into();
        batch::check_one(self, nonce, tag.len(), &aad, data.len())?;
        if self.algorithm().expands() {
            return Err(Error::CiphertextIsLonger);
        }
        batch::open_unverified(self, nonce, aad, data.into(), tag);
        Ok(())
    }

    /// Encrypts a message and returns the ciphertext and the tag of [`Key::tag_bytes`] bytes in the order of the
    /// algorithm's specification: the tag first for AES-SIV, last for all others, see [`Algorithm::tag_position`].
    ///
    /// # Errors
    /// An [`Error`] for sizes that the algorithm does not take.
    pub fn seal<'a>(&self, nonce: &[u8], aad: impl Into<Aad<'a>>, message: &[u8]) -> Result<Vec<u8>, Error> {
        let aad = aad.into();
        batch::check_one(self, nonce, self.tag_bytes(), &aad, message.len())?;
        let ciphertext_bytes = self.algorithm().ciphertext_bytes(message.len());
        let mut sealed = vec![0; ciphertext_bytes + self.tag_bytes()];
        let (_, ciphertext, tag) = PacketLayout::new().with_tag(self).parts(&mut sealed)?;
        batch::seal_one(self, nonce, aad, Span::new(message, ciphertext), tag);
        Ok(sealed)
    }

    /// Verifies and decrypts a ciphertext with its tag of [`Key::tag_bytes`] bytes, in the order of [`Key::seal`], and
    /// returns the message.
    ///
    /// If the algorithm [needs the message's length](Algorithm::needs_message_bytes), the message is assumed to be as
    /// long as the ciphertext. [`OpenJob::new`](crate::OpenJob::new) takes other lengths.
    ///
    /// # Errors
    /// [`OpenError::Forged`] if verification fails, the input is shorter than a tag, or no message has a ciphertext
    /// of this length. [`OpenError::Misuse`] for sizes that the algorithm does not take, and with
    /// [`Error::Unauthenticated`] if it is an unauthenticated cipher.
    pub fn open<'a>(
        &self,
        nonce: &[u8],
        aad: impl Into<Aad<'a>>,
        sealed: &[u8],
    ) -> Result<Vec<u8>, OpenError> {
        let aad = aad.into();
        self.check_authenticates()?;
        let ciphertext_bytes = sealed.len().checked_sub(self.tag_bytes()).ok_or(Forged)?;
        let (ciphertext, tag) = match self.algorithm().tag_position() {
            TagPosition::First => {
                let (tag, ciphertext) = sealed.split_at(self.tag_bytes());
                (ciphertext, tag)
            }
            TagPosition::Last => sealed.split_at(ciphertext_bytes),
        };
        let max = self.algorithm().max_message_bytes(ciphertext_bytes)?;
        batch::check_one(self, nonce, tag.len(), &aad, max)?;
        let mut message = vec![0; max];
        let bytes = batch::open_one(self, nonce, aad, Span::new(ciphertext, &mut message), tag)?;
        message.truncate(bytes);
        Ok(message)
    }
}

fn check_key(algorithm: Algorithm, key: &[u8]) -> Result<(), Error> {
    let (id, expected, got) = (algorithm.id(), algorithm.key_bytes(), key.len());
    if got != expected {
        return Err(Error::KeyLength { algorithm: id, expected, got });
    }
    if !algorithm.code().takes_key(key) {
        return Err(Error::EqualKeyHalves { algorithm: id });
    }
    Ok(())
}

impl ZeroizeOnDrop for Key {}

impl fmt::Debug for Key {
    /// Writes the algorithm and the backend, never the key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key({}, {})", self.algorithm().id(), self.backend().name())
    }
}

const _: fn() = || {
    fn shareable<T: Send + Sync>() {}
    shareable::<Key>();
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::after_drop;
    use crate::catalog::BUILT;

    #[test]
    fn keys_expanded_together_equal_single_ones_and_one_wrong_length_refuses_all() {
        for &algorithm in BUILT {
            let nonce = vec![9; algorithm.nonce_bytes()];
            let sealed = |key: &Key| match algorithm.kind() {
                Kind::Mac => {
                    let mut tag = vec![0; algorithm.tag_bytes()];
                    crate::seal_jobs(&mut [crate::SealJob::mac(key, &nonce, &[3; 32], &mut tag)]).unwrap();
                    tag
                }
                _ => key.seal(&nonce, b"", &[3; 32]).unwrap(),
            };
            let byte = |key: usize, at: usize| (41 * key + 7 * at + 1) as u8;
            let bytes: Vec<Vec<u8>> = (0..GROUP + 3)
                .map(|key| (0..algorithm.key_bytes()).map(|at| byte(key, at)).collect())
                .collect();
            let alone: Vec<_> = bytes.iter().map(|key| sealed(&Key::new(algorithm, key).unwrap())).collect();
            for backend in Backend::available() {
                for count in [1, 2, GROUP - 1, GROUP, GROUP + 1, GROUP + 3] {
                    let keys =
                        KeyOptions::new().backend(backend).expand_many(algorithm, &bytes[..count]).unwrap();
                    let together: Vec<_> = keys.iter().map(sealed).collect();
                    assert_eq!(together, alone[..count], "{count} keys of {} by {backend:?}", algorithm.id());
                }
            }
            let wrong = [&bytes[0][..], &bytes[1][1..]];
            let (expected, got) = (algorithm.key_bytes(), algorithm.key_bytes() - 1);
            let refused = Error::KeyLength { algorithm: algorithm.id(), expected, got };
            assert_eq!(Key::new_many(algorithm, &wrong).err(), Some(refused));
            assert!(Key::new_many::<[u8; 0]>(algorithm, &[]).unwrap().is_empty());
        }
    }

    #[cfg(feature = "hazmat")]
    #[test]
    fn equal_halves_of_a_key_of_xts_are_refused_alone_and_among_good_keys() {
        for id in ["aes128-xts", "aes256-xts"] {
            let algorithm = crate::hazmat::by_id(id).unwrap();
            let half = algorithm.key_bytes() / 2;
            let equal: Vec<u8> = (0..half).chain(0..half).map(|byte| byte as u8).collect();
            let refused = Some(Error::EqualKeyHalves { algorithm: id });
            let mut keys = vec![equal.clone(); GROUP + 2];
            for (i, key) in keys.iter_mut().enumerate().skip(1) {
                key[i % half] ^= 1 << (i % 8);
            }
            for backend in Backend::available() {
                assert_eq!(KeyOptions::new().backend(backend).expand(algorithm, &equal).err(), refused);
                for key in keys.iter().filter(|key| **key != equal) {
                    assert!(KeyOptions::new().backend(backend).expand(algorithm, key).is_ok());
                }
                keys.rotate_left(1);
                assert_eq!(KeyOptions::new().backend(backend).expand_many(algorithm, &keys).err(), refused);
            }
        }
    }

    #[test]
    fn a_dropped_key_leaves_no_byte_of_itself() {
        for backend in Backend::available() {
            for &algorithm in BUILT {
                let bytes: Vec<u8> = (0xa5..).take(algorithm.key_bytes()).collect();
                let key = KeyOptions::new().backend(backend).expand(algorithm, &bytes).unwrap();
                assert!(after_drop(key).iter().all(|&byte| byte == 0), "{backend:?} {}", algorithm.id());
            }
        }
    }
}
