//! AES key schedules (FIPS 197), and the sources of the lanes' round keys.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

use arrayvec::ArrayVec;

use super::wipe;
use crate::backend::{BLOCK, Backend, Block, Isa, Kernel, RoundKeys, SoftAes, Wiped, hidden};

/// Number of round keys of AES-256, the maximum.
const ROUND_KEYS: usize = 15;

/// An expanded AES key.
// Aligned so that no load of a round key straddles two cache lines.
#[repr(align(16))]
pub(crate) struct KeySchedule {
    rounds: usize,
    encrypting: [Block; ROUND_KEYS],
    /// Round keys of the equivalent inverse cipher, for modes that decrypt.
    decrypting: Option<Box<Wiped<[Block; ROUND_KEYS]>>>,
    soft: Option<Box<SoftAes>>,
}

/// Round keys for decryption in modes that never decrypt.
static NO_INVERSE: [Block; ROUND_KEYS] = [[0; BLOCK]; ROUND_KEYS];

impl KeySchedule {
    /// Returns a schedule without a key: before expansion, or for a mode of another cipher.
    pub(crate) const fn empty() -> Self {
        Self { rounds: 0, encrypting: [[0; BLOCK]; ROUND_KEYS], decrypting: None, soft: None }
    }

    /// Expands a key of 16, 24 or 32 bytes for encryption. An empty key leaves the schedule empty.
    /// [`KeySchedule::decrypting`] requires [`KeySchedule::invert`].
    pub(crate) fn expand(&mut self, backend: Backend, key: &[u8]) {
        if !key.is_empty() {
            backend.run(Expand { key, schedule: self });
        }
    }

    /// Expands a key like [`KeySchedule::expand`] within a kernel.
    #[inline(always)]
    pub(crate) fn expand_on<B: Isa>(&mut self, b: B, key: &[u8]) {
        expand_single(b, key, self);
    }

    /// Expands keys of one size like [`KeySchedule::expand`], in parallel lanes.
    pub(crate) fn expand_group(backend: Backend, pairs: ArrayVec<Pair<'_>, GROUP>) {
        if pairs.iter().all(|(key, _)| !key.is_empty()) {
            backend.run(ExpandGroup { pairs });
        }
    }

    /// Computes the round keys for decryption from those for encryption.
    pub(crate) fn invert(&mut self, backend: Backend) {
        let mut keys = Box::new(Wiped::new(NO_INVERSE));
        backend.run(Invert { encrypting: &self.encrypting[..=self.rounds], decrypting: &mut keys });
        self.decrypting = Some(keys);
    }

    /// Returns a schedule on the heap, for a mode that has a second key.
    pub(crate) fn boxed(backend: Backend, key: &[u8]) -> Box<Wiped<Self>> {
        let mut schedule = Box::new(Wiped::new(Self::empty()));
        schedule.expand(backend, key);
        schedule
    }

    pub(crate) fn rounds(&self) -> usize {
        self.rounds
    }

    /// Returns the round keys for [`Isa::encrypt`], shared by all lanes.
    #[inline(always)]
    pub(crate) fn encrypting(&self) -> Shared<'_> {
        Shared { keys: &self.encrypting, schedule: self }
    }

    /// Returns the round keys for [`Isa::decrypt`], shared by all lanes.
    #[inline(always)]
    pub(crate) fn decrypting(&self) -> Shared<'_> {
        Shared { keys: self.decrypting.as_ref().map_or(&NO_INVERSE, |keys| &**keys), schedule: self }
    }

    /// Replaces the round keys for [`Isa::decrypt`] by wrong ones. Returns false if the backend does not use them.
    #[cfg(test)]
    pub(crate) fn spoil_decrypting(&mut self) -> bool {
        self.decrypting = Some(Box::new(Wiped::new([[0x55; BLOCK]; ROUND_KEYS])));
        self.soft.is_none()
    }
}

struct Expand<'a> {
    key: &'a [u8],
    schedule: &'a mut KeySchedule,
}

