//! The fields of a page in the index.
//!
//! **Invariant:** an index with other fields, or other ways to split text, is not ours: it is
//! refused when opened, so changing anything here means that stores rebuild their index.

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
pub(super) struct Fields {
    /// The page id, big-endian: what a page is replaced and removed by.
    pub(super) id: Field,
    pub(super) url: Field,
    /// The host, as shown; a column, to be counted.
    pub(super) host: Field,
    /// The host and every domain above it: what `site:` looks up.
    pub(super) site: Field,
    pub(super) title: Field,
    /// Not stored: they are parts of the body that [`Fields::sections`] names.
    pub(super) headings: Field,
    pub(super) ids: Field,
    pub(super) anchors: Field,
    pub(super) body: Field,
    pub(super) rest: Field,
    /// Where the sections of the body are ([`super::sections`]).
    pub(super) sections: Field,
    pub(super) language: Field,
    /// `html`, `text`, …: what `filetype:` looks up.
    pub(super) kind: Field,
    /// Unix seconds; a column, so that a search can be for what is new.
    pub(super) fetched_at: Field,
    /// Who wrote the page, as it says: what `author:` looks up.
    pub(super) author: Field,
    /// When it was published, as it says, in Unix seconds: what `date:` looks up.
    pub(super) date: Field,
    /// Pages that link to it.
    pub(super) in_links: Field,
    /// The share of the body that is words of links, in percent.
    pub(super) link_share: Field,
    /// Similarity hash of the body; 0 if it is too short to have one.
    pub(super) simhash: Field,
    /// All that it says of itself, as JSON.
    pub(super) stated: Field,
}

impl Fields {
    /// Where the words of a part are.
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

pub(super) fn schema() -> (Schema, Fields) {
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
    let fields = Fields {
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
