//! False statements about changes: dates, entity tags and cloaking (rows 67 to 69).
//!
//! **Invariant:** the number in a changing text is the number of earlier requests, so a test
//! knows which visit a stored copy comes from.

use super::script::{Script, ScriptRequest, page};

const HTML: &str = "200 OK\r\nContent-Type: text/html; charset=utf-8";

pub(super) fn future_modified(_: &ScriptRequest<'_>) -> Script {
    let dates =
        "Last-Modified: Fri, 01 Jan 2999 00:00:00 GMT\r\nExpires: Fri, 31 Dec 9999 23:59:59 GMT";
    Script::framed(
        &format!("{HTML}\r\n{dates}"),
        page("tomorrow", "written next millennium"),
    )
}

pub(super) fn ancient_modified(_: &ScriptRequest<'_>) -> Script {
    let dates = "Last-Modified: Mon, 01 Jan 1900 00:00:00 GMT\r\nExpires: never";
    Script::framed(
        &format!("{HTML}\r\n{dates}"),
        page("yesterday", "older than the web"),
    )
}

/// The entity tag never changes, but the text does.
pub(super) fn etag_never_changes(request: &ScriptRequest<'_>) -> Script {
    if request.header("if-none-match").is_some() {
        return Script::raw("HTTP/1.1 304 Not Modified\r\nETag: \"same\"\r\n\r\n");
    }
    let body = page("changes", &format!("visit {}", request.earlier));
    Script::framed(&format!("{HTML}\r\nETag: \"same\""), body)
}

/// The entity tag changes at every request, but the text does not.
pub(super) fn etag_always_changes(request: &ScriptRequest<'_>) -> Script {
    let tag = request.earlier;
    Script::framed(
        &format!("{HTML}\r\nETag: \"{tag}\""),
        page("constant", "always the same"),
    )
}

/// The markup changes at every request, but the text does not.
pub(super) fn nonce(request: &ScriptRequest<'_>) -> Script {
    let n = request.earlier;
    let noise = format!("<script nonce=\"{n}\">var t={n}</script><!-- {n} --><p data-t=\"{n}\">");
    Script::html(page("nonce", &format!("{noise}always the same")))
}

/// One text for browsers and another for all other clients.
pub(super) fn cloaked(request: &ScriptRequest<'_>) -> Script {
    let browser = request
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
