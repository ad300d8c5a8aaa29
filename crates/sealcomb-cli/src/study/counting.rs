//! Counts the instructions of a call, as the VAES paper does, but on the CPU itself: a child process seals a message while
//! this one lets it go on one instruction at a time.

use super::bench;
use super::papers;
use super::results::{InstructionCount, Measurement};
use anyhow::{Context, Result};
use sealcomb::{Algorithm, Backend};

/// Arguments of the child process.
#[derive(clap::Args)]
pub(crate) struct CountArgs {
    algorithm: String,
    backend: String,
    bytes: usize,
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
            if !known && let Some(instructions) = stepping::count(counted.id, name, counted.bytes) {
                counts.push(InstructionCount {
                    algorithm: counted.id,
                    backend: name,
                    bytes: counted.bytes,
                    instructions,
                });
            }
        }
    }
    counts
}

/// The child's part: seals a message, stopping before and after.
pub(crate) fn run(args: &CountArgs) -> Result<()> {
    let algorithm = Algorithm::by_id(&args.algorithm)?;
    let keys = bench::keys(algorithm, Backend::named(&args.backend)?, 1);
    bench::seal_once(&keys, args.bytes, stepping::between_stops).context("this process cannot be traced")
}

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod stepping {
    use nix::sys::ptrace;
    use nix::sys::signal::{Signal, raise};
    use nix::sys::wait::{WaitStatus, waitpid};
    use nix::unistd::Pid;
    use std::env;
    use std::process::{Child, Command, Stdio};

    /// More than any call here takes: a child that goes on for longer has gone astray.
    const MOST: u64 = 1_000_000;

    /// Instructions of one call that seals a message.
    pub(super) fn count(algorithm: &str, backend: &str, bytes: usize) -> Option<u64> {
        let mut child = Command::new(env::current_exe().ok()?)
            .args(["count-instructions", algorithm, backend, &bytes.to_string()])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .ok()?;
        let counted = steps(&child);
        // One that is still there has done what it was for, and one that is not cannot be killed.
        let _ = child.kill();
        let _ = child.wait();
        counted
    }

    /// Steps from the child's first stop to its second.
    fn steps(child: &Child) -> Option<u64> {
        let pid = Pid::from_raw(child.id().cast_signed());
        if !matches!(waitpid(pid, None).ok()?, WaitStatus::Stopped(_, Signal::SIGSTOP)) {
            return None;
        }
        for steps in 0..MOST {
            ptrace::step(pid, None).ok()?;
            match waitpid(pid, None).ok()? {
                WaitStatus::Stopped(_, Signal::SIGTRAP) => {}
                WaitStatus::Stopped(_, Signal::SIGSTOP) => return Some(steps),
                _ => return None,
            }
        }
        None
    }

    /// Does the work between two stops that the parent waits for.
    pub(super) fn between_stops(work: &mut dyn FnMut()) -> Result<(), nix::Error> {
        ptrace::traceme()?;
        raise(Signal::SIGSTOP)?;
        work();
        raise(Signal::SIGSTOP)
    }
}

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
mod stepping {
    pub(super) fn count(_algorithm: &str, _backend: &str, _bytes: usize) -> Option<u64> {
        None
    }

    pub(super) fn between_stops(_work: &mut dyn FnMut()) -> Result<(), std::io::Error> {
        Err(std::io::ErrorKind::Unsupported.into())
    }
}
