//! Messages in one piece. CCM needs the length of a message, and SIV and GCM-SIV need the whole message, before the
//! first block can be processed. In XTS, every piece is a message without a tag.

use sealcomb::{Aad, Key, OpenJob, Schedule, SealJob, Verdict, open_jobs_with, seal_jobs_with};

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
    let (aad, tag) = (Aad::strings(&strings), &mut block[..key.tag_bytes()]);
    let job = match data {
        Data::InPlace(data) => SealJob::in_place(key, iv, aad, data, tag),
        Data::Apart(input, output) => SealJob::new(key, iv, aad, input, output, tag)?,
    };
    seal_jobs_with(Schedule::Single, &mut [job])?;
    Ok(block)
}

/// Opens a message. Refuses a forged one, whose output is zeroed, and invalid sizes.
pub(crate) fn open(key: &Key, iv: &[u8], aad: &[impl AsRef<[u8]>], data: Data<'_>, tag: &[u8]) -> Outcome {
    let strings: Vec<&[u8]> = aad.iter().map(AsRef::as_ref).collect();
    let aad = Aad::strings(&strings);
    let mut jobs = [match data {
        Data::InPlace(data) => OpenJob::in_place(key, iv, aad, data, tag),
        Data::Apart(input, output) => OpenJob::new(key, iv, aad, input, output, tag)?,
    }];
    open_jobs_with(Schedule::Single, &mut jobs)?;
    match jobs[0].verdict() {
        Verdict::Verified | Verdict::Unauthenticated => Ok(()),
        _ => Err(Refused::SILENTLY),
    }
}
