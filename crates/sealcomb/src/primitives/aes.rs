//! AES key schedules (FIPS 197) and where the lanes take their round keys from.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use core::hint::black_box;

use arrayvec::ArrayVec;

use super::wipe;
use crate::backend::{BLOCK, Backend, Block, Isa, Kernel, RoundKeys, SoftAes, Wiped, hidden};

/// Round keys of AES-256, the most there are.
const ROUND_KEYS: usize = 15;

/// An expanded AES key.
// So that no load of a round key straddles two lines.
#[repr(align(16))]
pub(crate) struct KeySchedule {
    rounds: usize,
    encrypting: [Block; ROUND_KEYS],
    /// Those of the equivalent inverse cipher, for modes that decrypt.
    decrypting: Option<Box<Wiped<[Block; ROUND_KEYS]>>>,
    soft: Option<Box<SoftAes>>,
}

/// What decrypts under a key of a mode that never does.
static NO_INVERSE: [Block; ROUND_KEYS] = [[0; BLOCK]; ROUND_KEYS];

impl KeySchedule {
    /// No key yet, or none at all for what is made of another cipher.
    pub(crate) const fn empty() -> Self {
        Self { rounds: 0, encrypting: [[0; BLOCK]; ROUND_KEYS], decrypting: None, soft: None }
    }

    /// Expands a key of 16, 24 or 32 bytes for encryption; one of none stays empty. [`KeySchedule::decrypting`] has no use
    /// before [`KeySchedule::invert`].
    pub(crate) fn expand(&mut self, backend: Backend, key: &[u8]) {
        if !key.is_empty() {
            backend.run(Expand { key, schedule: self });
        }
    }

    /// The same for keys of one size, side by side.
    pub(crate) fn expand_group(backend: Backend, pairs: ArrayVec<(&[u8], &mut Self), GROUP>) {
        if pairs.iter().all(|(key, _)| !key.is_empty()) {
            backend.run(ExpandGroup { pairs });
        }
    }

    /// Expands what was expanded for encryption for decryption too.
    pub(crate) fn invert(&mut self, backend: Backend) {
        let mut keys = Box::new(Wiped::new(NO_INVERSE));
        backend.run(Invert { encrypting: &self.encrypting[..=self.rounds], decrypting: &mut keys });
        self.decrypting = Some(keys);
    }

    /// A schedule of its own on the heap, for a mode that has one more key.
    pub(crate) fn kept(backend: Backend, key: &[u8]) -> Box<Wiped<Self>> {
        let mut schedule = Box::new(Wiped::new(Self::empty()));
        schedule.expand(backend, key);
        schedule
    }

    pub(crate) fn rounds(&self) -> usize {
        self.rounds
    }

    /// The round keys for [`Isa::encrypt`], the same for all lanes.
    #[inline(always)]
    pub(crate) fn encrypting(&self) -> Shared<'_> {
        Shared { keys: &self.encrypting, schedule: self }
    }

    /// The round keys for [`Isa::decrypt`].
    #[inline(always)]
    pub(crate) fn decrypting(&self) -> Shared<'_> {
        Shared { keys: self.decrypting.as_ref().map_or(&NO_INVERSE, |keys| &**keys), schedule: self }
    }

    /// Makes the round keys for [`Isa::decrypt`] wrong. False where the backend has others.
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

    /// FIPS 197, section 5.2: a round key at a time, and the keys of 24 bytes, which end within round keys, by words.
    #[inline(always)]
    fn run<B: Isa>(self, b: B) {
        let Self { key, schedule } = self;
        schedule.rounds = key.len() / 4 + 6;
        let (blocks, rest) = key.as_chunks();
        schedule.encrypting[..blocks.len()].copy_from_slice(blocks);
        if rest.is_empty() {
            expand_blocks(b, &mut schedule.encrypting[..=schedule.rounds], blocks.len());
        } else {
            schedule.encrypting[1][..rest.len()].copy_from_slice(rest);
            expand_words(b, &mut schedule.encrypting[..=schedule.rounds], key.len() / 4);
        }
        if B::SOFT {
            schedule.soft = Some(Box::new(SoftAes::new(key)));
        }
    }
}

struct ExpandGroup<'a> {
    pairs: ArrayVec<(&'a [u8], &'a mut KeySchedule), GROUP>,
}

