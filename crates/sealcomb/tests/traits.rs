//! The types behave like RustCrypto's own types through RustCrypto's traits.

use ::aead::inout::InOutBuf;
use ::aead::{Aead, AeadInOut, KeyInit, Nonce, Payload, Tag};
use aes::{Aes128, Aes192, Aes256};
use ccm::Ccm;
use ccm::consts::{U12, U16};
use cmac::{Cmac, Mac};
use eax::Eax;
use sealcomb::rustcrypto::aead;
use sealcomb::rustcrypto::mac::{Aes128Cmac, Aes192Cmac, Aes256Cmac};
use sealcomb::{Algorithm, Backend, Error, Key, OpenJob, Opened, SealJob, Verdict, open_jobs, seal_jobs};
use std::env;
use std::process::Command;

const LENGTHS: [usize; 13] = [0, 1, 15, 16, 17, 31, 32, 33, 64, 100, 255, 1024, 1500];

/// Returns bytes that depend on the position and the seed.
fn bytes(length: usize, seed: usize) -> Vec<u8> {
    (0..length).map(|i| (i * 7 + i / 256 + seed * 31 + 1) as u8).collect()
}

/// Asserts for every pair of lengths that `Ours` and `Theirs` seal identically and open each other's messages.
fn seals_alike<Ours: AeadInOut + KeyInit, Theirs: AeadInOut + KeyInit>() {
    let key = bytes(Ours::key_size(), 1);
    let ours = Ours::new_from_slice(&key).expect("the type's own key size");
    let theirs = Theirs::new_from_slice(&key).expect("the same key size");
    for (seed, length) in LENGTHS.into_iter().enumerate() {
        for aad in [0, 1, 13, 16, 40].map(|aad| bytes(aad, seed)) {
            let message = bytes(length, seed + 2);
            let nonce = bytes(Nonce::<Ours>::default().len(), seed + 3);
            let our_nonce = Nonce::<Ours>::try_from(nonce.as_slice()).expect("the type's own size");
            let their_nonce = Nonce::<Theirs>::try_from(nonce.as_slice()).expect("the type's own size");
            let sealed =
                ours.encrypt(&our_nonce, Payload { msg: &message, aad: &aad }).expect("a short message");
            assert_eq!(sealed.len(), length + 16);
            assert_eq!(
                theirs.encrypt(&their_nonce, Payload { msg: &message, aad: &aad }).as_ref(),
                Ok(&sealed)
            );
            assert_eq!(ours.decrypt(&our_nonce, Payload { msg: &sealed, aad: &aad }).as_ref(), Ok(&message));
            assert_eq!(theirs.decrypt(&their_nonce, Payload { msg: &sealed, aad: &aad }), Ok(message));
        }
    }
}

/// Asserts for separate buffers that the correct tag opens, and that any other tag zeroes the output and changes
/// nothing else.
fn refuses_forgeries<Ours: AeadInOut + KeyInit>() {
    let cipher = Ours::new_from_slice(&bytes(Ours::key_size(), 4)).expect("the type's own key size");
    let nonce = Nonce::<Ours>::try_from(bytes(Nonce::<Ours>::default().len(), 5).as_slice())
        .expect("the type's own size");
    for length in LENGTHS {
        let message = bytes(length, 6);
        let mut sealed = vec![0; length];
        let buffers = InOutBuf::new(&message, &mut sealed).expect("equal lengths");
        let tag = cipher.encrypt_inout_detached(&nonce, b"header", buffers).expect("a short message");

        let open = |aad: &[u8], sealed: &[u8], tag: &Tag<Ours>| {
            let mut opened = vec![0xaa; length];
            let buffers = InOutBuf::new(sealed, &mut opened).expect("equal lengths");
            let result = cipher.decrypt_inout_detached(&nonce, aad, buffers, tag);
            (result, opened)
        };
        let forged = (Err(::aead::Error), vec![0; length]);
        assert_eq!(open(b"header", &sealed, &tag), (Ok(()), message.clone()));
        assert_eq!(open(b"another", &sealed, &tag), forged);
        for byte in [0, 7, 15] {
            let mut tag = tag.clone();
            tag[byte] ^= 1;
            assert_eq!(open(b"header", &sealed, &tag), forged);
        }
        if length > 0 {
            let mut sealed = sealed.clone();
            sealed[length - 1] ^= 0x80;
            assert_eq!(open(b"header", &sealed, &tag), forged);
        }

        let mut in_place = sealed.clone();
        let buffer = in_place.as_mut_slice().into();
        assert!(cipher.decrypt_inout_detached(&nonce, b"another", buffer, &tag).is_err());
        assert_eq!(in_place, vec![0; length]);
    }
    assert!(cipher.decrypt(&nonce, [0; 15].as_slice()).is_err(), "no room for a tag");
}

