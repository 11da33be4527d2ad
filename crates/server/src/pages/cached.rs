//! The copy of a page as the archive keeps it: a frame of ours that says when it was fetched, and the copy within.
//!
//! **Invariant:** nothing of a copy runs, and nothing is fetched for it. The copy is served alone, under a policy that
//! puts it into a sandbox with an origin of its own, without scripts, forms, pop-ups or frames, and with no
//! resources but inline styles and pictures within the page. The frame can show nothing but this server.

use std::sync::Arc;

use anyhow::Result;
use askama::Template;
use axum::extract::{RawQuery, State};
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use jiff::Timestamp;
use page::PageUrl;
use page::charset;
use page::media::{self, Media};

use super::search::failed;
use super::{assets, message_of, named_url, show};
use crate::App;
use crate::app::Brand;
use crate::app::is_web;
use crate::wording;
use node::handle::{ArchivedCopy, CopyLookup};

/// What the frame may do: what every page of ours may, and show the copy.
const FRAME: &str = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; \
    form-action 'self'; base-uri 'none'; frame-ancestors 'none'; frame-src 'self'";

/// What a copy may do.
const COPY: [(HeaderName, &str); 4] = [
    (
        header::CONTENT_SECURITY_POLICY,
        "sandbox; default-src 'none'; img-src data:; style-src 'unsafe-inline'; form-action 'none'; base-uri 'none'; \
         frame-ancestors 'self'",
    ),
    (header::X_FRAME_OPTIONS, "SAMEORIGIN"),
    (header::CACHE_CONTROL, "no-store"),
    // Looking up names of links is no fetch to a policy, and is not wanted either.
    (HeaderName::from_static("x-dns-prefetch-control"), "off"),
];

/// Elements that make a browser connect elsewhere without a fetch (`preconnect`), go elsewhere (`refresh`), or read
/// links against another address.
const REMOVED: [&str; 3] = ["link", "meta", "base"];

#[derive(Template)]
#[template(path = "cached.html")]
struct CachedPage<'a> {
    brand: &'a Brand,
    url: String,
    /// Where the page is now; `None`: it is no page of the web.
    href: Option<String>,
    time: String,
    /// The same, for people.
    shown_time: String,
    ago: String,
    copy: String,
}

/// A copy.
struct Copy {
    /// Its URL, in normal form.
    url: String,
    fetched: Timestamp,
    /// The media type that it is served as.
    kind: &'static str,
    text: String,
}

/// Why there is no copy to show.
enum NoCopy {
    Unknown,
    Elsewhere,
    Forbidden,
    NoText,
}

/// The frame.
pub async fn page(State(app): State<Arc<App>>, RawQuery(raw): RawQuery) -> Response {
    let copy = match read(&app, raw.as_deref()).await {
        Ok(copy) => copy,
        Err(refused) => return refused,
    };
    let start = "/cached/copy?";
    let mut address = form_urlencoded::Serializer::for_suffix(start.to_owned(), start.len());
    address.append_pair("url", &copy.url);
    let shown = CachedPage {
        brand: &app.brand,
        href: is_web(&copy.url).then(|| copy.url.clone()),
        time: copy.fetched.to_string(),
        shown_time: copy.fetched.strftime("%Y-%m-%d %H:%M UTC").to_string(),
        ago: wording::ago(copy.fetched, Timestamp::now()),
        copy: address.finish(),
        url: copy.url,
    };
    let policy = [(header::CONTENT_SECURITY_POLICY, FRAME)];
    (policy, show(&shown)).into_response()
}

/// The copy alone.
pub async fn copy(State(app): State<Arc<App>>, RawQuery(raw): RawQuery) -> Response {
    let copy = match read(&app, raw.as_deref()).await {
        Ok(copy) => copy,
        Err(refused) => return refused,
    };
    let mut response = ([(header::CONTENT_TYPE, copy.kind)], copy.text).into_response();
    for (name, value) in COPY {
        let value = HeaderValue::from_static(value);
        response.headers_mut().insert(name, value);
    }
    response
}

