//! The title, logo and colour of the search page, as `[serve]` sets them.
//!
//! **Invariant:** the colour is readable wherever it is used: it is made darker on light paper and lighter on dark
//! paper until its contrast is that of WCAG 2.2, 1.4.3.

use anyhow::{Result, anyhow};

use crate::assets;
use node::settings::{Colour, Logo, ServeSettings};

/// The title unless one is set.
const TITLE: &str = "Avocet";

/// The contrast of text with its background, at least.
const CONTRAST: f64 = 4.5;

/// The backgrounds of the page, light and dark, as in avocet.css. Of the two in each, the one with less contrast.
const LIGHT: [u8; 3] = [0xfb, 0xfc, 0xfb];
const DARK: [u8; 3] = [0x18, 0x21, 0x20];

const BLACK: [u8; 3] = [0; 3];
const WHITE: [u8; 3] = [255; 3];

/// How the search page presents itself.
#[derive(Debug, Clone)]
pub struct Brand {
    /// Its title.
    pub title: String,
    /// Its logo, if one is set.
    pub logo: Option<Logo>,
    /// The stylesheet that sets the colour, if one is set.
    pub style: Option<String>,
    /// Changes with what is in the files, so that browsers may keep them for good.
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
    /// Reads what is set.
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

    /// The address of the logo.
    pub fn logo_url(&self) -> String {
        match &self.logo {
            Some(_) => format!("/brand/{}/logo", self.mark),
            None => assets::url("avocet.svg"),
        }
    }

    /// The media type of the logo.
    pub fn logo_kind(&self) -> &'static str {
        self.logo.as_ref().map_or("image/svg+xml", |logo| logo.kind)
    }

    /// The address of the stylesheet that sets the colour, if one is set.
    pub fn style_url(&self) -> Option<String> {
        let style = self.style.as_ref();
        style.map(|_| format!("/brand/{}/style.css", self.mark))
    }

    /// Its title, cut to what OpenSearch 1.1 allows for a short name: 16 characters.
    pub fn short_name(&self) -> String {
        self.title.chars().take(16).collect()
    }
}

/// The stylesheet that sets a colour.
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

/// Mixes a colour with another, by twentieths, until it can be read on some paper.
fn readable(colour: [u8; 3], paper: [u8; 3], towards: [u8; 3]) -> [u8; 3] {
    let mixed = |part: u16| {
        let mix = |one: u8, other: u8| {
            let sum = u16::from(one) * (20 - part) + u16::from(other) * part;
            u8::try_from(sum / 20).expect("a mean of bytes is a byte")
        };
        std::array::from_fn(|at| mix(colour[at], towards[at]))
    };
    let mut mixtures = (0..20).map(mixed);
    let found = mixtures.find(|mixture| contrast(*mixture, paper) >= CONTRAST);
    found.unwrap_or(towards)
}

/// The contrast ratio of two colours, 1 to 21 (WCAG 2.2, "contrast ratio").
fn contrast(one: [u8; 3], other: [u8; 3]) -> f64 {
    let (one, other) = (luminance(one), luminance(other));
    (one.max(other) + 0.05) / (one.min(other) + 0.05)
}

/// The relative luminance of a colour, 0 to 1 (WCAG 2.2, "relative luminance").
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
    fn every_colour_can_be_read() {
        let steps = [0u8, 51, 102, 153, 204, 255];
        for red in steps {
            for green in steps {
                for blue in steps {
                    let colour = [red, green, blue];
                    for (paper, towards) in [(LIGHT, BLACK), (DARK, WHITE)] {
                        let shown = readable(colour, paper, towards);
                        assert!(contrast(shown, paper) >= CONTRAST, "{colour:?} {paper:?}");
                    }
                }
            }
        }
        let ours = [0x0f, 0x6b, 0x63];
        assert_eq!(readable(ours, LIGHT, BLACK), ours, "a good colour stays");
    }

    #[test]
    fn a_style_is_made_of_colours_alone() {
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
    fn what_is_not_set_is_ours() {
        let brand = Brand::of(&ServeSettings::default()).unwrap();
        assert_eq!(brand.title, "Avocet");
        assert!(brand.logo_url().starts_with("/assets/") && brand.style_url().is_none());
    }
}
