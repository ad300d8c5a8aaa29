//! The last block of each message and the block for its tag, for all messages together.
//!
//! ```text
//! block l:    M[l], or the sum of all blocks if M::SUM_IS_LAST
//! tag block:  the sum of all blocks
//! both pass the layers with the masks LAST_TOP and LAST_BOTTOM
//! ```
//!
//! With a flag byte, opening inverts both blocks and compares the sum. Without one, the tag begins within the last
//! block of ciphertext: opening inverts that block and then computes the tag.

use arrayvec::ArrayVec;

use super::mixing::{mix_block, unmix_block};
use super::{Column, Layers, SIDE_BY_SIDE, doublings, each};
use crate::backend::{BLOCK, Block, Isa};
use crate::engine::Message;
use crate::primitives::block::{PADDING, add, head, join, skip, split};
use crate::primitives::doublings::Masks;

/// Maximum number of intermediate tags of a message.
pub(super) const MOST_TAGS: usize = 32;

/// A message's last block, and the results of the preceding blocks that it needs.
pub(super) struct Last {
    /// Number of intermediate tags.
    pub(super) tags: usize,
    /// Bytes of the message before its last block.
    pub(super) whole: usize,
    /// Bytes of the last block, at most 16. When opening with a flag byte it is 16: the padding is not known then.
    bytes: usize,
    /// The flag byte: whether the last block was padded.
    flag: u8,
    /// The last block, padded when sealing.
    block: Block,
    /// The sum of the blocks before the last one.
    pub(super) sum: Block,
    /// The mixing's state before the last block.
    pub(super) w: Block,
    /// The upper layer's masks of the last block and of the tag block.
    top: [Block; 2],
    /// The lower layer's masks of the last block and of the tag block.
    bottom: [Block; 2],
    /// The OR of all differences found when opening, for example of intermediate tags. Zero for a valid message.
    pub(super) difference: Block,
}

impl Last {
    /// Returns the state of a message whose mixing begins with `w`, before its blocks are processed.
    #[inline(always)]
    pub(super) fn new<M: Layers, const OPENS: bool>(
        message: &Message<'_>,
        w: &Block,
        is_flagged: bool,
    ) -> Self {
        let whole = message.bytes.div_ceil(BLOCK).max(1) - 1;
        let tags = whole.checked_div(M::GAP).unwrap_or(0).min(MOST_TAGS);
        let bytes = message.bytes - BLOCK * whole;
        let flag = if OPENS && is_flagged {
            message.data.block(BLOCK * (whole + tags + 1))[0]
        } else {
            u8::from(bytes < BLOCK)
        };
        let block = if OPENS {
            message.data.block(BLOCK * (whole + tags))
        } else {
            add(head(&message.data.block(BLOCK * whole), bytes), PADDING[bytes])
        };
        let zero = [0; BLOCK];
        let mut last = Self {
            tags,
            whole: BLOCK * whole,
            bytes,
            flag,
            block,
            sum: zero,
            w: *w,
            top: [zero; 2],
            bottom: [zero; 2],
            difference: zero,
        };
        if whole == 0 {
            let masks = Masks::short(doublings(message.key));
            last.set_masks::<M>(&masks, &masks, 0);
        }
        last
    }

    /// Stores the masks of the last block and of the tag block, which follow after `ahead` more blocks.
    #[inline(always)]
    pub(super) fn set_masks<M: Layers>(&mut self, top: &Masks<'_>, bottom: &Masks<'_>, ahead: usize) {
        // The cases are separate so that the factors are constants.
        (self.top, self.bottom) = if self.flag == 0 {
            (both(top, ahead, M::LAST_TOP[0]), both(bottom, ahead, M::LAST_BOTTOM[0]))
        } else {
            (both(top, ahead, M::LAST_TOP[1]), both(bottom, ahead, M::LAST_BOTTOM[1]))
        };
    }

    /// Returns the number of ciphertext blocks before the last one, including intermediate tags.
    #[inline(always)]
    pub(super) fn before(&self) -> usize {
        self.whole / BLOCK + self.tags
    }
}

/// Returns the masks of the last block and of the tag block, for these factors.
#[inline(always)]
fn both(masks: &Masks<'_>, ahead: usize, [block, tag]: [u16; 2]) -> [Block; 2] {
    [masks.block(ahead, block), masks.block(ahead, tag)]
}

