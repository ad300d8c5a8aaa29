use super::*;

/// A folder with secrets in it.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("control.key"), "ab".repeat(32) + "\n").unwrap();
    fs::write(folder.path().join("link.key"), "cd".repeat(32)).unwrap();
    fs::write(folder.path().join("short.key"), "cd".repeat(31)).unwrap();
    folder
}

const GOOD: &str = r#"
role = "master"
local = "192.0.2.1:4500"
peer = "192.0.2.2:4500"
suite = "aes256-gcm"
control-key = "control.key"
[tun]
name = "seal0"
addresses = ["10.9.0.1/24", "fd09::1/64"]
[keys]
file = "link.key"
[rekey]
every = "100ms"
packets = 1_000
"#;

#[test]
fn a_good_file_is_read_whole() {
    let folder = folder();
    let Ok(config) = parse("link.toml", GOOD, folder.path()) else { panic!() };
    assert_eq!((config.role, config.rekey.age), (Role::Master, Duration::from_millis(100)));
    assert_eq!((config.rekey.packets, config.limits.age), (1000, Duration::from_secs(10)));
    // 1500 less 20 + 8 of IPv4 and UDP, 8 + 8 before and 2 + 16 behind the packet; 1438 + 2 is a multiple of 4.
    assert_eq!(config.inner_mtu(), 1438);
    assert_eq!(config.last_number(), (1 << 32) - 1);
}

#[test]
fn every_mistake_has_a_line_of_its_own_and_nothing_of_the_file() {
    let folder = folder();
    let text = r#"role = "boss"
local = "192.0.2.1"
peer = "192.0.2.2:4500"
suite = "des"
secret-secret = 5
control-key = "nowhere.key"
[tun]
name = "a name that is too long"
addresses = ["10.9.0.1/24", "here"]
[keys]
file = "short.key"
[rekey]
every = "1ms"
"#;
    let Err(lines) = parse("link.toml", text, folder.path()) else { panic!() };
    let at: Vec<&str> = lines.iter().map(|line| line.split(": ").next().unwrap()).collect();
    let expected = [1, 2, 4, 5, 6, 8, 9, 10, 12].map(|line| format!("link.toml:{line}"));
    assert_eq!(at, expected, "{lines:#?}");
    assert!(lines.iter().all(|line| !line.contains("secret-secret") && !line.contains("boss")));
}

#[test]
fn what_must_be_there_is_missed() {
    let Err(lines) = parse("link.toml", "esn = true\n", Path::new(".")) else { panic!() };
    for name in ["role", "local", "peer", "suite", "control-key", "tun", "keys"] {
        assert!(lines.iter().any(|line| line.contains(&format!("lacks `{name}`"))), "{name}");
    }
}

#[test]
fn a_limit_below_the_interval_is_a_mistake() {
    let folder = folder();
    let text = format!("{GOOD}[limits]\nage = \"50ms\"\n");
    let Err(lines) = parse("link.toml", &text, folder.path()) else { panic!() };
    assert!(lines[0].contains("[limits]"));
}