impl Kernel for Expand<'_> {
    type Output = ();

    #[inline(always)]
    fn run<B: Isa>(self, b: B) {
        expand_single(b, self.key, self.schedule);
    }
}

/// Expands a key without the help of other lanes.
#[inline(always)]
fn expand_single<B: Isa>(b: B, key: &[u8], schedule: &mut KeySchedule) {
    schedule.rounds = rounds(key.len());
    if B::SOFT {
        expand_words(b, key, &mut schedule.encrypting[..=schedule.rounds]);
        schedule.soft = Some(Box::new(SoftAes::new(key)));
    } else {
        let (first, last) = ends(key);
        expand(b, key.len(), [b.one(first)], [b.one(last)], &mut Single(&mut schedule.encrypting));
    }
}

/// A key and its schedule.
type Pair<'a> = (&'a [u8], &'a mut KeySchedule);

struct ExpandGroup<'a> {
    pairs: ArrayVec<Pair<'a>, GROUP>,
}

impl Kernel for ExpandGroup<'_> {
    type Output = ();

    /// Expands one key per lane. Keys that fill no register are expanded one by one.
    #[inline(always)]
    fn run<B: Isa>(mut self, b: B) {
        let mut pairs = self.pairs.as_mut_slice();
        if !B::SOFT {
            // A key schedule is a chain of dependent instructions. Two registers keep the AES units busier than one.
            pairs = expand_registers::<B, 2>(b, pairs);
            pairs = expand_registers::<B, 1>(b, pairs);
        }
        for (key, schedule) in pairs {
            expand_single(b, key, schedule);
        }
    }
}

/// Expands keys of one size, each in its own lane of `R` registers. Returns the pairs that do not fill the registers.
#[inline(always)]
fn expand_registers<'p, 'k, B: Isa, const R: usize>(b: B, pairs: &'p mut [Pair<'k>]) -> &'p mut [Pair<'k>] {
    let mut chunks = pairs.chunks_exact_mut(R * B::BLOCKS);
    for pairs in &mut chunks {
        let bytes = pairs[0].0.len();
        let (mut first, mut last) = ([&NO_INVERSE[0]; GROUP], [&NO_INVERSE[0]; GROUP]);
        let mut schedules = ArrayVec::<_, GROUP>::new();
        for (lane, (key, schedule)) in pairs.iter_mut().enumerate() {
            (first[lane], last[lane]) = ends(key);
            schedule.rounds = rounds(bytes);
            schedules.push(&mut schedule.encrypting);
        }
        let (mut low, mut high) = ([b.zero(); R], [b.zero(); R]);
        for r in 0..R {
            low[r] = b.gather_blocks(&first[r * B::BLOCKS..]);
            high[r] = b.gather_blocks(&last[r * B::BLOCKS..]);
        }
        expand(b, bytes, low, high, &mut PerLane(&mut schedules));
    }
    chunks.into_remainder()
}

/// Returns the first and the last 16 bytes of a key. They overlap in a key of less than 32 bytes.
#[inline(always)]
fn ends(key: &[u8]) -> (&Block, &Block) {
    key.first_chunk().zip(key.last_chunk()).expect("an AES key has at least 16 bytes")
}

/// Returns the number of rounds under a key of `key_bytes` bytes: 10, 12 or 14.
#[inline(always)]
fn rounds(key_bytes: usize) -> usize {
    key_bytes / 4 + 6
}

/// The key schedules of the keys in the lanes of several registers.
trait Destination<B: Isa> {
    /// Stores four words of the schedule of each key in register `reg`, as words `word` to `word + 3`.
    fn store(&mut self, b: B, reg: usize, word: usize, words: B::V);
}

/// The schedule of the key in the first lane of a single register.
struct Single<'a>(&'a mut [Block; ROUND_KEYS]);

impl<B: Isa> Destination<B> for Single<'_> {
    #[inline(always)]
    fn store(&mut self, b: B, _: usize, word: usize, words: B::V) {
        self.0.as_flattened_mut()[4 * word..][..BLOCK].copy_from_slice(&b.first(words));
    }
}

