//! Sealing and opening bursts of packets: RFC 4303, sections 3.3 and 3.4.
//!
//! The packets of a burst may belong to different associations. All their AES work goes through batches, whatever the
//! key: one batch of ciphers and combined modes, one of CMACs.

use anyhow::{Context, Result, bail};
use hmac::{Hmac, Mac};
use sealcomb::{OpenJob, SealJob, Verdict, open_batch, seal_batch};
use sha2::Sha256;

use super::ip;
use super::packet::{EspPacket, NoInner, Sequence, Short};
use super::replay::Window;
use super::sa::{Auth, Fingerprint, Sa, Suite};

/// A mode's nonce, made of what the association and the packet hold of it.
fn nonce(suite: &Suite, iv: &[u8]) -> Short {
    match suite {
        Suite::Aead { salt, .. } => Short::joined(&[salt, iv]),
        Suite::Cbc { .. } => Short::joined(&[iv]),
        Suite::Ctr { nonce, .. } => Short::joined(&[nonce, iv, &1_u32.to_be_bytes()]),
    }
}

/// What a cipher is given beside the body.
struct Given {
    nonce: Short,
    additional_data: Short,
}

impl Given {
    fn to(suite: &Suite, packet: &mut EspPacket) -> Self {
        Self { nonce: nonce(suite, packet.parts().iv), additional_data: packet.additional_data() }
    }
}

/// The sending end of an association.
struct Sender {
    sa: Sa,
    /// The first sequence number, and the next one; `None` after the last one, since it must never wrap.
    first: Option<u64>,
    next: Option<u64>,
}

impl Sender {
    fn after(&self, number: u64) -> Option<u64> {
        (number < self.sa.last()).then(|| number + 1)
    }

    /// The last number that was used, if any was.
    fn used(&self) -> Option<Used> {
        let (sa, first) = (&self.sa, self.first?);
        let last = self.next.map_or(sa.last(), |next| next - 1);
        (last >= first).then_some(Used { spi: sa.spi, fingerprint: sa.fingerprint, first, last })
    }
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
    pub(crate) fingerprint: Fingerprint,
    pub(crate) first: u64,
    pub(crate) last: u64,
}

/// Turns inner packets into ESP packets.
pub(crate) struct Sealer {
    senders: Vec<Sender>,
}

impl Sealer {
    /// Sequence numbers begin where the associations say.
    pub(crate) fn new(associations: Vec<Sa>) -> Self {
        let sender = |sa: Sa| Sender { first: Some(sa.first), next: Some(sa.first), sa };
        Self { senders: associations.into_iter().map(sender).collect() }
    }

    /// Has each association go on after the number that its key has used last, `None` if it used none. An association
    /// that says a higher number begins there all the same.
    pub(crate) fn go_on(&mut self, last: impl Fn(Fingerprint) -> Option<u64>) {
        for sender in &mut self.senders {
            if let Some(last) = last(sender.sa.fingerprint).filter(|last| *last >= sender.sa.first) {
                sender.first = sender.after(last);
                sender.next = sender.first;
            }
        }
    }

