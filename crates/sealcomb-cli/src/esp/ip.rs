//! Extracts the IP packet from a captured frame.

use std::borrow::Cow;

use etherparse::{EtherType, IpNumber, Ipv4HeaderSlice, Ipv6HeaderSlice};
use pcap_file::DataLink;
use sealcomb_esp::Header;

use super::cooked;
use crate::captures::capture::Record;

/// Returns whether [`packet`] supports the link type.
pub(crate) fn is_supported(link: DataLink) -> bool {
    matches!(
        link,
        DataLink::ETHERNET
            | DataLink::RAW
            | DataLink::IPV4
            | DataLink::IPV6
            | DataLink::LINUX_SLL
            | DataLink::LINUX_SLL2
            | DataLink::NULL
            | DataLink::LOOP
    )
}

/// Why a frame yields no IP packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoPacket {
    /// The frame carries another protocol.
    NotIp,
    /// The capture contains only the start of the packet.
    Clipped,
    /// The frame's type is IP, but a header is invalid or truncated; or its headers contradict each other, so it may
    /// contain an IP packet elsewhere.
    Malformed,
    /// The packet exceeds the maximum IP length: a jumbogram (RFC 2675), or captured before segmentation offload.
    TooLong,
    /// The link type is not supported.
    OtherLink,
}

/// Returns the frame's IP packet, without link-layer headers and padding. If segmentation offload has left the length
/// in the IP header at 0, the packet extends to the end of the frame, and the length is written into the header.
pub(crate) fn packet(record: &Record) -> Result<Cow<'_, [u8]>, NoPacket> {
    let payload = payload(record)?;
    let header = header(record, payload)?;
    let len = declared_len(record, payload, &header)?;
    if len > header_bytes(&header) + usize::from(u16::MAX) || is_v4(&header) && len > usize::from(u16::MAX) {
        return Err(NoPacket::TooLong);
    }
    let packet = payload.get(..len).ok_or(NoPacket::Clipped)?;
    Ok(if has_length(&header) { Cow::Borrowed(packet) } else { Cow::Owned(with_length(packet, &header)) })
}

/// Returns the length in bytes of the frame's IP packet, even if the capture contains only its start.
pub(crate) fn packet_len(record: &Record) -> Result<usize, NoPacket> {
    let payload = payload(record)?;
    declared_len(record, payload, &header(record, payload)?)
}

/// Returns the captured bytes of the frame's IP packet, and of padding after it. `None` if they do not contain a valid IP
/// header.
pub(crate) fn beginning(record: &Record) -> Option<&[u8]> {
    payload(record).ok().filter(|payload| Header::parse(payload).is_some())
}

/// Returns the bytes after the frame's link-layer headers, including Ethernet padding.
fn payload(record: &Record) -> Result<&[u8], NoPacket> {
    let frame = &record.frame[..];
    if record.original == 0 {
        return Err(NoPacket::NotIp);
    }
    let payload = match record.link {
        DataLink::RAW => Ok(frame),
        DataLink::IPV4 => of_version(4, frame),
        DataLink::IPV6 => of_version(6, frame),
        // Two addresses precede the type.
        DataLink::ETHERNET => of_type_at(frame, 12, 14),
        DataLink::LINUX_SLL => cooked::payload(frame),
        DataLink::LINUX_SLL2 => cooked::payload_v2(frame),
        DataLink::NULL | DataLink::LOOP => match frame.split_first_chunk() {
            Some((family, payload)) => match version_of_family(*family) {
                Some(version) => of_version(version, payload),
                None => Err(NoPacket::NotIp),
            },
            None => Err(NoPacket::Clipped),
        },
        _ => Err(NoPacket::OtherLink),
    };
    payload.map_err(|reason| cut(record, reason))
}

/// Turns `Clipped` into `Malformed` if the capture contains the whole frame: then the frame itself ends within a
/// header.
fn cut(record: &Record, reason: NoPacket) -> NoPacket {
    if reason == NoPacket::Clipped && !record.is_clipped() { NoPacket::Malformed } else { reason }
}

