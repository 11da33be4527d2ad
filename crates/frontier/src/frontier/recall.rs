//! Rebuilds the frontier in memory from the facts of earlier runs.
//!
//! The policy first observes all facts, and only then computes the worth of the waiting pages.
//! So a policy that differs from that of the earlier run ranks pages as if it had been used
//! from the start.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use page::PageId;
use policy::{
    Discovered, Fact, History, LinkFact, Moment, Number, Outcome, Part, Policy, Read, Text,
};

use super::Frontier;
use super::schedule::PriceRule;
use crate::facts::Facts;
use crate::present::{Ahead, Present};
use crate::record::{Known, OutLinks, ServerFacts, Visited};

/// How long the consecutive refusals of a server count after its last wait has ended.
const REMEMBERED_REFUSALS: Duration = Duration::from_secs(86_400);

/// Findings of a recall that the operator is notified of.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Recalled {
    /// Pages that a wrong clock dated in the future.
    pub ahead: Ahead,
    /// Number of servers that may not be asked yet.
    pub resting: usize,
    /// Time until the last of these servers may be asked.
    pub resting_for: Duration,
}

/// The last visit to a page.
struct LastVisit {
    at: Moment,
    number: Number,
    /// Number of words of its text; `None`: it has no text or is gone.
    words: Option<u32>,
}

impl LastVisit {
    fn new(visited: &Visited, number: Number) -> Self {
        let gone = visited.history.outcome == Some(Outcome::Gone);
        let copy = visited.copy.as_ref().filter(|_| !gone);
        let text = copy.and_then(|copy| copy.text.as_ref());
        Self {
            at: visited.history.asked.unwrap_or_default(),
            number,
            words: text.map(|text| text.words),
        }
    }
}

/// The stored content of a page.
#[derive(Debug, Clone, Copy)]
pub struct Said<'a> {
    /// Its text.
    pub text: Text<'a>,
    /// Its links with their context, if the caller has looked them up. The ledger only stores
    /// the targets and a few anchor texts.
    pub links: &'a [Placed],
}

impl Default for Said<'_> {
    /// Returns empty content.
    fn default() -> Self {
        Self {
            text: Text::Nothing,
            links: &[],
        }
    }
}

/// A link with its context on the page.
#[derive(Debug, Clone)]
pub struct Placed {
    /// The page that it leads to.
    pub to: PageId,
    /// Its anchor text.
    pub anchor: String,
    /// Its anchor text and the words next to it on either side.
    pub around: String,
    /// Its tag path.
    pub path: String,
}

/// A discovery to be observed by the policy.
struct RecalledDiscovery {
    number: Number,
    host: u32,
    depth: u16,
    seed: bool,
    at: Moment,
    /// The page that links to it, and when that page was last read without this link; `None`: it
    /// was not read before.
    appeared: Option<Box<(PageId, Moment)>>,
    url: Box<str>,
}

/// The history of a page that waits. Most such pages were never visited.
enum RecalledHistory {
    Discovered(Moment, u16),
    Visited(Box<History>),
}

impl RecalledHistory {
    fn of(known: &Known) -> Self {
        match &known.visited {
            Some(visited) => Self::Visited(Box::new(visited.history)),
            None => Self::Discovered(known.discovery.at, known.discovery.depth),
        }
    }

    fn whole(self) -> History {
        match self {
            Self::Discovered(at, depth) => History::discovered(at, depth),
            Self::Visited(history) => *history,
        }
    }
}

