//! Seals and opens bursts of Ethernet frames.

use std::borrow::Cow;

use anyhow::{Context, Result};
use pcap_file::DataLink;
use sealcomb_macsec::{BadTag, Channel, ICV_BYTES, Sci, SciForm, SecTag, open, seal};
use sealcomb_numbers::{Numbers, Window};

use super::report::Unopened;
use super::sa::Sa;
use crate::captures::capture::Record;
use crate::captures::sequences::{self, Wanted};

/// Maximum size of a frame to seal, above any that Ethernet allows.
const MAX_FRAME_BYTES: usize = 1 << 16;
/// Size of destination and source address together.
const ADDRESS_BYTES: usize = 12;
/// Size of an Ethernet header: addresses and EtherType.
const HEADER_BYTES: usize = 14;
/// The `EtherType` values of VLAN tags: IEEE 802.1Q, 802.1ad, and those in use before 802.1ad.
const VLAN_TAGS: [[u8; 2]; 4] = [[0x81, 0x00], [0x88, 0xa8], [0x91, 0x00], [0x92, 0x00]];
const VLAN_TAG_BYTES: usize = 4;
/// EtherType of key agreement and port access control (IEEE 802.1X). Such frames use the uncontrolled port and are
/// never protected.
const EAPOL: [u8; 2] = [0x88, 0x8e];

/// The sender of an association.
struct Sender {
    sa: Sa,
    numbers: Numbers,
}

/// Why a frame was not sealed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unsealed {
    /// The frame is shorter than an Ethernet header.
    NoFrame,
    /// The frame is longer than any Ethernet frame.
    TooLong,
    /// The capture contains only the start of the frame.
    Clipped,
    /// The link type is not Ethernet.
    OtherLink,
    /// The frame belongs to the uncontrolled port.
    Uncontrolled,
    /// No association protects the frame.
    Unprotected,
    /// The associations that protect the frame have no packet numbers left.
    NoNumbers,
}

/// The packet numbers that an association has used.
pub(crate) struct Used {
    pub(crate) sci: Sci,
    pub(crate) an: u8,
    pub(crate) numbers: sequences::Used,
}

/// Seals frames.
pub(crate) struct Sealer {
    senders: Vec<Sender>,
}

impl Sealer {
    /// Creates a sealer whose packet numbers start at the associations' first ones.
    pub(crate) fn new(associations: Vec<Sa>) -> Self {
        let sender = |sa: Sa| Sender { numbers: Numbers::new(sa.first, sa.sak.last_pn()), sa };
        Self { senders: associations.into_iter().map(sender).collect() }
    }

    /// Returns the fingerprints of all associations' keys and transmitters.
    pub(crate) fn fingerprints(&self) -> Vec<sealcomb_numbers::Fingerprint> {
        self.senders.iter().map(|Sender { sa, .. }| sa.fingerprint).collect()
    }

    /// Makes each association continue after the last number used under its key, which `last` returns. An association
    /// whose first number is higher still starts there.
    pub(crate) fn resume(&mut self, last: impl Fn(sealcomb_numbers::Fingerprint) -> Option<u64>) {
        for Sender { sa, numbers } in &mut self.senders {
            if let Some(last) = last(sa.fingerprint) {
                numbers.resume_after(last);
            }
        }
    }

    /// Returns the last number taken so far, for each association. These numbers must be stored before frames are
    /// sealed under them.
    pub(crate) fn wanted(&self) -> impl Iterator<Item = Wanted> {
        self.senders.iter().filter_map(|Sender { sa, numbers }| {
            let (_, number) = numbers.used()?;
            Some(Wanted { fingerprint: sa.fingerprint, number, last: sa.sak.last_pn() })
        })
    }

    /// Returns the packet numbers used so far by each association that has sealed frames.
    pub(crate) fn used(&self) -> impl Iterator<Item = Used> {
        self.senders.iter().filter_map(|Sender { sa, numbers }| {
            let (first, last) = numbers.used()?;
            let numbers = sequences::Used { fingerprint: sa.fingerprint, first, last };
            Some(Used { sci: sa.header.sci, an: sa.header.an, numbers })
        })
    }

