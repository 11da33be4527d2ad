//! Makes words, lines and paragraphs of the glyphs of a page.
//!
//! A PDF has no words: it places glyphs. Glyphs are read in the order in which the page draws
//! them, which is the reading order in nearly all documents that programs write. A gap between two
//! glyphs is a space; a move off the baseline, or back along it, is a new line.

use super::glyphs::{GlyphCollector, PlacedGlyph};
use super::outline::Outline;
use crate::html::HtmlWriter;

/// Narrowest gap between words, as a share of the font size. Kerning moves letters by less.
const SPACE: f64 = 0.13;
/// How far a glyph may be off the baseline, as a share of the font size: subscripts are.
const OFF_BASELINE: f64 = 0.45;
/// How far a glyph may begin before the end of the last one, as a share of the font size: accents
/// and negative kerning do.
const BACK: f64 = 0.6;
/// Widest distance of two lines of one paragraph, as a share of the font size.
const LEADING: f64 = 1.75;
/// Longest line that can be a heading, in bytes.
const HEADING: usize = 250;

/// The lines of a page.
#[derive(Debug, Default)]
pub(super) struct PageLayout {
    lines: Vec<LayoutLine>,
}

/// A line of text.
#[derive(Debug)]
struct LayoutLine {
    text: String,
    /// Where the link of the text changes: a position in the text, and the link from there on.
    links: Vec<(usize, Option<u16>)>,
    /// The largest font size.
    size: f64,
    begins_paragraph: bool,
}

impl PageLayout {
    /// Arranges the glyphs of a page.
    pub fn of(glyphs: &GlyphCollector) -> Self {
        let mut layout = Self::default();
        let mut last: Option<&PlacedGlyph> = None;
        // The first glyph of the open line, from which the distance of the next line is measured.
        let mut first: Option<&PlacedGlyph> = None;
        for glyph in &glyphs.placed {
            let characters = glyphs.characters(glyph);
            match last.map(|last| step(last, glyph)) {
                Some(Step::Word) => {}
                Some(Step::Space) => layout.space(),
                Some(Step::Line) | None => {
                    let goes_on = first.is_some_and(|first| is_next_line(first, glyph));
                    layout.lines.push(LayoutLine {
                        text: String::new(),
                        links: Vec::new(),
                        size: glyph.size,
                        begins_paragraph: !goes_on,
                    });
                    first = Some(glyph);
                }
            }
            let line = layout
                .lines
                .last_mut()
                .expect("the first glyph begins a line");
            let link = line.links.last().and_then(|(_, link)| *link);
            if link != glyph.link {
                line.links.push((line.text.len(), glyph.link));
            }
            line.size = line.size.max(glyph.size);
            line.text.push_str(characters);
            last = Some(glyph);
        }
        layout
    }

    /// Returns the text in the largest font of the page, if it is larger than the rest: probably
    /// the title of a document whose first page this is.
    pub fn largest_line(&self) -> Option<String> {
        let sizes = || self.lines.iter().map(|line| line.size);
        let largest = sizes().max_by(f64::total_cmp)?;
        let is_large = |line: &&LayoutLine| line.size > largest * 0.97;
        let title: Vec<&str> = self
            .lines
            .iter()
            .skip_while(|line| !is_large(line))
            .take_while(is_large)
            .map(|line| line.text.trim())
            .collect();
        let title = title.join(" ");
        let letters = title
            .chars()
            .filter(|character| character.is_alphabetic())
            .count();
        let is_special = self.lines.iter().any(|line| line.size < largest * 0.9);
        (letters >= 3 && title.len() <= HEADING && is_special).then_some(title)
    }

    /// Writes the page, whose number counts from 0.
    pub fn write(
        &self,
        page: usize,
        outline: &mut Outline,
        urls: &[String],
        html: &mut HtmlWriter,
    ) {
        let id = format!("page={}", page + 1);
        let mut lines = self.lines.iter().peekable();
        // Whether the open paragraph ends with half a word.
        let mut is_half = false;
        let mut after_heading = true;
        while let Some(line) = lines.next() {
            let text = line.text.trim_end();
            if text.trim().is_empty() {
                continue;
            }
            let level = match text.len() <= HEADING {
                true => outline.heading(page, text),
                false => None,
            };
            if let Some(level) = level {
                html.heading(level, Some(&id));
            } else if line.begins_paragraph || after_heading {
                html.paragraph();
            } else if !is_half {
                html.text(" ");
            }
            let next = lines.peek().filter(|next| !next.begins_paragraph);
            is_half = level.is_none()
                && next.is_some_and(|next| is_divided(text, next.text.trim_start()));
            let end = match is_half {
                true => text.trim_end_matches(['-', '\u{ad}', '\u{2010}']).len(),
                false => text.len(),
            };
            line.write(end, urls, html);
            after_heading = level.is_some();
        }
        html.end_block();
    }

    fn space(&mut self) {
        if let Some(line) = self.lines.last_mut() {
            line.text.push(' ');
        }
    }
}

impl LayoutLine {
    /// Writes the text up to `end` with its links.
    fn write(&self, end: usize, urls: &[String], html: &mut HtmlWriter) {
        let mut from = 0;
        for (place, link) in &self.links {
            let to = (*place).min(end);
            html.text(&self.text[from..to]);
            from = to;
            html.end_link();
            if let Some(url) = link.and_then(|link| urls.get(usize::from(link))) {
                html.link(url);
            }
        }
        html.text(&self.text[from..end]);
        html.end_link();
    }
}

/// How a glyph follows the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    /// It continues the word.
    Word,
    /// A space is between them.
    Space,
    /// It begins a line.
    Line,
}

fn step(last: &PlacedGlyph, glyph: &PlacedGlyph) -> Step {
    let size = last.size.max(glyph.size);
    let gap = glyph.origin - last.end();
    let (forward, aside) = (gap.dot(last.along), gap.cross(last.along).abs());
    let is_parallel = last.along.dot(glyph.along) > 0.98;
    if !is_parallel || aside > OFF_BASELINE * size || forward < -BACK * size {
        return Step::Line;
    }
    match forward > SPACE * size {
        true => Step::Space,
        false => Step::Word,
    }
}

/// Returns whether the line of `glyph` is the next one of the paragraph whose last line begins with
/// `first`.
fn is_next_line(first: &PlacedGlyph, glyph: &PlacedGlyph) -> bool {
    let size = first.size.max(glyph.size);
    let is_alike = (first.size - glyph.size).abs() < 0.1 * size;
    // Down the page for text from left to right, whatever its rotation.
    let down = first.along.cross(glyph.origin - first.origin);
    is_alike && first.along.dot(glyph.along) > 0.98 && down > 0.0 && down < LEADING * size
}

/// Returns whether a line ends with half a word that the next line continues.
fn is_divided(line: &str, next: &str) -> bool {
    let Some(start) = line.strip_suffix(['-', '\u{ad}', '\u{2010}']) else {
        return false;
    };
    start.ends_with(char::is_alphabetic) && next.starts_with(char::is_lowercase)
}
