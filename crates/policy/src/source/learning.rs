//! Estimates the outlook of each source from polls and clicks.
//!
//! Profit has the unit of refreshes, so that polls and refreshes can be compared. That unit is
//! the *stake* of a page: the cost per second of not having a current copy. Stakes are kept
//! relative to the mean page, because the refresh policy's unit changes when it first measures
//! gains; a sum of stakes in two units would be meaningless. Without any clicks, the profit of a
//! new page is its stake times the time for which people are interested, 1/μ.
//! With clicks, P is a number of clicks times the value of a click. The copies of the crawl
//! together serve all clicks, so the sum of their stakes per second equals the value of the
//! clicks per second. If no stakes are known, a click is worth 1.
//!
//! A source of which little is known may be better than its expected P, and the crawl would not
//! learn that if it left the source alone. Choices that can teach it therefore draw P from its
//! posterior, and use the draw if it is above the mean (optimistic Bayesian sampling: May, Korda,
//! Lee & Leslie, JMLR 2012). These are polls, and fetches of new pages if only clicks on fetched
//! pages are reported. λ is drawn too, and any draw of it is used (Thompson sampling, 1933).
//! Decision 0021 says why.
//!
//! **Invariant:** P and μ change only in [`Learning::learn`]; λ and the drawn P change there and
//! at polls.

use super::record::{PageRecord, SourceRecord};
use super::{Estimation, Outlook, Seen, SourceRules};
use crate::chance::drawn_gamma;
use crate::estimate::{
    Ages, Arrivals, Column, Credibility, Histogram, Polled, Prior, ProfitCurve, Rhythm,
};
use crate::{Moment, Number, Shown};

/// μ of a source without information from clicks: profit decays by a factor of e per day.
const DECAY: f64 = 1.0 / 86_400.0;

/// After this time P and μ are estimated again even without new facts, because pages without
/// clicks get older.
const KEPT: std::time::Duration = std::time::Duration::from_secs(86_400);

/// Weight of the assumed P in the curve of all sources together, as a pseudo-count of clicks. It
/// is small, so that the first clicks on any page dominate.
const CLICKS: f64 = 0.5;

/// How late clicks may be reported and still count for all sources of a page.
const LATE: std::time::Duration = std::time::Duration::from_secs(2 * 86_400);

/// P is drawn while the shape of its posterior is below this number, that is, while its relative
/// variance is above a tenth. The limit for λ is equivalent: λ is drawn until a source has named
/// ten pages.
const DRAWN: f64 = 10.0;

/// Standard deviation of ln μ between sources.
const SPREAD: f64 = 0.5;

/// Estimates over all sources.
#[derive(Debug, Clone)]
pub(super) struct Learning {
    estimation: Estimation,
    seen: Seen,
    ages: Ages,
    /// Time of the newest click. Logs may arrive late.
    last_click: Option<Moment>,
    /// Time of the first click.
    first_click: Moment,
    clicks: f64,
    /// Sum of the stakes of all copies, relative to the mean page.
    stakes: f64,
    /// The stake of the mean page, per second, in the unit of refreshes.
    pub unit: f64,
    /// When pages were first fetched.
    fetched: Column<Moment>,
    arrivals: Arrivals,
    /// The weekly rhythm, if λ follows it.
    pub rhythm: Option<Rhythm>,
    /// The value of a click.
    click: f64,
}

/// Sums over the sources of a host.
#[derive(Debug, Clone, Copy, Default)]
struct HostSums {
    stakes: f64,
    weighed: f64,
}

impl Learning {
    pub fn new(estimation: Estimation, settings: &SourceRules) -> Self {
        Self {
            estimation,
            seen: settings.seen,
            ages: Ages::new(settings.bin),
            last_click: None,
            first_click: Moment::START,
            clicks: 0.0,
            stakes: 0.0,
            unit: 1.0,
            fetched: Column::default(),
            arrivals: Arrivals::of(std::iter::empty()),
            rhythm: settings.rhythm.then(Rhythm::default),
            click: 1.0,
        }
    }

