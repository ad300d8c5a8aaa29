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

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::process::{Child, Command, Stdio};
use std::rc::Rc;

use nix::sys::ptrace;
use nix::sys::signal::{Signal, raise};
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::Pid;

/// Maximum size of an instruction in bytes.
const MAX_INSTRUCTION_BYTES: usize = 15;

/// More than any traced call executes. A child that exceeds this limit has left the call.
const MAX_INSTRUCTIONS: u64 = 10_000_000;

/// `int3`.
const BREAKPOINT: u8 = 0xcc;

/// What is known about an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Size of the instruction in bytes.
    pub bytes: usize,
    /// Whether an instruction other than the following one may execute next.
    pub may_branch: bool,
}

/// What is counted about executed instructions.
pub trait Tally: Default {
    /// Adds the first instruction of `code`. It follows the one that was added before. Returns `None` if it is invalid.
    fn add(&mut self, code: &[u8]) -> Option<Step>;

    /// Adds all instructions of another tally.
    fn add_all(&mut self, other: &Self);
}

/// Returns the tally of what `command` executes between its two stops, see [`between_stops`], or `None` if it cannot be
/// traced.
pub fn trace<T: Tally>(command: &mut Command) -> Option<T> {
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().ok()?;
    let tally = between_the_stops_of(&child);
    // The child is no longer needed. If it has already ended, `kill` fails, and that is fine.
    let _ = child.kill();
    let _ = child.wait();
    tally
}

/// Runs `work` between two stops for which the parent process waits in [`trace`].
///
/// # Errors
/// This process cannot be traced.
pub fn between_stops(work: &mut dyn FnMut()) -> io::Result<()> {
    ptrace::traceme()?;
    raise(Signal::SIGSTOP)?;
    work();
    Ok(raise(Signal::SIGSTOP)?)
}

fn between_the_stops_of<T: Tally>(child: &Child) -> Option<T> {
    let pid = Pid::from_raw(child.id().cast_signed());
    if stop(pid)? != Signal::SIGSTOP {
        return None;
    }
    let memory = OpenOptions::new().read(true).write(true).open(format!("/proc/{pid}/mem")).ok()?;
    let mut code = Code { memory, runs: HashMap::new() };
    let (mut tally, mut instructions) = (T::default(), 0);
    while instructions < MAX_INSTRUCTIONS {
        let start = ptrace::getregs(pid).ok()?.rip;
        let run = code.run(start)?;
        if run.end != start && code.continue_to_end(pid, &run)? == Signal::SIGSTOP {
            return Some(tally);
        }
        tally.add_all(&run.tally);
        instructions += run.instructions;
        ptrace::step(pid, None).ok()?;
        match stop(pid)? {
            Signal::SIGTRAP => {}
            Signal::SIGSTOP => return Some(tally),
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
struct Run<T> {
    tally: T,
    instructions: u64,
    /// Address of the last instruction, which may branch.
    end: u64,
    /// First byte of the last instruction, which the breakpoint replaces.
    byte: u8,
}

/// The code of a process. Each run is decoded once.
struct Code<T> {
    memory: File,
    runs: HashMap<u64, Rc<Run<T>>>,
}

impl<T: Tally> Code<T> {
    /// Returns the run that begins at this address.
    fn run(&mut self, start: u64) -> Option<Rc<Run<T>>> {
        if let Some(run) = self.runs.get(&start) {
            return Some(Rc::clone(run));
        }
        let (mut tally, mut instructions, mut end) = (T::default(), 0, start);
        let run = loop {
            let mut bytes = [0; MAX_INSTRUCTION_BYTES];
            let read = self.memory.read_at(&mut bytes, end).ok()?;
            let step = tally.add(&bytes[..read])?;
            instructions += 1;
            if step.may_branch {
                break Rc::new(Run { tally, instructions, end, byte: bytes[0] });
            }
            end += step.bytes as u64;
        };
        self.runs.insert(start, Rc::clone(&run));
        Some(run)
    }

    /// Continues a process from the beginning of a run to its last instruction. Returns the signal that stopped it:
    /// `SIGTRAP` for the breakpoint, or its own `SIGSTOP`.
    fn continue_to_end(&self, pid: Pid, run: &Run<T>) -> Option<Signal> {
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
