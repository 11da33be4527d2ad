//! Hostile markup and text (rows 30 to 42).
//!
//! **Invariant:** the HTTP framing is correct; only the content is hostile. Where a parser can get
//! past the hostile part, an honest link follows in most pages.

use std::fmt::Write;
use std::sync::LazyLock;

use bytes::Bytes;

use super::script::{SMUGGLED, Script, ScriptRequest, page};

/// A link after the hostile part. A parser that finds it has survived.
const AFTER: &str = "<a href=\"/honest/2\">after the lie</a>";

fn typed(content_type: &str, body: impl Into<Bytes>) -> Script {
    Script::framed(&format!("200 OK\r\nContent-Type: {content_type}"), body)
}

/// Fifty megabytes: more than the limit for a page.
pub(super) fn data_url(_: &ScriptRequest<'_>) -> Script {
    data_url_of(50_000_000)
}

/// Four megabytes: below the limit for a page, so it reaches the parser.
pub(super) fn data_url_within_limits(_: &ScriptRequest<'_>) -> Script {
    data_url_of(4_000_000)
}

fn data_url_of(size: usize) -> Script {
    let data = "A".repeat(size);
    Script::html(page(
        "data",
        &format!("<a href=\"data:text/plain;base64,{data}\">data</a>{AFTER}"),
    ))
}

pub(super) fn deep_nesting(_: &ScriptRequest<'_>) -> Script {
    Script::html(page("deep", &("<div>".repeat(64_000) + AFTER)))
}

pub(super) fn many_attributes(_: &ScriptRequest<'_>) -> Script {
    let mut tag = String::from("<p");
    for n in 0..64_000 {
        let _ = write!(tag, " a{n}=1");
    }
    Script::html(page("attributes", &(tag + ">" + AFTER)))
}

/// Formatting elements that are closed in the wrong order, which is expensive for tree builders
/// to repair.
pub(super) fn adoption(_: &ScriptRequest<'_>) -> Script {
    let body = "<a><b><i><p>".repeat(8_000) + &"</a></b></i>".repeat(8_000) + AFTER;
    Script::html(page("adoption", &body))
}

/// Text at forbidden places in tables, which tree builders move out of each table.
pub(super) fn foster_parents(_: &ScriptRequest<'_>) -> Script {
    Script::html(page(
        "tables",
        &("<table><b>text<table>".repeat(16_000) + AFTER),
    ))
}

pub(super) fn million_links(_: &ScriptRequest<'_>) -> Script {
    static PAGE: LazyLock<Bytes> = LazyLock::new(|| {
        let mut links = String::from(AFTER);
        for n in 0..1_000_000 {
            let _ = write!(links, "<a href=/nowhere/{n}>");
        }
        page("a million links", &links).into()
    });
    Script::html(PAGE.clone())
}

pub(super) fn huge_text(_: &ScriptRequest<'_>) -> Script {
    Script::html(page("huge text", &"shallow water ".repeat(570_000)))
}

/// A comment that is never closed.
pub(super) fn huge_comment(_: &ScriptRequest<'_>) -> Script {
    Script::html(page(
        "huge comment",
        &(String::from("<!-- ") + &"- >".repeat(2_600_000)),
    ))
}

/// A script that is never closed.
pub(super) fn huge_script(_: &ScriptRequest<'_>) -> Script {
    Script::html(page(
        "huge script",
        &(String::from("<script>") + &"a</b;".repeat(1_600_000)),
    ))
}

/// The third of these bases counts: it is the first that resolves to an HTTP URL.
pub(super) fn hostile_base(_: &ScriptRequest<'_>) -> Script {
    Script::html(page(
        "bases",
        "<base href=\"javascript:alert(1)\"><base href=\"file:///etc/\"><base href=\"/honest/\">\
         <a href=\"3\">honest</a><base href=\"http://10.0.0.1/\"><a href=\"4\">honest too</a>",
    ))
}

