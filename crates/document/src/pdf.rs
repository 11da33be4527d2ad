//! Reads PDF documents: the text in the order in which the pages draw it, links, the outline as
//! headings, and the metadata.
//!
//! `hayro-interpret` runs the drawing instructions of a page. A device of ours takes the positions
//! and characters of the glyphs, and `layout.rs` makes words, lines and paragraphs of them. No
//! image is decoded and nothing is painted.

mod glyphs;
mod layout;
mod links;
mod metadata;
mod outline;

use hayro_interpret::hayro_syntax::page::Page;
use hayro_interpret::hayro_syntax::{DecryptionError, LoadPdfError, Pdf};
use hayro_interpret::kurbo::{Affine, Rect};
use hayro_interpret::{Context, InterpreterCache, InterpreterSettings, interpret_page};

use crate::html::HtmlWriter;
use crate::{ReadingLimits, Unreadable};
use glyphs::GlyphCollector;
use layout::PageLayout;
use outline::Outline;

/// Reads a document.
pub(crate) fn read(
    bytes: &[u8],
    limits: ReadingLimits,
    html: &mut HtmlWriter,
) -> Result<(), Unreadable> {
    let pdf = Pdf::new(bytes.to_vec()).map_err(reason)?;
    metadata::read(pdf.metadata(), html);
    let mut outline = Outline::of(&pdf);
    let cache = InterpreterCache::new();
    for (number, page) in pdf.pages().iter().enumerate() {
        if html.is_full() {
            break;
        }
        if number >= limits.pages {
            html.note_cut();
            break;
        }
        let mut glyphs = glyphs_of(page, &cache, limits.text);
        let urls = links::mark(page, &mut glyphs);
        let layout = PageLayout::of(&glyphs);
        if !html.has_title()
            && let Some(title) = layout.largest_line()
        {
            html.title(&title);
        }
        layout.write(number, &mut outline, &urls, html);
        if glyphs.is_full {
            html.note_cut();
        }
    }
    Ok(())
}

/// Returns the glyphs of a page in the order in which it draws them; at most `most`.
fn glyphs_of<'a>(page: &Page<'a>, cache: &InterpreterCache<'a>, most: usize) -> GlyphCollector {
    let (width, height) = page.render_dimensions();
    let mut context = Context::new(
        transform_of(page),
        Rect::new(0.0, 0.0, f64::from(width), f64::from(height)),
        cache,
        page.xref(),
        InterpreterSettings::default(),
    );
    let mut collector = GlyphCollector::new(most);
    interpret_page(page, &mut context, &mut collector);
    collector
}

/// Returns the transform from the page's coordinates to ours: upright, the origin at the top left.
fn transform_of(page: &Page<'_>) -> Affine {
    Affine::new(page.initial_transform(true).as_coeffs())
}

fn reason(error: LoadPdfError) -> Unreadable {
    match error {
        LoadPdfError::Decryption(DecryptionError::PasswordProtected) => Unreadable::Encrypted,
        LoadPdfError::Decryption(_) => Unreadable::Unsupported,
        LoadPdfError::Invalid => Unreadable::Damaged,
    }
}
