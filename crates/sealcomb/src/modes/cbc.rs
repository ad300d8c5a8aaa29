//! CBC: cipher block chaining (SP 800-38A, section 6.2), without padding.
//!
//! ```text
//! C_0 ← IV
//! C_j ← E_K(P_j ⊕ C_{j-1})
//! ```

use super::Mode;
use crate::backend::Backend;
use crate::engine::blocks::Independent;
use crate::engine::comb::Chain;
use crate::engine::flights::{self, Flights};
use crate::engine::slots::{Added, SlotChain, Text, from_nonces};
use crate::engine::{Batch, Lanes, Material};

pub(crate) struct Cbc;

impl Mode for Cbc {
    fn expand_key(&self, backend: Backend, _: &[u8], material: &mut Material) {
        material.aes.invert(backend);
    }

    fn seal(&self, batch: &mut Batch<'_, '_, '_>) {
        from_nonces::<Encrypt>(batch);
    }

    fn open(&self, batch: &mut Batch<'_, '_, '_>) {
        flights::run::<Decrypt>(batch);
    }

    fn flights(&self, opens: bool) -> Option<Flights> {
        Some(if opens { Flights::of_single_messages::<Decrypt>() } else { Flights::chained::<Encrypt>() })
    }
}

struct Encrypt;

impl Chain<1> for Encrypt {
    const WRITES: bool = true;

    /// Computes `C_j = E_K(P_j ⊕ C_{j-1})`, where `C_0` is the IV.
    #[inline(always)]
    fn step<L: Lanes>(lanes: L, [c]: &mut [L::Blocks; 1], [x]: &mut [L::Blocks; 1]) {
        lanes.xor(c, x);
        lanes.encrypt(c);
        *x = *c;
    }
}

impl SlotChain for Encrypt {
    const ADDED: Added = Added::Next;
    const TEXT: Text = Text::Chained;
}

struct Decrypt;

impl Independent for Decrypt {
    const DECRYPTS: bool = true;

    /// Computes `P_j = E_K⁻¹(C_j) ⊕ C_{j-1}`.
    #[inline(always)]
    fn step<L: Lanes>(lanes: L, before: &L::Blocks, x: &mut L::Blocks) {
        lanes.decrypt(x);
        lanes.xor(x, before);
    }
}
