//! The catalog entries for orderings and server strategies.

use std::sync::Arc;

use super::expression::ORDERING;
use super::{CatalogError, Order, PolicyArgument, Servers, Wish, Wishes};
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

const DEPTH_LIMITED: PolicyArgument =
    PolicyArgument::required("N", "the largest depth, 0 to 65535: depth-limited(5)", "5");
const RANDOM: PolicyArgument =
    PolicyArgument::optional("SEED", "a seed, an integer of at least 0: random(7)", "7");

/// The orderings: the default first, the published baselines last.
pub const ORDERS: &[Order] = &[
    Order {
        name: "rankmass",
        argument: None,
        summary: "PageRank from seeds; gives a bound on coverage",
        scale: "from 0; at least 0.1 for a seed",
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
        argument: Some(DEPTH_LIMITED),
        summary: "breadth-first, at most N links from a seed",
        scale: "1/(1 + depth)",
        wish: None,
        published: false,
        build: |_, argument| {
            let depth = argument.and_then(|depth| depth.parse().ok());
            let wrong = || DEPTH_LIMITED.wrong(ORDERING, "depth-limited");
            boxed(DepthLimited::new(depth.ok_or_else(wrong)?))
        },
    },
    Order {
        name: "pagerank",
        argument: None,
        summary: "PageRank of the known link graph (IR', d = 0.9)",
        scale: "from 0.1; mean at most 1",
        wish: None,
        published: false,
        build: |_, _| boxed(PageRank::default()),
    },
    Order {
        name: "opic",
        argument: None,
        summary: "pages that receive most cash along links (OPIC)",
        scale: "from 0; 1 for a seed; falls as the crawl grows",
        wish: None,
        published: false,
        build: |_, _| boxed(Opic::default()),
    },
    Order {
        name: "parent-quality",
        argument: None,
        summary: "expected length of the text, by parents and host",
        scale: "0 to 1; 0.5 if 200 words are expected",
        wish: None,
        published: false,
        build: |_, _| boxed(ParentQuality::default()),
    },
    Order {
        name: "location",
        argument: None,
        summary: "by host, path and depth of the path (IL)",
        scale: "product of the rules; 1 if none",
        wish: Some(Wish::Location),
        published: false,
        build: |inputs, _| {
            let rules = inputs.location.iter().map(|rule| rule.parse());
            boxed(Location::new(rules.collect::<Result<_, _>>()?))
        },
    },
    Order {
        name: "given",
        argument: None,
        summary: "by scores from a file",
        scale: "the scores",
        wish: Some(Wish::Scores),
        published: false,
        build: |inputs, _| {
            boxed(Given::new(
                inputs.scores.as_ref().map(Arc::clone).unwrap_or_default(),
            ))
        },
    },
    Order {
        name: "similarity",
        argument: None,
        summary: "query words in anchor text, URL and parent (IS)",
        scale: "0 to 1",
        wish: Some(Wish::Query),
        published: false,
        build: |inputs, _| boxed(Similarity::new(query(inputs)?)),
    },
    Order {
        name: "random",
        argument: Some(RANDOM),
        summary: "random order; SEED is 0 if not given",
        scale: "0 to 1",
        wish: None,
        published: true,
        build: |_, argument| {
            let seed = argument.unwrap_or("0").parse().ok();
            let wrong = || RANDOM.wrong(ORDERING, "random");
            boxed(Random::new(seed.ok_or_else(wrong)?))
        },
    },
    Order {
        name: "backlink",
        argument: None,
        summary: "pages with most known in-links (IB')",
        scale: "in-links seen: 0, 1, 2 ...",
        wish: None,
        published: true,
        build: |_, _| boxed(Backlink::default()),
    },
    Order {
        name: "forward-links",
        argument: None,
        summary: "expected out-links, by parents and host (IF)",
        scale: "expected out-links, from 0",
        wish: None,
        published: true,
        build: |_, _| boxed(ForwardLinks::default()),
    },
    Order {
        name: "hot-anchor",
        argument: None,
        summary: "query word in anchor text or URL (Algorithm 5.2)",
        scale: "2 if hot, else 1",
        wish: Some(Wish::Query),
        published: true,
        build: |inputs, _| boxed(HotAnchor::new(query(inputs)?)),
    },
    Order {
        name: "hot-page",
        argument: None,
        summary: "hot-anchor, or near a hot page (Algorithm 5.3)",
        scale: "2 if hot, else 1",
        wish: Some(Wish::Query),
        published: true,
        build: |inputs, _| boxed(HotPage::new(query(inputs)?)),
    },
];

/// The server strategies: the default, then the published baselines.
pub const SERVERS: &[Servers] = &[
    Servers {
        name: "best-prefix",
        summary: "most worth per second over the best number of pages",
        published: false,
        build: || Box::new(server::BestPrefix),
    },
    Servers {
        name: "breadth-first",
        summary: "the server that has waited longest",
        published: true,
        build: || Box::new(published::server::BreadthFirstServers),
    },
    Servers {
        name: "performance",
        summary: "most pages per second",
        published: true,
        build: || Box::new(Performance),
    },
    Servers {
        name: "quality",
        summary: "the server with the best page",
        published: true,
        build: || Box::new(Quality),
    },
    Servers {
        name: "crawl-ability",
        summary: "most worth per second over a whole connection",
        published: true,
        build: || Box::new(CrawlAbility),
    },
];

fn boxed(order: impl Policy + 'static) -> Built {
    Ok(Box::new(order))
}

fn query(inputs: &Wishes) -> Result<Query, CatalogError> {
    Ok(Query::new(inputs.query.as_deref().unwrap_or_default())?)
}
