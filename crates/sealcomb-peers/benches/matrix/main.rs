//! Compares sealcomb with other libraries for all combinations of algorithm, message length, batch size and
//! direction.
//!
//! The libraries are timed in turn, so that a busy machine affects all of them, and ratios are computed per turn.
//! Timings include the caller's work: with sealcomb, building the list of buffers for a burst. Opening includes
//! copying the ciphertexts, for every library.
#![forbid(unsafe_code)]
// Measured numbers have far fewer than 52 significant bits.
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

/// Compares sealcomb with all other libraries in this build.
#[derive(Parser)]
#[command(
    after_help = "Example: ./dev bench --algorithms aes128-gcm,aes128-ctr --lengths 64,mix --batches 16,64"
)]
struct Arguments {
    /// Algorithm ids.
    #[arg(long, value_delimiter = ',', default_value = DEFAULT_ALGORITHMS)]
    algorithms: Vec<String>,
    /// Message lengths in bytes; `mix` for a packet mix: 44 % of 40 to 100 bytes, 37 % of 1400 to 1500, the rest in
    /// between.
    #[arg(long, value_delimiter = ',', default_value = "64,128,256,512,1500,2048,8192,mix")]
    lengths: Vec<Lengths>,
    /// Numbers of messages per batch.
    #[arg(long, value_delimiter = ',', default_value = "1,4,16,64,256")]
    batches: Vec<usize>,
    /// Directions to measure.
    #[arg(long, value_delimiter = ',', default_value = "seal,open")]
    directions: Vec<Direction>,
    /// Number of timings per library and cell.
    #[arg(long, default_value_t = 31)]
    turns: usize,
    /// Number of worst cells to list.
    #[arg(long, default_value_t = 20)]
    worst: usize,
    /// Write a picture of all cells to this SVG file.
    #[arg(long, value_name = "FILE")]
    picture: Option<PathBuf>,
    /// The flag that Cargo passes to all benchmarks.
    #[arg(long, hide = true)]
    bench: bool,
}

const DEFAULT_ALGORITHMS: &str = "aes128-gcm,aes128-ctr,aes128-ecb,aes128-cbc,aes128-cfb128,aes128-ofb,aes128-cmac,\
    aes128-ccm,aes128-eax,aes128-gcm-siv,aes128-siv";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments = Arguments::parse();
    // `cargo test --all-targets` also runs benches, without this flag.
    if !arguments.bench {
        return Ok(());
    }
    let algorithms =
        arguments.algorithms.iter().map(|id| Algorithm::by_id(id)).collect::<Result<Vec<_>, _>>()?;
    let mut clock = Clock::new();
    println!("backend {}, cycles: {}", Backend::selected()?.name(), clock.source());

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
        println!("wrote {}", path.display());
    }
    Ok(())
}

/// Prints the `count` cells in which sealcomb compares worst.
fn print_worst(cells: &[Cell], count: usize) {
    let mut sorted: Vec<(&Cell, &PeerTime)> =
        cells.iter().filter_map(|cell| Some((cell, cell.fastest_peer()?))).collect();
    sorted.sort_by(|a, b| a.1.ratio.median.total_cmp(&b.1.ratio.median));
    let slower = sorted.iter().filter(|(_, peer)| peer.ratio.median < 1.0).count();
    println!("\nfastest in {} of {} cells; the worst cells:", sorted.len() - slower, sorted.len());
    let mut table = Table::new();
    table.load_style(UTF8_FULL_CONDENSED).set_header([
        "algorithm",
        "direction",
        "bytes",
        "batch",
        "cycles per message",
        "fastest other",
        "ratio to sealcomb",
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

/// Prints all cells of an algorithm and direction: cycles per message, and the time of the fastest other library
/// relative to sealcomb's.
fn print_matrix(cells: &[Cell], batches: &[usize]) {
    let Some(first) = cells.first() else { return };
    println!(
        "\n{}, {}: cycles per message; time of the fastest other library relative to sealcomb",
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
