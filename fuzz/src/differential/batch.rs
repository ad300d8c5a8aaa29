//! Seals and opens a batch or a burst, and compares each message with the model's result.

use super::job::{Job, Received};
use sealcomb::study::{Schedule, open_jobs_with, seal_jobs_with};
use sealcomb::{Aad, Burst, Key, Kind, OpenJob, SealJob, Verdict};

/// Bytes that follow the result in an output buffer, and must not change.
const REST: [u8; 3] = [0xa5; 3];

/// Checks that sealing produces the model's ciphertexts and tags, and writes no other bytes.
pub(super) fn seals(jobs: &[Job], keys: &[&Key], schedule: Schedule) {
    let slices: Vec<_> = jobs.iter().map(|job| slices(&job.aad, job.slices)).collect();
    let mut results: Vec<_> = jobs
        .iter()
        .map(|job| (buffer(job, &job.message, job.ciphertext.len()), vec![0x5a; job.tag.len()]))
        .collect();
    let mut batch: Vec<_> = jobs
        .iter()
        .zip(keys)
        .zip(&slices)
        .zip(&mut results)
        .map(|(((job, key), aad), (data, tag))| {
            let (nonce, aad) = (&job.nonce[..], Aad::joined(aad));
            if job.algorithm.kind() == Kind::Mac {
                SealJob::mac(key, nonce, aad, tag)
            } else if job.in_place {
                SealJob::in_buffer(key, nonce, aad, data, job.message.len(), tag)
                    .expect("room for the result")
            } else {
                SealJob::new(key, nonce, aad, &job.message, data, tag).expect("room for the result")
            }
        })
        .collect();
    seal_jobs_with(schedule, &mut batch).expect("sizes that the algorithms take");
    drop(batch);
    for (i, ((job, key), (data, tag))) in jobs.iter().zip(keys).zip(&results).enumerate() {
        let expected = with_rest(job, &job.ciphertext);
        assert!(
            *data == expected && *tag == job.tag,
            "{:?}, {schedule:?}, sealing job {i} of {}: byte {:?} of {job:?}",
            key.backend(),
            jobs.len(),
            first_difference(data, &expected)
        );
    }
}

/// Checks that opening returns the messages, and only a verdict for forged ones.
pub(super) fn opens(jobs: &[Job], keys: &[&Key], schedule: Schedule) {
    let received: Vec<_> = jobs.iter().map(|job| Received::of(job, job.forged)).collect();
    let slices: Vec<_> =
        jobs.iter().zip(&received).map(|(job, received)| slices(&received.aad, job.slices)).collect();
    let mut results: Vec<_> = jobs
        .iter()
        .zip(&received)
        .map(|(job, received)| buffer(job, &received.ciphertext, room(job)))
        .collect();
    let mut batch: Vec<_> = jobs
        .iter()
        .zip(keys)
        .zip(&received)
        .zip(&slices)
        .zip(&mut results)
        .map(|((((job, key), received), aad), data)| {
            let Received { nonce, ciphertext, tag, .. } = received;
            let aad = Aad::joined(aad);
            if job.algorithm.kind() == Kind::Mac {
                OpenJob::mac(key, nonce, aad, tag)
            } else if job.in_place {
                OpenJob::in_buffer(key, nonce, aad, data, job.message.len(), tag)
                    .expect("room for the result")
            } else {
                OpenJob::new(key, nonce, aad, ciphertext, data, tag).expect("room for the result")
            }
        })
        .collect();
    let opened = open_jobs_with(schedule, &mut batch).expect("sizes that the algorithms take");
    let verdicts: Vec<_> = batch.iter().map(|job| (job.verdict(), job.message_bytes())).collect();
    drop(batch);
    for (i, ((job, key), (data, verdict))) in
        jobs.iter().zip(keys).zip(results.iter().zip(verdicts)).enumerate()
    {
        let mut message = if job.forged.is_none() { job.message.clone() } else { Vec::new() };
        let bytes = message.len();
        message.resize(room(job), 0);
        let expected = with_rest(job, &message);
        assert!(
            *data == expected && verdict == (expected_verdict(job), bytes),
            "{:?}, {schedule:?}, opening job {i} of {}: {verdict:?}, byte {:?} of {job:?}",
            key.backend(),
            jobs.len(),
            first_difference(data, &expected)
        );
    }
    assert_eq!(
        opened.forged(),
        jobs.iter().filter(|job| job.forged.is_some()).count(),
        "number of forged jobs"
    );
}

