//! The command `sealcomb`.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    sealcomb_cli::main()
}
