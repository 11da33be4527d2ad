//! The accepted counts (`crates/bench/gate.toml`), and their comparison with new counts.
//!
//! **Invariant:** a count stays in the file until it leaves the tolerance and the change is
//! accepted. So two growths of 2 % add up, and the second one is noticed.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Write};

use anyhow::Result;
use serde::Deserialize;

/// The tolerance, as a share of the accepted count. Repeated runs differ by less than a tenth of
/// the tolerance.
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
    /// The compiler of the counts, as `rustc --version` prints it.
    pub rustc: String,
    instructions: Counts,
}

/// The counts of a run beside the accepted ones.
#[derive(Debug)]
pub struct Comparison(Vec<WorkloadRow>);

#[derive(Debug)]
struct WorkloadRow {
    workload: String,
    before: Option<u64>,
    now: Option<u64>,
}

/// How the count of a workload has changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CountChange {
    /// The count is within the tolerance.
    Same,
    /// The workload takes more instructions.
    Grew,
    /// The workload takes fewer instructions.
    Shrank,
    /// The file does not have the workload.
    New,
    /// Only the file has the workload: it was renamed or removed.
    Missing,
}

impl Baseline {
    /// Parses the file.
    pub fn parse(text: &str) -> Result<Self> {
        Ok(toml::from_str(text)?)
    }

    /// Returns the text of the file, with the reason for its last change.
    pub fn text(&self, reason: &str) -> String {
        let reason: Vec<&str> = reason.split_whitespace().collect();
        let mut text = format!("{HEAD}# {}\n", reason.join(" "));
        let _ = write!(text, "rustc = {:?}\n\n[instructions]\n", self.rustc);
        for (workload, count) in &self.instructions {
            let _ = writeln!(text, "{workload} = {}", grouped(*count, '_'));
        }
        text
    }

    /// Compares the counts of a run with the accepted ones.
    pub fn compare(&self, counts: &Counts) -> Comparison {
        let names: BTreeSet<&String> = self.instructions.keys().chain(counts.keys()).collect();
        let row = |workload: &String| WorkloadRow {
            workload: workload.clone(),
            before: self.instructions.get(workload).copied(),
            now: counts.get(workload).copied(),
        };
        Comparison(names.into_iter().map(row).collect())
    }

    /// Accepts the counts of a run. A workload whose count is within the tolerance keeps its old
    /// count; a workload that the run lacks is removed.
    pub fn accept(&self, counts: &Counts, rustc: String) -> Self {
        let rows = self.compare(counts).0;
        let accepted = rows.into_iter().filter_map(|row| {
            let count = match row.change() {
                CountChange::Same => row.before,
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

impl WorkloadRow {
    fn change(&self) -> CountChange {
        let (Some(before), Some(now)) = (self.before, self.now) else {
            return if self.now.is_some() {
                CountChange::New
            } else {
                CountChange::Missing
            };
        };
        let ratio = ratio(before, now);
        if ratio > 1.0 + TOLERANCE {
            CountChange::Grew
        } else if ratio < 1.0 - TOLERANCE {
            CountChange::Shrank
        } else {
            CountChange::Same
        }
    }
}

impl Comparison {
    /// Returns whether a count must be accepted before the change can be merged: a workload grew,
    /// is new or is missing.
    pub fn fails(&self) -> bool {
        let failing =
            |row: &WorkloadRow| !matches!(row.change(), CountChange::Same | CountChange::Shrank);
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
            let note = match row.change() {
                CountChange::Same => "",
                CountChange::Grew => "  grew by more than 3 %",
                CountChange::Shrank => {
                    "  shrank by more than 3 %: accept it, to notice when it grows again"
                }
                CountChange::New => "  not in gate.toml",
                CountChange::Missing => "  only in gate.toml: the workload was renamed or removed",
            };
            writeln!(
                f,
                "{:<22} {before:>15} {now:>15} {ratio:>7}{note}",
                row.workload
            )?;
        }
        Ok(())
    }
}

fn ratio(before: u64, now: u64) -> f64 {
    now as f64 / before.max(1) as f64
}

/// Formats a number in groups of three digits.
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
            ("a", 1_000_000, vec![CountChange::Same], false),
            ("a", 1_030_000, vec![CountChange::Same], false),
            ("a", 1_030_001, vec![CountChange::Grew], true),
            ("a", 2_000_000, vec![CountChange::Grew], true),
            ("a", 970_000, vec![CountChange::Same], false),
            ("a", 969_999, vec![CountChange::Shrank], false),
            ("a", 0, vec![CountChange::Shrank], false),
            // After a rename the old name is missing and the new one is new.
            (
                "b",
                1_000_000,
                vec![CountChange::Missing, CountChange::New],
                true,
            ),
        ] {
            let compared = baseline(&[("a", before)]).compare(&counted(&[(name, now)]));
            let changes: Vec<CountChange> = compared.0.iter().map(WorkloadRow::change).collect();
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
    fn accepting_keeps_counts_within_the_tolerance_and_replaces_the_others() {
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
    fn the_table_marks_workloads_that_grew_or_are_missing() {
        let before = baseline(&[("grew", 1000), ("gone", 1)]);
        let table = before.compare(&counted(&[("grew", 2_000_000)])).to_string();
        assert!(table.contains("2,000,000 2000.000  grew"), "{table}");
        assert!(table.contains("renamed or removed"), "{table}");
    }
}
