//! `bench order`: the cost of a decision, and how it grows with the frontier.
//!
//! It measures every ordering with the default server strategy, and every strategy with the
//! default ordering, at every size, each in its own process. All is in memory; `bench frontier`
//! measures the cost of the ledger.

pub mod cell;
mod report;
pub mod upkeep;
pub mod visits;
pub mod world;

use std::path::Path;
use std::sync::Arc;

use anyhow::Result;
use clap::Args;
use policy::catalog::{Catalog, Wishes};
use policy::focus::Topic;
use policy::order::Scores;
use policy::{CatalogError, Policy};
use serde::{Deserialize, Serialize};

use crate::child;
use crate::urls::Urls;
use report::{OrderReport, OrderRow, UpkeepRow};

/// The defaults of `avocet crawl`.
const ORDER: &str = "rankmass";
const STRATEGY: &str = "best-prefix";
/// The number of scores for the ordering `given`.
const SCORES: u64 = 1000;

/// Options of `bench order`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  cargo xtask bench order --urls 1000000 --servers 1,1000,100000 --order pagerank --order opic
  cargo xtask bench order --strategy quality

Measures all orderings with the default strategy and all strategies with the default ordering, unless some are named.
Each row with twenty million URLs needs 2 GB of memory and a minute.")]
pub struct OrderOptions {
    /// URLs in the frontier
    #[arg(long, value_name = "N", value_delimiter = ',', default_values_t = [1_000_000, 10_000_000, 20_000_000],
        value_parser = clap::value_parser!(u64).range(1000..=1_000_000_000))]
    pub urls: Vec<u64>,
    /// Servers that hold them; the n-th has about 1/n of the pages of the first
    #[arg(long, value_name = "N", value_delimiter = ',', default_values_t = [1, 1000, 100_000],
        value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    pub servers: Vec<u64>,
    /// Only this ordering, with the default strategy (repeatable)
    #[arg(long, value_name = "ORDER")]
    pub order: Vec<String>,
    /// Only this strategy, with the default ordering (repeatable)
    #[arg(long, value_name = "STRATEGY")]
    pub strategy: Vec<String>,
    /// Pages of the web on which the upkeep of orderings by links is measured
    #[arg(long, value_name = "N", default_value_t = 1_000_000, value_parser = clap::value_parser!(u64).range(1000..=1_000_000_000))]
    pub pages: u64,
    /// Print one JSON document instead of the tables
    #[arg(long)]
    pub json: bool,
}

/// One row of the first table.
#[derive(Debug, Serialize, Deserialize)]
pub struct OrderCell {
    /// The ordering.
    pub order: String,
    /// The server strategy.
    pub strategy: String,
    /// URLs in the frontier.
    pub urls: u64,
    /// Servers that hold them.
    pub servers: u64,
}

/// One row of the second table.
#[derive(Debug, Serialize, Deserialize)]
pub struct OrderUpkeep {
    /// The ordering.
    pub order: String,
    /// Pages of the web.
    pub pages: u64,
}

/// Runs the benchmark and prints the tables.
pub fn run(options: &OrderOptions, place: &Path) -> Result<()> {
    let mut rows = Vec::new();
    for (order, strategy) in pairs(options) {
        for &servers in &options.servers {
            for &urls in &options.urls {
                eprintln!("{order} and {strategy}, {urls} URLs on {servers} servers");
                let cell = OrderCell {
                    order: order.clone(),
                    strategy: strategy.clone(),
                    urls,
                    servers,
                };
                let measured = child::measure("order-cell", &cell, place)?.0;
                rows.push(OrderRow { cell, measured });
            }
        }
    }
    let mut upkeep = Vec::new();
    for order in orders(options) {
        if !ordering(&order, 1)?.needs().links {
            continue;
        }
        eprintln!("{order}, upkeep over {} pages", options.pages);
        let options = OrderUpkeep {
            order,
            pages: options.pages,
        };
        let kept = child::measure("order-upkeep", &options, place)?.0;
        upkeep.push(UpkeepRow { options, kept });
    }
    crate::report::print(&OrderReport { rows, upkeep }, options.json)
}

