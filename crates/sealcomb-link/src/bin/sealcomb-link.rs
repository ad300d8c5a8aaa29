//! The command `sealcomb-link`.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    sealcomb_link::main()
}
