//! Seals and opens bursts of IP packets, including their outer headers.

use std::borrow::Cow;
use std::ops::Range;

use anyhow::{Context, Result, bail};
use etherparse::Ipv6Header;
use sealcomb_esp::{
    Fingerprint, Header, NoInner, Numbers, Sequence, Window, inner, open, seal, sent_sequence, spi,
    write_outer_header,
};

use super::carried::{self, NoEsp};
use super::sa::Sa;
use crate::captures::sequences::{self, Wanted};

/// The sender of an association.
struct Sender {
    sa: Sa,
    numbers: Numbers,
}

/// A packet to seal, with the association that protects it.
pub(crate) struct Outgoing<'a> {
    /// Index of the sender.
    sender: usize,
    inner: Cow<'a, [u8]>,
}

impl Outgoing<'_> {
    pub(crate) fn inner(&self) -> &[u8] {
        &self.inner
    }
}

/// The sequence numbers that an association has used.
pub(crate) struct Used {
    pub(crate) spi: u32,
    pub(crate) numbers: sequences::Used,
}

/// Seals packets.
pub(crate) struct Sealer {
    senders: Vec<Sender>,
}

/// An outer packet with the inner one in place, before sealing.
struct LaidOut {
    sequence: Sequence,
    bytes: Vec<u8>,
    /// Offset of the SPI.
    start: usize,
}

impl Sealer {
    /// Creates a sealer whose sequence numbers start at the associations' first ones.
    pub(crate) fn new(associations: Vec<Sa>) -> Self {
        let sender = |sa: Sa| Sender { numbers: Numbers::new(sa.first, sa.last()), sa };
        Self { senders: associations.into_iter().map(sender).collect() }
    }

    /// Returns the fingerprints of all associations' keys.
    pub(crate) fn fingerprints(&self) -> Vec<Fingerprint> {
        self.senders.iter().map(|Sender { sa, .. }| sa.fingerprint).collect()
    }

    /// Makes each association continue after the last number used under its key, which `last` returns. An association
    /// whose first number is higher still starts there.
    pub(crate) fn resume(&mut self, last: impl Fn(Fingerprint) -> Option<u64>) {
        for Sender { sa, numbers } in &mut self.senders {
            if let Some(last) = last(sa.fingerprint) {
                numbers.resume_after(last);
            }
        }
    }

