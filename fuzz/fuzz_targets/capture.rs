//! Any bytes as a capture, whose packets are sealed and taken for sealed ones.
#![no_main]
#![allow(dead_code, reason = "the command's modules have more than the target uses")]

#[path = "../../crates/sealcomb-cli/src/esp/capture.rs"]
mod capture;
#[path = "../../crates/sealcomb-cli/src/esp/ip.rs"]
mod ip;
#[path = "../../crates/sealcomb-cli/src/esp/packet.rs"]
mod packet;
#[path = "../../crates/sealcomb-cli/src/esp/replay.rs"]
mod replay;
#[path = "../../crates/sealcomb-cli/src/esp/sa.rs"]
mod sa;
#[path = "../../crates/sealcomb-cli/src/esp/sa_file.rs"]
mod sa_file;
#[path = "../../crates/sealcomb-cli/src/esp/transform.rs"]
mod transform;

use std::path::Path;

use capture::{Capture, Record};
use libfuzzer_sys::fuzz_target;
use transform::{Incoming, Opener, Sealer};

const ASSOCIATIONS: &str = include_str!("../../captures/sa.toml");

fuzz_target!(|bytes: &[u8]| {
    let records = records(bytes);
    let packets = || records.iter().filter_map(|record| ip::packet(record.link, &record.frame).ok());
    let mut sealer = Sealer::new(sa_file::parse("sa.toml", ASSOCIATIONS).unwrap().associations);
    let mut opener = Opener::new(sa_file::parse("sa.toml", ASSOCIATIONS).unwrap().associations);

    let foreign: Vec<Incoming<'_>> = packets().filter_map(Incoming::find).collect();
    opener.open(&foreign).unwrap();

    let (inner, outgoing): (Vec<&[u8]>, Vec<_>) =
        packets().filter_map(|inner| Some((inner, sealer.select(inner)?))).unzip();
    let sealed = sealer.seal(&outgoing).unwrap();
    for (inner, esp) in inner.into_iter().zip(sealed) {
        let Some(esp) = esp else { continue };
        let opened = opener.open(&[Incoming::find(&esp).unwrap()]).unwrap();
        assert_eq!(opened, [Ok(inner.to_vec())]);
    }
});

/// The records of a capture, up to the first that cannot be read.
fn records(bytes: &[u8]) -> Vec<Record> {
    let Ok(mut capture) = Capture::new(Path::new("capture"), bytes) else { return Vec::new() };
    std::iter::from_fn(|| capture.next().ok().flatten()).collect()
}
