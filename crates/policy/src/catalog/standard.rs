//! What comes with the program?

use std::sync::Arc;

use super::expression::ORDERING;
use super::{CatalogError, Order, Servers, Wish, Wishes};
use crate::Policy;
use crate::order::{
    BreadthFirst, DepthLimited, Given, Location, Opic, PageRank, ParentQuality, RankMass,
    Similarity,
};
use crate::published::order::{Backlink, ForwardLinks, HotAnchor, HotPage, Random};
use crate::published::server::{CrawlAbility, Performance, Quality};
use crate::query::Query;
use crate::{published, server};

type Built = Result<Box<dyn Policy>, CatalogError>;

/// The orderings: the default first, the published baselines last.
pub const ORDERS: &[Order] = &[
    Order {
        name: "rankmass",
        argument: None,
        summary: "pages that a walk from the seeds comes to; bounds coverage",
        scale: "0 up, .1 for a seed",
        wish: None,
        published: false,
        build: |_, _| boxed(RankMass::default()),
    },
    Order {
        name: "breadth-first",
        argument: None,
        summary: "pages near the seeds first",
        scale: "1/(1 + depth), 1 for a seed",
        wish: None,
        published: false,
        build: |_, _| boxed(BreadthFirst),
    },
    Order {
        name: "depth-limited",
        argument: Some("N"),
        summary: "breadth-first, never more than N links from a seed",
        scale: "1/(1 + depth)",
        wish: None,
        published: false,
        build: |_, argument| {
            let takes = "the deepest depth, 0 to 65535: depth-limited(5)";
            boxed(DepthLimited::new(number("depth-limited", argument, takes)?))
        },
    },
    Order {
        name: "pagerank",
        argument: None,
        summary: "pages that important pages link to (IR', d = .9)",
        scale: "from .1, mean below 1",
        wish: None,
        published: false,
        build: |_, _| boxed(PageRank::default()),
    },
    Order {
        name: "opic",
        argument: None,
        summary: "pages that most cash has come to (OPIC)",
        scale: "0 up, 1 for a seed; falls as the crawl grows",
        wish: None,
        published: false,
        build: |_, _| boxed(Opic::default()),
    },
    Order {
        name: "parent-quality",
        argument: None,
        summary: "pages that good pages link to, on good hosts",
        scale: "0 to 1, half for 200 words",
        wish: None,
        published: false,
        build: |_, _| boxed(ParentQuality::default()),
    },
    Order {
        name: "location",
        argument: None,
        summary: "pages by host, path and depth of path (IL)",
        scale: "product of the rules, 1 if none",
        wish: Some(Wish::Location),
        published: false,
        build: |wishes, _| {
            let rules = wishes.location.iter().map(|rule| rule.parse());
            boxed(Location::new(rules.collect::<Result<_, _>>()?))
        },
    },
    Order {
        name: "given",
        argument: None,
        summary: "pages by scores from a file",
        scale: "the scores",
        wish: Some(Wish::Scores),
        published: false,
        build: |wishes, _| {
            boxed(Given::new(
                wishes.scores.as_ref().map(Arc::clone).unwrap_or_default(),
            ))
        },
    },
    Order {
        name: "similarity",
        argument: None,
        summary: "pages with the query in anchor, URL and parent (IS)",
        scale: "0 to 1",
        wish: Some(Wish::Query),
        published: false,
        build: |wishes, _| boxed(Similarity::new(query(wishes)?)),
    },
    Order {
        name: "random",
        argument: Some("SEED"),
        summary: "as drawn from a hat; 0 if no seed is given",
        scale: "0 to 1",
        wish: None,
        published: true,
        build: |_, argument| {
            let argument = Some(argument.unwrap_or("0"));
            let takes = "a seed, a number from 0 up: random(7)";
            boxed(Random::new(number("random", argument, takes)?))
        },
    },
    Order {
        name: "backlink",
        argument: None,
        summary: "pages that many pages link to (IB')",
        scale: "in-links seen: 0, 1, 2 ...",
        wish: None,
        published: true,
        build: |_, _| boxed(Backlink::default()),
    },
    Order {
        name: "forward-links",
        argument: None,
        summary: "pages that will have many links, like parents and host (IF)",
        scale: "links expected: 0 up",
        wish: None,
        published: true,
        build: |_, _| boxed(ForwardLinks::default()),
    },
    Order {
        name: "hot-anchor",
        argument: None,
        summary: "pages with a word of the query in anchor or URL (5.2)",
        scale: "2 hot, 1 not",
        wish: Some(Wish::Query),
        published: true,
        build: |wishes, _| boxed(HotAnchor::new(query(wishes)?)),
    },
    Order {
        name: "hot-page",
        argument: None,
        summary: "the same, and pages near a page about the query (5.3)",
        scale: "2 hot, 1 not",
        wish: Some(Wish::Query),
        published: true,
        build: |wishes, _| boxed(HotPage::new(query(wishes)?)),
    },
];

/// The server strategies: the default, then the published baselines.
pub const SERVERS: &[Servers] = &[
    Servers {
        name: "best-prefix",
        summary: "most worth in unit time over as many pages as pay",
        published: false,
        build: || Box::new(server::BestPrefix),
    },
    Servers {
        name: "breadth-first",
        summary: "the server that waits longest",
        published: true,
        build: || Box::new(published::server::BreadthFirst),
    },
    Servers {
        name: "performance",
        summary: "most pages in unit time",
        published: true,
        build: || Box::new(Performance),
    },
    Servers {
        name: "quality",
        summary: "the best page",
        published: true,
        build: || Box::new(Quality),
    },
    Servers {
        name: "crawl-ability",
        summary: "most worth in unit time over a whole connection",
        published: true,
        build: || Box::new(CrawlAbility),
    },
];

fn boxed(order: impl Policy + 'static) -> Built {
    Ok(Box::new(order))
}

fn query(wishes: &Wishes) -> Result<Query, CatalogError> {
    Ok(Query::new(wishes.query.as_deref().unwrap_or_default())?)
}

fn number<N: std::str::FromStr>(
    name: &'static str,
    argument: Option<&str>,
    takes: &'static str,
) -> Result<N, CatalogError> {
    let number = argument.and_then(|argument| argument.parse().ok());
    number.ok_or(CatalogError::Argument {
        kind: ORDERING,
        name,
        takes: Some(takes),
    })
}
