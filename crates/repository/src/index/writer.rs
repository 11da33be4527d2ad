//! The single writer of an index: adds, replaces and removes pages.
//!
//! **Invariant:** putting a page replaces its last version, so a put can be repeated safely.
//! Changes become visible only with a commit. A commit carries the ledger sequence up to which
//! the index is complete.

use std::borrow::Cow;
use std::ops::Range;

use page::{PageId, Simhash};
use tantivy::indexer::{IndexWriter, IndexWriterOptions};
use tantivy::schema::{IndexRecordOption, Term};
use tantivy::{DocAddress, DocSet, TERMINATED, TantivyDocument, TantivyError};

use super::content::{DividedText, divide, headings};
use super::duplicates::SHORTEST;
use super::measure::GainMeasure;
use super::safe_text::safe_text;
use super::score::LinkStats;
use super::stored::{CommittedPage, StoredPage};
use super::template::HostTemplates;
use super::{Index, IndexError, Workload, files, payload, sections};

/// Bytes of memory that the program's index writer may use before it writes a segment to disk.
pub const HEAP: usize = 50_000_000;

/// Maximum bytes of a page's text that are indexed (hostile-web.md, row 35).
const TEXT_LIMIT: usize = 1 << 20;

/// Maximum bytes of a title. Result pages show about 60 letters.
const TITLE_LIMIT: usize = 1024;

/// The result of [`PageIndexWriter::add_links`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AddedLinks {
    /// The page was indexed again with the links.
    Added,
    /// Nothing was written, because the links would hardly change the score of the page.
    TooFew {
        /// Number of new links from which on the page is indexed again without new words.
        enough: u32,
    },
    /// The last commit does not have the page.
    NoPage,
}

/// Number of links that [`PageIndexWriter::add_links`] assumes for a page with fewer, when it
/// decides whether their number has more than doubled.
const FEW_LINKS: u32 = 10;

/// Maximum number of stored pages from which a writer learns the template of a host it has not
/// seen before.
const SAMPLE: usize = 16;

/// A page to index.
#[derive(Debug, Clone, Copy)]
pub struct Document<'a> {
    /// The id by which it is replaced and removed.
    pub id: PageId,
    /// Its URL.
    pub url: &'a str,
    /// Its host name.
    pub host: &'a str,
    /// Its title; may be empty.
    pub title: &'a str,
    /// Its readable text.
    pub text: &'a str,
    /// The byte ranges of the text that are navigation, in order.
    pub asides: &'a [Range<u32>],
    /// The sections of the text, in order.
    pub sections: &'a [page::PageSection],
    /// Bytes of the text that are link text, without navigation.
    pub linked: u32,
    /// Anchor texts of links to it that were not passed to the index before.
    pub anchors: &'a [&'a str],
    /// Number of pages that link to it and were not passed to the index before.
    pub in_links: u32,
    /// The kind of document: `html`, `text`, …; may be empty.
    pub kind: &'a str,
    /// The code of its language, if known.
    pub language: Option<&'a str>,
    /// When it was fetched, in Unix seconds.
    pub fetched_at: i64,
    /// The metadata that the page states, if any.
    pub stated: Option<&'a page::Fields>,
}

impl<'a> Document<'a> {
    /// Returns a page with id, URL and host name. All other fields are empty.
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

/// Writes to an index. There is at most one writer at a time.
pub struct PageIndexWriter {
    index: Index,
    writer: IndexWriter,
    templates: HostTemplates,
    pub(super) measure: Option<Box<GainMeasure>>,
}

impl PageIndexWriter {
    pub(super) fn new(index: &Index, heap: usize) -> Result<Self, IndexError> {
        // One thread leaves the other processor cores to the crawl, and makes few, large
        // segments.
        let options = IndexWriterOptions::builder()
            .num_worker_threads(1)
            .memory_budget_per_thread(heap)
            .num_merge_threads(1)
            .build();
        let writer = index.index.writer_with_options(options);
        let writer = writer.map_err(|error| index.fail("write to", error))?;
        // From here on this process holds the writer's lock.
        let removed = files::remove_orphans(&index.dir, &index.index);
        removed.map_err(|error| index.fail("write to", error))?;
        Ok(Self {
            index: index.clone(),
            writer,
            templates: HostTemplates::default(),
            measure: None,
        })
    }

