//! IPsec ESP in tunnel mode (RFC 4303), for bursts of packets from any number of security associations.
//!
//! Both directions work in place. Put each inner packet into its buffer at the offset that [`Layout`] gives, and
//! [`seal`](fn@seal) fills in the rest of the ESP packet. [`open`](fn@open) verifies packets and decrypts their bodies.
//! Sockets, files and outer headers are left to the caller.
//!
//! The command `sealcomb esp` applies this crate to capture files, `sealcomb-link` to live traffic.
//!
//! ```
//! use sealcomb_esp::{Incoming, Numbers, Outgoing, Sequence, Transform, Window, inner, open, seal};
//!
//! let transform = Transform::by_id("aes256-gcm").unwrap();
//! let suite = transform.suite(&[7; 36]).unwrap();
//! let packet = [0x45, 0, 0, 20, 0, 0, 0, 0, 64, 59, 0, 0, 192, 0, 2, 1, 192, 0, 2, 2];
//!
//! let layout = suite.layout();
//! let mut esp = vec![0; layout.esp_bytes(packet.len())];
//! esp[layout.inner_at()..][..packet.len()].copy_from_slice(&packet);
//! let number = Numbers::new(1, u32::MAX.into()).take().unwrap();
//! let sequence = Sequence::Short(number as u32);
//! seal(&mut [Outgoing { suite: &suite, spi: 0x1001, sequence, inner_bytes: packet.len(), esp: &mut esp }]).unwrap();
//!
//! let mut window = Window::new(64, 1);
//! assert!(window.admits(number));
//! let body = layout.body(esp.len()).unwrap();
//! let mut incoming = [Incoming::new(&suite, sequence, &mut esp)];
//! open(&mut incoming).unwrap();
//! assert!(incoming[0].is_verified() && window.accept(number));
//! assert_eq!(inner(&esp[body]), Ok(&packet[..]));
//! ```
#![forbid(unsafe_code)]

mod batch;
mod ecn;
mod ip;
mod outer;
mod packet;
mod suite;
mod transform;

pub use batch::{Incoming, Outgoing, SealError, open, seal};
pub use ecn::{EcnAlarm, decapsulate_ecn};
pub use ip::Header;
pub use outer::{Tunnel, write_outer_header};
pub use packet::{Layout, NoInner, Sequence, inner, sent_sequence, spi};
pub use sealcomb_numbers::{Fingerprint, Numbers, Window};
pub use suite::{Auth, Suite};
pub use transform::Transform;
