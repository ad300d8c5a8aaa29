//! POET v2 (CAESAR, round 2), with the submission's letters. Two hash chains surround the block cipher: `X` at its
//! input, and `Y` at its output.
//!
//! ```text
//! K, L, K_F ← E_SK(0), E_SK(1), E_SK(2)
//! τ ← E_K(E_K(L) ⊕ E_K(H_1 ⊕ 2 L) ⊕ … ⊕ E_K(H_h ⊕ 2^h L)), H ← A ‖ N ‖ 10…0
//! X_0 ← τ, Y_0 ← τ ⊕ 1
//! S ← E_K(|M| ‖ 0^64)                        |M| in bits, little-endian
//! for i = 1, …, l:                           M_l: see below
//!     X_i ← F(X_{i-1}) ⊕ M_i
//!     Y_i ← E_K(X_i)
//!     C_i ← Y_i ⊕ F(Y_{i-1})
//! ```
//!
//! The last block `M_l`, of `r` bytes, is filled up with the first bytes of `τ`. `S` is added before and after its
//! step, which gives `Z`. A further step with `τ` as its input, plus `τ`, gives `T`. The ciphertext ends with the
//! first `r` bytes of `Z`. The tag is the rest of `Z`, followed by the first `r` bytes of `T`.
//!
//! POET-G, in `modes/poet_g.rs`, shares the steps and the split tags. It implements [`Version`] with other hashes.

use core::marker::PhantomData;

use super::Mode;
use crate::backend::{BLOCK, Backend, Block, ModeState, Span};
use crate::engine::blocks::encrypt_alone;
use crate::engine::comb::{Chain, ChainKey, chains, encrypting};
use crate::engine::{Batch, Column, Lanes, Material, Message, each};
use crate::primitives::aes::{KeySchedule, Shared};
use crate::primitives::block::{before_last, bit_lengths, join, skip, split, whole, xor};
use crate::primitives::gf128::{Field, GcmOrder};
use crate::primitives::wipe;

/// Two blocks of state for each message of a flight.
pub(super) type States = [Column; 2];

/// POET with the hashes of a version, whose steps use `K` keys and `C` constants per message.
pub(crate) struct Poet<V, const K: usize, const C: usize>(PhantomData<V>);

/// POET with `F(x) = E_{K_F}(x)`.
pub(crate) const POET: Poet<Version2<FullAes>, 2, 0> = Poet::NEW;

/// POET with `F(x) = AES4_{K_F}(x)`: four full rounds of AES.
pub(crate) const POET_AES4: Poet<Version2<Aes4>, 2, 0> = Poet::NEW;

impl<V, const K: usize, const C: usize> Poet<V, K, C> {
    pub(super) const NEW: Self = Self(PhantomData);
}

/// The differences between the versions of POET.
pub(crate) trait Version<const K: usize, const C: usize>: Sync {
    /// Derives the mode's keys from the caller's key.
    fn expand_key(backend: Backend, key: &[u8], material: &mut Material);
    /// Returns the round keys for the steps. The first is `e`: the round keys of `K`.
    fn keys<'a>(key: &'a Material, e: Shared<'a>) -> [Shared<'a>; K];
    /// Returns the constants for the steps.
    fn constants(key: &Material) -> [&Block; C];
    /// Computes `F` of the upper chain.
    fn top<L: Lanes>(lanes: L, x: &mut L::Blocks);
    /// Computes `F` of the lower chain.
    fn bottom<L: Lanes>(lanes: L, y: &mut L::Blocks);
    /// Computes `τ` of each message.
    fn header(batch: &mut Batch<'_, '_, '_>, tau: &mut Column);
    /// Returns `X_0` and `Y_0`.
    fn start(tau: &Block) -> [Block; 2];
    /// Returns the masks that are added to `τ` before the step that yields the tag, and to its result.
    fn tag_masks(key: &Material, tau: &Block) -> [Block; 2];
}

