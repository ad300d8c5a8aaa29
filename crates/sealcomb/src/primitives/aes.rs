//! AES key schedules (FIPS 197) and where the lanes take their round keys from.

use alloc::vec;
use alloc::vec::Vec;

use arrayvec::ArrayVec;
use zeroize::Zeroize;

use super::wipe;
use crate::backend::{BLOCK, Backend, Block, Isa, Kernel, RoundKeys, SoftAes};

/// Round keys of AES-256, the most there are.
const ROUND_KEYS: usize = 15;

/// An expanded AES key, for encryption and (equivalent inverse cipher) for decryption.
#[repr(align(64))]
pub(crate) struct Schedule {
    rounds: usize,
    encrypting: [Block; ROUND_KEYS],
    decrypting: [Block; ROUND_KEYS],
    soft: Option<SoftAes>,
}

impl Schedule {
    /// Expands a key of 16, 24 or 32 bytes.
    pub(crate) fn new(backend: Backend, key: &[u8]) -> Self {
        backend.run(Expand { key })
    }

    /// No key at all, for what is made of another cipher.
    pub(crate) fn none() -> Self {
        let keys = [[0; BLOCK]; ROUND_KEYS];
        Self { rounds: 0, encrypting: keys, decrypting: keys, soft: None }
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
        Shared { keys: &self.decrypting, schedule: self }
    }

    /// Makes the round keys for [`Isa::decrypt`] wrong. False where the backend has others.
    #[cfg(test)]
    pub(crate) fn spoil_decrypting(&mut self) -> bool {
        self.decrypting.fill([0x55; BLOCK]);
        self.soft.is_none()
    }
}

struct Expand<'a> {
    key: &'a [u8],
}

impl Kernel for Expand<'_> {
    type Output = Schedule;

    /// FIPS 197, section 5.2, with `SubWord` from the cipher's own round.
    #[inline(always)]
    fn run<B: Isa>(self, b: B) -> Schedule {
        let words = self.key.len() / 4;
        let rounds = words + 6;
        let mut w = [[0; 4]; 4 * ROUND_KEYS];
        w[..words].copy_from_slice(self.key.as_chunks().0);
        let mut rcon = 1;
        for i in words..4 * (rounds + 1) {
            let [t0, t1, t2, t3] = w[i - 1];
            let t = if i % words == 0 {
                let [s0, s1, s2, s3] = sub_word(b, [t1, t2, t3, t0]);
                let t = [s0 ^ rcon, s1, s2, s3];
                rcon = double_byte(rcon);
                t
            } else if words == 8 && i % words == 4 {
                sub_word(b, w[i - 1])
            } else {
                w[i - 1]
            };
            w[i] = core::array::from_fn(|j| w[i - words][j] ^ t[j]);
        }
        let mut encrypting = [[0; 16]; ROUND_KEYS];
        for (key, words) in encrypting.iter_mut().zip(w.as_chunks::<4>().0) {
            key.copy_from_slice(words.as_flattened());
        }
        let mut decrypting = [[0; 16]; ROUND_KEYS];
        decrypting[0] = encrypting[rounds];
        for i in 1..rounds {
            decrypting[i] = b.first(b.aes_inv_mix(b.splat(&encrypting[rounds - i])));
        }
        decrypting[rounds] = encrypting[0];
        w.zeroize();
        let soft = B::SOFT.then(|| SoftAes::new(self.key));
        Schedule { rounds, encrypting, decrypting, soft }
    }
}

#[inline(always)]
fn sub_word<B: Isa>(b: B, word: [u8; 4]) -> [u8; 4] {
    let mut block = [0; 16];
    block[..4].copy_from_slice(&word);
    let [s0, s1, s2, s3, ..] = b.first(b.aes_sub_bytes(b.one(&block)));
    [s0, s1, s2, s3]
}

