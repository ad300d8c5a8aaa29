//! Packet numbers for ESP and MACsec.
//!
//! [`Numbers`] issues each number once, because nonces are built from them. [`Window`] is the receiver's anti-replay
//! window. [`Fingerprint`] identifies the key that a number belongs to.
//!
//! ```
//! use sealcomb_numbers::{Numbers, Window};
//!
//! let mut sender = Numbers::new(1, u32::MAX.into());
//! let mut receiver = Window::new(64, 1);
//! let number = sender.take().unwrap();
//! assert!(receiver.accept(number));
//! assert!(!receiver.accept(number), "a replay");
//! ```
#![forbid(unsafe_code)]

mod fingerprint;
mod numbers;
mod window;

pub use fingerprint::Fingerprint;
pub use numbers::Numbers;
pub use window::Window;
