//! Tests for emulated CPUs, which have neither files nor threads: backend selection, known answers, and batch
//! equivalence. `./dev emulate` sets `EXPECT_BACKEND` to the backend that must be selected on the CPU model.

mod common {
    pub(crate) mod backends;
    pub(crate) mod forgery;
    pub(crate) mod known_answer;
    pub(crate) mod testvectors;
}

use common::forgery::must_be_refused;
use common::known_answer::{Keys, KnownAnswer, must_hold};
use common::{backends, testvectors};
use sealcomb::study::{Schedule, open_jobs_with, seal_jobs_with};
use sealcomb::{Algorithm, Backend, Error, Key, Kind, Opened, SealJob};
use std::env;

/// Returns the known answers of some files, which are compiled in.
macro_rules! answers {
    ($($name:literal)*) => {
        [$(testvectors::parse($name, include_str!(concat!("../../../testvectors/", $name, ".json")))),*].concat()
    };
}

/// Returns whether the CPU has all features that a backend needs, detected independently of the library.
fn cpu_has(backend: &str) -> bool {
    match backend {
        "portable" => true,
        "portable4" => cfg!(feature = "unstable-reference"),
        #[cfg(target_arch = "x86_64")]
        "aesni" => is_x86_feature_detected!("aes") && is_x86_feature_detected!("pclmulqdq"),
        #[cfg(target_arch = "x86_64")]
        "vaes256" => {
            is_x86_feature_detected!("avx2")
                && is_x86_feature_detected!("vaes")
                && is_x86_feature_detected!("vpclmulqdq")
        }
        #[cfg(target_arch = "x86_64")]
        "vaes512" => cpu_has("vaes256") && is_x86_feature_detected!("avx512bw"),
        #[cfg(target_arch = "aarch64")]
        "neon" => cfg!(target_vendor = "apple") || hwcap() & AES_AND_PMULL == AES_AND_PMULL,
        #[cfg(target_arch = "aarch64")]
        "neon-sha3" => cpu_has("neon") && (cfg!(target_vendor = "apple") || hwcap() & SHA3 == SHA3),
        _ => false,
    }
}

#[cfg(target_arch = "aarch64")]
const AES_AND_PMULL: u64 = 1 << 3 | 1 << 4;
#[cfg(target_arch = "aarch64")]
const SHA3: u64 = 1 << 17;

/// Returns the CPU features in Linux's auxiliary vector.
#[cfg(target_arch = "aarch64")]
fn hwcap() -> u64 {
    const AT_HWCAP: u64 = 16;
    let auxv = std::fs::read("/proc/self/auxv").unwrap_or_default();
    let words = auxv.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word)).collect::<Vec<_>>();
    words.chunks_exact(2).find(|pair| pair[0] == AT_HWCAP).map_or(0, |pair| pair[1])
}

/// Returns whether this build includes the backend.
fn built(backend: &str) -> bool {
    match backend {
        "portable" => true,
        "portable4" => cfg!(feature = "unstable-reference"),
        "neon" | "neon-sha3" => {
            cfg!(all(target_arch = "aarch64", target_endian = "little", target_feature = "neon"))
        }
        _ => cfg!(target_arch = "x86_64"),
    }
}

#[test]
fn the_expected_backend_is_chosen() {
    let Ok(expected) = env::var("EXPECT_BACKEND") else {
        println!("skipped: EXPECT_BACKEND names no backend");
        return;
    };
    assert_eq!(Backend::best().name(), expected);
    let key = Key::new(Algorithm::by_id("aes128-gcm").unwrap(), &[0; 16]).unwrap();
    assert_eq!(key.backend().name(), expected);
}

#[test]
fn the_backends_are_those_that_the_cpu_has() {
    for name in Backend::names() {
        match Backend::named(name) {
            Ok(backend) => assert!(cpu_has(name), "{backend:?} on a CPU without it"),
            Err(error) => {
                assert_eq!(matches!(error, Error::BackendUnavailable { .. }), built(name), "{error}");
                assert_eq!(matches!(error, Error::BackendNotBuilt { .. }), !built(name), "{error}");
                assert!(!cpu_has(name), "{name}: {error}, on a CPU that has it");
            }
        }
    }
}

#[test]
fn ciphers_hold_singly_and_in_batches() {
    must_hold(&answers!["aes128-ecb" "aes192-cbc" "aes256-cfb128" "aes128-ofb" "aes256-ctr"]);
}

#[test]
fn macs_hold_singly_and_in_batches() {
    must_hold(&answers!["aes128-cmac" "aes192-pmac" "aes256-gmac"]);
}

#[test]
fn serpent_holds_singly_and_in_batches() {
    must_hold(&answers!["serpent" "serpent128-gcm" "serpent256-ocb3"]);
}

#[test]
fn cloc_silc_and_jambu_hold_singly_and_in_batches() {
    must_hold(&answers!["aes128-cloc" "aes128-silc" "aes128-jambu"]);
}

#[test]
fn ccm_holds_singly_and_in_batches() {
    must_hold(&answers!["aes128-ccm-n13-t64" "aes192-ccm-n12-t128" "aes256-ccm-n7-t32"]);
}

