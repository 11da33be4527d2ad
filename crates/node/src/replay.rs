//! Processes archived answers as if they came from the network.
//!
//! The command `rebuild` reads the archive of the store, whose records stay where they are. The
//! command `import` reads other WARC files and copies their records into the archive, except
//! records that the archive already has.

use std::collections::HashSet;
use std::sync::Arc;

use anyhow::Result;
use frontier::bench::Manners;
use frontier::{Entry, Frontier, PageKey, Reading, Said};
use ledger::{Ledger, LedgerError};
use page::RecordLocation;
use page::{PageId, PageUrl};
use policy::published::server::BreadthFirstServers;
use policy::{Crawl, History, Moment, Outcome, Price, Text, Visit};
use repository::archive::{self, Capture, Inventory, RecordKind, Sealed, WarcRecord, seal};

use crate::answer;
use crate::clock::Clock;
use crate::engine::committer::{self, CommitWork, Committer};
use crate::forget::ForgetLog;
use crawl::Answer;
use crawl::ForgottenPages;
use crawl::TOKEN;
use crawl::scope::{Scope, ScopeRules};
use crawl::verdict::{Asked, Details, Verdict};
use crawl::{Admitter, Ownership, Source, Tally, link_facts};

/// Answers per commit, and so the most that a kill can lose. A sync takes a few milliseconds, which
/// is a small part of the time for 100 answers.
pub const GROUP: usize = 100;

/// Whether a record is already in the store's archive.
pub enum Home {
    /// It is in the archive of the store, at this place.
    Here(RecordLocation),
    /// It is in another file, and is to be copied into the archive.
    Elsewhere,
}

/// Returns a frontier that knows every page of the ledger and has no page to fetch.
pub fn memory(ledger: &Ledger) -> Result<Frontier<Crawl>, LedgerError> {
    let strategy = Box::new(BreadthFirstServers);
    let manners = Manners::default();
    let mut frontier = Frontier::new(Crawl::default(), strategy, Price::LEAST, manners, 1);
    frontier.recall(
        ledger,
        |_| false,
        |_, tell| tell(Said::default()),
        Moment::START,
    )?;
    Ok(frontier)
}

/// Processes records into archive and ledger.
pub struct Replay<'a> {
    committer: Committer<'a>,
    frontier: Frontier<Crawl>,
    scope: Option<Arc<Scope>>,
    ours: Ownership,
    tally: Tally,
    pending: Vec<committer::Record>,
    /// Pages that only a record without a body names.
    named: Vec<Entry>,
    /// The pages of `pending`.
    unwritten: HashSet<PageId>,
    /// The records that the archive already has.
    inventory: Inventory,
    /// Records that are older than the last visit to their page: they go only into the archive.
    older: Vec<Sealed>,
    /// Pages that the operator has forgotten: their answers are skipped.
    forgotten: Vec<String>,
    forgotten_pages: Vec<ForgottenPages>,
    /// Answers that were skipped because the operator has forgotten their pages.
    pub refused: u64,
    /// Pages whose copies of another node were processed first.
    arrived: HashSet<PageId>,
    /// Answers that were processed.
    pub answers: u64,
    /// Answers that were skipped because the archive already has them.
    pub known: u64,
    /// Records that were skipped because they hold no HTTP answer with a URL and a date (requests,
    /// metadata and others), or confirm a copy that is lost.
    pub others: u64,
}

impl<'a> Replay<'a> {
    /// Starts from the current state of the ledger. Imported records that are in the `inventory`
    /// are skipped, and so are answers of `forgotten` pages.
    pub fn new(
        ledger: &'a Ledger,
        archive: Option<archive::ArchiveWriter>,
        inventory: Inventory,
        forgotten: &ForgetLog,
    ) -> Result<Self> {
        let frontier = memory(ledger)?;
        Ok(Self {
            committer: Committer::new(ledger, Clock::start(), archive, None),
            frontier,
            scope: None,
            ours: Ownership::all(),
            tally: Tally::default(),
            pending: Vec::new(),
            named: Vec::new(),
            unwritten: HashSet::new(),
            inventory,
            older: Vec::new(),
            forgotten: forgotten.targets(),
            forgotten_pages: forgotten.pages(),
            refused: 0,
            arrived: HashSet::new(),
            answers: 0,
            known: 0,
            others: 0,
        })
    }

