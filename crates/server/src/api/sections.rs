//! The sections of a page, which `GET /api/v1/page` returns with the page itself.

use node::page_text::PageText;
use page::url::with_fragment;
use repository::index::{IndexedSection, section_text};
use serde::Serialize;
use utoipa::ToSchema;

use super::page::PageBody;

/// A page with its sections.
#[derive(Debug, Serialize, ToSchema)]
pub struct SectionedPage {
    /// The page. If a section was requested, `text` is empty and `markdown` is `null`.
    #[serde(flatten)]
    page: PageBody,
    /// All sections, in order. A section reaches from its heading to the next heading of any level.
    sections: Vec<SectionEntry>,
    /// The requested section.
    #[schema(required)]
    section: Option<SectionBody>,
}

/// A section in the list of a page.
#[derive(Debug, Serialize, ToSchema)]
struct SectionEntry {
    /// The heading.
    heading: String,
    /// The id, which a URL names in its fragment; `null` if the section has none.
    #[schema(required)]
    id: Option<String>,
    /// 1 to 6 for a heading, 7 for an entry of a definition list.
    level: u8,
}

/// A section with its text.
#[derive(Debug, Serialize, ToSchema)]
struct SectionBody {
    /// The heading.
    heading: String,
    /// The id, which a URL names in its fragment.
    id: String,
    /// The URL of the section.
    url: String,
    /// The text, with the heading.
    text: String,
}

impl SectionedPage {
    /// Adds the sections to a page. Returns `None` if no section has the requested id.
    pub(super) fn of(mut page: PageText, id: Option<String>) -> Option<Self> {
        let kept = page.indexed.take().unwrap_or_default();
        let mut page = PageBody::from(page);
        let entry = |section: &IndexedSection| SectionEntry {
            heading: section.title(&kept.text).to_owned(),
            id: section.id.clone(),
            level: section.level,
        };
        let sections = kept.sections.iter().map(entry).collect();
        let Some(id) = id else {
            return Some(Self {
                page,
                sections,
                section: None,
            });
        };
        let mut ids = kept.sections.iter().map(|section| section.id.as_ref());
        let number = ids.position(|known| known == Some(&id))?;
        let section = SectionBody {
            heading: kept.sections[number].title(&kept.text).to_owned(),
            url: with_fragment(&page.url, Some(&id)),
            text: section_text(&kept.text, &kept.sections, number)?.to_owned(),
            id,
        };
        page.text.clear();
        page.markdown = None;
        Some(Self {
            page,
            sections,
            section: Some(section),
        })
    }
}
