//! The full-text index: finds the pages that contain given words.
//!
//! **Invariants:** a page is in the index at most once. All text that the index returns was made
//! safe to display before it was stored. The index is derived data: a commit carries the ledger
//! sequence it reflects, so missing pages can be added later. A damaged index is recreated from
//! the archive.

mod content;
mod dictionary;
mod directory;
mod duplicates;
mod error;
mod evaluate;
mod facets;
mod files;
mod kept;
mod measure;
mod mentions;
mod merge;
mod owned_query;
mod payload;
mod phrase;
mod plan;
mod query;
mod safe_text;
mod schema;
mod score;
mod search;
mod sections;
mod similar;
mod snippet;
mod spelling;
mod statistics;
mod stored;
mod template;
mod weights;
mod word_finder;
mod words;
mod workload;
mod writer;

use std::fs;
use std::path::{Path, PathBuf};

use page::PageId;
use tantivy::directory::MmapDirectory;
use tantivy::schema::IndexRecordOption;
use tantivy::{
    DocId, DocSet, IndexReader, ReloadPolicy, Searcher, SegmentReader, TERMINATED, TantivyError,
};

pub use error::{Damage, IndexError};
pub use evaluate::Sort;
pub use facets::Facets;
pub use kept::IndexedPage;
pub use mentions::Mentions;
pub use merge::{HitsPart, merge};
pub use owned_query::OwnedQuery;
pub use payload::committed;
pub use search::{Hit, Hits, SearchQuery, SectionRef};
pub use sections::{IndexedSection, section_text};
pub use snippet::Snippet;
pub use statistics::QueryStatistics;
pub use weights::{Part, Weights};
pub use workload::{QueryCounter, Workload};
pub use writer::{AddedLinks, Document, HEAP, PageIndexWriter};

use directory::IndexDirectory;
use schema::SchemaFields;

/// The index in a directory.
#[derive(Clone)]
pub struct Index {
    dir: PathBuf,
    index: tantivy::Index,
    reader: IndexReader,
    fields: SchemaFields,
}

impl Index {
    /// Opens the index of a directory, or creates an empty one.
    ///
    /// After [`IndexError::Damaged`] the index must be recreated: remove the directory, open it
    /// again and put every page.
    pub fn open(dir: &Path) -> Result<Self, IndexError> {
        fs::create_dir_all(dir).map_err(|error| IndexError::new("create", dir, error.into()))?;
        let fail = |error| IndexError::new("open", dir, error);
        let directory = MmapDirectory::open(dir).map_err(|error| fail(error.into()))?;
        let directory = IndexDirectory(directory);
        let (schema, fields) = schema::schema();
        let exists = tantivy::Index::exists(&directory).map_err(|error| fail(error.into()))?;
        let index = if exists {
            tantivy::Index::open(directory)
        } else {
            tantivy::Index::create(directory, schema.clone(), schema::settings())
        };
        let index = index.map_err(fail)?;
        if index.schema() != schema {
            return Err(IndexError::Damaged {
                dir: dir.into(),
                source: Damage::Schema,
            });
        }
        index.tokenizers().register(words::NAME, words::analyzer());
        let reader = index
            .reader_builder()
            .reload_policy(ReloadPolicy::Manual)
            .try_into();
        let reader = reader.map_err(fail)?;
        Ok(Self {
            dir: dir.to_path_buf(),
            index,
            reader,
            fields,
        })
    }

    /// Opens the single writer. `heap` is the memory in bytes that it may use before it writes a
    /// segment to disk; the program uses [`HEAP`].
    pub fn writer(&self, heap: usize) -> Result<PageIndexWriter, IndexError> {
        PageIndexWriter::new(self, heap)
    }

    /// Makes commits of other processes visible. A commit by a writer of this `Index` is visible at
    /// once.
    pub fn refresh(&self) -> Result<(), IndexError> {
        self.reader
            .reload()
            .map_err(|error| self.fail("reload", error))
    }

    /// Verifies the checksums of the newest files, at a bounded cost ([`verify`](Index::verify)
    /// reads everything). An index that fails this check must be recreated.
    pub fn check(&self) -> Result<(), IndexError> {
        let damaged = files::first_damaged(&self.dir, &self.index);
        match damaged.map_err(|error| self.fail("read", error))? {
            None => Ok(()),
            Some(file) => Err(IndexError::Damaged {
                dir: self.dir.clone(),
                source: Damage::Checksum(file),
            }),
        }
    }

