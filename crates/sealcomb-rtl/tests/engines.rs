//! The 512-bit engines against the library.

use rand::rngs::StdRng;
use rand::{Rng, RngExt, SeedableRng};
use sealcomb::Key;
use sealcomb_rtl::{Action, Bench, Expected, Fault, Flow, Forgery, Mode, Model, Port, check};

fn engine(top: &'static str, algorithm: &str) -> Mode {
    Mode { max_random_message_bytes: 9000, max_random_ad_bytes: 500, ..Mode::new(top, algorithm) }
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
#[cfg_attr(not(top = "ocb512_aes"), ignore = "not in this build")]
fn ocb_aes_random_packets() {
    check::random(&ocb_aes());
}

#[test]
#[cfg_attr(not(top = "ocb512_serpent"), ignore = "not in this build")]
fn ocb_serpent_random_packets() {
    check::random(&ocb_serpent());
}

#[test]
#[cfg_attr(not(top = "gcm512_aes"), ignore = "not in this build")]
fn gcm_aes_random_packets() {
    check::random(&gcm_aes());
}

#[test]
#[cfg_attr(not(top = "gcm512_serpent"), ignore = "not in this build")]
fn gcm_serpent_random_packets() {
    check::random(&gcm_serpent());
}

#[test]
#[cfg_attr(not(top = "ocb512_aes"), ignore = "not in this build")]
fn ocb_aes_known_answers() {
    check::vectors(&ocb_aes());
}

#[test]
#[cfg_attr(not(top = "ocb512_serpent"), ignore = "not in this build")]
fn ocb_serpent_known_answers() {
    check::vectors(&ocb_serpent());
}

#[test]
#[cfg_attr(not(top = "gcm512_aes"), ignore = "not in this build")]
fn gcm_aes_known_answers() {
    check::vectors(&gcm_aes());
}

#[test]
#[cfg_attr(not(top = "gcm512_serpent"), ignore = "not in this build")]
fn gcm_serpent_known_answers() {
    check::vectors(&gcm_serpent());
}

#[test]
#[cfg_attr(not(top = "ocb512_aes"), ignore = "not in this build")]
fn ocb_aes_longest_messages() {
    check::longest(&ocb_aes());
}

#[test]
#[cfg_attr(not(top = "ocb512_serpent"), ignore = "not in this build")]
fn ocb_serpent_longest_messages() {
    check::longest(&ocb_serpent());
}

#[test]
#[cfg_attr(not(top = "gcm512_aes"), ignore = "not in this build")]
fn gcm_aes_longest_messages() {
    check::longest(&gcm_aes());
}

#[test]
#[cfg_attr(not(top = "gcm512_serpent"), ignore = "not in this build")]
fn gcm_serpent_longest_messages() {
    check::longest(&gcm_serpent());
}

/// Checks that an engine for one direction agrees with the library, and rejects packets of the other direction.
fn one_way(mode: &Mode, open: bool) {
    let seed = check::seed();
    let random = &mut StdRng::seed_from_u64(seed);
    let mut bench = Bench::new(mode.top, seed);
    let width = bench.width();
    for flow in Flow::ALL {
        let mut actions = Vec::new();
        let mut keys = Vec::new();
        for slot in 0..15 {
            let key = bytes(random, mode.algorithm.key_bytes());
            keys.push(Key::new(mode.algorithm, &key).expect("a key"));
            actions.push(Action::Load { slot, key });
        }
        // A packet in error may have output or not, so a valid packet with output must follow.
        let mut previous_certain = true;
        for _ in 0..300 {
            let slot = random.random_range(0..15_usize);
            let nonce = bytes(random, mode.nonce_bytes);
            let max_bytes = [40, 80, 300, 2000][random.random_range(0..4_usize)];
            let ad = random.random_range(0..max_bytes / 2);
            let ad = bytes(random, ad);
            let message = random.random_range(usize::from(!previous_certain)..max_bytes);
            let message = bytes(random, message);
            let other_way = previous_certain && random.random_bool(0.05);
            let make = if open == other_way { Mode::seal } else { Mode::open };
            let mut packet = make(mode, &keys[slot], slot as u8, &nonce, &ad, &message);
            if other_way {
                packet.expected = Expected::Error;
            } else if previous_certain && open && random.random_bool(0.2) {
                let forgeries = [Forgery::Tag, Forgery::Ciphertext, Forgery::Ad, Forgery::Nonce];
                mode.forge(&mut packet, forgeries[random.random_range(0..4_usize)], random);
            }
            let fault =
                [Fault::Early, Fault::Late, Fault::Kind, Fault::Keep][random.random_range(0..4_usize)];
            if previous_certain && random.random_bool(0.05) && packet.can_have(fault, width) {
                packet.fault = Some(fault);
                packet.expected = Expected::Error;
            }
            previous_certain = packet.expected != Expected::Error;
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
#[cfg_attr(not(top = "ocb512_serpent_seal"), ignore = "not in this build")]
fn ocb_serpent_only_seals() {
    one_way(&engine("ocb512_serpent_seal", "serpent256-ocb3"), false);
}

/// Without a fifth core, the calls for Ktop, tags and constants use the lanes.
#[test]
#[cfg_attr(not(top = "ocb512_serpent_seal_shared"), ignore = "not in this build")]
fn ocb_serpent_only_seals_with_four_cores() {
    one_way(&engine("ocb512_serpent_seal_shared", "serpent256-ocb3"), false);
}

/// With four decryption cores and one encryption core.
#[test]
#[cfg_attr(not(top = "ocb512_serpent_open"), ignore = "not in this build")]
fn ocb_serpent_only_opens() {
    one_way(&engine("ocb512_serpent_open", "serpent256-ocb3"), true);
}

#[test]
#[cfg_attr(not(top = "ocb512_serpent_open_tag_beside"), ignore = "not in this build")]
fn ocb_serpent_only_opens_with_tags_on_a_separate_port() {
    let mode = engine("ocb512_serpent_open_tag_beside", "serpent256-ocb3");
    one_way(&Mode { tag_beside: true, ..mode }, true);
}

/// With two registers per round.
#[test]
#[cfg_attr(not(top = "gcm512_aes_split"), ignore = "not in this build")]
fn gcm_aes_for_a_fast_clock() {
    check::random(&Mode { tag_beside: true, ..engine("gcm512_aes_split", "aes128-gcm") });
}

#[test]
#[cfg_attr(not(top = "gcm512_aes256"), ignore = "not in this build")]
fn gcm_aes256() {
    every_check(&engine("gcm512_aes256", "aes256-gcm"));
}

#[test]
#[cfg_attr(not(top = "gcm512_aes256_split"), ignore = "not in this build")]
fn gcm_aes256_for_a_fast_clock() {
    every_check(&Mode { tag_beside: true, ..engine("gcm512_aes256_split", "aes256-gcm") });
}

/// Keys of both sizes, in the same slots one after the other: the vectors of each size, then random packets under both.
#[test]
#[cfg_attr(not(top = "gcm512_aes_either"), ignore = "not in this build")]
fn gcm_with_aes_of_either_key_size() {
    let [short, long] = ["aes128-gcm", "aes256-gcm"]
        .map(|algorithm| Mode { key: key_of_either_size, ..engine("gcm512_aes_either", algorithm) });
    check::vectors(&long);
    every_check(&Mode { other_size: Some(long.algorithm), ..short });
}

/// Bit 256 of `s_key_key` is set for keys of AES-128.
fn key_of_either_size(key: &[u8]) -> Vec<u8> {
    let mut port = key.to_vec();
    port.resize(33, 0);
    port[32] = u8::from(key.len() == 16);
    port
}

#[test]
#[cfg_attr(not(top = "ocb512_aes256"), ignore = "not in this build")]
fn ocb_aes256() {
    every_check(&engine("ocb512_aes256", "aes256-ocb3-t128"));
}

fn every_check(mode: &Mode) {
    check::vectors(mode);
    check::longest(mode);
    check::random(mode);
}

#[test]
#[cfg_attr(not(top = "gcm512_serpent_tag_beside"), ignore = "not in this build")]
fn gcm_serpent_with_tags_on_a_separate_port() {
    let mode = engine("gcm512_serpent_tag_beside", "serpent256-gcm");
    check::random(&Mode { tag_beside: true, ..mode });
}

#[test]
#[cfg_attr(not(top = "ocb512_aes"), ignore = "not in this build")]
fn ocb_aes_keeps_the_key_of_a_slot_in_use() {
    keeps_the_key_of_a_slot_in_use(&ocb_aes());
}

#[test]
#[cfg_attr(not(top = "ocb512_serpent"), ignore = "not in this build")]
fn ocb_serpent_keeps_the_key_of_a_slot_in_use() {
    keeps_the_key_of_a_slot_in_use(&ocb_serpent());
}

#[test]
#[cfg_attr(not(top = "gcm512_aes"), ignore = "not in this build")]
fn gcm_aes_keeps_the_key_of_a_slot_in_use() {
    keeps_the_key_of_a_slot_in_use(&gcm_aes());
}

#[test]
#[cfg_attr(not(top = "gcm512_serpent"), ignore = "not in this build")]
fn gcm_serpent_keeps_the_key_of_a_slot_in_use() {
    keeps_the_key_of_a_slot_in_use(&gcm_serpent());
}

/// From the clock of a packet's command until its tag is complete, keys for its slot are refused and counted, and the
/// packet is sealed under its original key. Other slots accept keys meanwhile.
fn keeps_the_key_of_a_slot_in_use(mode: &Mode) {
    let [first, second, other] = [1_u8, 2, 3].map(|byte| vec![byte; mode.algorithm.key_bytes()]);
    let seal = |key: &[u8], slot, nonce: u8| {
        let key = Key::new(mode.algorithm, key).expect("a key");
        mode.seal(&key, slot, &vec![nonce; mode.nonce_bytes], &[], &[7; 16])
    };
    let mut bench = Bench::new(mode.top, 9);
    let load = |slot, key: &[u8]| Action::Load { slot, key: key.to_vec() };
    bench.run(vec![load(3, &first), Action::Send(seal(&first, 3, 0))], Flow::FULL);

    // Offers the command, and a key for its slot in the same clock.
    let packet = seal(&first, 3, 1);
    let model = bench.model();
    let command = model.port("s_cmd_tvalid");
    for (name, value) in
        [("s_cmd_open", 0), ("s_cmd_slot", 3), ("s_cmd_ad_bytes", 0), ("s_cmd_message_bytes", 16)]
    {
        let port = model.port(name);
        model.set(port, value);
    }
    model.set_bytes(model.port("s_cmd_nonce"), &packet.nonce);
    model.set(command, 1);
    assert!(!offer(model, 3, &second), "key not refused in the clock of the command");
    assert!(offer(model, 4, &other), "key refused, although no packet uses the slot");
    assert!(!offer(model, 3, &second), "key not refused");
    assert_eq!(model.get(model.port("s_key_refusals")), 2);

    // Sends the packet's only beat.
    model.set_bytes(model.port("s_axis_tdata"), &[&[7; 16][..], &[0; 48]].concat());
    for (name, value) in
        [("s_axis_tkeep", 0xffff), ("s_axis_tlast", 1), ("s_axis_tuser", 0), ("s_axis_tvalid", 1)]
    {
        let port = model.port(name);
        model.set(port, value);
    }
    let [beat_ready, tag_valid] = ["s_axis_tready", "m_tag_tvalid"].map(|name| model.port(name));
    wait_for(model, beat_ready);
    model.tick();
    model.set(model.port("s_axis_tvalid"), 0);
    model.set(model.port("m_tag_tready"), 1);
    wait_for(model, tag_valid);
    let Expected::Sound { tag, .. } = packet.expected else { panic!("expected a sealed packet") };
    assert_eq!(model.bytes(model.port("m_tag_tdata")), tag);
    model.tick();

    // After the tag a key is accepted.
    assert!(offer(model, 3, &second), "key refused, although the packet's tag is complete");
    assert_eq!(model.get(model.port("s_key_refusals")), 2);
    bench.run(vec![Action::Send(seal(&second, 3, 2)), Action::Send(seal(&other, 4, 3))], Flow::FULL);
}

/// Offers a key and returns whether it is accepted. A command that is offered at the same time must be accepted too.
fn offer(model: &mut Model, slot: u64, key: &[u8]) -> bool {
    let [valid, ready, refused] =
        ["s_key_tvalid", "s_key_tready", "s_key_refused"].map(|name| model.port(name));
    let [command, command_ready] = ["s_cmd_tvalid", "s_cmd_tready"].map(|name| model.port(name));
    model.set(model.port("s_key_slot"), slot);
    model.set_bytes(model.port("s_key_key"), key);
    wait_for(model, ready);
    model.set(valid, 1);
    model.settle();
    assert!(!model.is_high(command) || model.is_high(command_ready), "the command was not accepted");
    model.tick();
    model.set(valid, 0);
    model.set(command, 0);
    model.settle();
    model.tick();
    model.settle();
    !model.is_high(refused)
}

/// Waits until a port is high.
fn wait_for(model: &mut Model, port: Port) {
    for _ in 0..1000 {
        model.settle();
        if model.is_high(port) {
            return;
        }
        model.tick();
    }
    panic!("port still low after 1000 clocks");
}
