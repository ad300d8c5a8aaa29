//! Sealing and opening many packets: RFC 4303, sections 3.3 and 3.4.
//!
//! ```text
//! seal: write headers and trailers; encrypt; write the ICVs of separate integrity algorithms
//! open: verify (combined modes also decrypt); decrypt the verified packets of the other modes; zero the forged ones
//! ```
//!
//! All of it happens in the packets' own buffers.
//!
//! Each step handles up to 128 packets at a time, as one batch for AES, whatever associations and keys they belong
//! to.

use std::fmt;

use arrayvec::ArrayVec;
use hmac::{Hmac, Mac};
use sealcomb::{BatchError, OpenJob, PacketLayout, SealJob, open_jobs, seal_jobs};
use sha2::Sha256;

use crate::packet::{HALF_BYTES, HEADER_BYTES, Sequence};
use crate::suite::{Auth, Suite};

/// Maximum number of packets per batch. The batch's jobs, nonces and tags are on the stack.
const AT_ONCE: usize = 128;
/// Size of the longest ICV.
const ICV_BYTES: usize = 16;

/// A nonce or additional data, at most 16 bytes.
type Short = ArrayVec<u8, 16>;

fn joined(parts: &[&[u8]]) -> Short {
    parts.iter().flat_map(|part| part.iter().copied()).collect()
}

/// The mode's nonce or IV, assembled from the association's part and the packet's IV.
fn nonce(suite: &Suite, iv: &[u8]) -> Short {
    match suite {
        Suite::Aead { salt, .. } => joined(&[salt, iv]),
        Suite::Cbc { .. } => joined(&[iv]),
        Suite::Ctr { nonce, .. } => joined(&[nonce, iv, &1_u32.to_be_bytes()]),
    }
}

/// The additional data of combined modes: SPI and sequence number, including a high half that is not sent.
fn additional_data(esp: &[u8], sequence: Sequence) -> Short {
    let (spi, low) = esp[..HEADER_BYTES].split_at(4);
    match sequence.high() {
        None => joined(&[spi, low]),
        Some(high) => joined(&[spi, &high, low]),
    }
}

/// A packet's inputs to the cipher, apart from key and body.
struct PacketInputs {
    nonce: Short,
    additional_data: Short,
}

impl PacketInputs {
    fn new(suite: &Suite, sequence: Sequence, esp: &[u8]) -> Self {
        let iv = &esp[HEADER_BYTES..suite.layout().inner_at()];
        Self { nonce: nonce(suite, iv), additional_data: additional_data(esp, sequence) }
    }
}

/// Returns where the library finds the body and, in combined modes, the ICV. It gets the additional data separately,
/// because the high half of an extended sequence number is not in the packet.
fn packet_layout(suite: &Suite) -> PacketLayout {
    PacketLayout::new().gap(suite.layout().inner_at())
}

/// A packet to seal.
pub struct Outgoing<'a> {
    /// The association's suite.
    pub suite: &'a Suite,
    /// The association's SPI.
    pub spi: u32,
    /// The packet's sequence number. It must be unique under this key: counter modes build the nonce from it.
    pub sequence: Sequence,
    /// Size of the inner packet in bytes.
    pub inner_bytes: usize,
    /// The ESP packet: [`Layout::esp_bytes`](crate::Layout::esp_bytes) bytes, with the inner packet at offset
    /// [`Layout::inner_at`](crate::Layout::inner_at). [`seal`](fn@seal) writes the rest.
    pub esp: &'a mut [u8],
}

/// Why [`seal`](fn@seal) failed. Unless a variant says otherwise, buffers may have been overwritten; never send them.
#[derive(Debug)]
pub enum SealError {
    /// The length of a buffer is not [`Layout::esp_bytes`](crate::Layout::esp_bytes) of its packet. Nothing was
    /// written.
    Length,
    /// The system returned no random numbers for CBC's IVs.
    Random(sealcomb_random::Error),
    /// The library rejected a packet.
    Batch(BatchError),
}

impl fmt::Display for SealError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Length => f.write_str("a buffer's length differs from that of its ESP packet"),
            Self::Random(error) => write!(f, "cannot get random numbers for CBC IVs: {error}"),
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

