//! `ring`: assembly code of BoringSSL.

use crate::{Peer, versions::with_version};
use ring::aead::{AES_128_GCM, AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};

pub(crate) fn peer(algorithm: &str, key: &[u8]) -> Option<Peer> {
    let algorithm = match algorithm {
        "aes128-gcm" => &AES_128_GCM,
        "aes256-gcm" => &AES_256_GCM,
        _ => return None,
    };
    Some(Peer::new(
        with_version("ring"),
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
            let tag = tag.try_into().expect("a tag of 16 bytes");
            key.open_in_place_separate_tag(nonce_of(nonce), Aad::empty(), tag, message, 0..).is_ok()
        },
    ))
}

fn nonce_of(nonce: &[u8]) -> Nonce {
    Nonce::try_assume_unique_for_key(nonce).expect("a nonce of the usual length")
}
