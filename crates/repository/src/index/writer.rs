//! The one writer of an index: puts pages in and takes them out.
//!
//! **Invariant:** putting a page replaces it, so that repeating a put is safe. Nothing shows before
//! a commit, and a commit names the ledger's sequence up to which everything is in.

use std::borrow::Cow;
use std::ops::Range;

use page::{PageId, Simhash};
use tantivy::indexer::{IndexWriter, IndexWriterOptions};
use tantivy::schema::{IndexRecordOption, Term};
use tantivy::{DocAddress, DocSet, IndexReader, TERMINATED, TantivyDocument, TantivyError};

use super::content::{Divided, divide, headings};
use super::duplicates::SHORTEST;
use super::measure::Measure;
use super::schema::Fields;
use super::score::Standing;
use super::shown::shown;
use super::stored::{Committed, Stored};
use super::template::Templates;
use super::{Index, IndexError, Workload, files, payload, sections};

/// Memory for a writer, in bytes: a fifth of what the program may use.
pub const HEAP: usize = 50_000_000;

/// The most text of a page that is indexed (hostile-web.md, row 35).
const TEXT_LIMIT: usize = 1 << 20;

/// The most of a title. Result pages show some 60 letters.
const TITLE_LIMIT: usize = 1024;

/// Links to a page that do not move its score.
const FEW_LINKS: u32 = 10;

/// Pages of a host that its template is learned from when a writer meets the host for the first time.
const SAMPLE: usize = 16;

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
    /// The ranges of the text that are navigation, in order.
    pub asides: &'a [Range<u32>],
    /// The sections of the text, in order.
    pub sections: &'a [page::Section],
    /// Bytes of the text that are words of links, navigation left out.
    pub linked: u32,
    /// The words of links that lead to it and that the index was not told of.
    pub anchors: &'a [&'a str],
    /// How many pages link to it that the index was not told of.
    pub in_links: u32,
    /// What kind of document it is: `html`, `text`, …; may be empty.
    pub kind: &'a str,
    /// The code of its language, if known.
    pub language: Option<&'a str>,
    /// When it was fetched, in Unix seconds.
    pub fetched_at: i64,
    /// What it says of itself to machines, if anything.
    pub stated: Option<&'a page::Fields>,
}

impl<'a> Document<'a> {
    /// A page of which only id, URL and host name are known.
    pub fn new(id: PageId, url: &'a str, host: &'a str) -> Self {
        Self {
            id,
            url,
            host,
            title: "",
            text: "",
            asides: &[],
            sections: &[],
            linked: 0,
            anchors: &[],
            in_links: 0,
            kind: "",
            language: None,
            fetched_at: 0,
            stated: None,
        }
    }
}

