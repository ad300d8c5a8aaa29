//! Known answers, and the check that they hold on every backend, alone and in a batch.

use super::backends;
use rand::SeedableRng;
use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use sealcomb::{
    Algorithm, Backend, Error, Key, KeyOptions, Kind, OpenError, OpenJob, Opened, SealJob, Verdict,
    open_jobs, seal_jobs,
};
use std::collections::HashMap;
use std::fmt;

/// A sealed message. A MAC's message is the `aad`; an unauthenticated cipher has an empty `aad` and `tag`.
#[derive(Clone)]
pub(crate) struct KnownAnswer {
    pub(crate) origin: String,
    pub(crate) algorithm: Algorithm,
    pub(crate) key: Vec<u8>,
    pub(crate) nonce: Vec<u8>,
    pub(crate) aad: Vec<u8>,
    pub(crate) msg: Vec<u8>,
    pub(crate) ct: Vec<u8>,
    pub(crate) tag: Vec<u8>,
}

/// Writes the origin and the sizes, not the bytes: a failing batch has hundreds of answers.
impl fmt::Debug for KnownAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { origin, algorithm, nonce, aad, msg, tag, .. } = self;
        let (nonce, aad, msg, tag) = (nonce.len(), aad.len(), msg.len(), tag.len());
        write!(f, "{origin} ({}, nonce {nonce}, aad {aad}, msg {msg}, tag {tag})", algorithm.id())
    }
}

impl KnownAnswer {
    /// Returns the expected contents of the ciphertext's buffer after opening: the message, then zeros.
    pub(crate) fn opened_in_place(&self) -> Vec<u8> {
        let mut data = self.msg.clone();
        data.resize(self.ct.len(), 0);
        data
    }

    /// Returns the ciphertext with a tag, in the order of the algorithm's specification: only SIV's puts the tag first.
    pub(crate) fn combined(&self, tag: &[u8]) -> Vec<u8> {
        if self.algorithm.mode() == "SIV" { [tag, &self.ct].concat() } else { [&self.ct, tag].concat() }
    }

    pub(crate) fn is_authenticated(&self) -> bool {
        self.algorithm.kind() != Kind::Cipher
    }

    fn make_key(&self, backend: Backend) -> Result<Key, Error> {
        let options = KeyOptions::new().backend(backend).short_tag_bytes(self.tag.len()).any_nonce_bytes();
        options.expand(self.algorithm, &self.key)
    }

    fn seal_job<'a>(&'a self, key: &'a Key, output: &'a mut [u8], tag: &'a mut [u8]) -> SealJob<'a> {
        if self.algorithm.kind() == Kind::Mac {
            SealJob::mac(key, &self.nonce, self.aad.as_slice(), tag)
        } else {
            SealJob::new(key, &self.nonce, self.aad.as_slice(), &self.msg, output, tag)
                .expect("the output is as long as the ciphertext")
        }
    }

    /// Returns a job that opens `data`, the ciphertext, in place.
    pub(crate) fn open_job<'a>(&'a self, key: &'a Key, data: &'a mut [u8], tag: &'a [u8]) -> OpenJob<'a> {
        if self.algorithm.kind() == Kind::Mac {
            OpenJob::mac(key, &self.nonce, self.aad.as_slice(), tag)
        } else if self.algorithm.needs_message_bytes() {
            OpenJob::in_buffer(key, &self.nonce, self.aad.as_slice(), data, self.msg.len(), tag)
                .expect("the buffer is as long as the ciphertext")
        } else {
            OpenJob::in_place(key, &self.nonce, self.aad.as_slice(), data, tag)
        }
    }
}

/// Asserts that every backend computes these answers, one message at a time and as a batch in any order, and refuses
/// a tag with a flipped bit.
pub(crate) fn must_hold(answers: &[KnownAnswer]) {
    for backend in backends::available() {
        let keys = Keys::of(backend, answers);
        let mut order: Vec<&KnownAnswer> = answers.iter().collect();
        seal_singly(&order, &keys);
        open_singly(&order, &keys);
        sealed_batch_holds(&order, &keys);
        opened_batch_holds(&order, &keys);
        order.shuffle(&mut StdRng::seed_from_u64(1));
        sealed_batch_holds(&order, &keys);
        opened_batch_holds(&order, &keys);
    }
}

/// The keys of many answers: equal keys are one object.
pub(crate) struct Keys<'a>(HashMap<(&'static str, &'a [u8], usize), Key>);

impl<'a> Keys<'a> {
    pub(crate) fn of(backend: Backend, answers: &'a [KnownAnswer]) -> Self {
        let mut keys = HashMap::new();
        for answer in answers {
            keys.entry(Self::name(answer)).or_insert_with(|| {
                answer.make_key(backend).unwrap_or_else(|error| panic!("{}: {error}", answer.origin))
            });
        }
        Self(keys)
    }

    pub(crate) fn get(&self, answer: &'a KnownAnswer) -> &Key {
        &self.0[&Self::name(answer)]
    }

    fn name(answer: &'a KnownAnswer) -> (&'static str, &'a [u8], usize) {
        (answer.algorithm.id(), &answer.key, answer.tag.len())
    }
}

