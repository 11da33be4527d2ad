//! What does a decision cost, and does that grow with the frontier?
//!
//! Every ordering with the default server strategy and every strategy with the default ordering, at every
//! size, each in a process of its own. All in memory: what the ledger costs is `bench frontier`'s to say.

pub mod cell;
mod report;
pub mod upkeep;
pub mod visits;
pub mod world;

use std::env;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use anyhow::{Context, Result};
use policy::catalog::{Catalog, Wishes};
use policy::focus::Topic;
use policy::order::Scores;
use policy::{CatalogError, Policy};
use serde::de::DeserializeOwned;

use crate::child;
use crate::cli::{Order, OrderCell, OrderUpkeep};
use crate::machine::Machine;
use crate::urls::Urls;
use report::Report;

/// What `avocet crawl` uses where the user names nothing.
const ORDER: &str = "rankmass";
const STRATEGY: &str = "best-prefix";
/// Scores that the ordering `given` is given.
const SCORES: u64 = 1000;

/// Measures, and prints the tables.
pub fn run(wishes: &Order, place: &Path) -> Result<()> {
    let mut rows = Vec::new();
    for (order, strategy) in pairs(wishes) {
        for &servers in &wishes.servers {
            for &urls in &wishes.urls {
                eprintln!("{order} and {strategy}, {urls} URLs on {servers} servers");
                let cell = OrderCell {
                    order: order.clone(),
                    strategy: strategy.clone(),
                    urls,
                    servers,
                };
                let mut command = Command::new(env::current_exe()?);
                command.arg("order-cell").args([&order, &strategy]);
                command.args([urls.to_string(), servers.to_string()]);
                rows.push((cell, child_says(&mut command, place)?));
            }
        }
    }
    let mut upkeeps = Vec::new();
    for order in orders(wishes) {
        if !ordering(&order, 1)?.needs().links {
            continue;
        }
        eprintln!("{order}, upkeep over {} pages", wishes.pages);
        let mut command = Command::new(env::current_exe()?);
        command.args(["order-upkeep", &order, &wishes.pages.to_string()]);
        let asked = OrderUpkeep {
            order,
            pages: wishes.pages,
        };
        upkeeps.push((asked, child_says(&mut command, place)?));
    }
    let arguments = env::args().skip(1).collect::<Vec<_>>().join(" ");
    let report = Report {
        command: format!("cargo xtask bench {arguments}"),
        machine: Machine::this(),
        rows: rows.into_iter().map(report::Row::from).collect(),
        upkeep: upkeeps.into_iter().map(report::Upkeep::from).collect(),
    };
    if wishes.json {
        println!("{}", serde_json::to_string(&report)?);
    } else {
        print!("{report}");
    }
    Ok(())
}

/// The orderings that are wanted, as expressions of the catalog.
fn orders(wishes: &Order) -> Vec<String> {
    if !wishes.order.is_empty() {
        return wishes.order.clone();
    }
    if !wishes.strategy.is_empty() {
        return Vec::new();
    }
    let catalog = Catalog::standard();
    let names = catalog.names().map(|name| match name {
        // Half of the pages are deeper.
        "depth-limited" => "depth-limited(4)".to_owned(),
        name => name.to_owned(),
    });
    names.collect()
}

/// The ordering that drops links, of which it soon has none left here.
const DROPS: &str = "hard";

/// What is measured: each ordering with the default strategy, each strategy with the default ordering.
fn pairs(wishes: &Order) -> Vec<(String, String)> {
    let mut strategies = wishes.strategy.clone();
    if wishes.strategy.is_empty() && wishes.order.is_empty() {
        let catalog = Catalog::standard();
        let names = catalog.strategies().iter().map(|strategy| strategy.name);
        strategies.extend(names.map(str::to_owned));
    }
    let mut pairs: Vec<_> = orders(wishes)
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

/// An ordering of the catalog, with something of whatever it needs.
fn ordering(expression: &str, servers: u64) -> Result<Box<dyn Policy>> {
    let mut scores = Scores::default();
    for number in 0..SCORES {
        let url = Urls { servers }.url(number)?;
        scores.insert(url.as_str(), 1.0 / (number + 1) as f64);
    }
    let wishes = Wishes {
        query: Some("summer language".into()),
        location: vec![
            "host:.org=2".into(),
            "path:/news/=3".into(),
            "depth=0.9".into(),
        ],
        scores: Some(Arc::new(scores)),
        topic: Some(Arc::new(Topic::words("summer language")?)),
    };
    let order: Result<_, CatalogError> = Catalog::standard().order(expression, &wishes);
    Ok(order?)
}

fn child_says<T: DeserializeOwned>(command: &mut Command, place: &Path) -> Result<T> {
    let ended = child::run(command, &place.join("errors.txt"))?;
    serde_json::from_str(&ended.output).context("cannot read what the new process prints")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wishes(order: &[&str], strategy: &[&str]) -> Order {
        let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        Order {
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
        let pairs_of = |order: &[&str], strategy: &[&str]| pairs(&wishes(order, strategy)).len();
        let catalog = Catalog::standard();
        let (orders, strategies) = (catalog.orders().len(), catalog.strategies().len());
        assert_eq!(pairs_of(&[], &[]), orders - 1 + strategies - 1);
        assert_eq!(pairs_of(&["pagerank"], &[]), 1);
        assert_eq!(pairs_of(&[], &["quality", "performance"]), 2);
        assert_eq!(pairs_of(&["rankmass"], &["best-prefix", "quality"]), 2);
        for (order, _) in pairs(&wishes(&[], &[])) {
            assert!(ordering(&order, 10).is_ok(), "{order}");
        }
    }

    #[test]
    fn every_cell_is_driven_and_counted() {
        for (order, strategy) in pairs(&wishes(&[], &[])) {
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
