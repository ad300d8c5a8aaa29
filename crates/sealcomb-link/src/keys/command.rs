//! A program as key source. It is run once per request, without a shell, and prints one key.
//!
//! ```text
//! PROGRAM ARGUMENT… new BITS       for the master: prints a new key
//! PROGRAM ARGUMENT… get BITS ID    for the slave: prints the key with this ID, which the master got
//! PROGRAM ARGUMENT… status         for `check --online`: ends with status 0 if it can deliver keys
//!
//! output   {"id": "ID", "key": "HEX"}, or the line `ID HEX`
//! status   0 if it has printed a key
//! ```
//!
//! The program runs in `/` with the rights of the link, an environment that contains only `PATH`, and an empty standard
//! input. Its standard error is that of the link. At its timeout, all processes of its group are killed.

use std::borrow::Cow;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use nix::sys::signal::{Signal, killpg};
use nix::unistd::{Pid, User};
use serde::Deserialize;
use tokio::io::AsyncReadExt;
use tokio::process::{Child, Command};
use zeroize::Zeroizing;

use super::{Answer, SourceError, checked, failed, from_hex, malformed};
use crate::config::Program;
use crate::control::SourceKey;

/// Maximum size of the output in bytes; far more than a key needs.
const MAX_OUTPUT_BYTES: usize = 1 << 14;
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// A program that prints keys.
pub struct KeyProgram(Program);

/// The output in JSON. A key provider of SKIP calls the ID `keyId`.
#[derive(Deserialize)]
struct Printed<'a> {
    #[serde(alias = "keyId", borrow)]
    id: Cow<'a, str>,
    key: &'a str,
}

impl KeyProgram {
    pub(crate) fn new(program: &Program) -> Self {
        Self(program.clone())
    }

    /// Requests a new key, for the master.
    pub(super) async fn new_key(&self) -> Answer<SourceKey> {
        let output = self.run(&["new", &self.bits()], None).await?;
        self.read(&output)
    }

    /// Requests the key with this ID, for the slave.
    pub(super) async fn key(&self, id: &str) -> Answer<SourceKey> {
        // The program must not take an ID, which comes from the peer, for an option.
        if id.starts_with('-') {
            return failed("the peer's key ID begins with `-`");
        }
        let output = self.run(&["get", &self.bits(), id], None).await?;
        let found = self.read(&output)?;
        if found.id != id {
            return self.malformed("printed a different key than requested");
        }
        Ok(found)
    }

    /// Asks the program whether it can deliver keys. `user` is who runs it, if this process is root.
    pub(crate) async fn status(&self, user: Option<&User>) -> Answer<()> {
        self.run(&["status"], user).await.map(drop)
    }

    fn bits(&self) -> String {
        self.0.requests.size.to_string()
    }

    fn name(&self) -> String {
        self.0.path.display().to_string()
    }

    fn failed<T>(&self, why: impl std::fmt::Display) -> Answer<T> {
        failed(format!("the command {} {why}", self.name()))
    }

    fn malformed<T>(&self, why: &str) -> Answer<T> {
        malformed(format!("the command {} {why}", self.name()))
    }

    /// Runs the program with these arguments and returns its output.
    async fn run(&self, arguments: &[&str], user: Option<&User>) -> Answer<Zeroizing<Vec<u8>>> {
        let Program { path, arguments: first, requests } = &self.0;
        let mut command = Command::new(path);
        command
            .args(first)
            .args(arguments)
            .env_clear()
            .env("PATH", PATH)
            .current_dir("/")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true);
        if let Some(user) = user {
            command.uid(user.uid.as_raw()).gid(user.gid.as_raw());
        }
        let child = match command.spawn() {
            Ok(child) => child,
            Err(error) => return self.failed(format_args!("cannot be run: {error}")),
        };
        let mut group = Group::new(child);
        let Ok(outcome) = tokio::time::timeout(requests.timeout, group.output()).await else {
            return self.failed(format_args!("did not end within {}", seconds(requests.timeout)));
        };
        match outcome {
            Err(error) => self.failed(format_args!("could not be read: {error}")),
            Ok((_, output)) if output.len() > MAX_OUTPUT_BYTES => {
                self.malformed(&format!("printed more than {MAX_OUTPUT_BYTES} bytes"))
            }
            Ok((status, output)) if status.success() => {
                group.has_ended = true;
                Ok(output)
            }
            Ok((status, _)) => {
                group.has_ended = true;
                self.failed(format_args!("{}; see its own messages in the log", ending(status)))
            }
        }
    }

    /// Reads a key in either format. Errors quote no part of the output.
    fn read(&self, output: &[u8]) -> Answer<SourceKey> {
        const EXPECTED: &str = "printed neither {\"id\": \"ID\", \"key\": \"HEX\"} nor the line `ID HEX`";
        let Ok(text) = std::str::from_utf8(output) else { return self.malformed(EXPECTED) };
        let printed = if text.trim_start().starts_with('{') {
            serde_json::from_str(text).ok()
        } else {
            let mut words = text.split_ascii_whitespace();
            match (words.next(), words.next(), words.next()) {
                (Some(id), Some(key), None) => Some(Printed { id: id.into(), key }),
                _ => None,
            }
        };
        let Some(Printed { id, key }) = printed else { return self.malformed(EXPECTED) };
        let Some(key) = from_hex(key.as_bytes()) else {
            return self.malformed("printed a key that is not hexadecimal");
        };
        if id.starts_with('-') {
            return self.malformed("printed a key ID that begins with `-`");
        }
        checked(&id, key, self.0.requests.size).map_err(|error| match error {
            SourceError::Malformed(why) => {
                SourceError::Malformed(format!("the command {}: {why}", self.name()))
            }
            other => other,
        })
    }
}

