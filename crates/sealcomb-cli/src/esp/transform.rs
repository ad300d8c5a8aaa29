//! Sealing and opening bursts of packets: RFC 4303, sections 3.3 and 3.4.
//!
//! The packets of a burst may belong to different associations. All their AES work goes through batches, whatever the
//! key: one batch of ciphers and combined modes, one of CMACs.

use anyhow::{Context, Result, bail};
use hmac::{Hmac, Mac};
use sealcomb::{OpenJob, SealJob, Verdict, open_batch, seal_batch};
use sha2::Sha256;

use super::ip;
use super::packet::{EspPacket, NoInner};
use super::replay::Window;
use super::sa::{Auth, Sa, Suite};

/// A mode's nonce, made of what the association and the packet hold of it.
struct Nonce {
    bytes: [u8; 16],
    len: usize,
}

impl Nonce {
    fn new(parts: &[&[u8]]) -> Self {
        let mut nonce = Self { bytes: [0; 16], len: 0 };
        for part in parts {
            nonce.bytes[nonce.len..nonce.len + part.len()].copy_from_slice(part);
            nonce.len += part.len();
        }
        nonce
    }

    fn of(suite: &Suite, iv: &[u8]) -> Self {
        match suite {
            Suite::Aead { salt, .. } => Self::new(&[salt, iv]),
            Suite::Cbc { .. } => Self::new(&[iv]),
            Suite::Ctr { nonce, .. } => Self::new(&[nonce, iv, &1_u32.to_be_bytes()]),
        }
    }

    fn as_slice(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

/// The sending end of an association.
struct Sender {
    sa: Sa,
    /// The next sequence number; `None` after the last one, since it must never wrap.
    next: Option<u32>,
}

/// An inner packet on its way out, with the association that protects it.
pub(crate) struct Outgoing<'a> {
    sender: usize,
    inner: &'a [u8],
}

impl Outgoing<'_> {
    pub(crate) fn inner(&self) -> &[u8] {
        self.inner
    }
}

/// The sequence numbers that an association has used.
pub(crate) struct Used {
    pub(crate) spi: u32,
    pub(crate) first: u32,
    pub(crate) last: u32,
}

/// Turns inner packets into ESP packets.
pub(crate) struct Sealer {
    senders: Vec<Sender>,
}

impl Sealer {
    pub(crate) fn new(associations: Vec<Sa>) -> Self {
        let senders = associations.into_iter().map(|sa| Sender { next: Some(sa.sequence), sa });
        Self { senders: senders.collect() }
    }

