//! What did each scheduler earn, with each rate, history and push period?

use std::time::Duration;

use policy::catalog::Catalog;
use policy::source::Settings;
use policy::{Moment, Sources};

use super::{HOUR, Options, WEEK, number};
use crate::LabError;
use crate::findings::{Measured, Param};
use crate::measure::profit::Profit;
use crate::run::ephemeral::{Crawled, Plan, Stage, crawl, fetches};
use crate::workers::{Progress, each};

/// Who is tried with other histories and push periods: those of figure 8, and ours.
pub(super) const SWEPT: [&str; 3] = ["echo-newpages", "echo-schedule", "priced"];

/// Of whom it is asked at which rate they reach the bound.
pub(super) const ENOUGH: [&str; 3] = ["bfs", "echo-newpages", "priced"];

/// What is nearly all of the bound.
const NEARLY: f64 = 0.99;

/// Doublings of the largest rate, and halvings between two rates, until that is found.
const DOUBLED: u32 = 4;
const HALVED: u32 = 3;

/// How often dynamic profit is taken for the mean.
const OFTEN: Duration = Duration::from_secs(120);

/// The name under which the bound stands among the schedulers.
pub(super) const BOUND: &str = "bound";

/// All crawls of one world.
pub(super) struct Crawls<'a> {
    stage: &'a Stage<'a>,
    options: &'a Options,
    rates: &'a [f64],
    seed: u64,
    bound: Profit,
    /// What the bound gives in the last week.
    best: f64,
    /// What a week is, in a world that was watched for less than three.
    week: Duration,
}

/// One thing to do.
#[derive(Debug, Clone)]
pub(super) enum Piece {
    /// A crawl.
    Crawl {
        name: String,
        rate: f64,
        history: usize,
        push: Duration,
    },
    /// As many crawls as it takes to find the rate at which nearly all of the bound is reached.
    Enough { name: String },
}

impl<'a> Crawls<'a> {
    pub fn new(stage: &'a Stage<'a>, options: &'a Options, rates: &'a [f64], seed: u64) -> Self {
        let articles = 0..stage.news().articles().len();
        let appeared = articles.filter_map(|article| {
            let at = stage.appeared(article)?;
            Some((at, stage.profit(article, at)))
        });
        let bound = Profit::new(appeared.collect());
        let week = WEEK.min(stage.until.since(stage.from) / 3);
        let mut crawls = Self {
            stage,
            options,
            rates,
            seed,
            best: 0.0,
            bound,
            week,
        };
        crawls.best = crawls.average(&crawls.bound).0;
        crawls
    }

    /// Every scheduler with every rate; some with other histories and push periods at the middle rate; some with as many rates as it takes.
    pub fn pieces(&self, names: &[String]) -> Vec<Piece> {
        let (history, push) = (self.options.histories[0], self.options.pushes[0]);
        let mut pieces = Vec::new();
        for name in names {
            pieces.extend(self.rates.iter().map(|&rate| Piece::Crawl {
                name: name.clone(),
                rate,
                history,
                push,
            }));
        }
        for name in names.iter().filter(|name| SWEPT.contains(&name.as_str())) {
            let one = |history, push| Piece::Crawl {
                name: name.clone(),
                rate: self.middle(),
                history,
                push,
            };
            let histories = self.options.histories[1..].iter();
            pieces.extend(histories.map(|&history| one(history, push)));
            let pushes = self.options.pushes[1..].iter();
            pieces.extend(pushes.map(|&push| one(history, push)));
        }
        // Who names one rate wants to know of no other.
        let enough = names.iter().filter(|_| self.rates.len() > 1);
        let enough = enough.filter(|name| ENOUGH.contains(&name.as_str()));
        pieces.extend(enough.map(|name| Piece::Enough { name: name.clone() }));
        pieces
    }

    /// All numbers.
    pub fn rows(
        &self,
        pieces: Vec<Piece>,
        threads: usize,
        progress: &dyn Progress,
    ) -> Result<Vec<Measured>, LabError> {
        let done = each(pieces, threads, progress, |piece| self.done(&piece));
        let done: Vec<Vec<Measured>> = done.into_iter().collect::<Result<_, LabError>>()?;
        let mut rows: Vec<Measured> = done.into_iter().flatten().collect();
        rows.push(number("", "bound", 0.0, self.best));
        let (_, deviation) = self.average(&self.bound);
        for &rate in self.rates {
            rows.push(number(BOUND, "profit", rate, self.best));
            rows.push(number(BOUND, "deviation", rate, deviation));
        }
        rows.extend(self.hours(BOUND, &self.bound));
        // What has settings of its own comes after the table.
        rows.sort_by_key(|row| !row.params.is_empty());
        Ok(rows)
    }

