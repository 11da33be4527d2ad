//! The parser of policy expressions: weighted sums of orderings, and single names.
//!
//! ```text
//! sum    = factor { "+" factor }
//! factor = name | name "*" weight | weight "*" name
//! name   = letters, digits, hyphens, underscores [ "(" argument ")" ]
//! ```
//!
//! **Invariant:** every weight is above zero and finite.

use super::CatalogError;

/// An example expression for messages and help.
pub const EXAMPLE: &str = "pagerank*0.7 + similarity*0.3";

/// Kind of the policies for new pages. Only these can be weighted and summed.
pub const ORDERING: &str = "ordering";
/// Kind of the policies that refresh copies.
pub const REFRESH: &str = "refresh policy";
/// Kind of the estimators of change rates.
pub const ESTIMATOR: &str = "estimator";

/// Kind of the policies that poll content sources.
pub const SCHEDULER: &str = "scheduler";

/// Returns an example of an expression of this kind.
pub fn example(kind: &str) -> &'static str {
    match kind {
        REFRESH => "currency(0.95, 7)",
        ESTIMATOR => "gamma",
        SCHEDULER => "echo-newpages",
        _ => EXAMPLE,
    }
}

/// A name with its argument and weight.
#[derive(Debug, Clone, PartialEq)]
pub struct Factor<'a> {
    pub name: &'a str,
    pub argument: Option<&'a str>,
    pub weight: f64,
}

/// Parses a sum of orderings.
pub fn parse(text: &str) -> Result<Vec<Factor<'_>>, CatalogError> {
    let mut parser = ExpressionParser::of(ORDERING, text);
    let mut factors = vec![parser.factor()?];
    loop {
        parser.skip_space();
        if parser.rest.is_empty() {
            return Ok(factors);
        }
        if !parser.takes('+') {
            return Err(parser.wrong("a + is expected"));
        }
        factors.push(parser.factor()?);
    }
}

/// Parses one name and its argument. Only orderings have weights and sums.
pub fn parse_name<'a>(
    kind: &'static str,
    text: &'a str,
) -> Result<(&'a str, Option<&'a str>), CatalogError> {
    let mut parser = ExpressionParser::of(kind, text);
    let named = parser.name()?;
    parser.skip_space();
    match parser.rest {
        "" => Ok(named),
        _ => Err(parser.wrong("the end is expected")),
    }
}

struct ExpressionParser<'a> {
    kind: &'static str,
    text: &'a str,
    rest: &'a str,
}

impl<'a> ExpressionParser<'a> {
    fn of(kind: &'static str, text: &'a str) -> Self {
        let rest = text;
        Self { kind, text, rest }
    }

