//! The list of algorithms, from which every table, name and size is derived.

use core::ops::RangeInclusive;

use super::{
    Algorithm, Cipher, Entry, Expansion, Kind, Limits, Parallel, Place, Status, Structure, Unusual, Work,
};
#[allow(clippy::wildcard_imports, reason = "each entry names the module of its mode")]
use crate::modes::*;

const NO_NONCE: RangeInclusive<usize> = 0..=0;
const ONE_BLOCK: RangeInclusive<usize> = 16..=16;
const EIGHT: RangeInclusive<usize> = 8..=8;
const TWELVE: RangeInclusive<usize> = 12..=12;
const TWO_BLOCKS: RangeInclusive<usize> = 32..=32;
const TWENTY_FOUR: RangeInclusive<usize> = 24..=24;
/// EAX takes any string as its nonce. SIV's nonce is one more associated string, or absent (RFC 5297, section 3).
const ANY_NONCES: RangeInclusive<usize> = 0..=isize::MAX as usize;
const OCB_NONCES: RangeInclusive<usize> = 1..=15;
const CCM_NONCES: RangeInclusive<usize> = 7..=13;
/// SP 800-38D allows IVs of 1 to 2^64 - 1 bits.
const GCM_NONCES: RangeInclusive<usize> = 1..=((1u64 << 61) - 1) as usize;
/// 2^48 blocks under one key (RFC 7253, section 5).
const OCB_LIMITS: Limits = Limits::Fixed { message: 1 << 52, aad: 1 << 52 };
/// 2^61 - 1 bytes each (RFC 10032).
const AEGIS_LIMITS: Limits = Limits::Fixed { message: (1 << 61) - 1, aad: (1 << 61) - 1 };
/// 2^39 - 256 bits (SP 800-38D).
const GCM_MESSAGE: u64 = (1 << 36) - 32;
/// 2^20 blocks (IEEE Std 1619).
#[cfg(feature = "hazmat")]
const XTS_MESSAGE: u64 = 1 << 24;
/// 2^64 - 1 bits (SP 800-38D).
const GCM_AAD: u64 = (1 << 61) - 1;

/// The tag lengths of a mode in bytes, in ascending order. Its standard allows the first `short` of them only under
/// conditions.
struct Tags {
    sizes: &'static [usize],
    short: usize,
}

const fn tags(sizes: &'static [usize]) -> Tags {
    Tags { sizes, short: 0 }
}

/// SP 800-38D, section 5.2.1.2: tags of 64 and 32 bits only for certain applications, within the limits of appendix
/// C.
const GCM_TAGS: Tags = Tags { sizes: &[4, 8, 12, 13, 14, 15, 16], short: 2 };
/// SP 800-38C, appendix B.2: tags under 64 bits only after a careful analysis of the risks.
const CCM_TAGS: Tags = Tags { sizes: &[4, 6, 8, 10, 12, 14, 16], short: 2 };
/// SP 800-38B, appendix A.2: tags under 64 bits only after a careful analysis of the risks. They are left out, since
/// no protocol seems to use them. EAX's tags are sums of CMAC tags.
const CMAC_TAGS: Tags = tags(&[8, 9, 10, 11, 12, 13, 14, 15, 16]);

/// No work: entries override what their mode needs.
const IDLE: Work = Work { calls: 0, rounds: 0, cached: 0, multiplications: 0 };

/// Independent blocks, only the forward cipher, one pass over the message.
const PARALLEL: Structure = Structure { parallel: Parallel::Both, inverse_free: true, online: true };
/// Independent blocks, one pass; opening needs the inverse cipher.
const INVERTED: Structure = Structure { inverse_free: false, ..PARALLEL };
/// Independent blocks, but every ciphertext block depends on the whole message.
const TWO_PASSES: Structure = Structure { online: false, ..PARALLEL };
#[cfg(any(feature = "hazmat", feature = "research"))]
const TWO_PASSES_INVERTED: Structure = Structure { online: false, ..INVERTED };
/// Each block depends on the previous one.
const SERIAL: Structure = Structure { parallel: Parallel::Neither, ..PARALLEL };
#[cfg(feature = "research")]
const SERIAL_INVERTED: Structure = Structure { parallel: Parallel::Neither, ..INVERTED };
/// Each block depends on the previous one, and sealing starts with the message's length or a pass over all of it.
const SERIAL_TWO_PASSES: Structure = Structure { online: false, ..SERIAL };
/// Chained through the ciphertext, which the receiver has: only opening is parallel.
#[cfg(feature = "hazmat")]
const CHAINED: Structure = Structure { parallel: Parallel::Opening, ..PARALLEL };
#[cfg(feature = "hazmat")]
const CHAINED_INVERTED: Structure = Structure { parallel: Parallel::Opening, ..INVERTED };

/// The message lengths that a mode takes, up to its limits, and how much longer its ciphertexts are.
struct Takes {
    whole_blocks: bool,
    min: usize,
    tweak: bool,
    strings: bool,
    expansion: Expansion,
}

const ANY: Takes =
    Takes { whole_blocks: false, min: 0, tweak: false, strings: false, expansion: Expansion::None };
