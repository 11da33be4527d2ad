//! The crawls of one world: every scheduler with every rate, history and push period.

use std::time::Duration;

use policy::catalog::Catalog;
use policy::source::SourceRules;
use policy::{Moment, Sources};

use super::{EphemeralExperimentOptions, HOUR, WEEK, number};
use crate::LabError;
use crate::findings::{Measured, Param};
use crate::measure::profit::Profit;
use crate::run::ephemeral::{EphemeralPlan, NewsCrawl, NewsTimeline, crawl, fetches};
use crate::workers::{ExperimentProgress, each};

/// Schedulers that run with several histories and push periods: those of figure 8, and ours.
pub(super) const SWEPT: [&str; 3] = ["echo-newpages", "echo-schedule", "priced"];

/// Schedulers for which the experiment searches for the rate that reaches the bound (almost; see
/// [`REACHED_SHARE`]).
pub(super) const RATE_SEARCHED: [&str; 3] = ["bfs", "echo-newpages", "priced"];

/// Share of the bound that counts as reached.
const REACHED_SHARE: f64 = 0.99;

/// Limits of the search for this rate: doublings or halvings of the largest rate, then
/// bisections.
const DOUBLINGS: u32 = 4;
const BISECTIONS: u32 = 3;

/// Interval at which dynamic profit is sampled for its mean.
const SAMPLING: Duration = Duration::from_secs(120);

/// Policy name of the bound in the findings.
pub(super) const BOUND: &str = "bound";

/// All crawls of one world.
pub(super) struct Crawls<'a> {
    timeline: &'a NewsTimeline<'a>,
    options: &'a EphemeralExperimentOptions,
    rates: &'a [f64],
    seed: u64,
    bound: Profit,
    /// Profit of the bound in the last week.
    best: f64,
    /// Length of "a week": a third of the observed time, at most seven days.
    week: Duration,
}

/// A unit of work for one thread.
#[derive(Debug, Clone)]
pub(super) enum EphemeralTask {
    Crawl {
        name: String,
        rate: f64,
        history: usize,
        push: Duration,
    },
    /// The search for the rate that reaches the bound.
    RateSearch { name: String },
}