/// A running program and the processes that it has started. All are killed unless the program has ended by itself.
struct Group {
    child: Child,
    has_ended: bool,
}

impl Group {
    fn new(child: Child) -> Self {
        Self { child, has_ended: false }
    }

    /// Reads the output, of which one byte too many marks an output that is too long, and waits for the end.
    async fn output(&mut self) -> io::Result<(ExitStatus, Zeroizing<Vec<u8>>)> {
        // The buffer never grows, which would leave copies of a key in memory.
        let mut output = Zeroizing::new(Vec::with_capacity(MAX_OUTPUT_BYTES + 1));
        if let Some(stdout) = &mut self.child.stdout {
            while output.len() <= MAX_OUTPUT_BYTES {
                if stdout.read_buf(&mut *output).await? == 0 {
                    break;
                }
            }
        }
        if output.len() > MAX_OUTPUT_BYTES {
            return Ok((ExitStatus::default(), output));
        }
        Ok((self.child.wait().await?, output))
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // `id` is `None` if the program has ended and was waited for, so that its number may denote another process.
        if !self.has_ended
            && let Some(id) = self.child.id().and_then(|id| i32::try_from(id).ok())
        {
            // Fails only if no process of the group is left.
            let _ = killpg(Pid::from_raw(id), Signal::SIGKILL);
        }
    }
}

/// Describes how a program ended.
fn ending(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("ended with exit status {code}"),
        (None, Some(signal)) => format!("was ended by signal {signal}"),
        (None, None) => "ended".into(),
    }
}

