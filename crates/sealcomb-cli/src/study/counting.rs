//! Counts the instructions of a sealing call, as the VAES paper does, but on the CPU itself: a child process executes
//! the call while this process traces it and records which units each instruction uses.

use super::bench;
use super::papers;
use super::results::{InstructionCount, Measurement};
use super::units::Demand;
use anyhow::{Context, Result};
use clap::Parser;
use sealcomb::study;
use sealcomb::{Algorithm, Backend};
use sealcomb_command::Classify;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
use sealcomb_timing::stepping::{between_stops, trace};
use std::ffi::OsString;
use std::iter;
use std::num::NonZero;
use std::thread;

/// The first argument of the child process. It is no subcommand: completions offer even hidden ones.
const COMMAND: &str = "count-instructions";

/// The arguments of the child process.
#[derive(clap::Parser)]
struct CountArgs {
    algorithm: String,
    backend: String,
    bytes: usize,
    messages: usize,
}

/// Returns the demand of calls that seal `messages` messages of the given size in bytes. Traces as many calls at a
/// time as the machine has cores, because tracing is mostly waiting for the child to stop. An entry is `None` if
/// tracing is not possible.
pub(crate) fn demands(
    calls: &[(Algorithm, usize)],
    backend: Backend,
    messages: usize,
) -> Vec<Option<Demand>> {
    let cores = thread::available_parallelism().map_or(1, NonZero::get);
    let share = calls.len().div_ceil(cores).max(1);
    thread::scope(|scope| {
        let shares: Vec<_> = calls
            .chunks(share)
            .map(|calls| {
                scope.spawn(move || -> Vec<_> {
                    let demand = |(algorithm, bytes): &(Algorithm, usize)| {
                        demand(algorithm.id(), backend.name(), *bytes, messages)
                    };
                    calls.iter().map(demand).collect()
                })
            })
            .collect();
        shares.into_iter().flat_map(|share| share.join().expect("no panic")).collect()
    })
}

/// Counts the calls that the VAES paper counts, for the measured algorithms, with AES-NI and on this study's backend.
/// Empty if tracing is not possible.
pub(crate) fn instructions(results: &[Measurement], backend: Backend) -> Vec<InstructionCount> {
    let mut counts: Vec<InstructionCount> = Vec::new();
    let backends = ["aesni", backend.name()].into_iter().filter(|name| Backend::named(name).is_ok());
    for name in backends.filter(|name| !study::needs(name).is_empty()) {
        for counted in
            papers::COUNTED.iter().filter(|counted| results.iter().any(|m| m.algorithm == counted.id))
        {
            let known = counts.iter().any(|count| {
                (count.algorithm, count.backend, count.bytes) == (counted.id, name, counted.bytes)
            });
            if !known && let Some(demand) = demand(counted.id, name, counted.bytes, 1) {
                counts.push(InstructionCount {
                    algorithm: counted.id,
                    backend: name,
                    bytes: counted.bytes,
                    instructions: demand.instructions,
                });
            }
        }
    }
    counts
}

/// Entry point of the child process, unless these arguments are those of another process: seals messages once as a
/// warm-up, and again between two stops.
pub(crate) fn run(mut arguments: impl Iterator<Item = OsString>) -> Option<Result<()>> {
    let first = arguments.next().filter(|first| first == COMMAND)?;
    let parsed = CountArgs::try_parse_from(iter::once(first).chain(arguments));
    Some(parsed.context("invalid arguments").or_usage().and_then(|args| count(&args)))
}

fn count(args: &CountArgs) -> Result<()> {
    let algorithm = study::by_id(&args.algorithm)?;
    let keys = bench::keys(algorithm, Backend::named(&args.backend)?, 1);
    bench::sealing(&keys, args.bytes, args.messages, |seal| {
        seal();
        between_stops(seal).context("this process cannot be traced")
    })
}

/// Returns the demand of one call that seals `messages` messages of `bytes` bytes, or `None` if it cannot be traced.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn demand(algorithm: &str, backend: &str, bytes: usize, messages: usize) -> Option<Demand> {
    let mut command = std::process::Command::new(std::env::current_exe().ok()?);
    command.args([COMMAND, algorithm, backend, &bytes.to_string(), &messages.to_string()]);
    trace::<super::decoding::Demands>(&mut command).map(|demands| demands.demand)
}

/// No call can be traced on other platforms.
#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
fn demand(_algorithm: &str, _backend: &str, _bytes: usize, _messages: usize) -> Option<Demand> {
    None
}

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
fn between_stops(_work: &mut dyn FnMut()) -> Result<(), std::io::Error> {
    Err(std::io::ErrorKind::Unsupported.into())
}
