//! What is expected of each source, by what polls found and people clicked?
//!
//! The unit of profit is that of refreshes, so that polls and refreshes can be compared: what it costs not to have a page as it is, its *stake*, a second. Without any clicks the
//! profit of a new page is its stake for as long as people care, 1/μ. With clicks P is clicks, times what a click is worth: all copies of the crawl serve all the clicks, so
//! the stakes of all copies, a second, are worth the clicks of a second. If nobody ever said what is at stake, a click is worth 1.
//!
//! **Invariant:** P and μ change in [`Learning::learn`] alone, λ there and at polls.

use super::record::{Known, Record};
use super::{Eye, Outlook, Seen, Settings};
use crate::estimate::{Ages, Arrivals, Column, Curve, Histogram, Polled, Prior, Rhythm};
use crate::{Moment, Number, Shown};

/// μ of a source whose clicks say nothing: profit falls by e in a day.
const DECAY: f64 = 1.0 / 86_400.0;

/// How long an opinion of P and μ is kept though nothing happened: pages without clicks get older.
const KEPT: std::time::Duration = std::time::Duration::from_secs(86_400);

/// Clicks that the opinion of others counts for: half a click, so that a source is known by its first ones.
const CLICKS: f64 = 0.5;

/// Deviation of ln μ between sources.
const SPREAD: f64 = 0.5;

/// What is thought of the sources.
#[derive(Debug, Clone)]
pub(super) struct Learning {
    eye: Eye,
    seen: Seen,
    ages: Ages,
    /// When the last click was that was told: logs may come late.
    heard: Option<Moment>,
    /// When the first was, and how many there are, on any page.
    since: Moment,
    clicks: f64,
    /// What all copies are at stake for, a second.
    stakes: f64,
    /// When pages were fetched, if it matters.
    fetched: Column<Moment>,
    arrivals: Arrivals,
    /// The hours of the week, if λ follows them.
    pub rhythm: Option<Rhythm>,
    /// What a click is worth.
    click: f64,
}

/// Clicks, and pages that could have been clicked.
#[derive(Debug, Clone, Copy, Default)]
struct Host {
    clicks: f64,
    pages: f64,
    stakes: f64,
    weighed: f64,
}

impl Learning {
    pub fn new(eye: Eye, settings: &Settings) -> Self {
        Self {
            eye,
            seen: settings.seen,
            ages: Ages::new(settings.bin),
            heard: None,
            since: Moment::START,
            clicks: 0.0,
            stakes: 0.0,
            fetched: Column::default(),
            arrivals: Arrivals::of(std::iter::empty()),
            rhythm: settings.rhythm.then(Rhythm::default),
            click: 1.0,
        }
    }

    /// Whether anything was clicked anywhere.
    pub fn clicked(&self) -> bool {
        self.heard.is_some()
    }

    /// Takes note of a first copy.
    pub fn serve(&mut self, stake: f64) {
        self.stakes += stake;
    }

    /// Takes note of clicks, on whatever page.
    pub fn heard(&mut self, at: Moment, clicks: f64) {
        if clicks > 0.0 && clicks.is_finite() {
            self.since = self.heard.map_or(at, |_| self.since.min(at));
            self.heard = self.heard.max(Some(at));
            self.clicks += clicks;
        }
    }

    /// What a click is worth.
    fn worth_of_click(&self) -> f64 {
        let time = self.heard.unwrap_or(self.since).since(self.since);
        // The clicks of one moment are taken for those of a minute.
        let time = time.max(std::time::Duration::from_secs(60)).as_secs_f64();
        if self.stakes > 0.0 && self.clicks > 0.0 {
            self.stakes * time / self.clicks
        } else {
            1.0
        }
    }

    /// Takes note of clicks on a page that appeared on this source. Returns whether they count: those on a page that is too old do not, nor, where only what was fetched can be clicked, those from before.
    pub fn clicks(&mut self, record: &mut Record, page: (Number, &Known), shown: &Shown) -> bool {
        let (number, known) = page;
        let fetched = self.seen == Seen::Known
            || (self.fetched.get(number)).is_some_and(|fetched| fetched < shown.at);
        let counts = fetched && shown.clicks > 0.0 && shown.clicks.is_finite();
        let bin = self.ages.bin(known.age(shown.at)).filter(|_| counts);
        if let Some(bin) = bin {
            record.clicks[bin] = (record.clicks[bin] + shown.clicks as f32).min(f32::MAX);
            record.news = true;
        }
        bin.is_some()
    }

