//! What a page says of itself, as the API describes it.

use node::readable::stated::Stated;
use serde::Serialize;
use utoipa::ToSchema;

/// Authors, dates and the rest; what a page does not say is left out.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Stated)]
pub struct StatedFields {
    /// What it is: `article`, `Course`.
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<String>,
    /// Who wrote it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    authors: Vec<String>,
    /// When it was published, in UTC.
    #[serde(skip_serializing_if = "Option::is_none")]
    published: Option<String>,
    /// When it was changed, in UTC.
    #[serde(skip_serializing_if = "Option::is_none")]
    modified: Option<String>,
    /// Who published it.
    #[serde(skip_serializing_if = "Option::is_none")]
    publisher: Option<String>,
    /// What it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    /// The same in words.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    keywords: Vec<String>,
    /// A DOI, an ISBN.
    #[serde(skip_serializing_if = "Option::is_none")]
    identifier: Option<String>,
}

impl From<Stated> for StatedFields {
    fn from(stated: Stated) -> Self {
        Self {
            kind: stated.kind,
            authors: stated.authors,
            published: stated.published,
            modified: stated.modified,
            publisher: stated.publisher,
            description: stated.description,
            keywords: stated.keywords,
            identifier: stated.identifier,
        }
    }
}
