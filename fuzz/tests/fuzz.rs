//! Runs the fuzz targets without instrumentation, on any compiler: first the inputs of the corpora, then mutations
//! of them. Inputs that take a new path are mutated too.
//!
//! `cargo test` runs each target for a second, `./dev fuzz MINUTES` for longer.
#![forbid(unsafe_code)]

use clap::Parser;
use sealcomb_fuzz::{Campaign, Report, TARGETS, Target, differential, last};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Mutex;
use std::thread;
use std::time::Duration;
use std::{fs, io};

/// Runs fuzz targets.
#[derive(Parser)]
struct Args {
    /// Targets to run [default: all]
    #[arg(value_name = "TARGET")]
    targets: Vec<String>,
    /// Minutes to run each target [default: 1 second]
    #[arg(long, value_name = "N")]
    minutes: Option<f64>,
    /// Targets to run in parallel [default: one per core]
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,
    /// Seed of the random generator [default: random]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Only run this input, whose folder has the name of its target
    #[arg(long, value_name = "FILE", conflicts_with_all = ["targets", "minutes"])]
    again: Option<PathBuf>,
}

/// Default time per target.
const DEFAULT_TIME: Duration = Duration::from_secs(1);

fn main() -> ExitCode {
    let args = Args::parse();
    if let Some(input) = &args.again {
        return again(input);
    }
    let targets: Vec<Target> = TARGETS
        .into_iter()
        .filter(|target| args.targets.is_empty() || args.targets.iter().any(|name| name == target.name))
        .collect();
    let time = args.minutes.map_or(DEFAULT_TIME, |minutes| Duration::from_secs_f64(60.0 * minutes));
    let seed = args.seed.unwrap_or_else(|| fastrand::u64(..));
    println!("seed {seed}");
    let at_once = args.jobs.or_else(|| thread::available_parallelism().ok().map(usize::from)).unwrap_or(1);
    let reports = fuzz(&targets, at_once, time, seed);
    let total: u64 = reports.iter().map(|report| report.executions).sum();
    let crashed = reports.iter().filter(|report| report.crash.is_some()).count();
    println!("{total} executions, {} jobs in batches; {crashed} targets failed", differential::jobs());
    if crashed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Runs all targets, `at_once` of them in parallel.
fn fuzz(targets: &[Target], at_once: usize, time: Duration, seed: u64) -> Vec<Report> {
    let waiting = Mutex::new(targets.iter());
    let reports = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..at_once.min(targets.len()) {
            scope.spawn(|| {
                loop {
                    let Some(target) = waiting.lock().expect("no thread panics").next() else { break };
                    let report = campaign(target, time, seed).expect("a corpus, and a folder for artifacts");
                    println!("{report}");
                    report.crash.as_deref().inspect(|path| println!("input that failed: {}", hex(path)));
                    reports.lock().expect("no thread panics").push(report);
                }
            });
        }
    });
    reports.into_inner().expect("no thread panics")
}

fn campaign(target: &Target, time: Duration, seed: u64) -> io::Result<Report> {
    let folder = |name: &str| Path::new(env!("CARGO_MANIFEST_DIR")).join(name).join(target.name);
    let mut paths: Vec<PathBuf> = fs::read_dir(folder("corpus"))?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<io::Result<_>>()?;
    paths.sort();
    let inputs = paths.iter().map(fs::read).collect::<io::Result<_>>()?;
    Campaign::new(target, inputs, &folder("artifacts"), seed)?.run(time)
}

/// Returns the bytes of a file in hexadecimal, for logs of machines whose files are not accessible.
fn hex(path: &Path) -> String {
    fs::read(path).unwrap_or_default().iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().concat()
}

/// Runs a single input: one that failed, or the last one of a process that ended.
fn again(path: &Path) -> ExitCode {
    let folder = path.parent().and_then(Path::file_name);
    let Some(target) = TARGETS.iter().find(|target| folder.is_some_and(|name| name == target.name)) else {
        eprintln!("{}: no target has the name of its folder", path.display());
        return ExitCode::from(2);
    };
    let contents = match fs::read(path) {
        Ok(contents) => contents,
        Err(error) => {
            eprintln!("{}: {error}", path.display());
            return ExitCode::from(2);
        }
    };
    let is_last = path.file_name().is_some_and(|name| name == "last");
    let input = if is_last { last(&contents).unwrap_or_default() } else { &contents };
    (target.run)(input);
    println!("{}: target {} ran without a failure", path.display(), target.name);
    ExitCode::SUCCESS
}
