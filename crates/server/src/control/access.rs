//! Access rules: which requests may view the dashboard, and which may change the crawl.
//!
//! Viewing is allowed from this machine only, or from anywhere with the token if the user sets
//! [`Admin::Token`]. Changing always needs the token, or a session that began with it. A request is
//! from this machine if its client is on loopback, it names a loopback host, and it did not come
//! through a trusted proxy.

use std::sync::Arc;
use std::time::Instant;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::response::{IntoResponse, Redirect, Response};

use crate::app::{OperatorToken, is_loopback};
use crate::request::client::RequestClient;
use crate::request::without_port;
use crate::{App, pages};
use node::settings::Admin;

/// The name of the session cookie.
pub const COOKIE: &str = "avocet-operator";

/// The right to view the dashboard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ViewAccess {
    /// The right to change the crawl as well, if the request carries the token or a session.
    pub operator: Option<OperatorAccess>,
}

/// What a request says about its origin and its rights.
struct Credentials<'a> {
    /// Whether the request is from this machine.
    here: bool,
    /// The open session that the cookie names.
    session: Option<String>,
    /// Whether the request carries the token itself.
    bearer: bool,
    headers: &'a HeaderMap,
    /// The host name and port that the request names.
    name: &'a str,
}

impl<'a> Credentials<'a> {
    fn of(parts: &'a Parts, token: &OperatorToken) -> Self {
        let headers = &parts.headers;
        let name = authority(&parts.uri, headers).unwrap_or_default();
        let client = parts.extensions.get::<RequestClient>();
        let near = client.is_some_and(|client| !client.forwarded && client.address.is_loopback());
        let now = Instant::now();
        let text = |name| {
            headers
                .get_all(name)
                .into_iter()
                .filter_map(|text| text.to_str().ok())
        };
        let cookies = text(header::COOKIE).flat_map(|cookies| cookies.split(';'));
        let ours = cookies
            .filter_map(|cookie| cookie.trim().split_once('='))
            .filter(|(name, _)| *name == COOKIE);
        let mut sessions = ours.map(|(_, session)| session);
        let mut given = text(header::AUTHORIZATION).filter_map(|text| text.split_once(' '));
        Self {
            here: near && is_loopback(without_port(name)),
            session: sessions
                .find(|session| token.sessions.hold(session, now))
                .map(str::to_owned),
            bearer: given.any(|(kind, text)| kind.eq_ignore_ascii_case("bearer") && token.is(text)),
            headers,
            name,
        }
    }

    /// Returns the right to view, with the right to change if the request has it.
    fn view_access(&self, admin: Admin) -> Option<ViewAccess> {
        let session = self.session.clone();
        let operator = (session.is_some() || self.bearer).then_some(OperatorAccess { session });
        let may_look = match admin {
            Admin::Loopback => self.here,
            Admin::Token => self.here || operator.is_some(),
        };
        may_look.then_some(ViewAccess { operator })
    }

    /// Tells whether the request was made by a page of this server, or by no page at all.
    ///
    /// `Origin` and `Sec-Fetch-Site` are reliable: the script of a page cannot set them.
    fn is_same_origin(&self) -> bool {
        let text = |name: &str| {
            self.headers
                .get(name)
                .map(|text| text.to_str().unwrap_or("?"))
        };
        let site = text("sec-fetch-site");
        let same = site == Some("same-origin");
        let ours = |origin: &str| match origin.split_once("://") {
            Some((_, host)) => host.eq_ignore_ascii_case(self.name),
            // A page with the policy `no-referrer`, such as ours, sends the origin `null`.
            None => origin == "null" && same,
        };
        (same || site.is_none_or(|site| site == "none")) && text("origin").is_none_or(ours)
    }
}

/// Returns the host name and port that the client requested.
fn authority<'a>(uri: &'a Uri, headers: &'a HeaderMap) -> Option<&'a str> {
    match uri.authority() {
        Some(authority) => Some(authority.as_str()),
        None => headers.get(header::HOST)?.to_str().ok(),
    }
}

