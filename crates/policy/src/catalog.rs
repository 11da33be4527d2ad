//! The names by which the user knows orderings, server strategies, refresh policies and schedulers.
//!
//! What users should pick is listed first; [published baselines](crate::published) follow.
//! **Invariant:** this is the one list. Command line, configuration, help, lab, laws and benchmarks read it;
//! nothing else knows a policy by name.

mod error;
mod expression;
mod focus;
mod refreshes;
mod schedulers;
mod standard;
mod upkeep;

use std::sync::Arc;

pub use error::CatalogError;
pub use schedulers::SchedulerName;
pub use upkeep::{BuildRefresh, RateName, RefreshName, Upkeep};

use crate::focus::Topic;
use crate::order::{Combination, Scores, Weighted};
use crate::{Policy, server};
use expression::{Factor, ORDERING};

/// What the user says beside the name of an ordering.
#[derive(Debug, Clone, Default)]
pub struct Wishes {
    /// The query that the crawl is for.
    pub query: Option<String>,
    /// Rules for `location`, such as `host:.edu=2`.
    pub location: Vec<String>,
    /// Scores for `given`.
    pub scores: Option<Arc<Scores>>,
    /// The topic that the crawl is about.
    pub topic: Option<Arc<Topic>>,
}

/// What a policy cannot do without.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wish {
    /// [`Wishes::query`].
    Query,
    /// [`Wishes::location`].
    Location,
    /// [`Wishes::scores`].
    Scores,
    /// [`Wishes::topic`].
    Topic,
    /// [`Upkeep::budget`], for a refresh policy.
    Budget,
    /// [`Upkeep::rates`], for an estimator.
    Rates,
}

/// Makes an ordering of the user's wishes and of what is in parentheses behind its name.
pub type BuildOrder = fn(&Wishes, Option<&str>) -> Result<Box<dyn Policy>, CatalogError>;

/// An ordering, by name.
#[derive(Debug, Clone, Copy)]
pub struct Order {
    /// What the user writes: lower case letters, digits and hyphens.
    pub name: &'static str,
    /// What is in parentheses behind the name, for the help.
    pub argument: Option<&'static str>,
    /// What it does, in a line.
    pub summary: &'static str,
    /// From where to where its worths go, so that the weights of a combination can be chosen.
    pub scale: &'static str,
    /// What it cannot do without.
    pub wish: Option<Wish>,
    /// Whether it is a [published baseline](crate::published).
    pub published: bool,
    /// Makes one.
    pub build: BuildOrder,
}

impl Order {
    /// An ordering without argument and wish.
    pub fn new(name: &'static str, summary: &'static str, build: BuildOrder) -> Self {
        Self {
            name,
            argument: None,
            summary,
            scale: "",
            wish: None,
            published: false,
            build,
        }
    }
}

/// A server strategy, by name.
#[derive(Debug, Clone, Copy)]
pub struct Servers {
    /// What the user writes.
    pub name: &'static str,
    /// What it does, in a line.
    pub summary: &'static str,
    /// Whether it is a [published baseline](crate::published).
    pub published: bool,
    /// Makes one.
    pub build: fn() -> Box<dyn server::Strategy>,
}

/// All orderings, server strategies and refresh policies.
#[derive(Debug, Clone)]
pub struct Catalog {
    orders: Vec<Order>,
    servers: Vec<Servers>,
    refreshes: Vec<RefreshName>,
}

impl Catalog {
    /// Those that come with the program.
    pub fn standard() -> Self {
        let mut orders = [standard::ORDERS, focus::METHODS].concat();
        // Stable: each list is in the order in which its policies are to be shown.
        orders.sort_by_key(|order| order.published);
        Self {
            orders,
            servers: standard::SERVERS.to_vec(),
            refreshes: refreshes::REFRESHES.to_vec(),
        }
    }

    /// The catalog with one ordering more; one of the same name is replaced.
    #[must_use]
    pub fn with(mut self, order: Order) -> Self {
        self.orders.retain(|other| other.name != order.name);
        self.orders.push(order);
        self
    }

    /// The orderings.
    pub fn orders(&self) -> &[Order] {
        &self.orders
    }

    /// The server strategies.
    pub fn strategies(&self) -> &[Servers] {
        &self.servers
    }

    /// The methods of focused crawling among the orderings.
    pub fn focuses(&self) -> impl Iterator<Item = &Order> {
        let about_topics = |order: &&Order| order.wish == Some(Wish::Topic);
        self.orders.iter().filter(about_topics)
    }

