//! OCB3 (RFC 7253), with the RFC's letters and names.
//!
//! ```text
//! Offset_0 ← a part of Stretch, selected by the last 6 bits of the nonce
//! Offset_i ← Offset_{i-1} ⊕ L_{ntz(i)}
//! C_i ← Offset_i ⊕ ENCIPHER(K, P_i ⊕ Offset_i)
//! Offset_* ← Offset_m ⊕ L_*
//! C_* ← P_* ⊕ ENCIPHER(K, Offset_*)                              if there is a partial block P_*
//! Checksum ← P_1 ⊕ … ⊕ P_m ⊕ (P_* ‖ 1 ‖ zeros)
//! Tag ← ENCIPHER(K, Checksum ⊕ Offset ⊕ L_$) ⊕ HASH(K, A)        Offset: the last one
//! ```
//!
//! The cipher calls for a message's blocks depend only on the nonce's call, so its whole blocks are encrypted in
//! parallel. Calls that occur once per message are combined for the whole flight.

use alloc::boxed::Box;
use core::marker::PhantomData;

use super::Mode;
use crate::backend::{BLOCK, Backend, Block, Isa, Kernel, ModeState, Span, Wiped};
use crate::engine::blocks::{Loose, encrypt_block, encrypt_each_by};
use crate::engine::xex::{Equation, Sum, Xex};
use crate::engine::{Batch, BlockCipher, Column, Material, Message};
use crate::primitives::aes;
use crate::primitives::block::PADDING;
use crate::primitives::offsets::{OffsetTable, Offsets};
use crate::primitives::permutation::Permutation;
use crate::primitives::wipe;

/// OCB3 with a block cipher.
pub(crate) struct Ocb3<C>(PhantomData<C>);

pub(crate) const AES: Ocb3<aes::KeySchedule> = Ocb3(PhantomData);
#[cfg(feature = "research")]
pub(crate) const SERPENT: Ocb3<crate::primitives::serpent::KeySchedule> = Ocb3(PhantomData);

impl<C: BlockCipher> Mode for Ocb3<C> {
    fn aes_key<'k>(&self, key: &'k [u8]) -> &'k [u8] {
        C::aes_key(key)
    }

    fn expand_key(&self, backend: Backend, key: &[u8], material: &mut Material) {
        C::expand_key_with_inverse(backend, key, material);
        let table = backend.run(KeyDependent::<C> { key: material, cipher: PhantomData });
        *C::mode_state_mut(material) = ModeState::new(table);
    }

    fn seal(&self, batch: &mut Batch<'_, '_, '_>) {
        batch.backend.run(Crypt::<C, false> { messages: batch.messages, cipher: PhantomData });
    }

    fn open(&self, batch: &mut Batch<'_, '_, '_>) {
        batch.backend.run(Crypt::<C, true> { messages: batch.messages, cipher: PhantomData });
    }
}

struct KeyDependent<'a, C> {
    key: &'a Material,
    cipher: PhantomData<C>,
}

impl<C: BlockCipher> Kernel for KeyDependent<'_, C> {
    type Output = Box<Wiped<OffsetTable>>;

    /// Computes `L_* = ENCIPHER(K, zeros(128))` and the values derived from it (section 4.1).
    #[inline(always)]
    fn run<B: Isa>(self, b: B) -> Box<Wiped<OffsetTable>> {
        let mut asterisk = [0; BLOCK];
        encrypt_block(b, C::of(self.key).encrypting::<B>(), &mut asterisk);
        let table = OffsetTable::new::<B>(&asterisk);
        wipe(core::slice::from_mut(&mut asterisk));
        table
    }
}

/// Returns the key's table of `L` values.
#[inline(always)]
fn table<C: BlockCipher>(key: &Material) -> &OffsetTable {
    C::mode_state(key).get()
}

struct Crypt<'b, 'm, 'a, C, const OPENS: bool> {
    messages: &'b mut [&'m mut Message<'a>],
    cipher: PhantomData<C>,
}

