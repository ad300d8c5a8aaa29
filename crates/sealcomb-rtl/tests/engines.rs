//! The 512-bit engines against the library.

use sealcomb_rtl::{Mode, check};

fn ocb_aes() -> Mode {
    Mode { longest: 9000, longest_ad: 500, ..Mode::new("ocb512_aes", "aes128-ocb3-t128") }
}

#[test]
fn ocb_aes_random_packets() {
    check::random(&ocb_aes());
}

#[test]
fn ocb_aes_known_answers() {
    check::vectors(&ocb_aes());
}