    /// Processes a copy that is in a file of another node of a cluster. Such copies come before the
    /// records of the archive itself: older ones of these are then left out.
    pub fn take_arrived(&mut self, record: &WarcRecord, place: RecordLocation) -> Result<()> {
        self.take(record, &Home::Here(place))?;
        self.arrived.extend(record.url().map(|url| url.id()));
        Ok(())
    }

    /// Processes one record.
    pub fn take(&mut self, record: &WarcRecord, home: &Home) -> Result<()> {
        if *record.kind() == RecordKind::Warcinfo && matches!(home, Home::Here(_)) {
            self.read_scope(record);
        }
        let answered = matches!(record.kind(), RecordKind::Response | RecordKind::Revisit);
        let (Some(url), Some(at), true) = (record.url(), record.at(), answered) else {
            self.others += 1;
            return Ok(());
        };
        if self.forgotten_pages.iter().any(|pages| pages.has(&url)) {
            self.refused += 1;
            return Ok(());
        }
        let at = Moment::from_micros(u64::try_from(at.as_microsecond()).unwrap_or(0));
        let sealed = match home {
            Home::Here(_) => None,
            Home::Elsewhere => Some(self.seal(record, &url, at)),
        };
        if sealed
            .as_ref()
            .is_some_and(|sealed| !self.inventory.add(sealed))
        {
            self.known += 1;
            return Ok(());
        }
        let key = PageKey::of(&url);
        if self.unwritten.contains(&key.page) {
            self.commit()?;
        }
        let new = self.frontier.hear_seed(&url, at);
        let ledger = self.committer.ledger;
        let discovery = match self.frontier.recent(key.page) {
            Some(discovery) => Some(discovery.clone()),
            None => ledger.discovery(key)?,
        };
        let (depth, hops) = discovery.map_or((0, 0), |known| (known.depth, known.hops));
        let before = ledger.visited(key)?;
        let has_copy = before.as_ref().is_some_and(|known| known.copy.is_some());
        if *record.kind() == RecordKind::Revisit && !has_copy {
            // The copy that the record confirms is lost. The page is known, but not visited, so
            // that the crawl fetches it.
            self.others += 1;
            self.named.extend(new);
            return Ok(());
        }
        let history = before
            .as_ref()
            .map_or(History::discovered(at, depth), |known| known.history);
        if sealed.is_some() && history.asked > Some(at) {
            // An answer from before the last visit must not replace a newer copy.
            self.older.extend(sealed);
            self.answers += 1;
            return self.commit_when_full();
        }
        let asked = Asked {
            url: &url,
            hops,
            history,
            before: before.as_ref(),
            at,
            missing: None,
            details: Details::INDEXED,
        };
        if self.arrived.contains(&key.page) && history.asked > Some(at) {
            self.others += 1;
            return Ok(());
        }
        let Some(mut verdict) = self.judge(&asked, record, depth) else {
            self.others += 1;
            return Ok(());
        };
        let mut admitted: Vec<Entry> = new.into_iter().collect();
        let source = Source {
            url: &url,
            depth,
            hops,
            read: history.fresh,
        };
        admitted.extend(self.admit(&mut verdict, &source, at));
        if let Home::Here(place) = home {
            verdict.visited.place = Some(*place);
            if let Some(copy) = verdict
                .visited
                .copy
                .as_mut()
                .filter(|copy| copy.place.is_none())
            {
                copy.place = Some(*place);
            }
        }
        self.answers += 1;
        self.unwritten.insert(key.page);
        self.pending.push(committer::Record {
            key,
            url,
            before: history,
            visited: verdict.visited,
            sealed,
            copied: verdict.copied,
            text: None,
            gone: false,
            admitted,
            links: Vec::new(),
            leads: Vec::new(),
            asked: false,
        });
        self.commit_when_full()
    }

