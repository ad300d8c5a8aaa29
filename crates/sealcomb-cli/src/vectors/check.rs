//! The checks of one file on one backend.

use super::file::{Test, VectorFile};
use anyhow::{Context, Result};
use sealcomb::{
    Backend, BatchError, Key, Kind, OpenJob, Schedule, SealJob, Verdict, open_batch, open_batch_with,
    seal_batch,
};
use std::collections::HashMap;
use std::slice;

/// Batches of random sizes up to this follow the one batch that holds the whole file.
const LARGEST_BATCH: usize = 40;

/// The order of the batches is random, but the same in every run.
const SEED: u64 = 0x5ea1_c0b5;

/// What passed and what did not.
#[derive(Default)]
pub(crate) struct Tally {
    pub(crate) passed: usize,
    /// Each test stands here once for each backend and way of processing it that gave another answer.
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
            return;
        }
        let failure = failure();
        if !self.failures.contains(&failure) {
            self.failures.push(failure);
        }
    }
}

/// A test and the key made for it.
#[derive(Clone, Copy)]
struct Case<'a> {
    test: &'a Test,
    key: &'a Key,
}

impl<'a> Case<'a> {
    /// A buffer that begins with the message and has room for the ciphertext.
    fn room_to_seal(self) -> Vec<u8> {
        let mut buffer = self.test.message.clone();
        buffer.resize(self.test.ciphertext.len(), 0);
        buffer
    }

    /// An output that has room for the message, as far as its length can be known.
    fn room_to_open(self) -> Vec<u8> {
        let algorithm = self.key.algorithm();
        let most = algorithm.max_message_bytes(self.test.ciphertext.len());
        let told = algorithm.needs_message_bytes().then_some(self.test.message.len());
        vec![0; told.unwrap_or_else(|| most.expect("the ciphertext of a message"))]
    }

