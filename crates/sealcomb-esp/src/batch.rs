//! Sealing and opening many packets: RFC 4303, sections 3.3 and 3.4.
//!
//! ```text
//! seal: frame all; encrypt all; write the ICVs that the cipher did not
//! open: verify all, decrypting with combined modes; decrypt what is verified with others
//! ```
//!
//! The packets may belong to different associations. All their AES work goes through batches, whatever the key.

use std::fmt;

use arrayvec::ArrayVec;
use hmac::{Hmac, Mac};
use sealcomb::{BatchError, OpenJob, SealJob, Verdict, open_batch, seal_batch};
use sha2::Sha256;

use crate::packet::{HALF_BYTES, HEADER_BYTES, Sequence};
use crate::suite::{Auth, Suite};

/// Packets that are worked on at once; what a batch needs for them lies on the stack.
const AT_ONCE: usize = 128;
/// The longest ICV.
const ICV_BYTES: usize = 16;

/// A few bytes, joined of parts: up to the 16 of a block.
type Short = ArrayVec<u8, 16>;

fn joined(parts: &[&[u8]]) -> Short {
    parts.iter().flat_map(|part| part.iter().copied()).collect()
}

/// A mode's nonce, made of what the association and the packet hold of it.
fn nonce(suite: &Suite, iv: &[u8]) -> Short {
    match suite {
        Suite::Aead { salt, .. } => joined(&[salt, iv]),
        Suite::Cbc { .. } => joined(&[iv]),
        Suite::Ctr { nonce, .. } => joined(&[nonce, iv, &1_u32.to_be_bytes()]),
    }
}

/// What the combined modes authenticate beside the body.
fn additional_data(esp: &[u8], sequence: Sequence) -> Short {
    let (spi, low) = esp[..HEADER_BYTES].split_at(4);
    match sequence.high() {
        None => joined(&[spi, low]),
        Some(high) => joined(&[spi, &high, low]),
    }
}

/// What a cipher is given beside the body.
struct Given {
    nonce: Short,
    additional_data: Short,
}

impl Given {
    fn to(suite: &Suite, sequence: Sequence, esp: &[u8]) -> Self {
        let iv = &esp[HEADER_BYTES..suite.layout().inner_at()];
        Self { nonce: nonce(suite, iv), additional_data: additional_data(esp, sequence) }
    }
}

/// A packet to seal.
pub struct Outgoing<'a> {
    /// Of its association.
    pub suite: &'a Suite,
    /// Of its association.
    pub spi: u32,
    /// Its number, which no other packet under this key has or will have: the counter modes make the nonce of it.
    pub sequence: Sequence,
    /// How long the inner packet is.
    pub inner_bytes: usize,
    /// The whole ESP packet, as long as [`Layout::esp_bytes`](crate::Layout::esp_bytes) says, in which the inner packet
    /// lies at [`Layout::inner_at`](crate::Layout::inner_at). The rest is written.
    pub esp: &'a mut [u8],
}

/// Why packets could not be sealed. Their buffers are of no use then, and must not be sent.
#[derive(Debug)]
pub enum SealError {
    /// A buffer is not as long as its packet. Nothing was written.
    Length,
    /// The system has no random numbers for the IVs of CBC.
    Random(sealcomb_random::Error),
    /// The library refused a packet.
    Batch(BatchError),
}

