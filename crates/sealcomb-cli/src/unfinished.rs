//! Files that are being written. They get their name when they are complete.
//!
//! ```text
//! Linux:      open a file without a name in its future folder; link it under a temporary name; rename it
//! elsewhere:  create a file with a temporary name; rename it
//! ```
//!
//! On Linux, the kernel deletes a file without a name when the process ends, even if a signal ends it: nothing is left of
//! decrypted traffic.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tempfile::{Builder, TempPath};

/// A file that is being written. If it is dropped, or the process ends, it is deleted.
pub(crate) struct Unfinished {
    file: File,
    folder: PathBuf,
    /// The temporary name, if it has one.
    name: Option<TempPath>,
}

impl Unfinished {
    /// Creates a file in this folder. Everyone that the umask allows can read it if `is_public`, or else only its owner.
    pub(crate) fn create(folder: &Path, is_public: bool) -> io::Result<Self> {
        // For example, some network file systems have no files without names.
        let (file, name) = if let Ok(file) = unnamed(folder, is_public) {
            (file, None)
        } else {
            let (file, name) = named(is_public).tempfile_in(folder)?.into_parts();
            (file, Some(name))
        };
        Ok(Self { file, folder: folder.to_owned(), name })
    }

    /// Gives the file its name, in place of a file that has it.
    pub(crate) fn finish(self, path: &Path) -> io::Result<()> {
        let Self { file, folder, name } = self;
        let name = match name {
            Some(name) => name,
            None => named(true).make_in(folder, |name| link(&file, name))?.into_temp_path(),
        };
        Ok(name.persist(path)?)
    }
}

impl Write for Unfinished {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// The permissions of a file, before the umask.
fn mode(is_public: bool) -> u32 {
    if is_public { 0o666 } else { 0o600 }
}

fn named(is_public: bool) -> Builder<'static, 'static> {
    let mut builder = Builder::new();
    builder.prefix(".sealcomb-");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(mode(is_public)));
    #[cfg(not(unix))]
    let _ = mode(is_public);
    builder
}

#[cfg(target_os = "linux")]
fn unnamed(folder: &Path, is_public: bool) -> io::Result<File> {
    use rustix::fs::{Mode, OFlags, open};
    let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
    let file = File::from(open(folder, flags, Mode::from_raw_mode(mode(is_public)))?);
    // Without this folder, the file could never get a name.
    descriptor(&file).metadata()?;
    Ok(file)
}

#[cfg(target_os = "linux")]
fn descriptor(file: &File) -> PathBuf {
    use std::os::fd::AsRawFd;
    Path::new("/proc/self/fd").join(file.as_raw_fd().to_string())
}

#[cfg(target_os = "linux")]
fn link(file: &File, name: &Path) -> io::Result<()> {
    use rustix::fs::{AtFlags, CWD, linkat};
    Ok(linkat(CWD, descriptor(file), CWD, name, AtFlags::SYMLINK_FOLLOW)?)
}

#[cfg(not(target_os = "linux"))]
fn unnamed(_: &Path, _: bool) -> io::Result<File> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(not(target_os = "linux"))]
fn link(_: &File, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_file_has_a_name_and_its_contents_only_when_it_is_finished() {
        for name in ["new", "old"] {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join(name);
            fs::write(folder.path().join("old"), "old").unwrap();
            let mut file = Unfinished::create(folder.path(), true).unwrap();
            file.write_all(b"contents").unwrap();
            assert_eq!(fs::read(folder.path().join("old")).unwrap(), b"old");
            file.finish(&path).unwrap();
            assert_eq!(fs::read(&path).unwrap(), b"contents");
            assert_eq!(fs::read_dir(folder.path()).unwrap().count(), if name == "new" { 2 } else { 1 });
        }
    }

    #[test]
    fn nothing_is_left_of_a_file_that_is_dropped_or_cannot_get_its_name() {
        let folder = tempfile::tempdir().unwrap();
        drop(Unfinished::create(folder.path(), false).unwrap());
        let file = Unfinished::create(folder.path(), false).unwrap();
        assert!(file.finish(&folder.path().join("no/such/folder")).is_err());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        assert!(Unfinished::create(&folder.path().join("nowhere"), false).is_err());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_file_has_no_name_while_it_is_written() {
        let folder = tempfile::tempdir().unwrap();
        if unnamed(folder.path(), false).is_err() {
            println!("skipped: this file system has no files without names");
            return;
        }
        let _file = Unfinished::create(folder.path(), false).unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[cfg(unix)]
    #[test]
    fn only_the_owner_can_read_a_file_that_is_not_public() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let modes = [true, false].map(|is_public| {
            let path = folder.path().join("file");
            Unfinished::create(folder.path(), is_public).unwrap().finish(&path).unwrap();
            fs::metadata(&path).unwrap().permissions().mode() & 0o777
        });
        assert!(modes[0] & 0o600 == 0o600 && modes[1] == 0o600, "{modes:?}");
    }
}
