//! EME2 (IEEE Std 1619.2), a tweakable wide-block cipher, with the standard's letters. The job's additional data is
//! the tweak `T`, in blocks `T_1`, `T_2`, …
//!
//! ```text
//! t ← E(K_AD)                                if T is empty
//!     E(T_1 ⊕ k_1) ⊕ k_1 ⊕ E(T_2 ⊕ k_2) ⊕ k_2 ⊕ …, k_j = 2^j K_AD
//!                                            a partial last T_j is padded, and its k_j doubled
//! B_i ← F(P_i ⊕ 2^i K_ECB) for all n whole blocks
//! mp ← t ⊕ B_0 ⊕ … ⊕ B_{n-1} ⊕ pad(Q)        Q: the bytes after the whole blocks
//! mc ← F(mp)                                 if there is no Q
//! mm ← F(mp), Q ← Q ⊕ mm, mc ← F(mm)         otherwise
//! m1 ← mp ⊕ mc, m ← m1
//! for i = 1, …, n - 1:
//!     m ← 2 m, G_i ← B_i ⊕ m                 unless i is a multiple of 128
//!     a ← B_i ⊕ m1, m ← a ⊕ F(a), G_i ← F(a) ⊕ m1      otherwise
//! G_0 ← t ⊕ mc ⊕ pad(Q) ⊕ G_1 ⊕ … ⊕ G_{n-1}  with the new Q
//! C_i ← F(G_i) ⊕ 2^i K_ECB
//! ```
//!
//! `F` is `E`, the cipher, for encryption, and its inverse for decryption. `pad` appends a one bit and zeros; it is
//! zero if there is no `Q`. The first pass stores `B_i` in the output, and the second pass reads them there.

use super::Mode;
use crate::backend::{BLOCK, Backend, Block, Isa, Kernel, ModeState, Span};
use crate::engine::blocks::{Loose, Pass, pass};
use crate::engine::xex::{Equation, Sequence, Sum, Xex};
use crate::engine::{Batch, Column, Material, Message};
use crate::primitives::aes::Shared;
use crate::primitives::block::{PADDING, whole};
use crate::primitives::doubles::Doubles;
use crate::primitives::doublings::{Doublings, Masks};
use crate::primitives::gf128::{short, times_short, times_x_to};
use crate::primitives::masked;
use crate::primitives::permutation::Permutation;

pub(crate) struct Eme2;

/// Bytes of 128 blocks: a group, after which `m` is replaced.
const GROUP: usize = 128 * BLOCK;

impl Mode for Eme2 {
    /// Returns the part of the key after `K_AD` and `K_ECB`.
    fn aes_key<'k>(&self, key: &'k [u8]) -> &'k [u8] {
        &key[2 * BLOCK..]
    }

    /// Stores `K_AD` and `K_ECB`, and the doublings of `K_ECB`.
    fn expand_key(&self, backend: Backend, key: &[u8], material: &mut Material) {
        material.aes.invert(backend);
        material.subkeys[..2].as_flattened_mut().copy_from_slice(&key[..2 * BLOCK]);
        material.mode_state = ModeState::new(Doublings::little_endian(&material.subkeys[1]));
    }

    fn seal(&self, batch: &mut Batch<'_, '_, '_>) {
        batch.backend.run(Crypt::<false> { messages: batch.messages });
    }

    fn open(&self, batch: &mut Batch<'_, '_, '_>) {
        batch.backend.run(Crypt::<true> { messages: batch.messages });
    }
}

struct Crypt<'b, 'm, 'a, const OPENS: bool> {
    messages: &'b mut [&'m mut Message<'a>],
}

impl<const OPENS: bool> Kernel for Crypt<'_, '_, '_, OPENS> {
    type Output = ();

    #[inline(always)]
    fn run<B: Isa>(self, b: B) {
        let Self { messages } = self;
        let (mut t, mut mp, mut m1, mut g0) = (Column::new(), Column::new(), Column::new(), Column::new());
        tweaks(b, messages, &mut t);
        for (message, t) in messages.iter_mut().zip(&t) {
            let sum = first_pass::<B, OPENS>(b, message);
            mp.push(b.first(b.xor3(sum, b.one(t), padded(b, message))));
        }
        middle::<B, OPENS>(b, messages, &mp, &t, &mut m1, &mut g0);
        let mut last = Loose::new();
        for ((message, m1), g0) in messages.iter_mut().zip(&m1).zip(&g0) {
            let sum = second_pass::<B, OPENS>(b, message, m1);
            last.push(&message.key.aes, b.first(b.xor(sum, b.one(g0))));
        }
        f::<B, OPENS>(b, &mut last);
        for (message, block) in messages.iter_mut().zip(&last.blocks) {
            let output = b.xor(b.one(block), b.one(k_ecb(message)));
            message.data.part(0, BLOCK).store_part(b, 0, output);
        }
    }
}

#[inline(always)]
fn k_ecb<'a>(message: &Message<'a>) -> &'a Block {
    &message.key.subkeys[1]
}

