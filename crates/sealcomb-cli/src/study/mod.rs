//! `sealcomb study`: measures every mode on this CPU and compares it with the CPU's bound and the papers' figures.
// Measured values are positive and have far fewer than 52 significant bits.
#![allow(clippy::cast_precision_loss)]

mod bench;
mod comparison;
mod conditions;
mod cost;
mod counting;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod decoding;
mod headlines;
mod instructions;
mod papers;
mod plan;
mod report;
mod results;
mod roofline;
mod screen;
mod table;
mod tables;
mod units;
mod workload;

use crate::machine;
use crate::output::Output;
use anyhow::{Result, anyhow};
use bench::Bench;
pub(crate) use counting::run as count_instructions;
use indicatif::{ProgressBar, ProgressStyle};
use instructions::Bounds;
use plan::{Item, KEYED_LENGTHS, Part, Plan, Way};
use results::{Axis, Direction, HeatMap, Instruction, KeyCost, Machine, Measurement, Roofline, Study};
use sealcomb::study::Schedule;
use sealcomb::{Algorithm, Backend};
use sealcomb_command::{Status, exit_statuses, print, with_status};
use sealcomb_timing::Clock;
use std::path::PathBuf;
use units::Rate;
use workload::{BATCH, Lengths, Workload};

/// Schema identifier of the JSON.
const SCHEMA: &str = "sealcomb-study/1";

const EXAMPLES: &str = "\
Examples:
  sealcomb study                                  every mode on one screen, within a minute
  sealcomb study --quick --modes gcm,cbc          two modes, in seconds
  sealcomb study --lengths 64,mix                 64-byte messages and realistic packet lengths
  sealcomb study --trace packets.pcap             packet lengths of a capture
  sealcomb study --tables claims,modes            two tables instead of the screen
  sealcomb study --report study.html              curves and heat maps
  sealcomb study --full --report study.html       every key size, length and cell, in 20 minutes
  sealcomb study --json | jq .headlines           results for scripts";

pub(crate) fn after_help() -> String {
    let statuses = exit_statuses(&[
        (Status::Failed, "the capture is damaged, or contains no IP packet"),
        (Status::Usage, "an argument, or SEALCOMB_BACKEND"),
        (Status::Io, "a file, or a standard stream"),
    ]);
    format!("{EXAMPLES}\n\n{statuses}")
}

/// Arguments of `sealcomb study`.
#[derive(clap::Args, Default)]
pub(crate) struct StudyArgs {
    /// Measure only these modes, mode families or algorithms, for example gcm,cbc or otr or aes256-gcm
    #[arg(long, value_delimiter = ',', value_name = "NAME,...")]
    modes: Vec<String>,
    /// Measure only these message lengths, in bytes; mix stands for realistic packet lengths
    #[arg(long, value_delimiter = ',', value_name = "BYTES|mix,...")]
    lengths: Vec<Lengths>,
    /// Use the packet lengths of this capture (pcap or pcapng) instead of the realistic mix
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Measure every key size, length and heat-map cell: takes 17 to 20 minutes
    #[arg(long, conflicts_with = "quick")]
    full: bool,
    /// Measure fewer lengths with fewer timings: takes less than 30 seconds
    #[arg(long)]
    quick: bool,
    /// Print these tables instead of the summary, and measure the figures that they show
    #[arg(long, value_delimiter = ',', value_name = "all|NAME,...")]
    tables: Vec<tables::Name>,
    /// Print all results as JSON instead of the summary
    #[arg(long, conflicts_with_all = ["tables", "json_file"])]
    json: bool,
    /// Write all results as JSON
    #[arg(long, value_name = "FILE")]
    json_file: Option<PathBuf>,
    /// Write a self-contained HTML report with curves and heat maps
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
}

