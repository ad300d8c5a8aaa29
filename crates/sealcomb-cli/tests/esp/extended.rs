//! Extended sequence numbers (RFC 4303, section 2.2.1): 64-bit numbers, of which packets carry the low half.

use crate::bench::Bench;
use crate::captures::{PACKETS, Packet, inner_packets, mixed};
use crate::suites::{CMAC, HMAC, IPV4, IPV6, association};

const SUBSPACE: u64 = 1 << 32;

/// Every kind of suite.
fn suites() -> [String; 6] {
    [
        association(IPV4, "aes-gcm", 16, "salt = \"cafebabe\"\nicv = 8"),
        association(IPV4, "aes-ccm", 32, "salt = \"cafeba\""),
        association(IPV4, "aes-cbc", 16, HMAC),
        association(IPV6, "aes-cbc", 24, CMAC),
        association(IPV6, "aes-ctr", 16, &format!("salt = \"cafebabe\"\n{HMAC}")),
        association(IPV4, "aes-ctr", 16, &format!("salt = \"cafebabe\"\n{CMAC}")),
    ]
}

fn extended(sa: &str, sequence: u64) -> Bench {
    Bench::with_sa(&format!("{sa}esn = true\nsequence = {sequence}\n"))
}

/// The low half of a packet's sequence number.
fn low(packet: &Packet) -> u32 {
    let outer = if packet.1[0] >> 4 == 4 { 20 } else { 40 };
    u32::from_be_bytes(packet.1[outer + 4..outer + 8].try_into().unwrap())
}

#[test]
fn the_low_half_is_sent_and_the_high_half_increments_when_it_wraps() {
    for sa in suites() {
        for start in [1, SUBSPACE - 1000, 7 * SUBSPACE - 3097, u64::MAX - 3097] {
            let bench = extended(&sa, start);
            let (sealed, _) = bench.seal(&mixed(), &[]);
            let expected = (0..PACKETS as u64).map(|i| start.wrapping_add(i) as u32);
            assert!(sealed.iter().map(low).eq(expected), "{sa}{start}");
            for burst in ["1", "500"] {
                assert!(bench.open(&sealed, &["--burst", burst]).0 == inner_packets(), "{sa}{start}");
            }
        }
    }
}

#[test]
fn packets_have_the_same_length_with_and_without_esn() {
    for sa in suites() {
        let (short, _) = Bench::with_sa(&sa).seal(&mixed(), &[]);
        let (long, _) = extended(&sa, 1).seal(&mixed(), &[]);
        assert!(short.iter().zip(&long).all(|((_, short), (_, long))| short.len() == long.len()), "{sa}");
    }
}

#[test]
fn the_icv_covers_the_high_half() {
    for sa in suites() {
        let (sealed, _) = extended(&sa, 5 * SUBSPACE + 1).seal(&mixed(), &[]);
        // Another high half, and no high half.
        for other in [extended(&sa, 6 * SUBSPACE + 1), extended(&sa, 1), Bench::with_sa(&sa)] {
            let (opened, run) = other.try_open(&sealed, &[]);
            assert!(opened.is_empty());
            run.assert_lost("nothing was opened, 3098 forged");
        }
        let start = (5 * SUBSPACE + 1).to_string();
        assert!(extended(&sa, 1).open(&sealed, &["--start-sequence", &start]).0 == inner_packets(), "{sa}");
    }
}

#[test]
fn the_first_number_of_a_capture_may_be_given_approximately() {
    let sa = &suites()[0];
    let first = 5 * SUBSPACE - 1000;
    let (sealed, _) = extended(sa, first).seal(&mixed(), &[]);
    for distance in [-1_000_000_000, -100, 100, 1_000_000_000] {
        let start = first.wrapping_add_signed(distance).to_string();
        let (opened, _) = extended(sa, 1).open(&sealed, &["--start-sequence", &start]);
        assert!(opened == inner_packets(), "{distance}");
    }
}

#[test]
fn a_first_number_is_refused_if_packets_contain_whole_numbers() {
    let bench = Bench::with_sa(&suites()[0]);
    let (sealed, _) = bench.seal(&mixed(), &[]);
    assert!(bench.open(&sealed, &[]).0 == inner_packets());
    let (input, output) = (bench.path("to-open.pcap"), bench.path("not-opened.pcap"));
    let line = bench.run("open", &input, &output, &["--start-sequence", "5"]).assert_fails(2);
    assert!(line.contains("--start-sequence") && line.contains("esn = true"), "{line}");
    assert!(!output.exists());
}

#[test]
fn late_packets_across_a_multiple_of_2_to_the_32_open_once() {
    let sa = &suites()[0];
    let bench = extended(sa, SUBSPACE - 1500);
    let (mut sealed, _) = bench.seal(&mixed(), &[]);
    // Reverses each run of 60 packets, which keeps them within the window of 64.
    sealed.chunks_mut(60).for_each(<[Packet]>::reverse);
    let mut expected = inner_packets();
    expected.chunks_mut(60).for_each(<[Packet]>::reverse);
    for burst in ["1", "7", "300"] {
        assert!(bench.open(&sealed, &["--burst", burst]).0 == expected, "bursts of {burst}");
    }
    let twice: Vec<Packet> = sealed.chunks(2).flat_map(|pair| [pair, pair].concat()).collect();
    let (opened, run) = bench.try_open(&twice, &["--burst", "16"]);
    assert!(opened == expected);
    run.assert_lost("3098 replayed");
}

#[test]
fn later_runs_continue_beyond_32_bits() {
    let bench = extended(&suites()[0], SUBSPACE - 2000);
    let (_, report) = bench.seal(&mixed(), &[]);
    assert!(report.0.contains("sequence numbers 4294965296 to 4294968393\n"), "{}", report.0);
    let (sealed, report) = bench.seal(&mixed(), &[]);
    assert!(report.0.contains("sequence numbers 4294968394 to 4294971491\n"), "{}", report.0);
    assert!(bench.open(&sealed, &["--start-sequence", "4294968394"]).0 == inner_packets());
    // IVs contain all 64 bits.
    let iv = |packet: &Packet| u64::from_be_bytes(packet.1[28..36].try_into().unwrap());
    assert_eq!((iv(&sealed[0]), iv(&sealed[3097])), (4_294_968_394, 4_294_971_491));
}

#[test]
fn the_last_64_bit_number_is_used_once() {
    let bench = extended(&suites()[0], u64::MAX - 3097);
    bench.seal(&mixed(), &[]);
    let line = bench.fail(1, "seal", &mixed(), &bench.path("out.pcap"));
    assert!(line.contains("used up"), "{line}");
    let bench = extended(&suites()[0], u64::MAX - 3096);
    let line = bench.fail(1, "seal", &mixed(), &bench.path("out.pcap"));
    assert!(line.contains("used up"), "{line}");
}
