//! Name servers for the link's interface, in the resolver of systemd.
//!
//! ```text
//! start:  resolvectl dns INTERFACE SERVER…
//!         resolvectl domain INTERFACE DOMAIN…
//! end:    resolvectl revert INTERFACE
//! ```
//!
//! They need rights that the link gives up once it is set up. A shell that keeps them therefore waits for the end of
//! the link, which closes its standard input. Nothing of this is essential to the link: a failure is only logged.

use std::io::ErrorKind;
use std::process::{Child, Command, Stdio};

use crate::config::Tun;

/// The name servers that were set. They are removed when it is dropped.
pub(crate) struct NameServers(Option<Child>);

impl NameServers {
    /// Sets the configured name servers. Must be called before the privileges are dropped.
    pub(crate) fn set(tun: &Tun) -> Self {
        Self(match try_set(tun) {
            Ok(child) => child,
            Err(why) => {
                tracing::warn!("DNS not set: {why}");
                None
            }
        })
    }
}

impl Drop for NameServers {
    fn drop(&mut self) {
        if let Some(mut child) = self.0.take() {
            // `wait` closes the shell's standard input first.
            match child.wait() {
                Ok(status) if status.success() => tracing::info!("DNS reverted"),
                _ => {
                    tracing::warn!(
                        "DNS not reverted: `resolvectl revert` failed; it ends with the interface"
                    );
                }
            }
        }
    }
}

fn try_set(tun: &Tun) -> Result<Option<Child>, String> {
    if tun.dns.servers.is_empty() {
        return Ok(None);
    }
    let servers: Vec<String> = tun.dns.servers.iter().map(ToString::to_string).collect();
    resolvectl("dns", &tun.name, &servers)?;
    // From here on, there is something to revert.
    let revert = revert_later(&tun.name)?;
    if !tun.dns.domains.is_empty()
        && let Err(why) = resolvectl("domain", &tun.name, &tun.dns.domains)
    {
        drop(NameServers(Some(revert)));
        return Err(why);
    }
    tracing::info!("DNS set: {} for {}", servers.join(", "), tun.name);
    Ok(Some(revert))
}

fn resolvectl(verb: &str, interface: &str, words: &[String]) -> Result<(), String> {
    let mut command = Command::new("resolvectl");
    let output = command.args([verb, interface]).args(words).stdin(Stdio::null()).output();
    let output = output.map_err(|error| match error.kind() {
        ErrorKind::NotFound => {
            "`resolvectl` is missing; install systemd-resolved, or remove `dns` in [tun]".to_owned()
        }
        _ => format!("cannot run `resolvectl`: {error}"),
    })?;
    if output.status.success() {
        return Ok(());
    }
    let message = String::from_utf8_lossy(&output.stderr);
    Err(format!("resolvectl {verb} {interface} {}: {}", words.join(" "), message.trim()))
}

/// Starts the shell that reverts the settings when the link ends.
fn revert_later(interface: &str) -> Result<Child, String> {
    // A service manager may ask all processes of the link to end.
    const SCRIPT: &str = "trap '' TERM INT HUP; cat > /dev/null; exec resolvectl revert \"$1\" 2> /dev/null";
    let mut command = Command::new("/bin/sh");
    let child = command.args(["-c", SCRIPT, "sh", interface]).stdin(Stdio::piped()).spawn();
    child.map_err(|error| format!("cannot run a shell for `resolvectl revert`: {error}"))
}