    fn factor(&mut self) -> Result<Factor<'a>, CatalogError> {
        self.skip_space();
        let first = self.rest.chars().next();
        if first.is_some_and(|letter| letter.is_ascii_digit() || "-.".contains(letter)) {
            let weight = self.weight()?;
            if !self.takes('*') {
                return Err(self.wrong("a * and an ordering are expected"));
            }
            let (name, argument) = self.name()?;
            return Ok(Factor {
                name,
                argument,
                weight,
            });
        }
        let (name, argument) = self.name()?;
        let weight = if self.takes('*') { self.weight()? } else { 1.0 };
        Ok(Factor {
            name,
            argument,
            weight,
        })
    }

    fn name(&mut self) -> Result<(&'a str, Option<&'a str>), CatalogError> {
        self.skip_space();
        let name = self.take_while(|letter, _| letter.is_alphanumeric() || "-_".contains(letter));
        if name.is_empty() {
            return Err(self.wrong(match self.kind {
                ORDERING => "an ordering is expected",
                _ => "a name is expected",
            }));
        }
        if !self.takes('(') {
            return Ok((name, None));
        }
        let argument = self.take_while(|letter, _| letter != ')');
        if !self.takes(')') {
            return Err(self.wrong("a ) is expected"));
        }
        Ok((name, Some(argument.trim())))
    }

    fn weight(&mut self) -> Result<f64, CatalogError> {
        self.skip_space();
        let before = self.rest;
        // A sign belongs to the number if it is the first character or follows an `e`. Any other
        // sign ends the number.
        let number = self.take_while(|letter, last| {
            letter.is_alphanumeric()
                || letter == '.'
                || ("+-".contains(letter) && matches!(last, None | Some('e' | 'E')))
        });
        let weight = number.parse().ok();
        weight
            .filter(|weight: &f64| *weight > 0.0 && weight.is_finite())
            .ok_or_else(|| {
                self.rest = before;
                self.wrong("a weight above zero is expected")
            })
    }

    /// Takes the longest prefix whose characters all satisfy `wanted`. `wanted` gets a character
    /// and the previous one, which is `None` at the start of the prefix.
    fn take_while(&mut self, wanted: impl Fn(char, Option<char>) -> bool) -> &'a str {
        let mut last = None;
        let end = self.rest.char_indices().find(|&(_, letter)| {
            let ends = !wanted(letter, last);
            last = Some(letter);
            ends
        });
        let (taken, rest) = self
            .rest
            .split_at(end.map_or(self.rest.len(), |(index, _)| index));
        self.rest = rest;
        taken
    }

    fn takes(&mut self, sign: char) -> bool {
        let rest = self.rest.trim_start().strip_prefix(sign);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn skip_space(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn wrong(&self, why: &'static str) -> CatalogError {
        let read = &self.text[..self.text.len() - self.rest.len()];
        CatalogError::Malformed {
            kind: self.kind,
            expression: self.text.to_owned(),
            column: read.chars().count() + 1,
            why,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(text: &str) -> Vec<(&str, Option<&str>, f64)> {
        let factors = parse(text).unwrap().into_iter();
        factors
            .map(|factor| (factor.name, factor.argument, factor.weight))
            .collect()
    }

    #[test]
    fn well_formed_sums_are_parsed() {
        for (text, expected) in [
            ("pagerank", vec![("pagerank", None, 1.0)]),
            (" random( 7 ) ", vec![("random", Some("7"), 1.0)]),
            ("a*0.7+b*.3", vec![("a", None, 0.7), ("b", None, 0.3)]),
            ("0.7 * a + b", vec![("a", None, 0.7), ("b", None, 1.0)]),
            (
                "hot-anchor*1e+3+a",
                vec![("hot-anchor", None, 1000.0), ("a", None, 1.0)],
            ),
            (
                "1e-3*a(x+y) + 2*b",
                vec![("a", Some("x+y"), 0.001), ("b", None, 2.0)],
            ),
            ("a()", vec![("a", Some(""), 1.0)]),
        ] {
            assert_eq!(read(text), expected, "{text}");
        }
    }

    #[test]
    fn errors_name_the_column_and_the_reason() {
        for (text, column, why) in [
            ("", 1, "an ordering is expected"),
            ("pagerank*", 10, "a weight above zero is expected"),
            ("pagerank*0", 10, "a weight above zero is expected"),
            ("pagerank*-1", 10, "a weight above zero is expected"),
            ("pagerank*inf", 10, "a weight above zero is expected"),
            ("pagerank * NaN", 12, "a weight above zero is expected"),
            ("pagerank*similarity", 10, "a weight above zero is expected"),
            ("-1*pagerank", 1, "a weight above zero is expected"),
            ("0.5", 4, "a * and an ordering are expected"),
            ("0.5*", 5, "an ordering is expected"),
            ("pagerank +", 11, "an ordering is expected"),
            ("pagerank similarity", 10, "a + is expected"),
            ("pagerank*1*2", 11, "a + is expected"),
            ("pagerank - opic", 10, "a + is expected"),
            ("ü + random(7", 13, "a ) is expected"),
        ] {
            let expected = CatalogError::Malformed {
                kind: ORDERING,
                expression: text.to_owned(),
                column,
                why,
            };
            assert_eq!(parse(text), Err(expected), "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_the_parser_panic(text in "[a-c0-9.*+() eE\\-üß]{0,30}") {
            if let Ok(factors) = parse(&text) {
                prop_assert!(!factors.is_empty());
                for factor in factors {
                    prop_assert!(factor.weight > 0.0 && factor.weight.is_finite() && !factor.name.is_empty());
                }
            }
        }
    }
}
