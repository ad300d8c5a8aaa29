//! What became of the packets of a capture: each was handled, or there is a named cause why not.

use std::fmt;
use std::marker::PhantomData;

/// Why a packet is not in the output.
pub(crate) trait Cause: Copy + PartialEq + Sized + 'static {
    /// All that there are, in the order in which they are told.
    const ALL: &'static [Self];

    /// What is told behind the number of packets.
    fn name(self) -> &'static str;

    fn kind(self) -> Kind;

    /// Whether it is told even if there is no such packet.
    fn is_usual(self) -> bool;
}

/// Whether a packet should have been handled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// No: it is certain that no association is concerned.
    NotOurs,
    /// Yes, and it was not looked at.
    Missed,
    /// No: it was looked at, and is to be dropped.
    Void,
    /// Yes, but it was refused.
    Refused,
}

impl Kind {
    /// Whether such a packet is a loss, so that the exit status is 1.
    fn is_loss(self) -> bool {
        matches!(self, Self::Missed | Self::Refused)
    }

    fn is_dropped(self) -> bool {
        matches!(self, Self::Void | Self::Refused)
    }
}

/// Counts of packets.
pub(crate) struct Tally<C> {
    done: u64,
    /// Of the packets without protection.
    bytes: u64,
    /// Beside [`Cause::ALL`].
    causes: Vec<u64>,
    /// Packets that came in fragments and are counted, and their fragments.
    reassembled: (u64, u64),
    /// Packets that came with a frame check sequence.
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

    /// Counts the fragments of a packet that is counted as one.
    pub(crate) fn reassembled(&mut self, fragments: u64) {
        self.reassembled.0 += 1;
        self.reassembled.1 += fragments;
    }

    /// Counts packets whose frame check sequence was left off.
    pub(crate) fn with_fcs(&mut self, packets: u64) {
        self.with_fcs += packets;
    }

    /// The packets of the capture that were counted.
    pub(crate) fn total(&self) -> u64 {
        let (packets, fragments) = self.reassembled;
        self.done + self.causes.iter().sum::<u64>() + fragments - packets
    }

    /// Beside [`Cause::ALL`]: whether there are packets of that cause.
    pub(crate) fn causes(&self) -> Vec<bool> {
        self.causes.iter().map(|count| *count > 0).collect()
    }

    fn counted(&self) -> impl Iterator<Item = (C, u64)> {
        C::ALL.iter().copied().zip(self.causes.iter().copied())
    }

    /// Why the exit status is 1, if it is: how many packets should have been handled and were not. `verb` is what
    /// was done to the others.
    pub(crate) fn failures(&self, verb: &str) -> Option<String> {
        let nothing = (self.done == 0).then(|| format!("nothing was {verb}"));
        let lost = self.counted().filter(|(cause, count)| *count > 0 && cause.kind().is_loss());
        let lost = lost.map(|(cause, count)| format!("{count} {}", cause.name()));
        let reasons: Vec<String> = nothing.into_iter().chain(lost).collect();
        (!reasons.is_empty()).then(|| reasons.join(", "))
    }

    /// The report: what was done, to `things` such as packets, and what became of the others.
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
        write!(f, "{verb} {done} {things} of {bytes} bytes together")?;
        for (title, is_dropped) in [("passed over", false), ("dropped", true)] {
            let told = tally.counted().filter(|(cause, count)| {
                cause.kind().is_dropped() == is_dropped && (*count > 0 || cause.is_usual())
            });
            let told: Vec<String> = told.map(|(cause, count)| format!("{count} {}", cause.name())).collect();
            if !told.is_empty() {
                write!(f, "\n{title}: {}", told.join(", "))?;
            }
        }
        if *packets > 0 {
            write!(f, "\nreassembled: {packets} packets from {fragments} IP fragments")?;
        }
        if *with_fcs > 0 {
            write!(f, "\nremoved: the frame check sequences of {with_fcs} {things}")?;
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
    fn what_is_not_ours_is_no_failure_and_what_is_missed_or_refused_is_one() {
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
    fn a_report_tells_usual_causes_always_and_others_where_they_came() {
        let mut tally = Tally::new();
        tally.done(100);
        let report = tally.report("opened", "packets");
        assert_eq!(
            report,
            "opened 1 packets of 100 bytes together\npassed over: 0 foreign\ndropped: 0 dummies, 0 forged"
        );
        tally.add(Why::Clipped, 3);
        assert!(tally.report("opened", "packets").contains("passed over: 0 foreign, 3 clipped\n"));
    }
}