pub(super) fn of_type_at(frame: &[u8], type_at: usize, payload_at: usize) -> Result<&[u8], NoPacket> {
    let payload = frame.get(payload_at..).ok_or(NoPacket::Clipped)?;
    match of_type(number(frame, type_at)?, payload) {
        Err(NoPacket::NotIp) if is_hiding(payload) => Err(NoPacket::Malformed),
        found => found,
    }
}

/// Returns whether a payload that is not of type IP is or contains a whole IP packet, after a misplaced or incomplete
/// VLAN tag of up to 4 bytes.
fn is_hiding(payload: &[u8]) -> bool {
    [0, 2, 4].iter().any(|at| payload.get(*at..).is_some_and(is_whole))
}

/// Returns whether bytes certainly are an IP packet: an IPv4 header with its checksum, or an IPv6 header with its payload
/// and at most Ethernet padding.
pub(super) fn is_whole(bytes: &[u8]) -> bool {
    match Header::parse(bytes) {
        Some(Header::V4(v4)) => {
            let length = usize::from(v4.total_len());
            has_checksum(&v4, v4.total_len()) && (v4.slice().len()..=bytes.len()).contains(&length)
        }
        Some(Header::V6(v6)) => {
            let length = v6.slice().len() + usize::from(v6.payload_length());
            (length..=length.max(v6.slice().len() + PADDING_BYTES)).contains(&bytes.len())
        }
        None => false,
    }
}

/// Returns whether a header's checksum is right if its length is `total_len`.
fn has_checksum(v4: &Ipv4HeaderSlice<'_>, total_len: u16) -> bool {
    let mut header = v4.to_header();
    header.total_len = total_len;
    header.calc_header_checksum() == v4.header_checksum()
}

/// Returns the payload if it can be an IP packet of a version.
fn of_version(version: u8, payload: &[u8]) -> Result<&[u8], NoPacket> {
    match payload.first() {
        Some(first) if first >> 4 != version => Err(NoPacket::Malformed),
        _ => Ok(payload),
    }
}

pub(super) fn number(bytes: &[u8], at: usize) -> Result<u16, NoPacket> {
    let field = bytes.get(at..).and_then(<[u8]>::first_chunk).ok_or(NoPacket::Clipped)?;
    Ok(u16::from_be_bytes(*field))
}

/// The lowest EtherType. Lower values are lengths, followed by an LLC header (IEEE 802.3).
pub(super) const MIN_TYPE: u16 = 0x600;
/// The LLC and SNAP header that precedes an EtherType.
const SNAP: [u8; 6] = [0xaa, 0xaa, 3, 0, 0, 0];
/// The `EtherType` values of VLAN tags: IEEE 802.1Q, 802.1ad, and those in use before 802.1ad.
const VLAN_TAGS: [EtherType; 4] = [
    EtherType::VLAN_TAGGED_FRAME,
    EtherType::PROVIDER_BRIDGING,
    EtherType::VLAN_DOUBLE_TAGGED_FRAME,
    EtherType(0x9200),
];
/// Returns whether an `EtherType` is that of a VLAN tag.
pub(super) fn is_vlan_tag(ether_type: u16) -> bool {
    VLAN_TAGS.contains(&EtherType(ether_type))
}

const PPPOE_SESSION: EtherType = EtherType(0x8864);
const MPLS: [EtherType; 2] = [EtherType(0x8847), EtherType(0x8848)];

