//! Sealing and opening bursts of Ethernet frames.

use std::borrow::Cow;

use anyhow::{Context, Result};
use pcap_file::DataLink;
use sealcomb_macsec::{BadTag, Channel, ICV_BYTES, Sci, SciForm, SecTag, open, seal};
use sealcomb_numbers::{Numbers, Window};

use super::report::Unopened;
use super::sa::Sa;
use crate::captures::capture::Record;
use crate::captures::sequences::{self, Wanted};

/// The longest frame that is sealed or opened: above any that Ethernet has.
const FRAME_BYTES: usize = 1 << 16;
/// Destination and source.
const ADDRESS_BYTES: usize = 12;
/// These and the EtherType.
const HEADER_BYTES: usize = 14;
/// Of IEEE 802.1Q and 802.1ad, and what was used before the latter.
const VLAN_TAGS: [[u8; 2]; 4] = [[0x81, 0x00], [0x88, 0xa8], [0x91, 0x00], [0x92, 0x00]];
const VLAN_TAG_BYTES: usize = 4;
/// Of key agreement and port access control: it goes through the uncontrolled port, never protected (IEEE 802.1X).
const EAPOL: [u8; 2] = [0x88, 0x8e];

/// The sending end of an association.
struct Sender {
    sa: Sa,
    numbers: Numbers,
}

/// Why a frame is not sealed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unsealed {
    /// It is shorter than an Ethernet header.
    NoFrame,
    /// It is longer than any frame.
    TooLong,
    /// The capture holds only the beginning of it.
    Clipped,
    /// It is no Ethernet frame.
    OtherLink,
    /// It belongs to the uncontrolled port.
    Uncontrolled,
    /// No association protects it.
    Unprotected,
    /// Those that do have no numbers left.
    NoNumbers,
}

/// The packet numbers that an association has used.
pub(crate) struct Used {
    pub(crate) sci: Sci,
    pub(crate) an: u8,
    pub(crate) numbers: sequences::Used,
}

/// Turns frames into sealed ones.
pub(crate) struct Sealer {
    senders: Vec<Sender>,
}

impl Sealer {
    /// Packet numbers begin where the associations say.
    pub(crate) fn new(associations: Vec<Sa>) -> Self {
        let sender = |sa: Sa| Sender { numbers: Numbers::new(sa.first, sa.sak.last_pn()), sa };
        Self { senders: associations.into_iter().map(sender).collect() }
    }

    /// Of each association.
    pub(crate) fn fingerprints(&self) -> Vec<sealcomb_numbers::Fingerprint> {
        self.senders.iter().map(|Sender { sa, .. }| sa.fingerprint).collect()
    }

    /// Has each association go on after the number that its key has used last, `None` if it used none.
    pub(crate) fn go_on(&mut self, last: impl Fn(sealcomb_numbers::Fingerprint) -> Option<u64>) {
        for Sender { sa, numbers } in &mut self.senders {
            if let Some(last) = last(sa.fingerprint) {
                numbers.resume_after(last);
            }
        }
    }

    /// The numbers taken so far, which must be kept before a frame is sealed under them.
    pub(crate) fn wanted(&self) -> impl Iterator<Item = Wanted> {
        self.senders.iter().filter_map(|Sender { sa, numbers }| {
            let (_, number) = numbers.used()?;
            Some(Wanted { fingerprint: sa.fingerprint, number, last: sa.sak.last_pn() })
        })
    }

    /// The packet numbers used so far, by association; those that sealed nothing are left out.
    pub(crate) fn used(&self) -> impl Iterator<Item = Used> {
        self.senders.iter().filter_map(|Sender { sa, numbers }| {
            let (first, last) = numbers.used()?;
            let numbers = sequences::Used { fingerprint: sa.fingerprint, first, last };
            Some(Used { sci: sa.header.sci, an: sa.header.an, numbers })
        })
    }

    /// Gives each frame of a burst its association and number.
    pub(crate) fn lay_out(&mut self, burst: &[Record]) -> Vec<Result<LaidOut, Unsealed>> {
        burst.iter().map(|record| self.lay_out_frame(record)).collect()
    }

    /// One sealed frame for each that was laid out, in order, or why there is none.
    pub(crate) fn seal(
        &self,
        mut frames: Vec<Result<LaidOut, Unsealed>>,
    ) -> Result<Vec<Result<Vec<u8>, Unsealed>>> {
        let mut outgoing: Vec<sealcomb_macsec::Outgoing<'_>> = Vec::with_capacity(frames.len());
        for LaidOut { sender, pn, frame } in frames.iter_mut().flatten() {
            let Sa { sak, header, .. } = &self.senders[*sender].sa;
            outgoing.push(sealcomb_macsec::Outgoing { sak, header, pn: *pn, frame });
        }
        seal(&mut outgoing).context("sealing")?;
        Ok(frames.into_iter().map(|frame| Ok(frame?.frame)).collect())
    }

