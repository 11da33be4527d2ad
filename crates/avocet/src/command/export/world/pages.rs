//! The pages of the ledger, by number.

use std::collections::HashMap;

use anyhow::{Context, Result};
use ledger::LedgerReader;
use page::{PageId, PageUrl};
use policy::Moment;

/// Most redirects from a link to the page that it leads to.
const HOPS: u32 = 10;

/// What the export stores of a page.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct WorldPage {
    /// Whether the last copy has text and is no sitemap or feed.
    pub text: bool,
    /// Whether it is polled for new pages.
    pub source: bool,
    /// When it appeared on a page that had been read without the link before. `None`: it may have
    /// been there always.
    pub appeared: Option<Moment>,
    /// The page that it redirects to.
    pub redirect: Option<u32>,
    /// Whether a version of it has text.
    pub shown: bool,
}

/// All pages of the ledger. Their numbers are those of the ledger.
#[derive(Debug, Default)]
pub(super) struct WorldPages {
    numbers: HashMap<PageId, u32>,
    pages: Vec<WorldPage>,
}

impl WorldPages {
    /// Reads the ledger.
    ///
    /// A source is a page with a copy that is a seed, the main page of a host, or a sitemap or
    /// feed.
    /// A page that one of these named at its first visit is a source if it named a new page later.
    pub fn read(ledger: &LedgerReader) -> Result<Self> {
        let mut known_pages = Self::default();
        let mut named_new_pages = Vec::new();
        for known in ledger.scan() {
            let known = known?;
            let number = u32::try_from(known.discovery.order)
                .context("the store has more pages than a world can have (2^32)")?;
            let history = known.history();
            let copy = known.visited.as_ref().and_then(|last| last.copy.as_ref());
            let url = PageUrl::parse(&known.discovery.url)?;
            let is_old = known.discovery.absent.is_none();
            let is_start = known.discovery.source.is_none() || url.path_and_query() == "/";
            if let (Some(by), Some(_), 1..) = (known.discovery.source, copy, history.finds.total)
                && is_old
            {
                named_new_pages.push((number, by));
            }
            known_pages.numbers.insert(known.key.page, number);
            let needed = number as usize + 1;
            if known_pages.pages.len() < needed {
                known_pages.pages.resize(needed, WorldPage::default());
            }
            known_pages.pages[number as usize] = WorldPage {
                text: copy.is_some_and(|copy| copy.text.is_some()) && !history.listing,
                source: copy.is_some() && (is_start || history.listing),
                appeared: (!is_old).then_some(known.discovery.at),
                ..WorldPage::default()
            };
        }
        let near: Vec<u32> = named_new_pages
            .into_iter()
            .filter(|(_, by)| {
                known_pages
                    .number(*by)
                    .is_some_and(|by| known_pages.get(by).source)
            })
            .map(|(number, _)| number)
            .collect();
        for number in near {
            known_pages.get_mut(number).source = true;
        }
        Ok(known_pages)
    }

    /// Returns the number of a page; `None` if the ledger does not know it.
    pub fn number(&self, page: PageId) -> Option<u32> {
        self.numbers.get(&page).copied()
    }

    /// Returns a page by its number.
    pub fn get(&self, number: u32) -> WorldPage {
        let page = self.pages.get(number as usize);
        page.copied().unwrap_or_default()
    }

    /// Returns a page of the ledger, to change it.
    pub fn get_mut(&mut self, number: u32) -> &mut WorldPage {
        &mut self.pages[number as usize]
    }

    /// Returns the page that a link to a page leads to, after its redirects.
    pub fn target(&self, number: u32) -> u32 {
        let next = |&number: &u32| self.get(number).redirect;
        let path = std::iter::successors(Some(number), next);
        path.take(HOPS as usize + 1).last().unwrap_or(number)
    }
}