/// Returns the IP packet in the payload of an EtherType, after VLAN tags, MPLS labels, PPP over Ethernet and LLC/SNAP
/// headers.
pub(super) fn of_type(ether_type: u16, payload: &[u8]) -> Result<&[u8], NoPacket> {
    let after = |bytes| payload.get(bytes..).ok_or(NoPacket::Clipped);
    match EtherType(ether_type) {
        EtherType::IPV4 => of_version(4, payload),
        EtherType::IPV6 => of_version(6, payload),
        EtherType(tag) if is_vlan_tag(tag) => of_type(number(payload, 2)?, after(4)?),
        PPPOE_SESSION => match number(payload, 6)? {
            0x0021 => of_version(4, after(8)?),
            0x0057 => of_version(6, after(8)?),
            _ => Err(NoPacket::NotIp),
        },
        mpls if MPLS.contains(&mpls) => of_labels(payload),
        EtherType(0..MIN_TYPE) if payload.starts_with(&SNAP) => of_type(number(payload, 6)?, after(8)?),
        EtherType(0..MIN_TYPE) if SNAP.starts_with(payload) => Err(NoPacket::Clipped),
        // The shortest LLC header has 3 bytes.
        EtherType(0..3) => Err(NoPacket::Malformed),
        _ => Err(NoPacket::NotIp),
    }
}

/// Returns the IP packet after an MPLS label stack. Labels do not identify the payload: it is IP if its first four
/// bits are 4 or 6, the heuristic of routers.
fn of_labels(mut stack: &[u8]) -> Result<&[u8], NoPacket> {
    loop {
        let (label, rest) = stack.split_first_chunk::<4>().ok_or(NoPacket::Clipped)?;
        stack = rest;
        if label[2] & 1 == 1 {
            let version = stack.first().ok_or(NoPacket::Clipped)? >> 4;
            return if matches!(version, 4 | 6) { Ok(stack) } else { Err(NoPacket::NotIp) };
        }
    }
}

/// Returns the IP version of a loopback frame's address family. The field has the byte order of the capturing machine.
/// The number of IPv6 depends on the operating system.
fn version_of_family(field: [u8; 4]) -> Option<u8> {
    [u32::from_le_bytes(field), u32::from_be_bytes(field)].iter().find_map(|family| match family {
        2 => Some(4),
        10 | 23 | 24 | 28 | 30 => Some(6),
        _ => None,
    })
}

fn header<'a>(record: &Record, payload: &'a [u8]) -> Result<Header<'a>, NoPacket> {
    Header::parse(payload).ok_or_else(|| {
        let is_raw = matches!(record.link, DataLink::RAW | DataLink::IPV4 | DataLink::IPV6);
        let bytes = match payload.first().map(|byte| (byte >> 4, byte & 0xf)) {
            Some((4, words)) => (4 * usize::from(words)).max(20),
            Some((6, _)) => 40,
            Some(_) if is_raw => return NoPacket::NotIp,
            Some(_) => return NoPacket::Malformed,
            None => 1,
        };
        cut(record, if payload.len() < bytes { NoPacket::Clipped } else { NoPacket::Malformed })
    })
}

/// Maximum Ethernet padding after an empty IPv6 packet: it fills the payload from 40 to 46 bytes.
const PADDING_BYTES: usize = 6;

/// Returns the length in bytes of the packet at the start of `payload`.
fn declared_len(record: &Record, payload: &[u8], header: &Header<'_>) -> Result<usize, NoPacket> {
    let header_bytes = header_bytes(header);
    // The payload's original length, even if the capture contains only the start of the frame.
    let all = payload.len() + (record.original - record.frame.len().min(record.original));
    match header {
        Header::V4(v4) if v4.total_len() == 0 && !is_segmentable(v4, all) => Err(NoPacket::Malformed),
        Header::V4(v4) if v4.total_len() == 0 => Ok(all),
        Header::V4(v4) if usize::from(v4.total_len()) < header_bytes => Err(NoPacket::Malformed),
        Header::V4(v4) => Ok(v4.total_len().into()),
        Header::V6(v6) if v6.payload_length() > 0 => Ok(header_bytes + usize::from(v6.payload_length())),
        Header::V6(v6) if v6.next_header() == IpNumber::IPV6_NO_NEXT_HEADER => Ok(header_bytes),
        Header::V6(v6) if v6.next_header() == IpNumber::IPV6_HEADER_HOP_BY_HOP => {
            match jumbo_len(&payload[header_bytes..]).map_err(|reason| cut(record, reason))? {
                Some(len) if len > usize::from(u16::MAX) => Ok(header_bytes + len),
                Some(_) => Err(NoPacket::Malformed),
                None => Ok(all),
            }
        }
        Header::V6(_) if all <= header_bytes + PADDING_BYTES => Ok(header_bytes),
        Header::V6(_) => Ok(all),
    }
}