    /// Takes the next number of the first association that protects the frame and has one.
    fn lay_out_frame(&mut self, record: &Record) -> Result<LaidOut, Unsealed> {
        if !matches!(record.link, DataLink::ETHERNET) {
            return Err(Unsealed::OtherLink);
        }
        if record.original > FRAME_BYTES {
            return Err(Unsealed::TooLong);
        }
        let frame = &record.frame[..];
        if frame.len() < HEADER_BYTES {
            return Err(if record.is_clipped() { Unsealed::Clipped } else { Unsealed::NoFrame });
        }
        if frame[ADDRESS_BYTES..HEADER_BYTES] == EAPOL {
            return Err(Unsealed::Uncontrolled);
        }
        if record.is_clipped() {
            let is_ours = self.senders.iter().any(|Sender { sa, .. }| protects(sa, frame));
            return Err(if is_ours { Unsealed::Clipped } else { Unsealed::Unprotected });
        }
        let mut why = Unsealed::Unprotected;
        for (i, Sender { sa, numbers }) in self.senders.iter_mut().enumerate() {
            if !protects(sa, frame) {
                continue;
            }
            let Some(sealed) = sa.header.lay_out(frame) else { continue };
            if let Some(pn) = numbers.take() {
                return Ok(LaidOut { sender: i, pn, frame: sealed });
            }
            why = Unsealed::NoNumbers;
        }
        Err(why)
    }
}

/// A frame that is laid out and not sealed yet.
pub(crate) struct LaidOut {
    sender: usize,
    pn: u64,
    frame: Vec<u8>,
}

fn protects(sa: &Sa, frame: &[u8]) -> bool {
    sa.source.is_none_or(|source| frame[6..12] == source)
}

/// The receiving end of an association.
struct Receiver {
    sa: Sa,
    window: Window,
}

impl Receiver {
    /// A frame may be as late as the window is long. One that comes twice is dropped, which the standard lets happen
    /// within the window (10.6.5): no sender seals two frames with one number.
    fn new(sa: Sa) -> Self {
        Self { window: Self::window(&sa), sa }
    }

    fn window(sa: &Sa) -> Window {
        Window::new(sa.window.max(1), sa.first)
    }
}

/// Why a received frame is dropped, with the names of IEEE 802.1AE-2018, 10.7.9.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dropped {
    /// `InPktsBadTag`: its SecTAG or its length is invalid.
    BadTag,
    /// `InPktsNoSCI`: no association is of its channel.
    UnknownSci,
    /// `InPktsNotUsingSA`: its channel has no association of this number.
    NotUsingSa,
    /// `InPktsLate`: its packet number is below the window, or came before.
    Late,
    /// `InPktsNotValid`: its ICV is wrong.
    NotValid,
}

/// A frame with a SecTAG, on its way in.
pub(crate) struct Incoming<'a> {
    /// Without the VLAN tags that come before the SecTAG: they were put there after the frame was sealed, as it is
    /// where MACsec runs on a VLAN's interface.
    frame: Cow<'a, [u8]>,
    vlan_tags: &'a [u8],
    tag: Option<SecTag>,
}

impl<'a> Incoming<'a> {
    pub(crate) fn find(record: &'a Record) -> Result<Self, Unopened> {
        if record.link != DataLink::ETHERNET {
            return Err(Unopened::OtherLink);
        }
        let frame = &record.frame[..];
        let Some(tag_at) = tag_at(frame) else {
            return Err(if record.is_clipped() { Unopened::Clipped } else { Unopened::Untagged });
        };
        let vlan_tags = &frame[ADDRESS_BYTES..tag_at];
        let frame = if vlan_tags.is_empty() {
            Cow::Borrowed(frame)
        } else {
            [&frame[..ADDRESS_BYTES], &frame[tag_at..]].concat().into()
        };
        match SecTag::parse(&frame) {
            Err(BadTag::Untagged) => Err(Unopened::Untagged),
            _ if record.is_clipped() => Err(Unopened::Clipped),
            tag => Ok(Self { tag: tag.ok(), frame, vlan_tags }),
        }
    }
}

