//! Messages in one piece. CCM needs the length of a message, and SIV and GCM-SIV need the whole message, before the
//! first block can be processed. In XTS, every piece is a message without a tag.

use sealcomb::{Aad, Key, OpenJob, SealJob, open_jobs, seal_jobs};

use crate::data::Data;
use crate::errors::{Outcome, Refused};
use crate::iv::TAG_BYTES;

/// Seals a message. Returns the tag in the first bytes of a block. Refuses invalid sizes.
pub(crate) fn seal(
    key: &Key,
    iv: &[u8],
    aad: &[impl AsRef<[u8]>],
    data: Data<'_>,
) -> Outcome<[u8; TAG_BYTES]> {
    let strings: Vec<&[u8]> = aad.iter().map(AsRef::as_ref).collect();
    let mut block = [0; TAG_BYTES];
    let (aad, tag) = (additional(key, &strings), &mut block[..key.tag_bytes()]);
    let job = match data {
        Data::InPlace(data) => SealJob::in_place(key, iv, aad, data, tag),
        Data::Apart(input, output) => SealJob::new(key, iv, aad, input, output, tag)?,
    };
    seal_jobs(&mut [job])?;
    Ok(block)
}

/// Returns the additional data in these pieces: separate strings for SIV.
fn additional<'a>(key: &Key, pieces: &'a [&'a [u8]]) -> Aad<'a> {
    match pieces {
        _ if key.algorithm().strings() => Aad::strings(pieces),
        [] => Aad::from(b""),
        [one] => Aad::from(*one),
        several => Aad::joined(several),
    }
}

/// Opens a message. Refuses a forged one, whose output is zeroed, and invalid sizes.
pub(crate) fn open(key: &Key, iv: &[u8], aad: &[impl AsRef<[u8]>], data: Data<'_>, tag: &[u8]) -> Outcome {
    let strings: Vec<&[u8]> = aad.iter().map(AsRef::as_ref).collect();
    let aad = additional(key, &strings);
    let mut jobs = [match data {
        Data::InPlace(data) => OpenJob::in_place(key, iv, aad, data, tag),
        Data::Apart(input, output) => OpenJob::new(key, iv, aad, input, output, tag)?,
    }];
    let opened = open_jobs(&mut jobs)?;
    if opened.forged() == 0 { Ok(()) } else { Err(Refused::SILENTLY) }
}
