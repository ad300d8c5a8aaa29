//! TLS of the status server: connections, reloading of the certificate, and the client of `sealcomb-link status`.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Result, bail};
use axum::serve::Listener;
use ctutils::CtEq;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, ServerConfig, SignatureScheme};
use tokio::signal::unix::Signal;
use tokio::sync::{mpsc, watch};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use crate::config::ListenTls;
use crate::findings::Findings;
use crate::listener::{LimitedListener, LimitedStream};

/// The settings with the current certificate.
pub(crate) type Settings = watch::Receiver<Arc<ServerConfig>>;

/// A listener of connections with completed handshakes. Handshakes run concurrently, so that a slow client does not
/// block others.
pub(crate) struct TlsListener {
    ready: mpsc::Receiver<(TlsStream<LimitedStream>, SocketAddr)>,
    local: SocketAddr,
}

impl TlsListener {
    /// Starts to accept connections, whose number and duration `listener` limits.
    pub(crate) fn new(mut listener: LimitedListener, settings: Settings) -> io::Result<Self> {
        let local = listener.local_addr()?;
        let (sender, ready) = mpsc::channel(1);
        tokio::spawn(async move {
            while !sender.is_closed() {
                let (stream, address) = listener.accept().await;
                let handshake = TlsAcceptor::from(settings.borrow().clone()).accept(stream);
                let sender = sender.clone();
                tokio::spawn(async move {
                    if let Ok(stream) = handshake.await {
                        let _ = sender.send((stream, address)).await;
                    }
                });
            }
        });
        Ok(Self { ready, local })
    }
}

impl Listener for TlsListener {
    type Io = TlsStream<LimitedStream>;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        match self.ready.recv().await {
            Some(connection) => connection,
            None => std::future::pending().await,
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        Ok(self.local)
    }
}

/// Reads the certificate of the configuration in `path` again at each SIGHUP, which `hang_up` receives. Connections
/// keep theirs. Returns only on error, when the server is gone.
pub(crate) async fn reload(
    path: PathBuf,
    mut current: ListenTls,
    mut hang_up: Signal,
    settings: watch::Sender<Arc<ServerConfig>>,
) -> Result<()> {
    while !settings.is_closed() {
        hang_up.recv().await;
        // The control task reports an invalid configuration, and a server that gets or loses its certificate.
        let Ok(Some(new)) = Findings::none_in(&path).map(|config| config.listen_tls) else { continue };
        if new.cert == current.cert && bool::from(new.key[..].ct_eq(&current.key[..])) {
            continue;
        }
        match new.server() {
            Ok(server) => {
                settings.send_replace(server);
                current = new;
                tracing::info!("reloaded: `listen-cert` and `listen-key`");
            }
            Err(error) => {
                tracing::error!("reload failed: {error:#}; the status server keeps its certificate");
            }
        }
    }
    bail!("the status server has ended")
}

/// Returns the settings of a client that accepts exactly the configured certificate of the status server, whatever
/// its name and validity period. This end has read it from its own configuration, like the server.
///
/// # Errors
/// An invalid certificate.
pub(crate) fn pinned(tls: &ListenTls) -> Result<ClientConfig> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let pinned = Pinned { certificate: tls.chain()?.swap_remove(0), provider: provider.clone() };
    Ok(ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(pinned))
        .with_no_client_auth())
}

