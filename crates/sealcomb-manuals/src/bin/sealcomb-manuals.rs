//! Writes the manual pages and shell completions to a folder.

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let [_, folder] = &std::env::args().collect::<Vec<_>>()[..] else {
        eprintln!("usage: sealcomb-manuals FOLDER");
        return ExitCode::from(2);
    };
    match sealcomb_manuals::write(Path::new(folder)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("sealcomb-manuals: {folder}: {error}");
            ExitCode::FAILURE
        }
    }
}
