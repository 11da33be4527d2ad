//! Builds the requests that are sent to servers.
//!
//! **Invariant:** the headers that all requests to a server share are fixed when the connection
//! begins. A request adds its target, its validators and its cookies.

use std::time::SystemTime;

use bytes::BytesMut;
use http::header::{CONNECTION, COOKIE, IF_MODIFIED_SINCE, IF_NONE_MATCH};
use http::{HeaderMap, HeaderValue, Method, Uri, Version};
use page::url::PageUrl;

use crate::cookies::Jar;
use crate::hyper_connection::NoBody;
use crate::shared::SharedState;
use crate::trouble::Trouble;

/// A conditional or plain GET of one page.
#[derive(Debug, Clone, Copy)]
pub struct FetchRequest<'a> {
    /// The page. It must be on the host that the connection leads to.
    pub url: &'a PageUrl,
    /// The entity tag of the stored copy.
    pub etag: Option<&'a str>,
    /// The `Last-Modified` value of the stored copy, verbatim.
    pub last_modified: Option<&'a str>,
}

/// The parts that all requests of a connection share.
pub(crate) struct RequestTemplate {
    headers: HeaderMap,
    whole_urls: bool,
    version: Version,
}

impl RequestTemplate {
    pub(crate) fn new(shared: &SharedState, url: &PageUrl, version: Version) -> Self {
        let mut headers = shared.headers_for(url, version == Version::HTTP_2);
        if version == Version::HTTP_10 {
            headers.insert(CONNECTION, HeaderValue::from_static("close"));
        }
        Self {
            headers,
            whole_urls: version == Version::HTTP_2 || shared.sends_whole_urls(url),
            version,
        }
    }

    pub(crate) fn version(&self) -> Version {
        self.version
    }

    /// Returns the request in the form that hyper takes.
    pub(crate) fn message(
        &self,
        request: &FetchRequest<'_>,
        cookies: Option<&Jar>,
    ) -> Result<http::Request<NoBody>, Trouble> {
        let target = if self.whole_urls {
            request.url.as_str()
        } else {
            request.url.path_and_query()
        };
        let uri = Uri::try_from(target).map_err(|_| Trouble::Unsendable)?;
        let mut headers = self.headers.clone();
        // A validator that cannot be sent is left out: the page is then fetched unconditionally.
        let validators = [
            (IF_NONE_MATCH, request.etag),
            (IF_MODIFIED_SINCE, request.last_modified),
        ];
        for (name, text) in validators {
            headers.extend(
                text.and_then(|text| HeaderValue::try_from(text).ok())
                    .map(|value| (name, value)),
            );
        }
        if let Some(jar) = cookies {
            headers.extend(
                jar.header(request.url, SystemTime::now())
                    .map(|value| (COOKIE, value)),
            );
        }
        let mut message = http::Request::new(NoBody);
        *message.method_mut() = Method::GET;
        *message.uri_mut() = uri;
        *message.headers_mut() = headers;
        // For HTTP/2 and HTTP/1.1 hyper sets the version itself.
        if self.version == Version::HTTP_10 {
            *message.version_mut() = Version::HTTP_10;
        }
        Ok(message)
    }
}

/// Writes a request in the wire format of HTTP/1.1.
pub(crate) fn write(message: &http::Request<NoBody>, wire: &mut BytesMut) {
    let line = format!("{} {} HTTP/1.1\r\n", message.method(), message.uri());
    wire.extend_from_slice(line.as_bytes());
    write_fields(message.headers(), wire);
}

/// Writes header fields and the empty line that ends them.
pub(crate) fn write_fields(headers: &HeaderMap, wire: &mut BytesMut) {
    for (name, value) in headers {
        wire.extend_from_slice(name.as_str().as_bytes());
        wire.extend_from_slice(b": ");
        wire.extend_from_slice(value.as_bytes());
        wire.extend_from_slice(b"\r\n");
    }
    wire.extend_from_slice(b"\r\n");
}
