//! The figures of `bench servers`: the first run of each experiment, as in Figures 6 and 7 of
//! Cao, Jiang & Singh, "Scheduling web crawl for better performance and quality" (2003).

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use figure::{Figure, Series};

use super::StrategyCrawl;
use super::report::Experiment;

/// Points per curve: enough for a smooth line, few enough for a small file.
const POINTS: usize = 200;

/// Draws three figures per definition of quality into a folder.
pub fn write(experiments: &[Experiment], connections: u16, folder: &Path) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    for experiment in experiments {
        let judge = experiment.judge;
        let first: Vec<&StrategyCrawl> = experiment
            .crawled
            .iter()
            .filter(|crawled| crawled.run == 1)
            .collect();
        let end = first
            .iter()
            .map(|crawled| crawled.gain.total())
            .fold(0.0, f64::max);
        let by_time = |at: usize| end * at as f64 / POINTS as f64;
        let by_pages = |at: usize| at as f64 / POINTS as f64;
        let figures = [
            (
                "quality-over-time",
                format!("Quality by {judge} over time, {connections} connections"),
                ("time (s)", "share of all quality"),
                series(&first, &|own, at| {
                    (by_time(at), own.gain.at_time(by_time(at)))
                }),
            ),
            (
                "quality-over-pages",
                format!("Quality by {judge} over pages, {connections} connections"),
                ("share of the pages", "share of all quality"),
                series(&first, &|own, at| {
                    (by_pages(at), own.gain.at_pages(by_pages(at)))
                }),
            ),
            (
                "pages-over-time",
                format!("Pages over time, quality by {judge}, {connections} connections"),
                ("time (s)", "share of the pages"),
                series(&first, &|own, at| {
                    (by_time(at), own.gain.pages_at_time(by_time(at)))
                }),
            ),
        ];
        for (name, title, (x_label, y_label), series) in figures {
            let figure = Figure {
                title,
                x_label: x_label.into(),
                y_label: y_label.into(),
                series,
                ..Figure::default()
            };
            let path = folder.join(format!("servers-{connections}-{judge}-{name}.svg"));
            fs::write(&path, figure.svg())
                .with_context(|| format!("cannot write {}", path.display()))?;
        }
    }
    Ok(())
}

fn series(
    crawls: &[&StrategyCrawl],
    point: &dyn Fn(&StrategyCrawl, usize) -> (f64, f64),
) -> Vec<Series> {
    let line = |crawled: &&StrategyCrawl| Series {
        name: crawled.strategy.into(),
        points: (0..=POINTS).map(|at| point(crawled, at)).collect(),
        ..Series::default()
    };
    crawls.iter().map(line).collect()
}
