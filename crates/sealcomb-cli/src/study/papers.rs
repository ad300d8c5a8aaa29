//! Figures of the papers that this study reproduces, all with AES-128, in cycles per byte:
//!
//! - Bogdanov, Lauridsen, Tischhauser, "AES-Based Authenticated Encryption Modes in Parallel High-Performance
//!   Software", 2014: messages of one length, the best number of messages in flight; Intel Core i5-4300U (Haswell);
//! - Bogdanov, Lauridsen, Tischhauser, "Comb to Pipeline: Fast Software Encryption Revisited", FSE 2015: the comb
//!   scheduler with 7 messages in flight; Intel Core i5-4300U (Haswell) and Intel Core i7-6700 (Skylake);
//! - Drucker, Gueron, Krasnov, "Making AES great again: the forthcoming vectorized AES instruction", 2018: what
//!   instructions on registers of four blocks would gain, estimated by counting instructions.

use serde::Serialize;

/// Message lengths of the tables by length, in bytes.
pub(crate) const LENGTHS: [usize; 5] = [128, 256, 512, 1024, 2048];

/// Cost of single messages, and of several in flight if measured.
#[derive(Serialize, Clone, Copy)]
pub(crate) struct Pair {
    pub(crate) single: f64,
    pub(crate) comb: Option<f64>,
}

/// Cost of an authenticated mode at each of [`LENGTHS`].
#[derive(Serialize)]
pub(crate) struct ByLength {
    /// 2014, table 4.
    pub(crate) single: [f64; 5],
    /// 2015, table 6: measured again only for POET.
    pub(crate) single_2015: [f64; 5],
    /// 2014, table 4: messages in flight.
    pub(crate) messages: usize,
    /// 2014, table 4: cost with that many messages in flight.
    pub(crate) multiple: [f64; 5],
    /// 2015, table 7: cost with the comb, if the mode is sequential.
    pub(crate) comb: Option<[f64; 5]>,
}

/// Properties of an authenticated mode in the papers' tables of modes (2014: table 1; 2015: table 2).
#[derive(Serialize, Clone, Copy)]
pub(crate) struct Character {
    pub(crate) year: u32,
    pub(crate) parallel: bool,
    pub(crate) inverse_free: bool,
    /// Whether a reused nonce reveals at most a common prefix.
    pub(crate) resists_misuse: bool,
    pub(crate) description: &'static str,
}

/// A mode of the papers and its figures.
#[derive(Serialize)]
pub(crate) struct PaperMode {
    /// Algorithm id in the catalog. Later changes to its specification do not affect its cost.
    pub(crate) id: &'static str,
    /// Name in the papers.
    pub(crate) name: &'static str,
    /// 2015, tables 1a, 6 and 7: 2048 bytes on Haswell.
    pub(crate) haswell: Pair,
    /// 2015, tables 1a, 4 and 5: the realistic mix on Haswell.
    pub(crate) haswell_mix: Pair,
    /// 2015, table 1b: 2048 bytes on Skylake.
    pub(crate) skylake: Option<Pair>,
    /// 2015, table 1b: the realistic mix on Skylake. Modes that do not authenticate have only the single-message
    /// figure.
    pub(crate) skylake_mix: Option<Pair>,
    /// 2014, table 1, and 2015, table 2: AES calls and multiplications per block, for authenticated modes.
    pub(crate) work: Option<(u32, u32)>,
    pub(crate) character: Option<Character>,
    pub(crate) by_length: Option<ByLength>,
}

const fn pair(single: f64) -> Pair {
    Pair { single, comb: None }
}

const fn combed(single: f64, comb: f64) -> Pair {
    Pair { single, comb: Some(comb) }
}

/// Defines a mode that does not authenticate, or CMAC.
const fn basic(
    id: &'static str,
    name: &'static str,
    haswell: [Pair; 2],
    skylake: Pair,
    skylake_mix: f64,
) -> PaperMode {
    let [haswell, haswell_mix] = haswell;
    PaperMode {
        id,
        name,
        haswell,
        haswell_mix,
        skylake: Some(skylake),
        skylake_mix: Some(pair(skylake_mix)),
        work: None,
        character: None,
        by_length: None,
    }
}

// The columns of the tables of modes.
const PARALLEL: bool = true;
const SERIAL: bool = false;
const INVERSE_FREE: bool = true;
const INVERTED: bool = false;
const RESISTS_MISUSE: bool = true;
const NONCE_BASED: bool = false;

const fn character(
    year: u32,
    parallel: bool,
    inverse_free: bool,
    resists_misuse: bool,
    description: &'static str,
) -> Character {
    Character { year, parallel, inverse_free, resists_misuse, description }
}

