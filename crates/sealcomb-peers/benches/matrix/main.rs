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
mod keys;
mod lengths;
mod picture;
mod runs;
mod tables;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use buffers::Layout;
use cell::{Case, Cell, Direction};
use clap::Parser;
use indicatif::ProgressBar;
use lengths::Lengths;
use runs::Run;
use sealcomb::study;
use sealcomb::{Algorithm, Backend};
use sealcomb_peers::peers;
use sealcomb_timing::Clock;

/// Compares sealcomb with every other library of this build
#[derive(Parser)]
#[command(after_help = "\
Examples:
  ./dev bench --algorithms aes128-gcm,aes128-ctr --lengths 64,mix --batches 16,64
  ./dev bench --algorithms aes128-gcm --lengths 64 --batches 16 --cold
  IPSEC_MB=/path/to/intel-ipsec-mb ./dev bench --layouts packed,page --json-file new.json --compare old.json

The environment variable IPSEC_MB selects a build of Intel's library instead of the system's.")]
struct Arguments {
    /// Algorithm ids
    #[arg(long, value_delimiter = ',', default_value = DEFAULT_ALGORITHMS)]
    algorithms: Vec<String>,
    /// Message lengths in bytes, or mix for packets: 44 % of 40 to 100 bytes, 37 % of 1400 to 1500, the others
    /// between
    #[arg(long, value_delimiter = ',', default_value = "64,128,256,512,1500,2048,8192,mix")]
    lengths: Vec<Lengths>,
    /// Batch sizes in messages
    #[arg(long, value_delimiter = ',', default_value = "1,4,16,64,256")]
    batches: Vec<usize>,
    /// Directions to measure
    #[arg(long, value_delimiter = ',', default_value = "seal,open")]
    directions: Vec<Direction>,
    /// Positions of a batch's messages in memory: contiguous, or 8192 or 8208 bytes apart (page, offset; more for
    /// longer messages)
    #[arg(long, value_delimiter = ',', default_value = "packed")]
    layouts: Vec<Layout>,
    /// Maximum number of timings per library and cell; at least 5, fewer than this if a cell takes long
    #[arg(long, default_value_t = 31)]
    turns: usize,
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
    /// Compare with a run that wrote this file with --json-file, worst change first
    #[arg(long, value_name = "FILE")]
    compare: Option<PathBuf>,
    /// Flag that cargo passes to every benchmark
    #[arg(long, hide = true)]
    bench: bool,
}

const DEFAULT_ALGORITHMS: &str = "aes128-gcm,aes128-ctr,aes128-ecb,aes128-cbc,aes128-cfb128,aes128-ofb,aes128-cmac,\
    aes128-ccm,aes128-eax,aes128-gcm-siv,aes128-siv";

/// Approximate maximum duration of a cell.
const PATIENCE: Duration = Duration::from_millis(200);

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments = Arguments::parse();
    // `cargo test --all-targets` also runs benchmarks, without this flag.
    if !arguments.bench {
        return Ok(());
    }
    // Cargo runs benchmarks in the package's folder, but file names are relative to the caller's.
    if let Some(folder) = std::env::var_os("PWD") {
        std::env::set_current_dir(folder)?;
    }
    let earlier = arguments.compare.as_deref().map(Run::read).transpose()?;
    let algorithms = arguments.algorithms.iter().map(|id| study::by_id(id)).collect::<Result<Vec<_>, _>>()?;
    let mut clock = Clock::new().with_patience(PATIENCE);
    let backend = Backend::selected()?.name();
    let libraries = libraries(&algorithms);
    println!("backend {backend}, cycle counts: {}", clock.source());
    println!("other libraries: {libraries}");

    let cells = measure(&mut clock, &algorithms, &arguments);
    tables::print_worst(&cells, arguments.worst);
    tables::print_all(&cells, &arguments.batches);
    keys::print(&mut clock, &algorithms, arguments.turns);
    if arguments.cold {
        cold::print(&mut clock, &algorithms, arguments.turns);
    }
    let run = Run::new(backend, &libraries, &cells);
    if let Some(earlier) = earlier {
        run.print_changes(&earlier, arguments.worst);
    }
    if let Some(path) = arguments.json_file {
        run.write(&path)?;
        println!("figures: {}", path.display());
    }
    if let Some(path) = arguments.picture {
        std::fs::write(&path, picture::draw(&cells, &libraries))?;
        println!("picture: {}", path.display());
    }
    Ok(())
}

/// Returns a key whose bytes differ: XTS refuses equal halves.
fn any_key(algorithm: Algorithm) -> Vec<u8> {
    (0x42..).take(algorithm.key_bytes()).collect()
}

/// Returns the names and versions of the other libraries; RustCrypto has a crate per mode.
fn libraries(algorithms: &[Algorithm]) -> String {
    let names = algorithms.iter().flat_map(|algorithm| peers(algorithm.id(), &any_key(*algorithm)));
    let names: BTreeSet<String> = names.map(|peer| peer.library().to_owned()).collect();
    let crates: Vec<&str> = names.iter().filter_map(|name| name.strip_prefix("rustcrypto-")).collect();
    let mut libraries: Vec<String> =
        names.iter().filter(|name| !name.starts_with("rustcrypto-")).cloned().collect();
    if !crates.is_empty() {
        libraries.push(format!("rustcrypto ({})", crates.join(", ")));
    }
    libraries.join(", ")
}

/// Measures all cells, in the order of the tables.
fn measure(clock: &mut Clock, algorithms: &[Algorithm], arguments: &Arguments) -> Vec<Cell> {
    let Arguments { lengths, batches, directions, layouts, turns, .. } = arguments;
    let mut cases = Vec::new();
    for &algorithm in algorithms {
        for &direction in directions {
            for &layout in layouts {
                for &lengths in lengths {
                    for &batch in batches {
                        cases.push(Case { algorithm, direction, layout, lengths, batch });
                    }
                }
            }
        }
    }
    let progress = ProgressBar::new(cases.len() as u64);
    let mut cells = Vec::new();
    for case in cases {
        cells.push(Cell::measure(clock, case, *turns));
        progress.inc(1);
    }
    progress.finish_and_clear();
    cells
}
