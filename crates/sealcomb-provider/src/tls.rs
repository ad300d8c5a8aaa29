//! Records of TLS 1.2 (RFC 5288, section 3; RFC 6655, section 3): a part of the IV, the text, the tag.

/// What of an IV is the connection's, what goes with each record, and a record's header.
pub(crate) const FIXED_IV: usize = 4;
pub(crate) const EXPLICIT_IV: usize = 8;
pub(crate) const HEADER: usize = 13;

/// The header of a record, whose length is that of the text in what is authenticated. The second part is whether
/// there can be such a record; OpenSSL takes the next call as a record's even where there can't.
pub(crate) fn header(bytes: &[u8], encrypts: bool, tag_bytes: usize) -> Option<([u8; HEADER], bool)> {
    let mut header: [u8; HEADER] = bytes.try_into().ok()?;
    let record = usize::from(u16::from_be_bytes([header[11], header[12]]));
    let around = EXPLICIT_IV + if encrypts { 0 } else { tag_bytes };
    let text = record.checked_sub(around).and_then(|text| u16::try_from(text).ok());
    if let Some(text) = text {
        header[11..].copy_from_slice(&text.to_be_bytes());
    }
    Some((header, text.is_some()))
}

/// A record's parts: the explicit part of the IV, the text, the tag.
pub(crate) fn parts(
    record: &mut [u8],
    tag_bytes: usize,
) -> Option<(&mut [u8; EXPLICIT_IV], &mut [u8], &mut [u8])> {
    let text_bytes = record.len().checked_sub(EXPLICIT_IV + tag_bytes)?;
    let (explicit, rest) = record.split_first_chunk_mut()?;
    let (text, tag) = rest.split_at_mut(text_bytes);
    Some((explicit, text, tag))
}
