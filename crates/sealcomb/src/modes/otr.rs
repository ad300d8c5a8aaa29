//! AES-OTR, version 3 (K. Minematsu's CAESAR submission), with its letters: `Q = E_K(0)`, `L` and `L#` the masks of a
//! chunk of two blocks, `TA` what comes of the associated data, `TE` the tag before it meets that.

use arrayvec::ArrayVec;

use super::Mode;
use super::ocb3::nonce_block;
use super::omac::cbc_mac;
use crate::backend::{BLOCK, Backend, Block, Isa, Kernel, Span};
use crate::engine::blocks::{Loose, PairPass, Pass, encrypt_alone, encrypt_each, pass, pass_pairs};
use crate::engine::{Batch, Column, FLIGHT, Material, Message};
use crate::primitives::aes::Shared;
use crate::primitives::block::{PADDING, before_last};
use crate::primitives::doubles::Doubles;
use crate::primitives::gf128::{BigEndian, double, short, times_short};

/// The parameter sets, by how they process associated data.
pub(crate) enum Otr {
    /// Blocks side by side, as PMAC does it: "p".
    Parallel,
    /// In a chain, as CMAC does it: "s".
    Serial,
}

/// Bytes of a chunk.
const CHUNK: usize = 2 * BLOCK;

impl Mode for Otr {
    /// `Q = E_K(0)`
    fn key(&self, backend: Backend, _: &[u8], material: &mut Material) {
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

/// `S` of the serial sets: the chain over all blocks of associated data but the last.
fn chains(batch: &mut Batch<'_, '_, '_>, s: &mut Column) {
    s.extend(batch.messages.iter().map(|_| [0; BLOCK]));
    cbc_mac(batch, |key| &key.aes, s, |message| Span::from(&message.aad[..before_last(message.aad.len())]));
}

struct Crypt<'b, 'm, 'a, const OPENS: bool> {
    messages: &'b mut [&'m mut Message<'a>],
    /// The chains over the associated data, if it is processed in series.
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
            // L# = 3 L, 5 L# = 15 L, 7 L# = 9 L
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

/// What is left of a message when its last chunk begins.
struct End {
    /// `L_i` of that chunk.
    l: Block,
    /// `Sum`
    sum: Block,
}

/// Bytes of the last chunk: none only if the message has none.
#[inline(always)]
fn last_chunk(message: &Message<'_>) -> usize {
    match message.data.len() {
        0 => 0,
        bytes => (bytes - 1) % CHUNK + 1,
    }
}

/// Bytes that stay for [`last_chunks`]. A whole last chunk is none of them: it is one like the others whose two blocks of
/// ciphertext change places.
#[inline(always)]
fn left(message: &Message<'_>) -> usize {
    message.data.len() % CHUNK
}

/// A small multiple of a block, in the first lane.
#[inline(always)]
fn times_small<B: Isa>(b: B, v: &Block, polynomial: u64) -> B::V {
    b.reverse(times_short(b, b.reverse(b.one(v)), b.one(&short(polynomial))))
}

/// `ozp`: a string of so many bytes, with zeros after it, and a one bit if it isn't a whole block.
#[inline(always)]
fn padded<B: Isa>(b: B, v: B::V, bytes: usize) -> B::V {
    b.xor(v, b.one(&PADDING[bytes]))
}

/// `TA` of each message; `s` has the chains of those that process in series.
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
            let masks = Doubles::from(b, b.splat(q));
            let mut blocks = Hashed { keys: key.aes.encrypting(), masks, sum: b.zero() };
            pass(b, &mut before.into(), &mut blocks);
            let mask = b.first(blocks.masks.at(b, before.len() / BLOCK));
            (b.fold(blocks.sum), times_small(b, &mask, if is_whole { 5 } else { 3 }))
        };
        let a_last = padded(b, b.load_bytes(a_last), a_last.len());
        last.push(&key.aes, b.first(b.xor3(sum, a_last, mask)));
    }
    last.encrypt_on(b);
    let mut last = last.blocks.iter();
    for (message, ta) in messages.iter().zip(ta) {
        if !message.aad.is_empty() {
            *ta = *last.next().expect("a last block for all associated data");
        }
    }
}

/// The blocks of associated data before the last, in the parallel sets.
struct Hashed<'k, B: Isa> {
    keys: Shared<'k>,
    masks: Doubles<B, true>,
    sum: B::V,
}

impl<B: Isa> Pass<B> for Hashed<'_, B> {
    const WRITES: bool = false;

    /// `S ← S ⊕ E_K(A_i ⊕ 2^(i-1) Q)`
    #[inline(always)]
    fn step<const R: usize>(&mut self, b: B, x: &mut [B::V; R], bytes: usize) {
        let masks: [B::V; R] = self.masks.take(b, (R - 1) * B::BLOCKS + bytes / BLOCK);
        for r in 0..R {
            x[r] = b.xor(x[r], masks[r]);
        }
        b.encrypt(self.keys, x);
        x[R - 1] = b.keep(x[R - 1], bytes);
        for r in 0..R {
            self.sum = b.xor(self.sum, x[r]);
        }
    }
}

/// Encrypts or decrypts the chunks before those left, under masks that begin with `l`.
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
    // Chunks up to and with the message's last, if it is whole; otherwise more than there are.
    until_last: usize,
}

impl<B: Isa, const OPENS: bool> PairPass<B> for Chunks<'_, B, OPENS> {
    /// `C1 = E_K(L_i ⊕ P1) ⊕ P2` and `C2 = E_K(L#_i ⊕ C1) ⊕ P1`; the way back is the same with the masks exchanged.
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

/// Has the blocks in one lane of two registers change places.
#[inline(always)]
fn exchange<B: Isa>(b: B, x: &mut B::V, y: &mut B::V, lane: usize) {
    let both = b.xor(*x, *y);
    let change = b.xor(b.keep(both, BLOCK * (lane + 1)), b.keep(both, BLOCK * lane));
    (*x, *y) = (b.xor(*x, change), b.xor(*y, change));
}

/// Encrypts or decrypts the last chunk of each message that has one left.
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

    let mut second = Loose::new();
    let mut blocks = first.blocks.iter();
    for (message, End { l, sum }) in messages.iter_mut().zip(&mut *ends) {
        let r = left(message);
        if r == 0 {
            if message.data.len() == 0 {
                *sum = b.first(padded(b, b.zero(), 0));
            }
            continue;
        }
        let block = b.one(blocks.next().expect("a block for every message that has one"));
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

    let mut blocks = second.blocks.iter();
    for (message, End { sum, .. }) in messages.iter_mut().zip(ends) {
        let r = left(message);
        if r <= BLOCK {
            continue;
        }
        let block = b.one(blocks.next().expect("a second block for every message that needs one"));
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
