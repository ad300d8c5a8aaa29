//! Compares sealcomb with every other library in every cell: message lengths, batch sizes, sealing and opening.
//!
//! Libraries are timed in turns, and ratios are computed turn by turn, so that load on the machine affects all of
//! them equally. All of them process the same sequence of batches; see `batches.rs`. A timing includes the caller's
//! work. For sealcomb, that is listing the buffers of a burst or calling the key for one message; for a library with a
//! call for many messages, building its jobs. Opening includes a copy of the ciphertexts and tags, for every library.
#![forbid(unsafe_code)]
// Measured values have far fewer than 52 significant bits.
#![allow(clippy::cast_precision_loss)]

mod batches;
mod buffers;
mod cell;
mod cold;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod count;
#[cfg(earlier)]
mod earlier;
#[cfg(not(earlier))]
#[path = "no_earlier.rs"]
mod earlier;
mod gate;
mod keys;
mod lengths;
mod ours;
mod picture;
mod runs;
mod tables;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use ::sealcomb as library;
use buffers::Layout;
use cell::{Case, Cell, Direction, Keys};
use clap::Parser;
use indicatif::ProgressBar;
use lengths::Lengths;
use runs::Run;
use sealcomb::study;
use sealcomb::{Algorithm, Backend};
use sealcomb_peers::peers;
use sealcomb_timing::Clock;

/// Compares sealcomb with every other library of this build, or with an earlier commit
#[derive(Parser)]
#[command(
    args_override_self = true,
    after_help = "\
Examples:
  ./dev bench --algorithms aes128-gcm,aes128-ctr --lengths 64,mix --batches 16,64
  ./dev bench --algorithms aes128-gcm --lengths 64 --batches 16 --cold
  IPSEC_MB=/path/to/intel-ipsec-mb ./dev bench --layouts packed,page --json-file figures.json
  ./dev gate HEAD --algorithms aes128-ccm,aes128-cmac

The environment variable IPSEC_MB selects a build of Intel's library instead of the system's."
)]
struct Arguments {
    /// Backends; the best one by default, or all but portable ones to compare with an earlier commit
    #[arg(long, value_delimiter = ',', value_parser = Backend::named)]
    backends: Vec<Backend>,
    /// Algorithm ids
    #[arg(long, value_delimiter = ',', default_value = DEFAULT_ALGORITHMS)]
    algorithms: Vec<String>,
    /// Message lengths in bytes, or mix for packets: 44 % of 40 to 100 bytes, 37 % of 1400 to 1500, the others
    /// between
    #[arg(long, value_delimiter = ',', default_value = DEFAULTS.lengths)]
    lengths: Vec<Lengths>,
    /// Batch sizes in messages
    #[arg(long, value_delimiter = ',', default_value = DEFAULTS.batches)]
    batches: Vec<usize>,
    /// Directions to measure
    #[arg(long, value_delimiter = ',', default_value = "seal,open")]
    directions: Vec<Direction>,
    /// Positions of a batch's messages in memory: contiguous, or 8192 or 8208 bytes apart (page, offset; more for
    /// longer messages)
    #[arg(long, value_delimiter = ',', default_value = "packed")]
    layouts: Vec<Layout>,
    /// Keys of a batch: one for all messages, or one per message of several, which measures no other library
    #[arg(long, value_delimiter = ',', default_value = DEFAULTS.keys)]
    keys: Vec<Keys>,
    /// Maximum number of timings per library and cell; at least 5, fewer than this if a cell takes long
    #[arg(long, default_value_t = 31)]
    turns: usize,
    /// Approximate maximum duration of a cell in milliseconds
    #[arg(long, default_value_t = DEFAULTS.patience)]
    patience: u64,
    /// Measure single calls after the second-level cache was evicted, too
    #[arg(long)]
    cold: bool,
    /// Number of worst cells to list
    #[arg(long, default_value_t = 20)]
    worst: usize,
    /// Write a picture of all cells as SVG
    #[arg(long, value_name = "FILE")]
    picture: Option<PathBuf>,
    /// Write the figures of all cells as JSON
    #[arg(long, value_name = "FILE")]
    json_file: Option<PathBuf>,
    /// Process one batch to count its instructions
    #[arg(long, hide = true)]
    count: Option<String>,
    /// Flag that cargo passes to every benchmark
    #[arg(long, hide = true)]
    bench: bool,
}

/// Defaults of options.
struct Defaults {
    lengths: &'static str,
    batches: &'static str,
    keys: &'static str,
    patience: u64,
}

/// A comparison with an earlier commit has more cells, and takes as long.
const DEFAULTS: Defaults = if cfg!(earlier) {
    Defaults { lengths: "64,128,256,512,1500,2048,mix", batches: "1,4,16,64", keys: "one,own", patience: 20 }
} else {
    Defaults {
        lengths: "64,128,256,512,1500,2048,8192,mix",
        batches: "1,4,16,64,256",
        keys: "one",
        patience: 200,
    }
};

