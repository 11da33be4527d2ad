//! What happens on the sources of a world, and what is clicked, so that it can be asked quickly?
//!
//! **Invariant:** what was there at the first moment is old: it is known to everybody, and nobody earns by it. An article is new from its first link on,
//! and what it still gives at a moment is the clicks from then on; those of a bin under way count by the share of it that is left.

use std::collections::HashMap;

use page::PageId;
use policy::Moment;

use crate::world::News;

/// A news world, by source and by article.
#[derive(Debug)]
pub struct Stage<'w> {
    news: &'w News,
    /// What each URL is. A URL that is both is a source.
    places: HashMap<PageId, Place>,
    /// The first moment: everything there is then is old.
    pub from: Moment,
    /// The last moment at which something new appeared.
    pub until: Moment,
    /// What is on each source and when, by the time at which it appeared.
    shown: Vec<Vec<Link>>,
    /// When each article appeared; `None`: it never did, or was there at the beginning.
    appeared: Vec<Option<Moment>>,
    /// When the last link to each article went.
    gone: Vec<Moment>,
    /// Clicks on each article, by time, and how many come from each bin on.
    clicks: Vec<Vec<Bin>>,
}

/// A page of the world, by its number in [`News`].
#[derive(Debug, Clone, Copy)]
pub(super) enum Place {
    Source(u32),
    Article(u32),
}

/// A link on a source.
#[derive(Debug, Clone, Copy)]
pub(super) struct Link {
    pub article: u32,
    from: Moment,
    until: Moment,
}

/// Clicks in a bin of [`News::BIN`].
#[derive(Debug, Clone, Copy)]
pub(super) struct Bin {
    pub at: Moment,
    pub clicks: u32,
    /// These and all later ones.
    left: f64,
}

impl<'w> Stage<'w> {
    /// Of a world; `None` if nothing new appears in it.
    pub fn new(news: &'w News) -> Option<Self> {
        let articles = news.articles().len();
        let from = news.links().first()?.from;
        let mut shown = vec![Vec::new(); news.sources().len()];
        let mut first = vec![None; articles];
        let mut gone = vec![from; articles];
        for link in news.links() {
            shown[link.source as usize].push(Link {
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
        let articles = articles.map(|(number, url)| (url.id(), Place::Article(number)));
        let sources = (0..).zip(news.sources());
        let sources = sources.map(|(number, url)| (url.id(), Place::Source(number)));
        Some(Self {
            news,
            places: articles.chain(sources).collect(),
            from,
            until,
            shown,
            appeared,
            gone,
            clicks: clicks(news),
        })
    }

    /// The world.
    pub fn news(&self) -> &'w News {
        self.news
    }

    /// When a new article appeared; `None`: it is old, or nobody ever linked to it.
    pub fn appeared(&self, article: usize) -> Option<Moment> {
        self.appeared[article]
    }

    /// When the last link to an article went.
    pub fn gone(&self, article: usize) -> Moment {
        self.gone[article]
    }

    /// How many clicks an article gets from a moment on.
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

    /// What the page of a URL that the crawl was shown is.
    pub(super) fn place(&self, page: PageId) -> Place {
        self.places[&page]
    }

    /// The new articles that a poll of a source shows and one at `before` did not.
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

    /// Clicks on an article, by time.
    pub(super) fn clicks(&self, article: usize) -> &[Bin] {
        &self.clicks[article]
    }
}

fn clicks(news: &News) -> Vec<Vec<Bin>> {
    let mut clicks: Vec<Vec<Bin>> = vec![Vec::new(); news.articles().len()];
    for click in news.clicks() {
        clicks[click.article as usize].push(Bin {
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