impl<V: Version<K, C>, const K: usize, const C: usize> Mode for Poet<V, K, C> {
    /// Returns an empty key: `K` is derived from the caller's key.
    fn aes_key<'k>(&self, _: &'k [u8]) -> &'k [u8] {
        &[]
    }

    fn expand_key(&self, backend: Backend, key: &[u8], material: &mut Material) {
        V::expand_key(backend, key, material);
    }

    fn seal(&self, batch: &mut Batch<'_, '_, '_>) {
        let (mut tau, mut states) = (Column::new(), [Column::new(), Column::new()]);
        V::header(batch, &mut tau);
        for tau in &tau {
            push(&mut states, V::start(tau));
        }
        whole_blocks::<Encrypt<V>, K, C>(batch, to_encrypt::<V, K, C>, &mut states);

        let (mut masks, mut z) = (Column::new(), Column::new());
        length_masks(batch, &mut masks);
        z.extend(batch.messages.iter().zip(&tau).map(|(message, tau)| filled(message, tau)));
        add(&mut z, &masks);
        each::step::<Encrypt<V>, 2, K, C, 1>(batch, to_encrypt::<V, K, C>, states.each_mut(), [&mut z]);
        add(&mut z, &masks);
        let mut t = Column::new();
        tag_blocks::<V, K, C>(batch, &tau, &mut states, &mut t);

        for ((message, z), t) in batch.messages.iter_mut().zip(&z).zip(&t) {
            let (at, r) = last(message);
            message.data.set_block(at, z);
            message.tag = split(z, t, r);
        }
    }

    fn open(&self, batch: &mut Batch<'_, '_, '_>) {
        let (mut tau, mut states) = (Column::new(), [Column::new(), Column::new()]);
        V::header(batch, &mut tau);
        for tau in &tau {
            push(&mut states, V::start(tau));
        }
        whole_blocks::<Decrypt<V>, K, C>(batch, to_decrypt::<V, K, C>, &mut states);

        let (mut masks, mut z) = (Column::new(), Column::new());
        length_masks(batch, &mut masks);
        z.extend(batch.messages.iter().map(|message| filled(message, &message.tag)));
        add(&mut z, &masks);
        each::step::<Decrypt<V>, 2, K, C, 1>(batch, to_decrypt::<V, K, C>, states.each_mut(), [&mut z]);
        add(&mut z, &masks);
        let mut t = Column::new();
        tag_blocks::<V, K, C>(batch, &tau, &mut states, &mut t);

        for (((message, tau), z), t) in batch.messages.iter_mut().zip(&tau).zip(&mut z).zip(&mut t) {
            let (at, r) = last(message);
            message.data.set_block(at, z);
            // If the message is valid, `Z` ends with the first bytes of `τ`, and `T` begins with the last `r` bytes
            // of the tag.
            xor(z, &join(&[0; BLOCK], r, tau));
            xor(t, &skip(&message.tag, BLOCK - r));
            xor(&mut message.tag, &split(z, t, r));
        }
    }
}

/// Returns the offset of a message's last block, and its size: 1 to 16 bytes, or 0 if the message is empty.
fn last(message: &Message<'_>) -> (usize, usize) {
    let at = before_last(message.data.len());
    (at, message.data.len() - at)
}

/// Returns a message's last block, filled up with the first bytes of `with`.
#[inline]
fn filled(message: &Message<'_>, with: &Block) -> Block {
    let (at, r) = last(message);
    join(&message.data.block(at), r, with)
}

/// Computes `S = E_K(|M| ‖ 0^64)` of each message, with the length in bits.
fn length_masks(batch: &Batch<'_, '_, '_>, masks: &mut Column) {
    let bits = |message: &Message<'_>| bit_lengths(message.data.len() as u64, 0).to_le_bytes();
    masks.extend(batch.messages.iter().map(|message| bits(message)));
    each::encrypt(batch, masks);
}

/// Processes all blocks but the last of each message.
fn whole_blocks<M: Chain<2, K, C>, const K: usize, const C: usize>(
    batch: &mut Batch<'_, '_, '_>,
    chain_key: impl for<'k> Fn(&'k Material) -> ChainKey<'k, K, C>,
    states: &mut States,
) {
    chains::<M, 2, K, C, 1>(batch, chain_key, states.each_mut(), |message| {
        message.data.part(0, before_last(message.data.len()))
    });
}

/// Returns what the steps that encrypt need of a message's key.
fn to_encrypt<V: Version<K, C>, const K: usize, const C: usize>(key: &Material) -> ChainKey<'_, K, C> {
    ChainKey { keys: V::keys(key, key.aes.encrypting()), constants: V::constants(key) }
}

/// Returns what the steps that decrypt need of a message's key.
fn to_decrypt<V: Version<K, C>, const K: usize, const C: usize>(key: &Material) -> ChainKey<'_, K, C> {
    ChainKey { keys: V::keys(key, key.aes.decrypting()), constants: V::constants(key) }
}

