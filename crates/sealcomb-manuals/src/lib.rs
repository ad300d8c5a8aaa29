//! Writes the manual pages and shell completions of `sealcomb`, `sealcomb-link` and `sealcomb-kme`, for packages.
#![forbid(unsafe_code)]

use std::fs;
use std::io;
use std::path::Path;

use clap::Command;
use clap_complete::Shell;

/// Returns the commands.
pub fn commands() -> [Command; 3] {
    [sealcomb_cli::command(), sealcomb_kme::command(), sealcomb_link::command()]
}

/// Writes the manual pages to `folder/man`, one per command and subcommand, and the completions to
/// `folder/completions/SHELL`, under the names that the shells expect.
///
/// # Errors
/// An error of the operating system.
pub fn write(folder: &Path) -> io::Result<()> {
    let manuals = folder.join("man");
    fs::create_dir_all(&manuals)?;
    for command in commands() {
        clap_mangen::generate_to(command, &manuals)?;
    }
    for shell in [Shell::Bash, Shell::Fish, Shell::Zsh] {
        let completions = folder.join("completions").join(shell.to_string());
        fs::create_dir_all(&completions)?;
        for mut command in commands() {
            let name = command.get_name().to_owned();
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut command, &name, &mut script);
            let file = match shell {
                Shell::Fish => format!("{name}.fish"),
                Shell::Zsh => format!("_{name}"),
                _ => name,
            };
            fs::write(completions.join(file), script)?;
        }
    }
    Ok(())
}
