//! Resolves the names that users write to algorithms of the catalog.
//!
//! Case and hyphens are ignored: `gcm`, `GCM-SIV`, `gcmsiv`, `aes-gcm`, `AES-128-GCM` and `aes128-gcm` are all valid.
//! A name can also be that of a family (`otr`, `cfb`, `ocb`, `aes128`) or the last part of a mode's name (`siv`).

use anyhow::{Result, bail};
use sealcomb::study::ALGORITHMS;
use sealcomb::{Algorithm, Cipher};
use std::collections::BTreeSet;

/// Minimum similarity, from 0 to 1 (equal), of a name that is suggested for a misspelled one.
const MIN_SIMILARITY: f64 = 0.6;

/// Minimum length of a name that matches the end of a mode's name.
const MIN_END_LEN: usize = 3;

/// Maximum number of suggestions for a misspelled name.
const MAX_SUGGESTIONS: usize = 3;

/// How a name matches an algorithm, best match first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Fit {
    /// The name of the mode or of the algorithm.
    Own,
    /// The start of the mode's name, or the name of the block cipher.
    Family,
    /// The end of the mode's name.
    End,
}

/// An algorithm that a name refers to.
#[derive(Clone, Copy)]
pub(crate) struct Named {
    pub(crate) algorithm: Algorithm,
    /// Whether the name includes the key size.
    pub(crate) with_key_size: bool,
}

/// Returns the algorithms that a name refers to, in the catalog's order: for each cipher, those with the best match.
///
/// # Errors
/// No algorithm matches. The message suggests similar names.
pub(crate) fn algorithms(name: &str) -> Result<Vec<Named>> {
    let fits: Vec<(Fit, Named)> =
        ALGORITHMS.iter().copied().filter_map(|algorithm| fit(algorithm, name)).collect();
    let best = |cipher: Cipher| {
        fits.iter().filter(|(_, named)| named.algorithm.cipher() == cipher).map(|(fit, _)| *fit).min()
    };
    let named: Vec<Named> = fits
        .iter()
        .filter(|(fit, named)| best(named.algorithm.cipher()) == Some(*fit))
        .map(|(_, named)| *named)
        .collect();
    if named.is_empty() {
        bail!(
            "unknown mode or algorithm \"{name}\"; `sealcomb list` prints all of them{}",
            did_you_mean(name)
        );
    }
    Ok(named)
}

/// Returns `; did you mean …?` with the most similar names; an empty string if there are none.
pub(crate) fn did_you_mean(name: &str) -> String {
    let plain_name = plain(name);
    let mut similar: Vec<(f64, String)> = all()
        .into_iter()
        .map(|other| (strsim::normalized_damerau_levenshtein(&plain_name, &plain(&other)), other))
        .filter(|(similarity, _)| *similarity >= MIN_SIMILARITY)
        .collect();
    similar.sort_by(|a, b| b.0.total_cmp(&a.0));
    let quoted: Vec<String> =
        similar.into_iter().take(MAX_SUGGESTIONS).map(|(_, name)| format!("\"{name}\"")).collect();
    if quoted.is_empty() { String::new() } else { format!("; did you mean {}?", quoted.join(" or ")) }
}

/// Returns the ids of all algorithms and the names of all modes and families, in lower case.
fn all() -> BTreeSet<String> {
    let names = |algorithm: Algorithm| {
        let mode = algorithm.mode_id();
        let family = mode.find(|c: char| !c.is_ascii_alphabetic()).map(|end| mode[..end].to_owned());
        [Some(algorithm.id().to_owned()), Some(mode.to_owned()), family].into_iter().flatten()
    };
    ALGORITHMS.iter().copied().flat_map(names).collect()
}

/// Reduces a name to lower-case letters and digits.
fn plain(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
}

fn fit(algorithm: Algorithm, name: &str) -> Option<(Fit, Named)> {
    let name = plain(name);
    let cipher_and_size = plain(algorithm.id().split('-').next()?);
    let cipher = cipher_and_size.trim_end_matches(|c: char| c.is_ascii_digit());
    [("", false), (cipher, false), (cipher_and_size.as_str(), true)]
        .into_iter()
        .filter_map(|(prefix, with_key_size)| {
            let rest = name.strip_prefix(prefix)?;
            let fit = match rest {
                "" => (!prefix.is_empty()).then_some(Fit::Family),
                rest => fit_of_mode(algorithm, rest),
            };
            Some((fit?, Named { algorithm, with_key_size }))
        })
        .min_by_key(|(fit, _)| *fit)
}

/// Matches a name without a cipher against an algorithm's mode.
fn fit_of_mode(algorithm: Algorithm, name: &str) -> Option<Fit> {
    let words = words(algorithm.mode_id());
    let begins = |count| words[..count].concat() == name;
    let ends = |count| words[count..].concat() == name;
    if name == plain(algorithm.mode()) || begins(words.len()) {
        Some(Fit::Own)
    } else if (1..words.len()).any(begins) {
        Some(Fit::Family)
    } else if name.len() >= MIN_END_LEN && (1..words.len()).any(ends) {
        Some(Fit::End)
    } else {
        None
    }
}

