//! Counts the instructions of a call, as the VAES paper does, but on the CPU itself: a child process seals messages while
//! this one follows it from instruction to instruction, and looks which units each one asks for.

use super::bench;
use super::papers;
use super::results::{InstructionCount, Measurement};
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
use super::stepping;
use super::units::Demand;
use anyhow::{Context, Result};
use sealcomb::{Algorithm, Backend};
use std::num::NonZero;
use std::thread;

/// Arguments of the child process.
#[derive(clap::Args)]
pub(crate) struct CountArgs {
    algorithm: String,
    backend: String,
    bytes: usize,
    messages: usize,
}

/// What calls ask for, each of which seals so many messages of so many bytes: as many at a time as the machine has cores,
/// since to follow one is mostly to wait for its stops. None where no process may trace another.
pub(crate) fn demands(
    calls: &[(&'static Algorithm, usize)],
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
                    let demand = |(algorithm, bytes): &(&Algorithm, usize)| {
                        stepping::demand(algorithm.id, backend.name(), *bytes, messages)
                    };
                    calls.iter().map(demand).collect()
                })
            })
            .collect();
        shares.into_iter().flat_map(|share| share.join().expect("no panic")).collect()
    })
}

/// What the VAES paper counts, of the algorithms that were measured, with AES-NI and on this study's backend. Empty where
/// no process may trace another.
pub(crate) fn instructions(results: &[Measurement], backend: Backend) -> Vec<InstructionCount> {
    let mut counts: Vec<InstructionCount> = Vec::new();
    let backends = ["aesni", backend.name()].into_iter().filter(|name| Backend::named(name).is_ok());
    for name in backends.filter(|name| !Backend::needs(name).is_empty()) {
        for counted in
            papers::COUNTED.iter().filter(|counted| results.iter().any(|m| m.algorithm == counted.id))
        {
            let known = counts.iter().any(|count| {
                (count.algorithm, count.backend, count.bytes) == (counted.id, name, counted.bytes)
            });
            if !known && let Some(demand) = stepping::demand(counted.id, name, counted.bytes, 1) {
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

/// The child's part: seals messages once, so that all is in its place, and then again, stopping before and after.
pub(crate) fn run(args: &CountArgs) -> Result<()> {
    let algorithm = Algorithm::by_id(&args.algorithm)?;
    let keys = bench::keys(algorithm, Backend::named(&args.backend)?, 1);
    bench::sealing(&keys, args.bytes, args.messages, |seal| {
        seal();
        stepping::between_stops(seal).context("this process cannot be traced")
    })
}

/// Where one process can't trace another in the way of [`super::stepping`].
#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
mod stepping {
    use super::Demand;

    pub(super) fn demand(
        _algorithm: &str,
        _backend: &str,
        _bytes: usize,
        _messages: usize,
    ) -> Option<Demand> {
        None
    }

    pub(super) fn between_stops(_work: &mut dyn FnMut()) -> Result<(), std::io::Error> {
        Err(std::io::ErrorKind::Unsupported.into())
    }
}
