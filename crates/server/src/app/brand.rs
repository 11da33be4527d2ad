//! The title, logo and colour of the search page, as `[serve]` sets them.
//!
//! **Invariant:** the colour is readable wherever it is used. It is made darker on a light
//! background and lighter on a dark one until its contrast meets WCAG 2.2, criterion 1.4.3.

use anyhow::{Result, anyhow};

use crate::assets;
use node::settings::{Colour, Logo, ServeSettings};

/// The default title.
const TITLE: &str = "Avocet";

/// The minimum contrast ratio of text with its background (WCAG 2.2, criterion 1.4.3).
const CONTRAST: f64 = 4.5;

/// A background of the light theme in avocet.css.
///
/// Each theme has two backgrounds. This one has less contrast with a readable colour.
const LIGHT: [u8; 3] = [0xfb, 0xfc, 0xfb];
/// The same for the dark theme.
const DARK: [u8; 3] = [0x18, 0x21, 0x20];

const BLACK: [u8; 3] = [0; 3];
const WHITE: [u8; 3] = [255; 3];

/// Title, logo and colour of the search page.
#[derive(Debug, Clone)]
pub struct Brand {
    /// The name in the header and in the titles of pages.
    pub title: String,
    /// The logo, if one is set.
    pub logo: Option<Logo>,
    /// The stylesheet that sets the colour, if one is set.
    pub style: Option<String>,
    /// A hash of logo and stylesheet, part of their URLs, so that browsers may cache them forever.
    mark: String,
}

impl Default for Brand {
    fn default() -> Self {
        Self {
            title: TITLE.to_owned(),
            logo: None,
            style: None,
            mark: String::new(),
        }
    }
}

impl Brand {
    /// Creates the brand that the settings describe. Fails if the logo cannot be read.
    pub fn of(settings: &ServeSettings) -> Result<Self> {
        let logo = settings.logo.as_deref().map(Logo::read).transpose();
        let logo = logo.map_err(|why| anyhow!("[serve] logo: {why}"))?;
        let style = settings.colour.map(style);
        let mut files = logo.as_ref().map_or(Vec::new(), |logo| logo.bytes.clone());
        files.extend(style.iter().flat_map(|style| style.bytes()));
        let digest = ring::digest::digest(&ring::digest::SHA256, &files);
        let title = settings.title.as_ref().map(|title| title.0.clone());
        Ok(Self {
            title: title.unwrap_or_else(|| TITLE.to_owned()),
            logo,
            style,
            mark: data_encoding::HEXLOWER.encode(&digest.as_ref()[..6]),
        })
    }

    /// Returns the URL of the logo.
    pub fn logo_url(&self) -> String {
        match &self.logo {
            Some(_) => format!("/brand/{}/logo", self.mark),
            None => assets::url("avocet.svg"),
        }
    }

    /// Returns the media type of the logo.
    pub fn logo_kind(&self) -> &'static str {
        self.logo.as_ref().map_or("image/svg+xml", |logo| logo.kind)
    }

    /// Returns the URL of the stylesheet that sets the colour, if one is set.
    pub fn style_url(&self) -> Option<String> {
        let style = self.style.as_ref();
        style.map(|_| format!("/brand/{}/style.css", self.mark))
    }

    /// Returns the title, cut to the 16 characters that OpenSearch 1.1 allows for a short name.
    pub fn short_name(&self) -> String {
        self.title.chars().take(16).collect()
    }
}

/// Returns the stylesheet that sets a colour for both themes.
fn style(colour: Colour) -> String {
    let light = readable(colour.0, LIGHT, BLACK);
    let dark = readable(colour.0, DARK, WHITE);
    format!(
        ":root {{ {} }}\n@media (prefers-color-scheme: dark) {{ :root {{ {} }} }}\n",
        accent(light),
        accent(dark)
    )
}

fn accent(colour: [u8; 3]) -> String {
    let white = contrast(colour, WHITE) >= contrast(colour, BLACK);
    let on = if white { WHITE } else { BLACK };
    format!("--accent: {}; --on-accent: {};", hex(colour), hex(on))
}

fn hex(colour: [u8; 3]) -> String {
    format!("#{}", data_encoding::HEXLOWER.encode(&colour))
}

/// Mixes a colour with black or white (`towards`), in steps of 5 %, until it is readable.
fn readable(colour: [u8; 3], background: [u8; 3], towards: [u8; 3]) -> [u8; 3] {
    let mixed = |part: u16| {
        let mix = |one: u8, other: u8| {
            let sum = u16::from(one) * (20 - part) + u16::from(other) * part;
            u8::try_from(sum / 20).expect("a mean of bytes is a byte")
        };
        std::array::from_fn(|at| mix(colour[at], towards[at]))
    };
    let mut mixtures = (0..20).map(mixed);
    let found = mixtures.find(|mixture| contrast(*mixture, background) >= CONTRAST);
    found.unwrap_or(towards)
}

/// Returns the contrast ratio of two colours, 1 to 21 (WCAG 2.2, "contrast ratio").
fn contrast(one: [u8; 3], other: [u8; 3]) -> f64 {
    let (one, other) = (luminance(one), luminance(other));
    (one.max(other) + 0.05) / (one.min(other) + 0.05)
}

/// Returns the relative luminance of a colour, 0 to 1 (WCAG 2.2, "relative luminance").
fn luminance(colour: [u8; 3]) -> f64 {
    let linear = colour.map(|byte| {
        let share = f64::from(byte) / 255.0;
        match share <= 0.04045 {
            true => share / 12.92,
            false => ((share + 0.055) / 1.055).powf(2.4),
        }
    });
    0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contrasts_are_those_of_wcag() {
        assert!((contrast(BLACK, WHITE) - 21.0).abs() < 1e-9);
        assert!((contrast(WHITE, WHITE) - 1.0).abs() < 1e-9);
        // The usual example: #767676 is the lightest grey that passes on white.
        assert!(contrast([0x76; 3], WHITE) >= 4.5);
        assert!(contrast([0x77; 3], WHITE) < 4.5);
    }

    #[test]
    fn every_colour_is_made_readable_on_both_backgrounds() {
        let steps = [0u8, 51, 102, 153, 204, 255];
        for red in steps {
            for green in steps {
                for blue in steps {
                    let colour = [red, green, blue];
                    for (background, towards) in [(LIGHT, BLACK), (DARK, WHITE)] {
                        let shown = readable(colour, background, towards);
                        let ratio = contrast(shown, background);
                        assert!(ratio >= CONTRAST, "{colour:?} {background:?}");
                    }
                }
            }
        }
        let ours = [0x0f, 0x6b, 0x63];
        assert_eq!(readable(ours, LIGHT, BLACK), ours, "a good colour stays");
    }

    #[test]
    fn a_style_sets_the_accent_and_the_text_on_it_for_both_themes() {
        let style = style(Colour([0xff, 0xdd, 0]));
        let light = style.lines().next().unwrap();
        assert!(light.starts_with(":root { --accent: #"), "{style}");
        assert!(light.ends_with("; --on-accent: #ffffff; }"), "{style}");
        assert!(
            style.contains("--accent: #ffdd00; --on-accent: #000000;"),
            "{style}"
        );
    }

    #[test]
    fn the_default_brand_is_avocet() {
        let brand = Brand::of(&ServeSettings::default()).unwrap();
        assert_eq!(brand.title, "Avocet");
        assert!(brand.logo_url().starts_with("/assets/") && brand.style_url().is_none());
    }
}
