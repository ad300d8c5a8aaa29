//! Two layers of the cipher with a linear mixing between them, as COPA, COLM and ELmD have it: across the blocks of one
//! message, then the last two blocks of all messages side by side.
//!
//! Letters are those of the specifications: `M` and `C` are the blocks of message and ciphertext, `X` and `Y` what
//! leaves the upper layer and what enters the lower one, `W` the mixing's state, `l` the number of blocks, `T` the tag.

use alloc::boxed::Box;
use core::marker::PhantomData;

use arrayvec::ArrayVec;

use super::FLIGHT;
use super::message::{Batch, Material, Message};
use crate::backend::{BLOCK, Backend, Block, Isa, Kernel, REGISTERS, Span, Weave};
use crate::primitives::aes::Schedule as AesSchedule;
use crate::primitives::doublings::{Doublings, Masks, Window, sum_of_multiples};
use crate::primitives::gf128::{BigEndian, Field};
use crate::primitives::rounds::Cipher;
use crate::primitives::wipe;

/// Most intermediate tags of a message.
const MOST_TAGS: usize = 32;

/// A mode of two layers.
///
/// Masks are polynomials, bit `k` for `x^k`, which multiply `2^(i-1) L` for block `i`, counted from 1.
pub(crate) trait Layers {
    type Upper: Cipher;
    type UpperInverse: Cipher;
    type Lower: Cipher;
    type LowerInverse: Cipher;
    type Mixing: Mixing;

    /// The masks of blocks `i < l`.
    const TOP: u8;
    const BOTTOM: u8;
    /// The masks of block `l` and of the block for the tag, where the message's last block is full, and where it was padded.
    /// They multiply `2^(l-2) L`.
    const LAST_TOP: [[u16; 2]; 2];
    const LAST_BOTTOM: [[u16; 2]; 2];
    /// Whether the sum of all blocks takes the place of block `l`, not only that of the block for the tag.
    const SUM_IS_LAST: bool;
    /// What is added before the tag's call of the lower layer.
    const BEFORE_TAG: u128;
    /// Whether the ciphertext has whole blocks and a byte that says whether the last was padded. If not, it is as long as
    /// the message, and the tag begins within its last block.
    const FLAGGED: bool;
    /// Blocks between intermediate tags; 0 if there are none.
    const GAP: usize;

