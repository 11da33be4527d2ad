//! Title, logo and colour of the search page.
//!
//! **Invariant:** `avocet config check` and the server judge them by the same functions.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The maximum number of characters of a title. It stands in one line beside the links of the page.
const TITLE: usize = 60;

/// The maximum number of bytes of a logo: it is shown at 28 pixels, and is kept in memory.
const LOGO: u64 = 256 * 1024;

/// The first bytes of a PNG file (RFC 2083, 3.1).
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n";

/// The title of the search page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String")]
pub struct BrandTitle(pub String);

impl TryFrom<String> for BrandTitle {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let letters = text.trim().chars().count();
        match () {
            () if text.chars().any(char::is_control) => {
                Err("a title has no line breaks or other control characters".into())
            }
            () if letters == 0 || letters > TITLE => Err(format!(
                "a title has 1 to {TITLE} characters, and this one {letters}"
            )),
            () => Ok(Self(text.trim().to_owned())),
        }
    }
}

/// The path prefix below which a reverse proxy offers the server, such as `/search`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String")]
pub struct PathPrefix(pub String);

impl TryFrom<String> for PathPrefix {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let path = text.trim_end_matches('/');
        let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_.~/".contains(letter);
        let good = path.starts_with('/') && path.chars().all(is_plain);
        match good && !path.contains("//") && !path.contains("/..") {
            true => Ok(Self(path.to_owned())),
            false => Err(format!("{text:?} is no path prefix: write it like /search")),
        }
    }
}

/// A colour: red, green and blue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
pub struct Colour(#[schemars(with = "String")] pub [u8; 3]);

impl TryFrom<String> for Colour {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let wrong = || format!("{text:?} is no colour: write it like #0f6b63");
        let digits = text.strip_prefix('#').ok_or_else(wrong)?;
        let is_hex = digits.len() == 6 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        let number = u32::from_str_radix(digits, 16).ok().filter(|_| is_hex);
        let [_, red, green, blue] = number.ok_or_else(wrong)?.to_be_bytes();
        Ok(Self([red, green, blue]))
    }
}

impl From<Colour> for String {
    fn from(Colour([red, green, blue]): Colour) -> Self {
        format!("#{red:02x}{green:02x}{blue:02x}")
    }
}

/// A picture that browsers can show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Logo {
    /// Its media type.
    pub kind: &'static str,
    /// The file.
    pub bytes: Vec<u8>,
}

impl Logo {
    /// Reads the file of a logo. The error says why the file cannot be a logo.
    pub fn read(path: &Path) -> Result<Self, String> {
        let name = path.display();
        let mut bytes = Vec::new();
        File::open(path)
            .and_then(|file| file.take(LOGO + 1).read_to_end(&mut bytes))
            .map_err(|error| format!("cannot read {name}: {error}"))?;
        if bytes.len() as u64 > LOGO {
            return Err(format!("{name} is larger than {} KiB", LOGO / 1024));
        }
        let is_svg = str::from_utf8(&bytes).is_ok_and(|text| text.contains("<svg"));
        let kind = match () {
            () if bytes.starts_with(PNG) => "image/png",
            () if is_svg => "image/svg+xml",
            () => return Err(format!("{name} is neither an SVG nor a PNG file")),
        };
        Ok(Self { kind, bytes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_colour_is_a_hash_sign_and_six_hexadecimal_digits() {
        let read = |text: &str| Colour::try_from(text.to_owned());
        assert_eq!(read("#0f6B63"), Ok(Colour([0x0f, 0x6b, 0x63])));
        for wrong in [
            "", "#", "0f6b63", "#0f6b6", "#0f6b633", "#+f6b63", "red", "#0f6b6g",
        ] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
        assert!(read("#000;}body{x:url(//e.org)").is_err());
    }

    #[test]
    fn a_title_has_one_to_sixty_characters_without_line_breaks() {
        let read = |text: &str| BrandTitle::try_from(text.to_owned());
        assert_eq!(read(" Docs "), Ok(BrandTitle("Docs".into())));
        let long = "x".repeat(61);
        for wrong in ["", "  ", "a\nb", long.as_str()] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_logo_is_an_svg_or_png_file_of_at_most_256_kib() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("logo");
        for (bytes, kind) in [
            (
                &b"<?xml version='1.0'?><svg xmlns='http://www.w3.org/2000/svg'/>"[..],
                Some("image/svg+xml"),
            ),
            (b"\x89PNG\r\n\x1a\nrest", Some("image/png")),
            (b"GIF89a", None),
            (b"<html>", None),
            (b"", None),
            (&[b' '; 300 * 1024], None),
        ] {
            std::fs::write(&path, bytes).unwrap();
            assert_eq!(Logo::read(&path).ok().map(|logo| logo.kind), kind);
        }
        assert!(Logo::read(&dir.path().join("none")).is_err());
    }
}
