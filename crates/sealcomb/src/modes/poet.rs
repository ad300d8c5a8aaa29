//! POET, version 2 (CAESAR, second round), with the designers' letters: `τ` the header's hash, `X` and `Y` the upper and
//! the lower chain with their hash `F`, `S` the mask of the last block.
//!
//! What POET-G has in common with it, the steps and the way that tags are split, is here too.

use core::marker::PhantomData;

use super::Mode;
use crate::backend::{BLOCK, Backend, Block, Kept, Span};
use crate::engine::blocks::encrypt_alone;
use crate::engine::comb::{Chain, Link, chains, encrypting};
use crate::engine::{Batch, Column, Lanes, Material, Message, each};
use crate::primitives::aes::{KeySchedule, Shared};
use crate::primitives::block::{before_last, join, skip, split, whole, xor};
use crate::primitives::gf128::{Field, GcmOrder};
use crate::primitives::wipe;

/// Two blocks of state of each message of a flight.
pub(super) type States = [Column; 2];

/// POET with a version's hashes, which take `K` keys and `C` constants a message.
pub(crate) struct Poet<V, const K: usize, const C: usize>(PhantomData<V>);

/// `F(x) = E_{K_F}(x)`
pub(crate) const POET: Poet<Version2<FullAes>, 2, 0> = Poet::NEW;

/// `F(x) = AES4_{K_F}(x)`
pub(crate) const POET_AES4: Poet<Version2<Aes4>, 2, 0> = Poet::NEW;

impl<V, const K: usize, const C: usize> Poet<V, K, C> {
    pub(super) const NEW: Self = Self(PhantomData);
}

/// What the versions of POET differ in.
pub(crate) trait Version<const K: usize, const C: usize>: Sync {
    /// What is kept of the user's key.
    fn key(backend: Backend, key: &[u8], material: &mut Material);
    /// The round keys for the steps: `e`, those of `K`, first.
    fn keys<'a>(key: &'a Material, e: Shared<'a>) -> [Shared<'a>; K];
    /// The constants for the steps.
    fn constants(key: &Material) -> [&Block; C];
    /// `F` of the upper chain.
    fn top<L: Lanes>(lanes: L, x: &mut L::Blocks);
    /// `F` of the lower chain.
    fn bottom<L: Lanes>(lanes: L, y: &mut L::Blocks);
    /// `τ` of each message.
    fn header(batch: &mut Batch<'_, '_, '_>, tau: &mut Column);
    /// `X` and `Y` before the first block.
    fn start(tau: &Block) -> [Block; 2];
    /// What is added to `τ` before and after it goes through the step that gives the tag.
    fn tag_masks(key: &Material, tau: &Block) -> [Block; 2];
}

impl<V: Version<K, C>, const K: usize, const C: usize> Mode for Poet<V, K, C> {
    /// None: it is derived.
    fn aes_key<'k>(&self, _: &'k [u8]) -> &'k [u8] {
        &[]
    }

    fn key(&self, backend: Backend, key: &[u8], material: &mut Material) {
        V::key(backend, key, material);
    }

    fn seal(&self, batch: &mut Batch<'_, '_, '_>) {
        let (mut tau, mut states) = (Column::new(), [Column::new(), Column::new()]);
        V::header(batch, &mut tau);
        for tau in &tau {
            push(&mut states, V::start(tau));
        }
        whole_blocks::<Encrypt<V>, V, K, C>(batch, KeySchedule::encrypting, &mut states);

        let (mut masks, mut z) = (Column::new(), Column::new());
        length_masks(batch, &mut masks);
        z.extend(batch.messages.iter().zip(&tau).map(|(message, tau)| filled(message, tau)));
        add(&mut z, &masks);
        each::step::<Encrypt<V>, 2, K, C, 1>(
            batch,
            |key| link::<V, K, C>(key, KeySchedule::encrypting),
            states.each_mut(),
            [&mut z],
        );
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
        whole_blocks::<Decrypt<V>, V, K, C>(batch, KeySchedule::decrypting, &mut states);

        let (mut masks, mut z) = (Column::new(), Column::new());
        length_masks(batch, &mut masks);
        z.extend(batch.messages.iter().map(|message| filled(message, &message.tag)));
        add(&mut z, &masks);
        each::step::<Decrypt<V>, 2, K, C, 1>(
            batch,
            |key| link::<V, K, C>(key, KeySchedule::decrypting),
            states.each_mut(),
            [&mut z],
        );
        add(&mut z, &masks);
        let mut t = Column::new();
        tag_blocks::<V, K, C>(batch, &tau, &mut states, &mut t);

        for (((message, tau), z), t) in batch.messages.iter_mut().zip(&tau).zip(&mut z).zip(&mut t) {
            let (at, r) = last(message);
            message.data.set_block(at, z);
            // Where the message is genuine, `Z` ends with the beginning of `τ`, and `T` begins with the tag's end.
            xor(z, &join(&[0; BLOCK], r, tau));
            xor(t, &skip(&message.tag, BLOCK - r));
            xor(&mut message.tag, &split(z, t, r));
        }
    }
}

/// Where a message's last block begins, and how many bytes it has: 1 to 16, or 0 if the message is empty.
fn last(message: &Message<'_>) -> (usize, usize) {
    let at = before_last(message.data.len());
    (at, message.data.len() - at)
}

/// A message's last block, filled up with the first bytes of another.
#[inline]
fn filled(message: &Message<'_>, with: &Block) -> Block {
    let (at, r) = last(message);
    join(&message.data.block(at), r, with)
}

