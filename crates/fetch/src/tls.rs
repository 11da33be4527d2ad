//! Is the server who it says it is?
//!
//! **Invariant:** every certificate is verified against Mozilla's authorities and those the user added;
//! there is no way to turn that off. What is wrong with one is named.

use std::io;
use std::sync::Arc;

use rustls_pki_types::ServerName;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::{self, AlertDescription, CertificateError, ClientConfig, RootCertStore};

use crate::settings::{FetchError, Settings};
use crate::trouble::{CertificateFault, Trouble};

/// How TLS is begun, by what is offered.
pub(crate) struct Tls {
    both: TlsConnector,
    http1: TlsConnector,
    http2: TlsConnector,
}

/// Which HTTP a server may choose from in the TLS handshake (ALPN).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Offer {
    Both,
    /// HTTP/1.1, which stands for HTTP/1.0 as well: servers know no other name.
    Http1,
    Http2,
}

impl Tls {
    pub(crate) fn new(settings: &Settings) -> Result<Self, FetchError> {
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

    pub(crate) fn connector(&self, offer: Offer) -> &TlsConnector {
        match offer {
            Offer::Both => &self.both,
            Offer::Http1 => &self.http1,
            Offer::Http2 => &self.http2,
        }
    }
}

/// The name that the certificate must be for. An IPv6 address is in brackets in a URL only, and a name
/// with a trailing dot has none in its certificate.
pub(crate) fn server_name(host: &str) -> Result<ServerName<'static>, Trouble> {
    let bare = host
        .trim_start_matches('[')
        .trim_end_matches(']')
        .trim_end_matches('.');
    ServerName::try_from(bare.to_owned())
        .map_err(|_| Trouble::Tls(format!("{host} cannot be the name of a certificate")))
}

/// What a failed handshake means, after this offer.
pub(crate) fn trouble_of(error: &io::Error, offer: Offer) -> Trouble {
    let cause = error
        .get_ref()
        .and_then(|inner| inner.downcast_ref::<rustls::Error>());
    match cause {
        Some(rustls::Error::InvalidCertificate(fault)) => Trouble::Certificate(fault_of(fault)),
        Some(rustls::Error::AlertReceived(AlertDescription::NoApplicationProtocol))
            if offer != Offer::Both =>
        {
            match offer {
                Offer::Http2 => Trouble::NotHttp2,
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
