//! The checks of one file on one backend.

use super::file::{Test, VectorFile};
use anyhow::{Context, Result};
use sealcomb::{Backend, Key, Kind, OpenError, OpenJob, SealJob, Verdict, open_batch, seal_batch};
use std::collections::HashMap;

/// Batches of random sizes up to this follow the one batch that holds the whole file.
const LARGEST_BATCH: usize = 40;

/// The order of the batches is random, but the same in every run.
const SEED: u64 = 0x5ea1_c0b5;

/// What passed and what did not.
#[derive(Default)]
pub(crate) struct Tally {
    pub(crate) passed: usize,
    pub(crate) failures: Vec<String>,
}

impl Tally {
    /// Counts the results of another as well.
    pub(crate) fn add(&mut self, other: Self) {
        self.passed += other.passed;
        self.failures.extend(other.failures);
    }

    fn count(&mut self, passed: bool, failure: impl FnOnce() -> String) {
        if passed {
            self.passed += 1;
        } else {
            self.failures.push(failure());
        }
    }
}

/// A test and the key made for it.
#[derive(Clone, Copy)]
struct Case<'a> {
    test: &'a Test,
    key: &'a Key,
}

/// Seals and opens every test alone and in shuffled batches, and opens it with one bit of the tag flipped.
pub(crate) fn check(file: &VectorFile, backend: Backend) -> Result<Tally> {
    let keys = Keys::of(file, backend)?;
    let mut cases: Vec<Case<'_>> =
        file.tests.iter().map(|test| Case { test, key: keys.of_test(test) }).collect();
    let mut random = fastrand::Rng::with_seed(SEED);
    let mut checks = Checks { tally: Tally::default(), random: random.fork() };
    for &case in &cases {
        checks.seal_one(case);
        checks.open_one(case);
        checks.open_one_forged(case);
    }
    random.shuffle(&mut cases);
    checks.batch(&cases);
    random.shuffle(&mut cases);
    let mut rest = &cases[..];
    while !rest.is_empty() {
        let (batch, later) = rest.split_at(random.usize(1..=LARGEST_BATCH.min(rest.len())));
        checks.batch(batch);
        rest = later;
    }
    Ok(checks.tally)
}

/// The keys of a file, each made once for each tag length.
struct Keys<'a>(HashMap<(&'a [u8], usize), Key>);

impl<'a> Keys<'a> {
    fn of(file: &'a VectorFile, backend: Backend) -> Result<Self> {
        let mut keys = HashMap::new();
        for test in &file.tests {
            let key =
                Self::make(test, backend).with_context(|| format!("{}: test {}", file.name, test.id))?;
            keys.entry((&test.key[..], test.tag.len())).or_insert(key);
        }
        Ok(Self(keys))
    }

    fn make(test: &Test, backend: Backend) -> Result<Key, sealcomb::Error> {
        test.algorithm.check(
            test.nonce.len(),
            test.tag.len(),
            test.aad.len() as u64,
            test.message.len() as u64,
        )?;
        let key = Key::with_backend(test.algorithm, &test.key, backend)?;
        if test.tag.is_empty() { Ok(key) } else { key.with_tag_bytes(test.tag.len()) }
    }

    fn of_test(&self, test: &'a Test) -> &Key {
        &self.0[&(&test.key[..], test.tag.len())]
    }
}

/// The checks done so far, and the dice for the next.
struct Checks {
    tally: Tally,
    random: fastrand::Rng,
}

impl Checks {
    fn count(&mut self, case: Case<'_>, what: &str, passed: bool) {
        self.tally.count(passed, || format!("{} test {}: {what}", case.key.backend().name(), case.test.id));
    }

    fn seal_one(&mut self, case @ Case { test, key }: Case<'_>) {
        let (mut data, mut tag) = (test.message.clone(), vec![0; test.tag.len()]);
        let sealed = key.seal_in_place(&test.nonce, &test.aad, &mut data, &mut tag);
        let passed = sealed.is_ok() && data == test.ciphertext && tag == test.tag;
        self.count(case, "sealing one message", passed);
    }

    fn open_one(&mut self, case @ Case { test, key }: Case<'_>) {
        let mut data = test.ciphertext.clone();
        let opened = key.open_in_place(&test.nonce, &test.aad, &mut data, &test.tag);
        self.count(case, "opening one message", opened.is_ok() && data == test.message);
    }

    fn open_one_forged(&mut self, case @ Case { test, key }: Case<'_>) {
        if key.algorithm().kind == Kind::Cipher {
            return;
        }
        let (mut data, tag) = (test.ciphertext.clone(), self.flipped(&test.tag));
        let opened = key.open_in_place(&test.nonce, &test.aad, &mut data, &tag);
        let passed = opened == Err(OpenError::Forged) && is_zero(&data);
        self.count(case, "refusing one forged message", passed);
    }