    /// The mixing's state before the first block, from nonce and additional data.
    fn start<B: Isa>(b: B, messages: &[&mut Message<'_>]) -> ArrayVec<Block, FLIGHT>;
}

/// The linear mixing between the layers.
pub(crate) trait Mixing {
    /// `X` to `Y`.
    fn mix<B: Isa>(b: B, state: &mut State<B>, x: B::V) -> B::V;
    /// `Y` to `X`.
    fn unmix<B: Isa>(b: B, state: &mut State<B>, y: B::V) -> B::V;
    /// A block as the state has it, and back.
    fn turn<B: Isa>(b: B, v: B::V) -> B::V;
    /// `mix` for one block.
    fn mix_block(w: &mut Block, x: Block) -> Block;
    /// `unmix` for one block.
    fn unmix_block(w: &mut Block, y: Block) -> Block;
}

/// What the mixing keeps from register to register.
#[derive(Clone, Copy)]
pub(crate) struct State<B: Isa> {
    /// `W` after each block of the last register.
    w: B::V,
    /// The blocks of the last register, and the same moved up by one and by two.
    before: [B::V; 3],
}

impl<B: Isa> State<B> {
    /// The state after a block that leaves `w`, and nothing before it.
    #[inline(always)]
    fn new<X: Mixing>(b: B, w: &Block) -> Self {
        let all = X::turn(b, b.splat(w));
        let w = b.xor(all, b.keep(all, BLOCK * (B::BLOCKS - 1)));
        Self { w, before: [w, b.zero(), b.zero()] }
    }

    /// `W` after the register's block of this number.
    #[inline(always)]
    fn after<X: Mixing>(&self, b: B, block: usize) -> Block {
        let mut blocks = [[0; BLOCK]; 4];
        b.store(X::turn(b, self.w), &mut blocks);
        blocks[block]
    }

    /// The register's blocks, and each moved up by one, two and three; as many as a register has count.
    #[inline(always)]
    fn moved(&mut self, b: B, x: B::V) -> [B::V; 4] {
        let mut moved = [x; 4];
        for k in 1..B::BLOCKS {
            moved[k] = b.push(self.before[k - 1], moved[k - 1]);
            self.before[k - 1] = moved[k - 1];
        }
        moved
    }
}

/// COPA's mixing: `Y = S' = X ⊕ S`.
pub(crate) struct Sum;

impl Mixing for Sum {
    /// Each block's state is that of the block so many places before as a register has, and the blocks between.
    #[inline(always)]
    fn mix<B: Isa>(b: B, state: &mut State<B>, x: B::V) -> B::V {
        let moved = state.moved(b, x);
        for k in 0..B::BLOCKS {
            state.w = b.xor(state.w, moved[k]);
        }
        state.w
    }

    #[inline(always)]
    fn unmix<B: Isa>(b: B, state: &mut State<B>, y: B::V) -> B::V {
        let before = b.push(state.w, y);
        state.w = y;
        b.xor(y, before)
    }

    #[inline(always)]
    fn turn<B: Isa>(_: B, v: B::V) -> B::V {
        v
    }

    #[inline(always)]
    fn mix_block(w: &mut Block, x: Block) -> Block {
        *w = add(*w, x);
        *w
    }

    #[inline(always)]
    fn unmix_block(w: &mut Block, y: Block) -> Block {
        let x = add(*w, y);
        *w = y;
        x
    }
}

/// The mixing `rho` of ELmD and COLM: `Y = X ⊕ 3 W`, `W' = X ⊕ 2 W`. The state is byte-reversed.
pub(crate) struct Rho;

impl Mixing for Rho {
    #[inline(always)]
    fn mix<B: Isa>(b: B, state: &mut State<B>, x: B::V) -> B::V {
        let [x0, x1, x2, x3] = state.moved(b, b.reverse(x));
        let w = match B::BLOCKS {
            1 => sum_of_multiples(b, [(x0, 0), (state.w, 1)]),
            2 => sum_of_multiples(b, [(x0, 0), (x1, 1), (state.w, 2)]),
            _ => sum_of_multiples(b, [(x0, 0), (x1, 1), (x2, 2), (x3, 3), (state.w, 4)]),
        };
        // `Y = W' ⊕ W`
        let y = b.xor(w, b.push(state.w, w));
        state.w = w;
        b.reverse(y)
    }

    #[inline(always)]
    fn unmix<B: Isa>(b: B, state: &mut State<B>, y: B::V) -> B::V {
        let before = state.w;
        let moved = state.moved(b, b.reverse(y));
        for k in 0..B::BLOCKS {
            state.w = b.xor(state.w, moved[k]);
        }
        // `X = W' ⊕ 2 W`
        b.reverse(sum_of_multiples(b, [(state.w, 0), (b.push(before, state.w), 1)]))
    }

    #[inline(always)]
    fn turn<B: Isa>(b: B, v: B::V) -> B::V {
        b.reverse(v)
    }

    #[inline(always)]
    fn mix_block(w: &mut Block, x: Block) -> Block {
        let before = *w;
        *w = add(x, BigEndian::double_block(&before));
        add(*w, before)
    }

    #[inline(always)]
    fn unmix_block(w: &mut Block, y: Block) -> Block {
        let before = *w;
        *w = add(y, before);
        add(*w, BigEndian::double_block(&before))
    }
}

#[inline(always)]
pub(crate) fn add(x: Block, y: Block) -> Block {
    (u128::from_ne_bytes(x) ^ u128::from_ne_bytes(y)).to_ne_bytes()
}

/// The doublings of a key's `L`.
#[inline(always)]
pub(crate) fn doublings(key: &Material) -> &Doublings {
    key.doublings.as_deref().expect("a key with masks")
}

/// A block of at most 16 bytes, padded with a one bit and zeros if it is short.
#[inline(always)]
pub(crate) fn padded(bytes: &[u8]) -> Block {
    let mut block = [0; BLOCK];
    block[..bytes.len()].copy_from_slice(bytes);
    if let Some(end) = block.get_mut(bytes.len()) {
        *end = 0x80;
    }
    block
}

/// The key of such a mode: `L` is what `calls` calls of the cipher make of zero.
pub(crate) fn key<C: Cipher>(backend: Backend, key: &[u8], calls: usize) -> Material {
    let mut material = Material::plain(AesSchedule::new(backend, key));
    let doublings = backend.run(Derive::<C> { key: &material, calls, cipher: PhantomData });
    material.doublings = Some(doublings);
    material
}

struct Derive<'k, C> {
    key: &'k Material,
    calls: usize,
    cipher: PhantomData<C>,
}

impl<C: Cipher> Kernel for Derive<'_, C> {
    type Output = Box<Doublings>;

