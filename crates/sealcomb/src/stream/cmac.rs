//! CMAC (SP 800-38B) of messages in pieces.

use zeroize::Zeroize;

use crate::Key;
use crate::backend::{BLOCK, Block};
use crate::engine::Schedule;
use crate::engine::comb::{Chain, ChainJob, encrypting};
use crate::modes::omac::{CbcMac, Omac};
use crate::primitives::block::head;

/// The chain's state, and a buffer for the bytes that may be the last block.
#[derive(Clone, Default, Zeroize)]
pub(crate) struct Cmac {
    state: Block,
    last: Block,
    filled: usize,
}

impl Cmac {
    pub(crate) fn update(&mut self, key: &Key, mut data: &[u8]) {
        if self.filled > 0 {
            let (head, rest) = data.split_at(data.len().min(BLOCK - self.filled));
            self.keep(head);
            if rest.is_empty() {
                return;
            }
            let last = self.last;
            self.chain(key, &last);
            self.filled = 0;
            data = rest;
        }
        let (chained, rest) = data.split_at(data.len().saturating_sub(1) / BLOCK * BLOCK);
        self.chain(key, chained);
        self.keep(rest);
    }

    /// Chains whole blocks.
    fn chain(&mut self, key: &Key, blocks: &[u8]) {
        let mut jobs =
            [ChainJob { chain_key: encrypting(key.material()), state: [self.state], data: blocks.into() }];
        CbcMac::run(key.backend(), Schedule::Single, &mut jobs);
        [self.state] = jobs[0].state;
    }

    fn keep(&mut self, bytes: &[u8]) {
        self.last[self.filled..][..bytes.len()].copy_from_slice(bytes);
        self.filled += bytes.len();
    }

    /// Returns the tag: chains the last block, padded if it is partial, with a subkey added.
    pub(crate) fn tag(&mut self, key: &Key) -> Block {
        let last = Omac::of(key.material()).last(&head(&self.last, self.filled), self.filled);
        self.chain(key, &last);
        self.state
    }
}

#[cfg(all(test, feature = "rustcrypto-digest-011"))]
impl Cmac {
    /// Returns the chain's state and the buffered bytes.
    pub(crate) fn secrets(&self) -> (&Block, &[u8]) {
        (&self.state, &self.last[..self.filled])
    }
}
