//! Creation of certificates for tests and demonstrations.

use std::fs;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use anyhow::{Context, Result};
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer,
    KeyPair, KeyUsagePurpose,
};

/// Creates a certificate authority and writes its certificate `ca.pem`, and `NAME.pem` and `NAME.key.pem` for each
/// name, to a folder. The certificates of `entities` (KMEs) are valid for `addresses`, which are DNS names or IP
/// addresses. The authority's private key is discarded.
///
/// # Errors
/// An invalid address, or an error of the operating system.
pub fn write(folder: &Path, entities: &[String], saes: &[String], addresses: &[String]) -> Result<()> {
    fs::create_dir_all(folder)?;
    let mut params = CertificateParams::new(Vec::new())?;
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
    params.distinguished_name = named("sealcomb demonstration");
    let key = KeyPair::generate()?;
    let authority = params.self_signed(&key)?;
    fs::write(folder.join("ca.pem"), authority.pem())?;
    let issuer = Issuer::new(params, key);
    let both = entities
        .iter()
        .map(|name| (name, addresses, ExtendedKeyUsagePurpose::ServerAuth))
        .chain(saes.iter().map(|name| (name, &[][..], ExtendedKeyUsagePurpose::ClientAuth)));
    for (name, addresses, usage) in both {
        let mut params = CertificateParams::new(addresses.to_vec())?;
        params.distinguished_name = named(name);
        params.extended_key_usages = vec![usage];
        let key = KeyPair::generate()?;
        let certificate = params.signed_by(&key, &issuer)?;
        fs::write(folder.join(format!("{name}.pem")), certificate.pem())?;
        write_secret(&folder.join(format!("{name}.key.pem")), key.serialize_pem().as_bytes())?;
    }
    Ok(())
}

fn named(name: &str) -> DistinguishedName {
    let mut names = DistinguishedName::new();
    names.push(DnType::CommonName, name);
    names
}

/// Writes a file that only its owner may read (mode 0600 when created).
fn write_secret(path: &Path, contents: &[u8]) -> Result<()> {
    let mut options = fs::OpenOptions::new();
    let file = options.write(true).create(true).truncate(true).mode(0o600).open(path);
    file.and_then(|mut file| file.write_all(contents)).with_context(|| path.display().to_string())
}
