//! Checks one file with one backend.

use super::file::{Test, VectorFile};
use anyhow::{Context, Result};
use sealcomb::study::{Schedule, open_jobs_with};
use sealcomb::{
    Backend, BatchError, Key, KeyOptions, Kind, OpenJob, Opened, SealJob, TagPosition, Verdict, open_jobs,
    seal_jobs,
};
use std::collections::HashMap;
use std::slice;

/// Maximum size of the random batches that follow the batch of the whole file.
const MAX_BATCH: usize = 40;

/// Seed of the shuffling, fixed to make runs reproducible.
const SEED: u64 = 0x5ea1_c0b5;

/// Passed and failed checks.
#[derive(Default)]
pub(crate) struct Tally {
    pub(crate) passed: usize,
    /// Descriptions without duplicates: at most one per test, backend and way of processing.
    pub(crate) failures: Vec<String>,
}

impl Tally {
    /// Adds the results of `other`.
    pub(crate) fn add(&mut self, other: Self) {
        self.passed += other.passed;
        self.failures.extend(other.failures);
    }

    fn count(&mut self, passed: bool, failure: impl FnOnce() -> String) {
        if passed {
            self.passed += 1;
            return;
        }
        let failure = failure();
        if !self.failures.contains(&failure) {
            self.failures.push(failure);
        }
    }
}

/// A test and its key.
#[derive(Clone, Copy)]
struct Case<'a> {
    test: &'a Test,
    key: &'a Key,
}

impl<'a> Case<'a> {
    /// Returns the message in a buffer of the ciphertext's length.
    fn seal_buffer(self) -> Vec<u8> {
        let mut buffer = self.test.message.clone();
        buffer.resize(self.test.ciphertext.len(), 0);
        buffer
    }

    /// Returns an output buffer of the message's length if the algorithm requires the exact length, else of the
    /// maximum length that the ciphertext allows.
    fn open_buffer(self) -> Vec<u8> {
        let algorithm = self.key.algorithm();
        let max = algorithm.max_message_bytes(self.test.ciphertext.len());
        let exact = algorithm.needs_message_bytes().then_some(self.test.message.len());
        vec![0; exact.unwrap_or_else(|| max.expect("the ciphertext of a message"))]
    }

    fn open_out_of_place(self, output: &'a mut [u8], tag: &'a [u8]) -> OpenJob<'a> {
        let Self { test, key } = self;
        match key.algorithm().kind() {
            Kind::Mac => OpenJob::mac(key, &test.nonce, &test.aad[..], tag),
            _ => OpenJob::new(key, &test.nonce, &test.aad[..], &test.ciphertext, output, tag)
                .expect("an output with room for the message"),
        }
    }

    fn good_verdict(self) -> Verdict {
        match self.key.algorithm().kind() {
            Kind::Cipher => Verdict::Unauthenticated,
            _ => Verdict::Verified,
        }
    }

    /// Returns whether an output consists of the message followed by zeros.
    fn is_message(self, output: &[u8]) -> bool {
        output.strip_prefix(&self.test.message[..]).is_some_and(is_zero)
    }
}

/// Seals and opens every test as a single message and in shuffled batches. Also opens it with one bit of the tag
/// flipped, unless the algorithm is an unauthenticated cipher.
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
        let (batch, later) = rest.split_at(random.usize(1..=MAX_BATCH.min(rest.len())));
        checks.batch(batch);
        rest = later;
    }
    Ok(checks.tally)
}

/// The keys of a file, by key bytes and tag length.
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
        let options = KeyOptions::new().backend(backend).short_tag_bytes(test.tag.len()).any_nonce_bytes();
        let key = options.expand(test.algorithm, &test.key)?;
        let (aad_bytes, message_bytes) = (test.aad.len() as u64, test.message.len() as u64);
        key.check(test.nonce.len(), test.tag.len(), aad_bytes, message_bytes)?;
        Ok(key)
    }

    fn of_test(&self, test: &'a Test) -> &Key {
        &self.0[&(&test.key[..], test.tag.len())]
    }
}

/// The results so far, and the random numbers for the next checks.
struct Checks {
    tally: Tally,
    random: fastrand::Rng,
}

impl Checks {
    fn count(&mut self, case: Case<'_>, what: &str, passed: bool) {
        self.tally.count(passed, || format!("{} test {}: {what}", case.key.backend().name(), case.test.id));
    }

    fn seal_one(&mut self, case @ Case { test, key }: Case<'_>) {
        let sealed = key.seal(&test.nonce, &test.aad, &test.message);
        let combined = match key.algorithm().tag_position() {
            TagPosition::First => [&test.tag[..], &test.ciphertext].concat(),
            TagPosition::Last => [&test.ciphertext[..], &test.tag].concat(),
        };
        let passed = sealed.is_ok_and(|sealed| sealed == combined);
        self.count(case, "sealing one message", passed);
    }