impl fmt::Display for SealError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Length => f.write_str("a buffer is not as long as its ESP packet"),
            Self::Random(error) => write!(f, "no random numbers for CBC IVs: {error}"),
            Self::Batch(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for SealError {}

impl From<BatchError> for SealError {
    fn from(error: BatchError) -> Self {
        Self::Batch(error)
    }
}

/// Turns inner packets into ESP packets, each in its buffer.
///
/// # Errors
/// [`SealError`], for all of them.
pub fn seal(packets: &mut [Outgoing<'_>]) -> Result<(), SealError> {
    let fits = |p: &Outgoing<'_>| p.esp.len() == p.suite.layout().esp_bytes(p.inner_bytes);
    if !packets.iter().all(fits) {
        return Err(SealError::Length);
    }
    for some in packets.chunks_mut(AT_ONCE) {
        for packet in some.iter_mut() {
            packet.suite.layout().frame(packet.esp, packet.spi, packet.sequence, packet.inner_bytes);
        }
        write_ivs(some)?;
        encrypt(some)?;
        authenticate(some)?;
    }
    Ok(())
}

/// In the counter modes an IV must never come twice under a key, and the sequence number never does: all of its 64 bits,
/// whether they are sent or not. In CBC it is not enough that none comes twice, nobody may predict it.
fn write_ivs(packets: &mut [Outgoing<'_>]) -> Result<(), SealError> {
    let mut random = [[0; 16]; AT_ONCE];
    let cbc = packets.iter().filter(|packet| matches!(packet.suite, Suite::Cbc { .. })).count();
    sealcomb_random::fill(random[..cbc].as_flattened_mut()).map_err(SealError::Random)?;
    let mut random = random.iter();
    for packet in packets {
        let iv = &mut packet.esp[HEADER_BYTES..packet.suite.layout().inner_at()];
        match (packet.suite, random.as_slice().first()) {
            (Suite::Cbc { .. }, Some(block)) => {
                iv.copy_from_slice(block);
                random.next();
            }
            _ => iv.copy_from_slice(&packet.sequence.number().to_be_bytes()),
        }
    }
    Ok(())
}

fn encrypt(packets: &mut [Outgoing<'_>]) -> Result<(), SealError> {
    let given: ArrayVec<Given, AT_ONCE> =
        packets.iter().map(|packet| Given::to(packet.suite, packet.sequence, packet.esp)).collect();
    let mut jobs: ArrayVec<SealJob<'_>, AT_ONCE> = ArrayVec::new();
    for (Outgoing { suite, esp, .. }, Given { nonce, additional_data }) in packets.iter_mut().zip(&given) {
        let layout = suite.layout();
        let icv_at = esp.len() - layout.icv;
        let (covered, icv) = esp.split_at_mut(icv_at);
        let body = &mut covered[layout.inner_at()..];
        jobs.push(match suite {
            Suite::Aead { key, .. } => SealJob::in_place(key, nonce, &additional_data[..], body, icv),
            Suite::Cbc { key, .. } | Suite::Ctr { key, .. } => {
                SealJob::in_place(key, nonce, b"", body, &mut [])
            }
        });
    }
    Ok(seal_batch(&mut jobs)?)
}

/// Writes the ICVs of those suites whose cipher does not.
fn authenticate(packets: &mut [Outgoing<'_>]) -> Result<(), SealError> {
    let mut tags = [[0; ICV_BYTES]; AT_ONCE];
    let mut cmacs: ArrayVec<SealJob<'_>, AT_ONCE> = ArrayVec::new();
    for (Outgoing { suite, sequence, esp, .. }, tag) in packets.iter_mut().zip(&mut tags) {
        let icv_at = esp.len() - suite.layout().icv;
        match suite.auth() {
            None => {}
            Some(Auth::HmacSha256(hmac)) => {
                let tag = hmac_of(hmac, &esp[..icv_at], *sequence).finalize().into_bytes();
                esp[icv_at..].copy_from_slice(&tag[..ICV_BYTES]);
            }
            Some(Auth::AesCmac(key)) => {
                let covered = with_high_half(esp, icv_at, *sequence);
                cmacs.push(SealJob::mac(key, &[], covered, &mut tag[..key.tag_bytes()]));
            }
        }
    }
    seal_batch(&mut cmacs)?;
    drop(cmacs);
    for (Outgoing { suite, esp, .. }, tag) in packets.iter_mut().zip(&tags) {
        if let Some(Auth::AesCmac(key)) = suite.auth() {
            let icv_at = esp.len() - key.tag_bytes();
            esp[icv_at..].copy_from_slice(&tag[..key.tag_bytes()]);
        }
    }
    Ok(())
}

fn hmac_of(keyed: &Hmac<Sha256>, covered: &[u8], sequence: Sequence) -> Hmac<Sha256> {
    let hmac = keyed.clone().chain_update(covered);
    match sequence.high() {
        None => hmac,
        Some(high) => hmac.chain_update(high),
    }
}

/// What an integrity algorithm covers, in one piece: the high half of the number, if there is one that is not sent, takes
/// the place of the ICV.
fn with_high_half(esp: &mut [u8], icv_at: usize, sequence: Sequence) -> &[u8] {
    match sequence.high() {
        None => &esp[..icv_at],
        Some(high) => {
            let end = icv_at + HALF_BYTES;
            esp[icv_at..end].copy_from_slice(&high);
            &esp[..end]
        }
    }
}

/// A packet to open.
pub struct Incoming<'a> {
    suite: &'a Suite,
    sequence: Sequence,
    esp: &'a mut [u8],
    body: &'a mut [u8],
    verified: bool,
}

impl<'a> Incoming<'a> {
    /// The ESP packet `esp` of an association with this suite, and where its body goes: as many bytes as
    /// [`Layout::body_bytes`](crate::Layout::body_bytes) says. The ICV in `esp` may be overwritten.
    ///
    /// # Panics
    /// Where either length is not possible.
    pub fn new(suite: &'a Suite, sequence: Sequence, esp: &'a mut [u8], body: &'a mut [u8]) -> Self {
        assert_eq!(suite.layout().body_bytes(esp.len()), Some(body.len()), "a body of another length");
        Self { suite, sequence, esp, body, verified: false }
    }

    /// Whether its ICV is right; before [`open`](fn@open) it never is. Only then does the body hold anything.
    pub fn is_verified(&self) -> bool {
        self.verified
    }
}

/// Verifies ESP packets and decrypts those that verify into their bodies. The bodies of others hold no plaintext.
///
/// # Errors
/// The library refused a packet. None is verified then.
pub fn open(packets: &mut [Incoming<'_>]) -> Result<(), BatchError> {
    for some in packets.chunks_mut(AT_ONCE) {
        let given: ArrayVec<Given, AT_ONCE> =
            some.iter().map(|packet| Given::to(packet.suite, packet.sequence, packet.esp)).collect();
        verify(some, &given)?;
        decrypt(some, &given)?;
    }
    Ok(())
}

/// Verifies every packet; those of combined modes are decrypted by it.
fn verify(packets: &mut [Incoming<'_>], given: &[Given]) -> Result<(), BatchError> {
    let mut icvs = [[0; ICV_BYTES]; AT_ONCE];
    let mut jobs: ArrayVec<OpenJob<'_>, AT_ONCE> = ArrayVec::new();
    let mut outcomes: ArrayVec<&mut bool, AT_ONCE> = ArrayVec::new(); // beside `jobs`
    for ((packet, given), kept) in packets.iter_mut().zip(given).zip(&mut icvs) {
        let Incoming { suite, sequence, esp, body, verified } = packet;
        let suite: &Suite = suite;
        let layout = suite.layout();
        let icv_at = esp.len() - layout.icv;
        match (suite, suite.auth()) {
            (Suite::Aead { key, .. }, _) => {
                let (covered, icv) = esp.split_at(icv_at);
                let sealed = &covered[layout.inner_at()..];
                let aad = &given.additional_data[..];
                let job = OpenJob::new(key, &given.nonce, aad, sealed, body, icv)
                    .map_err(|error| BatchError { index: jobs.len(), error })?;
                jobs.push(job);
                outcomes.push(verified);
            }
            (_, Some(Auth::HmacSha256(hmac))) => {
                let (covered, icv) = esp.split_at(icv_at);
                *verified = hmac_of(hmac, covered, *sequence).verify_truncated_left(icv).is_ok();
            }
            (_, Some(Auth::AesCmac(key))) => {
                let icv = &mut kept[..layout.icv];
                icv.copy_from_slice(&esp[icv_at..]);
                jobs.push(OpenJob::mac(key, &[], with_high_half(esp, icv_at, *sequence), icv));
                outcomes.push(verified);
            }
            (_, None) => {}
        }
    }
    open_batch(&mut jobs)?;
    for (job, verified) in jobs.iter().zip(outcomes) {
        *verified = job.verdict() == Verdict::Verified;
    }
    Ok(())
}

/// Decrypts the verified packets of those suites whose cipher did not verify.
fn decrypt(packets: &mut [Incoming<'_>], given: &[Given]) -> Result<(), BatchError> {
    let mut jobs: ArrayVec<OpenJob<'_>, AT_ONCE> = ArrayVec::new();
    for (packet, Given { nonce, .. }) in packets.iter_mut().zip(given) {
        let Incoming { suite, esp, body, verified, .. } = packet;
        let suite: &Suite = suite;
        if let (true, Suite::Cbc { key, .. } | Suite::Ctr { key, .. }) = (*verified, suite) {
            let layout = suite.layout();
            let sealed = &esp[layout.inner_at()..esp.len() - layout.icv];
            let job = OpenJob::new(key, nonce, b"", sealed, body, &[])
                .map_err(|error| BatchError { index: jobs.len(), error })?;
            jobs.push(job);
        }
    }
    open_batch(&mut jobs)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{Layout, NoInner, Transform, inner};

    fn packet(bytes: usize) -> Vec<u8> {
        let mut packet = vec![0xab; bytes.max(20)];
        packet[0] = 0x45;
        let len = packet.len() as u16;
        packet[2..4].copy_from_slice(&len.to_be_bytes());
        packet
    }

    fn suites() -> Vec<Suite> {
        let suite = |transform: Transform| {
            let keymat: Vec<u8> = (0..transform.keymat_bytes()).map(|i| i as u8).collect();
            transform.suite(&keymat).unwrap()
        };
        let mut suites: Vec<Suite> = Transform::ALL.into_iter().map(suite).collect();
        let cmac = sealcomb::Key::new(sealcomb::Algorithm::by_id("aes128-cmac").unwrap(), &[3; 16]).unwrap();
        let key = sealcomb::Key::new(sealcomb::Algorithm::by_id("aes128-cbc").unwrap(), &[4; 16]).unwrap();
        let auth = Auth::AesCmac(Box::new(cmac.with_tag_bytes(12).unwrap()));
        suites.push(Suite::Cbc { key, auth });
        suites
    }

    fn laid_out(layout: Layout, inner: &[u8]) -> Vec<u8> {
        let mut esp = vec![0; layout.esp_bytes(inner.len())];
        esp[layout.inner_at()..][..inner.len()].copy_from_slice(inner);
        esp
    }

    /// Opens packets of suite `i % suites`, whose numbers are those given.
    fn opened(suites: &[Suite], numbers: &[Sequence], sealed: &[Vec<u8>]) -> Vec<Option<Vec<u8>>> {
        let mut sealed = sealed.to_vec();
        let bytes = |(i, esp): (usize, &Vec<u8>)| {
            vec![0; suites[i % suites.len()].layout().body_bytes(esp.len()).unwrap()]
        };
        let mut bodies: Vec<Vec<u8>> = sealed.iter().enumerate().map(bytes).collect();
        let mut burst: Vec<Incoming<'_>> = sealed
            .iter_mut()
            .zip(&mut bodies)
            .enumerate()
            .map(|(i, (esp, body))| Incoming::new(&suites[i % suites.len()], numbers[i], esp, body))
            .collect();
        open(&mut burst).unwrap();
        let verified: Vec<bool> = burst.iter().map(Incoming::is_verified).collect();
        let inner = |(verified, body): (bool, &Vec<u8>)| verified.then(|| inner(body).unwrap().to_vec());
        verified.into_iter().zip(&bodies).map(inner).collect()
    }

    proptest! {
        #[test]
        fn a_burst_of_many_suites_comes_back_and_forged_packets_do_not(
            lengths in prop::collection::vec(20_usize..1500, 1..200),
            extended in any::<bool>(),
            forged in prop::collection::vec(any::<(prop::sample::Index, u8)>(), 0..5),
        ) {
            let suites = suites();
            let number = |i: usize| {
                if extended { Sequence::Extended((7 << 32) + i as u64) } else { Sequence::Short(i as u32 + 1) }
            };
            let numbers: Vec<Sequence> = (0..lengths.len()).map(number).collect();
            let inners: Vec<Vec<u8>> = lengths.iter().map(|bytes| packet(*bytes)).collect();
            let suite = |i: usize| &suites[i % suites.len()];
            let mut sealed: Vec<Vec<u8>> =
                inners.iter().enumerate().map(|(i, inner)| laid_out(suite(i).layout(), inner)).collect();
            let mut burst: Vec<Outgoing<'_>> = sealed.iter_mut().enumerate().map(|(i, esp)| Outgoing {
                suite: suite(i), spi: 256 + i as u32, sequence: numbers[i], inner_bytes: inners[i].len(), esp,
            }).collect();
            seal(&mut burst).unwrap();
            let mut expected: Vec<Option<Vec<u8>>> = inners.iter().cloned().map(Some).collect();
            for (index, bits) in forged {
                let which = index.index(sealed.len());
                let at = index.index(sealed[which].len());
                if expected[which].is_some() && bits != 0 {
                    sealed[which][at] ^= bits;
                    expected[which] = None;
                }
            }
            prop_assert_eq!(opened(&suites, &numbers, &sealed), expected);
        }
    }

    #[test]
    fn the_half_that_is_not_sent_is_verified() {
        let suites = suites();
        for (i, suite) in suites.iter().enumerate() {
            let inner = packet(100);
            let mut esp = laid_out(suite.layout(), &inner);
            let sequence = Sequence::Extended(5 << 32 | 9);
            seal(&mut [Outgoing { suite, spi: 300, sequence, inner_bytes: 100, esp: &mut esp }]).unwrap();
            let one = std::slice::from_ref(suite);
            assert_eq!(opened(one, &[sequence], &[esp.clone()]), [Some(inner)], "{i}");
            for wrong in [Sequence::Extended(4 << 32 | 9), Sequence::Short(9)] {
                assert_eq!(opened(one, &[wrong], &[esp.clone()]), [None], "{i}");
            }
        }
    }

    #[test]
    fn a_forged_packet_leaves_no_plaintext() {
        for suite in suites() {
            let mut esp = laid_out(suite.layout(), &packet(64));
            let sequence = Sequence::Short(1);
            seal(&mut [Outgoing { suite: &suite, spi: 300, sequence, inner_bytes: 64, esp: &mut esp }])
                .unwrap();
            *esp.last_mut().unwrap() ^= 1;
            let mut body = vec![0; suite.layout().body_bytes(esp.len()).unwrap()];
            let mut burst = [Incoming::new(&suite, sequence, &mut esp, &mut body)];
            open(&mut burst).unwrap();
            assert!(!burst[0].is_verified());
            assert!(body.iter().all(|byte| *byte == 0));
        }
    }

    #[test]
    fn a_buffer_of_another_length_is_refused() {
        let suites = suites();
        let mut esp = vec![0; suites[0].layout().esp_bytes(40) + 1];
        let packet = Outgoing {
            suite: &suites[0],
            spi: 300,
            sequence: Sequence::Short(1),
            inner_bytes: 40,
            esp: &mut esp,
        };
        assert!(matches!(seal(&mut [packet]), Err(SealError::Length)));
    }

    #[test]
    fn a_body_that_is_no_packet_has_no_inner_one() {
        assert_eq!(inner(&[0, 59]), Err(NoInner::Dummy));
        assert_eq!(inner(&[0x45, 0, 4]), Err(NoInner::Malformed));
    }
}
