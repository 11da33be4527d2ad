//! Main texts that many pages of a host have in common, which are failed extractions.
//!
//! The ledger gives pages host by host. The first pages of a host are held back until enough are
//! there to see repetition; of the rest only digests are kept. **Invariant:** memory is bounded: at most
//! [`HELD`] pages or [`HELD_BYTES`] of one host, and [`DIGESTS`] digests.

use std::collections::HashMap;
use std::rc::Rc;

use anyhow::Result;
use frontier::Visited;
use page::HostId;
use page::article::{Article, Template};
use xxhash_rust::xxh3::xxh3_64;

use node::readable::Readable;

/// Pages of a host that are held back.
const HELD: usize = 64;
/// Bytes of text and Markdown that are held back.
const HELD_BYTES: usize = 16 << 20;
/// Main texts of a host that are remembered. Those that come later are taken for good ones.
const DIGESTS: usize = 1 << 16;
/// Pages with the same main text that are too many, if their whole texts differ.
const MANY: u32 = 3;

/// A page, and where to read it again.
pub(super) struct Candidate {
    pub host: HostId,
    pub visited: Visited,
    pub page: Readable,
}

/// A page that can be written.
pub(super) struct Ready {
    pub candidate: Candidate,
    /// The template of its host, if its main text is repeated: all of the page's text but this is to
    /// be written instead.
    pub repeated: Option<Rc<Template>>,
}

/// The main texts of the host whose pages come now.
#[derive(Default)]
pub(super) struct Repetition {
    host: Option<HostId>,
    held: Vec<Candidate>,
    held_bytes: usize,
    /// Whether pages are no longer held back.
    released: bool,
    seen: HashMap<u64, Seen>,
    template: Rc<Template>,
}

/// Pages that gave one main text.
struct Seen {
    pages: u32,
    /// The digest of the whole text of the first of them.
    whole: Option<u64>,
    /// Whether another whole text gave it as well. If not, the pages are the same.
    differs: bool,
}

impl Repetition {
    /// Takes the next page in the order of the ledger. Returns the pages that can be written now.
    ///
    /// `learn` reads all text of a page, of which the template of the host is learned.
    pub fn push(
        &mut self,
        candidate: Candidate,
        learn: impl Fn(&Candidate) -> Result<Option<Article>>,
    ) -> Result<Vec<Ready>> {
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

    /// Ends a host. Returns the pages that were held back.
    pub fn finish(
        &mut self,
        learn: impl Fn(&Candidate) -> Result<Option<Article>>,
    ) -> Result<Vec<Ready>> {
        let ready = self.release(learn)?;
        *self = Self::default();
        Ok(ready)
    }

    fn count(&mut self, candidate: &Candidate) {
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
                let seen = Seen {
                    pages: 1,
                    whole,
                    differs: false,
                };
                self.seen.insert(key, seen);
            }
        }
    }

    fn is_repeated(&self, candidate: &Candidate) -> bool {
        let seen = self.seen.get(&digest(&candidate.page));
        candidate.page.extraction_reason.is_none()
            && seen.is_some_and(|seen| seen.differs && seen.pages >= MANY)
    }

    fn release(
        &mut self,
        learn: impl Fn(&Candidate) -> Result<Option<Article>>,
    ) -> Result<Vec<Ready>> {
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
        let ready = |candidate: Candidate| {
            let repeated = self.is_repeated(&candidate);
            Ready {
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
