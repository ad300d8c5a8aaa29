//! `sealcomb vectors`: known answers through every backend, one by one and in shuffled batches.

mod check;
mod file;

use crate::stdout;
use anyhow::Result;
use check::Tally;
use file::VectorFile;
use sealcomb::Backend;
use std::path::PathBuf;
use std::process::ExitCode;

/// How many failures of one file are told in full.
const FAILURES_TOLD: usize = 10;

/// Arguments of `sealcomb vectors`.
#[derive(clap::Args)]
pub(crate) struct VectorsArgs {
    /// Files of known answers in JSON
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
}

/// Checks the files and prints how many checks passed and failed.
pub(crate) fn run(args: &VectorsArgs) -> Result<ExitCode> {
    let files: Vec<VectorFile> =
        args.files.iter().map(|path| VectorFile::read(path)).collect::<Result<_>>()?;
    let skipped: Vec<&str> = Backend::names().filter(|name| Backend::named(name).is_err()).collect();
    if !skipped.is_empty() {
        stdout::print(&format!("skipped, this CPU lacks their instructions: {}\n", skipped.join(", ")))?;
    }
    let mut total = Tally::default();
    for file in &files {
        let mut of_file = Tally::default();
        for backend in Backend::available() {
            of_file.add(check::check(file, backend)?);
        }
        stdout::print(&report(file, &of_file))?;
        total.add(of_file);
    }
    stdout::print(&format!("{} passed, {} failed\n", total.passed, total.failures.len()))?;
    Ok(if total.failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
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