    /// Returns the highest sequence number that sealing the burst can use, for each of its associations.
    pub(crate) fn wanted(&self, burst: &[Outgoing<'_>]) -> impl Iterator<Item = Wanted> {
        self.senders.iter().enumerate().filter_map(move |(i, Sender { sa, numbers })| {
            let packets = burst.iter().filter(|outgoing| outgoing.sender == i).count() as u64;
            if packets == 0 {
                return None;
            }
            let number = numbers.highest(packets)?;
            Some(Wanted { fingerprint: sa.fingerprint, number, last: sa.last() })
        })
    }

    /// Assigns a packet to the first association whose selector matches; `None` if no association protects it.
    pub(crate) fn select<'a>(&self, inner: impl Into<Cow<'a, [u8]>>) -> Option<Outgoing<'a>> {
        let inner = inner.into();
        let sender = self.senders.iter().position(|sender| protects(&sender.sa, &inner))?;
        Some(Outgoing { sender, inner })
    }

    /// Returns the sequence numbers used so far by each association that has sealed packets.
    pub(crate) fn used(&self) -> impl Iterator<Item = Used> {
        self.senders.iter().filter_map(|Sender { sa, numbers }| {
            let (first, last) = numbers.used()?;
            let fingerprint = sa.fingerprint;
            Some(Used { spi: sa.spi, numbers: sequences::Used { fingerprint, first, last } })
        })
    }

    /// Seals a burst. Returns one outer packet per inner packet, in order; `None` for those that would exceed the
    /// maximum length of an IP packet.
    pub(crate) fn seal(&mut self, burst: &[Outgoing<'_>]) -> Result<Vec<Option<Vec<u8>>>> {
        let mut packets: Vec<Option<LaidOut>> =
            burst.iter().map(|outgoing| self.lay_out(outgoing)).collect::<Result<_>>()?;
        let mut sealable: Vec<sealcomb_esp::Outgoing<'_>> = Vec::with_capacity(burst.len());
        for (outgoing, packet) in burst.iter().zip(&mut packets) {
            let Some(LaidOut { sequence, bytes, start }) = packet else { continue };
            let Sa { suite, spi, .. } = &self.senders[outgoing.sender].sa;
            sealable.push(sealcomb_esp::Outgoing {
                suite,
                spi: *spi,
                sequence: *sequence,
                inner_bytes: outgoing.inner.len(),
                esp: &mut bytes[*start..],
            });
        }
        seal(&mut sealable).context("sealing")?;
        Ok(packets.into_iter().map(|packet| packet.map(|packet| packet.bytes)).collect())
    }

    /// Builds the outer packet and takes its sequence number. Returns `None` and takes no number if the outer packet
    /// would exceed the maximum length of an IP packet.
    fn lay_out(&mut self, outgoing: &Outgoing<'_>) -> Result<Option<LaidOut>> {
        let Sender { sa, numbers } = &mut self.senders[outgoing.sender];
        let Some(number) = numbers.next() else {
            bail!("SA {:#x}: the sequence numbers of its key are used up; use a new key", sa.spi);
        };
        let inner = outgoing.inner();
        let Some(header) = Header::parse(inner) else { return Ok(None) };
        let layout = sa.suite.layout();
        let esp_bytes = layout.esp_bytes(inner.len());
        let mut bytes = Vec::with_capacity(Ipv6Header::LEN + esp_bytes);
        if write_outer_header(&mut bytes, sa.tunnel, number as u32, esp_bytes, &header).is_none() {
            return Ok(None);
        }
        numbers.take();
        let start = bytes.len();
        bytes.resize(start + layout.inner_at(), 0);
        bytes.extend(inner);
        bytes.resize(start + esp_bytes, 0);
        let sequence = if sa.extended { Sequence::Extended(number) } else { Sequence::Short(number as u32) };
        Ok(Some(LaidOut { sequence, bytes, start }))
    }
}

fn protects(sa: &Sa, inner: &[u8]) -> bool {
    let Some(header) = Header::parse(inner) else { return false };
    sa.selector.is_none_or(|selector| selector.contains(&header.destination()))
}

/// The receiver of an association.
struct Receiver {
    sa: Sa,
    window: Window,
}

impl Receiver {
    fn new(sa: Sa) -> Self {
        Self { window: Self::window(&sa), sa }
    }

    /// Returns a new replay window. Extended numbers are recovered relative to earlier ones, so it starts at the
    /// sender's first. 32-bit numbers can start anywhere.
    fn window(sa: &Sa) -> Window {
        Window::new(sa.window, if sa.extended { sa.first } else { 1 })
    }
}

/// Why a received packet is dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dropped {
    /// No association has its SPI.
    UnknownSpi,
    /// The length, padding or inner packet is invalid.
    Malformed,
    /// The sequence number was received before or is older than the window.
    Replayed,
    /// The ICV is wrong. This includes packets with an extended sequence number older than the window, because the
    /// wrong high half is inferred for them.
    Forged,
    /// The packet is a dummy, sent to hide traffic patterns.
    Dummy,
    /// The association does not protect the inner packet (RFC 4301, section 5.2).
    OutsideSelector,
}

/// A received IP packet that carries ESP.
pub(crate) struct Incoming<'a> {
    packet: Cow<'a, [u8]>,
    /// The byte range of the ESP packet.
    esp: Range<usize>,
    spi: u32,
}

