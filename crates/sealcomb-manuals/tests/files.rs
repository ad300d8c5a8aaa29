//! Every command and subcommand has a manual page, and every shell gets completions.

use std::fs;

use clap::Command;

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
