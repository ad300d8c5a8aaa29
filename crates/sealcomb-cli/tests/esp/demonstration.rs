//! Other programs open packets that sealcomb sealed.

use std::process::Command;

use crate::captures::folder;

#[test]
fn tshark_and_an_independent_library_open_sealed_packets() {
    let demo = folder().join("demo.py");
    let output = Command::new(demo).args(["--sealcomb", env!("CARGO_BIN_EXE_sealcomb")]).output().unwrap();
    let stdout = String::from_utf8(output.stdout).unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    if stderr.contains("missing; run ./dev setup") && std::env::var_os("CI").is_none() {
        eprintln!("skipped: {stderr}");
        return;
    }
    assert!(output.status.success(), "{stdout}{stderr}");
    for opener in ["cryptography", "tshark"] {
        for suite in ["aes-gcm-256", "aes-cbc-128 + hmac-sha-256-128", "aes-ctr-192 + hmac-sha-256-128"] {
            let is_reported = stdout.lines().any(|line| line.starts_with(opener) && line.contains(suite));
            assert!(is_reported, "{opener}, {suite}: {stdout}");
        }
    }
    assert!(stdout.ends_with("sealcomb: all packets equal to the capture's\n"), "{stdout}");
}
