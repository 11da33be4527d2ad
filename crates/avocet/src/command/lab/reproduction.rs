//! The command line that reproduces an experiment.

use std::env;

/// Flags with a value that do not change the results, only their place or the speed.
const WITHOUT_EFFECT: [&str; 4] = ["--out", "--threads", "--store", "--write"];

/// Returns the command that gives the same numbers: the arguments of this process, with the seed.
pub fn command(seed: u64) -> String {
    let arguments = env::args_os().skip(1);
    let arguments: Vec<String> = arguments
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    written(&arguments, seed)
}

fn written(arguments: &[String], seed: u64) -> String {
    let mut words = vec!["avocet".to_owned()];
    let mut rest = arguments.iter();
    let mut has_seed = false;
    while let Some(argument) = rest.next() {
        let flag = argument.split('=').next().unwrap_or_default();
        has_seed |= flag == "--seed";
        if WITHOUT_EFFECT.contains(&flag) {
            if !argument.contains('=') {
                rest.next();
            }
        } else if argument != "--json" {
            words.push(quoted(argument));
        }
    }
    if !has_seed {
        words.push(format!("--seed {seed}"));
    }
    words.join(" ")
}

/// Returns a word quoted for a shell.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:,=@%+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_has_the_seed_and_is_quoted_for_a_shell() {
        let check = |arguments: &[&str], expected: &str| {
            let arguments: Vec<String> = arguments.iter().map(|&word| word.into()).collect();
            assert_eq!(written(&arguments, 7), expected);
        };
        check(
            &["lab", "ordering", "--json", "--out", "x y", "--threads=2"],
            "avocet lab ordering --seed 7",
        );
        check(
            &[
                "lab",
                "ordering",
                "--policies",
                "opic + random(3),it's",
                "--seed=4",
            ],
            r"avocet lab ordering --policies 'opic + random(3),it'\''s' --seed=4",
        );
        check(
            &["lab", "servers", "--seed", "9"],
            "avocet lab servers --seed 9",
        );
    }
}