    /// The first association whose selector the packet meets.
    pub(crate) fn select<'a>(&self, inner: &'a [u8]) -> Option<Outgoing<'a>> {
        let sender = self.senders.iter().position(|sender| protects(&sender.sa, inner))?;
        Some(Outgoing { sender, inner })
    }

    /// The sequence numbers used so far, by association; those that sealed nothing are left out.
    pub(crate) fn used(&self) -> impl Iterator<Item = Used> {
        self.senders.iter().filter_map(|Sender { sa, next }| {
            let last = next.map_or(u32::MAX, |next| next - 1);
            (last >= sa.sequence).then_some(Used { spi: sa.spi, first: sa.sequence, last })
        })
    }

    /// One ESP packet for each of the burst, in order; `None` where it would be longer than IP packets can be.
    pub(crate) fn seal(&mut self, burst: &[Outgoing<'_>]) -> Result<Vec<Option<Vec<u8>>>> {
        let mut packets = self.lay_out(burst)?;
        let suites = || burst.iter().map(|outgoing| &self.senders[outgoing.sender].sa.suite);
        let mut sealable: Vec<(&Suite, &mut EspPacket)> = suites()
            .zip(&mut packets)
            .filter_map(|(suite, packet)| Some((suite, packet.as_mut()?)))
            .collect();
        encrypt(&mut sealable)?;
        authenticate(&mut sealable)?;
        Ok(packets.into_iter().map(|packet| packet.map(EspPacket::into_bytes)).collect())
    }

    fn lay_out(&mut self, burst: &[Outgoing<'_>]) -> Result<Vec<Option<EspPacket>>> {
        let mut unpredictable = self.unpredictable(burst)?.into_iter();
        let mut packets = Vec::with_capacity(burst.len());
        for outgoing in burst {
            let Sender { sa, next } = &mut self.senders[outgoing.sender];
            let Some(sequence) = *next else {
                bail!("SA {:#x}: sequence numbers are used up; it needs a new key", sa.spi);
            };
            // In the counter modes an IV must never come twice under a key, and the sequence number never does.
            let counter = u64::from(sequence).to_be_bytes();
            let random = if sa.suite.is_cbc() { unpredictable.next() } else { None };
            let iv = random.as_ref().map_or(&counter[..], |random| random);
            let packet = EspPacket::lay_out(sa.tunnel, sa.spi, sequence, iv, &sa.suite, outgoing.inner);
            if packet.is_some() {
                *next = sequence.checked_add(1);
            }
            packets.push(packet);
        }
        Ok(packets)
    }

    /// An IV for each CBC packet of the burst: there it is not enough that none comes twice, nobody may predict it.
    fn unpredictable(&self, burst: &[Outgoing<'_>]) -> Result<Vec<[u8; 16]>> {
        let cbc = burst.iter().filter(|outgoing| self.senders[outgoing.sender].sa.suite.is_cbc()).count();
        let mut ivs = vec![[0; 16]; cbc];
        getrandom::fill(ivs.as_flattened_mut()).context("no random numbers for CBC IVs")?;
        Ok(ivs)
    }
}

fn protects(sa: &Sa, inner: &[u8]) -> bool {
    let Some(header) = ip::Header::parse(inner) else { return false };
    sa.selector.is_none_or(|selector| selector.contains(&header.destination()))
}

fn encrypt(packets: &mut [(&Suite, &mut EspPacket)]) -> Result<()> {
    let nonces: Vec<Nonce> =
        packets.iter_mut().map(|(suite, packet)| Nonce::of(suite, packet.parts().iv)).collect();
    let mut jobs: Vec<SealJob<'_>> = packets
        .iter_mut()
        .zip(&nonces)
        .map(|((suite, packet), nonce)| {
            let parts = packet.parts();
            match suite {
                Suite::Aead { key, .. } => {
                    SealJob::in_place(key, nonce.as_slice(), parts.header, parts.body, parts.icv)
                }
                Suite::Cbc { key, .. } | Suite::Ctr { key, .. } => {
                    SealJob::in_place(key, nonce.as_slice(), b"", parts.body, &mut [])
                }
            }
        })
        .collect();
    seal_batch(&mut jobs).context("encrypting")
}

/// Writes the ICVs of those suites whose cipher does not.
fn authenticate(packets: &mut [(&Suite, &mut EspPacket)]) -> Result<()> {
    let mut cmacs = Vec::new();
    for (suite, packet) in packets {
        let (covered, icv) = packet.covered();
        match suite.auth() {
            None => {}
            Some(Auth::HmacSha256(hmac)) => {
                let tag = hmac_of(hmac, covered).finalize().into_bytes();
                icv.copy_from_slice(&tag[..icv.len()]);
            }
            Some(Auth::AesCmac(key)) => cmacs.push(SealJob::mac(key, &[], covered, icv)),
        }
    }
    seal_batch(&mut cmacs).context("authenticating")
}

fn hmac_of(keyed: &Hmac<Sha256>, covered: &[u8]) -> Hmac<Sha256> {
    keyed.clone().chain_update(covered)
}

/// The receiving end of an association.
struct Receiver {
    sa: Sa,
    window: Window,
}

/// Why a received packet is dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dropped {
    /// No association has its SPI.
    UnknownSpi,
    /// Its length, padding or inner packet cannot be right.
    Malformed,
    /// Its sequence number came before, or is too old to tell.
    Replayed,
    /// Its ICV is wrong.
    Forged,
    /// It is meant to be: it only hides when there is traffic.
    Dummy,
    /// The inner packet is not one that the association protects (RFC 4301, section 5.2).
    OutsideSelector,
}

/// An IP packet that carries ESP, on its way in.
pub(crate) struct Incoming<'a> {
    packet: &'a [u8],
    spi: u32,
    /// Where the SPI begins.
    start: usize,
}

impl<'a> Incoming<'a> {
    /// `None` if the packet carries something else.
    pub(crate) fn find(packet: &'a [u8]) -> Option<Self> {
        let (spi, start) = EspPacket::find(packet)?;
        Some(Self { packet, spi, start })
    }
}

/// A received packet whose association is known.
struct Received {
    receiver: usize,
    packet: EspPacket,
    /// Whether its ICV is right.
    verified: bool,
}

/// Turns ESP packets back into inner packets.
pub(crate) struct Opener {
    receivers: Vec<Receiver>,
}

impl Opener {
    pub(crate) fn new(associations: Vec<Sa>) -> Self {
        let receivers = associations.into_iter().map(|sa| Receiver { window: Window::new(sa.window), sa });
        Self { receivers: receivers.collect() }
    }

