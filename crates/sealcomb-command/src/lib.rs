//! What the commands of the project share: exit statuses, the standard streams, and errors in one line.
//!
//! `docs/commands.md` documents the exit statuses for users.
#![forbid(unsafe_code)]

mod status;
mod streams;

pub use status::{Classify, Status, exit_statuses, status_of, with_status};
pub use streams::{complain, print};

use clap::error::ErrorKind;

/// Returns the exit status of a command. Prints its error, if there is one, in one line that begins with the
/// command's name.
pub fn conclude(command: &str, outcome: anyhow::Result<Status>) -> Status {
    outcome.unwrap_or_else(|error| {
        complain(command, format_args!("{error:#}"));
        status_of(&error)
    })
}

/// Prints the output of `--help` or `--version`, or an error in one line for invalid arguments. Returns the exit
/// status.
pub fn explain(command: &str, refusal: &clap::Error) -> Status {
    let text = refusal.to_string();
    if !refusal.use_stderr() {
        return conclude(command, print(text.trim_end()).map(|()| Status::Done));
    }
    complain(command, reason(refusal.kind(), &text));
    Status::Usage
}

/// Returns the reason of a refusal in one line, with the parser's suggestion if it has one.
fn reason(kind: ErrorKind, text: &str) -> String {
    if kind == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        let usage = text.lines().find_map(|line| line.strip_prefix("Usage: ")).unwrap_or_default();
        return format!("expected a command: {usage}; --help lists them");
    }
    let mut lines = text.lines().map(str::trim);
    let first_paragraph: Vec<&str> = lines.by_ref().take_while(|line| !line.is_empty()).collect();
    let tip = lines.find_map(|line| line.strip_prefix("tip: "));
    let reason = first_paragraph.join(" ") + &tip.map_or_else(String::new, |tip| format!("; {tip}"));
    reason.trim_start_matches("error: ").to_owned()
}

#[cfg(test)]
mod tests {
    use clap::{Arg, Command};

    use super::*;

    fn refusal(arguments: &[&str]) -> String {
        let command = Command::new("sealcomb-test")
            .subcommand_required(true)
            .arg_required_else_help(true)
            .subcommand(Command::new("run").arg(Arg::new("FILE").required(true)));
        let error = command.try_get_matches_from([&["sealcomb-test"], arguments].concat()).unwrap_err();
        reason(error.kind(), &error.to_string())
    }

    #[test]
    fn a_refusal_is_one_line_that_says_what_is_wrong() {
        assert_eq!(refusal(&[]), "expected a command: sealcomb-test <COMMAND>; --help lists them");
        assert_eq!(refusal(&["stop"]), "unrecognized subcommand 'stop'");
        assert_eq!(refusal(&["run"]), "the following required arguments were not provided: <FILE>");
    }
}
