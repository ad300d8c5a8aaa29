//! Pipelines of CBC and CTR. A message can be passed in any number of pieces. In each call, the whole blocks of all
//! messages are one batch; in CTR, so are all bytes that do not continue a block of an earlier piece.

use std::sync::Arc;

use arrayvec::ArrayVec;
use sealcomb::{Burst, Key, Verdict};

use crate::cipher;
use crate::columns::{Columns, MESSAGES};
use crate::errors::{Outcome, Refused};
use crate::partial::Partial;
use crate::pipeline::{Ivs, Messages, Pipes};
use crate::plain::{Plain, Progress, Taken, Way};

/// The messages of a pipeline.
#[derive(Clone)]
pub(crate) struct Unsealed<P> {
    encrypts: bool,
    key: Option<Arc<Key>>,
    /// No messages after the end and after errors.
    messages: Vec<P>,
}

impl<P: Progress> Unsealed<P> {
    fn way(&self, single: &Plain<P>) -> Way {
        Way { encrypts: self.encrypts, ..single.way() }
    }

    /// Encrypts or decrypts the next bytes of all messages.
    fn process(&mut self, texts: &mut [impl AsRef<[u8]> + AsMut<[u8]>]) -> Outcome {
        let (key, encrypts) = (self.key.as_ref().ok_or(Refused::NO_KEY_SET)?, self.encrypts);
        if texts.iter().all(|text| text.as_ref().is_empty()) {
            return Ok(());
        }
        for (message, text) in self.messages.iter_mut().zip(&*texts) {
            message.look_ahead(encrypts, text.as_ref());
        }
        let burst = Burst::new(key, &self.messages);
        let mut tags = [[0; 0]; MESSAGES];
        let tags = &mut tags[..texts.len()];
        let done = if encrypts || P::IS_SYMMETRIC {
            burst.seal(texts, tags)
        } else {
            burst.open(texts, tags, &mut [Verdict::Pending; MESSAGES][..tags.len()]).map(drop)
        };
        done.map_err(|_| Refused::CIPHER_OPERATION_FAILED)?;
        for (message, text) in self.messages.iter_mut().zip(texts) {
            message.advance(encrypts, text.as_ref());
        }
        Ok(())
    }
}

impl<P: Progress> Pipes for Plain<P> {
    type Messages = Unsealed<P>;
}

impl<P: Progress> Messages<Plain<P>> for Unsealed<P> {
    fn new() -> Self {
        Self { encrypts: true, key: None, messages: Vec::new() }
    }

    unsafe fn begin(&mut self, _: &Plain<P>, encrypts: bool, key: Option<&[u8]>, ivs: Ivs) -> Outcome {
        self.messages.clear();
        self.encrypts = encrypts;
        if let Some(key) = key {
            self.key = Some(cipher::key(P::ID, key, key.len())?);
        }
        if self.key.is_none() {
            return Err(Refused::NO_KEY_SET);
        }
        if ivs.are_missing() {
            return Ok(());
        }
        let mut messages = std::mem::take(&mut self.messages);
        for index in 0..ivs.count {
            // SAFETY: guaranteed by the caller.
            let iv = unsafe { ivs.at(index) }?;
            messages.push(P::new(iv.try_into().map_err(|_| Refused::INVALID_IV_LENGTH)?));
        }
        self.messages = messages;
        Ok(())
    }

    fn count(&self) -> usize {
        self.messages.len()
    }

    unsafe fn update(&mut self, single: &Plain<P>, columns: Columns, sizes: &mut [usize]) -> Outcome {
        let (way, key) = (self.way(single), self.key.clone().ok_or(Refused::NO_KEY_SET)?);
        // SAFETY: guaranteed by the caller.
        let buffers = |index| unsafe { columns.at(index) };
        let mut output_bytes = [0; MESSAGES];
        for (index, message) in self.messages.iter().enumerate() {
            output_bytes[index] = message.check(way, &buffers(index))?;
        }
        // SAFETY: guaranteed by the caller.
        unsafe { columns.check_overlaps(&output_bytes[..columns.count]) }?;
        let mut texts = ArrayVec::<&mut [u8], MESSAGES>::new();
        for (index, message) in self.messages.iter_mut().enumerate() {
            // SAFETY: guaranteed by the caller.
            let Taken { written, data } = unsafe { message.take(&key, way, buffers(index)) }?;
            sizes[index] = written;
            texts.push(data.move_in_place());
        }
        self.process(&mut texts)
    }