/// Runs the study, writes the requested files, and prints the requested tables and the paths of the files, or only the
/// results as JSON. Prints the summary screen if none of these was requested.
pub(crate) fn run(args: &StudyArgs) -> Result<()> {
    let json = args.json_file.as_deref().map(Output::create).transpose()?;
    let report = args.report.as_deref().map(Output::create).transpose()?;
    if let (Some(json), Some(report)) = (&json, &report)
        && json.is_same(report)
    {
        let error = anyhow!("--json-file and --report name the same file; expected two");
        return Err(with_status(Status::Usage, error));
    }
    let plan = Plan::new(args)?;
    let study = measure(&plan);
    if let Some(output) = json {
        output.finish(&serde_json::to_vec_pretty(&study)?)?;
    }
    if let Some(output) = report {
        output.finish(report::html(&study)?.as_bytes())?;
    }
    if args.json {
        return print(serde_json::to_string_pretty(&study)?);
    }
    let written = written(args);
    let text = match (args.tables.is_empty(), written.is_empty()) {
        (false, _) => tables::text(&study, &args.tables) + &written,
        (true, false) => written + "add --tables all|NAME,... to print tables as well\n",
        (true, true) => screen::text(&study),
    };
    print(text.trim_end_matches('\n'))
}

/// Returns one line for each file that was written.
fn written(args: &StudyArgs) -> String {
    let line = |what: &str, path: &Option<PathBuf>| {
        path.as_ref().map_or_else(String::new, |path| format!("{what}: {}\n", path.display()))
    };
    line("JSON results", &args.json_file) + &line("report", &args.report)
}

fn measure(plan: &Plan) -> Study {
    let conditions = conditions::now(plan);
    let items = plan.items();
    let clock = Clock::new().with_patience(plan.patience());
    let mut bench = Bench { clock, samples: plan.samples };
    let progress = progress_bar(items.len() + plan.cells() + plan.rooflines());
    progress.set_message("instructions");
    let mut instructions = Vec::new();
    let mut field = Vec::new();
    let mut chains = Vec::new();
    for backend in plan.probed() {
        instructions.extend(instructions::instructions(&mut bench, backend));
        if plan.has(Part::Field) {
            let lengths = plan.effort.chain_lengths();
            field.extend(instructions::field_operations(&mut bench, backend));
            chains.extend(instructions::multiplication_chains(&mut bench, backend, lengths));
        }
    }
    let machine = Machine {
        cpu: machine::cpu_name(),
        backend: plan.backend.name(),
        cycles: bench.clock.source(),
        aes_rounds_per_cycle: rate_of(&instructions, plan.backend, "aesenc"),
        clmul_per_cycle: rate_of(&instructions, plan.backend, "pclmulqdq"),
    };
    let mut bounds = Bounds::default();
    let mut results = Vec::with_capacity(items.len());
    for item in &items {
        progress.set_message(item.algorithm.name());
        results.push(measure_item(&mut bench, &mut bounds, plan, item));
        progress.inc(1);
    }
    let keys = key_costs(&mut bench, plan, &progress);
    let (heat, comb_heat) = plan
        .heat_maps()
        .into_iter()
        .map(|(algorithm, axis)| heat_map(&mut bench, plan, algorithm, axis, &progress))
        .partition(|map| map.axis == Axis::Batch);
    let (unit_rates, rooflines) = units(&mut bench, plan, &instructions, &progress);
    let instruction_counts =
        if plan.has(Part::Counts) { counting::instructions(&results, plan.backend) } else { Vec::new() };
    progress.finish_and_clear();
    let mut study = Study {
        schema: SCHEMA,
        machine,
        conditions,
        costs: cost::of_all(&results, plan.backend.name()),
        keys,
        instruction_counts,
        unit_rates,
        rooflines,
        results,
        instructions,
        field,
        chains,
        heat,
        comb_heat,
        headlines: Vec::new(),
    };
    study.headlines = headlines::of(&study);
    study
}

