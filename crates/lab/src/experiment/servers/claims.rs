//! Published claims about server strategies.
//!
//! They are the claims of Cao, Jiang & Singh (2003), §5.3, and one of our own, for simulated and
//! live crawls alike.
//!
//! **Invariant:** a claim is checked on the means over the runs, with the numbers that the paper
//! prints and no tolerance. A claim about a strategy that was not run is omitted.

use super::judge::Judge;
use super::measured::{
    BASELINE, EFFICIENCY, EFFICIENCY_TIMES, MEAN_EFFICIENCY, QUALITY, SPEED_AT_HALF, SPEED_TIMES,
    THIRD,
};
use crate::experiment::PublishedClaim;
use crate::findings::{Param, Row};

/// Checks the claims about this quality on rows of [`measured`](super::measured()) numbers.
pub fn claims(judge: Judge, rows: &[Row]) -> Vec<PublishedClaim> {
    let of = QualityRows { judge, rows };
    let own = match judge {
        Judge::Pagerank => vec![
            of.before_half_of_the_pages(),
            of.in_a_third_of_the_time(),
            of.fastest_and_quality_next(),
            of.efficiency_of_performance(),
        ],
        Judge::Zipf => vec![
            of.crawl_ability_in_a_third(),
            of.crawl_ability_before_the_midpoint(),
            of.crawl_ability_over_pages(),
            of.fastest(),
            of.performance_beats_quality(),
        ],
    };
    let both = [of.speed_of_performance(), of.ours()];
    own.into_iter().chain(both).flatten().collect()
}

/// The rows of one quality function.
struct QualityRows<'a> {
    judge: Judge,
    rows: &'a [Row],
}

impl<'a> QualityRows<'a> {
    fn before_half_of_the_pages(&self) -> Option<PublishedClaim> {
        let quality = self.row("quality", QUALITY, 0.5)?;
        let able = self.row("crawl-ability", QUALITY, 0.5)?;
        Some(self.claim(
            "quality and crawl-ability have > 80 % of quality before 50 % of the pages",
            "> 80 %",
            beside(&[quality, able], self.row(BASELINE, QUALITY, 0.5)),
            quality.value > 0.8 && able.value > 0.8,
        ))
    }

    fn in_a_third_of_the_time(&self) -> Option<PublishedClaim> {
        let quality = self.row("quality", EFFICIENCY, THIRD)?;
        let able = self.row("crawl-ability", EFFICIENCY, THIRD)?;
        Some(self.claim(
            "quality and crawl-ability have > 80 % of quality in < 1/3 of the time",
            "> 80 %",
            beside(&[quality, able], self.row(BASELINE, EFFICIENCY, THIRD)),
            quality.value > 0.8 && able.value > 0.8,
        ))
    }

    fn fastest_and_quality_next(&self) -> Option<PublishedClaim> {
        let [able, quality, performance, base] = self.means()?;
        let second = performance.value.max(base.value);
        Some(self.claim(
            "crawl-ability gains quality fastest of the four (mean over the time), quality next",
            "crawl-ability, then quality",
            self.all_means()?,
            able.value > quality.value && quality.value > second,
        ))
    }

    fn efficiency_of_performance(&self) -> Option<PublishedClaim> {
        let times = self.row("performance", EFFICIENCY_TIMES, 0.5)?;
        Some(self.claim(
            "performance has gained about 1.5 times breadth-first's quality at the midpoint",
            "about 1.5 times",
            multiple(times),
            times.value >= 1.5,
        ))
    }

    fn crawl_ability_in_a_third(&self) -> Option<PublishedClaim> {
        let able = self.row("crawl-ability", EFFICIENCY, THIRD)?;
        Some(self.claim(
            "crawl-ability has > 60 % of quality in < 1/3 of the time",
            "> 60 %",
            beside(&[able], self.row(BASELINE, EFFICIENCY, THIRD)),
            able.value > 0.6,
        ))
    }

