//! The backends for Armv8.

mod features;
mod neon;
mod neon_sha3;

pub(super) use neon::Neon;
pub(super) use neon_sha3::NeonSha3;

use super::{BLOCK, Block, Isa, Kernel, Probe, RoundKeys, Weave, read_part, token, write_part};