    /// How many clicks were to be expected so far of a page of this source; `None`: nobody could have clicked it.
    pub fn awaited(&self, record: &Record, page: Number, known: &Known) -> Option<f64> {
        let until = known.age(self.heard?).min(self.ages.end());
        let from = match self.seen {
            Seen::Known => 0.0,
            Seen::Fetched => known.age(self.fetched.get(page)?).max(0.0),
        };
        let left = |age: f64| (-record.curve.decay * age).exp();
        (from < until).then(|| record.curve.profit * (left(from) - left(until)))
    }

    /// Takes note that a page was fetched.
    pub fn fetched(&mut self, page: Number, first: Moment) {
        if self.seen == Seen::Fetched {
            self.fetched.add(page, first);
        }
    }

    /// λ of a source, as of now.
    pub fn rate(&self, record: &Record, now: Moment, settings: &Settings) -> f64 {
        let even = self.rhythm.as_ref().map(|rhythm| record.evenly(rhythm));
        let polled = match &even {
            Some((finds, watched)) => Polled {
                finds,
                watched: *watched,
                ..record.polled()
            },
            None => record.polled(),
        };
        if self.eye != Eye::Keen {
            let waited = record.asked.map(|asked| now.since(asked).as_secs_f64());
            return (self.arrivals).printed(&polled, settings.polls, waited.unwrap_or_default());
        }
        let day = now.micros() / 86_400_000_000;
        let lot = [u64::from(record.page.0), u64::from(record.polls), day];
        self.arrivals.drawn(&polled, settings.seed, lot)
    }