fn seal_singly<'a>(answers: &[&'a KnownAnswer], keys: &Keys<'a>) {
    for answer in answers {
        let key = keys.get(answer);
        let context = format!("{} {}", key.backend().name(), answer.origin);
        let mut data = answer.msg.clone();
        let mut tag = vec![0; answer.tag.len()];
        let sealed = key.seal_in_place_detached(&answer.nonce, &answer.aad, &mut data, &mut tag);
        if answer.ct.len() == answer.msg.len() {
            sealed.expect(&context);
            assert_eq!(hex::encode(&data), hex::encode(&answer.ct), "ciphertext: {context}");
            assert_eq!(hex::encode(&tag), hex::encode(&answer.tag), "tag: {context}");
        } else {
            let error = Error::OutputTooShort { needed: answer.ct.len(), got: answer.msg.len() };
            assert_eq!(sealed, Err(error), "{context}");
            assert_eq!(data, answer.msg, "{context}");
        }
        let sealed = key.seal(&answer.nonce, &answer.aad, &answer.msg).expect(&context);
        let expected = answer.combined(&answer.tag);
        assert_eq!(hex::encode(sealed), hex::encode(expected), "allocating: {context}");
    }
}

fn open_singly<'a>(answers: &[&'a KnownAnswer], keys: &Keys<'a>) {
    for (i, answer) in answers.iter().enumerate() {
        let key = keys.get(answer);
        let context = format!("{} {}", key.backend().name(), answer.origin);
        let sealed = answer.combined(&answer.tag);
        let opened = key.open(&answer.nonce, &answer.aad, &sealed);
        if !answer.is_authenticated() {
            let refused = Error::Unauthenticated { algorithm: answer.algorithm.id() };
            assert_eq!(opened, Err(OpenError::Misuse(refused)), "{context}");
        } else if answer.algorithm.needs_message_bytes() && answer.ct.len() != answer.msg.len() {
            assert_eq!(opened, Err(OpenError::Forged), "{context}");
        } else {
            assert_eq!(hex::encode(opened.expect(&context)), hex::encode(&answer.msg), "{context}");
        }
        if answer.is_authenticated() {
            let mut data = answer.ct.clone();
            let tag = flip_one_bit(&answer.tag, i);
            let opened = key.open_in_place_detached(&answer.nonce, &answer.aad, &mut data, &tag);
            if answer.algorithm.expands() {
                assert_eq!(opened, Err(OpenError::Misuse(Error::CiphertextIsLonger)), "{context}");
                assert_eq!(data, answer.ct, "{context}");
            } else {
                assert_eq!(opened, Err(OpenError::Forged), "{context}");
                assert!(data.iter().all(|&byte| byte == 0), "{context}");
            }
            let forged = answer.combined(&tag);
            let opened = key.open(&answer.nonce, &answer.aad, &forged);
            assert_eq!(opened, Err(OpenError::Forged), "{context}");
        }
    }
}

fn sealed_batch_holds<'a>(answers: &[&'a KnownAnswer], keys: &Keys<'a>) {
    let mut outputs: Vec<(Vec<u8>, Vec<u8>)> =
        answers.iter().map(|answer| (vec![0; answer.ct.len()], vec![0; answer.tag.len()])).collect();
    let mut jobs: Vec<_> = answers
        .iter()
        .zip(&mut outputs)
        .map(|(answer, (data, tag))| answer.seal_job(keys.get(answer), data, tag))
        .collect();
    seal_jobs(&mut jobs).expect("the sizes are right");
    drop(jobs);
    for (answer, (data, tag)) in answers.iter().zip(&outputs) {
        let context = format!("batch, {} {}", keys.get(answer).backend().name(), answer.origin);
        assert_eq!(hex::encode(data), hex::encode(&answer.ct), "ciphertext: {context}");
        assert_eq!(hex::encode(tag), hex::encode(&answer.tag), "tag: {context}");
    }
}

/// Flips a bit in the tag of every third job.
fn opened_batch_holds<'a>(answers: &[&'a KnownAnswer], keys: &Keys<'a>) {
    let is_forged = |i: usize| i % 3 == 1 && answers[i].is_authenticated();
    let mut buffers: Vec<(Vec<u8>, Vec<u8>)> = answers
        .iter()
        .enumerate()
        .map(|(i, answer)| {
            let tag = if is_forged(i) { flip_one_bit(&answer.tag, i) } else { answer.tag.clone() };
            (answer.ct.clone(), tag)
        })
        .collect();
    let mut jobs: Vec<_> = answers
        .iter()
        .zip(&mut buffers)
        .map(|(answer, (data, tag))| answer.open_job(keys.get(answer), data, tag))
        .collect();
    let forged = (0..answers.len()).filter(|&i| is_forged(i)).count();
    assert_eq!(open_jobs(&mut jobs).map(Opened::forged), Ok(forged));
    for (i, (job, answer)) in jobs.iter().zip(answers).enumerate() {
        let expected = match answer.algorithm.kind() {
            Kind::Cipher => Verdict::Unauthenticated,
            _ if is_forged(i) => Verdict::Forged,
            _ => Verdict::Verified,
        };
        let context = format!("batch, {} {}", keys.get(answer).backend().name(), answer.origin);
        assert_eq!(job.verdict(), expected, "{context}");
        let bytes = if is_forged(i) { 0 } else { answer.msg.len() };
        assert_eq!(job.message_bytes(), bytes, "{context}");
    }
    drop(jobs);
    for (i, ((data, _), answer)) in buffers.iter().zip(answers).enumerate() {
        let expected = if is_forged(i) { vec![0; data.len()] } else { answer.opened_in_place() };
        let context = format!("batch, {} {}", keys.get(answer).backend().name(), answer.origin);
        assert_eq!(hex::encode(data), hex::encode(&expected), "{context}");
    }
}

/// Returns a copy with one flipped bit, chosen by `seed`.
fn flip_one_bit(tag: &[u8], seed: usize) -> Vec<u8> {
    let mut tag = tag.to_vec();
    let bit = seed % (8 * tag.len());
    tag[bit / 8] ^= 1 << (bit % 8);
    tag
}
