//! The metadata of a page for the API and exports.

use page::Fields;
use serde::Serialize;

/// Metadata that a page states about itself. Missing fields are left out of the JSON.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Stated {
    /// The type of the page, such as `article` or `Course`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// The authors.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub authors: Vec<String>,
    /// When it was published, in UTC.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub published: Option<String>,
    /// When it was changed, in UTC.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub modified: Option<String>,
    /// The publisher.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub publisher: Option<String>,
    /// A description of the content.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The keywords.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub keywords: Vec<String>,
    /// An identifier, such as a DOI or an ISBN.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub identifier: Option<String>,
}

impl From<Fields> for Stated {
    fn from(fields: Fields) -> Self {
        Self {
            kind: fields.kind,
            authors: fields.authors,
            published: fields.published.and_then(written),
            modified: fields.modified.and_then(written),
            publisher: fields.publisher,
            description: fields.description,
            keywords: fields.keywords,
            identifier: fields.identifier,
        }
    }
}

/// Formats a Unix time; `None` if the timestamp type cannot represent it.
fn written(seconds: i64) -> Option<String> {
    let at = jiff::Timestamp::from_second(seconds).ok()?;
    Some(at.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_written_and_missing_fields_are_left_out() {
        let stated = Stated::from(Fields {
            authors: vec!["Ada".into()],
            published: Some(1_714_521_600),
            modified: Some(i64::MAX),
            ..Fields::default()
        });
        let json = serde_json::to_string(&stated).unwrap();
        assert_eq!(
            json,
            r#"{"authors":["Ada"],"published":"2024-05-01T00:00:00Z"}"#
        );
    }
}
