//! `sealcomb vectors`: known answers through every backend, one by one and in shuffled batches.

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

/// How many failures of one file are told in full.
const FAILURES_TOLD: usize = 10;

/// Arguments of `sealcomb vectors`.
#[derive(clap::Args)]
pub(crate) struct VectorsArgs {
    /// Files of known answers in JSON; testvectors/README.md has the format
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
}

/// Checks the files and prints how many checks passed and failed.
pub(crate) fn run(args: &VectorsArgs) -> Result<ExitCode> {
    let files: Vec<VectorFile> =
        args.files.iter().map(|path| VectorFile::read(path)).collect::<Result<_>>()?;
    let (backends, remarks) = backends()?;
    stdout::print(&remarks)?;
    let mut total = Tally::default();
    for file in &files {
        let mut of_file = Tally::default();
        for &backend in &backends {
            of_file.add(check::check(file, backend)?);
        }
        stdout::print(&report(file, &of_file))?;
        total.add(of_file);
    }
    stdout::print(&format!("{} passed, {} failed\n", total.passed, total.failures.len()))?;
    Ok(if total.failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The backends to check: the one that the variable `SEALCOMB_BACKEND` names, else all that there are. With them, what
/// to say of the others, line by line.
fn backends() -> Result<(Vec<Backend>, String)> {
    if env::var_os("SEALCOMB_BACKEND").is_some() {
        let backend = Backend::selected()?;
        return Ok((vec![backend], format!("only {}, as SEALCOMB_BACKEND says\n", backend.name())));
    }
    let skipped = Backend::names().filter_map(|name| Backend::named(name).err());
    let remarks: Vec<String> = skipped.map(|why| format!("skipped: {why}\n")).collect();
    Ok((Backend::available().collect(), remarks.concat()))
}

/// What a file's checks gave, and the first of its failures.
fn report(file: &VectorFile, tally: &Tally) -> String {
    let mut lines = vec![format!(
        "{}: {}, {} tests: {} passed, {} failed\n",
        file.name,
        file.algorithm,
        file.tests.len(),
        tally.passed,
        tally.failures.len()
    )];
    let told = tally.failures.iter().take(FAILURES_TOLD);
    lines.extend(told.map(|failure| format!("  failed: {failure}\n")));
    if tally.failures.len() > FAILURES_TOLD {
        lines.push(format!("  and {} more\n", tally.failures.len() - FAILURES_TOLD));
    }
    lines.concat()
}
