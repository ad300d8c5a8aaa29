//! CBC-MAC, and OMAC, which turns it into a MAC for messages of any length (Iwata, Kurosawa, FSE 2003; CMAC in SP
//! 800-38B, sections 6.1 and 6.2), for the modes that use them.
//!
//! ```text
//! K1 ← 2 E_K(0), K2 ← 4 E_K(0)
//! C ← 0
//! for each block M_i of the message but the last:  C ← E_K(C ⊕ M_i)
//! T ← E_K(C ⊕ M_n ⊕ K1)                      the last block is whole
//!     E_K(C ⊕ (M_n ‖ 10…0) ⊕ K2)             otherwise
//! ```

use arrayvec::ArrayVec;

use crate::backend::{BLOCK, Block, Span};
use crate::engine::comb::{self, Chain, ChainKey};
use crate::engine::slots::{self, Added, SlotChain, Subkeys, Text};
use crate::engine::{Batch, Column, FLIGHT, Lanes, Material, Message, each};
use crate::primitives::aes::KeySchedule;
use crate::primitives::block::{PADDING, add, before_last};
use crate::primitives::gf128::{BigEndian, Field};

/// The chain `C_i = E_K(C_{i-1} ⊕ M_i)`, of which only the last `C` is used.
pub(crate) struct CbcMac;

impl Chain<1> for CbcMac {
    const WRITES: bool = false;

    #[inline(always)]
    fn step<L: Lanes>(lanes: L, [c]: &mut [L::Blocks; 1], [x]: &mut [L::Blocks; 1]) {
        lanes.xor(c, x);
        lanes.encrypt(c);
    }
}

impl SlotChain for CbcMac {
    const ADDED: Added = Added::Next;
    const TEXT: Text = Text::Read;
}

/// Computes `C ← E_K(C ⊕ M_i)` for all blocks of a part of each message, the last of them zero-padded. `aes` returns
/// the cipher of a key.
pub(super) fn cbc_mac<'a>(
    batch: &mut Batch<'_, '_, 'a>,
    aes: impl for<'k> Fn(&'k Material) -> &'k KeySchedule,
    c: &mut Column,
    part: impl for<'m> Fn(&'m Message<'a>) -> Span<'m>,
) {
    slots::chains::<CbcMac>(batch, aes, c, |message| part(message));
}

/// What OMAC needs of a key: the cipher, `K1` and `K2`.
#[derive(Clone, Copy)]
pub(crate) struct Omac<'k> {
    pub(crate) aes: &'k KeySchedule,
    pub(crate) subkeys: Subkeys<'k>,
}

impl Omac<'_> {
    /// Returns the [`Omac`] of a key whose first two subkeys are `K1` and `K2`.
    pub(crate) fn of(key: &Material) -> Omac<'_> {
        let [k1, k2, ..] = &key.subkeys;
        Omac { aes: &key.aes, subkeys: [k1, k2] }
    }

    /// Returns `K1` and `K2`, given `E_K(0)`.
    pub(super) fn subkeys(zero: &Block) -> [Block; 2] {
        let k1 = BigEndian::double_block(zero);
        [k1, BigEndian::double_block(&k1)]
    }

    /// Returns what is added to the chain before the last call: `M_n ⊕ K1`, or `(M_n ‖ 10…0) ⊕ K2` if `M_n` is
    /// partial. `M_n` has `bytes` bytes.
    #[inline]
    pub(crate) fn last(self, m: &Block, bytes: usize) -> Block {
        add(add(*m, PADDING[bytes]), *self.subkeys[usize::from(bytes < BLOCK)])
    }
}

/// Computes OMAC of a string of each message. `c` contains the chains' first states, which are zero or the result of
/// preceding blocks, and receives the MACs.
pub(super) fn omac<'a>(
    batch: &mut Batch<'_, '_, 'a>,
    key: impl for<'k> Fn(&'k Material) -> Omac<'k>,
    c: &mut Column,
    string: impl for<'m> Fn(&'m Message<'a>) -> Span<'m>,
) {
    if batch.messages.iter().any(|message| string(message).len() > BLOCK) {
        if slots::pay::<CbcMac>(batch, |message| string(message)) {
            return whole_chains(batch, key, c, string);
        }
        comb::chains::<CbcMac, 1, 1, 0, 1>(
            batch,
            |material| ChainKey::under(key(material).aes),
            [c],
            |message| {
                let string = string(message);
                let bytes = before_last(string.len());
                string.first(bytes)
            },
        );
    }
    last_calls(batch, key, c, string);
}

/// Computes the MACs with one chain per message, which adds the padding and `K1` or `K2` to its last block.
// Not inlined, so that the chain jobs occupy the stack only while they are needed.
#[inline(never)]
fn whole_chains<'a>(
    batch: &mut Batch<'_, '_, 'a>,
    key: impl for<'k> Fn(&'k Material) -> Omac<'k>,
    c: &mut Column,
    string: impl for<'m> Fn(&'m Message<'a>) -> Span<'m>,
) {
    let mut subkeys = ArrayVec::<Subkeys<'_>, FLIGHT>::new();
    for message in batch.messages.iter() {
        subkeys.push(key(message.key).subkeys);
    }
    let ends = slots::Ends::Omac(&subkeys);
    slots::run::<CbcMac>(batch, |material| key(material).aes, c, ends, |message| string(message));
}

// Not inlined, so that its blocks and the chain jobs do not occupy the stack at the same time.
#[inline(never)]
fn last_calls<'a>(
    batch: &Batch<'_, '_, 'a>,
    key: impl for<'k> Fn(&'k Material) -> Omac<'k>,
    c: &mut Column,
    string: impl for<'m> Fn(&'m Message<'a>) -> Span<'m>,
) {
    let mut last = Column::new();
    for message in batch.messages.iter() {
        let string = string(message);
        let at = before_last(string.len());
        last.push(key(message.key).last(&string.block(at), string.len() - at));
    }
    each::step::<CbcMac, 1, 1, 0, 1>(batch, |material| ChainKey::under(key(material).aes), [c], [&mut last]);
}
