//! The tables of `bench order`, with targets.

use std::fmt;

use serde::Serialize;

use super::cell::CellCost;
use super::upkeep::UpkeepCost;
use super::{OrderCell, OrderUpkeep};

/// Targets: evaluations and decisions per second on one core.
const EVALUATIONS: f64 = 1_000_000.0;
const DECISIONS: f64 = 200_000.0;
/// Target: the greatest growth of a decision's cost.
///
/// A decision should not depend on the size of the frontier. It may cost twice as much with twenty
/// times the URLs, or with a hundred thousand times the servers.
const GROWTH: f64 = 2.0;
/// Target: the upkeep of an ordering, as a share of the CPU time of a crawl.
const UPKEEP: f64 = 0.1;
/// CPU time of a crawl per page, in microseconds: with archive and index, and with the ledger
/// alone.
///
/// Measured by `cargo xtask bench crawl` (`docs/science/numbers.md`).
const CRAWL: f64 = 645.0;
const LEDGER: f64 = 255.0;

/// All figures, as `--json` prints them.
#[derive(Debug, Serialize)]
pub struct OrderReport {
    /// One row per ordering, strategy and size.
    pub rows: Vec<OrderRow>,
    /// One row per ordering that uses links.
    pub upkeep: Vec<UpkeepRow>,
}

/// The costs of one ordering and strategy, at one size.
#[derive(Debug, Serialize)]
pub struct OrderRow {
    /// The ordering, the strategy and the size.
    #[serde(flatten)]
    pub cell: OrderCell,
    /// The result.
    #[serde(flatten)]
    pub measured: CellCost,
}

/// The upkeep of one ordering.
#[derive(Debug, Serialize)]
pub struct UpkeepRow {
    /// The ordering and the size of the web.
    #[serde(flatten)]
    pub options: OrderUpkeep,
    /// The result.
    #[serde(flatten)]
    pub kept: UpkeepCost,
}

impl OrderRow {
    /// Returns the cost of a decision relative to the row of the least `size` with the same
    /// policies.
    ///
    /// Only rows with the same value of `by` are compared.
    fn growth(&self, rows: &[Self], by: impl Fn(&Self) -> u64, size: impl Fn(&Self) -> u64) -> f64 {
        let alike = rows.iter().filter(|row| {
            let policies = |row: &Self| (row.cell.order.clone(), row.cell.strategy.clone());
            policies(row) == policies(self) && by(row) == by(self)
        });
        let least = alike.min_by_key(|row| size(row)).unwrap_or(self);
        least.measured.decisions / self.measured.decisions
    }

    fn misses(&self, rows: &[Self]) -> Vec<String> {
        let mut misses = Vec::new();
        let mut check = |met: bool, what: String| misses.extend((!met).then_some(what));
        let measured = &self.measured;
        check(measured.decisions >= DECISIONS, "decisions".into());
        check(measured.evaluations >= EVALUATIONS, "evaluations".into());
        let by_urls = self.growth(rows, |row| row.cell.servers, |row| row.cell.urls);
        check(by_urls <= GROWTH, format!("x{by_urls:.1} by URLs"));
        let by_servers = self.growth(rows, |row| row.cell.urls, |row| row.cell.servers);
        check(by_servers <= GROWTH, format!("x{by_servers:.1} by servers"));
        misses
    }
}