    /// For each association of the burst the highest sequence number that sealing the burst may use.
    pub(crate) fn highest<'a>(&'a self, burst: &'a [Outgoing<'_>]) -> impl Iterator<Item = (&'a Sa, u64)> {
        self.senders.iter().enumerate().filter_map(move |(i, Sender { sa, next, .. })| {
            let packets = burst.iter().filter(|outgoing| outgoing.sender == i).count() as u64;
            let next = (*next).filter(|_| packets > 0)?;
            Some((sa, next.saturating_add(packets - 1).min(sa.last())))
        })
    }

    /// The first association whose selector the packet meets.
    pub(crate) fn select<'a>(&self, inner: &'a [u8]) -> Option<Outgoing<'a>> {
        let sender = self.senders.iter().position(|sender| protects(&sender.sa, inner))?;
        Some(Outgoing { sender, inner })
    }

    /// The sequence numbers used so far, by association; those that sealed nothing are left out.
    pub(crate) fn used(&self) -> impl Iterator<Item = Used> {
        self.senders.iter().filter_map(Sender::used)
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
            let sender = &mut self.senders[outgoing.sender];
            let sa = &sender.sa;
            let Some(number) = sender.next else {
                bail!("SA {:#x}: its key's sequence numbers are used up; it needs a new key", sa.spi);
            };
            // In the counter modes an IV must never come twice under a key, and the sequence number never does: all of
            // its 64 bits, whether they are sent or not.
            let counter = number.to_be_bytes();
            let random = if sa.suite.is_cbc() { unpredictable.next() } else { None };
            let iv = random.as_ref().map_or(&counter[..], |random| random);
            let sequence = sequence(sa, number);
            let packet = EspPacket::lay_out(sa.tunnel, sa.spi, sequence, iv, &sa.suite, outgoing.inner);
            if packet.is_some() {
                sender.next = sender.after(number);
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

fn sequence(sa: &Sa, number: u64) -> Sequence {
    if sa.extended { Sequence::Extended(number) } else { Sequence::Short(number as u32) }
}

fn protects(sa: &Sa, inner: &[u8]) -> bool {
    let Some(header) = ip::Header::parse(inner) else { return false };
    sa.selector.is_none_or(|selector| selector.contains(&header.destination()))
}

fn encrypt(packets: &mut [(&Suite, &mut EspPacket)]) -> Result<()> {
    let given: Vec<Given> = packets.iter_mut().map(|(suite, packet)| Given::to(suite, packet)).collect();
    let mut jobs: Vec<SealJob<'_>> = packets
        .iter_mut()
        .zip(&given)
        .map(|((suite, packet), Given { nonce, additional_data })| {
            let parts = packet.parts();
            match suite {
                Suite::Aead { key, .. } => {
                    let (nonce, additional_data) = (nonce.as_slice(), additional_data.as_slice());
                    SealJob::in_place(key, nonce, additional_data, parts.body, parts.icv)
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

impl Receiver {
    /// An extended number is found from those that came before it, so the sender's first one must be known. One that
    /// is sent whole may be any.
    fn new(sa: Sa) -> Self {
        Self { window: Window::new(sa.window, if sa.extended { sa.first } else { 1 }), sa }
    }

    /// The number of a packet that carries `sent`; `None` if it can be none.
    fn sequence(&self, sent: u32) -> Option<Sequence> {
        if self.sa.extended {
            self.window.extend(sent).map(Sequence::Extended)
        } else {
            Some(Sequence::Short(sent))
        }
    }
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
    /// Its ICV is wrong. An extended sequence number that is too old is taken for another one and ends here too.
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
        Self { receivers: associations.into_iter().map(Receiver::new).collect() }
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
        let Incoming { packet, start, .. } = *incoming;
        let sent = EspPacket::sent_sequence(packet, start).ok_or(Dropped::Malformed)?;
        let found = &self.receivers[receiver];
        let sequence = found.sequence(sent).ok_or(Dropped::Replayed)?;
        let packet = EspPacket::received(packet.to_vec(), start, sequence, &found.sa.suite)
            .ok_or(Dropped::Malformed)?;
        if !found.window.admits(sequence.number()) {
            return Err(Dropped::Replayed);
        }
        Ok(Received { receiver, packet, verified: false })
    }

    /// Verifies every packet; those of combined modes are decrypted by it.
    fn verify(&self, burst: &mut [Result<Received, Dropped>]) -> Result<()> {
        let given = self.given(burst);
        let mut jobs = Vec::new();
        let mut outcomes = Vec::new(); // beside `jobs`
        for (received, Given { nonce, additional_data }) in burst.iter_mut().flatten().zip(&given) {
            let Received { receiver, packet, verified } = received;
            let suite = &self.receivers[*receiver].sa.suite;
            if let Suite::Aead { key, .. } = suite {
                let (nonce, additional_data) = (nonce.as_slice(), additional_data.as_slice());
                let parts = packet.parts();
                jobs.push(OpenJob::in_place(key, nonce, additional_data, parts.body, parts.icv));
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
        let given = self.given(burst);
        let mut jobs: Vec<OpenJob<'_>> = Vec::new();
        for (received, Given { nonce, .. }) in burst.iter_mut().flatten().zip(&given) {
            let suite = &self.receivers[received.receiver].sa.suite;
            if let (true, Suite::Cbc { key, .. } | Suite::Ctr { key, .. }) = (received.verified, suite) {
                jobs.push(OpenJob::in_place(key, nonce.as_slice(), b"", received.packet.parts().body, &[]));
            }
        }
        open_batch(&mut jobs).context("decrypting")?;
        Ok(())
    }

    /// For each packet that is not dropped yet.
    fn given(&self, burst: &mut [Result<Received, Dropped>]) -> Vec<Given> {
        let given = |received: &mut Received| {
            Given::to(&self.receivers[received.receiver].sa.suite, &mut received.packet)
        };
        burst.iter_mut().flatten().map(given).collect()
    }

    fn deliver(&mut self, received: Received) -> Result<Vec<u8>, Dropped> {
        let Receiver { sa, window } = &mut self.receivers[received.receiver];
        if !received.verified {
            return Err(Dropped::Forged);
        }
        // Only now: a forged packet must not move the window (RFC 4303, section 3.4.3).
        if !window.accept(received.packet.sequence().number()) {
            return Err(Dropped::Replayed);
        }
        let inner = received.packet.into_inner().map_err(|reason| match reason {
            NoInner::Dummy => Dropped::Dummy,
            NoInner::Malformed => Dropped::Malformed,
        })?;
        if protects(sa, &inner) { Ok(inner) } else { Err(Dropped::OutsideSelector) }
    }
}
