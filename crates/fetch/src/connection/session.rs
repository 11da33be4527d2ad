//! The part of a connection that is the same for every HTTP version.
//!
//! **Invariant:** a session is clean if and only if no request is in flight and the connection can
//! carry another: every earlier answer was read to its end, or failed without harm to the
//! connection (a reset HTTP/2 stream).

use std::sync::Arc;
use std::time::SystemTime;

use bytes::Bytes;
use http::header::CONTENT_LENGTH;
use http::{HeaderMap, Version};
use page::url::{HostId, PageUrl};

use crate::coding;
use crate::hyper_connection::NoBody;
use crate::reply::RawReply;
use crate::request::{FetchRequest, RequestTemplate};
use crate::response::Response;
use crate::settings::FetchLimits;
use crate::shared::SharedState;
use crate::trouble::Trouble;

/// Builds the requests of a connection and interprets the answers.
pub(super) struct Session {
    pub(super) shared: Arc<SharedState>,
    pub(super) host: HostId,
    template: RequestTemplate,
    /// The number of answers received.
    pub(super) served: u32,
    /// Whether the connection can carry another request.
    pub(super) clean: bool,
    /// Whether the server sent bytes while no request was in flight.
    pub(super) unsolicited: bool,
}

impl Session {
    pub(super) fn new(shared: Arc<SharedState>, host: HostId, template: RequestTemplate) -> Self {
        Self {
            shared,
            host,
            template,
            served: 0,
            clean: true,
            unsolicited: false,
        }
    }

    pub(super) fn limits(&self) -> &FetchLimits {
        &self.shared.settings.limits
    }

    pub(super) fn version(&self) -> Version {
        self.template.version()
    }

    pub(super) fn leads_to(&self, url: &PageUrl) -> bool {
        self.host == url.host()
    }

    /// Marks the session as busy. Returns whether it was clean.
    ///
    /// The session stays unusable until the caller sets `clean` again.
    pub(super) fn begin(&mut self) -> bool {
        std::mem::replace(&mut self.clean, false)
    }

    /// Returns the message for a request, if it can be sent.
    pub(super) fn message(
        &self,
        request: &FetchRequest<'_>,
    ) -> Result<http::Request<NoBody>, Trouble> {
        if !self.leads_to(request.url) {
            return Err(Trouble::OtherServer(request.url.origin().to_owned()));
        }
        self.template.message(request, self.shared.cookies.as_ref())
    }

    /// Stores the cookies of a reply and decodes its body.
    pub(super) fn response(&self, url: &PageUrl, reply: RawReply, head: Bytes) -> Response {
        if let Some(jar) = &self.shared.cookies {
            jar.keep(url, &reply.headers, SystemTime::now());
        }
        let decoded = coding::decode(&reply.headers, &reply.body, self.limits());
        Response {
            status: reply.status.as_u16(),
            head,
            headers: reply.headers,
            body: reply.body,
            content: decoded.content,
            undecoded: decoded.undecoded,
            truncated: reply.cut.or(decoded.truncated),
        }
    }

    /// Returns why a connection that has ended cannot be used.
    pub(super) fn unusable(&self) -> Trouble {
        if self.unsolicited {
            Trouble::Unsolicited
        } else {
            Trouble::Stale
        }
    }

    /// Returns why a connection ended while no request was in flight.
    ///
    /// `unsolicited` says that the server sent bytes; otherwise it closed the connection.
    pub(super) fn ended_idle(&self, unsolicited: bool) -> Trouble {
        match (unsolicited, self.served > 0) {
            (true, true) => Trouble::Unsolicited,
            (true, false) => {
                Trouble::Protocol("the server sent bytes before the request".to_owned())
            }
            (false, true) => Trouble::Stale,
            (false, false) => Trouble::Reset,
        }
    }
}

/// Returns whether an answer states its length more than once (hostile-web.md, row 10).
///
/// Contradicting lengths are refused earlier. After equal ones the connection is not used again.
pub(super) fn has_two_lengths(headers: &HeaderMap) -> bool {
    headers.get_all(CONTENT_LENGTH).iter().nth(1).is_some()
}