    /// Returns whether there was any click on any page.
    pub fn clicked(&self) -> bool {
        self.last_click.is_some()
    }

    /// Adds the stake of a first copy.
    pub fn serve(&mut self, stake: f64) {
        self.stakes += stake;
    }

    /// Adds clicks on any page.
    pub fn add_clicks(&mut self, at: Moment, clicks: f64) {
        if clicks > 0.0 && clicks.is_finite() {
            self.first_click = self.last_click.map_or(at, |_| self.first_click.min(at));
            self.last_click = self.last_click.max(Some(at));
            self.clicks += clicks;
        }
    }

    /// Returns the stake that a new page is expected to have before any new page appeared: that of
    /// the mean page, if the crawl has a copy of any page.
    ///
    /// The printed P_default is a number of clicks that fits one search engine. Where copies are
    /// clicked more often, no source would ever be polled, and no new page would ever appear.
    fn mean_page(&self) -> Option<f64> {
        (self.stakes > 0.0).then_some(1.0)
    }

    /// Returns the value of a click.
    fn worth_of_click(&self) -> f64 {
        let time = self
            .last_click
            .unwrap_or(self.first_click)
            .since(self.first_click);
        // Clicks of a single moment count as those of one minute.
        let time = time.max(std::time::Duration::from_secs(60)).as_secs_f64();
        if self.stakes > 0.0 && self.clicks > 0.0 {
            self.unit * self.stakes * time / self.clicks
        } else {
            1.0
        }
    }

    /// Returns the bin of clicks on a new page by its age; `None` if they do not count.
    ///
    /// Clicks on a page that is too old do not count. With [`Seen::Fetched`], clicks before the
    /// fetch do not count either.
    pub fn bin(&self, known: &PageRecord, shown: &Shown) -> Option<usize> {
        let fetched = self.seen == Seen::Known || self.is_fetched(shown.page, shown.at);
        let counts = fetched && shown.clicks > 0.0 && shown.clicks.is_finite();
        self.ages.bin(known.age(shown.at)).filter(|_| counts)
    }

    /// Returns whether a page had been fetched before this time.
    pub fn is_fetched(&self, page: Number, at: Moment) -> bool {
        let fetched = self.fetched.get(page);
        fetched.is_some_and(|fetched| fetched < at)
    }

    /// Returns whether a page is young enough for clicks to count.
    pub fn is_young(&self, known: &PageRecord, now: Moment) -> bool {
        known.age(now) < self.ages.end()
    }

    /// Returns the age at which a page is no longer kept as young. Logs may be two days late.
    pub fn forgotten_after(&self) -> std::time::Duration {
        let end = std::time::Duration::try_from_secs_f64(self.ages.end());
        end.unwrap_or(std::time::Duration::MAX).saturating_add(LATE)
    }

    /// Returns the clicks expected so far on a page of this source; `None` if it could not be
    /// clicked yet.
    pub fn expected_clicks(
        &self,
        record: &SourceRecord,
        page: Number,
        known: &PageRecord,
    ) -> Option<f64> {
        let until = known.age(self.last_click?).min(self.ages.end());
        let from = match self.seen {
            Seen::Known => 0.0,
            Seen::Fetched => known.age(self.fetched.get(page)?).max(0.0),
        };
        let left = |age: f64| (-record.curve.decay * age).exp();
        (from < until).then(|| record.curve.profit * (left(from) - left(until)))
    }

    /// Returns the expected clicks on a page before its clicks were logged, up to the newest
    /// click; `None` before the first click.
    ///
    /// The page appeared at any time between two polls, so at its discovery the share
    /// `(1 − e^{−μg})/(μg)` of its clicks is left on average, where g is the time between them.
    pub fn unlogged_clicks(
        &self,
        record: &SourceRecord,
        page: Number,
        known: &PageRecord,
    ) -> Option<f64> {
        let last_click = self.last_click?.max(known.discovered);
        let logged = match self.seen {
            Seen::Known => known.discovered,
            Seen::Fetched => self.fetched.get(page).unwrap_or(last_click),
        };
        let ProfitCurve { profit, decay } = record.curve;
        let gap = decay * 2.0 * f64::from(known.unseen);
        let left = match gap > 0.0 {
            true => -(-gap).exp_m1() / gap,
            false => 1.0,
        };
        let waited = logged.min(last_click).since(known.discovered);
        Some(profit * (1.0 - left * (-decay * waited.as_secs_f64()).exp()))
    }