    /// Assigns an association and a packet number to each frame of a burst.
    pub(crate) fn lay_out(&mut self, burst: &[Record]) -> Vec<Result<LaidOut, Unsealed>> {
        burst.iter().map(|record| self.lay_out_frame(record)).collect()
    }

    /// Seals a burst. Returns each sealed frame or the reason why it was not sealed, in order.
    pub(crate) fn seal(
        &self,
        mut frames: Vec<Result<LaidOut, Unsealed>>,
    ) -> Result<Vec<Result<Vec<u8>, Unsealed>>> {
        let mut outgoing: Vec<sealcomb_macsec::Outgoing<'_>> = Vec::with_capacity(frames.len());
        for LaidOut { sender, pn, frame, .. } in frames.iter_mut().flatten() {
            let Sa { sak, header, .. } = &self.senders[*sender].sa;
            outgoing.push(sealcomb_macsec::Outgoing { sak, header, pn: *pn, frame });
        }
        seal(&mut outgoing).context("sealing")?;
        Ok(frames.into_iter().map(|frame| Ok(frame?.with_vlan_tag())).collect())
    }

    /// Takes the next number of the first association that protects the frame and has numbers left.
    fn lay_out_frame(&mut self, record: &Record) -> Result<LaidOut, Unsealed> {
        if !matches!(record.link, DataLink::ETHERNET) {
            return Err(Unsealed::OtherLink);
        }
        let frame = &record.frame[..];
        if frame.len() < HEADER_BYTES {
            return Err(if record.is_clipped() { Unsealed::Clipped } else { Unsealed::NoFrame });
        }
        if frame[ADDRESS_BYTES..HEADER_BYTES] == EAPOL {
            return Err(Unsealed::Uncontrolled);
        }
        let too_long = (record.original > MAX_FRAME_BYTES).then_some(Unsealed::TooLong);
        if let Some(cause) = too_long.or(record.is_clipped().then_some(Unsealed::Clipped)) {
            // The frame is not lost if its addresses show that no association protects it.
            let is_protected = self.senders.iter().any(|Sender { sa, .. }| protects(sa, frame));
            return Err(if is_protected { cause } else { Unsealed::Unprotected });
        }
        let mut why = Unsealed::Unprotected;
        for (i, Sender { sa, numbers }) in self.senders.iter_mut().enumerate() {
            if !protects(sa, frame) {
                continue;
            }
            let vlan_tag = if sa.is_vlan_clear { vlan_tag(frame) } else { &[] };
            let inner = without_vlan_tag(frame, vlan_tag);
            let Some(sealed) = sa.header.lay_out(&inner) else { continue };
            if let Some(pn) = numbers.take() {
                return Ok(LaidOut { sender: i, pn, frame: sealed, vlan_tag: vlan_tag.to_vec() });
            }
            why = Unsealed::NoNumbers;
        }
        Err(why)
    }
}

/// A sealed frame's buffer with addresses and user data in place, before sealing.
pub(crate) struct LaidOut {
    /// Index of the sender.
    sender: usize,
    pn: u64,
    frame: Vec<u8>,
    /// The tag that stays before the SecTAG, or nothing.
    vlan_tag: Vec<u8>,
}

impl LaidOut {
    /// Returns the frame with the tag that stays before the SecTAG.
    fn with_vlan_tag(mut self) -> Vec<u8> {
        self.frame.splice(ADDRESS_BYTES..ADDRESS_BYTES, self.vlan_tag);
        self.frame
    }
}

/// Returns the first VLAN tag of a frame, or nothing. An EtherType must follow it.
fn vlan_tag(frame: &[u8]) -> &[u8] {
    let tag = frame.get(ADDRESS_BYTES..ADDRESS_BYTES + VLAN_TAG_BYTES).unwrap_or_default();
    let is_tag = VLAN_TAGS.iter().any(|ether_type| tag.starts_with(ether_type));
    if is_tag && frame.len() >= HEADER_BYTES + VLAN_TAG_BYTES { tag } else { &[] }
}

fn without_vlan_tag<'a>(frame: &'a [u8], tag: &[u8]) -> Cow<'a, [u8]> {
    if tag.is_empty() {
        return Cow::Borrowed(frame);
    }
    [&frame[..ADDRESS_BYTES], &frame[ADDRESS_BYTES + tag.len()..]].concat().into()
}

