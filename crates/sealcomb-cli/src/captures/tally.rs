//! Accounts for every packet of a capture: it was handled, or it is counted under a cause.

use std::fmt;
use std::marker::PhantomData;

/// Why a packet is not in the output.
pub(crate) trait Cause: Copy + PartialEq + Sized + 'static {
    /// All causes, in the order of the report.
    const ALL: &'static [Self];

    /// Returns the text that follows the number of packets in the report.
    fn name(self) -> &'static str;

    fn kind(self) -> Kind;

    /// Returns whether the report contains this cause even if its count is 0.
    fn is_usual(self) -> bool;
}

/// Whether a packet that was not handled should have been.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Skipped correctly: certainly not a packet for any association.
    NotOurs,
    /// Skipped, but it may have been a packet for an association.
    Missed,
    /// Dropped correctly: a packet without content, such as a dummy.
    Void,
    /// Dropped because it was rejected.
    Refused,
}

impl Kind {
    /// Returns whether such a packet is lost, which makes the exit status 1.
    fn is_loss(self) -> bool {
        matches!(self, Self::Missed | Self::Refused)
    }

    fn is_dropped(self) -> bool {
        matches!(self, Self::Void | Self::Refused)
    }
}

/// Packet counts.
pub(crate) struct Tally<C> {
    done: u64,
    /// Total size of the unprotected packets.
    bytes: u64,
    /// One count for each of [`Cause::ALL`].
    causes: Vec<u64>,
    /// The numbers of reassembled packets and of their fragments.
    reassembled: (u64, u64),
    /// The number of packets with a frame check sequence.
    with_fcs: u64,
    cause: PhantomData<C>,
}

impl<C: Cause> Tally<C> {
    pub(crate) fn new() -> Self {
        Self {
            done: 0,
            bytes: 0,
            causes: vec![0; C::ALL.len()],
            reassembled: (0, 0),
            with_fcs: 0,
            cause: PhantomData,
        }
    }

    /// Counts a packet that was handled.
    pub(crate) fn done(&mut self, plain_bytes: usize) {
        self.done += 1;
        self.bytes += plain_bytes as u64;
    }

    /// Counts a packet that was not handled.
    pub(crate) fn not_done(&mut self, cause: C) {
        self.add(cause, 1);
    }

    /// Counts packets that were not handled.
    pub(crate) fn add(&mut self, cause: C, packets: u64) {
        let place = C::ALL.iter().position(|other| *other == cause).expect("every cause is listed");
        self.causes[place] += packets;
    }

    /// Counts a reassembled packet with this many fragments.
    pub(crate) fn reassembled(&mut self, fragments: u64) {
        self.reassembled.0 += 1;
        self.reassembled.1 += fragments;
    }

    /// Counts packets whose frame check sequence was removed.
    pub(crate) fn with_fcs(&mut self, packets: u64) {
        self.with_fcs += packets;
    }

    /// Returns the number of packets of the capture that are accounted for, each fragment counted as one.
    pub(crate) fn total(&self) -> u64 {
        let (packets, fragments) = self.reassembled;
        self.done + self.causes.iter().sum::<u64>() + fragments - packets
    }

    /// Returns, for each of [`Cause::ALL`], whether its count is above 0.
    pub(crate) fn causes(&self) -> Vec<bool> {
        self.causes.iter().map(|count| *count > 0).collect()
    }

    fn counted(&self) -> impl Iterator<Item = (C, u64)> {
        C::ALL.iter().copied().zip(self.causes.iter().copied())
    }

    /// Returns the reasons for exit status 1: the counts of lost packets by cause. `None` if nothing was lost. `verb`
    /// is what was done to the other packets.
    pub(crate) fn failures(&self, verb: &str) -> Option<String> {
        let nothing = (self.done == 0).then(|| format!("nothing was {verb}"));
        let lost = self.counted().filter(|(cause, count)| *count > 0 && cause.kind().is_loss());
        let lost = lost.map(|(cause, count)| format!("{count} {}", cause.name()));
        let reasons: Vec<String> = nothing.into_iter().chain(lost).collect();
        (!reasons.is_empty()).then(|| reasons.join(", "))
    }

    /// Returns the report: how many `things` (such as packets) were handled, and the counts of the others by cause.
    pub(crate) fn report(&self, verb: &str, things: &str) -> String {
        Report { tally: self, verb, things }.to_string()
    }
}

struct Report<'a, C> {
    tally: &'a Tally<C>,
    verb: &'a str,
    things: &'a str,
}

impl<C: Cause> fmt::Display for Report<'_, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { tally, verb, things } = self;
        let Tally { done, bytes, reassembled: (packets, fragments), with_fcs, .. } = tally;
        write!(f, "{verb} {done} {things} ({bytes} bytes)")?;
        for (title, is_dropped) in [("skipped", false), ("dropped", true)] {
            let counts = tally.counted().filter(|(cause, count)| {
                cause.kind().is_dropped() == is_dropped && (*count > 0 || cause.is_usual())
            });
            let counts: Vec<String> =
                counts.map(|(cause, count)| format!("{count} {}", cause.name())).collect();
            if !counts.is_empty() {
                write!(f, "\n{title}: {}", counts.join(", "))?;
            }
        }
        if *packets > 0 {
            write!(f, "\nreassembled: {packets} packets from {fragments} IP fragments")?;
        }
        if *with_fcs > 0 {
            write!(f, "\nremoved: frame check sequences of {with_fcs} {things}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Copy, Debug, PartialEq)]
    enum Why {
        Foreign,
        Clipped,
        Dummy,
        Forged,
    }

    impl Cause for Why {
        const ALL: &'static [Self] = &[Self::Foreign, Self::Clipped, Self::Dummy, Self::Forged];

        fn name(self) -> &'static str {
            match self {
                Self::Foreign => "foreign",
                Self::Clipped => "clipped",
                Self::Dummy => "dummies",
                Self::Forged => "forged",
            }
        }

        fn kind(self) -> Kind {
            match self {
                Self::Foreign => Kind::NotOurs,
                Self::Clipped => Kind::Missed,
                Self::Dummy => Kind::Void,
                Self::Forged => Kind::Refused,
            }
        }

        fn is_usual(self) -> bool {
            self != Self::Clipped
        }
    }

    #[test]
    fn only_missed_and_refused_packets_are_failures() {
        for why in Why::ALL {
            let mut tally = Tally::new();
            tally.done(100);
            tally.not_done(*why);
            let is_failure = matches!(why, Why::Clipped | Why::Forged);
            assert_eq!(tally.failures("opened"), is_failure.then(|| format!("1 {}", why.name())));
            assert_eq!(tally.total(), 2);
        }
        assert_eq!(Tally::<Why>::new().failures("opened").unwrap(), "nothing was opened");
    }

    #[test]
    fn a_report_contains_usual_causes_and_those_that_occurred() {
        let mut tally = Tally::new();
        tally.done(100);
        let report = tally.report("opened", "packets");
        assert_eq!(report, "opened 1 packets (100 bytes)\nskipped: 0 foreign\ndropped: 0 dummies, 0 forged");
        tally.add(Why::Clipped, 3);
        assert!(tally.report("opened", "packets").contains("skipped: 0 foreign, 3 clipped\n"));
    }
}