/// Defines an authenticated mode.
const fn aead(
    id: &'static str,
    name: &'static str,
    character: Character,
    work: (u32, u32),
    haswell: [Pair; 2],
    skylake: [Pair; 2],
    by_length: ByLength,
) -> PaperMode {
    let ([haswell, haswell_mix], [skylake, skylake_mix]) = (haswell, skylake);
    PaperMode {
        id,
        name,
        haswell,
        haswell_mix,
        skylake: Some(skylake),
        skylake_mix: Some(skylake_mix),
        work: Some(work),
        character: Some(character),
        by_length: Some(by_length),
    }
}

const fn lengths(single: [f64; 5], messages: usize, multiple: [f64; 5], comb: Option<[f64; 5]>) -> ByLength {
    ByLength { single, single_2015: single, messages, multiple, comb }
}

impl ByLength {
    const fn remeasured(self, single_2015: [f64; 5]) -> Self {
        Self { single_2015, ..self }
    }
}

/// Every mode of the papers, in their order.
#[rustfmt::skip]
pub(crate) const MODES: [PaperMode; 18] = [
    basic("aes128-ecb", "ECB", [pair(0.63), pair(0.65)], pair(0.63), 0.64),
    basic("aes128-ctr", "CTR", [pair(0.74), pair(0.78)], pair(0.63), 0.67),
    basic("aes128-cbc", "CBC", [combed(4.38, 0.65), combed(4.47, 0.87)], combed(2.65, 0.64), 2.08),
    basic("aes128-ofb", "OFB", [combed(4.39, 0.67), combed(4.48, 0.88)], combed(2.68, 0.65), 2.11),
    basic("aes128-cfb128", "CFB", [combed(4.36, 0.65), combed(4.45, 0.89)], combed(2.63, 0.64), 2.07),
    basic("aes128-cmac", "CMAC", [combed(4.35, 0.64), combed(4.29, 0.84)], combed(2.67, 0.64), 2.15),
    aead("aes128-ccm", "CCM", character(2002, SERIAL, INVERSE_FREE, NONCE_BASED, "CTR, and CBC-MAC"),
        (2, 0),
        [combed(5.10, 1.37), combed(5.22, 1.64)], [combed(3.36, 1.27), combed(3.41, 1.43)],
        lengths([5.35, 5.19, 5.14, 5.11, 5.10], 8, [1.51, 1.44, 1.40, 1.38, 1.37], Some([1.51, 1.44, 1.40, 1.38, 1.37]))),
    aead("aes128-gcm", "GCM", character(2004, PARALLEL, INVERSE_FREE, NONCE_BASED, "CTR, and a chain of multiplications"),
        (1, 1),
        [pair(1.14), pair(1.63)], [pair(0.71), pair(1.16)],
        lengths([2.09, 1.61, 1.34, 1.20, 1.14], 13, [1.81, 1.72, 1.68, 1.65, 1.64], None)),
    aead("aes128-ocb3-t128", "OCB3", character(2010, PARALLEL, INVERTED, NONCE_BASED, "XEX with doublings in Gray-code order"),
        (1, 0),
        [pair(0.81), pair(1.51)], [pair(0.70), pair(1.27)],
        lengths([2.19, 1.43, 1.06, 0.87, 0.81], 7, [1.59, 1.16, 0.94, 0.83, 0.77], None)),
    aead("aes128-otr-p", "OTR", character(2013, PARALLEL, INVERSE_FREE, NONCE_BASED, "Feistel rounds over two blocks"),
        (1, 0),
        [pair(0.96), pair(1.91)], [pair(0.87), pair(1.36)],
        lengths([2.97, 1.34, 1.13, 1.02, 0.96], 8, [1.28, 1.08, 0.98, 0.94, 0.92], None)),
    aead("aes128-cloc", "CLOC", character(2014, SERIAL, INVERSE_FREE, NONCE_BASED, "CFB with little around it"),
        (1, 0),
        [combed(4.44, 1.23), combed(4.47, 1.45)], [combed(2.82, 1.26), combed(2.80, 1.44)],
        lengths([4.50, 4.46, 4.44, 4.46, 4.44], 7, [1.40, 1.31, 1.26, 1.24, 1.23], Some([1.40, 1.31, 1.26, 1.24, 1.23]))),
    aead("aes128-cobra", "COBRA", character(2014, PARALLEL, INVERSE_FREE, NONCE_BASED, "OTR, and a chain of multiplications"),
        (1, 1),
        [pair(2.77), pair(3.56)], [pair(2.67), pair(2.87)],
        lengths([4.41, 3.21, 2.96, 2.83, 2.77], 8, [2.04, 1.88, 1.80, 1.76, 1.75], None)),
    aead("aes128-jambu", "JAMBU", character(2014, SERIAL, INVERSE_FREE, NONCE_BASED, "stream mode, small"),
        (1, 0),
        [combed(8.88, 1.82), combed(9.12, 2.05)], [combed(5.52, 1.53), combed(5.61, 1.69)],
        lengths([9.33, 9.09, 8.97, 8.94, 8.88], 14, [2.14, 1.98, 1.89, 1.85, 1.82], Some([2.14, 1.98, 1.89, 1.85, 1.82]))),
    aead("aes128-silc", "SILC", character(2014, SERIAL, INVERSE_FREE, NONCE_BASED, "CLOC for smaller hardware"),
        (1, 0),
        [combed(4.50, 1.24), combed(4.53, 1.49)], [combed(2.82, 1.28), combed(2.80, 1.48)],
        lengths([4.57, 4.54, 4.52, 4.51, 4.50], 7, [1.43, 1.33, 1.28, 1.25, 1.24], Some([1.43, 1.33, 1.28, 1.25, 1.24]))),
    aead("aes128-mcoe-g", "McOE-G", character(2011, SERIAL, INVERTED, RESISTS_MISUSE, "chain of multiplication and cipher"),
        (1, 1),
        [combed(7.02, 1.62), combed(7.41, 1.79)], [combed(5.23, 1.39), combed(5.28, 1.53)],
        lengths([7.77, 7.36, 7.17, 7.07, 7.02], 7, [1.91, 1.76, 1.68, 1.64, 1.62], Some([1.91, 1.76, 1.68, 1.64, 1.62]))),
    aead("aes128-copa", "COPA", character(2013, PARALLEL, INVERTED, RESISTS_MISUSE, "two rounds of XEX"),
        (2, 0),
        [pair(1.88), pair(2.68)], [pair(1.69), pair(2.18)],
        lengths([3.37, 2.64, 2.27, 2.08, 1.88], 15, [1.62, 1.53, 1.48, 1.46, 1.45], None)),
    aead("aes128-poet", "POET", character(2014, PARALLEL, INVERTED, RESISTS_MISUSE, "XEX with two chains of AES-128"),
        (3, 0),
        [combed(4.74, 1.93), combed(5.85, 2.14)], [combed(2.95, 1.92), combed(3.60, 2.10)],
        lengths([5.30, 4.93, 4.75, 4.68, 4.62], 8, [3.24, 2.98, 2.86, 2.79, 2.75], Some([2.56, 2.23, 2.06, 1.97, 1.93]))
            .remeasured([6.89, 5.74, 5.17, 4.88, 4.74])),
    aead("aes128-julius-ecb", "Julius", character(2014, SERIAL, INVERTED, RESISTS_MISUSE, "SIV with a polynomial hash"),
        (1, 2),
        [pair(3.03), pair(3.73)], [pair(2.58), pair(2.91)],
        lengths([4.18, 4.69, 3.24, 3.08, 3.03], 7, [2.53, 2.27, 2.16, 2.09, 2.06], None)),
];

