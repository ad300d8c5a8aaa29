//! Exit statuses, and what they mean for errors.

use std::error::Error;
use std::fmt::{self, Display, Formatter, Write};
use std::io::{self, ErrorKind};
use std::process::ExitCode;

/// How a command ended. The numbers are its exit statuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// All was done.
    Done = 0,
    /// Something is forged, lost, damaged or not running.
    Failed = 1,
    /// The arguments, the environment or the configuration are invalid.
    Usage = 2,
    /// A file or a standard stream cannot be read or written.
    Io = 3,
    /// A part was done: the output exists, but something is missing.
    Partly = 4,
}

impl Status {
    /// Returns the meaning, in the words that all commands use.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Usage => "invalid arguments or configuration",
            Self::Io => "cannot read or write",
            Self::Partly => "partly done",
        }
    }
}

impl From<Status> for ExitCode {
    fn from(status: Status) -> Self {
        Self::from(status as u8)
    }
}

/// Returns the section of a `--help` text about exit statuses. `details` says what those of this command mean; it
/// has a line for each one except [`Status::Done`], and may break lines.
pub fn exit_statuses(details: &[(Status, &str)]) -> String {
    let mut text = String::from("Exit status:\n  0  done");
    for (status, detail) in details {
        let detail = detail.replace('\n', "\n     ");
        write!(text, "\n  {}  {}: {detail}", *status as u8, status.meaning()).expect("a string");
    }
    text
}

/// An error with its exit status. Prints like the error itself.
#[derive(Debug)]
struct Classified {
    status: Status,
    error: anyhow::Error,
}

impl Display for Classified {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl Error for Classified {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.error.source()
    }
}

/// Gives an error its exit status.
pub fn with_status(status: Status, error: anyhow::Error) -> anyhow::Error {
    Classified { status, error }.into()
}

/// Returns the exit status that an error leads to: the one that it was given, and otherwise
/// [`Status::Io`] if its cause is an error of the operating system, and [`Status::Failed`] if not.
pub fn status_of(error: &anyhow::Error) -> Status {
    error.chain().find_map(status_of_cause).unwrap_or(Status::Failed)
}

fn status_of_cause(cause: &(dyn Error + 'static)) -> Option<Status> {
    if let Some(Classified { status, .. }) = cause.downcast_ref() {
        return Some(*status);
    }
    // These are errors of the contents, which were read.
    let is_content =
        |error: &io::Error| matches!(error.kind(), ErrorKind::InvalidData | ErrorKind::UnexpectedEof);
    cause.downcast_ref().is_some_and(|error| !is_content(error)).then_some(Status::Io)
}

/// Gives the errors of results their exit status.
pub trait Classify<T> {
    /// The error leads to [`Status::Failed`], even if the operating system reported it, for example of a network.
    ///
    /// # Errors
    /// The error, with its status.
    fn or_failed(self) -> anyhow::Result<T>;

    /// The error leads to [`Status::Usage`], unless a file could not be read or written.
    ///
    /// # Errors
    /// The error, with its status.
    fn or_usage(self) -> anyhow::Result<T>;
}

impl<T, E: Into<anyhow::Error>> Classify<T> for Result<T, E> {
    fn or_failed(self) -> anyhow::Result<T> {
        self.map_err(|error| with_status(Status::Failed, error.into()))
    }

    fn or_usage(self) -> anyhow::Result<T> {
        self.map_err(|error| {
            let error = error.into();
            match status_of(&error) {
                Status::Failed => with_status(Status::Usage, error),
                _ => error,
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use anyhow::{Context, Result, anyhow};

    use super::*;

    fn missing() -> io::Error {
        ErrorKind::NotFound.into()
    }

    fn status<T>(outcome: Result<T>) -> Status {
        status_of(&outcome.err().unwrap())
    }

    #[test]
    fn an_error_of_the_operating_system_is_one_of_input_or_output() {
        assert_eq!(status(Err::<(), _>(missing()).context("in.pcap").context("reading")), Status::Io);
        assert_eq!(status(Err::<(), _>(anyhow!("the tag is wrong"))), Status::Failed);
        let text = io::Error::from(ErrorKind::InvalidData);
        assert_eq!(status(Err::<(), _>(text).context("not UTF-8")), Status::Failed);
    }

    #[test]
    fn a_given_status_comes_first() {
        assert_eq!(status(Err::<(), _>(missing()).or_failed().context("no answer")), Status::Failed);
        assert_eq!(
            status(Err::<(), _>(with_status(Status::Io, anyhow!("full"))).context("out.pcap")),
            Status::Io
        );
        assert_eq!(
            status(Err::<(), _>(anyhow!("no such mode")).or_usage().context("--modes")),
            Status::Usage
        );
    }

    #[test]
    fn a_configuration_that_cannot_be_read_is_an_error_of_input() {
        assert_eq!(status(Err::<(), _>(missing()).context("sa.toml").or_usage()), Status::Io);
    }

    #[test]
    fn a_status_does_not_change_the_message() {
        let error = Err::<(), _>(missing()).context("in.pcap").or_failed().context("reading").unwrap_err();
        assert_eq!(format!("{error:#}"), format!("reading: in.pcap: {}", missing()));
    }
}
