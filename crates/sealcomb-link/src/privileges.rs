//! What only root can do is done first; then this process is nobody in particular.

use anyhow::{Context, Result, ensure};
use nix::unistd::{Group, Uid, User, getuid, setgroups, setresgid, setresuid};

/// Becomes a user, for good. Whoever is that user already stays so.
pub(crate) fn drop_to(name: &str) -> Result<()> {
    let user = User::from_name(name)?.with_context(|| format!("there is no user {name}"))?;
    let group = Group::from_gid(user.gid)?.with_context(|| format!("the user {name} has no group"))?;
    if getuid() == user.uid {
        return Ok(());
    }
    setgroups(&[group.gid]).context("giving up groups")?;
    setresgid(group.gid, group.gid, group.gid).context("giving up the group")?;
    setresuid(user.uid, user.uid, user.uid).context("giving up the user")?;
    ensure!(setresuid(Uid::from_raw(0), Uid::from_raw(0), Uid::from_raw(0)).is_err(), "still root");
    Ok(())
}
