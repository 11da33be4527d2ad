//! Claims of Pandey & Olston (2005), and our own about newer policies (UC7), judged by the
//! findings.
//!
//! The paper prints curves and few numbers. Its claims are tested as its text states them.

use policy::quality::{ScoreRank, ScoredQuery, quality};

use super::comparison::{QUALITIES, REGAINED};
use super::pages::found;
use super::{PageSelection, RefreshExperimentOptions};
use crate::experiment::PublishedClaim;
use crate::findings::{Findings, Row};
use crate::run::steps::Protocol;

const THEIRS: &str = "user-centric";
const EARLIER: [&str; 2] = ["sbr", "ebr"];
const OURS: [&str; 2] = ["user-centric-marginal", "holistic"];

/// Rounding error allowed in a sum of some thousand products.
const ROUNDING: f64 = 1e-9;

/// Returns all claims that the findings can judge. `best` is the best quality at any step of any
/// policy, budget and run.
pub(super) fn all(
    findings: &Findings,
    options: &RefreshExperimentOptions,
    best: f64,
) -> Vec<PublishedClaim> {
    let found = RefreshClaims {
        findings,
        scorer: options.scorer.name(),
        protocol: options.knowledge,
        pages: options.pages,
    };
    let has_queries = found.rows("quality").next().is_some();
    let claims = [
        Some(uc2()),
        found.uc3(),
        found.uc4(),
        found.uc5(),
        has_queries.then(|| uc6_bound(best)),
        Some(uc6_table()),
        found.uc7(),
    ];
    claims.into_iter().flatten().collect()
}

/// Returns the claims about the index policy in a world with known change rates.
pub(super) fn of_pages(findings: &Findings) -> Vec<PublishedClaim> {
    let near = found(findings, "freshness", "of_optimum", "known");
    let index = found(findings, "freshness", "weighted_freshness", "known");
    let linear = found(findings, "linear", "weighted_freshness", "known");
    let words = |found: &[(f64, f64)]| {
        let each = found
            .iter()
            .map(|(x, value)| format!("{value:.4} at {x:.0} a day"));
        each.collect::<Vec<_>>().join(", ")
    };
    let mut claims = Vec::new();
    if !near.is_empty() {
        claims.push(PublishedClaim {
            id: "UC7",
            says: "With known rates the index (w/λ)·g(λτ), at the price that the frontier finds, reaches at least 99.5 % of the freshness of the best allocation.".into(),
            published: "ours: .858 of .859 at 1 % of the pages a day".into(),
            found: words(&near),
            holds: near.iter().all(|(_, share)| *share >= 0.995),
        });
    }
    let above: Vec<(f64, f64)> = index
        .iter()
        .filter_map(|(x, index)| {
            let (_, linear) = linear.iter().find(|(other, _)| other == x)?;
            Some((*x, index / linear))
        })
        .collect();
    if !above.is_empty() {
        // A policy that leaves budget unspent is no fair comparison.
        let spent = found(findings, "linear", "fetches_per_day", "known");
        let fair = spent.iter().all(|(x, spent)| *spent >= 0.98 * x);
        // The middle one of the default budgets is 1 % of the pages a day.
        let (middle, lead) = above[above.len() / 2];
        claims.push(PublishedClaim {
            id: "UC7",
            says: format!(
                "This index is at least 8 % above the linear index w·λ·τ, at {middle:.0} fetches a day."
            ),
            published: "ours: .858 against .777 at 1 % of the pages a day".into(),
            found: format!(
                "times {}{}",
                words(&above),
                if fair {
                    ""
                } else {
                    "; but linear did not spend its budget, so the comparison is not fair"
                }
            ),
            holds: fair && lead >= 1.08,
        });
    }
    claims
}

fn uc2() -> PublishedClaim {
    let bytes = size_of::<ScoreRank>();
    PublishedClaim {
        id: "UC2",
        says: "A score-rank function of three pieces takes 20 bytes a word.".into(),
        published: "20 bytes".into(),
        found: format!("{bytes} bytes"),
        holds: bytes == 20,
    }
}

fn uc6_bound(best: f64) -> PublishedClaim {
    PublishedClaim {
        id: "UC6",
        says: "No repository is better than one that equals the web: Q ≤ 1 at every step of every run.".into(),
        published: "at most 1".into(),
        found: format!("at most {best:.6}"),
        holds: best <= 1.0 + ROUNDING,
    }
}

