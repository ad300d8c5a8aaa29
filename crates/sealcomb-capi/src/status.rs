//! What a call came to.

use std::ffi::{CStr, c_char};

use sealcomb::{Error, Verdict};

/// What became of a call or of a job. Errors are mistakes of the caller, found before anything is written, unless it
/// says otherwise.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum sealcomb_status {
    /// All went well; what was opened is verified.
    SEALCOMB_OK = 0,
    /// A job that was not done, since another one of its batch had a mistake in it.
    SEALCOMB_NOT_DONE = 1,
    /// A job whose algorithm is a bare cipher: it was decrypted, and there was nothing to verify.
    SEALCOMB_UNAUTHENTICATED = 2,
    /// The message did not verify, and its output is zeroed. Why is not told: an attacker could learn from it.
    SEALCOMB_FORGED = -1,
    /// The size in a job's first field is none that this library knows, or differs within a batch; or a reserved
    /// field is not 0.
    SEALCOMB_ERROR_JOB_SIZE = -2,
    /// A pointer is NULL although the length or count beside it is not 0, a length or the bytes of an array are over
    /// `SIZE_MAX / 2`, or an array is not aligned for its elements.
    SEALCOMB_ERROR_POINTER = -3,
    /// What a job writes overlaps something else of it, other than by being in place: `output == input`.
    SEALCOMB_ERROR_OVERLAP = -4,
    /// The key has another length than the algorithm takes: `sealcomb_algorithm_key_bytes`.
    SEALCOMB_ERROR_KEY_LENGTH = -5,
    /// The algorithm takes no nonce of this length.
    SEALCOMB_ERROR_NONCE_LENGTH = -6,
    /// The key, or its algorithm, takes no tag of this length.
    SEALCOMB_ERROR_TAG_LENGTH = -7,
    /// The message is shorter than the mode takes, or not of whole blocks where it takes those only.
    SEALCOMB_ERROR_MESSAGE_LENGTH = -8,
    /// The message is longer than the mode's limit.
    SEALCOMB_ERROR_MESSAGE_TOO_LONG = -9,
    /// There are more additional data, or more strings of them, than the mode's limit; or so much in pieces that there
    /// is no memory to join them.
    SEALCOMB_ERROR_AAD_TOO_LONG = -10,
    /// The output has less room than the result takes.
    SEALCOMB_ERROR_OUTPUT_TOO_SHORT = -11,
    /// The algorithm is a bare cipher and takes no additional data.
    SEALCOMB_ERROR_TAKES_NO_AAD = -12,
    /// The algorithm is a MAC: what it authenticates are the additional data, and there is nothing to encrypt.
    SEALCOMB_ERROR_TAKES_NO_MESSAGE = -13,
    /// No algorithm of this build has this id.
    SEALCOMB_ERROR_UNKNOWN_ALGORITHM = -14,
    /// No backend has this name.
    SEALCOMB_ERROR_UNKNOWN_BACKEND = -15,
    /// The backend exists, but this CPU, its operating system or this build lacks it.
    SEALCOMB_ERROR_NO_BACKEND = -16,
    /// A mistake of the library, which never comes knowingly: please report it. Outputs of what was to be opened are
    /// zeroed, others hold nothing of use.
    SEALCOMB_ERROR_INTERNAL = -100,
}

#[allow(clippy::enum_glob_use, reason = "each of them is translated below")]
use sealcomb_status::*;

