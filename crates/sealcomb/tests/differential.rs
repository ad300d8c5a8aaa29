//! Random messages are sealed as by the pure-Rust crates for the same modes.

mod common {
    pub(crate) mod backends;
    pub(crate) mod borders;
    pub(crate) mod known_answer;
    pub(crate) mod unsealed;
}

use aead::array::typenum::{U4, U7, U8, U11, U12, U13, U15, U16};
use aead::{AeadInOut, KeyInit, Nonce};
use aegis::aegis128l::Aegis128L;
use aegis::aegis256::Aegis256;
use aes::cipher::block_padding::NoPadding;
use aes::cipher::{BlockModeEncrypt, KeyIvInit, StreamCipher};
use aes::{Aes128, Aes192, Aes256};
use aes_gcm::AesGcm;
use aes_gcm_siv::AesGcmSiv;
use aes_siv::siv::Siv;
use ccm::Ccm;
use cmac::{Cmac, Mac};
use common::known_answer::{KnownAnswer, must_hold};
use common::unsealed::messages;
use ctr::Ctr128BE;
use eax::Eax;
use hctr2_rs::{Hctr2_128, Hctr2_256};
use ocb3::Ocb3;
use ofb::Ofb;
use pmac::Pmac;
use proptest::prelude::*;
use proptest::sample::select;
use sealcomb::hazmat;
use sealcomb::study::ALGORITHMS;
use sealcomb::{Algorithm, Cipher};
use xaes_256_gcm::Xaes256Gcm;
use xts_mode::Xts128;

/// Returns the nonce and tag sizes that a peer supports; none if no peer has the algorithm.
fn sizes(algorithm: Algorithm) -> Option<(Vec<usize>, Vec<usize>)> {
    if algorithm.cipher() != Cipher::Aes {
        return None;
    }
    Some(match mode(algorithm) {
        "ecb" | "hctr2" => (vec![0], vec![0]),
        "cbc" | "cfb128" | "ofb" | "ctr" | "xts" => (vec![16], vec![0]),
        "cmac" | "pmac" => (vec![0], hazmat::tag_sizes(algorithm).to_vec()),
        "gmac" | "gcm" => (vec![8, 12, 16], vec![12, 16]),
        "ccm" => (vec![7, 11, 13], vec![4, 8, 16]),
        "eax" | "aegis128l" => (vec![16], vec![16]),
        "gcm-siv" => (vec![12], vec![16]),
        "siv" => (vec![1, 12, 16, 33], vec![16]),
        "aegis256" => (vec![32], vec![16]),
        "xaes256-gcm" => (vec![24], vec![16]),
        "ocb3-t64" | "ocb3-t96" | "ocb3-t128" => (vec![8, 12, 15], vec![algorithm.tag_bytes()]),
        _ => return None,
    })
}

/// Returns the algorithms that a peer has.
fn shared() -> Vec<Algorithm> {
    ALGORITHMS.iter().copied().filter(|algorithm| sizes(*algorithm).is_some()).collect()
}

fn mode(algorithm: Algorithm) -> &'static str {
    algorithm.mode_id()
}

/// Seals a message with a peer whose type fixes all sizes.
fn seal_aead<A: AeadInOut + KeyInit>(message: &mut KnownAnswer) {
    let peer = A::new_from_slice(&message.key).expect("the key's length");
    let nonce = Nonce::<A>::try_from(message.nonce.as_slice()).expect("the nonce's length");
    let tag = peer
        .encrypt_inout_detached(&nonce, &message.aad, message.ct.as_mut_slice().into())
        .expect("a short message");
    message.tag.copy_from_slice(&tag);
}

/// Authenticates a message with a peer.
fn mac<M: Mac + KeyInit>(key: &[u8], message: &[u8], tag: &mut [u8]) {
    let mut peer = <M as KeyInit>::new_from_slice(key).expect("a key");
    peer.update(message);
    let full = peer.finalize().into_bytes();
    tag.copy_from_slice(&full[..tag.len()]);
}

/// Seals a message with a peer whose `new` takes a key and a nonce.
macro_rules! seal_aegis {
    ($Peer:ty, $message:ident) => {{
        let KnownAnswer { key, nonce, aad, ct, tag, .. } = $message;
        let [key, nonce] = [key, nonce].map(|string| string.as_slice().try_into().expect("sizes"));
        tag.copy_from_slice(&<$Peer>::new(&key, &nonce).encrypt_in_place(ct, aad));
    }};
}

