//! Classifies x86 instructions by the units that they use.
//!
//! The classes describe what instructions do, not the ports of one CPU. CPUs mostly differ in the number of units per
//! class, which the study measures, rather than in the instructions that belong to a class.

use super::units::{Demand, Unit};
use iced_x86::{
    Decoder, DecoderOptions, FlowControl, Instruction, InstructionInfoFactory, Mnemonic, OpAccess, OpKind,
    Register,
};
use sealcomb_timing::stepping::{Step, Tally};

/// Prefixes of mnemonics that move bytes within or between registers, without the `v` of the vector forms.
const SHUFFLES: &str = "\
    align broadcast compress expand extract insert movddup movhlps movhpd movhps movlhps \
    movshdup movsldup pack palignr pbroadcast perm pextr pinsr pmovsx pmovzx pshuf pslldq psrldq \
    punpck shuf unpck";

/// Prefixes of mnemonics that move whole registers. CPUs execute register-to-register moves by renaming.
const MOVES: &str = "lddqu movap movdq movnt movup zeroall zeroupper";

/// Mnemonics that move part of a register from or to memory and at most zero the remainder.
const PARTS: &str = "movd movq movsd movss";

/// Prefixes of mnemonics that yield zero if both operands are the same register. CPUs execute these without a unit.
const ZEROING: &str = "pxor xorp psub";

/// An instruction and its demand.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Decoded {
    /// The units that it uses, with the size of the register or word in bytes.
    uses: Vec<(Unit, usize)>,
    /// Whether CPUs fuse it with a branch that follows it.
    compares: bool,
    branches: bool,
    /// Whether an instruction other than the following one may execute next.
    may_branch: bool,
    bytes: usize,
}

impl Decoded {
    /// Decodes the first instruction in `bytes`. Returns `None` if it is invalid.
    fn of(bytes: &[u8]) -> Option<Self> {
        let instruction = Decoder::new(64, bytes, DecoderOptions::NONE).decode();
        if instruction.is_invalid() {
            return None;
        }
        let mut uses = memory(&instruction);
        if let Some((unit, bytes)) = computing(&instruction) {
            uses.push((unit, bytes));
            if unit != Unit::Vector {
                uses.push((Unit::Vector, bytes));
            }
        }
        Some(Self {
            uses,
            compares: matches!(
                instruction.mnemonic(),
                Mnemonic::Cmp
                    | Mnemonic::Test
                    | Mnemonic::And
                    | Mnemonic::Add
                    | Mnemonic::Sub
                    | Mnemonic::Inc
                    | Mnemonic::Dec
            ),
            branches: instruction.is_jcc_short_or_near(),
            // An instruction with a repeat prefix may execute again.
            may_branch: instruction.flow_control() != FlowControl::Next
                || instruction.has_rep_prefix()
                || instruction.has_repne_prefix(),
            bytes: instruction.len(),
        })
    }

    /// Adds it to `demand`. `follows_comparison` is whether a branch can fuse with the preceding instruction.
    fn add_to(&self, demand: &mut Demand, follows_comparison: bool) {
        demand.instructions += 1;
        if !(self.branches && follows_comparison) {
            demand.add(Unit::FrontEnd, 0);
        }
        for &(unit, bytes) in &self.uses {
            demand.add(unit, bytes);
        }
    }
}

/// The demand of a sequence of instructions.
#[derive(Default)]
pub(super) struct Demands {
    pub(super) demand: Demand,
    /// Whether the last instruction compares.
    compares: bool,
}

impl Tally for Demands {
    fn add(&mut self, code: &[u8]) -> Option<Step> {
        let decoded = Decoded::of(code)?;
        decoded.add_to(&mut self.demand, self.compares);
        self.compares = decoded.compares;
        Some(Step { bytes: decoded.bytes, may_branch: decoded.may_branch })
    }

    fn add_all(&mut self, other: &Self) {
        self.demand.add_all(&other.demand);
    }
}

/// Returns its loads and stores, including those of the stack, with their sizes in bytes.
fn memory(instruction: &Instruction) -> Vec<(Unit, usize)> {
    let mut uses = Vec::new();
    for memory in InstructionInfoFactory::new().info(instruction).used_memory() {
        let (loads, stores) = match memory.access() {
            OpAccess::Read | OpAccess::CondRead => (true, false),
            OpAccess::Write | OpAccess::CondWrite => (false, true),
            OpAccess::ReadWrite | OpAccess::ReadCondWrite => (true, true),
            _ => (false, false),
        };
        let bytes = memory.memory_size().size();
        uses.extend(loads.then_some((Unit::Loads, bytes)));
        uses.extend(stores.then_some((Unit::Stores, bytes)));
    }
    uses
}

