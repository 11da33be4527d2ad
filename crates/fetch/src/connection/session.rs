//! What is the same whichever HTTP a connection speaks?
//!
//! **Invariant:** a session is clean while every request so far was seen to its end.

use std::sync::Arc;
use std::time::SystemTime;

use bytes::Bytes;
use http::header::CONTENT_LENGTH;
use http::{HeaderMap, Version};
use page::url::{HostId, PageUrl};

use crate::coding;
use crate::line::NoBody;
use crate::reply::Reply;
use crate::request::{Request, Template};
use crate::response::Response;
use crate::settings::Limits;
use crate::shared::Shared;
use crate::trouble::Trouble;

/// What is asked over a connection, and what is made of the answers.
pub(super) struct Session {
    pub(super) shared: Arc<Shared>,
    pub(super) host: HostId,
    template: Template,
    /// The number of answers.
    pub(super) served: u32,
    /// Whether the last request was seen to its end.
    pub(super) clean: bool,
    /// Whether the server sent bytes while no request was out.
    pub(super) spoke: bool,
}

impl Session {
    pub(super) fn new(shared: Arc<Shared>, host: HostId, template: Template) -> Self {
        Self {
            shared,
            host,
            template,
            served: 0,
            clean: true,
            spoke: false,
        }
    }

    pub(super) fn limits(&self) -> &Limits {
        &self.shared.settings.limits
    }

    pub(super) fn version(&self) -> Version {
        self.template.version()
    }

    pub(super) fn leads_to(&self, url: &PageUrl) -> bool {
        self.host == url.host()
    }

    /// Begins to ask. Returns whether that is possible; until the caller says otherwise, it is not
    /// possible again.
    pub(super) fn begin(&mut self) -> bool {
        std::mem::replace(&mut self.clean, false)
    }

    /// The request as it is sent, if it can be.
    pub(super) fn message(&self, request: &Request<'_>) -> Result<http::Request<NoBody>, Trouble> {
        if !self.leads_to(request.url) {
            return Err(Trouble::OtherServer(request.url.origin().to_owned()));
        }
        self.template.message(request, self.shared.cookies.as_ref())
    }

    /// What the reply means.
    pub(super) fn response(&self, url: &PageUrl, reply: Reply, head: Bytes) -> Response {
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

    /// Returns why a connection that ended before cannot be used.
    pub(super) fn unusable(&self) -> Trouble {
        if self.spoke {
            Trouble::Unasked
        } else {
            Trouble::Stale
        }
    }

    /// Returns why a connection ended while no request was out: because the server `spoke` unasked, or
    /// because it hung up.
    pub(super) fn ended_idle(&self, spoke: bool) -> Trouble {
        match (spoke, self.served > 0) {
            (true, true) => Trouble::Unasked,
            (true, false) => Trouble::Protocol("the server speaks before it is asked".to_owned()),
            (false, true) => Trouble::Stale,
            (false, false) => Trouble::Reset,
        }
    }
}

/// Returns whether an answer states its length more than once (hostile-web.md, row 10). Lengths that
/// differ are refused before; after equal ones the connection is not used again.
pub(super) fn has_two_lengths(headers: &HeaderMap) -> bool {
    headers.get_all(CONTENT_LENGTH).iter().nth(1).is_some()
}
