//! POET, version 2 (CAESAR, second round), with the designers' letters: `τ` the header's hash, `X` and `Y` the upper and
//! the lower chain with their hash `F`, `S` the mask of the last block.
//!
//! What POET-G has in common with it, the steps and the way that tags are split, is here too.

use alloc::boxed::Box;
use core::marker::PhantomData;

use arrayvec::ArrayVec;

use super::Mode;
use crate::backend::{BLOCK, Backend, Block, Span, Wiped};
use crate::engine::blocks::Loose;
use crate::engine::comb::{Chain, Strand};
use crate::engine::each::{self, Link};
use crate::engine::{
    Batch, Column, FLIGHT, Lanes, Material, Message, encrypt_for_each, join, skip, split, xor,
};
use crate::primitives::aes::{Schedule, Shared};
use crate::primitives::gf128::{Field, GcmOrder};
use crate::primitives::wipe;

/// Two blocks of state of each message of a flight.
pub(super) type States = ArrayVec<[Block; 2], FLIGHT>;

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
    fn key(backend: Backend, key: &[u8]) -> Material;
    /// The round keys for the steps: `e`, those of `K`, first.
    fn keys<'a>(key: &'a Material, e: Shared<'a>) -> [Shared<'a>; K];
    /// The constants for the steps.
    fn constants(key: &Material) -> [&Block; C];
    /// `F` of the upper chain.
    fn top<L: Lanes>(lanes: L, x: &mut L::Blocks);
    /// `F` of the lower chain.
    fn bottom<L: Lanes>(lanes: L, y: &mut L::Blocks);
    /// `τ` of each message.
    fn header(batch: &Batch<'_, '_, '_>, tau: &mut Column);
    /// `X` and `Y` before the first block.
    fn start(tau: &Block) -> [Block; 2];
    /// What is added to `τ` before and after it goes through the step that gives the tag.
    fn tag_masks(key: &Material, tau: &Block) -> [Block; 2];
}

impl<V: Version<K, C>, const K: usize, const C: usize> Mode for Poet<V, K, C> {
    fn key(&self, backend: Backend, key: &[u8]) -> Material {
        V::key(backend, key)
    }

    fn seal(&self, batch: &mut Batch<'_, '_, '_>) {
        let (mut tau, mut states) = (Column::new(), States::new());
        V::header(batch, &mut tau);
        states.extend(tau.iter().map(V::start));
        whole_blocks::<Encrypt<V>, V, K, C>(batch, Schedule::encrypting, &mut states);

        let (mut masks, mut z) = (Column::new(), Column::new());
        length_masks(batch, &mut masks);
        z.extend(batch.messages.iter().zip(&tau).map(|(message, tau)| filled(message, tau)));
        add(&mut z, &masks);
        let encrypting = Schedule::encrypting;
        each::step::<Encrypt<V>, 2, K, C>(batch, |key| link::<V, K, C>(key, encrypting), &mut states, &mut z);
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
        let (mut tau, mut states) = (Column::new(), States::new());
        V::header(batch, &mut tau);
        states.extend(tau.iter().map(V::start));
        whole_blocks::<Decrypt<V>, V, K, C>(batch, Schedule::decrypting, &mut states);

        let (mut masks, mut z) = (Column::new(), Column::new());
        length_masks(batch, &mut masks);
        z.extend(batch.messages.iter().map(|message| filled(message, &message.tag)));
        add(&mut z, &masks);
        let decrypting = Schedule::decrypting;
        each::step::<Decrypt<V>, 2, K, C>(batch, |key| link::<V, K, C>(key, decrypting), &mut states, &mut z);
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
    let at = message.data.len().saturating_sub(1) / BLOCK * BLOCK;
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
    encrypt_for_each(batch, masks);
}

/// Takes the blocks of each message before its last one through the chains.
fn whole_blocks<M: Chain<2, K, C>, V: Version<K, C>, const K: usize, const C: usize>(
    batch: &mut Batch<'_, '_, '_>,
    e: fn(&Schedule) -> Shared<'_>,
    states: &mut [[Block; 2]],
) {
    let mut strands = ArrayVec::<Strand<'_, 2, K, C>, FLIGHT>::new();
    for (message, state) in batch.messages.iter_mut().zip(&*states) {
        let (at, _) = last(message);
        let Message { key, data, .. } = &mut **message;
        let Link { keys, constants } = link::<V, K, C>(key, e);
        strands.push(Strand { keys, constants, state: *state, data: data.part(0, at) });
    }
    M::run(batch.backend, batch.schedule, &mut strands);
    for (state, strand) in states.iter_mut().zip(&strands) {
        *state = strand.state;
    }
}

/// What a message's chains need of its key.
fn link<V: Version<K, C>, const K: usize, const C: usize>(
    key: &Material,
    e: fn(&Schedule) -> Shared<'_>,
) -> Link<'_, K, C> {
    Link { keys: V::keys(key, e(&key.aes)), constants: V::constants(key) }
}

