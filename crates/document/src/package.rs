//! A document that is a ZIP archive of XML files.
//!
//! **Invariant:** all files together yield at most the limit of inflated bytes.

use std::io::{Cursor, ErrorKind, Read};

use zip::ZipArchive;
use zip::result::ZipError;

use crate::{DocumentFormat, Unreadable};

/// Most files that an archive may have. Large presentations have a few thousand.
const FILES: usize = 20_000;

/// The opened archive.
pub(crate) struct Package<'a> {
    archive: ZipArchive<Cursor<&'a [u8]>>,
    /// Bytes that decompression may still yield.
    room: u64,
}

impl<'a> Package<'a> {
    /// Opens an archive, whose files may yield `room` bytes.
    pub fn open(bytes: &'a [u8], room: u64) -> Result<Self, Unreadable> {
        if !bytes.starts_with(b"PK") {
            return Err(Unreadable::Unsupported);
        }
        let archive = ZipArchive::new(Cursor::new(bytes)).map_err(reason)?;
        if archive.len() > FILES {
            return Err(Unreadable::TooLarge);
        }
        Ok(Self { archive, room })
    }

    /// Returns the format, by the files that it requires.
    pub fn format(&mut self) -> Result<DocumentFormat, Unreadable> {
        let mimetype = self.file("mimetype").ok().flatten().unwrap_or_default();
        let has = |name: &str| self.archive.index_for_name(name).is_some();
        let format = match mimetype.trim() {
            "application/epub+zip" => Some(DocumentFormat::Epub),
            "application/vnd.oasis.opendocument.text"
            | "application/vnd.oasis.opendocument.text-template" => Some(DocumentFormat::Odt),
            "application/vnd.oasis.opendocument.presentation"
            | "application/vnd.oasis.opendocument.presentation-template" => {
                Some(DocumentFormat::Odp)
            }
            "application/vnd.oasis.opendocument.spreadsheet"
            | "application/vnd.oasis.opendocument.spreadsheet-template" => {
                Some(DocumentFormat::Ods)
            }
            _ if has("word/document.xml") => Some(DocumentFormat::Docx),
            _ if has("ppt/presentation.xml") => Some(DocumentFormat::Pptx),
            _ if has("xl/workbook.xml") => Some(DocumentFormat::Xlsx),
            _ if has("META-INF/container.xml") => Some(DocumentFormat::Epub),
            // Office encrypts a document as a compound file, which is no ZIP archive.
            _ => None,
        };
        format.ok_or(Unreadable::Unsupported)
    }

    /// Returns a file as text, or `None` if the archive does not have it.
    pub fn file(&mut self, name: &str) -> Result<Option<String>, Unreadable> {
        let name = name.trim_start_matches('/');
        let mut file = match self.archive.by_name(name) {
            Ok(file) => file,
            Err(ZipError::FileNotFound) => return Ok(None),
            Err(error) => return Err(reason(error)),
        };
        let mut bytes = Vec::new();
        // A declared size can be wrong, so the bytes are counted as they come.
        let read = (&mut file).take(self.room).read_to_end(&mut bytes);
        self.room -= bytes.len() as u64;
        if self.room == 0 {
            return Err(Unreadable::TooLarge);
        }
        read.map_err(|error| match error.kind() {
            // The process of the reader has a limit on its memory.
            ErrorKind::OutOfMemory => Unreadable::TooLarge,
            _ => Unreadable::Damaged,
        })?;
        Ok(Some(decode(bytes)))
    }

    /// Returns a file as text that the format requires.
    pub fn required(&mut self, name: &str) -> Result<String, Unreadable> {
        self.file(name)?.ok_or(Unreadable::Damaged)
    }
}

/// Decodes XML. All writers of these formats use UTF-8 or UTF-16.
fn decode(bytes: Vec<u8>) -> String {
    let utf16 = |of: fn([u8; 2]) -> u16| {
        let units: Vec<u16> = bytes[2..]
            .as_chunks()
            .0
            .iter()
            .map(|pair| of(*pair))
            .collect();
        String::from_utf16_lossy(&units)
    };
    match bytes.get(..2) {
        Some([0xff, 0xfe]) => utf16(u16::from_le_bytes),
        Some([0xfe, 0xff]) => utf16(u16::from_be_bytes),
        _ => match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
        },
    }
}

fn reason(error: ZipError) -> Unreadable {
    match error {
        ZipError::UnsupportedArchive(ZipError::PASSWORD_REQUIRED) => Unreadable::Encrypted,
        ZipError::InvalidPassword => Unreadable::Encrypted,
        _ => Unreadable::Damaged,
    }
}