    /// Refuses messages of which one is not whole. Fails if one has wrong padding; the size of its result is 0.
    unsafe fn finish(&mut self, single: &Plain<P>, columns: Columns, sizes: &mut [usize]) -> Outcome {
        let way = self.way(single);
        // SAFETY: guaranteed by the caller.
        let buffers = |index| unsafe { columns.at(index) };
        let mut lasts = ArrayVec::<Partial, MESSAGES>::new();
        let mut output_bytes = [0; MESSAGES];
        for (index, message) in self.messages.iter().enumerate() {
            let last = message.last(way)?;
            if way.encrypts {
                last.check_room(&buffers(index))?;
            }
            output_bytes[index] = last.count.min(buffers(index).room);
            lasts.push(last);
        }
        // SAFETY: guaranteed by the caller.
        unsafe { columns.check_overlaps(&output_bytes[..columns.count]) }?;
        self.process(&mut lasts)?;
        let mut all_end = Ok(());
        for (index, (mut message, last)) in self.messages.drain(..).zip(lasts).enumerate() {
            // SAFETY: guaranteed by the caller.
            let written = message.end(way, last).and_then(|last| unsafe { last.write_to(&buffers(index)) });
            sizes[index] = written.unwrap_or(0);
            all_end = all_end.and(written.map(drop));
        }
        all_end
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cbc::Cbc;
    use crate::cipher::Cipher;
    use crate::columns::tests::{Place, generator, is_lost, with_columns};
    use crate::ctr::Ctr;
    use crate::data::Buffers;

    const KEY: [u8; 16] = [7; 16];
    const IV: [u8; 16] = [9; 16];

    /// Returns the next piece of a message, encrypted or decrypted with its own context.
    fn piece<P: Progress>(context: &mut Plain<P>, input: &[u8]) -> Vec<u8> {
        let mut output = vec![0; input.len() + 16];
        let buffers = Buffers {
            input: input.as_ptr(),
            count: input.len(),
            output: output.as_mut_ptr(),
            room: output.len(),
        };
        // SAFETY: the buffers have these sizes.
        let written = unsafe { context.update(buffers) }.unwrap();
        output.truncate(written);
        output
    }

    /// Passes pieces of messages at random places, after others that leave partial blocks. Returns how many of the
    /// calls are refused.
    fn overlaps<P: Progress>(encrypts: bool) -> u32 {
        let mut random = generator();
        let mut refusals = 0;
        for _ in 0..5000 {
            let count = 1 + random(4);
            let mut contexts: Vec<Plain<P>> = (0..count).map(|_| Plain::new(KEY.len())).collect();
            let mut many = Unsealed::<P>::new();
            let ivs = vec![IV.as_ptr(); count];
            let ivs = Ivs { count, array: ivs.as_ptr(), bytes: IV.len() };
            // SAFETY: there is an IV per message.
            unsafe { many.begin(&contexts[0], encrypts, Some(&KEY), ivs) }.unwrap();
            for context in &mut contexts {
                context.init(encrypts, Some(&KEY), Some(&IV)).unwrap();
            }
            let before: Vec<u8> = (0..220).collect();
            let apart: Vec<(Place, Place)> =
                (0..count).map(|index| ((random(100), random(20)), (120 + 20 * index, 20))).collect();
            let near = 16 << random(4);
            let anywhere: Vec<(Place, Place)> = (0..count)
                .map(|_| {
                    let input = random(near);
                    let output = if random(2) == 0 { input } else { random(near) };
                    ((input, random(50)), (output, 70))
                })
                .collect();
            for places in [apart, anywhere] {
                let mut arena = before.clone();
                let mut sizes = [0; 4];
                let outcome = with_columns(&mut arena, &places, |columns| {
                    // SAFETY: the buffers are in the arena, and those that overlap are refused.
                    unsafe { many.update(&contexts[0].clone(), columns, &mut sizes[..count]) }
                });
                let input = |index: usize| {
                    let (at, bytes) = places[index].0;
                    &before[at..at + bytes]
                };
                let expected: Vec<Vec<u8>> =
                    (0..count).map(|index| piece(&mut contexts[index].clone(), input(index))).collect();
                let used: Vec<(Place, Place)> = places
                    .iter()
                    .zip(&expected)
                    .map(|((input, output), bytes)| (*input, (output.0, bytes.len())))
                    .collect();
                assert_eq!(outcome.is_err(), is_lost(&used), "{places:?}");
                if outcome.is_err() {
                    assert_eq!(
                        (outcome, &arena),
                        (Err(Refused::PARTIALLY_OVERLAPPING), &before),
                        "{places:?}"
                    );
                    refusals += 1;
                    continue;
                }
                for (index, bytes) in expected.iter().enumerate() {
                    let at = places[index].1.0;
                    assert_eq!(
                        (&arena[at..at + bytes.len()], sizes[index]),
                        (&bytes[..], bytes.len()),
                        "{places:?}"
                    );
                    piece(&mut contexts[index], input(index));
                }
            }
        }
        refusals
    }

    #[test]
    fn overlapping_pieces_are_processed_as_separate_ones_or_refused_untouched() {
        for refusals in [overlaps::<Cbc>(true), overlaps::<Cbc>(false), overlaps::<Ctr>(true)] {
            assert!((500..4500).contains(&refusals), "{refusals} of 5000 are refused");
        }
    }
}
