//! Whether a program's branches and addresses depend on secrets: runs it several times side by side, each time with
//! another secret, and compares instruction by instruction. `traced`, an example of the library, is the program to run:
//! it marks where an operation begins and ends.

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
usage: sealcomb-trace PROGRAM quick|full BACKEND[,BACKEND...] [ID...]

Runs PROGRAM, the library's example `traced`, with several secrets side by side, and compares them instruction by
instruction: the instructions' addresses, the addresses of the memory that they use, and what they divide. Exit status 1
where these differ, which must never be, or where they don't in the operations that are there to be caught. A backend
that this CPU lacks is skipped.

  quick    two small batches of each algorithm
  full     batches of many sizes under every schedule
  BACKEND  each on a CPU of its own
  ID       algorithms, or the part of their ids up to a hyphen, such as aes256-; all, where none is named

example: sealcomb-trace target/static/x86_64-unknown-linux-gnu/release/examples/traced quick vaes256 aes128-gcm";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words.first().is_some_and(|word| word == "-h" || word == "--help") {
        println!("{USAGE}");
        return ExitCode::SUCCESS;
    }
    match words.as_slice() {
        [program, extent, backends, ids @ ..] if extent == "quick" || extent == "full" => {
            trace(program, extent, &backends.split(',').collect::<Vec<_>>(), ids)
        }
        _ => {
            eprintln!("{USAGE}");
            ExitCode::from(2)
        }
    }
}

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn trace(program: &str, extent: &str, backends: &[&str], ids: &[String]) -> ExitCode {
    let reports: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..backends.len())
            .map(|i| scope.spawn(move || lockstep::run(program, backends[i], extent, ids, i)))
            .collect();
        threads.into_iter().map(|thread| thread.join().expect("the thread ends")).collect()
    });
    let mut status = 0;
    for (backend, report) in backends.iter().zip(reports) {
        match report {
            Ok(report) => {
                println!("{backend}:\n{report}");
                status = status.max(u8::from(!report.holds()));
            }
            Err(error) => {
                eprintln!("sealcomb-trace: {backend}: {error}");
                status = 2;
            }
        }
    }
    ExitCode::from(status)
}

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
fn trace(_program: &str, _extent: &str, _backends: &[&str], _ids: &[String]) -> ExitCode {
    println!("skipped: the tracer is for Linux on x86-64");
    ExitCode::SUCCESS
}
