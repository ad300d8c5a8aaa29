//! The known answers in `testvectors/` hold on every backend, and for the reference models.

mod common {
    pub(crate) mod backends;
    pub(crate) mod forgery;
    pub(crate) mod known_answer;
    pub(crate) mod testvectors;
}

use common::backends;
use common::forgery::must_be_refused;
use common::known_answer::{Keys, KnownAnswer, must_hold};
use common::testvectors;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use sealcomb::study::{self, ALGORITHMS};
use sealcomb::{
    Algorithm, Burst, KeyOptions, Kind, OpenError, OpenJob, Opened, PacketLayout, Verdict, open_jobs,
    reference,
};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Returns the answers of all files.
fn files() -> Vec<Vec<KnownAnswer>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testvectors");
    let mut paths: Vec<_> = fs::read_dir(&folder)
        .expect("the folder testvectors")
        .map(|entry| entry.expect("an entry of testvectors").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .collect();
    paths.sort();
    paths.iter().map(|path| answers_of(path)).collect()
}

fn answers_of(path: &Path) -> Vec<KnownAnswer> {
    let name = path.file_name().expect("a file").to_string_lossy();
    testvectors::parse(&name, &fs::read_to_string(path).expect("a readable file"))
}

#[test]
fn every_file_holds_on_every_backend() {
    for answers in files() {
        must_hold(&answers);
    }
}

#[test]
fn all_files_hold_as_one_batch_of_mixed_algorithms() {
    must_hold(&files().concat());
}

#[test]
fn a_flipped_bit_of_nonce_aad_ciphertext_or_tag_is_refused() {
    let mut rng = StdRng::seed_from_u64(2);
    let fields: [fn(&mut KnownAnswer) -> &mut Vec<u8>; 4] =
        [|a| &mut a.nonce, |a| &mut a.aad, |a| &mut a.ct, |a| &mut a.tag];
    let mut forgeries = Vec::new();
    for answer in files().concat().iter().filter(|answer| answer.is_authenticated()) {
        for field in fields {
            let mut forgery = answer.clone();
            let bytes = field(&mut forgery);
            if !bytes.is_empty() {
                let i = rng.random_range(0..bytes.len());
                bytes[i] ^= 1 << rng.random_range(0..8);
                forgeries.push(forgery);
            }
        }
    }
    must_be_refused(&forgeries);
}

#[test]
fn truncated_and_extended_ciphertexts_are_refused_among_good_ones() {
    let answers = files().concat();
    let answers: Vec<_> = answers.iter().filter(|answer| answer.algorithm.kind() == Kind::Aead).collect();
    for backend in backends::available() {
        for answer in &answers {
            let answers = [(*answer).clone()];
            let keys = Keys::of(backend, &answers);
            let key = keys.get(&answers[0]);
            let good = &answers[0].ct;
            let mut other: Vec<Vec<u8>> = [1, 15, 16, 17]
                .into_iter()
                .flat_map(|bytes| [good.len().checked_sub(bytes), Some(good.len() + bytes)])
                .flatten()
                .map(|bytes| good.iter().copied().chain([0; 17]).take(bytes).collect())
                .collect();
            other.insert(other.len() / 2, good.clone());
            let mut outputs: Vec<_> = other
                .iter()
                .map(|ct| {
                    let most = answer.algorithm.max_message_bytes(ct.len());
                    let told = answer.algorithm.needs_message_bytes().then_some(answer.msg.len());
                    vec![0xA5; told.or(most.ok()).unwrap_or(3)]
                })
                .collect();
            let mut jobs: Vec<_> = other
                .iter()
                .zip(&mut outputs)
                .map(|(ct, output)| {
                    OpenJob::new(key, &answer.nonce, answer.aad.as_slice(), ct, output, &answer.tag)
                        .expect("an output of the length that it needs")
                })
                .collect();
            assert_eq!(
                open_jobs(&mut jobs).map(Opened::forged),
                Ok(other.len() - 1),
                "{backend:?} {}",
                answer.origin
            );
            let verdicts: Vec<_> = jobs.iter().map(OpenJob::verdict).collect();
            drop(jobs);
            for ((ct, output), verdict) in other.iter().zip(&outputs).zip(verdicts) {
                if ct == good {
                    assert_eq!(verdict, Verdict::Verified, "{backend:?} {}", answer.origin);
                    assert_eq!(output[..answer.msg.len()], answer.msg, "{backend:?} {}", answer.origin);
                } else {
                    assert_eq!(verdict, Verdict::Forged, "{backend:?} {}", answer.origin);
                    assert!(output.iter().all(|&byte| byte == 0), "{backend:?} {}", answer.origin);
                }
            }
        }
    }
}

