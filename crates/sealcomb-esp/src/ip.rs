//! What tunnelling needs of an IP header.

use std::net::IpAddr;

use etherparse::{IpDscp, IpNumber, Ipv4HeaderSlice, Ipv6HeaderSlice};

/// The fixed header of an IP packet.
pub enum Header<'a> {
    /// IPv4, with its options.
    V4(Ipv4HeaderSlice<'a>),
    /// IPv6, without extension headers.
    V6(Ipv6HeaderSlice<'a>),
}

impl<'a> Header<'a> {
    /// The header with which a packet begins; `None` if that cannot be one.
    pub fn parse(packet: &'a [u8]) -> Option<Self> {
        match packet.first()? >> 4 {
            4 => Ipv4HeaderSlice::from_slice(packet).ok().map(Self::V4),
            6 => Ipv6HeaderSlice::from_slice(packet).ok().map(Self::V6),
            _ => None,
        }
    }

    /// Bytes of the packet, header included. `None` where the header does not tell: segments that were captured before
    /// the network card cut them to size, jumbograms.
    pub fn packet_len(&self) -> Option<usize> {
        match self {
            Self::V4(header) => {
                let len = usize::from(header.total_len());
                (len >= header.slice().len()).then_some(len)
            }
            Self::V6(header) => {
                let is_jumbo =
                    header.payload_length() == 0 && header.next_header() == IpNumber::IPV6_HEADER_HOP_BY_HOP;
                (!is_jumbo).then(|| header.slice().len() + usize::from(header.payload_length()))
            }
        }
    }

    /// Where it goes.
    pub fn destination(&self) -> IpAddr {
        match self {
            Self::V4(header) => header.destination_addr().into(),
            Self::V6(header) => header.destination_addr().into(),
        }
    }

    /// Its class of service (RFC 2474).
    pub fn dscp(&self) -> IpDscp {
        match self {
            Self::V4(header) => header.dcp(),
            Self::V6(header) => header.dscp(),
        }
    }

    /// The byte that holds class of service and explicit congestion notification: IPv4's TOS, IPv6's traffic class.
    pub fn traffic_class(&self) -> u8 {
        match self {
            Self::V4(header) => header.slice()[1],
            Self::V6(header) => header.traffic_class(),
        }
    }

    /// Whether routers may not cut the packet up. In IPv6 they never may.
    pub fn dont_fragment(&self) -> bool {
        match self {
            Self::V4(header) => header.dont_fragment(),
            Self::V6(_) => true,
        }
    }

    /// The number that announces this packet in the `next header` field of what carries it.
    pub(crate) fn ip_number(&self) -> IpNumber {
        match self {
            Self::V4(_) => IpNumber::IPV4,
            Self::V6(_) => IpNumber::IPV6,
        }
    }
}
