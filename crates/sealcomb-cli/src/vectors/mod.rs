//! `sealcomb vectors`: checks known answers with every backend, as single messages and in shuffled batches.

mod check;
mod file;
pub(crate) mod fuzz;

use crate::stdout;
use anyhow::Result;
use check::Tally;
use file::VectorFile;
use sealcomb::Backend;
use std::env;
use std::path::PathBuf;
use std::process::ExitCode;

/// Maximum number of failures that are printed for one file.
const MAX_FAILURES: usize = 10;

pub(crate) const EXAMPLES: &str = "\
Exit status: 0 if every check passed, 1 if any failed, 2 for bad input.

Examples:
  sealcomb vectors testvectors/*.json
  SEALCOMB_BACKEND=portable sealcomb vectors testvectors/aes128-gcm.json";

/// Arguments of `sealcomb vectors`.
#[derive(clap::Args)]
pub(crate) struct VectorsArgs {
    /// Known answers, in the JSON format described in testvectors/README.md
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
}

/// Checks the files and prints the numbers of passed and failed checks.
pub(crate) fn run(args: &VectorsArgs) -> Result<ExitCode> {
    let files: Vec<VectorFile> =
        args.files.iter().map(|path| VectorFile::read(path)).collect::<Result<_>>()?;
    let (backends, remarks) = backends()?;
    stdout::print(&remarks)?;
    let mut total = Tally::default();
    for file in &files {
        let mut tally = Tally::default();
        for &backend in &backends {
            tally.add(check::check(file, backend)?);
        }
        stdout::print(&report(file, &tally))?;
        total.add(tally);
    }
    stdout::print(&format!("{} passed, {} failed\n", total.passed, total.failures.len()))?;
    Ok(if total.failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Returns the backends to check and a remark for each skipped one, one per line. The backends are the one that
/// `SEALCOMB_BACKEND` names, or else all that are available.
fn backends() -> Result<(Vec<Backend>, String)> {
    if env::var_os("SEALCOMB_BACKEND").is_some() {
        let backend = Backend::selected()?;
        return Ok((vec![backend], format!("only {}, set by SEALCOMB_BACKEND\n", backend.name())));
    }
    let skipped = Backend::names().filter_map(|name| Backend::named(name).err());
    let remarks: Vec<String> = skipped.map(|why| format!("skipped: {why}\n")).collect();
    Ok((Backend::available().collect(), remarks.concat()))
}

/// Returns the summary line of a file's checks and its first failures.
fn report(file: &VectorFile, tally: &Tally) -> String {
    let mut lines = vec![format!(
        "{}: {}, {} tests: {} passed, {} failed\n",
        file.name,
        file.algorithm,
        file.tests.len(),
        tally.passed,
        tally.failures.len()
    )];
    let printed = tally.failures.iter().take(MAX_FAILURES);
    lines.extend(printed.map(|failure| format!("  failed: {failure}\n")));
    if tally.failures.len() > MAX_FAILURES {
        lines.push(format!("  and {} more\n", tally.failures.len() - MAX_FAILURES));
    }
    lines.concat()
}
