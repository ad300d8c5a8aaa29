//! The command `check`: it reports what `run` would, and more on request.

use std::path::Path;

use anyhow::Result;
use nix::unistd::{User, getuid};
use sealcomb_command::{Status, complain, print};

use crate::NAME;
use crate::config::peers::PeerConfig;
use crate::config::{Config, Keys};
use crate::findings::Findings;
use crate::keys::{KeyProgram, KeyProvider, KmeClient, KmeStatus};

/// Options of the command.
#[derive(Clone, Copy)]
pub(crate) struct Options {
    /// Treat warnings as errors.
    pub strict: bool,
    /// Ask the key source for its status.
    pub online: bool,
}

/// Prints the findings about a configuration. Returns status 2 if there are errors, and status 1 if the key
/// source does not answer or cannot serve this end.
pub(crate) fn check(config: &Config, path: &Path, options: Options) -> Result<Status> {
    let Findings { mut errors, mut warnings, mut commands } = Findings::of(config, path);
    // A service may run the link as another user than root, but this process asks the key source.
    if options.online {
        errors.append(&mut commands);
    }
    warnings.append(&mut commands);
    if options.strict {
        errors.append(&mut warnings);
    }
    let name = path.display();
    for error in &errors {
        complain(NAME, format_args!("{name}: {error}"));
    }
    for warning in &warnings {
        complain(NAME, format_args!("{name}: warning: {warning}"));
    }
    if !errors.is_empty() {
        return Ok(Status::Usage);
    }
    if options.online {
        let mut have_all_answered = true;
        for peer in &config.peers {
            let answer = match ask_source(config, peer) {
                Ok(Answer { text, check }) => {
                    print(format_args!("{}{text}", peer.prefix()))?;
                    check
                }
                Err(error) => Err(error),
            };
            if let Err(error) = answer {
                complain(NAME, format_args!("{name}: {}the key source: {error:#}", peer.prefix()));
                have_all_answered = false;
            }
        }
        if !have_all_answered {
            return Ok(Status::Failed);
        }
    }
    let (count, mtu) = (warnings.len(), config.inner_mtu());
    print(format_args!("{name}: no errors, {count} warnings; inner MTU {mtu} bytes"))?;
    Ok(Status::Done)
}

/// What a key source answers, and whether it can serve this end.
struct Answer {
    text: String,
    check: Result<()>,
}

/// Asks a peer's key source for its status.
fn ask_source(config: &Config, peer: &PeerConfig) -> Result<Answer> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (text, check) = match &peer.keys {
        Keys::File(_) => ("no KME to ask: the key source is a file".into(), Ok(())),
        Keys::Etsi014(etsi014) => {
            let status: KmeStatus = runtime.block_on(KmeClient::new(etsi014)?.status())?;
            (status.describe(), status.check(etsi014))
        }
        Keys::Skip(skip) => {
            let client = KeyProvider::new(skip)?;
            let capabilities = runtime.block_on(client.capabilities())?;
            (capabilities.describe(), capabilities.check(skip))
        }
        Keys::Command(program) => {
            runtime.block_on(KeyProgram::new(program).status(user(config)?.as_ref()))?;
            (format!("the command {} answers", program.path.display()), Ok(()))
        }
    };
    Ok(Answer { text, check })
}

/// Returns the user who runs commands, if this process can switch to that user.
fn user(config: &Config) -> Result<Option<User>> {
    match &config.user {
        Some(name) if getuid().is_root() => Ok(User::from_name(name)?),
        _ => Ok(None),
    }
}