    /// Learns from all that was told.
    pub fn learn(
        &mut self,
        records: &mut [Record],
        pages: &Column<Known>,
        now: Moment,
        settings: &Settings,
    ) {
        if let Some(rhythm) = &mut self.rhythm {
            rhythm.learn(records.iter().filter_map(Record::span));
        }
        let counting = records.iter().filter(|record| record.counts());
        self.arrivals = Arrivals::of(counting.map(Record::polled));
        each(records, |record| {
            record.outlook.rate = self.rate(record, now, settings);
        });
        match (self.eye, self.heard) {
            (Eye::Blind, _) => each(records, |record| record.curve = unknown(settings)),
            (_, None) => self.foretell(records, settings),
            (_, Some(heard)) => {
                let stale: Vec<usize> = (0..records.len())
                    .filter(|&place| records[place].counts())
                    .filter(|&place| {
                        records[place].news || now.since(records[place].learned) >= KEPT
                    })
                    .collect();
                for &place in &stale {
                    self.watch(&mut records[place], pages, heard);
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
        });
    }

    /// Until when were the pages of a source watched?
    fn watch(&self, record: &mut Record, pages: &Column<Known>, heard: Moment) {
        let end = self.ages.end();
        let (mut seen, mut count) = (record.old_seen, record.old);
        let (mut old_seen, mut old) = (record.old_seen, record.old);
        let ages = &self.ages;
        record.recent.retain(|&page| {
            let Some(known) = pages.get(page) else {
                return false;
            };
            let until = known.age(heard);
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

    /// P and μ of the sources that have news.
    fn fit(&self, records: &mut [Record], stale: &[usize], settings: &Settings) {
        let (all, hosts) = match self.eye {
            Eye::Keen => self.others(records, settings),
            _ => (unknown(settings), Vec::new()),
        };
        for &place in stale {
            let record = &mut records[place];
            record.curve = match self.eye {
                Eye::Blind => unknown(settings),
                Eye::Printed => {
                    let curve = self
                        .ages
                        .least_squares(&record.clicks, f64::from(record.pages));
                    curve.unwrap_or_else(|| unknown(settings))
                }
                Eye::Plain => mean(record).unwrap_or_else(|| unknown(settings)),
                Eye::Keen => {
                    let host = hosts[record.host as usize];
                    let profit = (CLICKS + host.clicks) / (CLICKS / all.profit + host.pages);
                    let prior = Prior {
                        curve: Curve { profit, ..all },
                        clicks: CLICKS,
                        spread: SPREAD,
                    };
                    self.ages.likeliest(&record.clicks, &record.seen, &prior)
                }
            };
        }
    }

    /// What all sources are like together, and those of each host.
    fn others(&self, records: &[Record], settings: &Settings) -> (Curve, Vec<Host>) {
        let (mut clicks, mut seen) = (Histogram::default(), Histogram::default());
        for record in records.iter().filter(|record| record.counts()) {
            add(&mut clicks, &record.clicks);
            add(&mut seen, &record.seen);
        }
        // Before anything new was clicked, a new page is thought to be like the others of the crawl. P = .01, as printed, would never be fetched where copies are clicked
        // all the time, and so never be clicked.
        let stake = mean_stake(records).filter(|stake| *stake > 0.0);
        let profit = stake.map_or(settings.profit, |stake| stake / DECAY / self.click);
        let prior = Prior {
            curve: Curve {
                profit,
                ..unknown(settings)
            },
            clicks: CLICKS,
            spread: 2.0,
        };
        let all = self.ages.likeliest(&clicks, &seen, &prior);
        let shares = self.ages.shares(all.decay);
        let hosts = by_host(records, |host, record| {
            for ((&clicks, &seen), share) in record.clicks.iter().zip(&record.seen).zip(shares) {
                host.clicks += f64::from(clicks);
                host.pages += f64::from(seen) * share;
            }
        });
        (all, hosts)
    }

    /// Without clicks: what its pages are at stake for, or its host's, or all, for as long as people care.
    fn foretell(&self, records: &mut [Record], settings: &Settings) {
        let hosts = by_host(records, |host, record| {
            host.stakes += record.stakes;
            host.weighed += f64::from(record.weighed);
        });
        let mean = |host: &Host| (host.weighed > 0.0).then(|| host.stakes / host.weighed / DECAY);
        let overall = mean_stake(records).map_or(settings.profit, |stake| stake / DECAY);
        each(records, |record| {
            let own = Host {
                stakes: record.stakes,
                weighed: f64::from(record.weighed),
                ..Host::default()
            };
            let host = hosts.get(record.host as usize).and_then(mean);
            record.curve = Curve {
                profit: mean(&own).or(host).unwrap_or(overall),
                decay: DECAY,
            };
        });
    }
}

/// Nothing is expected of a page that is no source.
impl Record {
    /// What a plan is made by.
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

/// What a source is taken for of whose clicks nothing is known.
fn unknown(settings: &Settings) -> Curve {
    Curve {
        profit: settings.profit,
        decay: DECAY,
    }
}

/// What it costs a second not to have a page that a source named, on average; `None`: nobody said.
fn mean_stake(records: &[Record]) -> Option<f64> {
    let counting = records.iter().filter(|record| record.counts());
    let (stakes, weighed) = counting.fold((0.0, 0.0), |(stakes, weighed), record| {
        (stakes + record.stakes, weighed + f64::from(record.weighed))
    });
    (weighed > 0.0).then(|| stakes / weighed)
}

/// The average number of clicks on a page.
fn mean(record: &Record) -> Option<Curve> {
    let clicks: f64 = record.clicks.iter().map(|&clicks| f64::from(clicks)).sum();
    (clicks > 0.0 && record.pages > 0).then(|| Curve {
        profit: clicks / f64::from(record.pages),
        decay: DECAY,
    })
}

fn each(records: &mut [Record], change: impl FnMut(&mut Record)) {
    records
        .iter_mut()
        .filter(|record| record.counts())
        .for_each(change);
}

fn by_host(records: &[Record], mut put: impl FnMut(&mut Host, &Record)) -> Vec<Host> {
    let mut hosts = Vec::new();
    for record in records.iter().filter(|record| record.counts()) {
        let host = record.host as usize;
        if host >= hosts.len() {
            hosts.resize(host + 1, Host::default());
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