/// One separate schedule per lane.
struct PerLane<'a, 'k>(&'a mut [&'k mut [Block; ROUND_KEYS]]);

impl<B: Isa> Destination<B> for PerLane<'_, '_> {
    #[inline(always)]
    fn store(&mut self, b: B, reg: usize, word: usize, words: B::V) {
        b.scatter_blocks(words, &mut self.0[reg * B::BLOCKS..], 4 * word);
    }
}

/// Runs the body once per step number and register, with the round constants of FIPS 197, table 5. The compiler does
/// not unroll a loop of these steps, and constants from a table would cost as many instructions as the rest.
macro_rules! each_step {
    ([$($number:literal)*], $i:ident, $rcon:ident, $R:ident, $r:ident => $body:block) => {
        $({
            const $i: usize = $number;
            const $rcon: u32 = RCON[$i];
            each_register!($R, $r => $body);
        })*
    };
}

/// The round constants of FIPS 197, table 5.
const RCON: [u32; 10] = [0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40, 0x80, 0x1b, 0x36];

/// Expands one key of `bytes` bytes per lane of `R` registers, given the first and the last 16 bytes of each key
/// (FIPS 197, section 5.2).
#[inline(always)]
fn expand<B: Isa, D: Destination<B>, const R: usize>(
    b: B,
    bytes: usize,
    first: [B::V; R],
    last: [B::V; R],
    to: &mut D,
) {
    match bytes {
        16 => expand_128(b, first, to),
        24 => expand_192(b, first, last, to),
        _ => expand_256(b, first, last, to),
    }
}

#[inline(always)]
fn expand_128<B: Isa, D: Destination<B>, const R: usize>(b: B, mut key: [B::V; R], to: &mut D) {
    for r in 0..R {
        to.store(b, r, 0, key[r]);
    }
    each_step!([0 1 2 3 4 5 6 7 8 9], I, C, R, r => {
        key[r] = next_words(b, key[r], substituted(b, key[r], &FOURTH_ROTATED, C));
        to.store(b, r, 4 * (I + 1), key[r]);
    });
}

/// Every step computes six words, of which `high` has the last two in its low half. Its high half is meaningless:
/// the next words overwrite it in the schedule.
#[inline(always)]
fn expand_192<B: Isa, D: Destination<B>, const R: usize>(
    b: B,
    mut low: [B::V; R],
    last: [B::V; R],
    to: &mut D,
) {
    let mut high = last;
    for r in 0..R {
        high[r] = b.high_to_low(last[r]);
        to.store(b, r, 0, low[r]);
        to.store(b, r, 4, high[r]);
    }
    each_step!([0 1 2 3 4 5 6 7], I, C, R, r => {
        let word = substituted(b, high[r], &SECOND_ROTATED, C);
        // The sums without the word take less time than the substitution.
        let pairs = b.xor(low[r], b.shuffle(low[r], &ONE_WORD_ON));
        let sums = b.xor(pairs, b.low_to_high(pairs));
        let high_sums = b.xor3(high[r], b.shuffle(high[r], &ONE_WORD_ON), b.shuffle(sums, &FOURTH));
        (low[r], high[r]) = (b.xor(sums, word), b.xor(high_sums, word));
        to.store(b, r, 6 * (I + 1), low[r]);
        if I < 7 {
            to.store(b, r, 6 * (I + 1) + 4, high[r]);
        }
    });
}

#[inline(always)]
fn expand_256<B: Isa, D: Destination<B>, const R: usize>(
    b: B,
    mut low: [B::V; R],
    mut high: [B::V; R],
    to: &mut D,
) {
    for r in 0..R {
        to.store(b, r, 0, low[r]);
        to.store(b, r, 4, high[r]);
    }
    each_step!([0 1 2 3 4 5 6], I, C, R, r => {
        low[r] = next_words(b, low[r], substituted(b, high[r], &FOURTH_ROTATED, C));
        to.store(b, r, 8 * (I + 1), low[r]);
        if I < 6 {
            high[r] = next_words(b, high[r], substituted(b, low[r], &FOURTH, 0));
            to.store(b, r, 8 * (I + 1) + 4, high[r]);
        }
    });
}

