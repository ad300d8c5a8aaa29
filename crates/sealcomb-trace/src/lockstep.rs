//! Executes processes that differ only in their secrets in lockstep, and compares them.

use crate::process::{Process, Registers, Stop};
use crate::report::{Difference, Kind, Report};
use crate::symbols::Symbols;
use iced_x86::{Decoder, DecoderOptions, Instruction, Mnemonic, OpKind};
use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::sys::personality::{self, Persona};
use nix::unistd::Pid;
use std::collections::{HashMap, HashSet};
use std::io;

/// Number of secrets to compare. The first ones are extreme values, the others random.
fn secrets(extent: &str) -> usize {
    if extent == "full" { 4 } else { 3 }
}

const LONGEST_INSTRUCTION: usize = 15;
const LONGEST_NAME: usize = 1000;

/// Runs the program for a backend, in one process per secret. All processes share the CPU of index `cpu` among the
/// allowed ones, modulo their number.
pub(crate) fn run(
    program: &str,
    backend: &str,
    extent: &str,
    ids: &[String],
    cpu: usize,
) -> io::Result<Report> {
    // The processes inherit both. Without address randomization their addresses are equal, and on one CPU a switch
    // from the tracer to a process is faster than between CPUs.
    personality::set(personality::get()? | Persona::ADDR_NO_RANDOMIZE)?;
    stay_on(cpu)?;
    let processes = (0..secrets(extent))
        .map(|secret| {
            let secret = secret.to_string();
            let words = [backend, &secret, extent];
            Process::start(program, words.into_iter().chain(ids.iter().map(String::as_str)))
        })
        .collect::<io::Result<Vec<_>>>()?;
    let mut report = Report::default();
    let mut stop = next_mark(&processes)?;
    if stop == Stop::Exit {
        return Ok(report);
    }
    let symbols = Symbols::of(program, processes[0].base()?)?;
    let mut code = Code::default();
    while stop == Stop::Trap {
        let name = name(&processes)?;
        let mut operation =
            Operation { processes: &processes, code: &mut code, differences: Vec::new(), before: None };
        report.instructions += operation.compare()?;
        report.add(name, operation.differences, &symbols);
        each(&processes, Process::resume)?;
        stop = next_mark(&processes)?;
    }
    let functions: HashSet<_> = code.0.keys().map(|&address| symbols.function(address)).collect();
    report.count_entries(backend, &symbols, &functions);
    Ok(report)
}

/// Pins this thread to the CPU of index `cpu` among the allowed ones, modulo their number.
fn stay_on(cpu: usize) -> io::Result<()> {
    let this = Pid::from_raw(0);
    let allowed = sched_getaffinity(this)?;
    let allowed: Vec<_> = (0..CpuSet::count()).filter(|&cpu| allowed.is_set(cpu).unwrap_or(false)).collect();
    let mut one = CpuSet::new();
    one.set(allowed[cpu % allowed.len()])?;
    Ok(sched_setaffinity(this, &one)?)
}

fn each(processes: &[Process], what: impl Fn(&Process) -> io::Result<()>) -> io::Result<()> {
    processes.iter().try_for_each(what)
}

/// Waits until all processes stop, and returns the reason.
///
/// # Errors
/// If they stop for different reasons.
fn next_mark(processes: &[Process]) -> io::Result<Stop> {
    let stops = processes.iter().map(Process::wait).collect::<io::Result<Vec<_>>>()?;
    let mut stops = stops.into_iter();
    let first = stops.next().unwrap_or(Stop::Exit);
    if stops.any(|stop| stop != first) {
        return Err(io::Error::other("the program exits earlier with some secrets than with others"));
    }
    Ok(first)
}

/// Returns the name of the operation that begins.
///
/// # Errors
/// If it is not the same in all processes.
fn name(processes: &[Process]) -> io::Result<String> {
    let mut names = processes.iter().map(|process| {
        let (address, length) = process.registers()?.name();
        let mut text = vec![0; length.min(LONGEST_NAME)];
        process.read(address, &mut text)?;
        String::from_utf8(text).map_err(io::Error::other)
    });
    let first = names.next().unwrap_or(Ok(String::new()))?;
    for name in names {
        let name = name?;
        if name != first {
            return Err(io::Error::other(format!(
                "the processes run different operations: `{first}` and `{name}`"
            )));
        }
    }
    if first.is_empty() {
        return Err(io::Error::other("the end of an operation without its beginning"));
    }
    Ok(first)
}

/// A cache of decoded instructions, by address.
#[derive(Default)]
struct Code(HashMap<u64, Decoded>);

#[derive(Clone, Copy)]
struct Decoded {
    instruction: Instruction,
    /// Whether its operands must be compared: it accesses memory, or its time depends on them.
    is_compared: bool,
}

