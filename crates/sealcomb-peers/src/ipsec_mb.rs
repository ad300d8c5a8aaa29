//! Intel's Multi-Buffer Crypto for IPsec, in bursts.

use crate::{Library, Message, Peer};
use sealcomb_ipsec_mb as imb;

pub(crate) fn peer(algorithm: &str, key: &[u8]) -> Option<Peer> {
    let (size, mode) = algorithm.strip_prefix("aes")?.split_once('-')?;
    if size.parse() != Ok(8 * key.len()) {
        return None;
    }
    let mode = match mode {
        "ecb" => imb::Mode::Ecb,
        "cbc" => imb::Mode::Cbc,
        "ctr" => imb::Mode::Ctr,
        "cmac" => imb::Mode::Cmac,
        "ccm" => imb::Mode::Ccm,
        "gcm" => imb::Mode::Gcm,
        _ => return None,
    };
    let calls = Burst { peer: imb::Peer::new(mode, key)?, mode, tags: tags_of(mode) };
    Some(Peer { library: format!("ipsec-mb-{}", imb::version()), calls: Box::new(calls) })
}

/// Returns whether a mode has tags.
fn tags_of(mode: imb::Mode) -> bool {
    matches!(mode, imb::Mode::Cmac | imb::Mode::Ccm | imb::Mode::Gcm)
}

/// Number of messages per call of the library.
const BURST: usize = 128;

struct Burst {
    peer: imb::Peer,
    mode: imb::Mode,
    tags: bool,
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
        bytes > 0 && (self.mode != imb::Mode::Ctr || counts())
    }

    fn run(&self, messages: &mut [Message<'_>], opens: bool) -> bool {
        let mut genuine = true;
        for messages in messages.chunks_mut(BURST) {
            let mut tags = [[0; 16]; BURST];
            let mut burst = arrayvec::ArrayVec::<_, BURST>::new();
            for (Message { nonce, data, .. }, tag) in messages.iter_mut().zip(&mut tags) {
                burst.push(imb::Message::new(nonce, data, tag));
            }
            if opens {
                self.peer.open(&mut burst);
            } else {
                self.peer.seal(&mut burst);
            }
            drop(burst);
            if !self.tags {
                continue;
            }
            for (message, tag) in messages.iter_mut().zip(&tags) {
                if opens {
                    genuine &= message.tag == tag;
                } else {
                    message.tag.copy_from_slice(tag);
                }
            }
        }
        genuine
    }
}