/// Declares a function that seals with a peer of each mode for one AES key size.
macro_rules! peer {
    ($name:ident, $aes:ty) => {
        fn $name(message: &mut KnownAnswer) {
            let KnownAnswer { algorithm, key, nonce, aad, ct, tag, .. } = &mut *message;
            let (bytes, tag_bytes) = (ct.len(), tag.len());
            match (mode(*algorithm), nonce.len(), tag_bytes) {
                ("ecb", ..) => {
                    let peer = ecb::Encryptor::<$aes>::new_from_slice(key).expect("a key");
                    peer.encrypt_padded::<NoPadding>(ct, bytes).expect("whole blocks");
                }
                ("cbc", ..) => {
                    let peer = cbc::Encryptor::<$aes>::new_from_slices(key, nonce).expect("sizes");
                    peer.encrypt_padded::<NoPadding>(ct, bytes).expect("whole blocks");
                }
                ("cfb128", ..) => {
                    cfb_mode::Encryptor::<$aes>::new_from_slices(key, nonce).expect("sizes").encrypt(ct)
                }
                ("ofb", ..) => {
                    Ofb::<$aes>::new_from_slices(key, nonce).expect("sizes").apply_keystream(ct);
                }
                ("ctr", ..) => {
                    Ctr128BE::<$aes>::new_from_slices(key, nonce).expect("sizes").apply_keystream(ct)
                }
                ("xts", ..) => {
                    let (key1, key2) = key.split_at(key.len() / 2);
                    let [key1, key2] = [key1, key2].map(|key| <$aes>::new_from_slice(key).expect("a key"));
                    let tweak = nonce.as_slice().try_into().expect("a block");
                    Xts128::new(key1, key2).encrypt_sector(ct, tweak);
                }
                ("cmac", ..) => mac::<Cmac<$aes>>(key, aad, tag),
                ("pmac", ..) => mac::<Pmac<$aes>>(key, aad, tag),
                ("gcm" | "gmac", 8, 12) => seal_aead::<AesGcm<$aes, U8, U12>>(message),
                ("gcm" | "gmac", 8, 16) => seal_aead::<AesGcm<$aes, U8, U16>>(message),
                ("gcm" | "gmac", 12, 12) => seal_aead::<AesGcm<$aes, U12, U12>>(message),
                ("gcm" | "gmac", 12, 16) => seal_aead::<AesGcm<$aes, U12, U16>>(message),
                ("gcm" | "gmac", 16, 12) => seal_aead::<AesGcm<$aes, U16, U12>>(message),
                ("gcm" | "gmac", 16, 16) => seal_aead::<AesGcm<$aes, U16, U16>>(message),
                ("ccm", 7, 4) => seal_aead::<Ccm<$aes, U4, U7>>(message),
                ("ccm", 7, 8) => seal_aead::<Ccm<$aes, U8, U7>>(message),
                ("ccm", 7, 16) => seal_aead::<Ccm<$aes, U16, U7>>(message),
                ("ccm", 11, 4) => seal_aead::<Ccm<$aes, U4, U11>>(message),
                ("ccm", 11, 8) => seal_aead::<Ccm<$aes, U8, U11>>(message),
                ("ccm", 11, 16) => seal_aead::<Ccm<$aes, U16, U11>>(message),
                ("ccm", 13, 4) => seal_aead::<Ccm<$aes, U4, U13>>(message),
                ("ccm", 13, 8) => seal_aead::<Ccm<$aes, U8, U13>>(message),
                ("ccm", 13, 16) => seal_aead::<Ccm<$aes, U16, U13>>(message),
                ("eax", ..) => seal_aead::<Eax<$aes>>(message),
                ("gcm-siv", ..) => seal_aead::<AesGcmSiv<$aes>>(message),
                ("siv", ..) => {
                    let mut peer = Siv::<$aes, Cmac<$aes>>::new_from_slice(key).expect("a key");
                    let made = peer.encrypt_inout_detached([&*aad, nonce], ct.as_mut_slice().into());
                    tag.copy_from_slice(&made.expect("few strings"));
                }
                ("ocb3-t64", 8, _) => seal_aead::<Ocb3<$aes, U8, U8>>(message),
                ("ocb3-t64", 12, _) => seal_aead::<Ocb3<$aes, U12, U8>>(message),
                ("ocb3-t64", 15, _) => seal_aead::<Ocb3<$aes, U15, U8>>(message),
                ("ocb3-t96", 8, _) => seal_aead::<Ocb3<$aes, U8, U12>>(message),
                ("ocb3-t96", 12, _) => seal_aead::<Ocb3<$aes, U12, U12>>(message),
                ("ocb3-t96", 15, _) => seal_aead::<Ocb3<$aes, U15, U12>>(message),
                ("ocb3-t128", 8, _) => seal_aead::<Ocb3<$aes, U8, U16>>(message),
                ("ocb3-t128", 12, _) => seal_aead::<Ocb3<$aes, U12, U16>>(message),
                ("ocb3-t128", 15, _) => seal_aead::<Ocb3<$aes, U15, U16>>(message),
                sizes => panic!("no peer for {sizes:?}"),
            }
        }
    };
}

peer!(seal_aes128, Aes128);
peer!(seal_aes192, Aes192);
peer!(seal_aes256, Aes256);

/// Encrypts a message with HCTR2, whose tweak is the additional data.
fn encrypt_hctr2(message: &mut KnownAnswer) {
    let KnownAnswer { key, aad, msg, ct, .. } = message;
    let encrypted = match key.len() {
        16 => Hctr2_128::new(key).encrypt(msg, aad, ct),
        _ => Hctr2_256::new(key).encrypt(msg, aad, ct),
    };
    encrypted.expect("at least one block");
}

fn seal(message: &mut KnownAnswer) {
    match (mode(message.algorithm), message.algorithm.cipher_key_bytes()) {
        ("aegis128l", _) => seal_aegis!(Aegis128L<16>, message),
        ("aegis256", _) => seal_aegis!(Aegis256<16>, message),
        ("xaes256-gcm", _) => seal_aead::<Xaes256Gcm>(message),
        ("hctr2", _) => encrypt_hctr2(message),
        (_, 16) => seal_aes128(message),
        (_, 24) => seal_aes192(message),
        _ => seal_aes256(message),
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 384,
        failure_persistence: None,
        max_shrink_time: 60_000,
        ..ProptestConfig::default()
    })]

    #[test]
    fn random_messages_are_sealed_as_by_the_peers(
        mut messages in select(shared()).prop_flat_map(|algorithm| {
            let (nonces, tags) = sizes(algorithm).expect("a shared algorithm");
            messages(algorithm, nonces, tags)
        })
    ) {
        messages.iter_mut().for_each(seal);
        must_hold(&messages);
    }
}