impl<'a> Incoming<'a> {
    /// Finds ESP in a packet that is not a fragment.
    pub(crate) fn find(packet: impl Into<Cow<'a, [u8]>>) -> Result<Self, NoEsp> {
        let packet = packet.into();
        let esp = carried::find(&packet)?;
        let spi = spi(&packet[esp.clone()]).ok_or(NoEsp::Malformed)?;
        Ok(Self { packet, esp, spi })
    }

    fn esp(&self) -> &[u8] {
        &self.packet[self.esp.clone()]
    }
}

/// A received packet whose association has been found.
struct Received {
    /// Index of the receiver.
    receiver: usize,
    sequence: Sequence,
    /// A copy of the ESP packet, which is opened in place.
    esp: Vec<u8>,
    /// The byte range of the body in it.
    body: Range<usize>,
}

/// Opens packets.
pub(crate) struct Opener {
    receivers: Vec<Receiver>,
}

impl Opener {
    pub(crate) fn new(associations: Vec<Sa>) -> Self {
        Self { receivers: associations.into_iter().map(Receiver::new).collect() }
    }

    /// Resets all replay windows, so that a measurement can open the same packets again.
    pub(crate) fn reset(&mut self) {
        for Receiver { sa, window } in &mut self.receivers {
            *window = Receiver::window(sa);
        }
    }

    /// Opens a burst. Returns each packet's inner packet or the reason why it is dropped, in order.
    pub(crate) fn open(&mut self, burst: &[Incoming<'_>]) -> Result<Vec<Result<Vec<u8>, Dropped>>> {
        let mut burst: Vec<Result<Received, Dropped>> =
            burst.iter().map(|incoming| self.look_up(incoming)).collect();
        let mut openable: Vec<sealcomb_esp::Incoming<'_>> = burst
            .iter_mut()
            .flatten()
            .map(|Received { receiver, sequence, esp, .. }| {
                sealcomb_esp::Incoming::new(&self.receivers[*receiver].sa.suite, *sequence, esp)
            })
            .collect();
        open(&mut openable).context("opening")?;
        let verified: Vec<bool> = openable.iter().map(sealcomb_esp::Incoming::is_verified).collect();
        let mut verified = verified.into_iter();
        let deliver =
            |received: Result<Received, Dropped>| self.deliver(received?, verified.next() == Some(true));
        Ok(burst.into_iter().map(deliver).collect())
    }

    fn look_up(&self, incoming: &Incoming<'_>) -> Result<Received, Dropped> {
        let receiver = self
            .receivers
            .iter()
            .position(|receiver| receiver.sa.spi == incoming.spi)
            .ok_or(Dropped::UnknownSpi)?;
        let Receiver { sa, window } = &self.receivers[receiver];
        let esp = incoming.esp();
        let sent = sent_sequence(esp).ok_or(Dropped::Malformed)?;
        let sequence = Sequence::received(sent, sa.extended, window).ok_or(Dropped::Replayed)?;
        let body = sa.suite.layout().body(esp.len()).ok_or(Dropped::Malformed)?;
        if !window.admits(sequence.number()) {
            return Err(Dropped::Replayed);
        }
        Ok(Received { receiver, sequence, esp: esp.to_vec(), body })
    }

    fn deliver(&mut self, received: Received, is_verified: bool) -> Result<Vec<u8>, Dropped> {
        let Received { receiver, sequence, esp, body } = received;
        let Receiver { sa, window } = &mut self.receivers[receiver];
        if !is_verified {
            return Err(Dropped::Forged);
        }
        // After verification, as a forged packet must not move the window (RFC 4303, section 3.4.3).
        if !window.accept(sequence.number()) {
            return Err(Dropped::Replayed);
        }
        let inner = inner(&esp[body]).map_err(|reason| match reason {
            NoInner::Dummy => Dropped::Dummy,
            NoInner::Malformed => Dropped::Malformed,
        })?;
        if protects(sa, inner) { Ok(inner.to_vec()) } else { Err(Dropped::OutsideSelector) }
    }
}
