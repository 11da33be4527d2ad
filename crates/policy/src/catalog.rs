//! The catalog maps the names that users write to orderings, server strategies, refresh
//! policies, estimators of change rates and schedulers.
//!
//! Recommended policies are listed first; [published baselines](crate::published) follow.
//!
//! **Invariant:** this is the only list of names. Command line, configuration, help,
//! laboratory, laws and benchmarks read it.

mod argument;
mod error;
mod expression;
mod focus;
mod refreshes;
mod schedulers;
mod standard;
mod upkeep;

use std::sync::Arc;

pub use argument::PolicyArgument;
pub use error::CatalogError;
pub use schedulers::SchedulerName;
pub use upkeep::{BuildRefresh, RateName, RefreshName, Upkeep};

use crate::focus::Topic;
use crate::order::{Combination, Scores, Weighted};
use crate::{Policy, server};
use expression::{Factor, ORDERING};

/// The user's inputs to an ordering, beside its name.
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

/// An input that a policy requires.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wish {
    /// A query: `--query`.
    Query,
    /// Rules for URLs: `--location`.
    Location,
    /// Scores of URLs: `--scores`.
    Scores,
    /// A topic: `--topic`.
    Topic,
    /// A budget of visits, for a refresh policy: `--budget`.
    Budget,
    /// Change rates of URLs, for an estimator: `--rates`.
    Rates,
}

/// Builds an ordering from the user's inputs and the argument in parentheses after its name.
pub type BuildOrder = fn(&Wishes, Option<&str>) -> Result<Box<dyn Policy>, CatalogError>;

/// An entry of the catalog for an ordering.
#[derive(Debug, Clone, Copy)]
pub struct Order {
    /// The name that users write: lower-case letters, digits and hyphens.
    pub name: &'static str,
    /// The argument in parentheses after the name. `None` if the ordering takes none.
    pub argument: Option<PolicyArgument>,
    /// A description of at most a line.
    pub summary: &'static str,
    /// The range of its worths, so that users can choose the weights of a combination.
    pub scale: &'static str,
    /// The input that it requires.
    pub wish: Option<Wish>,
    /// Whether it is a [published baseline](crate::published).
    pub published: bool,
    /// Builds the ordering.
    pub build: BuildOrder,
}

impl Order {
    /// Creates an entry that takes no argument, requires no input, states no range of worths and
    /// is no published baseline.
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

    /// Returns the expressions by which tests build the ordering: its name, unless its argument is
    /// required, and its name with the example of its argument.
    #[cfg(test)]
    pub(crate) fn examples(&self) -> Vec<String> {
        argument::examples(self.name, self.argument.as_ref())
    }

    /// Returns the name with the form of its argument: `laser(GAMMA, NU)`.
    pub fn form(&self) -> String {
        named(self.name, self.argument.map(|argument| argument.form))
    }
}

/// An entry of the catalog for a server strategy.
#[derive(Debug, Clone, Copy)]
pub struct Servers {
    /// The name that users write.
    pub name: &'static str,
    /// A description of at most a line.
    pub summary: &'static str,
    /// Whether it is a [published baseline](crate::published).
    pub published: bool,
    /// Builds the strategy.
    pub build: fn() -> Box<dyn server::Strategy>,
}

/// All orderings, server strategies and refresh policies. The lists of estimators and schedulers
/// are constants, so the catalog does not store them.
#[derive(Debug, Clone)]
pub struct Catalog {
    orders: Vec<Order>,
    servers: Vec<Servers>,
    refreshes: Vec<RefreshName>,
}

impl Catalog {
    /// Returns the catalog of the policies that come with the program.
    pub fn standard() -> Self {
        let mut orders = [standard::ORDERS, focus::METHODS].concat();
        // A stable sort keeps the order of each list, which is the order of display.
        orders.sort_by_key(|order| order.published);
        Self {
            orders,
            servers: standard::SERVERS.to_vec(),
            refreshes: refreshes::REFRESHES.to_vec(),
        }
    }

    /// Returns the catalog with this ordering added. An ordering of the same name is removed.
    #[must_use]
    pub fn with(mut self, order: Order) -> Self {
        self.orders.retain(|other| other.name != order.name);
        self.orders.push(order);
        self
    }

    /// Returns the orderings.
    pub fn orders(&self) -> &[Order] {
        &self.orders
    }

    /// Returns the server strategies.
    pub fn strategies(&self) -> &[Servers] {
        &self.servers
    }

    /// Returns the orderings that are methods of focused crawling.
    pub fn focuses(&self) -> impl Iterator<Item = &Order> {
        let about_topics = |order: &&Order| order.wish == Some(Wish::Topic);
        self.orders.iter().filter(about_topics)
    }

