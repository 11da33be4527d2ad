//! Lies about what changed (rows 67 to 69).
//!
//! **Invariant:** the count in a text that changes is the number of earlier requests, so a test knows
//! which visit a stored copy comes from.

use super::script::{Asked, Script, page};

const HTML: &str = "200 OK\r\nContent-Type: text/html; charset=utf-8";

pub(super) fn future_modified(_: &Asked<'_>) -> Script {
    let dates =
        "Last-Modified: Fri, 01 Jan 2999 00:00:00 GMT\r\nExpires: Fri, 31 Dec 9999 23:59:59 GMT";
    Script::framed(
        &format!("{HTML}\r\n{dates}"),
        page("tomorrow", "written next millennium"),
    )
}

pub(super) fn ancient_modified(_: &Asked<'_>) -> Script {
    let dates = "Last-Modified: Mon, 01 Jan 1900 00:00:00 GMT\r\nExpires: never";
    Script::framed(
        &format!("{HTML}\r\n{dates}"),
        page("yesterday", "older than the web"),
    )
}

/// Not modified, says the tag; another text, says the page.
pub(super) fn etag_never_changes(asked: &Asked<'_>) -> Script {
    if asked.header("if-none-match").is_some() {
        return Script::raw("HTTP/1.1 304 Not Modified\r\nETag: \"same\"\r\n\r\n");
    }
    let body = page("changes", &format!("visit {}", asked.earlier));
    Script::framed(&format!("{HTML}\r\nETag: \"same\""), body)
}

/// A new tag each time; always the same text.
pub(super) fn etag_always_changes(asked: &Asked<'_>) -> Script {
    let tag = asked.earlier;
    Script::framed(
        &format!("{HTML}\r\nETag: \"{tag}\""),
        page("constant", "always the same"),
    )
}

/// The markup changes each time and the text never.
pub(super) fn nonce(asked: &Asked<'_>) -> Script {
    let n = asked.earlier;
    let noise = format!("<script nonce=\"{n}\">var t={n}</script><!-- {n} --><p data-t=\"{n}\">");
    Script::html(page("nonce", &format!("{noise}always the same")))
}

/// One text for browsers and another for everyone else.
pub(super) fn cloaked(asked: &Asked<'_>) -> Script {
    let browser = asked
        .header("user-agent")
        .is_some_and(|agent| agent.contains("Mozilla"));
    Script::html(page(
        "cloaked",
        if browser {
            "for people"
        } else {
            "for crawlers"
        },
    ))
}