    fn commit_when_full(&mut self) -> Result<()> {
        match self.pending.len() + self.older.len() {
            GROUP.. => self.commit(),
            _ => Ok(()),
        }
    }

    /// Commits the remaining records and closes the archive.
    pub fn finish(mut self) -> Result<()> {
        self.commit()?;
        self.committer.close()
    }

    fn commit(&mut self) -> Result<()> {
        self.unwritten.clear();
        let named = std::mem::take(&mut self.named);
        let pages = std::mem::take(&mut self.pending);
        let older = std::mem::take(&mut self.older);
        let group = vec![
            CommitWork::Records(older),
            CommitWork::Core(crawl::Work::Facts(named)),
            CommitWork::Core(crawl::Work::Pages(pages)),
        ];
        let done = self.committer.commit(group)?;
        self.frontier.committed(&done.facts);
        Ok(())
    }

    fn judge(&self, asked: &Asked<'_>, record: &WarcRecord, depth: u16) -> Option<Verdict> {
        let answer = answer::kept(record, asked.url, TOKEN).ok()?;
        let ours = |url: &PageUrl| {
            self.scope
                .as_ref()
                .is_some_and(|scope| scope.judge(url, depth).is_ok())
        };
        if *record.kind() == RecordKind::Revisit {
            // A revisit record has no body: it states that the page had not changed.
            let visit = Visit::new(asked.at, Outcome::Unchanged);
            let mut verdict = asked.judge(
                &Answer {
                    status: 304,
                    ..answer
                },
                0,
                &ours,
            );
            verdict.visited.history = asked.history.after(visit);
            verdict.leads.clear();
            return Some(verdict);
        }
        Some(asked.judge(&answer, record.block().len() as u64, &ours))
    }

    /// Adds the links of a page to the frontier. Returns the facts to commit.
    fn admit(&mut self, verdict: &mut Verdict, source: &Source<'_>, at: Moment) -> Vec<Entry> {
        let mut admitter = Admitter {
            frontier: &mut self.frontier,
            scope: self.scope.as_mut(),
            ours: &self.ours,
            tally: &mut self.tally,
        };
        let mut admission = admitter.admit_all(&verdict.leads, Some(source), at);
        if verdict.is_news() {
            let reading = Reading {
                text: Text::Nothing,
                links: &link_facts(&admission.known(), &verdict.leads),
                out_links: admission.out_links,
                again: source.read.is_some(),
            };
            let fact = self.frontier.read(source.url.id(), reading);
            admission.facts.extend(fact);
        }
        verdict.named(admission.new_pages);
        admission.facts
    }

    fn seal(&self, record: &WarcRecord, url: &PageUrl, at: Moment) -> Sealed {
        let body = record.body();
        let address = record.address().unwrap_or([0, 0, 0, 0].into());
        let at = crate::clock::timestamp(at);
        let capture = Capture::new(url, at, address, record.head(), &body, None);
        seal::response(&capture, archive::Level::default())
    }

    /// Reads the scope of the crawl that wrote the file. The scope decides which links of the
    /// following records are admitted.
    fn read_scope(&mut self, record: &WarcRecord) {
        let text = String::from_utf8_lossy(record.block());
        let line = text
            .lines()
            .find_map(|line| line.strip_prefix("avocet-scope: "));
        let rules = line.and_then(|line| serde_json::from_str::<ScopeRules>(line).ok());
        let rules = rules.map(|rules| ScopeRules {
            forgotten: self.forgotten.clone(),
            ..rules
        });
        if let Some(Ok(scope)) = rules.map(|rules| Scope::new(&rules, Default::default())) {
            self.scope = Some(Arc::new(scope));
        }
    }
}
