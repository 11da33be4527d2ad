//! A server of news: sources and articles that change with the time of the world.
//!
//! Like the [`WorldProxy`](super::WorldProxy), it is an HTTP proxy that answers for all hosts, but
//! here the time of the world passes. A source shows the links that it has at the time of the
//! request, and an article exists from its first link on.
//!
//! **Invariant:** no response reveals the future, and the log uses the time of the world.

use std::collections::HashMap;
use std::fmt::Write;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use bytes::Bytes;
use figure::escaped;
use hyper::{Response, StatusCode, Uri};
use page::{PageId, PageUrl};
use policy::Moment;
use testweb::TestwebError;
use testweb::proxy::{self, Listening};
use testweb::reply::{plain, typed};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::Instant;

use crate::world::{Clicked, LinkPeriod, News};

/// Serves sources and articles from a start time on.
#[derive(Debug)]
pub struct Press {
    news: News,
    pages: HashMap<PageId, ServedPage>,
    /// The links of each source, by the time of their appearance.
    links: Vec<Vec<LinkPeriod>>,
    /// Time at which each article appears; `None` if no source ever links to it.
    published: Vec<Option<Moment>>,
    begins: Moment,
    start: Instant,
    speed: f64,
    log: Mutex<FetchLog>,
}

#[derive(Debug, Clone, Copy)]
enum ServedPage {
    Source(u32),
    Article(u32),
}

/// The event at which a crawler counts as having an article.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Had {
    /// The first fetch.
    Fetched,
    /// The first time that search finds it, as reported by [`Press::found`].
    Found,
}

#[derive(Debug, Default)]
struct FetchLog {
    polls: u64,
    /// Time of the first fetch of each article.
    fetched: HashMap<u32, Moment>,
    /// Time at which search first found each article, as reported by the caller.
    found: HashMap<u32, Moment>,
}

impl Press {
    /// Serves the world from `begins` on, with `speed` seconds of the world per real second.
    ///
    /// The press uses the clock of the current tokio runtime.
    pub fn new(news: News, begins: Moment, speed: f64) -> Self {
        let source = (0..).zip(news.sources());
        let source = source.map(|(number, url)| (url.id(), ServedPage::Source(number)));
        let article = (0..).zip(news.articles());
        let article = article.map(|(number, url)| (url.id(), ServedPage::Article(number)));
        let mut links = vec![Vec::new(); news.sources().len()];
        let mut published = vec![None; news.articles().len()];
        for link in news.links() {
            links[link.source as usize].push(*link);
            // Links are sorted by time, so the first one is the earliest.
            published[link.article as usize].get_or_insert(link.from);
        }
        Self {
            pages: article.chain(source).collect(),
            links,
            published,
            news,
            begins,
            start: Instant::now(),
            speed,
            log: Mutex::default(),
        }
    }

    /// Listens on 127.0.0.1, on the given port or any free one, on the current tokio runtime.
    pub async fn listen(self: &Arc<Self>, port: Option<u16>) -> Result<Listening, TestwebError> {
        let press = Arc::clone(self);
        proxy::listen(port, move |stream| Arc::clone(&press).attend(stream)).await
    }

    /// Serves one connection to its end, over any transport.
    pub async fn attend(self: Arc<Self>, stream: impl AsyncRead + AsyncWrite + Unpin) {
        proxy::serve_connection(stream, |uri| self.answer(uri)).await;
    }

    /// Returns the URLs of the sources.
    pub fn sources(&self) -> &[PageUrl] {
        self.news.sources()
    }

    /// Returns the current time of the world.
    pub fn now(&self) -> Moment {
        let passed = self.start.elapsed().as_secs_f64() * self.speed;
        self.begins + Duration::try_from_secs_f64(passed).unwrap_or_default()
    }

    /// Returns the delays from publication to first fetch, in seconds of the world, of the fetched
    /// articles that appeared between the start and `until`. Also returns the number of all
    /// articles that appeared in that time.
    pub fn delays(&self, until: Moment) -> (Vec<f64>, usize) {
        let new = self.published(until).count();
        (self.after(until, &self.log().fetched), new)
    }

    /// Returns the delays from publication to search result, in seconds of the world, of the
    /// articles that appeared between the start and `until` and were reported as
    /// [found](Press::found).
    pub fn delays_to_search(&self, until: Moment) -> Vec<f64> {
        self.after(until, &self.log().found)
    }

    /// Records that search finds a page now, if it is an article and was not found before.
    ///
    /// The caller must report it, since only the caller has the index.
    pub fn found(&self, page: PageId) {
        if let Some(ServedPage::Article(article)) = self.pages.get(&page) {
            let now = self.now();
            self.log().found.entry(*article).or_insert(now);
        }
    }

    /// Returns the articles that appear between the start and `until`, with the times at which
    /// they do.
    fn published(&self, until: Moment) -> impl Iterator<Item = (u32, Moment)> {
        (0..).zip(&self.published).filter_map(move |(article, at)| {
            let at = at.filter(|at| (self.begins..until).contains(at))?;
            Some((article, at))
        })
    }

    fn after(&self, until: Moment, happened: &HashMap<u32, Moment>) -> Vec<f64> {
        let delay = |(article, at): (u32, Moment)| {
            let then = happened.get(&article)?;
            Some(then.since(at).as_secs_f64())
        };
        self.published(until).filter_map(delay).collect()
    }

    /// Returns the number of requests for sources so far.
    pub fn polls(&self) -> u64 {
        self.log().polls
    }

