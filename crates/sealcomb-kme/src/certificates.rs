//! Creation of certificates for tests and demonstrations.

use std::collections::HashSet;
use std::fs::{self, DirBuilder, File, Permissions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt, chown, fchown};
use std::path::Path;

use anyhow::{Context, Result, ensure};
use nix::unistd::User;
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer,
    KeyPair, KeyUsagePurpose,
};
use sealcomb_command::Classify;
use zeroize::Zeroizing;

/// What to create.
#[derive(Clone, Copy, Default)]
pub struct Request<'a> {
    /// The names of KMEs, which get server certificates.
    pub entities: &'a [String],
    /// The names of SAEs, which get client certificates.
    pub saes: &'a [String],
    /// The DNS names and IP addresses for which the certificates of KMEs are valid.
    pub addresses: &'a [String],
    /// The user who owns the files; `None` for the user of this process.
    pub owner: Option<&'a str>,
}

/// Creates a certificate authority and writes its certificate `ca.pem`, and `NAME.pem` and `NAME.key.pem` for each
/// name, to a folder. The authority's private key is discarded.
///
/// Private keys have mode 600, certificates 644. A folder that does not exist is created with mode 700. All of them
/// belong to the owner.
///
/// # Errors
/// A name that is no file name or would overwrite another file of the request, an invalid address, an unknown owner,
/// or an error of the operating system.
pub fn write(folder: &Path, request: &Request<'_>) -> Result<()> {
    check_names(request).or_usage()?;
    let owner = match request.owner {
        Some(name) => {
            let user = User::from_name(name)?.with_context(|| format!("there is no user {name}"));
            Some(user.or_usage()?)
        }
        None => None,
    };
    let output = Output { folder, owner };
    output.create_folder()?;
    let mut params = CertificateParams::new(Vec::new())?;
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
    params.distinguished_name = named("sealcomb demonstration");
    let key = KeyPair::generate()?;
    let authority = params.self_signed(&key)?;
    output.write("ca.pem", 0o644, &authority.pem())?;
    let issuer = Issuer::new(params, key);
    let Request { entities, saes, addresses, .. } = *request;
    let both = entities
        .iter()
        .map(|name| (name, addresses, ExtendedKeyUsagePurpose::ServerAuth))
        .chain(saes.iter().map(|name| (name, &[][..], ExtendedKeyUsagePurpose::ClientAuth)));
    for (name, addresses, usage) in both {
        let mut params = CertificateParams::new(addresses.to_vec()).or_usage()?;
        params.distinguished_name = named(name);
        params.extended_key_usages = vec![usage];
        let key = KeyPair::generate()?;
        let certificate = params.signed_by(&key, &issuer)?;
        output.write(&format!("{name}.pem"), 0o644, &certificate.pem())?;
        output.write(&format!("{name}.key.pem"), 0o600, &Zeroizing::new(key.serialize_pem()))?;
    }
    Ok(())
}

/// Refuses names that are no file names, or that two files would have.
fn check_names(request: &Request<'_>) -> Result<()> {
    let mut names = HashSet::from(["ca"]);
    for name in request.entities.iter().chain(request.saes) {
        ensure!(!name.is_empty() && !name.contains('/'), "`{name}` is no file name");
        ensure!(names.insert(name), "`{name}` is the name of two certificates");
    }
    Ok(())
}

fn named(name: &str) -> DistinguishedName {
    let mut names = DistinguishedName::new();
    names.push(DnType::CommonName, name);
    names
}

/// The folder of the files, and their owner.
struct Output<'a> {
    folder: &'a Path,
    owner: Option<User>,
}

