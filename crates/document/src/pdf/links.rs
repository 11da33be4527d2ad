//! The links of a page to the web, and the glyphs that they cover.

use hayro_interpret::hayro_syntax::object::{self, Array, Dict, Name, Object};
use hayro_interpret::hayro_syntax::page::Page;
use hayro_interpret::kurbo::{Point, Rect};

use super::glyphs::GlyphCollector;
use super::transform_of;

/// Most links of a page that are read.
const MOST: usize = 500;

/// Marks the glyphs that links cover, and returns the URLs of the links.
pub(super) fn mark(page: &Page<'_>, glyphs: &mut GlyphCollector) -> Vec<String> {
    let mut urls = Vec::new();
    for (area, url) in links(page) {
        let number = u16::try_from(urls.len()).expect("a page has at most 500 links");
        for glyph in &mut glyphs.placed {
            let middle = glyph.origin + glyph.along * (glyph.advance / 2.0);
            // The baseline is at the lower edge of the area, or below it.
            let up = Point::new(
                middle.x + glyph.along.y * glyph.size * 0.3,
                middle.y - glyph.along.x * glyph.size * 0.3,
            );
            if area.contains(up) {
                glyph.link = Some(number);
            }
        }
        urls.push(url);
    }
    urls
}

/// Returns the links of a page with the areas that they cover.
fn links(page: &Page<'_>) -> Vec<(Rect, String)> {
    let transform = transform_of(page);
    let Some(annotations) = page.raw().get::<Array<'_>>(b"Annots") else {
        return Vec::new();
    };
    let link = |annotation: Dict<'_>| {
        let kind = annotation.get::<Name<'_>>(b"Subtype")?;
        let action = annotation.get::<Dict<'_>>(b"A")?;
        let url = action.get::<object::String<'_>>(b"URI")?;
        let area = annotation.get::<object::Rect>(b"Rect")?;
        let area = Rect::new(area.x0, area.y0, area.x1, area.y1);
        let url = String::from_utf8_lossy(url.as_bytes()).into_owned();
        (kind.as_str() == "Link").then(|| (transform.transform_rect_bbox(area), url))
    };
    let annotations = annotations
        .iter::<Object<'_>>()
        .filter_map(Object::into_dict);
    annotations.filter_map(link).take(MOST).collect()
}
