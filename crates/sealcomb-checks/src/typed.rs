//! The types that implement RustCrypto's traits, whose results must equal those of a [`sealcomb::Key`].

use aead::inout::InOutBuf;
use digest::{FixedOutput, FixedOutputReset, Reset, Update};
use sealcomb::rustcrypto::aead::{
    AeadInOut, Aegis128L, Aegis256, Aes128Ccm, Aes128Eax, Aes128Gcm, Aes128GcmSiv, Aes128Siv, Aes192Ccm,
    Aes192Eax, Aes192Gcm, Aes256Ccm, Aes256Eax, Aes256Gcm, Aes256GcmSiv, Aes256Siv, KeyInit, Xaes256Gcm,
};
use sealcomb::rustcrypto::aead_05::{self, AeadInPlace, Buffer};
use sealcomb::rustcrypto::mac::{Aes128Cmac, Aes192Cmac, Aes256Cmac};

use crate::{Call, Case, Job, Memory, Role};

/// Seals and opens a job's message with one of the types.
pub(crate) type Typed<M> = fn(&mut M, &[u8], &Job<M>);

macro_rules! aead_of {
    ($Type:ident) => {
        |memory, key, job| {
            let held = memory.hold(Role::Key, key);
            let cipher: Box<$Type> = memory.call(Call::NewKey, || {
                Box::new(call!(KeyInit::new((&*held).try_into().expect("a key of the right length"))))
            });
            let (Ok(nonce), Ok(received)) = ((&*job.nonce).try_into(), (&job.tag[..]).try_into()) else {
                return;
            };
            let mut data = memory.hold(Role::Message, &job.message);
            let tag = memory.call(Call::Seal, || {
                call!(AeadInOut::encrypt_inout_detached(
                    &*cipher,
                    nonce,
                    &job.aad,
                    InOutBuf::from(&mut *data)
                ))
            });
            let mut tag = tag.expect("sizes that the algorithm takes");
            assert_eq!(memory.publish(&mut data), job.ciphertext);
            assert_eq!(memory.publish(&mut tag), job.tag);
            let mut data = memory.hold(Role::Ciphertext, &job.ciphertext);
            let opened = memory.call(Call::Open, || {
                let data = InOutBuf::from(&mut *data);
                call!(AeadInOut::decrypt_inout_detached(&*cipher, nonce, &job.aad, data, received))
            });
            opened.expect("a sealed message");
            assert_eq!(memory.publish(&mut data), job.message);
            with_traits_of_aead_05(memory, &*cipher, job);
            memory.call(Call::DropKeys, || drop(cipher));
        }
    };
}

/// Seals and opens a job's message with the traits of `aead` 0.5.
fn with_traits_of_aead_05<M: Memory, C: AeadInPlace>(memory: &mut M, cipher: &C, job: &Job<M>) {
    let nonce = aead_05::Nonce::<C>::from_slice(&job.nonce);
    let received = aead_05::Tag::<C>::from_slice(&job.tag);
    let mut data = memory.hold(Role::Message, &job.message);
    let tag = memory.call(Call::Seal, || {
        call!(AeadInPlace::encrypt_in_place_detached(cipher, nonce, &job.aad, &mut data))
    });
    let mut tag = tag.expect("sizes that the algorithm takes");
    assert_eq!(memory.publish(&mut data), job.ciphertext);
    assert_eq!(memory.publish(&mut tag), job.tag);
    let mut data = memory.hold(Role::Ciphertext, &job.ciphertext);
    let opened = memory.call(Call::Open, || {
        call!(AeadInPlace::decrypt_in_place_detached(cipher, nonce, &job.aad, &mut data, received))
    });
    opened.expect("a sealed message");
    assert_eq!(memory.publish(&mut data), job.message);

    let mut data = memory.hold(Role::Message, &[&job.message[..], &[0; 16]].concat());
    let sealed = memory.call(Call::Seal, || {
        let mut room = Room { len: job.message.len(), bytes: &mut data };
        call!(AeadInPlace::encrypt_in_place(cipher, nonce, &job.aad, &mut room))
    });
    sealed.expect("sizes that the algorithm takes");
    let combined = memory.publish(&mut data);
    let (text, tag) = (&job.ciphertext[..], &job.tag[..]);
    assert!(combined == [text, tag].concat() || combined == [tag, text].concat());
    let mut data = memory.hold(Role::Ciphertext, &combined);
    let opened = memory.call(Call::Open, || {
        let mut room = Room { len: combined.len(), bytes: &mut data };
        call!(AeadInPlace::decrypt_in_place(cipher, nonce, &job.aad, &mut room))
    });
    opened.expect("a sealed message");
    assert_eq!(memory.publish(&mut data)[..job.message.len()], job.message[..]);
}

