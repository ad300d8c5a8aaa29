//! HCTR2 (Crowley, Huckleberry, Biggers, "Length-preserving encryption with HCTR2", 2021), a tweakable wide-block
//! cipher, with the paper's letters. The job's additional data is the tweak `T`.
//!
//! ```text
//! h ← E(0), L ← E(1)
//! M ‖ N ← P                                  M is one block
//! MM ← M ⊕ H(T, N)
//! UU ← F(MM)
//! S ← MM ⊕ UU ⊕ L
//! V ← N ⊕ (E(S ⊕ 1) ‖ E(S ⊕ 2) ‖ …)
//! U ← UU ⊕ H(T, V)
//! C ← U ‖ V
//! ```
//!
//! `F` is `E`, the cipher, for encryption, and its inverse for decryption. Numbers are little-endian.
//!
//! ```text
//! H(T, X) = POLYVAL(h, 16 |T| + 2 ‖ T ‖ X)        if X has whole blocks
//!           POLYVAL(h, 16 |T| + 3 ‖ T ‖ X ‖ 1)    otherwise
//!         = POLYVAL(h, Z ‖ X) or POLYVAL(h, Z ‖ X ‖ 1)
//! ```
//!
//! `|T|` is a number of bytes, 1 is one byte, and zeros pad strings to whole blocks. `Z` is the hash of what precedes
//! `X`, up to the last product. It is equal for `N` and `V`, and takes the place of the first block when a whole
//! message is hashed: that block is in the state of the hash already, so that it cancels out.

use arrayvec::ArrayVec;

use super::Mode;
use crate::backend::{BLOCK, Backend, Isa, Kernel, ModeState, REGISTERS, Span, Weave};
use crate::engine::blocks::Loose;
use crate::engine::{Batch, Column, Material, Message};
use crate::primitives::block::{before_last, bit_lengths};
use crate::primitives::counter::{NUMBERS, XorCounters};
use crate::primitives::gf128::PolyvalOrder;
use crate::primitives::ghash::{self, Absorb, KeyHash, Table};

pub(crate) struct Hctr2;

/// POLYVAL under the key `h`.
type Polyval<'t, B> = KeyHash<'t, B, PolyvalOrder>;

/// Number of messages that pass each step together. The block `MM` of all of them passes the cipher at once, and their
/// texts, which are read twice, stay in the first cache.
const TOGETHER: usize = 8;

impl Mode for Hctr2 {
    fn expand_key(&self, backend: Backend, key: &[u8], material: &mut Material) {
        self.expand_keys(backend, &mut [(key, material)]);
    }

    fn expand_keys(&self, backend: Backend, pairs: &mut [(&[u8], &mut Material)]) {
        for pairs in pairs.chunks_mut(backend.blocks()) {
            for (_, material) in &mut *pairs {
                material.aes.invert(backend);
                // No kernel should allocate: a call makes it store its registers, which have secrets, on the stack.
                material.mode_state = ModeState::new(Table::empty());
            }
            backend.run(HashKeys { pairs });
        }
    }

    fn seal(&self, batch: &mut Batch<'_, '_, '_>) {
        batch.backend.run(Crypt { messages: batch.messages, opens: false });
    }

    fn open(&self, batch: &mut Batch<'_, '_, '_>) {
        batch.backend.run(Crypt { messages: batch.messages, opens: true });
    }
}

/// Up to one key per lane.
struct HashKeys<'p, 'k, 'm> {
    pairs: &'p mut [(&'k [u8], &'m mut Material)],
}

impl Kernel for HashKeys<'_, '_, '_> {
    type Output = ();

    /// Computes the powers of `h`, and `L`.
    #[inline(always)]
    fn run<B: Isa>(self, b: B) {
        let mut h = [b.zero(); 4];
        for (h, (_, material)) in h.iter_mut().zip(&mut *self.pairs) {
            let mut x = [b.zero(), b.one(&NUMBERS.0[1])];
            b.encrypt(material.aes.encrypting(), &mut x);
            *h = x[0];
            material.subkeys[0] = b.first(x[1]);
        }
        let [h, ..] = b.transpose(h);
        let mut tables = ArrayVec::<_, 4>::new();
        tables.extend(self.pairs.iter_mut().map(|(_, material)| material.mode_state.get_mut()));
        ghash::fill::<PolyvalOrder, B>(b, h, &mut tables);
    }
}

struct Crypt<'b, 'm, 'a> {
    messages: &'b mut [&'m mut Message<'a>],
    opens: bool,
}

impl Kernel for Crypt<'_, '_, '_> {
    type Output = ();

    #[inline(always)]
    fn run<B: Isa>(self, b: B) {
        for messages in self.messages.chunks_mut(TOGETHER) {
            crypt(b, messages, self.opens);
        }
    }
}

#[inline(always)]
fn crypt<B: Isa>(b: B, messages: &mut [&mut Message<'_>], opens: bool) {
    let (mut starts, mut mm, mut uu) = (Column::new(), Column::new(), Loose::new());
    for message in messages.iter() {
        let m = b.one(&message.data.block(0));
        let start = b.xor(m, z(b, message));
        let block = b.first(b.xor(m, hash_input(b, message, start)));
        starts.push(b.first(start));
        mm.push(block);
        uu.push(&message.key.aes, block);
    }
    if opens {
        uu.decrypt_on(b);
    } else {
        uu.encrypt_on(b);
    }
    for (i, message) in messages.iter_mut().enumerate() {
        let uu = b.one(&uu.blocks[i]);
        let s = b.xor3(b.one(&mm[i]), uu, b.one(&message.key.subkeys[0]));
        let hash = crypt_text(b, message, b.spread(s), b.one(&starts[i]));
        message.data.set_block(0, &b.first(b.xor(uu, hash)));
    }
}

#[inline(always)]
fn table<'a>(message: &Message<'a>) -> &'a Table {
    message.key.mode_state.get()
}

