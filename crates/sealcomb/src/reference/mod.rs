//! Reference models of all modes, for tests. They process one block at a time, in the notation of the specifications.
//!
//! The models share no code with the rest of the library. They access a block cipher through [`BlockCipher`] only,
//! allocate their results, and **branch on secrets**: they are test oracles, not implementations to use.
//!
//! [`seal`] and [`open`] select the model by algorithm id.
//!
//! ```
//! let (ciphertext, tag) =
//!     sealcomb::reference::seal("aes128-gcm", &[0; 16], &[0; 12], b"header", b"message", 16).unwrap();
//! let message = sealcomb::reference::open("aes128-gcm", &[0; 16], &[0; 12], b"header", &ciphertext, &tag);
//! assert_eq!(message.as_deref(), Some(b"message".as_slice()));
//! ```
#![forbid(unsafe_code)]

pub mod aegis;
pub mod aes_rounds;
pub mod cbc;
pub mod ccm;
pub mod cfb;
pub mod cloc;
pub mod cmac;
pub mod cobra;
pub mod colm;
pub mod copa;
pub mod ctr;
pub mod eax;
pub mod ecb;
pub mod elmd;
pub mod eme2;
pub mod gcm;
pub mod gcm_siv;
pub mod gf128;
pub mod hctr2;
pub mod jambu;
pub mod julius;
pub mod mcoe_g;
pub mod ocb3;
pub mod ofb;
pub mod otr;
pub mod pmac;
pub mod poet;
mod reduced_aes;
pub mod serpent;
pub mod silc;
pub mod siv;
pub mod xaes;
pub mod xts;

use aegis::{Aegis128L, Aegis256};
use aes::cipher::{BlockCipherDecrypt, BlockCipherEncrypt, KeyInit};
use aes::{Aes128, Aes192, Aes256};
use alloc::vec::Vec;
use poet::Hash;
use reduced_aes::SixRounds;
use serpent::Serpent;

/// One block of 128 bits.
pub type Block = [u8; 16];

/// A block cipher with blocks of 128 bits, as the models use it.
pub trait BlockCipher: Sized {
    /// Key size in bytes.
    const KEY_BYTES: usize;

    /// Returns the cipher under `key`, or `None` if the key is not [`Self::KEY_BYTES`] long.
    fn with_key(key: &[u8]) -> Option<Self>;

    /// Encrypts one block.
    #[must_use]
    fn encrypt(&self, block: Block) -> Block;

    /// Decrypts one block.
    #[must_use]
    fn decrypt(&self, block: Block) -> Block;
}

macro_rules! block_cipher {
    ($cipher:ty, $key_bytes:literal) => {
        impl BlockCipher for $cipher {
            const KEY_BYTES: usize = $key_bytes;

            fn with_key(key: &[u8]) -> Option<Self> {
                KeyInit::new_from_slice(key).ok()
            }

            fn encrypt(&self, block: Block) -> Block {
                let mut block = block.into();
                self.encrypt_block(&mut block);
                block.into()
            }

            fn decrypt(&self, block: Block) -> Block {
                let mut block = block.into();
                self.decrypt_block(&mut block);
                block.into()
            }
        }
    };
}

block_cipher!(Aes128, 16);
block_cipher!(Aes192, 24);
block_cipher!(Aes256, 32);

/// Seals a message with the model of an algorithm. Returns the ciphertext and the tag.
///
/// MACs authenticate `aad` and take no message. Unauthenticated ciphers return an empty tag and take no `aad`,
/// except for a tweak. The result is `None` if the algorithm is unknown or does not accept these sizes.
#[must_use]
pub fn seal(
    algorithm_id: &str,
    key: &[u8],
    nonce: &[u8],
    aad: &[u8],
    msg: &[u8],
    tag_bytes: usize,
) -> Option<(Vec<u8>, Vec<u8>)> {
    match algorithm_id {
        "aegis128l" => {
            let state = Aegis128L::new(key.try_into().ok()?, nonce.try_into().ok()?);
            matches!(tag_bytes, 16 | 32).then(|| aegis::seal(state, aad, msg, tag_bytes))
        }
        "aegis256" => {
            let state = Aegis256::new(key.try_into().ok()?, nonce.try_into().ok()?);
            matches!(tag_bytes, 16 | 32).then(|| aegis::seal(state, aad, msg, tag_bytes))
        }
        "xaes256-gcm" => {
            let sealed = xaes::seal(&Aes256::with_key(key)?, nonce.try_into().ok()?, aad, msg);
            (tag_bytes == 16).then_some(sealed)
        }
        _ => seal_under(algorithm_id.split_once('-')?, key, nonce, aad, msg, tag_bytes),
    }
}