/// The fourth word of a block, in all four words.
const FOURTH: Block = [12, 13, 14, 15, 12, 13, 14, 15, 12, 13, 14, 15, 12, 13, 14, 15];
/// `RotWord` of the fourth word, in all four words.
const FOURTH_ROTATED: Block = [13, 14, 15, 12, 13, 14, 15, 12, 13, 14, 15, 12, 13, 14, 15, 12];
/// `RotWord` of the second word, in all four words.
const SECOND_ROTATED: Block = [5, 6, 7, 4, 5, 6, 7, 4, 5, 6, 7, 4, 5, 6, 7, 4];
/// A shift by one word, which moves in zeros.
const ONE_WORD_ON: Block = [255, 255, 255, 255, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11];

/// Returns `SubWord` of the word that `order` selects, XOR `rcon`, in all four words.
#[inline(always)]
fn substituted<B: Isa>(b: B, words: B::V, order: &Block, rcon: u32) -> B::V {
    // The last round's ShiftRows has no effect, since all columns are equal.
    b.aes_last(b.shuffle(words, order), b.splat32(rcon))
}

/// Returns four words of the schedule: each is the XOR of `word` and the words of `back` up to the same position.
#[inline(always)]
fn next_words<B: Isa>(b: B, back: B::V, word: B::V) -> B::V {
    let pairs = b.xor(back, b.shuffle(back, &ONE_WORD_ON));
    b.xor3(pairs, b.low_to_high(pairs), word)
}

/// Expands a key word by word (FIPS 197, section 5.2). The portable backends shuffle bytes slowly.
#[inline(always)]
fn expand_words<B: Isa>(b: B, key: &[u8], schedule: &mut [Block]) {
    schedule.as_flattened_mut()[..key.len()].copy_from_slice(key);
    let words = schedule.as_flattened_mut().as_chunks_mut().0;
    let count = key.len() / 4;
    for i in count..words.len() {
        let latest = u32::from_le_bytes(words[i - 1]);
        let word = match i % count {
            0 => sub_word(b, latest.rotate_right(8)) ^ RCON[i / count - 1],
            4 if count == 8 => sub_word(b, latest),
            _ => latest,
        };
        words[i] = (u32::from_le_bytes(words[i - count]) ^ word).to_le_bytes();
    }
}

#[inline(always)]
fn sub_word<B: Isa>(b: B, word: u32) -> u32 {
    // The last round's ShiftRows has no effect, since all columns are equal.
    let [s0, s1, s2, s3, ..] = b.first(b.aes_last(b.splat32(word), b.zero()));
    u32::from_le_bytes([s0, s1, s2, s3])
}

struct Invert<'a> {
    encrypting: &'a [Block],
    decrypting: &'a mut [Block; ROUND_KEYS],
}

impl Kernel for Invert<'_> {
    type Output = ();

    /// Computes the round keys of the equivalent inverse cipher (FIPS 197, section 5.3.5).
    #[inline(always)]
    fn run<B: Isa>(self, b: B) {
        let Self { encrypting, decrypting } = self;
        let rounds = encrypting.len() - 1;
        for (i, (inverse, key)) in decrypting.iter_mut().zip(encrypting.iter().rev()).enumerate() {
            let ends = i == 0 || i == rounds;
            *inverse = if ends { *key } else { b.first(b.aes_inv_mix(b.one(key))) };
        }
    }
}

/// One key, shared by all lanes.
#[derive(Clone, Copy)]
pub(crate) struct Shared<'a> {
    keys: &'a [Block; ROUND_KEYS],
    schedule: &'a KeySchedule,
}

impl Shared<'_> {
    /// Returns whether both refer to the same round keys.
    #[inline(always)]
    pub(crate) fn is(&self, other: &Self) -> bool {
        core::ptr::eq(self.keys, other.keys)
    }
}

