//! Status codes.

use std::ffi::{CStr, c_char};

use sealcomb::{Error, Verdict};

/// Result of a call or of a job. `sealcomb_status_text` returns a description.
///
/// Values of 0 and above are not errors. `SEALCOMB_FORGED` is the only failure that depends on the data. The
/// `SEALCOMB_ERROR_` values are invalid arguments, detected before anything is written to an output or tag. The only
/// exception is `SEALCOMB_ERROR_INTERNAL`.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum sealcomb_status {
    /// Success. Opened messages are authentic.
    SEALCOMB_OK = 0,
    /// The job was not processed, because another job of the batch is invalid.
    SEALCOMB_NOT_DONE = 1,
    /// Decrypted with an unauthenticated cipher: nothing was verified.
    SEALCOMB_UNAUTHENTICATED = 2,
    /// Authentication failed: the message is not authentic, and its output is zeroed. There is deliberately no
    /// further detail, which could help an attacker.
    SEALCOMB_FORGED = -1,
    /// `size` of a structure is not supported by this library or differs within the batch, a reserved field is not 0,
    /// or a flag is unknown.
    SEALCOMB_ERROR_STRUCT_SIZE = -2,
    /// A required pointer is NULL, a buffer is NULL although its length or count is not 0, a length or the size of an
    /// array is over `SIZE_MAX / 2` bytes, an array is not aligned for its elements, or a job has both `aad_bytes`
    /// and `aad_parts`.
    SEALCOMB_ERROR_POINTER = -3,
    /// A buffer that a job writes overlaps another buffer of the job, other than `output == input`.
    SEALCOMB_ERROR_OVERLAP = -4,
    /// The key size is not `sealcomb_algorithm_key_bytes`.
    SEALCOMB_ERROR_KEY_LENGTH = -5,
    /// The nonce size is not `sealcomb_key_nonce_bytes`, or, when creating a key, outside of
    /// `sealcomb_algorithm_nonce_bytes_min` to `sealcomb_algorithm_nonce_bytes_max`.
    SEALCOMB_ERROR_NONCE_LENGTH = -6,
    /// The tag size is not `sealcomb_key_tag_bytes`, or, when creating a key, not one that the algorithm takes.
    SEALCOMB_ERROR_TAG_LENGTH = -7,
    /// The message is shorter than the mode's minimum, or not a multiple of 16 bytes for a mode that takes only whole
    /// blocks.
    SEALCOMB_ERROR_MESSAGE_LENGTH = -8,
    /// The message exceeds the mode's size limit.
    SEALCOMB_ERROR_MESSAGE_TOO_LONG = -9,
    /// The additional data exceeds the mode's limit of bytes or strings, or there is not enough memory to join its
    /// pieces.
    SEALCOMB_ERROR_AAD_TOO_LONG = -10,
    /// The output buffer is smaller than the result.
    SEALCOMB_ERROR_OUTPUT_TOO_SHORT = -11,
    /// There is additional data, but the algorithm is an unauthenticated cipher that takes none.
    SEALCOMB_ERROR_TAKES_NO_AAD = -12,
    /// There is an input, but the algorithm is a MAC: pass the message to authenticate as additional data.
    SEALCOMB_ERROR_TAKES_NO_MESSAGE = -13,
    /// The algorithm is NULL, for example because this build has none with the id that was looked up.
    SEALCOMB_ERROR_UNKNOWN_ALGORITHM = -14,
    /// No backend has this name.
    SEALCOMB_ERROR_UNKNOWN_BACKEND = -15,
    /// The backend exists, but the CPU does not support it, the operating system does not enable it, or this build
    /// does not contain it.
    SEALCOMB_ERROR_NO_BACKEND = -16,
    /// The key of XTS consists of two equal keys, under which XTS is not secure.
    SEALCOMB_ERROR_EQUAL_KEY_HALVES = -17,
    /// The algorithm has no streams, or the library was built without the feature `hazmat`.
    SEALCOMB_ERROR_NO_STREAMS = -18,
    /// The calls of a stream are in the wrong order: its message has not begun, has ended, or goes in the other
    /// direction, or additional data of GCM follows the message.
    SEALCOMB_ERROR_STREAM_ORDER = -19,
    /// The job has the flag `SEALCOMB_AAD_STRINGS`, but the algorithm is not AES-SIV.
    SEALCOMB_ERROR_TAKES_NO_STRINGS = -20,
    /// A bug in the library: please report it. Outputs of messages to open are zeroed; other outputs and tags are
    /// unspecified and must be discarded.
    SEALCOMB_ERROR_INTERNAL = -100,
}

