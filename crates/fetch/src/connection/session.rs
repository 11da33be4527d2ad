//! What is the same whichever HTTP a connection speaks?
//!
//! **Invariant:** a session is clean while every request so far was seen to its end.

use std::sync::Arc;
use std::time::SystemTime;

use bytes::Bytes;
use http::header::{CONTENT_LENGTH, TRANSFER_ENCODING};
use http::{HeaderMap, Version};
use page::url::{HostId, PageUrl};

use crate::coding;
use crate::fetcher::Shared;
use crate::line::NoBody;
use crate::reply::Reply;
use crate::request::{Request, Template};
use crate::response::Response;
use crate::settings::Limits;
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
}

impl Session {
    pub(super) fn new(shared: Arc<Shared>, host: HostId, template: Template) -> Self {
        Self {
            shared,
            host,
            template,
            served: 0,
            clean: true,
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

    /// Why a connection ended while no request was out.
    pub(super) fn ended_idle(&self, spoke: bool) -> Trouble {
        if self.served > 0 {
            Trouble::Stale
        } else if spoke {
            Trouble::Protocol("the server speaks before it is asked".to_owned())
        } else {
            Trouble::Reset
        }
    }
}

/// hostile-web.md, row 10: where an answer has several lengths, or a length and a transfer coding, two
/// readers may disagree on where it ends. Those that contradict each other are refused before.
pub(super) fn has_two_lengths(headers: &HeaderMap) -> bool {
    let lengths = headers.get_all(CONTENT_LENGTH).iter().count();
    lengths > 1 || (lengths == 1 && headers.contains_key(TRANSFER_ENCODING))
}