    /// The inner packet of each of the burst, in order, or why there is none.
    pub(crate) fn open(&mut self, burst: &[Incoming<'_>]) -> Result<Vec<Result<Vec<u8>, Dropped>>> {
        let mut burst: Vec<Result<Received, Dropped>> =
            burst.iter().map(|incoming| self.look_up(incoming)).collect();
        self.verify(&mut burst)?;
        self.decrypt(&mut burst)?;
        Ok(burst.into_iter().map(|received| self.deliver(received?)).collect())
    }

    fn look_up(&self, incoming: &Incoming<'_>) -> Result<Received, Dropped> {
        let receiver = self
            .receivers
            .iter()
            .position(|receiver| receiver.sa.spi == incoming.spi)
            .ok_or(Dropped::UnknownSpi)?;
        let Receiver { sa, window } = &self.receivers[receiver];
        let packet = EspPacket::received(incoming.packet.to_vec(), incoming.start, &sa.suite)
            .ok_or(Dropped::Malformed)?;
        if !window.admits(packet.sequence()) {
            return Err(Dropped::Replayed);
        }
        Ok(Received { receiver, packet, verified: false })
    }

    /// Verifies every packet; those of combined modes are decrypted by it.
    fn verify(&self, burst: &mut [Result<Received, Dropped>]) -> Result<()> {
        let nonces = self.nonces(burst);
        let mut jobs = Vec::new();
        let mut outcomes = Vec::new(); // beside `jobs`
        for (received, nonce) in burst.iter_mut().flatten().zip(&nonces) {
            let Received { receiver, packet, verified } = received;
            let suite = &self.receivers[*receiver].sa.suite;
            if let Suite::Aead { key, .. } = suite {
                let parts = packet.parts();
                jobs.push(OpenJob::in_place(key, nonce.as_slice(), parts.header, parts.body, parts.icv));
                outcomes.push(verified);
                continue;
            }
            let (covered, icv) = packet.covered();
            match suite.auth() {
                None => {}
                Some(Auth::HmacSha256(hmac)) => {
                    *verified = hmac_of(hmac, covered).verify_truncated_left(icv).is_ok();
                }
                Some(Auth::AesCmac(key)) => {
                    jobs.push(OpenJob::mac(key, &[], covered, &*icv));
                    outcomes.push(verified);
                }
            }
        }
        open_batch(&mut jobs).context("verifying")?;
        for (job, verified) in jobs.iter().zip(outcomes) {
            *verified = job.verdict() == Verdict::Verified;
        }
        Ok(())
    }

    /// Decrypts the verified packets of those suites whose cipher did not verify.
    fn decrypt(&self, burst: &mut [Result<Received, Dropped>]) -> Result<()> {
        let nonces = self.nonces(burst);
        let mut jobs: Vec<OpenJob<'_>> = Vec::new();
        for (received, nonce) in burst.iter_mut().flatten().zip(&nonces) {
            let suite = &self.receivers[received.receiver].sa.suite;
            if let (true, Suite::Cbc { key, .. } | Suite::Ctr { key, .. }) = (received.verified, suite) {
                jobs.push(OpenJob::in_place(key, nonce.as_slice(), b"", received.packet.parts().body, &[]));
            }
        }
        open_batch(&mut jobs).context("decrypting")?;
        Ok(())
    }

    /// The nonces of the packets that are not dropped yet.
    fn nonces(&self, burst: &mut [Result<Received, Dropped>]) -> Vec<Nonce> {
        let packets = burst.iter_mut().flatten();
        packets
            .map(|Received { receiver, packet, .. }| {
                Nonce::of(&self.receivers[*receiver].sa.suite, packet.parts().iv)
            })
            .collect()
    }

    fn deliver(&mut self, received: Received) -> Result<Vec<u8>, Dropped> {
        let Receiver { sa, window } = &mut self.receivers[received.receiver];
        if !received.verified {
            return Err(Dropped::Forged);
        }
        // Only now: a forged packet must not move the window (RFC 4303, section 3.4.3).
        if !window.accept(received.packet.sequence()) {
            return Err(Dropped::Replayed);
        }
        let inner = received.packet.into_inner().map_err(|reason| match reason {
            NoInner::Dummy => Dropped::Dummy,
            NoInner::Malformed => Dropped::Malformed,
        })?;
        if protects(sa, &inner) { Ok(inner) } else { Err(Dropped::OutsideSelector) }
    }
}