#[allow(clippy::enum_glob_use, reason = "every status is mapped below")]
use sealcomb_status::*;

impl sealcomb_status {
    /// Returns the status of messages together, given those of two of them or of two groups: it is `SEALCOMB_OK` only
    /// if all are authentic, and `SEALCOMB_FORGED` if any is forged.
    #[inline(always)]
    pub(crate) fn or(self, other: Self) -> Self {
        match (self, other) {
            (SEALCOMB_FORGED, _) | (_, SEALCOMB_OK) => self,
            _ => other,
        }
    }
}

impl From<Error> for sealcomb_status {
    fn from(error: Error) -> Self {
        match error {
            Error::KeyLength { .. } => SEALCOMB_ERROR_KEY_LENGTH,
            Error::EqualKeyHalves { .. } => SEALCOMB_ERROR_EQUAL_KEY_HALVES,
            Error::NonceLength { .. } => SEALCOMB_ERROR_NONCE_LENGTH,
            Error::TagLength { .. } => SEALCOMB_ERROR_TAG_LENGTH,
            Error::MessageTooShort { .. } | Error::NotWholeBlocks { .. } => SEALCOMB_ERROR_MESSAGE_LENGTH,
            Error::MessageTooLong { .. } => SEALCOMB_ERROR_MESSAGE_TOO_LONG,
            Error::AadTooLong { .. } | Error::TooManyStrings { .. } => SEALCOMB_ERROR_AAD_TOO_LONG,
            Error::TakesNoStrings { .. } => SEALCOMB_ERROR_TAKES_NO_STRINGS,
            Error::OutputTooShort { .. } => SEALCOMB_ERROR_OUTPUT_TOO_SHORT,
            Error::TakesNoAad => SEALCOMB_ERROR_TAKES_NO_AAD,
            Error::TakesNoMessage => SEALCOMB_ERROR_TAKES_NO_MESSAGE,
            Error::NotInPieces => SEALCOMB_ERROR_NO_STREAMS,
            Error::MessageEnded | Error::AadAfterMessage => SEALCOMB_ERROR_STREAM_ORDER,
            Error::UnknownAlgorithm | Error::AlgorithmNotBuilt { .. } | Error::RestrictedAlgorithm { .. } => {
                SEALCOMB_ERROR_UNKNOWN_ALGORITHM
            }
            Error::UnknownBackend => SEALCOMB_ERROR_UNKNOWN_BACKEND,
            Error::BackendUnavailable { .. } | Error::BackendNotBuilt { .. } => SEALCOMB_ERROR_NO_BACKEND,
            // Jobs always pass the message size, and there are no runs of sectors, so these never occur. `Error` is
            // non-exhaustive: map new variants above.
            Error::CiphertextIsLonger | Error::NoSectors { .. } | _ => SEALCOMB_ERROR_INTERNAL,
        }
    }
}

impl From<Verdict> for sealcomb_status {
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Verified => SEALCOMB_OK,
            Verdict::Unauthenticated => SEALCOMB_UNAUTHENTICATED,
            Verdict::Forged => SEALCOMB_FORGED,
            Verdict::Pending => SEALCOMB_NOT_DONE,
        }
    }
}

