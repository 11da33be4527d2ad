//! Collects the characters of a page with their positions.

use std::ops::Range;

use hayro_interpret::font::{Glyph, GlyphRun};
use hayro_interpret::hayro_cmap::BfString;
use hayro_interpret::kurbo::{BezPath, Point, Vec2};
use hayro_interpret::{
    BlendMode, ClipPath, Device, DrawMode, DrawProps, Image, ImageDrawProps, SoftMask,
};

/// Units of a font per em, in which advances are given.
const EM: f64 = 1_000.0;

/// A glyph with its place on the page. Coordinates are in points, from the top left corner.
#[derive(Debug, Clone)]
pub(super) struct PlacedGlyph {
    /// Its characters, as a range of the collected text.
    pub text: Range<usize>,
    /// Its origin on the baseline.
    pub origin: Point,
    /// The direction of the line, with length 1.
    pub along: Vec2,
    /// Its width along the line.
    pub advance: f64,
    /// The size of the font.
    pub size: f64,
    /// The link that covers it, by its position among those of the page.
    pub link: Option<u16>,
}

impl PlacedGlyph {
    /// Returns where the next glyph of the word begins.
    pub fn end(&self) -> Point {
        self.origin + self.along * self.advance
    }
}

/// A device that keeps the text of a page and ignores all other drawing.
#[derive(Debug)]
pub(super) struct GlyphCollector {
    /// The characters of all glyphs.
    pub text: String,
    /// The glyphs in the order in which the page draws them.
    pub placed: Vec<PlacedGlyph>,
    /// Whether the page has more text than the limit.
    pub is_full: bool,
    /// Maximum bytes of text.
    most: usize,
}

impl GlyphCollector {
    /// Creates a collector of at most `most` bytes of text.
    pub fn new(most: usize) -> Self {
        Self {
            text: String::new(),
            placed: Vec::new(),
            is_full: false,
            most,
        }
    }

    /// Returns the characters of a glyph.
    pub fn characters(&self, glyph: &PlacedGlyph) -> &str {
        &self.text[glyph.text.clone()]
    }

    fn add(&mut self, run: &GlyphRun<'_, '_>, props: &DrawProps<'_>) {
        let before = self.placed.len();
        for glyph in run.glyphs() {
            if self.text.len() >= self.most {
                self.is_full = true;
                return;
            }
            let Some(characters) = glyph.as_unicode() else {
                continue;
            };
            let transform = props.transform * glyph.transform();
            let origin = transform * Point::ZERO;
            let right = transform * Point::new(EM, 0.0) - origin;
            let up = transform * Point::new(0.0, EM) - origin;
            let (width, size) = (right.hypot(), up.hypot());
            // Degenerate matrices place text nowhere.
            if !(width.is_normal() && size.is_normal() && origin.is_finite()) {
                continue;
            }
            let start = self.text.len();
            match characters {
                BfString::Char(character) => self.push(character),
                BfString::String(characters) => {
                    characters
                        .chars()
                        .for_each(|character| self.push(character));
                }
            }
            self.placed.push(PlacedGlyph {
                text: start..self.text.len(),
                origin,
                along: right / width,
                advance: f64::from(advance(glyph)) / EM * width,
                size,
                link: None,
            });
        }
        self.drop_repeated(before);
    }

    /// Adds a character; ligatures become letters.
    fn push(&mut self, character: char) {
        match character {
            '\u{fb00}' => self.text.push_str("ff"),
            '\u{fb01}' => self.text.push_str("fi"),
            '\u{fb02}' => self.text.push_str("fl"),
            '\u{fb03}' => self.text.push_str("ffi"),
            '\u{fb04}' => self.text.push_str("ffl"),
            '\u{fb05}' | '\u{fb06}' => self.text.push_str("st"),
            '\u{0}' => {}
            other => self.text.push(other),
        }
    }

    /// Drops the glyphs from `before` on if they repeat the run before them at the same place.
    /// Programs draw a text twice to make it bold, or once to fill and once to outline it.
    fn drop_repeated(&mut self, before: usize) {
        let (earlier, run) = self.placed.split_at(before);
        let Some(start) = earlier.len().checked_sub(run.len()) else {
            return;
        };
        let same = |(one, other): (&PlacedGlyph, &PlacedGlyph)| {
            (one.origin - other.origin).hypot() < 0.1 * one.size
                && self.characters(one) == self.characters(other)
        };
        if !run.is_empty() && earlier[start..].iter().zip(run).all(same) {
            let text = run[0].text.start;
            self.placed.truncate(before);
            self.text.truncate(text);
        }
    }
}

/// Returns the width of a glyph in thousandths of an em. A font may not state it.
fn advance(glyph: &Glyph<'_>) -> f32 {
    let stated = match glyph {
        Glyph::Outline(outline) => outline.advance_width(),
        Glyph::Type3(glyph) => glyph.advance_width(),
    };
    stated.filter(|width| width.is_finite()).unwrap_or(500.0)
}

impl<'a> Device<'a> for GlyphCollector {
    fn draw_path(&mut self, _: &BezPath, _: DrawProps<'a>, _: &DrawMode) {}
    fn push_clip_path(&mut self, _: &ClipPath) {}
    fn push_transparency_group(&mut self, _: f32, _: Option<SoftMask<'a>>, _: BlendMode) {}
    fn draw_glyph_run(&mut self, run: &GlyphRun<'_, 'a>, props: DrawProps<'a>, _: &DrawMode) {
        self.add(run, &props);
    }
    fn draw_image(&mut self, _: Image<'a, '_>, _: ImageDrawProps<'a>) {}
    fn pop_clip(&mut self) {}
    fn pop_transparency_group(&mut self) {}
}
