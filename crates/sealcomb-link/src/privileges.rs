//! Dropping privileges after startup.

use anyhow::{Context, Result, ensure};
use nix::unistd::{Group, Uid, User, getuid, setgroups, setresgid, setresuid};
use rustix::thread::{CapabilitySet, CapabilitySets, set_capabilities};

/// Switches to an unprivileged user permanently. If the process runs as that user already, it gives up the capabilities
/// that it was started with.
///
/// The process must have no other threads, which would keep their capabilities.
pub(crate) fn drop_to(name: &str) -> Result<()> {
    let user = User::from_name(name)?.with_context(|| format!("`user`: there is no user {name}"))?;
    let group = Group::from_gid(user.gid)?
        .with_context(|| format!("`user`: the primary group of {name} does not exist"))?;
    if getuid() == user.uid {
        return drop_capabilities();
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

fn drop_capabilities() -> Result<()> {
    let none = CapabilitySet::empty();
    let sets = CapabilitySets { effective: none, permitted: none, inheritable: none };
    set_capabilities(None, sets).context("cannot drop the capabilities")
}
