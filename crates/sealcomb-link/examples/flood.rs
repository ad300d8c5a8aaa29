//! Sends UDP datagrams as fast as possible, for `tests/net/speed.py`.
//!
//! usage: flood ADDRESS[,ADDRESS...] LENGTHS SECONDS
//!
//! With several addresses, bursts of 64 datagrams go to each in turn.
//! LENGTHS is the size of the IPv4 packets in bytes, or `mix` for the Internet mix of docs/performance.md, limited to
//! 1400 bytes. Prints the number of packets sent and their total size in bytes.

use std::net::UdpSocket;
use std::time::{Duration, Instant};

/// Size in bytes of the IPv4 and UDP headers.
const HEADERS: usize = 28;
/// Maximum packet size in bytes.
const MAX: usize = 1400;

/// Returns a fixed pseudo-random sequence of packet sizes: 44 % of 40 to 99 bytes, 37 % of 1400, 19 % of 100 to 1399.
fn mix() -> Vec<usize> {
    let mut state = 1_u64;
    let mut dice = move |from: u64, to: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (from + (state >> 33) % (to - from)) as usize
    };
    let mut one = || match dice(0, 100) {
        0..44 => dice(40, 100),
        44..81 => MAX,
        _ => dice(100, 1400),
    };
    (0..4096).map(|_| one()).collect()
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [addresses, lengths, seconds] = &arguments[..] else {
        return Err("usage: flood ADDRESS[,ADDRESS...] LENGTHS SECONDS".into());
    };
    let lengths = if lengths == "mix" { mix() } else { vec![lengths.parse::<usize>()?] };
    let time = Duration::from_secs_f64(seconds.parse()?);
    let sockets = addresses
        .split(',')
        .map(|address| -> std::io::Result<UdpSocket> {
            let socket = UdpSocket::bind("0.0.0.0:0")?;
            socket.connect(address)?;
            Ok(socket)
        })
        .collect::<std::io::Result<Vec<UdpSocket>>>()?;
    let mut turns = sockets.iter().cycle();
    let payload = [0; MAX];
    let (mut packets, mut bytes) = (0_u64, 0_u64);
    let start = Instant::now();
    while start.elapsed() < time
        && let Some(socket) = turns.next()
    {
        for length in lengths.iter().cycle().skip(packets as usize % lengths.len()).take(64) {
            // Errors are ignored: the purpose is to fill every queue.
            let _ = socket.send(&payload[..length.saturating_sub(HEADERS).min(MAX)]);
            packets += 1;
            bytes += *length as u64;
        }
    }
    println!("{packets} {bytes}");
    Ok(())
}
