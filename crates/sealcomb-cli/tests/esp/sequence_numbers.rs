//! Sequence numbers, of which the nonces of the counter modes are made, never come twice.

use crate::bench::Bench;
use crate::captures::{inner_packets, mixed};
use crate::suites::gcm;

#[test]
fn they_go_on_where_the_association_says() {
    let bench = Bench::with_sa(&(gcm() + "sequence = 70000"));
    let (sealed, report) = bench.seal(&mixed(), &[]);
    assert_eq!(sealed[0].1[24..28], 70_000_u32.to_be_bytes());
    assert!(report.0.contains("SA 0x1001: sequence numbers 70000 to 73097\n"), "{}", report.0);
    assert!(bench.open(&sealed, &[]).0 == inner_packets());
}

#[test]
fn the_last_one_is_used_and_then_no_other() {
    // The capture's 3098 packets end at 2^32 - 1.
    let bench = Bench::with_sa(&(gcm() + "sequence = 4294964198"));
    let (sealed, _) = bench.seal(&mixed(), &[]);
    assert_eq!(sealed.last().unwrap().1[24..28], u32::MAX.to_be_bytes());
    assert!(bench.open(&sealed, &[]).0 == inner_packets());

    let bench = Bench::with_sa(&(gcm() + "sequence = 4294964199"));
    let line = bench.fail("seal", &mixed(), &bench.path("out.pcap"));
    assert!(line.contains("mixed.pcap") && line.contains("SA 0x1001") && line.contains("used up"), "{line}");
}