    #[inline(always)]
    fn run<B: Isa>(self, b: B) -> Box<Doublings> {
        let mut l = [[0; BLOCK]];
        for _ in 0..self.calls {
            some::<C, B, 1>(b, self.key, &mut l);
        }
        let doublings = Doublings::new(&l[0]);
        wipe(&mut l);
        doublings
    }
}

/// Takes the whole blocks of additional data through the upper layer and a mixing that begins with `w`. The first of them
/// is block `first`. Returns the mixing's last state, and the masks from the next block on.
#[inline(always)]
pub(crate) fn absorb<'k, C: Cipher, X: Mixing, B: Isa>(
    b: B,
    key: &'k Material,
    aad: &[u8],
    first: usize,
    mask: u8,
    w: Block,
) -> (Block, Masks<'k>) {
    let blocks = aad.len() / BLOCK;
    // Two more may follow, made of what is left of the data and of the nonce.
    let mut masks = Masks::new(doublings(key), first - 1 + blocks + 2);
    masks.go(b, first - 1);
    if blocks == 0 {
        return (w, masks);
    }
    let data = Span::from(&aad[..BLOCK * blocks]);
    let mut state = State::new::<X>(b, &w);
    let mut done = 0;
    while blocks - done >= REGISTERS * B::BLOCKS {
        let mut x = [b.zero(); REGISTERS];
        for r in 0..REGISTERS {
            x[r] = data.load(b, BLOCK * (done + r * B::BLOCKS));
        }
        upper::<C, X, B, REGISTERS>(b, key, masks.window(), mask, &mut state, x);
        masks.go(b, REGISTERS * B::BLOCKS);
        done += REGISTERS * B::BLOCKS;
    }
    while done < blocks {
        let x = [data.load_part(b, BLOCK * done)];
        upper::<C, X, B, 1>(b, key, masks.window(), mask, &mut state, x);
        let some = (blocks - done).min(B::BLOCKS);
        masks.go(b, some);
        done += some;
    }
    (state.after::<X>(b, (blocks - 1) % B::BLOCKS), masks)
}

#[inline(always)]
fn upper<C: Cipher, X: Mixing, B: Isa, const R: usize>(
    b: B,
    key: &Material,
    masks: Window<'_>,
    mask: u8,
    state: &mut State<B>,
    mut x: [B::V; R],
) {
    for r in 0..R {
        x[r] = b.xor(x[r], masks.register(b, r, mask));
    }
    C::run(b, &key.aes, &mut x);
    for r in 0..R {
        X::mix(b, state, x[r]);
    }
}

