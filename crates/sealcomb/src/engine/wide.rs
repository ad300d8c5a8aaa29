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

use super::FLIGHT;
use super::message::{Batch, Message};
use super::order::Order;
use crate::backend::{BLOCK, Block, Isa, Kernel, LANES, LaneLines, Line, STEPS, Span};

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
    if batch.messages.is_sorted_by(|before, after| before.data.len() >= after.data.len()) {
        batch.backend.run(Groups::<W, S, R> { messages: batch.messages, mode: PhantomData });
    } else {
        sorted::<W, S, R>(batch);
    }
}

/// Sorts the messages of a batch by length, and processes them.
// Not inlined, so that a batch that is sorted needs less stack.
#[inline(never)]
fn sorted<W: Wide<S, R>, const S: usize, const R: usize>(batch: &mut Batch<'_, '_, '_>) {
    let mut order = Order::new();
    let mut unsorted = ArrayVec::<Option<&mut Message<'_>>, FLIGHT>::new();
    for (place, message) in batch.messages.iter_mut().enumerate() {
        order.push(place, message.data.len());
        unsorted.push(Some(message));
    }
    order.sort();
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
            return States::<B::Narrow, W, S, R, 1>::crypt(b.narrow(), core::slice::from_mut(message));
        }
        let abreast = if const { B::BLOCKS == 4 } { ABREAST } else { 1 };
        for messages in self.messages.chunks_mut(abreast * B::BLOCKS) {
            if const { B::BLOCKS == 4 } && messages.len() > B::BLOCKS {
                States::<B, W, S, R, ABREAST>::crypt(b, messages);
            } else {
                States::<B, W, S, R, 1>::crypt(b, messages);
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
    /// Processes messages, at most `G` groups, and leaves in each its tag.
    #[inline(always)]
    fn crypt(b: B, messages: &mut [&mut Message<'_>]) {
        // Stored long before they are loaded: the CPU cannot forward the halves of a block.
        let mut lengths = [[0; BLOCK]; ABREAST * LANES];
        let mut aad = false;
        for (lengths, message) in lengths.iter_mut().zip(messages.iter()) {
            *lengths = lengths_of(message);
            aad |= !message.aad.is_empty();
        }
        let mut states = Self::init(b, messages);
        if aad {
            let mut lines = [const { LaneLines::empty() }; G];
            for (lines, group) in lines.iter_mut().zip(messages.chunks(B::BLOCKS)) {
                lines.begin(b, false, group.iter().map(|message| Span::from(&*message.aad)));
            }
            states.process::<false>(&mut lines);
        }
        let mut lines = [const { LaneLines::empty() }; G];
        for (lines, group) in lines.iter_mut().zip(messages.chunks_mut(B::BLOCKS)) {
            lines.begin(b, true, group.iter_mut().map(|message| message.data.reborrow()));
        }
        states.process::<true>(&mut lines);
        states.finalize(messages, &lengths);
    }

    /// Returns the initial states. Lanes without a message have that of the last one.
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

    /// Updates the states with a string of each message. If `CRYPTS`, the string is the message, which is encrypted or
    /// decrypted.
    #[inline(always)]
    fn process<const CRYPTS: bool>(&mut self, lines: &mut [LaneLines<'_>; G]) {
        let b = self.b;
        // The states of messages that have ended before others of their group.
        let mut ended = [[b.zero(); S]; G];
        each_register!(G, 0 1, g => {
            if !lines[g].is_uniform() {
                ended[g] = self.s[g];
            }
        });
        loop {
            let mut whole = usize::MAX;
            let mut live = 0;
            each_register!(G, 0 1, g => {
                if lines[g].is_live() {
                    whole = whole.min(lines[g].whole());
                    live += 1;
                }
            });
            if live == 0 {
                break;
            } else if live == G && whole > 0 {
                self.lines::<CRYPTS>(lines, whole);
            } else {
                each_register!(G, 0 1, g => {
                    if lines[g].is_live() && lines[g].whole() == 0 {
                        self.last_line::<CRYPTS>(g, &mut lines[g], &mut ended[g]);
                    } else if lines[g].is_live() && live < G {
                        for _ in 0..lines[g].whole() {
                            let x = lines[g].read(b, 0);
                            let y = self.line::<CRYPTS>(g, x);
                            if CRYPTS {
                                lines[g].write(b, &y);
                            }
                            lines[g].advance();
                        }
                    }
                });
            }
        }
        each_register!(G, 0 1, g => {
            if !lines[g].is_uniform() {
                self.s[g] = ended[g];
            }
        });
    }

    /// Processes `count` lines of all groups, in none of which a message ends.
    #[inline(always)]
    fn lines<const CRYPTS: bool>(&mut self, lines: &mut [LaneLines<'_>; G], count: usize) {
        let b = self.b;
        let mut x = [[b.zero(); STEPS]; G];
        each_register!(G, 0 1, g => {
            x[g] = lines[g].read(b, 0);
        });
        for left in (0..count).rev() {
            each_register!(G, 0 1, g => {
                let y = self.line::<CRYPTS>(g, x[g]);
                // The load comes first: the CPU would compare it with the stores, and lines a multiple of 4096 bytes
                // apart look equal to it.
                if left > 0 {
                    x[g] = lines[g].read(b, 1);
                }
                if CRYPTS {
                    lines[g].write(b, &y);
                }
                lines[g].advance();
            });
        }
    }

    /// Updates the states of a group with a line. Returns the output.
    #[inline(always)]
    fn line<const CRYPTS: bool>(&mut self, g: usize, x: Line<B>) -> Line<B> {
        let b = self.b;
        let mut output = x;
        each_register!(STEPS, 0 1 2 3, step => {
            if step % R == 0 {
                let mut m = [x[step]; R];
                m.copy_from_slice(&x[step..step + R]);
                if CRYPTS {
                    let y = W::add_keystream(b, &self.s[g], m);
                    output[step..step + R].copy_from_slice(&y);
                    m = if W::OPENS { y } else { m };
                }
                W::update(b, &mut self.s[g], m);
            }
        });
        output
    }

    /// Processes a line of a group in which messages end. Keeps their states in `ended`, unless all end here.
    #[inline(always)]
    fn last_line<const CRYPTS: bool>(&mut self, g: usize, lines: &mut LaneLines<'_>, ended: &mut [B::V; S]) {
        let b = self.b;
        let (x, masks) = (lines.read_last(b), lines.masks(b));
        let mut output = x;
        for step in (0..STEPS).step_by(R) {
            if lines.is_uniform() && BLOCK * step >= lines.rest() {
                break;
            }
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
            W::update(b, &mut self.s[g], m);
            if !lines.is_uniform() {
                // A message that has any byte of this step has the first.
                let live = b.shuffle(masks[step], &[0; BLOCK]);
                each_register!(S, i => {
                    ended[i] = b.select(live, self.s[g][i], ended[i]);
                });
            }
        }
        if CRYPTS {
            lines.write_last(b, &output);
        }
        lines.advance_last();
    }

    /// Leaves in each message its tag.
    #[inline(always)]
    fn finalize(self, messages: &mut [&mut Message<'_>], lengths: &[Block]) {
        let b = self.b;
        each_register!(G, 0 1, g => {
            let mut tags = [[0; BLOCK]; LANES];
            let lengths = b.load(&lengths[g * B::BLOCKS..]);
            b.store(W::finalize(b, self.s[g], lengths), &mut tags);
            for (message, tag) in messages.iter_mut().skip(g * B::BLOCKS).zip(&tags[..B::BLOCKS]) {
                message.tag = *tag;
            }
        });
    }
}

/// Returns the messages of group `g`. Lanes without a message have the last one.
#[inline(always)]
fn members<'g, 'a, B: Isa>(messages: &'g [&mut Message<'a>], g: usize) -> [&'g Message<'a>; LANES] {
    [0, 1, 2, 3].map(|lane| &*messages[(g * B::BLOCKS + lane).min(messages.len() - 1)])
}

/// Returns the lengths of additional data and message in bits, as 64-bit little-endian numbers.
#[inline(always)]
fn lengths_of(message: &Message<'_>) -> Block {
    let bits = |bytes: usize| 8 * bytes as u128;
    (bits(message.data.len()) << 64 | bits(message.aad.len())).to_le_bytes()
}
