//! MACsec (IEEE 802.1AE-2018) for batches of frames from any number of secure associations.
//!
//! The cipher suites are GCM-AES-128, GCM-AES-256, GCM-AES-XPN-128 and GCM-AES-XPN-256, with confidentiality offsets of
//! 0, 30 and 50 bytes. Key agreement (MKA, IEEE 802.1X) is not implemented.
//!
//! Both directions work in place. [`Header::lay_out`] copies a frame into the buffer of the sealed frame, and
//! [`seal`](fn@seal) fills in SecTAG and ICV and encrypts. [`open`](fn@open) verifies and decrypts. Ports, files and
//! replay windows are up to the caller. The command `sealcomb macsec` applies this crate to capture files.
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
#![forbid(unsafe_code)]

mod batch;
mod sak;
mod sectag;
#[cfg(test)]
mod tests;

pub use batch::{Incoming, Outgoing, SealError, open, seal};
pub use sak::{ConfidentialityOffset, Sak, SakError};
pub use sectag::{BadTag, Channel, ETHER_TYPE, Header, ICV_BYTES, Sci, SciForm, SecTag};
