//! The accepted counts (`crates/bench/gate.toml`), and what has changed since.
//!
//! **Invariant:** a count stays in the file until it leaves the tolerance and the change is accepted.
//! So growths of 2 % add up, and the second one is noticed.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Write};

use anyhow::Result;
use serde::Deserialize;

/// How far a count may be from the accepted one, as a share of that. Repeated runs differ by less
/// than a tenth of it.
const TOLERANCE: f64 = 0.03;

const HEAD: &str = "\
# Instructions of the workloads of `cargo xtask bench gate` (docs/science/numbers.md).
# To be written by `cargo xtask bench gate --accept \"reason\"`, in the commit that changes them.
";

/// Instructions by workload.
pub type Counts = BTreeMap<String, u64>;

/// The accepted counts.
#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Baseline {
    /// The compiler that they are by, as `rustc --version` says.
    pub rustc: String,
    instructions: Counts,
}

/// The counts of a run beside the accepted ones.
#[derive(Debug)]
pub struct Comparison(Vec<Row>);

#[derive(Debug)]
struct Row {
    workload: String,
    before: Option<u64>,
    now: Option<u64>,
}

/// What became of a workload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Change {
    /// Its count is within the tolerance.
    Same,
    /// It takes more instructions.
    Grew,
    /// It takes fewer.
    Shrank,
    /// The file does not have it.
    New,
    /// The file has it and the program does not: it was renamed or removed.
    Missing,
}

impl Baseline {
    /// Reads the file.
    pub fn parse(text: &str) -> Result<Self> {
        Ok(toml::from_str(text)?)
    }

    /// The file, with the reason for its last change.
    pub fn text(&self, reason: &str) -> String {
        let reason: Vec<&str> = reason.split_whitespace().collect();
        let mut text = format!("{HEAD}# {}\n", reason.join(" "));
        let _ = write!(text, "rustc = {:?}\n\n[instructions]\n", self.rustc);
        for (workload, count) in &self.instructions {
            let _ = writeln!(text, "{workload} = {}", grouped(*count, '_'));
        }
        text
    }

    /// Holds a run's counts against these.
    pub fn compare(&self, counts: &Counts) -> Comparison {
        let names: BTreeSet<&String> = self.instructions.keys().chain(counts.keys()).collect();
        let row = |workload: &String| Row {
            workload: workload.clone(),
            before: self.instructions.get(workload).copied(),
            now: counts.get(workload).copied(),
        };
        Comparison(names.into_iter().map(row).collect())
    }

    /// The counts after a run was accepted: those that left the tolerance are its, the others stay.
    pub fn accept(&self, counts: &Counts, rustc: String) -> Self {
        let rows = self.compare(counts).0;
        let accepted = rows.into_iter().filter_map(|row| {
            let count = match row.change() {
                Change::Same => row.before,
                _ => row.now,
            };
            Some((row.workload, count?))
        });
        Self {
            rustc,
            instructions: accepted.collect(),
        }
    }
}

impl Row {
    fn change(&self) -> Change {
        let (Some(before), Some(now)) = (self.before, self.now) else {
            return if self.now.is_some() {
                Change::New
            } else {
                Change::Missing
            };
        };
        let ratio = ratio(before, now);
        if ratio > 1.0 + TOLERANCE {
            Change::Grew
        } else if ratio < 1.0 - TOLERANCE {
            Change::Shrank
        } else {
            Change::Same
        }
    }
}

impl Comparison {
    /// Whether a change must be accepted before it can be merged.
    pub fn fails(&self) -> bool {
        let failing = |row: &Row| !matches!(row.change(), Change::Same | Change::Shrank);
        self.0.iter().any(failing)
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{:<22} {:>15} {:>15} {:>7}",
            "workload", "before", "now", "ratio"
        )?;
        for row in &self.0 {
            let shown = |count: Option<u64>| count.map_or("-".into(), |count| grouped(count, ','));
            let (before, now) = (shown(row.before), shown(row.now));
            let ratio = match (row.before, row.now) {
                (Some(before), Some(now)) => format!("{:.3}", ratio(before, now)),
                _ => "-".into(),
            };
            let said = match row.change() {
                Change::Same => "",
                Change::Grew => "  grew by more than 3 %",
                Change::Shrank => "  less: accept it, and it stays so",
                Change::New => "  not in gate.toml",
                Change::Missing => "  in gate.toml, and no workload: renamed or removed",
            };
            writeln!(
                f,
                "{:<22} {before:>15} {now:>15} {ratio:>7}{said}",
                row.workload
            )?;
        }
        Ok(())
    }
}