impl<B: Isa> RoundKeys<B> for &Shared<'_> {
    const SHARED: bool = true;

    #[inline(always)]
    fn rounds(self) -> usize {
        RoundKeys::<B>::rounds(*self)
    }

    #[inline(always)]
    fn key(self, b: B, round: usize, reg: usize) -> B::V {
        RoundKeys::<B>::key(*self, b, round, reg)
    }

    fn soft(&self, lane: usize) -> Option<&SoftAes> {
        RoundKeys::<B>::soft(*self, lane)
    }
}

impl<B: Isa> RoundKeys<B> for Shared<'_> {
    const SHARED: bool = true;

    #[inline(always)]
    fn rounds(self) -> usize {
        // With the minimum, the compiler omits all bounds checks.
        self.schedule.rounds.min(ROUND_KEYS - 1)
    }

    #[inline(always)]
    fn key(self, b: B, round: usize, _: usize) -> B::V {
        b.splat(&self.keys[round])
    }

    fn soft(&self, _: usize) -> Option<&SoftAes> {
        self.schedule.soft.as_deref()
    }

    #[inline(always)]
    fn hidden(self) -> Self {
        Self { keys: hidden(self.keys), schedule: hidden(self.schedule) }
    }
}

/// Round keys, each four times: a register is loaded faster than a block is broadcast to its lanes. The last round key is
/// the last one here, with any number of rounds.
pub(crate) struct WideRoundKeys {
    keys: [[Block; 4]; ROUND_KEYS],
    rounds: usize,
}

impl WideRoundKeys {
    pub(crate) const fn empty() -> Self {
        Self { keys: [[[0; BLOCK]; 4]; ROUND_KEYS], rounds: 0 }
    }
}

impl KeySchedule {
    /// Fills in the keys of [`KeySchedule::wide`].
    pub(crate) fn widen(&self, wide: &mut WideRoundKeys) {
        wide.rounds = self.rounds;
        for (wide, key) in wide.keys.iter_mut().zip(&self.encrypting) {
            *wide = [*key; 4];
        }
        wide.keys[ROUND_KEYS - 1] = wide.keys[self.rounds];
    }

    /// Returns the cipher for encryption, with keys from [`KeySchedule::widen`].
    #[inline(always)]
    pub(crate) fn wide<'a>(&'a self, keys: &'a WideRoundKeys) -> Wide<'a> {
        Wide { keys, schedule: self }
    }
}

/// One key, shared by all lanes, in whole registers.
#[derive(Clone, Copy)]
pub(crate) struct Wide<'a> {
    keys: &'a WideRoundKeys,
    schedule: &'a KeySchedule,
}

impl<B: Isa> RoundKeys<B> for Wide<'_> {
    const SHARED: bool = true;

    #[inline(always)]
    fn rounds(self) -> usize {
        self.keys.rounds
    }

    #[inline(always)]
    fn key(self, b: B, round: usize, _: usize) -> B::V {
        b.load(&self.keys.keys[round.min(ROUND_KEYS - 1)])
    }

    #[inline(always)]
    fn last_key(self, b: B, _: usize) -> B::V {
        b.load(&self.keys.keys[ROUND_KEYS - 1])
    }

    fn soft(&self, _: usize) -> Option<&SoftAes> {
        self.schedule.soft.as_deref()
    }

    #[inline(always)]
    fn hidden(self) -> Self {
        Self { keys: hidden(self.keys), ..self }
    }
}

/// One key per register, used by the register's first lane. All keys have the same number of rounds.
pub(crate) struct RegisterKeys<'a, const R: usize>(pub(crate) [Shared<'a>; R]);

