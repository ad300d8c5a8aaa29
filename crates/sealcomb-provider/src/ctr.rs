//! CTR, whose keystream continues within a block from piece to piece.

use sealcomb::Key;
use zeroize::Zeroizing;

use crate::cipher::Info;
use crate::data::{Buffers, Data};
use crate::errors::Outcome;
use crate::partial::{BLOCK, Partial};
use crate::plain::{self, Progress, Taken, Way};

/// A message in progress.
#[derive(Clone)]
pub(crate) struct Ctr {
    /// The counter block of the next byte.
    counter: [u8; BLOCK],
    /// Number of bytes that have used this counter block.
    used: usize,
    /// The keystream of this counter block, from the first piece on that begins within it.
    keystream: Option<Zeroizing<[u8; BLOCK]>>,
    /// The next counter block, when it was last asked for within a block.
    next: [u8; BLOCK],
}

impl Ctr {
    fn count(&mut self, blocks: usize) {
        self.counter = u128::from_be_bytes(self.counter).wrapping_add(blocks as u128).to_be_bytes();
        self.used = 0;
        self.keystream = None;
    }

    /// Encrypts the bytes that continue a block, and returns the others.
    fn continue_block<'a>(&mut self, key: &Key, data: Data<'a>) -> Outcome<Data<'a>> {
        let count = data.input().len().min((BLOCK - self.used) % BLOCK);
        if count == 0 {
            return Ok(data);
        }
        let keystream = match &mut self.keystream {
            Some(block) => block,
            none => {
                let mut block = Zeroizing::new([0; BLOCK]);
                plain::crypt(key, true, &self.counter, Data::InPlace(&mut *block))?;
                none.insert(block)
            }
        };
        let (first, rest) = data.split_at(count);
        let output = first.move_in_place();
        for (byte, key) in output.iter_mut().zip(&keystream[self.used..]) {
            *byte ^= key;
        }
        self.used += count;
        if self.used == BLOCK {
            self.count(1);
        }
        Ok(rest)
    }
}

impl AsRef<[u8]> for Ctr {
    fn as_ref(&self) -> &[u8] {
        &self.counter
    }
}

impl Progress for Ctr {
    const INFO: Info = Info { mode: 0x5, block_bytes: 1, iv_bytes: BLOCK, is_aead: false, has_own_iv: false };
    const ID: &'static str = "ctr";
    const IS_SYMMETRIC: bool = true;

    fn new(iv: [u8; BLOCK]) -> Self {
        Self { counter: iv, used: 0, keystream: None, next: iv }
    }

    /// Continues with the next counter block.
    fn restart(&mut self, _: Option<[u8; BLOCK]>) {
        self.skip_block();
    }

    fn next_iv(&mut self) -> &[u8; BLOCK] {
        if self.used == 0 {
            return &self.counter;
        }
        self.next = u128::from_be_bytes(self.counter).wrapping_add(1).to_be_bytes();
        &self.next
    }

    fn used_in_block(&self) -> usize {
        self.used
    }

    fn skip_block(&mut self) {
        if self.used > 0 {
            self.count(1);
        }
    }

    fn check(&self, _: Way, buffers: &Buffers) -> Outcome<usize> {
        buffers.check()?;
        Ok(buffers.count)
    }

    unsafe fn take<'a>(&mut self, key: &Key, _: Way, buffers: Buffers) -> Outcome<Taken<'a>> {
        // SAFETY: guaranteed by the caller.
        let data = unsafe { buffers.data() }?;
        Ok(Taken { written: buffers.count, data: self.continue_block(key, data)? })
    }

    fn look_ahead(&mut self, _: bool, _: &[u8]) {}

    fn advance(&mut self, _: bool, output: &[u8]) {
        if !output.is_empty() {
            self.count(output.len() / BLOCK);
            self.used = output.len() % BLOCK;
        }
    }

    fn last(&self, _: Way) -> Outcome<Partial> {
        Ok(Partial::default())
    }

    fn end(&mut self, _: Way, last: Partial) -> Outcome<Partial> {
        Ok(last)
    }
}