/// The mixing's state after nonce and additional data, as COLM and ELmD have them: the nonce with `param` is the first
/// block, masks are `3 * 2^i L`, and that of a short last block is `3 * 7 * 2^(d-1) L`.
#[inline(always)]
pub(crate) fn absorb_nonce_and_aad<C: Cipher, X: Mixing, B: Isa>(
    b: B,
    messages: &[&mut Message<'_>],
    param: [u8; 8],
) -> ArrayVec<Block, FLIGHT> {
    const THREE: u8 = 0b11;
    const THREE_TIMES_SEVEN: u16 = 0b1001;
    let mut states = ArrayVec::<Block, FLIGHT>::new();
    for message in messages {
        let mut first = [0; BLOCK];
        first[..8].copy_from_slice(message.nonce);
        first[8..].copy_from_slice(&param);
        let mask = Masks::new(doublings(message.key), 0).block(0, u16::from(THREE));
        states.push(add(first, mask));
    }
    each::<C, B>(b, messages, &mut states);
    if messages.iter().all(|message| message.aad.is_empty()) {
        return states;
    }
    let mut shorts = ArrayVec::<Block, FLIGHT>::new();
    for (message, w) in messages.iter().zip(&mut states) {
        let whole = message.aad.len() / BLOCK * BLOCK;
        let masks;
        (*w, masks) = absorb::<C, X, B>(b, message.key, &message.aad, 2, THREE, *w);
        shorts.push(add(padded(&message.aad[whole..]), masks.block(1, THREE_TIMES_SEVEN)));
    }
    each::<C, B>(b, messages, &mut shorts);
    for ((message, w), z) in messages.iter().zip(&mut states).zip(shorts) {
        if !message.aad.len().is_multiple_of(BLOCK) {
            X::mix_block(w, z);
        }
    }
    states
}

/// Takes blocks of messages that have the same number of them, one message's after the other's, through a layer.
#[inline(always)]
pub(crate) fn each<C: Cipher, B: Isa>(b: B, messages: &[&mut Message<'_>], blocks: &mut [Block]) {
    let Some(first) = messages.first() else { return };
    if messages.iter().all(|message| core::ptr::eq(message.key, first.key)) {
        layer::<C, B>(b, first.key, blocks);
    } else {
        let each = blocks.len() / messages.len();
        for (message, blocks) in messages.iter().zip(blocks.chunks_mut(each)) {
            layer::<C, B>(b, message.key, blocks);
        }
    }
}

/// Takes blocks through a layer under one key.
#[inline(always)]
fn layer<C: Cipher, B: Isa>(b: B, key: &Material, blocks: &mut [Block]) {
    let mut chunks = blocks.chunks_exact_mut(REGISTERS * B::BLOCKS);
    for chunk in &mut chunks {
        some::<C, B, REGISTERS>(b, key, chunk);
    }
    for chunk in chunks.into_remainder().chunks_mut(B::BLOCKS) {
        some::<C, B, 1>(b, key, chunk);
    }
}

#[inline(always)]
fn some<C: Cipher, B: Isa, const R: usize>(b: B, key: &Material, blocks: &mut [Block]) {
    let mut x = [b.zero(); R];
    for (x, blocks) in x.iter_mut().zip(blocks.chunks(B::BLOCKS)) {
        *x = b.load_bytes(blocks.as_flattened());
    }
    C::run(b, &key.aes, &mut x);
    for (x, blocks) in x.iter().zip(blocks.chunks_mut(B::BLOCKS)) {
        b.store_some(*x, blocks);
    }
}

/// Seals the messages of a flight.
pub(crate) fn seal<M: Layers>(batch: &mut Batch<'_, '_, '_>) {
    batch.backend.run(Crypt::<M, false> { messages: batch.messages, mode: PhantomData });
}

/// Opens the messages of a flight.
pub(crate) fn open<M: Layers>(batch: &mut Batch<'_, '_, '_>) {
    batch.backend.run(Crypt::<M, true> { messages: batch.messages, mode: PhantomData });
}

struct Crypt<'b, 'm, 'a, M, const OPENS: bool> {
    messages: &'b mut [&'m mut Message<'a>],
    mode: PhantomData<M>,
}

impl<M: Layers, const OPENS: bool> Kernel for Crypt<'_, '_, '_, M, OPENS> {
    type Output = ();

    #[inline(always)]
    fn run<B: Isa>(self, b: B) {
        let start = M::start(b, self.messages);
        let mut lasts = ArrayVec::<Last, FLIGHT>::new();
        for (message, w) in self.messages.iter_mut().zip(&start) {
            lasts.push(before_last::<M, B, OPENS>(b, message, w));
        }
        if OPENS {
            open_last::<M, B>(b, self.messages, &mut lasts);
        } else {
            seal_last::<M, B>(b, self.messages, &mut lasts);
        }
    }
}

