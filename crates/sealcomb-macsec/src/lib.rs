//! MACsec (IEEE 802.1AE-2018) for whoever has many frames at a time, with the cipher suites GCM-AES-128, GCM-AES-256 and
//! their extended packet numbers (GCM-AES-XPN-128, GCM-AES-XPN-256). The command `sealcomb macsec` uses it on captures.
//!
//! A frame is sealed where it lies: its [`Header`] says where in the sealed frame the user data belong, and
//! [`seal`](fn@seal) does the rest, for frames of any number of associations at once. [`open`](fn@open) verifies and
//! decrypts in place. Neither knows of ports, files or replay windows.
//!
//! ```
//! use sealcomb_macsec::{Header, Incoming, Outgoing, Sak, Sci, SciForm, SecTag, open, seal};
//!
//! let sci = Sci([2, 0, 0, 0, 0, 1, 0, 1]);
//! let sak = Sak::new(&[7; 16], sci).unwrap();
//! let frame = [[2; 12].as_slice(), &[0x08, 0x00], b"user data"].concat();
//!
//! let header = Header { sci, an: 0, form: SciForm::Explicit, encrypt: true };
//! let mut sealed = header.lay_out(&frame).unwrap();
//! seal(&mut [Outgoing { sak: &sak, header: &header, pn: 1, frame: &mut sealed }]).unwrap();
//!
//! let tag = SecTag::parse(&sealed).unwrap();
//! let pn = sak.pn(tag.pn, 1).unwrap();
//! let mut incoming = [Incoming::new(&sak, &tag, pn, &mut sealed)];
//! open(&mut incoming).unwrap();
//! assert!(incoming[0].is_verified());
//! assert_eq!(tag.without(&sealed), frame);
//! ```
//!
//! What is not here: confidentiality offsets of 30 and 50 bytes, and key agreement (MKA, IEEE 802.1X).
#![forbid(unsafe_code)]

mod batch;
mod sak;
mod sectag;
#[cfg(test)]
mod tests;

pub use batch::{Incoming, Outgoing, SealError, open, seal};
pub use sak::{Sak, SakError};
pub use sectag::{BadTag, Channel, ETHER_TYPE, Header, ICV_BYTES, Sci, SciForm, SecTag};