/// Checks Table 1 of the paper, with its Boolean scores for the query "cancer".
///
/// Pages with equal scores are ranked by page number. The fourth page of the table has number 0
/// and the first number 3, so each of the four differences between repository and web changes the
/// ranking.
fn uc6_table() -> PublishedClaim {
    let (p1, p2, p3, p4) = (3, 2, 1, 0);
    let live = [(p1, 1.0), (p2, 0.0), (p3, 1.0), (p4, 0.0)];
    let mut ours = [(p1, 0.0), (p2, 1.0), (p3, 0.0), (p4, 1.0)];
    let judge = |ours: &[(u32, f64)]| {
        let asked = ScoredQuery {
            frequency: 1.0,
            live: &live,
            ours,
        };
        quality(&[asked]).unwrap_or(0.0)
    };
    let mut qualities = vec![judge(&ours)];
    for place in 0..4 {
        ours[place] = live[place];
        qualities.push(judge(&ours));
    }
    let rises = qualities.windows(2).all(|pair| pair[1] > pair[0]);
    let words: Vec<String> = qualities.iter().map(|q| format!("{q:.3}")).collect();
    PublishedClaim {
        id: "UC6",
        says: "Table 1: a score that rose, one that fell, a page missing from the repository and one that is gone: each lowers quality, and correcting all of them gives 1.".into(),
        published: "four discrepancies, each distorts".into(),
        found: words.join(" < "),
        holds: rises && qualities[4] == 1.0,
    }
}

struct RefreshClaims<'f> {
    findings: &'f Findings,
    scorer: &'static str,
    protocol: Protocol,
    pages: PageSelection,
}

