//! Chains over short messages under one key, one message per lane.
//!
//! ```text
//! C ← nonces
//! for each line of the longest message:
//!     load the line of each message, and transpose the lines: one register per block
//!     for each of the four blocks X: one step of the chain
//!     transpose the lines back, and store them
//! ```
//!
//! The registers of a group hide only a part of the cipher's latency, but nothing is decided between the steps.

use core::marker::PhantomData;

use super::{SlotChain, chains};
use crate::backend::{Isa, LINE};
use crate::engine::lane_groups::{COLUMNS, Group, LaneGrouped, R, columns, lanes, store_columns};
use crate::engine::lanes::Registers;
use crate::engine::message::{Batch, Column};

/// A chain whose first state is the nonce, 16 bytes.
pub(super) struct FromNonces<M>(PhantomData<M>);

impl<M: SlotChain> LaneGrouped for FromNonces<M> {
    // With longer messages, slots are faster: they have more registers in flight.
    const MOST_LINES: usize = 2;
    const MOST_AAD: usize = 0;

    #[inline(always)]
    fn crypt_group<B: Isa>(b: B, group: &mut Group<'_, '_, '_>) {
        let keys = group.messages[0].key.aes.encrypting();
        let mut c: [B::V; R] = lanes(b, group.messages, |message| b.load_bytes(message.nonce));
        for line in 0..group.lines {
            let mut x: [_; R] = columns(b, group.messages, line * LINE, |message| message.data.input());
            each_register!(COLUMNS, 0 1 2 3, i => {
                let mut step = [x[0][i], x[1][i], x[2][i], x[3][i]];
                let registers = Registers::<B, _, R>::new(b, [keys], &[]);
                M::step(registers, core::array::from_mut(&mut c), core::array::from_mut(&mut step));
                each_register!(R, 0 1 2 3, q => {
                    x[q][i] = step[q];
                });
            });
            store_columns(b, group.messages, line * LINE, x);
        }
    }

    fn crypt_chains(batch: &mut Batch<'_, '_, '_>) {
        let mut states = Column::new();
        for message in batch.messages.iter() {
            states.push(*message.nonce.first_chunk().expect("an IV of 16 bytes"));
        }
        chains::<M>(batch, |key| &key.aes, &mut states, |message| message.data.reborrow());
    }
}