/// `T`: what the step after the last block makes of `τ`.
fn tag_blocks<V: Version<K, C>, const K: usize, const C: usize>(
    batch: &Batch<'_, '_, '_>,
    tau: &[Block],
    states: &mut [[Block; 2]],
    t: &mut Column,
) {
    for (message, tau) in batch.messages.iter().zip(tau) {
        let [mut block, _] = V::tag_masks(message.key, tau);
        xor(&mut block, tau);
        t.push(block);
    }
    let encrypting = Schedule::encrypting;
    each::step::<Encrypt<V>, 2, K, C>(batch, |key| link::<V, K, C>(key, encrypting), states, t);
    for ((message, tau), t) in batch.messages.iter().zip(tau).zip(t) {
        xor(t, &V::tag_masks(message.key, tau)[1]);
    }
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
    let sk = Schedule::new(backend, key);
    encrypt_blocks(backend, &sk, core::array::from_fn(|i| (i as u128).to_be_bytes()))
}

fn encrypt_blocks<const N: usize>(backend: Backend, aes: &Schedule, blocks: [Block; N]) -> [Block; N] {
    let mut loose = Loose::new();
    for block in blocks {
        loose.push(aes, block);
    }
    loose.encrypt(backend);
    let encrypted = core::array::from_fn(|i| loose.blocks[i]);
    wipe(&mut loose.blocks);
    encrypted
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
    fn key(backend: Backend, key: &[u8]) -> Material {
        let mut keys = derive::<3>(backend, key);
        let [k, l, k_f] = &keys;
        let mut material = Material::plain(Schedule::new(backend, k));
        material.hash = Some(Box::new(Wiped::new(Schedule::new(backend, k_f))));
        let [begin] = encrypt_blocks(backend, &material.aes, [*l]);
        material.subkeys[..2].copy_from_slice(&[begin, GcmOrder::double_block(l)]);
        wipe(&mut keys);
        material
    }

    fn keys<'a>(key: &'a Material, e: Shared<'a>) -> [Shared<'a>; 2] {
        [e, key.hash.as_ref().expect("POET's key has its hash's").encrypting()]
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
    fn header(batch: &Batch<'_, '_, '_>, tau: &mut Column) {
        let mut sums = States::new();
        sum_aad(batch, |key| [key.subkeys[0], key.subkeys[1]], &mut sums);
        let mut ends = [Column::new(), Column::new()];
        ends_of_headers(batch, &mut ends);
        for blocks in &mut ends {
            sum_block(batch, &mut sums, blocks);
        }
        tau.extend(sums.iter().map(|[acc, _]| *acc));
        encrypt_for_each(batch, tau);
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
    batch: &Batch<'_, '_, '_>,
    begins: impl Fn(&Material) -> [Block; 2],
    sums: &mut States,
) {
    sums.extend(batch.messages.iter().map(|message| begins(message.key)));
    if batch.messages.iter().any(|message| message.aad.len() >= BLOCK) {
        sum_blocks::<GcmOrder>(batch, sums, |message| &message.aad[..message.aad.len() / BLOCK * BLOCK]);
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
pub(super) fn sum_block(batch: &Batch<'_, '_, '_>, sums: &mut [[Block; 2]], blocks: &mut [Block]) {
    fn link(key: &Material) -> Link<'_> {
        Link { keys: [key.aes.encrypting()], constants: [] }
    }
    each::step::<MaskedSum<GcmOrder>, 2, 1, 0>(batch, link, sums, blocks);
}

/// Adds to each message's sum its blocks, masked and encrypted.
pub(super) fn sum_blocks<F: Field>(
    batch: &Batch<'_, '_, '_>,
    sums: &mut [[Block; 2]],
    blocks: impl for<'m> Fn(&'m Message<'_>) -> &'m [u8],
) {
    let mut strands = ArrayVec::<Strand<'_, 2>, FLIGHT>::new();
    for (message, sum) in batch.messages.iter().zip(&*sums) {
        let keys = [message.key.aes.encrypting()];
        strands.push(Strand { keys, constants: [], state: *sum, data: Span::from(blocks(message)) });
    }
    MaskedSum::<F>::run(batch.backend, batch.schedule, &mut strands);
    for (sum, strand) in sums.iter_mut().zip(&strands) {
        *sum = strand.state;
    }
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
