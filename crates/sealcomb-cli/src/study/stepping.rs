//! Traces the instructions of a child process between its two stops:
//!
//! ```text
//! until the child's second stop:
//!     decode instructions up to the first one that may branch
//!     set a breakpoint there, continue the child, and remove the breakpoint
//!     single-step that instruction
//! ```
//!
//! Single-stepping every instruction would give the same result, but a stop takes microseconds, and tens of
//! microseconds on a virtual machine.

use super::decoding::{Decoded, MAX_INSTRUCTION_BYTES};
use super::units::Demand;
use nix::sys::ptrace;
use nix::sys::signal::{Signal, raise};
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::Pid;
use std::collections::HashMap;
use std::env;
use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::process::{Child, Command, Stdio};
use std::rc::Rc;

/// More than any traced call executes. A child that exceeds this limit has left the call.
const MAX_INSTRUCTIONS: u64 = 1_000_000;

/// `int3`.
const BREAKPOINT: u8 = 0xcc;

/// Returns the demand of one call that seals `messages` messages of `bytes` bytes, or `None` if it cannot be traced.
pub(super) fn demand(algorithm: &str, backend: &str, bytes: usize, messages: usize) -> Option<Demand> {
    let mut child = Command::new(env::current_exe().ok()?)
        .args([super::counting::COMMAND, algorithm, backend, &bytes.to_string(), &messages.to_string()])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let demand = between_the_stops_of(&child);
    // The child is no longer needed. If it has already ended, `kill` fails, and that is fine.
    let _ = child.kill();
    let _ = child.wait();
    demand
}

/// Runs `work` between two stops for which the parent waits.
pub(super) fn between_stops(work: &mut dyn FnMut()) -> Result<(), nix::Error> {
    ptrace::traceme()?;
    raise(Signal::SIGSTOP)?;
    work();
    raise(Signal::SIGSTOP)
}

fn between_the_stops_of(child: &Child) -> Option<Demand> {
    let pid = Pid::from_raw(child.id().cast_signed());
    if stop(pid)? != Signal::SIGSTOP {
        return None;
    }
    let memory = OpenOptions::new().read(true).write(true).open(format!("/proc/{pid}/mem")).ok()?;
    let mut code = Code { memory, runs: HashMap::new() };
    let mut demand = Demand::default();
    while demand.instructions < MAX_INSTRUCTIONS {
        let start = ptrace::getregs(pid).ok()?.rip;
        let run = code.run(start)?;
        if run.end != start && code.continue_to_end(pid, &run)? == Signal::SIGSTOP {
            return Some(demand);
        }
        demand.add_all(&run.demand);
        ptrace::step(pid, None).ok()?;
        match stop(pid)? {
            Signal::SIGTRAP => {}
            Signal::SIGSTOP => return Some(demand),
            _ => return None,
        }
    }
    None
}

/// Waits until a process stops and returns the signal, or `None` if the process ended.
fn stop(pid: Pid) -> Option<Signal> {
    match waitpid(pid, None).ok()? {
        WaitStatus::Stopped(_, signal) => Some(signal),
        _ => None,
    }
}

/// A sequence of instructions that executes without a branch before its last instruction.
struct Run {
    demand: Demand,
    /// Address of the last instruction, which may branch.
    end: u64,
    /// First byte of the last instruction, which the breakpoint replaces.
    byte: u8,
}

/// The code of a process. Each run is decoded once.
struct Code {
    memory: File,
    runs: HashMap<u64, Rc<Run>>,
}

impl Code {
    /// Returns the run that begins at this address.
    fn run(&mut self, start: u64) -> Option<Rc<Run>> {
        if let Some(run) = self.runs.get(&start) {
            return Some(Rc::clone(run));
        }
        let (mut demand, mut end, mut compares) = (Demand::default(), start, false);
        let run = loop {
            let mut bytes = [0; MAX_INSTRUCTION_BYTES];
            let read = self.memory.read_at(&mut bytes, end).ok()?;
            let decoded = Decoded::of(&bytes[..read])?;
            decoded.add_to(&mut demand, compares);
            if decoded.may_branch {
                break Rc::new(Run { demand, end, byte: bytes[0] });
            }
            compares = decoded.compares;
            end += decoded.bytes as u64;
        };
        self.runs.insert(start, Rc::clone(&run));
        Some(run)
    }

    /// Continues a process from the beginning of a run to its last instruction. Returns the signal that stopped it:
    /// `SIGTRAP` for the breakpoint, or its own `SIGSTOP`.
    fn continue_to_end(&self, pid: Pid, run: &Run) -> Option<Signal> {
        self.memory.write_all_at(&[BREAKPOINT], run.end).ok()?;
        ptrace::cont(pid, None).ok()?;
        let signal = stop(pid)?;
        self.memory.write_all_at(&[run.byte], run.end).ok()?;
        if signal == Signal::SIGTRAP {
            let mut registers = ptrace::getregs(pid).ok()?;
            // The breakpoint has executed: reset the instruction pointer.
            registers.rip = (registers.rip == run.end + 1).then_some(run.end)?;
            ptrace::setregs(pid, registers).ok()?;
        }
        (signal == Signal::SIGTRAP || signal == Signal::SIGSTOP).then_some(signal)
    }
}
