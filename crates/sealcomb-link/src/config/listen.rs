//! The certificate of the status server.

use std::sync::Arc;

use anyhow::{Context, Result};
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use zeroize::Zeroizing;

use super::Reader;
use super::fields::Fields;

/// The certificate of the status server and its private key.
#[derive(Clone)]
pub struct ListenTls {
    /// The certificate, followed by those of intermediate authorities, in PEM.
    pub cert: Vec<u8>,
    /// The private key of the certificate, in PEM.
    pub key: Zeroizing<Vec<u8>>,
}

impl ListenTls {
    /// Returns the certificate and those of intermediate authorities.
    ///
    /// # Errors
    /// A file without certificates, or with an invalid one.
    pub(crate) fn chain(&self) -> Result<Vec<CertificateDer<'static>>> {
        let chain = CertificateDer::pem_slice_iter(&self.cert).collect::<Result<Vec<_>, _>>();
        chain
            .ok()
            .filter(|chain| !chain.is_empty())
            .context("`listen-cert`: the file has no valid certificate")
    }

    /// Returns the settings of a server with this certificate.
    ///
    /// # Errors
    /// An invalid certificate, or a key that is invalid or belongs to another certificate.
    pub(crate) fn server(&self) -> Result<Arc<ServerConfig>> {
        let key = PrivateKeyDer::from_pem_slice(&self.key);
        let key = key.ok().context("`listen-key`: the file has no valid private key")?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let server = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_single_cert(self.chain()?, key)
            .context(
                "`listen-cert` and `listen-key` do not belong together, or are of an unsupported type",
            )?;
        Ok(Arc::new(server))
    }
}

impl Reader<'_> {
    /// Reads the files in `listen-cert` and `listen-key`, which need each other. Reports fields that have no effect
    /// without another.
    pub(super) fn listen_tls(&mut self, root: &mut Fields<'_>) -> Option<ListenTls> {
        let cert = self.file(root, "listen-cert");
        let key = self.file(root, "listen-key");
        for (name, other) in [
            ("listen-cert", "listen-key"),
            ("listen-key", "listen-cert"),
            ("listen-cert", "listen"),
            ("listen-token", "listen"),
        ] {
            root.require_other(name, other, self.errors);
        }
        Some(ListenTls { cert: cert?.to_vec(), key: key? })
    }
}
