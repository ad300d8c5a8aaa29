//! Parallelism across blocks: consecutive blocks of one message side by side, and single blocks of many messages.

use core::marker::PhantomData;

use arrayvec::ArrayVec;

use super::FLIGHT;
use super::cipher::BlockCipher;
use super::flights::Alone;
use super::lanes::{Lanes, Registers};
use super::message::{Batch, Column, Material, Message, share_key};
use crate::backend::{BLOCK, Backend, Block, Isa, Kernel, REGISTERS, RoundKeys, Span};
use crate::primitives::aes::KeySchedule;
use crate::primitives::counter::{Counter, xor_keystream};
use crate::primitives::permutation::Permutation;
use crate::primitives::wipe;

/// One direction of a mode in which an output block depends on two consecutive input blocks at most.
pub(crate) trait Independent: 'static {
    /// Whether the step decrypts.
    const DECRYPTS: bool;
    /// Turns input blocks into output blocks. `before` has the input block before each of them.
    fn step<L: Lanes>(lanes: L, before: &L::Blocks, x: &mut L::Blocks);
}

impl<M: Independent> Alone for M {
    const TAGS: bool = false;

    /// Processes a message of any length. The block before the first one is the nonce.
    #[inline(always)]
    fn alone<B: Isa>(b: B, key: &Material, nonce: &[u8], _: &[u8], data: Span<'_>) -> B::V {
        if M::DECRYPTS {
            across::<M, B, _>(b, key.aes.decrypting(), nonce, data);
        } else {
            across::<M, B, _>(b, key.aes.encrypting(), nonce, data);
        }
        b.zero()
    }
}

#[inline(always)]
fn across<M: Independent, B: Isa, K: RoundKeys<B>>(b: B, keys: K, nonce: &[u8], mut data: Span<'_>) {
    // Only the last lane is read.
    let last = b.splat(nonce.first_chunk().unwrap_or(&[0; BLOCK]));
    pass(b, &mut data, &mut Across::<M, B, K> { keys, last, mode: PhantomData });
}

struct Across<M, B: Isa, K> {
    keys: K,
    last: B::V,
    mode: PhantomData<M>,
}

impl<M: Independent, B: Isa, K: RoundKeys<B>> Pass<B> for Across<M, B, K> {
    const WRITES: bool = true;

    #[inline(always)]
    fn step<const R: usize>(&mut self, b: B, x: &mut [B::V; R], _: usize) {
        let mut before = [b.zero(); R];
        for r in 0..R {
            before[r] = b.push(self.last, x[r]);
            self.last = x[r];
        }
        M::step(Registers::<B, K, R>::new(b, [self.keys], &[]), &before, x);
    }
}

/// A pass over the blocks of a message, several registers at a time. The implementing type holds its state.
pub(crate) trait Pass<B: Isa> {
    /// Whether a step leaves output in `x`.
    const WRITES: bool;
    /// Processes the next registers of input. The last one begins with `bytes` bytes of the message, followed by zeros;
    /// output in place of the zeros is not written.
    fn step<const R: usize>(&mut self, b: B, x: &mut [B::V; R], bytes: usize);
}

/// Runs a pass over a message of any length.
#[inline(always)]
pub(crate) fn pass<B: Isa, P: Pass<B>>(b: B, data: &mut Span<'_>, pass: &mut P) {
    // A local span stays in registers, because the compiler knows that no store changes it.
    let data = &mut data.reborrow();
    let register = BLOCK * B::BLOCKS;
    let mut at = 0;
    while data.len() - at >= REGISTERS * register {
        let mut x = data.load_all::<B, REGISTERS>(b, at);
        pass.step(b, &mut x, register);
        if P::WRITES {
            let mut chunk = data.chunk::<B, REGISTERS>(at);
            for r in 0..REGISTERS {
                chunk.store(b, r, x[r]);
            }
        }
        at += REGISTERS * register;
    }
    let left = (data.len() - at).div_ceil(register);
    each_count!(left, R => {
        let mut x = data.load_tail::<B, R>(b, at);
        pass.step(b, &mut x, data.len() - at - (R - 1) * register);
        if P::WRITES {
            data.store_tail(b, at, &x);
        }
    });
}

/// A pass over pairs of consecutive blocks, whose first and second blocks are in separate registers.
pub(crate) trait PairPass<B: Isa> {
    /// Processes the next registers of input. The last ones begin with `pairs` blocks of the message, followed by
    /// zeros; output in place of the zeros is not written.
    fn step<const R: usize>(&mut self, b: B, first: &mut [B::V; R], second: &mut [B::V; R], pairs: usize);
}

/// Number of registers of first blocks, and of second blocks, per step. The second blocks wait for the first ones, so
/// each must fill the AES units alone. The last steps have at most half as many.
const PAIRS: usize = REGISTERS;

