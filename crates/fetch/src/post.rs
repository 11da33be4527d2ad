//! Sends a body to a server that the operator has named, such as the receiver of a webhook.
//!
//! The request passes the same gate and uses the same TLS and proxy as a fetch. Of the answer only
//! the status counts.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::header::{ACCEPT_ENCODING, CONTENT_LENGTH};
use http::{HeaderName, HeaderValue, Method, Request, Uri};
use hyper::body::{Body, Frame, SizeHint};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use page::url::PageUrl;

use crate::fetcher::Fetcher;
use crate::trouble::Trouble;

/// A body that is sent at once.
struct WholeBody(Option<Bytes>);

impl Body for WholeBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready(self.0.take().map(|bytes| Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.0.as_ref().map_or(0, |bytes| bytes.len() as u64))
    }
}

impl Fetcher {
    /// Posts a body over a new connection of HTTP/1.1. Returns the status of the answer.
    ///
    /// The fetcher must not offer HTTP/2 ([`HttpMode::Http11`](crate::HttpMode::Http11)).
    pub async fn post(
        &self,
        url: &PageUrl,
        headers: &[(&'static str, String)],
        body: Bytes,
    ) -> Result<u16, Trouble> {
        let limit = self.limits().total;
        let posted = tokio::time::timeout(limit, self.post_unlimited(url, headers, body));
        posted.await.unwrap_or(Err(Trouble::FirstByteTimeout))
    }

    async fn post_unlimited(
        &self,
        url: &PageUrl,
        headers: &[(&'static str, String)],
        body: Bytes,
    ) -> Result<u16, Trouble> {
        let shared = Arc::clone(self.shared());
        let route = self.route(url).await?;
        let (socket, _) = shared.open(url, &route).await?;
        let target = match shared.sends_whole_urls(url) {
            true => url.as_str(),
            false => url.path_and_query(),
        };
        let mut fields = shared.headers_for(url, false);
        fields.remove(ACCEPT_ENCODING);
        fields.insert(CONTENT_LENGTH, body.len().into());
        for (name, value) in headers {
            let value = HeaderValue::try_from(value).map_err(|_| Trouble::Unsendable)?;
            fields.insert(HeaderName::from_static(name), value);
        }
        let mut message = Request::new(WholeBody(Some(body)));
        *message.method_mut() = Method::POST;
        *message.uri_mut() = Uri::try_from(target).map_err(|_| Trouble::Unsendable)?;
        *message.headers_mut() = fields;
        let failed = |error: hyper::Error| Trouble::Protocol(error.to_string());
        let (mut sender, connection) = http1::handshake(TokioIo::new(socket))
            .await
            .map_err(failed)?;
        let answer = async { sender.send_request(message).await.map_err(failed) };
        tokio::pin!(answer);
        tokio::pin!(connection);
        tokio::select! {
            biased;
            answered = &mut answer => answered.map(|answer| answer.status().as_u16()),
            // The connection may end before its answer has been taken from it.
            _ = &mut connection => answer.await.map(|answer| answer.status().as_u16()),
        }
    }
}
