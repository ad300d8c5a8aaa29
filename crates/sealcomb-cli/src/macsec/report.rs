//! The report's causes: why frames were not sealed or opened.

use super::transform::{Dropped, Unsealed, Unverified};
use crate::captures::tally::{Cause, Kind};

const CLIPPED: &str = "clipped by the capture";
const OTHER_LINK: &str = "not Ethernet";

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
            Self::NoFrame => "shorter than an Ethernet header",
            Self::Uncontrolled => "EAPOL (key agreement)",
            Self::Unprotected => "not protected by any SA",
            Self::NoNumbers => "without packet numbers left",
            Self::Clipped => CLIPPED,
            Self::TooLong => "longer than any Ethernet frame",
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

impl Unverified {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Invalid => "with a wrong ICV",
            Self::Unchecked => "not checked",
            Self::UnknownSci => "of unknown SCI",
            Self::UnusedSa => "of an AN without an SA",
        }
    }
}

/// Why a frame was not opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unopened {
    /// The frame has no SecTAG.
    Untagged,
    /// The capture contains only the start of the frame.
    Clipped,
    /// The link type is not Ethernet.
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
            Self::Dropped(Dropped::NotUsingSa) => "of an AN without an SA",
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