impl From<Error> for sealcomb_status {
    fn from(error: Error) -> Self {
        match error {
            Error::KeyLength { .. } => SEALCOMB_ERROR_KEY_LENGTH,
            Error::NonceLength { .. } => SEALCOMB_ERROR_NONCE_LENGTH,
            Error::TagLength { .. } => SEALCOMB_ERROR_TAG_LENGTH,
            Error::MessageTooShort { .. } | Error::NotWholeBlocks { .. } => SEALCOMB_ERROR_MESSAGE_LENGTH,
            Error::MessageTooLong { .. } => SEALCOMB_ERROR_MESSAGE_TOO_LONG,
            Error::AadTooLong { .. } | Error::TooManyStrings { .. } => SEALCOMB_ERROR_AAD_TOO_LONG,
            Error::OutputTooShort { .. } => SEALCOMB_ERROR_OUTPUT_TOO_SHORT,
            Error::TakesNoAad => SEALCOMB_ERROR_TAKES_NO_AAD,
            Error::TakesNoMessage => SEALCOMB_ERROR_TAKES_NO_MESSAGE,
            Error::UnknownAlgorithm => SEALCOMB_ERROR_UNKNOWN_ALGORITHM,
            Error::UnknownBackend => SEALCOMB_ERROR_UNKNOWN_BACKEND,
            Error::BackendUnavailable { .. } | Error::BackendNotBuilt { .. } => SEALCOMB_ERROR_NO_BACKEND,
            // Jobs are always told how long a message may be; and what may be added is translated when it is.
            Error::CiphertextIsLonger | _ => SEALCOMB_ERROR_INTERNAL,
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
    const TEXTS: [(sealcomb_status, &CStr); 20] = [
        (SEALCOMB_OK, c"all went well"),
        (SEALCOMB_NOT_DONE, c"not done, since another job of the batch had a mistake in it"),
        (SEALCOMB_UNAUTHENTICATED, c"decrypted, with nothing to verify"),
        (SEALCOMB_FORGED, c"the message did not verify"),
        (
            SEALCOMB_ERROR_JOB_SIZE,
            c"a job of a size that this library does not know, or reserved fields that are not 0",
        ),
        (SEALCOMB_ERROR_POINTER, c"a pointer is NULL, or a length impossible"),
        (SEALCOMB_ERROR_OVERLAP, c"buffers of a job overlap"),
        (SEALCOMB_ERROR_KEY_LENGTH, c"a key of another length than the algorithm takes"),
        (SEALCOMB_ERROR_NONCE_LENGTH, c"a nonce of a length that the algorithm does not take"),
        (SEALCOMB_ERROR_TAG_LENGTH, c"a tag of a length that the key does not take"),
        (SEALCOMB_ERROR_MESSAGE_LENGTH, c"a message that is too short, or not of whole blocks"),
        (SEALCOMB_ERROR_MESSAGE_TOO_LONG, c"a message over the mode's limit"),
        (SEALCOMB_ERROR_AAD_TOO_LONG, c"additional data over the mode's limit"),
        (SEALCOMB_ERROR_OUTPUT_TOO_SHORT, c"an output with less room than the result takes"),
        (SEALCOMB_ERROR_TAKES_NO_AAD, c"additional data for a bare cipher"),
        (SEALCOMB_ERROR_TAKES_NO_MESSAGE, c"a message to encrypt for a MAC"),
        (SEALCOMB_ERROR_UNKNOWN_ALGORITHM, c"no algorithm has this id"),
        (SEALCOMB_ERROR_UNKNOWN_BACKEND, c"no backend has this name"),
        (SEALCOMB_ERROR_NO_BACKEND, c"this CPU or this build lacks the backend"),
        (SEALCOMB_ERROR_INTERNAL, c"a mistake of the library"),
    ];
    TEXTS
        .iter()
        .find(|(known, _)| *known as i32 == status)
        .map_or(c"no status of this library", |(_, text)| text)
}

/// A status as people read it, without a full stop, in memory that stays. Takes any number.
#[unsafe(no_mangle)]
pub extern "C" fn sealcomb_status_text(status: i32) -> *const c_char {
    text(status).as_ptr()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_status_has_a_text_of_its_own() {
        let known: Vec<_> = (-101..=3).map(text).filter(|text| *text != text_of_none()).collect();
        assert_eq!(known.len(), 20);
        assert!((1..known.len()).all(|i| !known[..i].contains(&known[i])));
    }

    fn text_of_none() -> &'static CStr {
        text(i32::MAX)
    }
}