/// A buffer in the memory of a check.
struct Room<'a> {
    bytes: &'a mut [u8],
    len: usize,
}

impl AsRef<[u8]> for Room<'_> {
    fn as_ref(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

impl AsMut<[u8]> for Room<'_> {
    fn as_mut(&mut self) -> &mut [u8] {
        &mut self.bytes[..self.len]
    }
}

impl Buffer for Room<'_> {
    fn extend_from_slice(&mut self, more: &[u8]) -> Result<(), aead_05::Error> {
        let to = self.bytes.get_mut(self.len..self.len + more.len()).ok_or(aead_05::Error)?;
        to.copy_from_slice(more);
        self.len += more.len();
        Ok(())
    }

    fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
    }
}

macro_rules! mac_of {
    ($Type:ident) => {
        |memory, key, job| {
            let held = memory.hold(Role::Key, key);
            let new =
                || -> $Type { call!(KeyInit::new((&*held).try_into().expect("a key of the right length"))) };
            // Pieces that do not end at block boundaries.
            let update =
                |mac: &mut $Type| job.aad.chunks(23).for_each(|piece| call!(Update::update(mac, piece)));
            let mut mac = memory.call(Call::NewKey, || Box::new(new()));
            let (mut once, mut again) = (Default::default(), Default::default());
            memory.call(Call::Seal, || {
                // A different message, abandoned by the reset.
                call!(Update::update(&mut *mac, &held));
                call!(Reset::reset(&mut *mac));
                update(&mut mac);
                call!(FixedOutputReset::finalize_into_reset(&mut *mac, &mut once));
            });
            memory.call(Call::DropKeys, || drop(mac));
            memory.call(Call::Seal, || {
                let mut mac = new();
                update(&mut mac);
                call!(FixedOutput::finalize_into(mac, &mut again));
            });
            assert_eq!(memory.publish(&mut once), job.tag);
            assert_eq!(memory.publish(&mut again), job.tag);
        }
    };
}

impl Case {
    /// Returns the function for the algorithm's type, or `None` if no type accepts the sizes of the case.
    pub(crate) fn typed<M: Memory>(&self) -> Option<Typed<M>> {
        if self.tag != 16 || !self.is_on_the_selected_backend() {
            return None;
        }
        Some(match self.algorithm.id() {
            "aes128-gcm" => aead_of!(Aes128Gcm),
            "aes192-gcm" => aead_of!(Aes192Gcm),
            "aes256-gcm" => aead_of!(Aes256Gcm),
            "aes128-gcm-siv" => aead_of!(Aes128GcmSiv),
            "aes256-gcm-siv" => aead_of!(Aes256GcmSiv),
            "aegis128l" => aead_of!(Aegis128L),
            "aegis256" => aead_of!(Aegis256),
            "xaes256-gcm" => aead_of!(Xaes256Gcm),
            "aes128-siv" => aead_of!(Aes128Siv),
            "aes256-siv" => aead_of!(Aes256Siv),
            "aes128-ccm" => aead_of!(Aes128Ccm),
            "aes192-ccm" => aead_of!(Aes192Ccm),
            "aes256-ccm" => aead_of!(Aes256Ccm),
            "aes128-eax" => aead_of!(Aes128Eax),
            "aes192-eax" => aead_of!(Aes192Eax),
            "aes256-eax" => aead_of!(Aes256Eax),
            "aes128-cmac" => mac_of!(Aes128Cmac),
            "aes192-cmac" => mac_of!(Aes192Cmac),
            "aes256-cmac" => mac_of!(Aes256Cmac),
            _ => return None,
        })
    }
}
