//! Standard output and standard error that are full or closed.

use std::fs::File;
use std::io::pipe;
use std::process::Stdio;

use crate::files::{ETHERNET, Frame, RAW, pcap};
use crate::packets::{TYPE_V4, ethernet, plain};
use crate::run::{ESP, MACSEC, to_streams};

/// A device that refuses everything that is written to it, as a full disk does.
fn full() -> Stdio {
    File::options().write(true).open("/dev/full").unwrap().into()
}

/// A pipe without a reader.
fn closed() -> Stdio {
    pipe().unwrap().1.into()
}

/// The commands that write a capture, each with an input of two packets, one of which is lost.
fn losing() -> [([&'static str; 2], &'static str, Vec<u8>); 2] {
    let packets = [Frame::whole(plain(4, 10)), Frame::clipped(&plain(4, 10), 30)];
    let frame = ethernet(&[], TYPE_V4, &plain(4, 10));
    let frames = [Frame::whole(frame.clone()), Frame::clipped(&frame, 30)];
    [(["esp", "seal"], ESP, pcap(RAW, &packets)), (["macsec", "seal"], MACSEC, pcap(ETHERNET, &frames))]
}

#[test]
fn a_report_that_cannot_be_printed_does_not_undo_the_output() {
    let packets = [Frame::whole(plain(4, 10))];
    let frames = [Frame::whole(ethernet(&[], TYPE_V4, &plain(4, 10)))];
    for (words, sa, capture) in
        [(["esp", "seal"], ESP, pcap(RAW, &packets)), (["macsec", "seal"], MACSEC, pcap(ETHERNET, &frames))]
    {
        let (status, stderr, packets) = to_streams(words, sa, &capture, [full(), Stdio::piped()]);
        assert_eq!((status, packets.len()), (4, 1), "{stderr}");
        assert_eq!(stderr.lines().count(), 1, "{stderr}");
        for what in ["sealcomb: warning: ", "cannot write to standard output", "out.pcap", "complete"] {
            assert!(stderr.contains(what), "{what}: {stderr}");
        }
        // A reader that has seen enough is no failure.
        let (status, stderr, packets) = to_streams(words, sa, &capture, [closed(), Stdio::piped()]);
        assert_eq!((status, packets.len(), stderr.as_str()), (0, 1, ""));
    }
}

#[test]
fn warnings_that_cannot_be_printed_change_nothing() {
    for (words, sa, capture) in losing() {
        for stderr in [full(), closed()] {
            let (status, _, packets) = to_streams(words, sa, &capture, [Stdio::piped(), stderr]);
            assert_eq!((status, packets.len()), (1, 1), "{words:?}");
        }
    }
}
