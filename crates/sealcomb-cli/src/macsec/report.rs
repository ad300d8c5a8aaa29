//! Why frames are not sealed or opened.

use super::transform::{Dropped, Unsealed};
use crate::captures::tally::{Cause, Kind};

const CLIPPED: &str = "clipped by the capture";
const OTHER_LINK: &str = "of a link type that is not Ethernet";

impl Cause for Unsealed {
    const ALL: &'static [Self] = &[
        Self::NoFrame,
        Self::Uncontrolled,
        Self::Unprotected,
        Self::NoNumbers,
        Self::Clipped,
        Self::TooLong,
        Self::OtherLink,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::NoFrame => "not whole frames",
            Self::Uncontrolled => "of key agreement (EAPOL)",
            Self::Unprotected => "that no SA protects",
            Self::NoNumbers => "whose SAs have no packet numbers left",
            Self::Clipped => CLIPPED,
            Self::TooLong => "longer than any frame",
            Self::OtherLink => OTHER_LINK,
        }
    }

    fn kind(self) -> Kind {
        match self {
            Self::Uncontrolled | Self::Unprotected => Kind::NotOurs,
            _ => Kind::Missed,
        }
    }

    fn is_usual(self) -> bool {
        !matches!(self, Self::Clipped | Self::TooLong | Self::OtherLink)
    }
}

/// Why a frame is not opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unopened {
    /// It has no SecTAG.
    Untagged,
    /// The capture holds only the beginning of it.
    Clipped,
    /// It is no Ethernet frame.
    OtherLink,
    Dropped(Dropped),
}

impl Cause for Unopened {
    const ALL: &'static [Self] = &[
        Self::Untagged,
        Self::Clipped,
        Self::OtherLink,
        Self::Dropped(Dropped::NotValid),
        Self::Dropped(Dropped::Late),
        Self::Dropped(Dropped::BadTag),
        Self::Dropped(Dropped::UnknownSci),
        Self::Dropped(Dropped::NotUsingSa),
    ];

    fn name(self) -> &'static str {
        match self {
            Self::Untagged => "not MACsec",
            Self::Clipped => CLIPPED,
            Self::OtherLink => OTHER_LINK,
            Self::Dropped(Dropped::NotValid) => "not valid",
            Self::Dropped(Dropped::Late) => "late or replayed",
            Self::Dropped(Dropped::BadTag) => "with a bad SecTAG",
            Self::Dropped(Dropped::UnknownSci) => "of unknown SCI",
            Self::Dropped(Dropped::NotUsingSa) => "of an AN without SA",
        }
    }

    fn kind(self) -> Kind {
        match self {
            Self::Untagged => Kind::NotOurs,
            Self::Clipped | Self::OtherLink => Kind::Missed,
            Self::Dropped(_) => Kind::Refused,
        }
    }

    fn is_usual(self) -> bool {
        !matches!(self, Self::Clipped | Self::OtherLink)
    }
}