    /// The names of the orderings.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.orders.iter().map(|order| order.name)
    }

    /// The ordering that an expression names: `pagerank`, `random(7)`, `pagerank*0.7 + similarity*0.3`.
    ///
    /// # Errors
    ///
    /// If the expression is malformed, names something that is not here, or something is missing in
    /// `wishes`. The message says what to write instead.
    pub fn order(
        &self,
        expression: &str,
        wishes: &Wishes,
    ) -> Result<Box<dyn Policy>, CatalogError> {
        let mut terms = Vec::new();
        for factor in expression::parse(expression)? {
            terms.push(Weighted {
                name: factor.name.to_owned(),
                weight: factor.weight,
                order: self.build(&factor, wishes)?,
            });
        }
        match <[Weighted; 1]>::try_from(terms) {
            Ok([term]) if term.weight == 1.0 => Ok(term.order),
            Ok([term]) => Ok(Box::new(Combination::new(vec![term]))),
            Err(terms) => Ok(Box::new(Combination::new(terms))),
        }
    }

    fn build(&self, factor: &Factor<'_>, wishes: &Wishes) -> Result<Box<dyn Policy>, CatalogError> {
        let order = self
            .orders
            .iter()
            .find(|order| order.name == factor.name)
            .ok_or_else(|| CatalogError::unknown(ORDERING, factor.name, self.names()))?;
        if order.argument.is_none() && factor.argument.is_some() {
            return Err(CatalogError::Argument {
                kind: ORDERING,
                name: order.name,
                takes: None,
            });
        }
        let granted = match order.wish {
            None => true,
            Some(Wish::Query) => wishes.query.is_some(),
            Some(Wish::Location) => !wishes.location.is_empty(),
            Some(Wish::Scores) => wishes.scores.is_some(),
            Some(Wish::Topic) => wishes.topic.is_some(),
            // No ordering knows what to do with these.
            Some(Wish::Budget | Wish::Rates) => false,
        };
        match order.wish.filter(|_| !granted) {
            Some(wish) => Err(CatalogError::Missing {
                kind: ORDERING,
                name: order.name,
                wish,
            }),
            None => (order.build)(wishes, factor.argument),
        }
    }

    /// The server strategy of this name.
    ///
    /// # Errors
    ///
    /// If there is none.
    pub fn servers(&self, name: &str) -> Result<Box<dyn server::Strategy>, CatalogError> {
        let names = self.servers.iter().map(|servers| servers.name);
        self.servers
            .iter()
            .find(|servers| servers.name == name.trim())
            .map(|servers| (servers.build)())
            .ok_or_else(|| CatalogError::unknown("server strategy", name.trim(), names))
    }

    /// The tables of orderings and server strategies for `--help`.
    pub fn help(&self) -> String {
        let orders = self.orders.iter().map(|order| Row {
            name: named(order.name, order.argument),
            summary: order.summary,
            scale: format!("{}{}", order.scale, needs(order.wish)),
            published: order.published,
        });
        let servers = self.servers.iter().map(|servers| Row {
            name: servers.name.to_owned(),
            summary: servers.summary,
            scale: String::new(),
            published: servers.published,
        });
        format!(
            "Orderings (--order), and what their worths are:\n{}\n\
             Combine them with weights: `{}`. A weight multiplies worths as they are.\n\n\
             Server strategies (--servers):\n{}",
            table(orders.collect()),
            expression::EXAMPLE,
            table(servers.collect()),
        )
    }
}

/// Stands above the policies of [`published`](crate::published) in help, reference and dashboard.
pub const PUBLISHED_HEADING: &str = "Published baselines, for comparison";

/// A policy in a table of the help.
struct Row {
    name: String,
    summary: &'static str,
    scale: String,
    published: bool,
}

fn named(name: &str, argument: Option<&str>) -> String {
    match argument {
        Some(argument) => format!("{name}({argument})"),
        None => name.to_owned(),
    }
}

fn needs(wish: Option<Wish>) -> String {
    wish.map_or(String::new(), |wish| format!("; needs {}", wish.flag()))
}

/// Lines up the rows: first what users should pick, then the published baselines below their heading.
fn table(rows: Vec<Row>) -> String {
    let width = |texts: &mut dyn Iterator<Item = usize>| texts.max().unwrap_or(0);
    let names = width(&mut rows.iter().map(|row| row.name.chars().count()));
    let summaries = width(&mut rows.iter().map(|row| row.summary.chars().count()));
    let line = |row: &Row| {
        let Row {
            name,
            summary,
            scale,
            ..
        } = row;
        let line = format!("  {name:names$}  {summary:summaries$}  {scale}");
        format!("{}\n", line.trim_end())
    };
    let (published, top): (Vec<&Row>, Vec<&Row>) = rows.iter().partition(|row| row.published);
    let mut table: String = top.into_iter().map(line).collect();
    if !published.is_empty() {
        table.push_str(&format!("\n {PUBLISHED_HEADING}:\n"));
        table.extend(published.into_iter().map(line));
    }
    table
}

#[cfg(test)]
mod tests;
