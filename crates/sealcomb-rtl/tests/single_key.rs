//! Cores with one slot and a static key, whose pipes share a key schedule, against the library.

use sealcomb_rtl::{Mode, check};

/// Creates the mode of a top. Random packets also use slot 1, which the top does not have, without loading it.
fn mode(top: &'static str, algorithm: &str) -> Mode {
    Mode { slots: 2, max_random_message_bytes: 600, max_random_ad_bytes: 100, ..Mode::new(top, algorithm) }
}

#[test]
#[cfg_attr(not(top = "ocb3_single_key"), ignore = "not in this build")]
fn ocb3() {
    let mode = mode("ocb3_single_key", "aes128-ocb3-t128");
    check::vectors(&mode);
    check::random(&mode);
}

#[test]
#[cfg_attr(not(top = "eme2_single_key"), ignore = "not in this build")]
fn eme2() {
    let max_bytes = 512 * 16;
    let illegal = vec![(false, 0, 0), (true, 16, 15), (true, 0, max_bytes + 1)];
    let mode = Mode { max_bytes, illegal, ..mode("eme2_single_key", "aes128-eme2") };
    check::vectors(&mode);
    check::random(&mode);
}

#[test]
#[cfg_attr(not(top = "copa_single_key"), ignore = "not in this build")]
fn copa() {
    let mode = Mode { illegal: vec![(true, 0, 0), (true, 16, 17)], ..mode("copa_single_key", "aes128-copa") };
    check::vectors(&mode);
    check::random(&mode);
}
