//! One test per situation, for ESP and MACsec.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::thread::sleep;
use std::time::Duration;

use crate::world::{Owner, Protocol, State, World, feed, write};

const BOTH: [Owner; 2] = [Owner::esp(1), Owner::macsec(1, 1)];

fn is_root() -> bool {
    nix::unistd::geteuid().is_root()
}

fn numbers(first: u64, count: u64) -> Vec<u64> {
    (first..first + count).collect()
}

/// Seals three packets, whose numbers must follow `last`.
fn seal_after(world: &mut World, owner: Owner, sa: &Path, state: &State, last: u64) {
    let outcome = world.seal(&[owner], sa, state, 3);
    outcome.assert_well();
    assert_eq!(outcome.numbers.iter().map(|(_, number)| *number).collect::<Vec<_>>(), numbers(last + 1, 3));
}

/// The state file, of which there must be exactly one.
fn state_file(folder: &Path) -> PathBuf {
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut paths: Vec<_> = paths.filter(|path| path.extension().is_some_and(|e| e == "json")).collect();
    assert_eq!(paths.len(), 1, "{paths:?}");
    paths.remove(0)
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn every_path_to_a_key_shares_its_numbers() {
    for owner in BOTH {
        let mut world = World::new();
        let sa = world.write_sa("a/sa.toml", &[owner], 0);
        let other = world.write_sa("b/other.toml", &[owner], 1);
        let [copy, hard, soft] = ["b/copy.toml", "b/hard.toml", "b/soft.toml"].map(|name| world.path(name));
        fs::copy(&sa, &copy).unwrap();
        fs::hard_link(&sa, &hard).unwrap();
        symlink(&sa, &soft).unwrap();
        symlink(world.path("a"), world.path("c")).unwrap();
        let through = world.path("c/sa.toml");
        for (i, path) in [&sa, &copy, &hard, &soft, &through, &other].into_iter().enumerate() {
            seal_after(&mut world, owner, path, &State::Xdg, 3 * i as u64);
        }
        fs::rename(&sa, world.path("moved.toml")).unwrap();
        let moved = world.path("moved.toml");
        seal_after(&mut world, owner, &moved, &State::Home, 18);
    }
}

#[test]
fn another_state_directory_does_not_restart_numbers() {
    for owner in BOTH {
        let mut world = World::new();
        let sa = world.write_sa("sa.toml", &[owner], 0);
        let [a, b] = ["a", "b"].map(|name| State::Named(world.path(name)));
        for (i, state) in [&State::Xdg, &a, &b, &State::Xdg, &State::Home, &a].into_iter().enumerate() {
            seal_after(&mut world, owner, &sa, state, 3 * i as u64);
        }
        // A named directory suffices if the user's state directory is unavailable.
        fs::remove_dir_all(world.path("home")).unwrap();
        write(world.path("home"), "");
        seal_after(&mut world, owner, &sa, &a, 18);
    }
}

/// Not every program of a user has the variables of the user's shell: a cron job has not.
#[test]
fn a_variable_that_only_some_runs_have_does_not_restart_numbers() {
    for owner in BOTH {
        let mut world = World::new();
        let sa = world.write_sa("sa.toml", &[owner], 0);
        let [a, b] = ["a", "b"].map(|name| State::OtherXdg(world.path(name)));
        let named = State::Named(world.path("c"));
        for (i, state) in [&a, &State::Home, &b, &a, &named, &b, &State::Home].into_iter().enumerate() {
            seal_after(&mut world, owner, &sa, state, 3 * i as u64);
        }
    }
}

/// The locks of such a directory would make a run wait for itself.
#[test]
fn a_state_directory_that_is_mounted_twice_is_one() {
    let mut world = World::new();
    let owner = Owner::esp(1);
    let sa = world.write_sa("sa.toml", &[owner], 0);
    seal_after(&mut world, owner, &sa, &State::Xdg, 0);
    let [state, mounted] = [world.state(), world.path("mounted")];
    fs::create_dir(&mounted).unwrap();
    let confined = |program: &std::ffi::OsStr| {
        let mut command = Command::new("unshare");
        let script = "mount --bind \"$0\" \"$1\" && shift && exec \"$@\"";
        command
            .args(["--mount", "--map-root-user", "sh", "-c", script])
            .args([&state, &mounted])
            .arg(program);
        command
    };
    if !confined("true".as_ref()).output().is_ok_and(|trial| trial.status.success()) {
        eprintln!("skipped: no directory can be mounted here");
        return;
    }
    let named = State::Named(mounted.clone());
    let (command, output) = world.command(Protocol::Esp, &sa, &named, "/dev/stdin".as_ref());
    let mut confined = confined(command.get_program());
    confined.args(command.get_args()).env("HOME", world.path("home"));
    confined.env("XDG_STATE_HOME", world.path("home/.local/state"));
    confined.stdin(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    let outcome = world.run(confined, &output, &[owner], 1);
    assert_eq!((outcome.status, outcome.numbers), (Some(0), vec![(owner, 4)]), "{}", outcome.stderr);
}

#[test]
fn transmitters_and_protocols_under_one_key_have_separate_numbers() {
    let mut world = World::new();
    for owner in [Owner::esp(1), Owner::macsec(1, 1), Owner::macsec(1, 2)] {
        let sa = world.write_sa("sa.toml", &[owner], 0);
        seal_after(&mut world, owner, &sa, &State::Xdg, 0);
    }
}

#[test]
fn state_files_of_early_versions_are_honored() {
    for owner in BOTH {
        let mut world = World::new();
        let sa = world.write_sa("sa.toml", &[owner], 0);
        seal_after(&mut world, owner, &sa, &State::Xdg, 0);
        // Early versions wrote the same format, with many keys per file.
        let state = fs::read_to_string(state_file(&world.state())).unwrap();
        fs::remove_dir_all(world.state()).unwrap();
        let next_to_sa = world.path("sa.toml.sequence");
        write(&next_to_sa, state.replace(": 3", ": 70000"));
        seal_after(&mut world, owner, &sa, &State::Xdg, 70_000);
        fs::remove_file(&next_to_sa).unwrap();
        seal_after(&mut world, owner, &sa, &State::Xdg, 70_003);

        // A file that an early version took as `--state` is refused with instructions, which work.
        let earlier = world.path("numbers");
        write(&earlier, state.replace(": 3", ": 90000"));
        let outcome = world.seal(&[owner], &sa, &State::Named(earlier.clone()), 3);
        outcome.assert_fails(3, &["numbers", "earlier version", "mkdir", "earlier.sequence"]);
        let folder = world.path("numbers.d");
        fs::create_dir(&folder).unwrap();
        set_mode(&folder, 0o700);
        set_mode(&folder, 0o700);
        fs::rename(&earlier, folder.join("earlier.sequence")).unwrap();
        seal_after(&mut world, owner, &sa, &State::Named(folder), 90_000);

        write(&next_to_sa, "damaged");
        world.seal(&[owner], &sa, &State::Xdg, 1).assert_fails(1, &["sa.toml.sequence", "use new keys"]);
    }
}

#[test]
fn invalid_state_files_are_refused() {
    for owner in BOTH {
        let mut world = World::new();
        let sa = world.write_sa("sa.toml", &[owner], 0);
        seal_after(&mut world, owner, &sa, &State::Xdg, 0);
        let file = state_file(&world.state());
        let good = fs::read_to_string(&file).unwrap();
        let refused = |world: &mut World, status, words: &[&str]| {
            world.seal(&[owner], &sa, &State::Xdg, 1).assert_fails(status, words);
        };
        fs::remove_file(&file).unwrap();
        fs::create_dir(&file).unwrap();
        refused(&mut world, 3, &["not a regular file", "--start-sequence N", "--start-pn N"]);
        fs::remove_dir(&file).unwrap();
        symlink(world.path("nowhere"), &file).unwrap();
        refused(&mut world, 3, &["not a regular file"]);
        fs::remove_file(&file).unwrap();
        write(world.path("elsewhere"), &good);
        symlink(world.path("elsewhere"), &file).unwrap();
        refused(&mut world, 3, &["not a regular file"]);
        fs::remove_file(&file).unwrap();
        for damaged in
            ["", &good[..good.len() / 2], &good.replace(": 3", ": -3"), "{\"about\": \"\", \"last\": {}}"]
        {
            write(&file, damaged);
            refused(&mut world, 1, &["use new keys"]);
        }
        // A file with another key's number as well.
        write(&file, good.replace(": 3", ": 3, \"00000000000000000000000000000000\": 1"));
        refused(&mut world, 1, &["use new keys"]);
        write(&file, &good);
        set_mode(&file, 0o622);
        refused(&mut world, 3, &["other users can write it"]);
        set_mode(&file, 0o600);
        // A lock that is not a regular file is refused without waiting.
        let mut paths = fs::read_dir(world.state()).unwrap().map(|entry| entry.unwrap().path());
        let lock = paths.find(|path| path.extension().is_some_and(|e| e == "lock")).unwrap();
        fs::remove_file(&lock).unwrap();
        assert!(Command::new("mkfifo").arg(&lock).status().unwrap().success());
        refused(
            &mut world,
            3,
            &[".lock: cannot store sequence numbers", "make it readable and writable by you only"],
        );
        fs::remove_file(&lock).unwrap();
        seal_after(&mut world, owner, &sa, &State::Xdg, 3);
    }
}

#[test]
fn invalid_or_shared_state_directories_are_refused() {
    for owner in BOTH {
        let mut world = World::new();
        let sa = world.write_sa("sa.toml", &[owner], 0);
        symlink(world.path("nowhere"), world.path("link")).unwrap();
        let link = State::Named(world.path("link"));
        world
            .seal(&[owner], &sa, &link, 1)
            .assert_fails(3, &["link", "dangling symbolic link", "--start-sequence N"]);
        world.seal(&[owner], &sa, &State::Named("/dev/null".into()), 1).assert_fails(3, &["/dev/null"]);
        fs::create_dir(world.path("nowhere")).unwrap();
        set_mode(&world.path("nowhere"), 0o777);
        world.seal(&[owner], &sa, &link, 1).assert_fails(3, &["other users can write it"]);
        set_mode(&world.path("nowhere"), 0o700);
        // The link is no longer dangling, and its target shares the numbers.
        seal_after(&mut world, owner, &sa, &link, 0);
        let direct = State::Named(world.path("nowhere"));
        seal_after(&mut world, owner, &sa, &direct, 3);
    }
}

#[test]
fn only_the_user_can_access_the_state() {
    let mut world = World::new();
    let sa = world.write_sa("sa.toml", &[Owner::esp(1)], 0);
    seal_after(&mut world, Owner::esp(1), &sa, &State::Home, 0);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&world.state()), mode(&state_file(&world.state()))), (0o700, 0o600));
}

