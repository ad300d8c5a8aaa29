//! A result file that appears under its name whole or not at all.

use anyhow::{Context, Result};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// A file being written. It takes its final name in [`Output::finish`] and leaves nothing behind without.
pub(crate) struct Output {
    path: PathBuf,
    target: Target,
}

enum Target {
    /// Written beside its final place, then renamed.
    Beside(NamedTempFile),
    /// A pipe or a device, which must not be replaced by a file.
    Stream(File),
}

impl Output {
    /// Opens the output early, so that an unwritable place is found before the work is done.
    pub(crate) fn create(path: &Path) -> Result<Self> {
        let target = Self::target(path).with_context(|| format!("cannot write {}", path.display()))?;
        Ok(Self { path: path.to_owned(), target })
    }

    fn target(path: &Path) -> io::Result<Target> {
        match fs::metadata(path) {
            Ok(there) if there.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
            Ok(there) if !there.is_file() => File::options().write(true).open(path).map(Target::Stream),
            _ => {
                let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
                let mut builder = tempfile::Builder::new();
                builder.prefix(".sealcomb-");
                #[cfg(unix)]
                builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
                builder.tempfile_in(folder.unwrap_or(Path::new("."))).map(Target::Beside)
            }
        }
    }

    /// Writes `contents` and gives the file its name.
    pub(crate) fn finish(self, contents: &[u8]) -> Result<()> {
        let written = match self.target {
            Target::Beside(mut file) => file
                .write_all(contents)
                .and_then(|()| file.persist(&self.path).map(drop).map_err(io::Error::from)),
            Target::Stream(mut file) => file.write_all(contents),
        };
        written.with_context(|| format!("cannot write {}", self.path.display()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finished_output_lies_under_its_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("result.json");
        fs::write(&path, "old").unwrap();
        Output::create(&path).unwrap().finish(b"new").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
    }

    #[test]
    fn an_unfinished_output_leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        drop(Output::create(&folder.path().join("result.json")).unwrap());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn an_unwritable_place_is_named() {
        let error = Output::create(Path::new("/no/such/folder/result.json")).err().unwrap();
        assert!(format!("{error:#}").contains("/no/such/folder/result.json"), "{error:#}");
    }
}
