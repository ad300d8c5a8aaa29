//! AES-OTR v3 (Minematsu, CAESAR), with the submission's letters. The message is encrypted in chunks of two blocks,
//! each of which passes a two-round Feistel network.
//!
//! ```text
//! Q ← E_K(0)
//! F ← E_K(nonce block)                       formatted like OCB3's
//! TA ← 0 if there is no associated data A, otherwise
//!     parallel:  E_K(S ⊕ ozp(A_a) ⊕ 5 2^(a-1) Q or 3 2^(a-1) Q), S ← sum of E_K(A_i ⊕ 2^(i-1) Q), i < a
//!     serial:    E_K(S ⊕ ozp(A_a) ⊕ 4 Q or 2 Q), S ← CBC-MAC of the blocks before A_a
//! L ← F                                      parallel
//!     2 (F ⊕ TA)                             serial
//! for each chunk i but the last, L_i = 2^(i-1) L, L#_i = 3 L_i:
//!     C1 ← E_K(L_i ⊕ P1) ⊕ P2
//!     C2 ← E_K(L#_i ⊕ C1) ⊕ P1
//!     Sum ← Sum ⊕ P2
//! the last chunk, if it has more than one block:
//!     Z ← E_K(L_i ⊕ P1), C2 ← P2 ⊕ Z, X ← ozp(C2)
//!     C1 ← E_K(L#_i ⊕ X) ⊕ P1
//!     TE ← E_K(Sum ⊕ Z ⊕ X ⊕ 7 L#_i or 5 L#_i)
//! the last chunk, if it has at most one block:
//!     C1 ← P1 ⊕ E_K(L_i)
//!     TE ← E_K(Sum ⊕ ozp(P1) ⊕ 7 L_i or 5 L_i)
//! T ← TE ⊕ TA                                parallel
//!     TE                                     serial
//! ```
//!
//! `ozp` pads a partial block with a one bit and zeros. Where two multiples are given, the first is for a whole last
//! block, the second for a padded one.

use arrayvec::ArrayVec;

use super::Mode;
use super::ocb3::nonce_block;
use super::omac::cbc_mac;
use crate::backend::{BLOCK, Backend, Block, Isa, Kernel, Span};
use crate::engine::blocks::{Loose, PairPass, encrypt_alone, encrypt_each, pass_pairs};
use crate::engine::xex::{Equation, Sum, Xex};
use crate::engine::{Batch, Column, FLIGHT, Material, Message};
use crate::primitives::aes::Shared;
use crate::primitives::block::{PADDING, before_last};
use crate::primitives::doubles::Doubles;
use crate::primitives::gf128::{BigEndian, double, short, times_short};

/// The parameter sets, by their processing of associated data.
pub(crate) enum Otr {
    /// Blocks in parallel, similar to PMAC: "p".
    Parallel,
    /// Blocks in a chain, similar to CMAC: "s".
    Serial,
}

/// Bytes of a chunk.
const CHUNK: usize = 2 * BLOCK;

impl Mode for Otr {
    /// Computes `Q = E_K(0)`.
    fn expand_key(&self, backend: Backend, _: &[u8], material: &mut Material) {
        [material.subkeys[0]] = encrypt_alone(backend, &material.aes, [[0; BLOCK]]);
    }

    fn seal(&self, batch: &mut Batch<'_, '_, '_>) {
        self.crypt::<false>(batch);
    }

    fn open(&self, batch: &mut Batch<'_, '_, '_>) {
        self.crypt::<true>(batch);
    }
}

impl Otr {
    fn crypt<const OPENS: bool>(&self, batch: &mut Batch<'_, '_, '_>) {
        let mut chained = Column::new();
        let s = match self {
            Self::Parallel => None,
            Self::Serial => {
                chains(batch, &mut chained);
                Some(&*chained)
            }
        };
        batch.backend.run(Crypt::<OPENS> { messages: batch.messages, s });
    }
}

/// Computes `S` of the serial sets: the CBC-MAC of all blocks of associated data but the last.
fn chains(batch: &mut Batch<'_, '_, '_>, s: &mut Column) {
    s.extend(batch.messages.iter().map(|_| [0; BLOCK]));
    cbc_mac(batch, |key| &key.aes, s, |message| Span::from(&message.aad[..before_last(message.aad.len())]));
}

