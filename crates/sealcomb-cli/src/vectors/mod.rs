//! `sealcomb vectors`: checks known answers with every backend, as single messages and in shuffled batches.

mod check;
mod file;
pub(crate) mod fuzz;

use anyhow::Result;
use check::Tally;
use file::VectorFile;
use sealcomb::Backend;
use sealcomb_command::{Status, exit_statuses, print};
use std::env;
use std::path::PathBuf;

/// Maximum number of failures that are printed for one file.
const MAX_FAILURES: usize = 10;

const EXAMPLES: &str = "\
Examples:
  sealcomb vectors testvectors/*.json
  SEALCOMB_BACKEND=portable sealcomb vectors testvectors/aes128-gcm.json";

pub(crate) fn after_help() -> String {
    let statuses = exit_statuses(&[
        (Status::Failed, "a check failed, or a file is damaged or of an unknown algorithm"),
        (Status::Usage, "an argument, or SEALCOMB_BACKEND"),
        (Status::Io, "a file, or a standard stream"),
    ]);
    format!("{statuses}\n\n{EXAMPLES}")
}

/// Arguments of `sealcomb vectors`.
#[derive(clap::Args)]
pub(crate) struct VectorsArgs {
    /// Known answers, in the JSON format described in testvectors/README.md
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
}

/// Checks the files and prints the numbers of passed and failed checks.
pub(crate) fn run(args: &VectorsArgs) -> Result<Status> {
    let files: Vec<VectorFile> =
        args.files.iter().map(|path| VectorFile::read(path)).collect::<Result<_>>()?;
    let (backends, remarks) = backends()?;
    for remark in remarks {
        print(remark)?;
    }
    let mut total = Tally::default();
    for file in &files {
        let mut tally = Tally::default();
        for &backend in &backends {
            tally.add(check::check(file, backend)?);
        }
        print(report(file, &tally))?;
        total.add(tally);
    }
    print(format_args!("{} passed, {} failed", total.passed, total.failures.len()))?;
    Ok(if total.failures.is_empty() { Status::Done } else { Status::Failed })
}

/// Returns the backends to check and a remark for each skipped one. The backends are the one that
/// `SEALCOMB_BACKEND` names, or else all that are available.
fn backends() -> Result<(Vec<Backend>, Vec<String>)> {
    if env::var_os("SEALCOMB_BACKEND").is_some() {
        let backend = Backend::selected()?;
        return Ok((vec![backend], vec![format!("only {}, set by SEALCOMB_BACKEND", backend.name())]));
    }
    let skipped = Backend::names().filter_map(|name| Backend::named(name).err());
    let remarks = skipped.map(|why| format!("skipped: {why}")).collect();
    Ok((Backend::available().collect(), remarks))
}

/// Returns the summary line of a file's checks and its first failures.
fn report(file: &VectorFile, tally: &Tally) -> String {
    let mut lines = vec![format!(
        "{}: {}, {} tests: {} passed, {} failed",
        file.name,
        file.algorithm,
        file.tests.len(),
        tally.passed,
        tally.failures.len()
    )];
    let printed = tally.failures.iter().take(MAX_FAILURES);
    lines.extend(printed.map(|failure| format!("  failed: {failure}")));
    if tally.failures.len() > MAX_FAILURES {
        lines.push(format!("  and {} more", tally.failures.len() - MAX_FAILURES));
    }
    lines.join("\n")
}
