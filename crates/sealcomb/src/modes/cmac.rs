//! CMAC (SP 800-38B): OMAC under the name of its standard. The job's additional data is the message. For the
//! algorithm, see `modes/omac.rs`.

use super::Mode;
use super::omac::{Omac, omac};
use super::omac_lanes::LaneOmac;
use crate::backend::{BLOCK, Backend, Isa, LINE, Span};
use crate::engine::blocks::encrypt_alone;
use crate::engine::lane_groups::{self, COLUMNS, Group, LaneGrouped, columns, store_tags};
use crate::engine::{Batch, Column, Material, Message};

pub(crate) struct Cmac;

impl Mode for Cmac {
    fn expand_key(&self, backend: Backend, _: &[u8], material: &mut Material) {
        let [zero] = encrypt_alone(backend, &material.aes, [[0; BLOCK]]);
        material.subkeys[..2].copy_from_slice(&Omac::subkeys(&zero));
    }

    fn seal(&self, batch: &mut Batch<'_, '_, '_>) {
        lane_groups::run::<Self>(batch);
    }

    fn open(&self, batch: &mut Batch<'_, '_, '_>) {
        self.seal(batch);
    }
}

impl LaneGrouped for Cmac {
    const MOST_LINES: usize = 4;
    const MOST_AAD: usize = usize::MAX;

    #[inline(always)]
    fn bytes(message: &Message<'_>) -> usize {
        message.aad.len()
    }

    /// Single blocks are faster without columns.
    #[inline(always)]
    fn fit(messages: &[&mut Message<'_>]) -> bool {
        messages.iter().any(|message| message.aad.len() > BLOCK)
    }

    #[inline(always)]
    fn crypt_group<B: Isa>(b: B, group: &mut Group<'_, '_, '_>) {
        let omac = Omac::of(group.messages[0].key);
        let mut chains = LaneOmac::new(b, omac.aes, group.messages, Self::bytes, |n| omac.ends_of(n));
        for line in 0..group.lines {
            let x = columns(b, group.messages, line * LINE, |message| Span::from(&*message.aad));
            chains.absorb(b, line * COLUMNS, &x);
        }
        store_tags(b, group.messages, chains.macs());
    }

    fn crypt_chains(batch: &mut Batch<'_, '_, '_>) {
        let mut tags = Column::new();
        tags.extend(batch.messages.iter().map(|_| [0; BLOCK]));
        omac(batch, Omac::of, &mut tags, |message| Span::from(&*message.aad));
        batch.set_tags(&tags);
    }
}
