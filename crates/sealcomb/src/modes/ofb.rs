//! OFB: output feedback (SP 800-38A, section 6.4); the last block may be shorter.

use super::Mode;
use crate::engine::comb::{self, Chain};
use crate::engine::{Batch, Lanes, finish_stream, strands_of_whole_blocks};

pub(crate) struct Ofb;

impl Mode for Ofb {
    fn seal(&self, batch: &mut Batch<'_, '_>) {
        let mut strands = strands_of_whole_blocks(batch.messages);
        comb::run::<Output, 1>(batch.backend, batch.schedule, &mut strands);
        let feedback = strands.into_iter().map(|strand| strand.state).collect();
        finish_stream(batch, feedback);
    }

    fn open(&self, batch: &mut Batch<'_, '_>) {
        self.seal(batch);
    }
}

struct Output;

impl Chain<1> for Output {
    const WRITES: bool = true;

    /// `O_j = E_K(O_{j-1})`, where `O_0` is the IV; `C_j = P_j ⊕ O_j`
    #[inline(always)]
    fn step<L: Lanes>(lanes: L, [o]: &mut [L::Blocks; 1], x: &mut L::Blocks) {
        lanes.encrypt(o);
        lanes.xor(x, o);
    }
}
