//! CFB128: cipher feedback with 128-bit segments (SP 800-38A, section 6.3). Departing from the standard, the last
//! segment may be shorter.
//!
//! ```text
//! C_0 ← IV
//! C_j ← P_j ⊕ E_K(C_{j-1})
//! ```

use super::Mode;
use crate::engine::blocks::Independent;
use crate::engine::comb::Chain;
use crate::engine::flights::{self, Flights};
use crate::engine::slots::{Added, SlotChain, Text, from_nonces};
use crate::engine::{Batch, Lanes};

pub(crate) struct Cfb;

impl Mode for Cfb {
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

    /// Computes `C_j = P_j ⊕ E_K(C_{j-1})`, where `C_0` is the IV.
    #[inline(always)]
    fn step<L: Lanes>(lanes: L, [c]: &mut [L::Blocks; 1], [x]: &mut [L::Blocks; 1]) {
        lanes.encrypt(c);
        lanes.xor(c, x);
        *x = *c;
    }
}

impl SlotChain for Encrypt {
    const ADDED: Added = Added::Current;
    const TEXT: Text = Text::Chained;
}

struct Decrypt;

impl Independent for Decrypt {
    const DECRYPTS: bool = false;

    /// Computes `P_j = C_j ⊕ E_K(C_{j-1})`.
    #[inline(always)]
    fn step<L: Lanes>(lanes: L, before: &L::Blocks, x: &mut L::Blocks) {
        let mut keystream = *before;
        lanes.encrypt(&mut keystream);
        lanes.xor(x, &keystream);
    }
}