    /// Returns the lines of the help that explain the arguments of methods of focused crawling.
    pub fn focus_arguments(&self) -> String {
        argument::explained(self.focuses().map(|order| (order.name, order.argument)))
    }

    /// Returns the names of the orderings.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.orders.iter().map(|order| order.name)
    }

    /// Builds the ordering that an expression names: `pagerank`, `random(7)`,
    /// `pagerank*0.7 + similarity*0.3`.
    ///
    /// # Errors
    ///
    /// If the expression is malformed, names an unknown ordering, gives an argument that the
    /// ordering does not take, or requires an input that `inputs` lacks. The message says what
    /// to write instead.
    pub fn order(
        &self,
        expression: &str,
        inputs: &Wishes,
    ) -> Result<Box<dyn Policy>, CatalogError> {
        let mut terms = Vec::new();
        for factor in expression::parse(expression)? {
            terms.push(Weighted {
                name: factor.name.to_owned(),
                weight: factor.weight,
                order: self.build(&factor, inputs)?,
            });
        }
        match <[Weighted; 1]>::try_from(terms) {
            Ok([term]) if term.weight == 1.0 => Ok(term.order),
            Ok([term]) => Ok(Box::new(Combination::new(vec![term]))),
            Err(terms) => Ok(Box::new(Combination::new(terms))),
        }
    }

    fn build(&self, factor: &Factor<'_>, inputs: &Wishes) -> Result<Box<dyn Policy>, CatalogError> {
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
            Some(Wish::Query) => inputs.query.is_some(),
            Some(Wish::Location) => !inputs.location.is_empty(),
            Some(Wish::Scores) => inputs.scores.is_some(),
            Some(Wish::Topic) => inputs.topic.is_some(),
            // Orderings never use these inputs.
            Some(Wish::Budget | Wish::Rates) => false,
        };
        match order.wish.filter(|_| !granted) {
            Some(wish) => Err(CatalogError::Missing {
                kind: ORDERING,
                name: order.name,
                wish,
            }),
            None => (order.build)(inputs, factor.argument),
        }
    }

    /// Builds the server strategy of this name.
    ///
    /// # Errors
    ///
    /// If no strategy has this name. The message lists the names.
    pub fn servers(&self, name: &str) -> Result<Box<dyn server::Strategy>, CatalogError> {
        let names = self.servers.iter().map(|servers| servers.name);
        self.servers
            .iter()
            .find(|servers| servers.name == name.trim())
            .map(|servers| (servers.build)())
            .ok_or_else(|| CatalogError::unknown("server strategy", name.trim(), names))
    }

    /// Returns the tables of orderings and server strategies for `--help`.
    pub fn help(&self) -> String {
        let orders = self.orders.iter().map(|order| HelpRow {
            name: order.form(),
            summary: order.summary,
            scale: format!("{}{}", order.scale, needs(order.wish)),
            published: order.published,
        });
        let servers = self.servers.iter().map(|servers| HelpRow {
            name: servers.name.to_owned(),
            summary: servers.summary,
            scale: String::new(),
            published: servers.published,
        });
        format!(
            "Orderings (--order) and the range of their worths:\n{}\n\
             Arguments of orderings:\n{}\n\
             Combine them with weights: `{}`. A weight multiplies the worth, which is not normalized.\n\n\
             Server strategies (--servers):\n{}",
            table(orders.collect()),
            argument::explained(self.orders.iter().map(|order| (order.name, order.argument))),
            expression::EXAMPLE,
            table(servers.collect()),
        )
    }
}

/// The heading of the policies of [`published`](crate::published) in help, reference and
/// dashboard.
pub const PUBLISHED_HEADING: &str = "Published baselines, for comparison";

/// A row of a help table.
struct HelpRow {
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

/// Formats the rows in columns. Published baselines follow below their heading.
fn table(rows: Vec<HelpRow>) -> String {
    let width = |texts: &mut dyn Iterator<Item = usize>| texts.max().unwrap_or(0);
    let names = width(&mut rows.iter().map(|row| row.name.chars().count()));
    let summaries = width(&mut rows.iter().map(|row| row.summary.chars().count()));
    let line = |row: &HelpRow| {
        let HelpRow {
            name,
            summary,
            scale,
            ..
        } = row;
        let line = format!("  {name:names$}  {summary:summaries$}  {scale}");
        format!("{}\n", line.trim_end())
    };
    let (published, top): (Vec<&HelpRow>, Vec<&HelpRow>) =
        rows.iter().partition(|row| row.published);
    let mut table: String = top.into_iter().map(line).collect();
    if !published.is_empty() {
        table.push_str(&format!("\n {PUBLISHED_HEADING}:\n"));
        table.extend(published.into_iter().map(line));
    }
    table
}

#[cfg(test)]
mod tests;