/// Seals the last block of every message and computes its tag.
#[inline(always)]
pub(super) fn seal_last<M: Layers, B: Isa>(
    b: B,
    messages: &mut [&mut Message<'_>],
    lasts: &mut [Last],
    is_flagged: bool,
) {
    let mut blocks = ArrayVec::<Block, { 2 * SIDE_BY_SIDE }>::new();
    for last in lasts.iter() {
        let sum = add(last.sum, last.block);
        blocks.push(add(if M::SUM_IS_LAST { sum } else { last.block }, last.top[0]));
        blocks.push(add(sum, last.top[1]));
    }
    each::<M::Upper, B>(b, messages, &mut blocks);
    for (last, [x, x_tag]) in lasts.iter_mut().zip(pairs(&mut blocks)) {
        *x = mix_block::<M::Mixing, B>(b, &mut last.w, *x);
        *x_tag = add(mix_block::<M::Mixing, B>(b, &mut last.w, *x_tag), M::BEFORE_TAG.to_be_bytes());
    }
    each::<M::Lower, B>(b, messages, &mut blocks);
    for ((message, last), [y, y_tag]) in messages.iter_mut().zip(lasts).zip(pairs(&mut blocks)) {
        let (c, c_tag) = (add(*y, last.bottom[0]), add(*y_tag, last.bottom[1]));
        message.data.set_block(BLOCK * last.before(), &c);
        if is_flagged {
            let mut flag = [0; BLOCK];
            flag[0] = last.flag;
            message.data.set_block(BLOCK * (last.before() + 1), &flag);
            message.tag = c_tag;
        } else {
            message.tag = split(&c, &c_tag, last.bytes);
        }
    }
}

/// Opens the last block of every message. Leaves in `message.tag` the XOR of the received tag and everything that is
/// zero for a valid message, or, if the tag begins within the last block, the computed tag.
#[inline(always)]
pub(super) fn open_last<M: Layers, B: Isa>(
    b: B,
    messages: &mut [&mut Message<'_>],
    lasts: &mut [Last],
    is_flagged: bool,
) {
    // A tag that is a whole block is inverted together with the last block.
    let each_has = if is_flagged { 2 } else { 1 };
    let mut blocks = ArrayVec::<Block, { 2 * SIDE_BY_SIDE }>::new();
    for (message, last) in messages.iter().zip(lasts.iter_mut()) {
        if is_flagged {
            blocks.push(add(last.block, last.bottom[0]));
            blocks.push(add(message.tag, last.bottom[1]));
        } else {
            let block = join(&head(&last.block, last.bytes), last.bytes, &message.tag);
            blocks.push(add(block, last.bottom[0]));
        }
    }
    each::<M::LowerInverse, B>(b, messages, &mut blocks);
    for (last, blocks) in lasts.iter_mut().zip(blocks.chunks_exact_mut(each_has)) {
        blocks[0] = unmix_block::<M::Mixing, B>(b, &mut last.w, blocks[0]);
        if let [_, y] = blocks {
            let mut w = last.w;
            *y = unmix_block::<M::Mixing, B>(b, &mut w, add(*y, M::BEFORE_TAG.to_be_bytes()));
        }
    }
    each::<M::UpperInverse, B>(b, messages, &mut blocks);
    for ((message, last), blocks) in
        messages.iter_mut().zip(lasts.iter_mut()).zip(blocks.chunks_exact_mut(each_has))
    {
        let opened = add(blocks[0], last.top[0]);
        last.block = if M::SUM_IS_LAST { add(opened, last.sum) } else { opened };
        last.sum = add(last.sum, last.block);
        message.data.set_block(last.whole, &last.block);
        if let [_, x] = blocks {
            last.difference = or(last.difference, add(add(*x, last.top[1]), last.sum));
        }
    }
    if is_flagged {
        for (message, last) in messages.iter_mut().zip(lasts) {
            let mut wrong = [0; BLOCK];
            if last.flag > 0 {
                let (bytes, unpadded) = unpad(&last.block, last.whole > 0);
                message.bytes = last.whole + bytes;
                wrong[0] = unpadded | u8::from(last.flag > 1);
            }
            message.tag = add(message.tag, or(last.difference, wrong));
        }
    } else {
        compute_cut_tags::<M, B>(b, messages, lasts);
    }
}

/// Computes the tags of opened messages whose tag begins within the last block of ciphertext. That part of the tag
/// shows in the padding of the decrypted block: it is the XOR of the received one and the difference from a correct
/// padding. The other bytes are computed, as many as the last block has.
#[inline(always)]
fn compute_cut_tags<M: Layers, B: Isa>(b: B, messages: &mut [&mut Message<'_>], lasts: &mut [Last]) {
    let mut blocks = Column::new();
    blocks.extend(lasts.iter().map(|last| add(last.sum, last.top[1])));
    each::<M::Upper, B>(b, messages, &mut blocks);
    for (last, block) in lasts.iter_mut().zip(&mut blocks) {
        *block = add(mix_block::<M::Mixing, B>(b, &mut last.w, *block), M::BEFORE_TAG.to_be_bytes());
    }
    each::<M::Lower, B>(b, messages, &mut blocks);
    for ((message, last), block) in messages.iter_mut().zip(lasts).zip(&blocks) {
        let c = add(*block, last.bottom[1]);
        let wrong = skip(&add(last.block, PADDING[last.bytes]), last.bytes);
        let rest = BLOCK - last.bytes;
        message.tag = join(&head(&add(message.tag, wrong), rest), rest, &c);
    }
}

/// Returns the number of bytes before the padding of a block, and a byte that is zero only if the block is padded
/// and, if `needs_bytes`, at least one byte precedes the padding. It examines all bytes together as one number,
/// without branches.
#[inline(always)]
fn unpad(block: &Block, needs_bytes: bool) -> (usize, u8) {
    const LOW_BITS: u128 = u128::from_ne_bytes([0x7f; BLOCK]);
    const ONES: u128 = u128::from_ne_bytes([1; BLOCK]);
    let x = u128::from_le_bytes(*block);
    // Each byte becomes the OR of itself and all following bytes, and then 1 if that is not zero.
    let mut within = x | x >> 64;
    within |= within >> 32;
    within |= within >> 16;
    within |= within >> 8;
    within = (within & LOW_BITS).wrapping_add(LOW_BITS) | within;
    within = within >> 7 & ONES;
    // The last of these ones is where the padding begins.
    let last = within ^ within >> 8;
    let mut begins = x & (last << 8).wrapping_sub(last);
    begins |= begins >> 64;
    begins |= begins >> 32;
    begins |= begins >> 16;
    begins |= begins >> 8;
    // The number of ones: bytes before the padding plus one, or 0 if the whole block is zero.
    let bytes = (within.wrapping_mul(ONES) >> 120) as u8;
    let wrong = begins as u8 ^ 0x80;
    let missing = u8::from(needs_bytes) & bytes.wrapping_sub(2) >> 7;
    (usize::from(bytes.wrapping_sub(within as u8)), wrong | missing)
}

/// Returns `x ∨ y`.
#[inline(always)]
pub(super) fn or(x: Block, y: Block) -> Block {
    (u128::from_ne_bytes(x) | u128::from_ne_bytes(y)).to_ne_bytes()
}

/// Returns the blocks in pairs.
fn pairs(blocks: &mut [Block]) -> core::slice::IterMut<'_, [Block; 2]> {
    blocks.as_chunks_mut().0.iter_mut()
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;

    /// Implements the specification: the last byte that is not zero must be 0x80.
    fn must_be(block: &Block, needs_bytes: bool) -> Option<usize> {
        let end = block.iter().rposition(|&byte| byte != 0)?;
        (block[end] == 0x80 && !(needs_bytes && end == 0)).then_some(end)
    }

    #[test]
    fn a_padding_is_found_where_it_begins_and_nothing_else_is_taken_for_one() {
        let mut blocks = vec![[0; BLOCK]];
        for end in 0..BLOCK {
            for before in [0, 1, 0x7f, 0x80, 0xff] {
                for byte in 1..=255 {
                    let mut block = [0; BLOCK];
                    block[..end].fill(before);
                    block[end] = byte;
                    blocks.push(block);
                }
            }
        }
        for block in &blocks {
            for needs_bytes in [false, true] {
                let (bytes, wrong) = unpad(block, needs_bytes);
                let found = (wrong == 0).then_some(bytes);
                assert_eq!(found, must_be(block, needs_bytes), "{block:02x?}, {needs_bytes}");
            }
        }
    }
}