#[derive(Debug)]
struct Pinned {
    certificate: CertificateDer<'static>,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Pinned {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        if *end_entity == self.certificate {
            Ok(ServerCertVerified::assertion())
        } else {
            Err(CertificateError::ApplicationVerificationFailure.into())
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use axum::Router;
    use axum::routing::get;
    use tokio::io::AsyncWriteExt;
    use tokio::net::{TcpListener, TcpStream};
    use zeroize::Zeroizing;

    use super::*;

    fn tls(name: &str) -> ListenTls {
        let made = rcgen::generate_simple_self_signed([name.to_owned()]).unwrap();
        let key = Zeroizing::new(made.signing_key.serialize_pem().into_bytes());
        ListenTls { cert: made.cert.pem().into_bytes(), key }
    }

    /// Starts a server, and returns its address and the sender of its settings.
    async fn server(tls: &ListenTls) -> (SocketAddr, watch::Sender<Arc<ServerConfig>>) {
        let (sender, settings) = watch::channel(tls.server().unwrap());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let limited = LimitedListener::new(listener, 2, Duration::from_secs(1));
        let listener = TlsListener::new(limited, settings).unwrap();
        let router = Router::new().route("/", get(|| async { "here" }));
        tokio::spawn(async { axum::serve(listener, router).await });
        (address, sender)
    }

    async fn ask(address: SocketAddr, tls: &ListenTls) -> Result<String> {
        let client = reqwest::Client::builder().no_proxy().tls_backend_preconfigured(pinned(tls)?).build()?;
        let request = client.get(format!("https://{address}/")).timeout(Duration::from_secs(60));
        Ok(request.send().await?.error_for_status()?.text().await?)
    }

    #[tokio::test]
    async fn a_client_accepts_exactly_the_configured_certificate() {
        let ours = tls("other.example");
        let (address, _settings) = server(&ours).await;
        assert_eq!(ask(address, &ours).await.unwrap(), "here");
        let error = ask(address, &tls("other.example")).await.unwrap_err();
        assert!(format!("{error:#?}").contains("ApplicationVerificationFailure"), "{error:#?}");
    }

    #[tokio::test]
    async fn new_connections_get_the_new_certificate() {
        let (first, second) = (tls("first"), tls("second"));
        let (address, settings) = server(&first).await;
        assert!(ask(address, &first).await.is_ok());
        settings.send_replace(second.server().unwrap());
        assert!(ask(address, &second).await.is_ok() && ask(address, &first).await.is_err());
    }

    #[tokio::test]
    async fn an_invalid_configuration_does_not_change_the_certificate() {
        use nix::sys::signal::{Signal, raise};
        use tokio::signal::unix::{SignalKind, signal};

        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, contents: &[u8]| std::fs::write(folder.path().join(name), contents).unwrap();
        let text = r#"
            role = "master"
            local = "192.0.2.1:4500"
            suite = "aes256-gcm"
            control-key = "control.key"
            listen = "127.0.0.1:9469"
            listen-cert = "cert.pem"
            listen-key = "key.pem"
            [tun]
            name = "seal0"
            [keys]
            file = "link.key"
        "#;
        write("link.toml", text.as_bytes());
        write("control.key", "ab".repeat(32).as_bytes());
        let (first, second) = (tls("first"), tls("second"));
        let (sender, mut settings) = watch::channel(first.server().unwrap());
        let hang_up = signal(SignalKind::hangup()).unwrap();
        let task = tokio::spawn(reload(folder.path().join("link.toml"), first, hang_up, sender));
        write("cert.pem", &second.cert);
        write("key.pem", &second.key);
        // The link key must differ from the control key.
        write("link.key", "ab".repeat(32).as_bytes());
        raise(Signal::SIGHUP).unwrap();
        let changed = tokio::time::timeout(Duration::from_millis(500), settings.changed()).await;
        assert!(changed.is_err(), "the certificate of an invalid configuration");
        write("link.key", "cd".repeat(32).as_bytes());
        raise(Signal::SIGHUP).unwrap();
        settings.changed().await.unwrap();
        task.abort();
    }

    #[tokio::test]
    async fn clients_that_do_not_speak_tls_or_nothing_are_closed_to_admit_others() {
        let ours = tls("ours");
        let (address, _settings) = server(&ours).await;
        let mut others = Vec::new();
        for i in 0..5 {
            let mut stream = TcpStream::connect(address).await.unwrap();
            if i % 2 == 0 {
                stream.write_all(b"GET / HTTP/1.1\r\n\r\n").await.unwrap();
            }
            others.push(stream);
        }
        assert_eq!(ask(address, &ours).await.unwrap(), "here");
    }

    #[test]
    fn unusable_files_are_refused_with_the_field() {
        let (ours, other) = (tls("ours"), tls("other"));
        let with = |cert: &[u8], key: &[u8]| {
            let tls = ListenTls { cert: cert.to_vec(), key: Zeroizing::new(key.to_vec()) };
            format!("{:#}", tls.server().unwrap_err())
        };
        assert!(with(&ours.cert, &other.key).contains("do not belong together"));
        assert!(with(b"", &ours.key).contains("`listen-cert`: the file has no valid certificate"));
        assert!(with(&ours.key, &ours.key).contains("`listen-cert`"));
        assert!(with(&ours.cert, b"secret").contains("`listen-key`: the file has no valid private key"));
        assert!(!with(&ours.cert, b"secret").contains("secret"));
    }
}
