//! Whether this process is a copy of an earlier state: the machine was restored from a snapshot, or the process from a
//! checkpoint. It would repeat sequence numbers under the same keys.
//!
//! Files show it whose contents change then. Which of them exist depends on the machine, and on the rights of the link.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// The files that identify the state: the generation ID that QEMU gives a virtual machine, and the boot ID, which another
/// machine has.
const SOURCES: [&str; 2] =
    ["/sys/firmware/qemu_fw_cfg/by_name/etc/vmgenid_guid/raw", "/proc/sys/kernel/random/boot_id"];

/// The beginning of a file, which contains the ID.
type Contents = [u8; 64];

/// The state that this process continues.
pub(crate) struct Generation {
    sources: Vec<(File, Contents)>,
}

impl Generation {
    /// Returns the current state. Files that cannot be read identify nothing. The others stay open, so they are readable
    /// after a change of the user.
    pub(crate) fn current() -> Self {
        Self::from_files(SOURCES.map(Path::new))
    }

    pub(crate) fn from_files<'a>(paths: impl IntoIterator<Item = &'a Path>) -> Self {
        let open = |path| {
            let file = File::open(path).ok()?;
            let contents = read(&file)?;
            Some((file, contents))
        };
        Self { sources: paths.into_iter().filter_map(open).collect() }
    }

    /// Returns whether this process has become a copy of an earlier state since the last call.
    pub(crate) fn has_changed(&mut self) -> bool {
        let mut has_changed = false;
        for (file, known) in &mut self.sources {
            if let Some(contents) = read(file) {
                has_changed |= contents != *known;
                *known = contents;
            }
        }
        has_changed
    }
}

/// Reads the beginning of a file, with zeros after its end.
fn read(file: &File) -> Option<Contents> {
    let mut contents = [0; 64];
    file.read_at(&mut contents, 0).ok()?;
    Some(contents)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn each_change_of_any_id_is_seen_once() {
        let folder = tempfile::tempdir().unwrap();
        let paths = ["one", "two", "missing"].map(|name| folder.path().join(name));
        fs::write(&paths[0], [0; 56]).unwrap();
        fs::write(&paths[1], "7d8f5c0e-31b1-4b5c-a2f6-5b2a1c7c6d11\n").unwrap();
        let mut generation = Generation::from_files(paths.iter().map(AsRef::as_ref));
        assert!(!generation.has_changed());
        // QEMU's ID begins at byte 40.
        let mut id = [0; 56];
        for at in 40..56 {
            id[at] = 1;
            fs::write(&paths[0], id).unwrap();
            assert!(generation.has_changed() && !generation.has_changed(), "byte {at}");
        }
        fs::write(&paths[1], "7d8f5c0e-31b1-4b5c-a2f6-5b2a1c7c6d12\n").unwrap();
        assert!(generation.has_changed() && !generation.has_changed());
        fs::write(&paths[2], "an ID that appears").unwrap();
        assert!(!generation.has_changed());
    }

    #[test]
    fn this_machine_continues_its_own_state() {
        let mut generation = Generation::current();
        assert!(!generation.has_changed());
    }
}