impl RefreshClaims<'_> {
    fn rows<'r>(&'r self, metric: &'r str) -> impl Iterator<Item = &'r Row> {
        let rows = self.findings.rows.iter();
        rows.filter(move |row| row.metric == metric && !row.params.contains_key("tau"))
    }

    /// Returns the budget that a policy needs for a level of quality; `None` if the policy never
    /// reaches that level.
    fn budget(&self, policy: &str, metric: &str) -> Option<f64> {
        let mut rows = self.rows(metric).filter(|row| row.policy == policy);
        rows.next().map(|row| row.value)
    }

    fn ran(&self, policies: &[&str]) -> bool {
        let ran = |policy: &&str| self.rows("quality").any(|row| row.policy == *policy);
        policies.iter().all(ran)
    }

    /// Returns the levels of quality that `policy` reaches with a budget above 0.
    fn levels(&self, policy: &str) -> Vec<String> {
        let fixed = QUALITIES.map(|level| format!("budget_at_quality@{level}"));
        let relative = REGAINED.map(|level| format!("budget_at_regained@{level}"));
        let levels = fixed.into_iter().chain(relative);
        levels
            .filter(|level| {
                self.budget(policy, level)
                    .is_some_and(|budget| budget > 0.0)
            })
            .collect()
    }

    /// Returns the budgets of policies at these levels, as text.
    fn table(&self, levels: &[String], policies: &[&str]) -> String {
        let line = |level: &String| {
            let each = policies
                .iter()
                .map(|policy| match self.budget(policy, level) {
                    Some(budget) => format!("{policy} {budget:.1}"),
                    None => format!("{policy} never"),
                });
            let short = level.trim_start_matches("budget_at_");
            format!("{short}: {}", each.collect::<Vec<_>>().join(", "))
        };
        let lines: Vec<String> = levels.iter().map(line).collect();
        format!("refreshes a step at {}", lines.join("; "))
    }

    fn setting(&self) -> String {
        let (scorer, protocol) = (self.scorer, self.protocol.name());
        match self.pages {
            PageSelection::All => format!("({scorer}, knowledge {protocol})"),
            pages => format!("({scorer}, knowledge {protocol}, {} pages)", pages.name()),
        }
    }

    fn uc3(&self) -> Option<PublishedClaim> {
        self.ran(&[THEIRS, EARLIER[0], EARLIER[1]]).then(|| {
            let levels = self.levels(THEIRS);
            let fewer = |level: &String| {
                let own = self.budget(THEIRS, level).unwrap_or(f64::INFINITY);
                let others = EARLIER.map(|other| self.budget(other, level).unwrap_or(f64::INFINITY));
                others.iter().all(|other| own < *other)
            };
            PublishedClaim {
                id: "UC3",
                says: format!("For the same quality user-centric needs fewer refreshes than SBR and EBR with their best thresholds {}.", self.setting()),
                published: "substantially fewer in all four graphs of figure 4".into(),
                found: self.table(&levels, &[THEIRS, EARLIER[0], EARLIER[1]]),
                holds: !levels.is_empty() && levels.iter().all(fewer),
            }
        })
    }

    fn uc4(&self) -> Option<PublishedClaim> {
        self.ran(&[THEIRS, EARLIER[0], EARLIER[1]]).then(|| {
            let own = self.rows("quality").filter(|row| row.policy == THEIRS);
            let others = |x: f64| EARLIER.map(|other| self.findings_at(other, x));
            let reached: Vec<(f64, f64, [f64; 2])> = own
                .filter(|row| row.value > 0.99)
                .map(|row| (row.x, row.value, others(row.x)))
                .collect();
            let widest = reached.iter().min_by(|one, other| {
                let gap = |at: &(f64, f64, [f64; 2])| at.2[0].max(at.2[1]);
                gap(one).total_cmp(&gap(other))
            });
            PublishedClaim {
                id: "UC4",
                says: format!("There is a budget at which user-centric is above 99 % and SBR and EBR are about 95 % {}.", self.setting()),
                published: "over 99 % against ~ 95 % (§6.3)".into(),
                found: widest.map_or("user-centric is above 99 % at none of the budgets".into(), |(x, own, others)| {
                    format!("at {x} refreshes a step {own:.4} against {:.4} and {:.4}", others[0], others[1])
                }),
                holds: widest.is_some_and(|(_, _, others)| others.iter().all(|other| *other < 0.965)),
            }
        })
    }

    fn findings_at(&self, policy: &str, x: f64) -> f64 {
        let mut rows = self.rows("quality");
        let row = rows.find(|row| row.policy == policy && row.x == x);
        row.map_or(f64::NAN, |row| row.value)
    }

    fn uc5(&self) -> Option<PublishedClaim> {
        let rows: Vec<&Row> = self.rows("forecast").collect();
        let value = |estimate: &str, pages: &str| {
            let is = |row: &&&Row| {
                row.params.get("estimate") == Some(&estimate.into())
                    && row.params.get("pages") == Some(&pages.into())
            };
            rows.iter().find(is).map(|row| row.value)
        };
        let moved = value("sum", "moved")?;
        let all = value("sum", "all").unwrap_or(f64::NAN);
        let printed = value("printed", "moved").unwrap_or(f64::NAN);
        Some(PublishedClaim {
            id: "UC5",
            says: format!("The gain of a page's refreshes in the first half predicts that in the second {}.", self.setting_of_scorer()),
            published: "most pages lie near the diagonal (figure 3, no number); our threshold is a rank correlation of .5".into(),
            found: format!("rank correlation {moved:.3}; {all:.3} with the pages without any gain; {printed:.3} with the mean of ratios as printed"),
            holds: moved >= 0.5,
        })
    }

    fn setting_of_scorer(&self) -> String {
        format!("({})", self.scorer)
    }

    fn uc7(&self) -> Option<PublishedClaim> {
        self.ran(&[THEIRS, OURS[0], OURS[1]]).then(|| {
            let levels = self.levels(THEIRS);
            let no_more = |level: &String| {
                let theirs = self.budget(THEIRS, level).unwrap_or(f64::INFINITY);
                let ours = OURS.map(|own| self.budget(own, level).unwrap_or(f64::INFINITY));
                ours.iter().all(|own| *own <= theirs)
            };
            PublishedClaim {
                id: "UC7",
                says: format!("For the same quality user-centric-marginal and holistic need no more refreshes than user-centric {}.", self.setting()),
                published: "ours".into(),
                found: self.table(&levels, &[THEIRS, OURS[0], OURS[1]]),
                holds: !levels.is_empty() && levels.iter().all(no_more),
            }
        })
    }
}
