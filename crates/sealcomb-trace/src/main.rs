//! Checks that no branch and no address of a program depends on secrets. Runs it in several processes in lockstep,
//! each with a different secret, and compares them instruction by instruction. The program is the library's example
//! `traced`, which marks the beginning and the end of each operation.

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

Checks that the library is constant-time. Runs PROGRAM, the library's example `traced`, with several secrets in
lockstep, and compares three things for each instruction: its address, the addresses of the memory that it
accesses, and the operands of divisions. Exits with status 1 if any of these depends on a secret, if a planted leak
is not found, or if the trace fails, and with status 2 for invalid arguments. Skips backends that this CPU lacks.

  quick    run two small batches of each algorithm
  full     run batches of many sizes under every schedule
  BACKEND  check this backend; each one runs on its own CPU
  ID       check only these algorithms; a cipher with a key size and a hyphen, such as aes256-, stands for all of
           its algorithms

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
    let mut is_constant_time = true;
    for (backend, report) in backends.iter().zip(reports) {
        match report {
            Ok(report) => {
                println!("{backend}:\n{report}");
                is_constant_time &= report.holds();
            }
            Err(error) => {
                eprintln!("sealcomb-trace: {backend}: {error}");
                is_constant_time = false;
            }
        }
    }
    if is_constant_time { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
fn trace(_program: &str, _extent: &str, _backends: &[&str], _ids: &[String]) -> ExitCode {
    println!("skipped: the tracer requires Linux on x86-64");
    ExitCode::SUCCESS
}