    /// Returns the ledger sequence of the last commit. Returns `None` before the first.
    pub fn sequence(&self) -> Result<Option<u64>, IndexError> {
        let metas = self
            .index
            .load_metas()
            .map_err(|error| self.fail("read", error))?;
        if metas.payload.is_none() && metas.segments.is_empty() {
            return Ok(None);
        }
        let payload = metas.payload.unwrap_or_default();
        let damaged = || IndexError::Damaged {
            dir: self.dir.clone(),
            source: Damage::Sequence,
        };
        payload::sequence(&payload).map(Some).ok_or_else(damaged)
    }

    /// Returns the number of pages in the last commit that is visible.
    pub fn count(&self) -> u64 {
        self.reader.searcher().num_docs()
    }

    /// Visits the id of every page, in arbitrary order.
    pub fn ids(&self, mut visit: impl FnMut(PageId)) -> Result<(), IndexError> {
        self.read(|searcher| {
            let mut segments = searcher.segment_readers().iter();
            segments.try_for_each(|segment| self.ids_of(segment, |_, id| visit(id)))
        })
    }

    /// Visits the pages of a segment that were not removed, sorted by id.
    fn ids_of(
        &self,
        segment: &SegmentReader,
        mut visit: impl FnMut(DocId, PageId),
    ) -> Result<(), TantivyError> {
        let inverted = segment.inverted_index(self.fields.id)?;
        let mut terms = inverted.terms().stream()?;
        while let Some((key, info)) = terms.next() {
            let Ok(key) = key.try_into() else { continue };
            let id = PageId(u128::from_be_bytes(key));
            let mut postings =
                inverted.read_postings_from_terminfo(info, IndexRecordOption::Basic)?;
            while postings.doc() != TERMINATED {
                if !segment.is_deleted(postings.doc()) {
                    visit(postings.doc(), id);
                }
                postings.advance();
            }
        }
        Ok(())
    }

    /// Reads every file of the index and verifies checksums and counts. Returns the damaged
    /// files.
    pub fn verify(&self) -> Result<Vec<PathBuf>, IndexError> {
        let fail = |error| self.fail("read", error);
        self.sequence()?;
        let mut damaged = self.index.validate_checksum().map_err(fail)?;
        // Tantivy's lists of managed files and of segments have no checksums, so their content is
        // compared with the segment files.
        let managed = self.index.directory().list_managed_files();
        let segments = self.index.searchable_segment_ids().map_err(fail)?;
        let segments: Vec<String> = segments.iter().map(|id| id.uuid_string()).collect();
        for entry in fs::read_dir(&self.dir).map_err(|error| fail(error.into()))? {
            let name = PathBuf::from(entry.map_err(|error| fail(error.into()))?.file_name());
            let stem = name
                .file_stem()
                .and_then(|stem| stem.to_str())
                .unwrap_or_default();
            let live = segments
                .iter()
                .any(|segment| stem.starts_with(segment.as_str()));
            if live && !managed.contains(&name) {
                damaged.insert(PathBuf::from(".managed.json"));
            }
        }
        for segment in self.reader.searcher().segment_readers() {
            let inverted = segment.inverted_index(self.fields.id).map_err(fail)?;
            let mut terms = inverted
                .terms()
                .stream()
                .map_err(|error| fail(error.into()))?;
            let mut pages = 0;
            while let Some((_, info)) = terms.next() {
                pages += info.doc_freq;
            }
            if pages != segment.max_doc() {
                damaged.insert(PathBuf::from("meta.json"));
            }
        }
        let mut damaged: Vec<PathBuf> = damaged.into_iter().collect();
        damaged.sort();
        Ok(damaged)
    }

    /// Reads the last commit.
    fn read<T>(
        &self,
        read: impl FnOnce(&Searcher) -> Result<T, TantivyError>,
    ) -> Result<T, IndexError> {
        read(&self.reader.searcher()).map_err(|error| self.fail("read", error))
    }

    fn fail(&self, action: &'static str, error: TantivyError) -> IndexError {
        IndexError::new(action, &self.dir, error)
    }
}
