//! Who is asking: may they look, may they change?
//!
//! Looking is for this machine, unless the user says that the token will do ([`Admin::Token`]); changing needs the token, always.
//! *This machine* is a client on loopback that asks under a name of loopback, and not through a trusted proxy.

use std::sync::Arc;
use std::time::Instant;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::response::{IntoResponse, Redirect, Response};

use crate::app::{Token, is_loopback};
use crate::request::client::Client;
use crate::request::without_port;
use crate::{App, pages};
use node::settings::Admin;

/// The name of the cookie.
pub const COOKIE: &str = "avocet-operator";

/// Somebody who may look.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Visitor {
    /// Who gave the token, and so may change something.
    pub operator: Option<Operator>,
}

/// What a request says of whoever makes it.
struct Bearing<'a> {
    here: bool,
    /// The session that its cookie names.
    session: Option<String>,
    bearer: bool,
    headers: &'a HeaderMap,
    name: &'a str,
}

impl<'a> Bearing<'a> {
    fn of(parts: &'a Parts, token: &Token) -> Self {
        let headers = &parts.headers;
        let name = authority(&parts.uri, headers).unwrap_or_default();
        let client = parts.extensions.get::<Client>();
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

    /// Whether they may look, and change.
    fn visitor(&self, admin: Admin) -> Option<Visitor> {
        let session = self.session.clone();
        let operator = (session.is_some() || self.bearer).then_some(Operator { session });
        let may_look = match admin {
            Admin::Loopback => self.here,
            Admin::Token => self.here || operator.is_some(),
        };
        may_look.then_some(Visitor { operator })
    }

    /// Whether the request was made by a page of ours, or by no page at all. A browser that says where a request comes from
    /// is believed: no page can make it say something else.
    fn is_ours(&self) -> bool {
        let text = |name: &str| {
            self.headers
                .get(name)
                .map(|text| text.to_str().unwrap_or("?"))
        };
        let site = text("sec-fetch-site");
        let same = site == Some("same-origin");
        let ours = |origin: &str| match origin.split_once("://") {
            Some((_, host)) => host.eq_ignore_ascii_case(self.name),
            // What a page says that tells nobody where it is.
            None => origin == "null" && same,
        };
        (same || site.is_none_or(|site| site == "none")) && text("origin").is_none_or(ours)
    }
}

/// The name and port that the client asked for.
fn authority<'a>(uri: &'a Uri, headers: &'a HeaderMap) -> Option<&'a str> {
    match uri.authority() {
        Some(authority) => Some(authority.as_str()),
        None => headers.get(header::HOST)?.to_str().ok(),
    }
}

impl FromRequestParts<Arc<App>> for Visitor {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Response> {
        let bearing = Bearing::of(parts, &app.token);
        let admin = app.settings.admin;
        match (bearing.visitor(admin), admin) {
            (Some(visitor), _) => Ok(visitor),
            (None, Admin::Token) => Err(Redirect::to("/dashboard/login").into_response()),
            (None, Admin::Loopback) => Err(pages::message(
                StatusCode::FORBIDDEN,
                "Not from here",
                "The dashboard answers to the machine that it runs on. To reach it from elsewhere, set admin = \"token\" in the section [serve] of avocet.toml.",
            )),
        }
    }
}

/// Somebody who gave the token, and fills in a form of ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Operator {
    /// The session that began when the token was given; `None`: the request itself has the token.
    pub session: Option<String>,
}

impl FromRequestParts<Arc<App>> for Operator {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Response> {
        let refuse = |text| pages::message(StatusCode::FORBIDDEN, "Not allowed", text);
        let bearing = Bearing::of(parts, &app.token);
        if !bearing.is_ours() {
            return Err(refuse("This came from a page of another site."));
        }
        match bearing.visitor(app.settings.admin) {
            Some(Visitor {
                operator: Some(operator),
            }) => Ok(operator),
            Some(_) => Err(refuse("Changing something needs the token: log in first.")),
            None => Err(refuse(
                "The controls answer to the machine that they run on.",
            )),
        }
    }
}

/// Somebody who may give the token: from here, or from anywhere if the user says so, on a page of ours.
pub struct Guest;

