//! Creation of key files.
//!
//! A key file contains a key of 32 random bytes as 64 lower-case hex digits and a line feed. Control keys and link
//! keys have the same format; a longer key, white space at the end, and upper-case digits are accepted too.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{OpenOptionsExt, fchown};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use nix::unistd::User;
use sealcomb_command::Classify;
use zeroize::Zeroizing;

/// Size of a key in bytes.
const KEY_BYTES: usize = 32;

/// Creates key files of mode 600, each with an independent random key. They belong to `owner` if there is one.
///
/// # Errors
/// A file exists already, `owner` does not exist, or an error of the operating system. Complete files that were created
/// before the error remain.
pub(crate) fn create(files: &[PathBuf], owner: Option<&str>) -> Result<()> {
    let owner = match owner {
        Some(name) => {
            let user = User::from_name(name)?.with_context(|| format!("there is no user {name}"));
            Some(user.or_usage()?)
        }
        None => None,
    };
    for path in files {
        create_file(path, owner.as_ref()).with_context(|| format!("cannot create {}", path.display()))?;
    }
    Ok(())
}

fn create_file(path: &Path, owner: Option<&User>) -> Result<()> {
    let mut key = Zeroizing::new([0; KEY_BYTES]);
    sealcomb_random::fill(&mut *key)?;
    let mut text = Zeroizing::new([b'\n'; 2 * KEY_BYTES + 1]);
    hex::encode_to_slice(*key, &mut text[..2 * KEY_BYTES])?;
    // An existing key is never overwritten.
    let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    write(file, &*text, owner).inspect_err(|_| {
        // An incomplete file would keep the next try from creating the key.
        let _ = fs::remove_file(path);
    })
}

fn write(mut file: File, text: &[u8], owner: Option<&User>) -> Result<()> {
    if let Some(owner) = owner {
        fchown(&file, Some(owner.uid.as_raw()), Some(owner.gid.as_raw()))?;
    }
    file.write_all(text)?;
    Ok(file.sync_all()?)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn keys_are_random_private_and_in_the_documented_format() {
        let folder = tempfile::tempdir().unwrap();
        let files = ["control.key", "link.key"].map(|name| folder.path().join(name));
        create(&files, None).unwrap();
        let texts = files.each_ref().map(|path| fs::read_to_string(path).unwrap());
        assert_ne!(texts[0], texts[1]);
        for (path, text) in files.iter().zip(&texts) {
            assert_eq!(fs::metadata(path).unwrap().permissions().mode() & 0o7777, 0o600);
            let digits = text.strip_suffix('\n').unwrap();
            assert!(digits.len() == 64 && digits.bytes().all(|c| matches!(c, b'0'..=b'9' | b'a'..=b'f')));
        }
    }

    #[test]
    fn an_existing_file_is_not_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("control.key");
        fs::write(&path, "precious").unwrap();
        let error = create(std::slice::from_ref(&path), None).unwrap_err();
        assert!(format!("{error:#}").contains("control.key"), "{error:#}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "precious");
    }

    #[test]
    fn an_unknown_owner_is_an_error_before_any_file_is_created() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("control.key");
        assert!(create(std::slice::from_ref(&path), Some("no-such-user")).is_err());
        assert!(!path.exists());
    }
}
