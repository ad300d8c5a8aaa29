//! TLS 1.2 records (RFC 5288, section 3; RFC 6655, section 3): the explicit part of the nonce, the text, the tag.

/// Size in bytes of the part of the nonce that is fixed for a connection.
pub(crate) const FIXED_IV: usize = 4;
/// Size in bytes of the explicit part of the nonce, which each record contains.
pub(crate) const EXPLICIT_IV: usize = 8;
/// Size in bytes of a record's additional data: sequence number, type, version and length.
pub(crate) const HEADER: usize = 13;

/// Returns the additional data of a record, with the text's length in place of the record's, and whether the record
/// is long enough. Even if it is too short, the next call is treated as that of a record, as in OpenSSL.
pub(crate) fn header(bytes: &[u8], encrypts: bool, tag_bytes: usize) -> Option<([u8; HEADER], bool)> {
    let mut header: [u8; HEADER] = bytes.try_into().ok()?;
    let record = usize::from(u16::from_be_bytes([header[11], header[12]]));
    let overhead = EXPLICIT_IV + if encrypts { 0 } else { tag_bytes };
    let text = record.checked_sub(overhead).and_then(|text| u16::try_from(text).ok());
    if let Some(text) = text {
        header[11..].copy_from_slice(&text.to_be_bytes());
    }
    Some((header, text.is_some()))
}

/// Splits a record into the explicit part of the nonce, the text and the tag.
pub(crate) fn parts(
    record: &mut [u8],
    tag_bytes: usize,
) -> Option<(&mut [u8; EXPLICIT_IV], &mut [u8], &mut [u8])> {
    let text_bytes = record.len().checked_sub(EXPLICIT_IV + tag_bytes)?;
    let (explicit, rest) = record.split_first_chunk_mut()?;
    let (text, tag) = rest.split_at_mut(text_bytes);
    Some((explicit, text, tag))
}