impl FromRequestParts<Arc<App>> for Guest {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Response> {
        let bearing = Bearing::of(parts, &app.token);
        let near = bearing.here || app.settings.admin == Admin::Token;
        match near && bearing.is_ours() {
            true => Ok(Self),
            false => Err(pages::message(
                StatusCode::FORBIDDEN,
                "Not from here",
                "The controls answer to the machine that they run on.",
            )),
        }
    }
}

/// A program that sends the token with its request.
pub struct Program;

impl FromRequestParts<Arc<App>> for Program {
    type Rejection = crate::api::Refusal;

    async fn from_request_parts(
        parts: &mut Parts,
        app: &Arc<App>,
    ) -> Result<Self, Self::Rejection> {
        use crate::api::Refusal;
        let bearing = Bearing::of(parts, &app.token);
        let refuse = |reason, text: &str| Refusal::new(StatusCode::FORBIDDEN, reason, text);
        if !bearing.here && app.settings.admin == Admin::Loopback {
            return Err(refuse(
                "loopback",
                "controls answer to the machine that they run on: [serve] admin = \"token\" in avocet.toml opens them",
            ));
        }
        if !bearing.is_ours() {
            return Err(refuse("origin", "this came from a page of another site"));
        }
        match bearing.bearer {
            true => Ok(Self),
            false => Err(Refusal::new(
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

    struct Case {
        peer: &'static str,
        host: &'static str,
        headers: Vec<(&'static str, String)>,
    }

    fn judged(token: &Token, case: Case) -> (Option<bool>, Option<bool>, bool) {
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
        let bearing = Bearing::of(&parts, token);
        let operator = |admin| {
            let visitor = bearing.visitor(admin)?;
            Some(visitor.operator.is_some())
        };
        (
            operator(Admin::Loopback),
            operator(Admin::Token),
            bearing.is_ours(),
        )
    }

    #[test]
    fn who_may_look_and_who_may_change() {
        let text = "0123456789abcdef01234567";
        let token = Token::new(text.into());
        let bearer = || ("authorization", format!("Bearer {text}"));
        let cookie = |value: String| ("cookie", format!("a=b; {COOKIE}={value}; c"));
        let check = |peer, host, headers, expected| {
            let told = format!("{peer} {host} {headers:?}");
            let case = Case {
                peer,
                host,
                headers,
            };
            assert_eq!(judged(&token, case), expected, "{told}");
        };
        let (here, far) = ("127.0.0.1:5", "10.0.0.9:5");
        check(
            here,
            "localhost:8321",
            vec![],
            (Some(false), Some(false), true),
        );
        check(
            here,
            "127.0.0.1",
            vec![bearer()],
            (Some(true), Some(true), true),
        );
        check(
            here,
            "[::1]:1",
            vec![cookie(token.sessions.begin(Instant::now()).unwrap())],
            (Some(true), Some(true), true),
        );
        check(
            here,
            "[::1]:1",
            vec![cookie(token.form(None))],
            (Some(false), Some(false), true),
        );
        check(
            "[::ffff:127.0.0.1]:5",
            "localhost",
            vec![],
            (Some(false), Some(false), true),
        );
        // A name that an attacker's DNS leads to loopback, and a proxy on this machine.
        check(here, "evil.example", vec![], (None, None, true));
        check(
            here,
            "search.example",
            vec![bearer()],
            (None, Some(true), true),
        );
        check(far, "localhost", vec![], (None, None, true));
        // A trusted proxy on this machine, for itself and for somebody else.
        let proxy = "127.0.0.3:5";
        let forwarded = |from: &str| vec![("x-forwarded-for", from.to_owned())];
        check(proxy, "localhost", vec![], (Some(false), Some(false), true));
        for from in ["1.2.3.4", "127.0.0.1"] {
            check(proxy, "localhost", forwarded(from), (None, None, true));
        }
        check(
            here,
            "localhost",
            forwarded("1.2.3.4"),
            (Some(false), Some(false), true),
        );
        check(
            far,
            "10.0.0.1:8321",
            vec![bearer()],
            (None, Some(true), true),
        );
        let from = |origin: &str| vec![("origin", origin.to_owned())];
        let site = |site: &str| vec![("sec-fetch-site", site.to_owned())];
        let seen = (Some(false), Some(false), false);
        let ours = (Some(false), Some(false), true);
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
