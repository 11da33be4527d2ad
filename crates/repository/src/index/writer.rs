//! The one writer of an index: puts pages in and takes them out.
//!
//! **Invariant:** putting a page replaces it, so that repeating a put is safe. Nothing shows before
//! a commit, and a commit names the ledger's sequence up to which everything is in.

use page::PageId;
use tantivy::indexer::{IndexWriter, IndexWriterOptions};
use tantivy::schema::Term;
use tantivy::{IndexReader, TantivyDocument, TantivyError};

use super::measure::{Copy, Measure, Texts};
use super::schema::Fields;
use super::shown::shown;
use super::{Index, IndexError, Workload, files, payload};

/// Memory for a writer, in bytes: a fifth of what the program may use.
pub const HEAP: usize = 50_000_000;

/// The most text of a page that is indexed (hostile-web.md, row 35).
const TEXT_LIMIT: usize = 1 << 20;

/// The most of a title. Result pages show some 60 letters.
const TITLE_LIMIT: usize = 1024;

/// A page to be found.
#[derive(Debug, Clone, Copy)]
pub struct Document<'a> {
    /// What it replaces and is removed by.
    pub id: PageId,
    /// Its URL.
    pub url: &'a str,
    /// Its host name.
    pub host: &'a str,
    /// Its title; may be empty.
    pub title: &'a str,
    /// Its readable text.
    pub text: &'a str,
    /// The code of its language, if known.
    pub language: Option<&'a str>,
    /// When it was fetched, in Unix seconds.
    pub fetched_at: i64,
    /// What it says of itself to machines, if anything.
    pub stated: Option<&'a page::Fields>,
}

/// Writes to an index. There is one at a time.
pub struct Writer {
    index: Index,
    writer: IndexWriter,
    reader: IndexReader,
    fields: Fields,
    pub(super) measure: Option<Box<Measure>>,
}

impl Writer {
    pub(super) fn new(index: &Index, heap: usize) -> Result<Self, IndexError> {
        // One thread: the crawl needs the other core, and one keeps segments few and large.
        let options = IndexWriterOptions::builder()
            .num_worker_threads(1)
            .memory_budget_per_thread(heap)
            .num_merge_threads(1)
            .build();
        let writer = index.index.writer_with_options(options);
        let writer = writer.map_err(|error| index.fail("write to", error))?;
        // The writer's lock is ours now.
        let removed = files::remove_orphans(&index.dir, &index.index);
        removed.map_err(|error| index.fail("write to", error))?;
        let (reader, fields) = (index.reader.clone(), index.fields);
        Ok(Self {
            index: index.clone(),
            writer,
            reader,
            fields,
            measure: None,
        })
    }

    /// Measures from now on what changes are worth to those who search these words, in place of what was measured
    /// before. To be called before the first change after a commit: a page that was changed since is held
    /// against its copy in that commit.
    pub fn measure(&mut self, workload: &Workload) -> Result<(), IndexError> {
        let measure = Measure::new(workload, self.reader.searcher(), &self.fields);
        let measure = measure.map_err(|error| self.index.fail("read", error))?;
        self.measure = Some(Box::new(measure));
        Ok(())
    }

    /// Puts a page in, in place of its last version. Returns what that was worth to searchers, ΔQ_A, which is never
    /// negative; `None` if nothing is [measured](Writer::measure).
    pub fn put(&mut self, page: &Document<'_>) -> Result<Option<f64>, IndexError> {
        let last = self.measured(|measure| measure.take(page.id))?.flatten();
        let known = last.as_ref().map(Copy::texts).unwrap_or_default();
        let title = shown(page.title, TITLE_LIMIT, known.title);
        let text = shown(page.text, TEXT_LIMIT, known.body);
        let gain = self.measured(|measure| {
            let texts = Texts {
                title: &title,
                body: &text,
                url: page.url,
            };
            measure.put(page.id, last, texts)
        })?;
        self.delete(page.id);
        let fields = &self.fields;
        let mut document = TantivyDocument::default();
        document.add_bytes(fields.id, &page.id.0.to_be_bytes());
        document.add_text(fields.url, page.url);
        document.add_text(fields.host, page.host);
        for domain in domains(page.host) {
            document.add_text(fields.site, domain);
        }
        document.add_text(fields.title, title);
        document.add_text(fields.body, text);
        if let Some(language) = page.language {
            document.add_text(fields.language, language);
        }
        document.add_i64(fields.fetched_at, page.fetched_at);
        if let Some(stated) = page.stated.filter(|stated| !stated.is_empty()) {
            self.state(&mut document, stated);
        }
        match self.writer.add_document(document) {
            Ok(_) => Ok(gain),
            Err(error) => Err(self.index.fail("write to", error)),
        }
    }

    /// Takes a page out. Returns what that was worth to searchers if the page is gone from the web: who comes after
    /// it is seen more. `None` if nothing is [measured](Writer::measure).
    pub fn remove(&mut self, id: PageId) -> Result<Option<f64>, IndexError> {
        let gain = self.measured(|measure| measure.remove(id))?;
        self.delete(id);
        Ok(gain)
    }

    /// Makes everything so far safe and visible. `sequence` is what [`Index::sequence`] then says.
    pub fn commit(&mut self, sequence: u64) -> Result<(), IndexError> {
        let committed = self.writer.prepare_commit().and_then(|mut commit| {
            commit.set_payload(&payload::text(sequence));
            commit.commit()
        });
        committed.map_err(|error| self.index.fail("commit", error))?;
        self.reader
            .reload()
            .map_err(|error| self.index.fail("reload", error))?;
        let searcher = self.reader.searcher();
        self.measured(|measure| measure.committed(searcher))?;
        Ok(())
    }

    fn state(&self, document: &mut TantivyDocument, stated: &page::Fields) {
        for author in &stated.authors {
            document.add_text(self.fields.author, author);
        }
        if let Some(date) = stated.date() {
            document.add_i64(self.fields.date, date);
        }
        // Texts and numbers: nothing in them that JSON cannot say.
        if let Ok(json) = serde_json::to_string(stated) {
            document.add_text(self.fields.stated, json);
        }
    }

    fn delete(&mut self, id: PageId) {
        let term = Term::from_field_bytes(self.fields.id, &id.0.to_be_bytes());
        self.writer.delete_term(term);
    }

    fn measured<T>(
        &mut self,
        work: impl FnOnce(&mut Measure) -> Result<T, TantivyError>,
    ) -> Result<Option<T>, IndexError> {
        let done = self.measure.as_deref_mut().map(work).transpose();
        done.map_err(|error| self.index.fail("read", error))
    }
}

/// A host and the domains above it: `a.b.c`, `b.c`, `c`. An address is its own only domain.
fn domains(host: &str) -> impl Iterator<Item = &str> {
    let is_address = host.starts_with('[') || host.parse::<std::net::Ipv4Addr>().is_ok();
    // A hostile name has 127 labels; each is a term.
    std::iter::successors(Some(host), move |&name| {
        let (_, rest) = name.split_once('.').filter(|_| !is_address)?;
        (!rest.is_empty()).then_some(rest)
    })
    .take(16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn domains_of_hosts() {
        let check = |host, expected: &[&str]| {
            assert_eq!(domains(host).collect::<Vec<_>>(), expected);
        };
        check("a.example.org", &["a.example.org", "example.org", "org"]);
        check("localhost", &["localhost"]);
        check("127.0.0.1", &["127.0.0.1"]);
        check("[::1]", &["[::1]"]);
        check("example.org.", &["example.org.", "org."]);
    }
}