/// CBC with 1 to 8 messages in flight: 2048 bytes (2014, table 2; 2015, table 3) and the mix (2015, table 3).
pub(crate) const PARALLEL_CBC: [(usize, f64, f64, f64); 8] = [
    (1, 4.28, 4.38, 4.38),
    (2, 2.15, 2.19, 2.42),
    (3, 1.43, 1.47, 1.73),
    (4, 1.08, 1.11, 1.37),
    (5, 0.88, 0.91, 1.08),
    (6, 0.74, 0.76, 0.98),
    (7, 0.64, 0.66, 0.87),
    (8, 0.63, 0.65, 0.85),
];

/// Instructions that the VAES paper counts for a buffer (2018, table 1), with one and with four blocks per register.
pub(crate) struct Counted {
    pub(crate) name: &'static str,
    /// The algorithm whose work per byte is that of the counted code.
    pub(crate) id: &'static str,
    pub(crate) bytes: usize,
    pub(crate) legacy: u32,
    pub(crate) vectorized: u32,
    /// The ratio as printed in the paper.
    pub(crate) ratio: f64,
}

const fn counted(
    name: &'static str,
    id: &'static str,
    bytes: usize,
    legacy: u32,
    vectorized: u32,
    ratio: f64,
) -> Counted {
    Counted { name, id, bytes, legacy, vectorized, ratio }
}

pub(crate) const COUNTED: [Counted; 7] = [
    counted("AES-CTR", "aes128-ctr", 512, 608, 178, 3.42),
    counted("AES-CTR", "aes128-ctr", 8192, 9248, 2338, 3.96),
    counted("AES-CTRx8", "aes128-ctr", 512, 493, 150, 3.29),
    counted("AES-CTRx8", "aes128-ctr", 8192, 7453, 1890, 3.94),
    counted("POLYVALx8", "aes128-gmac", 4096, 2816, 794, 3.55),
    counted("POLYVALx8", "aes128-gmac", 8192, 5536, 1474, 3.76),
    counted("POLYVALx8", "aes128-gmac", 16384, 10976, 2834, 3.87),
];