/// Returns whether the key's table has the masks of all whole blocks of a message.
#[inline(always)]
fn fits_table(message: &Message<'_>) -> bool {
    message.data.len() / BLOCK <= GROUP / BLOCK
}

/// Returns the masks `2^i K_ECB`, from `i = 0` on. They come from the key's table, which has those of a group.
#[inline(always)]
fn table<'a>(message: &Message<'a>) -> Masks<'a> {
    Masks::short(message.key.mode_state.get::<Doublings>())
}

/// Returns the number of bytes after the last whole block.
#[inline(always)]
fn ragged(message: &Message<'_>) -> usize {
    message.data.len() % BLOCK
}

/// Returns the round keys of `F`.
#[inline(always)]
fn keys<'a, const OPENS: bool>(message: &Message<'a>) -> Shared<'a> {
    if OPENS { message.key.aes.decrypting() } else { message.key.aes.encrypting() }
}

/// Applies `F` to single blocks.
#[inline(always)]
fn f<B: Isa, const OPENS: bool>(b: B, blocks: &mut Loose<'_>) {
    if OPENS {
        blocks.decrypt_on(b);
    } else {
        blocks.encrypt_on(b);
    }
}

/// Returns whether a tweak of this many bytes is empty, or ends with a partial block.
#[inline(always)]
fn has_last(bytes: usize) -> bool {
    bytes == 0 || !bytes.is_multiple_of(BLOCK)
}