/// Seals a message with a block cipher and a mode of it.
fn seal_under(
    (cipher, mode): (&str, &str),
    key: &[u8],
    nonce: &[u8],
    aad: &[u8],
    msg: &[u8],
    tag_bytes: usize,
) -> Option<(Vec<u8>, Vec<u8>)> {
    if mode == "eme2" {
        let ct = wide_block(cipher, key, aad, msg, false)?;
        return (nonce.is_empty() && tag_bytes == 0).then_some((ct, Vec::new()));
    }
    match cipher {
        "aes128" if mode == "elmd66" => {
            seal_with(&split_key::<SixRounds>(key)?, mode, nonce, aad, msg, tag_bytes)
        }
        "aes128" => seal_with(&split_key::<Aes128>(key)?, mode, nonce, aad, msg, tag_bytes),
        "aes192" => seal_with(&split_key::<Aes192>(key)?, mode, nonce, aad, msg, tag_bytes),
        "aes256" => seal_with(&split_key::<Aes256>(key)?, mode, nonce, aad, msg, tag_bytes),
        "serpent128" => seal_with(&split_key::<Serpent<16>>(key)?, mode, nonce, aad, msg, tag_bytes),
        "serpent192" => seal_with(&split_key::<Serpent<24>>(key)?, mode, nonce, aad, msg, tag_bytes),
        "serpent256" => seal_with(&split_key::<Serpent<32>>(key)?, mode, nonce, aad, msg, tag_bytes),
        _ => None,
    }
}

/// Opens a message with the model of an algorithm. Returns the message.
///
/// The result is `None` if the tag is wrong, the algorithm is unknown, or it does not accept these sizes.
#[must_use]
pub fn open(
    algorithm_id: &str,
    key: &[u8],
    nonce: &[u8],
    aad: &[u8],
    ct: &[u8],
    tag: &[u8],
) -> Option<Vec<u8>> {
    match algorithm_id {
        "aegis128l" => {
            let state = Aegis128L::new(key.try_into().ok()?, nonce.try_into().ok()?);
            if matches!(tag.len(), 16 | 32) { aegis::open(state, aad, ct, tag) } else { None }
        }
        "aegis256" => {
            let state = Aegis256::new(key.try_into().ok()?, nonce.try_into().ok()?);
            if matches!(tag.len(), 16 | 32) { aegis::open(state, aad, ct, tag) } else { None }
        }
        "xaes256-gcm" => {
            let msg = xaes::open(&Aes256::with_key(key)?, nonce.try_into().ok()?, aad, ct, tag);
            if tag.len() == 16 { msg } else { None }
        }
        _ => open_under(algorithm_id.split_once('-')?, key, nonce, aad, ct, tag),
    }
}

/// Opens a message with a block cipher and a mode of it.
fn open_under(
    (cipher, mode): (&str, &str),
    key: &[u8],
    nonce: &[u8],
    aad: &[u8],
    ct: &[u8],
    tag: &[u8],
) -> Option<Vec<u8>> {
    if mode == "eme2" {
        let msg = wide_block(cipher, key, aad, ct, true)?;
        return (nonce.is_empty() && tag.is_empty()).then_some(msg);
    }
    match cipher {
        "aes128" if mode == "elmd66" => open_with(&split_key::<SixRounds>(key)?, mode, nonce, aad, ct, tag),
        "aes128" => open_with(&split_key::<Aes128>(key)?, mode, nonce, aad, ct, tag),
        "aes192" => open_with(&split_key::<Aes192>(key)?, mode, nonce, aad, ct, tag),
        "aes256" => open_with(&split_key::<Aes256>(key)?, mode, nonce, aad, ct, tag),
        "serpent128" => open_with(&split_key::<Serpent<16>>(key)?, mode, nonce, aad, ct, tag),
        "serpent192" => open_with(&split_key::<Serpent<24>>(key)?, mode, nonce, aad, ct, tag),
        "serpent256" => open_with(&split_key::<Serpent<32>>(key)?, mode, nonce, aad, ct, tag),
        _ => None,
    }
}