/// Computes `T` of each message: the result of a further step with `τ` and its masks.
fn tag_blocks<V: Version<K, C>, const K: usize, const C: usize>(
    batch: &Batch<'_, '_, '_>,
    tau: &[Block],
    states: &mut States,
    t: &mut Column,
) {
    for (message, tau) in batch.messages.iter().zip(tau) {
        let [mut block, _] = V::tag_masks(message.key, tau);
        xor(&mut block, tau);
        t.push(block);
    }
    each::step::<Encrypt<V>, 2, K, C, 1>(batch, to_encrypt::<V, K, C>, states.each_mut(), [&mut *t]);
    for ((message, tau), t) in batch.messages.iter().zip(tau).zip(t) {
        xor(t, &V::tag_masks(message.key, tau)[1]);
    }
}

/// Appends one message's states.
fn push(states: &mut States, [x, y]: [Block; 2]) {
    states[0].push(x);
    states[1].push(y);
}

/// Adds a mask to each block.
fn add(blocks: &mut [Block], masks: &[Block]) {
    for (block, mask) in blocks.iter_mut().zip(masks) {
        xor(block, mask);
    }
}

struct Encrypt<V>(PhantomData<V>);

impl<V: Version<K, C>, const K: usize, const C: usize> Chain<2, K, C> for Encrypt<V> {
    const WRITES: bool = true;

    /// Computes `X_i = F(X_{i-1}) ⊕ M_i`, `Y_i = E_K(X_i)`, `C_i = Y_i ⊕ F(Y_{i-1})`. `F(Y_{i-1})` depends on nothing
    /// in this step, so it is computed early, alongside the dependent calls.
    #[inline(always)]
    fn step<L: Lanes>(lanes: L, [x, y]: &mut [L::Blocks; 2], [m]: &mut [L::Blocks; 1]) {
        V::top(lanes, x);
        V::bottom(lanes, y);
        lanes.xor(x, m);
        *m = *y;
        *y = *x;
        lanes.encrypt(y);
        lanes.xor(m, y);
    }
}

struct Decrypt<V>(PhantomData<V>);

impl<V: Version<K, C>, const K: usize, const C: usize> Chain<2, K, C> for Decrypt<V> {
    const WRITES: bool = true;

    /// Computes `Y_i = F(Y_{i-1}) ⊕ C_i`, `X_i = E_K⁻¹(Y_i)`, `M_i = X_i ⊕ F(X_{i-1})`.
    #[inline(always)]
    fn step<L: Lanes>(lanes: L, [x, y]: &mut [L::Blocks; 2], [c]: &mut [L::Blocks; 1]) {
        V::bottom(lanes, y);
        V::top(lanes, x);
        lanes.xor(y, c);
        *c = *x;
        *x = *y;
        lanes.decrypt(x);
        lanes.xor(c, x);
    }
}

/// Returns the first `N` derived keys, `E_SK(0)` to `E_SK(N - 1)`.
pub(super) fn derive<const N: usize>(backend: Backend, key: &[u8]) -> [Block; N] {
    let sk = KeySchedule::boxed(backend, key);
    encrypt_alone(backend, &sk, core::array::from_fn(|i| (i as u128).to_be_bytes()))
}

/// Version 2, with one hash for both chains.
pub(crate) struct Version2<F>(PhantomData<F>);

/// A hash `F` with the key `K_F`.
pub(crate) trait Hash: Sync {
    fn hash<L: Lanes>(lanes: L, x: &mut L::Blocks);
}

/// AES with all rounds.
pub(crate) struct FullAes;

impl Hash for FullAes {
    #[inline(always)]
    fn hash<L: Lanes>(lanes: L, x: &mut L::Blocks) {
        lanes.encrypt(x);
    }
}

/// The first four rounds of AES, all of them full.
pub(crate) struct Aes4;

impl Hash for Aes4 {
    #[inline(always)]
    fn hash<L: Lanes>(lanes: L, x: &mut L::Blocks) {
        lanes.full_rounds(4, x);
    }
}

impl<F: Hash> Version<2, 0> for Version2<F> {
    /// Derives `K`, `L` and `K_F`. From `L`, it stores the first mask `2 L`, and `E_K(L)`, with which the header's
    /// sum begins because no parameter set here has intermediate tags.
    fn expand_key(backend: Backend, key: &[u8], material: &mut Material) {
        let mut keys = derive::<3>(backend, key);
        let [k, l, k_f] = &keys;
        material.aes.expand(backend, k);
        material.aes.invert(backend);
        material.mode_state = ModeState::new(KeySchedule::boxed(backend, k_f));
        let [begin] = encrypt_alone(backend, &material.aes, [*l]);
        material.subkeys[..2].copy_from_slice(&[begin, GcmOrder::double_block(l)]);
        wipe(&mut keys);
    }