/// Returns `Z` in the first lane: the last block of `T` plus the hash of the length and the preceding blocks. If `T` is
/// empty, it is the length.
#[inline(always)]
fn z<B: Isa>(b: B, message: &Message<'_>) -> B::V {
    let tweak = &*message.aad;
    let whole = message.data.len().is_multiple_of(BLOCK);
    let length = 2 * bit_lengths(tweak.len() as u64, 0) + if whole { 2 } else { 3 };
    let length = b.one(&length.to_le_bytes());
    if tweak.is_empty() {
        return length;
    }
    let (before, last) = tweak.split_at(before_last(tweak.len()));
    let mut hash = Polyval::new(b, table(message));
    hash.begin(b, 1);
    hash.absorb(b, length, 1);
    hash.end(b);
    hash.absorb_string(b, &before.into());
    b.xor(hash.value(b), b.load_bytes(last))
}

/// Returns the hash of the input in the first lane. `start` is the sum of `Z` and the first block.
#[inline(always)]
fn hash_input<B: Isa>(b: B, message: &Message<'_>, start: B::V) -> B::V {
    let data = message.data.input();
    let mut hash = Polyval::after(b, table(message), start);
    let mut at = hash.absorb_groups(b, &data, data.len());
    if at < data.len() {
        hash.begin(b, (data.len() - at).div_ceil(BLOCK));
        let register = BLOCK * B::BLOCKS;
        while data.len() - at > register {
            hash.absorb(b, data.load(b, at), B::BLOCKS);
            at += register;
        }
        absorb_last(b, &mut hash, data.load_part(b, at), data.len() - at);
        hash.end(b);
    }
    hash.value(b)
}

/// Absorbs the last `bytes` bytes of a text, at most a register, and pads them.
#[inline(always)]
fn absorb_last<B: Isa>(b: B, hash: &mut Polyval<'_, B>, mut x: B::V, bytes: usize) {
    const MOST: usize = 4 * BLOCK;
    static ONE: [u8; 2 * MOST] = {
        let mut one = [0; 2 * MOST];
        one[MOST] = 1;
        one
    };
    if !bytes.is_multiple_of(BLOCK) {
        x = b.xor(x, b.load_bytes(&ONE[MOST - bytes..]));
    }
    hash.absorb(b, x, bytes.div_ceil(BLOCK));
}

/// Adds the keystream to all blocks but the first. Returns the hash of the output in the first lane.
#[inline(always)]
fn crypt_text<B: Isa>(b: B, message: &mut Message<'_>, s: B::V, start: B::V) -> B::V {
    let (keys, table) = (message.key.aes.encrypting(), table(message));
    // A local span stays in registers, because the compiler knows that no store changes it.
    let data = &mut message.data.reborrow();
    let mut counters = XorCounters::new(b, s);
    let mut hash = Polyval::after(b, table, start);
    let group = REGISTERS * BLOCK * B::BLOCKS;
    let mut at = 0;
    while data.len() - at > group {
        let mut x: [B::V; REGISTERS] = counters.take(b);
        if at == 0 {
            b.encrypt(keys, &mut x);
            x[0] = without_first(b, x[0]);
        } else {
            hash.begin(b, 0);
            let mut absorb = Absorb::<B, _, false, 0> { hash: &mut hash, chunk: &data.chunk(at - group) };
            b.encrypt_with(keys, &mut x, &mut absorb);
            hash.end(b);
        }
        let mut chunk = data.chunk::<B, REGISTERS>(at);
        for r in 0..REGISTERS {
            chunk.store(b, r, b.xor(x[r], chunk.load(b, r)));
        }
        at += group;
    }
    let registers = (data.len() - at).div_ceil(BLOCK * B::BLOCKS);
    if at == 0 {
        each_count!(registers, R => {
            let mut x: [B::V; R] = counters.take(b);
            b.encrypt(keys, &mut x);
            x[0] = without_first(b, x[0]);
            last_group(b, &mut hash, data, at, &x);
        });
    } else {
        each_count!(registers, R => {
            let mut x: [B::V; R] = counters.take(b);
            hash.begin(b, 0);
            let mut absorb = Absorb::<B, _, false, 0> { hash: &mut hash, chunk: &data.chunk(at - group) };
            // There is time for one piece per register between the rounds. The others come first.
            for piece in R..REGISTERS {
                absorb.thread(b, piece);
            }
            b.encrypt_with(keys, &mut x, &mut absorb);
            hash.end(b);
            last_group(b, &mut hash, data, at, &x);
        });
    }
    hash.value(b)
}

/// Zeros the first block of a register.
#[inline(always)]
fn without_first<B: Isa>(b: B, x: B::V) -> B::V {
    b.xor(x, b.keep(x, BLOCK))
}

/// Adds the keystream to the last group of a message and hashes the output.
#[inline(always)]
fn last_group<B: Isa, const R: usize>(
    b: B,
    hash: &mut Polyval<'_, B>,
    data: &mut Span<'_>,
    mut at: usize,
    x: &[B::V; R],
) {
    hash.begin(b, (data.len() - at).div_ceil(BLOCK));
    for r in 0..R - 1 {
        let output = b.xor(x[r], data.load(b, at));
        data.store(b, at, output);
        hash.absorb(b, output, B::BLOCKS);
        at += BLOCK * B::BLOCKS;
    }
    let (_, output) = data.xor_part(b, at, x[R - 1]);
    absorb_last(b, hash, output, data.len() - at);
    hash.end(b);
}
