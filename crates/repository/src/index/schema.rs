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

use super::words;

/// The handles of the fields.
#[derive(Clone, Copy)]
pub(super) struct Fields {
    /// The page id, big-endian: what a page is replaced and removed by.
    pub(super) id: Field,
    pub(super) url: Field,
    /// The host, as shown.
    pub(super) host: Field,
    /// The host and every domain above it: what `site:` looks up.
    pub(super) site: Field,
    pub(super) title: Field,
    pub(super) body: Field,
    pub(super) language: Field,
    /// Unix seconds; a column, so that a search can be for what is new.
    pub(super) fetched_at: Field,
    /// Who wrote the page, as it says: what `author:` looks up.
    pub(super) author: Field,
    /// When it was published, as it says, in Unix seconds: what `date:` looks up.
    pub(super) date: Field,
    /// All that it says of itself, as JSON.
    pub(super) stated: Field,
}

pub(super) fn schema() -> (Schema, Fields) {
    let indexing = TextFieldIndexing::default()
        .set_tokenizer(words::NAME)
        .set_index_option(IndexRecordOption::WithFreqsAndPositions);
    let found_only = TextOptions::default().set_indexing_options(indexing);
    let text = || found_only.clone().set_stored();
    let mut schema = Schema::builder();
    let fields = Fields {
        id: schema.add_bytes_field("id", BytesOptions::default().set_indexed().set_stored()),
        url: schema.add_text_field("url", text()),
        host: schema.add_text_field("host", STORED),
        site: schema.add_text_field("site", STRING),
        title: schema.add_text_field("title", text()),
        body: schema.add_text_field("body", text()),
        language: schema.add_text_field("language", STRING | STORED),
        fetched_at: schema.add_i64_field("fetched_at", STORED | FAST),
        author: schema.add_text_field("author", found_only.clone()),
        date: schema.add_i64_field("date", INDEXED),
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