/// Cycles per byte that code with four blocks per register can approach according to the VAES paper (2018, abstract):
/// ten instructions per 64 bytes, one per cycle.
pub(crate) const VAES_BOUND: f64 = 0.16;

/// The faster multiplication method according to each paper, for single messages and for eight (2014: section 4.4;
/// 2015: section 6.4). The papers contradict each other.
pub(crate) const FASTER_MULTIPLICATION: [(u32, &str, &str); 2] =
    [(2014, "classical", "Haswell"), (2015, "Haswell", "classical")];

/// Latency and inverse throughput in cycles (2014, table 3; 2015, table 8).
pub(crate) const INSTRUCTIONS: [(&str, u32, u32); 7] = [
    ("aesenc", 7, 1),
    ("aesdec", 7, 1),
    ("aesenclast", 7, 1),
    ("aesdeclast", 7, 1),
    ("aesimc", 14, 2),
    ("aeskeygenassist", 10, 8),
    ("pclmulqdq", 7, 2),
];

/// Cycles per doubling, by the method of testing the top bit (2014, table 3a; 2015, table 9).
pub(crate) const DOUBLINGS: [(&str, f64); 4] = [
    ("doubling, extraction", 15.4),
    ("doubling, test", 15.4),
    ("doubling, mask", 16.7),
    ("doubling, compare", 5.6),
];

#[cfg(test)]
mod tests {
    use super::*;

    use sealcomb::study::{self, ALGORITHMS, Parallel};

    #[test]
    fn the_modes_that_a_standard_defines_are_found_by_their_ids() {
        let known =
            |paper: &&PaperMode| ALGORITHMS.iter().copied().any(|algorithm| algorithm.id() == paper.id);
        let found: Vec<&str> = MODES.iter().filter(known).map(|paper| paper.name).collect();
        for name in ["ECB", "CTR", "CBC", "OFB", "CFB", "CMAC", "CCM", "GCM"] {
            assert!(found.contains(&name), "{name}");
        }
    }

    #[test]
    fn the_papers_tables_of_modes_agree_with_the_catalog() {
        for paper in &MODES {
            let Some(character) = paper.character else { continue };
            let algorithm = study::by_id(paper.id).unwrap();
            assert_eq!(character.inverse_free, algorithm.structure().inverse_free, "{}", paper.name);
            // For these two the tables contradict the text, which combs POET and not Julius.
            let misprinted = ["POET", "Julius"].contains(&paper.name);
            let parallel = algorithm.structure().parallel == Parallel::Both;
            assert_eq!(character.parallel, parallel ^ misprinted, "{}", paper.name);
        }
    }

    #[test]
    fn the_papers_comb_what_cannot_be_sealed_in_parallel() {
        for paper in &MODES {
            let parallel = study::by_id(paper.id).unwrap().structure().parallel == Parallel::Both;
            for figures in [Some(paper.haswell), Some(paper.haswell_mix), paper.skylake] {
                assert_eq!(figures.unwrap().comb.is_some(), !parallel, "{}", paper.name);
            }
        }
    }

    #[test]
    fn counted_instructions_have_the_printed_ratios() {
        for counted in &COUNTED {
            let ratio = f64::from(counted.legacy) / f64::from(counted.vectorized);
            assert!((ratio - counted.ratio).abs() < 0.01, "{} {}: {ratio}", counted.name, counted.bytes);
        }
    }

    #[test]
    fn the_papers_disagree_on_multiplication() {
        let [(_, single, batched), (_, single_2015, batched_2015)] = FASTER_MULTIPLICATION;
        assert_eq!((single, batched), (batched_2015, single_2015));
    }

    #[test]
    fn modes_are_unique() {
        for (i, mode) in MODES.iter().enumerate() {
            assert!(
                MODES[..i].iter().all(|other| other.id != mode.id && other.name != mode.name),
                "{}",
                mode.id
            );
        }
    }

    #[test]
    fn figures_that_are_in_two_tables_agree() {
        for mode in &MODES {
            if let Some(by_length) = &mode.by_length {
                let last = |figures: [f64; 5]| figures[LENGTHS.len() - 1].to_bits();
                let comb = by_length.comb.map(last);
                assert_eq!(comb, mode.haswell.comb.map(f64::to_bits), "{}", mode.name);
                assert_eq!(last(by_length.single_2015), mode.haswell.single.to_bits(), "{}", mode.name);
            }
        }
    }
}
