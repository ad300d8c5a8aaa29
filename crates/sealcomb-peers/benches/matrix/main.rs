//! Compares sealcomb with every other library in every cell: message lengths, batch sizes, sealing and opening.
//!
//! Libraries are timed in turns, and ratios are computed turn by turn, so that load on the machine affects all of
//! them equally. A timing includes the caller's work: for sealcomb, listing the buffers of a burst or calling the key
//! for one message. Opening includes a copy of the ciphertexts, for every library.
#![forbid(unsafe_code)]
// Measured values have far fewer than 52 significant bits.
#![allow(clippy::cast_precision_loss)]

mod cell;
mod keys;
mod picture;
mod work;

use cell::{Cell, Direction, PeerTime};
use clap::Parser;
use comfy_table::{Table, presets::UTF8_FULL_CONDENSED};
use indicatif::ProgressBar;
use sealcomb::{Algorithm, Backend};
use sealcomb_timing::Clock;
use std::path::PathBuf;
use work::Lengths;

/// Compares sealcomb with every other library of this build
#[derive(Parser)]
#[command(
    after_help = "Example: ./dev bench --algorithms aes128-gcm,aes128-ctr --lengths 64,mix --batches 16,64"
)]
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
    /// Timings per library and cell
    #[arg(long, default_value_t = 31)]
    turns: usize,
    /// Number of worst cells to list
    #[arg(long, default_value_t = 20)]
    worst: usize,
    /// Write a picture of all cells as SVG
    #[arg(long, value_name = "FILE")]
    picture: Option<PathBuf>,
    /// Flag that cargo passes to every benchmark
    #[arg(long, hide = true)]
    bench: bool,
}

const DEFAULT_ALGORITHMS: &str = "aes128-gcm,aes128-ctr,aes128-ecb,aes128-cbc,aes128-cfb128,aes128-ofb,aes128-cmac,\
    aes128-ccm,aes128-eax,aes128-gcm-siv,aes128-siv";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments = Arguments::parse();
    // `cargo test --all-targets` also runs benchmarks, without this flag.
    if !arguments.bench {
        return Ok(());
    }
    let algorithms =
        arguments.algorithms.iter().map(|id| Algorithm::by_id(id)).collect::<Result<Vec<_>, _>>()?;
    let mut clock = Clock::new();
    println!("backend {}, cycle counts: {}", Backend::selected()?.name(), clock.source());

    let count =
        algorithms.len() * arguments.directions.len() * arguments.lengths.len() * arguments.batches.len();
    let progress = ProgressBar::new(count as u64);
    let mut cells = Vec::new();
    for &algorithm in &algorithms {
        for &direction in &arguments.directions {
            for &lengths in &arguments.lengths {
                for &batch in &arguments.batches {
                    cells.push(Cell::measure(
                        &mut clock,
                        algorithm,
                        direction,
                        lengths,
                        batch,
                        arguments.turns,
                    ));
                    progress.inc(1);
                }
            }
        }
    }
    progress.finish_and_clear();

    print_worst(&cells, arguments.worst);
    for cells in cells.chunk_by(|a, b| a.algorithm.id == b.algorithm.id && a.direction == b.direction) {
        print_matrix(cells, &arguments.batches);
    }
    keys::print(&mut clock, &algorithms, arguments.turns);
    if let Some(path) = arguments.picture {
        std::fs::write(&path, picture::draw(&cells))?;
        println!("picture: {}", path.display());
    }
    Ok(())
}

/// Prints the cells in which sealcomb is slowest compared with the fastest other library.
fn print_worst(cells: &[Cell], count: usize) {
    let mut sorted: Vec<(&Cell, &PeerTime)> =
        cells.iter().filter_map(|cell| Some((cell, cell.fastest_peer()?))).collect();
    sorted.sort_by(|a, b| a.1.ratio.median.total_cmp(&b.1.ratio.median));
    let slower = sorted.iter().filter(|(_, peer)| peer.ratio.median < 1.0).count();
    println!("\nfastest in {} of {} cells; worst cells:", sorted.len() - slower, sorted.len());
    let mut table = Table::new();
    table.load_style(UTF8_FULL_CONDENSED).set_header([
        "algorithm",
        "direction",
        "bytes",
        "batch",
        "cycles per message",
        "fastest other",
        "time over ours",
        "quartiles",
    ]);
    for (cell, peer) in sorted.iter().take(count) {
        table.add_row([
            cell.algorithm.id.to_owned(),
            cell.direction.to_string(),
            cell.lengths.to_string(),
            cell.batch.to_string(),
            format!("{:.0}", cell.cycles_per_message),
            peer.library.clone(),
            format!("{:.2}", peer.ratio.median),
            format!("{:.2} - {:.2}", peer.ratio.q1, peer.ratio.q3),
        ]);
    }
    println!("{table}");
}

/// Prints all cells of an algorithm and direction: cycles per message, and the time of the fastest other library over
/// ours.
fn print_matrix(cells: &[Cell], batches: &[usize]) {
    let Some(first) = cells.first() else { return };
    println!(
        "\n{}, {}: cycles per message; time of the fastest other library over ours",
        first.algorithm.id, first.direction
    );
    let mut table = Table::new();
    let header = batches.iter().map(|batch| format!("batch of {batch}"));
    table.load_style(UTF8_FULL_CONDENSED).set_header(std::iter::once("bytes".to_owned()).chain(header));
    for row in cells.chunk_by(|a, b| a.lengths == b.lengths) {
        let columns = row.iter().map(|cell| match cell.fastest_peer() {
            Some(peer) => format!(
                "{:.0}; {:.2} {}",
                cell.cycles_per_message,
                peer.ratio.median,
                peer.library.split('-').next().unwrap_or_default()
            ),
            None => format!("{:.0}", cell.cycles_per_message),
        });
        table.add_row(std::iter::once(row[0].lengths.to_string()).chain(columns));
    }
    println!("{table}");
}