/// What is left of a message when all blocks but the last are through.
struct Last {
    /// Blocks of the ciphertext before the last, intermediate tags included.
    before: usize,
    /// Bytes of the message before its last block, and in it: up to 16, or, where only the flag will tell, 16.
    whole: usize,
    bytes: usize,
    /// The flag byte: whether the last block was padded.
    flag: u8,
    /// The sum of the message's blocks before the last.
    sum: Block,
    w: Block,
    /// The last block, padded when sealing.
    block: Block,
    top: [Block; 2],
    bottom: [Block; 2],
    /// What intermediate tags differ by.
    difference: Block,
}

/// All blocks of a message but the last.
#[inline(always)]
fn before_last<M: Layers, B: Isa, const OPENS: bool>(b: B, message: &mut Message<'_>, w: &Block) -> Last {
    let l = message.bytes.div_ceil(BLOCK).max(1);
    let tags = (l - 1).checked_div(M::GAP).unwrap_or(0).min(MOST_TAGS);
    let (whole, before) = (l - 1, l - 1 + tags);
    let bytes = message.bytes - BLOCK * whole;
    let flag = if OPENS && M::FLAGGED {
        message.data.block(BLOCK * (before + 1))[0]
    } else {
        u8::from(bytes < BLOCK)
    };
    let block = if OPENS {
        message.data.block(BLOCK * before)
    } else {
        let block = message.data.block(BLOCK * whole);
        padded(&block[..bytes])
    };
    let mut run = Run::<M, B> {
        b,
        key: message.key,
        masks: [
            Masks::new(doublings(message.key), whole),
            Masks::new(doublings(message.key), if M::GAP > 0 { before } else { 0 }),
        ],
        state: State::new::<M::Mixing>(b, w),
        sum: b.zero(),
        mode: PhantomData,
    };
    let (mut w, mut difference) = (*w, [0; BLOCK]);
    if tags == 0 {
        if whole > 0 {
            run.blocks::<OPENS>(&mut message.data.part(0, BLOCK * whole));
            w = run.state.after::<M::Mixing>(b, (whole - 1) % B::BLOCKS);
        }
    } else {
        (w, difference) = run.stretches::<OPENS>(&mut message.data, whole, tags);
    }
    let [top, bottom] = &run.masks;
    let bottom = if M::GAP > 0 { bottom } else { top };
    // By cases, so that the factors are constants.
    let (top, bottom) = if flag == 0 {
        (last_masks(top, M::LAST_TOP[0]), last_masks(bottom, M::LAST_BOTTOM[0]))
    } else {
        (last_masks(top, M::LAST_TOP[1]), last_masks(bottom, M::LAST_BOTTOM[1]))
    };
    Last {
        before,
        whole: BLOCK * whole,
        bytes,
        flag,
        sum: b.first(b.fold(run.sum)),
        w,
        block,
        top,
        bottom,
        difference,
    }
}

#[inline(always)]
fn last_masks(masks: &Masks<'_>, factors: [u16; 2]) -> [Block; 2] {
    [masks.block(1, factors[0]), masks.block(1, factors[1])]
}

/// Registers that are in a layer at a time: with those in the other, as many as fill the units.
const GROUP: usize = REGISTERS / 2;

/// The mixing of a group of registers.
struct Mix<'g, B: Isa, X, const OPENS: bool> {
    state: &'g mut State<B>,
    x: &'g mut [B::V; GROUP],
    mixing: PhantomData<X>,
}

impl<B: Isa, X: Mixing, const OPENS: bool> Weave<B> for Mix<'_, B, X, OPENS> {
    #[inline(always)]
    fn thread(&mut self, b: B, piece: usize) {
        let x = self.x[piece];
        self.x[piece] = if OPENS { X::unmix(b, self.state, x) } else { X::mix(b, self.state, x) };
    }
}

/// A message on its way through both layers.
struct Run<'k, M: Layers, B: Isa> {
    b: B,
    key: &'k Material,
    /// Of the upper layer (and of the lower, unless intermediate tags set it apart), and of the lower one.
    masks: [Masks<'k>; 2],
    state: State<B>,
    /// The sum of the message's blocks.
    sum: B::V,
    mode: PhantomData<M>,
}