/// Computes `t` of each message. It uses encryption in both directions.
#[inline(always)]
fn tweaks<B: Isa>(b: B, messages: &[&mut Message<'_>], t: &mut Column) {
    let mut last = Loose::new();
    for message in messages {
        let (key, tweak) = (message.key, &*message.aad);
        let k_ad = &key.subkeys[0];
        if tweak.is_empty() {
            t.push([0; BLOCK]);
            last.push(&key.aes, *k_ad);
            continue;
        }
        let (whole, rest) = tweak.split_at(whole(tweak.len()));
        let masks = Doubles::<B, false>::from(b, times_x_to(b, b.splat(k_ad), 1));
        let pieces = Xex::<B, _, _, Pieces>::over(b, &mut whole.into(), key.aes.encrypting(), masks);
        let mut sum = b.fold(pieces.sum);
        if !rest.is_empty() {
            let k = times_x_to(b, pieces.masks.at(b, whole.len() / BLOCK), 1);
            let piece = b.xor(b.load_bytes(rest), b.one(&PADDING[rest.len()]));
            last.push(&key.aes, b.first(b.xor(piece, k)));
            sum = b.xor(sum, k);
        }
        t.push(b.first(sum));
    }
    last.encrypt_on(b);
    let with_last = messages.iter().zip(t).filter(|(message, _)| has_last(message.aad.len()));
    for ((_, t), last) in with_last.zip(&last.blocks) {
        *t = b.first(b.xor(b.one(t), b.one(last)));
    }
}

/// The sum over the whole blocks of a tweak: `t ← t ⊕ E(T_j ⊕ k_j) ⊕ k_j`.
struct Pieces;

impl Equation for Pieces {
    const IS_XEX: bool = true;
    const WRITES: bool = false;
    const SUM: Sum = Sum::Output;
}

/// `B_i = F(P_i ⊕ 2^i K_ECB)`, and the sum of all `B_i`.
struct FirstPass<const OPENS: bool>;

impl<const OPENS: bool> Equation for FirstPass<OPENS> {
    const IS_XEX: bool = false;
    const DECRYPTS: bool = OPENS;
    const SUM: Sum = Sum::Output;
}

/// Writes `B_i` to the output. Returns their sum in the first lane.
#[inline(always)]
fn first_pass<B: Isa, const OPENS: bool>(b: B, message: &mut Message<'_>) -> B::V {
    let (keys, k_ecb) = (keys::<OPENS>(message), b.splat(k_ecb(message)));
    let (fits_table, table) = (fits_table(message), table(message));
    let blocks = &mut message.data.part(0, message.data.len() - ragged(message));
    b.fold(if fits_table {
        Xex::<B, _, _, FirstPass<OPENS>>::over(b, blocks, keys, table).sum
    } else {
        Xex::<B, _, _, FirstPass<OPENS>>::over(b, blocks, keys, Doubles::<B, false>::from(b, k_ecb)).sum
    })
}

/// Returns `pad(Q)` of the input, or zero if there is no `Q`.
#[inline(always)]
fn padded<B: Isa>(b: B, message: &Message<'_>) -> B::V {
    match ragged(message) {
        0 => b.zero(),
        bytes => b.xor(message.data.load_part(b, message.data.len() - bytes), b.one(&PADDING[bytes])),
    }
}

/// Computes `m1` and the part `t ⊕ mc ⊕ pad(Q)` of `G_0`. Encrypts or decrypts `Q` of each message.
#[inline(always)]
fn middle<B: Isa, const OPENS: bool>(
    b: B,
    messages: &mut [&mut Message<'_>],
    mp: &[Block],
    t: &[Block],
    m1: &mut Column,
    g0: &mut Column,
) {
    // `F(mp)` is `mm` for messages with `Q`, and `mc` for the others.
    let mut mm = Loose::new();
    for (message, mp) in messages.iter().zip(mp) {
        mm.push(&message.key.aes, *mp);
    }
    f::<B, OPENS>(b, &mut mm);
    let mut mc = Loose::new();
    for (message, mm) in messages.iter().zip(&mm.blocks) {
        if ragged(message) > 0 {
            mc.push(&message.key.aes, *mm);
        }
    }
    f::<B, OPENS>(b, &mut mc);

    let mut mc = mc.blocks.iter();
    for (((message, mp), mm), t) in messages.iter_mut().zip(mp).zip(&mm.blocks).zip(t) {
        let bytes = ragged(message);
        let next = if bytes > 0 { mc.next() } else { None };
        let (mc, q) = if let Some(mc) = next {
            let at = message.data.len() - bytes;
            let q = b.xor(message.data.load_part(b, at), b.one(mm));
            message.data.store_part(b, at, q);
            (b.one(mc), b.xor(b.keep(q, bytes), b.one(&PADDING[bytes])))
        } else {
            (b.one(mm), b.zero())
        };
        m1.push(b.first(b.xor(b.one(mp), mc)));
        g0.push(b.first(b.xor3(b.one(t), mc, q)));
    }
}

/// Replaces every `B_i` but `B_0` with `F(G_i) ⊕ 2^i K_ECB`. Returns the sum of the `G_i` in the first lane.
#[inline(always)]
fn second_pass<B: Isa, const OPENS: bool>(b: B, message: &mut Message<'_>, m1: &Block) -> B::V {
    let keys = keys::<OPENS>(message);
    let bytes = message.data.len() - ragged(message);
    let fits_table = fits_table(message);
    let mut table = table(message);
    table.go(b, 1);
    let mut mask = b.splat(k_ecb(message));
    let m1 = b.splat(m1);
    let mut m = m1;
    let mut sum = b.zero();
    let mut data = message.data.written();
    let mut at = 0;
    while at < bytes {
        if at > 0 {
            let mut block = data.part(at, at + BLOCK);
            let a = b.xor(block.load_part(b, 0), m1);
            let fa = single::<B, OPENS>(b, keys, a);
            m = b.spread(b.xor(a, fa));
            let g = b.xor(fa, m1);
            block.store_part(b, 0, b.xor(single::<B, OPENS>(b, keys, g), mask));
            sum = b.xor(sum, b.keep(g, BLOCK));
        }
        let end = bytes.min(at + GROUP);
        let further = &mut data.part(at + BLOCK, end);
        let m = Doubles::from(b, times_x_to(b, m, 1));
        sum = if fits_table {
            SecondPass::<B, _, OPENS> { keys, masks: &mut table, m, sum }.run(b, further)
        } else {
            let masks = &mut Doubles::<B, false>::from(b, times_x_to(b, mask, 1));
            SecondPass::<B, _, OPENS> { keys, masks, m, sum }.run(b, further)
        };
        // The next group's mask is `x^128` times this one, and x^128 = x^7 + x^2 + x + 1.
        mask = times_short(b, mask, b.splat(&short(0x87)));
        at = end;
    }
    b.fold(sum)
}

/// Applies `F` to every block of a register.
#[inline(always)]
fn single<B: Isa, const OPENS: bool>(b: B, keys: Shared<'_>, x: B::V) -> B::V {
    let mut x = [x];
    keys.crypt(b, OPENS, &mut x);
    x[0]
}

struct SecondPass<'p, B: Isa, S, const OPENS: bool> {
    keys: Shared<'p>,
    masks: &'p mut S,
    m: Doubles<B, false>,
    sum: B::V,
}

impl<B: Isa, S: Sequence<B>, const OPENS: bool> SecondPass<'_, B, S, OPENS> {
    #[inline(always)]
    fn run(mut self, b: B, data: &mut Span<'_>) -> B::V {
        pass(b, data, &mut self);
        self.sum
    }
}

impl<B: Isa, S: Sequence<B>, const OPENS: bool> Pass<B> for SecondPass<'_, B, S, OPENS> {
    const WRITES: bool = true;

    /// Computes `G_i = B_i ⊕ m`, where `m` doubles from block to block, and `C_i = F(G_i) ⊕ 2^i K_ECB`.
    #[inline(always)]
    fn step<const R: usize>(&mut self, b: B, x: &mut [B::V; R], bytes: usize) {
        let blocks = (R - 1) * B::BLOCKS + bytes / BLOCK;
        masked::add(b, x, &self.m.take(b, blocks));
        for r in 0..R {
            let g = if r + 1 < R { x[r] } else { b.keep(x[r], bytes) };
            self.sum = b.xor(self.sum, g);
        }
        self.keys.crypt(b, OPENS, x);
        masked::add(b, x, &self.masks.take(b, blocks));
    }
}
