//! The protocol versions that an end supports.
//!
//! Every `hello` and `welcome` carries them. Two ends use the newest version that both support. The fields of these
//! two messages, and their authentication, are the same in every version, so that any two releases can at least log
//! why they cannot work together.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The oldest and the newest protocol version that an end supports, and its release.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Versions {
    /// The oldest supported protocol version.
    pub oldest: u16,
    /// The newest supported protocol version.
    pub newest: u16,
    /// The release of sealcomb-link, for logs and status only.
    pub release: String,
}

impl Versions {
    /// Returns the versions that this release supports.
    pub fn current() -> Self {
        Self { oldest: 1, newest: 1, release: env!("CARGO_PKG_VERSION").into() }
    }

    /// Returns the newest version that both ends support, or `None` if there is none.
    pub fn common(&self, other: &Self) -> Option<u16> {
        let newest = self.newest.min(other.newest);
        (newest >= self.oldest.max(other.oldest)).then_some(newest)
    }
}

/// The versions of an end that sends none.
impl Default for Versions {
    fn default() -> Self {
        Self { oldest: 1, newest: 1, release: String::new() }
    }
}

impl fmt::Display for Versions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { oldest, newest, release } = self;
        let release = printable(release);
        let release = if release.is_empty() { "unknown" } else { &release };
        if oldest == newest {
            write!(f, "release {release} with protocol version {newest}")
        } else {
            write!(f, "release {release} with protocol versions {oldest} to {newest}")
        }
    }
}

/// Returns the printable ASCII characters of a text from the peer, at most 200.
pub fn printable(text: &str) -> String {
    const MAX_CHARS: usize = 200;
    text.chars().filter(|c| c.is_ascii_graphic() || *c == ' ').take(MAX_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn versions(oldest: u16, newest: u16) -> Versions {
        Versions { oldest, newest, release: "9.9.9".into() }
    }

    #[test]
    fn two_ends_use_the_newest_version_of_both_in_either_order() {
        for (a, b, common) in [
            ((1, 1), (1, 1), Some(1)),
            ((1, 1), (1, 3), Some(1)),
            ((1, 2), (1, 3), Some(2)),
            ((2, 5), (3, 4), Some(4)),
            ((1, 2), (2, 3), Some(2)),
            ((1, 1), (2, 2), None),
            ((1, 2), (3, u16::MAX), None),
            ((0, u16::MAX), (7, 7), Some(7)),
            // An empty range has nothing in common with any other.
            ((3, 2), (1, 5), None),
        ] {
            let (a, b) = (versions(a.0, a.1), versions(b.0, b.1));
            assert_eq!((a.common(&b), b.common(&a)), (common, common), "{a}, {b}");
        }
    }

    #[test]
    fn a_release_is_shown_without_control_characters() {
        let text = Versions { release: "1\n\u{1b}[2J".repeat(1000), ..versions(1, 2) }.to_string();
        assert!(text.len() < 300 && text.chars().all(|c| c.is_ascii_graphic() || c == ' '), "{text}");
        assert_eq!(versions(1, 1).to_string(), "release 9.9.9 with protocol version 1");
        assert!(Versions::default().to_string().contains("unknown"));
    }
}
