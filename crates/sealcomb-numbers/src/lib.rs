//! The numbers of packets under a key, as ESP and MACsec have them alike: the sender gives each out once, because nonces
//! are made of them; the receiver remembers which have come; and a fingerprint tells whose they are.
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