/// Returns whether an IPv4 header without a length can be one before segmentation offload, whose packet has `all` bytes:
/// it is not that of a fragment, and its checksum is right before or after the length is written, or 0.
fn is_segmentable(v4: &Ipv4HeaderSlice<'_>, all: usize) -> bool {
    let whole = !v4.is_fragmenting_payload() && v4.slice()[6] & 0x80 == 0;
    // A packet that is too long for the field has no checksum that could be compared.
    let has_its = |len: usize| u16::try_from(len).is_ok_and(|len| has_checksum(v4, len));
    whole && (v4.header_checksum() == 0 || has_its(0) || has_its(all) || u16::try_from(all).is_err())
}

/// Returns the payload length of a jumbogram from its hop-by-hop header (RFC 2675); `None` without a jumbo option.
fn jumbo_len(hop_by_hop: &[u8]) -> Result<Option<usize>, NoPacket> {
    const PAD_1: u8 = 0;
    const JUMBO: u8 = 0xc2;
    let units = hop_by_hop.get(1).ok_or(NoPacket::Clipped)?;
    let mut options = hop_by_hop.get(2..8 * (1 + usize::from(*units))).ok_or(NoPacket::Clipped)?;
    while let [kind, rest @ ..] = options {
        if *kind == PAD_1 {
            options = rest;
            continue;
        }
        let [len, rest @ ..] = rest else { return Err(NoPacket::Malformed) };
        let (value, rest) = rest.split_at_checked((*len).into()).ok_or(NoPacket::Malformed)?;
        match value.try_into() {
            Ok(len) if *kind == JUMBO => return Ok(Some(u32::from_be_bytes(len) as usize)),
            _ => options = rest,
        }
    }
    Ok(None)
}

fn is_v4(header: &Header<'_>) -> bool {
    matches!(header, Header::V4(_))
}

fn header_bytes(header: &Header<'_>) -> usize {
    match header {
        Header::V4(v4) => v4.slice().len(),
        Header::V6(v6) => v6.slice().len(),
    }
}

fn has_length(header: &Header<'_>) -> bool {
    match header {
        Header::V4(v4) => v4.total_len() != 0,
        Header::V6(v6) => v6.payload_length() != 0,
    }
}

/// Returns the packet with its length written to its header.
fn with_length(packet: &[u8], header: &Header<'_>) -> Vec<u8> {
    let mut packet = packet.to_vec();
    match header {
        Header::V4(_) => set_length_v4(&mut packet),
        Header::V6(_) => set_length_v6(&mut packet),
    }
    packet
}

/// Writes the packet's length, which must fit into 16 bits, to its IPv4 header, and updates the checksum.
pub(super) fn set_length_v4(packet: &mut [u8]) {
    let len = packet.len() as u16;
    packet[2..4].copy_from_slice(&len.to_be_bytes());
    if let Ok(header) = Ipv4HeaderSlice::from_slice(packet) {
        let checksum = header.to_header().calc_header_checksum();
        packet[10..12].copy_from_slice(&checksum.to_be_bytes());
    }
}

/// Writes the payload's length, which must fit into 16 bits, to the packet's IPv6 header.
pub(super) fn set_length_v6(packet: &mut [u8]) {
    let len = packet.len() - Ipv6HeaderSlice::from_slice(packet).map_or(packet.len(), |v6| v6.slice().len());
    packet[4..6].copy_from_slice(&(len as u16).to_be_bytes());
}