/// Runs a pass over a message of whole pairs.
#[inline(always)]
pub(crate) fn pass_pairs<B: Isa, P: PairPass<B>>(b: B, data: &mut Span<'_>, pass: &mut P) {
    let data = &mut data.reborrow();
    let register = BLOCK * B::BLOCKS;
    let mut at = 0;
    while data.len() - at >= 2 * PAIRS * register {
        full_pairs::<B, P, PAIRS, { 2 * PAIRS }>(b, data, at, pass);
        at += 2 * PAIRS * register;
    }
    if data.len() - at >= PAIRS * register {
        full_pairs::<B, P, { PAIRS / 2 }, PAIRS>(b, data, at, pass);
        at += PAIRS * register;
    }
    let left = (data.len() - at).div_ceil(2 * register);
    each_count!(left, 1 2 3 4, R => {
        let (mut first, mut second) = ([b.zero(); R], [b.zero(); R]);
        for r in 0..R - 1 {
            let at = at + 2 * r * register;
            (first[r], second[r]) = b.unzip(data.load(b, at), data.load(b, at + register));
        }
        let last = at + 2 * (R - 1) * register;
        let middle = (last + register).min(data.len());
        (first[R - 1], second[R - 1]) = b.unzip(data.load_part(b, last), data.load_part(b, middle));
        pass.step(b, &mut first, &mut second, (data.len() - last) / (2 * BLOCK));
        for r in 0..R - 1 {
            let (low, high) = b.zip(first[r], second[r]);
            data.store(b, at, low);
            data.store(b, at + register, high);
            at += 2 * register;
        }
        let (low, high) = b.zip(first[R - 1], second[R - 1]);
        data.store_part(b, last, low);
        data.store_part(b, middle, high);
    });
}

/// Processes `R` registers of first blocks and `R` of second blocks, `BOTH` together.
#[inline(always)]
fn full_pairs<B: Isa, P: PairPass<B>, const R: usize, const BOTH: usize>(
    b: B,
    data: &mut Span<'_>,
    at: usize,
    pass: &mut P,
) {
    let mut chunk = data.chunk::<B, BOTH>(at);
    let (mut first, mut second) = ([b.zero(); R], [b.zero(); R]);
    for r in 0..R {
        (first[r], second[r]) = b.unzip(chunk.load(b, 2 * r), chunk.load(b, 2 * r + 1));
    }
    pass.step(b, &mut first, &mut second, B::BLOCKS);
    for r in 0..R {
        let (low, high) = b.zip(first[r], second[r]);
        chunk.store(b, 2 * r, low);
        chunk.store(b, 2 * r + 1, high);
    }
}

/// Adds to each message the keystream that starts with its first counter block.
pub(crate) fn keystream<C: Counter>(batch: &mut Batch<'_, '_, '_>, first: impl Fn(&Message<'_>) -> Block) {
    let mut firsts = Column::new();
    firsts.extend(batch.messages.iter().map(|message| first(message)));
    batch.backend.run(Keystream::<C> { messages: batch.messages, firsts: &firsts, kind: PhantomData });
}

struct Keystream<'b, 'm, 'a, C> {
    messages: &'b mut [&'m mut Message<'a>],
    firsts: &'b [Block],
    kind: PhantomData<C>,
}

impl<C: Counter> Kernel for Keystream<'_, '_, '_, C> {
    type Output = ();

    #[inline(always)]
    fn run<B: Isa>(self, b: B) {
        for (message, first) in self.messages.iter_mut().zip(self.firsts) {
            let Message { key, data, .. } = &mut **message;
            xor_keystream::<C, B, _>(b, key.aes.encrypting(), first, data);
        }
    }
}

/// Encrypts some blocks under one key, to derive the state of a mode from it.
pub(crate) fn encrypt_alone<const N: usize>(
    backend: Backend,
    aes: &KeySchedule,
    blocks: [Block; N],
) -> [Block; N] {
    let mut alone = Loose::new();
    for block in blocks {
        alone.push(aes, block);
    }
    alone.encrypt(backend);
    let encrypted = core::array::from_fn(|i| alone.blocks[i]);
    wipe(&mut alone.blocks);
    encrypted
}

/// Single blocks of many messages, each to be encrypted under its message's key.
pub(crate) struct Loose<'a, C = KeySchedule> {
    pub(crate) blocks: Column,
    keys: ArrayVec<&'a C, FLIGHT>,
}

impl<'a, C: BlockCipher> Loose<'a, C> {
    pub(crate) fn new() -> Self {
        Self { blocks: Column::new(), keys: ArrayVec::new() }
    }

    pub(crate) fn push(&mut self, key: &'a C, block: Block) {
        self.keys.push(key);
        self.blocks.push(block);
    }

    pub(crate) fn encrypt(&mut self, backend: Backend) {
        backend.run(CryptLoose::<C, false> { loose: self });
    }

    /// Encrypts all blocks within a kernel.
    #[inline(always)]
    pub(crate) fn encrypt_on<B: Isa>(&mut self, b: B) {
        b.call(CryptLoose::<C, false> { loose: self });
    }
}

