//! Reassembles IP fragments.

use std::borrow::Cow;
use std::collections::HashMap;
use std::net::IpAddr;
use std::time::Duration;

use etherparse::defrag::IpDefragBuf;
use etherparse::{IpFragOffset, IpNumber, Ipv6FragmentHeaderSlice};
use sealcomb_esp::Header;

use super::carried::{NoEsp, has_port, is_tunnel};
use super::ip;
use super::report::Unopened;

/// Maximum number of incomplete packets. Each uses up to 64 KiB of memory.
const MAX_WAITING: usize = 1024;
/// Reassembly timeout (RFC 8200, section 4.5). Later fragments belong to another packet.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Identifies the packet of a fragment. In IPv6 the protocol is not part of it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Id {
    interface: u32,
    addresses: [IpAddr; 2],
    identification: u32,
    protocol: Option<u8>,
}

/// An incomplete packet.
struct Waiting {
    /// Capture time of the first fragment received.
    since: Duration,
    fragments: u64,
    /// The IP header of the first fragment received, without IPv6 extension headers.
    header: Vec<u8>,
    /// The payload's protocol. In IPv6, fragments can have different ones, of which the one at offset 0 applies (RFC
    /// 8200, section 4.5).
    protocol: IpNumber,
    payload: IpDefragBuf,
}

/// Reassembles fragments.
#[derive(Default)]
pub(crate) struct Fragments {
    waiting: HashMap<Id, Waiting>,
    /// Numbers of fragments that cannot be reassembled, by cause.
    lost: Vec<(Unopened, u64)>,
}

/// The result of adding a packet.
pub(crate) enum Added<'a> {
    /// The packet is not a fragment.
    Whole(Cow<'a, [u8]>),
    /// The fragment completes this packet. Contains the number of its fragments.
    Reassembled(Vec<u8>, u64),
    /// The fragment was stored. Its packet is still incomplete.
    Waiting,
}

/// A fragment of a packet.
struct Fragment<'a> {
    id: Id,
    protocol: IpNumber,
    offset: IpFragOffset,
    more: bool,
    payload: &'a [u8],
}

impl Fragments {
    /// Adds a packet captured at `time`.
    pub(crate) fn add<'a>(
        &mut self,
        packet: Cow<'a, [u8]>,
        interface: u32,
        time: Duration,
    ) -> Result<Added<'a>, NoEsp> {
        let Some(Fragment { id, protocol, offset, more, payload }) = fragment(&packet, interface)? else {
            return Ok(Added::Whole(packet));
        };
        if self.waiting.get(&id).is_some_and(|waiting| time.saturating_sub(waiting.since) > TIMEOUT)
            && let Some(old) = self.waiting.remove(&id)
        {
            self.lost.push(old.loss());
        }
        if self.waiting.len() >= MAX_WAITING && !self.waiting.contains_key(&id) {
            self.discard_oldest();
        }
        let header_bytes = if packet[0] >> 4 == 6 { 40 } else { packet.len() - payload.len() };
        let mut waiting = self.waiting.remove(&id).unwrap_or_else(|| Waiting {
            since: time,
            fragments: 0,
            header: packet[..header_bytes].to_vec(),
            protocol,
            payload: IpDefragBuf::new(protocol, Vec::new(), Vec::new()),
        });
        let added = waiting.payload.add(offset, more, payload);
        if added.is_ok() {
            waiting.fragments += 1;
            if offset.value() == 0 {
                waiting.protocol = protocol;
            }
            if waiting.payload.is_complete() {
                let fragments = waiting.fragments;
                if let Some(packet) = waiting.reassemble() {
                    return Ok(Added::Reassembled(packet, fragments));
                }
                self.lost.push((Unopened::NoEsp(NoEsp::Malformed), fragments));
                return Ok(Added::Waiting);
            }
        }
        if waiting.fragments > 0 {
            self.waiting.insert(id, waiting);
        }
        added.map(|()| Added::Waiting).map_err(|_| NoEsp::Malformed)
    }

    fn discard_oldest(&mut self) {
        let oldest = self.waiting.iter().min_by_key(|(_, waiting)| waiting.since).map(|(id, _)| *id);
        let oldest = oldest.and_then(|id| self.waiting.remove(&id));
        self.lost.extend(oldest.map(|waiting| waiting.loss()));
    }

    /// Returns the numbers of fragments that were never reassembled, by cause.
    pub(crate) fn lost(self) -> impl Iterator<Item = (Unopened, u64)> {
        self.lost.into_iter().chain(self.waiting.into_values().map(|waiting| waiting.loss()))
    }
}

