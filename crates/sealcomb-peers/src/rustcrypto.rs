//! The RustCrypto crates, in pure Rust.

use crate::{Peer, versions::with_version};
use aead::{AeadInOut, KeyInit, inout::InOutBuf};
use aes::{Aes128, Aes192, Aes256};
use aes_gcm::AesGcm;
use aes_gcm_siv::AesGcmSiv;
use aes_siv::{Aes128SivAead, Aes256SivAead};
use ccm::Ccm;
use cipher::{
    Array, BlockCipherDecrypt, BlockCipherEncrypt, BlockModeDecrypt, BlockModeEncrypt, BlockSizeUser,
    InnerIvInit, StreamCipher, array::sizes::U16, consts::U12,
};
use cmac::Cmac;
use ctr::{Ctr128BE, CtrCore};
use digest::Mac;
use eax::Eax;
use ofb::{Ofb, OfbCore};
use xaes_256_gcm::Xaes256Gcm;
use xts_mode::Xts128;

pub(crate) fn peer(algorithm: &str, key: &[u8]) -> Option<Peer> {
    let (size, mode) = algorithm.split_once('-')?;
    match size {
        "aes128" => match mode {
            "siv" => Some(aead::<Aes128SivAead>("aes-siv", key)),
            "gcm-siv" => Some(aead::<AesGcmSiv<Aes128>>("aes-gcm-siv", key)),
            "gcm" => Some(aead::<AesGcm<Aes128, U12>>("aes-gcm", key)),
            "ccm" => Some(aead::<Ccm<Aes128, U16, U12>>("ccm", key)),
            "eax" => Some(aead::<Eax<Aes128>>("eax", key)),
            "cmac" => Some(mac::<Cmac<Aes128>>("cmac", key)),
            "xts" => Some(xts::<Aes128>(key)),
            _ => encryption::<Aes128>(mode, key),
        },
        "aes192" => match mode {
            "gcm" => Some(aead::<AesGcm<Aes192, U12>>("aes-gcm", key)),
            "ccm" => Some(aead::<Ccm<Aes192, U16, U12>>("ccm", key)),
            "eax" => Some(aead::<Eax<Aes192>>("eax", key)),
            "cmac" => Some(mac::<Cmac<Aes192>>("cmac", key)),
            _ => encryption::<Aes192>(mode, key),
        },
        "aes256" => match mode {
            "siv" => Some(aead::<Aes256SivAead>("aes-siv", key)),
            "gcm-siv" => Some(aead::<AesGcmSiv<Aes256>>("aes-gcm-siv", key)),
            "gcm" => Some(aead::<AesGcm<Aes256, U12>>("aes-gcm", key)),
            "ccm" => Some(aead::<Ccm<Aes256, U16, U12>>("ccm", key)),
            "eax" => Some(aead::<Eax<Aes256>>("eax", key)),
            "cmac" => Some(mac::<Cmac<Aes256>>("cmac", key)),
            "xts" => Some(xts::<Aes256>(key)),
            _ => encryption::<Aes256>(mode, key),
        },
        "xaes256" => Some(aead::<Xaes256Gcm>("xaes-256-gcm", key)),
        _ => None,
    }
}

fn library(package: &str) -> String {
    format!("rustcrypto-{}", with_version(package))
}

fn ready<K: KeyInit>(key: &[u8]) -> K {
    K::new_from_slice(key).expect("a key of the algorithm's length")
}

fn aead<A: AeadInOut + KeyInit + 'static>(package: &str, key: &[u8]) -> Peer {
    Peer::new(
        library(package),
        key,
        ready::<A>,
        |aead, nonce, message, tag| {
            let nonce = nonce.try_into().expect("a nonce of the usual length");
            let made = aead
                .encrypt_inout_detached(nonce, &[], InOutBuf::from(message))
                .expect("a message within the length limit");
            tag.copy_from_slice(&made);
        },
        |aead, nonce, message, tag| {
            let nonce = nonce.try_into().expect("a nonce of the usual length");
            let tag = tag.try_into().expect("a tag of the usual length");
            aead.decrypt_inout_detached(nonce, &[], InOutBuf::from(message), tag).is_ok()
        },
    )
}

