//! The types behave with the traits of `aead` 0.5 as with those of 0.6, whose tests compare them with RustCrypto's types.

use sealcomb::rustcrypto::aead_05::{self, Aead, AeadInPlace, Buffer, KeyInit, Nonce, Payload, Tag};
use sealcomb::rustcrypto::{aead, aead_05 as types};

const LENGTHS: [usize; 9] = [0, 1, 15, 16, 17, 64, 100, 255, 1500];

/// Returns bytes that depend on the position and the seed.
fn bytes(length: usize, seed: usize) -> Vec<u8> {
    (0..length).map(|i| (i * 7 + i / 256 + seed * 31 + 1) as u8).collect()
}

/// Asserts that a type seals like itself with the traits of 0.6, opens what it sealed, and zeroes forged messages.
fn behaves_alike<T>()
where
    T: AeadInPlace + KeyInit + aead::AeadInOut + aead::KeyInit,
{
    let key = bytes(<T as aead_05::KeySizeUser>::key_size(), 1);
    let cipher = <T as KeyInit>::new_from_slice(&key).expect("the type's key size");
    let nonce = bytes(Nonce::<T>::default().len(), 2);
    let (old, new) =
        (Nonce::<T>::from_slice(&nonce), aead::Nonce::<T>::try_from(&nonce[..]).expect("the type's size"));
    for length in LENGTHS {
        let (message, aad) = (bytes(length, 3), bytes(length % 40, 4));
        let payload = Payload { msg: &message[..], aad: &aad[..] };
        let sealed = Aead::encrypt(&cipher, old, payload).expect("a short message");
        let expected = aead::Aead::encrypt(&cipher, &new, aead::Payload { msg: &message, aad: &aad });
        assert_eq!(Ok(&sealed), expected.as_ref(), "{length} bytes");
        let opened = Aead::decrypt(&cipher, old, Payload { msg: &sealed[..], aad: &aad[..] });
        assert_eq!(opened.as_ref(), Ok(&message), "{length} bytes");

        let mut in_place = message.clone();
        let tag = cipher.encrypt_in_place_detached(old, &aad, &mut in_place).expect("a short message");
        assert_eq!(cipher.decrypt_in_place_detached(old, &aad, &mut in_place, &tag), Ok(()));
        assert_eq!(in_place, message);
        let forged = cipher.decrypt_in_place_detached(old, &aad, &mut in_place, &Tag::<T>::default());
        assert!(forged.is_err() && in_place == vec![0; length], "{length} bytes");

        for at in [0, sealed.len() / 2, sealed.len() - 1] {
            let mut forged = sealed.clone();
            forged[at] ^= 1;
            assert!(Aead::decrypt(&cipher, old, Payload { msg: &forged[..], aad: &aad[..] }).is_err());
            assert!(AeadInPlace::decrypt_in_place(&cipher, old, &aad, &mut forged).is_err());
            // The tag is still there.
            assert!(forged.iter().filter(|&&byte| byte != 0).count() <= 16, "{length} bytes");
        }
    }
    assert!(Aead::decrypt(&cipher, old, &[0; 15][..]).is_err(), "no room for a tag");
    let mut full = Full([7; 20], 10);
    assert!(AeadInPlace::encrypt_in_place(&cipher, old, b"", &mut full).is_err(), "no room for the tag");
}

/// A buffer of 20 bytes.
struct Full([u8; 20], usize);

impl AsRef<[u8]> for Full {
    fn as_ref(&self) -> &[u8] {
        &self.0[..self.1]
    }
}

impl AsMut<[u8]> for Full {
    fn as_mut(&mut self) -> &mut [u8] {
        &mut self.0[..self.1]
    }
}

impl Buffer for Full {
    fn extend_from_slice(&mut self, other: &[u8]) -> aead_05::aead::Result<()> {
        let end = self.1 + other.len();
        self.0.get_mut(self.1..end).ok_or(aead_05::Error)?.copy_from_slice(other);
        self.1 = end;
        Ok(())
    }

    fn truncate(&mut self, bytes: usize) {
        self.1 = self.1.min(bytes);
    }
}

#[test]
fn all_types_behave_alike() {
    behaves_alike::<types::Aes128Gcm>();
    behaves_alike::<types::Aes192Gcm>();
    behaves_alike::<types::Aes256Gcm>();
    behaves_alike::<types::Aes128GcmSiv>();
    behaves_alike::<types::Aes256GcmSiv>();
    behaves_alike::<types::Aegis128L>();
    behaves_alike::<types::Aegis256>();
    behaves_alike::<types::Xaes256Gcm>();
    behaves_alike::<types::Aes128Siv>();
    behaves_alike::<types::Aes256Siv>();
    behaves_alike::<types::Aes128Ccm>();
    behaves_alike::<types::Aes192Ccm>();
    behaves_alike::<types::Aes256Ccm>();
    behaves_alike::<types::Aes128Eax>();
    behaves_alike::<types::Aes192Eax>();
    behaves_alike::<types::Aes256Eax>();
}
