//! The tables of `bench servers`, and a check of the published claims.
//!
//! **Invariant:** a figure is the median over the runs. Times are compared with those of
//! breadth-first in the same run. Claims are judged by means, as in the simulation.

use std::collections::BTreeMap;
use std::fmt;

use lab::experiment::{PublishedClaim, servers};
use lab::findings::{Measured, rows};
use serde::{Serialize, Serializer};
use serde_json::json;

use super::{QualityJudge, STRATEGIES, StrategyCrawl};
use crate::report::{median, verdict};

/// The shares of pages, and of time, at which the curves are evaluated.
const SHARES: [f64; 5] = [0.10, 0.25, 1.0 / 3.0, 0.50, 0.75];

/// All figures.
pub struct ServersReport {
    /// A note on the web of each run.
    pub notes: Vec<String>,
    /// One experiment per definition of quality.
    pub experiments: Vec<Experiment>,
}

/// All crawls, evaluated by one definition of quality.
pub struct Experiment {
    /// The definition of quality.
    pub judge: QualityJudge,
    /// The crawls of all runs.
    pub crawled: Vec<StrategyCrawl>,
}

/// A figure of a crawl, given the breadth-first crawl of the same run.
pub type Figure<'a> = &'a dyn Fn(&StrategyCrawl, &StrategyCrawl) -> f64;

impl Experiment {
    /// Creates an experiment without crawls.
    pub fn new(judge: QualityJudge) -> Self {
        Self {
            judge,
            crawled: Vec::new(),
        }
    }

    /// Returns the median of a figure over the runs.
    pub fn median(&self, strategy: &str, figure: Figure<'_>) -> f64 {
        let runs = self
            .crawled
            .iter()
            .filter(|crawled| crawled.strategy == strategy);
        let values = runs.filter_map(|own| Some(figure(own, self.baseline(own.run)?)));
        median(values).unwrap_or(f64::NAN)
    }

    /// Checks the published claims, as the simulation does.
    pub fn claims(&self) -> Vec<PublishedClaim> {
        let judge = match self.judge {
            QualityJudge::Pagerank => servers::Judge::Pagerank,
            QualityJudge::Zipf => servers::Judge::Zipf,
        };
        let mut runs: BTreeMap<u16, Vec<Measured>> = BTreeMap::new();
        for own in &self.crawled {
            if let Some(base) = self.baseline(own.run) {
                let dials = own.connections;
                let numbers = servers::measured(own.strategy, judge, &own.gain, dials, &base.gain);
                runs.entry(own.run).or_default().extend(numbers);
            }
        }
        let runs: Vec<Vec<Measured>> = runs.into_values().collect();
        servers::claims(judge, &rows(&runs, None))
    }

    fn baseline(&self, run: u16) -> Option<&StrategyCrawl> {
        let of_run = |crawled: &&StrategyCrawl| crawled.run == run;
        let mut crawls = self.crawled.iter().filter(of_run);
        crawls.find(|crawled| crawled.strategy == STRATEGIES[0].0)
    }

    fn rows(&self) -> Vec<(&'static str, Vec<(String, f64)>)> {
        let row = |(strategy, _): (&'static str, bool)| {
            let mut figures = Vec::new();
            let mut add = |name: String, figure: Figure<'_>| {
                figures.push((name, self.median(strategy, figure)));
            };
            for share in SHARES {
                let name = format!("quality_at_pages@{share:.2}");
                add(name, &|own, _| own.gain.at_pages(share));
            }
            for share in SHARES {
                let name = format!("quality_at_time@{share:.2}");
                add(name, &|own, base| {
                    own.gain.at_time(share * base.gain.total())
                });
            }
            add("time_to@0.60".into(), &|own, _| own.gain.time_to(0.6));
            add("time_to@0.80".into(), &|own, _| own.gain.time_to(0.8));
            add("mean_quality".into(), &|own, base| {
                own.gain.mean_by_time(base.gain.total())
            });
            add("pages_at_time@0.50".into(), &|own, base| {
                own.gain.pages_at_time(0.5 * base.gain.total())
            });
            add("pages_per_second".into(), &|own, _| {
                own.gain.pages() as f64 / own.gain.total()
            });
            add("seconds".into(), &|own, _| own.gain.total());
            add("connections".into(), &|own, _| own.connections as f64);
            add("cpu_share".into(), &|own, _| {
                own.cpu.as_secs_f64() / own.gain.total()
            });
            (strategy, figures)
        };
        STRATEGIES.map(row).into()
    }
}

