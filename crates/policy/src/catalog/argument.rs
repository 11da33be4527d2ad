//! Arguments in parentheses after the name of a policy, such as `laser(0.5, 2)`.

use super::{CatalogError, named};

/// The argument that a policy takes.
#[derive(Debug, Clone, Copy)]
pub struct PolicyArgument {
    /// Its form in the help: `GAMMA, NU`.
    pub form: &'static str,
    /// What it means, with its range, its default and an example after a colon. Errors and the
    /// help show it.
    pub takes: &'static str,
    /// A valid argument. Tests and laws build the policy with it.
    pub example: &'static str,
    /// Whether users may omit it.
    pub optional: bool,
}

impl PolicyArgument {
    /// Returns an argument that users may omit.
    pub const fn optional(form: &'static str, takes: &'static str, example: &'static str) -> Self {
        Self {
            form,
            takes,
            example,
            optional: true,
        }
    }

    /// Returns an argument that users must give.
    pub const fn required(form: &'static str, takes: &'static str, example: &'static str) -> Self {
        Self {
            optional: false,
            ..Self::optional(form, takes, example)
        }
    }

    /// Returns the error that the policy of this kind and name got a wrong argument.
    pub(super) fn wrong(&self, kind: &'static str, name: &'static str) -> CatalogError {
        CatalogError::Argument {
            kind,
            name,
            takes: Some(self.takes),
        }
    }
}

/// A test whether a number is allowed.
pub(super) type Allowed = fn(f64) -> bool;

/// Parses comma-separated numbers. A number that is not given has its default.
///
/// Returns `None` if there are too many numbers, or one is malformed or not allowed. Without an
/// argument it returns the defaults, unless they are not allowed.
pub(super) fn numbers<const N: usize>(
    argument: Option<&str>,
    defaults: [f64; N],
    allowed: [Allowed; N],
) -> Option<[f64; N]> {
    let mut numbers = defaults;
    for (place, text) in argument.iter().flat_map(|text| text.split(',')).enumerate() {
        *numbers.get_mut(place)? = text.trim().parse().ok()?;
    }
    let all_allowed = numbers
        .iter()
        .zip(allowed)
        .all(|(&number, allowed)| allowed(number));
    all_allowed.then_some(numbers)
}

/// Returns the expressions by which tests build a policy: its name, unless its argument is
/// required, and its name with the example of its argument.
#[cfg(test)]
pub(crate) fn examples(name: &str, argument: Option<&PolicyArgument>) -> Vec<String> {
    let plain = argument.is_none_or(|argument| argument.optional);
    let with = argument.map(|argument| named(name, Some(argument.example)));
    let plain = plain.then(|| name.to_owned());
    plain.into_iter().chain(with).collect()
}

/// Returns the lines of the help that explain these arguments. Each is given with the name of
/// its policy.
pub(super) fn explained<'a>(
    arguments: impl Iterator<Item = (&'a str, Option<PolicyArgument>)>,
) -> String {
    let lines = arguments.filter_map(|(name, argument)| {
        let argument = argument?;
        // The example comes after the last colon, and the form of the name says the same.
        let (meaning, _) = argument
            .takes
            .rsplit_once(": ")
            .unwrap_or((argument.takes, ""));
        let example = named(name, Some(argument.example));
        Some(wrapped(&format!(
            "{}: {meaning}, for example {example}",
            named(name, Some(argument.form))
        )))
    });
    lines.collect()
}

/// Returns a text as indented lines of at most 118 characters.
fn wrapped(text: &str) -> String {
    let mut lines = String::new();
    let mut line = String::from("  ");
    for word in text.split(' ') {
        if line.chars().count() + 1 + word.chars().count() > 118 {
            lines.push_str(line.trim_end());
            lines.push('\n');
            line = String::from("      ");
        }
        if !line.ends_with(' ') {
            line.push(' ');
        }
        line.push_str(word);
    }
    lines + &line + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_are_not_given_have_their_defaults() {
        let allowed: [Allowed; 2] = [|x| (0.0..1.0).contains(&x), |x| x >= 1.0];
        for (text, found) in [
            (None, Some([0.5, 2.0])),
            (Some("0.25"), Some([0.25, 2.0])),
            (Some(" .25 , 7 "), Some([0.25, 7.0])),
            (Some("1"), None),
            (Some("0.25, 0.5"), None),
            (Some("0.25, 7, 1"), None),
            (Some("0.25,"), None),
            (Some(""), None),
            (Some("nan"), None),
            (Some("x"), None),
        ] {
            assert_eq!(numbers(text, [0.5, 2.0], allowed), found, "{text:?}");
        }
    }
}