impl<M: Layers, B: Isa> Run<'_, M, B> {
    /// Which of the masks are the lower layer's.
    const BOTTOM: usize = if M::GAP > 0 { 1 } else { 0 };

    /// Takes whole blocks through both layers: what the first layer left of one group of registers is mixed between the
    /// rounds of the next group's first layer, and then enters the second.
    #[inline(always)]
    fn blocks<const OPENS: bool>(&mut self, data: &mut Span<'_>) {
        // A span and a state of its own stay in registers: the compiler knows that no store changes them.
        let data = &mut data.reborrow();
        let mut state = self.state;
        let register = BLOCK * B::BLOCKS;
        let end = data.len().next_multiple_of(GROUP * register);
        let (mut x, mut masks) = ([self.b.zero(); GROUP], [self.b.zero(); GROUP]);
        for at in (0..=end).step_by(GROUP * register) {
            let mut mix = Mix::<B, M::Mixing, OPENS> { state: &mut state, x: &mut x, mixing: PhantomData };
            let (mut next, mut next_masks) = ([self.b.zero(); GROUP], [self.b.zero(); GROUP]);
            if at == end {
                // The state stays that after the last register with a block.
                for r in 0..GROUP {
                    if at - (GROUP - r) * register < data.len() {
                        mix.thread(self.b, r);
                    }
                }
            } else if at > 0 {
                (next, next_masks) = self.first_layer::<OPENS, _>(data, at, &mut mix);
            } else {
                (next, next_masks) = self.first_layer::<OPENS, _>(data, at, &mut ());
            }
            if at > 0 {
                self.second_layer::<OPENS>(data, at - GROUP * register, x, masks);
            }
            (x, masks) = (next, next_masks);
        }
        self.state = state;
    }

    /// A group of registers from byte `at` on, as the first layer leaves it, and its masks for after the second.
    #[inline(always)]
    fn first_layer<const OPENS: bool, W: Weave<B>>(
        &mut self,
        data: &Span<'_>,
        at: usize,
        weave: &mut W,
    ) -> ([B::V; GROUP], [B::V; GROUP]) {
        let b = self.b;
        let mut x: [B::V; GROUP] = data.load_group(b, at);
        let mut after = x;
        let (top, bottom) = (self.masks[0].window(), self.masks[Self::BOTTOM].window());
        for r in 0..GROUP {
            let (top, bottom) = (top.register(b, r, M::TOP), bottom.register(b, r, M::BOTTOM));
            if !OPENS {
                self.sum = b.xor(self.sum, x[r]);
            }
            x[r] = b.xor(x[r], if OPENS { bottom } else { top });
            after[r] = if OPENS { top } else { bottom };
        }
        let blocks = (data.len() - at).div_ceil(BLOCK).min(GROUP * B::BLOCKS);
        for masks in &mut self.masks[..=Self::BOTTOM] {
            masks.go(b, blocks);
        }
        if OPENS {
            M::LowerInverse::run_with(b, &self.key.aes, &mut x, weave);
        } else {
            M::Upper::run_with(b, &self.key.aes, &mut x, weave);
        }
        (x, after)
    }

    /// Takes the group of registers whose place is byte `at` through the second layer.
    #[inline(always)]
    fn second_layer<const OPENS: bool>(
        &mut self,
        data: &mut Span<'_>,
        at: usize,
        mut x: [B::V; GROUP],
        masks: [B::V; GROUP],
    ) {
        let b = self.b;
        if OPENS {
            M::UpperInverse::run(b, &self.key.aes, &mut x);
        } else {
            M::Lower::run(b, &self.key.aes, &mut x);
        }
        for r in 0..GROUP {
            x[r] = b.xor(x[r], masks[r]);
        }
        if OPENS {
            let bytes = data.len() - at;
            for r in 0..GROUP {
                let counts = bytes.saturating_sub(r * BLOCK * B::BLOCKS).min(BLOCK * B::BLOCKS);
                self.sum = b.xor(self.sum, b.keep(x[r], counts));
            }
        }
        data.store_group(b, at, x);
    }

    /// Takes the first `whole` blocks of a message with intermediate tags through both layers. Returns the state after
    /// them and, when opening, what the tags differ by.
    #[inline(always)]
    fn stretches<const OPENS: bool>(
        &mut self,
        data: &mut Span<'_>,
        whole: usize,
        tags: usize,
    ) -> (Block, Block) {
        let stretch = BLOCK * M::GAP;
        // Where a stretch's plaintext and its ciphertext begin.
        let plain = |i: usize| i * stretch;
        let cipher = |i: usize| i * (stretch + BLOCK);
        if !OPENS {
            // Each stretch goes where its ciphertext will be: the last first, since in place they overlap. The last has
            // whatever follows the tags, of which there are no more than so many.
            for i in (0..=tags).rev() {
                let end = if i < tags { plain(i + 1) } else { BLOCK * whole };
                data.copy(plain(i), end, cipher(i));
            }
        }
        let mut states = ArrayVec::<Block, MOST_TAGS>::new();
        let mut tag_blocks = ArrayVec::<Block, MOST_TAGS>::new();
        let mut w = [0; BLOCK];
        for i in 0..=tags {
            let bytes = if i < tags { stretch } else { BLOCK * whole - plain(i) };
            if bytes > 0 {
                if i > 0 {
                    self.state = State::new::<M::Mixing>(self.b, &w);
                }
                if OPENS {
                    let tag = if i < tags { data.block(cipher(i) + bytes) } else { [0; BLOCK] };
                    self.blocks::<OPENS>(&mut data.part_at(cipher(i), cipher(i) + bytes, plain(i)));
                    self.end_stretch(i < tags, tag, &mut w, bytes, &mut states, &mut tag_blocks);
                } else {
                    self.blocks::<OPENS>(&mut data.written().part(cipher(i), cipher(i) + bytes));
                    self.end_stretch(i < tags, [0; BLOCK], &mut w, bytes, &mut states, &mut tag_blocks);
                }
            }
        }
        layer::<M::Lower, B>(self.b, self.key, &mut states);
        let mut difference = [0; BLOCK];
        for (i, (state, tag)) in states.iter().zip(&tag_blocks).enumerate() {
            let tag = add(*state, *tag);
            if OPENS {
                difference = or(difference, tag);
            } else {
                data.set_block(cipher(i) + stretch, &tag);
            }
        }
        (w, difference)
    }

    /// Keeps the state after a stretch, and for its tag, if it has one, the mask and what was received.
    #[inline(always)]
    fn end_stretch(
        &mut self,
        has_tag: bool,
        received: Block,
        w: &mut Block,
        bytes: usize,
        states: &mut ArrayVec<Block, MOST_TAGS>,
        tags: &mut ArrayVec<Block, MOST_TAGS>,
    ) {
        *w = self.state.after::<M::Mixing>(self.b, (bytes / BLOCK - 1) % B::BLOCKS);
        if has_tag {
            states.push(*w);
            tags.push(add(received, self.masks[1].block(0, u16::from(M::BOTTOM))));
            self.masks[1].go(self.b, 1);
        }
    }
}

