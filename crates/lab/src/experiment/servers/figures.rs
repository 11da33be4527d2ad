//! Figures of the servers experiment, after Figures 6 and 7 of Cao, Jiang & Singh (2003).
//!
//! They show means over the runs, with confidence intervals.

use figure::{Figure, Series};

use super::judge::Judge;
use super::measured::{EFFICIENCY, QUALITY, SPEED};
use crate::findings::{self, Param, Row};

const TIME: &str = "share of breadth-first's time";
const PAGES: &str = "share of the pages";
const ALL_QUALITY: &str = "share of all quality";

/// Returns three figures per quality function, each with the stem of its file name.
pub(super) fn figures(judges: &[Judge], connections: u16, rows: &[Row]) -> Vec<(String, Figure)> {
    let mut figures = Vec::new();
    for &judge in judges {
        let number = match judge {
            Judge::Pagerank => 6,
            Judge::Zipf => 7,
        };
        for (part, what, metric, x_label, y_label) in [
            ('a', "pages-over-time", SPEED, TIME, PAGES),
            ('b', "quality-over-pages", QUALITY, PAGES, ALL_QUALITY),
            ('c', "quality-over-time", EFFICIENCY, TIME, ALL_QUALITY),
        ] {
            let words = what.replace('-', " ");
            let title = format!(
                "{}{}, by {judge}, {connections} connections (Figure {number}{part})",
                words[..1].to_uppercase(),
                &words[1..]
            );
            let figure = Figure {
                title,
                x_label: x_label.into(),
                y_label: y_label.into(),
                series: series(judge, metric, rows),
                ..Figure::default()
            };
            figures.push((format!("servers-{judge}-{what}"), figure));
        }
    }
    figures
}

/// Returns one line per strategy, in the order of the rows. Each line starts at the origin.
fn series(judge: Judge, metric: &str, rows: &[Row]) -> Vec<Series> {
    let quality = Param::from(judge.to_string().as_str());
    let of_metric =
        |row: &&Row| row.metric == metric && row.params.get("quality") == Some(&quality);
    let own: Vec<&Row> = rows.iter().filter(of_metric).collect();
    let mut lines: Vec<Series> = Vec::new();
    for row in &own {
        if lines.iter().any(|line| line.name == row.policy) {
            continue;
        }
        let same = own.iter().filter(|other| other.policy == row.policy);
        let mut line = findings::series(row.policy.clone(), same.copied());
        line.points.insert(0, (0.0, 0.0));
        if !line.intervals.is_empty() {
            line.intervals.insert(0, (0.0, 0.0));
        }
        lines.push(line);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::{Measured, Params, rows};

    #[test]
    fn lines_start_at_the_origin_and_have_intervals_if_there_are_several_runs() {
        let run = |more: f64| {
            let measured = |(policy, x): (&str, f64)| Measured {
                policy: policy.to_owned(),
                params: Params::from([("quality".to_owned(), "zipf".into())]),
                metric: SPEED.to_owned(),
                x,
                value: x + more,
            };
            [("slow", 0.5), ("fast", 0.5), ("slow", 1.0)]
                .map(measured)
                .to_vec()
        };
        let lines = series(Judge::Zipf, SPEED, &rows(&[run(0.0), run(0.1)], None));
        let names: Vec<&str> = lines.iter().map(|line| line.name.as_str()).collect();
        assert_eq!(names, ["slow", "fast"]);
        assert_eq!(lines[0].points[0], (0.0, 0.0));
        let xs: Vec<f64> = lines[0].points.iter().map(|point| point.0).collect();
        assert_eq!(xs, [0.0, 0.5, 1.0]);
        assert_eq!(lines[0].intervals[0], (0.0, 0.0));
        let (low, high) = lines[0].intervals[1];
        assert!(low < 0.55 && 0.55 < high, "{low} to {high}");
        assert_eq!(lines[1].intervals.len(), 2);
        let alone = series(Judge::Zipf, SPEED, &rows(&[run(0.0)], None));
        assert!(alone.iter().all(|line| line.intervals.is_empty()));
        assert!(series(Judge::Pagerank, SPEED, &rows(&[run(0.0)], None)).is_empty());
    }
}