struct Crypt<'b, 'm, 'a, const OPENS: bool> {
    messages: &'b mut [&'m mut Message<'a>],
    /// `S` of each message in the serial sets, `None` in the parallel ones.
    s: Option<&'b [Block]>,
}

impl<const OPENS: bool> Kernel for Crypt<'_, '_, '_, OPENS> {
    type Output = ();

    #[inline(always)]
    fn run<B: Isa>(self, b: B) {
        let Self { messages, s } = self;
        let is_serial = s.is_some();
        let (mut ta, mut f) = (Column::new(), Column::new());
        associated_data(b, messages, s, &mut ta);
        for message in messages.iter() {
            f.push(nonce_block(message).to_be_bytes());
        }
        encrypt_each(b, messages, &mut f);

        let mut ends = ArrayVec::<End, FLIGHT>::new();
        for ((message, f), ta) in messages.iter_mut().zip(&f).zip(&ta) {
            let l = if is_serial { double(b, b.xor(b.splat(f), b.splat(ta))) } else { b.splat(f) };
            ends.push(whole_chunks::<B, OPENS>(b, message, l));
        }
        last_chunks::<B, OPENS>(b, messages, &mut ends);

        let mut te = Column::new();
        for (message, End { l, sum }) in messages.iter().zip(&ends) {
            let r = last_chunk(message);
            // For chunks of more than one block, the multiples are of L# = 3 L: 5 L# = 15 L, 7 L# = 9 L.
            let times = match (r <= BLOCK, r == BLOCK || r == CHUNK) {
                (true, false) => 0b101,
                (true, true) => 0b111,
                (false, false) => 0b1111,
                (false, true) => 0b1001,
            };
            te.push(b.first(b.xor(b.one(sum), times_small(b, l, times))));
        }
        encrypt_each(b, messages, &mut te);
        for ((message, te), ta) in messages.iter_mut().zip(&te).zip(&ta) {
            let mask = if is_serial { b.zero() } else { b.one(ta) };
            message.tag = b.first(b.xor(b.one(te), mask));
        }
    }
}

/// The state of a message before its last chunk.
struct End {
    /// `L_i` of the last chunk.
    l: Block,
    /// `Sum`.
    sum: Block,
}

/// Returns the number of bytes of the last chunk, 1 to 32, or 0 if the message is empty.
#[inline(always)]
fn last_chunk(message: &Message<'_>) -> usize {
    match message.data.len() {
        0 => 0,
        bytes => (bytes - 1) % CHUNK + 1,
    }
}

/// Returns the number of bytes that [`last_chunks`] processes. It is 0 if the last chunk is whole: such a chunk is
/// processed with the others, and then its two blocks of ciphertext trade places.
#[inline(always)]
fn left(message: &Message<'_>) -> usize {
    message.data.len() % CHUNK
}

/// Returns a small multiple of a block in the first lane.
#[inline(always)]
fn times_small<B: Isa>(b: B, v: &Block, polynomial: u64) -> B::V {
    b.reverse(times_short(b, b.reverse(b.one(v)), b.one(&short(polynomial))))
}

/// `ozp`: pads a string of `bytes` bytes, followed by zeros, with a one bit unless it is a whole block.
#[inline(always)]
fn padded<B: Isa>(b: B, v: B::V, bytes: usize) -> B::V {
    b.xor(v, b.one(&PADDING[bytes]))
}

