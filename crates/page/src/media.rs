//! Determines the kind of a document from its declared type and its first bytes.
//!
//! A conservative subset of the WHATWG MIME Sniffing standard. A body declared as HTML is parsed
//! as HTML only if it is text (hostile-web.md, rows 4 and 41). A ZIP file is a document if the
//! server declares it as one, or if it begins with the entry `mimetype` of OpenDocument or EPUB.
//!
//! **Invariant:** the result depends only on the declared type and the first 1,024 bytes.

use crate::scan::{ends_with, starts_with};

/// The kind of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Media {
    /// An HTML page.
    Html,
    /// Plain text.
    Text,
    /// RSS, Atom or a JSON feed.
    Feed,
    /// A sitemap, or an index of them.
    Sitemap,
    /// Any other XML, judged by its beginning.
    Xml,
    /// A PDF, Office, OpenDocument or EPUB file.
    Document,
    /// Anything else: images, archives, programs, styles, JSON.
    Other,
}

impl Media {
    /// Returns whether the body is parsed for text and links.
    pub fn is_page(self) -> bool {
        matches!(self, Self::Html | Self::Text)
    }
}

/// Bytes examined. The standard's resource header has 1,445 bytes, but the signatures need far
/// fewer.
const HEADER: usize = 1_024;

/// Returns the media type of a `Content-Type` without its parameters.
fn essence(content_type: Option<&str>) -> &str {
    content_type
        .map_or("", |value| value.split(';').next().unwrap_or_default())
        .trim()
}

/// Returns whether a declared type says nothing about the content.
fn is_vague(declared: &str) -> bool {
    ["", "application/octet-stream", "unknown/unknown", "*/*"]
        .into_iter()
        .any(|name| declared.eq_ignore_ascii_case(name))
}

/// Returns whether the [kind] of a body is [`Media::Document`]. This is faster for all others.
pub fn is_document(content_type: Option<&str>, body: &[u8]) -> bool {
    let header = &body[..body.len().min(HEADER)];
    let declared = essence(content_type);
    if header.starts_with(ZIP) {
        let is = |name: &str| declared.eq_ignore_ascii_case(name);
        return DOCUMENTS.into_iter().any(is) || is_marked_document(header);
    }
    // Readers of PDF accept other bytes before the signature.
    header.starts_with(b"%PDF-")
        || declared.eq_ignore_ascii_case("application/pdf")
        || is_vague(declared) && memchr::memmem::find(header, b"%PDF-").is_some()
}

/// Returns the kind of a body that the server declares as `content_type`.
pub fn kind(content_type: Option<&str>, body: &[u8]) -> Media {
    let header = &body[..body.len().min(HEADER)];
    let declared = essence(content_type);
    let is = |name: &str| declared.eq_ignore_ascii_case(name);
    if is_document(content_type, body) {
        return Media::Document;
    }
    let may_have_zeros =
        content_type.is_some_and(|value| value.to_ascii_lowercase().contains("utf-16"));
    if has_signature(header) || !may_have_zeros && is_binary(header) {
        return Media::Other;
    }
    // Servers often declare feeds and sitemaps as HTML or plain text. The root element of a
    // listing never begins a page or a plain text.
    if (is("text/html") || is("text/plain"))
        && let Some(listing) = of_root(first_element(header))
    {
        return listing;
    }
    if is("text/html") || is("application/xhtml+xml") {
        return Media::Html;
    }
    if [
        "application/rss+xml",
        "application/atom+xml",
        "application/rdf+xml",
        "application/feed+json",
    ]
    .into_iter()
    .any(is)
    {
        return Media::Feed;
    }
    if is("image/svg+xml") {
        return Media::Other;
    }
    if is("text/xml") || is("application/xml") || ends_with(declared, "+xml") {
        return of_xml(header);
    }
    if is("text/plain") || is("text/markdown") || is("text/x-markdown") {
        return Media::Text;
    }
    if is_vague(declared) {
        return of_text(header);
    }
    Media::Other
}

/// The signature of a ZIP file.
const ZIP: &[u8] = b"PK\x03\x04";