impl<P: Policy> Frontier<P> {
    /// Takes in the facts of earlier runs. All their pages become known; those for which `wanted`
    /// is true also wait for a fetch. `texts` provides the stored content of a page that was read.
    /// A [`Present`] corrects facts that are dated after `now`.
    pub fn recall<F: Facts>(
        &mut self,
        earlier: &F,
        wanted: impl Fn(&Known) -> bool,
        texts: impl Fn(PageId, &mut dyn FnMut(Said<'_>)),
        now: Moment,
    ) -> Result<Recalled, F::Error> {
        let present = Present::new(now, earlier.noticed_ahead()?);
        let mut recalled = Recalled::default();
        for server in earlier.servers() {
            let (key, facts) = server?;
            let ready = present.ready(&facts);
            let refusals = remembered_refusals(&facts, &present);
            if ready > now || refusals > 0 {
                self.bench.recall_server(key, ready, refusals);
            }
            if ready > now {
                recalled.resting += 1;
                recalled.resting_for = recalled.resting_for.max(ready.since(now));
            }
        }
        for host in earlier.hosts() {
            let (id, facts) = host?;
            if let Some(speed) = facts.speed {
                self.bench.recall(id, speed.into());
            }
        }
        self.begin_recall();
        self.seen.skip_to(earlier.first_free()?);
        let needs = self.policy.needs();
        let budgeted = self.spending().is_some();
        if needs == policy::Needs::default() && !budgeted {
            for known in earlier.pages() {
                let mut known = known?;
                present.count(&known, &mut recalled.ahead);
                present.bring_back(&mut known);
                let number = self.recall_page::<F>(&known)?;
                self.recall_waiting(&known, number, &wanted, now);
            }
            self.end_recall(earlier)?;
            return Ok(recalled);
        }
        let reads_content = needs.words || needs.places || needs.text;
        let any_order = self.policy.begin_replay() && !reads_content;
        let visits = needs.links && !any_order;
        // Without a budget few pages wait, so they are kept and not read again.
        let reads_again = needs.visits || budgeted;
        let mut waiting = Vec::new();
        let visits = self.recall_discoveries(
            earlier,
            (visits, needs.words),
            (&present, &mut recalled.ahead),
            |number, known| {
                if !reads_again && wanted(known) {
                    waiting.push((number, known.key.page.host(), RecalledHistory::of(known)));
                }
            },
        )?;
        if any_order && needs.links {
            self.recall_links(earlier)?;
        } else {
            self.recall_reads(earlier, visits, texts)?;
        }
        self.policy.end_replay();
        for (number, host, history) in waiting {
            self.wait(host, number, &history.whole(), now);
        }
        if reads_again {
            self.recall_visits(earlier, needs.visits, &present)?;
            for known in earlier.pages() {
                let mut known = known?;
                present.bring_back(&mut known);
                if let Some(number) = self.seen.number(known.key.page) {
                    self.recall_waiting(&known, number, &wanted, now);
                }
            }
        }
        self.end_recall(earlier)?;
        Ok(recalled)
    }

    /// Takes in all pages and lets the policy observe them in the order of discovery; the
    /// ledger sorts them by key. Returns the last visit to each page, if they are wanted. URLs are
    /// passed to the policy if they are wanted. `each` gets every page.
    fn recall_discoveries<F: Facts>(
        &mut self,
        earlier: &F,
        (visits_wanted, urls_wanted): (bool, bool),
        (present, ahead): (&Present, &mut Ahead),
        mut each: impl FnMut(Number, &Known),
    ) -> Result<HashMap<PageId, LastVisit>, F::Error> {
        let mut discoveries = Vec::new();
        let mut visits = HashMap::new();
        for known in earlier.pages() {
            let mut known = known?;
            present.count(&known, ahead);
            present.bring_back(&mut known);
            let number = self.recall_page::<F>(&known)?;
            each(number, &known);
            discoveries.push(self.recall_discovery(&known, number, urls_wanted));
            if let Some(visited) = known.visited.as_ref().filter(|_| visits_wanted) {
                visits.insert(known.key.page, LastVisit::new(visited, number));
            }
        }
        discoveries.sort_unstable_by_key(|page| page.number);
        for page in &discoveries {
            self.observe(Fact::Discovered(Discovered {
                page: page.number,
                url: &page.url,
                host: page.host,
                depth: page.depth,
                seed: page.seed,
                at: page.at,
                appeared: (page.appeared.as_deref())
                    .and_then(|(source, absent)| self.appeared(Some(*source), Some(*absent))),
            }));
            self.sample(page.number, self.bench.host_id(page.host), None);
        }
        Ok(visits)
    }

    /// Lets the policy observe the links of the pages that were read, in the order of their keys.
    fn recall_links<F: Facts>(&mut self, earlier: &F) -> Result<(), F::Error> {
        for links in earlier.links() {
            let (key, links) = links?;
            if let Some(number) = self.seen.number(key.page) {
                self.recall_read(number, Said::default(), &links);
            }
        }
        Ok(())
    }

    /// Lets the policy observe the pages that were read, in the order of their last visits.
    fn recall_reads<F: Facts>(
        &mut self,
        earlier: &F,
        mut visits: HashMap<PageId, LastVisit>,
        texts: impl Fn(PageId, &mut dyn FnMut(Said<'_>)),
    ) -> Result<(), F::Error> {
        let mut reads = Vec::new();
        if !visits.is_empty() {
            for links in earlier.links() {
                let (key, links) = links?;
                let visit = visits.remove(&key.page);
                reads.extend(visit.map(|visit| (visit, key.page, links)));
            }
        }
        reads.sort_unstable_by_key(|(visit, ..)| (visit.at, visit.number));
        for (visit, page, links) in &reads {
            texts(*page, &mut |said| {
                let text = recalled_text(said.text, visit.words);
                self.recall_read(visit.number, Said { text, ..said }, links);
            });
        }
        Ok(())
    }

    /// Lets the policy observe the visits, if it needs them. Under a budget, also computes the
    /// first price.
    fn recall_visits<F: Facts>(
        &mut self,
        earlier: &F,
        observes_visits: bool,
        present: &Present,
    ) -> Result<(), F::Error> {
        if !observes_visits && self.spending().is_none() {
            return Ok(());
        }
        let sampled = self.spending().map(|spending| spending.sample.pages());
        let sampled = sampled.into_iter().flatten();
        let sampled: HashSet<Number> = sampled.map(|page| page.number).collect();
        for known in earlier.pages() {
            let mut known = known?;
            present.bring_back(&mut known);
            let Some(number) = self.seen.number(known.key.page) else {
                continue;
            };
            if let Some(visited) = known.visited.as_ref().filter(|_| observes_visits) {
                self.observe_visit(number, &discovered(&known), &visited.history);
            }
            if sampled.contains(&number)
                && let PriceRule::Budget(spending) = &mut self.price_rule
            {
                spending.sample.learn(number, &known.history());
            }
        }
        let found = self.sampled_price(present.now());
        if let (PriceRule::Budget(spending), Some(price)) = (&mut self.price_rule, found) {
            spending.tracker.found(price);
        }
        Ok(())
    }

    fn recall_waiting(
        &mut self,
        known: &Known,
        number: Number,
        wanted: &impl Fn(&Known) -> bool,
        now: Moment,
    ) {
        if wanted(known) {
            self.wait(known.key.page.host(), number, &known.history(), now);
        }
    }

    /// Lets the policy observe a fact. The moves that the policy reports are dropped, because no
    /// page waits yet.
    fn observe(&mut self, fact: Fact<'_>) {
        self.policy.observe(&fact, &mut self.moves);
        self.moves.drain().for_each(drop);
    }

    fn recall_page<F: Facts>(&mut self, known: &Known) -> Result<Number, F::Error> {
        let page = known.key.page;
        let number = u32::try_from(known.discovery.order).map(Number);
        let number = number.map_err(|_| F::damaged(format!("{page:?}")))?;
        self.seen.restore(page, number);
        self.partitions.insert(page.host(), known.key.partition);
        self.recall_evidence(known, number);
        if let Some((text, pattern)) = known.text().zip(known.pattern()) {
            self.novelty.observe(pattern, text);
        }
        Ok(number)
    }

    fn recall_discovery(
        &mut self,
        known: &Known,
        number: Number,
        words: bool,
    ) -> RecalledDiscovery {
        let url = if words {
            known.discovery.url.as_str()
        } else {
            ""
        };
        let appeared = known.discovery.source.zip(known.discovery.absent);
        RecalledDiscovery {
            number,
            host: self.bench.host(known.key.page.host()),
            depth: known.discovery.depth,
            seed: known.discovery.source.is_none(),
            at: known.discovery.at,
            appeared: appeared.map(Box::new),
            url: url.into(),
        }
    }

    fn recall_read(&mut self, page: Number, said: Said<'_>, links: &OutLinks) {
        let mut placed: HashMap<u32, &Placed> = HashMap::new();
        for link in said.links {
            // Of two links to one page the first counts, as it did when the page was read.
            if let Some(to) = self.seen.number(link.to) {
                placed.entry(to.0).or_insert(link);
            }
        }
        let known: Vec<LinkFact<'_>> = links
            .links()
            // Pages of a partition that another node took over are not known any more.
            .filter(|(to, _)| self.seen.has(Number(*to)))
            .map(|(to, anchor)| match placed.get(&to) {
                Some(link) => LinkFact {
                    around: &link.around,
                    path: &link.path,
                    ..LinkFact::new(Number(to), &link.anchor)
                },
                None => LinkFact::new(Number(to), anchor),
            })
            .collect();
        self.observe(Fact::Read(Read {
            page,
            text: said.text,
            links: &known,
            out_links: links.out_links,
            part: Part::WHOLE,
        }));
    }
}

/// Returns the consecutive refusals of a server, or 0 if its last wait ended a day ago or more.
fn remembered_refusals(facts: &ServerFacts, present: &Present) -> u16 {
    let since = present.now().since(present.ready(facts));
    if since < REMEMBERED_REFUSALS {
        facts.refusals
    } else {
        0
    }
}

fn discovered(known: &Known) -> History {
    History::discovered(known.discovery.at, known.discovery.depth)
}

/// Returns a stored text. [`Text::Counted`] gets the word count of the ledger. If `words` is
/// `None`, the page has no text or is gone, and the result is [`Text::Nothing`].
fn recalled_text(text: Text<'_>, words: Option<u32>) -> Text<'_> {
    match (text, words) {
        (_, None) => Text::Nothing,
        (
            Text::Counted {
                in_title, in_body, ..
            },
            Some(words),
        ) => Text::Counted {
            in_title,
            in_body,
            words,
        },
        (whole, Some(_)) => whole,
    }
}