    /// Records the first fetch of a page.
    pub fn fetched(&mut self, page: Number, first: Moment) {
        self.fetched.add(page, first);
    }

    /// Returns whether λ counts only pages that no other source named before.
    ///
    /// A poll gains what it finds first. If our own scheduler counted a page for each of its
    /// sources, it would pay for it several times. The paper counts all new links.
    fn counts_first(&self) -> bool {
        self.estimation == Estimation::Bayesian
    }

    /// Returns λ of a source, as of now, per second.
    pub fn rate(&self, record: &SourceRecord, now: Moment, settings: &SourceRules) -> f64 {
        let polled = record.polled(self.counts_first());
        let even = self.rhythm.as_ref();
        let even = even.map(|rhythm| record.evenly(polled.finds, rhythm));
        let polled = match &even {
            Some((finds, watched)) => Polled {
                finds,
                watched: *watched,
                ..polled
            },
            None => polled,
        };
        if self.estimation != Estimation::Bayesian {
            let waited = record.asked.map(|asked| now.since(asked).as_secs_f64());
            return (self.arrivals).printed(&polled, settings.polls, waited.unwrap_or_default());
        }
        let day = now.micros() / 86_400_000_000;
        let lot = [u64::from(record.page.0), u64::from(record.polls), day];
        self.arrivals.drawn(&polled, settings.seed, lot)
    }

    /// Returns a draw from the posterior of P relative to its mean, at least 1; 1 if P is well
    /// known. Draws differ between sources, polls and days.
    ///
    /// Before any source is known, the Gamma posterior has the shape 1/8, and half of its draws
    /// are below a hundredth of its mean. Without the limit hardly any source would be polled, and
    /// pages that a poll found would not be fetched.
    pub fn draw(&self, record: &SourceRecord, now: Moment, settings: &SourceRules) -> f64 {
        let Some(shape) = record.shape else {
            return 1.0;
        };
        let day = now.micros() / 86_400_000_000;
        // The bit keeps this draw apart from that of λ.
        let page = u64::from(record.page.0) | 1 << 40;
        let lot = [page, u64::from(record.polls), day];
        (drawn_gamma(shape, settings.seed, lot) / shape).max(1.0)
    }

    /// Updates the estimates from all facts.
    pub fn learn(
        &mut self,
        records: &mut [SourceRecord],
        pages: &Column<PageRecord>,
        now: Moment,
        settings: &SourceRules,
    ) {
        if let Some(rhythm) = &mut self.rhythm {
            rhythm.learn(records.iter().filter_map(SourceRecord::span));
        }
        let counting = records.iter().filter(|record| record.counts());
        let first = self.counts_first();
        self.arrivals = Arrivals::of(counting.map(|record| record.polled(first)));
        each(records, |record| {
            record.outlook.rate = self.rate(record, now, settings);
        });
        match (self.estimation, self.last_click) {
            (Estimation::WithoutClicks, _) => {
                each(records, |record| record.curve = unknown(settings))
            }
            (_, None) => {
                self.click = self.unit;
                self.predict_profit(records, settings);
            }
            (_, Some(last_click)) => {
                let stale: Vec<usize> = (0..records.len())
                    .filter(|&place| records[place].counts())
                    .filter(|&place| {
                        records[place].news || now.since(records[place].learned) >= KEPT
                    })
                    .collect();
                for &place in &stale {
                    self.update_exposure(&mut records[place], pages, last_click);
                    records[place].learned = now;
                    records[place].news = false;
                }
                self.click = self.worth_of_click();
                self.fit(records, &stale, settings);
            }
        }
        let click = self.click;
        each(records, |record| {
            record.outlook.profit = record.curve.profit * click;
            record.outlook.decay = record.curve.decay;
            record.draw = self.draw(record, now, settings);
        });
    }