impl Serialize for ServersReport {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let experiments = self.experiments.iter().map(|experiment| {
            let rows = experiment.rows().into_iter();
            let rows = rows.map(|(strategy, figures)| {
                let figures: BTreeMap<String, f64> = figures.into_iter().collect();
                json!({ "strategy": strategy, "figures": figures })
            });
            let claims = experiment.claims().into_iter().map(|claim| {
                let PublishedClaim { says, found, .. } = claim;
                json!({ "claim": says, "found": found, "holds": claim.holds })
            });
            json!({
                "quality": experiment.judge.to_string(),
                "rows": rows.collect::<Vec<_>>(),
                "claims": claims.collect::<Vec<_>>(),
            })
        });
        let experiments: Vec<_> = experiments.collect();
        json!({ "webs": self.notes, "experiments": experiments }).serialize(serializer)
    }
}

impl fmt::Display for ServersReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "medians of {} runs, each on its own web; claims by means; seeds: the home pages of all servers",
            self.notes.len()
        )?;
        for note in &self.notes {
            writeln!(f, "{note}")?;
        }
        for experiment in &self.experiments {
            write_experiment(f, experiment)?;
        }
        Ok(())
    }
}

fn write_experiment(f: &mut fmt::Formatter<'_>, experiment: &Experiment) -> fmt::Result {
    writeln!(f, "\nquality by {}", experiment.judge)?;
    writeln!(
        f,
        "{:15}| {:29}| {:29}| {:13}| {:>5}{:>7}{:>9}{:>9}{:>7}{:>6}",
        "",
        "% of quality at % of pages",
        "… at % of breadth-first's time",
        "seconds to",
        "mean",
        "pages",
        "pages/s",
        "seconds",
        "conns",
        "CPU"
    )?;
    let shares: String = SHARES
        .map(|share| format!("{:>6.0}", share * 100.0))
        .concat();
    writeln!(
        f,
        "{:15}|{shares}|{shares}| {:>6}{:>7}| {:>5}{:>7}",
        "strategy", "60 %", "80 %", "%", "% mid"
    )?;
    for (strategy, figures) in experiment.rows() {
        let figure = |at: usize| figures[at].1;
        write!(f, "{strategy:15}|")?;
        for at in 0..10 {
            let bar = if at == 4 || at == 9 { "|" } else { "" };
            write!(f, "{:>6.1}{bar}", figure(at) * 100.0)?;
        }
        writeln!(
            f,
            "{:>7.1}{:>7.1}| {:>5.1}{:>7.1}{:>9.0}{:>9.1}{:>7.0}{:>6.2}",
            figure(10),
            figure(11),
            figure(12) * 100.0,
            figure(13) * 100.0,
            figure(14),
            figure(15),
            figure(16),
            figure(17)
        )?;
    }
    for claim in experiment.claims() {
        let PublishedClaim { says, found, .. } = &claim;
        writeln!(f, "{} {says}: {found}", verdict(claim.holds))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use lab::measure::QualityGain;

    fn crawled(strategy: &'static str, run: u16, seconds: f64) -> StrategyCrawl {
        StrategyCrawl {
            strategy,
            run,
            gain: QualityGain::new(vec![(0, seconds / 2.0), (1, seconds)], &[3.0, 1.0]),
            connections: 1,
            cpu: Duration::from_secs(1),
        }
    }

    #[test]
    fn a_figure_is_the_median_over_runs_and_is_compared_within_each_run() {
        let mut experiment = Experiment::new(QualityJudge::Zipf);
        for (run, slow, fast) in [(1, 10.0, 4.0), (2, 20.0, 8.0), (3, 40.0, 39.0)] {
            experiment.crawled.push(crawled("breadth-first", run, slow));
            experiment.crawled.push(crawled("quality", run, fast));
        }
        let total = experiment.median("quality", &|own, _| own.gain.total());
        assert_eq!(total, 8.0);
        let ratio = experiment.median("quality", &|own, base| own.gain.total() / base.gain.total());
        assert_eq!(ratio, 0.4);
        assert!(
            experiment
                .median("none", &|own, _| own.gain.total())
                .is_nan()
        );
    }

    #[test]
    fn the_table_shows_every_strategy_and_every_claim() {
        let mut experiment = Experiment::new(QualityJudge::Pagerank);
        for (strategy, _) in STRATEGIES {
            experiment.crawled.push(crawled(strategy, 1, 10.0));
        }
        let report = ServersReport {
            notes: vec!["z".into()],
            experiments: vec![experiment],
        };
        let text = report.to_string();
        for (strategy, _) in STRATEGIES {
            assert!(text.contains(strategy), "{text}");
        }
        let json = serde_json::to_value(&report).unwrap();
        let claims = json["experiments"][0]["claims"].as_array().unwrap().len();
        assert_eq!(
            text.matches("held").count() + text.matches("DID NOT HOLD").count(),
            claims
        );
    }
}