/// The last block and the block for the tag of every message, sealed.
#[inline(always)]
fn seal_last<M: Layers, B: Isa>(b: B, messages: &mut [&mut Message<'_>], lasts: &mut [Last]) {
    let mut blocks = ArrayVec::<Block, { 2 * FLIGHT }>::new();
    for last in lasts.iter() {
        let sum = add(last.sum, last.block);
        blocks.push(add(if M::SUM_IS_LAST { sum } else { last.block }, last.top[0]));
        blocks.push(add(sum, last.top[1]));
    }
    each::<M::Upper, B>(b, messages, &mut blocks);
    for (last, [x, x_tag]) in lasts.iter_mut().zip(pairs(&mut blocks)) {
        *x = M::Mixing::mix_block(&mut last.w, *x);
        *x_tag = add(M::Mixing::mix_block(&mut last.w, *x_tag), M::BEFORE_TAG.to_be_bytes());
    }
    each::<M::Lower, B>(b, messages, &mut blocks);
    for ((message, last), [y, y_tag]) in messages.iter_mut().zip(lasts).zip(pairs(&mut blocks)) {
        let (c, c_tag) = (add(*y, last.bottom[0]), add(*y_tag, last.bottom[1]));
        message.data.set_block(BLOCK * last.before, &c);
        if M::FLAGGED {
            let mut flag = [0; BLOCK];
            flag[0] = last.flag;
            message.data.set_block(BLOCK * (last.before + 1), &flag);
            message.tag = c_tag;
        } else {
            let both = [c, c_tag];
            message.tag.copy_from_slice(&both.as_flattened()[last.bytes..last.bytes + BLOCK]);
        }
    }
}

/// The last block and the block for the tag of every message, opened. What is left in `message.tag` is the received tag,
/// and added to it what ought to be zero.
#[inline(always)]
fn open_last<M: Layers, B: Isa>(b: B, messages: &mut [&mut Message<'_>], lasts: &mut [Last]) {
    // Where the tag is a whole block, it goes the way of the last block.
    let each_has = if M::FLAGGED { 2 } else { 1 };
    let mut blocks = ArrayVec::<Block, { 2 * FLIGHT }>::new();
    for (message, last) in messages.iter().zip(lasts.iter_mut()) {
        if M::FLAGGED {
            blocks.push(add(last.block, last.bottom[0]));
            blocks.push(add(message.tag, last.bottom[1]));
        } else {
            last.block[last.bytes..].copy_from_slice(&message.tag[..BLOCK - last.bytes]);
            blocks.push(add(last.block, last.bottom[0]));
        }
    }
    each::<M::LowerInverse, B>(b, messages, &mut blocks);
    for (last, blocks) in lasts.iter_mut().zip(blocks.chunks_exact_mut(each_has)) {
        blocks[0] = M::Mixing::unmix_block(&mut last.w, blocks[0]);
        if let [_, y] = blocks {
            let mut w = last.w;
            *y = M::Mixing::unmix_block(&mut w, add(*y, M::BEFORE_TAG.to_be_bytes()));
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
    if M::FLAGGED {
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

/// What the tags and the paddings of opened messages differ by, where the tag ends within its block: as many bytes of the
/// one as are missing of the other.
#[inline(always)]
fn compute_cut_tags<M: Layers, B: Isa>(b: B, messages: &mut [&mut Message<'_>], lasts: &mut [Last]) {
    let mut blocks: ArrayVec<Block, FLIGHT> = lasts.iter().map(|last| add(last.sum, last.top[1])).collect();
    each::<M::Upper, B>(b, messages, &mut blocks);
    for (last, block) in lasts.iter_mut().zip(&mut blocks) {
        *block = add(M::Mixing::mix_block(&mut last.w, *block), M::BEFORE_TAG.to_be_bytes());
    }
    each::<M::Lower, B>(b, messages, &mut blocks);
    for ((message, last), block) in messages.iter_mut().zip(lasts).zip(blocks) {
        let c = add(block, last.bottom[1]);
        let padding = add(last.block, padded(&last.block[..last.bytes]));
        let (in_padding, in_tag) = message.tag.split_at_mut(BLOCK - last.bytes);
        for (tag, wrong) in in_padding.iter_mut().zip(&padding[last.bytes..]) {
            *tag ^= wrong;
        }
        in_tag.copy_from_slice(&c[..last.bytes]);
    }
}

/// Bytes of a padded block before its padding, and a byte that is zero if and only if it has one, and, where it must, a
/// byte before it; in constant time.
#[inline(always)]
fn unpad(block: &Block, needs_bytes: bool) -> (usize, u8) {
    let is_not_zero = |byte: u8| ((byte | byte.wrapping_neg()) >> 7).wrapping_neg();
    let (mut bytes, mut wrong, mut seen) = (0, 0xff, 0);
    for (i, &byte) in block.iter().enumerate().rev() {
        let ends = is_not_zero(byte) & !seen;
        bytes |= i as u8 & ends;
        wrong &= !ends | is_not_zero(byte ^ 0x80);
        seen |= ends;
    }
    let missing = u8::from(needs_bytes) & !is_not_zero(bytes);
    (usize::from(bytes), wrong | missing)
}

#[inline(always)]
fn or(x: Block, y: Block) -> Block {
    (u128::from_ne_bytes(x) | u128::from_ne_bytes(y)).to_ne_bytes()
}

/// Blocks two by two.
fn pairs(blocks: &mut [Block]) -> core::slice::IterMut<'_, [Block; 2]> {
    blocks.as_chunks_mut().0.iter_mut()
}
