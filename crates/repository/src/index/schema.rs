//! The schema: the fields of a page in the index.
//!
//! **Invariant:** an index with other fields, or with another way to split text, is rejected
//! when it is opened. So any change here means that stores rebuild their index.

use tantivy::IndexSettings;
use tantivy::schema::{
    BytesOptions, FAST, Field, INDEXED, IndexRecordOption, STORED, STRING, Schema,
    TextFieldIndexing, TextOptions,
};
use tantivy::store::Compressor;

use super::weights::Part;
use super::words;

/// The handles of the fields.
#[derive(Clone, Copy)]
pub(super) struct SchemaFields {
    /// The page id, big-endian. Pages are replaced and removed by it.
    pub(super) id: Field,
    pub(super) url: Field,
    /// The host name; a column, because facets count it.
    pub(super) host: Field,
    /// The host and every domain above it, for `site:`.
    pub(super) site: Field,
    pub(super) title: Field,
    /// Headings are not stored: they are ranges of the body that [`SchemaFields::sections`] names.
    pub(super) headings: Field,
    pub(super) ids: Field,
    pub(super) anchors: Field,
    pub(super) body: Field,
    pub(super) rest: Field,
    /// The encoded sections of the body ([`super::sections`]).
    pub(super) sections: Field,
    pub(super) language: Field,
    /// `html`, `text`, …, for `filetype:`.
    pub(super) kind: Field,
    /// Time of fetch in Unix seconds; a column, so that results can be limited and sorted by it.
    pub(super) fetched_at: Field,
    /// The authors that the page states, for `author:`.
    pub(super) author: Field,
    /// The date that the page states (of publication, or else of change), in Unix seconds, for
    /// `date:`.
    pub(super) date: Field,
    /// Number of pages that link to it.
    pub(super) in_links: Field,
    /// Share of the body that is link text, in percent.
    pub(super) link_share: Field,
    /// Similarity hash of the body; 0 if the body is too short.
    pub(super) simhash: Field,
    /// All metadata that the page states, as JSON.
    pub(super) stated: Field,
}

impl SchemaFields {
    /// Returns the field of a part.
    pub(super) fn part(&self, part: Part) -> Field {
        match part {
            Part::Title => self.title,
            Part::Headings => self.headings,
            Part::Ids => self.ids,
            Part::Anchors => self.anchors,
            Part::Url => self.url,
            Part::Body => self.body,
            Part::Rest => self.rest,
        }
    }
}

pub(super) fn schema() -> (Schema, SchemaFields) {
    let indexing = TextFieldIndexing::default()
        .set_tokenizer(words::NAME)
        .set_index_option(IndexRecordOption::WithFreqsAndPositions);
    let counted = indexing
        .clone()
        .set_index_option(IndexRecordOption::WithFreqs);
    let found_only = TextOptions::default().set_indexing_options(indexing);
    let text = || found_only.clone().set_stored();
    let rest = TextOptions::default()
        .set_indexing_options(counted)
        .set_stored();
    let mut schema = Schema::builder();
    let fields = SchemaFields {
        id: schema.add_bytes_field("id", BytesOptions::default().set_indexed().set_stored()),
        url: schema.add_text_field("url", text()),
        host: schema.add_text_field("host", STORED | FAST),
        site: schema.add_text_field("site", STRING),
        title: schema.add_text_field("title", text()),
        headings: schema.add_text_field("headings", found_only.clone()),
        ids: schema.add_text_field("ids", found_only.clone()),
        anchors: schema.add_text_field("anchors", text()),
        body: schema.add_text_field("body", text()),
        rest: schema.add_text_field("rest", rest),
        sections: schema.add_bytes_field("sections", STORED),
        language: schema.add_text_field("language", STRING | STORED | FAST),
        kind: schema.add_text_field("kind", STRING | STORED | FAST),
        fetched_at: schema.add_i64_field("fetched_at", STORED | FAST),
        author: schema.add_text_field("author", found_only.clone()),
        date: schema.add_i64_field("date", INDEXED | STORED | FAST),
        in_links: schema.add_u64_field("in_links", STORED | FAST),
        link_share: schema.add_u64_field("link_share", STORED | FAST),
        simhash: schema.add_u64_field("simhash", STORED | FAST),
        stated: schema.add_text_field("stated", STORED),
    };
    (schema.build(), fields)
}

pub(super) fn settings() -> IndexSettings {
    IndexSettings {
        docstore_compression: Compressor::Lz4,
        ..IndexSettings::default()
    }
}
