//! The `--help` texts are those in docs/api: a change of a command's interface shows in a review.
//!
//! ```console
//! $ SEALCOMB_WRITE_DOCS=1 cargo test -p sealcomb-manuals --test help_record
//! ```

use std::path::Path;
use std::{env, fs};

use clap::Command;

/// The `--help` texts of a command and its subcommands, each below its command line.
fn help(command: &mut Command, before: &str) -> String {
    let words = format!("{before}{}", command.get_name());
    let own = format!("$ {words} --help\n{}\n", command.render_long_help());
    let below = command.get_subcommands_mut().filter(|each| each.get_name() != "help");
    below.fold(own, |text, each| text + &help(each, &format!("{words} ")))
}

#[test]
fn the_help_of_every_command_is_recorded() {
    for mut command in sealcomb_manuals::commands() {
        command.build();
        let name = format!("../../docs/api/{}.txt", command.get_name());
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(&name);
        let now = help(&mut command, "");
        if env::var_os("SEALCOMB_WRITE_DOCS").is_some() {
            fs::write(&file, &now).unwrap();
        }
        let recorded = fs::read_to_string(&file).unwrap_or_default();
        let changed = now.lines().zip(recorded.lines()).find(|(now, before)| now != before);
        assert!(now == recorded, "{name} differs, at first {changed:?}; run ./dev api help");
    }
}
