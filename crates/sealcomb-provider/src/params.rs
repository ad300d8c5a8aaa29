//! The lists of the parameters of cipher contexts.

use crate::openssl::Param;

const KEY_AND_IV_BYTES: [Param; 2] = [Param::number(c"keylen"), Param::number(c"ivlen")];
const IVS: [Param; 2] = [Param::bytes(c"iv"), Param::bytes(c"updated-iv")];
const AEAD_VALUES: [Param; 4] =
    [Param::number(c"taglen"), Param::bytes(c"tag"), Param::number(c"tlsaadpad"), Param::bytes(c"tlsivgen")];
const AEAD_SETTINGS: [Param; 4] =
    [Param::bytes(c"tag"), Param::bytes(c"tlsaad"), Param::bytes(c"tlsivfixed"), Param::bytes(c"tlsivinv")];
const PIPELINE_TAGS: [Param; 1] = [Param::pointer(c"pipeline-tag")];
const PIPELINE_VERDICTS: [Param; 1] = [Param::bytes(c"pipeline-verdicts")];
const PADDING: [Param; 2] = [Param::number(c"padding"), Param::number(c"num")];
const TLS_MAC: [Param; 1] = [Param::pointer(c"tls-mac")];
const TLS_CBC: [Param; 2] = [Param::number(c"tls-version"), Param::number(c"tls-mac-size")];

/// Modes without tags and padding.
pub(crate) static GETTABLE: [Param; 5] = list(&[&KEY_AND_IV_BYTES, &IVS]);
pub(crate) static SETTABLE: [Param; 2] = list(&[&[Param::number(c"keylen")]]);

/// AEADs.
pub(crate) static AEAD_GETTABLE: [Param; 9] = list(&[&KEY_AND_IV_BYTES, &IVS, &AEAD_VALUES]);
pub(crate) static AEAD_SETTABLE: [Param; 7] = list(&[&KEY_AND_IV_BYTES, &AEAD_SETTINGS]);

/// AEADs with pipelines.
pub(crate) static PIPELINED_GETTABLE: [Param; 11] =
    list(&[&KEY_AND_IV_BYTES, &IVS, &AEAD_VALUES, &PIPELINE_TAGS, &PIPELINE_VERDICTS]);
pub(crate) static PIPELINED_SETTABLE: [Param; 8] = list(&[&KEY_AND_IV_BYTES, &AEAD_SETTINGS, &PIPELINE_TAGS]);

/// GCM. As in OpenSSL, programs cannot set the size of its keys.
pub(crate) static GCM_SETTABLE: [Param; 7] =
    list(&[&[Param::number(c"ivlen")], &AEAD_SETTINGS, &PIPELINE_TAGS]);

/// CBC and CTR.
pub(crate) static PLAIN_GETTABLE: [Param; 8] = list(&[&KEY_AND_IV_BYTES, &IVS, &PADDING, &TLS_MAC]);
pub(crate) static PLAIN_SETTABLE: [Param; 5] = list(&[&PADDING, &TLS_CBC]);

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
