//! Modes with a wide state: several blocks, each of which is a register with one message per lane.
//!
//! ```text
//! sort the messages, longest first
//! for each two groups of as many messages as a register has blocks:
//!     initialize the states with keys and nonces
//!     update the states with each line of the additional data
//!     for each line of the messages:
//!         add the keystream
//!         update the states with the line
//!     compute the tags from the states
//! ```
//!
//! One group has as many independent AES rounds per update as its state has blocks. The rounds of the second group fill
//! the AES units while these rounds wait for those of the preceding update.

use core::marker::PhantomData;

use arrayvec::ArrayVec;

use super::message::{Batch, Message};
use super::order::Order;
use super::{FLIGHT, Schedule};
use crate::backend::{BLOCK, Block, Isa, Kernel, LANES, Line, Lines, STEPS, Span, Texts};
use crate::primitives::block::bit_lengths;

/// Number of groups that are processed together, on registers of four blocks. Narrower backends have too few registers
/// for a second state.
const ABREAST: usize = 2;

/// One direction of a mode whose state has `S` blocks. An update takes `R` blocks of a string, 1 or 2.
pub(crate) trait Wide<const S: usize, const R: usize> {
    /// Whether messages are opened.
    const OPENS: bool;

    /// Returns the initial states. `key(i)` and `nonce(i)` are block `i` of each message's key and nonce.
    fn init<B: Isa>(b: B, key: impl Fn(usize) -> B::V, nonce: impl Fn(usize) -> B::V) -> [B::V; S];

    /// Updates the states with blocks of the additional data or of the plaintext.
    fn update<B: Isa>(b: B, s: &mut [B::V; S], m: [B::V; R]);

    /// Adds the keystream of the next blocks to them.
    fn add_keystream<B: Isa>(b: B, s: &[B::V; S], x: [B::V; R]) -> [B::V; R];

    /// Returns the tags, given the lengths in bits of additional data and message, 64 bits each.
    fn finalize<B: Isa>(b: B, s: [B::V; S], lengths: B::V) -> B::V;
}

/// Processes the messages of a batch.
pub(crate) fn run<W: Wide<S, R>, const S: usize, const R: usize>(batch: &mut Batch<'_, '_, '_>) {
    if matches!(batch.schedule, Schedule::Single | Schedule::Blocks) {
        for message in batch.messages.iter_mut() {
            let messages = core::slice::from_mut(message);
            batch.backend.run(Groups::<W, S, R> { messages, mode: PhantomData });
        }
        return;
    }
    let mut order = Order::new();
    for (place, message) in batch.messages.iter().enumerate() {
        order.push(place, message.data.len());
    }
    if order.is_sorted() {
        batch.backend.run(Groups::<W, S, R> { messages: batch.messages, mode: PhantomData });
        return;
    }
    order.sort();
    let mut unsorted = ArrayVec::<Option<&mut Message<'_>>, FLIGHT>::new();
    unsorted.extend(batch.messages.iter_mut().map(|message| Some(&mut **message)));
    let mut messages = ArrayVec::<&mut Message<'_>, FLIGHT>::new();
    messages.extend(order.places().filter_map(|place| unsorted[place].take()));
    batch.backend.run(Groups::<W, S, R> { messages: &mut messages, mode: PhantomData });
}

/// Messages in order, longest first.
struct Groups<'b, 'm, 'a, W, const S: usize, const R: usize> {
    messages: &'b mut [&'m mut Message<'a>],
    mode: PhantomData<W>,
}

impl<W: Wide<S, R>, const S: usize, const R: usize> Kernel for Groups<'_, '_, '_, W, S, R> {
    type Output = ();

    #[inline(always)]
    fn run<B: Isa>(self, b: B) {
        if let [message] = self.messages {
            // A register of one message has nothing to transpose.
            let messages = core::slice::from_mut(message);
            return States::<B::Narrow, W, S, R, 1>::init(b.narrow(), messages).crypt(messages);
        }
        let abreast = if const { B::BLOCKS == 4 } { ABREAST } else { 1 };
        for messages in self.messages.chunks_mut(abreast * B::BLOCKS) {
            if const { B::BLOCKS == 4 } && messages.len() > B::BLOCKS {
                States::<B, W, S, R, ABREAST>::init(b, messages).crypt(messages);
            } else {
                States::<B, W, S, R, 1>::init(b, messages).crypt(messages);
            }
        }
    }
}

/// The states of `G` groups.
struct States<B: Isa, W, const S: usize, const R: usize, const G: usize> {
    b: B,
    s: [[B::V; S]; G],
    mode: PhantomData<W>,
}

