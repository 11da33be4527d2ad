//! What does an opinion cost?
//!
//! `cargo run --release -p policy --example evaluations [PAGES [LINKS]]` tells every ordering of the catalog
//! of an invented web, page by page (a million pages, 20 links each, targets by Zipf's law), and prints what
//! the upkeep takes for a page, what it holds for a page, and how often worth and due can be asked in a
//! second. Each ordering has a process of its own, so that memory is counted from nothing. Times are those
//! of the processor, as far as Linux tells; the worst fact is by the wall clock, on an idle machine.

use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use policy::order::Scores;
use policy::{
    Catalog, Discovered, Fact, History, Link, Moment, Moves, Number, Page, Policy, Price, Read,
    Text, Wishes,
};

/// Pages that the reading of one page discovers, until all are known.
const NEW: u32 = 4;
/// A sentence of every page, with words of the query in it.
const SENTENCE: &str = "Fetching pages in a good order brings the important ones early. ";
/// The query.
const QUERY: &str = "important order";

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |place: usize, default| {
        let given = arguments.get(place);
        given.map_or(Some(default), |text: &String| text.parse::<u32>().ok())
    };
    let (Some(pages), Some(links)) = (number(0, 1_000_000), number(1, 20)) else {
        eprintln!("usage: evaluations [PAGES [LINKS [ORDER]]]");
        std::process::exit(2);
    };
    if let Some(order) = arguments.get(2) {
        return measure(order, pages, links);
    }
    println!("{pages} pages, {links} links each");
    println!(
        "ordering                       µs/page  worst ms  moves/page  bytes/page  evaluations/s"
    );
    let combined = "pagerank*0.7 + similarity*0.3";
    for order in Catalog::standard().names().chain([combined]) {
        let order = match order {
            "depth-limited" => "depth-limited(9)",
            other => other,
        };
        let program = std::env::current_exe().expect("this program has a path");
        let arguments = [pages.to_string(), links.to_string(), order.to_owned()];
        let status = Command::new(program).args(arguments).status();
        assert!(
            status.is_ok_and(|status| status.success()),
            "{order} failed"
        );
    }
}

/// Tells one ordering of all pages, and prints its line.
fn measure(name: &str, pages: u32, links: u32) {
    let wishes = Wishes {
        query: Some(QUERY.into()),
        location: vec!["host:.edu=2".into(), "depth=0.8".into()],
        scores: Some(Arc::new(Scores::default())),
    };
    let catalog = Catalog::standard();
    let mut order = catalog.order(name, &wishes).expect("a name of the catalog");
    let start = Stopwatch::start();
    World::tell(pages, links, |_| {});
    let inventing = start.read();

    let (mut worst, mut moved) = (Duration::ZERO, 0);
    let mut moves = Moves::default();
    let before = resident();
    let start = Stopwatch::start();
    World::tell(pages, links, |fact| {
        let start = now();
        order.observe(fact, &mut moves);
        moved += moves.drain().count();
        worst = worst.max(start.elapsed());
    });
    let upkeep = start.read().saturating_sub(inventing);
    let held = resident().saturating_sub(before);
    println!(
        "{name:30} {:7.2}  {:8.2}  {:10.2}  {:10}  {:13.0}",
        upkeep.as_secs_f64() * 1e6 / f64::from(pages),
        worst.as_secs_f64() * 1e3,
        moved as f64 / f64::from(pages),
        held / u64::from(pages),
        evaluations(order.as_ref(), pages),
    );
}

/// How often worth and due can be asked in a second, of pages in no order.
fn evaluations(order: &dyn Policy, pages: u32) -> f64 {
    const ASKED: u32 = 20_000_000;
    let history = History::discovered(Moment::START, 3);
    let start = Stopwatch::start();
    let mut paid = 0;
    for turn in 0..ASKED {
        let page = Page {
            number: Number(turn.wrapping_mul(2_654_435_761) % pages),
            history: &history,
        };
        let worth = order.worth(page, Moment::START);
        let due = order.due(page, Price::LEAST);
        paid += u32::from(worth.pays(Price::LEAST) && due.is_some());
    }
    assert!(paid > 0, "some page is worth a fetch");
    f64::from(ASKED) / start.read().as_secs_f64()
}

/// A web that is invented while it is told, and holds no memory.
struct World {
    pages: u32,
    known: u32,
    state: u64,
}

impl World {
    /// Tells of a crawl that reads pages in the order it discovers them.
    fn tell(pages: u32, links: u32, mut tell: impl FnMut(&Fact<'_>)) {
        let mut world = Self {
            pages,
            known: 0,
            state: 1,
        };
        let body = SENTENCE.repeat(20);
        tell(&Fact::Discovered(world.discover("https://a.edu/", true)));
        let mut to = Vec::new();
        for page in (0..pages).map(Number) {
            to.clear();
            for link in 0..links {
                if link < NEW && world.known < pages {
                    let known = world.known;
                    let url = format!("https://host{}.edu/some/page/{known}.html", known / 100);
                    tell(&Fact::Discovered(world.discover(&url, false)));
                    to.push(known);
                } else {
                    to.push(world.popular());
                }
            }
            to.sort_unstable();
            to.dedup();
            let anchor = "the next page in order";
            let link = |&to: &u32| Link {
                to: Number(to),
                anchor,
            };
            tell(&Fact::Read(Read {
                page,
                text: Text::Whole {
                    title: "A page",
                    body: &body,
                },
                links: &to.iter().map(link).collect::<Vec<_>>(),
                out_links: links,
            }));
        }
    }

    fn discover<'a>(&mut self, url: &'a str, seed: bool) -> Discovered<'a> {
        let page = Number(self.known);
        self.known += 1;
        let host = page.0 / 100;
        Discovered {
            page,
            url,
            host,
            depth: 3,
            seed,
        }
    }

    /// A known page: the n-th most popular with a probability of about 1/n. When a page is discovered has
    /// nothing to do with how popular it is.
    fn popular(&mut self) -> u32 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        let even = (self.state >> 11) as f64 / (1u64 << 53) as f64;
        let rank = f64::from(self.pages).powf(even) as u32;
        (rank.wrapping_mul(2_654_435_761) % self.pages) % self.known
    }
}

/// Time that this process has used a processor; where the system does not say, time.
struct Stopwatch(Instant, Option<Duration>);

impl Stopwatch {
    fn start() -> Self {
        Self(now(), used())
    }

    fn read(&self) -> Duration {
        let used = self.1.zip(used()).map(|(before, after)| after - before);
        used.unwrap_or_else(|| self.0.elapsed())
    }
}

fn used() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/self/schedstat").ok()?;
    let nanoseconds = text.split_whitespace().next()?.parse().ok()?;
    Some(Duration::from_nanos(nanoseconds))
}

/// Bytes that the process holds in memory; zero where the system does not say.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kilobytes.unwrap_or(0) * 1024
}

#[expect(clippy::disallowed_methods, reason = "a benchmark measures the time")]
fn now() -> Instant {
    Instant::now()
}