impl Waiting {
    /// Returns the reassembled packet. `None` if it exceeds the maximum length of a packet.
    fn reassemble(self) -> Option<Vec<u8>> {
        let Self { mut header, protocol, payload, .. } = self;
        let (payload, _) = payload.take_bufs();
        let is_v6 = header[0] >> 4 == 6;
        let len = payload.len() + if is_v6 { 0 } else { header.len() };
        u16::try_from(len).ok()?;
        if is_v6 {
            header[6] = protocol.0;
        } else {
            header[6..8].fill(0);
        }
        let mut packet = header;
        packet.extend(payload);
        if is_v6 {
            ip::set_length_v6(&mut packet);
        } else {
            ip::set_length_v4(&mut packet);
        }
        Some(packet)
    }

    /// Returns the cause and the number of the fragments if the packet stays incomplete. They are `Other` only if
    /// they are certain not to carry ESP.
    fn loss(&self) -> (Unopened, u64) {
        let payload = &self.payload;
        let begins = |section: &etherparse::defrag::IpFragRange| section.start == 0 && section.end >= 4;
        let has_beginning = payload.sections().iter().any(begins);
        let beginning = has_beginning.then(|| &payload.data()[..4]);
        let is_certain = match self.protocol {
            IpNumber::TCP => beginning.and_then(has_port) == Some(false),
            IpNumber::UDP => {
                beginning.is_some_and(|ports| has_port(ports) == Some(false) && !is_tunnel(ports))
            }
            IpNumber::ICMP | IpNumber::IPV6_ICMP => true,
            _ => false,
        };
        let reason = if is_certain { Unopened::NoEsp(NoEsp::Other) } else { Unopened::Incomplete };
        (reason, self.fragments)
    }
}

/// Parses a packet as a fragment. `None` if it is not a fragment.
fn fragment(packet: &[u8], interface: u32) -> Result<Option<Fragment<'_>>, NoEsp> {
    let header = Header::parse(packet).ok_or(NoEsp::Malformed)?;
    match header {
        Header::V4(v4) if v4.is_fragmenting_payload() => Ok(Some(Fragment {
            id: Id {
                interface,
                addresses: [v4.source_addr().into(), v4.destination_addr().into()],
                identification: v4.identification().into(),
                protocol: Some(v4.protocol().0),
            },
            protocol: v4.protocol(),
            offset: v4.fragments_offset(),
            more: v4.more_fragments(),
            payload: &packet[v4.slice().len()..],
        })),
        Header::V4(_) => Ok(None),
        Header::V6(v6) => {
            let Some(at) = fragment_header_at(packet, v6.next_header())? else { return Ok(None) };
            let rest = &packet[at..];
            let fragment = Ipv6FragmentHeaderSlice::from_slice(rest).map_err(|_| NoEsp::Malformed)?;
            if !fragment.is_fragmenting_payload() {
                return Ok(None);
            }
            Ok(Some(Fragment {
                id: Id {
                    interface,
                    addresses: [v6.source_addr().into(), v6.destination_addr().into()],
                    identification: fragment.identification(),
                    protocol: None,
                },
                protocol: fragment.next_header(),
                offset: fragment.fragment_offset(),
                more: fragment.more_fragments(),
                payload: &rest[fragment.slice().len()..],
            }))
        }
    }
}

/// Returns the offset of the fragment header in an IPv6 packet, after the extension headers that precede it. `None`:
/// the packet has none.
fn fragment_header_at(packet: &[u8], mut next: IpNumber) -> Result<Option<usize>, NoEsp> {
    let mut at = 40;
    loop {
        match next {
            IpNumber::IPV6_FRAGMENTATION_HEADER => return Ok(Some(at)),
            IpNumber::IPV6_HEADER_HOP_BY_HOP
            | IpNumber::IPV6_ROUTE_HEADER
            | IpNumber::IPV6_DESTINATION_OPTIONS
            | IpNumber::MOBILITY_HEADER => {
                let [number, units, ..] = packet.get(at..).unwrap_or_default() else {
                    return Err(NoEsp::Malformed);
                };
                next = IpNumber(*number);
                at += 8 * (1 + usize::from(*units));
                if at > packet.len() {
                    return Err(NoEsp::Malformed);
                }
            }
            _ => return Ok(None),
        }
    }
}