const DEFAULT_ALGORITHMS: &str = "aes128-gcm,aes128-ctr,aes128-ecb,aes128-cbc,aes128-cfb128,aes128-ofb,aes128-cmac,\
    aes128-ccm,aes128-eax,aes128-gcm-siv,aes128-siv";

fn main() -> Result<ExitCode, Box<dyn std::error::Error>> {
    let mut arguments = Arguments::parse();
    // `cargo test --all-targets` also runs benchmarks, without this flag.
    if !arguments.bench {
        return Ok(ExitCode::SUCCESS);
    }
    // Cargo runs benchmarks in the package's folder, but file names are relative to the caller's.
    if let Some(folder) = std::env::var_os("PWD") {
        std::env::set_current_dir(folder)?;
    }
    let algorithms = arguments.algorithms.iter().map(|id| study::by_id(id)).collect::<Result<Vec<_>, _>>()?;
    if arguments.backends.is_empty() {
        arguments.backends = if cfg!(earlier) { vector_backends() } else { vec![Backend::selected()?] };
    }
    let cases = cases(&algorithms, &arguments);
    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    if let (Some(library), Some(case)) = (&arguments.count, cases.first()) {
        count::run(case, library == "earlier")?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut clock = Clock::new().with_patience(Duration::from_millis(arguments.patience));
    println!("cycle counts: {}", clock.source());
    let cells = measure(&mut clock, cases, arguments.turns);
    if cfg!(earlier) {
        return Ok(gate::judge(&mut clock, cells, &arguments));
    }
    let libraries = libraries(&algorithms);
    println!("other libraries: {libraries}");
    tables::print_worst(&cells, arguments.worst);
    tables::print_all(&cells, &arguments.batches);
    keys::print(&mut clock, &algorithms, arguments.turns);
    if arguments.cold {
        cold::print(&mut clock, arguments.backends[0], &algorithms, arguments.turns);
    }
    if let Some(path) = arguments.json_file {
        Run::new(&libraries, &cells).write(&path)?;
        println!("figures: {}", path.display());
    }
    if let Some(path) = arguments.picture {
        std::fs::write(&path, picture::draw(&cells, &libraries))?;
        println!("picture: {}", path.display());
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the backends of this CPU that use its vector instructions.
fn vector_backends() -> Vec<Backend> {
    Backend::available().filter(|backend| !backend.name().starts_with("portable")).collect()
}

/// Returns the bytes of `count` keys. Those of one key differ: XTS refuses equal halves.
fn keys_of(algorithm: Algorithm, count: usize) -> Vec<Vec<u8>> {
    (0x42..)
        .take(count)
        .map(|first| (first..).take(algorithm.key_bytes()).map(|byte: u32| byte as u8).collect())
        .collect()
}

/// Returns the names and versions of the other libraries; RustCrypto has a crate per mode.
fn libraries(algorithms: &[Algorithm]) -> String {
    let names = algorithms.iter().flat_map(|algorithm| peers(algorithm.id(), &keys_of(*algorithm, 1)[0]));
    let names: BTreeSet<String> = names.map(|peer| peer.library().to_owned()).collect();
    let crates: Vec<&str> = names.iter().filter_map(|name| name.strip_prefix("rustcrypto-")).collect();
    let mut libraries: Vec<String> =
        names.iter().filter(|name| !name.starts_with("rustcrypto-")).cloned().collect();
    if !crates.is_empty() {
        libraries.push(format!("rustcrypto ({})", crates.join(", ")));
    }
    libraries.join(", ")
}

/// Returns all cases. The order of the loops is that of the tables' rows and columns.
fn cases(algorithms: &[Algorithm], arguments: &Arguments) -> Vec<Case> {
    let Arguments { backends, lengths, batches, directions, layouts, keys, .. } = arguments;
    let mut cases = Vec::new();
    for &backend in backends {
        for &algorithm in algorithms {
            for &direction in directions {
                for &layout in layouts {
                    for &keys in keys {
                        for &lengths in lengths {
                            let of_batch =
                                |&batch| Case { backend, algorithm, direction, layout, keys, lengths, batch };
                            // A single message has one key anyway.
                            let is_new = |case: &Case| keys == Keys::One || case.batch > 1;
                            cases.extend(batches.iter().map(of_batch).filter(is_new));
                        }
                    }
                }
            }
        }
    }
    cases
}

/// Measures all cells.
fn measure(clock: &mut Clock, cases: Vec<Case>, turns: usize) -> Vec<Cell> {
    let progress = ProgressBar::new(cases.len() as u64);
    let mut cells = Vec::new();
    for case in cases {
        cells.push(Cell::measure(clock, case, turns));
        progress.inc(1);
    }
    progress.finish_and_clear();
    cells
}
