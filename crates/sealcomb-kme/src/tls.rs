//! Mutual TLS: clients are identified by the common name in their certificates.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use axum::extract::connect_info::Connected;
use axum::serve::{IncomingStream, Listener};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, mpsc};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use crate::config::Config;

/// The client of a connection.
#[derive(Clone, Debug)]
pub struct Caller {
    /// The SAE ID: the common name in the client's certificate.
    pub sae: String,
    /// The client's address.
    pub address: SocketAddr,
}

/// Builds a TLS acceptor that rejects clients without a certificate from the configured CA.
///
/// # Errors
/// An invalid certificate or private key.
pub fn acceptor(config: &Config) -> Result<TlsAcceptor> {
    const INVALID: &str = "`ca`: invalid certificate";
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(&config.ca) {
        roots.add(certificate.context(INVALID)?).context(INVALID)?;
    }
    ensure!(!roots.is_empty(), "`ca`: the file has no certificate");
    let clients = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider.clone()).build()?;
    let chain = CertificateDer::pem_slice_iter(&config.cert)
        .collect::<Result<Vec<_>, _>>()
        .context("`cert`: invalid certificate")?;
    ensure!(!chain.is_empty(), "`cert`: the file has no certificate");
    let key = PrivateKeyDer::from_pem_slice(&config.key).context("`key`: invalid private key")?;
    let server = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_client_cert_verifier(clients)
        .with_single_cert(chain, key)
        .context("`cert` and `key` do not belong together, or are of an unsupported type")?;
    Ok(TlsAcceptor::from(Arc::new(server)))
}

/// A listener of connections with completed handshakes. Handshakes run concurrently, so that a slow client does not
/// block others.
pub struct Connections {
    ready: mpsc::Receiver<(TlsStream<TcpStream>, Caller)>,
    local: SocketAddr,
}

impl Connections {
    /// Starts accepting connections from `listener`.
    ///
    /// # Errors
    /// An error of the operating system.
    pub fn new(listener: TcpListener, acceptor: TlsAcceptor) -> io::Result<Self> {
        const MAX_READY: usize = 64;
        /// Maximum number of concurrent handshakes. Further connections wait in the kernel's queue.
        const MAX_HANDSHAKES: usize = 64;
        let local = listener.local_addr()?;
        let (sender, ready) = mpsc::channel(MAX_READY);
        let permits = Arc::new(Semaphore::new(MAX_HANDSHAKES));
        tokio::spawn(async move {
            while let Ok(permit) = permits.clone().acquire_owned().await {
                match listener.accept().await {
                    Ok((stream, address)) => {
                        let (acceptor, sender) = (acceptor.clone(), sender.clone());
                        tokio::spawn(async move {
                            if let Some(connection) = handshake(acceptor, stream, address).await {
                                let _ = sender.send(connection).await;
                            }
                            drop(permit);
                        });
                    }
                    // A resource shortage such as too many open files: retry later.
                    Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
                }
            }
        });
        Ok(Self { ready, local })
    }
}

async fn handshake(
    acceptor: TlsAcceptor,
    stream: TcpStream,
    address: SocketAddr,
) -> Option<(TlsStream<TcpStream>, Caller)> {
    const TIMEOUT: Duration = Duration::from_secs(5);
    stream.set_nodelay(true).ok()?;
    let stream = tokio::time::timeout(TIMEOUT, acceptor.accept(stream)).await.ok()?.ok()?;
    let certificate = stream.get_ref().1.peer_certificates()?.first()?;
    let sae = common_name(certificate)?;
    Some((stream, Caller { sae, address }))
}

fn common_name(certificate: &CertificateDer<'_>) -> Option<String> {
    let (_, parsed) = x509_parser::parse_x509_certificate(certificate).ok()?;
    let name = parsed.subject().iter_common_name().next()?.as_str().ok()?;
    Some(name.to_owned())
}

impl Listener for Connections {
    type Io = TlsStream<TcpStream>;
    type Addr = Caller;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        match self.ready.recv().await {
            Some(connection) => connection,
            None => std::future::pending().await,
        }
    }

    fn local_addr(&self) -> io::Result<Self::Addr> {
        Ok(Caller { sae: String::new(), address: self.local })
    }
}

impl Connected<IncomingStream<'_, Connections>> for Caller {
    fn connect_info(stream: IncomingStream<'_, Connections>) -> Self {
        stream.remote_addr().clone()
    }
}