/// Seals inner packets into ESP packets, each in its own buffer.
///
/// # Errors
/// [`SealError`]. It applies to the whole burst: send none of its packets.
pub fn seal(packets: &mut [Outgoing<'_>]) -> Result<(), SealError> {
    let fits = |p: &Outgoing<'_>| p.esp.len() == p.suite.layout().esp_bytes(p.inner_bytes);
    if !packets.iter().all(fits) {
        return Err(SealError::Length);
    }
    for group in packets.chunks_mut(AT_ONCE) {
        for packet in group.iter_mut() {
            packet.suite.layout().frame(packet.esp, packet.spi, packet.sequence, packet.inner_bytes);
        }
        write_ivs(group)?;
        encrypt(group)?;
        authenticate(group)?;
    }
    Ok(())
}

/// Writes the IVs. Counter modes require an IV that is unique under the key: the sequence number as 64 bits, even if
/// only its low half is sent. CBC requires an unpredictable IV: a random block.
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
    let inputs: ArrayVec<PacketInputs, AT_ONCE> =
        packets.iter().map(|packet| PacketInputs::new(packet.suite, packet.sequence, packet.esp)).collect();
    let mut jobs: ArrayVec<SealJob<'_>, AT_ONCE> = ArrayVec::new();
    for (Outgoing { suite, esp, .. }, PacketInputs { nonce, additional_data }) in
        packets.iter_mut().zip(&inputs)
    {
        let layout = packet_layout(suite);
        let job = match suite {
            Suite::Aead { key, .. } => {
                SealJob::packet(key, nonce, layout, esp).map(|job| job.aad(&additional_data[..]))
            }
            Suite::Cbc { key, .. } | Suite::Ctr { key, .. } => {
                let icv_at = esp.len() - suite.layout().icv;
                SealJob::packet(key, nonce, layout, &mut esp[..icv_at])
            }
        };
        jobs.push(job.map_err(|error| BatchError::new(jobs.len(), error))?);
    }
    Ok(seal_jobs(&mut jobs)?)
}

/// Writes the ICVs of suites with a separate integrity algorithm.
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
    seal_jobs(&mut cmacs)?;
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

/// Returns the bytes that a separate integrity algorithm covers. Overwrites the start of the ICV with the high half
/// of an extended sequence number, to make them contiguous.
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
    verified: bool,
}

impl<'a> Incoming<'a> {
    /// Describes a received ESP packet of an association with this suite.
    ///
    /// # Panics
    /// Panics if no packet of the suite has this length, see [`Layout::body`](crate::Layout::body).
    pub fn new(suite: &'a Suite, sequence: Sequence, esp: &'a mut [u8]) -> Self {
        assert!(suite.layout().body(esp.len()).is_some(), "wrong length of packet");
        Self { suite, sequence, esp, verified: false }
    }

    /// Returns whether [`open`](fn@open) has found the ICV to be correct. Use the body only then.
    pub fn is_verified(&self) -> bool {
        self.verified
    }
}

