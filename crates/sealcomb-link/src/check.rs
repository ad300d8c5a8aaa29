//! The command `check`: it reports what `run` would, and more on request.

use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;

use crate::config::{Config, Keys};
use crate::findings::Findings;
use crate::keys::{KmeClient, KmeStatus};

/// Options of the command.
#[derive(Clone, Copy)]
pub(crate) struct Options {
    /// Treat warnings as errors.
    pub strict: bool,
    /// Ask the KME for its status.
    pub online: bool,
}

/// Prints the findings about a configuration. Returns status 2 if there are errors, and status 1 if the KME does not
/// answer or cannot serve this end.
pub(crate) fn check(config: &Config, path: &Path, options: Options) -> Result<ExitCode> {
    let Findings { mut errors, mut warnings } = Findings::of(config, path);
    if options.strict {
        errors.append(&mut warnings);
    }
    let name = path.display();
    for error in &errors {
        eprintln!("sealcomb-link: {name}: {error}");
    }
    for warning in &warnings {
        eprintln!("sealcomb-link: {name}: warning: {warning}");
    }
    if !errors.is_empty() {
        return Ok(ExitCode::from(2));
    }
    if options.online {
        ask_kme(config)?;
    }
    println!("{name}: no errors, {} warnings; inner MTU {} bytes", warnings.len(), config.inner_mtu());
    Ok(ExitCode::SUCCESS)
}

fn ask_kme(config: &Config) -> Result<()> {
    let Keys::Etsi014(etsi014) = &config.keys else {
        println!("no KME to ask: the key source is a file");
        return Ok(());
    };
    let client = KmeClient::new(etsi014)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let status: KmeStatus = runtime.block_on(client.status())?;
    println!("{}", status.describe());
    status.check(etsi014)
}