#[test]
fn tags_of_zeros_and_of_ones_are_refused() {
    let mut forgeries = Vec::new();
    for answer in files().concat().iter().filter(|answer| answer.is_authenticated()) {
        for byte in [0x00, 0xff] {
            forgeries.push(KnownAnswer { tag: vec![byte; answer.tag.len()], ..answer.clone() });
        }
    }
    must_be_refused(&forgeries);
}

#[test]
fn every_file_holds_for_the_models() {
    for answer in files().concat() {
        let KnownAnswer { origin, algorithm, key, nonce, aad, msg, ct, tag } = &answer;
        let sealed = reference::seal(algorithm.id(), key, nonce, aad, msg, tag.len());
        assert_eq!(sealed.as_ref(), Some(&(ct.clone(), tag.clone())), "{origin}");
        let opened = reference::open(algorithm.id(), key, nonce, aad, ct, tag);
        assert_eq!(opened.as_ref(), Some(msg), "{origin}");
        if answer.is_authenticated() {
            let mut forged = tag.clone();
            forged[0] ^= 1;
            let opened = reference::open(algorithm.id(), key, nonce, aad, ct, &forged);
            assert_eq!(opened, None, "{origin}");
        }
    }
}

#[test]
fn every_algorithm_has_a_file() {
    let covered: BTreeSet<_> = files().concat().iter().map(|answer| answer.algorithm.id()).collect();
    let listed: BTreeSet<_> = ALGORITHMS.iter().copied().map(Algorithm::id).collect();
    assert_eq!(covered, listed);
}

/// Each message of `testvectors/sealed` with its tag in one buffer, in the order of the algorithm's specification.
#[test]
fn sealed_messages_hold_on_every_backend() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testvectors/sealed/messages.json");
    let text = fs::read_to_string(path).expect("a readable file");
    let file: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let mut covered = BTreeSet::new();
    for row in file["tests"].as_array().expect("a file has tests") {
        let bytes = |field: &str| hex::decode(row[field].as_str().expect("a string")).expect("hex");
        let id = row["algorithm"].as_str().expect("an id");
        let algorithm = study::by_id(id).expect(id);
        let [key, nonce, aad, msg, sealed] = ["key", "nonce", "aad", "msg", "sealed"].map(bytes);
        for backend in backends::available() {
            let context = format!("{} #{} {id}", backend.name(), row["id"]);
            let options = KeyOptions::new().backend(backend).nonce_bytes(nonce.len());
            let key = options.expand(algorithm, &key).expect(&context);
            let ours = key.seal(&nonce, &aad, &msg).expect(&context);
            assert_eq!(hex::encode(ours), hex::encode(&sealed), "{context}");
            assert_eq!(key.open(&nonce, &aad, &sealed).expect(&context), msg, "{context}");
            if !algorithm.expands() {
                let (nonces, layout) = ([&nonce], PacketLayout::header(aad.len()));
                let (burst, expected) = (Burst::new(&key, &nonces), [aad.as_slice(), &sealed].concat());
                let (mut packets, mut verdicts) = ([expected.clone()], [Verdict::Pending]);
                let opened = burst.open_packets(layout, &mut packets, &mut verdicts);
                assert_eq!(opened.map(Opened::all_verified), Ok(Ok(())), "{context}");
                burst.seal_packets(layout, &mut packets).expect(&context);
                assert_eq!(hex::encode(&packets[0]), hex::encode(&expected), "{context}");
            }
            if !msg.is_empty() {
                let mut moved = sealed.clone();
                moved.rotate_right(key.tag_bytes());
                assert_eq!(key.open(&nonce, &aad, &moved), Err(OpenError::Forged), "{context}");
            }
        }
        covered.insert(id);
    }
    let aeads = ALGORITHMS.iter().filter(|algorithm| algorithm.kind() == Kind::Aead);
    assert_eq!(covered, aeads.map(|algorithm| algorithm.id()).collect());
}

#[test]
#[should_panic(expected = "aes128-gcm.json has no known answers; add some")]
fn a_file_without_answers_is_refused() {
    testvectors::parse("aes128-gcm.json", r#"{"algorithm": "aes128-gcm", "tests": []}"#);
}
