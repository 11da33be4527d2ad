//! The error for a policy name or expression that the catalog cannot resolve, with a suggestion
//! of what to write.

use std::fmt;

use super::{Wish, expression};
use crate::order::RuleError;
use crate::query::QueryError;

/// The reason why no policy could be built.
#[derive(Debug, Clone, PartialEq)]
pub enum CatalogError {
    /// The name is not in the catalog.
    Unknown {
        /// The kind: ordering, server strategy, refresh policy, estimator or scheduler.
        kind: &'static str,
        /// The name that the user wrote.
        name: String,
        /// The known names.
        choices: Vec<&'static str>,
    },
    /// The expression is malformed.
    Malformed {
        /// The kind: ordering, refresh policy, estimator or scheduler.
        kind: &'static str,
        /// The expression.
        expression: String,
        /// The column of the first error, in characters, counted from 1.
        column: usize,
        /// What is wrong there.
        why: &'static str,
    },
    /// The policy takes a different argument, or none.
    Argument {
        /// The kind: ordering, refresh policy, estimator or scheduler.
        kind: &'static str,
        /// Its name.
        name: &'static str,
        /// The argument that it takes, with an example. `None` if it takes no argument.
        takes: Option<&'static str>,
    },
    /// The policy requires an input that the user did not give.
    Missing {
        /// The kind: ordering, refresh policy or estimator.
        kind: &'static str,
        /// Its name.
        name: &'static str,
        /// The missing input.
        wish: Wish,
    },
    /// The query has no word, or too many.
    Query(QueryError),
    /// A rule for `location` is malformed.
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
    /// Returns the command-line option that gives this input.
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

/// Returns the choice with the smallest edit distance, if that is less than half of the
/// choice's length.
fn closest<'a>(name: &str, choices: &[&'a str]) -> Option<&'a str> {
    // A name of more than 64 letters is close to no choice. The limit bounds the quadratic time
    // of `edits`.
    let short: String = name.chars().take(64).collect();
    choices
        .iter()
        .map(|&choice| (edits(&short, choice), choice))
        .filter(|(edits, choice)| edits * 2 < choice.len())
        .min()
        .map(|(_, choice)| choice)
}

/// Returns the edit distance with transpositions (optimal string alignment): insertions,
/// deletions, replacements (Levenshtein 1966) and swaps of neighbours (Damerau 1964).
///
/// A swap is a common typing error and counts as one edit. As two edits, [`closest`] would reject
/// it in a name of up to four letters.
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
    fn edits_count_typing_errors() {
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
