//! Who can change a file: its owner, those whom its mode lets write it, and those who can exchange it, or a folder or
//! symbolic link on the way to it.
//!
//! Root must not run what another user wrote, or that user becomes root.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

/// Maximum number of symbolic links on the way to a file, as in Linux.
const MAX_LINKS: usize = 40;

/// Returns how another user than these can change the file at this path, and how to prevent it; `None` if none can.
///
/// # Errors
/// The file or a part of its path cannot be examined, or has too many symbolic links.
pub(crate) fn changeable_by_others(path: &Path, trusted: &[u32]) -> io::Result<Option<String>> {
    let mut at = PathBuf::from("/");
    if let Some(how) = by_others(&at, &fs::metadata(&at)?, trusted) {
        return Ok(Some(how));
    }
    let mut rest = parts(&std::path::absolute(path)?);
    let mut links = 0;
    while let Some(name) = rest.pop_front() {
        if name == ".." {
            at.pop();
            continue;
        }
        let next = at.join(&name);
        let metadata = fs::symlink_metadata(&next)?;
        if let Some(how) = by_others(&next, &metadata, trusted) {
            return Ok(Some(how));
        }
        if !metadata.is_symlink() {
            at = next;
            continue;
        }
        links += 1;
        if links > MAX_LINKS {
            return Err(io::Error::other("too many symbolic links"));
        }
        let target = fs::read_link(&next)?;
        if target.is_absolute() {
            at = PathBuf::from("/");
        }
        let mut parts = parts(&target);
        parts.append(&mut rest);
        rest = parts;
    }
    Ok(None)
}

/// Returns the names in a path, and `..`.
fn parts(path: &Path) -> VecDeque<OsString> {
    let is_step = |part: &Component<'_>| matches!(part, Component::Normal(_) | Component::ParentDir);
    path.components().filter(is_step).map(|part| part.as_os_str().to_owned()).collect()
}

/// Returns how another user than these can change what is at this path itself.
fn by_others(path: &Path, metadata: &Metadata, trusted: &[u32]) -> Option<String> {
    const WRITABLE: u32 = 0o022;
    const STICKY: u32 = 0o1000;
    let (shown, mode) = (path.display(), metadata.mode());
    if !trusted.contains(&metadata.uid()) {
        let owner = metadata.uid();
        return Some(format!("{shown} belongs to user {owner}; run: chown -h root {shown}"));
    }
    // The mode of a symbolic link means nothing. In a sticky folder, only the owners of files can exchange them, and
    // those are examined too.
    let is_protected = metadata.is_symlink() || (metadata.is_dir() && mode & STICKY != 0);
    (mode & WRITABLE != 0 && !is_protected)
        .then(|| format!("users other than its owner can write {shown}; run: chmod go-w {shown}"))
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use tempfile::TempDir;

    use super::*;

    /// A file `outer/inner/file`, which only this user and root can change.
    struct Place {
        folder: TempDir,
        /// This user and root, to whom the folders above belong.
        trusted: Vec<u32>,
    }

    impl Place {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let inner = folder.path().join("outer/inner");
            fs::create_dir_all(&inner).unwrap();
            fs::write(inner.join("file"), "").unwrap();
            let own = fs::metadata(&inner).unwrap().uid();
            let place = Self { folder, trusted: vec![0, own] };
            for (name, mode) in
                [("", 0o755), ("outer", 0o755), ("outer/inner", 0o755), ("outer/inner/file", 0o755)]
            {
                place.set_mode(name, mode);
            }
            place
        }

        fn at(&self, name: &str) -> PathBuf {
            self.folder.path().join(name)
        }

        fn set_mode(&self, name: &str, mode: u32) {
            fs::set_permissions(self.at(name), Permissions::from_mode(mode)).unwrap();
        }

        fn how(&self, name: &str) -> Option<String> {
            changeable_by_others(&self.at(name), &self.trusted).unwrap()
        }
    }

    #[test]
    fn what_others_can_write_is_found_on_the_whole_way_to_a_file() {
        let place = Place::new();
        assert_eq!(place.how("outer/inner/file"), None);
        for name in ["outer", "outer/inner", "outer/inner/file"] {
            for (mode, is_safe) in
                [(0o775, false), (0o757, false), (0o777, false), (0o755, true), (0o700, true)]
            {
                place.set_mode(name, mode);
                let how = place.how("outer/inner/file");
                assert_eq!(how.is_none(), is_safe, "{name} {mode:o}: {how:?}");
                let text = how.unwrap_or_default();
                assert!(
                    is_safe || text.ends_with(&format!("chmod go-w {}", place.at(name).display())),
                    "{text}"
                );
            }
            place.set_mode(name, 0o755);
        }
        place.set_mode("outer", 0o1777);
        assert_eq!(place.how("outer/inner/file"), None, "a sticky folder, such as /tmp");
        place.set_mode("outer/inner/file", 0o1757);
        assert!(place.how("outer/inner/file").is_some(), "a sticky file is not protected");
    }

    #[test]
    fn what_belongs_to_others_is_found_on_the_whole_way_to_a_file() {
        let mut place = Place::new();
        let own = place.trusted.pop().unwrap();
        // Nobody but a user whom this process cannot become is trusted.
        place.trusted = vec![own.wrapping_add(1)];
        let how = place.how("outer/inner/file").unwrap();
        assert!(how.starts_with("/ belongs to user ") || own == 0, "{how}");
    }

    #[test]
    fn every_link_on_the_way_is_followed_and_its_folder_examined() {
        let place = Place::new();
        fs::create_dir(place.at("links")).unwrap();
        place.set_mode("links", 0o755);
        symlink(place.at("outer"), place.at("links/absolute")).unwrap();
        symlink("../outer/inner", place.at("links/relative")).unwrap();
        symlink("relative/../inner/./file", place.at("links/twice")).unwrap();
        symlink("itself", place.at("links/itself")).unwrap();
        let names =
            ["links/absolute/inner/file", "links/relative/file", "links/twice", "links/../links/twice"];
        for name in names {
            assert_eq!(place.how(name), None, "{name}");
            for folder in ["links", "outer", "outer/inner", "outer/inner/file"] {
                place.set_mode(folder, 0o777);
                let how = place.how(name).unwrap_or_default();
                assert!(
                    how.ends_with(&format!(" {}", place.at(folder).display())),
                    "{name}, {folder}: {how}"
                );
                place.set_mode(folder, 0o755);
            }
        }
        assert!(changeable_by_others(&place.at("links/itself"), &place.trusted).is_err());
        assert!(changeable_by_others(&place.at("links/missing"), &place.trusted).is_err());
    }

    mod as_root {
        use super::*;

        #[test]
        fn a_file_folder_or_link_of_another_user_is_found() {
            if !nix::unistd::getuid().is_root() {
                println!("skipped: only root can give files away");
                return;
            }
            let place = Place::new();
            symlink("outer/inner/file", place.at("link")).unwrap();
            for name in ["outer", "outer/inner", "outer/inner/file", "link"] {
                let give = |owner| std::os::unix::fs::lchown(place.at(name), Some(owner), None).unwrap();
                give(12_345);
                let how = place.how("link").unwrap();
                let expected = format!("{} belongs to user 12345", place.at(name).display());
                assert!(how.starts_with(&expected), "{name}: {how}");
                give(0);
                assert_eq!(place.how("link"), None, "{name}");
            }
        }
    }
}