fn text(status: i32) -> &'static CStr {
    const TEXTS: [(sealcomb_status, &CStr); 24] = [
        (SEALCOMB_OK, c"success"),
        (SEALCOMB_NOT_DONE, c"not processed: another job of the batch is invalid"),
        (SEALCOMB_UNAUTHENTICATED, c"decrypted but not authenticated: the algorithm has no tag"),
        (SEALCOMB_FORGED, c"authentication failed: the message is not authentic"),
        (
            SEALCOMB_ERROR_STRUCT_SIZE,
            c"structure of an unsupported size, or with an unknown flag; zero it and set size to its sizeof",
        ),
        (
            SEALCOMB_ERROR_POINTER,
            c"invalid pointer or length: NULL, misaligned, over SIZE_MAX / 2 bytes, or both aad and aad_parts",
        ),
        (SEALCOMB_ERROR_OVERLAP, c"overlapping buffers in a job; only output == input may overlap"),
        (SEALCOMB_ERROR_KEY_LENGTH, c"wrong key size; expected sealcomb_algorithm_key_bytes"),
        (
            SEALCOMB_ERROR_NONCE_LENGTH,
            c"wrong nonce size; see sealcomb_key_nonce_bytes",
        ),
        (SEALCOMB_ERROR_TAG_LENGTH, c"wrong tag size; see sealcomb_key_tag_bytes"),
        (SEALCOMB_ERROR_MESSAGE_LENGTH, c"message shorter than the mode's minimum, or not a multiple of 16 bytes"),
        (SEALCOMB_ERROR_MESSAGE_TOO_LONG, c"message over the mode's limit"),
        (SEALCOMB_ERROR_AAD_TOO_LONG, c"additional data over the mode's limit, or not enough memory to join it"),
        (SEALCOMB_ERROR_OUTPUT_TOO_SHORT, c"output buffer smaller than the result"),
        (SEALCOMB_ERROR_TAKES_NO_AAD, c"additional data given; an unauthenticated cipher takes none"),
        (SEALCOMB_ERROR_TAKES_NO_MESSAGE, c"input given to a MAC; pass what it authenticates as additional data"),
        (SEALCOMB_ERROR_UNKNOWN_ALGORITHM, c"unknown algorithm"),
        (SEALCOMB_ERROR_UNKNOWN_BACKEND, c"unknown backend; expected a name from sealcomb_backend_at"),
        (SEALCOMB_ERROR_NO_BACKEND, c"backend not supported by the CPU, not enabled by the OS, or not in this build"),
        (SEALCOMB_ERROR_EQUAL_KEY_HALVES, c"key with equal halves; XTS requires two different keys"),
        (SEALCOMB_ERROR_NO_STREAMS, c"no streams: not for this algorithm, or not in this build (feature hazmat)"),
        (SEALCOMB_ERROR_STREAM_ORDER, c"calls of a stream in the wrong order; see SEALCOMB_ERROR_STREAM_ORDER"),
        (SEALCOMB_ERROR_TAKES_NO_STRINGS, c"associated strings given; only AES-SIV takes them"),
        (SEALCOMB_ERROR_INTERNAL, c"internal error: please report this bug"),
    ];
    TEXTS.iter().find(|(known, _)| *known as i32 == status).map_or(c"unknown status", |(_, text)| text)
}

/// Returns a description of a status, for error messages.
///
/// @param status a `sealcomb_status`, or any other number
/// @return static NUL-terminated string in English without a final period; `"unknown status"` for any other
/// number
#[unsafe(no_mangle)]
pub extern "C" fn sealcomb_status_text(status: i32) -> *const c_char {
    text(status).as_ptr()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_status_has_a_distinct_text() {
        let known: Vec<_> = (-101..=3).map(text).filter(|text| *text != unknown()).collect();
        assert_eq!(known.len(), 24);
        assert!((1..known.len()).all(|i| !known[..i].contains(&known[i])));
    }

    fn unknown() -> &'static CStr {
        text(i32::MAX)
    }
}