mod as_root {
    use super::*;

    #[test]
    fn the_sa_file_of_another_user_is_refused_unless_its_keys_are_public() {
        if !is_root() {
            eprintln!("skipped: only root can give files away");
            return;
        }
        for owner in BOTH {
            let mut world = World::new();
            let sa = world.write_sa("sa.toml", &[owner], 0);
            std::os::unix::fs::chown(&sa, Some(12_345), None).unwrap();
            for state in [State::Xdg, State::Named(world.path("a"))] {
                let outcome = world.seal(&[owner], &sa, &state, 1);
                outcome
                    .assert_fails(2, &["sa.toml", "owned by user 12345", "this is user 0", "your own keys"]);
            }
            let text = fs::read_to_string(&sa).unwrap();
            write(&sa, format!("keys-are-public = true\n{text}"));
            seal_after(&mut world, owner, &sa, &State::Xdg, 0);
        }
    }

    #[test]
    fn the_state_of_another_user_is_refused() {
        if !is_root() {
            eprintln!("skipped: only root can give files away");
            return;
        }
        for owner in BOTH {
            let mut world = World::new();
            let sa = world.write_sa("sa.toml", &[owner], 0);
            seal_after(&mut world, owner, &sa, &State::Xdg, 0);
            for path in [state_file(&world.state()), world.state()] {
                std::os::unix::fs::chown(&path, Some(12_345), None).unwrap();
                let outcome = world.seal(&[owner], &sa, &State::Xdg, 1);
                outcome.assert_fails(3, &["owned by user 12345", "this is user 0"]);
                std::os::unix::fs::chown(&path, Some(0), None).unwrap();
            }
            seal_after(&mut world, owner, &sa, &State::Xdg, 3);
        }
    }
}