#[cfg(feature = "hazmat")]
impl<C: BlockCipher> Loose<'_, C> {
    /// Decrypts all blocks within a kernel.
    #[inline(always)]
    pub(crate) fn decrypt_on<B: Isa>(&mut self, b: B) {
        b.call(CryptLoose::<C, true> { loose: self });
    }
}

/// The kernel for loose blocks, one function for all modes.
struct CryptLoose<'l, 'a, C, const DECRYPTS: bool> {
    loose: &'l mut Loose<'a, C>,
}

impl<C: BlockCipher, const DECRYPTS: bool> Kernel for CryptLoose<'_, '_, C, DECRYPTS> {
    type Output = ();

    #[inline(always)]
    fn run<B: Isa>(self, b: B) {
        let Loose { blocks, keys } = self.loose;
        let Some(first) = keys.first() else { return };
        let each = if keys.iter().all(|key| core::ptr::eq(*key, *first)) { blocks.len() } else { 1 };
        for (key, blocks) in keys.iter().zip(blocks.chunks_mut(each)) {
            let keys = if DECRYPTS { key.decrypting::<B>() } else { key.encrypting::<B>() };
            crypt_blocks::<B, _, DECRYPTS>(b, keys, blocks);
        }
    }
}

/// Encrypts equally many blocks of each message under its AES key. The blocks of a message are consecutive.
#[inline(always)]
pub(crate) fn encrypt_each<B: Isa>(b: B, messages: &[&mut Message<'_>], blocks: &mut [Block]) {
    encrypt_each_by::<KeySchedule, B>(b, messages, blocks);
}

/// Encrypts equally many blocks of each message with any cipher. The blocks of a message are consecutive.
#[inline(always)]
pub(crate) fn encrypt_each_by<C: BlockCipher, B: Isa>(
    b: B,
    messages: &[&mut Message<'_>],
    blocks: &mut [Block],
) {
    let Some(first) = messages.first() else { return };
    if share_key(messages) {
        encrypt_blocks(b, C::of(first.key).encrypting::<B>(), blocks);
    } else {
        let each = blocks.len() / messages.len();
        for (message, blocks) in messages.iter().zip(blocks.chunks_mut(each)) {
            for block in blocks {
                encrypt_block(b, C::of(message.key).encrypting::<B>(), block);
            }
        }
    }
}

/// Encrypts blocks that share an AES key, one of each message of a flight or more.
pub(crate) fn encrypt_together(backend: Backend, aes: &KeySchedule, blocks: &mut [Block]) {
    backend.run(EncryptTogether { aes, blocks });
}

struct EncryptTogether<'f> {
    aes: &'f KeySchedule,
    blocks: &'f mut [Block],
}

impl Kernel for EncryptTogether<'_> {
    type Output = ();

    #[inline(always)]
    fn run<B: Isa>(self, b: B) {
        encrypt_blocks(b, self.aes.encrypting(), self.blocks);
    }
}

/// Encrypts blocks that share a key.
#[inline(always)]
pub(crate) fn encrypt_blocks<B: Isa, K: Permutation<B>>(b: B, keys: K, blocks: &mut [Block]) {
    crypt_blocks::<B, K, false>(b, keys, blocks);
}

/// Encrypts one block.
#[inline(always)]
pub(crate) fn encrypt_block<B: Isa, K: Permutation<B>>(b: B, keys: K, block: &mut Block) {
    crypt_block::<B, K, false>(b, keys, block);
}

/// Encrypts or decrypts blocks that share a key.
#[inline(always)]
fn crypt_blocks<B: Isa, K: Permutation<B>, const DECRYPTS: bool>(b: B, keys: K, blocks: &mut [Block]) {
    if let [block] = blocks {
        return crypt_block::<B, K, DECRYPTS>(b, keys, block);
    }
    if blocks.len() <= B::BLOCKS {
        let mut x = [b.load_bytes(blocks.as_flattened())];
        keys.crypt(b, DECRYPTS, &mut x);
        return b.store_some(x[0], blocks);
    }
    for blocks in blocks.chunks_mut(REGISTERS * B::BLOCKS) {
        let mut x = [b.zero(); REGISTERS];
        for (x, blocks) in x.iter_mut().zip(blocks.chunks(B::BLOCKS)) {
            *x = b.load_bytes(blocks.as_flattened());
        }
        keys.crypt(b, DECRYPTS, &mut x);
        for (x, blocks) in x.iter().zip(blocks.chunks_mut(B::BLOCKS)) {
            b.store_some(*x, blocks);
        }
    }
}

#[inline(always)]
fn crypt_block<B: Isa, K: Permutation<B>, const DECRYPTS: bool>(b: B, keys: K, block: &mut Block) {
    let mut x = [b.one(block)];
    keys.crypt(b, DECRYPTS, &mut x);
    *block = b.first(x[0]);
}
