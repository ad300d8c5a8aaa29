//! The `sealcomb-link` command.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    sealcomb_link::main()
}
