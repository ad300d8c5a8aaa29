//! `aws-lc-rs`: C and assembly code of AWS-LC.

use crate::{Peer, versions::with_version};
use aws_lc_rs::aead::{
    AES_128_GCM, AES_128_GCM_SIV, AES_192_GCM, AES_256_GCM, AES_256_GCM_SIV, Aad, LessSafeKey, Nonce,
    UnboundKey,
};
use aws_lc_rs::cmac;

pub(crate) fn peer(algorithm: &str, key: &[u8]) -> Option<Peer> {
    match algorithm {
        "aes128-gcm" => Some(aead(&AES_128_GCM, key)),
        "aes192-gcm" => Some(aead(&AES_192_GCM, key)),
        "aes256-gcm" => Some(aead(&AES_256_GCM, key)),
        "aes128-gcm-siv" => Some(aead(&AES_128_GCM_SIV, key)),
        "aes256-gcm-siv" => Some(aead(&AES_256_GCM_SIV, key)),
        "aes128-cmac" => Some(mac(cmac::AES_128, key)),
        "aes192-cmac" => Some(mac(cmac::AES_192, key)),
        "aes256-cmac" => Some(mac(cmac::AES_256, key)),
        _ => None,
    }
}

fn aead(algorithm: &'static aws_lc_rs::aead::Algorithm, key: &[u8]) -> Peer {
    Peer::new(
        with_version("aws-lc-rs"),
        key,
        move |key| {
            LessSafeKey::new(UnboundKey::new(algorithm, key).expect("a key of the algorithm's length"))
        },
        |key, nonce, message, tag| {
            let made = key
                .seal_in_place_separate_tag(nonce_of(nonce), Aad::empty(), message)
                .expect("a message within the length limit");
            tag.copy_from_slice(made.as_ref());
        },
        |key, nonce, message, tag| {
            key.open_in_place_separate_tag(nonce_of(nonce), Aad::empty(), tag, message).is_ok()
        },
    )
}

fn mac(algorithm: cmac::Algorithm, key: &[u8]) -> Peer {
    Peer::new(
        with_version("aws-lc-rs"),
        key,
        move |key| cmac::Key::new(algorithm, key).expect("a key of the algorithm's length"),
        |key, _, message, tag| {
            let made = cmac::sign(key, message).expect("a tag for any message");
            tag.copy_from_slice(made.as_ref());
        },
        |key, _, message, tag| cmac::verify(key, message, tag).is_ok(),
    )
}

fn nonce_of(nonce: &[u8]) -> Nonce {
    Nonce::try_assume_unique_for_key(nonce).expect("a nonce of the usual length")
}