impl<B: Isa, W: Wide<S, R>, const S: usize, const R: usize, const G: usize> States<B, W, S, R, G> {
    /// Returns the initial states of messages, at most `G` groups. Lanes without a message have that of the last one.
    #[inline(always)]
    fn init(b: B, messages: &[&mut Message<'_>]) -> Self {
        let mut s = [[b.zero(); S]; G];
        each_register!(G, 0 1, g => {
            let members = members::<B>(messages, g);
            let key = |i| b.load_each(members.map(|message| &message.key.subkeys[i]));
            let nonce = |i| b.load_each(members.map(|message| &message.nonce.as_chunks().0[i]));
            s[g] = W::init(b, key, nonce);
        });
        Self { b, s, mode: PhantomData }
    }

    /// Processes the messages, and leaves in each its tag.
    #[inline(always)]
    fn crypt(mut self, messages: &mut [&mut Message<'_>]) {
        let b = self.b;
        if messages.iter().any(|message| !message.aad.is_empty()) {
            let mut texts = Texts::<'_, { ABREAST * LANES }>::new(false);
            for message in messages.iter() {
                texts.push(&Span::from(&*message.aad));
            }
            self.process::<_, false>(&texts);
        }
        let mut texts = Texts::<'_, { ABREAST * LANES }>::new(true);
        for message in messages.iter_mut() {
            texts.push(&message.data.reborrow());
        }
        self.process::<_, true>(&texts);
        each_register!(G, 0 1, g => {
            let mut tags = [[0; BLOCK]; LANES];
            let lengths = members::<B>(messages, g).map(lengths);
            let lengths = b.load_each(lengths.each_ref());
            b.store(W::finalize(b, self.s[g], lengths), &mut tags);
            for (message, tag) in messages.iter_mut().skip(g * B::BLOCKS).zip(&tags[..B::BLOCKS]) {
                message.tag = *tag;
            }
        });
    }

    /// Updates the states with a string of each message. If `CRYPTS`, the string is the message, which is encrypted or
    /// decrypted.
    #[inline(always)]
    fn process<const N: usize, const CRYPTS: bool>(&mut self, texts: &Texts<'_, N>) {
        let b = self.b;
        let mut lines = Lines::<N, G>::new(texts);
        each_register!(G, 0 1, g => {
            lines.begin(b, g, places::<B>(texts.len(), g), 0);
        });
        loop {
            let mut more = false;
            each_register!(G, 0 1, g => {
                if lines.is_live(g) {
                    let x = b.transpose(lines.rows(b, g));
                    let y = if lines.is_whole(g) {
                        self.line::<CRYPTS>(g, x)
                    } else {
                        let masks = b.transpose(lines.masks(b, g));
                        self.last_line::<CRYPTS>(g, x, masks)
                    };
                    if CRYPTS {
                        lines.write(b, g, &y);
                    }
                    more |= lines.advance(g);
                }
            });
            if !more {
                return;
            }
        }
    }

    /// Processes a line that all messages of a group have, and returns its output.
    #[inline(always)]
    fn line<const CRYPTS: bool>(&mut self, g: usize, x: Line<B>) -> Line<B> {
        let b = self.b;
        let mut output = x;
        for step in (0..STEPS).step_by(R) {
            let mut m = [x[step]; R];
            m.copy_from_slice(&x[step..step + R]);
            if CRYPTS {
                let y = W::add_keystream(b, &self.s[g], m);
                output[step..step + R].copy_from_slice(&y);
                m = if W::OPENS { y } else { m };
            }
            W::update(b, &mut self.s[g], m);
        }
        output
    }

    /// Processes a line in which messages of a group end, or before which they have ended. `masks` is 0 after the end
    /// of each message.
    #[inline(always)]
    fn last_line<const CRYPTS: bool>(&mut self, g: usize, x: Line<B>, masks: Line<B>) -> Line<B> {
        let b = self.b;
        let mut output = x;
        for step in (0..STEPS).step_by(R) {
            let mut m = [x[step]; R];
            m.copy_from_slice(&x[step..step + R]);
            if CRYPTS {
                let y = W::add_keystream(b, &self.s[g], m);
                output[step..step + R].copy_from_slice(&y);
                if W::OPENS {
                    for r in 0..R {
                        m[r] = b.and(y[r], masks[step + r]);
                    }
                }
            }
            let before = self.s[g];
            W::update(b, &mut self.s[g], m);
            // A message that has a byte of this step has the first.
            let live = b.shuffle(masks[step], &[0; BLOCK]);
            each_register!(S, i => {
                self.s[g][i] = b.select(live, self.s[g][i], before[i]);
            });
        }
        output
    }
}

/// Returns the messages of group `g`. Lanes without a message have the last one.
#[inline(always)]
fn members<'g, 'a, B: Isa>(messages: &'g [&mut Message<'a>], g: usize) -> [&'g Message<'a>; LANES] {
    places::<B>(messages.len(), g).map(|place| &*messages[place])
}

/// Returns the places of the messages of group `g`, of this number of messages.
#[inline(always)]
fn places<B: Isa>(messages: usize, g: usize) -> [usize; LANES] {
    [0, 1, 2, 3].map(|lane| (g * B::BLOCKS + lane).min(messages - 1))
}

/// Returns the lengths of additional data and message in bits, as 64-bit little-endian numbers.
#[inline(always)]
fn lengths(message: &Message<'_>) -> Block {
    bit_lengths(message.aad.len() as u64, message.data.len() as u64).to_le_bytes()
}
