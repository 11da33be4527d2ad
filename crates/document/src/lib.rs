//! Reads documents that are not HTML: PDF, Office files (docx, pptx, xlsx), OpenDocument files
//! (odt, odp, ods) and EPUB.
//!
//! The result is simple HTML: a title, metadata, headings, paragraphs and links. All code that
//! reads HTML pages can then read documents too. The crate is pure: bytes in, HTML out.
//!
//! The parsers of these formats are large, and their input is hostile. So a crawl reads documents
//! in a child process with limits on memory and time (`node/src/documents.rs`).
//!
//! **Invariant:** the output has at most [`ReadingLimits::text`] bytes of text, whatever the input.
//! Decompression of a package yields at most [`ReadingLimits::inflated`] bytes. The streams of a
//! PDF have no such limit here: the memory of the process bounds them.

mod html;
mod office;
mod package;
mod pdf;
mod xml;

use thiserror::Error;

use html::HtmlWriter;
use package::Package;

/// The format of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DocumentFormat {
    /// Portable Document Format.
    Pdf,
    /// Office Open XML text.
    Docx,
    /// Office Open XML presentation.
    Pptx,
    /// Office Open XML spreadsheet.
    Xlsx,
    /// OpenDocument text.
    Odt,
    /// OpenDocument presentation.
    Odp,
    /// OpenDocument spreadsheet.
    Ods,
    /// Electronic book.
    Epub,
}

impl DocumentFormat {
    /// All formats.
    pub const ALL: [Self; 8] = [
        Self::Pdf,
        Self::Docx,
        Self::Pptx,
        Self::Xlsx,
        Self::Odt,
        Self::Odp,
        Self::Ods,
        Self::Epub,
    ];

    /// Returns the name that `filetype:` in a search uses, which is the usual file extension.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pdf => "pdf",
            Self::Docx => "docx",
            Self::Pptx => "pptx",
            Self::Xlsx => "xlsx",
            Self::Odt => "odt",
            Self::Odp => "odp",
            Self::Ods => "ods",
            Self::Epub => "epub",
        }
    }

    /// Returns the format with this [name](Self::name).
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.name() == name)
    }
}

/// Limits of reading one document. They bound output and decompression; the memory and the time of
/// a reader are limited by its process.
#[derive(Debug, Clone, Copy)]
pub struct ReadingLimits {
    /// Maximum bytes of text. The rest of the document is dropped.
    pub text: usize,
    /// Maximum number of bytes that decompression of a package (Office, OpenDocument, EPUB) yields.
    /// A larger document is refused.
    pub inflated: u64,
    /// Maximum number of pages of a PDF that are read. The rest is dropped.
    pub pages: usize,
}

impl Default for ReadingLimits {
    fn default() -> Self {
        Self {
            text: 4 << 20,
            inflated: 128 << 20,
            pages: 2_000,
        }
    }
}

/// The content of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadDocument {
    /// Its format.
    pub format: DocumentFormat,
    /// Its content as an HTML page with a title, metadata, headings, paragraphs and links.
    pub html: String,
    /// Whether a limit cut the text.
    pub cut: bool,
}

/// Why a document could not be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum Unreadable {
    /// It needs a password.
    #[error("the document is encrypted")]
    Encrypted,
    /// It has pages, but no text: scanned pages, for example.
    #[error("the document has no text")]
    NoText,
    /// Decompression would exceed its limit.
    #[error("the document is too large when decompressed")]
    TooLarge,
    /// It does not follow its format.
    #[error("the document is damaged")]
    Damaged,
    /// It is of no format that this crate reads.
    #[error("the format is not supported")]
    Unsupported,
}

impl Unreadable {
    /// All reasons.
    pub const ALL: [Self; 5] = [
        Self::Encrypted,
        Self::NoText,
        Self::TooLarge,
        Self::Damaged,
        Self::Unsupported,
    ];

    /// Returns the error code that records of pages have.
    pub fn code(self) -> &'static str {
        match self {
            Self::Encrypted => "document:encrypted",
            Self::NoText => "document:no-text",
            Self::TooLarge => "document:too-large",
            Self::Damaged => "document:damaged",
            Self::Unsupported => "document:unsupported",
        }
    }
}

/// Reads a document. Its content decides about its format.
pub fn read(bytes: &[u8], limits: ReadingLimits) -> Result<ReadDocument, Unreadable> {
    let mut html = HtmlWriter::new(limits.text);
    let format = match is_pdf(bytes) {
        true => {
            pdf::read(bytes, limits, &mut html)?;
            DocumentFormat::Pdf
        }
        false => {
            let mut package = Package::open(bytes, limits.inflated)?;
            let format = package.format()?;
            office::read(format, &mut package, &mut html)?;
            format
        }
    };
    if !html.has_text() {
        return Err(Unreadable::NoText);
    }
    let (html, cut) = html.finish();
    Ok(ReadDocument { format, html, cut })
}

/// Returns whether the file is a PDF. Readers of PDF accept other bytes before the signature.
fn is_pdf(bytes: &[u8]) -> bool {
    let start = &bytes[..bytes.len().min(1_024)];
    start.windows(5).any(|window| window == b"%PDF-")
}

#[cfg(test)]
mod tests;
