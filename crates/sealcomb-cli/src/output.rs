//! Result files that are written atomically: whole or not at all.

use anyhow::{Context, Result};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// A file that is being written under a temporary name. [`Output::finish`] renames it; dropping it instead deletes
/// it.
pub(crate) struct Output {
    path: PathBuf,
    target: Target,
}

enum Target {
    /// A temporary file in the directory of the final one.
    Temporary(NamedTempFile),
    /// An existing pipe or device. It is written directly: a rename would replace it with a file.
    Stream(File),
}

impl Output {
    /// Opens the output. Call it before the work, so that an unwritable path is reported early.
    pub(crate) fn create(path: &Path) -> Result<Self> {
        let target = Self::target(path).with_context(|| format!("cannot write {}", path.display()))?;
        Ok(Self { path: path.to_owned(), target })
    }

    fn target(path: &Path) -> io::Result<Target> {
        match fs::metadata(path) {
            Ok(metadata) if metadata.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
            Ok(metadata) if !metadata.is_file() => File::options().write(true).open(path).map(Target::Stream),
            _ => {
                let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
                let mut builder = tempfile::Builder::new();
                builder.prefix(".sealcomb-");
                #[cfg(unix)]
                builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
                builder.tempfile_in(folder.unwrap_or(Path::new("."))).map(Target::Temporary)
            }
        }
    }

    /// Writes `contents` and renames the file to its final name.
    pub(crate) fn finish(self, contents: &[u8]) -> Result<()> {
        let written = match self.target {
            Target::Temporary(mut file) => file
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
    fn a_finished_output_replaces_the_file() {
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
    fn an_unwritable_path_is_named() {
        let error = Output::create(Path::new("/no/such/folder/result.json")).err().unwrap();
        assert!(format!("{error:#}").contains("/no/such/folder/result.json"), "{error:#}");
    }
}
