//! CBC with the padding of PKCS #7: as many bytes as are missing from the last block, each with this number, and a
//! whole block of them after a whole block.
//!
//! When decrypting with padding, the last block of a piece is buffered, as it may contain the padding.

use ctutils::{CtEq, CtGt};
use sealcomb::Key;

use crate::cipher::Info;
use crate::data::{Buffers, Data};
use crate::errors::{Outcome, Refused};
use crate::partial::{BLOCK, Partial};
use crate::plain::{Progress, Taken, Way};

/// A message in progress.
#[derive(Clone)]
pub(crate) struct Cbc {
    /// The last block of the ciphertext, or the IV.
    chain: [u8; BLOCK],
    /// When decrypting, the last block of the ciphertext in work.
    next: [u8; BLOCK],
    partial: Partial,
}

impl Cbc {
    /// Returns how many of the buffered bytes and the next `count` bytes can be processed.
    fn whole(&self, way: Way, count: usize) -> Outcome<usize> {
        let all = self.partial.count.checked_add(count).ok_or(Refused::CIPHER_OPERATION_FAILED)?;
        let usable = if way.encrypts || !way.pads { all } else { all.saturating_sub(1) };
        Ok(usable / BLOCK * BLOCK)
    }
}

impl AsRef<[u8]> for Cbc {
    fn as_ref(&self) -> &[u8] {
        &self.chain
    }
}

impl Progress for Cbc {
    const INFO: Info =
        Info { mode: 0x2, block_bytes: BLOCK, iv_bytes: BLOCK, is_aead: false, has_own_iv: false };
    const ID: &'static str = "cbc";
    const IS_SYMMETRIC: bool = false;

    fn new(iv: [u8; BLOCK]) -> Self {
        Self { chain: iv, next: iv, partial: Partial::default() }
    }

    /// Begins again with the IV; if none was ever set, OpenSSL continues the chain.
    fn restart(&mut self, iv: Option<[u8; BLOCK]>) {
        *self = Self::new(iv.unwrap_or(self.chain));
    }

    fn next_iv(&mut self) -> &[u8; BLOCK] {
        &self.chain
    }

    fn check(&self, way: Way, buffers: &Buffers) -> Outcome<usize> {
        let whole = self.whole(way, buffers.count)?;
        Partial::check(buffers, whole)?;
        Ok(whole)
    }

    unsafe fn take<'a>(&mut self, _: &Key, way: Way, buffers: Buffers) -> Outcome<Taken<'a>> {
        let whole = self.whole(way, buffers.count)?;
        let data = if self.partial.count == 0 && whole == buffers.count {
            // SAFETY: guaranteed by the caller.
            unsafe { buffers.data() }?
        } else {
            // SAFETY: guaranteed by the caller.
            Data::InPlace(unsafe { self.partial.join(buffers, whole) }?)
        };
        Ok(Taken { written: whole, data })
    }

    fn look_ahead(&mut self, encrypts: bool, input: &[u8]) {
        if let (false, Some(last)) = (encrypts, input.last_chunk()) {
            self.next = *last;
        }
    }

    fn advance(&mut self, encrypts: bool, output: &[u8]) {
        if let Some(last) = output.last_chunk() {
            self.chain = if encrypts { *last } else { self.next };
        }
    }

    fn last(&self, way: Way) -> Outcome<Partial> {
        let mut last = self.partial.clone();
        if way.encrypts && way.pads {
            let missing = BLOCK - last.count;
            last.block[last.count..].fill(u8::try_from(missing).expect("at most a block"));
            last.count = BLOCK;
        }
        let nothing_is_left = last.count == 0 && !way.pads;
        if last.count == BLOCK || nothing_is_left { Ok(last) } else { Err(Refused::WRONG_FINAL_BLOCK_LENGTH) }
    }

    fn end(&mut self, way: Way, last: Partial) -> Outcome<Partial> {
        if !way.pads || way.encrypts {
            self.partial = Partial::default();
            return Ok(last);
        }
        // After wrong padding, OpenSSL keeps the decrypted block as the buffered bytes.
        self.partial = last;
        let count = unpadded(&self.partial.block).ok_or(Refused::BAD_DECRYPT)?;
        let block = std::mem::take(&mut self.partial).block;
        Ok(Partial { block, count })
    }
}

/// Returns the number of bytes before the padding of a block; `None` if the padding is wrong. Takes the same time for
/// all blocks with wrong padding.
fn unpadded(block: &[u8; BLOCK]) -> Option<usize> {
    let padding = usize::from(block[BLOCK - 1]);
    let mut wrong = padding.ct_eq(&0).or(padding.ct_gt(&BLOCK));
    for (byte, distance) in block.iter().rev().zip(0..BLOCK) {
        let inside = padding.ct_gt(&distance);
        wrong = wrong.or(inside.and(usize::from(*byte).ct_ne(&padding)));
    }
    (!wrong.to_bool()).then(|| BLOCK - padding)
}
