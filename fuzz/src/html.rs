//! Fuzz targets for HTML: the streaming reader, and the main text that `export pages` writes.

use page::article::chunks::chunks;
use page::article::{Extraction, ExtractionFailure};
use page::{PageParts, PageReading, ReadLimits, charset, read};

/// Reads a page.
///
/// The result stays within its limits and is deterministic. Tighter limits keep a prefix of what
/// wider limits keep.
pub fn html(data: &[u8]) {
    let base = crate::found_at();
    let (text, _) = charset::decode(data, None);
    let wide = ReadLimits::default();
    let reading = read(&text, &base, &wide);
    bounded(&reading, &wide);
    let again = read(&text, &base, &wide);
    assert_eq!(format!("{reading:?}"), format!("{again:?}"));

    let tight = ReadLimits {
        links: 3,
        text: 64,
        title: 16,
        ..ReadLimits::default()
    };
    let short = read(&text, &base, &tight);
    bounded(&short, &tight);
    assert!(reading.text.starts_with(&short.text));
    assert!(reading.title.starts_with(&short.title));
    for (one, other) in short.links.iter().zip(&reading.links) {
        assert_eq!(one.url, other.url);
    }

    let tightest = ReadLimits {
        links: 1,
        text: 7,
        title: 1,
        anchor: 3,
        paths: 1,
        attributes: 2,
        value: 16,
        parts: PageParts::default(),
    };
    bounded(&read(&text, &base, &tightest), &tightest);
}

fn bounded(reading: &PageReading, limits: &ReadLimits) {
    assert!(reading.links.len() <= limits.links);
    assert!(reading.text.len() <= limits.text);
    assert!(reading.title.len() <= limits.title);
    // One extra path stands for all paths beyond the limit.
    assert!(reading.paths.len() <= limits.paths + 1);
    assert!(!reading.text.contains("  ") && !reading.text.contains("\n\n"));
    let mut ids: Vec<_> = reading.links.iter().map(|link| link.id).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), reading.links.len(), "each target once");
    for link in &reading.links {
        let anchor = link.anchor.start as usize..link.anchor.end as usize;
        let words = reading.text.get(anchor).expect("a range of characters");
        assert!(words.len() <= limits.anchor);
        assert_eq!(words, reading.anchor(link));
        assert!(reading.around(link, 3).contains(words));
        assert_eq!(link.id, link.url.id());
        assert!(!limits.parts.paths || (link.path as usize) < reading.paths.len());
    }
}

/// Extracts the main text of a page.
///
/// Extraction always ends, and its output is bounded. For markup beyond the limits, the output is
/// the text of the streaming reader.
pub fn article(data: &[u8]) {
    let base = crate::found_at();
    let (text, _) = charset::decode(data, None);
    let article = page::article(&text, &base);
    if article.extraction == Extraction::Fallback(ExtractionFailure::Hostile) {
        assert_eq!(
            article.text,
            read(&text, &base, &ReadLimits::default()).text
        );
    }
    // Markup and link URLs add a bounded amount; 60 times the page is far above it.
    assert!(article.markdown.len() <= 60 * text.len() + (64 << 10));
    for heading in &article.headings {
        assert!(article.markdown[heading.start..].starts_with('#'));
    }
    for limit in [100, 2000] {
        let pieces = chunks(&article.markdown, &article.headings, limit);
        let letters: usize = pieces.iter().map(|piece| piece.markdown.len()).sum();
        assert!(letters <= article.markdown.len());
    }
}
