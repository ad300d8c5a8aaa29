//! Sends UDP datagrams as fast as the system takes them, for `tests/net/speed`.
//!
//! usage: flood ADDRESS LENGTHS SECONDS
//!
//! LENGTHS are bytes of IPv4 packets: one number, or `mix` for those of the Internet as docs/performance.md has it, cut
//! off at 1400 bytes. Prints how many were sent, and their bytes.

use std::net::UdpSocket;
use std::time::{Duration, Instant};

/// Of IPv4 and UDP.
const HEADERS: usize = 28;
const LONGEST: usize = 1400;

/// 44 % of 40 to 100 bytes, 37 % of 1400 to 1500, 19 % between; always the same ones.
fn mix() -> Vec<usize> {
    let mut state = 1_u64;
    let mut dice = move |from: u64, to: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (from + (state >> 33) % (to - from)) as usize
    };
    let mut one = || match dice(0, 100) {
        0..44 => dice(40, 100),
        44..81 => LONGEST,
        _ => dice(100, 1400),
    };
    (0..4096).map(|_| one()).collect()
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [address, lengths, seconds] = &arguments[..] else {
        return Err("usage: flood ADDRESS LENGTHS SECONDS".into());
    };
    let lengths = if lengths == "mix" { mix() } else { vec![lengths.parse::<usize>()?] };
    let time = Duration::from_secs_f64(seconds.parse()?);
    let socket = UdpSocket::bind("0.0.0.0:0")?;
    socket.connect(address)?;
    let payload = [0; LONGEST];
    let (mut packets, mut bytes) = (0_u64, 0_u64);
    let start = Instant::now();
    while start.elapsed() < time {
        for length in lengths.iter().cycle().skip(packets as usize % lengths.len()).take(64) {
            // That a queue is full on the way is the point of it.
            let _ = socket.send(&payload[..length.saturating_sub(HEADERS).min(LONGEST)]);
            packets += 1;
            bytes += *length as u64;
        }
    }
    println!("{packets} {bytes}");
    Ok(())
}