impl Output<'_> {
    /// Creates the folder if it does not exist.
    fn create_folder(&self) -> Result<()> {
        if self.folder.is_dir() {
            return Ok(());
        }
        let create = || {
            DirBuilder::new().recursive(true).mode(0o700).create(self.folder)?;
            match &self.owner {
                Some(owner) => chown(self.folder, Some(owner.uid.as_raw()), Some(owner.gid.as_raw())),
                None => Ok(()),
            }
        };
        create().with_context(|| format!("cannot create the folder {}", self.folder.display()))
    }

    /// Writes a file with exactly this mode, in place of an existing one.
    fn write(&self, name: &str, mode: u32, contents: &str) -> Result<()> {
        let path = self.folder.join(name);
        self.write_file(&path, mode, contents).with_context(|| format!("cannot write {}", path.display()))
    }

    fn write_file(&self, path: &Path, mode: u32, contents: &str) -> Result<()> {
        // A new file: an existing one could be a link that the owner of the folder has made, or be open elsewhere.
        match fs::remove_file(path) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error.into()),
            _ => {}
        }
        let mut file = File::options().write(true).create_new(true).mode(0o600).open(path)?;
        if let Some(owner) = &self.owner {
            fchown(&file, Some(owner.uid.as_raw()), Some(owner.gid.as_raw()))?;
        }
        file.set_permissions(Permissions::from_mode(mode))?;
        file.write_all(contents.as_bytes())?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt;

    use nix::unistd::{Uid, getuid};

    use super::*;

    const FILES: [(&str, u32); 5] = [
        ("ca.pem", 0o644),
        ("kme.pem", 0o644),
        ("kme.key.pem", 0o600),
        ("alice.pem", 0o644),
        ("alice.key.pem", 0o600),
    ];

    fn create(folder: &Path, owner: Option<&str>) -> Result<()> {
        let [kme, alice, address] = ["kme", "alice", "127.0.0.1"].map(|name| [name.to_owned()]);
        write(folder, &Request { entities: &kme, saes: &alice, addresses: &address, owner })
    }

    /// Asserts the mode and the owner of each file.
    fn check(folder: &Path, owner: Uid) {
        for (name, mode) in FILES {
            let metadata = fs::metadata(folder.join(name)).unwrap();
            assert_eq!((metadata.mode() & 0o7777, metadata.uid()), (mode, owner.as_raw()), "{name}");
        }
    }

    #[test]
    fn private_keys_are_private_even_where_a_file_existed() {
        let folder = tempfile::tempdir().unwrap();
        for (name, _) in FILES {
            fs::write(folder.path().join(name), "old").unwrap();
            fs::set_permissions(folder.path().join(name), Permissions::from_mode(0o666)).unwrap();
        }
        create(folder.path(), None).unwrap();
        check(folder.path(), getuid());
    }

    mod as_root {
        use super::*;

        #[test]
        fn a_new_folder_and_its_files_belong_to_the_owner() {
            if !getuid().is_root() {
                println!("skipped: only root can change the owner of files");
                return;
            }
            let outer = tempfile::tempdir().unwrap();
            let folder = outer.path().join("etc");
            create(&folder, Some("nobody")).unwrap();
            let nobody = User::from_name("nobody").unwrap().unwrap().uid;
            check(&folder, nobody);
            let metadata = fs::metadata(&folder).unwrap();
            assert_eq!((metadata.mode() & 0o7777, metadata.uid()), (0o700, nobody.as_raw()));
        }
    }

    #[test]
    fn certificates_of_one_name_are_refused_before_anything_is_created() {
        let outer = tempfile::tempdir().unwrap();
        let folder = outer.path().join("etc");
        for (entities, saes) in [
            (&["a", "b"][..], &["a"][..]),
            (&["a", "a"], &[]),
            (&[], &["ca"]),
            (&["../a"], &[]),
            (&[""], &[]),
        ] {
            let [entities, saes] =
                [entities, saes].map(|names| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>());
            let request = Request { entities: &entities, saes: &saes, ..Request::default() };
            assert!(write(&folder, &request).is_err() && !folder.exists(), "{entities:?} {saes:?}");
        }
    }

    #[test]
    fn an_unknown_owner_is_an_error_before_anything_is_created() {
        let outer = tempfile::tempdir().unwrap();
        let folder = outer.path().join("etc");
        let error = create(&folder, Some("no-such-user")).unwrap_err().to_string();
        assert!(error.contains("no user no-such-user") && !folder.exists(), "{error}");
    }
}
