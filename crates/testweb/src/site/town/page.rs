//! The pages of a town: their text, version and links.
//!
//! **Invariant:** the text is determined by the seed, the page and its version, so that the
//! judge of an experiment needs only the version.

use super::super::life::TextVersion;
use super::super::web::{InventedPage, PageNumber, ServerNumber, Web};
use super::frame::{frame, lead};
use super::{TownRecords, feeds, forum, manual, newspaper, shop};

/// The kind of a page.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in super::super) enum TownPageKind {
    /// A list of pages, by its number.
    PageList(usize),
    /// The newest pages of the site as RSS.
    Feed,
    /// The newest articles, in the format that search engines request from newspapers.
    NewsSitemap,
    /// All pages of the site.
    Sitemap,
    /// An article of the newspaper.
    Article,
    /// A page of the manual.
    Lesson,
    /// A thread of the forum.
    Thread,
    /// A product of the shop.
    Product,
}

/// Maximum number of pages on a list that shows the newest.
const NEWEST: usize = 24;

impl TownRecords {
    pub fn kind(&self, page: PageNumber) -> TownPageKind {
        self.kinds[page.0 as usize]
    }

    /// Returns whether users read the page; they do not read feeds and sitemaps.
    pub fn is_text(&self, page: PageNumber) -> bool {
        !matches!(
            self.kind(page),
            TownPageKind::Feed | TownPageKind::NewsSitemap | TownPageKind::Sitemap
        )
    }

    pub fn version(&self, web: &Web, page: &InventedPage, at: f64) -> TextVersion {
        match self.kind(page.number) {
            TownPageKind::PageList(list) => self.lists[list].version(at),
            TownPageKind::Feed | TownPageKind::NewsSitemap | TownPageKind::Sitemap => {
                feeds::version(self, web, page, at)
            }
            _ => page.life.version(web.seed, u64::from(page.number.0), at),
        }
    }

    pub fn media(&self, page: PageNumber) -> &'static str {
        match self.kind(page) {
            TownPageKind::Feed => "application/rss+xml",
            TownPageKind::NewsSitemap | TownPageKind::Sitemap => "application/xml",
            _ => "text/html; charset=utf-8",
        }
    }

    pub fn body(&self, web: &Web, page: &InventedPage, at: f64, port: u16) -> String {
        match self.kind(page.number) {
            TownPageKind::Feed | TownPageKind::NewsSitemap | TownPageKind::Sitemap => {
                feeds::body(self, web, page, at, port)
            }
            TownPageKind::PageList(_) => {
                let leads: Vec<String> = (self.listed(page, at).into_iter())
                    .map(|page| lead(self, web, web.page(page)))
                    .collect();
                let list = format!("<ul class=\"list\">\n{}</ul>\n", leads.concat());
                frame(self, web, page, port, &list)
            }
            TownPageKind::Article => {
                frame(self, web, page, port, &newspaper::article(web, page, at))
            }
            TownPageKind::Lesson => frame(self, web, page, port, &manual::lesson(web, page, at)),
            TownPageKind::Thread => frame(self, web, page, port, &forum::thread(web, page, at)),
            TownPageKind::Product => frame(self, web, page, port, &shop::product(web, page, at)),
        }
    }

    pub fn title(&self, web: &Web, page: &InventedPage) -> String {
        match self.kind(page.number) {
            TownPageKind::PageList(list) => self.lists[list].title.clone(),
            TownPageKind::Feed => "Newest".into(),
            TownPageKind::NewsSitemap | TownPageKind::Sitemap => "Sitemap".into(),
            TownPageKind::Article => newspaper::headline(web, page),
            TownPageKind::Lesson => manual::heading(web, page),
            TownPageKind::Thread => forum::question(web, page),
            TownPageKind::Product => shop::name(web, page),
        }
    }

    /// Returns the pages on a list page; none for other pages.
    fn listed(&self, page: &InventedPage, at: f64) -> Vec<PageNumber> {
        let TownPageKind::PageList(list) = self.kind(page.number) else {
            return Vec::new();
        };
        let pages = self.lists[list].pages(at);
        match page.server {
            super::MANUAL | super::SHOP => pages.collect(),
            _ => pages.take(NEWEST).collect(),
        }
    }

    /// Returns the list pages of a site, which each of its pages links to; the first is its home
    /// page.
    pub fn lists_of(&self, server: ServerNumber) -> &[PageNumber] {
        &self.sites[server.0 as usize]
    }

    /// Returns all pages that a page links to.
    pub fn links(&self, page: &InventedPage, at: f64) -> Vec<PageNumber> {
        if !self.is_text(page.number) {
            return self.all(page.server, at).collect();
        }
        let homes = self.sites.iter().filter_map(|lists| lists.first());
        let mut links = self.listed(page, at);
        links.extend(self.lists_of(page.server).iter().chain(homes));
        links
    }

    /// Returns all pages of a site that exist and are not lists, newest first.
    pub fn all(&self, server: ServerNumber, at: f64) -> impl Iterator<Item = PageNumber> {
        let home = self.lists_of(server).first().map(|home| self.kind(*home));
        let list = match home {
            Some(TownPageKind::PageList(list)) => self.lists.get(list),
            _ => None,
        };
        list.into_iter().flat_map(move |list| list.pages(at))
    }
}