fn protects(sa: &Sa, frame: &[u8]) -> bool {
    let source = &frame[6..12];
    // The receiver takes an end station's SCI from the source address.
    let is_station = sa.header.form != SciForm::EndStation || source == sa.header.sci.address();
    is_station && sa.source.is_none_or(|address| source == address)
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

    /// Returns a new replay window. Frames may be late by up to its size. It rejects duplicates, which the standard
    /// permits within the window (10.6.5), because no sender seals two frames with one number.
    fn window(sa: &Sa) -> Window {
        Window::new(sa.window.max(1), sa.first)
    }
}

/// Why a received frame is dropped, by the counters of IEEE 802.1AE-2018, 10.7.9.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dropped {
    /// `InPktsBadTag`: the SecTAG or the frame's length is invalid.
    BadTag,
    /// `InPktsNoSCI`: no association belongs to the frame's channel.
    UnknownSci,
    /// `InPktsNotUsingSA`: the channel has no association with the frame's AN.
    NotUsingSa,
    /// `InPktsLate`: the packet number is below the window or was received before.
    Late,
    /// `InPktsNotValid`: the ICV is wrong.
    NotValid,
}

/// The received frames that must be verified: `validateFrames` of IEEE 802.1AE-2018, 10.7.8. An encrypted frame always
/// must.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Validate {
    /// Drop all frames that do not verify.
    #[default]
    Strict,
    /// Verify frames, but pass unencrypted ones even if they are not valid.
    Check,
    /// Pass frames without encryption unverified.
    Disabled,
}

/// Why a frame passed although it was not verified, by the counters of IEEE 802.1AE-2018, 10.7.9.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Unverified {
    /// `InPktsInvalid`: the ICV is wrong.
    Invalid,
    /// `InPktsUnchecked`: validation is disabled.
    Unchecked,
    /// `InPktsUnknownSCI`: no association belongs to the frame's channel.
    UnknownSci,
    /// `InPktsUnusedSA`: the channel has no association with the frame's AN.
    UnusedSa,
}

/// An original frame.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Opened {
    pub(crate) frame: Vec<u8>,
    /// `None`: the frame was verified.
    pub(crate) unverified: Option<Unverified>,
}

/// A received frame with a SecTAG.
pub(crate) struct Incoming<'a> {
    /// The frame without VLAN tags that precede the SecTAG. They were left there or added after sealing, for example by
    /// MACsec on a VLAN interface.
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
        let frame = without_vlan_tag(frame, vlan_tags);
        match SecTag::parse(&frame) {
            Err(BadTag::Untagged) => Err(Unopened::Untagged),
            _ if record.is_clipped() => Err(Unopened::Clipped),
            tag => Ok(Self { tag: tag.ok(), frame, vlan_tags }),
        }
    }
}

/// Returns the offset of the EtherType after the addresses and VLAN tags, where a SecTAG begins. `None` if the frame
/// ends before.
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

/// A received frame that must be verified, or passes as it is.
struct Received {
    tag: SecTag,
    frame: Vec<u8>,
    way: Way,
}

#[derive(Clone, Copy)]
enum Way {
    /// The frame is verified by the receiver with this index, under this packet number.
    Verify(usize, u64),
    Pass(Unverified),
}

/// Opens frames.
pub(crate) struct Opener {
    receivers: Vec<Receiver>,
    validate: Validate,
}

impl Opener {
    pub(crate) fn new(associations: Vec<Sa>, validate: Validate) -> Self {
        Self { receivers: associations.into_iter().map(Receiver::new).collect(), validate }
    }

    /// Resets all replay windows, so that a measurement can open the same frames again.
    pub(crate) fn reset(&mut self) {
        for Receiver { sa, window } in &mut self.receivers {
            *window = Receiver::window(sa);
        }
    }

