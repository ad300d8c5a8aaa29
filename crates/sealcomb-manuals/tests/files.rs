//! Every command and subcommand has a manual page, every shell gets completions, and all commands have the same exit
//! statuses.

use std::fs;

use clap::Command;
use sealcomb_command::Status;

/// The names of the manual pages of a command and its subcommands.
fn pages(prefix: &str, command: &Command) -> Vec<String> {
    let name = format!("{prefix}{}", command.get_name());
    let below =
        command.get_subcommands().flat_map(|each| pages(&format!("{name}-"), each)).collect::<Vec<_>>();
    [vec![format!("{name}.1")], below].concat()
}

#[test]
fn every_command_has_a_manual_page_with_its_options() {
    let folder = tempfile::tempdir().unwrap();
    sealcomb_manuals::write(folder.path()).unwrap();
    let manuals = folder.path().join("man");
    let mut expected: Vec<String> =
        sealcomb_manuals::commands().iter().flat_map(|command| pages("", command)).collect();
    let mut found: Vec<String> = fs::read_dir(&manuals)
        .unwrap()
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .collect();
    expected.sort();
    found.sort();
    assert_eq!(found, expected);
    let page = fs::read_to_string(manuals.join("sealcomb-link-keygen.1")).unwrap();
    assert!(page.contains("\\-\\-user"), "{page}");
    let page = fs::read_to_string(manuals.join("sealcomb-link.1")).unwrap();
    assert!(page.contains(env!("CARGO_PKG_VERSION")), "{page}");
}

#[test]
fn every_shell_completes_every_subcommand() {
    let folder = tempfile::tempdir().unwrap();
    sealcomb_manuals::write(folder.path()).unwrap();
    for (shell, prefix, suffix) in [("bash", "", ""), ("fish", "", ".fish"), ("zsh", "_", "")] {
        for command in sealcomb_manuals::commands() {
            let file = format!("completions/{shell}/{prefix}{}{suffix}", command.get_name());
            let script = fs::read_to_string(folder.path().join(&file)).unwrap();
            for subcommand in command.get_subcommands() {
                // The completions would offer it.
                assert!(!subcommand.is_hide_set(), "{} is hidden", subcommand.get_name());
                assert!(script.contains(subcommand.get_name()), "{file} lacks {}", subcommand.get_name());
            }
        }
    }
}

const STATUSES: [Status; 5] = [Status::Done, Status::Failed, Status::Usage, Status::Io, Status::Partly];

/// The statuses in a `--help` text, with the beginnings of their meanings.
fn statuses(help: &str) -> Vec<String> {
    let lines = help.lines().skip_while(|line| !line.eq_ignore_ascii_case("exit status:")).skip(1);
    let lines = lines.take_while(|line| line.starts_with("  "));
    let is_status = |line: &&str| line[2..].starts_with(|c: char| c.is_ascii_digit()) && &line[3..5] == "  ";
    lines.filter(is_status).map(|line| line.trim().split(':').next().unwrap().to_owned()).collect()
}

#[test]
fn every_command_has_the_exit_statuses_of_the_documentation() {
    let row = |status: &Status| format!("{}  {}", *status as u8, status.meaning());
    let all: Vec<String> = STATUSES.iter().map(row).collect();
    let page = include_str!("../../../docs/commands.md");
    for status in STATUSES {
        let row = format!("\n| {} | {} |", status as u8, status.meaning());
        assert!(page.contains(&row), "docs/commands.md lacks {row}");
    }
    for mut command in sealcomb_manuals::commands() {
        let help = command.render_long_help().to_string();
        let found = statuses(&help);
        assert!(found.len() >= 4 && found.iter().all(|status| all.contains(status)), "{help}");
    }
    let help = include_str!("../../../python/sealcomb/_cli.py");
    assert_eq!(statuses(help), all);
}
