//! Result files that are written atomically: whole or not at all.
//!
//! ```text
//! follow symbolic links to the file; stop at one that stands for an open descriptor
//! if it is a descriptor, a pipe or a device: write it directly
//! else: write a file that gets its name when it is complete
//! ```

use anyhow::{Context, Result};
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::unfinished::Unfinished;

/// A file that is being written. [`Output::finish`] gives it its name; dropping it instead deletes it.
pub(crate) struct Output {
    path: PathBuf,
    target: Target,
}

enum Target {
    /// A file without a name, and its path when it is complete.
    Unfinished(Unfinished, PathBuf),
    /// An open descriptor, or an existing pipe or device. It is written directly: a rename would replace it with a
    /// file.
    Stream(File),
}

/// Maximum number of symbolic links to follow, as in Linux.
const MAX_LINKS: usize = 40;

impl Output {
    /// Opens the output. Call it before the work, so that an unwritable path is reported early.
    pub(crate) fn create(path: &Path) -> Result<Self> {
        let target = Self::target(path).with_context(|| format!("cannot write {}", path.display()))?;
        Ok(Self { path: path.to_owned(), target })
    }

    fn target(path: &Path) -> io::Result<Target> {
        let path = follow(path)?;
        if let Some(number) = descriptor(&path) {
            return open_descriptor(&path, number).map(Target::Stream);
        }
        match fs::metadata(&path) {
            Ok(metadata) if metadata.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
            Ok(metadata) if !metadata.is_file() => File::options().write(true).open(path).map(Target::Stream),
            _ => {
                let file = Unfinished::create(folder_of(&path), true)?;
                Ok(Target::Unfinished(file, path))
            }
        }
    }

    /// Returns whether both outputs are the same file or stream, under whatever names.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        place(&self.path).is_some_and(|here| Some(here) == place(&other.path))
    }

    /// Writes `contents` and gives the file its name.
    pub(crate) fn finish(self, contents: &[u8]) -> Result<()> {
        let written = match self.target {
            Target::Unfinished(mut file, path) => file.write_all(contents).and_then(|()| file.finish(&path)),
            Target::Stream(mut file) => file.write_all(contents),
        };
        written.with_context(|| format!("cannot write {}", self.path.display()))
    }
}

/// Returns the folder and name of the file that a path leads to, which need not exist.
fn place(path: &Path) -> Option<(PathBuf, OsString)> {
    let path = follow(path).ok()?;
    Some((folder_of(&path).canonicalize().ok()?, path.file_name()?.to_owned()))
}

/// Returns the folder of a file: that of the process if the path has no other.
pub(crate) fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Returns the path that symbolic links lead to, which need not exist. Does not follow the link of a descriptor: it
/// names the file, but not the position in it.
pub(crate) fn follow(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        if descriptor(&path).is_some() {
            return Ok(path);
        }
        let Ok(target) = fs::read_link(&path) else { return Ok(path) };
        path = path.parent().unwrap_or(Path::new("")).join(target);
    }
    // The operating system's error for too many links.
    fs::metadata(&path).map(|_| path)
}

/// Returns the descriptor of this process that a path in `/dev/fd` or `/proc/self/fd` names.
pub(crate) fn descriptor(path: &Path) -> Option<u32> {
    let number = path.file_name()?.to_str()?.parse().ok()?;
    let folder = path.parent()?.canonicalize().ok()?;
    let is_here = |descriptors: &str| Path::new(descriptors).canonicalize().is_ok_and(|here| here == folder);
    ["/dev/fd", "/proc/self/fd"].into_iter().any(is_here).then_some(number)
}

/// Opens a descriptor of this process for writing. The standard streams share their position with the result: what
/// is printed later follows it. Any other file is appended to.
fn open_descriptor(path: &Path, number: u32) -> io::Result<File> {
    #[cfg(unix)]
    {
        use std::os::fd::AsFd;
        let duplicate = match number {
            1 => Some(io::stdout().as_fd().try_clone_to_owned()?),
            2 => Some(io::stderr().as_fd().try_clone_to_owned()?),
            _ => None,
        };
        if let Some(duplicate) = duplicate {
            return Ok(duplicate.into());
        }
    }
    #[cfg(not(unix))]
    let _ = number;
    File::options().append(true).open(path)
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

    #[cfg(unix)]
    #[test]
    fn an_output_is_written_through_symbolic_links() {
        let folder = tempfile::tempdir().unwrap();
        let [target, link, chain] = ["target", "link", "chain"].map(|name| folder.path().join(name));
        // Relative to the link, not to the working directory.
        std::os::unix::fs::symlink("target", &link).unwrap();
        std::os::unix::fs::symlink(&link, &chain).unwrap();
        for (path, contents) in [(&link, b"1"), (&chain, b"2")] {
            Output::create(path).unwrap().finish(contents).unwrap();
            assert_eq!(fs::read(&target).unwrap(), contents);
            assert!(link.is_symlink() && chain.is_symlink() && !target.is_symlink());
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3);
    }

    #[cfg(unix)]
    #[test]
    fn every_name_of_one_file_is_the_same_output() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        fs::create_dir(folder.join("within")).unwrap();
        for (target, link) in
            [("file", "link"), ("link", "chain"), ("within", "folder"), ("/dev/stdout", "stream")]
        {
            std::os::unix::fs::symlink(target, folder.join(link)).unwrap();
        }
        let same = |one: &str, other: &str| {
            let [one, other] = [one, other].map(|name| Output::create(&folder.join(name)).unwrap());
            one.is_same(&other) && other.is_same(&one)
        };
        for name in ["file", "./file", "within/../file", "link", "chain", "folder/../file"] {
            assert!(same("file", name), "{name}");
            assert!(!same("other", name) && !same("within/file", name), "{name}");
        }
        assert!(same("within/file", "folder/file"));
        assert!(same("/dev/stdout", "/dev/fd/1") && same("/proc/self/fd/1", "stream"));
        assert!(!same("/dev/stdout", "/dev/stderr"));
    }

    #[cfg(unix)]
    #[test]
    fn an_endless_symbolic_link_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("link");
        std::os::unix::fs::symlink("link", &link).unwrap();
        assert!(Output::create(&link).is_err());
    }

    /// Another program may have written to the file, or it may be opened by `>>`.
    #[cfg(target_os = "linux")]
    #[test]
    fn an_open_file_named_by_its_descriptor_is_appended_to() {
        use std::os::fd::AsRawFd;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, "before ").unwrap();
        let file = File::options().append(true).open(&path).unwrap();
        for prefix in ["/proc/self/fd", "/dev/fd"] {
            let stream = Path::new(prefix).join(file.as_raw_fd().to_string());
            Output::create(&stream).unwrap().finish(b"result ").unwrap();
        }
        (&file).write_all(b"after").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"before result result after");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
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
