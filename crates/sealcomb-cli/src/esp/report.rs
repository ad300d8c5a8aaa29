//! The report's causes: why packets were not sealed or opened.

use super::carried::NoEsp;
use super::ip::NoPacket;
use super::transform::Dropped;
use crate::captures::tally::{Cause, Kind};

const CLIPPED: &str = "clipped by the capture";
const MALFORMED_HEADER: &str = "with malformed headers";
const OTHER_LINK: &str = "of an unsupported link type";

/// Why a packet was not sealed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unsealed {
    NoPacket(NoPacket),
    /// No association protects the packet.
    Unprotected,
}

/// The ESP packet would exceed the maximum length of an IP packet.
pub(crate) const TOO_LONG: Unsealed = Unsealed::NoPacket(NoPacket::TooLong);

impl Cause for Unsealed {
    const ALL: &'static [Self] = &[
        Self::NoPacket(NoPacket::NotIp),
        Self::NoPacket(NoPacket::Clipped),
        Self::Unprotected,
        TOO_LONG,
        Self::NoPacket(NoPacket::Malformed),
        Self::NoPacket(NoPacket::OtherLink),
    ];

    fn name(self) -> &'static str {
        match self {
            Self::NoPacket(NoPacket::NotIp) => "not IP",
            Self::NoPacket(NoPacket::Clipped) => CLIPPED,
            Self::Unprotected => "not protected by any SA",
            Self::NoPacket(NoPacket::TooLong) => "too long for the tunnel",
            Self::NoPacket(NoPacket::Malformed) => MALFORMED_HEADER,
            Self::NoPacket(NoPacket::OtherLink) => OTHER_LINK,
        }
    }

    fn kind(self) -> Kind {
        match self {
            Self::NoPacket(NoPacket::NotIp) | Self::Unprotected => Kind::NotOurs,
            Self::NoPacket(_) => Kind::Missed,
        }
    }

    fn is_usual(self) -> bool {
        !matches!(self, Self::NoPacket(NoPacket::Malformed | NoPacket::OtherLink))
    }
}

/// Why a packet was not opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unopened {
    NoPacket(NoPacket),
    NoEsp(NoEsp),
    /// The packet is a fragment, and the capture lacks other fragments.
    Incomplete,
    Dropped(Dropped),
}

impl Cause for Unopened {
    const ALL: &'static [Self] = &[
        Self::NoPacket(NoPacket::NotIp),
        Self::NoPacket(NoPacket::Clipped),
        Self::NoEsp(NoEsp::Other),
        Self::NoEsp(NoEsp::KeyExchange),
        Self::Dropped(Dropped::Forged),
        Self::Dropped(Dropped::Replayed),
        Self::Dropped(Dropped::Malformed),
        Self::Dropped(Dropped::UnknownSpi),
        Self::Dropped(Dropped::OutsideSelector),
        Self::Dropped(Dropped::Dummy),
        Self::Incomplete,
        Self::NoEsp(NoEsp::Tunneled),
        Self::NoEsp(NoEsp::Stream),
        Self::NoEsp(NoEsp::Malformed),
        Self::NoPacket(NoPacket::TooLong),
        Self::NoPacket(NoPacket::Malformed),
        Self::NoPacket(NoPacket::OtherLink),
    ];

    fn name(self) -> &'static str {
        match self {
            Self::NoPacket(NoPacket::NotIp) => "not IP",
            Self::NoPacket(NoPacket::Clipped) => CLIPPED,
            Self::NoPacket(NoPacket::TooLong) => "jumbograms",
            Self::NoPacket(NoPacket::Malformed) => MALFORMED_HEADER,
            Self::NoPacket(NoPacket::OtherLink) => OTHER_LINK,
            Self::NoEsp(NoEsp::Other) => "not ESP",
            Self::NoEsp(NoEsp::KeyExchange) => "IKE or NAT keepalives",
            Self::NoEsp(NoEsp::Tunneled) => "ESP inside another tunnel",
            Self::NoEsp(NoEsp::Stream) => "on TCP port 4500 (RFC 9329)",
            Self::NoEsp(NoEsp::Malformed) => "too short for ESP or malformed before the ESP header",
            Self::Incomplete => "IP fragments of incomplete packets",
            Self::Dropped(Dropped::Forged) => "forged",
            Self::Dropped(Dropped::Replayed) => "replayed",
            Self::Dropped(Dropped::Malformed) => "malformed",
            Self::Dropped(Dropped::UnknownSpi) => "of unknown SPI",
            Self::Dropped(Dropped::OutsideSelector) => "outside their SA's selector",
            Self::Dropped(Dropped::Dummy) => "dummy packets",
        }
    }

    fn kind(self) -> Kind {
        match self {
            Self::NoPacket(NoPacket::NotIp) | Self::NoEsp(NoEsp::Other | NoEsp::KeyExchange) => Kind::NotOurs,
            Self::NoPacket(_) | Self::NoEsp(_) | Self::Incomplete => Kind::Missed,
            Self::Dropped(Dropped::Dummy) => Kind::Void,
            Self::Dropped(_) => Kind::Refused,
        }
    }

    fn is_usual(self) -> bool {
        matches!(
            self,
            Self::NoPacket(NoPacket::NotIp | NoPacket::Clipped)
                | Self::NoEsp(NoEsp::Other)
                | Self::Dropped(_)
        )
    }
}