    fn keys<'a>(key: &'a Material, e: Shared<'a>) -> [Shared<'a>; 2] {
        [e, key.mode_state.get::<KeySchedule>().encrypting()]
    }

    fn constants(_: &Material) -> [&Block; 0] {
        []
    }

    #[inline(always)]
    fn top<L: Lanes>(lanes: L, x: &mut L::Blocks) {
        F::hash(lanes.under(1), x);
    }

    #[inline(always)]
    fn bottom<L: Lanes>(lanes: L, y: &mut L::Blocks) {
        F::hash(lanes.under(1), y);
    }

    /// Hashes the additional data followed by the nonce. What remains after the whole blocks is always padded.
    fn header(batch: &mut Batch<'_, '_, '_>, tau: &mut Column) {
        let mut sums = [Column::new(), Column::new()];
        sum_aad(batch, |key| [key.subkeys[0], key.subkeys[1]], &mut sums);
        let mut ends = [Column::new(), Column::new()];
        ends_of_headers(batch, &mut ends);
        for blocks in &mut ends {
            sum_block(batch, &mut sums, blocks);
        }
        tau.extend(sums[0].iter().copied());
        each::encrypt(batch, tau);
    }

    fn start(tau: &Block) -> [Block; 2] {
        let mut y = *tau;
        xor(&mut y, &(1u128).to_be_bytes());
        [*tau, y]
    }

    fn tag_masks(_: &Material, tau: &Block) -> [Block; 2] {
        [[0; BLOCK], *tau]
    }
}

/// Sums the masked and encrypted whole blocks of additional data. `begins` returns the initial sum and the first
/// mask; `sums` receives the final sum and the next mask.
pub(super) fn sum_aad(
    batch: &mut Batch<'_, '_, '_>,
    begins: impl Fn(&Material) -> [Block; 2],
    sums: &mut States,
) {
    for message in batch.messages.iter() {
        push(sums, begins(message.key));
    }
    if batch.messages.iter().any(|message| message.aad.len() >= BLOCK) {
        sum_blocks::<GcmOrder>(batch, sums, |message| &message.aad[..whole(message.aad.len())]);
    }
}

/// Returns the end of each header, after the whole blocks of additional data, in two blocks: the remaining bytes of
/// the data, the nonce, a one bit, and zeros.
pub(super) fn ends_of_headers(batch: &Batch<'_, '_, '_>, ends: &mut [Column; 2]) {
    for message in batch.messages.iter() {
        let r = message.aad.len() % BLOCK;
        let rest = Span::from(&*message.aad).block(message.aad.len() - r);
        let nonce = message.nonce.first_chunk().expect("a nonce of a block");
        ends[0].push(join(&rest, r, nonce));
        ends[1].push(join(&skip(nonce, BLOCK - r), r, &(0x80u128).to_le_bytes()));
    }
}

/// Adds one masked and encrypted block to each message's sum.
pub(super) fn sum_block(batch: &Batch<'_, '_, '_>, sums: &mut States, blocks: &mut Column) {
    each::step::<MaskedSum<GcmOrder>, 2, 1, 0, 1>(batch, encrypting, sums.each_mut(), [blocks]);
}

/// Adds masked and encrypted blocks to each message's sum.
pub(super) fn sum_blocks<F: Field>(
    batch: &mut Batch<'_, '_, '_>,
    sums: &mut States,
    blocks: impl for<'m> Fn(&'m Message<'_>) -> &'m [u8],
) {
    chains::<MaskedSum<F>, 2, 1, 0, 1>(batch, encrypting, sums.each_mut(), |message| {
        Span::from(blocks(message))
    });
}

struct MaskedSum<F>(PhantomData<F>);

impl<F: Field> Chain<2> for MaskedSum<F> {
    const WRITES: bool = false;

    /// Computes `acc ← acc ⊕ E_K(H_i ⊕ mask)`, `mask ← 2 mask`.
    #[inline(always)]
    fn step<L: Lanes>(lanes: L, [acc, mask]: &mut [L::Blocks; 2], [h]: &mut [L::Blocks; 1]) {
        lanes.xor(h, mask);
        lanes.encrypt(h);
        lanes.xor(acc, h);
        lanes.double::<F>(mask);
    }
}