impl<C: BlockCipher, const OPENS: bool> Kernel for Crypt<'_, '_, '_, C, OPENS> {
    type Output = ();

    /// Sections 4.2 and 4.3, without the comparison of the tags.
    #[inline(always)]
    fn run<B: Isa>(self, b: B) {
        let Self { messages, .. } = self;
        let mut start = Column::new();
        first_offsets::<C, B>(b, messages, &mut start);
        // Checksum ⊕ Offset ⊕ L_$
        let mut tags = Column::new();
        let mut pads = Loose::new();
        for (message, start) in messages.iter_mut().zip(&start) {
            let l = table::<C>(message.key);
            let (checksum, mut offset) = whole_blocks::<C, B, OPENS>(b, message, start);
            if ragged(message.data.len()) > 0 {
                offset = b.xor(offset, b.one(l.asterisk()));
                pads.push(C::of(message.key), b.first(offset));
            }
            tags.push(b.first(b.xor3(checksum, offset, b.one(l.dollar()))));
        }
        pads.encrypt_on(b);
        let ragged = messages.iter_mut().zip(&mut tags).filter(|(message, _)| ragged(message.data.len()) > 0);
        for ((message, tag), pad) in ragged.zip(&pads.blocks) {
            *tag = b.first(b.xor(b.one(tag), last_block::<B, OPENS>(b, &mut message.data, pad)));
        }
        encrypt_each_by::<C, B>(b, messages, &mut tags);
        let mut hashes = Column::new();
        hash::<C, B>(b, messages, &mut hashes);
        for ((message, tag), hash) in messages.iter_mut().zip(&tags).zip(&hashes) {
            message.tag = b.first(b.xor(b.one(tag), b.one(hash)));
        }
    }
}

/// Returns the number of bytes after the last whole block.
#[inline(always)]
fn ragged(bytes: usize) -> usize {
    bytes % BLOCK
}

/// `bottom`: the 6 bits of the nonce that select a part of `Stretch`.
const BOTTOM: u128 = 0x3f;