/// Makes a command run without root privileges, as a user who owns the world's files.
fn without_privileges(world: &World, command: &mut Command) {
    if is_root() {
        let status = Command::new("chown").args(["-R", "12345:12345"]).arg(world.path(".")).status().unwrap();
        assert!(status.success());
        command.uid(12_345).gid(12_345);
    }
}

#[test]
fn a_state_that_cannot_be_written_is_refused() {
    for owner in BOTH {
        let mut world = World::new();
        let sa = world.write_sa("sa.toml", &[owner], 0);
        seal_after(&mut world, owner, &sa, &State::Xdg, 0);
        set_mode(&world.state(), 0o500);
        // An unprivileged user may not open this process's standard input.
        let input = world.path("in.pcap");
        write(&input, crate::world::capture(&[owner], 1));
        let before = fs::metadata(state_file(&world.state())).unwrap().mtime_nsec();
        let (mut command, output) = world.command(owner.protocol, &sa, &State::Xdg, &input);
        without_privileges(&world, &mut command);
        let outcome = world.run(command, &output, &[owner], 1);
        outcome.assert_fails(3, &["cannot store sequence numbers (permission denied)", "--state DIR"]);
        // A run with a named directory still reads the numbers used before.
        let named = State::Named(world.path("a"));
        let (mut command, output) = world.command(owner.protocol, &sa, &named, &input);
        without_privileges(&world, &mut command);
        let outcome = world.run(command, &output, &[owner], 1);
        outcome.assert_well();
        assert_eq!(outcome.numbers, [(owner, 4)]);
        assert_eq!(fs::metadata(state_file(&world.state())).unwrap().mtime_nsec(), before);
    }
}

