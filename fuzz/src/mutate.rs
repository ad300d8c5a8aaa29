//! Mutations of inputs.

use crate::Target;
use fastrand::Rng;

/// Byte values near common limits.
const BORDERS: [u8; 10] = [0x00, 0x01, 0x0f, 0x10, 0x11, 0x7f, 0x80, 0x81, 0xfe, 0xff];

/// Values near the limits of fields of two and four bytes.
const NUMBERS: [u32; 10] = [0, 1, 16, 0x7fff, 0x8000, 0xffff, 0x10000, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff];

/// Generates inputs by mutating others.
#[derive(Debug)]
pub(crate) struct Mutator {
    target: Target,
    dice: Rng,
}

impl Mutator {
    pub(crate) fn new(target: &Target, seed: u64) -> Self {
        Self { target: *target, dice: Rng::with_seed(seed) }
    }

    /// Overwrites `output` with one of the inputs, changed in one to four places.
    pub(crate) fn mutate(&mut self, inputs: &[Vec<u8>], output: &mut Vec<u8>) {
        output.clear();
        output.extend_from_slice(&inputs[self.dice.usize(..inputs.len())]);
        for _ in 0..self.dice.usize(1..=4) {
            self.change(inputs, output);
        }
        output.truncate(self.target.max_bytes);
    }

    fn change(&mut self, inputs: &[Vec<u8>], output: &mut Vec<u8>) {
        let (from, to) = self.range(output.len());
        match self.dice.u8(..10) {
            _ if output.is_empty() => output.push(self.byte()),
            0 => output[from] ^= 1 << self.dice.u8(..if self.target.text { 7 } else { 8 }),
            1 => output[from] = self.byte(),
            2 => output.insert(from, self.byte()),
            3 => drop(output.drain(from..to)),
            4 => output.truncate(from),
            5 => {
                let copy = output[from..to].to_vec();
                let at = self.dice.usize(..=output.len());
                output.splice(at..at, copy);
            }
            6 if !self.target.text => self.number(output, from),
            6 | 7 => {
                let token = self.token(inputs);
                output.splice(from..from, token);
            }
            8 => {
                let token = self.token(inputs);
                let to = (from + token.len()).min(output.len());
                output.splice(from..to, token);
            }
            _ => {
                let other = &inputs[self.dice.usize(..inputs.len())];
                let cut = self.dice.usize(..=other.len());
                output.truncate(from);
                output.extend_from_slice(&other[cut..]);
            }
        }
    }

    /// Draws the range of a mutation, in most cases at most 8 bytes.
    fn range(&mut self, len: usize) -> (usize, usize) {
        let from = self.dice.usize(..len.max(1));
        let max = if self.dice.u8(..4) == 0 { len } else { 8 };
        let bytes = self.dice.usize(1..=max.max(1));
        (from, (from + bytes).min(len))
    }

    fn byte(&mut self) -> u8 {
        match self.dice.u8(..4) {
            _ if self.target.text => self.dice.u8(b' '..=b'~'),
            0 | 1 => BORDERS[self.dice.usize(..BORDERS.len())],
            _ => self.dice.u8(..),
        }
    }

    /// Draws a token of the target's dictionary, or a piece of another input.
    fn token(&mut self, inputs: &[Vec<u8>]) -> Vec<u8> {
        let tokens = self.target.dictionary;
        if !tokens.is_empty() && self.dice.bool() {
            return tokens[self.dice.usize(..tokens.len())].to_vec();
        }
        let other = &inputs[self.dice.usize(..inputs.len())];
        let (from, to) = self.range(other.len());
        other.get(from..to).unwrap_or_default().to_vec()
    }

    /// Overwrites two or four bytes with a number, in either byte order.
    fn number(&mut self, output: &mut [u8], at: usize) {
        let number = NUMBERS[self.dice.usize(..NUMBERS.len())];
        let bytes = match self.dice.u8(..4) {
            0 => number.to_le_bytes().to_vec(),
            1 => number.to_be_bytes().to_vec(),
            2 => (number as u16).to_le_bytes().to_vec(),
            _ => (number as u16).to_be_bytes().to_vec(),
        };
        for (to, from) in output[at..].iter_mut().zip(bytes) {
            *to = from;
        }
    }
}