    /// The batch in all ways: sealed and opened, in place and elsewhere, with forged tags among good ones.
    fn batch(&mut self, cases: &[Case<'_>]) {
        self.seal_batch_in_place(cases);
        self.seal_batch_elsewhere(cases);
        self.open_batch_in_place(cases);
        self.open_batch_elsewhere(cases);
    }

    fn seal_batch_in_place(&mut self, cases: &[Case<'_>]) {
        let mut results: Vec<_> =
            cases.iter().map(|case| (case.test.message.clone(), vec![0; case.test.tag.len()])).collect();
        let mut jobs: Vec<_> = cases
            .iter()
            .zip(&mut results)
            .map(|(Case { test, key }, (data, tag))| match key.algorithm().kind {
                Kind::Mac => SealJob::mac(key, &test.nonce, &test.aad[..], tag),
                _ => SealJob::in_place(key, &test.nonce, &test.aad[..], data, tag),
            })
            .collect();
        let sealed = seal_batch(&mut jobs).is_ok();
        self.count_sealed(cases, &results, sealed, "sealing in a batch, in place");
    }

    fn seal_batch_elsewhere(&mut self, cases: &[Case<'_>]) {
        let mut results: Vec<_> = cases
            .iter()
            .map(|case| (vec![0; case.test.message.len()], vec![0; case.test.tag.len()]))
            .collect();
        let mut jobs: Vec<_> = cases
            .iter()
            .zip(&mut results)
            .map(|(Case { test, key }, (output, tag))| match key.algorithm().kind {
                Kind::Mac => SealJob::mac(key, &test.nonce, &test.aad[..], tag),
                _ => SealJob::new(key, &test.nonce, &test.aad[..], &test.message, output, tag)
                    .expect("an output as long as the message"),
            })
            .collect();
        let sealed = seal_batch(&mut jobs).is_ok();
        self.count_sealed(cases, &results, sealed, "sealing in a batch, elsewhere");
    }

    fn count_sealed(&mut self, cases: &[Case<'_>], results: &[(Vec<u8>, Vec<u8>)], sealed: bool, what: &str) {
        for (&case, (data, tag)) in cases.iter().zip(results) {
            let passed = sealed && *data == case.test.ciphertext && *tag == case.test.tag;
            self.count(case, what, passed);
        }
    }

    fn open_batch_in_place(&mut self, cases: &[Case<'_>]) {
        let forged = self.forgeries(cases);
        let tags = self.tags(cases, &forged);
        let mut outputs: Vec<_> = cases.iter().map(|case| case.test.ciphertext.clone()).collect();
        let mut jobs: Vec<_> = cases
            .iter()
            .zip(&mut outputs)
            .zip(&tags)
            .map(|((Case { test, key }, data), tag)| match key.algorithm().kind {
                Kind::Mac => OpenJob::mac(key, &test.nonce, &test.aad[..], tag),
                _ => OpenJob::in_place(key, &test.nonce, &test.aad[..], data, tag),
            })
            .collect();
        let refused = open_batch(&mut jobs).ok();
        let verdicts: Vec<_> = jobs.iter().map(OpenJob::verdict).collect();
        self.count_opened(cases, &forged, refused, &verdicts, &outputs, "in place");
    }

    fn open_batch_elsewhere(&mut self, cases: &[Case<'_>]) {
        let forged = self.forgeries(cases);
        let tags = self.tags(cases, &forged);
        let mut outputs: Vec<_> = cases.iter().map(|case| vec![0; case.test.ciphertext.len()]).collect();
        let mut jobs: Vec<_> = cases
            .iter()
            .zip(&mut outputs)
            .zip(&tags)
            .map(|((Case { test, key }, output), tag)| match key.algorithm().kind {
                Kind::Mac => OpenJob::mac(key, &test.nonce, &test.aad[..], tag),
                _ => OpenJob::new(key, &test.nonce, &test.aad[..], &test.ciphertext, output, tag)
                    .expect("an output as long as the message"),
            })
            .collect();
        let refused = open_batch(&mut jobs).ok();
        let verdicts: Vec<_> = jobs.iter().map(OpenJob::verdict).collect();
        self.count_opened(cases, &forged, refused, &verdicts, &outputs, "elsewhere");
    }

    fn count_opened(
        &mut self,
        cases: &[Case<'_>],
        forged: &[bool],
        refused: Option<usize>,
        verdicts: &[Verdict],
        outputs: &[Vec<u8>],
        place: &str,
    ) {
        let counted = refused == Some(forged.iter().filter(|&&forged| forged).count());
        for (((&case, &forged), &verdict), output) in cases.iter().zip(forged).zip(verdicts).zip(outputs) {
            let (what, expected, right) = if forged {
                ("refusing a forged message", Verdict::Forged, is_zero(output))
            } else if case.key.algorithm().kind == Kind::Cipher {
                ("decrypting", Verdict::Unauthenticated, *output == case.test.message)
            } else {
                ("opening", Verdict::Verified, *output == case.test.message)
            };
            let passed = counted && verdict == expected && right;
            self.count(case, &format!("{what} in a batch, {place}"), passed);
        }
    }

    /// Which messages of a batch to forge: about a third; of a cipher none, it verifies nothing.
    fn forgeries(&mut self, cases: &[Case<'_>]) -> Vec<bool> {
        cases
            .iter()
            .map(|case| case.key.algorithm().kind != Kind::Cipher && self.random.u8(..3) == 0)
            .collect()
    }

    fn tags(&mut self, cases: &[Case<'_>], forged: &[bool]) -> Vec<Vec<u8>> {
        cases
            .iter()
            .zip(forged)
            .map(|(case, &forged)| if forged { self.flipped(&case.test.tag) } else { case.test.tag.clone() })
            .collect()
    }

    /// The tag with one bit flipped.
    fn flipped(&mut self, tag: &[u8]) -> Vec<u8> {
        let mut tag = tag.to_vec();
        let bit = self.random.usize(..8 * tag.len());
        tag[bit / 8] ^= 1 << (bit % 8);
        tag
    }
}

fn is_zero(bytes: &[u8]) -> bool {
    bytes.iter().all(|&byte| byte == 0)
}