    /// Updates the exposure of a source's pages: at which ages they could be clicked.
    fn update_exposure(
        &self,
        record: &mut SourceRecord,
        pages: &Column<PageRecord>,
        last_click: Moment,
    ) {
        let end = self.ages.end();
        let (mut seen, mut count) = (record.old_seen, record.old);
        let (mut old_seen, mut old) = (record.old_seen, record.old);
        let ages = &self.ages;
        record.recent.retain(|&page| {
            let Some(known) = pages.get(page) else {
                return false;
            };
            let until = known.age(last_click);
            let from = match self.seen {
                Seen::Known => Some(0.0),
                Seen::Fetched => self
                    .fetched
                    .get(page)
                    .map(|fetched| known.age(fetched).max(0.0)),
            };
            if let Some(from) = from.filter(|&from| from < until.min(end)) {
                ages.watch(&mut seen, from, until);
                count += 1;
                if until >= end {
                    ages.watch(&mut old_seen, from, until);
                    old += 1;
                }
            }
            until < end
        });
        (record.seen, record.pages) = (seen, count);
        (record.old_seen, record.old) = (old_seen, old);
    }

    /// Estimates P and μ of the sources in `stale`.
    fn fit(&self, records: &mut [SourceRecord], stale: &[usize], settings: &SourceRules) {
        if self.estimation == Estimation::Bayesian {
            return self.fit_with_prior(records, stale, settings);
        }
        for &place in stale {
            let record = &mut records[place];
            let curve = match self.estimation {
                Estimation::Printed => {
                    let pages = f64::from(record.pages);
                    self.ages.least_squares(&record.clicks, pages)
                }
                Estimation::MeanClicks => mean(record),
                Estimation::WithoutClicks | Estimation::Bayesian => None,
            };
            record.curve = curve.unwrap_or_else(|| unknown(settings));
        }
    }

    /// Estimates P and μ of the sources in `stale`, with a prior from the other sources.
    ///
    /// Sources are compared by their clicks per page over their relative stake.
    fn fit_with_prior(
        &self,
        records: &mut [SourceRecord],
        stale: &[usize],
        settings: &SourceRules,
    ) {
        let all = self.common(records, settings);
        let shares = self.ages.shares(all.decay);
        let stake = mean_stake(records);
        let sums = |record: &SourceRecord| {
            let relative = relative_stake(record, stake);
            (relative, record.page_sums(&shares).in_units(relative))
        };
        let counting = records.iter().filter(|record| record.counts());
        let counting = counting.map(|record| (record.host, sums(record).1));
        let credibility = Credibility::of(counting, all.profit);
        for &place in stale {
            let record = &mut records[place];
            let (relative, own) = sums(record);
            let found = credibility.prior(record.host, &own);
            let prior = Prior {
                curve: ProfitCurve {
                    profit: found.profit * relative,
                    ..all
                },
                pages: found.pages / relative,
                spread: SPREAD,
            };
            record.curve = self.ages.likeliest(&record.clicks, &record.seen, &prior);
            record.shape = (found.shape < DRAWN).then_some(found.shape);
        }
    }

    /// Returns the curve of all sources together.
    fn common(&self, records: &[SourceRecord], settings: &SourceRules) -> ProfitCurve {
        let (mut clicks, mut seen) = (Histogram::default(), Histogram::default());
        for record in records.iter().filter(|record| record.counts()) {
            add(&mut clicks, &record.clicks);
            add(&mut seen, &record.seen);
        }
        // Before the first click on a new page, new pages are assumed to be like all pages of
        // the crawl. With the printed P = 0.01 they might never be fetched, and so never
        // clicked, if other copies are clicked all the time.
        let stake = mean_stake(records).filter(|stake| *stake > 0.0);
        let profit = match stake.or(self.mean_page()) {
            Some(stake) => self.unit * stake / DECAY / self.click,
            None => settings.profit,
        };
        let prior = Prior {
            curve: ProfitCurve {
                profit,
                ..unknown(settings)
            },
            pages: CLICKS / profit,
            spread: 2.0,
        };
        self.ages.likeliest(&clicks, &seen, &prior)
    }

