//! Cores with one slot and a static key against the library. Their pipelines share a key schedule.

use sealcomb_rtl::{Mode, check};

/// Random packets also use slot 1, which these tops do not have and which is never loaded.
fn mode(top: &'static str, algorithm: &str) -> Mode {
    Mode { slots: 2, longest: 600, longest_ad: 100, ..Mode::new(top, algorithm) }
}

#[test]
fn ocb3() {
    let mode = mode("ocb3_single_key", "aes128-ocb3-t128");
    check::vectors(&mode);
    check::random(&mode);
}

#[test]
fn eme2() {
    let longest = 512 * 16;
    let illegal = vec![(false, 0, 0), (true, 16, 15), (true, 0, longest + 1)];
    let mode = Mode { longest_known: longest, illegal, ..mode("eme2_single_key", "aes128-eme2") };
    check::vectors(&mode);
    check::random(&mode);
}

#[test]
fn copa() {
    let mode = Mode { illegal: vec![(true, 0, 0), (true, 16, 17)], ..mode("copa_single_key", "aes128-copa") };
    check::vectors(&mode);
    check::random(&mode);
}
