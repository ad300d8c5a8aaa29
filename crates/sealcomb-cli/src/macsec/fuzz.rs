//! Fuzz targets: SA files, and the frames of a burst.
#![allow(clippy::missing_panics_doc, reason = "fuzz targets panic on purpose")]

use std::cell::RefCell;
use std::mem;
use std::ops::Range;

use pcap_file::DataLink;

use super::report::Unopened;
use super::transform::{Incoming, Opener, Sealer, Unsealed, Validate};
use super::{incoming, sa_file};
use crate::captures::capture::Record;
use crate::captures::tally::Tally;
use crate::esp::fuzz::contains_key;
use crate::fuzz::{kind, outcome};

/// One association per cipher suite, with different forms of the SCI.
const ASSOCIATIONS: &str = include_str!("../../../../captures/macsec.toml");

/// Where a VLAN tag in the clear is in a frame.
const VLAN_TAG: Range<usize> = 12..16;
/// The EtherType of MACsec.
const SECTAG: [u8; 2] = [0x88, 0xe5];

/// Parses arbitrary text as an SA file. An error must be one line and must not contain anything that looks like a
/// key.
pub fn associations(bytes: &[u8]) -> u64 {
    let Ok(text) = str::from_utf8(bytes) else { return 0 };
    match sa_file::parse("macsec.toml", text) {
        Ok((associations, keys_are_public)) => {
            let forms: Vec<_> = associations.iter().map(|sa| mem::discriminant(&sa.header.form)).collect();
            outcome((forms, keys_are_public))
        }
        Err(error) => {
            let line = format!("{error:#}");
            assert!(line.starts_with("macsec.toml:") && line.lines().count() == 1, "{line}");
            assert!(!contains_key(&line), "{line}");
            outcome(kind(&line))
        }
    }
}

thread_local! {
    /// Both peers of the associations. Key setup is slow, so inputs share them.
    static ENDS: RefCell<(Sealer, Opener)> = {
        let associations = || sa_file::parse("macsec.toml", ASSOCIATIONS).expect("valid associations").0;
        RefCell::new((Sealer::new(associations()), Opener::new(associations(), Validate::Strict)))
    };
}

/// Lays out the frames of a capture for sealing, and opens them. Returns which causes occurred in each direction.
/// Every frame must be handled or have a cause, and none may open.
pub(crate) fn accounted_for(records: &[Record]) -> [Vec<bool>; 2] {
    ENDS.with_borrow_mut(|(sealer, opener)| {
        let mut sealed = Tally::<Unsealed>::new();
        for (record, laid_out) in records.iter().zip(sealer.lay_out(records)) {
            match laid_out {
                Ok(_) => sealed.done(record.frame.len()),
                Err(cause) => sealed.not_done(cause),
            }
        }
        let mut opened = Tally::<Unopened>::new();
        let (_, burst) = incoming(records, &mut opened);
        for frame in opener.open(&burst).expect("a burst") {
            opened.not_done(Unopened::Dropped(frame.expect_err("a forged frame must not open")));
        }
        for total in [sealed.total(), opened.total()] {
            assert_eq!(total, records.len() as u64);
        }
        [sealed.causes(), opened.causes()]
    })
}

/// Interprets arbitrary bytes as a burst of frames, each a length byte and content. The frames are opened and must be
/// rejected. Then they are sealed and opened, with a flipped bit if their length is odd: exactly the unmodified ones
/// must open.
pub fn frames(bytes: &[u8]) -> u64 {
    let mut frames = Vec::new();
    let mut rest = bytes;
    while let Some((&len, after)) = rest.split_first() {
        let (frame, after) = after.split_at(usize::from(len).min(after.len()));
        frames.push(Record::whole(DataLink::ETHERNET, frame.to_vec()));
        rest = after;
    }
    ENDS.with_borrow_mut(|(sealer, opener)| {
        let foreign: Vec<_> = frames.iter().filter_map(|frame| Incoming::find(frame).ok()).collect();
        let refused: Vec<_> = opener.open(&foreign).expect("a burst").into_iter().map(Result::err).collect();
        assert!(refused.iter().all(Option::is_some), "a forged frame must not open");

        let laid_out = sealer.lay_out(&frames);
        let sealed = sealer.seal(laid_out).expect("a burst");
        let mut ways = Vec::new();
        for (Record { frame, .. }, sealed) in frames.iter().zip(sealed) {
            let Ok(mut sealed) = sealed else { continue };
            let is_changed = frame.len() % 2 == 1;
            if is_changed {
                let at = usize::from(frame[frame.len() - 1]) % sealed.len();
                // Nothing protects a VLAN tag before the SecTAG.
                if VLAN_TAG.contains(&at) && sealed[12..14] != SECTAG {
                    continue;
                }
                sealed[at] ^= 1;
            }
            let sealed = Record::whole(DataLink::ETHERNET, sealed);
            let Ok(incoming) = Incoming::find(&sealed) else { continue };
            match opener.open(&[incoming]).expect("a burst").remove(0) {
                Ok(opened) => assert!(opened.frame == *frame && !is_changed, "a changed frame was opened"),
                Err(why) => {
                    assert!(is_changed, "{why:?}: a good frame was refused");
                    ways.push(mem::discriminant(&why));
                }
            }
        }
        outcome((refused.iter().flatten().map(mem::discriminant).collect::<Vec<_>>(), ways))
    })
}
