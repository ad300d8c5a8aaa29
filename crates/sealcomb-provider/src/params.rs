//! The lists of the parameters of cipher contexts, and a value that several modes take.

use crate::errors::{Outcome, Refused};
use crate::iv::TAG_BYTES as WHOLE_TAG;
use crate::openssl::Param;

const KEY_BYTES: [Param; 1] = [Param::number(c"keylen")];
const IV_BYTES: [Param; 1] = [Param::number(c"ivlen")];
const IVS: [Param; 2] = [Param::bytes(c"iv"), Param::bytes(c"updated-iv")];
const TAG: [Param; 1] = [Param::bytes(c"tag")];
const TAG_BYTES: [Param; 1] = [Param::number(c"taglen")];
const RECORD_VALUES: [Param; 2] = [Param::number(c"tlsaadpad"), Param::bytes(c"tlsivgen")];
const RECORD_SETTINGS: [Param; 3] =
    [Param::bytes(c"tlsaad"), Param::bytes(c"tlsivfixed"), Param::bytes(c"tlsivinv")];
const PIPELINE_TAGS: [Param; 1] = [Param::pointer(c"pipeline-tag")];
const PIPELINE_VERDICTS: [Param; 1] = [Param::bytes(c"sealcomb-pipeline-verdicts")];
const PADDING: [Param; 2] = [Param::number(c"padding"), Param::number(c"num")];
const TLS_MAC: [Param; 1] = [Param::pointer(c"tls-mac")];
const TLS_CBC: [Param; 2] = [Param::number(c"tls-version"), Param::number(c"tls-mac-size")];

/// XTS.
pub(crate) static XTS_GETTABLE: [Param; 5] = list(&[&KEY_BYTES, &IV_BYTES, &IVS]);
pub(crate) static XTS_SETTABLE: [Param; 2] = list(&[&KEY_BYTES]);

/// SIV.
pub(crate) static SIV_GETTABLE: [Param; 4] = list(&[&KEY_BYTES, &TAG_BYTES, &TAG]);
pub(crate) static SIV_SETTABLE: [Param; 3] = list(&[&KEY_BYTES, &TAG]);

/// OCB and GCM-SIV.
pub(crate) static AEAD_GETTABLE: [Param; 9] =
    list(&[&KEY_BYTES, &IV_BYTES, &IVS, &TAG_BYTES, &TAG, &PIPELINE_TAGS, &PIPELINE_VERDICTS]);
pub(crate) static AEAD_SETTABLE: [Param; 5] = list(&[&KEY_BYTES, &IV_BYTES, &TAG, &PIPELINE_TAGS]);

/// GCM and CCM, which have TLS records. As in OpenSSL, programs cannot set the size of their keys.
pub(crate) static RECORD_GETTABLE: [Param; 11] = list(&[
    &KEY_BYTES,
    &IV_BYTES,
    &IVS,
    &TAG_BYTES,
    &TAG,
    &RECORD_VALUES,
    &PIPELINE_TAGS,
    &PIPELINE_VERDICTS,
]);
pub(crate) static RECORD_SETTABLE: [Param; 7] = list(&[&IV_BYTES, &TAG, &RECORD_SETTINGS, &PIPELINE_TAGS]);

/// CBC and CTR.
pub(crate) static PLAIN_GETTABLE: [Param; 8] = list(&[&KEY_BYTES, &IV_BYTES, &IVS, &PADDING, &TLS_MAC]);
pub(crate) static PLAIN_SETTABLE: [Param; 5] = list(&[&PADDING, &TLS_CBC]);

/// Returns the value of a parameter that must be a tag of full size.
pub(crate) fn whole_tag(param: &Param) -> Outcome<[u8; WHOLE_TAG]> {
    param.octets()?.try_into().map_err(|_| Refused::FAILED_TO_GET_PARAMETER)
}

/// Joins lists, and terminates the result, which must have a length of `N`.
const fn list<const N: usize>(parts: &[&[Param]]) -> [Param; N] {
    let mut joined = [Param::END; N];
    let (mut count, mut part) = (0, 0);
    while part < parts.len() {
        let mut entry = 0;
        while entry < parts[part].len() {
            joined[count] = parts[part][entry];
            count += 1;
            entry += 1;
        }
        part += 1;
    }
    assert!(count + 1 == N, "the list is shorter than its type");
    joined
}
