//! The registry of content sources, their outlooks, and the pages that appeared on them.
//!
//! Sources are found by the procedure of the paper's §3.2: the main page of each host, and every
//! page that it links to and that is older than a few days ([`Nearby`]). The procedure runs
//! again with every plan. A seed counts as a main page. A sitemap or feed is a source at once.
//!
//! **Invariant:** all knowledge here comes from [`Fact`]s, and the time is that of the newest
//! fact. A new plan is made at a visit or a call of [`wait`](Sources::wait), if one of these
//! holds: the last plan is older than [`SourceRules::replan`], the number of sources has grown by
//! more than a tenth since, the unit of worth has changed by more than a tenth, or the first
//! clicks have arrived.

use std::time::Duration;

use super::appeal::Appeal;
use super::learning::Learning;
use super::nearby::{Nearby, is_main};
use super::poll::Poll;
use super::record::{PageRecord, SourceRecord};
use super::settings::{Credit, Seen, SourceRules};
use super::young::YoungPages;
use super::{Account, Estimation, NewPage, NewPageClicks, Outlook, Scheduler, SourceKind};
use crate::curve::{self, Curve};
use crate::estimate::{Column, Histogram};
use crate::{
    Discovered, Fact, Moment, Needs, Number, Page, Price, Read, Shown, Term, VisitFact, Worth,
};

/// The content sources of a crawl.
pub struct Sources {
    scheduler: Box<dyn Scheduler>,
    settings: SourceRules,
    pages: Column<PageRecord>,
    records: Vec<SourceRecord>,
    learning: Learning,
    young: YoungPages,
    /// Model of which new pages are clicked more than others, if the scheduler uses one.
    appeal: Option<Appeal>,
    nearby: Nearby,
    /// The time of the newest fact.
    now: Moment,
    /// Number of active sources.
    counting: usize,
    planned: Option<LastPlan>,
    new_page_clicks: Option<NewPageClicks>,
    /// Pages to weigh at the end of a replay; `None` while a crawl runs.
    postponed: Option<Vec<Number>>,
}

/// The state at the last plan.
#[derive(Debug, Clone, Copy)]
struct LastPlan {
    at: Moment,
    sources: usize,
    clicked: bool,
    unit: f64,
}

impl Sources {
    /// Creates a registry without sources.
    pub fn new(scheduler: Box<dyn Scheduler>, settings: SourceRules) -> Self {
        Self {
            learning: Learning::new(scheduler.estimation(), &settings),
            appeal: (scheduler.estimation() == Estimation::Bayesian).then(Appeal::new),
            young: YoungPages::default(),
            nearby: Nearby::default(),
            scheduler,
            settings,
            pages: Column::default(),
            records: Vec::new(),
            now: Moment::START,
            counting: 0,
            planned: None,
            new_page_clicks: None,
            postponed: None,
        }
    }

    /// Returns the facts that [`observe`](Sources::observe) needs.
    pub fn needs(&self) -> Needs {
        Needs {
            links: true,
            words: true,
            visits: true,
            searches: self.scheduler.estimation() != Estimation::WithoutClicks,
            ..Needs::default()
        }
    }

    /// Processes a fact.
    pub fn observe(&mut self, fact: &Fact<'_>) {
        match fact {
            Fact::Discovered(discovered) => self.discovered(discovered),
            Fact::Read(read) => self.read(read),
            Fact::Visited(visited) => self.visited(visited),
            Fact::Shown(shown) => self.shown(shown),
        }
    }

    /// Returns whether a page is an active source.
    pub fn polls(&self, page: Page<'_>) -> bool {
        self.source(page.number).is_some()
    }

