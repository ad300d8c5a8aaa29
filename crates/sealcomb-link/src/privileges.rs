//! Dropping privileges after startup.

use anyhow::{Context, Result, ensure};
use nix::unistd::{Group, Uid, User, getuid, setgroups, setresgid, setresuid};
use rustix::thread::{CapabilitySet, CapabilitySets, set_capabilities};

/// Switches to an unprivileged user permanently, without capabilities. A service manager may have done the first
/// part: the process may run as that user already, with the capabilities that the start requires.
pub(crate) fn drop_to(name: &str) -> Result<()> {
    let user = User::from_name(name)?.with_context(|| format!("`user`: there is no user {name}"))?;
    let group = Group::from_gid(user.gid)?
        .with_context(|| format!("`user`: the primary group of {name} does not exist"))?;
    if getuid() == user.uid {
        return if user.uid.is_root() { Ok(()) } else { drop_capabilities() };
    }
    setgroups(&[group.gid]).context("cannot drop supplementary groups")?;
    setresgid(group.gid, group.gid, group.gid).context("cannot change the group ID")?;
    setresuid(user.uid, user.uid, user.uid).context("cannot change the user ID")?;
    ensure!(
        setresuid(Uid::from_raw(0), Uid::from_raw(0), Uid::from_raw(0)).is_err(),
        "could regain root after dropping privileges"
    );
    Ok(())
}

/// Drops all capabilities of this thread, and of those that it starts.
fn drop_capabilities() -> Result<()> {
    // The ambient capabilities are limited to these sets.
    let none = CapabilitySet::empty();
    let sets = CapabilitySets { effective: none, permitted: none, inheritable: none };
    set_capabilities(None, sets).context("cannot drop the capabilities")
}