impl Kernel for ExpandGroup<'_> {
    type Output = ();

    /// In the lanes, but for what has no lanes or ends within round keys.
    #[inline(always)]
    fn run<B: Isa>(self, b: B) {
        let Self { pairs } = self;
        let whole = pairs.iter().all(|(key, _)| key.len().is_multiple_of(BLOCK));
        if B::SOFT || !whole || pairs.len() == 1 {
            for (key, schedule) in pairs {
                Expand { key, schedule }.run(b);
            }
            return;
        }
        let (mut group, mut halves) = (GroupKeys::empty(), 0);
        for (m, (key, _)) in pairs.iter().enumerate() {
            let blocks = key.as_chunks().0;
            halves = blocks.len();
            for (half, block) in blocks.iter().enumerate() {
                *group.half(m, half) = *block;
            }
        }
        group.expand(b, pairs.len(), halves);
        for (m, (_, schedule)) in pairs.into_iter().enumerate() {
            schedule.rounds = group.rounds;
            for (to, from) in schedule.encrypting[..=group.rounds].iter_mut().zip(&group.keys) {
                *to = from.0[m];
            }
        }
    }
}

/// The round keys after the first ones, one or two, that are the key.
#[inline(always)]
fn expand_blocks<B: Isa>(b: B, keys: &mut [Block], count: usize) {
    let mut rcon = 1;
    // The last two round keys, which would have to come back from memory otherwise.
    let (mut before, mut latest) = (b.one(&keys[0]), b.one(&keys[count - 1]));
    for i in count..keys.len() {
        let rotates = i & (count - 1) == 0;
        let key = next_key(b, if count == 1 { latest } else { before }, latest, rotates.then_some(rcon));
        keys[i] = b.first(key);
        (before, latest) = (latest, key);
        if rotates {
            rcon = double_byte(rcon);
        }
    }
}

/// A round key of AES-128 or AES-256, in each lane: the last word of the latest one goes through `SubWord` (and, with a
/// constant, through `RotWord`), then each word is the sum of it and the words up to its own of the key so many places
/// back.
#[inline(always)]
fn next_key<B: Isa>(b: B, back: B::V, latest: B::V, rcon: Option<u8>) -> B::V {
    const LAST_WORD: Block = [12, 13, 14, 15, 12, 13, 14, 15, 12, 13, 14, 15, 12, 13, 14, 15];
    const LAST_ROTATED: Block = [13, 14, 15, 12, 13, 14, 15, 12, 13, 14, 15, 12, 13, 14, 15, 12];
    const ONE_WORD_ON: Block = [255, 255, 255, 255, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11];
    let order = if rcon.is_some() { &LAST_ROTATED } else { &LAST_WORD };
    let constant = u128::from(rcon.unwrap_or(0)) * EVERY_WORD;
    // The last round's ShiftRows changes nothing, since all columns are the same word.
    let word = b.aes_last(b.shuffle(latest, order), b.splat(&constant.to_le_bytes()));
    let sums = b.xor(back, b.shuffle(back, &ONE_WORD_ON));
    b.xor3(sums, b.low_to_high(sums), word)
}

/// A one in each 32-bit word.
const EVERY_WORD: u128 = 1 << 96 | 1 << 64 | 1 << 32 | 1;

/// The words after the first ones, which are the key.
#[inline(always)]
fn expand_words<B: Isa>(b: B, keys: &mut [Block], count: usize) {
    let words = keys.as_flattened_mut().as_chunks_mut::<4>().0;
    let mut rcon = 1;
    for i in count..words.len() {
        let mut t = u32::from_le_bytes(words[i - 1]);
        if i % count == 0 {
            let word = b.splat(&(u128::from(t.rotate_right(8)) * EVERY_WORD).to_le_bytes());
            let [s0, s1, s2, s3, ..] = b.first(b.aes_last(word, b.zero()));
            t = u32::from_le_bytes([s0, s1, s2, s3]) ^ rcon;
            rcon = double_byte(rcon as u8).into();
        }
        words[i] = (u32::from_le_bytes(words[i - count]) ^ t).to_le_bytes();
    }
}

struct Invert<'a> {
    encrypting: &'a [Block],
    decrypting: &'a mut [Block; ROUND_KEYS],
}