/// Encrypts or decrypts with EME2 under one of the ciphers. The mode's keys precede the cipher's in `key`.
fn wide_block(cipher: &str, key: &[u8], tweak: &[u8], input: &[u8], decrypts: bool) -> Option<Vec<u8>> {
    fn under<C: BlockCipher>(key: &[u8], tweak: &[u8], input: &[u8], decrypts: bool) -> Option<Vec<u8>> {
        let keys = eme2::Keys::<C>::new(key)?;
        Some(if decrypts { keys.decrypt(tweak, input) } else { keys.encrypt(tweak, input) })
    }
    if input.len() < 16 {
        return None;
    }
    match cipher {
        "aes128" => under::<Aes128>(key, tweak, input, decrypts),
        "aes256" => under::<Aes256>(key, tweak, input, decrypts),
        _ => None,
    }
}

/// Splits a key into the cipher under its first bytes, and the mode's additional key bytes.
fn split_key<C: BlockCipher>(key: &[u8]) -> Option<(C, &[u8])> {
    let (cipher, own) = key.split_at_checked(C::KEY_BYTES)?;
    Some((C::with_key(cipher)?, own))
}

fn seal_with<C: BlockCipher>(
    (cipher, own): &(C, &[u8]),
    mode: &str,
    nonce: &[u8],
    aad: &[u8],
    msg: &[u8],
    tag_bytes: usize,
) -> Option<(Vec<u8>, Vec<u8>)> {
    if !takes::<C>(mode, own.len(), nonce.len(), aad.len(), msg.len(), tag_bytes) {
        return None;
    }
    let block = |bytes: &[u8]| bytes.try_into().expect("a block");
    Some(match mode {
        "ecb" => (ecb::encrypt(cipher, msg), Vec::new()),
        "cbc" => (cbc::encrypt(cipher, block(nonce), msg), Vec::new()),
        "cfb128" => (cfb::encrypt(cipher, block(nonce), msg), Vec::new()),
        "ofb" => (ofb::apply(cipher, block(nonce), msg), Vec::new()),
        "ctr" => (ctr::apply(cipher, block(nonce), msg), Vec::new()),
        "xts" => (xts::encrypt(cipher, &C::with_key(own)?, block(nonce), msg), Vec::new()),
        "hctr2" => (hctr2::encrypt(cipher, aad, msg), Vec::new()),
        "cmac" => (Vec::new(), cmac::tag(cipher, aad, tag_bytes)),
        "pmac" => (Vec::new(), pmac::tag(cipher, aad, tag_bytes)),
        "gmac" => (Vec::new(), gcm::gmac(cipher, nonce, aad, tag_bytes)),
        "gcm" => gcm::seal(cipher, nonce, aad, msg, tag_bytes),
        "ccm" => ccm::seal(cipher, nonce, aad, msg, tag_bytes),
        "eax" => eax::seal(cipher, nonce, aad, msg, tag_bytes),
        "gcm-siv" => gcm_siv::seal(cipher, nonce, aad, msg),
        "siv" => siv::seal(cipher, &C::with_key(own)?, &[aad, nonce][..strings(nonce)], msg),
        "ocb3-t64" | "ocb3-t96" | "ocb3-t128" | "ocb3" => ocb3::seal(cipher, nonce, aad, msg, tag_bytes),
        "otr-p" => otr::seal(cipher, otr::Ad::Parallel, nonce, aad, msg, tag_bytes),
        "otr-s" => otr::seal(cipher, otr::Ad::Serial, nonce, aad, msg, tag_bytes),
        "poet" => poet::seal(cipher, Hash::Aes, block(nonce), aad, msg),
        "poet-aes4" => poet::seal(cipher, Hash::Aes4, block(nonce), aad, msg),
        "poet-g" => poet::seal(cipher, Hash::Multiplication, block(nonce), aad, msg),
        "mcoe-g" => mcoe_g::seal(cipher, block(own), block(nonce), aad, msg),
        "cloc" => cloc::seal(cipher, nonce.try_into().ok()?, aad, msg),
        "silc" => silc::seal(cipher, nonce.try_into().ok()?, aad, msg),
        "jambu" => jambu::seal(cipher, nonce.try_into().ok()?, aad, msg),
        "cobra" => cobra::seal(cipher, block(nonce), aad, msg),
        "julius-ecb" => julius::seal(cipher, block(nonce), aad, msg),
        "copa" => copa::seal(cipher, nonce, aad, msg),
        "colm0" => colm::seal(cipher, nonce, aad, msg),
        "elmd" => elmd::seal(cipher, &elmd::FULL, nonce, aad, msg),
        "elmd66" => elmd::seal(cipher, &elmd::SIX_ROUNDS, nonce, aad, msg),
        "elmd-it127" => elmd::seal(cipher, &elmd::INTERMEDIATE_TAGS, nonce, aad, msg),
        "elmd-vartag" => elmd::seal(cipher, &elmd::VARIABLE_TAG, nonce, aad, msg),
        _ => return None,
    })
}

