//! CMAC (SP 800-38B): OMAC under the name of its standard. The job's additional data is the message. For the
//! algorithm, see `modes/omac.rs`.

use super::Mode;
use super::omac::{Omac, omac};
use crate::backend::{BLOCK, Backend, Span};
use crate::engine::blocks::encrypt_alone;
use crate::engine::{Batch, Column, Material};

pub(crate) struct Cmac;

impl Mode for Cmac {
    fn expand_key(&self, backend: Backend, _: &[u8], material: &mut Material) {
        let [zero] = encrypt_alone(backend, &material.aes, [[0; BLOCK]]);
        material.subkeys[..2].copy_from_slice(&Omac::subkeys(&zero));
    }

    fn seal(&self, batch: &mut Batch<'_, '_, '_>) {
        let mut tags = Column::new();
        tags.extend(batch.messages.iter().map(|_| [0; BLOCK]));
        omac(batch, Omac::of, &mut tags, |message| Span::from(&*message.aad));
        batch.set_tags(&tags);
    }

    fn open(&self, batch: &mut Batch<'_, '_, '_>) {
        self.seal(batch);
    }
}
