//! A process that is executed one instruction at a time.

use iced_x86::Register;
use nix::libc::user_regs_struct;
use nix::sys::ptrace::{self, Options};
use nix::sys::signal::Signal;
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::Pid;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::process::{Child, Command, Stdio};

pub(crate) struct Process {
    child: Child,
    pid: Pid,
    memory: File,
}

/// The reason why a process stopped.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// It executed a single step, or `int3`.
    Trap,
    /// It exited with status 0.
    Exit,
}

impl Process {
    /// Starts a program, which must wait for a byte of input. Its environment is empty, so that processes differ
    /// only in their arguments.
    pub(crate) fn start<'a>(program: &str, arguments: impl Iterator<Item = &'a str>) -> io::Result<Self> {
        let mut child = Command::new(program).args(arguments).env_clear().stdin(Stdio::piped()).spawn()?;
        let pid = Pid::from_raw(child.id().cast_signed());
        ptrace::seize(pid, Options::PTRACE_O_EXITKILL)?;
        let memory = File::open(format!("/proc/{pid}/mem"))?;
        // Ignore errors: the program exits early if it has nothing to do.
        let _ = child.stdin.take().map(|mut input| input.write_all(b"."));
        Ok(Self { child, pid, memory })
    }

    pub(crate) fn step(&self) -> io::Result<()> {
        Ok(ptrace::step(self.pid, None)?)
    }

    pub(crate) fn resume(&self) -> io::Result<()> {
        Ok(ptrace::cont(self.pid, None)?)
    }

    pub(crate) fn wait(&self) -> io::Result<Stop> {
        match waitpid(self.pid, None)? {
            WaitStatus::Stopped(_, Signal::SIGTRAP) => Ok(Stop::Trap),
            WaitStatus::Exited(_, 0) => Ok(Stop::Exit),
            other => Err(io::Error::other(format!("unexpected end or stop of the program: {other:?}"))),
        }
    }

    pub(crate) fn registers(&self) -> io::Result<Registers> {
        Ok(Registers(ptrace::getregs(self.pid)?))
    }

    /// Returns the address at which the program's file is mapped.
    pub(crate) fn base(&self) -> io::Result<u64> {
        let file = fs::read_link(format!("/proc/{}/exe", self.pid))?;
        let file = file.to_string_lossy();
        let maps = fs::read_to_string(format!("/proc/{}/maps", self.pid))?;
        let first = maps.lines().find(|line| line.ends_with(&*file)).and_then(|line| line.split('-').next());
        let start = first
            .ok_or_else(|| io::Error::other(format!("{file} is not in the memory map of its process")))?;
        u64::from_str_radix(start, 16).map_err(io::Error::other)
    }

    pub(crate) fn read(&self, address: u64, bytes: &mut [u8]) -> io::Result<usize> {
        self.memory.read_at(bytes, address)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Ignore errors: the process may have exited.
        let _ = self.child.kill();
        let _ = waitpid(self.pid, None);
    }
}

pub(crate) struct Registers(user_regs_struct);

impl Registers {
    pub(crate) fn instruction(&self) -> u64 {
        self.0.rip
    }

    pub(crate) fn stack(&self) -> u64 {
        self.0.rsp
    }

    /// Returns address and length of the name that a mark passes.
    pub(crate) fn name(&self) -> (u64, usize) {
        (self.0.rdi, self.0.rsi as usize)
    }

    /// Returns the value of a general-purpose or segment register, or of a part of one. `None` for all others.
    pub(crate) fn value(&self, register: Register) -> Option<u64> {
        let whole = match register.full_register() {
            Register::RAX => self.0.rax,
            Register::RBX => self.0.rbx,
            Register::RCX => self.0.rcx,
            Register::RDX => self.0.rdx,
            Register::RSI => self.0.rsi,
            Register::RDI => self.0.rdi,
            Register::RBP => self.0.rbp,
            Register::RSP => self.0.rsp,
            Register::R8 => self.0.r8,
            Register::R9 => self.0.r9,
            Register::R10 => self.0.r10,
            Register::R11 => self.0.r11,
            Register::R12 => self.0.r12,
            Register::R13 => self.0.r13,
            Register::R14 => self.0.r14,
            Register::R15 => self.0.r15,
            Register::FS => return Some(self.0.fs_base),
            Register::GS => return Some(self.0.gs_base),
            Register::CS | Register::DS | Register::ES | Register::SS => return Some(0),
            _ => return None,
        };
        Some(match register {
            Register::AH | Register::BH | Register::CH | Register::DH => whole >> 8 & 0xff,
            _ if register.size() == 8 => whole,
            _ => whole & ((1 << (8 * register.size())) - 1),
        })
    }
}
