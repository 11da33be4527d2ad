//! What does a page say of itself, as people and other programs read it?

use page::Fields;
use serde::Serialize;

/// Authors, dates and the rest; what a page does not say is left out.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Stated {
    /// What it is: `article`, `Course`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Who wrote it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub authors: Vec<String>,
    /// When it was published, in UTC.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub published: Option<String>,
    /// When it was changed, in UTC.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub modified: Option<String>,
    /// Who published it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub publisher: Option<String>,
    /// What it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The same in words.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub keywords: Vec<String>,
    /// A DOI, an ISBN.
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

/// A moment; a year that no calendar has is not said.
fn written(seconds: i64) -> Option<String> {
    let at = jiff::Timestamp::from_second(seconds).ok()?;
    Some(at.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_written_and_silence_is_left_out() {
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