fn units(
    bench: &mut Bench,
    plan: &Plan,
    instructions: &[Instruction],
    progress: &ProgressBar,
) -> (Vec<Rate>, Vec<Roofline>) {
    if !plan.has(Part::Units) {
        return (Vec::new(), Vec::new());
    }
    progress.set_message("units");
    let rates = roofline::rates(bench, plan.backend, instructions);
    let rooflines = roofline::of_all(bench, plan.backend, &rates, plan.algorithms());
    progress.inc(plan.rooflines() as u64);
    (rates, rooflines)
}

fn key_costs(bench: &mut Bench, plan: &Plan, progress: &ProgressBar) -> Vec<KeyCost> {
    if !plan.has(Part::Keys) {
        return Vec::new();
    }
    progress.set_message("keys");
    plan.algorithms().map(|algorithm| key_cost(bench, plan, algorithm)).collect()
}

fn key_cost(bench: &mut Bench, plan: &Plan, algorithm: Algorithm) -> KeyCost {
    let with_message = KEYED_LENGTHS
        .map(|bytes| (bytes, bench.message_with_its_key(algorithm, plan.backend, bytes).median))
        .to_vec();
    KeyCost { algorithm: algorithm.id(), new: bench.new_key(algorithm, plan.backend).median, with_message }
}

fn heat_map(
    bench: &mut Bench,
    plan: &Plan,
    algorithm: Algorithm,
    axis: Axis,
    progress: &ProgressBar,
) -> HeatMap {
    progress.set_message(algorithm.name());
    let keys = bench::keys(algorithm, plan.backend, 1);
    let mut cell = |messages, bytes| {
        let (schedule, workload) = match axis {
            Axis::Batch => (Schedule::Auto, Workload::at_once(bytes, messages)),
            Axis::Parallelism => (Schedule::Comb(messages), Workload::fixed(bytes)),
        };
        progress.inc(1);
        bench.time(&keys, Direction::Seal, schedule, &workload.batches(algorithm)).median
    };
    let (messages, lengths) = (plan.heat_messages(axis), plan.heat_lengths.clone());
    let cpb = messages.iter().map(|&n| lengths.iter().map(|&bytes| cell(n, bytes)).collect()).collect();
    HeatMap { algorithm: algorithm.id(), backend: plan.backend.name(), axis, messages, lengths, cpb }
}

fn rate_of(instructions: &[Instruction], backend: Backend, operation: &str) -> f64 {
    instructions
        .iter()
        .find(|instruction| (instruction.backend, instruction.operation) == (backend.name(), operation))
        .map_or(0.0, |instruction| instruction.blocks_per_cycle)
}

fn measure_item(bench: &mut Bench, bounds: &mut Bounds, plan: &Plan, item: &Item<'_>) -> Measurement {
    let algorithm = item.algorithm;
    let lengths = item.workload.batches(algorithm);
    let (backend, cpb) = match item.way {
        Way::Ours { backend, schedule, keys } => {
            let keys = bench::keys(algorithm, backend, keys);
            (backend, bench.time(&keys, item.direction, schedule, &lengths))
        }
        Way::Peer(peer) => (plan.backend, bench.time_peer(peer, algorithm, &lengths)),
    };
    let bound_cpb = bounds.cpb(bench, algorithm, backend);
    Measurement {
        algorithm: algorithm.id(),
        direction: item.direction,
        backend: item.way.backend_name(),
        schedule: item.way.schedule_name(),
        lengths: item.workload.lengths,
        batch: BATCH,
        lanes: item.way.lanes(),
        keys: item.way.keys(),
        cpb: cpb.median,
        cpb_q1: cpb.q1,
        cpb_q3: cpb.q3,
        bound_cpb,
        fraction_of_bound: bound_cpb.map(|bound| bound / cpb.median),
    }
}

/// Returns a progress bar, which is drawn only on a terminal.
fn progress_bar(items: usize) -> ProgressBar {
    let style =
        ProgressStyle::with_template("{bar:40} {pos}/{len}, {eta} left, {msg}").expect("valid template");
    ProgressBar::new(items as u64).with_style(style)
}