impl<B: Isa, const R: usize> RoundKeys<B> for &RegisterKeys<'_, R> {
    const SHARED: bool = false;

    #[inline(always)]
    fn rounds(self) -> usize {
        RoundKeys::<B>::rounds(self.0[0])
    }

    #[inline(always)]
    fn key(self, b: B, round: usize, reg: usize) -> B::V {
        b.splat(&self.0[reg].keys[round])
    }

    fn soft(&self, lane: usize) -> Option<&SoftAes> {
        if lane.is_multiple_of(B::BLOCKS) { self.0[lane / B::BLOCKS].schedule.soft.as_deref() } else { None }
    }
}

/// One key per lane, for `N` lanes. The round keys are interleaved in the layout of the registers.
pub(crate) struct LaneKeys<'a, const N: usize> {
    rounds: Vec<LaneKey<N>>,
    schedules: [Option<&'a KeySchedule>; N],
}

/// One round key per lane.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct LaneKey<const N: usize>([Block; N]);

impl<'a, const N: usize> LaneKeys<'a, N> {
    /// Returns memory for keys with the number of rounds of `key`.
    pub(crate) fn like(key: Shared<'_>) -> Self {
        let empty = LaneKey([[0; 16]; N]);
        Self { rounds: vec![empty; key.schedule.rounds + 1], schedules: [None; N] }
    }

    /// Sets the key of a lane.
    #[inline(always)]
    pub(crate) fn assign(&mut self, lane: usize, key: &Shared<'a>) {
        for (round, key) in self.rounds.iter_mut().zip(key.keys) {
            round.0[lane] = *key;
        }
        self.schedules[lane] = Some(key.schedule);
    }
}

impl<const N: usize> Drop for LaneKeys<'_, N> {
    fn drop(&mut self) {
        for round in &mut self.rounds {
            wipe(&mut round.0);
        }
    }
}

impl<B: Isa, const N: usize> RoundKeys<B> for &LaneKeys<'_, N> {
    const SHARED: bool = false;

    #[inline(always)]
    fn rounds(self) -> usize {
        self.rounds.len() - 1
    }

    #[inline(always)]
    fn key(self, b: B, round: usize, reg: usize) -> B::V {
        b.load(&self.rounds[round].0[reg * B::BLOCKS..])
    }

    fn soft(&self, lane: usize) -> Option<&SoftAes> {
        self.schedules[lane].and_then(|schedule| schedule.soft.as_deref())
    }
}

/// Number of messages whose keys are expanded together.
pub(crate) const GROUP: usize = 8;

/// Number of consecutive blocks of each message that are encrypted together.
pub(crate) const COLUMNS: usize = 4;

/// One key per message for a group of messages, for modes that derive such keys. They are expanded in parallel lanes.
pub(crate) struct GroupKeys {
    rounds: usize,
    keys: [GroupKey; ROUND_KEYS],
    soft: ArrayVec<SoftAes, GROUP>,
}

/// One round key per message of a group.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct GroupKey([Block; GROUP]);

impl GroupKeys {
    /// Returns a group without keys.
    #[inline(always)]
    pub(crate) fn empty() -> Self {
        Self { rounds: 0, keys: [GroupKey([[0; BLOCK]; GROUP]); ROUND_KEYS], soft: ArrayVec::new() }
    }

    #[cfg(test)]
    pub(crate) fn round_key(&self, round: usize, m: usize) -> Block {
        self.keys[round].0[m]
    }

    /// Returns the place of 16 bytes of the key of message `m`, to be filled before the expansion: with `half` 0 the
    /// first ones, with `half` 1 the second ones of an AES-256 key.
    #[inline(always)]
    pub(crate) fn half(&mut self, m: usize, half: usize) -> &mut Block {
        &mut self.keys[half].0[m]
    }

    /// Expands the keys of `messages` messages. A key has one or two halves.
    #[inline(always)]
    pub(crate) fn expand<B: Isa>(&mut self, b: B, messages: usize, halves: usize) {
        self.rounds = if halves == 1 { 10 } else { 14 };
        if B::SOFT {
            self.soft.clear();
            for m in 0..messages {
                let mut key = [self.keys[0].0[m], self.keys[1].0[m]];
                self.soft.push(SoftAes::new(key[..halves].as_flattened()));
                wipe(&mut key);
            }
        } else {
            match B::BLOCKS {
                1 => self.expand_lanes::<B, 8>(b, halves),
                2 => self.expand_lanes::<B, 4>(b, halves),
                _ => self.expand_lanes::<B, 2>(b, halves),
            }
        }
    }