impl Kernel for Invert<'_> {
    type Output = ();

    /// FIPS 197, section 5.3.5: the round keys of the equivalent inverse cipher.
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

/// Doubling in AES' field of 256 elements, for the (public) round constants.
const fn double_byte(x: u8) -> u8 {
    (x << 1) ^ if x & 0x80 == 0 { 0 } else { 0x1b }
}

/// One key for all lanes.
#[derive(Clone, Copy)]
pub(crate) struct Shared<'a> {
    keys: &'a [Block; ROUND_KEYS],
    schedule: &'a KeySchedule,
}

impl Shared<'_> {
    /// Whether two of them are the same round keys.
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
        // The minimum is for the compiler: no index needs a check then.
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

/// A key for each of `R` registers, of which the first lane counts. They have the same number of rounds.
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

/// A key for each of `N` lanes: the round keys interleaved as the registers want them.
pub(crate) struct LaneKeys<'a, const N: usize> {
    rounds: Vec<LaneKey<N>>,
    schedules: [Option<&'a KeySchedule>; N],
}

/// One round key of every lane.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct LaneKey<const N: usize>([Block; N]);

impl<'a, const N: usize> LaneKeys<'a, N> {
    /// Room for keys of as many rounds as this one has.
    pub(crate) fn like(key: Shared<'_>) -> Self {
        let empty = LaneKey([[0; 16]; N]);
        Self { rounds: vec![empty; key.schedule.rounds + 1], schedules: [None; N] }
    }

    /// Takes note of the key that a lane's message has.
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

/// Messages whose keys are expanded side by side.
pub(crate) const GROUP: usize = 8;

/// A key a message, for modes that derive one: round keys of a group of messages, expanded in the registers' lanes.
pub(crate) struct GroupKeys {
    rounds: usize,
    keys: [GroupKey; ROUND_KEYS],
    soft: ArrayVec<SoftAes, GROUP>,
}

/// One round key of every message of a group.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct GroupKey([Block; GROUP]);

impl GroupKeys {
    /// Keys to be expanded.
    #[inline(always)]
    pub(crate) fn empty() -> Self {
        Self { rounds: 0, keys: [GroupKey([[0; BLOCK]; GROUP]); ROUND_KEYS], soft: ArrayVec::new() }
    }

    /// Where the 16 bytes of AES-128 keys go before they are expanded: those of message `m`, or, with `half` 1, the
    /// second 16 bytes of an AES-256 key.
    #[inline(always)]
    pub(crate) fn half(&mut self, m: usize, half: usize) -> &mut Block {
        &mut self.keys[half].0[m]
    }

    /// Expands the keys of `messages` messages, of one or two halves each.
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
            self.expand_lanes(b, halves);
        }
    }

    /// FIPS 197, section 5.2, a round key of all messages at a time.
    #[inline(always)]
    fn expand_lanes<B: Isa>(&mut self, b: B, back: usize) {
        let mut rcon = 1;
        // The last two round keys, which would have to come back from memory otherwise.
        let mut latest = [[b.zero(); GROUP]; 2];
        for r in 0..GROUP / B::BLOCKS {
            latest[0][r] = b.load(&self.keys[0].0[r * B::BLOCKS..]);
            latest[1][r] = b.load(&self.keys[back - 1].0[r * B::BLOCKS..]);
        }
        // Opaque, or the compiler makes a loop of its own for each number of halves, and runs out of registers in one. A mask,
        // since a division takes as long as its operands say.
        let between = black_box(back - 1);
        for i in back..=self.rounds {
            let rotates = i & between == 0;
            for r in 0..GROUP / B::BLOCKS {
                let key = next_key(b, latest[2 - back][r], latest[1][r], rotates.then_some(rcon));
                b.store(key, &mut self.keys[i].0[r * B::BLOCKS..]);
                (latest[0][r], latest[1][r]) = (latest[1][r], key);
            }
            if rotates {
                rcon = double_byte(rcon);
            }
        }
    }

    /// The key of message `m`, for all lanes.
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

impl Drop for GroupKeys {
    fn drop(&mut self) {
        for key in &mut self.keys[..=self.rounds] {
            wipe(&mut key.0);
        }
    }
}

/// The key of one message of a group, for all lanes.
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

/// The keys of a group from message `at` on, one a lane.
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