/// Computes `Offset_0` of each message: the part of `Stretch` that the last bits of the nonce select.
#[inline(always)]
fn first_offsets<C: BlockCipher, B: Isa>(b: B, messages: &[&mut Message<'_>], offsets: &mut Column) {
    for message in messages {
        offsets.push((nonce_block(message) & !BOTTOM).to_be_bytes());
    }
    encrypt_each_by::<C, B>(b, messages, offsets);
    for (message, offset) in messages.iter().zip(offsets) {
        let bottom = nonce_block(message) & BOTTOM;
        let ktop = u128::from_be_bytes(*offset);
        let further = (ktop >> 64) as u64 ^ (ktop >> 56) as u64;
        *offset = (ktop << bottom | (u128::from(further) << bottom) >> 64).to_be_bytes();
    }
}

/// Returns `Nonce` as a big-endian number: the tag length, a one bit, and the nonce at the end.
#[inline(always)]
pub(super) fn nonce_block(message: &Message<'_>) -> u128 {
    let n = message.nonce;
    let number = if let [h0, h1, h2, h3, low @ ..] = n
        && let Ok(low) = low.try_into()
    {
        u128::from(u32::from_be_bytes([*h0, *h1, *h2, *h3])) << 64 | u128::from(u64::from_be_bytes(low))
    } else {
        n.iter().fold(0, |number, byte| number << 8 | u128::from(*byte))
    };
    let tag_bits = 8 * message.key.tag_bytes as u128 % 128;
    tag_bits << 121 | 1 << (8 * n.len()) | number
}

/// Encrypts or decrypts the whole blocks. Returns `Checksum_m` and `Offset_m` in the first lane.
#[inline(always)]
fn whole_blocks<C: BlockCipher, B: Isa, const OPENS: bool>(
    b: B,
    message: &mut Message<'_>,
    start: &Block,
) -> (B::V, B::V) {
    let Message { key, data, .. } = message;
    let bytes = data.len() - ragged(data.len());
    let cipher = C::of(key);
    let keys = if OPENS { cipher.decrypting::<B>() } else { cipher.encrypting::<B>() };
    let offsets = Offsets::after(table::<C>(key), b.splat(start));
    let blocks = Xex::<B, _, _, Blocks<OPENS>>::over(b, &mut data.part(0, bytes), keys, offsets);
    (b.fold(blocks.sum), blocks.masks.last(b, bytes / BLOCK))
}

/// `C_i = Offset_i ⊕ ENCIPHER(K, P_i ⊕ Offset_i)`, or `P_i` from `C_i` with `DECIPHER`; the sum of all `P_i`.
struct Blocks<const OPENS: bool>;

impl<const OPENS: bool> Equation for Blocks<OPENS> {
    const IS_XEX: bool = true;
    const DECRYPTS: bool = OPENS;
    const SUM: Sum = if OPENS { Sum::Output } else { Sum::Input };
}

/// Encrypts or decrypts the bytes after the whole blocks. Returns `P_* ‖ 1 ‖ zeros`, which is added to the checksum,
/// in the first lane.
#[inline(always)]
fn last_block<B: Isa, const OPENS: bool>(b: B, data: &mut Span<'_>, pad: &Block) -> B::V {
    let bytes = ragged(data.len());
    let at = data.len() - bytes;
    let input = data.load_part(b, at);
    let output = b.xor(input, b.one(pad));
    data.store_part(b, at, output);
    let p = if OPENS { b.keep(output, bytes) } else { input };
    b.xor(p, b.one(&PADDING[bytes]))
}

/// Computes `HASH(K, A)` of each message (section 4.1).
#[inline(always)]
fn hash<C: BlockCipher, B: Isa>(b: B, messages: &[&mut Message<'_>], sums: &mut Column) {
    let mut last = Loose::new();
    for message in messages {
        let (key, a) = (message.key, &*message.aad);
        if a.is_empty() {
            sums.push([0; BLOCK]);
            continue;
        }
        let l = table::<C>(key);
        let (whole, rest) = a.split_at(a.len() - ragged(a.len()));
        let (sum, offset) = sum_of_blocks(b, C::of(key).encrypting::<B>(), l, whole);
        if !rest.is_empty() {
            let offset = b.xor(offset, b.one(l.asterisk()));
            let padded = b.xor(b.load_bytes(rest), b.one(&PADDING[rest.len()]));
            last.push(C::of(key), b.first(b.xor(padded, offset)));
        }
        sums.push(b.first(sum));
    }
    last.encrypt_on(b);
    let ragged = messages.iter().zip(sums).filter(|(message, _)| ragged(message.aad.len()) > 0);
    for ((_, sum), last) in ragged.zip(&last.blocks) {
        *sum = b.first(b.xor(b.one(sum), b.one(last)));
    }
}

/// Returns the sum of the blocks of `whole`, each encrypted with its offset, and the offset of the last one, both in
/// the first lane. `whole` consists of whole blocks.
#[inline(always)]
pub(super) fn sum_of_blocks<K: Permutation<B>, B: Isa>(
    b: B,
    keys: K,
    l: &OffsetTable,
    whole: &[u8],
) -> (B::V, B::V) {
    let blocks = Xex::<B, _, _, Hashed>::over(b, &mut whole.into(), keys, Offsets::after(l, b.zero()));
    (b.fold(blocks.sum), blocks.masks.last(b, whole.len() / BLOCK))
}

/// `Sum_i = Sum_{i-1} ⊕ ENCIPHER(K, A_i ⊕ Offset_i)`.
struct Hashed;

impl Equation for Hashed {
    const IS_XEX: bool = false;
    const WRITES: bool = false;
    const SUM: Sum = Sum::Output;
}