fn open_with<C: BlockCipher>(
    (cipher, own): &(C, &[u8]),
    mode: &str,
    nonce: &[u8],
    aad: &[u8],
    ct: &[u8],
    tag: &[u8],
) -> Option<Vec<u8>> {
    if !takes::<C>(mode, own.len(), nonce.len(), aad.len(), ct.len(), tag.len()) {
        return None;
    }
    let block = |bytes: &[u8]| bytes.try_into().expect("a block");
    match mode {
        "ecb" => Some(ecb::decrypt(cipher, ct)),
        "cbc" => Some(cbc::decrypt(cipher, block(nonce), ct)),
        "cfb128" => Some(cfb::decrypt(cipher, block(nonce), ct)),
        "ofb" => Some(ofb::apply(cipher, block(nonce), ct)),
        "ctr" => Some(ctr::apply(cipher, block(nonce), ct)),
        "xts" => Some(xts::decrypt(cipher, &C::with_key(own)?, block(nonce), ct)),
        "hctr2" => Some(hctr2::decrypt(cipher, aad, ct)),
        "cmac" => (cmac::tag(cipher, aad, tag.len()) == tag).then(Vec::new),
        "pmac" => (pmac::tag(cipher, aad, tag.len()) == tag).then(Vec::new),
        "gmac" => (gcm::gmac(cipher, nonce, aad, tag.len()) == tag).then(Vec::new),
        "gcm" => gcm::open(cipher, nonce, aad, ct, tag),
        "ccm" => ccm::open(cipher, nonce, aad, ct, tag),
        "eax" => eax::open(cipher, nonce, aad, ct, tag),
        "gcm-siv" => gcm_siv::open(cipher, nonce, aad, ct, tag),
        "siv" => siv::open(cipher, &C::with_key(own)?, &[aad, nonce][..strings(nonce)], ct, block(tag)),
        "ocb3-t64" | "ocb3-t96" | "ocb3-t128" | "ocb3" => ocb3::open(cipher, nonce, aad, ct, tag),
        "otr-p" => otr::open(cipher, otr::Ad::Parallel, nonce, aad, ct, tag),
        "otr-s" => otr::open(cipher, otr::Ad::Serial, nonce, aad, ct, tag),
        "poet" => poet::open(cipher, Hash::Aes, block(nonce), aad, ct, block(tag)),
        "poet-aes4" => poet::open(cipher, Hash::Aes4, block(nonce), aad, ct, block(tag)),
        "poet-g" => poet::open(cipher, Hash::Multiplication, block(nonce), aad, ct, block(tag)),
        "mcoe-g" => mcoe_g::open(cipher, block(own), block(nonce), aad, ct, block(tag)),
        "cloc" => cloc::open(cipher, nonce.try_into().ok()?, aad, ct, tag),
        "silc" => silc::open(cipher, nonce.try_into().ok()?, aad, ct, tag),
        "jambu" => jambu::open(cipher, nonce.try_into().ok()?, aad, ct, tag),
        "cobra" => cobra::open(cipher, block(nonce), aad, ct, block(tag)),
        "julius-ecb" => julius::open(cipher, block(nonce), aad, ct, block(tag)),
        "copa" => copa::open(cipher, nonce, aad, ct, tag),
        "colm0" => colm::open(cipher, nonce, aad, ct, tag),
        "elmd" => elmd::open(cipher, &elmd::FULL, nonce, aad, ct, tag),
        "elmd66" => elmd::open(cipher, &elmd::SIX_ROUNDS, nonce, aad, ct, tag),
        "elmd-it127" => elmd::open(cipher, &elmd::INTERMEDIATE_TAGS, nonce, aad, ct, tag),
        "elmd-vartag" => elmd::open(cipher, &elmd::VARIABLE_TAG, nonce, aad, ct, tag),
        _ => None,
    }
}

