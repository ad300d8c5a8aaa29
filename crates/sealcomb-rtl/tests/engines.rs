//! The 512-bit engines against the library.

use rand::rngs::StdRng;
use rand::{Rng, RngExt, SeedableRng};
use sealcomb::Key;
use sealcomb_rtl::{Action, Bench, Expected, Fault, Flow, Forgery, Mode, check, is_built};

fn engine(top: &'static str, algorithm: &str) -> Mode {
    Mode { longest: 9000, longest_ad: 500, ..Mode::new(top, algorithm) }
}

fn ocb_aes() -> Mode {
    engine("ocb512_aes", "aes128-ocb3-t128")
}

fn ocb_serpent() -> Mode {
    engine("ocb512_serpent", "serpent256-ocb3")
}

fn gcm_aes() -> Mode {
    engine("gcm512_aes", "aes128-gcm")
}

fn gcm_serpent() -> Mode {
    engine("gcm512_serpent", "serpent256-gcm")
}

#[test]
fn ocb_aes_random_packets() {
    check::random(&ocb_aes());
}

#[test]
fn ocb_serpent_random_packets() {
    check::random(&ocb_serpent());
}

#[test]
fn gcm_aes_random_packets() {
    check::random(&gcm_aes());
}

#[test]
fn gcm_serpent_random_packets() {
    check::random(&gcm_serpent());
}

#[test]
fn ocb_aes_known_answers() {
    check::vectors(&ocb_aes());
}

#[test]
fn ocb_serpent_known_answers() {
    check::vectors(&ocb_serpent());
}

#[test]
fn gcm_aes_known_answers() {
    check::vectors(&gcm_aes());
}

#[test]
fn gcm_serpent_known_answers() {
    check::vectors(&gcm_serpent());
}

/// An engine for one direction does as the library, and refuses the other.
fn one_way(mode: &Mode, open: bool) {
    if !is_built(mode.top) {
        return;
    }
    let random = &mut StdRng::seed_from_u64(7);
    let mut bench = Bench::new(mode.top, 7);
    let width = bench.width();
    for flow in Flow::ALL {
        let mut actions = Vec::new();
        let mut keys = Vec::new();
        for slot in 0..15 {
            let key = bytes(random, mode.algorithm.key_bytes);
            keys.push(Key::new(mode.algorithm, &key).expect("a key"));
            actions.push(Action::Load { slot, key });
        }
        // After a packet of which it is not certain whether something comes out, a sound one with output must follow.
        let mut after_certain = true;
        for _ in 0..300 {
            let slot = random.random_range(0..15_usize);
            let nonce = bytes(random, mode.nonce_bytes);
            let longest = [40, 80, 300, 2000][random.random_range(0..4_usize)];
            let ad = random.random_range(0..longest / 2);
            let ad = bytes(random, ad);
            let message = random.random_range(usize::from(!after_certain)..longest);
            let message = bytes(random, message);
            let other_way = after_certain && random.random_bool(0.05);
            let make = if open == other_way { Mode::seal } else { Mode::open };
            let mut packet = make(mode, &keys[slot], slot as u8, &nonce, &ad, &message);
            if other_way {
                packet.expected = Expected::Error;
            } else if after_certain && open && random.random_bool(0.2) {
                let forgeries = [Forgery::Tag, Forgery::Ciphertext, Forgery::Ad, Forgery::Nonce];
                mode.forge(&mut packet, forgeries[random.random_range(0..4_usize)], random);
            }
            let fault =
                [Fault::Early, Fault::Late, Fault::Kind, Fault::Keep][random.random_range(0..4_usize)];
            if after_certain && random.random_bool(0.05) && packet.can_have(fault, width) {
                packet.fault = Some(fault);
                packet.expected = Expected::Error;
            }
            after_certain = packet.expected != Expected::Error;
            actions.push(Action::Send(packet));
        }
        bench.run(actions, flow);
    }
}

fn bytes(random: &mut StdRng, count: usize) -> Vec<u8> {
    let mut bytes = vec![0; count];
    random.fill_bytes(&mut bytes);
    bytes
}

#[test]
fn ocb_serpent_only_seals() {
    one_way(&engine("ocb512_serpent_seal", "serpent256-ocb3"), false);
}

/// Without a fifth core: the calls for Ktop, tags and constants go through the lanes.
#[test]
fn ocb_serpent_only_seals_with_four_cores() {
    one_way(&engine("ocb512_serpent_seal_shared", "serpent256-ocb3"), false);
}

/// With four decryption cores and one for encryption.
#[test]
fn ocb_serpent_only_opens() {
    one_way(&engine("ocb512_serpent_open", "serpent256-ocb3"), true);
}