/// Asserts that a message in pieces of any length has the tag of the whole message, which is that of `Theirs`.
fn authenticates_alike<Ours, Theirs>()
where
    Ours: Mac + KeyInit + digest::FixedOutputReset,
    Theirs: Mac + KeyInit,
{
    let key = bytes(Ours::key_size(), 7);
    let new = || <Ours as KeyInit>::new_from_slice(&key).expect("the type's own key size");
    let mut reused = new();
    for length in LENGTHS {
        let message = bytes(length, 8);
        let theirs = <Theirs as KeyInit>::new_from_slice(&key).expect("the same key size");
        let expected = theirs.chain_update(&message).finalize().into_bytes();
        let whole = new().chain_update(&message).finalize().into_bytes();
        assert_eq!(whole.as_slice(), expected.as_slice(), "{length} bytes");
        for piece in [1, 5, 15, 16, 17, 32, 47] {
            for part in message.chunks(piece) {
                Mac::update(&mut reused, part);
                Mac::update(&mut reused, b"");
            }
            let tag = reused.finalize_reset().into_bytes();
            assert_eq!(tag.as_slice(), expected.as_slice(), "{length} bytes in pieces of {piece}");
        }
        assert!(new().chain_update(&message).verify_slice(&expected).is_ok());
        assert!(new().chain_update(&message).verify_truncated_left(&expected[..12]).is_ok());
        let mut forged = expected;
        forged[15] ^= 1;
        assert!(new().chain_update(&message).verify_slice(&forged).is_err());
        Mac::update(&mut reused, b"forgotten");
        Mac::reset(&mut reused);
    }
}

#[test]
fn gcm_seals_as_aes_gcm_does() {
    seals_alike::<aead::Aes128Gcm, aes_gcm::Aes128Gcm>();
    seals_alike::<aead::Aes192Gcm, aes_gcm::AesGcm<Aes192, U12>>();
    seals_alike::<aead::Aes256Gcm, aes_gcm::Aes256Gcm>();
}

#[test]
fn gcm_siv_seals_as_aes_gcm_siv_does() {
    seals_alike::<aead::Aes128GcmSiv, aes_gcm_siv::Aes128GcmSiv>();
    seals_alike::<aead::Aes256GcmSiv, aes_gcm_siv::Aes256GcmSiv>();
}

#[test]
fn siv_seals_as_aes_siv_does() {
    seals_alike::<aead::Aes128Siv, aes_siv::Aes128SivAead>();
    seals_alike::<aead::Aes256Siv, aes_siv::Aes256SivAead>();
}

#[test]
fn aegis_seals_as_aegis_does() {
    seals_alike::<aead::Aegis128L, aegis::compat::rustcrypto_traits_06::Aegis128L<16>>();
    seals_alike::<aead::Aegis256, aegis::compat::rustcrypto_traits_06::Aegis256<16>>();
}

#[test]
fn xaes_seals_as_xaes_256_gcm_does() {
    seals_alike::<aead::Xaes256Gcm, xaes_256_gcm::Xaes256Gcm>();
}

#[test]
fn eax_seals_as_eax_does() {
    seals_alike::<aead::Aes128Eax, Eax<Aes128>>();
    seals_alike::<aead::Aes192Eax, Eax<Aes192>>();
    seals_alike::<aead::Aes256Eax, Eax<Aes256>>();
}

#[test]
fn ccm_seals_as_ccm_does() {
    seals_alike::<aead::Aes128Ccm, Ccm<Aes128, U16, U12>>();
    seals_alike::<aead::Aes192Ccm, Ccm<Aes192, U16, U12>>();
    seals_alike::<aead::Aes256Ccm, Ccm<Aes256, U16, U12>>();
}

#[test]
fn a_forged_message_is_refused_and_its_output_zeroed() {
    refuses_forgeries::<aead::Aes128Gcm>();
    refuses_forgeries::<aead::Aes192Gcm>();
    refuses_forgeries::<aead::Aes256Gcm>();
    refuses_forgeries::<aead::Aes128GcmSiv>();
    refuses_forgeries::<aead::Aes256GcmSiv>();
    refuses_forgeries::<aead::Aegis128L>();
    refuses_forgeries::<aead::Aegis256>();
    refuses_forgeries::<aead::Xaes256Gcm>();
    refuses_forgeries::<aead::Aes128Siv>();
    refuses_forgeries::<aead::Aes256Siv>();
    refuses_forgeries::<aead::Aes128Ccm>();
    refuses_forgeries::<aead::Aes192Ccm>();
    refuses_forgeries::<aead::Aes256Ccm>();
    refuses_forgeries::<aead::Aes128Eax>();
    refuses_forgeries::<aead::Aes192Eax>();
    refuses_forgeries::<aead::Aes256Eax>();
}

