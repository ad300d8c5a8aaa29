//! Figures of the paper that this study repeats: Bogdanov, Lauridsen, Tischhauser, "Comb to Pipeline: Fast Software
//! Encryption Revisited", FSE 2015; Intel Core i5-4300U (Haswell), 7 messages in flight, cycles per byte.

use sealcomb::{Algorithm, Cipher};

/// What the paper gives for a mode with AES-128: messages of 2048 bytes and the realistic mix (tables 1, 4, 5, 6).
pub(crate) struct PaperMode {
    pub(crate) mode: &'static str,
    pub(crate) single: f64,
    pub(crate) comb: Option<f64>,
    pub(crate) single_mix: f64,
    pub(crate) comb_mix: Option<f64>,
}

const fn mode(
    mode: &'static str,
    single: f64,
    comb: Option<f64>,
    single_mix: f64,
    comb_mix: Option<f64>,
) -> PaperMode {
    PaperMode { mode, single, comb, single_mix, comb_mix }
}

const MODES: [PaperMode; 8] = [
    mode("ECB", 0.63, None, 0.65, None),
    mode("CTR", 0.74, None, 0.78, None),
    mode("CBC", 4.38, Some(0.65), 4.47, Some(0.87)),
    mode("OFB", 4.39, Some(0.67), 4.48, Some(0.88)),
    mode("CFB", 4.36, Some(0.65), 4.45, Some(0.89)),
    mode("CMAC", 4.35, Some(0.64), 4.29, Some(0.84)),
    mode("CCM", 5.10, Some(1.37), 5.22, Some(1.64)),
    mode("GCM", 1.14, None, 1.63, None),
];

/// Whether an algorithm has the block cipher that the paper measures: AES-128.
pub(crate) fn uses_its_cipher(algorithm: &Algorithm) -> bool {
    algorithm.cipher == Cipher::Aes && algorithm.cipher_key_bytes == 16
}

/// What the paper gives for a mode of the catalog (whose CFB is named by its segment size).
pub(crate) fn of_mode(mode: &str) -> Option<&'static PaperMode> {
    MODES.iter().find(|paper| paper.mode == mode.trim_end_matches("128").trim_end_matches('-'))
}

/// Table 3: CBC with 1 to 8 messages in flight, of 2048 bytes and of the mix.
pub(crate) const PARALLEL_CBC: [(usize, f64, f64); 8] = [
    (1, 4.38, 4.38),
    (2, 2.19, 2.42),
    (3, 1.47, 1.73),
    (4, 1.11, 1.37),
    (5, 0.91, 1.08),
    (6, 0.76, 0.98),
    (7, 0.66, 0.87),
    (8, 0.65, 0.85),
];

/// The message lengths of tables 6 and 7.
pub(crate) const LENGTHS: [usize; 5] = [128, 256, 512, 1024, 2048];

/// Table 6: one message at a time.
pub(crate) const SINGLE_BY_LENGTH: [(&str, [f64; 5]); 2] =
    [("CCM", [5.35, 5.19, 5.14, 5.11, 5.10]), ("GCM", [2.09, 1.61, 1.34, 1.20, 1.14])];

/// Table 7: messages of one length, combed.
pub(crate) const COMB_BY_LENGTH: [(&str, [f64; 5]); 1] = [("CCM", [1.51, 1.44, 1.40, 1.38, 1.37])];

/// Table 8: latency and inverse throughput in cycles.
pub(crate) const INSTRUCTIONS: [(&str, f64, f64); 3] =
    [("aesenc", 7.0, 1.0), ("aesdec", 7.0, 1.0), ("pclmulqdq", 7.0, 2.0)];

/// Table 9: cycles of the fastest doubling.
pub(crate) const DOUBLING: f64 = 5.6;

#[cfg(test)]
mod tests {
    use super::*;
    use sealcomb::ALGORITHMS;

    #[test]
    fn every_mode_of_the_paper_is_one_of_the_catalog() {
        for paper in &MODES {
            let found = ALGORITHMS.iter().any(|a| of_mode(a.mode).is_some_and(|of| of.mode == paper.mode));
            assert!(found, "{}", paper.mode);
        }
    }

    #[test]
    fn a_mode_that_the_paper_lacks_has_no_figures() {
        assert!(of_mode("GCM-SIV").is_none() && of_mode("GMAC").is_none());
    }
}