/// Returns the unit that computes in vector registers, and the size of the widest register in bytes. Returns `None`
/// for scalar instructions and for those that only move data.
fn computing(instruction: &Instruction) -> Option<(Unit, usize)> {
    let registers = || {
        (0..instruction.op_count())
            .map(|operand| instruction.op_register(operand))
            .filter(|register| register.is_vector_register())
    };
    let bytes = registers().map(Register::size).max()?;
    let name = format!("{:?}", instruction.mnemonic()).to_lowercase();
    let name = name.strip_prefix('v').unwrap_or(&name);
    let begins = |names: &str| names.split(' ').any(|begin| name.starts_with(begin));
    let to_memory = instruction.op0_kind() == OpKind::Memory;
    let with_memory =
        to_memory || (1..instruction.op_count()).any(|i| instruction.op_kind(i) == OpKind::Memory);
    let unit = if begins("aes") {
        Unit::Aes
    } else if name == "pclmulqdq" {
        Unit::Products
    } else if begins(MOVES)
        || (with_memory && (PARTS.split(' ').any(|part| part == name) || begins("broadcast pbroadcast")))
        || (to_memory && begins("extract movhp movlp"))
        || (begins(ZEROING) && has_equal_sources(instruction))
    {
        return None;
    } else if with_memory && begins("insert") {
        // An insert from memory is a blend with the loaded value, without a shuffle.
        Unit::Vector
    } else if begins(SHUFFLES) {
        Unit::Shuffles
    } else {
        Unit::Vector
    };
    Some((unit, bytes))
}

