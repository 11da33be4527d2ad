//! Constructors for HTTP answers.

use bytes::Bytes;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::{Response, StatusCode};

/// Returns an answer without a body.
pub(crate) fn status_only(status: StatusCode) -> Response<Bytes> {
    let mut answer = Response::new(Bytes::new());
    *answer.status_mut() = status;
    answer
}

/// Returns an answer of plain text.
pub fn plain(status: StatusCode, text: impl Into<Bytes>) -> Response<Bytes> {
    typed(status, "text/plain; charset=utf-8", text.into())
}

/// Returns an answer with a content type.
pub fn typed(status: StatusCode, content_type: &'static str, body: Bytes) -> Response<Bytes> {
    let mut answer = Response::new(body);
    *answer.status_mut() = status;
    answer
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    answer
}