/// Doubling in AES' field of 256 elements, for the (public) round constants.
const fn double_byte(x: u8) -> u8 {
    (x << 1) ^ if x & 0x80 == 0 { 0 } else { 0x1b }
}

/// One key for all lanes.
#[derive(Clone, Copy)]
pub(crate) struct Shared<'a> {
    keys: &'a [Block; ROUND_KEYS],
    schedule: &'a Schedule,
}

impl Shared<'_> {
    /// Whether two of them are the same round keys.
    #[inline(always)]
    pub(crate) fn is(&self, other: &Self) -> bool {
        core::ptr::eq(self.keys, other.keys)
    }
}

/// What takes note of the key that a lane's message has.
pub(crate) trait AssignKey<'a> {
    /// Whether every lane has the same key.
    const SHARED: bool;
    fn assign(&mut self, lane: usize, key: &Shared<'a>);
}

impl<'a> AssignKey<'a> for Shared<'a> {
    const SHARED: bool = true;

    #[inline(always)]
    fn assign(&mut self, _: usize, key: &Shared<'a>) {
        debug_assert!(self.is(key));
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
        self.schedule.soft.as_ref()
    }
}

/// A key for each of `N` lanes: the round keys interleaved as the registers want them.
pub(crate) struct LaneKeys<'a, const N: usize> {
    rounds: Vec<LaneKey<N>>,
    schedules: [Option<&'a Schedule>; N],
}

/// One round key of every lane.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct LaneKey<const N: usize>([Block; N]);

impl<const N: usize> LaneKeys<'_, N> {
    /// Room for keys of as many rounds as this one has.
    pub(crate) fn like(key: Shared<'_>) -> Self {
        let empty = LaneKey([[0; 16]; N]);
        Self { rounds: vec![empty; key.schedule.rounds + 1], schedules: [None; N] }
    }
}

impl<'a, const N: usize> AssignKey<'a> for LaneKeys<'a, N> {
    const SHARED: bool = false;

    #[inline(always)]
    fn assign(&mut self, lane: usize, key: &Shared<'a>) {
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
        self.schedules[lane].and_then(|schedule| schedule.soft.as_ref())
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

    /// FIPS 197, section 5.2, a round key at a time: the last word of the key before goes through `SubWord` (and
    /// `RotWord`, except in every other key of AES-256), then each word is the sum of it and the words up to its own
    /// of the key so many places back.
    #[inline(always)]
    fn expand_lanes<B: Isa>(&mut self, b: B, back: usize) {
        let mut rcon = 1;
        // The last two round keys, which would have to come back from memory otherwise.
        let mut latest = [[b.zero(); GROUP]; 2];
        for r in 0..GROUP / B::BLOCKS {
            latest[0][r] = b.load(&self.keys[0].0[r * B::BLOCKS..]);
            latest[1][r] = b.load(&self.keys[back - 1].0[r * B::BLOCKS..]);
        }
        for i in back..=self.rounds {
            let rotates = i % back == 0;
            let order = if rotates { [13, 14, 15, 12] } else { [12, 13, 14, 15] };
            let order: Block = core::array::from_fn(|byte| order[byte % 4]);
            let constant: Block =
                core::array::from_fn(|byte| if rotates && byte % 4 == 0 { rcon } else { 0 });
            if rotates {
                rcon = double_byte(rcon);
            }
            for r in 0..GROUP / B::BLOCKS {
                // The last round's ShiftRows changes nothing, since all columns are the same word.
                let word = b.aes_last(b.shuffle(latest[1][r], &order), b.splat(&constant));
                let key = latest[2 - back][r];
                let moved = [255, 255, 255, 255, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11];
                let sums = b.xor(key, b.shuffle(key, &moved));
                let key = b.xor3(sums, b.low_to_high(sums), word);
                b.store(key, &mut self.keys[i].0[r * B::BLOCKS..]);
                (latest[0][r], latest[1][r]) = (latest[1][r], key);
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