    /// Sets the first or the second 16 bytes of the keys in the lanes of register `reg`, to be expanded.
    #[inline(always)]
    pub(crate) fn set_lanes<B: Isa>(&mut self, b: B, reg: usize, half: usize, keys: B::V) {
        b.store(keys, &mut self.keys[half].0[reg * B::BLOCKS..]);
    }

    /// Expands the keys in the first two registers of lanes. A key has one or two halves.
    #[inline(always)]
    pub(crate) fn expand_pair<B: Isa>(&mut self, b: B, halves: usize) {
        if B::SOFT {
            return self.expand(b, 2 * B::BLOCKS, halves);
        }
        self.rounds = if halves == 1 { 10 } else { 14 };
        self.expand_lanes::<B, 2>(b, halves);
    }

    /// Encrypts a block per message, in two registers of lanes.
    #[inline(always)]
    pub(crate) fn encrypt_lanes<B: Isa>(&self, b: B, x: &mut [B::V; 2]) {
        b.encrypt(OfLanes { group: self, at: 0 }, x);
    }

    /// Encrypts `C` blocks per message, in as many registers for each of two registers of lanes.
    #[inline(always)]
    pub(crate) fn encrypt_columns<B: Isa, const C: usize, const R: usize>(&self, b: B, x: &mut [B::V; R]) {
        const { assert!(R == 2 * C) };
        b.encrypt(OfColumns::<C> { group: self }, x);
    }

    /// Expands the keys of all lanes, which are in `R` registers.
    #[inline(always)]
    fn expand_lanes<B: Isa, const R: usize>(&mut self, b: B, halves: usize) {
        let (mut first, mut last) = ([b.zero(); R], [b.zero(); R]);
        for r in 0..R {
            first[r] = b.load(&self.keys[0].0[r * B::BLOCKS..]);
            last[r] = b.load(&self.keys[halves - 1].0[r * B::BLOCKS..]);
        }
        expand(b, BLOCK * halves, first, last, &mut GroupLanes(&mut self.keys));
    }

    /// Returns the key of message `m`, shared by all lanes.
    #[inline(always)]
    pub(crate) fn of(&self, m: usize) -> OfMessage<'_> {
        OfMessage { group: self, m }
    }

    /// Encrypts block `i` under the key of message `i`.
    #[inline(always)]
    pub(crate) fn encrypt_each<B: Isa>(&self, b: B, blocks: &mut [Block; GROUP]) {
        const R: usize = 2;
        for at in (0..GROUP).step_by(R * B::BLOCKS) {
            let mut x = [b.zero(); R];
            for r in 0..R {
                x[r] = b.load(&blocks[at + r * B::BLOCKS..]);
            }
            b.encrypt(OfLanes { group: self, at }, &mut x);
            for r in 0..R {
                b.store(x[r], &mut blocks[at + r * B::BLOCKS..]);
            }
        }
    }
}

/// The schedules of the keys of a group. No key has 24 bytes.
struct GroupLanes<'a>(&'a mut [GroupKey; ROUND_KEYS]);

impl<B: Isa> Destination<B> for GroupLanes<'_> {
    #[inline(always)]
    fn store(&mut self, b: B, reg: usize, word: usize, words: B::V) {
        b.store(words, &mut self.0[word / 4].0[reg * B::BLOCKS..]);
    }
}

impl Drop for GroupKeys {
    fn drop(&mut self) {
        for key in &mut self.keys[..=self.rounds] {
            wipe(&mut key.0);
        }
    }
}

/// The key of one message of a group, shared by all lanes.
#[derive(Clone, Copy)]
pub(crate) struct OfMessage<'a> {
    group: &'a GroupKeys,
    m: usize,
}