#[test]
fn the_users_own_state_is_never_left_out() {
    for owner in BOTH {
        let mut world = World::new();
        let sa = world.write_sa("sa.toml", &[owner], 0);
        seal_after(&mut world, owner, &sa, &State::Xdg, 0);
        let own = world.state();
        let named = State::Named(world.path("a"));
        let refused = |world: &mut World, why: &str| {
            for state in [&named, &State::Xdg] {
                let outcome = world.seal(&[owner], &sa, state, 1);
                let place = ".local/state/sealcomb";
                outcome.assert_fails(3, &[place, why, "--start-sequence N", "--start-pn N"]);
                assert!(!outcome.stderr.contains("--state"), "{}", outcome.stderr);
            }
        };
        set_mode(&own, 0o770);
        refused(&mut world, "other users can write it");
        set_mode(&own, 0o700);
        // The directory, or one above it, is on a volume that is not mounted.
        let elsewhere = world.path("elsewhere");
        for folder in [own.as_path(), own.parent().unwrap()] {
            fs::rename(folder, &elsewhere).unwrap();
            symlink(world.path("nowhere"), folder).unwrap();
            refused(&mut world, "cannot read sequence numbers");
            fs::remove_file(folder).unwrap();
            fs::rename(&elsewhere, folder).unwrap();
        }
        seal_after(&mut world, owner, &sa, &named, 3);
    }
}

#[test]
fn a_state_that_cannot_be_read_is_refused_even_with_another_directory() {
    for owner in BOTH {
        for unreadable in ["home/.local/state/sealcomb", "home/.local/state"] {
            let mut world = World::new();
            let sa = world.write_sa("sa.toml", &[owner], 0);
            seal_after(&mut world, owner, &sa, &State::Xdg, 0);
            let input = world.path("in.pcap");
            write(&input, crate::world::capture(&[owner], 1));
            let named = State::Named(world.path("a"));
            let (mut command, output) = world.command(owner.protocol, &sa, &named, &input);
            without_privileges(&world, &mut command);
            set_mode(&world.path(unreadable), 0);
            let outcome = world.run(command, &output, &[owner], 1);
            set_mode(&world.path(unreadable), 0o700);
            outcome.assert_fails(3, &[".local/state/sealcomb", "permission denied", "--start-sequence N"]);
            assert!(!outcome.stderr.contains("--state"), "{}", outcome.stderr);
        }
    }
}

