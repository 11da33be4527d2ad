//! Results of experiments in long format: one row per policy, parameters, metric and `x`.
//!
//! **Invariant:** numbers are finite, and values that could not be measured have no row. Rows
//! are in the order of their first measurement. An experiment with the same seed therefore gives
//! the same bytes.

use std::collections::{BTreeMap, HashMap};

use figure::Series;
use serde::Serialize;

use crate::statistics::Mean;

/// The results of an experiment, as `avocet lab --json` prints them.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Findings {
    /// Name of the experiment: `ordering`, `servers`, …
    pub experiment: String,
    /// The world, as the user named it.
    pub world: String,
    /// Random seed of the experiment.
    pub seed: u64,
    /// Number of runs that the rows average.
    pub runs: u32,
    /// The command that repeats the experiment.
    pub command: String,
    /// The measured numbers.
    pub rows: Vec<Row>,
}

/// A number with its confidence interval.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// Name of the policy; empty for a property of the world.
    pub policy: String,
    /// Further parameters, such as the measure of importance or the number of crawlers.
    pub params: Params,
    /// Name of the metric in lower case, as in the literature: `p_cs`, `p_st@10`, …
    pub metric: String,
    /// Position on the curve, such as the share fetched, the time or the interval between visits;
    /// the metric says what it is.
    pub x: f64,
    /// The number; the mean if there were several runs.
    pub value: f64,
    /// Lower end of the 95 % confidence interval; `None` if only one run has the number.
    pub low: Option<f64>,
    /// Upper end of the 95 % confidence interval; `None` if only one run has the number.
    pub high: Option<f64>,
}

/// Parameters by name.
pub type Params = BTreeMap<String, Param>;

/// The value of a parameter.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Param {
    /// A number.
    Number(f64),
    /// A text.
    Text(String),
}

/// A number measured in one run.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// See [`Row::policy`].
    pub policy: String,
    /// See [`Row::params`].
    pub params: Params,
    /// See [`Row::metric`].
    pub metric: String,
    /// See [`Row::x`].
    pub x: f64,
    /// The number; values that are not finite are omitted.
    pub value: f64,
}