    /// Starts to measure the gain of changes for searches of these words. Earlier measurements
    /// are discarded.
    ///
    /// Call it before the first change after a commit. Otherwise a page that was changed since
    /// is compared with its copy in that commit.
    pub fn measure(&mut self, workload: &Workload) -> Result<(), IndexError> {
        let index = &self.index;
        let measure = GainMeasure::new(workload, index.reader.searcher(), &index.fields);
        let measure = measure.map_err(|error| self.index.fail("read", error))?;
        self.measure = Some(Box::new(measure));
        Ok(())
    }

    /// Puts a page into the index, in place of its last version.
    ///
    /// Returns the gain for searchers, ΔQ_A, which is never negative. Returns `None` if gains
    /// are not [measured](PageIndexWriter::measure).
    pub fn put(&mut self, page: &Document<'_>) -> Result<Option<f64>, IndexError> {
        let divided = self.divide(page)?;
        let link_share = u64::from(page.linked) * 100 / divided.body.len().max(1) as u64;
        let before = self.last(page.id)?;
        let known = before.as_ref().map(|before| &before.page);
        let (anchors, in_links) = known.map_or_else(Default::default, |known| {
            (known.anchors.clone(), known.link_stats.in_links)
        });
        let mut stored = StoredPage {
            id: page.id,
            url: page.url.to_owned(),
            host: page.host.to_owned(),
            title: safe_text(page.title, TITLE_LIMIT).into_owned(),
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
            link_stats: LinkStats {
                in_links,
                link_share: link_share.min(100) as u32,
            },
            stated: page.stated.cloned().unwrap_or_default(),
        };
        stored.link(page.anchors, page.in_links);
        let gain = self.measured(|measure| {
            measure.put(page.id, before.as_ref(), &stored.texts(), stored.link_stats)
        })?;
        self.add(stored)?;
        Ok(gain)
    }

    /// Adds links to a page that is in the last commit.
    ///
    /// This indexes the whole page again. So it does nothing if the score would hardly change:
    /// the title or known anchors have all words of the new anchors, and the number of links
    /// does not more than double. Fewer than 10 links count as 10.
    pub fn add_links(
        &mut self,
        id: PageId,
        anchors: &[&str],
        in_links: u32,
    ) -> Result<AddedLinks, IndexError> {
        let Some(CommittedPage {
            page: mut stored, ..
        }) = self.last(id)?
        else {
            return Ok(AddedLinks::NoPage);
        };
        let before = stored.link_stats.in_links;
        let most = before.max(FEW_LINKS).saturating_mul(2);
        let words = stored.summary_words();
        stored.link(anchors, in_links);
        let same_words = stored.summary_words() == words;
        if same_words && stored.link_stats.in_links <= most {
            let enough = most.saturating_add(1) - before;
            return Ok(AddedLinks::TooFew { enough });
        }
        self.add(stored)?;
        Ok(AddedLinks::Added)
    }

    /// Returns a page as it is in the last commit.
    fn last(&self, id: PageId) -> Result<Option<CommittedPage>, IndexError> {
        let searcher = self.index.reader.searcher();
        let read = CommittedPage::read(&searcher, &self.index.fields, id);
        read.map_err(|error| self.index.fail("read", error))
    }