/// A command that cannot write to any file because of a file size limit of 0, which simulates a full disk.
pub(crate) fn on_a_full_disk(command: &Command) -> Command {
    let mut shell = Command::new("sh");
    shell.args(["-c", "trap '' XFSZ; ulimit -f 0; exec \"$0\" \"$@\""]).arg(command.get_program());
    shell.args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }
    shell.stdin(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    shell
}

#[test]
fn a_full_disk_is_refused_and_loses_no_number() {
    for owner in BOTH {
        let mut world = World::new();
        let sa = world.write_sa("sa.toml", &[owner], 0);
        seal_after(&mut world, owner, &sa, &State::Xdg, 0);
        // Numbers are stored in the user's state directory even with a named one.
        for state in [State::Xdg, State::Named(world.path("a"))] {
            let (command, output) = world.command(owner.protocol, &sa, &state, "/dev/stdin".as_ref());
            let outcome = world.run(on_a_full_disk(&command), &output, &[owner], 1);
            outcome.assert_fails(3, &[".json: cannot store sequence numbers", "--start-sequence N"]);
            let is_named = matches!(state, State::Named(_));
            assert_eq!(outcome.stderr.contains("--state DIR"), is_named, "{}", outcome.stderr);
        }
        seal_after(&mut world, owner, &sa, &State::Xdg, 3);
    }
}

