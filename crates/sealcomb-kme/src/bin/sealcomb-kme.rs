//! The `sealcomb-kme` command.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    sealcomb_kme::main()
}