fn ratio(before: u64, now: u64) -> f64 {
    now as f64 / before.max(1) as f64
}

/// A number in groups of three digits.
fn grouped(count: u64, separator: char) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(separator);
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn baseline(counts: &[(&str, u64)]) -> Baseline {
        Baseline {
            rustc: "rustc 1.0.0".into(),
            instructions: counted(counts),
        }
    }

    fn counted(counts: &[(&str, u64)]) -> Counts {
        let named = |(name, count): &(&str, u64)| ((*name).to_owned(), *count);
        counts.iter().map(named).collect()
    }

    #[test]
    fn growth_new_and_missing_workloads_fail() {
        let before = 1_000_000;
        for (name, now, expected, fails) in [
            ("a", 1_000_000, vec![Change::Same], false),
            ("a", 1_030_000, vec![Change::Same], false),
            ("a", 1_030_001, vec![Change::Grew], true),
            ("a", 2_000_000, vec![Change::Grew], true),
            ("a", 970_000, vec![Change::Same], false),
            ("a", 969_999, vec![Change::Shrank], false),
            ("a", 0, vec![Change::Shrank], false),
            // Renamed: one is missing, the other is new.
            ("b", 1_000_000, vec![Change::Missing, Change::New], true),
        ] {
            let compared = baseline(&[("a", before)]).compare(&counted(&[(name, now)]));
            let changes: Vec<Change> = compared.0.iter().map(Row::change).collect();
            assert_eq!(
                (changes, compared.fails()),
                (expected, fails),
                "{name} {now}"
            );
        }
        assert!(baseline(&[]).compare(&counted(&[("a", 1)])).fails(), "new");
        assert!(baseline(&[("a", 1)]).compare(&counted(&[])).fails(), "gone");
    }

    #[test]
    fn accepting_takes_what_left_the_tolerance_and_nothing_else() {
        let before = baseline(&[
            ("crept", 1000),
            ("grew", 1000),
            ("gone", 1),
            ("shrank", 1000),
        ]);
        let now = counted(&[("crept", 1020), ("grew", 1031), ("new", 7), ("shrank", 500)]);
        let accepted = before.accept(&now, "rustc 2.0.0".into());
        let expected = [("crept", 1000), ("grew", 1031), ("new", 7), ("shrank", 500)];
        assert_eq!(accepted.instructions, counted(&expected));
        assert_eq!(accepted.rustc, "rustc 2.0.0");
        assert!(!accepted.compare(&now).fails());
    }

    #[test]
    fn the_file_is_read_as_it_was_written() {
        let written = baseline(&[("read-300-pages", 1_234_567), ("search-300-times", 89)]);
        let text = written.text("2026-11-17: two lines\nof \"reason\"");
        assert!(
            text.contains("\n# 2026-11-17: two lines of \"reason\"\n"),
            "{text}"
        );
        assert!(text.contains("\nread-300-pages = 1_234_567\n"), "{text}");
        assert_eq!(Baseline::parse(&text).unwrap(), written);
        assert!(Baseline::parse("[instructions]\na = -1\n").is_err());
        assert!(Baseline::parse("rustc = \"\"\n[instruction]\na = 1\n").is_err());
    }

    #[test]
    fn the_table_says_what_changed() {
        let before = baseline(&[("grew", 1000), ("gone", 1)]);
        let table = before.compare(&counted(&[("grew", 2_000_000)])).to_string();
        assert!(table.contains("2,000,000 2000.000  grew"), "{table}");
        assert!(table.contains("renamed or removed"), "{table}");
    }
}
