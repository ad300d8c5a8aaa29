//! What became of the frames, counted and told.

use std::fmt;

use super::transform::{Dropped, Unsealed};

/// Frames that were sealed or opened.
#[derive(Default)]
pub(crate) struct Done {
    pub(crate) frames: u64,
    /// Of the frames as they are without protection.
    pub(crate) bytes: u64,
}

impl Done {
    pub(crate) fn count(&mut self, plain_bytes: usize) {
        self.frames += 1;
        self.bytes += plain_bytes as u64;
    }
}

/// Why the exit status is 1, if it is: how many frames should have been sealed or opened and were not.
fn failures(done: &Done, verb: &str, lost: &[(u64, &str)]) -> Option<String> {
    let nothing = (done.frames == 0).then(|| format!("nothing was {verb}"));
    let lost = lost.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}"));
    let reasons: Vec<String> = nothing.into_iter().chain(lost).collect();
    (!reasons.is_empty()).then(|| reasons.join(", "))
}

/// What `seal` did.
#[derive(Default)]
pub(crate) struct Sealed {
    pub(crate) done: Done,
    no_frame: u64,
    uncontrolled: u64,
    unprotected: u64,
    no_numbers: u64,
}

impl Sealed {
    pub(crate) fn count_unsealed(&mut self, why: Unsealed) {
        match why {
            Unsealed::NoFrame => self.no_frame += 1,
            Unsealed::Uncontrolled => self.uncontrolled += 1,
            Unsealed::Unprotected => self.unprotected += 1,
            Unsealed::NoNumbers => self.no_numbers += 1,
        }
    }

    /// Why the exit status is 1, if it is.
    pub(crate) fn failures(&self) -> Option<String> {
        let lost =
            [(self.no_frame, "not whole frames"), (self.no_numbers, "whose SAs have no packet numbers left")];
        failures(&self.done, "sealed", &lost)
    }
}

impl fmt::Display for Sealed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { done: Done { frames, bytes }, no_frame, uncontrolled, unprotected, no_numbers } = self;
        writeln!(f, "sealed {frames} frames of {bytes} bytes together")?;
        write!(
            f,
            "passed over: {no_frame} not whole frames, {uncontrolled} of key agreement (EAPOL), {unprotected} that no SA \
             protects, {no_numbers} whose SAs have no packet numbers left"
        )
    }
}

/// What `open` did.
#[derive(Default)]
pub(crate) struct Opened {
    pub(crate) done: Done,
    pub(crate) untagged: u64,
    bad_tag: u64,
    unknown_sci: u64,
    not_using_sa: u64,
    late: u64,
    not_valid: u64,
}

impl Opened {
    pub(crate) fn count_dropped(&mut self, reason: Dropped) {
        match reason {
            Dropped::BadTag => self.bad_tag += 1,
            Dropped::UnknownSci => self.unknown_sci += 1,
            Dropped::NotUsingSa => self.not_using_sa += 1,
            Dropped::Late => self.late += 1,
            Dropped::NotValid => self.not_valid += 1,
        }
    }

    /// Why the exit status is 1, if it is.
    pub(crate) fn failures(&self) -> Option<String> {
        let lost = [
            (self.not_valid, "not valid"),
            (self.late, "late or replayed"),
            (self.bad_tag, "with a bad SecTAG"),
            (self.unknown_sci, "of unknown SCI"),
            (self.not_using_sa, "of an AN without SA"),
        ];
        failures(&self.done, "opened", &lost)
    }
}

impl fmt::Display for Opened {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            done: Done { frames, bytes },
            untagged,
            bad_tag,
            unknown_sci,
            not_using_sa,
            late,
            not_valid,
        } = self;
        writeln!(f, "opened {frames} frames of {bytes} bytes together")?;
        writeln!(f, "passed over: {untagged} not MACsec")?;
        write!(
            f,
            "dropped: {not_valid} not valid, {late} late or replayed, {bad_tag} with a bad SecTAG, {unknown_sci} of \
             unknown SCI, {not_using_sa} of an AN without SA"
        )
    }
}