    fn open_elsewhere(self, output: &'a mut [u8], tag: &'a [u8]) -> OpenJob<'a> {
        let Self { test, key } = self;
        match key.algorithm().kind {
            Kind::Mac => OpenJob::mac(key, &test.nonce, &test.aad[..], tag),
            _ => OpenJob::new(key, &test.nonce, &test.aad[..], &test.ciphertext, output, tag)
                .expect("an output with room for the message"),
        }
    }

    fn good_verdict(self) -> Verdict {
        match self.key.algorithm().kind {
            Kind::Cipher => Verdict::Unauthenticated,
            Kind::Mac | Kind::Aead => Verdict::Verified,
        }
    }

    /// Whether an output holds the message, and then zeros.
    fn is_message(self, output: &[u8]) -> bool {
        output.strip_prefix(&self.test.message[..]).is_some_and(is_zero)
    }
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
        let sealed = key.seal(&test.nonce, &test.aad, &test.message);
        let passed = sealed.is_ok_and(|sealed| sealed == [&test.ciphertext[..], &test.tag].concat());
        self.count(case, "sealing one message", passed);
    }

    fn open_one(&mut self, case @ Case { test, .. }: Case<'_>) {
        let mut output = case.room_to_open();
        let mut job = case.open_elsewhere(&mut output, &test.tag);
        let opened = open_batch_with(Schedule::Single, slice::from_mut(&mut job)) == Ok(0)
            && (job.verdict(), job.message_bytes()) == (case.good_verdict(), test.message.len());
        let passed = opened && case.is_message(&output);
        self.count(case, "opening one message", passed);
    }

    fn open_one_forged(&mut self, case @ Case { test, key }: Case<'_>) {
        if key.algorithm().kind == Kind::Cipher {
            return;
        }
        let (mut output, tag) = (case.room_to_open(), self.flipped(&test.tag));
        let mut job = case.open_elsewhere(&mut output, &tag);
        let refused = open_batch_with(Schedule::Single, slice::from_mut(&mut job)) == Ok(1)
            && job.verdict() == Verdict::Forged;
        let passed = refused && is_zero(&output);
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
            cases.iter().map(|case| (case.room_to_seal(), vec![0; case.test.tag.len()])).collect();
        let mut jobs: Vec<_> = cases
            .iter()
            .zip(&mut results)
            .map(|(Case { test, key }, (data, tag))| match key.algorithm().kind {
                Kind::Mac => SealJob::mac(key, &test.nonce, &test.aad[..], tag),
                _ => SealJob::in_buffer(key, &test.nonce, &test.aad[..], data, test.message.len(), tag)
                    .expect("a buffer as long as the ciphertext"),
            })
            .collect();
        let sealed = seal_batch(&mut jobs);
        self.count_sealed(cases, sealed, &results, "sealing in a batch, in place");
    }

    fn seal_batch_elsewhere(&mut self, cases: &[Case<'_>]) {
        let mut results: Vec<_> = cases
            .iter()
            .map(|case| (vec![0; case.test.ciphertext.len()], vec![0; case.test.tag.len()]))
            .collect();
        let mut jobs: Vec<_> = cases
            .iter()
            .zip(&mut results)
            .map(|(Case { test, key }, (output, tag))| match key.algorithm().kind {
                Kind::Mac => SealJob::mac(key, &test.nonce, &test.aad[..], tag),
                _ => SealJob::new(key, &test.nonce, &test.aad[..], &test.message, output, tag)
                    .expect("an output as long as the ciphertext"),
            })
            .collect();
        let sealed = seal_batch(&mut jobs);
        self.count_sealed(cases, sealed, &results, "sealing in a batch, elsewhere");
    }

    /// Each job by what it gave itself: a wrong answer says nothing against its neighbours.
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

    /// A batch of which nothing was processed, since one job makes no sense.
    fn count_misuse(&mut self, cases: &[Case<'_>], error: BatchError, what: &str) {
        self.count(cases[error.index], &format!("{what}: {}", error.error), false);
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
                _ => OpenJob::in_buffer(key, &test.nonce, &test.aad[..], data, test.message.len(), tag)
                    .expect("a buffer as long as the ciphertext"),
            })
            .collect();
        let refused = open_batch(&mut jobs);
        let verdicts: Vec<_> = jobs.iter().map(OpenJob::verdict).collect();
        self.count_opened(cases, &forged, refused, &verdicts, &outputs, "in a batch, in place");
    }

    fn open_batch_elsewhere(&mut self, cases: &[Case<'_>]) {
        let forged = self.forgeries(cases);
        let tags = self.tags(cases, &forged);
        let mut outputs: Vec<_> = cases.iter().map(|case| case.room_to_open()).collect();
        let mut jobs: Vec<_> = cases
            .iter()
            .zip(&mut outputs)
            .zip(&tags)
            .map(|((case, output), tag)| case.open_elsewhere(output, tag))
            .collect();
        let refused = open_batch(&mut jobs);
        let verdicts: Vec<_> = jobs.iter().map(OpenJob::verdict).collect();
        self.count_opened(cases, &forged, refused, &verdicts, &outputs, "in a batch, elsewhere");
    }

    /// Each job by its own verdict and output, and the batch by its count of the verdicts.
    fn count_opened(
        &mut self,
        cases: &[Case<'_>],
        forged: &[bool],
        refused: Result<usize, BatchError>,
        verdicts: &[Verdict],
        outputs: &[Vec<u8>],
        place: &str,
    ) {
        let refused = match refused {
            Ok(refused) => refused,
            Err(error) => return self.count_misuse(cases, error, &format!("opening {place}")),
        };
        for (((&case, &forged), &verdict), output) in cases.iter().zip(forged).zip(verdicts).zip(outputs) {
            let (what, expected, right) = if forged {
                ("refusing a forged message", Verdict::Forged, is_zero(output))
            } else if case.key.algorithm().kind == Kind::Cipher {
                ("decrypting", Verdict::Unauthenticated, case.is_message(output))
            } else {
                ("opening", Verdict::Verified, case.is_message(output))
            };
            self.count(case, &format!("{what} {place}"), verdict == expected && right);
        }
        let told = verdicts.iter().filter(|&&verdict| verdict == Verdict::Forged).count();
        let backend = cases[0].key.backend().name();
        self.tally.count(refused == told, || {
            format!("{backend}: a batch of {}, {place}: {told} refused, {refused} counted", cases.len())
        });
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Two tests of GCM under one key, the designers' cases 1 and 2.
    const FILE: &str = r#"{"algorithm": "aes128-gcm", "tests": [
        {"id": 1, "key": "00000000000000000000000000000000", "nonce": "000000000000000000000000", "msg": "",
         "ct": "", "tag": "58e2fccefa7e3061367f1d57a4e7455a"},
        {"id": 2, "key": "00000000000000000000000000000000", "nonce": "000000000000000000000000",
         "msg": "00000000000000000000000000000000", "ct": "0388dace60b6a392f328c2b971b2fe78",
         "tag": "ab6e47d42cec13bdf53a67b21257bddf"}]}"#;

    /// What is blamed if opening the two, the first one forged, gives these verdicts and this second message, and counts
    /// so many forgeries.
    fn blamed(verdicts: [Verdict; 2], second_output: &[u8], refused: usize) -> Vec<String> {
        let file = VectorFile::parse(FILE.as_bytes(), "file").unwrap();
        let keys = Keys::of(&file, Backend::best()).unwrap();
        let cases: Vec<_> = file.tests.iter().map(|test| Case { test, key: keys.of_test(test) }).collect();
        let mut checks = Checks { tally: Tally::default(), random: fastrand::Rng::with_seed(0) };
        let outputs = [vec![], second_output.to_vec()];
        checks.count_opened(&cases, &[true, false], Ok(refused), &verdicts, &outputs, "in a batch");
        let prefix = format!("{} ", Backend::best().name());
        checks.tally.failures.iter().map(|failure| failure.replace(&prefix, "")).collect()
    }

    #[test]
    fn a_neighbour_that_a_forged_job_disturbs_is_blamed() {
        let (forged, good) = (Verdict::Forged, Verdict::Verified);
        assert_eq!(blamed([forged, good], &[0; 16], 1), Vec::<String>::new());
        assert_eq!(blamed([forged, good], &[1; 16], 1), ["test 2: opening in a batch"]);
        assert_eq!(blamed([forged, forged], &[0; 16], 2), ["test 2: opening in a batch"]);
        assert_eq!(blamed([good, good], &[0; 16], 0), ["test 1: refusing a forged message in a batch"]);
    }

    #[test]
    fn a_batch_that_miscounts_its_forgeries_is_blamed_itself() {
        let blamed = blamed([Verdict::Forged, Verdict::Verified], &[0; 16], 2);
        assert_eq!(blamed.len(), 1);
        assert!(blamed[0].ends_with("a batch of 2, in a batch: 1 refused, 2 counted"), "{blamed:?}");
    }
}
