//! A news world arranged for fast lookup: the links on each source and the clicks on each
//! article.
//!
//! **Invariant:** an article that is linked at the first moment is old: every crawl knows it,
//! and it earns no profit. Any other article is new from its first link on. Its profit at a
//! moment is the number of clicks from then on. A bin in progress counts by the share of it that
//! is left.

use std::collections::HashMap;

use page::PageId;
use policy::Moment;

use crate::world::News;

/// A news world, by source and by article.
#[derive(Debug)]
pub struct NewsTimeline<'w> {
    news: &'w News,
    /// The source or article of each URL. A URL that is both counts as a source.
    pages: HashMap<PageId, NewsPage>,
    /// The first moment. Everything linked then is old.
    pub from: Moment,
    /// The last moment at which a new article appeared.
    pub until: Moment,
    /// Links on each source, by the time at which they appeared.
    shown: Vec<Vec<SourceLink>>,
    /// When each article appeared; `None` if it is old or never linked.
    appeared: Vec<Option<Moment>>,
    /// When the last link to each article disappeared; `from` if it was never linked.
    gone: Vec<Moment>,
    /// Click bins of each article, by time.
    clicks: Vec<Vec<ClickBin>>,
}

/// A page of the world, by its number in [`News`].
#[derive(Debug, Clone, Copy)]
pub(super) enum NewsPage {
    Source(u32),
    Article(u32),
}

/// A link on a source, with the period in which the source shows it.
#[derive(Debug, Clone, Copy)]
pub(super) struct SourceLink {
    pub article: u32,
    from: Moment,
    until: Moment,
}

/// Clicks in a period of [`News::BIN`].
#[derive(Debug, Clone, Copy)]
pub(super) struct ClickBin {
    pub at: Moment,
    pub clicks: u32,
    /// Clicks in this bin and all later ones.
    left: f64,
}

impl<'w> NewsTimeline<'w> {
    /// Arranges a world. Returns `None` if no new article appears in it.
    pub fn new(news: &'w News) -> Option<Self> {
        let articles = news.articles().len();
        let from = news.links().first()?.from;
        let mut shown = vec![Vec::new(); news.sources().len()];
        let mut first = vec![None; articles];
        let mut gone = vec![from; articles];
        for link in news.links() {
            shown[link.source as usize].push(SourceLink {
                article: link.article,
                from: link.from,
                until: link.until,
            });
            let article = link.article as usize;
            first[article].get_or_insert(link.from);
            gone[article] = gone[article].max(link.until);
        }
        let appeared: Vec<Option<Moment>> = first
            .into_iter()
            .map(|first: Option<Moment>| first.filter(|&first| first > from))
            .collect();
        let until = appeared.iter().flatten().max().copied()?;
        let articles = (0..).zip(news.articles());
        let articles = articles.map(|(number, url)| (url.id(), NewsPage::Article(number)));
        let sources = (0..).zip(news.sources());
        let sources = sources.map(|(number, url)| (url.id(), NewsPage::Source(number)));
        Some(Self {
            news,
            pages: articles.chain(sources).collect(),
            from,
            until,
            shown,
            appeared,
            gone,
            clicks: clicks(news),
        })
    }

    /// Returns the world.
    pub fn news(&self) -> &'w News {
        self.news
    }

    /// Returns when a new article appeared; `None` if it is old or never linked.
    pub fn appeared(&self, article: usize) -> Option<Moment> {
        self.appeared[article]
    }

    /// Returns when the last link to an article disappeared; `from` if it was never linked.
    pub fn gone(&self, article: usize) -> Moment {
        self.gone[article]
    }

    /// Returns the number of clicks that an article gets from a moment on.
    pub fn profit(&self, article: usize, at: Moment) -> f64 {
        let bins = &self.clicks[article];
        let later = bins.partition_point(|bin| bin.at < at);
        let left = bins.get(later).map_or(0.0, |bin| bin.left);
        let under_way = later.checked_sub(1).map_or(0.0, |before| {
            let passed = at.since(bins[before].at).as_secs_f64() / News::BIN.as_secs_f64();
            f64::from(bins[before].clicks) * (1.0 - passed).max(0.0)
        });
        left + under_way
    }

    /// Returns the source or article behind a URL of this world.
    pub(super) fn page(&self, page: PageId) -> NewsPage {
        self.pages[&page]
    }

    /// Returns the new articles that a source shows at `now` and did not show at `before`.
    pub(super) fn new_on(
        &self,
        source: usize,
        before: Moment,
        now: Moment,
    ) -> impl Iterator<Item = u32> + '_ {
        let links = &self.shown[source];
        let known = links.partition_point(|link| link.from <= before);
        let links = links[known..]
            .iter()
            .take_while(move |link| link.from <= now);
        let there = links.filter(move |link| link.until > now);
        let articles = there.map(|link| link.article);
        articles.filter(|&article| self.appeared(article as usize).is_some())
    }

    /// Returns the click bins of an article, by time.
    pub(super) fn clicks(&self, article: usize) -> &[ClickBin] {
        &self.clicks[article]
    }
}

fn clicks(news: &News) -> Vec<Vec<ClickBin>> {
    let mut clicks: Vec<Vec<ClickBin>> = vec![Vec::new(); news.articles().len()];
    for click in news.clicks() {
        clicks[click.article as usize].push(ClickBin {
            at: click.at,
            clicks: click.clicks,
            left: 0.0,
        });
    }
    for bins in &mut clicks {
        let mut left = 0.0;
        for bin in bins.iter_mut().rev() {
            left += f64::from(bin.clicks);
            bin.left = left;
        }
    }
    clicks
}