async fn read(app: &Arc<App>, raw: Option<&str>) -> Result<Copy, Response> {
    let reader = app.clone();
    let url = named_url(raw);
    let found = app.readers.read(move || copy_of(&reader, &url)).await;
    let why = match found {
        Ok(Ok(copy)) => return Ok(copy),
        Ok(Err(why)) => why,
        Err(error) => return Err(failed(app, &error)),
    };
    let (status, text) = match why {
        NoCopy::Unknown => (
            StatusCode::NOT_FOUND,
            "No copy of a page of this URL is kept here.",
        ),
        NoCopy::Elsewhere => (
            StatusCode::SERVICE_UNAVAILABLE,
            "Another process uses the store now, so that copies cannot be read. Try again later.",
        ),
        NoCopy::Forbidden => (
            StatusCode::FORBIDDEN,
            "The page asks that no copy of it is shown (noarchive).",
        ),
        NoCopy::NoText => (
            StatusCode::NOT_FOUND,
            "The copy is neither HTML nor text, and is not shown.",
        ),
    };
    Err(message_of(app, status, "No copy to show", text))
}

fn copy_of(app: &App, url: &str) -> Result<Result<Copy, NoCopy>> {
    let Ok(url) = PageUrl::parse(url) else {
        return Ok(Err(NoCopy::Unknown));
    };
    let ArchivedCopy {
        url,
        answer,
        fetched,
    } = match app.node.copy(&url)? {
        CopyLookup::Found(copy) => *copy,
        CopyLookup::NotArchived => return Ok(Err(NoCopy::Unknown)),
        CopyLookup::NotVisited => {
            let known = app.index.kept(url.id())?.is_some();
            return Ok(Err(match known {
                true => NoCopy::Elsewhere,
                false => NoCopy::Unknown,
            }));
        }
    };
    let declared = answer.content_type.as_deref();
    let (text, _) = charset::decode(&answer.content, declared);
    let (kind, text) = match media::kind(declared, &answer.content) {
        Media::Html => {
            let read = page::read(&text, &url, &page::Limits::default());
            if read.robots.noarchive {
                return Ok(Err(NoCopy::Forbidden));
            }
            ("text/html; charset=utf-8", harmless(&text))
        }
        Media::Text => ("text/plain; charset=utf-8", text.into_owned()),
        _ => return Ok(Err(NoCopy::NoText)),
    };
    if answer.directives.noarchive {
        return Ok(Err(NoCopy::Forbidden));
    }
    Ok(Ok(Copy {
        url: url.as_str().to_owned(),
        fetched,
        kind,
        text,
    }))
}

/// Renames the elements of [`REMOVED`], so that browsers do not know them. It looks at text and not at markup: where it
/// changes a comment or an attribute, nothing is lost that a reader sees.
fn harmless(html: &str) -> String {
    let mut text = String::with_capacity(html.len() + 64);
    let mut rest = html;
    while let Some(at) = rest.find('<') {
        let (before, after) = rest.split_at(at + 1);
        text += before;
        let removed = REMOVED.iter().any(|name| {
            let start = after.get(..name.len());
            start.is_some_and(|start| start.eq_ignore_ascii_case(name))
        });
        text += if removed { "x-" } else { "" };
        rest = after;
    }
    text + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_that_connect_elsewhere_are_renamed() {
        for (html, expected) in [
            ("<p>a</p>", "<p>a</p>"),
            (
                "<LINK rel=preconnect href=//e.org>",
                "<x-LINK rel=preconnect href=//e.org>",
            ),
            ("<meta http-equiv=refresh>", "<x-meta http-equiv=refresh>"),
            ("<base\nhref=x>é<", "<x-base\nhref=x>é<"),
            ("<<base>", "<<x-base>"),
            ("<é", "<é"),
            ("", ""),
        ] {
            assert_eq!(harmless(html), expected);
        }
    }
}
