//! Tests of the hardware under `rtl/` against the library, with Verilator models.
//!
//! `build.rs` builds a model of each top in `tops.list` and `variants.list`. The tests of a top are a small file
//! under `tests/`. It defines a [`Mode`], which maps the top to an algorithm of the library and its nonce and key to
//! the ports, and calls [`check::random`], [`check::vectors`] and, for exact clocks, [`Bench`]. The README has an
//! example.
//!
//! | item | purpose |
//! |---|---|
//! | [`Model`] | ports and clock of a model |
//! | [`Bench`] | sends packets through a top with pauses on every stream, and returns the clocks of all transfers |
//! | [`Mode`], [`Packet`] | a message as a command and beats, and its expected output |
//! | [`check`] | compares a top with the library on random packets, and with files of known answers |
#![deny(missing_docs)]
#![deny(unsafe_code)]

mod bench;
pub mod check;
mod mode;
mod model;
mod packet;
mod vectors;

pub use bench::{Action, Bench, Flow, Outcome};
pub use mode::{Forgery, Mode};
pub use model::{Model, Port};
pub use packet::{Expected, Fault, Packet};