/// Computes `TA` of each message. In the serial sets, `s` has `S` of each.
#[inline(always)]
fn associated_data<B: Isa>(b: B, messages: &[&mut Message<'_>], s: Option<&[Block]>, ta: &mut Column) {
    let mut last = Loose::new();
    for (i, message) in messages.iter().enumerate() {
        let (key, a) = (message.key, &*message.aad);
        ta.push([0; BLOCK]);
        if a.is_empty() {
            continue;
        }
        let q = &key.subkeys[0];
        let (before, a_last) = a.split_at(before_last(a.len()));
        let is_whole = a_last.len() == BLOCK;
        let (sum, mask) = if let Some(s) = s {
            (b.one(&s[i]), times_small(b, q, if is_whole { 4 } else { 2 }))
        } else {
            let masks = Doubles::<B, true>::from(b, b.splat(q));
            let blocks = Xex::<B, _, _, Hashed>::over(b, &mut before.into(), key.aes.encrypting(), masks);
            let mask = b.first(blocks.masks.at(b, before.len() / BLOCK));
            (b.fold(blocks.sum), times_small(b, &mask, if is_whole { 5 } else { 3 }))
        };
        let a_last = padded(b, b.load_bytes(a_last), a_last.len());
        last.push(&key.aes, b.first(b.xor3(sum, a_last, mask)));
    }
    last.encrypt_on(b);
    let with_data = messages.iter().zip(ta).filter(|(message, _)| !message.aad.is_empty());
    for ((_, ta), last) in with_data.zip(&last.blocks) {
        *ta = *last;
    }
}

/// The blocks of associated data before the last, in the parallel sets: `S ← S ⊕ E_K(A_i ⊕ 2^(i-1) Q)`.
struct Hashed;

impl Equation for Hashed {
    const IS_XEX: bool = false;
    const WRITES: bool = false;
    const SUM: Sum = Sum::Output;
}

/// Encrypts or decrypts all chunks but the partial last one, with masks that begin with `l`.
#[inline(always)]
fn whole_chunks<B: Isa, const OPENS: bool>(b: B, message: &mut Message<'_>, l: B::V) -> End {
    let bytes = message.data.len() - left(message);
    let has_last = bytes > 0 && bytes == message.data.len();
    let Message { key, data, .. } = message;
    let masks = Doubles::from(b, l);
    let until_last = if has_last { bytes / CHUNK } else { usize::MAX };
    let mut chunks = Chunks::<B, OPENS> { keys: key.aes.encrypting(), masks, sum: b.zero(), until_last };
    pass_pairs(b, &mut data.part(0, bytes), &mut chunks);
    let mut l = b.first(chunks.masks.at(b, bytes / CHUNK));
    if has_last {
        l = BigEndian::halve_block(&l);
    }
    End { l, sum: b.first(b.fold(chunks.sum)) }
}

struct Chunks<'k, B: Isa, const OPENS: bool> {
    keys: Shared<'k>,
    masks: Doubles<B, true>,
    sum: B::V,
    // Number of chunks up to and including a whole last chunk of the message; without one, more than the message has.
    until_last: usize,
}

impl<B: Isa, const OPENS: bool> PairPass<B> for Chunks<'_, B, OPENS> {
    /// Computes `C1 = E_K(L_i ⊕ P1) ⊕ P2` and `C2 = E_K(L#_i ⊕ C1) ⊕ P1`. Decryption exchanges the masks.
    #[inline(always)]
    fn step<const R: usize>(&mut self, b: B, first: &mut [B::V; R], second: &mut [B::V; R], pairs: usize) {
        let taken = (R - 1) * B::BLOCKS + pairs;
        self.until_last -= taken;
        let has_last = self.until_last == 0;
        if OPENS && has_last {
            exchange(b, &mut first[R - 1], &mut second[R - 1], pairs - 1);
        }
        let (l, twice) = self.masks.take_twice::<R>(b, taken);
        let mut masks = [l, twice];
        for r in 0..R {
            let l_sharp = b.xor(l[r], twice[r]);
            [masks[0][r], masks[1][r]] = if OPENS { [l_sharp, l[r]] } else { [l[r], l_sharp] };
        }
        let mut x = *first;
        for r in 0..R {
            if !OPENS {
                self.sum = b.xor(self.sum, second[r]);
            }
            x[r] = b.xor(x[r], masks[0][r]);
        }
        b.encrypt(self.keys, &mut x);
        let mut y = x;
        for r in 0..R {
            x[r] = b.xor(x[r], second[r]);
            y[r] = b.xor(x[r], masks[1][r]);
        }
        b.encrypt(self.keys, &mut y);
        for r in 0..R {
            y[r] = b.xor(y[r], first[r]);
            if OPENS {
                let p2 = if r + 1 < R { y[r] } else { b.keep(y[r], BLOCK * pairs) };
                self.sum = b.xor(self.sum, p2);
            }
        }
        if !OPENS && has_last {
            exchange(b, &mut x[R - 1], &mut y[R - 1], pairs - 1);
        }
        (*first, *second) = (x, y);
    }
}

