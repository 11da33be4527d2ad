//! What is wrong with what the user asked for, and what could be written instead?

use std::fmt;

use super::{Wish, expression};
use crate::order::RuleError;
use crate::query::QueryError;

/// Why there is no such policy.
#[derive(Debug, Clone, PartialEq)]
pub enum CatalogError {
    /// The name is not in the catalog.
    Unknown {
        /// An ordering, a server strategy, a refresh policy or an estimator.
        kind: &'static str,
        /// What was asked for.
        name: String,
        /// What there is.
        choices: Vec<&'static str>,
    },
    /// The expression cannot be read.
    Malformed {
        /// An ordering, a refresh policy or an estimator.
        kind: &'static str,
        /// The expression.
        expression: String,
        /// Where it cannot be read any more, in characters from one.
        column: usize,
        /// What is wrong there.
        why: &'static str,
    },
    /// The policy takes another argument, or none.
    Argument {
        /// An ordering, a refresh policy or an estimator.
        kind: &'static str,
        /// Its name.
        name: &'static str,
        /// What it takes, with an example.
        takes: Option<&'static str>,
    },
    /// The policy cannot do without something that the user did not give.
    Missing {
        /// An ordering, a refresh policy or an estimator.
        kind: &'static str,
        /// Its name.
        name: &'static str,
        /// What is missing.
        wish: Wish,
    },
    /// The query has no word, or too many.
    Query(QueryError),
    /// A rule for `location` cannot be read.
    Rule(RuleError),
}

impl From<QueryError> for CatalogError {
    fn from(error: QueryError) -> Self {
        Self::Query(error)
    }
}

impl From<RuleError> for CatalogError {
    fn from(error: RuleError) -> Self {
        Self::Rule(error)
    }
}

impl CatalogError {
    pub(super) fn unknown(
        kind: &'static str,
        name: &str,
        choices: impl Iterator<Item = &'static str>,
    ) -> Self {
        Self::Unknown {
            kind,
            name: name.to_owned(),
            choices: choices.collect(),
        }
    }
}

impl fmt::Display for CatalogError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown {
                kind,
                name,
                choices,
            } => {
                write!(f, "unknown {kind} `{name}`: ")?;
                if let Some(close) = closest(name, choices) {
                    write!(f, "did you mean `{close}`? ")?;
                }
                write!(f, "choices: {}", choices.join(", "))
            }
            Self::Malformed {
                kind,
                expression,
                column,
                why,
            } => {
                let example = expression::example(kind);
                write!(
                    f,
                    "malformed {kind} `{expression}`: {why} at column {column}; write for example `{example}`"
                )
            }
            Self::Argument { kind, name, takes } => {
                let takes = takes.unwrap_or("nothing in parentheses");
                write!(f, "{kind} `{name}` takes {takes}")
            }
            Self::Missing { kind, name, wish } => {
                write!(f, "{kind} `{name}` needs {}", wish.example())
            }
            Self::Query(error) => error.fmt(f),
            Self::Rule(error) => {
                let example = Wish::Location.example();
                write!(f, "{error}; write for example {example}")
            }
        }
    }
}

impl std::error::Error for CatalogError {}

impl Wish {
    /// The option of the command line that grants it, or what it is where there is none.
    pub fn flag(self) -> &'static str {
        match self {
            Self::Query => "--query",
            Self::Location => "--location",
            Self::Scores => "--scores",
            Self::Topic => "--topic",
            Self::Budget => "--budget",
            Self::Rates => "--rates",
        }
    }

    fn example(self) -> &'static str {
        match self {
            Self::Query => "a query: --query \"words to look for\"",
            Self::Location => {
                "rules: --location host:.edu=2 --location path:/docs/=3 --location depth=0.8"
            }
            Self::Scores => "scores of URLs: --scores FILE",
            Self::Topic => "a topic: --topic NAME, or --topic \"words of a query\"",
            Self::Budget => {
                "a budget that pays for a visit: --budget 2/s, or fetches_per_second under [budget]"
            }
            Self::Rates => "the change rates of URLs: --rates FILE",
        }
    }
}

/// The choice that is fewest edits away, if these are fewer than half of its letters.
fn closest<'a>(name: &str, choices: &[&'a str]) -> Option<&'a str> {
    // No choice is near to what is longer than all of them.
    let short: String = name.chars().take(64).collect();
    choices
        .iter()
        .map(|&choice| (edits(&short, choice), choice))
        .filter(|(edits, choice)| edits * 2 < choice.len())
        .min()
        .map(|(_, choice)| choice)
}

/// Letters to insert, leave out or replace (Levenshtein 1966), or neighbours to swap (Damerau 1964), which is the
/// slip that a short name does not survive otherwise.
fn edits(from: &str, to: &str) -> usize {
    let from: Vec<char> = from.chars().collect();
    let to: Vec<char> = to.chars().collect();
    let mut table = vec![vec![0; to.len() + 1]; from.len() + 1];
    for row in 0..=from.len() {
        for column in 0..=to.len() {
            if row == 0 || column == 0 {
                table[row][column] = row + column;
                continue;
            }
            let differ = usize::from(from[row - 1] != to[column - 1]);
            let replaced = table[row - 1][column - 1] + differ;
            let moved = table[row - 1][column].min(table[row][column - 1]) + 1;
            let mut fewest = replaced.min(moved);
            let (last, one_before) = (row.checked_sub(2), column.checked_sub(2));
            if let (Some(up), Some(left)) = (last, one_before)
                && (from[up], from[up + 1]) == (to[left + 1], to[left])
            {
                fewest = fewest.min(table[up][left] + 1);
            }
            table[row][column] = fewest;
        }
    }
    table[from.len()][to.len()]
}

#[cfg(test)]
mod tests {
    use super::edits;

    #[test]
    fn edits_are_those_of_a_hand_that_slips() {
        for (from, to, count) in [
            ("", "", 0),
            ("", "abc", 3),
            ("abc", "", 3),
            ("kitten", "sitting", 3),
            ("pagernk", "pagerank", 1),
            ("ümlaut", "umlaut", 1),
            ("bsf", "bfs", 1),
            ("unifrom", "uniform", 1),
            ("ca", "abc", 3),
        ] {
            assert_eq!(edits(from, to), count, "{from} to {to}");
        }
    }
}