/// The media types of documents that are ZIP files.
const DOCUMENTS: [&str; 7] = [
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "application/vnd.oasis.opendocument.text",
    "application/vnd.oasis.opendocument.presentation",
    "application/vnd.oasis.opendocument.spreadsheet",
    "application/epub+zip",
];

/// Returns whether the first entry of a ZIP file is the uncompressed file `mimetype` with a type of
/// [`DOCUMENTS`], as OpenDocument and EPUB demand.
fn is_marked_document(header: &[u8]) -> bool {
    const NAME: &[u8] = b"mimetype";
    const NAME_AT: usize = 30;
    let number = |at: usize| {
        let bytes = header.get(at..at + 2)?;
        Some(usize::from(u16::from_le_bytes([bytes[0], bytes[1]])))
    };
    let (Some(method), Some(name), Some(extra)) = (number(8), number(26), number(28)) else {
        return false;
    };
    let after = &header[NAME_AT.min(header.len())..];
    let data = NAME_AT + NAME.len() + extra;
    method == 0
        && name == NAME.len()
        && after.starts_with(NAME)
        && header.get(data..).is_some_and(|content| {
            let is_type = |kind: &str| {
                let next = content.get(kind.len());
                // The signature of the next entry follows, or of a data descriptor.
                content.starts_with(kind.as_bytes())
                    && next.is_none_or(|byte| byte.is_ascii_whitespace() || *byte == b'P')
            };
            DOCUMENTS.into_iter().any(is_type)
        })
}

/// Returns the kind of a body without a usable declared type that is not binary.
fn of_text(header: &[u8]) -> Media {
    let start = trim_start(header);
    if starts_with(start, "<?xml") || of_root(first_element(header)).is_some() {
        return of_xml(header);
    }
    let mut tags = HTML_STARTS.split(',');
    match tags.any(|tag| starts_with(start, tag) && ends_name(start.get(tag.len()))) {
        true => Media::Html,
        false => Media::Text,
    }
}

/// The tags by which the MIME Sniffing standard recognizes HTML (7.1).
const HTML_STARTS: &str = "<!doctype html,<html,<head,<script,<iframe,<h1,<div,<font,<table,<a,\
    <style,<title,<b,<body,<br,<p,<!--";

fn of_xml(header: &[u8]) -> Media {
    let root = first_element(header);
    match of_root(root) {
        Some(listing) => listing,
        None if name(root).eq_ignore_ascii_case(b"html") => Media::Html,
        None => Media::Xml,
    }
}

/// Returns the kind of listing with this root element, with or without a namespace prefix.
fn of_root(root: &[u8]) -> Option<Media> {
    let name = name(root);
    let local = name.rsplit(|&byte| byte == b':').next().unwrap_or(name);
    match local.to_ascii_lowercase().as_slice() {
        b"rss" | b"feed" | b"rdf" => Some(Media::Feed),
        b"urlset" | b"sitemapindex" => Some(Media::Sitemap),
        _ => None,
    }
}

/// Returns the name at the beginning of an element.
fn name(element: &[u8]) -> &[u8] {
    let end = element.iter().position(|byte| ends_name(Some(byte)));
    &element[..end.unwrap_or(element.len())]
}

/// Returns what follows the `<` of the first element, after declarations and comments.
fn first_element(header: &[u8]) -> &[u8] {
    let mut rest = trim_start(header);
    while let Some(after) = rest.strip_prefix(b"<") {
        if !matches!(after.first(), Some(b'?' | b'!')) {
            return after;
        }
        let end: &[u8] = if after.starts_with(b"!--") {
            b"-->"
        } else {
            b">"
        };
        let Some(found) = memchr::memmem::find(after, end) else {
            return b"";
        };
        rest = trim_start(&after[found + end.len()..]);
    }
    b""
}

/// Signatures of formats that are never text.
const SIGNATURES: [&[u8]; 22] = [
    b"\x89PNG\r\n\x1a\n",
    b"GIF87a",
    b"GIF89a",
    b"\xff\xd8\xff",
    b"BM\0",
    b"\0\0\x01\0",
    b"PK\x03\x04",
    b"PK\x05\x06",
    b"\x1f\x8b\x08",
    b"BZh",
    b"\xfd7zXZ\0",
    b"7z\xbc\xaf\x27\x1c",
    b"\x28\xb5\x2f\xfd",
    b"Rar!\x1a\x07",
    b"\x7fELF",
    b"MZ\x90",
    b"OggS\0",
    b"ID3",
    b"fLaC",
    b"wOFF",
    b"wOF2",
    b"\0asm",
];