impl FromRequestParts<Arc<App>> for ViewAccess {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Response> {
        let credentials = Credentials::of(parts, &app.token);
        let admin = app.settings.admin;
        match (credentials.view_access(admin), admin) {
            (Some(access), _) => Ok(access),
            (None, Admin::Token) => Err(Redirect::to("/dashboard/login").into_response()),
            (None, Admin::Loopback) => Err(pages::message(
                StatusCode::FORBIDDEN,
                "Only from this machine",
                "The dashboard answers only requests from the machine that it runs on. To reach it from elsewhere, set admin = \"token\" in the section [serve] of avocet.toml.",
            )),
        }
    }
}

/// The right to change the crawl with a form of the dashboard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OperatorAccess {
    /// The session that began with the login; `None` if the request itself carries the token.
    pub session: Option<String>,
}

impl FromRequestParts<Arc<App>> for OperatorAccess {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Response> {
        let refuse = |text| pages::message(StatusCode::FORBIDDEN, "Not allowed", text);
        let credentials = Credentials::of(parts, &app.token);
        if !credentials.is_same_origin() {
            return Err(refuse("This request came from a page of another site."));
        }
        match credentials.view_access(app.settings.admin) {
            Some(ViewAccess {
                operator: Some(operator),
            }) => Ok(operator),
            Some(_) => Err(refuse("A change needs the token: log in first.")),
            None => Err(refuse(
                "The controls answer only requests from the machine that they run on. To reach them from elsewhere, set admin = \"token\" in the section [serve] of avocet.toml.",
            )),
        }
    }
}

/// The right to log in: from this machine, or from anywhere with [`Admin::Token`].
pub struct LoginAccess;

impl FromRequestParts<Arc<App>> for LoginAccess {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Response> {
        let credentials = Credentials::of(parts, &app.token);
        let near = credentials.here || app.settings.admin == Admin::Token;
        match near && credentials.is_same_origin() {
            true => Ok(Self),
            false => Err(pages::message(
                StatusCode::FORBIDDEN,
                "Only from this machine",
                "The controls answer only requests from the machine that they run on. To reach them from elsewhere, set admin = \"token\" in the section [serve] of avocet.toml.",
            )),
        }
    }
}

/// The right to change the crawl by the API, with the token in the request.
pub struct TokenAccess;

impl FromRequestParts<Arc<App>> for TokenAccess {
    type Rejection = crate::api::ApiRefusal;

