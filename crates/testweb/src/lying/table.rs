//! The table of all lies.
//!
//! **Invariant:** a request matches at most one lie. A path that ends in a slash matches itself and
//! everything below it, and no other lie is below it. Any other path matches only itself.

use super::script::{Script, ScriptRequest};
use super::{coding, framing, listing, markup, redirect, trap, validator};

/// One attack of the hostile server.
#[derive(Debug, Clone, Copy)]
pub struct Lie {
    /// The row of hostile-web.md.
    pub row: u8,
    /// Its path. A path that ends in a slash also answers for everything below it.
    pub path: &'static str,
    /// A short description.
    pub what: &'static str,
    pub(super) script: fn(&ScriptRequest<'_>) -> Script,
}

impl Lie {
    /// Returns the lie at a path.
    pub(super) fn at(path: &str) -> Option<&'static Self> {
        let route = path.split('?').next().unwrap_or_default();
        LIES.iter().find(|lie| match lie.path.ends_with('/') {
            true => path.starts_with(lie.path),
            false => route == lie.path,
        })
    }
}

const fn lie(
    row: u8,
    path: &'static str,
    what: &'static str,
    script: fn(&ScriptRequest<'_>) -> Script,
) -> Lie {
    Lie {
        row,
        path,
        what,
        script,
    }
}

/// All lies, by row. Rows 43 to 49 are in [`HostileRobots`](super::HostileRobots), row 59 is in
/// [`Farm`](super::Farm). Row 18 would require TLS, row 23 a name server.
#[rustfmt::skip]
pub static LIES: &[Lie] = &[
    lie(1, "/gzip-bomb", "a gigabyte of zeros in a megabyte of gzip", coding::gzip_bomb),
    lie(2, "/brotli-bomb", "a gigabyte of zeros in 13 KB of brotli", coding::brotli_bomb),
    lie(2, "/zstd-bomb", "a gigabyte of zeros in 32 KB of zstd", coding::zstd_bomb),
    lie(2, "/zstd-window", "a zstd frame that needs a window of 2 GB", coding::zstd_window),
    lie(3, "/layered", "gzip in gzip in gzip", coding::layered),
    lie(4, "/wrong-encoding", "says gzip and is not", coding::wrong_encoding),
    lie(4, "/unknown-encoding", "an unknown coding", coding::unknown_encoding),
    lie(5, "/endless", "chunks without end", framing::endless),
    lie(5, "/endless-length", "an exabyte by its length", framing::endless_length),
    lie(6, "/drip", "a body a byte at a time", framing::drip),
    lie(7, "/slow-headers", "a header a byte at a time", framing::slow_headers),
    lie(7, "/silence", "no answer at all", framing::silence),
    lie(8, "/header-flood", "ten thousand headers", framing::header_flood),
    lie(8, "/header-forever", "headers without end", framing::header_forever),
    lie(8, "/one-long-header", "a header of ten megabytes", framing::one_long_header),
    lie(9, "/obs-fold", "a folded header", framing::obs_fold),
    lie(9, "/nul-header", "a NUL in a header", framing::nul_header),
    lie(9, "/bare-cr", "a CR without LF in a header", framing::bare_cr),
    lie(10, "/two-lengths", "two lengths that differ", framing::two_lengths),
    lie(10, "/length-and-chunked", "a length, and chunks", framing::length_and_chunked),
    lie(11, "/bad-chunk", "a chunk size that is no number", framing::bad_chunk),
    lie(11, "/chunk-overflow", "a chunk size beyond 64 bits", framing::chunk_overflow),
    lie(11, "/endless-extension", "a chunk extension without end", framing::endless_chunk_extension),
    lie(11, "/endless-trailers", "trailers without end", framing::endless_trailers),
    lie(12, "/short-body", "less than its length", framing::short_body),
    lie(13, "/long-body", "more than its length", framing::long_body),
    lie(14, "/http-0-9", "a page without a status line", framing::http_0_9),
    lie(14, "/banner", "the banner of another protocol", framing::banner),
    lie(15, "/informational-flood", "a thousand times 100", framing::informational_flood),
    lie(15, "/endless-hints", "103 without end", framing::endless_hints),
    lie(16, "/204-with-body", "204 with a body", framing::no_content_with_body),
    lie(16, "/304-with-body", "304 with a body, unasked", framing::not_modified_with_body),
    lie(17, "/reset", "a reset in the body", framing::reset),
    lie(17, "/fin", "an end between two chunks", framing::fin),
    lie(19, "/early-bytes", "an answer to no request", framing::early_bytes),
    lie(19, "/close-lies", "says it closes and goes on", framing::close_lies),
    lie(19, "/keep-alive-lies", "says it stays and closes", framing::keep_alive_lies),
    lie(20, "/redirect-self", "a redirect to itself", redirect::to_itself),
    lie(20, "/redirect-loop/", "a loop of three", redirect::in_a_loop),
    lie(20, "/redirect-chain/", "a chain of sixteen", redirect::in_a_chain),
    lie(20, "/redirect-forever/", "a chain without end", redirect::for_ever),
    lie(20, "/redirect-nowhere", "a redirect without a target", redirect::nowhere),
    lie(21, "/redirect-file", "a redirect to a file", redirect::to_file),
    lie(21, "/redirect-data", "a redirect to data", redirect::to_data),
    lie(21, "/redirect-ftp", "a redirect to FTP", redirect::to_ftp),
    lie(21, "/redirect-s3", "a redirect to S3", redirect::to_s3),
    lie(22, "/redirect-private", "a redirect to a private address", redirect::to_private),
    lie(22, "/redirect-metadata", "a redirect to a cloud's metadata", redirect::to_metadata),
    lie(22, "/redirect-unique-local", "a redirect to a local IPv6 address", redirect::to_unique_local),
    lie(24, "/redirect-mapped", "a private address mapped to IPv6", redirect::to_mapped),
    lie(24, "/redirect-nat64", "a private address behind NAT64", redirect::to_nat64),
    lie(24, "/redirect-zero", "the address of this host", redirect::to_zero),
    lie(24, "/redirect-decimal", "a private address as one number", redirect::to_decimal),
    lie(24, "/redirect-octal", "a private address in octal", redirect::to_octal),
    lie(24, "/redirect-hex", "a private address in hex", redirect::to_hex),
    lie(24, "/redirect-dot", "a private address with a dot behind", redirect::to_trailing_dot),
    lie(30, "/data-url", "an attribute of 50 MB", markup::data_url),
    lie(30, "/data-url-within-limits", "an attribute of 4 MB", markup::data_url_within_limits),
    lie(31, "/deep-nesting", "64,000 elements deep", markup::deep_nesting),
    lie(32, "/many-attributes", "64,000 attributes on a tag", markup::many_attributes),
    lie(33, "/adoption", "misnested formatting", markup::adoption),
    lie(33, "/foster-parents", "text where tables allow none", markup::foster_parents),
    lie(34, "/million-links", "a million links", markup::million_links),
    lie(35, "/huge-text", "a text of 8 MB", markup::huge_text),
    lie(35, "/huge-comment", "a comment of 8 MB without end", markup::huge_comment),
    lie(35, "/huge-script", "a script of 8 MB without end", markup::huge_script),
    lie(36, "/hostile-base", "four bases", markup::hostile_base),
    lie(37, "/refresh-self", "a refresh to itself", markup::refresh_itself),
    lie(37, "/refresh-private", "a refresh to a private address", markup::refresh_private),
    lie(37, "/canonical-elsewhere", "a canonical URL on another site", markup::canonical_elsewhere),
    lie(38, "/bad-charset", "an unknown charset", markup::bad_charset),
    lie(38, "/utf-7", "UTF-7", markup::utf_7),
    lie(38, "/utf-16", "UTF-16 without a mark", markup::utf_16),
    lie(38, "/mixed-charset", "two charsets in one page", markup::mixed_charset),
    lie(39, "/invalid-utf-8", "no UTF-8, though it says so", markup::invalid_utf_8),
    lie(40, "/bidi", "text that reverses what follows", markup::bidi),
    lie(40, "/combining-marks", "a letter with a million accents", markup::combining_marks),
    lie(41, "/binary-as-html", "a program as a page", markup::binary),
    lie(41, "/polyglot", "an image that is a page", markup::polyglot),
    lie(42, "/regex-hostile", "text against backtracking", markup::regex_hostile),
    lie(50, "/laughs.xml", "a sitemap of a billion laughs", listing::laughs),
    lie(51, "/packed-sitemap.xml.gz", "a sitemap of 75 MB in little more than one", listing::packed),
    lie(52, "/huge-sitemap.xml", "a sitemap of 75 MB", listing::huge),
    lie(52, "/index-of-indexes/", "sitemaps of sitemaps for ever", listing::nested),
    lie(55, "/calendar/", "months for ever", trap::calendar),
    lie(56, "/session/", "a new session id on each link", trap::session),
    lie(57, "/a/", "a relative link that goes deeper", trap::spiral),
    lie(58, "/endless-text/", "new text and links for ever", trap::endless_text),
    lie(60, "/long-url", "links of a megabyte", trap::long_url),
    lie(61, "/control-urls", "links with control characters", trap::control_urls),
    lie(67, "/future-modified", "modified in 2999", validator::future_modified),
    lie(67, "/ancient-modified", "modified in 1900", validator::ancient_modified),
    lie(68, "/etag-never-changes", "304 for a changed page", validator::etag_never_changes),
    lie(68, "/etag-always-changes", "a new tag for the same page", validator::etag_always_changes),
    lie(69, "/nonce", "markup that changes, text that does not", validator::nonce),
    lie(69, "/cloaked", "another page for browsers", validator::cloaked),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_path_finds_its_own_lie() {
        for lie in LIES {
            assert_eq!(Lie::at(lie.path).map(|found| found.path), Some(lie.path));
            let below = format!("{}below", lie.path);
            let found = Lie::at(&below).map(|found| found.path);
            assert_eq!(
                found,
                lie.path.ends_with('/').then_some(lie.path),
                "{below}"
            );
        }
        assert!(Lie::at("/").is_none() && Lie::at("/honest/1").is_none());
    }

    #[test]
    fn lies_are_sorted_by_row_and_no_row_is_missing() {
        assert!(LIES.is_sorted_by_key(|lie| lie.row));
        let told = |row: u8| LIES.iter().any(|lie| lie.row == row);
        let rows = (1..=17)
            .chain(19..=22)
            .chain([24])
            .chain(30..=42)
            .chain(55..=58);
        for row in rows.chain([60, 61, 67, 68, 69]) {
            assert!(told(row), "row {row}");
        }
    }
}