impl fmt::Display for OrderReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "by CPU time of the one thread that works; targets: ≥ {DECISIONS} decisions/s, ≥ {EVALUATIONS} evaluations/s, a decision costs at most \
             {GROWTH} times as much as at the least size"
        )?;
        writeln!(
            f,
            "{:<18}{:<15}{:>6}{:>9}{:>13}{:>12}{:>15}{:>9}{:>7}",
            "order",
            "servers by",
            "URLs",
            "servers",
            "decisions/s",
            "with links",
            "evaluations/s",
            "RSS MB",
            "B/URL"
        )?;
        for row in &self.rows {
            let OrderRow { cell, measured } = row;
            write!(
                f,
                "{:<18}{:<15}{:>6}{:>9}{:>13.0}{:>12.0}{:>15.0}{:>9.0}{:>7.0}",
                cell.order,
                cell.strategy,
                short(cell.urls),
                cell.servers,
                measured.decisions,
                measured.with_links,
                measured.evaluations,
                measured.memory as f64 / 1e6,
                measured.memory as f64 / cell.urls as f64,
            )?;
            match row.misses(&self.rows).join(", ") {
                misses if misses.is_empty() => writeln!(f)?,
                misses => writeln!(f, "  MISSED: {misses}")?,
            }
        }
        if let Some(first) = self.upkeep.first() {
            write_upkeep(f, first.options.pages, &self.upkeep)?;
        }
        Ok(())
    }
}

fn write_upkeep(f: &mut fmt::Formatter<'_>, pages: u64, rows: &[UpkeepRow]) -> fmt::Result {
    writeln!(
        f,
        "\nupkeep over {pages} pages of 20 links; target: ≤ {:.0} % of a crawl's CPU ({CRAWL} µs a page with \
         archive and index)",
        UPKEEP * 100.0
    )?;
    writeln!(
        f,
        "{:<18}{:>9}{:>12}{:>12}{:>11}{:>13}{:>8}",
        "order", "µs/page", "last tenth", "moves/page", "of a crawl", "ledger only", "B/page"
    )?;
    for row in rows {
        let kept = &row.kept;
        let highest = kept.mean.max(kept.last);
        let share = highest / CRAWL;
        writeln!(
            f,
            "{:<18}{:>9.2}{:>12.2}{:>12.1}{:>9.1} %{:>11.1} %{:>8.0}{}",
            row.options.order,
            kept.mean,
            kept.last,
            kept.moves,
            share * 100.0,
            highest / LEDGER * 100.0,
            kept.memory,
            if share <= UPKEEP { "" } else { "  MISSED" },
        )?;
    }
    Ok(())
}

fn short(urls: u64) -> String {
    if urls >= 1_000_000 && urls.is_multiple_of(1_000_000) {
        format!("{}M", urls / 1_000_000)
    } else {
        urls.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(urls: u64, servers: u64, decisions: f64, evaluations: f64) -> OrderRow {
        OrderRow {
            cell: OrderCell {
                order: "pagerank".into(),
                strategy: "quality".into(),
                urls,
                servers,
            },
            measured: CellCost {
                settled: 1,
                decisions,
                with_links: decisions / 2.0,
                evaluations,
                memory: urls * 40,
            },
        }
    }

    #[test]
    fn missed_targets_are_named() {
        let rows = [
            row(1_000_000, 1, 500_000.0, 2e6),
            row(20_000_000, 1, 249_000.0, 2e6),
            row(1_000_000, 1000, 251_000.0, 0.9e6),
            row(20_000_000, 1000, 199_999.0, 1e6),
        ];
        let misses: Vec<String> = rows
            .iter()
            .map(|row| row.misses(&rows).join(", "))
            .collect();
        assert_eq!(misses, ["", "x2.0 by URLs", "evaluations", "decisions"]);
    }

    #[test]
    fn upkeep_is_judged_by_the_higher_of_its_mean_and_its_last_tenth() {
        let report = |last: f64| OrderReport {
            rows: Vec::new(),
            upkeep: vec![UpkeepRow {
                options: OrderUpkeep {
                    order: "pagerank".into(),
                    pages: 1_000_000,
                },
                kept: UpkeepCost {
                    mean: 5.0,
                    last,
                    moves: 3.0,
                    memory: 100.0,
                },
            }],
        };
        assert!(!report(64.0).to_string().contains("MISSED"));
        assert!(report(65.0).to_string().contains("MISSED"));
    }
}