    /// What a reader must know of this world.
    pub fn notes(&self) -> Vec<String> {
        let days = |time: Duration| time.as_secs_f64() / 86_400.0;
        let (whole, week) = (self.stage.until.since(self.stage.from), self.week);
        vec![format!(
            "{:.1} days; Table 1 is the mean over the last {:.1} of them, with a window as long. Other histories and push periods are tried at {} fetches a second.",
            days(whole),
            days(week),
            self.middle()
        )]
    }

    fn done(&self, piece: &Piece) -> Result<Vec<Measured>, LabError> {
        match piece {
            Piece::Enough { name } => self.enough(name),
            Piece::Crawl {
                name,
                rate,
                history,
                push,
            } => {
                let crawled = self.crawl(name, *rate, *history, *push)?;
                let profit = self.profit(&crawled);
                let mut rows = Vec::new();
                let usual = [
                    *history == self.options.histories[0],
                    *push == self.options.pushes[0],
                ];
                if usual == [true, true] {
                    rows = self.table(name, *rate, &crawled, &profit);
                }
                if *rate == self.middle() {
                    if usual == [true, true] {
                        rows.extend(self.hours(name, &profit));
                    }
                    if SWEPT.contains(&name.as_str()) {
                        rows.extend(self.swept(name, *history, *push, usual, &profit));
                    }
                }
                Ok(rows)
            }
        }
    }

    fn crawl(
        &self,
        name: &str,
        rate: f64,
        history: usize,
        push: Duration,
    ) -> Result<Crawled, LabError> {
        let scheduler = Catalog::standard().scheduler(name);
        let scheduler = scheduler.map_err(|why| LabError::Wish(why.to_string()))?;
        let settings = Settings {
            per_second: rate,
            polls: history,
            // The sources of a world are given, as those of the paper are: no article becomes one.
            older: Duration::MAX,
            seen: self.options.seen,
            seed: self.seed,
            ..Settings::default()
        };
        let plan = Plan {
            per_second: rate,
            push,
            seen: self.options.seen,
            seed: self.seed,
        };
        Ok(crawl(self.stage, Sources::new(scheduler, settings), &plan))
    }

    fn profit(&self, crawled: &Crawled) -> Profit {
        let articles = crawled.articles.iter().enumerate();
        let earned = articles.filter_map(|(article, known)| {
            // What was there at the beginning earns nobody anything.
            let at = known
                .fetched
                .filter(|_| self.stage.appeared(article).is_some())?;
            Some((at, self.stage.profit(article, at)))
        });
        Profit::new(earned.collect())
    }

    /// The mean and the deviation over the last week.
    fn average(&self, profit: &Profit) -> (f64, f64) {
        profit.average(self.last_week(), self.stage.until, self.week, OFTEN)
    }

    fn last_week(&self) -> Moment {
        let until = self.stage.until.micros();
        Moment::from_micros(until - self.week.as_micros() as u64)
    }

    /// The middle rate.
    fn middle(&self) -> f64 {
        self.rates[self.rates.len() / 2]
    }

    fn table(&self, name: &str, rate: f64, crawled: &Crawled, profit: &Profit) -> Vec<Measured> {
        let (mean, deviation) = self.average(profit);
        let all = fetches(self.stage, rate) as f64;
        let found = self.found(crawled);
        let metrics = [
            ("profit", mean),
            ("deviation", deviation),
            ("of_bound", mean / self.best),
            ("overall", profit.overall(self.stage.from, self.stage.until)),
            ("delay", found.delay),
            ("missed", found.missed),
            ("missed_clicks", found.missed_clicks),
            ("polls", crawled.polls.len() as f64 / all),
            ("lost", crawled.lost as f64 / all),
            ("polls_of_least@0.7", self.polls_of_least(crawled, 0.7)),
        ];
        let rows = metrics.into_iter();
        rows.map(|(metric, value)| number(name, metric, rate, value))
            .collect()
    }

