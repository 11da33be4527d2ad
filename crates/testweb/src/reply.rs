//! Constructors for HTTP answers.

use std::fmt::Debug;

use bytes::Bytes;
use hyper::header::{CONTENT_TYPE, HeaderName, HeaderValue};
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
    with_header(answer, CONTENT_TYPE, content_type)
}

/// Returns an answer with one more header field.
pub(crate) fn with_header<V, E: Debug>(
    mut answer: Response<Bytes>,
    name: HeaderName,
    value: V,
) -> Response<Bytes>
where
    HeaderValue: TryFrom<V, Error = E>,
{
    let value = HeaderValue::try_from(value).expect("the value has no control characters");
    answer.headers_mut().insert(name, value);
    answer
}