/// Returns whether both sources are the same register.
fn has_equal_sources(instruction: &Instruction) -> bool {
    let last = instruction.op_count() - 1;
    instruction.op_kind(last) == OpKind::Register
        && instruction.op_register(last) == instruction.op_register(last - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use Unit::{Aes, FrontEnd, Loads, Products, Shuffles, Stores, Vector};

    /// An instruction, its encoding in hexadecimal, and the units that it uses in addition to the front end.
    type Encoded = (&'static str, &'static str, &'static [(Unit, usize)]);

    const ENCODED: [Encoded; 44] = [
        ("aesenc xmm1, xmm2", "66 0f 38 dc ca", &[(Aes, 16), (Vector, 16)]),
        ("aesenc xmm1, [rsi]", "66 0f 38 dc 0e", &[(Loads, 16), (Aes, 16), (Vector, 16)]),
        ("vaesenclast zmm1, zmm2, zmm3", "62 f2 6d 48 dd cb", &[(Aes, 64), (Vector, 64)]),
        ("vaesenc ymm1, ymm2, [rdi+32]", "c4 e2 6d dc 4f 20", &[(Loads, 32), (Aes, 32), (Vector, 32)]),
        ("vaesdec xmm1, xmm2, xmm3", "c4 e2 69 de cb", &[(Aes, 16), (Vector, 16)]),
        ("vpclmulqdq zmm1, zmm2, zmm3, 0x11", "62 f3 6d 48 44 cb 11", &[(Products, 64), (Vector, 64)]),
        ("pclmulqdq xmm1, xmm2, 0", "66 0f 3a 44 ca 00", &[(Products, 16), (Vector, 16)]),
        ("vpshufb zmm1, zmm2, zmm3", "62 f2 6d 48 00 cb", &[(Shuffles, 64), (Vector, 64)]),
        ("pshufb xmm1, [rsi]", "66 0f 38 00 0e", &[(Loads, 16), (Shuffles, 16), (Vector, 16)]),
        ("vperm2i128 ymm1, ymm2, ymm3, 0x21", "c4 e3 6d 46 cb 21", &[(Shuffles, 32), (Vector, 32)]),
        ("vpslldq zmm1, zmm2, 8", "62 f1 75 48 73 fa 08", &[(Shuffles, 64), (Vector, 64)]),
        ("vinserti128 ymm1, ymm2, xmm3, 1", "c4 e3 6d 38 cb 01", &[(Shuffles, 32), (Vector, 32)]),
        ("vinserti64x4 zmm1, zmm2, [rsi], 1", "62 f3 ed 48 3a 0e 01", &[(Loads, 32), (Vector, 64)]),
        ("vextracti32x4 [rdi], zmm1, 2", "62 f3 7d 48 39 0f 02", &[(Stores, 16)]),
        ("vextracti128 xmm1, ymm2, 1", "c4 e3 7d 39 d1 01", &[(Shuffles, 32), (Vector, 32)]),
        ("vbroadcasti32x4 zmm1, [rsi]", "62 f2 7d 48 5a 0e", &[(Loads, 16)]),
        ("vpbroadcastq ymm1, xmm2", "c4 e2 7d 59 ca", &[(Shuffles, 32), (Vector, 32)]),
        ("vpbroadcastd zmm1, eax", "62 f2 7d 48 7c c8", &[(Shuffles, 64), (Vector, 64)]),
        ("vpinsrq xmm1, xmm2, [rsi], 1", "c4 e3 e9 22 0e 01", &[(Loads, 8), (Shuffles, 16), (Vector, 16)]),
        ("vpermt2q zmm1, zmm2, [rsi]", "62 f2 ed 48 7e 0e", &[(Loads, 64), (Shuffles, 64), (Vector, 64)]),
        ("vmovdqu64 zmm1, [rsi]", "62 f1 fe 48 6f 0e", &[(Loads, 64)]),
        ("vmovdqu ymm1, [rsi]", "c5 fe 6f 0e", &[(Loads, 32)]),
        ("movups [rdi], xmm1", "0f 11 0f", &[(Stores, 16)]),
        ("vmovdqa ymm1, ymm2", "c5 fd 6f ca", &[]),
        ("vmovq xmm1, rax", "c4 e1 f9 6e c8", &[(Vector, 16)]),
        ("vmovq xmm1, [rsi]", "c5 fa 7e 0e", &[(Loads, 8)]),
        ("vpxor ymm1, ymm2, [rsi]", "c5 ed ef 0e", &[(Loads, 32), (Vector, 32)]),
        ("vpxord zmm1, zmm1, zmm1", "62 f1 75 48 ef c9", &[]),
        ("pxor xmm1, xmm1", "66 0f ef c9", &[]),
        ("vpternlogd zmm1, zmm2, zmm3, 0x96", "62 f3 6d 48 25 cb 96", &[(Vector, 64)]),
        ("vpaddd xmm1, xmm2, xmm3", "c5 e9 fe cb", &[(Vector, 16)]),
        ("vpsrlq ymm1, ymm2, 63", "c5 f5 73 d2 3f", &[(Vector, 32)]),
        ("vptest xmm1, xmm1", "c4 e2 79 17 c9", &[(Vector, 16)]),
        ("mov rax, [rsi]", "48 8b 06", &[(Loads, 8)]),
        ("mov [rdi], rax", "48 89 07", &[(Stores, 8)]),
        ("add [rdi], rax", "48 01 07", &[(Loads, 8), (Stores, 8)]),
        ("lea rax, [rsi+8]", "48 8d 46 08", &[]),
        ("cmp [rsi], rax", "48 39 06", &[(Loads, 8)]),
        ("push rax", "50", &[(Stores, 8)]),
        ("ret", "c3", &[(Loads, 8)]),
        ("nop word ptr [rax+rax]", "66 0f 1f 04 00", &[]),
        ("vmovdqu8 zmm1{k1}{z}, [rsi]", "62 f1 7f c9 6f 0e", &[(Loads, 64)]),
        ("vmovdqu8 [rdi]{k1}, zmm1", "62 f1 7f 49 7f 0f", &[(Stores, 64)]),
        ("kmovq k1, rax", "c4 e1 fb 92 c8", &[]),
    ];

    #[test]
    fn instructions_use_the_units_that_their_class_names() {
        for (assembly, bytes, expected) in ENCODED {
            let decoded = Decoded::of(&hex::decode(bytes.replace(' ', "")).unwrap()).unwrap();
            assert_eq!(decoded.uses, expected, "{assembly}");
        }
    }

    #[test]
    fn invalid_bytes_are_not_decoded() {
        assert_eq!(Decoded::of(&[0x06]), None);
        assert_eq!(Decoded::of(&[0x62, 0xf2]), None);
    }

    /// `add`, `lea`; `jne`, `jmp`, `call`, `ret`, `syscall`, `rep movsb`, `int3`.
    #[test]
    fn branches_calls_and_repeats_may_branch() {
        for straight in ["4801c6", "488d4608"] {
            assert!(!Decoded::of(&hex::decode(straight).unwrap()).unwrap().may_branch, "{straight}");
        }
        for branching in ["7510", "eb10", "e800000000", "c3", "0f05", "f3a4", "cc"] {
            assert!(Decoded::of(&hex::decode(branching).unwrap()).unwrap().may_branch, "{branching}");
        }
    }

    /// `cmp rsi, rax`, `jne`, `jne`: the first branch fuses with the comparison, the second does not.
    #[test]
    fn a_comparison_and_its_branch_use_the_front_end_once() {
        let [compare, branch] =
            [&[0x48, 0x39, 0xc6][..], &[0x75, 0x10]].map(|bytes| Decoded::of(bytes).unwrap());
        let mut demand = Demand::default();
        compare.add_to(&mut demand, false);
        branch.add_to(&mut demand, compare.compares);
        branch.add_to(&mut demand, branch.compares);
        assert_eq!((demand.instructions, demand.times(FrontEnd)), (3, 2));
    }
}