/// Verifies ESP packets and decrypts the bodies of the verified ones in place. The bodies of the others are zeroed.
/// ICVs may be overwritten.
///
/// # Errors
/// [`BatchError`] if the library rejected a packet. No packet of the burst is then marked as verified, so all bodies
/// are zeroed.
pub fn open(packets: &mut [Incoming<'_>]) -> Result<(), BatchError> {
    let outcome = packets.chunks_mut(AT_ONCE).try_for_each(|group| {
        let inputs: ArrayVec<PacketInputs, AT_ONCE> =
            group.iter().map(|packet| PacketInputs::new(packet.suite, packet.sequence, packet.esp)).collect();
        verify(group, &inputs)?;
        decrypt(group, &inputs)
    });
    if outcome.is_err() {
        for packet in &mut *packets {
            packet.verified = false;
        }
    }
    for Incoming { suite, esp, .. } in packets.iter_mut().filter(|packet| !packet.verified) {
        let layout = suite.layout();
        let icv_at = esp.len() - layout.icv;
        esp[layout.inner_at()..icv_at].fill(0);
    }
    outcome
}

/// Verifies all packets. Also decrypts those of combined modes.
fn verify(packets: &mut [Incoming<'_>], inputs: &[PacketInputs]) -> Result<(), BatchError> {
    let mut icvs = [[0; ICV_BYTES]; AT_ONCE];
    let mut jobs: ArrayVec<OpenJob<'_>, AT_ONCE> = ArrayVec::new();
    let mut outcomes: ArrayVec<&mut bool, AT_ONCE> = ArrayVec::new(); // one per job
    for ((packet, inputs), icv_copy) in packets.iter_mut().zip(inputs).zip(&mut icvs) {
        let Incoming { suite, sequence, esp, verified } = packet;
        let suite: &Suite = suite;
        let icv_bytes = suite.layout().icv;
        let icv_at = esp.len() - icv_bytes;
        match (suite, suite.auth()) {
            (Suite::Aead { key, .. }, _) => {
                let job = OpenJob::packet(key, &inputs.nonce, packet_layout(suite), esp)
                    .map(|job| job.aad(&inputs.additional_data[..]));
                jobs.push(job.map_err(|error| BatchError::new(jobs.len(), error))?);
                outcomes.push(verified);
            }
            (_, Some(Auth::HmacSha256(hmac))) => {
                let (covered, icv) = esp.split_at(icv_at);
                *verified = hmac_of(hmac, covered, *sequence).verify_truncated_left(icv).is_ok();
            }
            (_, Some(Auth::AesCmac(key))) => {
                let icv = &mut icv_copy[..icv_bytes];
                icv.copy_from_slice(&esp[icv_at..]);
                jobs.push(OpenJob::mac(key, &[], with_high_half(esp, icv_at, *sequence), icv));
                outcomes.push(verified);
            }
            (_, None) => {}
        }
    }
    let _ = open_jobs(&mut jobs)?; // each job has its verdict
    for (job, verified) in jobs.iter().zip(outcomes) {
        *verified = job.verdict().is_verified();
    }
    Ok(())
}

/// Decrypts the verified packets of suites with a separate integrity algorithm.
fn decrypt(packets: &mut [Incoming<'_>], inputs: &[PacketInputs]) -> Result<(), BatchError> {
    let mut jobs: ArrayVec<OpenJob<'_>, AT_ONCE> = ArrayVec::new();
    for (packet, PacketInputs { nonce, .. }) in packets.iter_mut().zip(inputs) {
        let Incoming { suite, esp, verified, .. } = packet;
        let suite: &Suite = suite;
        if let (true, Suite::Cbc { key, .. } | Suite::Ctr { key, .. }) = (*verified, suite) {
            let icv_at = esp.len() - suite.layout().icv;
            let job = OpenJob::packet(key, nonce, packet_layout(suite), &mut esp[..icv_at]);
            jobs.push(job.map_err(|error| BatchError::new(jobs.len(), error))?);
        }
    }
    let _ = open_jobs(&mut jobs)?; // ciphers, which verify nothing
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
        // The tags of AES-CMAC-96, the whole and the shortest ones.
        for tag_bytes in [12, 16, 8] {
            let [cmac, cbc] = ["aes128-cmac", "aes128-cbc"].map(|id| sealcomb::hazmat::by_id(id).unwrap());
            let cmac = sealcomb::KeyOptions::new().tag_bytes(tag_bytes).expand(cmac, &[3; 16]).unwrap();
            let key = sealcomb::Key::new(cbc, &[4; 16]).unwrap();
            suites.push(Suite::Cbc { key, auth: Auth::AesCmac(Box::new(cmac)) });
        }
        suites
    }

    fn laid_out(layout: Layout, inner: &[u8]) -> Vec<u8> {
        let mut esp = vec![0; layout.esp_bytes(inner.len())];
        esp[layout.inner_at()..][..inner.len()].copy_from_slice(inner);
        esp
    }

    /// Opens a burst, of which packet `i` uses suite `i % suites.len()` and sequence number `numbers[i]`. Returns which
    /// packets are verified.
    fn open_burst(suites: &[Suite], numbers: &[Sequence], packets: &mut [Vec<u8>]) -> Vec<bool> {
        let mut burst: Vec<Incoming<'_>> = packets
            .iter_mut()
            .enumerate()
            .map(|(i, esp)| Incoming::new(&suites[i % suites.len()], numbers[i], esp))
            .collect();
        open(&mut burst).unwrap();
        burst.iter().map(Incoming::is_verified).collect()
    }

    /// Returns the inner packet of an opened ESP packet.
    fn inner_of(suite: &Suite, esp: &[u8]) -> Vec<u8> {
        inner(&esp[suite.layout().body(esp.len()).unwrap()]).unwrap().to_vec()
    }

    /// Opens a packet alone. Returns the inner packet if it is verified.
    fn opened(suite: &Suite, number: Sequence, mut esp: Vec<u8>) -> Option<Vec<u8>> {
        let mut burst = [Incoming::new(suite, number, &mut esp)];
        open(&mut burst).unwrap();
        burst[0].is_verified().then(|| inner_of(suite, &esp))
    }

    proptest! {
        #[test]
        fn a_burst_opens_in_place_like_single_packets_and_its_forged_ones_are_zeroed(
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
            let mut is_good = vec![true; sealed.len()];
            for (index, bits) in forged {
                let which = index.index(sealed.len());
                let at = index.index(sealed[which].len());
                if is_good[which] && bits != 0 {
                    sealed[which][at] ^= bits;
                    is_good[which] = false;
                }
            }
            let mut together = sealed.clone();
            prop_assert_eq!(open_burst(&suites, &numbers, &mut together), &is_good[..]);
            for (i, (esp, sealed)) in together.iter().zip(&sealed).enumerate() {
                let mut alone = [sealed.clone()];
                let verified = open_burst(std::slice::from_ref(suite(i)), &numbers[i..=i], &mut alone);
                prop_assert_eq!((&verified[..], &alone[0]), (&is_good[i..=i], esp));
                let body = suite(i).layout().body(esp.len()).unwrap();
                prop_assert_eq!(&esp[..body.start], &sealed[..body.start]);
                if is_good[i] {
                    prop_assert_eq!(inner_of(suite(i), esp), &inners[i][..]);
                } else {
                    prop_assert!(esp[body].iter().all(|byte| *byte == 0));
                }
            }
        }
    }

    #[test]
    fn a_rejected_packet_leaves_no_other_packet_of_its_burst_verified() {
        let mut suites = suites();
        let ccm = sealcomb::Key::new(sealcomb::Algorithm::by_id("aes128-ccm").unwrap(), &[5; 16]).unwrap();
        // CCM has no nonces of this length.
        suites.push(Suite::Aead { key: ccm, salt: vec![0; 8].into() });
        let (good, rejected) = suites.split_at(suites.len() - 1);
        let inner = packet(100);
        let number = Sequence::Short(1);
        for suite in good {
            let mut esp = laid_out(suite.layout(), &inner);
            seal(&mut [Outgoing { suite, spi: 300, sequence: number, inner_bytes: 100, esp: &mut esp }])
                .unwrap();
            // Before the rejected packet, after it, and in an earlier batch.
            for [before, after] in [[1, 0], [0, 1], [AT_ONCE, 0]] {
                let mut packets = vec![(suite, esp.clone()); before + after];
                packets.insert(before, (&rejected[0], vec![0xee; rejected[0].layout().esp_bytes(100)]));
                let mut burst: Vec<Incoming<'_>> =
                    packets.iter_mut().map(|(suite, esp)| Incoming::new(suite, number, esp)).collect();
                open(&mut burst).unwrap_err();
                assert!(!burst.iter().any(Incoming::is_verified));
                for (suite, esp) in packets {
                    let body = suite.layout().body(esp.len()).unwrap();
                    assert!(esp[body].iter().all(|byte| *byte == 0));
                }
            }
        }
    }

    #[test]
    fn the_unsent_half_of_the_sequence_number_is_verified() {
        let suites = suites();
        for (i, suite) in suites.iter().enumerate() {
            let inner = packet(100);
            let mut esp = laid_out(suite.layout(), &inner);
            let sequence = Sequence::Extended(5 << 32 | 9);
            seal(&mut [Outgoing { suite, spi: 300, sequence, inner_bytes: 100, esp: &mut esp }]).unwrap();
            assert_eq!(opened(suite, sequence, esp.clone()), Some(inner), "{i}");
            for wrong in [Sequence::Extended(4 << 32 | 9), Sequence::Short(9)] {
                assert_eq!(opened(suite, wrong, esp.clone()), None, "{i}");
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
            let mut burst = [Incoming::new(&suite, sequence, &mut esp)];
            open(&mut burst).unwrap();
            assert!(!burst[0].is_verified());
            let body = suite.layout().body(esp.len()).unwrap();
            assert!(esp[body].iter().all(|byte| *byte == 0));
        }
    }

    #[test]
    #[should_panic(expected = "wrong length of packet")]
    fn a_packet_that_is_too_short_is_refused_before_it_is_opened() {
        let suite = &suites()[0];
        let min = suite.layout().esp_bytes(0);
        let _ = Incoming::new(suite, Sequence::Short(1), &mut vec![0; min - 1]);
    }

    #[test]
    fn a_buffer_of_the_wrong_length_is_refused() {
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
    fn a_body_without_an_ip_packet_has_no_inner_packet() {
        assert_eq!(inner(&[0, 59]), Err(NoInner::Dummy));
        assert_eq!(inner(&[0x45, 0, 4]), Err(NoInner::Malformed));
    }
}
