//! The hardware under `rtl/`, as Verilator models, against the library.
//!
//! `tops.list` and `variants.list` say which tops are built; `build.rs` makes a model of each. A test of a top is a small file under
//! `tests/`: it says in a [`Mode`] which algorithm of the library the top is and how its nonce and key look on the
//! wire, and calls [`check::random`], [`check::vectors`], and [`Bench`] for exact clocks. The README has an example.
//!
//! | part | what it does |
//! |---|---|
//! | [`Model`] | a model's ports and clock |
//! | [`Bench`] | plays packets through a top with pauses on every stream, and gives the clocks of what happened |
//! | [`Mode`], [`Packet`] | a message of the library as commands and beats, and what must come out |
//! | [`check`] | random packets and files of known answers against a top |
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
