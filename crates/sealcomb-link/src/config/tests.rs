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

/// The lines of mistakes after this change of a good file.
fn mistakes(from: &str, to: &str) -> Vec<String> {
    assert!(GOOD.contains(from));
    match parse("link.toml", &GOOD.replacen(from, to, 1), folder().path()) {
        Ok(_) => Vec::new(),
        Err(lines) => lines,
    }
}

#[test]
fn a_limit_that_comes_no_later_than_the_change_is_a_mistake() {
    let end = "packets = 1_000\n";
    let longer = |limits: &str| mistakes(end, &format!("{end}[limits]\n{limits}\n"));
    assert_eq!(longer("age = \"101ms\"\npackets = 1001\nbytes = 34_359_738_369"), [""; 0]);
    for limit in
        ["age = \"100ms\"", "age = \"50ms\"", "packets = 1000", "packets = 999", "bytes = 34_359_738_368"]
    {
        let lines = longer(limit);
        let (name, _) = limit.split_once(' ').unwrap();
        assert!(lines.len() == 1 && lines[0].contains(&format!("[limits]: `{name}`")), "{limit}: {lines:?}");
    }
    // Without a table of limits too, and where the numbers end.
    for rekey in ["packets = 4_294_967_295", "bytes = 68_719_476_736"] {
        assert_eq!(mistakes("packets = 1_000", rekey).len(), 1, "{rekey}");
    }
    let numbers = "packets = 4_294_967_295\n[limits]\npackets = 4_294_967_297\n";
    assert_eq!(mistakes("packets = 1_000\n", numbers), [""; 0]);
    let short = GOOD.replacen("packets = 1_000\n", numbers, 1).replacen("[tun]", "esn = false\n[tun]", 1);
    assert!(parse("link.toml", &short, folder().path()).is_err());
}

#[test]
fn an_address_that_no_packet_can_go_to_is_a_mistake() {
    let (local, peer) = ("192.0.2.1:4500", "192.0.2.2:4500");
    for (from, to, line) in [
        (local, "192.0.2.1:0", 3),
        (local, "224.0.0.1:4500", 3),
        (local, "[2001:db8::1]:4500", 4),
        (peer, "192.0.2.2:0", 4),
        (peer, "0.0.0.0:4500", 4),
        (peer, "239.1.2.3:4500", 4),
        (peer, "255.255.255.255:4500", 4),
        (peer, "[ff02::1]:4500", 4),
        (peer, local, 4),
    ] {
        let lines = mistakes(from, to);
        assert!(!lines.is_empty(), "{to}");
        assert!(
            lines.iter().all(|found| found.starts_with(&format!("link.toml:{line}: "))),
            "{to}: {lines:?}"
        );
    }
    assert_eq!(mistakes(local, "0.0.0.0:4500"), [""; 0], "wherever the way to the other end begins");
    for (ports, workers, is_good) in [("65535", 1, true), ("65535", 2, false), ("65472", 64, true)] {
        let text = format!("{ports}\"\nworkers = {workers}");
        assert_eq!(mistakes("4500\"", &text).is_empty(), is_good, "{text}");
    }
    assert_eq!(mistakes("[tun]", "listen = \"127.0.0.1:0\"\n[tun]").len(), 1);
    assert_eq!(mistakes("[tun]", "listen = \"192.0.2.1:9469\"\n[tun]").len(), 1);
}

#[test]
fn times_that_no_clock_can_add_are_mistakes() {
    for every in ["3650days", "1h"] {
        assert_eq!(mistakes("100ms", every), [""; 0], "{every}");
    }
    for every in ["3651days", "500000000000years", "18446744073709551615s"] {
        assert_eq!(mistakes("100ms", every).len(), 1, "{every}");
    }
}

#[test]
fn ipv6_takes_a_path_that_has_room_for_it() {
    assert_eq!(mistakes("[tun]", "path-mtu = 1344\n[tun]"), [""; 0]);
    let lines = mistakes("[tun]", "path-mtu = 1341\n[tun]");
    assert!(lines.len() == 1 && lines[0].contains("1280"), "{lines:?}");
    let v4 = GOOD.replace(", \"fd09::1/64\"", "").replacen("[tun]", "path-mtu = 600\n[tun]", 1);
    assert!(parse("link.toml", &v4, folder().path()).is_ok());
}

#[test]
fn a_source_must_have_some_time_to_answer() {
    let folder = folder();
    for name in ["ca.pem", "alice.pem", "alice.key.pem"] {
        fs::write(folder.path().join(name), "PEM").unwrap();
    }
    for (timeout, mistakes) in [("1ms", 0), ("0s", 1)] {
        let entity = format!(
            r#"[keys.etsi014]
url = "https://kme.example"
sae = "alice"
peer-sae = "bob"
ca = "ca.pem"
cert = "alice.pem"
key = "alice.key.pem"
timeout = "{timeout}"
"#
        );
        let text = GOOD.replacen("[keys]\nfile = \"link.key\"\n", &entity, 1);
        let found = parse("link.toml", &text, folder.path()).err().unwrap_or_default();
        assert_eq!(found.len(), mistakes, "{found:?}");
    }
}

#[test]
fn what_a_running_link_does_not_take_over_is_named() {
    let folder = folder();
    let old = parse("link.toml", GOOD, folder.path()).ok().unwrap();
    assert_eq!(old.kept(&old), [""; 0]);
    fs::write(folder.path().join("control.key"), "ba".repeat(32)).unwrap();
    let text = r#"
role = "slave"
local = "192.0.2.3:4500"
peer = "192.0.2.4:4500"
suite = "aes128-gcm"
esn = false
window = 64
workers = 2
path-mtu = 1400
mss-clamp = false
control-key = "control.key"
listen = "127.0.0.1:1"
user = "nobody"
[tun]
name = "seal1"
[keys]
file = "link.key"
[rekey]
every = "1s"
"#;
    let new = parse("link.toml", text, folder.path()).ok().unwrap();
    let kept = old.kept(&new);
    for field in text.lines().filter_map(|line| line.split_once(" = ")).map(|(name, _)| name) {
        let is_table = ["name", "file", "every"].contains(&field);
        assert!(is_table || kept.contains(&field), "{field}");
    }
    assert_eq!(kept.len(), 13, "{kept:?}");
}