    /// Returns the worth of a poll over time; `None` if the page is no source or was never
    /// visited.
    pub fn curve(&self, page: Page<'_>) -> Option<Box<dyn Curve + '_>> {
        Some(Box::new(self.poll(page)?))
    }

    /// Returns the worth of a poll now; [`Worth::NONE`] if the page is no source or was never
    /// visited.
    pub fn worth(&self, page: Page<'_>, now: Moment) -> Worth {
        match self.poll(page) {
            Some(poll) => curve::worth(&poll, page, now),
            None => Worth::NONE,
        }
    }

    /// Returns the first moment at which a poll is worth `price`; `None` if never.
    pub fn due(&self, page: Page<'_>, price: Price) -> Option<Moment> {
        curve::due(&self.poll(page)?, page, price)
    }

    /// Returns the worth of a first visit to a page that appeared on a source; `None` if it did
    /// not.
    pub fn page(&self, page: Number, now: Moment) -> Option<Worth> {
        let known = self.pages.get(page)?;
        let record = self.appeared_on(&known)?;
        let outlook = match self.settings.seen {
            Seen::Known => record.outlook,
            // Only a fetched page can show whether it is clicked.
            Seen::Fetched => record.drawn(),
        };
        let worth = self.scheduler.page(&NewPage {
            source: known.on? as usize,
            outlook,
            appeal: self.appeal(page),
            age: known.age(now).max(0.0),
            found: known.discovered.since(Moment::START).as_secs_f64(),
        });
        Some(Worth::new(worth))
    }

    /// Returns the expected clicks of a page relative to others of its source.
    fn appeal(&self, page: Number) -> f64 {
        let appeal = self.appeal.as_ref();
        appeal.map_or(1.0, |appeal| appeal.of(page))
    }

    /// Returns whether a page appeared on a source. Its worth then decreases while it waits.
    pub fn named(&self, page: Number) -> bool {
        let known = self.pages.get(page);
        known.is_some_and(|known| self.appeared_on(&known).is_some())
    }

    /// Returns the shortest time in which the worth of a page may change by what the crawl learns
    /// about other pages: the time between two plans. `None` if the page is neither a source nor a
    /// page without a copy that appeared on one.
    pub fn unsettled(&self, page: Page<'_>) -> Option<Duration> {
        let waits = page.history.outcome.is_none() && self.named(page.number);
        (waits || self.polls(page)).then_some(self.settings.replan)
    }

    /// Advances the time without a visit. Makes a new plan if the last is outdated or the first
    /// clicks have arrived.
    pub fn wait(&mut self, now: Moment) {
        self.now = self.now.max(now);
        self.replan();
    }

    /// Returns the time of the last plan.
    ///
    /// The outlook of a source changes only with a plan and with its own polls.
    pub fn planned(&self) -> Option<Moment> {
        self.planned.map(|planned| planned.at)
    }

    /// Returns the pages that appeared on the page just read and have no stake yet.
    pub fn unweighed(&self, read: &Read<'_>) -> Vec<Number> {
        let place = self.pages.get(read.page).and_then(|known| known.place);
        let new = |page: &Number| {
            let known = self.pages.get(*page);
            self.is_unweighed(*page) && known.is_some_and(|known| known.on == place)
        };
        read.links.iter().map(|link| link.to).filter(new).collect()
    }

    /// Announces the facts of earlier runs: until [`Sources::end_replay`], the stakes of pages are
    /// not known yet.
    pub fn begin_replay(&mut self) {
        self.postponed = Some(Vec::new());
    }

    /// Returns whether stakes are not known yet.
    pub fn is_replaying(&self) -> bool {
        self.postponed.is_some()
    }

    /// Puts off the weighing of pages that appeared on the page just read.
    pub fn postpone(&mut self, read: &Read<'_>) {
        let pages = self.unweighed(read);
        self.postponed.get_or_insert_default().extend(pages);
    }

    /// Ends the replay. Returns the pages that are to be weighed, some of them several times.
    pub fn end_replay(&mut self) -> Vec<Number> {
        self.postponed.take().unwrap_or_default()
    }

    /// Returns whether a page appeared on another and has no stake yet.
    ///
    /// After a restart this may hold for a page that was visited already, because its source no
    /// longer links to it.
    pub fn is_unweighed(&self, page: Number) -> bool {
        let known = self.pages.get(page);
        known.is_some_and(|known| known.on.is_some() && !known.weighed)
    }

    /// Sets the unit of worth: the stake of the mean page, by the refresh policy. A unit that is
    /// not above 0 is ignored.
    pub fn value_in(&mut self, unit: f64) {
        if unit > 0.0 && unit.is_finite() {
            self.learning.unit = unit;
        }
    }

    /// Sets the stake of a page that appeared on another: the cost per second of not having a
    /// copy, relative to the mean page.
    ///
    /// Stakes replace clicks as long as there are none.
    pub fn weigh(&mut self, page: Number, stake: f64) {
        let Some(known) = self.pages.get_mut(page) else {
            return;
        };
        known.weighed = true;
        let record = known.on;
        let record = record.and_then(|place| self.records.get_mut(place as usize));
        if let Some(record) = record.filter(|_| stake.is_finite() && stake >= 0.0) {
            record.stakes += stake;
            record.weighed = record.weighed.saturating_add(1);
        }
    }

    /// Adds the stake of a first copy, relative to the mean page. The stakes of all copies give the
    /// value of a click.
    pub fn serve(&mut self, stake: f64) {
        if stake.is_finite() && stake >= 0.0 {
            self.learning.serve(stake);
        }
    }

    /// Returns the terms of the worth of a poll, or of a visit to a page that a poll found.
    pub fn terms(&self, page: Page<'_>) -> Vec<Term> {
        let source = self.source(page.number).map(|(_, record)| record);
        let known = self.pages.get(page.number);
        let on = known.and_then(|known| self.appeared_on(&known));
        let Some(SourceRecord { outlook, draw, .. }) = source.or(on) else {
            return Vec::new();
        };
        let profit = match self.learning.clicked() {
            true => "profit of a new page",
            false => "profit of a new page, foretold",
        };
        let mut terms = vec![
            Term::new(profit, outlook.profit),
            Term::new("profit's decay a day", outlook.decay * 86_400.0),
        ];
        if source.is_some() {
            terms.insert(0, Term::new("new pages a day", outlook.rate * 86_400.0));
        }
        if *draw != 1.0 {
            terms.push(Term::new(
                "factor drawn to try a little-known source",
                *draw,
            ));
        }
        if on.is_some() && self.appeal.is_some() {
            let appeal = self.appeal(page.number);
            terms.push(Term::new("clicks against others of its source", appeal));
        }
        terms
    }

    /// Returns what new pages earned and missed, as of the last plan; `None` without clicks.
    pub fn new_page_clicks(&self) -> Option<NewPageClicks> {
        self.new_page_clicks
    }

    /// Returns the accounts of all sources, in the order in which they became known.
    pub fn accounts(&self) -> impl Iterator<Item = Account> {
        let records = self.records.iter().enumerate();
        records.filter_map(|(place, record)| {
            Some(Account {
                page: record.page,
                host: record.host,
                kind: record.kind?,
                found: record.finds.total,
                outlook: record.outlook,
                clicks: record.clicks.iter().map(|&clicks| f64::from(clicks)).sum(),
                clicked: self.learning.clicked(),
                interval: self.scheduler.interval(place),
            })
        })
    }

    fn discovered(&mut self, discovered: &Discovered<'_>) {
        self.now = self.now.max(discovered.at);
        let appeared = discovered.appeared;
        let on = appeared.and_then(|appeared| self.record(appeared.on));
        // It appeared between two visits to its source. The expected time is the middle.
        let gap = appeared.map(|appeared| discovered.at.since(appeared.after));
        let known = PageRecord {
            discovered: discovered.at,
            host: discovered.host,
            place: None,
            on,
            weighed: false,
            linked: false,
            unseen: gap.unwrap_or_default().as_secs_f32() / 2.0,
            clicks: 0.0,
        };
        if !self.pages.add(discovered.page, known) {
            return;
        }
        if let (Some(on), Some(appeared)) = (on, appeared) {
            let record = &mut self.records[on as usize];
            record.recent.push(discovered.page);
            record.news = true;
            let Discovered {
                page,
                url,
                host,
                at,
                ..
            } = *discovered;
            if let Some(rhythm) = &mut self.learning.rhythm {
                rhythm.arrive(appeared.after, at);
            }
            if let Some(appeal) = &mut self.appeal {
                appeal.found(page, on, url, host, at);
            }
        }
        if discovered.seed || is_main(discovered.url) {
            self.found(discovered.page, SourceKind::Main);
        }
    }

    fn read(&mut self, read: &Read<'_>) {
        let Some(place) = self.pages.get(read.page).and_then(|known| known.place) else {
            return;
        };
        if let Some(appeal) = &mut self.appeal {
            for link in read.links {
                let known = self.pages.get(link.to);
                if known.is_some_and(|known| known.on == Some(place)) {
                    appeal.linked(link.to, link.anchor);
                }
            }
        }
        if self.settings.credit == Credit::All {
            self.credit(place, read);
        }
        let kind = self
            .records
            .get(place as usize)
            .and_then(|record| record.kind);
        if kind == Some(SourceKind::Main) {
            self.nearby.read(read, &mut self.pages);
        }
    }

    /// Credits a source with the new pages that it links to and that other sources named before.
    fn credit(&mut self, place: u32, read: &Read<'_>) {
        let Some(record) = self.records.get_mut(place as usize) else {
            return;
        };
        for link in read.links {
            let known = self.pages.get(link.to);
            let is_shared = |known: &PageRecord| {
                known.on.is_some_and(|on| on != place) && self.learning.is_young(known, self.now)
            };
            if !known.as_ref().is_some_and(is_shared) {
                continue;
            }
            let squared = known.map_or(0.0, |known| f64::from(known.clicks).powi(2));
            if let Some(clicks) = self.young.credit(link.to, place) {
                record.also = record.also.saturating_add(1);
                record.recent.push(link.to);
                record.clicked(&clicks, squared);
            }
        }
    }

    fn visited(&mut self, visited: &VisitFact<'_>) {
        let history = visited.after;
        self.now = self.now.max(history.asked.unwrap_or_default());
        if history.listing {
            self.found(visited.page, SourceKind::Listing);
        }
        if let Some(fresh) = history.fresh {
            let first = fresh
                .micros()
                .saturating_sub(history.watched.as_micros() as u64);
            self.learning
                .fetched(visited.page, Moment::from_micros(first));
        }
        let place = self.pages.get(visited.page).and_then(|known| known.place);
        if let Some(record) = place.and_then(|place| self.records.get_mut(place as usize)) {
            let counted = record.counts();
            record.visited(history);
            self.counting += usize::from(record.counts() && !counted);
            record.outlook.rate = self.learning.rate(record, self.now, &self.settings);
            record.draw = self.learning.draw(record, self.now, &self.settings);
        }
        self.replan();
    }

    fn shown(&mut self, shown: &Shown) {
        let Some(known) = self.pages.get(shown.page) else {
            return;
        };
        self.learning.add_clicks(shown.at, shown.clicks);
        let bin = self.learning.bin(&known, shown);
        let (Some(on), Some(bin)) = (known.on, bin) else {
            return;
        };
        let fetched = self.learning.is_fetched(shown.page, shown.at);
        (self.young).clicked(shown.page, bin, shown.clicks, fetched);
        let sum = (known.clicks + shown.clicks as f32).min(f32::MAX);
        let squared = f64::from(sum).powi(2) - f64::from(known.clicks).powi(2);
        if let Some(known) = self.pages.get_mut(shown.page) {
            known.clicks = sum;
        }
        let mut clicks = Histogram::default();
        clicks[bin] = shown.clicks as f32;
        for &source in [on].iter().chain(self.young.also(shown.page)) {
            if let Some(record) = self.records.get_mut(source as usize) {
                record.clicked(&clicks, squared);
            }
        }
        if let Some(appeal) = &mut self.appeal {
            appeal.clicked(shown.page, shown.clicks);
        }
    }

    /// Makes a page a source. A `Near` source may be upgraded to another kind.
    fn found(&mut self, page: Number, kind: SourceKind) {
        let place = self.record(page);
        if let Some(record) = place.and_then(|place| self.records.get_mut(place as usize))
            && matches!(record.kind, None | Some(SourceKind::Near))
        {
            let counted = record.counts();
            record.kind = Some(kind);
            self.counting += usize::from(record.counts() && !counted);
        }
    }

    /// Returns the index of a page's record, and creates it if needed; `None` if the page is
    /// unknown.
    fn record(&mut self, page: Number) -> Option<u32> {
        let known = self.pages.get_mut(page)?;
        if known.place.is_none() {
            known.place = u32::try_from(self.records.len()).ok();
            self.records.push(SourceRecord::new(page, known.host));
        }
        known.place
    }

    fn replan(&mut self) {
        let clicked = self.learning.clicked();
        let holds = self.planned.is_some_and(|planned| {
            self.now.since(planned.at) < self.settings.replan
                && 10 * self.counting <= 11 * planned.sources
                && planned.clicked == clicked
                && (0.9..1.1).contains(&(self.learning.unit / planned.unit))
        });
        if holds {
            return;
        }
        self.planned = Some(LastPlan {
            at: self.now,
            sources: self.counting,
            clicked,
            unit: self.learning.unit,
        });
        for page in self.nearby.grown(&self.pages, self.now, &self.settings) {
            self.found(page, SourceKind::Near);
        }
        self.learning
            .learn(&mut self.records, &self.pages, self.now, &self.settings);
        let (pages, now) = (&self.pages, self.now);
        let limit = self.learning.forgotten_after();
        self.young.retain(|page| {
            let known = pages.get(page);
            known.is_some_and(|known| now.since(known.discovered) < limit)
        });
        self.learn_appeal();
        let appeal = |page| self.appeal(page);
        self.new_page_clicks = NewPageClicks::of(
            &self.records,
            &self.pages,
            &self.young,
            &self.learning,
            appeal,
        );
        let outlooks: Vec<Outlook> = self.records.iter().map(SourceRecord::demand).collect();
        self.scheduler.plan(&outlooks, self.settings.per_second);
    }

    fn source(&self, page: Number) -> Option<(usize, &SourceRecord)> {
        let place = self.pages.get(page)?.place? as usize;
        let record = self.records.get(place)?;
        record.counts().then_some((place, record))
    }

    fn learn_appeal(&mut self) {
        if let Some(appeal) = self.appeal.as_mut().filter(|_| self.learning.clicked()) {
            let (pages, records, learning) = (&self.pages, &self.records, &self.learning);
            appeal.learn(|page, on| {
                let record = records.get(on as usize).filter(|record| record.counts())?;
                learning.expected_clicks(record, page, &pages.get(page)?)
            });
        }
    }

    fn poll(&self, page: Page<'_>) -> Option<Poll<'_>> {
        let (place, record) = self.source(page.number)?;
        Some(Poll {
            scheduler: self.scheduler.as_ref(),
            place,
            outlook: record.drawn(),
            asked: page.history.asked?,
            rhythm: self.learning.rhythm.as_ref(),
            least: self.settings.least.as_secs_f64(),
        })
    }

    fn appeared_on(&self, page: &PageRecord) -> Option<&SourceRecord> {
        let record = self.records.get(page.on? as usize)?;
        record.counts().then_some(record)
    }
}