pub(super) fn refresh_itself(_: &ScriptRequest<'_>) -> Script {
    let refresh = "<meta http-equiv=\"refresh\" content=\"0; url=/refresh-self\">";
    Script::html(page("refresh", &format!("{refresh}{AFTER}")))
}

pub(super) fn refresh_private(_: &ScriptRequest<'_>) -> Script {
    let refresh = "<meta http-equiv=\"refresh\" content=\"0; url=http://169.254.169.254/\">";
    Script::html(page("refresh", &format!("{refresh}{AFTER}")))
}

pub(super) fn canonical_elsewhere(_: &ScriptRequest<'_>) -> Script {
    let canonical = "<link rel=\"canonical\" href=\"http://10.0.0.1/\">";
    Script::html(page("canonical", &format!("{canonical}{AFTER}")))
}

pub(super) fn bad_charset(_: &ScriptRequest<'_>) -> Script {
    typed(
        "text/html; charset=made-up-99",
        page("charset", &format!("caf\u{e9} {AFTER}")),
    )
}

/// Plain text as ASCII, but a heading if it is decoded as UTF-7, which the header states.
pub(super) fn utf_7(_: &ScriptRequest<'_>) -> Script {
    let body = format!("+ADw-h1+AD4-{SMUGGLED}-heading {AFTER}");
    typed("text/html; charset=utf-7", page("seven", &body))
}

/// UTF-16 in little-endian order, without byte order mark and without a header that states it.
pub(super) fn utf_16(_: &ScriptRequest<'_>) -> Script {
    let units = page("sixteen", &format!("two bytes each {AFTER}"));
    typed(
        "text/html",
        units
            .encode_utf16()
            .flat_map(u16::to_le_bytes)
            .collect::<Vec<u8>>(),
    )
}

/// The header states Latin-1, the page states UTF-8, and the bytes are a mixture.
pub(super) fn mixed_charset(_: &ScriptRequest<'_>) -> Script {
    let mut body = b"<meta charset=\"utf-8\"><title>mixed</title>caf\xc3\xa9 caf\xe9 ".to_vec();
    body.extend_from_slice(AFTER.as_bytes());
    typed("text/html; charset=iso-8859-1", body)
}

/// Lone surrogates, overlong forms and truncated sequences in the title.
pub(super) fn invalid_utf_8(_: &ScriptRequest<'_>) -> Script {
    let mut body = b"<title>\xed\xa0\x80 \xc0\xaf \xf0\x9f\x98 \xff end</title>".to_vec();
    body.extend_from_slice(AFTER.as_bytes());
    typed("text/html; charset=utf-8", body)
}

pub(super) fn bidi(_: &ScriptRequest<'_>) -> Script {
    let title = "safe\u{202e}gpj.exe\u{200b}\u{2066}\u{feff}";
    Script::html(page(title, &format!("\u{202e}reversed\u{202c} {AFTER}")))
}

/// One letter with a million combining accents.
pub(super) fn combining_marks(_: &ScriptRequest<'_>) -> Script {
    let marks = "\u{301}".repeat(1_000_000);
    Script::html(page(
        "a\u{301}\u{301}\u{301}\u{301}",
        &format!("a{marks} {AFTER}"),
    ))
}

pub(super) fn binary(_: &ScriptRequest<'_>) -> Script {
    let mut body = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0".to_vec();
    body.extend((0..=u8::MAX).cycle().take(100_000));
    typed("text/html", body)
}

/// The first bytes are those of an image, the rest is a page.
pub(super) fn polyglot(_: &ScriptRequest<'_>) -> Script {
    let mut body = b"GIF89a\x01\0\x01\0\0\0\0".to_vec();
    body.extend_from_slice(page(SMUGGLED, "<script>alert(1)</script>").as_bytes());
    typed("text/html", body)
}

/// Text for which backtracking regular expressions take exponential time.
pub(super) fn regex_hostile(_: &ScriptRequest<'_>) -> Script {
    let words = "a".repeat(100_000) + "! " + &"a@".repeat(50_000) + &" ".repeat(100_000);
    Script::html(page("regex", &format!("{words}x {AFTER}")))
}