/// Any length, with several associated strings.
const STRINGS: Takes = Takes { strings: true, ..ANY };
#[cfg(feature = "hazmat")]
const WHOLE_BLOCKS: Takes = Takes { whole_blocks: true, ..ANY };
/// At least one block.
#[cfg(feature = "hazmat")]
const ONE_BLOCK_OR_MORE: Takes = Takes { min: 16, ..ANY };
/// At least one block, with a tweak.
#[cfg(feature = "hazmat")]
const WIDE_BLOCK: Takes = Takes { tweak: true, ..ONE_BLOCK_OR_MORE };

#[cfg(feature = "research")]
const PADDED: Takes = Takes { expansion: Expansion::Blocks, ..ANY };
#[cfg(feature = "research")]
const FLAGGED: Takes = Takes { expansion: Expansion::Flagged, ..ANY };
#[cfg(feature = "research")]
const TAGGED: Takes = Takes { expansion: Expansion::FlaggedWithTags, ..ANY };

/// One entry per mode: the Cargo features that it requires, the key sizes in bits, plus the bits of the mode's own keys
/// after a `+`, and the properties that do not depend on the key size. The id of an algorithm consists of cipher, key
/// size and mode, unless the key size is followed by `=`, an id and a name.
macro_rules! catalog {
    ($($required:tt => $code:path {
        mode: $mode:literal, id: $id:literal, kind: $kind:ident, keys: $cipher:ident [
            $($bits:literal $(+ $more:literal)? $(= $own_id:literal $own_name:literal)?),*
        ],
        nonce: $nonce:expr, usual_nonce: $nonce_bytes:literal, tag: $tag:expr, usual_tag: $tag_bytes:literal,
        takes: $takes:expr, work: $work:expr, structure: $structure:expr, limits: $limits:expr, spec: $spec:literal,
        status: $status:ident, reason: $reason:literal, note: $note:literal,
    })*) => {
        /// All algorithms of this build, those of the features `hazmat` and `research` included.
        pub static BUILT: &[Algorithm] = &[$($(
            #[cfg(all $required)]
            Algorithm({
                static ENTRY: Entry = Entry {
                id: catalog!(@or [$($own_id)?] concat!(catalog!(@id $cipher), $bits, "-", $id)),
                name: catalog!(@or [$($own_name)?] concat!(catalog!(@name $cipher), "-", $bits, "-", $mode)),
                mode: $mode,
                mode_id: $id,
                kind: Kind::$kind,
                cipher: catalog!(@cipher $cipher),
                cipher_key_bytes: $bits / 8,
                key_bytes: ($bits $(+ $more)?) / 8,
                min_nonce_bytes: *$nonce.start(),
                max_nonce_bytes: *$nonce.end(),
                nonce_bytes: $nonce_bytes,
                tag_sizes: $tag.sizes,
                short_tags: $tag.short,
                tag_bytes: $tag_bytes,
                whole_blocks: $takes.whole_blocks,
                min_message_bytes: $takes.min,
                tweaked: $takes.tweak,
                unusual: Unusual::of(Kind::$kind, $takes.whole_blocks, $takes.tweak),
                strings: $takes.strings,
                work: $work,
                structure: $structure,
                rounds: catalog!(@rounds $cipher $bits),
                status: Status::$status,
                reason: $reason,
                spec: $spec,
                note: $note,
                code: &$code,
                limits: $limits,
                expansion: $takes.expansion,
                };
                &ENTRY
            }),
        )*)*];

        /// The ids of algorithms that this build lacks, with the Cargo features that they require: `hazmat`, `research` or
        /// both, otherwise the mode's own.
        pub(super) static NOT_BUILT: &[(&str, &[&str])] = &[$($(
            #[cfg(not(all $required))]
            (
                catalog!(@or [$($own_id)?] concat!(catalog!(@id $cipher), $bits, "-", $id)),
                catalog!(@names $required),
            ),
        )*)*];
    };
    (@names ($(feature = $name:literal),+)) => { &[$($name),+] };
    (@or [$own:literal] $usual:expr) => { $own };
    (@or [] $usual:expr) => { $usual };
    (@id aegis) => { "aegis" };
    (@id aes) => { "aes" };
    (@id serpent) => { "serpent" };
    (@name aegis) => { "AEGIS" };
    (@name aes) => { "AES" };
    (@name serpent) => { "Serpent" };
    (@cipher aegis) => { Cipher::Aes };
    (@cipher aes) => { Cipher::Aes };
    (@cipher serpent) => { Cipher::Serpent };
    (@rounds aegis $bits:literal) => { catalog!(@rounds aes $bits) };
    (@rounds aes $bits:literal) => { $bits / 32 + 6 };
    (@rounds serpent $bits:literal) => { 32 };
}

