//! Tests of the hardware in `rtl/`, as Verilator models, against the library.
//!
//! `build.rs` builds a model for each top in `tops.list` and `variants.list`. The tests of a top are a small file in
//! `tests/`. It defines a [`Mode`], with the top's algorithm and the format of its nonces and keys, and calls
//! [`check::random`], [`check::vectors`], and [`Bench`] for exact clocks. See the README for an example.
//!
//! | item | purpose |
//! |---|---|
//! | [`Model`] | a model's ports and clock |
//! | [`Bench`] | plays packets through a top, with pauses on every stream, and returns the clocks of all transfers |
//! | [`Mode`], [`Packet`] | a message as commands and beats, and the expected output |
//! | [`check`] | tests of a top with random packets and known answers |
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
pub use model::{Model, Port, is_built};
pub use packet::{Expected, Fault, Packet};
