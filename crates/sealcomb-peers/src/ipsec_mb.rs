//! Intel's Multi-Buffer Crypto for IPsec, in bursts.

use crate::{Library, Message, Peer};
use arrayvec::ArrayVec;
use sealcomb_ipsec_mb as imb;

pub(crate) fn peer(algorithm: &str, key: &[u8]) -> Option<Peer> {
    let (size, mode) = algorithm.strip_prefix("aes")?.split_once('-')?;
    if size.parse() != Ok(8 * key.len()) {
        return None;
    }
    let mode = match mode {
        "ecb" => imb::Mode::Ecb,
        "cbc" => imb::Mode::Cbc,
        "cfb128" => imb::Mode::Cfb,
        "ctr" => imb::Mode::Ctr,
        "cmac" => imb::Mode::Cmac,
        "ccm" => imb::Mode::Ccm,
        "gcm" => imb::Mode::Gcm,
        _ => return None,
    };
    let calls = Burst { peer: imb::Peer::new(mode, key)?, mode };
    Some(Peer { library: format!("ipsec-mb-{}", imb::version()), calls: Box::new(calls) })
}

/// Number of messages per call of the library.
const BURST: usize = 128;

struct Burst {
    peer: imb::Peer,
    mode: imb::Mode,
}

impl Burst {
    fn seal_burst(&self, messages: &mut [Message<'_>]) {
        let tagged = self.mode.has_tags();
        let mut burst: ArrayVec<_, BURST> = messages
            .iter_mut()
            .map(|Message { nonce, data, tag }| match (&mut **tag).try_into() {
                Ok(tag) if tagged => imb::Message::new(nonce, data, tag),
                _ => imb::Message::without_tag(nonce, data),
            })
            .collect();
        self.peer.seal(&mut burst);
    }

    /// Opens the messages and returns whether their tags are valid.
    fn open_burst(&self, messages: &mut [Message<'_>]) -> bool {
        let mut tags: ArrayVec<_, BURST> = messages.iter().map(|_| [0; 16]).collect();
        let mut burst: ArrayVec<_, BURST> = messages
            .iter_mut()
            .zip(&mut tags)
            .map(|(Message { nonce, data, .. }, tag)| imb::Message::new(nonce, data, tag))
            .collect();
        self.peer.open(&mut burst);
        drop(burst);
        let mut pairs = messages.iter().zip(&tags);
        !self.mode.has_tags() || pairs.all(|(message, tag)| message.tag == tag)
    }
}

impl Library for Burst {
    fn rekey(&mut self, key: &[u8]) {
        self.peer.rekey(key);
    }

    fn seal(&self, message: Message<'_>) {
        self.run(&mut [message], false);
    }

    fn open(&self, message: Message<'_>) -> bool {
        self.run(&mut [message], true)
    }

    fn takes_many(&self) -> bool {
        true
    }

    fn takes(&self, nonce: &[u8], bytes: usize) -> bool {
        let counts = || {
            let first = nonce.last_chunk().map_or(0, |counter| u32::from_be_bytes(*counter));
            u64::from(first) + bytes.div_ceil(16) as u64 <= 1 << 32
        };
        bytes > 0
            && match self.mode {
                imb::Mode::Ctr => counts(),
                imb::Mode::Cfb => bytes.is_multiple_of(16),
                _ => true,
            }
    }

    fn run(&self, messages: &mut [Message<'_>], opens: bool) -> bool {
        let mut genuine = true;
        for messages in messages.chunks_mut(BURST) {
            if opens {
                genuine &= self.open_burst(messages);
            } else {
                self.seal_burst(messages);
            }
        }
        genuine
    }
}