fn seconds(duration: Duration) -> String {
    format!("{} s", duration.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::fd::AsRawFd;
    use std::os::unix::fs::PermissionsExt;
    use std::time::Instant;

    use tempfile::TempDir;

    use super::*;
    use crate::config::Requests;

    const KEY: &str = "5ec5e75ec5e75ec5e75ec5e75ec5e75ec5e75ec5e75ec5e75ec5e75ec5e75ec5";

    /// Creates a shell script as program, and a folder that lives as long.
    fn script(text: &str, timeout: Duration) -> (KeyProgram, TempDir) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("keys");
        fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
        let arguments = ["--from", "a b"].map(str::to_owned).to_vec();
        let requests = Requests { size: 256, ahead: 4, timeout };
        (KeyProgram::new(&Program { path, arguments, requests }), folder)
    }

    const LONG: Duration = Duration::from_secs(60);

    #[tokio::test]
    async fn the_arguments_name_the_request_and_both_formats_are_read() {
        let (program, folder) =
            script(&format!("echo \"$#: $*\" > $(dirname $0)/log; echo 'k-1  {KEY}'"), LONG);
        let log = || fs::read_to_string(folder.path().join("log")).unwrap();
        let key = program.new_key().await.unwrap();
        assert_eq!((key.id.as_str(), hex::encode(&*key.key)), ("k-1", KEY.into()));
        assert_eq!(log(), "4: --from a b new 256\n");
        assert_eq!(program.key("k-1").await.unwrap().id, "k-1");
        assert_eq!(log(), "5: --from a b get 256 k-1\n");
        program.status(None).await.unwrap();
        assert_eq!(log(), "3: --from a b status\n");
        for name in ["id", "keyId"] {
            let json = format!("printf '\\n {{\"{name}\": \"k-2\",\\n \"key\": \"{KEY}\", \"more\": 1}}'");
            assert_eq!(script(&json, LONG).0.new_key().await.unwrap().id, "k-2");
        }
        // Some libraries escape characters that do not need it.
        let json = format!("printf %s '{{\"id\": \"k\\/\\u0032\", \"key\": \"{KEY}\"}}'");
        assert_eq!(script(&json, LONG).0.new_key().await.unwrap().id, "k/2");
    }

    #[tokio::test]
    async fn the_program_gets_no_files_and_no_environment_but_a_path() {
        let (program, folder) = script(
            "d=$(dirname $0); env > $d/env; pwd > $d/pwd; ls -l /proc/self/fd > $d/fd; cat > $d/in; exit 0",
            LONG,
        );
        // Files of this process, which the program must not inherit. It may have inherited others itself.
        let file = fs::File::create(folder.path().join("of-this-process")).unwrap();
        let socket = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
        let own = [file.as_raw_fd(), socket.as_raw_fd()]
            .map(|number| fs::read_link(format!("/proc/self/fd/{number}")).unwrap().display().to_string());
        program.status(None).await.unwrap();
        let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
        // The shell adds PWD, and some shells more.
        let names = read("env");
        let mut names = names.lines().filter_map(|line| Some(line.split_once('=')?.0));
        assert!(names.all(|name| ["PATH", "PWD", "OLDPWD", "SHLVL", "_"].contains(&name)), "{}", read("env"));
        assert!(own.iter().all(|name| !read("fd").contains(name)), "{own:?}: {}", read("fd"));
        assert!(read("fd").lines().count() >= 4, "three streams and the folder that `ls` reads");
        assert_eq!((read("pwd").as_str(), read("in").as_str()), ("/\n", ""));
    }

    #[tokio::test]
    async fn errors_quote_nothing_secret() {
        for (text, expected) in [
            ("exit 3", "ended with exit status 3"),
            ("echo k 5ec5e7; exit 1", "ended with exit status 1"),
            ("kill -9 $$", "was ended by signal 9"),
            ("true", "printed neither"),
            ("echo 5ec5e7", "printed neither"),
            ("echo k 5ec5e7 5ec5e7", "printed neither"),
            ("echo '{\"id\": \"k\", \"5ec5e7\": 1}'", "printed neither"),
            ("echo '{\"id\": \"k\", \"key\": 5}'", "printed neither"),
            ("printf '\\377 5ec5e7'", "printed neither"),
            ("echo k 5ec5e", "not hexadecimal"),
            ("echo k secret5ec5e7", "not hexadecimal"),
            ("echo k 5ec5e7", "has 24 bits, not 256"),
            ("echo -k KEY", "begins with `-`"),
            ("echo '{\"id\": \"\", \"key\": \"KEY\"}'", "invalid key ID"),
            ("echo 'a\"b' KEY", "invalid key ID"),
            ("head -c 20000 /dev/zero | tr '\\0' 5", "printed more than 16384 bytes"),
            ("yes 5ec5e7", "printed more than 16384 bytes"),
        ] {
            let (program, _folder) = script(&text.replace("KEY", KEY), LONG);
            let error = program.new_key().await.err().expect("no key").to_string();
            assert!(error.contains(expected) && error.len() < 300, "{text}: {error}");
            assert!(error.contains("/keys") && !error.contains("5ec5e"), "{error}");
        }
    }

    #[tokio::test]
    async fn a_key_with_another_id_is_refused_and_an_option_is_no_id() {
        let (program, folder) = script(&format!("touch $(dirname $0)/ran; echo other {KEY}"), LONG);
        let error = program.key("-x").await.err().unwrap().to_string();
        assert!(error.contains("begins with `-`") && !folder.path().join("ran").exists(), "{error}");
        let error = program.key("k").await.err().unwrap().to_string();
        assert!(error.contains("a different key than requested"), "{error}");
    }

    #[tokio::test]
    async fn a_program_that_cannot_be_run_is_named() {
        let (program, folder) = script("true", LONG);
        let path = folder.path().join("keys");
        fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
        let error = program.new_key().await.err().unwrap().to_string();
        assert!(error.contains("cannot be run") && error.contains("/keys"), "{error}");
        fs::remove_file(&path).unwrap();
        let error = program.new_key().await.err().unwrap().to_string();
        assert!(error.contains("cannot be run"), "{error}");
    }

    #[tokio::test]
    async fn a_slow_program_and_its_children_are_killed_at_the_timeout() {
        let text = "sleep 1000 & echo $! > $(dirname $0)/child; echo $$ > $(dirname $0)/parent; wait";
        let (program, folder) = script(text, Duration::from_secs(2));
        let start = Instant::now();
        let error = program.new_key().await.err().unwrap().to_string();
        assert!(error.contains("did not end within 2 s"), "{error}");
        assert!(start.elapsed() >= Duration::from_secs(2));
        for name in ["child", "parent"] {
            let id = fs::read_to_string(folder.path().join(name)).unwrap();
            let state = format!("/proc/{}/stat", id.trim());
            let end = Instant::now() + LONG;
            // A killed process that is not waited for stays as a zombie.
            let is_running = || fs::read_to_string(&state).is_ok_and(|stat| !stat.contains(") Z "));
            while is_running() {
                assert!(Instant::now() < end, "{name} is left");
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        }
    }

    #[tokio::test]
    async fn a_child_that_keeps_the_output_open_counts_as_running() {
        let (program, _folder) = script(&format!("sleep 1000 & echo k {KEY}"), Duration::from_secs(1));
        let error = program.new_key().await.err().unwrap().to_string();
        assert!(error.contains("did not end within 1 s"), "{error}");
    }
}