fn mac<M: Mac + KeyInit + Clone + 'static>(package: &str, key: &[u8]) -> Peer {
    Peer::new(
        library(package),
        key,
        ready::<M>,
        |mac, _, message, tag| {
            let made = mac.clone().chain_update(message).finalize().into_bytes();
            tag.copy_from_slice(&made);
        },
        |mac, _, message, tag| mac.clone().chain_update(message).verify_slice(tag).is_ok(),
    )
}

fn encryption<C>(mode: &str, key: &[u8]) -> Option<Peer>
where
    C: BlockCipherEncrypt + BlockCipherDecrypt + BlockSizeUser<BlockSize = U16> + KeyInit + 'static,
{
    // Modes with additional key bytes have longer keys than the cipher.
    if key.len() != C::key_size() {
        return None;
    }
    Some(match mode {
        "ecb" => bare(
            "aes",
            key,
            |cipher: &C, _, message| cipher.encrypt_blocks(blocks(message)),
            |cipher, _, message| cipher.decrypt_blocks(blocks(message)),
        ),
        "cbc" => bare(
            "cbc",
            key,
            |cipher: &C, iv, message| {
                cbc::Encryptor::inner_iv_init(cipher, block(iv)).encrypt_blocks(blocks(message));
            },
            |cipher, iv, message| {
                cbc::Decryptor::inner_iv_init(cipher, block(iv)).decrypt_blocks(blocks(message));
            },
        ),
        "cfb128" => bare(
            "cfb-mode",
            key,
            |cipher: &C, iv, message| cfb_mode::Encryptor::inner_iv_init(cipher, block(iv)).encrypt(message),
            |cipher, iv, message| cfb_mode::Decryptor::inner_iv_init(cipher, block(iv)).decrypt(message),
        ),
        "ofb" => bare("ofb", key, ofb::<C>, ofb::<C>),
        "ctr" => bare("ctr", key, ctr::<C>, ctr::<C>),
        _ => return None,
    })
}

fn xts<C>(key: &[u8]) -> Peer
where
    C: BlockCipherEncrypt + BlockCipherDecrypt + BlockSizeUser<BlockSize = U16> + KeyInit + 'static,
{
    let new = |key: &[u8]| {
        let (key1, key2) = key.split_at(key.len() / 2);
        Xts128::new(ready::<C>(key1), ready::<C>(key2))
    };
    Peer::new(
        library("xts-mode"),
        key,
        new,
        |xts, tweak, message, _| xts.encrypt_sector(message, *block(tweak)),
        |xts, tweak, message, _| {
            xts.decrypt_sector(message, *block(tweak));
            true
        },
    )
}

/// Creates a peer for an unauthenticated cipher.
fn bare<C: KeyInit + 'static>(
    package: &str,
    key: &[u8],
    encrypt: impl Fn(&C, &[u8], &mut [u8]) + 'static,
    decrypt: impl Fn(&C, &[u8], &mut [u8]) + 'static,
) -> Peer {
    Peer::new(
        library(package),
        key,
        ready::<C>,
        move |cipher, iv, message, _| encrypt(cipher, iv, message),
        move |cipher, iv, message, _| {
            decrypt(cipher, iv, message);
            true
        },
    )
}

fn ofb<C: BlockCipherEncrypt + BlockSizeUser<BlockSize = U16>>(cipher: &C, iv: &[u8], message: &mut [u8]) {
    Ofb::from_core(OfbCore::inner_iv_init(cipher, block(iv))).apply_keystream(message);
}

fn ctr<C: BlockCipherEncrypt + BlockSizeUser<BlockSize = U16>>(cipher: &C, iv: &[u8], message: &mut [u8]) {
    Ctr128BE::from_core(CtrCore::inner_iv_init(cipher, block(iv))).apply_keystream(message);
}

fn block(bytes: &[u8]) -> &Array<u8, U16> {
    bytes.try_into().expect("an IV of one block")
}

fn blocks(message: &mut [u8]) -> &mut [Array<u8, U16>] {
    Array::slice_as_chunks_mut(message).0
}