/// Exchanges the blocks in one lane of two registers.
#[inline(always)]
fn exchange<B: Isa>(b: B, x: &mut B::V, y: &mut B::V, lane: usize) {
    let both = b.xor(*x, *y);
    let change = b.xor(b.keep(both, BLOCK * (lane + 1)), b.keep(both, BLOCK * lane));
    (*x, *y) = (b.xor(*x, change), b.xor(*y, change));
}

/// Encrypts or decrypts the partial last chunk of each message that has one.
#[inline(always)]
fn last_chunks<B: Isa, const OPENS: bool>(b: B, messages: &mut [&mut Message<'_>], ends: &mut [End]) {
    let mut first = Loose::new();
    for (message, end) in messages.iter().zip(&*ends) {
        let r = left(message);
        if r > 0 {
            let at = message.data.len() - r;
            let x = match r {
                ..=BLOCK => b.one(&end.l),
                _ if OPENS => b.xor(
                    times_small(b, &end.l, 3),
                    padded(b, message.data.load_part(b, at + BLOCK), r - BLOCK),
                ),
                _ => b.xor(b.one(&end.l), message.data.load_part(b, at)),
            };
            first.push(&message.key.aes, b.first(x));
        }
    }
    first.encrypt_on(b);

    for (_, End { sum, .. }) in messages.iter().zip(&mut *ends).filter(|(message, _)| message.data.len() == 0)
    {
        *sum = b.first(padded(b, b.zero(), 0));
    }
    let mut second = Loose::new();
    let with_last = messages.iter_mut().zip(&mut *ends).filter(|(message, _)| left(message) > 0);
    for ((message, End { l, sum }), block) in with_last.zip(&first.blocks) {
        let (r, block) = (left(message), b.one(block));
        let mut chunk = message.data.part(message.data.len() - r, message.data.len());
        if r <= BLOCK {
            let input = chunk.load_part(b, 0);
            let output = b.xor(input, block);
            chunk.store_part(b, 0, output);
            let p = if OPENS { b.keep(output, r) } else { input };
            *sum = b.first(b.xor(b.one(sum), padded(b, p, r)));
        } else if OPENS {
            // P1 = E_K(L# ⊕ X) ⊕ C1
            let p1 = b.xor(block, chunk.load_part(b, 0));
            chunk.part(0, BLOCK).store_part(b, 0, p1);
            second.push(&message.key.aes, b.first(b.xor(p1, b.one(l))));
        } else {
            // C2 = P2 ⊕ Z
            let c2 = b.xor(block, chunk.load_part(b, BLOCK));
            chunk.store_part(b, BLOCK, c2);
            let x = padded(b, b.keep(c2, r - BLOCK), r - BLOCK);
            *sum = b.first(b.xor3(b.one(sum), block, x));
            second.push(&message.key.aes, b.first(b.xor(x, times_small(b, l, 3))));
        }
    }
    second.encrypt_on(b);

    let with_second = messages.iter_mut().zip(ends).filter(|(message, _)| left(message) > BLOCK);
    for ((message, End { sum, .. }), block) in with_second.zip(&second.blocks) {
        let (r, block) = (left(message), b.one(block));
        let mut chunk = message.data.part(message.data.len() - r, message.data.len());
        if OPENS {
            // P2 = C2 ⊕ Z
            let c2 = chunk.load_part(b, BLOCK);
            chunk.store_part(b, BLOCK, b.xor(block, c2));
            *sum = b.first(b.xor3(b.one(sum), block, padded(b, c2, r - BLOCK)));
        } else {
            // C1 = E_K(L# ⊕ X) ⊕ P1
            let c1 = b.xor(block, chunk.load_part(b, 0));
            chunk.part(0, BLOCK).store_part(b, 0, c1);
        }
    }
}