    fn crawl_ability_before_the_midpoint(&self) -> Option<PublishedClaim> {
        let able = self.row("crawl-ability", EFFICIENCY, 0.5)?;
        Some(self.claim(
            "crawl-ability has 80 % of quality before the midpoint",
            "80 %",
            beside(&[able], self.row(BASELINE, EFFICIENCY, 0.5)),
            able.value >= 0.8,
        ))
    }

    fn crawl_ability_over_pages(&self) -> Option<PublishedClaim> {
        let able = self.row("crawl-ability", QUALITY, 0.5)?;
        let quality = self.row("quality", QUALITY, 0.5)?;
        Some(self.claim(
            "crawl-ability beats quality over pages as well (at 50 % of the pages)",
            "above",
            format!("{} and {}", share(able), share(quality)),
            able.value > quality.value,
        ))
    }

    fn fastest(&self) -> Option<PublishedClaim> {
        let [able, others @ ..] = self.means()?;
        Some(self.claim(
            "crawl-ability gains quality fastest of the four (mean over the time)",
            "crawl-ability",
            self.all_means()?,
            others.iter().all(|other| able.value > other.value),
        ))
    }

    fn performance_beats_quality(&self) -> Option<PublishedClaim> {
        let [_, quality, performance, base] = self.means()?;
        Some(self.claim(
            "performance and quality alone beat breadth-first, performance by more",
            "performance, then quality, then breadth-first",
            self.all_means()?,
            quality.value > base.value && performance.value > quality.value,
        ))
    }

    fn speed_of_performance(&self) -> Option<PublishedClaim> {
        let times = self.row("performance", SPEED_TIMES, 0.5)?;
        Some(self.claim(
            "performance has ≥ 1.5 times breadth-first's pages at the midpoint",
            "≥ 1.5 times",
            format!(
                "{}; {} when breadth-first has half of the pages",
                multiple(times),
                multiple(self.row("performance", SPEED_AT_HALF, 0.5)?)
            ),
            times.value >= 1.5,
        ))
    }

    fn ours(&self) -> Option<PublishedClaim> {
        let own = self.row("best-prefix", MEAN_EFFICIENCY, 1.0)?;
        let paper = self.means()?.into_iter();
        let best = paper.max_by(|a, b| a.value.total_cmp(&b.value))?;
        Some(self.claim(
            "(ours) best-prefix gains quality faster than the best of the four (mean over the time)",
            "not published",
            format!("{} and {}", share(own), share(best)),
            own.value > best.value,
        ))
    }

    /// Returns the mean efficiencies of the paper's four strategies: crawl-ability, quality,
    /// performance, baseline. `None` if one was not run.
    fn means(&self) -> Option<[&'a Row; 4]> {
        let mean = |strategy| self.row(strategy, MEAN_EFFICIENCY, 1.0);
        Some([
            mean("crawl-ability")?,
            mean("quality")?,
            mean("performance")?,
            mean(BASELINE)?,
        ])
    }

    fn all_means(&self) -> Option<String> {
        let named = |row: &Row| format!("{} {}", row.policy, share(row));
        Some(self.means()?.map(named).join(", "))
    }

    fn row(&self, strategy: &str, metric: &str, x: f64) -> Option<&'a Row> {
        let quality = Param::from(self.judge.to_string().as_str());
        self.rows.iter().find(|row| {
            row.policy == strategy
                && row.metric == metric
                && (row.x - x).abs() < 1e-9
                && row.params.get("quality") == Some(&quality)
        })
    }

    fn claim(&self, says: &str, published: &str, found: String, holds: bool) -> PublishedClaim {
        PublishedClaim {
            id: match self.judge {
                Judge::Pagerank => "2L1",
                Judge::Zipf => "2L2",
            },
            says: says.to_owned(),
            published: published.to_owned(),
            found,
            holds,
        }
    }
}