/// Checks that bursts of the jobs, all under this key, have the results of the batches.
pub(super) fn bursts(jobs: &[Job], key: &Key) {
    let nonces: Vec<&[u8]> = jobs.iter().map(|job| &job.nonce[..]).collect();
    let aads: Vec<&[u8]> = jobs.iter().map(|job| &job.aad[..]).collect();
    let mut data: Vec<Vec<u8>> = jobs.iter().map(|job| job.message.clone()).collect();
    let mut tags: Vec<Vec<u8>> = jobs.iter().map(|job| vec![0x5a; job.tag.len()]).collect();
    let sealed = Burst::new(key, &nonces).aads(&aads).seal(&mut data, &mut tags);
    sealed.expect("sizes that the algorithm takes");
    for (job, (data, tag)) in jobs.iter().zip(data.iter().zip(&tags)) {
        assert!(*data == job.ciphertext && *tag == job.tag, "{:?}, sealing a burst: {job:?}", key.backend());
    }

    let received: Vec<Received> = jobs.iter().map(|job| Received::of(job, job.forged)).collect();
    let nonces: Vec<&[u8]> = received.iter().map(|received| &received.nonce[..]).collect();
    let aads: Vec<&[u8]> = received.iter().map(|received| &received.aad[..]).collect();
    let tags: Vec<&[u8]> = received.iter().map(|received| &received.tag[..]).collect();
    let mut data: Vec<Vec<u8>> = received.iter().map(|received| received.ciphertext.clone()).collect();
    let mut verdicts = vec![Verdict::Pending; jobs.len()];
    let opened = Burst::new(key, &nonces).aads(&aads).open(&mut data, &tags, &mut verdicts);
    let forged = opened.expect("sizes that the algorithm takes").forged();
    assert_eq!(forged, jobs.iter().filter(|job| job.forged.is_some()).count(), "number of forged messages");
    for (job, (data, verdict)) in jobs.iter().zip(data.iter().zip(verdicts)) {
        let expected = if job.forged.is_none() { job.message.clone() } else { vec![0; data.len()] };
        assert!(
            *data == expected && verdict == expected_verdict(job),
            "{:?}, opening a burst: {verdict:?} of {job:?}",
            key.backend()
        );
    }
}

fn expected_verdict(job: &Job) -> Verdict {
    match job.algorithm.kind() {
        Kind::Cipher => Verdict::Unauthenticated,
        _ if job.forged.is_none() => Verdict::Verified,
        _ => Verdict::Forged,
    }
}

/// Splits additional data into `n` slices of about equal length.
fn slices(aad: &[u8], n: usize) -> Vec<&[u8]> {
    let border = |i: usize| i * aad.len() / n;
    (0..n).map(|i| &aad[border(i)..border(i + 1)]).collect()
}

/// Returns the output size in bytes that opening requires.
fn room(job: &Job) -> usize {
    let Job { algorithm, message, ciphertext, in_place, .. } = job;
    if *in_place {
        ciphertext.len()
    } else if algorithm.needs_message_bytes() {
        message.len()
    } else {
        algorithm.max_message_bytes(ciphertext.len()).expect("the ciphertext of a message")
    }
}

/// Returns an output buffer as it is before the call: with the input if the job is in place, otherwise with other
/// bytes.
fn buffer(job: &Job, input: &[u8], room: usize) -> Vec<u8> {
    let mut buffer = if job.in_place { input.to_vec() } else { Vec::new() };
    buffer.resize(room, 0x5a);
    with_rest(job, &buffer)
}

/// Appends [`REST`] to the result, which a separate output buffer may contain. Not if the length of the output
/// determines that of the message.
fn with_rest(job: &Job, result: &[u8]) -> Vec<u8> {
    let rest: &[u8] = if job.in_place || job.algorithm.needs_message_bytes() { &[] } else { &REST };
    [result, rest].concat()
}

fn first_difference(got: &[u8], expected: &[u8]) -> Option<usize> {
    got.iter().zip(expected).position(|(got, expected)| got != expected)
}