catalog! {
    (feature = "gcm") => gcm::AES {
        mode: "GCM", id: "gcm", kind: Aead, keys: aes [128, 192, 256],
        nonce: GCM_NONCES, usual_nonce: 12, tag: GCM_TAGS, usual_tag: 16, takes: ANY,
        work: Work { calls: 1, cached: 1, multiplications: 1, ..IDLE }, structure: PARALLEL,
        limits: Limits::Fixed { message: GCM_MESSAGE, aad: GCM_AAD },
        spec: "NIST SP 800-38D",
        status: Standard,
        reason: "NIST SP 800-38D (2007)",
        note: "Reusing a nonce under a key reveals the authentication key. At most 2^32 random nonces per key.",
    }
    (feature = "research") => gcm::SERPENT {
        mode: "GCM", id: "gcm", kind: Aead, keys: serpent [128, 192, 256],
        nonce: GCM_NONCES, usual_nonce: 12, tag: GCM_TAGS, usual_tag: 16, takes: ANY,
        work: Work { calls: 1, multiplications: 1, ..IDLE }, structure: PARALLEL,
        limits: Limits::Fixed { message: GCM_MESSAGE, aad: GCM_AAD },
        spec: "NIST SP 800-38D; Serpent (Anderson, Biham, Knudsen 1998)",
        status: Research,
        reason: "Serpent was an AES finalist that was not chosen; attacks reach 12 of its 32 rounds",
        note: "Reusing a nonce under a key reveals the authentication key. At most 2^32 random nonces per key.",
    }
    (feature = "gcm-siv") => gcm_siv::GcmSiv {
        mode: "GCM-SIV", id: "gcm-siv", kind: Aead, keys: aes [128, 256],
        nonce: TWELVE, usual_nonce: 12, tag: tags(&[16]), usual_tag: 16, takes: ANY,
        work: Work { calls: 1, cached: 1, multiplications: 1, ..IDLE }, structure: TWO_PASSES,
        limits: Limits::Fixed { message: 1 << 36, aad: 1 << 36 },
        spec: "RFC 8452",
        status: Standard,
        reason: "RFC 8452 (2019), IRTF CFRG",
        note: "Reusing a nonce reveals only whether the messages are equal.",
    }
    (feature = "xaes") => xaes::Xaes {
        mode: "XAES-256-GCM", id: "xaes256-gcm", kind: Aead, keys: aes [256 = "xaes256-gcm" "XAES-256-GCM"],
        nonce: TWENTY_FOUR, usual_nonce: 24, tag: tags(&[16]), usual_tag: 16, takes: ANY,
        work: Work { calls: 1, cached: 1, multiplications: 1, ..IDLE }, structure: PARALLEL,
        limits: Limits::Fixed { message: GCM_MESSAGE, aad: GCM_AAD },
        spec: "C2SP XAES-256-GCM v1; NIST SP 800-38D, SP 800-108r1",
        status: Standard,
        reason: "C2SP (2024): key derivation in counter mode of NIST SP 800-108r1 and GCM of NIST SP 800-38D, both \
            approved by NIST",
        note: "Random nonces are safe for 2^80 messages per key. Reusing a nonce reveals the authentication key of \
            all messages whose nonces begin with the same 12 bytes.",
    }
    (feature = "aegis") => aegis::Aegis128L {
        mode: "AEGIS-128L", id: "aegis128l", kind: Aead, keys: aegis [128 = "aegis128l" "AEGIS-128L"],
        nonce: ONE_BLOCK, usual_nonce: 16, tag: tags(&[16]), usual_tag: 16, takes: ANY,
        work: Work { rounds: 4, ..IDLE }, structure: SERIAL, limits: AEGIS_LIMITS,
        spec: "RFC 10032",
        status: Standard,
        reason: "RFC 10032, IRTF CFRG; AEGIS-128, of the same family, is in the CAESAR final portfolio (2019)",
        note: "A nonce must be unique per key, even with other tag lengths. At most 2^48 random nonces per key.",
    }
    (feature = "aegis") => aegis::Aegis256 {
        mode: "AEGIS-256", id: "aegis256", kind: Aead, keys: aegis [256 = "aegis256" "AEGIS-256"],
        nonce: TWO_BLOCKS, usual_nonce: 32, tag: tags(&[16]), usual_tag: 16, takes: ANY,
        work: Work { rounds: 6, ..IDLE }, structure: SERIAL, limits: AEGIS_LIMITS,
        spec: "RFC 10032",
        status: Standard,
        reason: "RFC 10032, IRTF CFRG",
        note: "A nonce must be unique per key, even with other tag lengths. Random nonces are safe without a practical \
            limit.",
    }
    (feature = "ccm") => ccm::Ccm {
        mode: "CCM", id: "ccm", kind: Aead, keys: aes [128, 192, 256],
        nonce: CCM_NONCES, usual_nonce: 12, tag: CCM_TAGS, usual_tag: 16, takes: ANY,
        work: Work { calls: 2, cached: 1, ..IDLE }, structure: SERIAL_TWO_PASSES, limits: Limits::NonceDependent,
        spec: "NIST SP 800-38C",
        status: Standard,
        reason: "NIST SP 800-38C (2004)",
        note: "A nonce must be unique per key. With a nonce of n bytes, messages are shorter than 256^(15-n) bytes.",
    }
    (feature = "eax") => eax::Eax {
        mode: "EAX", id: "eax", kind: Aead, keys: aes [128, 192, 256],
        nonce: ANY_NONCES, usual_nonce: 16, tag: CMAC_TAGS, usual_tag: 16, takes: ANY,
        work: Work { calls: 2, cached: 1, ..IDLE }, structure: SERIAL, limits: Limits::None,
        spec: "Bellare, Rogaway, Wagner, FSE 2004; ISO/IEC 19772",
        status: Standard,
        reason: "ISO/IEC 19772 (2009 and 2020 editions)",
        note: "A nonce must be unique per key. At most 2^48 messages per key.",
    }
    (feature = "siv") => siv::Siv {
        mode: "SIV", id: "siv", kind: Aead, keys: aes [128 + 128, 192 + 192, 256 + 256],
        nonce: ANY_NONCES, usual_nonce: 16, tag: tags(&[16]), usual_tag: 16, takes: STRINGS,
        work: Work { calls: 2, cached: 1, ..IDLE }, structure: SERIAL_TWO_PASSES, limits: Limits::None,
        spec: "RFC 5297",
        status: Standard,
        reason: "RFC 5297 (2008), IETF",
        note: "The nonce is optional: without one, equal messages with equal additional data have equal \
            ciphertexts. At most 2^48 messages per key. The key is K1 followed by K2.",
    }
    (feature = "cmac") => cmac::Cmac {
        mode: "CMAC", id: "cmac", kind: Mac, keys: aes [128, 192, 256],
        nonce: NO_NONCE, usual_nonce: 0, tag: CMAC_TAGS, usual_tag: 16, takes: ANY,
        work: Work { calls: 1, ..IDLE }, structure: SERIAL, limits: Limits::None,
        spec: "NIST SP 800-38B",
        status: Standard,
        reason: "NIST SP 800-38B (2005)",
        note: "At most 2^48 messages per key.",
    }
    (feature = "research") => pmac::Pmac {
        mode: "PMAC", id: "pmac", kind: Mac, keys: aes [128, 192, 256],
        nonce: NO_NONCE, usual_nonce: 0, tag: CMAC_TAGS, usual_tag: 16, takes: ANY,
        work: Work { calls: 1, ..IDLE }, structure: PARALLEL, limits: Limits::None,
        spec: "Black, Rogaway, EUROCRYPT 2002",
        status: Research,
        reason: "published and proven up to the birthday bound, no attack known; NIST chose CMAC",
        note: "At most 2^48 blocks per key.",
    }
    (feature = "gcm") => gcm::AES {
        mode: "GMAC", id: "gmac", kind: Mac, keys: aes [128, 192, 256],
        nonce: GCM_NONCES, usual_nonce: 12, tag: GCM_TAGS, usual_tag: 16, takes: ANY,
        work: Work { multiplications: 1, ..IDLE }, structure: PARALLEL,
        limits: Limits::Fixed { message: 0, aad: GCM_AAD },
        spec: "NIST SP 800-38D",
        status: Standard,
        reason: "NIST SP 800-38D (2007)",
        note: "Reusing a nonce under a key reveals the authentication key.",
    }
    (feature = "ocb3") => ocb3::AES {
        mode: "OCB3-T64", id: "ocb3-t64", kind: Aead, keys: aes [128, 192, 256],
        nonce: OCB_NONCES, usual_nonce: 12, tag: tags(&[8]), usual_tag: 8, takes: ANY,
        work: Work { calls: 1, ..IDLE }, structure: INVERTED, limits: OCB_LIMITS,
        spec: "RFC 7253",
        status: Standard,
        reason: "RFC 7253 (2014), IRTF CFRG; CAESAR final portfolio (2019)",
        note: "A nonce must be unique per key. At most 2^48 blocks per key. Each tag length is a separate \
            algorithm.",
    }
    (feature = "ocb3") => ocb3::AES {
        mode: "OCB3-T96", id: "ocb3-t96", kind: Aead, keys: aes [128, 192, 256],
        nonce: OCB_NONCES, usual_nonce: 12, tag: tags(&[12]), usual_tag: 12, takes: ANY,
        work: Work { calls: 1, ..IDLE }, structure: INVERTED, limits: OCB_LIMITS,
        spec: "RFC 7253",
        status: Standard,
        reason: "RFC 7253 (2014), IRTF CFRG; CAESAR final portfolio (2019)",
        note: "A nonce must be unique per key. At most 2^48 blocks per key. Each tag length is a separate \
            algorithm.",
    }
    (feature = "ocb3") => ocb3::AES {
        mode: "OCB3-T128", id: "ocb3-t128", kind: Aead, keys: aes [128, 192, 256],
        nonce: OCB_NONCES, usual_nonce: 12, tag: tags(&[16]), usual_tag: 16, takes: ANY,
        work: Work { calls: 1, ..IDLE }, structure: INVERTED, limits: OCB_LIMITS,
        spec: "RFC 7253",
        status: Standard,
        reason: "RFC 7253 (2014), IRTF CFRG; CAESAR final portfolio (2019)",
        note: "A nonce must be unique per key. At most 2^48 blocks per key. Each tag length is a separate \
            algorithm.",
    }
    (feature = "research") => ocb3::SERPENT {
        mode: "OCB3", id: "ocb3", kind: Aead, keys: serpent [128, 192, 256],
        nonce: OCB_NONCES, usual_nonce: 12, tag: tags(&[16]), usual_tag: 16, takes: ANY,
        work: Work { calls: 1, ..IDLE }, structure: INVERTED, limits: OCB_LIMITS,
        spec: "RFC 7253; Serpent (Anderson, Biham, Knudsen 1998)",
        status: Research,
        reason: "Serpent was an AES finalist that was not chosen; attacks reach 12 of its 32 rounds",
        note: "A nonce must be unique per key. At most 2^48 blocks per key.",
    }
    (feature = "research") => otr::Otr::Parallel {
        mode: "OTR-P", id: "otr-p", kind: Aead, keys: aes [128, 256],
        nonce: TWELVE, usual_nonce: 12, tag: tags(&[16]), usual_tag: 16, takes: ANY,
        work: Work { calls: 1, ..IDLE }, structure: PARALLEL, limits: Limits::None,
        spec: "AES-OTR v3 (Minematsu, CAESAR), parallel AD",
        status: Research,
        reason: "CAESAR third round, not in the portfolio; the attacks of ePrint 2016/234 apply to masks in \
            other fields",
        note: "A nonce must be unique per key. Far fewer than 2^64 blocks per key.",
    }
    (feature = "research") => otr::Otr::Serial {
        mode: "OTR-S", id: "otr-s", kind: Aead, keys: aes [128, 256],
        nonce: TWELVE, usual_nonce: 12, tag: tags(&[16]), usual_tag: 16, takes: ANY,
        work: Work { calls: 1, ..IDLE }, structure: PARALLEL, limits: Limits::None,
        spec: "AES-OTR v3 (Minematsu, CAESAR), serial AD",
        status: Research,
        reason: "CAESAR third round, not in the portfolio; the attacks of ePrint 2016/234 apply to masks in \
            other fields",
        note: "A nonce must be unique per key. Far fewer than 2^64 blocks per key.",
    }
    (feature = "research") => poet::POET {
        mode: "POET", id: "poet", kind: Aead, keys: aes [128],
        nonce: ONE_BLOCK, usual_nonce: 16, tag: tags(&[16]), usual_tag: 16, takes: ANY,
        work: Work { calls: 3, ..IDLE }, structure: SERIAL_INVERTED, limits: Limits::None,
        spec: "CAESAR round 2, POET v2",
        status: Research,
        reason: "not chosen for CAESAR's third round; no attack known; Hoang et al. (CRYPTO 2015) show the limits \
            of its security definition",
        note: "Reusing a nonce reveals how many leading blocks two messages have in common.",
    }
    (feature = "research") => poet::POET_AES4 {
        mode: "POET-AES4", id: "poet-aes4", kind: Aead, keys: aes [128],
        nonce: ONE_BLOCK, usual_nonce: 16, tag: tags(&[16]), usual_tag: 16, takes: ANY,
        work: Work { calls: 1, rounds: 8, ..IDLE }, structure: SERIAL_INVERTED, limits: Limits::None,
        spec: "CAESAR round 2, POET v2",
        status: Research,
        reason: "not chosen for CAESAR's third round; no attack known; Hoang et al. (CRYPTO 2015) show the limits \
            of its security definition",
        note: "Reusing a nonce reveals how many leading blocks two messages have in common.",
    }
    (feature = "research") => poet_g::POET_G {
        mode: "POET-G", id: "poet-g", kind: Aead, keys: aes [128],
        nonce: ONE_BLOCK, usual_nonce: 16, tag: tags(&[16]), usual_tag: 16, takes: ANY,
        work: Work { calls: 1, multiplications: 2, ..IDLE }, structure: INVERTED, limits: Limits::None,
        spec: "CAESAR round 1, POET v1",
        status: Broken,
        reason: "withdrawn by its designers in 2014 after weak keys and forgeries (Abdelraheem, Beelen, Bogdanov, \
            Tischhauser)",
        note: "For study only: large classes of weak keys, and universal forgeries.",
    }
    (feature = "research") => mcoe_g::McoeG {
        mode: "McOE-G", id: "mcoe-g", kind: Aead, keys: aes [128 + 128],
        nonce: ONE_BLOCK, usual_nonce: 16, tag: tags(&[16]), usual_tag: 16, takes: ANY,
        work: Work { calls: 1, multiplications: 1, ..IDLE }, structure: SERIAL_INVERTED, limits: Limits::None,
        spec: "Fleischmann, Forler, Lucks, FSE 2012; ePrint 2011/644",
        status: Research,
        reason: "published and proven, no attack known; the hashing of additional data and the bit order are this \
            library's choice",
        note: "Reusing a nonce reveals how many leading blocks two messages have in common.",
    }
    (feature = "research") => cobra::Cobra {
        mode: "COBRA", id: "cobra", kind: Aead, keys: aes [128],
        nonce: ONE_BLOCK, usual_nonce: 16, tag: tags(&[16]), usual_tag: 16, takes: ANY,
        work: Work { calls: 1, multiplications: 1, ..IDLE }, structure: PARALLEL, limits: Limits::None,
        spec: "Andreeva, Luykx, Mennink, Yasuda, FSE 2014; unpublished details are this library's choice",
        status: Broken,
        reason: "forged with about 2n queries (Nandi, ASIACRYPT 2014, ePrint 2014/363); withdrawn from CAESAR by \
            its designers",
        note: "For study only: forgeable once a nonce is reused.",
    }
    (feature = "research") => julius::JuliusEcb {
        mode: "Julius-ECB", id: "julius-ecb", kind: Aead, keys: aes [128],
        nonce: ONE_BLOCK, usual_nonce: 16, tag: tags(&[16]), usual_tag: 16, takes: PADDED,
        work: Work { calls: 1, multiplications: 2, ..IDLE }, structure: TWO_PASSES_INVERTED, limits: Limits::None,
        spec: "CAESAR round 1, Julius v1.0, regular Julius-ECB; follows its reference code, with the multiplication \
            corrected",
        status: Broken,
        reason: "universal forgeries under weak keys (Abdelraheem, Beelen, Bogdanov, Tischhauser, EUROCRYPT 2015)",
        note: "Reusing a nonce reveals only whether the messages are equal. The receiver needs the message length \
            from elsewhere.",
    }
    (feature = "research") => cloc::Cloc {
        mode: "CLOC", id: "cloc", kind: Aead, keys: aes [128],
        nonce: TWELVE, usual_nonce: 12, tag: tags(&[8]), usual_tag: 8, takes: ANY,
        work: Work { calls: 2, ..IDLE }, structure: SERIAL, limits: Limits::None,
        spec: "CAESAR round 3, CLOC and SILC v3",
        status: Research,
        reason: "CAESAR third-round candidate that was not chosen; proven up to the birthday bound (designers, DIAC \
            2016)",
        note: "Tags have 8 bytes. Reusing a nonce reveals how many leading blocks two messages have in common, and the \
            XOR of the first blocks that differ.",
    }
    (feature = "research") => silc::Silc {
        mode: "SILC", id: "silc", kind: Aead, keys: aes [128],
        nonce: TWELVE, usual_nonce: 12, tag: tags(&[8]), usual_tag: 8, takes: ANY,
        work: Work { calls: 2, ..IDLE }, structure: SERIAL, limits: Limits::None,
        spec: "CAESAR round 3, CLOC and SILC v3",
        status: Research,
        reason: "CAESAR third-round candidate that was not chosen; proven up to the birthday bound (designers, DIAC \
            2016)",
        note: "Tags have 8 bytes. Reusing a nonce reveals how many leading blocks two messages have in common, and the \
            XOR of the first blocks that differ.",
    }
    (feature = "research") => jambu::Jambu {
        mode: "JAMBU", id: "jambu", kind: Aead, keys: aes [128],
        nonce: EIGHT, usual_nonce: 8, tag: tags(&[8]), usual_tag: 8, takes: ANY,
        work: Work { calls: 2, ..IDLE }, structure: SERIAL, limits: Limits::None,
        spec: "CAESAR round 3, JAMBU v2",
        status: Research,
        reason: "CAESAR third-round candidate that was not chosen; its claim for repeated nonces is broken with \
            2^32 queries (Peyrin, Sim, Wang, Zhang, FSE 2015)",
        note: "Tags have 8 bytes. A nonce must be unique per key.",
    }
    (feature = "hazmat") => ecb::AES {
        mode: "ECB", id: "ecb", kind: Cipher, keys: aes [128, 192, 256],
        nonce: NO_NONCE, usual_nonce: 0, tag: tags(&[]), usual_tag: 0, takes: WHOLE_BLOCKS,
        work: Work { calls: 1, ..IDLE }, structure: INVERTED, limits: Limits::None,
        spec: "NIST SP 800-38A",
        status: Standard,
        reason: "NIST SP 800-38A (2001)",
        note: "A building block, not a way to encrypt: equal blocks have equal ciphertexts.",
    }
    (feature = "hazmat", feature = "research") => ecb::SERPENT {
        mode: "ECB", id: "ecb", kind: Cipher, keys: serpent [128, 192, 256],
        nonce: NO_NONCE, usual_nonce: 0, tag: tags(&[]), usual_tag: 0, takes: WHOLE_BLOCKS,
        work: Work { calls: 1, ..IDLE }, structure: INVERTED, limits: Limits::None,
        spec: "Serpent (Anderson, Biham, Knudsen 1998); NIST SP 800-38A",
        status: Research,
        reason: "Serpent was an AES finalist that was not chosen; attacks reach 12 of its 32 rounds",
        note: "A building block, not a way to encrypt: equal blocks have equal ciphertexts. Bytes are in NESSIE \
            order.",
    }
    (feature = "hazmat") => cbc::Cbc {
        mode: "CBC", id: "cbc", kind: Cipher, keys: aes [128, 192, 256],
        nonce: ONE_BLOCK, usual_nonce: 16, tag: tags(&[]), usual_tag: 0, takes: WHOLE_BLOCKS,
        work: Work { calls: 1, ..IDLE }, structure: CHAINED_INVERTED, limits: Limits::None,
        spec: "NIST SP 800-38A",
        status: Standard,
        reason: "NIST SP 800-38A (2001)",
        note: "Not authenticated. The IV must be unpredictable. The caller pads.",
    }
    (feature = "hazmat") => cfb::Cfb {
        mode: "CFB128", id: "cfb128", kind: Cipher, keys: aes [128, 192, 256],
        nonce: ONE_BLOCK, usual_nonce: 16, tag: tags(&[]), usual_tag: 0, takes: ANY,
        work: Work { calls: 1, ..IDLE }, structure: CHAINED, limits: Limits::None,
        spec: "NIST SP 800-38A",
        status: Standard,
        reason: "NIST SP 800-38A (2001)",
        note: "Not authenticated. The IV must be unpredictable.",
    }
    (feature = "hazmat") => ofb::Ofb {
        mode: "OFB", id: "ofb", kind: Cipher, keys: aes [128, 192, 256],
        nonce: ONE_BLOCK, usual_nonce: 16, tag: tags(&[]), usual_tag: 0, takes: ANY,
        work: Work { calls: 1, ..IDLE }, structure: SERIAL, limits: Limits::None,
        spec: "NIST SP 800-38A",
        status: Standard,
        reason: "NIST SP 800-38A (2001)",
        note: "Not authenticated. An IV must be unique per key.",
    }
    (feature = "hazmat") => ctr::Ctr {
        mode: "CTR", id: "ctr", kind: Cipher, keys: aes [128, 192, 256],
        nonce: ONE_BLOCK, usual_nonce: 16, tag: tags(&[]), usual_tag: 0, takes: ANY,
        work: Work { calls: 1, cached: 1, ..IDLE }, structure: PARALLEL, limits: Limits::None,
        spec: "NIST SP 800-38A",
        status: Standard,
        reason: "NIST SP 800-38A (2001)",
        note: "Not authenticated. No counter block may repeat under a key; the counter is the whole block.",
    }
    (feature = "hazmat") => eme2::Eme2 {
        mode: "EME2", id: "eme2", kind: Cipher, keys: aes [128 + 256, 256 + 256],
        nonce: NO_NONCE, usual_nonce: 0, tag: tags(&[]), usual_tag: 0, takes: WIDE_BLOCK,
        work: Work { calls: 2, ..IDLE }, structure: TWO_PASSES_INVERTED, limits: Limits::None,
        spec: "IEEE Std 1619.2",
        status: Standard,
        reason: "IEEE Std 1619.2-2010",
        note: "Not authenticated. Equal messages under equal tweaks have equal ciphertexts. The key is K_AD, K_ECB \
            and the cipher's key.",
    }
    (feature = "hazmat") => hctr2::Hctr2 {
        mode: "HCTR2", id: "hctr2", kind: Cipher, keys: aes [128, 256],
        nonce: NO_NONCE, usual_nonce: 0, tag: tags(&[]), usual_tag: 0, takes: WIDE_BLOCK,
        work: Work { calls: 1, cached: 1, multiplications: 2, ..IDLE }, structure: TWO_PASSES_INVERTED, limits: Limits::None,
        spec: "Crowley, Huckleberry, Biggers, IACR ePrint 2021/1441",
        status: Portfolio,
        reason: "chosen by NIST as the basis of its future accordions (pre-draft of SP 800-197A, 2025); file names in \
            Linux and Android",
        note: "Not authenticated. Equal messages under equal tweaks have equal ciphertexts.",
    }
    (feature = "hazmat") => xts::Xts {
        mode: "XTS", id: "xts", kind: Cipher, keys: aes [128 + 128, 256 + 256],
        nonce: ONE_BLOCK, usual_nonce: 16, tag: tags(&[]), usual_tag: 0, takes: ONE_BLOCK_OR_MORE,
        work: Work { calls: 1, ..IDLE }, structure: INVERTED,
        limits: Limits::Fixed { message: XTS_MESSAGE, aad: 0 },
        spec: "IEEE Std 1619; NIST SP 800-38E",
        status: Standard,
        reason: "IEEE Std 1619-2007 and later editions, NIST SP 800-38E (2010)",
        note: "Not authenticated, and only for storage. The nonce is the tweak, usually the little-endian number of \
            the sector: equal blocks at equal positions of sectors with equal tweaks have equal ciphertexts. The key \
            is Key1 followed by Key2, which must differ.",
    }
    (feature = "colm") => colm::Colm {
        mode: "COLM0", id: "colm0", kind: Aead, keys: aes [128],
        nonce: EIGHT, usual_nonce: 8, tag: tags(&[16]), usual_tag: 16, takes: ANY,
        work: Work { calls: 2, ..IDLE }, structure: INVERTED, limits: Limits::None,
        spec: "COLM v1 (CAESAR, third round)",
        status: Portfolio,
        reason: "CAESAR final portfolio (2019), defense in depth, second choice",
        note: "Reusing a nonce reveals common prefixes of messages. Far fewer than 2^64 blocks per key.",
    }
    (feature = "research") => copa::Copa {
        mode: "COPA", id: "copa", kind: Aead, keys: aes [128],
        nonce: ONE_BLOCK, usual_nonce: 16, tag: tags(&[16]), usual_tag: 16, takes: FLAGGED,
        work: Work { calls: 2, ..IDLE }, structure: INVERTED, limits: Limits::None,
        spec: "AES-COPA v2 (CAESAR, second round)",
        status: Research,
        reason: "merged into COLM; almost universal forgeries near the birthday bound (Lu, ASIACCS 2017)",
        note: "Reusing a nonce reveals common prefixes of messages. Far fewer than 2^64 blocks per key.",
    }
    (feature = "research") => elmd::FULL {
        mode: "ELmD", id: "elmd", kind: Aead, keys: aes [128],
        nonce: EIGHT, usual_nonce: 8, tag: tags(&[16]), usual_tag: 16, takes: FLAGGED,
        work: Work { calls: 2, ..IDLE }, structure: INVERTED, limits: Limits::None,
        spec: "ELmD v2.0 (CAESAR, second round), 10 rounds",
        status: Research,
        reason: "merged into COLM; universal forgeries near the birthday bound (Bay, Ersoy, Karakoc, ASIACRYPT 2016)",
        note: "Reusing a nonce reveals common prefixes of messages. Far fewer than 2^64 blocks per key.",
    }
    (feature = "research") => elmd::SIX_ROUNDS {
        mode: "ELmD(6,6)", id: "elmd66", kind: Aead, keys: aes [128],
        nonce: EIGHT, usual_nonce: 8, tag: tags(&[16]), usual_tag: 16, takes: FLAGGED,
        work: Work { rounds: 12, ..IDLE }, structure: INVERTED, limits: Limits::None,
        spec: "ELmD v2.0 (CAESAR, second round), 6 rounds",
        status: Broken,
        reason: "key recovery more than 2^60 times as fast as exhaustive search (Bay, Ersoy, Karakoc, ASIACRYPT 2016)",
        note: "For study only: six AES rounds per layer.",
    }
    (feature = "research") => elmd::INTERMEDIATE_TAGS {
        mode: "ELmD with intermediate tags", id: "elmd-it127", kind: Aead, keys: aes [128],
        nonce: EIGHT, usual_nonce: 8, tag: tags(&[16]), usual_tag: 16, takes: TAGGED,
        work: Work { calls: 2, ..IDLE }, structure: INVERTED, limits: Limits::None,
        spec: "ELmD v2.0 (CAESAR, second round), 10 rounds, tags every 127 blocks",
        status: Research,
        reason: "merged into COLM; universal forgeries near the birthday bound (Bay, Ersoy, Karakoc, ASIACRYPT 2016)",
        note: "Nonce reuse: see ELmD. Tags within the ciphertext are verified together with the final tag, before any \
            plaintext is released.",
    }
    (feature = "research") => elmd::VARIABLE_TAG {
        mode: "ELmD with a variable tag", id: "elmd-vartag", kind: Aead, keys: aes [128],
        nonce: EIGHT, usual_nonce: 8, tag: tags(&[16]), usual_tag: 16, takes: ANY,
        work: Work { calls: 2, ..IDLE }, structure: INVERTED, limits: Limits::None,
        spec: "ELmD v2.0 (CAESAR, second round), 10 rounds, variable tag",
        status: Research,
        reason: "merged into COLM; universal forgeries near the birthday bound (Bay, Ersoy, Karakoc, ASIACRYPT 2016)",
        note: "Nonce reuse: see ELmD. The ciphertext is as long as the message.",
    }
}

