//! Whether a program's branches and addresses depend on secrets: runs it several times side by side, an instruction at a
//! time, each time with another secret, and compares. `traced`, an example of the library, is the program to run: it
//! marks where an operation begins and ends.

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod lockstep;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod process;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod report;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod symbols;

use std::process::ExitCode;

const USAGE: &str = "\
usage: sealcomb-trace PROGRAM BACKEND quick|full [ID...]

Runs PROGRAM, the library's example `traced`, with four secrets side by side, and compares them instruction by
instruction: the instructions' addresses, the addresses of the memory that they use, and what they divide. Exit status 1
where these differ, which must never be, or where they don't in the operations that are there to be caught.

  quick    two small batches of each algorithm
  full     batches of many sizes under every schedule
  ID       algorithms; all, where none is named

example: sealcomb-trace target/static/x86_64-unknown-linux-gnu/release/examples/traced vaes512 quick aes128-gcm";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words.first().is_some_and(|word| word == "-h" || word == "--help") {
        println!("{USAGE}");
        return ExitCode::SUCCESS;
    }
    let [program, arguments @ ..] = words.as_slice() else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    if arguments.len() < 2 {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    }
    trace(program, arguments)
}

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn trace(program: &str, arguments: &[String]) -> ExitCode {
    match lockstep::run(program, arguments) {
        Ok(report) => {
            print!("{report}");
            ExitCode::from(u8::from(!report.holds()))
        }
        Err(error) => {
            eprintln!("sealcomb-trace: {error}");
            ExitCode::from(2)
        }
    }
}

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
fn trace(_program: &str, _arguments: &[String]) -> ExitCode {
    println!("skipped: the tracer is for Linux on x86-64");
    ExitCode::SUCCESS
}