impl<B: Isa> RoundKeys<B> for OfMessage<'_> {
    const SHARED: bool = true;

    #[inline(always)]
    fn rounds(self) -> usize {
        self.group.rounds.min(ROUND_KEYS - 1)
    }

    #[inline(always)]
    fn key(self, b: B, round: usize, _: usize) -> B::V {
        b.splat(&self.group.keys[round].0[self.m])
    }

    fn soft(&self, _: usize) -> Option<&SoftAes> {
        self.group.soft.get(self.m)
    }
}

/// The keys of a group from message `at` on, one per lane.
#[derive(Clone, Copy)]
struct OfLanes<'a> {
    group: &'a GroupKeys,
    at: usize,
}

impl<B: Isa> RoundKeys<B> for OfLanes<'_> {
    const SHARED: bool = false;

    #[inline(always)]
    fn rounds(self) -> usize {
        self.group.rounds.min(ROUND_KEYS - 1)
    }

    #[inline(always)]
    fn key(self, b: B, round: usize, reg: usize) -> B::V {
        b.load(&self.group.keys[round].0[self.at + reg * B::BLOCKS..])
    }

    fn soft(&self, lane: usize) -> Option<&SoftAes> {
        self.group.soft.get(self.at + lane)
    }
}

/// The keys of two registers of lanes, `C` times each.
#[derive(Clone, Copy)]
struct OfColumns<'a, const C: usize> {
    group: &'a GroupKeys,
}

impl<B: Isa, const C: usize> RoundKeys<B> for OfColumns<'_, C> {
    const SHARED: bool = false;

    #[inline(always)]
    fn rounds(self) -> usize {
        self.group.rounds.min(ROUND_KEYS - 1)
    }

    #[inline(always)]
    fn key(self, b: B, round: usize, reg: usize) -> B::V {
        b.load(&self.group.keys[round].0[reg / C * B::BLOCKS..])
    }

    fn soft(&self, lane: usize) -> Option<&SoftAes> {
        let (reg, lane) = (lane / B::BLOCKS, lane % B::BLOCKS);
        self.group.soft.get(reg / C * B::BLOCKS + lane)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// FIPS 197, appendix A: keys and their last round keys.
    const EXAMPLES: [(&[u64], u128); 3] = [
        (&[0x2b7e_1516_28ae_d2a6, 0xabf7_1588_09cf_4f3c], 0xd014_f9a8_c9ee_2589_e13f_0cc8_b663_0ca6),
        (
            &[0x8e73_b0f7_da0e_6452, 0xc810_f32b_8090_79e5, 0x62f8_ead2_522c_6b7b],
            0xe98b_a06f_448c_773c_8ecc_7204_0100_2202,
        ),
        (
            &[0x603d_eb10_15ca_71be, 0x2b73_aef0_857d_7781, 0x1f35_2c07_3b61_08d7, 0x2d98_10a3_0914_dff4],
            0xfe48_90d1_e618_8d0b_046d_f344_706c_631e,
        ),
    ];

    #[test]
    fn all_backends_compute_the_round_keys_of_fips_197() {
        for (words, last) in EXAMPLES {
            let key: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
            let mut single = KeySchedule::empty();
            single.expand(Backend::best(), &key);
            assert_eq!(single.encrypting[single.rounds], last.to_be_bytes());
            for backend in Backend::available() {
                for count in 1..=GROUP {
                    let mut schedules: Vec<_> = (0..count).map(|_| KeySchedule::empty()).collect();
                    let pairs = schedules.iter_mut().map(|schedule| (&key[..], schedule));
                    KeySchedule::expand_group(backend, pairs.collect());
                    for schedule in schedules {
                        let context = (backend, count, key.len());
                        assert_eq!(
                            schedule.encrypting[..=single.rounds],
                            single.encrypting[..=single.rounds],
                            "{context:?}"
                        );
                        assert_eq!(schedule.rounds, single.rounds, "{context:?}");
                    }
                }
            }
        }
    }
}
