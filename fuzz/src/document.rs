//! Fuzz target for PDF, Office, OpenDocument and EPUB files.

use document::{ReadingLimits, read};

/// Limits that are small, so that inputs reach them.
const LIMITS: ReadingLimits = ReadingLimits {
    text: 4 << 10,
    inflated: 1 << 20,
    pages: 20,
};

/// Reads a document.
///
/// The same bytes give the same result. The text is limited, and the content of the document never
/// becomes markup: every tag is one that the writer makes.
pub fn document(data: &[u8]) {
    let found = read(data, LIMITS);
    assert_eq!(found, read(data, LIMITS));
    let Ok(found) = found else {
        return;
    };
    let page = page::read(
        &found.html,
        &crate::found_at(),
        &page::ReadLimits::default(),
    );
    assert!(page.text.len() <= LIMITS.text + found.html.matches('<').count());
    for tag in found.html.split('<').skip(1) {
        let name = tag.trim_start_matches(['/', '!']);
        let known = [
            "doctype", "html", "head", "title", "meta", "body", "p", "h1", "h2", "h3", "h4", "h5",
            "h6", "a", "li", "ul", "br",
        ];
        let end = name.find(|letter: char| !letter.is_ascii_alphanumeric());
        let name = name[..end.unwrap_or(name.len())].to_ascii_lowercase();
        assert!(known.contains(&name.as_str()), "<{tag}");
    }
}