fn has_signature(header: &[u8]) -> bool {
    let riff = header.starts_with(b"RIFF")
        && header
            .get(8..12)
            .is_some_and(|kind| matches!(kind, b"WEBP" | b"WAVE" | b"AVI "));
    let mp4 = header.get(4..8) == Some(b"ftyp");
    riff || mp4
        || SIGNATURES
            .iter()
            .any(|signature| header.starts_with(signature))
}

/// Returns whether more than one byte in 32 is a "binary data byte" (MIME Sniffing, 3).
///
/// Compressed or random data has one in ten. A page with a stray NUL is still a page. A body with
/// a UTF-16 byte order mark is never binary.
fn is_binary(header: &[u8]) -> bool {
    let utf_16 = header.starts_with(b"\xff\xfe") || header.starts_with(b"\xfe\xff");
    let binary = |byte: &&u8| matches!(byte, 0..=0x08 | 0x0b | 0x0e..=0x1a | 0x1c..=0x1f);
    !utf_16 && header.iter().filter(binary).count() * 32 > header.len()
}

fn trim_start(header: &[u8]) -> &[u8] {
    header
        .strip_prefix(b"\xef\xbb\xbf")
        .unwrap_or(header)
        .trim_ascii_start()
}

/// Returns whether a name ends before this byte.
fn ends_name(next: Option<&u8>) -> bool {
    next.is_none_or(|byte| byte.is_ascii_whitespace() || matches!(byte, b'>' | b'/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_declared_type_and_the_first_bytes_decide_the_kind() {
        let check = |declared: &str, body: &[u8], expected: Media| {
            let content_type = (!declared.is_empty()).then_some(declared);
            assert_eq!(
                kind(content_type, body),
                expected,
                "{declared:?} {:?}",
                String::from_utf8_lossy(body)
            );
        };
        check("text/html", b"<p>", Media::Html);
        check("TEXT/HTML; charset=utf-8", b"hello", Media::Html);
        check("text/html", b"", Media::Html);
        check("application/xhtml+xml", b"<html/>", Media::Html);
        check("text/plain", b"<html>", Media::Text); // Browsers do the same.
        check("text/markdown", b"# a", Media::Text);
        check("application/rss+xml", b"<rss/>", Media::Feed);
        check(
            "text/xml",
            b"<?xml version='1.0'?><!-- a > b --><rss version='2.0'>",
            Media::Feed,
        );
        check(
            "application/xml",
            b"<?xml version='1.0'?><feed xmlns='x'>",
            Media::Feed,
        );
        check("application/xml", b"<urlset>", Media::Sitemap);
        check(
            "text/xml",
            b"<?xml version='1.0'?><sm:urlset>",
            Media::Sitemap,
        );
        check("text/xml", b"<sitemapindex/>", Media::Sitemap);
        check("application/xml", b"<opml>", Media::Xml);
        // Listings are often declared with a wrong type.
        check("text/html", b"<?xml version='1.0'?>\n<rss>", Media::Feed);
        check("text/html", b"<!doctype html><feed>", Media::Feed);
        check("text/html", b"<!doctype html><html><feed>", Media::Html);
        check("text/html", b"<p><rss>", Media::Html);
        check(
            "text/plain",
            b"<?xml version='1.0'?><urlset>",
            Media::Sitemap,
        );
        check("text/plain", b"see <urlset>", Media::Text);
        check("", b"<urlset>", Media::Sitemap);
        check("application/xml", b"<feedback>", Media::Xml);
        check("text/xml", b"<!DOCTYPE html><html>", Media::Html);
        check("image/svg+xml", b"<svg>", Media::Other);
        check("application/pdf", b"junk", Media::Document);
        // The signature wins over the declared type.
        check("text/html", b"%PDF-1.7\n", Media::Document);
        check("", b"\x0a\x0ajunk %PDF-1.7\n", Media::Document);
        check("text/html", b"<p>A file begins with %PDF-1.7", Media::Html);
        check("text/html", b"\x89PNG\r\n\x1a\n<html>", Media::Other);
        check("text/html", b"GIF89a<script>", Media::Other);
        check("text/html", b"PK\x03\x04", Media::Other);
        check("text/html", b"\0\0\0\x18ftypmp42", Media::Other);
        check("image/png", b"<html>", Media::Other);
        check("application/json", b"{}", Media::Other);
        check("text/css", b"a{}", Media::Other);
        // Without a declared type, the bytes decide.
        check("", b"  <!DOCTYPE HTML><p>", Media::Html);
        check("", b"\xef\xbb\xbf<html>", Media::Html);
        check("", b"<abbr>", Media::Text);
        check("", b"hello", Media::Text);
        check("", b"<?xml version='1.0'?><rss>", Media::Feed);
        check("application/octet-stream", b"<html>", Media::Html);
        check("", b"\0\x01\x02\x03", Media::Other);
        // A few NUL bytes are tolerated; UTF-16 contains many.
        let mut page = b"<html>".repeat(20);
        page[30] = 0;
        check("text/html", &page, Media::Html);
        check("text/html", b"\xff\xfe<\0p\0>\0", Media::Html);
        check("text/html; charset=UTF-16LE", b"<\0p\0>\0", Media::Html);
        check("text/html", b"<\0p\0>\0", Media::Other);
    }

    #[test]
    fn a_zip_file_is_a_document_if_it_is_declared_or_marked_as_one() {
        let entry = |name: &str, method: u8, extra: &str, content: &str| {
            let mut bytes = b"PK\x03\x04\x14\0\0\0".to_vec();
            bytes.extend([method, 0]);
            bytes.extend([0; 16]);
            bytes.extend([name.len() as u8, 0, extra.len() as u8, 0]);
            for text in [name, extra, content] {
                bytes.extend(text.as_bytes());
            }
            bytes
        };
        let epub = "application/epub+zip";
        let text = "application/vnd.oasis.opendocument.text";
        for (declared, body, expected) in [
            (None, entry("mimetype", 0, "", epub), Media::Document),
            (None, entry("mimetype", 0, "", text), Media::Document),
            (None, entry("mimetype", 0, "ab", text), Media::Document),
            (
                Some("text/html"),
                entry("mimetype", 0, "", text),
                Media::Document,
            ),
            (
                None,
                entry("mimetype", 0, "", &format!("{text}PK\x03\x04")),
                Media::Document,
            ),
            // A template or a drawing is another type.
            (
                None,
                entry("mimetype", 0, "", &format!("{text}-master")),
                Media::Other,
            ),
            (
                None,
                entry("mimetype", 0, "", "application/x-krita"),
                Media::Other,
            ),
            (None, entry("mimetype", 8, "", epub), Media::Other),
            (None, entry("metadata", 0, "", epub), Media::Other),
            (None, b"PK\x03\x04mimetype".to_vec(), Media::Other),
            (
                Some("application/zip"),
                entry("word/a", 8, "", ""),
                Media::Other,
            ),
            (
                Some(DOCUMENTS[0]),
                entry("word/a", 8, "", ""),
                Media::Document,
            ),
            (
                Some("Application/EPUB+zip; a=b"),
                entry("a", 8, "", ""),
                Media::Document,
            ),
            // An error page instead of the declared document.
            (Some(DOCUMENTS[0]), b"<html>".to_vec(), Media::Other),
        ] {
            let shown = String::from_utf8_lossy(&body).into_owned();
            assert_eq!(kind(declared, &body), expected, "{declared:?} {shown:?}");
        }
        let whole = entry("mimetype", 0, "", epub);
        for length in 0..whole.len() {
            assert_ne!(kind(None, &whole[..length]), Media::Document, "{length}");
        }
    }

    #[test]
    fn random_bytes_are_not_text() {
        // The high bytes of a linear congruential generator are distributed as evenly as
        // compressed data.
        let mut state = 1u64;
        let mut next = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 56) as u8
        };
        let body: Vec<u8> = (0..4_096).map(|_| next()).collect();
        assert_eq!(kind(Some("text/html"), &body), Media::Other);
    }
}
