//! Forged messages, which must be refused.

use super::backends;
use super::known_answer::{Keys, KnownAnswer};
use sealcomb::{OpenError, Opened, Verdict, open_jobs};

/// Asserts that every backend refuses all of these, alone and in a batch, and zeroes their outputs.
pub(crate) fn must_be_refused(answers: &[KnownAnswer]) {
    for backend in backends::available() {
        let keys = Keys::of(backend, answers);
        for answer in answers {
            let sealed = answer.combined(&answer.tag);
            let opened = keys.get(answer).open(&answer.nonce, &answer.aad, &sealed);
            assert_eq!(opened, Err(OpenError::Forged), "{backend:?} {}", answer.origin);
        }
        let mut outputs: Vec<Vec<u8>> = answers.iter().map(|answer| answer.ct.clone()).collect();
        let mut jobs: Vec<_> = answers
            .iter()
            .zip(&mut outputs)
            .map(|(answer, data)| answer.open_job(keys.get(answer), data, &answer.tag))
            .collect();
        assert_eq!(open_jobs(&mut jobs).map(Opened::forged), Ok(answers.len()), "{backend:?}");
        for (job, answer) in jobs.iter().zip(answers) {
            assert_eq!(job.verdict(), Verdict::Forged, "{backend:?} {}", answer.origin);
        }
        drop(jobs);
        for (data, answer) in outputs.iter().zip(answers) {
            assert!(data.iter().all(|&byte| byte == 0), "{backend:?} {}", answer.origin);
        }
    }
}
