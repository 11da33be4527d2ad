//! The metadata that a page states about itself, as the API returns it.

use node::readable::stated::Stated;
use serde::Serialize;
use utoipa::ToSchema;

/// Authors, dates and other metadata. Fields that the page does not state are left out.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Stated)]
pub struct StatedFields {
    /// The kind of page as the page names it, such as `article` or `Course`.
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<String>,
    /// The authors.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    authors: Vec<String>,
    /// When it was published, in UTC.
    #[serde(skip_serializing_if = "Option::is_none")]
    published: Option<String>,
    /// When it was changed, in UTC.
    #[serde(skip_serializing_if = "Option::is_none")]
    modified: Option<String>,
    /// The publisher.
    #[serde(skip_serializing_if = "Option::is_none")]
    publisher: Option<String>,
    /// A description of the content.
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    /// Keywords.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    keywords: Vec<String>,
    /// An identifier such as a DOI or an ISBN.
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
