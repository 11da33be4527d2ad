//! TLS setup and certificate verification.
//!
//! **Invariant:** every certificate is verified against Mozilla's root certificates and those
//! the user added. Verification cannot be turned off. Each fault of a certificate has a name.

use std::io;
use std::sync::Arc;

use rustls_pki_types::ServerName;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::{self, AlertDescription, CertificateError, ClientConfig, RootCertStore};

use crate::settings::{FetchError, FetchOptions};
use crate::trouble::{CertificateFault, Trouble};

/// One TLS connector for each set of protocols that is offered.
pub(crate) struct Tls {
    both: TlsConnector,
    http1: TlsConnector,
    http2: TlsConnector,
}

/// The HTTP versions offered in the TLS handshake (ALPN).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AlpnOffer {
    Both,
    /// HTTP/1.1. It is also offered for HTTP/1.0, because servers know no other ALPN name.
    Http1,
    Http2,
}

impl Tls {
    pub(crate) fn new(settings: &FetchOptions) -> Result<Self, FetchError> {
        let mut roots = RootCertStore {
            roots: webpki_roots::TLS_SERVER_ROOTS.to_vec(),
        };
        for root in &settings.extra_roots {
            roots.add(root.clone()).map_err(FetchError::Root)?;
        }
        let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(FetchError::Tls)?
            .with_root_certificates(roots)
            .with_no_client_auth();
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        let http1 = TlsConnector::from(Arc::new(config.clone()));
        config.alpn_protocols.insert(0, b"h2".to_vec());
        let both = TlsConnector::from(Arc::new(config.clone()));
        config.alpn_protocols.truncate(1);
        Ok(Self {
            both,
            http1,
            http2: TlsConnector::from(Arc::new(config)),
        })
    }

    pub(crate) fn connector(&self, offer: AlpnOffer) -> &TlsConnector {
        match offer {
            AlpnOffer::Both => &self.both,
            AlpnOffer::Http1 => &self.http1,
            AlpnOffer::Http2 => &self.http2,
        }
    }
}

/// Returns the name that the certificate must be for.
///
/// Removes the brackets that an IPv6 address has only in a URL, and a trailing dot, which names
/// in certificates do not have.
pub(crate) fn server_name(host: &str) -> Result<ServerName<'static>, Trouble> {
    let bare = host
        .trim_start_matches('[')
        .trim_end_matches(']')
        .trim_end_matches('.');
    ServerName::try_from(bare.to_owned())
        .map_err(|_| Trouble::Tls(format!("{host} is not a valid name for a certificate")))
}

/// Returns the trouble for a failed handshake in which `offer` was offered.
pub(crate) fn trouble_of(error: &io::Error, offer: AlpnOffer) -> Trouble {
    let cause = error
        .get_ref()
        .and_then(|inner| inner.downcast_ref::<rustls::Error>());
    match cause {
        Some(rustls::Error::InvalidCertificate(fault)) => Trouble::Certificate(fault_of(fault)),
        Some(rustls::Error::AlertReceived(AlertDescription::NoApplicationProtocol))
            if offer != AlpnOffer::Both =>
        {
            match offer {
                AlpnOffer::Http2 => Trouble::NotHttp2,
                _ => Trouble::NotHttp1,
            }
        }
        Some(other) => Trouble::Tls(other.to_string()),
        None => Trouble::Tls(error.kind().to_string()),
    }
}

fn fault_of(error: &CertificateError) -> CertificateFault {
    match error {
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
            CertificateFault::Expired
        }
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            CertificateFault::NotYetValid
        }
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            CertificateFault::WrongName
        }
        CertificateError::UnknownIssuer => CertificateFault::Untrusted,
        other => CertificateFault::Other(other.to_string()),
    }
}
