//! OFB: output feedback (SP 800-38A, section 6.4). The last block may be shorter.
//!
//! ```text
//! O_0 ← IV
//! O_j ← E_K(O_{j-1})
//! C_j ← P_j ⊕ O_j
//! ```

use super::Mode;
use crate::engine::comb::Chain;
use crate::engine::flights::Flights;
use crate::engine::slots::{Added, SlotChain, Text, from_nonces};
use crate::engine::{Batch, Lanes};

pub(crate) struct Ofb;

impl Mode for Ofb {
    fn seal(&self, batch: &mut Batch<'_, '_, '_>) {
        from_nonces::<Output>(batch);
    }

    fn open(&self, batch: &mut Batch<'_, '_, '_>) {
        self.seal(batch);
    }

    fn flights(&self, _: bool) -> Option<Flights> {
        Some(Flights::chained::<Output>())
    }
}

struct Output;

impl Chain<1> for Output {
    const WRITES: bool = true;

    /// Computes `O_j = E_K(O_{j-1})`, where `O_0` is the IV; `C_j = P_j ⊕ O_j`.
    #[inline(always)]
    fn step<L: Lanes>(lanes: L, [o]: &mut [L::Blocks; 1], [x]: &mut [L::Blocks; 1]) {
        lanes.encrypt(o);
        lanes.xor(x, o);
    }
}

impl SlotChain for Output {
    const ADDED: Added = Added::Nothing;
    const TEXT: Text = Text::Chained;
}