/// Formats shares together with that of the baseline, since a claim says little if the baseline
/// meets it, too.
fn beside(rows: &[&Row], baseline: Option<&Row>) -> String {
    let shares: Vec<String> = rows.iter().map(|row| share(row)).collect();
    let baseline = baseline.map_or(String::new(), |row| {
        format!(" (breadth-first {})", share(row))
    });
    shares.join(" and ") + &baseline
}

/// Formats a share in percent, with its confidence interval.
fn share(row: &Row) -> String {
    match row.low.zip(row.high) {
        Some((low, high)) => format!(
            "{:.1} % [{:.1}, {:.1}]",
            row.value * 100.0,
            low * 100.0,
            high * 100.0
        ),
        None => format!("{:.1} %", row.value * 100.0),
    }
}

/// Formats a multiple, with its confidence interval.
fn multiple(row: &Row) -> String {
    match row.low.zip(row.high) {
        Some((low, high)) => format!("{:.2} times [{low:.2}, {high:.2}]", row.value),
        None => format!("{:.2} times", row.value),
    }
}

#[cfg(test)]
mod tests {
    use super::super::measured::measured;
    use super::*;
    use crate::findings::rows;
    use crate::measure::QualityGain;

    const STRATEGIES: [&str; 5] = [
        BASELINE,
        "performance",
        "quality",
        "crawl-ability",
        "best-prefix",
    ];

    /// Returns rows of crawls of three pages in 90 seconds. Each strategy fetches the best page
    /// after its number of seconds in `first`.
    fn found(judge: Judge, first: [f64; 5]) -> Vec<Row> {
        let fetched = |first| vec![(2, 1.0), (1, first), (0, 90.0)];
        let gain = |first| QualityGain::new(fetched(first), &[1.0, 9.0, 1.0]);
        let base = gain(first[0]);
        let crawls = STRATEGIES.iter().zip(first);
        let numbers =
            crawls.flat_map(|(name, first)| measured(name, judge, &gain(first), 2, &base));
        rows(&[numbers.collect()], None)
    }

    #[test]
    fn claims_hold_where_the_numbers_say_so_and_nowhere_else() {
        let verdicts = |judge: Judge, first: [f64; 5]| {
            let claims = claims(judge, &found(judge, first));
            claims.iter().map(|claim| claim.holds).collect::<Vec<_>>()
        };
        let paper = [80.0, 40.0, 20.0, 10.0, 5.0];
        assert_eq!(verdicts(Judge::Pagerank, paper), [true; 6]);
        // All strategies fetch the best page after 40 of 90 seconds. So none is faster than
        // another, and a third of the time has already passed.
        let alike = [40.0; 5];
        assert_eq!(
            verdicts(Judge::Pagerank, alike),
            [true, false, false, false, false, false]
        );
        assert_eq!(
            verdicts(Judge::Zipf, alike),
            [false, true, false, false, false, false, false]
        );
        let zipf = [80.0, 20.0, 30.0, 10.0, 50.0];
        assert_eq!(
            verdicts(Judge::Zipf, zipf),
            [true, true, false, true, true, true, false]
        );
    }

    #[test]
    fn a_claim_needs_its_strategies_its_quality_and_shows_its_interval() {
        let mut rows = found(Judge::Zipf, [80.0, 20.0, 30.0, 10.0, 50.0]);
        assert!(claims(Judge::Pagerank, &rows).is_empty());
        for row in &mut rows {
            (row.low, row.high) = (Some(0.5), Some(0.75));
        }
        let all = claims(Judge::Zipf, &rows);
        assert!(all.iter().all(|claim| claim.id == "2L2"));
        assert!(all[0].found.contains("[50.0, 75.0]"), "{}", all[0].found);
        rows.retain(|row| row.policy != "quality");
        let left: Vec<_> = claims(Judge::Zipf, &rows);
        let says: Vec<&str> = left.iter().map(|claim| claim.says.as_str()).collect();
        assert_eq!(left.len(), 3, "{says:?}");
    }
}
