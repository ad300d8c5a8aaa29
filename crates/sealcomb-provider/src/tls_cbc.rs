//! TLS records of CBC cipher suites (RFC 5246, section 6.2.3.2): padding, and, without encrypt-then-MAC (RFC 7366),
//! the MAC in front of it.
//!
//! A record whose padding is wrong must look like one whose MAC is wrong. So its MAC is extracted in constant time,
//! and is random after wrong padding; libssl then compares it.
//!
//! ```text
//! p ← last byte
//! good ← p + 1 + |MAC| ≤ |text|, and the last p + 1 bytes are p
//! end ← |text| - (good ? p + 1 : 0)
//! MAC ← good ? text[end - |MAC| .. end] : random
//! ```

use std::ffi::c_uint;

use ctutils::{Choice, CtEq, CtGt, CtSelect};
use zeroize::Zeroizing;

use crate::errors::Outcome;
use crate::openssl::Param;
use crate::partial::BLOCK;

/// Maximum size of a MAC in bytes (`EVP_MAX_MD_SIZE`).
const MAC_BYTES: usize = 64;
/// Maximum size of the padding in bytes, with the byte of its length.
const PADDING: usize = 256;

/// `TLS1_VERSION`; SSL 3.0, with its other padding, is not supported.
const TLS_1_0: c_uint = 0x0301;
/// `TLS1_1_VERSION`, `TLS1_2_VERSION`, `DTLS1_VERSION`, `DTLS1_2_VERSION` and `DTLS1_BAD_VER`, whose records begin
/// with an IV.
const WITH_IVS: [c_uint; 5] = [0x0302, 0x0303, 0xfeff, 0xfefd, 0x0100];

/// How a context processes records, and the MAC of the last one.
#[derive(Clone, Default)]
pub(crate) struct Records {
    /// The version of TLS; 0 if pieces are not records.
    version: c_uint,
    /// Size of the MAC in bytes; 0 if it is outside the encrypted text.
    mac_bytes: usize,
    mac: Option<Zeroizing<Vec<u8>>>,
}

impl Records {
    /// Returns whether each piece is a record.
    pub(crate) fn are_pieces(&self) -> bool {
        self.version != 0
    }

    pub(crate) fn set_version(&mut self, param: &Param) -> Outcome {
        self.version = param.get_uint()?;
        Ok(())
    }

    pub(crate) fn set_mac_bytes(&mut self, param: &Param) -> Outcome {
        self.mac_bytes = param.get_number()?;
        Ok(())
    }

    /// Sets a pointer to the MAC of the last record; NULL if there is none. For DTLS, libssl also asks for it with
    /// encrypt-then-MAC.
    pub(crate) fn get_mac(&self, param: &mut Param) -> Outcome {
        match &self.mac {
            Some(mac) => param.set_pointer(mac),
            None => param.set_null(),
        }
    }

    /// Returns whether the version of TLS is one whose records can be processed.
    fn is_known(&self) -> bool {
        self.version == TLS_1_0 || WITH_IVS.contains(&self.version)
    }

    /// Returns the size of an encrypted record in bytes, given that of its content.
    pub(crate) fn padded(&self, count: usize) -> Option<usize> {
        self.is_known().then_some((count / BLOCK).checked_add(1)?.checked_mul(BLOCK)?)
    }

    /// Writes the padding after the first `count` bytes of a record.
    pub(crate) fn pad(record: &mut [u8], count: usize) {
        let padding = &mut record[count..];
        let value = u8::try_from(padding.len() - 1).expect("at most a block of padding");
        padding.fill(value);
    }

    /// Returns the size of a decrypted record's content in bytes, without IV, MAC and padding, and keeps the MAC.
    /// Returns `None` if the record is too short, or if its padding is wrong and there is no MAC to hide that.
    pub(crate) fn remove_padding(&mut self, record: &[u8]) -> Option<usize> {
        self.mac = None;
        if !self.is_known() || self.mac_bytes > MAC_BYTES {
            return None;
        }
        let text = if self.version == TLS_1_0 { record } else { record.get(BLOCK..)? };
        let overhead = self.mac_bytes + 1;
        if overhead > text.len() {
            return None;
        }
        let padding = *text.last()?;
        let good = is_padded(text, padding, overhead);
        let removed = (usize::from(padding) + 1) & 0usize.wrapping_sub(usize::from(good.to_u8()));
        let end = text.len() - removed;
        if self.mac_bytes == 0 {
            return good.to_bool().then_some(end);
        }
        let mut mac = Zeroizing::new(vec![0; self.mac_bytes]);
        sealcomb_random::fill(&mut mac).ok()?;
        let found = mac_at(text, end - self.mac_bytes, self.mac_bytes);
        for (random, found) in mac.iter_mut().zip(found.iter()) {
            *random = random.ct_select(found, good);
        }
        self.mac = Some(mac);
        Some(end - self.mac_bytes)
    }
}

/// Returns whether the text ends with `padding + 1` bytes of the value `padding`, after at least `overhead - 1` other
/// bytes.
fn is_padded(text: &[u8], padding: u8, overhead: usize) -> Choice {
    let mut differences = 0;
    for (byte, distance) in text.iter().rev().zip(0..PADDING) {
        let outside = distance.ct_gt(&usize::from(padding)).to_u8_mask();
        differences |= !outside & (byte ^ padding);
    }
    let too_long = (overhead + usize::from(padding)).ct_gt(&text.len());
    differences.ct_eq(&0).and(too_long.not())
}

/// Returns `count` bytes of the text from a secret position, which is at most [`PADDING`] bytes before the last
/// possible one.
fn mac_at(text: &[u8], position: usize, count: usize) -> Zeroizing<Vec<u8>> {
    let mut mac = Zeroizing::new(vec![0; count]);
    let first = text.len().saturating_sub(count + PADDING);
    for (start, bytes) in (first..).zip(text[first..].windows(count)) {
        let here = start.ct_eq(&position).to_u8_mask();
        for (place, byte) in mac.iter_mut().zip(bytes) {
            *place |= byte & here;
        }
    }
    mac
}