    /// Returns the clicks between two times of the world on articles that the crawler had at the
    /// time of the click, with the URLs of the articles.
    pub fn clicks(&self, from: Moment, until: Moment, had: Had) -> Vec<(&PageUrl, Clicked)> {
        let log = self.log();
        let had = match had {
            Had::Fetched => &log.fetched,
            Had::Found => &log.found,
        };
        self.clicks_in(from, until)
            .filter(|click| had.get(&click.article).is_some_and(|at| *at <= click.at))
            .map(|click| (&self.news.articles()[click.article as usize], *click))
            .collect()
    }

    /// Returns the number of clicks on all articles between two times of the world.
    pub fn all_clicks(&self, from: Moment, until: Moment) -> u32 {
        let clicks = self.clicks_in(from, until);
        clicks.map(|click| click.clicks).sum()
    }

    fn clicks_in(&self, from: Moment, until: Moment) -> impl Iterator<Item = &Clicked> {
        let clicks = self.news.clicks();
        let first = clicks.partition_point(|click| click.at < from);
        let until = move |click: &&Clicked| click.at < until;
        clicks[first..].iter().take_while(until)
    }

    fn answer(&self, uri: &Uri) -> Response<Bytes> {
        let url = PageUrl::parse(&uri.to_string()).ok();
        let now = self.now();
        let html = match url.and_then(|url| self.pages.get(&url.id()).copied()) {
            Some(ServedPage::Source(source)) => {
                self.log().polls += 1;
                Some(self.index(source, now))
            }
            Some(ServedPage::Article(article)) => {
                let there = self.published[article as usize].is_some_and(|at| at <= now);
                there.then(|| {
                    self.log().fetched.entry(article).or_insert(now);
                    self.article(article)
                })
            }
            None => None,
        };
        match html {
            Some(html) => typed(StatusCode::OK, "text/html; charset=utf-8", html.into()),
            None => plain(StatusCode::NOT_FOUND, "not in this world\n"),
        }
    }

    fn index(&self, source: u32, now: Moment) -> String {
        let mut html = format!("<!DOCTYPE html>\n<title>Source {source}</title>\n");
        let there = |link: &&LinkPeriod| link.from <= now && now < link.until;
        for link in self.links[source as usize].iter().filter(there) {
            let url = escaped(self.news.articles()[link.article as usize].as_str());
            // Writing to a string cannot fail.
            let _ = writeln!(
                html,
                "<p><a href=\"{url}\">Article {}</a></p>",
                link.article
            );
        }
        html
    }

    fn article(&self, article: u32) -> String {
        let words = format!("This is article number{article} and there is no other like it.");
        format!("<!DOCTYPE html>\n<title>Article {article}</title>\n<p>{words}</p>\n")
    }

    fn log(&self) -> MutexGuard<'_, FetchLog> {
        self.log
            .lock()
            .expect("another task panicked while it held this lock")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Moment {
        Moment::from_micros(seconds * 1_000_000)
    }

    fn link(article: u32, from: u64, until: u64) -> LinkPeriod {
        LinkPeriod {
            source: 0,
            article,
            from: at(from),
            until: at(until),
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_source_shows_its_current_links_and_delays_and_clicks_are_logged() {
        let links = vec![link(0, 0, 150), link(1, 110, 900)];
        let click = |article, seconds| Clicked {
            article,
            at: at(seconds),
            clicks: 2,
        };
        let clicks = vec![click(1, 100), click(0, 160), click(1, 170)];
        let urls = ["http://n.org/1", "http://n.org/2"];
        let news = News::new(
            ["http://n.org/"].into_iter(),
            urls.into_iter(),
            links,
            clicks,
        );
        let press = Press::new(news, at(100), 2.0);
        let ask = |url: &str| {
            let answer = press.answer(&url.parse().unwrap());
            (answer.status() == StatusCode::OK)
                .then(|| String::from_utf8(answer.into_body().to_vec()).unwrap())
        };
        let source = || ask("http://n.org/").unwrap();
        assert!(source().contains("n.org/1") && !source().contains("n.org/2"));
        assert_eq!(ask("http://n.org/2"), None, "not yet");
        tokio::time::advance(Duration::from_secs(10)).await;
        assert_eq!(press.now(), at(120));
        assert!(source().contains("n.org/1") && source().contains("n.org/2"));
        assert!(ask("http://n.org/2").unwrap().contains("number1"));
        tokio::time::advance(Duration::from_secs(20)).await;
        assert!(!source().contains("n.org/1"), "its link is gone");
        assert_eq!(press.delays(at(300)), (vec![10.0], 1), "the first is old");
        assert!(press.delays_to_search(at(300)).is_empty());
        let page = |url| PageUrl::parse(url).unwrap().id();
        for url in ["http://n.org/2", "http://n.org/", "http://elsewhere.org/"] {
            press.found(page(url));
        }
        tokio::time::advance(Duration::from_secs(5)).await;
        press.found(page("http://n.org/2"));
        let delays = press.delays_to_search(at(300));
        assert_eq!(delays, [50.0], "from when it was found first");
        let clicked = press.clicks(at(100), at(300), Had::Found);
        assert_eq!(press.clicks(at(100), at(300), Had::Fetched).len(), 1);
        let clicked: Vec<_> = clicked
            .iter()
            .map(|(url, click)| (url.as_str(), click.at))
            .collect();
        assert_eq!(clicked, [("http://n.org/2", at(170))], "once it is found");
        assert_eq!(press.all_clicks(at(100), at(170)), 4);
        assert_eq!(press.polls(), 5);
        assert_eq!(ask("http://n.org/robots.txt"), None);
    }
}
