//! Changes of inputs.

use crate::Target;
use fastrand::Rng;

/// Bytes at which something often ends or begins.
const BORDERS: [u8; 10] = [0x00, 0x01, 0x0f, 0x10, 0x11, 0x7f, 0x80, 0x81, 0xfe, 0xff];

/// What fields of two and four bytes hold at their ends.
const NUMBERS: [u32; 10] = [0, 1, 16, 0x7fff, 0x8000, 0xffff, 0x10000, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff];

/// Makes new inputs of old ones.
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
        output.truncate(self.target.longest);
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
                let word = self.word(inputs);
                output.splice(from..from, word);
            }
            8 => {
                let word = self.word(inputs);
                let to = (from + word.len()).min(output.len());
                output.splice(from..to, word);
            }
            _ => {
                let other = &inputs[self.dice.usize(..inputs.len())];
                let cut = self.dice.usize(..=other.len());
                output.truncate(from);
                output.extend_from_slice(&other[cut..]);
            }
        }
    }

    /// Where a change begins and ends, seldom far from each other.
    fn range(&mut self, len: usize) -> (usize, usize) {
        let from = self.dice.usize(..len.max(1));
        let most = if self.dice.u8(..4) == 0 { len } else { 8 };
        let bytes = self.dice.usize(1..=most.max(1));
        (from, (from + bytes).min(len))
    }

    fn byte(&mut self) -> u8 {
        match self.dice.u8(..4) {
            _ if self.target.text => self.dice.u8(b' '..=b'~'),
            0 | 1 => BORDERS[self.dice.usize(..BORDERS.len())],
            _ => self.dice.u8(..),
        }
    }

    /// One of the target's words, or a piece of another input.
    fn word(&mut self, inputs: &[Vec<u8>]) -> Vec<u8> {
        let words = self.target.words;
        if !words.is_empty() && self.dice.bool() {
            return words[self.dice.usize(..words.len())].to_vec();
        }
        let other = &inputs[self.dice.usize(..inputs.len())];
        let (from, to) = self.range(other.len());
        other.get(from..to).unwrap_or_default().to_vec()
    }

    /// A number of two or four bytes, in either order.
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