    /// Opens a burst. Returns each original frame or the reason why it is dropped, in order.
    pub(crate) fn open(&mut self, burst: &[Incoming<'_>]) -> Result<Vec<Result<Opened, Dropped>>> {
        let mut received: Vec<Result<Received, Dropped>> =
            burst.iter().map(|incoming| self.look_up(incoming)).collect();
        let mut openable: Vec<sealcomb_macsec::Incoming<'_>> = Vec::with_capacity(received.len());
        for Received { tag, frame, way } in received.iter_mut().flatten() {
            if let Way::Verify(receiver, pn) = *way {
                let sak = &self.receivers[receiver].sa.sak;
                openable.push(sealcomb_macsec::Incoming::new(sak, tag, pn, frame));
            }
        }
        open(&mut openable).context("opening")?;
        let verified: Vec<bool> = openable.iter().map(sealcomb_macsec::Incoming::is_verified).collect();
        let mut verified = verified.into_iter();
        let deliver = |received: Result<Received, Dropped>| {
            let Received { tag, frame, way } = received?;
            let unverified = match way {
                Way::Pass(why) => Some(why),
                Way::Verify(receiver, pn) => self.judge(receiver, pn, &tag, verified.next() == Some(true))?,
            };
            Ok(Opened { frame: tag.without(&frame), unverified })
        };
        let mut opened: Vec<Result<Opened, Dropped>> = received.into_iter().map(deliver).collect();
        for (opened, Incoming { vlan_tags, .. }) in opened.iter_mut().zip(burst) {
            if let (Ok(Opened { frame, .. }), [_, ..]) = (opened, vlan_tags) {
                frame.splice(ADDRESS_BYTES..ADDRESS_BYTES, vlan_tags.iter().copied());
            }
        }
        Ok(opened)
    }

    /// Whether a frame may pass without being verified.
    fn is_lenient(&self, tag: &SecTag) -> bool {
        self.validate != Validate::Strict && !tag.is_encrypted
    }

    fn look_up(&self, incoming: &Incoming<'_>) -> Result<Received, Dropped> {
        let tag = incoming.tag.ok_or(Dropped::BadTag)?;
        let way = match self.receiver(&tag) {
            Ok(receiver) => {
                let Receiver { sa, window } = &self.receivers[receiver];
                let pn = sa.sak.pn(tag.pn, window.lowest()).ok_or(Dropped::BadTag)?;
                if !window.admits(pn) {
                    return Err(Dropped::Late);
                }
                let is_checked = self.validate != Validate::Disabled || tag.is_encrypted;
                if is_checked { Way::Verify(receiver, pn) } else { Way::Pass(Unverified::Unchecked) }
            }
            Err(Dropped::UnknownSci) if self.is_lenient(&tag) => Way::Pass(Unverified::UnknownSci),
            Err(Dropped::NotUsingSa) if self.is_lenient(&tag) => Way::Pass(Unverified::UnusedSa),
            Err(dropped) => return Err(dropped),
        };
        debug_assert!(tag.data().end + ICV_BYTES <= incoming.frame.len());
        Ok(Received { tag, frame: incoming.frame.to_vec(), way })
    }

    /// Returns the index of a frame's receiver.
    fn receiver(&self, tag: &SecTag) -> Result<usize, Dropped> {
        let sci = self.channel(tag).ok_or(Dropped::UnknownSci)?;
        let is_of = |receiver: &Receiver| receiver.sa.header.sci == sci;
        let found =
            self.receivers.iter().position(|receiver| is_of(receiver) && receiver.sa.header.an == tag.an);
        let is_known = || self.receivers.iter().any(is_of);
        found.ok_or_else(|| if is_known() { Dropped::NotUsingSa } else { Dropped::UnknownSci })
    }

    /// Returns the channel of a frame. A frame that does not identify its channel belongs to the only peer that omits
    /// the SCI. `None` if there is no such peer, or more than one.
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

    /// Decides about a frame whose ICV was compared. Returns why it passes anyhow if the ICV is wrong.
    fn judge(
        &mut self,
        receiver: usize,
        pn: u64,
        tag: &SecTag,
        is_verified: bool,
    ) -> Result<Option<Unverified>, Dropped> {
        if !is_verified {
            return if self.is_lenient(tag) { Ok(Some(Unverified::Invalid)) } else { Err(Dropped::NotValid) };
        }
        // After verification, as a forged frame must not move the window.
        if self.receivers[receiver].window.accept(pn) { Ok(None) } else { Err(Dropped::Late) }
    }
}