    /// Estimates profit without clicks: the mean stake of the source, of its host or of all
    /// sources, times 1/μ.
    fn predict_profit(&self, records: &mut [SourceRecord], settings: &SourceRules) {
        let hosts = by_host(records, |host, record| {
            host.stakes += record.stakes;
            host.weighed += f64::from(record.weighed);
        });
        let mean =
            |host: &HostSums| (host.weighed > 0.0).then(|| host.stakes / host.weighed / DECAY);
        let overall = mean_stake(records).or(self.mean_page());
        let overall = overall.map_or(settings.profit, |stake| stake / DECAY);
        each(records, |record| {
            let own = HostSums {
                stakes: record.stakes,
                weighed: f64::from(record.weighed),
            };
            let host = hosts.get(record.host as usize).and_then(mean);
            record.curve = ProfitCurve {
                profit: mean(&own).or(host).unwrap_or(overall),
                decay: DECAY,
            };
        });
    }
}

impl SourceRecord {
    /// Returns the outlook for planning, which is zero for a page that is no active source.
    pub fn demand(&self) -> Outlook {
        match self.counts() {
            true => self.outlook,
            false => Outlook {
                rate: 0.0,
                profit: 0.0,
                decay: 1.0,
            },
        }
    }
}

/// Returns the prior of a source without clicks.
fn unknown(settings: &SourceRules) -> ProfitCurve {
    ProfitCurve {
        profit: settings.profit,
        decay: DECAY,
    }
}

/// Returns the mean stake of pages that appeared on a source, per second; `None` if none is
/// known.
fn mean_stake(records: &[SourceRecord]) -> Option<f64> {
    let counting = records.iter().filter(|record| record.counts());
    let (stakes, weighed) = counting.fold((0.0, 0.0), |(stakes, weighed), record| {
        (stakes + record.stakes, weighed + f64::from(record.weighed))
    });
    (weighed > 0.0).then(|| stakes / weighed)
}

/// Returns the mean stake of the pages of a source, divided by that of all sources: what its
/// pages are worth relative to others before they are clicked. 1 if it is not known.
fn relative_stake(record: &SourceRecord, all: Option<f64>) -> f64 {
    let own = record.stakes / f64::from(record.weighed);
    let relative = all.map(|all| own / all);
    let known = relative.filter(|relative| *relative > 0.0 && relative.is_finite());
    known.unwrap_or(1.0)
}

/// Returns a curve with the mean number of clicks on a page.
fn mean(record: &SourceRecord) -> Option<ProfitCurve> {
    let clicks: f64 = record.clicks.iter().map(|&clicks| f64::from(clicks)).sum();
    (clicks > 0.0 && record.pages > 0).then(|| ProfitCurve {
        profit: clicks / f64::from(record.pages),
        decay: DECAY,
    })
}

fn each(records: &mut [SourceRecord], change: impl FnMut(&mut SourceRecord)) {
    records
        .iter_mut()
        .filter(|record| record.counts())
        .for_each(change);
}

fn by_host(
    records: &[SourceRecord],
    mut put: impl FnMut(&mut HostSums, &SourceRecord),
) -> Vec<HostSums> {
    let mut hosts = Vec::new();
    for record in records.iter().filter(|record| record.counts()) {
        let host = record.host as usize;
        if host >= hosts.len() {
            hosts.resize(host + 1, HostSums::default());
        }
        put(&mut hosts[host], record);
    }
    hosts
}

fn add(sum: &mut Histogram, more: &Histogram) {
    sum.iter_mut()
        .zip(more)
        .for_each(|(sum, more)| *sum += more);
}