#[test]
fn a_key_of_another_size_is_refused() {
    assert!(aead::Aes128Gcm::new_from_slice(&[0; 32]).is_err());
    assert!(aead::Aes256Ccm::new_from_slice(&[0; 16]).is_err());
    assert!(<Aes192Cmac as KeyInit>::new_from_slice(&[0; 16]).is_err());
}

/// CCM with a nonce of 12 bytes encodes the message's length in 3 bytes; this message is one byte too long.
#[test]
fn a_message_over_the_limit_is_refused_untouched() {
    let cipher = aead::Aes128Ccm::new(&[1; 16].into());
    let mut message = vec![0xaa; 1 << 24];
    assert!(cipher.encrypt_inout_detached(&[2; 12].into(), b"", message.as_mut_slice().into()).is_err());
    assert!(message.iter().all(|byte| *byte == 0xaa));
    message.pop();
    assert!(cipher.encrypt_inout_detached(&[2; 12].into(), b"", message.as_mut_slice().into()).is_ok());
}

#[test]
fn cmac_in_pieces_equals_cmac() {
    authenticates_alike::<Aes128Cmac, Cmac<Aes128>>();
    authenticates_alike::<Aes192Cmac, Cmac<Aes192>>();
    authenticates_alike::<Aes256Cmac, Cmac<Aes256>>();
}

#[test]
fn a_batch_under_the_same_key_gives_the_same_messages() {
    let cipher = aead::Aes256Gcm::new(&[9; 32].into());
    let nonces = [[1; 12], [2; 12], [3; 12]];
    let messages = [bytes(20, 1), bytes(0, 2), bytes(333, 3)];
    let (mut sealed, mut tags) = (messages.clone(), [[0; 16]; 3]);
    let mut jobs: Vec<_> = sealed
        .iter_mut()
        .zip(&nonces)
        .zip(&mut tags)
        .map(|((data, nonce), tag)| SealJob::in_place(cipher.as_ref(), nonce, b"header", data, tag))
        .collect();
    seal_jobs(&mut jobs).expect("right sizes");
    for (((message, nonce), data), tag) in messages.iter().zip(nonces).zip(&mut sealed).zip(&tags) {
        let single =
            cipher.encrypt(&nonce.into(), Payload { msg: message, aad: b"header" }).expect("right sizes");
        assert_eq!(single, [data.as_slice(), tag].concat());
        let mut job = [OpenJob::in_place(cipher.as_ref(), &nonce, b"header", data, tag)];
        assert_eq!(open_jobs(&mut job).map(Opened::all_verified), Ok(Ok(())));
        assert_eq!(job[0].verdict(), Verdict::Verified);
    }
}

/// The variable is read once per process, so this test runs itself in a child process where it names no backend.
#[test]
fn a_backend_that_does_not_exist_leaves_the_best_one() {
    if env::var_os("SEALCOMB_TEST_CHILD").is_some() {
        let algorithm = Algorithm::by_id("aes128-gcm").expect("GCM");
        assert_eq!(Key::new(algorithm, &[0; 16]).err(), Some(Error::UnknownBackend));
        assert_eq!(aead::Aes128Gcm::new(&[0; 16].into()).as_ref().backend(), Backend::best());
        return;
    }
    let output = Command::new(env::current_exe().expect("this test's program"))
        .args(["--exact", "a_backend_that_does_not_exist_leaves_the_best_one"])
        .envs([("SEALCOMB_TEST_CHILD", "1"), ("SEALCOMB_BACKEND", "nonsense")])
        .output()
        .expect("the test's program runs");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
}

#[test]
fn debugging_output_names_the_algorithm_and_not_the_key() {
    let shown = format!("{:?}", aead::Aes128Gcm::new(&[0xab; 16].into()));
    assert!(shown.contains("aes128-gcm"), "{shown}");
    let mut mac = <Aes256Cmac as KeyInit>::new(&[0xab; 32].into());
    mac.update(b"secret");
    let shown = format!("{mac:?}");
    assert!(shown.contains("aes256-cmac"), "{shown}");
    for hidden in ["171", "ab, ab", "abab", "secret", "115"] {
        assert!(!shown.contains(hidden), "{shown}");
    }
}
