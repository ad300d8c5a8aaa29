//! Pipelines of CBC and CTR. A message can be passed in any number of pieces. In each call, the whole blocks of all
//! messages are one batch; in CTR, so are all bytes that do not continue a block of an earlier piece.

use std::sync::Arc;

use arrayvec::ArrayVec;
use sealcomb::{Burst, Key, Verdict};

use crate::cipher;
use crate::columns::{Columns, MESSAGES};
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
    fn process(&mut self, texts: &mut [impl AsRef<[u8]> + AsMut<[u8]>]) -> Option<()> {
        let (key, encrypts) = (self.key.as_ref()?, self.encrypts);
        if texts.iter().all(|text| text.as_ref().is_empty()) {
            return Some(());
        }
        for (message, text) in self.messages.iter_mut().zip(&*texts) {
            message.look_ahead(encrypts, text.as_ref());
        }
        let burst = Burst::new(key, &self.messages);
        let mut tags = [[0; 0]; MESSAGES];
        let tags = &mut tags[..texts.len()];
        if encrypts || P::IS_SYMMETRIC {
            burst.seal(texts, tags).ok()?;
        } else {
            burst.open(texts, tags, &mut [Verdict::Pending; MESSAGES][..tags.len()]).ok()?;
        }
        for (message, text) in self.messages.iter_mut().zip(texts) {
            message.advance(encrypts, text.as_ref());
        }
        Some(())
    }
}

impl<P: Progress> Pipes for Plain<P> {
    type Messages = Unsealed<P>;
}

impl<P: Progress> Messages<Plain<P>> for Unsealed<P> {
    fn new() -> Self {
        Self { encrypts: true, key: None, messages: Vec::new() }
    }

    unsafe fn begin(&mut self, _: &Plain<P>, encrypts: bool, key: Option<&[u8]>, ivs: Ivs) -> Option<()> {
        self.messages.clear();
        self.encrypts = encrypts;
        if let Some(key) = key {
            self.key = Some(cipher::key(P::ID, key, key.len())?);
        }
        self.key.as_ref()?;
        if ivs.are_missing() {
            return Some(());
        }
        let mut messages = std::mem::take(&mut self.messages);
        for index in 0..ivs.count {
            // SAFETY: guaranteed by the caller.
            let iv = unsafe { ivs.at(index) }?;
            messages.push(P::new(iv.try_into().ok()?));
        }
        self.messages = messages;
        Some(())
    }

    fn count(&self) -> usize {
        self.messages.len()
    }

    unsafe fn update(&mut self, single: &Plain<P>, columns: Columns, sizes: &mut [usize]) -> Option<()> {
        let (way, key) = (self.way(single), self.key.clone()?);
        // SAFETY: guaranteed by the caller.
        let buffers = |index| unsafe { columns.at(index) };
        let mut indexed = self.messages.iter().enumerate();
        if !indexed.all(|(index, message)| message.can_take(way, &buffers(index))) {
            return None;
        }
        let mut texts = ArrayVec::<&mut [u8], MESSAGES>::new();
        for (index, message) in self.messages.iter_mut().enumerate() {
            // SAFETY: guaranteed by the caller.
            let Taken { written, data } = unsafe { message.take(&key, way, buffers(index)) }?;
            sizes[index] = written;
            texts.push(data.move_in_place());
        }
        self.process(&mut texts)
    }

    /// Fails if a message is not whole or has wrong padding; the size of the latter's result is 0.
    unsafe fn finish(&mut self, single: &Plain<P>, columns: Columns, sizes: &mut [usize]) -> Option<()> {
        let way = self.way(single);
        let mut lasts = ArrayVec::<Partial, MESSAGES>::new();
        for (index, message) in self.messages.iter().enumerate() {
            let last = message.last(way)?;
            // SAFETY: guaranteed by the caller.
            if way.encrypts && !last.fits(&unsafe { columns.at(index) }) {
                return None;
            }
            lasts.push(last);
        }
        self.process(&mut lasts)?;
        let mut all_end = Some(());
        for (index, (mut message, last)) in self.messages.drain(..).zip(lasts).enumerate() {
            // SAFETY: guaranteed by the caller.
            let written =
                message.end(way, last).and_then(|last| unsafe { last.write_to(&columns.at(index)) });
            sizes[index] = written.unwrap_or(0);
            all_end = all_end.and(written.map(|_| ()));
        }
        all_end
    }
}