impl Code {
    fn at(&mut self, address: u64, process: &Process) -> io::Result<Decoded> {
        if let Some(&decoded) = self.0.get(&address) {
            return Ok(decoded);
        }
        let mut bytes = [0; LONGEST_INSTRUCTION];
        let count = process.read(address, &mut bytes)?;
        let instruction = Decoder::with_ip(64, &bytes[..count], address, DecoderOptions::NONE).decode();
        if instruction.is_invalid() {
            return Err(io::Error::other(format!("unknown instruction at {address:#x}")));
        }
        let decoded = Decoded {
            instruction,
            is_compared: divides(&instruction)
                || (!is_without_access(&instruction)
                    && (0..instruction.op_count()).any(|operand| is_memory(&instruction, operand))),
        };
        self.0.insert(address, decoded);
        Ok(decoded)
    }
}

fn divides(instruction: &Instruction) -> bool {
    matches!(instruction.mnemonic(), Mnemonic::Div | Mnemonic::Idiv)
}

/// Returns whether the instruction has a memory operand but does not access memory.
fn is_without_access(instruction: &Instruction) -> bool {
    matches!(instruction.mnemonic(), Mnemonic::Lea | Mnemonic::Nop)
}

fn is_memory(instruction: &Instruction, operand: u32) -> bool {
    !matches!(
        instruction.op_kind(operand),
        OpKind::Register
            | OpKind::NearBranch16
            | OpKind::NearBranch32
            | OpKind::NearBranch64
            | OpKind::FarBranch16
            | OpKind::FarBranch32
            | OpKind::Immediate8
            | OpKind::Immediate8_2nd
            | OpKind::Immediate16
            | OpKind::Immediate32
            | OpKind::Immediate64
            | OpKind::Immediate8to16
            | OpKind::Immediate8to32
            | OpKind::Immediate8to64
            | OpKind::Immediate32to64
    )
}

/// An operation: the code between two marks.
struct Operation<'a> {
    processes: &'a [Process],
    code: &'a mut Code,
    differences: Vec<Difference>,
    /// The last instruction that all processes executed.
    before: Option<Instruction>,
}

impl Operation<'_> {
    /// Executes the operation to its end, and returns the number of instructions compared. The comparison ends where
    /// the control flow diverges.
    fn compare(&mut self) -> io::Result<u64> {
        let mut count = 0;
        loop {
            let registers = self.processes.iter().map(Process::registers).collect::<io::Result<Vec<_>>>()?;
            let address = registers[0].instruction();
            if differ(&registers, |registers| (registers.instruction(), registers.stack())) {
                self.differences.push(Difference { kind: Kind::Branch, at: self.before });
                each(self.processes, Process::resume)?;
                return match next_mark(self.processes)? {
                    Stop::Trap => Ok(count),
                    Stop::Exit => Err(io::Error::other("the program exited within an operation")),
                };
            }
            let Decoded { instruction, is_compared } = self.code.at(address, &self.processes[0])?;
            if instruction.mnemonic() == Mnemonic::Int3 {
                each(self.processes, Process::resume)?;
                next_mark(self.processes)?;
                return Ok(count);
            }
            if is_compared {
                self.compare_operands(&instruction, &registers)?;
            }
            each(self.processes, Process::step)?;
            if next_mark(self.processes)? == Stop::Exit {
                return Err(io::Error::other("the program exited within an operation"));
            }
            self.before = Some(instruction);
            count += 1;
        }
    }

    /// Records a difference if the processes access different addresses or divide different numbers.
    fn compare_operands(&mut self, instruction: &Instruction, registers: &[Registers]) -> io::Result<()> {
        let mut divisors = None;
        for operand in 0..instruction.op_count() {
            if !is_memory(instruction, operand) {
                let register = instruction.op_register(operand);
                divisors =
                    Some(registers.iter().map(|registers| registers.value(register)).collect::<Vec<_>>());
                continue;
            }
            let addresses: Vec<_> =
                registers.iter().map(|registers| address(instruction, operand, registers)).collect();
            if addresses.iter().any(|&address| address.is_none() || address != addresses[0]) {
                self.differences.push(Difference { kind: Kind::Address, at: Some(*instruction) });
                return Ok(());
            }
            if divides(instruction) {
                let mut values = vec![Some([0; 8]); registers.len()];
                for ((process, address), value) in
                    self.processes.iter().zip(&addresses).zip(values.iter_mut().flatten())
                {
                    let size = instruction.memory_size().size();
                    process.read(address.unwrap_or(0), &mut value[..size])?;
                }
                divisors = Some(values.into_iter().map(|value| value.map(u64::from_ne_bytes)).collect());
            }
        }
        if divides(instruction) {
            let dividends_differ = differ(registers, |registers| {
                (registers.value(iced_x86::Register::RAX), registers.value(iced_x86::Register::RDX))
            });
            if dividends_differ
                || divisors.is_none_or(|divisors| divisors.iter().any(|value| *value != divisors[0]))
            {
                self.differences.push(Difference { kind: Kind::Division, at: Some(*instruction) });
            }
        }
        Ok(())
    }
}

fn differ<T: PartialEq>(registers: &[Registers], what: impl Fn(&Registers) -> T) -> bool {
    let first = what(&registers[0]);
    registers[1..].iter().any(|registers| what(registers) != first)
}

/// Returns the address of a memory operand, or `None` if it depends on a vector register.
fn address(instruction: &Instruction, operand: u32, registers: &Registers) -> Option<u64> {
    instruction.virtual_address(operand, 0, |register, _, _| registers.value(register))
}
