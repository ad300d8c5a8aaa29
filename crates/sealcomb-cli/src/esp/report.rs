//! What became of the packets, counted and told.

use std::fmt;

use super::ip::NoPacket;
use super::transform::Dropped;

/// Packets that were sealed or opened, and those that never came so far.
#[derive(Default)]
pub(crate) struct Done {
    pub(crate) packets: u64,
    /// Of the inner packets.
    pub(crate) bytes: u64,
    not_ip: u64,
    clipped: u64,
}

impl Done {
    pub(crate) fn count(&mut self, inner: &[u8]) {
        self.packets += 1;
        self.bytes += inner.len() as u64;
    }

    pub(crate) fn count_no_packet(&mut self, reason: NoPacket) {
        match reason {
            NoPacket::NotIp => self.not_ip += 1,
            NoPacket::Clipped => self.clipped += 1,
        }
    }
}

const CLIPPED: &str = "clipped by the capture";

/// Why the exit status is 1, if it is: how many packets should have been sealed or opened and were not.
fn failures(done: &Done, verb: &str, lost: &[(u64, &str)]) -> Option<String> {
    let nothing = (done.packets == 0).then(|| format!("nothing was {verb}"));
    let lost = lost.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}"));
    let reasons: Vec<String> = nothing.into_iter().chain(lost).collect();
    (!reasons.is_empty()).then(|| reasons.join(", "))
}

/// What `seal` did.
#[derive(Default)]
pub(crate) struct Sealed {
    pub(crate) done: Done,
    pub(crate) unprotected: u64,
    pub(crate) too_long: u64,
}

impl Sealed {
    /// Why the exit status is 1, if it is.
    pub(crate) fn failures(&self) -> Option<String> {
        let lost = [(self.done.clipped, CLIPPED), (self.too_long, "too long for the tunnel")];
        failures(&self.done, "sealed", &lost)
    }
}

impl fmt::Display for Sealed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { done: Done { packets, bytes, not_ip, clipped }, unprotected, too_long } = self;
        writeln!(f, "sealed {packets} packets of {bytes} bytes together")?;
        write!(
            f,
            "passed over: {not_ip} not IP, {clipped} {CLIPPED}, {unprotected} that no SA protects, \
             {too_long} too long for the tunnel"
        )
    }
}

/// What `open` did.
#[derive(Default)]
pub(crate) struct Opened {
    pub(crate) done: Done,
    pub(crate) not_esp: u64,
    unknown_spi: u64,
    forged: u64,
    replayed: u64,
    malformed: u64,
    dummies: u64,
    outside_selector: u64,
}

impl Opened {
    pub(crate) fn count_dropped(&mut self, reason: Dropped) {
        match reason {
            Dropped::UnknownSpi => self.unknown_spi += 1,
            Dropped::Malformed => self.malformed += 1,
            Dropped::Replayed => self.replayed += 1,
            Dropped::Forged => self.forged += 1,
            Dropped::Dummy => self.dummies += 1,
            Dropped::OutsideSelector => self.outside_selector += 1,
        }
    }

    /// Why the exit status is 1, if it is. Dummies are dropped as they should be.
    pub(crate) fn failures(&self) -> Option<String> {
        let lost = [
            (self.done.clipped, CLIPPED),
            (self.forged, "forged"),
            (self.replayed, "replayed"),
            (self.malformed, "malformed"),
            (self.unknown_spi, "of unknown SPI"),
            (self.outside_selector, "outside their SA's selector"),
        ];
        failures(&self.done, "opened", &lost)
    }
}

impl fmt::Display for Opened {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { done: Done { packets, bytes, not_ip, clipped }, not_esp, .. } = self;
        let Self { forged, replayed, malformed, unknown_spi, outside_selector, dummies, .. } = self;
        writeln!(f, "opened {packets} packets of {bytes} bytes together")?;
        writeln!(f, "passed over: {not_ip} not IP, {clipped} {CLIPPED}, {not_esp} not ESP")?;
        write!(
            f,
            "dropped: {forged} forged, {replayed} replayed, {malformed} malformed, {unknown_spi} of unknown SPI, \
             {outside_selector} outside their SA's selector, {dummies} dummies"
        )
    }
}