    fn open_one(&mut self, case @ Case { test, .. }: Case<'_>) {
        let mut output = case.open_buffer();
        let mut job = case.open_out_of_place(&mut output, &test.tag);
        let opened = open_jobs_with(Schedule::Single, slice::from_mut(&mut job)).map(Opened::forged) == Ok(0)
            && (job.verdict(), job.message_bytes()) == (case.good_verdict(), test.message.len());
        let passed = opened && case.is_message(&output);
        self.count(case, "opening one message", passed);
    }

    fn open_one_forged(&mut self, case @ Case { test, key }: Case<'_>) {
        if key.algorithm().kind() == Kind::Cipher {
            return;
        }
        let (mut output, tag) = (case.open_buffer(), self.flipped(&test.tag));
        let mut job = case.open_out_of_place(&mut output, &tag);
        let rejected = open_jobs_with(Schedule::Single, slice::from_mut(&mut job)).map(Opened::forged)
            == Ok(1)
            && job.verdict() == Verdict::Forged;
        let passed = rejected && is_zero(&output);
        self.count(case, "rejecting one forged message", passed);
    }

    /// Seals and opens the batch, in place and out of place. Some of the tags to open are forged.
    fn batch(&mut self, cases: &[Case<'_>]) {
        self.seal_batch_in_place(cases);
        self.seal_batch_out_of_place(cases);
        self.open_batch_in_place(cases);
        self.open_batch_out_of_place(cases);
    }

    fn seal_batch_in_place(&mut self, cases: &[Case<'_>]) {
        let mut results: Vec<_> =
            cases.iter().map(|case| (case.seal_buffer(), vec![0; case.test.tag.len()])).collect();
        let mut jobs: Vec<_> = cases
            .iter()
            .zip(&mut results)
            .map(|(Case { test, key }, (data, tag))| match key.algorithm().kind() {
                Kind::Mac => SealJob::mac(key, &test.nonce, &test.aad[..], tag),
                _ => SealJob::in_buffer(key, &test.nonce, &test.aad[..], data, test.message.len(), tag)
                    .expect("a buffer as long as the ciphertext"),
            })
            .collect();
        let sealed = seal_jobs(&mut jobs);
        self.count_sealed(cases, sealed, &results, "sealing in a batch, in place");
    }

    fn seal_batch_out_of_place(&mut self, cases: &[Case<'_>]) {
        let mut results: Vec<_> = cases
            .iter()
            .map(|case| (vec![0; case.test.ciphertext.len()], vec![0; case.test.tag.len()]))
            .collect();
        let mut jobs: Vec<_> = cases
            .iter()
            .zip(&mut results)
            .map(|(Case { test, key }, (output, tag))| match key.algorithm().kind() {
                Kind::Mac => SealJob::mac(key, &test.nonce, &test.aad[..], tag),
                _ => SealJob::new(key, &test.nonce, &test.aad[..], &test.message, output, tag)
                    .expect("an output as long as the ciphertext"),
            })
            .collect();
        let sealed = seal_jobs(&mut jobs);
        self.count_sealed(cases, sealed, &results, "sealing in a batch, out of place");
    }

    /// Counts each job by its own result, so that a wrong one does not fail the others of its batch.
    fn count_sealed(
        &mut self,
        cases: &[Case<'_>],
        sealed: Result<(), BatchError>,
        results: &[(Vec<u8>, Vec<u8>)],
        what: &str,
    ) {
        if let Err(error) = sealed {
            return self.count_misuse(cases, error, what);
        }
        for (&case, (data, tag)) in cases.iter().zip(results) {
            let passed = *data == case.test.ciphertext && *tag == case.test.tag;
            self.count(case, what, passed);
        }
    }

    /// Counts a batch that was rejected as a whole, as a failure of the invalid job.
    fn count_misuse(&mut self, cases: &[Case<'_>], error: BatchError, what: &str) {
        self.count(cases[error.index()], &format!("{what}: {}", error.error()), false);
    }

    fn open_batch_in_place(&mut self, cases: &[Case<'_>]) {
        let forged = self.forgeries(cases);
        let tags = self.tags(cases, &forged);
        let mut outputs: Vec<_> = cases.iter().map(|case| case.test.ciphertext.clone()).collect();
        let mut jobs: Vec<_> = cases
            .iter()
            .zip(&mut outputs)
            .zip(&tags)
            .map(|((Case { test, key }, data), tag)| match key.algorithm().kind() {
                Kind::Mac => OpenJob::mac(key, &test.nonce, &test.aad[..], tag),
                _ => OpenJob::in_buffer(key, &test.nonce, &test.aad[..], data, test.message.len(), tag)
                    .expect("a buffer as long as the ciphertext"),
            })
            .collect();
        let rejected = open_jobs(&mut jobs).map(Opened::forged);
        let verdicts: Vec<_> = jobs.iter().map(OpenJob::verdict).collect();
        self.count_opened(cases, &forged, rejected, &verdicts, &outputs, "in a batch, in place");
    }

    fn open_batch_out_of_place(&mut self, cases: &[Case<'_>]) {
        let forged = self.forgeries(cases);
        let tags = self.tags(cases, &forged);
        let mut outputs: Vec<_> = cases.iter().map(|case| case.open_buffer()).collect();
        let mut jobs: Vec<_> = cases
            .iter()
            .zip(&mut outputs)
            .zip(&tags)
            .map(|((case, output), tag)| case.open_out_of_place(output, tag))
            .collect();
        let rejected = open_jobs(&mut jobs).map(Opened::forged);
        let verdicts: Vec<_> = jobs.iter().map(OpenJob::verdict).collect();
        self.count_opened(cases, &forged, rejected, &verdicts, &outputs, "in a batch, out of place");
    }

    /// Counts each job by its own verdict and output, and the batch by whether its count of forgeries is right.
    fn count_opened(
        &mut self,
        cases: &[Case<'_>],
        forged: &[bool],
        rejected: Result<usize, BatchError>,
        verdicts: &[Verdict],
        outputs: &[Vec<u8>],
        place: &str,
    ) {
        let rejected = match rejected {
            Ok(rejected) => rejected,
            Err(error) => return self.count_misuse(cases, error, &format!("opening {place}")),
        };
        for (((&case, &forged), &verdict), output) in cases.iter().zip(forged).zip(verdicts).zip(outputs) {
            let (what, expected, right) = if forged {
                ("rejecting a forged message", Verdict::Forged, is_zero(output))
            } else if case.key.algorithm().kind() == Kind::Cipher {
                ("decrypting", Verdict::Unauthenticated, case.is_message(output))
            } else {
                ("opening", Verdict::Verified, case.is_message(output))
            };
            self.count(case, &format!("{what} {place}"), verdict == expected && right);
        }
        let forged = verdicts.iter().filter(|&&verdict| verdict == Verdict::Forged).count();
        let backend = cases[0].key.backend().name();
        self.tally.count(rejected == forged, || {
            format!("{backend}: a batch of {}, {place}: {forged} rejected, {rejected} counted", cases.len())
        });
    }

    /// Chooses the messages of a batch to forge: about a third, but none of unauthenticated ciphers, which verify
    /// nothing.
    fn forgeries(&mut self, cases: &[Case<'_>]) -> Vec<bool> {
        cases
            .iter()
            .map(|case| case.key.algorithm().kind() != Kind::Cipher && self.random.u8(..3) == 0)
            .collect()
    }

    fn tags(&mut self, cases: &[Case<'_>], forged: &[bool]) -> Vec<Vec<u8>> {
        cases
            .iter()
            .zip(forged)
            .map(|(case, &forged)| if forged { self.flipped(&case.test.tag) } else { case.test.tag.clone() })
            .collect()
    }

    /// Returns the tag with a random bit flipped.
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Two tests of GCM under one key: test cases 1 and 2 of the GCM specification.
    const FILE: &str = r#"{"algorithm": "aes128-gcm", "tests": [
        {"id": 1, "key": "00000000000000000000000000000000", "nonce": "000000000000000000000000", "msg": "",
         "ct": "", "tag": "58e2fccefa7e3061367f1d57a4e7455a"},
        {"id": 2, "key": "00000000000000000000000000000000", "nonce": "000000000000000000000000",
         "msg": "00000000000000000000000000000000", "ct": "0388dace60b6a392f328c2b971b2fe78",
         "tag": "ab6e47d42cec13bdf53a67b21257bddf"}]}"#;

    /// Returns the failures if opening the two tests, the first one forged, has these verdicts, this second output
    /// and this count of rejected messages.
    fn failures(verdicts: [Verdict; 2], second_output: &[u8], rejected: usize) -> Vec<String> {
        let file = VectorFile::parse(FILE.as_bytes(), "file").unwrap();
        let keys = Keys::of(&file, Backend::best()).unwrap();
        let cases: Vec<_> = file.tests.iter().map(|test| Case { test, key: keys.of_test(test) }).collect();
        let mut checks = Checks { tally: Tally::default(), random: fastrand::Rng::with_seed(0) };
        let outputs = [vec![], second_output.to_vec()];
        checks.count_opened(&cases, &[true, false], Ok(rejected), &verdicts, &outputs, "in a batch");
        let prefix = format!("{} ", Backend::best().name());
        checks.tally.failures.iter().map(|failure| failure.replace(&prefix, "")).collect()
    }

    #[test]
    fn each_wrong_verdict_or_output_is_a_failure_of_its_own_job() {
        let (forged, good) = (Verdict::Forged, Verdict::Verified);
        assert_eq!(failures([forged, good], &[0; 16], 1), Vec::<String>::new());
        assert_eq!(failures([forged, good], &[1; 16], 1), ["test 2: opening in a batch"]);
        assert_eq!(failures([forged, forged], &[0; 16], 2), ["test 2: opening in a batch"]);
        assert_eq!(failures([good, good], &[0; 16], 0), ["test 1: rejecting a forged message in a batch"]);
    }

    #[test]
    fn a_batch_that_miscounts_its_forgeries_is_a_failure() {
        let failures = failures([Verdict::Forged, Verdict::Verified], &[0; 16], 2);
        assert_eq!(failures.len(), 1);
        assert!(failures[0].ends_with("a batch of 2, in a batch: 1 rejected, 2 counted"), "{failures:?}");
    }
}
