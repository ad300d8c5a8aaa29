//! Sealing and opening with sealcomb. [`crate::earlier`] compiles this file a second time, for an earlier commit.

use arrayvec::ArrayVec;

use super::library::{
    Backend, Burst, Key, KeyOptions, Kind, OpenJob, SealJob, Verdict, open_jobs, seal_jobs, study,
};
use crate::buffers::Messages;
use crate::cell::Library;

/// Number of messages that a caller lists at a time, as most do: on the stack, without allocating.
const LISTED: usize = 256;

type Listed<'b> = ArrayVec<&'b mut [u8], LISTED>;

/// The keys of a batch: one for all messages, or one for each.
pub(crate) struct Ours(Vec<Key>);

impl Ours {
    pub(crate) fn new(backend: &str, algorithm: &str, keys: &[Vec<u8>]) -> Self {
        let options = KeyOptions::new().backend(Backend::named(backend).expect("a backend of this CPU"));
        let algorithm = study::by_id(algorithm).expect("an algorithm of this commit");
        Self(options.expand_many(algorithm, keys).expect("keys of the algorithm's length"))
    }
}

impl Library for Ours {
    /// Seals one message with its key, or several as a burst, or as jobs if each has its own key.
    fn seal(&self, messages: Messages<'_>) {
        let [key] = &self.0[..] else { return seal_each(&self.0, messages) };
        if messages.nonces.len() == 1 {
            messages.each().for_each(|(nonce, data, tag)| seal_single(key, nonce, data, tag));
            return;
        }
        let Messages { nonces, mut data, tags } = messages;
        for (nonces, tags) in nonces.chunks(LISTED).zip(tags.chunks_mut(LISTED)) {
            let mut list = Listed::new();
            list.extend(data.by_ref().take(LISTED));
            let burst = Burst::new(key, nonces);
            let sealed = if key.algorithm().kind() == Kind::Mac {
                burst.aads(&list).mac(tags)
            } else {
                burst.seal(&mut list, tags)
            };
            sealed.expect("sizes that the algorithm accepts");
        }
    }

    fn open(&self, messages: Messages<'_>) {
        let [key] = &self.0[..] else { return open_each(&self.0, messages) };
        if messages.nonces.len() == 1 {
            messages.each().for_each(|(nonce, data, tag)| open_single(key, nonce, data, tag));
            return;
        }
        let Messages { nonces, mut data, tags } = messages;
        for (nonces, tags) in nonces.chunks(LISTED).zip(tags.chunks_mut(LISTED)) {
            let mut list = Listed::new();
            list.extend(data.by_ref().take(LISTED));
            let verdicts = &mut [Verdict::Pending; LISTED][..nonces.len()];
            let burst = Burst::new(key, nonces);
            let opened = if key.algorithm().kind() == Kind::Mac {
                burst.aads(&list).verify(tags, verdicts)
            } else {
                burst.open(&mut list, tags, verdicts)
            };
            assert_eq!(opened.expect("sizes that the algorithm accepts").forged(), 0);
        }
    }
}

/// Seals each message under its own key.
fn seal_each(keys: &[Key], messages: Messages<'_>) {
    let mut each = keys.iter().zip(messages.each()).peekable();
    while each.peek().is_some() {
        let mut jobs = ArrayVec::<_, LISTED>::new();
        jobs.extend(each.by_ref().take(LISTED).map(
            |(key, (nonce, data, tag))| match key.algorithm().kind() {
                Kind::Mac => SealJob::mac(key, nonce, &*data, tag),
                _ => SealJob::in_place(key, nonce, &[], data, tag),
            },
        ));
        seal_jobs(&mut jobs).expect("sizes that the algorithm accepts");
    }
}

/// Opens each message under its own key.
fn open_each(keys: &[Key], messages: Messages<'_>) {
    let mut each = keys.iter().zip(messages.each()).peekable();
    while each.peek().is_some() {
        let mut jobs = ArrayVec::<_, LISTED>::new();
        jobs.extend(each.by_ref().take(LISTED).map(
            |(key, (nonce, data, tag))| match key.algorithm().kind() {
                Kind::Mac => OpenJob::mac(key, nonce, &*data, tag),
                _ => OpenJob::in_place(key, nonce, &[], data, tag),
            },
        ));
        let opened = open_jobs(&mut jobs).expect("sizes that the algorithm accepts");
        assert_eq!(opened.forged(), 0);
    }
}

/// Seals one message with the key. A MAC authenticates it as additional data.
pub(crate) fn seal_single(key: &Key, nonce: &[u8], message: &mut [u8], tag: &mut [u8]) {
    let (aad, data) =
        if key.algorithm().kind() == Kind::Mac { (message, &mut [][..]) } else { (&mut [][..], message) };
    key.seal_in_place_detached(nonce, &*aad, data, tag).expect("sizes that the algorithm accepts");
}

fn open_single(key: &Key, nonce: &[u8], message: &mut [u8], tag: &[u8]) {
    let opened = match key.algorithm().kind() {
        Kind::Mac => key.open_in_place_detached(nonce, &*message, &mut [], tag),
        // A bare cipher has no tag to verify.
        Kind::Cipher => {
            key.open_unverified_in_place_detached(nonce, &[], message, &mut []).map_err(Into::into)
        }
        _ => key.open_in_place_detached(nonce, &[], message, tag),
    };
    opened.expect("a valid message");
}
