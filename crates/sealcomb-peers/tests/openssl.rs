//! Sealcomb agrees with OpenSSL on random messages, for every mode of OpenSSL 3.0.

#[path = "../../sealcomb/tests/common/"]
mod common {
    pub(crate) mod backends;
    pub(crate) mod borders;
    pub(crate) mod known_answer;
    pub(crate) mod unsealed;
}

use common::known_answer::{KnownAnswer, must_hold};
use common::unsealed::messages;
use openssl::cipher::Cipher;
use openssl::cipher_ctx::CipherCtx;
use openssl::error::ErrorStack;
use openssl::pkey::PKey;
use openssl::sign::Signer;
use openssl::symm;
use proptest::prelude::*;
use proptest::sample::select;
use sealcomb::Algorithm;
use sealcomb::hazmat;
use sealcomb::study::{self, ALGORITHMS};

/// Returns the mode in an algorithm's id.
fn mode(algorithm: Algorithm) -> &'static str {
    algorithm.mode_id()
}

/// Returns the algorithms that OpenSSL 3.0 supports.
fn shared() -> Vec<Algorithm> {
    let modes = ["gcm", "gmac", "ccm", "cmac", "ecb", "cbc", "cfb128", "ofb", "ctr", "xts"];
    let is_shared = |algorithm: &Algorithm| {
        algorithm.cipher() == sealcomb::Cipher::Aes && modes.contains(&mode(*algorithm))
    };
    ALGORITHMS.iter().copied().filter(is_shared).collect()
}

/// Returns the nonce and tag lengths in bytes to test.
fn sizes(algorithm: Algorithm) -> (Vec<usize>, Vec<usize>) {
    let nonces = match mode(algorithm) {
        "ecb" | "cmac" => vec![0],
        "ccm" => (7..=13).collect(),
        "gcm" | "gmac" => (1..=128).chain([12; 100]).collect(),
        _ => vec![16],
    };
    let tags =
        if hazmat::tag_sizes(algorithm).is_empty() { vec![0] } else { hazmat::tag_sizes(algorithm).to_vec() };
    (nonces, tags)
}

/// Seals a message with OpenSSL.
fn seal(message: &mut KnownAnswer) -> Result<(), ErrorStack> {
    match mode(message.algorithm) {
        "cmac" => seal_cmac(message),
        "ecb" | "cbc" | "cfb128" | "ofb" | "ctr" | "xts" => seal_cipher(message),
        _ => seal_aead(message),
    }
}

fn seal_cmac(message: &mut KnownAnswer) -> Result<(), ErrorStack> {
    let cipher = match message.key.len() {
        16 => symm::Cipher::aes_128_cbc(),
        24 => symm::Cipher::aes_192_cbc(),
        _ => symm::Cipher::aes_256_cbc(),
    };
    let key = PKey::cmac(&cipher, &message.key)?;
    let mut signer = Signer::new_without_digest(&key)?;
    signer.update(&message.aad)?;
    let full = signer.sign_to_vec()?;
    message.tag = full[..message.tag.len()].to_vec();
    Ok(())
}

fn seal_cipher(message: &mut KnownAnswer) -> Result<(), ErrorStack> {
    let cipher = fetch(message.algorithm)?;
    let nonce = (!message.nonce.is_empty()).then_some(message.nonce.as_slice());
    let mut context = CipherCtx::new()?;
    context.encrypt_init(Some(&cipher), Some(&message.key), nonce)?;
    context.set_padding(false);
    message.ct.clear();
    context.cipher_update_vec(&message.msg, &mut message.ct)?;
    context.cipher_final_vec(&mut message.ct)?;
    Ok(())
}

fn seal_aead(message: &mut KnownAnswer) -> Result<(), ErrorStack> {
    let cipher = fetch(message.algorithm)?;
    let is_ccm = mode(message.algorithm) == "ccm";
    let mut context = CipherCtx::new()?;
    context.encrypt_init(Some(&cipher), None, None)?;
    context.set_iv_length(message.nonce.len())?;
    if is_ccm {
        context.set_tag_length(message.tag.len())?;
    }
    context.encrypt_init(None, Some(&message.key), Some(&message.nonce))?;
    if is_ccm {
        context.set_data_len(message.msg.len())?;
    }
    if !message.aad.is_empty() {
        context.cipher_update(&message.aad, None)?;
    }
    message.ct.clear();
    // CCM computes its tag in this call, so it is required for empty messages too.
    context.cipher_update_vec(&message.msg, &mut message.ct)?;
    context.cipher_final_vec(&mut message.ct)?;
    context.tag(&mut message.tag)
}

/// Returns OpenSSL's cipher for an algorithm. OpenSSL's names for GMAC and CFB128 are GCM and CFB.
fn fetch(algorithm: Algorithm) -> Result<Cipher, ErrorStack> {
    let mode = match mode(algorithm) {
        "gmac" => "gcm",
        "cfb128" => "cfb",
        mode => mode,
    };
    Cipher::fetch(None, &format!("AES-{}-{mode}", 8 * algorithm.cipher_key_bytes()), None)
}

/// Counters overflow in their last 32 or 64 bits, or in all 128, at each block of messages of up to 41 blocks. The
/// last block is whole or partial.
#[test]
fn ctr_carries_like_openssl() {
    let algorithm = study::by_id("aes128-ctr").expect("a listed algorithm");
    for (border, before) in [1 << 32, 1 << 64, 0x0102_0304_0506_0708 << 64, 0_u128]
        .into_iter()
        .flat_map(|border| (0..=40_u128).map(move |before| (border, before)))
    {
        let nonce = border.wrapping_sub(before).to_be_bytes().to_vec();
        let mut messages: Vec<_> = (0..=16 * 41)
            .filter(|bytes| bytes % 16 <= 1 || bytes % 16 == 15)
            .map(|bytes| KnownAnswer {
                origin: format!("IV {}, {bytes} bytes", hex::encode(&nonce)),
                algorithm,
                key: vec![7; 16],
                nonce: nonce.clone(),
                aad: Vec::new(),
                msg: vec![9; bytes],
                ct: Vec::new(),
                tag: Vec::new(),
            })
            .collect();
        for message in &mut messages {
            seal(message).unwrap_or_else(|error| panic!("{message:?}: {error}"));
        }
        must_hold(&messages);
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
    fn random_messages_are_sealed_as_openssl_seals_them(
        mut messages in select(shared()).prop_flat_map(|algorithm| {
            let (nonces, tags) = sizes(algorithm);
            messages(algorithm, nonces, tags)
        })
    ) {
        for message in &mut messages {
            seal(message).unwrap_or_else(|error| panic!("{message:?}: {error}"));
        }
        must_hold(&messages);
    }
}
