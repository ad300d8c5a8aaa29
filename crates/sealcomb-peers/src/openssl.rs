//! OpenSSL's EVP interface. The key is set once per context, the nonce for each message.

use crate::Peer;
use openssl::cipher::{Cipher, CipherRef};
use openssl::cipher_ctx::{CipherCtx, CipherCtxRef};
use openssl::error::ErrorStack;
use openssl::memcmp;
use openssl::pkey::{PKey, Private};
use openssl::sign::Signer;
use openssl::symm;
use std::cell::{OnceCell, RefCell};
use std::rc::Rc;

/// The sequence of EVP calls that a mode requires.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    Cipher,
    Gcm,
    /// Nonce and tag lengths are set before the key, and the length of each message before its data.
    Ccm,
}

pub(crate) fn peer(algorithm: &str, key: &[u8]) -> Option<Peer> {
    let (size, mode) = algorithm.strip_prefix("aes")?.split_once('-')?;
    let (name, shape) = match mode {
        "ecb" | "cbc" | "ofb" | "ctr" | "xts" => (mode, Shape::Cipher),
        "cfb128" => ("cfb", Shape::Cipher),
        "gcm" => ("gcm", Shape::Gcm),
        "ccm" => ("ccm", Shape::Ccm),
        "cmac" => return cmac(size, key),
        _ => return None,
    };
    let cipher = Rc::new(Cipher::fetch(None, &format!("AES-{size}-{name}"), None).ok()?);
    let ready = move |key: &[u8], opens| {
        let context = keyed(&cipher, shape, key, opens).expect("a key of the algorithm's length");
        RefCell::new(context)
    };
    let ready_to_open = ready.clone();
    Some(Peer::new(
        library(),
        key,
        move |key| Contexts { key: key.to_vec(), sealing: ready(key, false), opening: OnceCell::new() },
        move |contexts, nonce, message, tag| {
            seal(&mut contexts.sealing.borrow_mut(), shape, nonce, message, tag)
                .expect("sizes that the algorithm takes");
        },
        move |contexts, nonce, message, tag| {
            let context = contexts.opening.get_or_init(|| ready_to_open(&contexts.key, true));
            open(&mut context.borrow_mut(), shape, nonce, message, tag).is_ok()
        },
    ))
}

/// A context for each direction. The one for opening is created on first use.
struct Contexts {
    key: Vec<u8>,
    sealing: RefCell<CipherCtx>,
    opening: OnceCell<RefCell<CipherCtx>>,
}

fn library() -> String {
    let version = openssl::version::version();
    format!("openssl-{}", version.split_whitespace().nth(1).unwrap_or("unknown"))
}

fn keyed(cipher: &CipherRef, shape: Shape, key: &[u8], opens: bool) -> Result<CipherCtx, ErrorStack> {
    let mut context = CipherCtx::new()?;
    let init = if opens { CipherCtxRef::decrypt_init } else { CipherCtxRef::encrypt_init };
    init(&mut context, Some(cipher), None, None)?;
    if shape == Shape::Ccm {
        context.set_iv_length(12)?;
        context.set_tag_length(16)?;
    }
    init(&mut context, None, Some(key), None)?;
    context.set_padding(false);
    Ok(context)
}

fn seal(
    context: &mut CipherCtx,
    shape: Shape,
    nonce: &[u8],
    message: &mut [u8],
    tag: &mut [u8],
) -> Result<(), ErrorStack> {
    context.encrypt_init(None, None, Some(nonce).filter(|nonce| !nonce.is_empty()))?;
    if shape == Shape::Ccm {
        context.set_data_len(message.len())?;
    }
    if context.block_size() > 1 {
        return update_blocks(context, message);
    }
    context.cipher_update_inplace(message, message.len())?;
    if shape != Shape::Cipher {
        context.cipher_final(&mut [0; 16])?;
        context.tag(tag)?;
    }
    Ok(())
}

fn open(
    context: &mut CipherCtx,
    shape: Shape,
    nonce: &[u8],
    message: &mut [u8],
    tag: &[u8],
) -> Result<(), ErrorStack> {
    context.decrypt_init(None, None, Some(nonce).filter(|nonce| !nonce.is_empty()))?;
    if shape == Shape::Ccm {
        context.set_tag(tag)?;
        context.set_data_len(message.len())?;
    }
    if context.block_size() > 1 {
        return update_blocks(context, message);
    }
    context.cipher_update_inplace(message, message.len())?;
    if shape == Shape::Gcm {
        context.set_tag(tag)?;
        context.cipher_final(&mut [0; 16])?;
    }
    Ok(())
}

/// Processes whole blocks. The wrapper requires room for an additional block after the output, so the last block
/// uses a temporary buffer.
fn update_blocks(context: &mut CipherCtx, message: &mut [u8]) -> Result<(), ErrorStack> {
    let Some(before_last) = message.len().checked_sub(16) else {
        return Ok(());
    };
    context.cipher_update_inplace(message, before_last)?;
    let mut last = [0; 32];
    context.cipher_update(&message[before_last..], Some(&mut last))?;
    message[before_last..].copy_from_slice(&last[..16]);
    Ok(())
}

fn cmac(size: &str, key: &[u8]) -> Option<Peer> {
    let cipher = match size {
        "128" => symm::Cipher::aes_128_cbc(),
        "192" => symm::Cipher::aes_192_cbc(),
        "256" => symm::Cipher::aes_256_cbc(),
        _ => return None,
    };
    Some(Peer::new(
        library(),
        key,
        move |key| PKey::cmac(&cipher, key).expect("a key of the algorithm's length"),
        |key, _, message, tag| sign(key, message, tag),
        |key, _, message, tag| {
            let mut made = [0; 16];
            sign(key, message, &mut made);
            memcmp::eq(&made, tag)
        },
    ))
}

fn sign(key: &PKey<Private>, message: &[u8], tag: &mut [u8]) {
    let mut signer = Signer::new_without_digest(key).expect("a signer with a valid key");
    signer.sign_oneshot(tag, message).expect("a tag for any message");
}
