//! Cached copies: a page that says when the copy was fetched, with the archived copy in a frame.
//!
//! **Invariant:** no script of a copy runs, and the browser fetches nothing for it. The copy is
//! served under a Content-Security-Policy that puts it into a sandbox with its own origin. The
//! policy allows no scripts, forms, pop-ups or frames, and no resources except inline styles and
//! `data:` pictures. The frame can show only this server.

use std::sync::Arc;

use anyhow::Result;
use askama::Template;
use axum::extract::{RawQuery, State};
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use crawl::AnswerText;
use jiff::Timestamp;
use page::PageUrl;

use super::search::failed;
use super::{POLICY, assets, at_owner, message_of, named_url, show};
use crate::app::{Brand, is_web};
use crate::{App, wording};
use node::handle::{ArchivedCopy, CopyLookup};

/// The headers of a copy.
const COPY: [(HeaderName, &str); 4] = [
    (
        header::CONTENT_SECURITY_POLICY,
        "sandbox; default-src 'none'; img-src data:; style-src 'unsafe-inline'; form-action 'none'; base-uri 'none'; \
         frame-ancestors 'self'",
    ),
    (header::X_FRAME_OPTIONS, "SAMEORIGIN"),
    (header::CACHE_CONTROL, "no-store"),
    // A Content-Security-Policy does not prevent DNS lookups for links.
    (HeaderName::from_static("x-dns-prefetch-control"), "off"),
];

/// Elements that a copy must not have: `link` can connect to other hosts (`preconnect`), `meta` can
/// redirect (`refresh`), and `base` changes the target of links.
const REMOVED: [&str; 3] = ["link", "meta", "base"];

#[derive(Template)]
#[template(path = "cached.html")]
struct CachedPage<'a> {
    brand: &'a Brand,
    url: String,
    /// The link to the live page; `None` if the URL is not `http` or `https`.
    href: Option<String>,
    time: String,
    /// The same time, as shown to people.
    shown_time: String,
    ago: String,
    /// The format in capital letters, if the page is a document.
    format: Option<String>,
    copy: String,
}

/// A copy that can be shown.
struct Copy {
    /// The normalized URL.
    url: String,
    fetched: Timestamp,
    /// The format, if the page is a document.
    format: Option<&'static str>,
    /// The media type that the copy is served as.
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

/// Answers with the outer page.
pub async fn page(State(app): State<Arc<App>>, RawQuery(raw): RawQuery) -> Response {
    let url = named_url(raw.as_deref());
    if let Some(elsewhere) = at_owner(&app, &url, "/cached", raw.as_deref()) {
        return elsewhere;
    }
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
        format: copy.format.map(str::to_uppercase),
        copy: address.finish(),
        url: copy.url,
    };
    let policy = format!("{POLICY}; frame-src 'self'");
    let policy = [(header::CONTENT_SECURITY_POLICY, policy)];
    (policy, show(&shown)).into_response()
}

/// Answers with the copy alone, for the frame.
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
    let url = named_url(raw);
    let found = app.read(move |app| copy_of(app, &url)).await;
    let why = match found {
        Ok(Ok(copy)) => return Ok(copy),
        Ok(Err(why)) => why,
        Err(error) => return Err(failed(app, &error)),
    };
    let (status, text) = match why {
        NoCopy::Unknown => (
            StatusCode::NOT_FOUND,
            "The archive has no copy of a page with this URL.",
        ),
        NoCopy::Elsewhere => (
            StatusCode::SERVICE_UNAVAILABLE,
            "Another process uses the store now, so copies cannot be read. Try again later.",
        ),
        NoCopy::Forbidden => (
            StatusCode::FORBIDDEN,
            "The page asks not to show copies of it (noarchive).",
        ),
        NoCopy::NoText => (
            StatusCode::NOT_FOUND,
            "The copy is neither HTML, text nor a document that can be read, so it cannot be shown.",
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
    let format = answer.document_format();
    let (kind, text) = match answer.text() {
        Some(AnswerText::Html(text)) => {
            let read = page::read(&text, &url, &page::ReadLimits::default());
            if read.robots.noarchive {
                return Ok(Err(NoCopy::Forbidden));
            }
            ("text/html; charset=utf-8", defused(&text))
        }
        Some(AnswerText::Plain(text)) => ("text/plain; charset=utf-8", text.into_owned()),
        None => return Ok(Err(NoCopy::NoText)),
    };
    if answer.directives.noarchive {
        return Ok(Err(NoCopy::Forbidden));
    }
    Ok(Ok(Copy {
        url: url.as_str().to_owned(),
        fetched,
        format,
        kind,
        text,
    }))
}

/// Renames the elements of [`REMOVED`], so that browsers ignore them.
///
/// It searches the text without parsing it. So it also changes such text in comments, attributes
/// and scripts.
fn defused(html: &str) -> String {
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
            assert_eq!(defused(html), expected);
        }
    }
}