/// Splits a name into runs of letters and runs of digits: `otr-p` into `otr`, `p`; `cfb128` into `cfb`, `128`.
fn words(name: &str) -> Vec<&str> {
    name.split('-')
        .flat_map(|part| {
            let digits = part.find(|c: char| c.is_ascii_digit()).unwrap_or(part.len());
            let (letters, digits) = part.split_at(digits);
            [letters, digits].into_iter().filter(|word| !word.is_empty())
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(name: &str) -> Vec<&'static str> {
        algorithms(name)
            .unwrap_or_default()
            .into_iter()
            .map(|named| named.algorithm.id())
            .filter(|id| !id.contains("192") && !id.contains("256"))
            .collect()
    }

    #[test]
    fn common_spellings_of_modes_resolve() {
        for (name, expected) in [
            ("gcm", &["aes128-gcm", "serpent128-gcm"][..]),
            ("GCM-SIV", &["aes128-gcm-siv"]),
            ("gcmsiv", &["aes128-gcm-siv"]),
            ("siv", &["aes128-siv"]),
            ("cfb", &["aes128-cfb128"]),
            ("cfb128", &["aes128-cfb128"]),
            ("otr", &["aes128-otr-p", "aes128-otr-s"]),
            ("julius", &["aes128-julius-ecb"]),
            ("ecb", &["aes128-ecb", "serpent128-ecb"]),
            ("ocb", &["aes128-ocb3-t64", "aes128-ocb3-t96", "aes128-ocb3-t128", "serpent128-ocb3"]),
            ("OCB3", &["aes128-ocb3-t64", "aes128-ocb3-t96", "aes128-ocb3-t128", "serpent128-ocb3"]),
            ("colm", &["aes128-colm0"]),
            ("mcoe", &["aes128-mcoe-g"]),
            ("McOE-G", &["aes128-mcoe-g"]),
            ("poet", &["aes128-poet"]),
            ("poet-g", &["aes128-poet-g"]),
            ("elmd", &["aes128-elmd"]),
            ("ELmD(6,6)", &["aes128-elmd66"]),
            ("eme", &["aes128-eme2"]),
            ("copa", &["aes128-copa"]),
            ("aes-ocb3", &["aes128-ocb3-t64", "aes128-ocb3-t96", "aes128-ocb3-t128"]),
            ("AES-128-GCM", &["aes128-gcm"]),
            ("aes_128_gcm", &["aes128-gcm"]),
            ("serpent-gcm", &["serpent128-gcm"]),
        ] {
            assert_eq!(ids(name), expected, "{name}");
        }
    }

    #[test]
    fn a_name_without_a_key_size_means_every_key_size() {
        let sizes = |name: &str| -> Vec<usize> {
            algorithms(name).unwrap().iter().map(|named| named.algorithm.cipher_key_bytes()).collect()
        };
        assert_eq!(sizes("aes-cbc"), [16, 24, 32]);
        assert_eq!(sizes("aes256-cbc"), [32]);
    }

    #[test]
    fn every_name_in_the_catalog_resolves_to_its_algorithm() {
        for &algorithm in ALGORITHMS {
            for name in [algorithm.id(), algorithm.name(), algorithm.mode()] {
                let named = algorithms(name).unwrap();
                assert!(named.iter().any(|named| named.algorithm.id() == algorithm.id()), "{name}");
            }
            assert_eq!(algorithms(algorithm.id()).unwrap().len(), 1, "{}", algorithm.id());
        }
    }

    #[test]
    fn a_ciphers_name_means_all_its_algorithms() {
        assert!(
            algorithms("serpent").unwrap().iter().all(|named| named.algorithm.cipher() == Cipher::Serpent)
        );
        let with_128_bits =
            ALGORITHMS.iter().copied().filter(|algorithm| algorithm.id().starts_with("aes128-")).count();
        assert_eq!(algorithms("aes128").unwrap().len(), with_128_bits);
    }

    #[test]
    fn a_misspelled_name_gets_suggestions() {
        for (name, meant) in [
            ("gmc", "gcm"),
            ("gcm-siw", "gcm-siv"),
            ("juliu", "julius"),
            ("aes128gmc", "aes128-gcm"),
            ("cobr", "cobra"),
        ] {
            let error = algorithms(name).err().unwrap().to_string();
            assert!(error.contains(&format!("\"{meant}\"")) && error.contains("did you mean"), "{error}");
        }
    }

    #[test]
    fn nonsense_gets_no_suggestions() {
        for name in ["rot13", "", "-", "xyzzy", "g", "8"] {
            let error = algorithms(name).err().unwrap().to_string();
            assert!(!error.contains("did you mean"), "{error}");
        }
    }
}
