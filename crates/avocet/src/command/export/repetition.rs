//! Detection of main texts that many pages of a host share, which are failed extractions.
//!
//! The ledger lists pages host by host. The first pages of a host are held back until there are
//! enough to see repetition. Of later pages only hashes are kept.
//!
//! **Invariant:** memory is bounded by [`HELD`] pages or [`HELD_BYTES`] of one host, and
//! [`DIGESTS`] hashes.

use std::collections::HashMap;
use std::rc::Rc;

use anyhow::Result;
use frontier::Visited;
use page::HostId;
use page::article::{Article, Template};
use xxhash_rust::xxh3::xxh3_64;

use node::readable::Readable;

/// Maximum number of pages of a host that are held back.
const HELD: usize = 64;
/// Bytes of text and Markdown at which the pages of a host are no longer held back.
const HELD_BYTES: usize = 16 << 20;
/// Maximum number of main texts counted per host. Later ones pass as correct extractions.
const DIGESTS: usize = 1 << 16;
/// Minimum number of pages with the same main text that counts as repetition, unless their whole
/// texts are equal too.
const MANY: u32 = 3;

/// A page to export, with what is needed to read it again.
pub(super) struct ExportCandidate {
    pub host: HostId,
    pub visited: Visited,
    pub page: Readable,
}

/// A page that is ready to be written.
pub(super) struct ReadyPage {
    pub candidate: ExportCandidate,
    /// The template of its host if its main text is repeated. The page is then written with all of
    /// its text except the template.
    pub repeated: Option<Rc<Template>>,
}

/// Counts of the main texts of the current host.
#[derive(Default)]
pub(super) struct RepeatedTexts {
    host: Option<HostId>,
    held: Vec<ExportCandidate>,
    held_bytes: usize,
    /// Whether the pages of this host are no longer held back.
    released: bool,
    seen: HashMap<u64, MainTextCount>,
    template: Rc<Template>,
}

/// The pages that have one main text.
struct MainTextCount {
    pages: u32,
    /// Fingerprint of the whole text of the first of them.
    whole: Option<u64>,
    /// Whether their whole texts differ. If not, the pages are duplicates.
    differs: bool,
}

impl RepeatedTexts {
    /// Adds the next page in the order of the ledger. Returns the pages that can be written now.
    ///
    /// `learn` reads all text of a page; the template of the host is derived from it.
    pub fn push(
        &mut self,
        candidate: ExportCandidate,
        learn: impl Fn(&ExportCandidate) -> Result<Option<Article>>,
    ) -> Result<Vec<ReadyPage>> {
        let mut ready = Vec::new();
        if self.host != Some(candidate.host) {
            ready = self.finish(&learn)?;
            self.host = Some(candidate.host);
        }
        self.count(&candidate);
        self.held_bytes += candidate.page.text.len() + candidate.page.markdown.len();
        self.held.push(candidate);
        if self.released || self.held.len() >= HELD || self.held_bytes >= HELD_BYTES {
            ready.extend(self.release(&learn)?);
        }
        Ok(ready)
    }

    /// Ends the current host. Returns the pages that were held back.
    pub fn finish(
        &mut self,
        learn: impl Fn(&ExportCandidate) -> Result<Option<Article>>,
    ) -> Result<Vec<ReadyPage>> {
        let ready = self.release(learn)?;
        *self = Self::default();
        Ok(ready)
    }

    fn count(&mut self, candidate: &ExportCandidate) {
        if candidate.page.extraction_reason.is_some() {
            return;
        }
        let text = candidate
            .visited
            .copy
            .as_ref()
            .and_then(|copy| copy.text.as_ref());
        let whole = text.map(|text| text.fingerprint.0);
        let key = digest(&candidate.page);
        let full = self.seen.len() >= DIGESTS;
        match self.seen.get_mut(&key) {
            Some(seen) => {
                seen.pages = seen.pages.saturating_add(1);
                seen.differs |= seen.whole != whole;
            }
            None if full => {}
            None => {
                let seen = MainTextCount {
                    pages: 1,
                    whole,
                    differs: false,
                };
                self.seen.insert(key, seen);
            }
        }
    }

    fn is_repeated(&self, candidate: &ExportCandidate) -> bool {
        let seen = self.seen.get(&digest(&candidate.page));
        candidate.page.extraction_reason.is_none()
            && seen.is_some_and(|seen| seen.differs && seen.pages >= MANY)
    }

    fn release(
        &mut self,
        learn: impl Fn(&ExportCandidate) -> Result<Option<Article>>,
    ) -> Result<Vec<ReadyPage>> {
        if !self.released {
            let repeated = self
                .held
                .iter()
                .filter(|candidate| self.is_repeated(candidate));
            let articles = repeated.map(learn).collect::<Result<Vec<_>>>()?;
            let articles: Vec<Article> = articles.into_iter().flatten().collect();
            self.template = Rc::new(Template::of(&articles));
        }
        self.released = true;
        self.held_bytes = 0;
        let held = std::mem::take(&mut self.held);
        let ready = |candidate: ExportCandidate| {
            let repeated = self.is_repeated(&candidate);
            ReadyPage {
                candidate,
                repeated: repeated.then(|| self.template.clone()),
            }
        };
        Ok(held.into_iter().map(ready).collect())
    }
}

fn digest(page: &Readable) -> u64 {
    xxh3_64(page.text.as_bytes())
}
