//! Dropping root privileges after startup.

use anyhow::{Context, Result, ensure};
use nix::unistd::{Group, Uid, User, getuid, setgroups, setresgid, setresuid};

/// Switches to an unprivileged user permanently. Does nothing if the process runs as that user already.
pub(crate) fn drop_to(name: &str) -> Result<()> {
    let user = User::from_name(name)?.with_context(|| format!("`user`: there is no user {name}"))?;
    let group = Group::from_gid(user.gid)?
        .with_context(|| format!("`user`: the primary group of {name} does not exist"))?;
    if getuid() == user.uid {
        return Ok(());
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
