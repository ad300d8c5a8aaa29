//! Addresses and routes of the tunnel, and the commands that an operator configures for its start and end.
//!
//! All of them need root, which the link gives up once it is set up. A shell that keeps root therefore runs the
//! commands for the end: it waits until the link closes its standard input, which happens even if the link is killed.

use std::ffi::OsString;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, ensure};
use ipnet::IpNet;

use crate::config::Tun;

/// Limits the segments of a coalesced packet of the device to this number: the kernel divides longer ones itself.
/// Without the command `ip`, connections with short segments lose packets.
pub(crate) fn limit_segments(tun: &Tun, max: usize) {
    let words = ["link", "set", "dev", &tun.name, "gso_max_segs", &max.to_string()].map(str::to_owned);
    if let Err(error) = ip(&words) {
        tracing::warn!("segments not limited: {error:#}");
    }
}

/// Adds the IPv4 addresses that follow the first one, which the device was created with, as were all IPv6 addresses.
///
/// # Errors
/// The command `ip` is missing or refuses an address.
pub(crate) fn add_addresses(tun: &Tun) -> Result<()> {
    for address in tun.addresses.iter().filter(|net| matches!(net, IpNet::V4(_))).skip(1) {
        let words = ["-4", "address", "replace", &address.to_string(), "dev", &tun.name].map(str::to_owned);
        ip(&words).with_context(|| format!("cannot add the address {address}"))?;
    }
    Ok(())
}

/// Adds the configured routes. They vanish with the device.
///
/// # Errors
/// The command `ip` is missing or refuses a route.
pub(crate) fn add_routes(tun: &Tun) -> Result<()> {
    for route in &tun.routes {
        let words = route_words(route, tun);
        ip(&words).with_context(|| format!("cannot add the route {route}"))?;
    }
    Ok(())
}

/// Runs `ip` with these arguments.
fn ip(words: &[String]) -> Result<()> {
    let output = Command::new("ip").args(words).output().context("cannot run `ip`; install iproute2")?;
    let message = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "ip {}: {}", words.join(" "), message.trim());
    Ok(())
}

/// Returns the arguments of `ip` that add a route.
fn route_words(route: &IpNet, tun: &Tun) -> Vec<String> {
    let family = if matches!(route, IpNet::V4(_)) { "-4" } else { "-6" };
    let mut words: Vec<String> =
        [family, "route", "replace", &route.trunc().to_string(), "dev", &tun.name].map(str::to_owned).into();
    for (name, value) in [("table", tun.route_table.map(u64::from)), ("mtu", tun.route_mtu.map(u64::from))] {
        if let Some(value) = value {
            words.extend([name.to_owned(), value.to_string()]);
        }
    }
    words
}

/// Runs the commands in `up`, each by a shell. They get the interface's name as `SEALCOMB_INTERFACE`.
///
/// # Errors
/// The first command that fails.
pub(crate) fn run_up(tun: &Tun) -> Result<()> {
    for command in &tun.up {
        let status = shell(command, tun).status().context("cannot run a shell for `up`")?;
        ensure!(status.success(), "`up` in [tun]: a command failed with {status}: {command}");
    }
    Ok(())
}

fn shell(script: impl Into<OsString>, tun: &Tun) -> Command {
    let mut command = Command::new("/bin/sh");
    command.arg("-c").arg(script.into()).env("SEALCOMB_INTERFACE", &tun.name);
    command
}

/// The shell that runs the commands in `down` when the link ends.
pub(crate) struct Down(Option<Child>);

impl Down {
    /// Starts the shell, as long as the process is root.
    ///
    /// # Errors
    /// An error of the operating system.
    pub(crate) fn prepare(tun: &Tun) -> Result<Self> {
        /// A service manager may ask all processes of the link to end. Each command has its own shell, as in `up`:
        /// one that exits or is invalid must not keep the others from running.
        const SCRIPT: &str =
            "trap '' TERM INT HUP; cat > /dev/null; for command; do /bin/sh -c \"$command\"; done";
        if tun.down.is_empty() {
            return Ok(Self(None));
        }
        let child = shell(SCRIPT, tun).arg("sh").args(&tun.down).stdin(Stdio::piped()).spawn();
        Ok(Self(Some(child.context("cannot run a shell for `down`")?)))
    }
}

impl Drop for Down {
    fn drop(&mut self) {
        if let Some(mut child) = self.0.take() {
            // `wait` closes the shell's standard input first.
            if let Ok(status) = child.wait()
                && !status.success()
            {
                tracing::warn!("`down` in [tun]: the last command failed with {status}");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::config::Dns;

    fn tun(up: &[String], down: &[String]) -> Tun {
        Tun {
            name: "seal7".into(),
            addresses: Vec::new(),
            routes: Vec::new(),
            route_mtu: None,
            route_table: None,
            dns: Dns::default(),
            up: up.to_vec(),
            down: down.to_vec(),
        }
    }

    #[test]
    fn routes_have_the_configured_table_and_mtu() {
        let mut tun = tun(&[], &[]);
        let words = |tun: &Tun, net: &str| route_words(&net.parse().unwrap(), tun).join(" ");
        assert_eq!(words(&tun, "10.7.0.9/16"), "-4 route replace 10.7.0.0/16 dev seal7");
        (tun.route_table, tun.route_mtu) = (Some(100), Some(1300));
        assert_eq!(words(&tun, "fd07::/48"), "-6 route replace fd07::/48 dev seal7 table 100 mtu 1300");
    }

    #[test]
    fn commands_run_at_the_start_and_at_the_end_in_order() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("log");
        let say = |word: &str| format!("echo {word} $SEALCOMB_INTERFACE >> {}", file.display());
        let tun = tun(&[say("one"), say("two")], &[say("three"), say("four")]);
        let down = Down::prepare(&tun).unwrap();
        run_up(&tun).unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "one seal7\ntwo seal7\n");
        drop(down);
        assert_eq!(fs::read_to_string(&file).unwrap(), "one seal7\ntwo seal7\nthree seal7\nfour seal7\n");
    }

    #[test]
    fn every_command_for_the_end_runs_whatever_the_others_do() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("log");
        let say = format!("echo $PWD $0 >> {}", file.display());
        let commands =
            ["cd /; exit 3", "echo 'unbalanced", "if", "set -e; false", "exec true"].map(str::to_owned);
        let down: Vec<String> = commands.into_iter().flat_map(|command| [command, say.clone()]).collect();
        drop(Down::prepare(&tun(&[], &down)).unwrap());
        let here = std::env::current_dir().unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), format!("{} /bin/sh\n", here.display()).repeat(5));
    }

    #[test]
    fn a_command_that_fails_is_named_and_ends_the_start() {
        let tun = tun(&["true".into(), "exit 7".into(), "exit 8".into()], &[]);
        let error = run_up(&tun).unwrap_err().to_string();
        assert!(error.contains("exit 7") && error.contains('7') && !error.contains("exit 8"), "{error}");
    }
}