/// Fails the build if an algorithm is built without a feature that it requires.
const _: () = {
    let mut rest = BUILT;
    while let [algorithm, others @ ..] = rest {
        assert!(
            cfg!(feature = "hazmat") || !matches!(algorithm.kind(), Kind::Cipher),
            "it must require the feature `hazmat`"
        );
        assert!(
            cfg!(feature = "research") || matches!(algorithm.status(), Status::Standard | Status::Portfolio),
            "it must require the feature `research`"
        );
        rest = others;
    }
};

/// The authenticated algorithms whose [`Status`] is standard or portfolio, as far as this build has the features of their
/// modes. The features `hazmat` and `research` add none.
pub static ALGORITHMS: &[Algorithm] = &listed::<{ count(Place::Library) }>(Place::Library);

/// The unauthenticated ciphers that are standards, and EME2 and HCTR2.
#[cfg(feature = "hazmat")]
pub static HAZMAT: &[Algorithm] = &listed::<{ count(Place::Hazmat) }>(Place::Hazmat);

/// The algorithms whose [`Status`] is research or broken. Those of them that do not authenticate also require the feature
/// `hazmat`.
#[cfg(feature = "research")]
pub static RESEARCH: &[Algorithm] = &listed::<{ count(Place::Research) }>(Place::Research);

/// Returns the algorithms of this build in a place.
const fn listed<const N: usize>(place: Place) -> [Algorithm; N] {
    let [any, ..] = BUILT else { panic!("enable a mode, for example with the feature `gcm`") };
    let (mut found, mut n) = ([*any; N], 0);
    let mut rest = BUILT;
    while let [algorithm, others @ ..] = rest {
        if algorithm.is_in(place) {
            found[n] = *algorithm;
            n += 1;
        }
        rest = others;
    }
    found
}

const fn count(place: Place) -> usize {
    let (mut rest, mut count) = (BUILT, 0);
    while let [algorithm, others @ ..] = rest {
        count += algorithm.is_in(place) as usize;
        rest = others;
    }
    count
}