/// Where the SecTAG is if there is one: behind the addresses and the VLAN tags. `None`: the frame ends before.
fn tag_at(frame: &[u8]) -> Option<usize> {
    let mut at = ADDRESS_BYTES;
    loop {
        let ether_type: [u8; 2] = *frame.get(at..)?.first_chunk()?;
        if !VLAN_TAGS.contains(&ether_type) {
            return Some(at);
        }
        at += VLAN_TAG_BYTES;
    }
}

/// A received frame whose association is known.
struct Received {
    receiver: usize,
    tag: SecTag,
    pn: u64,
    frame: Vec<u8>,
}

/// Turns sealed frames back.
pub(crate) struct Opener {
    receivers: Vec<Receiver>,
}

impl Opener {
    pub(crate) fn new(associations: Vec<Sa>) -> Self {
        Self { receivers: associations.into_iter().map(Receiver::new).collect() }
    }

    /// Forgets which frames have come, so that those of a measurement can come again.
    pub(crate) fn forget(&mut self) {
        for Receiver { sa, window } in &mut self.receivers {
            *window = Receiver::window(sa);
        }
    }

    /// The frame that was protected in each of the burst, in order, or why there is none.
    pub(crate) fn open(&mut self, burst: &[Incoming<'_>]) -> Result<Vec<Result<Vec<u8>, Dropped>>> {
        let mut received: Vec<Result<Received, Dropped>> =
            burst.iter().map(|incoming| self.look_up(incoming)).collect();
        let mut openable: Vec<sealcomb_macsec::Incoming<'_>> = received
            .iter_mut()
            .flatten()
            .map(|Received { receiver, tag, pn, frame }| {
                sealcomb_macsec::Incoming::new(&self.receivers[*receiver].sa.sak, tag, *pn, frame)
            })
            .collect();
        open(&mut openable).context("opening")?;
        let verified: Vec<bool> = openable.iter().map(sealcomb_macsec::Incoming::is_verified).collect();
        let mut verified = verified.into_iter();
        let deliver = |received: Result<Received, Dropped>| {
            let received = received?;
            self.deliver(&received, verified.next() == Some(true))
        };
        let mut opened: Vec<Result<Vec<u8>, Dropped>> = received.into_iter().map(deliver).collect();
        for (opened, Incoming { vlan_tags, .. }) in opened.iter_mut().zip(burst) {
            if let (Ok(frame), [_, ..]) = (opened, vlan_tags) {
                frame.splice(ADDRESS_BYTES..ADDRESS_BYTES, vlan_tags.iter().copied());
            }
        }
        Ok(opened)
    }

    fn look_up(&self, incoming: &Incoming<'_>) -> Result<Received, Dropped> {
        let tag = incoming.tag.ok_or(Dropped::BadTag)?;
        let sci = self.channel(&tag).ok_or(Dropped::UnknownSci)?;
        let is_of = |receiver: &Receiver| receiver.sa.header.sci == sci;
        let receiver = self
            .receivers
            .iter()
            .position(|receiver| is_of(receiver) && receiver.sa.header.an == tag.an)
            .ok_or(if self.receivers.iter().any(is_of) {
                Dropped::NotUsingSa
            } else {
                Dropped::UnknownSci
            })?;
        let Receiver { sa, window } = &self.receivers[receiver];
        let pn = sa.sak.pn(tag.pn, window.lowest()).ok_or(Dropped::BadTag)?;
        if !window.admits(pn) {
            return Err(Dropped::Late);
        }
        debug_assert!(tag.data().end + ICV_BYTES <= incoming.frame.len());
        Ok(Received { receiver, tag, pn, frame: incoming.frame.to_vec() })
    }

    /// A frame that does not say whose it is comes from the only peer, if there is a single one.
    fn channel(&self, tag: &SecTag) -> Option<Sci> {
        match tag.channel {
            Channel::Sci(sci) => Some(sci),
            Channel::OnlyPeer => {
                let mut peers = self
                    .receivers
                    .iter()
                    .map(|receiver| &receiver.sa.header)
                    .filter(|header| header.form == SciForm::Omitted)
                    .map(|header| header.sci);
                let first = peers.next()?;
                peers.all(|sci| sci == first).then_some(first)
            }
        }
    }

    fn deliver(&mut self, received: &Received, is_verified: bool) -> Result<Vec<u8>, Dropped> {
        if !is_verified {
            return Err(Dropped::NotValid);
        }
        // Only now: a forged frame must not move the window.
        if !self.receivers[received.receiver].window.accept(received.pn) {
            return Err(Dropped::Late);
        }
        Ok(received.tag.without(&received.frame))
    }
}
