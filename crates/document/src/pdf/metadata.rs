//! The information dictionary of a PDF: title, author, dates.

use hayro_interpret::hayro_syntax::metadata::Metadata;
use hayro_interpret::hayro_syntax::object::DateTime;

use crate::html::HtmlWriter;

/// Writes what a document states about itself.
pub(super) fn read(metadata: &Metadata, html: &mut HtmlWriter) {
    let text = |bytes: &Option<Box<[u8]>>| bytes.as_deref().map(decode).unwrap_or_default();
    html.title(plausible_title(&text(&metadata.title)).unwrap_or_default());
    html.meta("author", &text(&metadata.author));
    html.meta("description", &text(&metadata.subject));
    html.meta("keywords", &text(&metadata.keywords));
    if let Some(date) = &metadata.creation_date {
        html.meta("dcterms.created", &written(date));
    }
    if let Some(date) = &metadata.modification_date {
        html.meta("dcterms.modified", &written(date));
    }
}

/// Returns a stated title, unless it is the name of a file or a program's default.
fn plausible_title(stated: &str) -> Option<&str> {
    let title = stated.trim();
    let title = title.strip_prefix("Microsoft Word - ").unwrap_or(title);
    let lower = title.to_lowercase();
    let endings = [
        ".doc", ".docx", ".dvi", ".tex", ".indd", ".qxd", ".pdf", ".ps", ".eps", ".rtf", ".odt",
        ".ppt", ".pptx", ".xls", ".xlsx", ".html", ".txt", ".fm",
    ];
    let is_file = endings.iter().any(|ending| lower.ends_with(ending));
    let is_default = ["", "untitled", "title", "document", "document1"].contains(&lower.as_str());
    (!is_file && !is_default).then_some(title)
}

/// Decodes a text string: UTF-16 or UTF-8 with a byte order mark, or else PDFDocEncoding, which is
/// read as Latin-1 (it differs in a few typographic characters).
pub(super) fn decode(bytes: &[u8]) -> String {
    match bytes {
        [0xfe, 0xff, rest @ ..] => {
            let units: Vec<u16> = rest
                .as_chunks()
                .0
                .iter()
                .map(|pair| u16::from_be_bytes(*pair))
                .collect();
            String::from_utf16_lossy(&units)
        }
        [0xef, 0xbb, 0xbf, rest @ ..] => String::from_utf8_lossy(rest).into_owned(),
        // Some programs write UTF-8 without the mark. Latin-1 is rarely valid UTF-8 by accident.
        _ => match std::str::from_utf8(bytes) {
            Ok(text) => text.to_owned(),
            Err(_) => bytes.iter().map(|byte| char::from(*byte)).collect(),
        },
    }
}

/// Returns a date as ISO 8601.
fn written(date: &DateTime) -> String {
    format!(
        "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}{}{:02}:{:02}",
        date.year,
        date.month.max(1),
        date.day.max(1),
        date.hour,
        date.minute,
        date.second,
        if date.utc_offset_hour < 0 { '-' } else { '+' },
        date.utc_offset_hour.unsigned_abs(),
        date.utc_offset_minute
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_strings_are_decoded() {
        for (bytes, text) in [
            (&b"plain"[..], "plain"),
            (b"\xfe\xff\x00A\x20\xac", "A\u{20ac}"),
            (b"\xef\xbb\xbf\xc3\xa9", "\u{e9}"),
            (b"caf\xe9", "caf\u{e9}"),
            (b"caf\xc3\xa9", "caf\u{e9}"),
        ] {
            assert_eq!(decode(bytes), text);
        }
    }

    #[test]
    fn names_of_files_are_no_titles() {
        for stated in [
            "",
            "paper.dvi",
            "Microsoft Word - Draft.doc",
            "untitled",
            "Report.PDF",
        ] {
            assert_eq!(plausible_title(stated), None, "{stated}");
        }
        assert_eq!(
            plausible_title(" Microsoft Word - Minutes "),
            Some("Minutes")
        );
        assert_eq!(plausible_title("The Art of .NET"), Some("The Art of .NET"));
    }
}
