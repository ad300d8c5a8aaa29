//! The fields of an IP header that tunneling needs.

use std::net::IpAddr;

use etherparse::{IpDscp, IpNumber, Ipv4HeaderSlice, Ipv6HeaderSlice};

/// The fixed header of an IP packet.
pub enum Header<'a> {
    /// An IPv4 header, options included.
    V4(Ipv4HeaderSlice<'a>),
    /// An IPv6 header, without extension headers.
    V6(Ipv6HeaderSlice<'a>),
}

impl<'a> Header<'a> {
    /// Parses the header at the start of a packet. Returns `None` if it is not a valid IPv4 or IPv6 header.
    pub fn parse(packet: &'a [u8]) -> Option<Self> {
        match packet.first()? >> 4 {
            4 => Ipv4HeaderSlice::from_slice(packet).ok().map(Self::V4),
            6 => Ipv6HeaderSlice::from_slice(packet).ok().map(Self::V6),
            _ => None,
        }
    }

    /// Returns the packet's length in bytes, header included. Returns `None` if the header does not contain it: in
    /// jumbograms, and in segments captured before the network card split them (TSO).
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

    /// Returns the destination address.
    pub fn destination(&self) -> IpAddr {
        match self {
            Self::V4(header) => header.destination_addr().into(),
            Self::V6(header) => header.destination_addr().into(),
        }
    }

    /// Returns the differentiated services code point (RFC 2474).
    pub fn dscp(&self) -> IpDscp {
        match self {
            Self::V4(header) => header.dcp(),
            Self::V6(header) => header.dscp(),
        }
    }

    /// Returns the byte that contains DSCP and ECN: IPv4's TOS, IPv6's traffic class.
    pub fn traffic_class(&self) -> u8 {
        match self {
            Self::V4(header) => header.slice()[1],
            Self::V6(header) => header.traffic_class(),
        }
    }

    /// Returns whether routers must not fragment the packet: always `true` for IPv6.
    pub fn dont_fragment(&self) -> bool {
        match self {
            Self::V4(header) => header.dont_fragment(),
            Self::V6(_) => true,
        }
    }

    /// The protocol number of this IP version, for ESP's `next header` field.
    pub(crate) fn ip_number(&self) -> IpNumber {
        match self {
            Self::V4(_) => IpNumber::IPV4,
            Self::V6(_) => IpNumber::IPV6,
        }
    }
}