impl From<f64> for Param {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl From<&str> for Param {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

/// Combines the numbers of several runs into rows. Within a run, all policies had the same random
/// draws.
///
/// `against` names a baseline policy. Every number of another policy then has a further row
/// `METRIC-gain`: the number minus that of the baseline, if a run has both. The confidence
/// interval of that row is computed from the differences within each run. It is usually narrower
/// than the intervals of the two means suggest, since both policies had the same world.
pub fn rows(runs: &[Vec<Measured>], against: Option<&str>) -> Vec<Row> {
    let mut places: HashMap<Key<'_>, usize> = HashMap::new();
    let mut found: Vec<(&Measured, Vec<Option<f64>>)> = Vec::new();
    for (run, measured) in runs.iter().enumerate() {
        for number in measured.iter().filter(|number| number.value.is_finite()) {
            let place = *places
                .entry(Key::of(number, &number.policy))
                .or_insert(found.len());
            if place == found.len() {
                found.push((number, vec![None; runs.len()]));
            }
            found[place].1[run] = Some(number.value);
        }
    }
    let mut rows = Vec::new();
    for (number, values) in &found {
        rows.push(row(
            number,
            number.metric.clone(),
            values.iter().copied().flatten(),
        ));
        let base = against.filter(|name| *name != number.policy);
        let base = base.and_then(|name| places.get(&Key::of(number, name)));
        if let Some(&base) = base {
            let pairs = values.iter().zip(&found[base].1);
            let gains = pairs.filter_map(|(own, other)| Some((*own)? - (*other)?));
            let mut gains = gains.peekable();
            if gains.peek().is_some() {
                rows.push(row(number, format!("{}-gain", number.metric), gains));
            }
        }
    }
    rows
}

/// Returns a line through these rows, by rising `x`, with intervals if all rows have one.
pub fn series<'r>(name: impl Into<String>, rows: impl IntoIterator<Item = &'r Row>) -> Series {
    let mut rows: Vec<&Row> = rows.into_iter().collect();
    rows.sort_by(|one, other| one.x.total_cmp(&other.x));
    let intervals: Option<Vec<_>> = rows.iter().map(|row| row.low.zip(row.high)).collect();
    let points = rows.iter().map(|row| (row.x, row.value)).collect();
    Series {
        intervals: intervals.unwrap_or_default(),
        ..Series::line(name, points)
    }
}

fn row(of: &Measured, metric: String, values: impl Iterator<Item = f64>) -> Row {
    let values: Vec<f64> = values.collect();
    let mean = Mean::of(&values);
    Row {
        policy: of.policy.clone(),
        params: of.params.clone(),
        metric,
        x: of.x,
        value: mean.value,
        low: mean.interval.map(|(low, _)| low),
        high: mean.interval.map(|(_, high)| high),
    }
}

/// Identifies the same measurement in different runs.
#[derive(PartialEq, Eq, Hash)]
struct Key<'a> {
    policy: &'a str,
    params: Vec<(&'a str, String)>,
    metric: &'a str,
    x: u64,
}

impl<'a> Key<'a> {
    fn of(number: &'a Measured, policy: &'a str) -> Self {
        let params = number.params.iter();
        Self {
            policy,
            params: params
                .map(|(name, value)| (name.as_str(), format!("{value:?}")))
                .collect(),
            metric: &number.metric,
            x: number.x.to_bits(),
        }
    }
}

impl Findings {
    /// Returns the value of the first row with this policy, metric and `x`, whatever its
    /// parameters; `None` if there is no such row.
    pub fn value(&self, policy: &str, metric: &str, x: f64) -> Option<f64> {
        let is_it =
            |row: &&Row| row.policy == policy && row.metric == metric && (row.x - x).abs() < 1e-9;
        self.rows.iter().find(is_it).map(|row| row.value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(policy: &str, x: f64, value: f64) -> Measured {
        Measured {
            policy: policy.into(),
            params: Params::from([("g".into(), 3.0.into())]),
            metric: "p_cs".into(),
            x,
            value,
        }
    }

    fn named(rows: &[Row]) -> Vec<(&str, &str, f64)> {
        rows.iter()
            .map(|row| (row.policy.as_str(), row.metric.as_str(), row.value))
            .collect()
    }

    #[test]
    fn runs_become_means_with_intervals_and_paired_gains() {
        let run = |base: f64| {
            vec![
                measured("random", 0.5, base),
                measured("backlink", 0.5, base + 1.0),
                measured("backlink", 0.7, f64::NAN),
            ]
        };
        let rows = rows(&[run(0.0), run(10.0)], Some("random"));
        assert_eq!(
            named(&rows),
            [
                ("random", "p_cs", 5.0),
                ("backlink", "p_cs", 6.0),
                ("backlink", "p_cs-gain", 1.0)
            ]
        );
        let wide = rows[1].high.unwrap() - rows[1].low.unwrap();
        assert!(wide > 100.0, "two runs say little: {wide}");
        assert_eq!((rows[2].low, rows[2].high), (Some(1.0), Some(1.0)));
    }

    #[test]
    fn one_run_gives_no_interval_and_a_missing_baseline_gives_no_gain() {
        let rows = rows(&[vec![measured("random", 0.5, 0.25)]], Some("ideal"));
        assert_eq!(rows.len(), 1);
        assert_eq!((rows[0].value, rows[0].low), (0.25, None));
        let json = serde_json::to_string(&rows[0]).unwrap();
        assert_eq!(
            json,
            r#"{"policy":"random","params":{"g":3.0},"metric":"p_cs","x":0.5,"value":0.25,"low":null,"high":null}"#
        );
    }

    #[test]
    fn numbers_of_different_runs_give_no_gain() {
        let runs = [
            vec![measured("random", 0.5, 0.25)],
            vec![measured("backlink", 0.5, 0.75)],
        ];
        let rows = rows(&runs, Some("random"));
        assert_eq!(
            named(&rows),
            [("random", "p_cs", 0.25), ("backlink", "p_cs", 0.75)]
        );
    }

    #[test]
    fn a_series_is_sorted_by_x_and_has_intervals_if_all_rows_have_one() {
        let row = |x: f64, value: f64, interval: Option<(f64, f64)>| Row {
            policy: "opic".into(),
            params: Params::new(),
            metric: "p_cs".into(),
            x,
            value,
            low: interval.map(|(low, _)| low),
            high: interval.map(|(_, high)| high),
        };
        let rows = [
            row(1.0, 4.0, Some((3.0, 5.0))),
            row(0.5, 2.0, Some((1.0, 3.0))),
        ];
        let line = series("opic", &rows);
        assert_eq!(line.points, [(0.5, 2.0), (1.0, 4.0)]);
        assert_eq!(line.intervals, [(1.0, 3.0), (3.0, 5.0)]);
        let rows = [rows[0].clone(), row(2.0, 1.0, None)];
        assert_eq!(series("opic", &rows).intervals, []);
    }
}
