//! Writes the manual pages and shell completions to a folder.

use std::path::Path;
use std::process::ExitCode;

use anyhow::Context;
use sealcomb_command::{Status, complain, conclude};

const NAME: &str = "sealcomb-manuals";

fn main() -> ExitCode {
    let [_, folder] = &std::env::args().collect::<Vec<_>>()[..] else {
        complain(NAME, "expected one argument, the folder to write to");
        return Status::Usage.into();
    };
    let written = sealcomb_manuals::write(Path::new(folder)).with_context(|| folder.clone());
    conclude(NAME, written.map(|()| Status::Done)).into()
}
