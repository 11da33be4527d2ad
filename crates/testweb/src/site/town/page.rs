//! What does a page of a town say, since when, and where does it lead?
//!
//! **Invariant:** what is written follows from the seed, the page and its version alone, so that the version is all a judge must know.

use super::super::life::Version;
use super::super::web::{Page, PageNumber, ServerNumber, Web};
use super::frame::{frame, lead};
use super::{Records, forum, listed, manual, newspaper, shop};

/// What a page is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in super::super) enum Sheet {
    /// A list of pages, by its number.
    Shelf(usize),
    /// The newest pages of the site as RSS.
    Feed,
    /// The newest articles, as search engines ask newspapers for them.
    NewsSitemap,
    /// All pages of the site.
    Sitemap,
    /// An article of the newspaper.
    Article,
    /// A page of the manual.
    Lesson,
    /// A thread of the forum.
    Thread,
    /// Something that the shop sells.
    Product,
}

/// Pages that a list shows at most, where it shows the newest.
const NEWEST: usize = 24;

impl Records {
    pub fn sheet(&self, page: PageNumber) -> Sheet {
        self.sheets[page.0 as usize]
    }

    /// Whether the page is for people: lists for crawlers are not.
    pub fn is_text(&self, page: PageNumber) -> bool {
        !matches!(
            self.sheet(page),
            Sheet::Feed | Sheet::NewsSitemap | Sheet::Sitemap
        )
    }

    pub fn version(&self, web: &Web, page: &Page, at: f64) -> Version {
        match self.sheet(page.number) {
            Sheet::Shelf(shelf) => self.shelves[shelf].version(at),
            Sheet::Feed | Sheet::NewsSitemap | Sheet::Sitemap => {
                listed::version(self, web, page, at)
            }
            _ => page.life.version(web.seed, u64::from(page.number.0), at),
        }
    }

    pub fn media(&self, page: PageNumber) -> &'static str {
        match self.sheet(page) {
            Sheet::Feed => "application/rss+xml",
            Sheet::NewsSitemap | Sheet::Sitemap => "application/xml",
            _ => "text/html; charset=utf-8",
        }
    }

    pub fn body(&self, web: &Web, page: &Page, at: f64, port: u16) -> String {
        match self.sheet(page.number) {
            Sheet::Feed => listed::feed(self, web, page, at, port),
            Sheet::NewsSitemap => listed::news(self, web, page, at, port),
            Sheet::Sitemap => listed::sitemap(self, web, page, at, port),
            Sheet::Shelf(_) => {
                let leads: Vec<String> = (self.listed(page, at).into_iter())
                    .map(|page| lead(self, web, web.page(page)))
                    .collect();
                let list = format!("<ul class=\"list\">\n{}</ul>\n", leads.concat());
                frame(self, web, page, port, &list)
            }
            Sheet::Article => frame(self, web, page, port, &newspaper::article(web, page, at)),
            Sheet::Lesson => frame(self, web, page, port, &manual::lesson(web, page, at)),
            Sheet::Thread => frame(self, web, page, port, &forum::thread(web, page, at)),
            Sheet::Product => frame(self, web, page, port, &shop::product(web, page, at)),
        }
    }

    pub fn title(&self, web: &Web, page: &Page) -> String {
        match self.sheet(page.number) {
            Sheet::Shelf(shelf) => self.shelves[shelf].title.clone(),
            Sheet::Feed => "Newest".into(),
            Sheet::NewsSitemap | Sheet::Sitemap => "Sitemap".into(),
            Sheet::Article => newspaper::headline(web, page),
            Sheet::Lesson => manual::heading(web, page),
            Sheet::Thread => forum::question(web, page),
            Sheet::Product => shop::name(web, page),
        }
    }

    /// The pages that a list names; none for a page that is no list.
    fn listed(&self, page: &Page, at: f64) -> Vec<PageNumber> {
        let Sheet::Shelf(shelf) = self.sheet(page.number) else {
            return Vec::new();
        };
        let pages = self.shelves[shelf].pages(at);
        match page.server {
            super::MANUAL | super::SHOP => pages.collect(),
            _ => pages.take(NEWEST).collect(),
        }
    }

    /// The lists of a site, which each of its pages leads to; its home page is the first.
    pub fn shelves_of(&self, server: ServerNumber) -> &[PageNumber] {
        &self.sites[server.0 as usize]
    }

    /// All pages that a page leads to.
    pub fn links(&self, page: &Page, at: f64) -> Vec<PageNumber> {
        if !self.is_text(page.number) {
            return self.all(page.server, at).collect();
        }
        let homes = self.sites.iter().filter_map(|shelves| shelves.first());
        let mut links = self.listed(page, at);
        links.extend(self.shelves_of(page.server).iter().chain(homes));
        links
    }

    /// All pages of a site that exist and are no lists, the newest first.
    pub fn all(&self, server: ServerNumber, at: f64) -> impl Iterator<Item = PageNumber> {
        let home = self
            .shelves_of(server)
            .first()
            .map(|home| self.sheet(*home));
        let shelf = match home {
            Some(Sheet::Shelf(shelf)) => self.shelves.get(shelf),
            _ => None,
        };
        shelf.into_iter().flat_map(move |shelf| shelf.pages(at))
    }
}
