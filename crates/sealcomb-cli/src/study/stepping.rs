//! Goes through the instructions of a child process between its two stops:
//!
//! ```text
//! until the child's second stop:
//!     decode what follows, up to the first instruction that may lead elsewhere
//!     put a breakpoint in its place, let the child go on, and take the breakpoint away again
//!     let the child execute that one
//! ```
//!
//! To stop after each instruction would give the same, but a stop takes microseconds, and on a virtual machine tens of them.

use super::decoding::{Decoded, LONGEST};
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

/// More than any call here takes: a child that goes on for longer has gone astray.
const MOST: u64 = 1_000_000;

/// `int3`.
const BREAKPOINT: u8 = 0xcc;

/// What one call asks for that seals messages.
pub(super) fn demand(algorithm: &str, backend: &str, bytes: usize, messages: usize) -> Option<Demand> {
    let mut child = Command::new(env::current_exe().ok()?)
        .args(["count-instructions", algorithm, backend, &bytes.to_string(), &messages.to_string()])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let demand = between_the_stops_of(&child);
    // One that is still there has done what it was for, and one that is not cannot be killed.
    let _ = child.kill();
    let _ = child.wait();
    demand
}

/// Does the work between two stops that the parent waits for.
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
    while demand.instructions < MOST {
        let start = ptrace::getregs(pid).ok()?.rip;
        let run = code.run(start)?;
        if run.end != start && code.go_on_to_the_end(pid, &run)? == Signal::SIGSTOP {
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

/// Waits for a process to stop, and for which signal.
fn stop(pid: Pid) -> Option<Signal> {
    match waitpid(pid, None).ok()? {
        WaitStatus::Stopped(_, signal) => Some(signal),
        _ => None,
    }
}

/// Instructions that are executed one after the other, wherever the first of them is reached.
struct Run {
    demand: Demand,
    /// Where the last one is, which may lead elsewhere, and the first of its bytes.
    end: u64,
    byte: u8,
}

/// The instructions of a process, each run decoded once.
struct Code {
    memory: File,
    runs: HashMap<u64, Rc<Run>>,
}

impl Code {
    /// The run from this address on.
    fn run(&mut self, start: u64) -> Option<Rc<Run>> {
        if let Some(run) = self.runs.get(&start) {
            return Some(Rc::clone(run));
        }
        let (mut demand, mut end, mut compares) = (Demand::default(), start, false);
        let run = loop {
            let mut bytes = [0; LONGEST];
            let read = self.memory.read_at(&mut bytes, end).ok()?;
            let decoded = Decoded::of(&bytes[..read])?;
            decoded.add_to(&mut demand, compares);
            if decoded.leads_elsewhere {
                break Rc::new(Run { demand, end, byte: bytes[0] });
            }
            compares = decoded.compares;
            end += decoded.bytes as u64;
        };
        self.runs.insert(start, Rc::clone(&run));
        Some(run)
    }

    /// Lets a process that is at the beginning of a run go on to its last instruction. Returns what stopped it: the
    /// breakpoint, `SIGTRAP`, or its own `SIGSTOP`.
    fn go_on_to_the_end(&self, pid: Pid, run: &Run) -> Option<Signal> {
        self.memory.write_all_at(&[BREAKPOINT], run.end).ok()?;
        ptrace::cont(pid, None).ok()?;
        let signal = stop(pid)?;
        self.memory.write_all_at(&[run.byte], run.end).ok()?;
        if signal == Signal::SIGTRAP {
            let mut registers = ptrace::getregs(pid).ok()?;
            // The breakpoint was executed.
            registers.rip = (registers.rip == run.end + 1).then_some(run.end)?;
            ptrace::setregs(pid, registers).ok()?;
        }
        (signal == Signal::SIGTRAP || signal == Signal::SIGSTOP).then_some(signal)
    }
}