    fn found(&self, crawled: &Crawled) -> Found {
        let (mut delays, mut missed, mut new) = (Vec::new(), 0_u32, 0_u32);
        let (mut missed_clicks, mut clicks) = (0.0, 0.0);
        for (article, known) in crawled.articles.iter().enumerate() {
            let Some(appeared) = self.stage.appeared(article) else {
                continue;
            };
            let profit = self.stage.profit(article, appeared);
            new += 1;
            clicks += profit;
            match known.found {
                Some(found) => {
                    delays.push(found.since(appeared).as_secs_f64() / HOUR.as_secs_f64())
                }
                None if self.stage.gone(article) <= self.stage.until => {
                    missed += 1;
                    missed_clicks += profit;
                }
                None => {}
            }
        }
        delays.sort_unstable_by(f64::total_cmp);
        Found {
            delay: delays.get(delays.len() / 2).copied().unwrap_or(f64::NAN),
            missed: f64::from(missed) / f64::from(new),
            missed_clicks: missed_clicks / clicks,
        }
    }

    /// The share of the last week's polls that the sources polled least got.
    fn polls_of_least(&self, crawled: &Crawled, share: f64) -> f64 {
        let mut polls = vec![0_u32; self.stage.news().sources().len()];
        let from = self.last_week();
        let last = crawled.polls.iter().filter(|(at, _)| *at > from);
        last.for_each(|(_, source)| polls[*source as usize] += 1);
        polls.sort_unstable();
        let least = (share * polls.len() as f64).round() as usize;
        let sum = |polls: &[u32]| polls.iter().map(|&count| f64::from(count)).sum::<f64>();
        sum(&polls[..least]) / sum(&polls)
    }

    /// Dynamic profit by the hour, in the last week.
    fn hours(&self, name: &str, profit: &Profit) -> Vec<Measured> {
        let step = self.week / 168;
        let point = |hour: u32| {
            let at = self.last_week() + step * hour;
            let value = profit.dynamic(at, 5 * HOUR.min(step));
            number(name, "dynamic@5h", self.day(at), value)
        };
        (0..=168).map(point).collect()
    }

    /// What became of it with another history, or another push period.
    fn swept(
        &self,
        name: &str,
        history: usize,
        push: Duration,
        [usual_history, usual_push]: [bool; 2],
        profit: &Profit,
    ) -> Vec<Measured> {
        let (mean, _) = self.average(profit);
        let mut rows = Vec::new();
        if usual_push {
            let mut row = number(name, "profit", history as f64, mean);
            row.params.insert("by".into(), "history".into());
            rows.push(row);
        }
        if usual_history {
            let hours = push.as_secs_f64() / HOUR.as_secs_f64();
            let mut row = number(name, "profit", hours, mean);
            row.params.insert("by".into(), "push".into());
            rows.push(row);
            let step = self.week / 28;
            let mut at = self.stage.from + step;
            while at <= self.stage.until {
                let value = profit.dynamic(at, self.week);
                let mut row = number(name, "dynamic@week", self.day(at), value);
                row.params.insert("push".into(), Param::Number(hours));
                rows.push(row);
                at = at + step;
            }
        }
        rows
    }

    fn day(&self, at: Moment) -> f64 {
        at.since(self.stage.from).as_secs_f64() / 86_400.0
    }

    /// The least rate that reaches nearly all of the bound: the largest is doubled until it does, or the least halved while it does, then the factor of two is halved.
    fn enough(&self, name: &str) -> Result<Vec<Measured>, LabError> {
        let reaches = |rate: f64| -> Result<bool, LabError> {
            let (history, push) = (self.options.histories[0], self.options.pushes[0]);
            let crawled = self.crawl(name, rate, history, push)?;
            let (mean, _) = self.average(&self.profit(&crawled));
            Ok(mean >= NEARLY * self.best)
        };
        let largest = self.rates.iter().copied().fold(0.0, f64::max);
        let (mut low, mut high) = (None, None);
        let mut rate = largest;
        for _ in 0..=DOUBLED {
            match reaches(rate)? {
                true => (high, rate) = (Some(rate), rate / 2.0),
                false => (low, rate) = (Some(rate), rate * 2.0),
            }
            if low.is_some() && high.is_some() {
                break;
            }
        }
        let Some((mut low, mut high)) = low.zip(high) else {
            return Ok(Vec::new());
        };
        for _ in 0..HALVED {
            let middle = (low * high).sqrt();
            match reaches(middle)? {
                true => high = middle,
                false => low = middle,
            }
        }
        Ok(vec![number(name, "rate_at_bound@0.99", 0.0, high)])
    }
}

/// How soon pages were found, and which never were.
struct Found {
    delay: f64,
    missed: f64,
    missed_clicks: f64,
}