/// `S = E_K(|M| ‖ 0^64)`, the length in bits
fn length_masks(batch: &Batch<'_, '_, '_>, masks: &mut Column) {
    let bits = |message: &Message<'_>| u128::from(8 * message.data.len() as u64).to_le_bytes();
    masks.extend(batch.messages.iter().map(|message| bits(message)));
    each::encrypt(batch, masks);
}

/// Takes the blocks of each message before its last one through the chains.
fn whole_blocks<M: Chain<2, K, C>, V: Version<K, C>, const K: usize, const C: usize>(
    batch: &mut Batch<'_, '_, '_>,
    e: fn(&KeySchedule) -> Shared<'_>,
    states: &mut States,
) {
    chains::<M, 2, K, C, 1>(
        batch,
        |key| link::<V, K, C>(key, e),
        states.each_mut(),
        |message| message.data.part(0, before_last(message.data.len())),
    );
}

/// What a message's chains need of its key.
fn link<V: Version<K, C>, const K: usize, const C: usize>(
    key: &Material,
    e: fn(&KeySchedule) -> Shared<'_>,
) -> Link<'_, K, C> {
    Link { keys: V::keys(key, e(&key.aes)), constants: V::constants(key) }
}

/// `T`: what the step after the last block makes of `τ`.
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
    each::step::<Encrypt<V>, 2, K, C, 1>(
        batch,
        |key| link::<V, K, C>(key, KeySchedule::encrypting),
        states.each_mut(),
        [&mut *t],
    );
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

    /// `X_i = F(X_{i-1}) ⊕ M_i`, `Y_i = E_K(X_i)`, `C_i = Y_i ⊕ F(Y_{i-1})`; what doesn't wait for anything, `F(Y_{i-1})`,
    /// between what does.
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

    /// `Y_i = F(Y_{i-1}) ⊕ C_i`, `X_i = E_K⁻¹(Y_i)`, `M_i = X_i ⊕ F(X_{i-1})`
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

/// The first `N` keys of POET, `E_SK(0)` to `E_SK(N - 1)`.
pub(super) fn derive<const N: usize>(backend: Backend, key: &[u8]) -> [Block; N] {
    let sk = KeySchedule::kept(backend, key);
    encrypt_alone(backend, &sk, core::array::from_fn(|i| (i as u128).to_be_bytes()))
}

/// Version 2, with one hash for both chains.
pub(crate) struct Version2<F>(PhantomData<F>);

/// A hash under the key `K_F`.
pub(crate) trait Hash: Sync {
    fn hash<L: Lanes>(lanes: L, x: &mut L::Blocks);
}

pub(crate) struct FullAes;

impl Hash for FullAes {
    #[inline(always)]
    fn hash<L: Lanes>(lanes: L, x: &mut L::Blocks) {
        lanes.encrypt(x);
    }
}

pub(crate) struct Aes4;

impl Hash for Aes4 {
    #[inline(always)]
    fn hash<L: Lanes>(lanes: L, x: &mut L::Blocks) {
        lanes.full_rounds(4, x);
    }
}

impl<F: Hash> Version<2, 0> for Version2<F> {
    /// `K`, `L` and `K_F`; of `L` the mask `2 L` and the header's beginning, `E_K(L)`, since no set of parameters here has
    /// intermediate tags.
    fn key(backend: Backend, key: &[u8], material: &mut Material) {
        let mut keys = derive::<3>(backend, key);
        let [k, l, k_f] = &keys;
        material.aes.expand(backend, k);
        material.aes.invert(backend);
        material.kept = Kept::new(KeySchedule::kept(backend, k_f));
        let [begin] = encrypt_alone(backend, &material.aes, [*l]);
        material.subkeys[..2].copy_from_slice(&[begin, GcmOrder::double_block(l)]);
        wipe(&mut keys);
    }

    fn keys<'a>(key: &'a Material, e: Shared<'a>) -> [Shared<'a>; 2] {
        [e, key.kept.get::<KeySchedule>().encrypting()]
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

    /// The header is the additional data and the nonce; what is left after its whole blocks is always padded.
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

/// The sum of the masked and encrypted whole blocks of additional data, and the mask that comes next, of each message.
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

/// What each header has after the whole blocks of additional data, in two blocks: the rest of these, the nonce, a one
/// bit, and zeros.
pub(super) fn ends_of_headers(batch: &Batch<'_, '_, '_>, ends: &mut [Column; 2]) {
    for message in batch.messages.iter() {
        let r = message.aad.len() % BLOCK;
        let rest = Span::from(&*message.aad).block(message.aad.len() - r);
        let nonce = message.nonce.first_chunk().expect("a nonce of a block");
        ends[0].push(join(&rest, r, nonce));
        ends[1].push(join(&skip(nonce, BLOCK - r), r, &(0x80u128).to_le_bytes()));
    }
}

/// Adds to each message's sum one block, masked and encrypted.
pub(super) fn sum_block(batch: &Batch<'_, '_, '_>, sums: &mut States, blocks: &mut Column) {
    each::step::<MaskedSum<GcmOrder>, 2, 1, 0, 1>(batch, encrypting, sums.each_mut(), [blocks]);
}

/// Adds to each message's sum its blocks, masked and encrypted.
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

    /// `acc ← acc ⊕ E_K(H_i ⊕ mask)`, `mask ← 2 mask`
    #[inline(always)]
    fn step<L: Lanes>(lanes: L, [acc, mask]: &mut [L::Blocks; 2], [h]: &mut [L::Blocks; 1]) {
        lanes.xor(h, mask);
        lanes.encrypt(h);
        lanes.xor(acc, h);
        lanes.double::<F>(mask);
    }
}