#[test]
fn eax_holds_singly_and_in_batches() {
    must_hold(&answers!["aes128-eax" "aes192-eax" "aes256-eax"]);
}

#[test]
fn gcm_holds_singly_and_in_batches() {
    must_hold(&answers!["aes128-gcm" "aes192-gcm-anyiv" "aes256-gcm"]);
}

#[test]
fn ocb3_otr_and_eme2_hold_singly_and_in_batches() {
    must_hold(&answers!["aes128-ocb3-t64" "aes256-ocb3-t128" "aes128-otr-p" "aes256-otr-s" "aes128-eme2"]);
}

#[test]
fn aegis_holds_singly_and_in_batches() {
    must_hold(&answers!["aegis128l" "aegis256"]);
}

#[test]
fn xaes_holds_singly_and_in_batches() {
    must_hold(&answers!["xaes256-gcm"]);
}

#[test]
fn hctr2_holds_singly_and_in_batches() {
    must_hold(&answers!["aes128-hctr2" "aes256-hctr2"]);
}

#[test]
fn xts_holds_singly_and_in_batches() {
    must_hold(&answers!["aes128-xts" "aes256-xts"]);
}

#[test]
fn gcm_siv_holds_singly_and_in_batches() {
    must_hold(&answers!["aes128-gcm-siv" "aes256-gcm-siv"]);
}

#[test]
fn siv_holds_singly_and_in_batches() {
    must_hold(&answers!["aes128-siv" "aes256-siv"]);
}

#[test]
fn poet_mcoe_g_and_cobra_hold_singly_and_in_batches() {
    must_hold(&answers!["aes128-poet" "aes128-poet-aes4" "aes128-poet-g" "aes128-mcoe-g" "aes128-cobra"]);
}

#[test]
fn julius_holds_singly_and_in_batches() {
    must_hold(&answers!["aes128-julius-ecb"]);
}

#[test]
fn forgeries_are_refused_singly_and_in_batches() {
    let mut answers = answers!["aes128-ccm-n13-t64" "aes128-gcm" "aes256-gcm-siv"];
    answers.retain(|answer| !answer.ct.is_empty());
    for (i, answer) in answers.iter_mut().enumerate() {
        let byte = i % answer.ct.len();
        answer.ct[byte] ^= 1 << (i % 8);
    }
    must_be_refused(&answers);
}

#[test]
fn batches_of_any_size_under_any_schedule_equal_singles() {
    let mut answers = answers!["aes128-cbc" "aes256-ctr" "aes128-ccm-n12-t128" "aes256-gcm" "aes128-gcm-siv"];
    answers.retain(|answer| answer.msg.len() < 300);
    // Adjacent jobs are from different files.
    answers.sort_by_key(|answer| answer.msg.len() % 7);
    for backend in backends::available() {
        for schedule in
            [Schedule::Single, Schedule::Comb(7), Schedule::Refill, Schedule::Blocks, Schedule::Auto]
        {
            for (i, jobs) in [1, 2, 3, 5, 8, 15, 17, 33].into_iter().enumerate() {
                batch_holds(backend, schedule, &answers[i..i + jobs]);
            }
        }
    }
}

fn batch_holds(backend: Backend, schedule: Schedule, answers: &[KnownAnswer]) {
    let context = format!("{backend:?} {schedule:?}, a batch of {}", answers.len());
    let keys = Keys::of(backend, answers);
    let mut buffers: Vec<_> =
        answers.iter().map(|answer| (answer.msg.clone(), vec![0; answer.tag.len()])).collect();
    for (answer, (data, _)) in answers.iter().zip(&mut buffers) {
        data.resize(answer.ct.len(), 0);
    }
    let mut jobs: Vec<_> = answers
        .iter()
        .zip(&mut buffers)
        .map(|(answer, (data, tag))| {
            let (key, nonce, aad) = (keys.get(answer), &answer.nonce, answer.aad.as_slice());
            SealJob::in_buffer(key, nonce, aad, data, answer.msg.len(), tag).expect("room for the ciphertext")
        })
        .collect();
    seal_jobs_with(schedule, &mut jobs).expect(&context);
    drop(jobs);
    for (answer, (data, tag)) in answers.iter().zip(&buffers) {
        assert_eq!((data, tag), (&answer.ct, &answer.tag), "{context}, {}", answer.origin);
    }

    let forged = answers.iter().rposition(|answer| answer.algorithm.kind() == Kind::Aead);
    if let Some(job) = forged {
        buffers[job].1[0] ^= 1;
    }
    let mut jobs: Vec<_> = answers
        .iter()
        .zip(&mut buffers)
        .map(|(answer, (data, tag))| answer.open_job(keys.get(answer), data, tag))
        .collect();
    assert_eq!(
        open_jobs_with(schedule, &mut jobs).map(Opened::forged),
        Ok(usize::from(forged.is_some())),
        "{context}"
    );
    drop(jobs);
    for (i, (answer, (data, _))) in answers.iter().zip(&buffers).enumerate() {
        let expected = if forged == Some(i) { vec![0; data.len()] } else { answer.opened_in_place() };
        assert_eq!(data, &expected, "{context}, {}", answer.origin);
    }
}