/// Writes to an index. There is one at a time.
pub struct Writer {
    index: Index,
    writer: IndexWriter,
    reader: IndexReader,
    fields: Fields,
    templates: Templates,
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
            templates: Templates::default(),
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
        let divided = self.divide(page)?;
        let link_share = u64::from(page.linked) * 100 / divided.body.len().max(1) as u64;
        let before = self.last(page.id)?;
        let known = before.as_ref().map(|before| &before.page);
        let (anchors, in_links) = known.map_or_else(Default::default, |known| {
            (known.anchors.clone(), known.standing.in_links)
        });
        let mut stored = Stored {
            id: page.id,
            url: page.url.to_owned(),
            host: page.host.to_owned(),
            title: shown(page.title, TITLE_LIMIT).into_owned(),
            anchors,
            simhash: match divided.body.len() {
                SHORTEST.. => Simhash::of(&divided.body).0,
                _ => 0,
            },
            body: divided.body,
            rest: divided.rest,
            sections: divided.sections,
            language: page.language.map(str::to_owned),
            kind: Some(page.kind.to_owned()).filter(|kind| !kind.is_empty()),
            fetched_at: page.fetched_at,
            standing: Standing {
                in_links,
                link_share: link_share.min(100) as u32,
            },
            stated: page.stated.cloned().unwrap_or_default(),
        };
        stored.link(page.anchors, page.in_links);
        let gain = match &mut self.measure {
            None => None,
            Some(measure) => {
                let (texts, standing) = (stored.texts(), stored.standing);
                let gain = measure.put(page.id, before.as_ref(), &texts, standing);
                Some(gain.map_err(|error| self.index.fail("read", error))?)
            }
        };
        self.add(stored)?;
        Ok(gain)
    }

    /// Adds to what is known of the links to a page that is in the last commit. Returns whether it is there.
    ///
    /// This indexes the whole page again, so it does nothing where the score would hardly change: the title or known
    /// anchors have all words of the new anchors, and the number of links does not double.
    pub fn add_links(
        &mut self,
        id: PageId,
        anchors: &[&str],
        in_links: u32,
    ) -> Result<bool, IndexError> {
        let Some(Committed {
            page: mut stored, ..
        }) = self.last(id)?
        else {
            return Ok(false);
        };
        let before = stored.standing.in_links;
        let words = stored.summary_words();
        stored.link(anchors, in_links);
        let same_words = stored.summary_words() == words;
        if !same_words || stored.standing.in_links > 2 * before.max(FEW_LINKS) {
            self.add(stored)?;
        }
        Ok(true)
    }

    /// A page as the last commit has it.
    fn last(&self, id: PageId) -> Result<Option<Committed>, IndexError> {
        let read = Committed::read(&self.reader.searcher(), &self.fields, id);
        read.map_err(|error| self.index.fail("read", error))
    }

    /// Parts a page's own text from navigation and template, and learns the template from it.
    fn divide(&mut self, page: &Document<'_>) -> Result<Divided, IndexError> {
        if !self.templates.knows(page.host) {
            let learned = self.learn(page.host);
            learned.map_err(|error| self.index.fail("read", error))?;
        }
        let text = shown(page.text, TEXT_LIMIT);
        // Where characters were taken out, ranges are of another text.
        let (asides, sections) = match &text {
            Cow::Borrowed(_) => (page.asides, page.sections),
            Cow::Owned(_) => (&[][..], &[][..]),
        };
        let is_template = |line: &str| self.templates.has(page.host, line);
        let mut divided = divide(&text, asides, sections, is_template);
        if divided.body.is_empty() {
            std::mem::swap(&mut divided.body, &mut divided.rest);
        }
        self.templates.learn(page.host, text.lines());
        Ok(divided)
    }

    /// Learns the template of a host from pages that the index has.
    fn learn(&mut self, host: &str) -> Result<(), TantivyError> {
        let searcher = self.reader.searcher();
        let term = Term::from_field_text(self.fields.site, host);
        let mut left = SAMPLE;
        for (number, segment) in (0..).zip(searcher.segment_readers()) {
            let inverted = segment.inverted_index(self.fields.site)?;
            let Some(mut pages) = inverted.read_postings(&term, IndexRecordOption::Basic)? else {
                continue;
            };
            while pages.doc() != TERMINATED && left > 0 {
                let address = DocAddress::new(number, pages.doc());
                let stored = Stored::read(&searcher, &self.fields, address)?;
                if stored.host == host {
                    self.templates
                        .learn(host, stored.body.lines().chain(stored.rest.lines()));
                    left -= 1;
                }
                pages.advance();
            }
        }
        Ok(())
    }

    /// Adds a page in place of its last version.
    fn add(&mut self, page: Stored) -> Result<(), IndexError> {
        self.delete(page.id);
        let fields = &self.fields;
        let (headings, ids) = headings(&page.body, &page.sections);
        let mut document = TantivyDocument::default();
        document.add_bytes(fields.id, &page.id.0.to_be_bytes());
        for domain in domains(&page.host) {
            document.add_text(fields.site, domain);
        }
        // One value a line: no phrase goes on from one to the next.
        for (field, lines) in [
            (fields.headings, &headings),
            (fields.ids, &ids),
            (fields.anchors, &page.anchors),
        ] {
            for line in lines.lines() {
                document.add_text(field, line);
            }
        }
        if !page.sections.is_empty() {
            document.add_bytes(fields.sections, &sections::encode(&page.sections));
        }
        document.add_text(fields.url, page.url);
        document.add_text(fields.host, page.host);
        document.add_text(fields.title, page.title);
        document.add_text(fields.body, page.body);
        document.add_text(fields.rest, page.rest);
        if let Some(language) = page.language {
            document.add_text(fields.language, language);
        }
        if let Some(kind) = page.kind {
            document.add_text(fields.kind, kind);
        }
        document.add_i64(fields.fetched_at, page.fetched_at);
        document.add_u64(fields.in_links, page.standing.in_links.into());
        document.add_u64(fields.link_share, page.standing.link_share.into());
        document.add_u64(fields.simhash, page.simhash);
        if !page.stated.is_empty() {
            self.state(&mut document, &page.stated);
        }
        match self.writer.add_document(document) {
            Ok(_) => Ok(()),
            Err(error) => Err(self.index.fail("write to", error)),
        }
    }

    /// Takes a page out. Returns what that was worth to searchers if the page is gone from the web: who comes after
    /// it is seen more. `None` if nothing is [measured](Writer::measure).
    pub fn remove(&mut self, id: PageId) -> Result<Option<f64>, IndexError> {
        let last = match self.measure {
            Some(_) => self.last(id)?,
            None => None,
        };
        let gain = self.measured(|measure| measure.remove(id, last.as_ref()))?;
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
