//! CMAC (SP 800-38B): OMAC under the name of its standard. The job's additional data is the message. For the
//! algorithm, see `modes/omac.rs`.

use super::Mode;
use super::omac::{CbcMac, Omac, omac};
use crate::backend::{BLOCK, Backend, Columns, Span, read_part};
use crate::engine::blocks::{encrypt_alone, encrypt_together};
use crate::engine::flights::{Flights, Results};
use crate::engine::slots::{self, Common, Ends};
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

    fn flights(&self, _: bool) -> Option<Flights> {
        Some(Flights { takes: slots::takes, run: run_columns, prepare: |_, _| {} })
    }
}

/// Computes the tags of a flight, like [`Flights::run`].
fn run_columns(
    backend: Backend,
    key: &Material,
    columns: &mut Columns<'_>,
    results: &mut Results<'_>,
) -> bool {
    let omac = Omac::of(key);
    let mut tags = Column::new();
    let chained = columns.messages().any(|(_, message, _)| message.len() > BLOCK);
    if chained {
        tags.extend((0..columns.len()).map(|_| [0; BLOCK]));
        let subkeys = [omac.subkeys];
        let common = Common::of(omac.aes).with_ends(Ends::Omac(&subkeys));
        slots::run_texts::<CbcMac>(backend, common, &mut tags, |texts| {
            texts.extend(columns.messages().map(|(_, message, _)| Span::from(message)));
        });
    } else {
        tags.extend(columns.messages().map(|(_, message, _)| omac.last(&read_part(message), message.len())));
    }
    if !chained {
        encrypt_together(backend, omac.aes, &mut tags);
    }
    results.put_flight(backend, &tags);
    true
}