/// Returns whether a mode accepts these sizes in bytes: additional key bytes, nonce, additional data, message and
/// tag.
fn takes<C: BlockCipher>(mode: &str, own: usize, nonce: usize, aad: usize, msg: usize, tag: usize) -> bool {
    let own_bytes = match mode {
        "mcoe-g" => 16,
        "siv" | "xts" => C::KEY_BYTES,
        _ => 0,
    };
    if own != own_bytes {
        return false;
    }
    match mode {
        "ecb" => nonce == 0 && aad == 0 && tag == 0 && msg.is_multiple_of(16),
        "cbc" => nonce == 16 && aad == 0 && tag == 0 && msg.is_multiple_of(16),
        "cfb128" | "ofb" | "ctr" => nonce == 16 && aad == 0 && tag == 0,
        "xts" => C::KEY_BYTES != 24 && nonce == 16 && aad == 0 && tag == 0 && (16..=16 << 20).contains(&msg),
        "hctr2" => C::KEY_BYTES != 24 && nonce == 0 && tag == 0 && msg >= 16,
        "cmac" | "pmac" => nonce == 0 && msg == 0 && matches!(tag, 1..=16),
        "gmac" => nonce > 0 && msg == 0 && matches!(tag, 4 | 8 | 12..=16),
        "gcm" => nonce > 0 && matches!(tag, 4 | 8 | 12..=16),
        "ccm" => {
            matches!(nonce, 7..=13)
                && matches!(tag, 4 | 6 | 8 | 10 | 12 | 14 | 16)
                && (msg as u128) < 1 << (8 * (15 - nonce))
        }
        "eax" => matches!(tag, 1..=16),
        "siv" => tag == 16,
        "gcm-siv" | "otr-p" | "otr-s" => C::KEY_BYTES != 24 && nonce == 12 && tag == 16,
        "ocb3-t64" => matches!(nonce, 1..=15) && tag == 8,
        "ocb3-t96" => matches!(nonce, 1..=15) && tag == 12,
        "ocb3-t128" | "ocb3" => matches!(nonce, 1..=15) && tag == 16,
        "cloc" | "silc" => C::KEY_BYTES == 16 && nonce == 12 && tag == 8,
        "jambu" => C::KEY_BYTES == 16 && nonce == 8 && tag == 8,
        "poet" | "poet-aes4" | "poet-g" | "mcoe-g" | "cobra" | "julius-ecb" => {
            C::KEY_BYTES == 16 && nonce == 16 && tag == 16
        }
        "copa" => C::KEY_BYTES == 16 && nonce == 16 && tag == 16,
        "colm0" | "elmd" | "elmd66" | "elmd-it127" | "elmd-vartag" => {
            C::KEY_BYTES == 16 && nonce == 8 && tag == 16
        }
        _ => false,
    }
}

/// Returns the number of SIV's associated strings: the additional data, and the nonce unless it is empty (RFC 5297,
/// section 3).
fn strings(nonce: &[u8]) -> usize {
    if nonce.is_empty() { 1 } else { 2 }
}

/// Returns the XOR of two blocks.
fn xor(x: Block, y: Block) -> Block {
    core::array::from_fn(|i| x[i] ^ y[i])
}

/// Pads a string of at most 16 bytes to a block: a one bit, then zeros, if it is shorter.
fn pad_one(string: &[u8]) -> Block {
    let mut block = pad(string);
    if string.len() < 16 {
        block[string.len()] = 0x80;
    }
    block
}

/// Zero-pads a string of at most 16 bytes to a block.
fn pad(string: &[u8]) -> Block {
    let mut block = [0; 16];
    block[..string.len()].copy_from_slice(string);
    block
}

/// XORs a string of at most 16 bytes with the first bytes of a block.
fn xor_partial(string: &[u8], block: Block) -> Vec<u8> {
    string.iter().zip(block).map(|(x, y)| x ^ y).collect()
}

/// Returns the blocks of a string whose length is a multiple of 16.
fn whole_blocks(string: &[u8]) -> impl Iterator<Item = Block> {
    let (blocks, rest) = string.as_chunks();
    assert!(rest.is_empty(), "the mode takes whole blocks");
    blocks.iter().copied()
}