    async fn from_request_parts(
        parts: &mut Parts,
        app: &Arc<App>,
    ) -> Result<Self, Self::Rejection> {
        use crate::api::ApiRefusal;
        let credentials = Credentials::of(parts, &app.token);
        let refuse = |reason, text: &str| ApiRefusal::new(StatusCode::FORBIDDEN, reason, text);
        if !credentials.here && app.settings.admin == Admin::Loopback {
            return Err(refuse(
                "loopback",
                "the controls answer only requests from the machine that they run on: set admin = \"token\" in the section [serve] of avocet.toml to reach them from elsewhere",
            ));
        }
        if !credentials.is_same_origin() {
            return Err(refuse(
                "origin",
                "this request came from a page of another site",
            ));
        }
        match credentials.bearer {
            true => Ok(Self),
            false => Err(ApiRefusal::new(
                StatusCode::UNAUTHORIZED,
                "token",
                "send the token of the store, which is in its file TOKEN: Authorization: Bearer TOKEN",
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use axum::http::Request;

    use super::*;
    use crate::request::client::Proxies;

    struct RequestCase {
        peer: &'static str,
        host: &'static str,
        headers: Vec<(&'static str, String)>,
    }

    fn rights(token: &OperatorToken, case: RequestCase) -> (Option<bool>, Option<bool>, bool) {
        let mut request = Request::builder()
            .uri("/dashboard")
            .header("host", case.host);
        for (name, value) in &case.headers {
            request = request.header(*name, value);
        }
        let (mut parts, ()) = request.body(()).unwrap().into_parts();
        let proxies = Proxies::at(&["127.0.0.3".parse().unwrap()]);
        let peer: SocketAddr = case.peer.parse().unwrap();
        let client = proxies.client(peer.ip(), &parts.headers);
        parts.extensions.insert(client);
        let credentials = Credentials::of(&parts, token);
        let operator = |admin| {
            let access = credentials.view_access(admin)?;
            Some(access.operator.is_some())
        };
        (
            operator(Admin::Loopback),
            operator(Admin::Token),
            credentials.is_same_origin(),
        )
    }

    #[test]
    fn rights_depend_on_address_host_token_and_origin() {
        let text = "0123456789abcdef01234567";
        let token = OperatorToken::new(text.into());
        let bearer = || ("authorization", format!("Bearer {text}"));
        let cookie = |value: String| ("cookie", format!("a=b; {COOKIE}={value}; c"));
        let check = |peer, host, headers, expected| {
            let shown = format!("{peer} {host} {headers:?}");
            let case = RequestCase {
                peer,
                host,
                headers,
            };
            assert_eq!(rights(&token, case), expected, "{shown}");
        };
        let (here, far) = ("127.0.0.1:5", "10.0.0.9:5");
        // What a request may do with `Admin::Loopback` and with `Admin::Token` (view: false,
        // change: true), and whether it is of the same origin.
        let views = (Some(false), Some(false), true);
        let changes = (Some(true), Some(true), true);
        let by_token = (None, Some(true), true);
        let nothing = (None, None, true);
        let session = || token.sessions.begin(Instant::now()).unwrap();
        check(here, "localhost:8321", vec![], views);
        check(here, "127.0.0.1", vec![bearer()], changes);
        check(here, "[::1]:1", vec![cookie(session())], changes);
        check(here, "[::1]:1", vec![cookie(token.form(None))], views);
        check("[::ffff:127.0.0.1]:5", "localhost", vec![], views);
        // A foreign name that resolves to loopback (DNS rebinding), and a proxy on this machine.
        check(here, "evil.example", vec![], nothing);
        check(here, "search.example", vec![bearer()], by_token);
        check(far, "localhost", vec![], nothing);
        // A trusted proxy on this machine, for itself and for another client.
        let proxy = "127.0.0.3:5";
        let forwarded = |from: &str| vec![("x-forwarded-for", from.to_owned())];
        check(proxy, "localhost", vec![], views);
        for from in ["1.2.3.4", "127.0.0.1"] {
            check(proxy, "localhost", forwarded(from), nothing);
        }
        check(here, "localhost", forwarded("1.2.3.4"), views);
        check(far, "10.0.0.1:8321", vec![bearer()], by_token);
        let from = |origin: &str| vec![("origin", origin.to_owned())];
        let site = |site: &str| vec![("sec-fetch-site", site.to_owned())];
        let (ours, seen) = (views, (Some(false), Some(false), false));
        check(here, "localhost:8321", from("http://localhost:8321"), ours);
        check(here, "localhost:8321", from("http://localhost:9"), seen);
        check(here, "localhost:8321", from("http://evil.example"), seen);
        check(here, "localhost:8321", from("null"), seen);
        check(here, "localhost:8321", site("same-origin"), ours);
        let hidden = |from: &str| [site(from), vec![("origin", "null".to_owned())]].concat();
        check(here, "localhost:8321", hidden("same-origin"), ours);
        check(here, "localhost:8321", hidden("cross-site"), seen);
        check(here, "localhost:8321", hidden("none"), seen);
        check(here, "localhost:8321", site("cross-site"), seen);
        check(here, "localhost:8321", site("same-site"), seen);
    }
}
