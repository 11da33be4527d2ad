//! The colour, dashes and marker shape of each line.
//!
//! There are seven colours and seven markers. Lines 8 to 14 are dashed and further lines dotted;
//! both have hollow markers.
//!
//! **Invariant:** no two of the first 49 lines look the same. No two of the first 14 look the
//! same without colour.

/// Number of colours, and number of marker shapes.
pub(super) const KINDS: usize = 7;

/// The colours of a figure.
struct Theme {
    /// The background.
    paper: &'static str,
    /// The colour of axes and text.
    ink: &'static str,
    /// The colour of the grid.
    faint: &'static str,
    lines: [&'static str; KINDS],
}

/// Colours after Okabe & Ito, "Color universal design" (2008), which people with any kind of
/// colour blindness can distinguish. Yellow is left out: it is hard to see on white.
///
/// WCAG 2.2, section 1.4.11 requires a contrast of 3 between a line and its background. For
/// that, the light colours are darker here than published, and in dark mode the dark ones are
/// lighter.
const LIGHT: Theme = Theme {
    paper: "#ffffff",
    ink: "#1b1f23",
    faint: "#dfe3e8",
    lines: [
        "#0072b2", "#d55e00", "#008a64", "#b85f92", "#1b1f23", "#3595d2", "#b97f00",
    ],
};
const DARK: Theme = Theme {
    paper: "#14171a",
    ink: "#e6e9ec",
    faint: "#31373d",
    lines: [
        "#3d9be0", "#f0843c", "#2cc295", "#e39ac5", "#e6e9ec", "#9ddcff", "#f2c14e",
    ],
};

/// The rules that do not depend on the colours.
const SHAPES: &str = "\
.figure text{font:13px system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif}
.figure .m{text-anchor:middle}.figure .e{text-anchor:end}
.figure path{fill:none;stroke-linejoin:round}
.figure .line{stroke-width:1.8}.figure .mark{stroke-width:1.3}
.figure .whisker{stroke-width:1;opacity:.65}
.figure .d1 .line{stroke-dasharray:7 3}.figure .d2 .line{stroke-dasharray:2 2.5}
";

/// Returns the style of a stand-alone file. Colours are literal, because not every SVG viewer
/// supports CSS variables.
pub(super) fn file_style() -> String {
    format!("{SHAPES}{}", LIGHT.rules())
}

/// Returns the style of all figures of an HTML page: dark on screens in dark mode, light
/// elsewhere and in print.
pub fn page_style() -> String {
    format!(
        "{SHAPES}{}@media screen and (prefers-color-scheme:dark){{\n{}}}\n",
        LIGHT.rules(),
        DARK.rules()
    )
}

impl Theme {
    fn rules(&self) -> String {
        let Self {
            paper, ink, faint, ..
        } = self;
        let mut rules = format!(
            ".figure .paper{{fill:{paper}}}.figure text{{fill:{ink}}}\
             .figure .axis{{stroke:{ink}}}.figure .grid{{stroke:{faint}}}\n"
        );
        for (number, colour) in self.lines.iter().enumerate() {
            rules += &format!(
                ".figure .c{number}{{stroke:{colour}}}.figure .c{number} .mark{{fill:{colour}}}\n"
            );
        }
        rules += &format!(".figure .d1 .mark,.figure .d2 .mark{{fill:{paper}}}\n");
        rules
    }
}

/// Returns the CSS classes of a line: `c` is its colour, `d` its dashes.
pub(super) fn classes(number: usize) -> String {
    let dashes = (number / KINDS).min(2);
    format!("c{} d{dashes}", number % KINDS)
}

/// Returns the corners of a line's marker, relative to its centre, in tenths of an SVG user
/// unit.
pub(super) fn shape(number: usize) -> &'static [(i64, i64)] {
    // When the colours repeat, the shapes are shifted by one.
    match (number + number / KINDS) % KINDS {
        // Octagon, square, triangle, diamond, plus, triangle upside down, hourglass.
        0 => &[
            (-15, -37),
            (15, -37),
            (37, -15),
            (37, 15),
            (15, 37),
            (-15, 37),
            (-37, 15),
            (-37, -15),
        ],
        1 => &[(-32, -32), (32, -32), (32, 32), (-32, 32)],
        2 => &[(0, -46), (44, 34), (-44, 34)],
        3 => &[(0, -50), (42, 0), (0, 50), (-42, 0)],
        4 => &[
            (-13, -45),
            (13, -45),
            (13, -13),
            (45, -13),
            (45, 13),
            (13, 13),
            (13, 45),
            (-13, 45),
            (-13, 13),
            (-45, 13),
            (-45, -13),
            (-13, -13),
        ],
        5 => &[(0, 46), (44, -34), (-44, -34)],
        _ => &[(-37, -44), (37, -44), (-37, 44), (37, 44)],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_differ_with_and_without_colour() {
        for first in 0..KINDS * KINDS {
            for second in 0..first {
                let differ = (classes(first), shape(first)) != (classes(second), shape(second));
                assert!(differ, "{first} and {second}");
            }
        }
        let without = |number: usize| (number / KINDS, shape(number));
        for first in 0..2 * KINDS {
            assert!((0..first).all(|second| without(first) != without(second)));
        }
    }

    #[test]
    fn lines_and_text_have_the_contrast_that_wcag_requires() {
        for theme in [LIGHT, DARK] {
            for colour in theme.lines {
                let contrast = contrast(colour, theme.paper);
                assert!(contrast >= 3.0, "{colour} on {}: {contrast}", theme.paper);
            }
            // WCAG 2.2, section 1.4.3 requires more for text.
            assert!(contrast(theme.ink, theme.paper) >= 4.5);
        }
        assert!((contrast("#000000", "#ffffff") - 21.0).abs() < 1e-9);
        assert!(contrast("#56b4e9", "#ffffff") < 3.0, "the published colour");
    }

    /// Contrast ratio of WCAG 2.2, from 1 to 21.
    fn contrast(one: &str, other: &str) -> f64 {
        let (one, other) = (luminance(one), luminance(other));
        (one.max(other) + 0.05) / (one.min(other) + 0.05)
    }

    /// Relative luminance of WCAG 2.2, from 0 to 1.
    fn luminance(colour: &str) -> f64 {
        let part = |at: usize| {
            let part = u8::from_str_radix(&colour[at..at + 2], 16).unwrap();
            match f64::from(part) / 255.0 {
                small if small <= 0.04045 => small / 12.92,
                large => ((large + 0.055) / 1.055).powf(2.4),
            }
        };
        0.2126 * part(1) + 0.7152 * part(3) + 0.0722 * part(5)
    }
}