    /// Separates a page's own text from navigation and template, and learns the template from
    /// the page.
    fn divide(&mut self, page: &Document<'_>) -> Result<DividedText, IndexError> {
        if !self.templates.knows(page.host) {
            let learned = self.learn(page.host);
            learned.map_err(|error| self.index.fail("read", error))?;
        }
        let text = safe_text(page.text, TEXT_LIMIT);
        // If characters were removed, the ranges no longer fit the text.
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

    /// Learns the template of a host from the pages in the index.
    fn learn(&mut self, host: &str) -> Result<(), TantivyError> {
        let fields = &self.index.fields;
        let searcher = self.index.reader.searcher();
        let term = Term::from_field_text(fields.site, host);
        let mut left = SAMPLE;
        for (number, segment) in (0..).zip(searcher.segment_readers()) {
            let inverted = segment.inverted_index(fields.site)?;
            let Some(mut pages) = inverted.read_postings(&term, IndexRecordOption::Basic)? else {
                continue;
            };
            while pages.doc() != TERMINATED && left > 0 {
                let address = DocAddress::new(number, pages.doc());
                let stored = StoredPage::read(&searcher, fields, address)?;
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
    fn add(&mut self, page: StoredPage) -> Result<(), IndexError> {
        self.delete(page.id);
        let fields = &self.index.fields;
        let (headings, ids) = headings(&page.body, &page.sections);
        let mut document = TantivyDocument::default();
        document.add_bytes(fields.id, &page.id.0.to_be_bytes());
        for domain in domains(&page.host) {
            document.add_text(fields.site, domain);
        }
        // Each line is one value, so that no phrase continues from one line to the next.
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
        document.add_u64(fields.in_links, page.link_stats.in_links.into());
        document.add_u64(fields.link_share, page.link_stats.link_share.into());
        document.add_u64(fields.simhash, page.simhash);
        if !page.stated.is_empty() {
            for author in &page.stated.authors {
                document.add_text(fields.author, author);
            }
            if let Some(date) = page.stated.date() {
                document.add_i64(fields.date, date);
            }
            let json = serde_json::to_string(&page.stated);
            let json = json.expect("texts and numbers can be written as JSON");
            document.add_text(fields.stated, json);
        }
        let added = self.writer.add_document(document);
        added.map_err(|error| self.index.fail("write to", error))?;
        Ok(())
    }

    /// Removes a page that is gone from the web.
    ///
    /// Returns the gain for searchers: the results after it move up. Returns `None` if gains are
    /// not [measured](PageIndexWriter::measure).
    pub fn remove(&mut self, id: PageId) -> Result<Option<f64>, IndexError> {
        let last = match self.measure {
            Some(_) => self.last(id)?,
            None => None,
        };
        let gain = self.measured(|measure| measure.remove(id, last.as_ref()))?;
        self.delete(id);
        Ok(gain)
    }

    /// Makes all changes durable and visible. [`Index::sequence`] then returns `sequence`.
    pub fn commit(&mut self, sequence: u64) -> Result<(), IndexError> {
        let committed = self.writer.prepare_commit().and_then(|mut commit| {
            commit.set_payload(&payload::text(sequence));
            commit.commit()
        });
        committed.map_err(|error| self.index.fail("commit", error))?;
        self.index.refresh()?;
        let searcher = self.index.reader.searcher();
        self.measured(|measure| measure.committed(searcher))?;
        Ok(())
    }

    /// Writes every segment that has removed pages again, so that their texts leave the disk. Call
    /// it after a commit. Blocks until all segments are written.
    pub fn purge(&mut self) -> Result<(), IndexError> {
        let mut purge = || -> Result<(), TantivyError> {
            for segment in self.index.index.searchable_segment_metas()? {
                if segment.has_deletes() {
                    self.writer.merge(&[segment.id()]).wait()?;
                }
            }
            self.writer.garbage_collect_files().wait()?;
            Ok(())
        };
        purge().map_err(|error| self.index.fail("write to", error))?;
        self.index.refresh()
    }

    fn delete(&mut self, id: PageId) {
        let term = Term::from_field_bytes(self.index.fields.id, &id.0.to_be_bytes());
        self.writer.delete_term(term);
    }

    fn measured<T>(
        &mut self,
        work: impl FnOnce(&mut GainMeasure) -> Result<T, TantivyError>,
    ) -> Result<Option<T>, IndexError> {
        let done = self.measure.as_deref_mut().map(work).transpose();
        done.map_err(|error| self.index.fail("read", error))
    }
}

/// Returns a host and the domains above it: `a.b.c`, `b.c`, `c`. For an IP address, returns only
/// the address.
fn domains(host: &str) -> impl Iterator<Item = &str> {
    let is_address = host.starts_with('[') || host.parse::<std::net::Ipv4Addr>().is_ok();
    // A hostile name can have 127 labels, and each would be a term. At most 16 are returned.
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
    fn a_host_gives_itself_and_the_domains_above_it() {
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