/// Returns the orderings to measure, as expressions of the catalog.
fn orders(options: &OrderOptions) -> Vec<String> {
    if !options.order.is_empty() {
        return options.order.clone();
    }
    if !options.strategy.is_empty() {
        return Vec::new();
    }
    let catalog = Catalog::standard();
    let names = catalog.names().map(|name| match name {
        // With this limit half of the pages are too deep.
        "depth-limited" => "depth-limited(4)".to_owned(),
        name => name.to_owned(),
    });
    names.collect()
}

/// An ordering that drops links. In the first table its frontier would soon be empty, so that table
/// leaves it out.
const DROPS: &str = "hard";

/// Returns the pairs of ordering and strategy to measure.
fn pairs(options: &OrderOptions) -> Vec<(String, String)> {
    let mut strategies = options.strategy.clone();
    if options.strategy.is_empty() && options.order.is_empty() {
        let catalog = Catalog::standard();
        let names = catalog.strategies().iter().map(|strategy| strategy.name);
        strategies.extend(names.map(str::to_owned));
    }
    let mut pairs: Vec<_> = orders(options)
        .into_iter()
        .filter(|order| order != DROPS)
        .map(|order| (order, STRATEGY.to_owned()))
        .collect();
    for strategy in strategies {
        let pair = (ORDER.to_owned(), strategy);
        if !pairs.contains(&pair) {
            pairs.push(pair);
        }
    }
    pairs
}

/// Creates an ordering of the catalog, with example values for all that it may need.
fn ordering(expression: &str, servers: u64) -> Result<Box<dyn Policy>> {
    let mut scores = Scores::default();
    for number in 0..SCORES {
        let url = Urls { servers }.url(number)?;
        scores.insert(url.as_str(), 1.0 / (number + 1) as f64);
    }
    let options = Wishes {
        query: Some("summer language".into()),
        location: vec![
            "host:.org=2".into(),
            "path:/news/=3".into(),
            "depth=0.9".into(),
        ],
        scores: Some(Arc::new(scores)),
        topic: Some(Arc::new(Topic::words("summer language")?)),
    };
    let order: Result<_, CatalogError> = Catalog::standard().order(expression, &options);
    Ok(order?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(order: &[&str], strategy: &[&str]) -> OrderOptions {
        let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        OrderOptions {
            urls: vec![1000],
            servers: vec![1],
            order: names(order),
            strategy: names(strategy),
            pages: 1000,
            json: false,
        }
    }

    #[test]
    fn everything_in_the_catalog_is_measured_once() {
        let pairs_of = |order: &[&str], strategy: &[&str]| pairs(&options(order, strategy)).len();
        let catalog = Catalog::standard();
        let (orders, strategies) = (catalog.orders().len(), catalog.strategies().len());
        assert_eq!(pairs_of(&[], &[]), orders - 1 + strategies - 1);
        assert_eq!(pairs_of(&["pagerank"], &[]), 1);
        assert_eq!(pairs_of(&[], &["quality", "performance"]), 2);
        assert_eq!(pairs_of(&["rankmass"], &["best-prefix", "quality"]), 2);
        for (order, _) in pairs(&options(&[], &[])) {
            assert!(ordering(&order, 10).is_ok(), "{order}");
        }
    }

    #[test]
    fn every_ordering_and_every_strategy_settles_200_pages() {
        for (order, strategy) in pairs(&options(&[], &[])) {
            let cell = OrderCell {
                order,
                strategy,
                urls: 2000,
                servers: 20,
            };
            let measured = cell::measure(&cell, 200).unwrap();
            assert_eq!(measured.settled, 200, "{cell:?}");
            assert!(
                measured.decisions > 0.0 && measured.evaluations > 0.0,
                "{cell:?}"
            );
            assert!(measured.with_links < measured.decisions, "{cell:?}");
        }
    }
}