#[test]
fn a_full_file_system_is_refused_and_loses_no_number() {
    let mut world = World::new();
    let owner = Owner::esp(1);
    let sa = world.write_sa("sa.toml", &[owner], 0);
    let small = world.path("small");
    fs::create_dir(&small).unwrap();
    let script = "mount -t tmpfs -o size=64k,mode=700 small \"$1\" && shift && \
        cat /dev/zero >\"$0/fill\" 2>/dev/null; exec \"$@\"";
    let (command, output) =
        world.command(Protocol::Esp, &sa, &State::Named(small.clone()), "/dev/stdin".as_ref());
    let mut confined = Command::new("unshare");
    confined.args(["--mount", "--map-root-user", "sh", "-c", script]).arg(&small).arg(&small);
    if !can_mount_at(&small) {
        eprintln!("skipped: no file system can be mounted here");
        return;
    }
    confined.arg(command.get_program()).args(command.get_args());
    confined.env("XDG_STATE_HOME", world.path("home/.local/state")).env("HOME", world.path("home"));
    confined.stdin(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    let outcome = world.run(confined, &output, &[owner], 1);
    assert_eq!((outcome.status, outcome.numbers.len()), (Some(3), 0), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("cannot store sequence numbers"), "{}", outcome.stderr);
    seal_after(&mut world, owner, &sa, &State::Xdg, 0);
}

/// Returns whether this user can mount a file system in a namespace.
fn can_mount_at(folder: &Path) -> bool {
    let mut trial = Command::new("unshare");
    trial.args(["--mount", "--map-root-user", "mount", "-t", "tmpfs", "small"]).arg(folder);
    trial.output().is_ok_and(|trial| trial.status.success())
}

/// A later run that finds room in the directory would repeat the numbers of one that left it out.
#[test]
fn a_state_directory_of_the_user_without_room_for_a_file_is_not_left_out() {
    // Room for the mounted directory, or also for the state directory in it.
    for files in ["1", "2"] {
        let mut world = World::new();
        let owner = Owner::esp(1);
        let sa = world.write_sa("sa.toml", &[owner], 0);
        let own = world.path("home/.local/state");
        fs::create_dir_all(&own).unwrap();
        if !can_mount_at(&own) {
            eprintln!("skipped: no file system can be mounted here");
            return;
        }
        let script = "mount -t tmpfs -o nr_inodes=\"$1\",mode=700 small \"$0\" && shift && \
            { mkdir -m 700 \"$0/sealcomb\" 2>/dev/null; exec \"$@\"; }";
        let named = State::Named(world.path("a"));
        let (command, output) = world.command(Protocol::Esp, &sa, &named, "/dev/stdin".as_ref());
        let mut confined = Command::new("unshare");
        confined.args(["--mount", "--map-root-user", "sh", "-c", script]).arg(&own).arg(files);
        confined.arg(command.get_program()).args(command.get_args());
        confined.env("XDG_STATE_HOME", &own).env("HOME", world.path("home"));
        confined.stdin(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
        let outcome = world.run(confined, &output, &[owner], 1);
        outcome.assert_fails(3, &[".local/state/sealcomb", "cannot store sequence numbers", "free space"]);
        assert!(!outcome.stderr.contains("--state"), "{}", outcome.stderr);
        seal_after(&mut world, owner, &sa, &State::Xdg, 0);
    }
}

/// Starts a run that has sealed its first packets and waits for more. Returns its output and the rest of the capture.
fn waiting_run(world: &mut World, owner: Owner, sa: &Path) -> (Child, PathBuf, Vec<u8>) {
    let (mut command, output) = world.command(owner.protocol, sa, &State::Xdg, "/dev/stdin".as_ref());
    let mut child = command.args(["--burst", "1"]).spawn().unwrap();
    let capture = crate::world::capture(&[owner], 200);
    let (begin, rest) = capture.split_at(100 * 90);
    std::io::Write::write_all(child.stdin.as_mut().unwrap(), begin).unwrap();
    while !has_state_file(&world.state()) {
        assert!(child.try_wait().unwrap().is_none(), "the run ended without a number");
        sleep(Duration::from_millis(10));
    }
    (child, output, rest.to_vec())
}

fn has_state_file(folder: &Path) -> bool {
    let is_one = |path: PathBuf| path.extension().is_some_and(|extension| extension == "json");
    fs::read_dir(folder).is_ok_and(|mut entries| entries.any(|entry| is_one(entry.unwrap().path())))
}

#[test]
fn reserved_numbers_of_a_killed_run_count_as_used() {
    for owner in BOTH {
        let mut world = World::new();
        let sa = world.write_sa("sa.toml", &[owner], 0);
        let (mut child, output, _) = waiting_run(&mut world, owner, &sa);
        child.kill().unwrap();
        world.finish(child, &output, &[owner]);
        let outcome = world.seal(&[owner], &sa, &State::Xdg, 1);
        outcome.assert_well();
        assert!(outcome.numbers[0].1 > 65_536, "{:?}", outcome.numbers);
    }
}

#[test]
fn a_run_detects_a_concurrent_one_even_without_working_locks() {
    for owner in BOTH {
        let mut world = World::new();
        let sa = world.write_sa("sa.toml", &[owner], 0);
        let (mut child, output, rest) = waiting_run(&mut world, owner, &sa);
        // Without the lock files the second run does not wait.
        for entry in fs::read_dir(world.state()).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "lock") {
                fs::remove_file(path).unwrap();
            }
        }
        let second = world.seal(&[owner], &sa, &State::Xdg, 5);
        second.assert_well();
        feed(&mut child, &rest);
        world.finish(child, &output, &[owner]).assert_fails(1, &["another process changed it"]);
        let third = world.seal(&[owner], &sa, &State::Xdg, 5);
        third.assert_well();
        assert!(third.numbers[0].1 > second.numbers[4].1);
    }
}

#[test]
fn concurrent_runs_by_different_paths_share_no_number() {
    for owner in BOTH {
        let mut world = World::new();
        let paths: Vec<_> = (0..4).map(|i| world.write_sa(&format!("{i}/sa.toml"), &[owner], i)).collect();
        let named = [State::Xdg, State::Home, State::Named(world.path("a")), State::Named(world.path("b"))];
        let mut children = Vec::new();
        for (sa, state) in paths.iter().zip(named.iter()).cycle().take(8) {
            let (mut command, output) = world.command(owner.protocol, sa, state, "/dev/stdin".as_ref());
            let mut child = command.spawn().unwrap();
            feed(&mut child, &crate::world::capture(&[owner], 20));
            children.push((child, output));
        }
        for (child, output) in children {
            world.finish(child, &output, &[owner]).assert_well_but_for_waiting();
        }
        assert_eq!(world.count(), 160);
    }
}

impl crate::world::Outcome {
    fn assert_well_but_for_waiting(&self) {
        assert_eq!(self.status, Some(0), "{}", self.stderr);
        assert!(self.stderr.lines().all(|line| line.contains("waiting for another run")), "{}", self.stderr);
    }
}