impl<'a> Crawls<'a> {
    pub fn new(
        timeline: &'a NewsTimeline<'a>,
        options: &'a EphemeralExperimentOptions,
        rates: &'a [f64],
        seed: u64,
    ) -> Self {
        let articles = 0..timeline.news().articles().len();
        let appeared = articles.filter_map(|article| {
            let at = timeline.appeared(article)?;
            Some((at, timeline.profit(article, at)))
        });
        let bound = Profit::new(appeared.collect());
        let week = WEEK.min(timeline.until.since(timeline.from) / 3);
        let mut crawls = Self {
            timeline,
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

    /// Returns the work: every scheduler with every rate, the [`SWEPT`] ones with other
    /// histories and push periods at the middle rate, and searches for the rate that reaches the
    /// bound.
    pub fn tasks(&self, names: &[String]) -> Vec<EphemeralTask> {
        let (history, push) = (self.options.histories[0], self.options.pushes[0]);
        let mut tasks = Vec::new();
        for name in names {
            tasks.extend(self.rates.iter().map(|&rate| EphemeralTask::Crawl {
                name: name.clone(),
                rate,
                history,
                push,
            }));
        }
        for name in names.iter().filter(|name| SWEPT.contains(&name.as_str())) {
            let one = |history, push| EphemeralTask::Crawl {
                name: name.clone(),
                rate: self.middle(),
                history,
                push,
            };
            let histories = self.options.histories[1..].iter();
            tasks.extend(histories.map(|&history| one(history, push)));
            let pushes = self.options.pushes[1..].iter();
            tasks.extend(pushes.map(|&push| one(history, push)));
        }
        // A user who names a single rate asks only for that one.
        let searched = names.iter().filter(|_| self.rates.len() > 1);
        let searched = searched.filter(|name| RATE_SEARCHED.contains(&name.as_str()));
        tasks.extend(searched.map(|name| EphemeralTask::RateSearch { name: name.clone() }));
        tasks
    }

    /// Runs all crawls and returns their numbers.
    pub fn rows(
        &self,
        mut tasks: Vec<EphemeralTask>,
        threads: usize,
        progress: &dyn ExperimentProgress,
    ) -> Result<Vec<Measured>, LabError> {
        // Searches take longest, and are last. They begin first, so that all threads work to the
        // end. The order of the rows does not depend on it.
        let is_search = |task: &EphemeralTask| matches!(task, EphemeralTask::RateSearch { .. });
        let searches = tasks.iter().filter(|task| is_search(task)).count();
        tasks.rotate_right(searches);
        let mut done = each(tasks, threads, progress, |task| self.run(&task));
        done.rotate_left(searches);
        let done: Vec<Vec<Measured>> = done.into_iter().collect::<Result<_, LabError>>()?;
        let mut rows: Vec<Measured> = done.into_iter().flatten().collect();
        rows.push(number("", "bound", 0.0, self.best));
        let (_, deviation) = self.average(&self.bound);
        for &rate in self.rates {
            rows.push(number(BOUND, "profit", rate, self.best));
            rows.push(number(BOUND, "deviation", rate, deviation));
        }
        rows.extend(self.hours(BOUND, &self.bound));
        // Rows with parameters come after the table.
        rows.sort_by_key(|row| !row.params.is_empty());
        Ok(rows)
    }

    /// Returns remarks for the report about this world.
    pub fn notes(&self) -> Vec<String> {
        let days = |time: Duration| time.as_secs_f64() / 86_400.0;
        let (whole, week) = (self.timeline.until.since(self.timeline.from), self.week);
        vec![format!(
            "The world has {0:.1} days. Table 1 has the mean of dynamic profit over the last {1:.1} days; the window of dynamic profit is {1:.1} days too. Other histories and push periods are tried at {2} fetches a second.",
            days(whole),
            days(week),
            self.middle()
        )]
    }

    fn run(&self, task: &EphemeralTask) -> Result<Vec<Measured>, LabError> {
        match task {
            EphemeralTask::RateSearch { name } => self.rate_at_bound(name),
            EphemeralTask::Crawl {
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
    ) -> Result<NewsCrawl, LabError> {
        let scheduler = Catalog::standard().scheduler(name);
        let scheduler = scheduler.map_err(|why| LabError::Wish(why.to_string()))?;
        let settings = SourceRules {
            per_second: rate,
            polls: history,
            // The sources are given, as in the paper: no article may become a source.
            older: Duration::MAX,
            seen: self.options.seen,
            credit: self.options.credit,
            seed: self.seed,
            ..SourceRules::default()
        };
        let plan = EphemeralPlan {
            per_second: rate,
            push,
            seen: self.options.seen,
            seed: self.seed,
        };
        Ok(crawl(
            self.timeline,
            Sources::new(scheduler, settings),
            &plan,
        ))
    }

    fn profit(&self, crawled: &NewsCrawl) -> Profit {
        let articles = crawled.articles.iter().enumerate();
        let earned = articles.filter_map(|(article, known)| {
            // An article that is old at the start earns no profit.
            let at = known
                .fetched
                .filter(|_| self.timeline.appeared(article).is_some())?;
            Some((at, self.timeline.profit(article, at)))
        });
        Profit::new(earned.collect())
    }

    /// Returns mean and standard deviation of dynamic profit over the last week.
    fn average(&self, profit: &Profit) -> (f64, f64) {
        profit.average(self.last_week(), self.timeline.until, self.week, SAMPLING)
    }

    fn last_week(&self) -> Moment {
        let until = self.timeline.until.micros();
        Moment::from_micros(until - self.week.as_micros() as u64)
    }

    fn middle(&self) -> f64 {
        self.rates[self.rates.len() / 2]
    }

    fn table(&self, name: &str, rate: f64, crawled: &NewsCrawl, profit: &Profit) -> Vec<Measured> {
        let (mean, deviation) = self.average(profit);
        let all = fetches(self.timeline, rate) as f64;
        let discoveries = self.discoveries(crawled);
        let metrics = [
            ("profit", mean),
            ("deviation", deviation),
            ("of_bound", mean / self.best),
            (
                "overall",
                profit.overall(self.timeline.from, self.timeline.until),
            ),
            ("delay", discoveries.delay),
            ("missed", discoveries.missed),
            ("missed_clicks", discoveries.missed_clicks),
            ("polls", crawled.polls.len() as f64 / all),
            ("lost", crawled.lost as f64 / all),
            ("polls_of_least@0.7", self.polls_of_least(crawled, 0.7)),
        ];
        let own = crawled
            .estimate
            .map(|clicks| ("of_bound@own", clicks.share()));
        let rows = metrics.into_iter().chain(own);
        rows.map(|(metric, value)| number(name, metric, rate, value))
            .collect()
    }

    fn discoveries(&self, crawled: &NewsCrawl) -> Discoveries {
        let (mut delays, mut missed, mut new) = (Vec::new(), 0_u32, 0_u32);
        let (mut missed_clicks, mut clicks) = (0.0, 0.0);
        for (article, known) in crawled.articles.iter().enumerate() {
            let Some(appeared) = self.timeline.appeared(article) else {
                continue;
            };
            let profit = self.timeline.profit(article, appeared);
            new += 1;
            clicks += profit;
            match known.found {
                Some(found) => {
                    delays.push(found.since(appeared).as_secs_f64() / HOUR.as_secs_f64())
                }
                None if self.timeline.gone(article) <= self.timeline.until => {
                    missed += 1;
                    missed_clicks += profit;
                }
                None => {}
            }
        }
        delays.sort_unstable_by(f64::total_cmp);
        Discoveries {
            delay: delays.get(delays.len() / 2).copied().unwrap_or(f64::NAN),
            missed: f64::from(missed) / f64::from(new),
            missed_clicks: missed_clicks / clicks,
        }
    }

    /// Returns the share of the last week's polls that went to the least polled `share` of the
    /// sources.
    fn polls_of_least(&self, crawled: &NewsCrawl, share: f64) -> f64 {
        let mut polls = vec![0_u32; self.timeline.news().sources().len()];
        let from = self.last_week();
        let last = crawled.polls.iter().filter(|(at, _)| *at > from);
        last.for_each(|(_, source)| polls[*source as usize] += 1);
        polls.sort_unstable();
        let least = (share * polls.len() as f64).round() as usize;
        let sum = |polls: &[u32]| polls.iter().map(|&count| f64::from(count)).sum::<f64>();
        sum(&polls[..least]) / sum(&polls)
    }

    /// Returns dynamic profit by the hour, in the last week.
    fn hours(&self, name: &str, profit: &Profit) -> Vec<Measured> {
        let step = self.week / 168;
        let point = |hour: u32| {
            let at = self.last_week() + step * hour;
            let value = profit.dynamic(at, 5 * HOUR.min(step));
            number(name, "dynamic@5h", self.day(at), value)
        };
        (0..=168).map(point).collect()
    }

    /// Returns the profit with another history or push period.
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
            let mut at = self.timeline.from + step;
            while at <= self.timeline.until {
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
        at.since(self.timeline.from).as_secs_f64() / 86_400.0
    }

    /// Searches for the least rate whose profit reaches [`REACHED_SHARE`] of the bound.
    ///
    /// The search doubles the largest rate until it reaches that share, or halves the rate as long
    /// as it does. Then it bisects the interval on a logarithmic scale. Returns no row if
    /// [`DOUBLINGS`] doublings or halvings do not enclose the rate.
    fn rate_at_bound(&self, name: &str) -> Result<Vec<Measured>, LabError> {
        let reaches = |rate: f64| -> Result<bool, LabError> {
            let (history, push) = (self.options.histories[0], self.options.pushes[0]);
            let crawled = self.crawl(name, rate, history, push)?;
            let (mean, _) = self.average(&self.profit(&crawled));
            Ok(mean >= REACHED_SHARE * self.best)
        };
        let largest = self.rates.iter().copied().fold(0.0, f64::max);
        let (mut low, mut high) = (None, None);
        let mut rate = largest;
        for _ in 0..=DOUBLINGS {
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
        for _ in 0..BISECTIONS {
            let middle = (low * high).sqrt();
            match reaches(middle)? {
                true => high = middle,
                false => low = middle,
            }
        }
        Ok(vec![number(name, "rate_at_bound@0.99", 0.0, high)])
    }
}

/// How soon pages were found, and how many never were.
struct Discoveries {
    delay: f64,
    missed: f64,
    missed_clicks: f64,
}
