//! The memory of an earlier run, made again from its facts.
//!
//! The policy is told what happened, and only then asked what the waiting pages are worth: so another
//! policy than that of the earlier run ranks them as if it had been there from the start.

use std::collections::HashMap;

use page::{HostId, PageId, PageUrl};
use policy::{Discovered, Fact, History, Link, Moment, Number, Outcome, Policy, Read, Text};

use super::Frontier;
use crate::ledger::{Known, Ledger, LedgerError, OutLinks, Visited};

/// A page that an earlier run left waiting. Of one that was never visited only the depth matters.
struct Waiting {
    number: Number,
    host: HostId,
    history: Facts,
}

enum Facts {
    New { at: Moment, depth: u16 },
    Old(Box<History>),
}

/// When a page was last asked for, and how many words it had; `None`: there is no text.
struct Visit {
    at: Moment,
    number: Number,
    words: Option<u32>,
}

impl Visit {
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

/// A discovery, as the policy is told of it.
struct Told {
    number: Number,
    host: u32,
    depth: u16,
    seed: bool,
    url: Box<str>,
}

impl<P: Policy> Frontier<P> {
    /// Takes in what an earlier run knew. Pages that are not `wanted` are known and do not wait; `texts`
    /// says what is still known of the text of a page that was read.
    pub fn recall<'a>(
        &mut self,
        ledger: &Ledger,
        wanted: impl Fn(&Known) -> bool,
        texts: impl Fn(PageId) -> Text<'a>,
        now: Moment,
    ) -> Result<(), LedgerError> {
        for host in ledger.all_hosts() {
            let (id, facts) = host?;
            if let Some(speed) = facts.speed {
                self.bench.recall(id, speed.into());
            }
        }
        let needs = self.policy.needs();
        let told = needs != policy::Needs::default();
        let mut waiting = Vec::new();
        let mut discoveries = Vec::new();
        let mut visits = HashMap::new();
        for known in ledger.scan() {
            let known = known?;
            let number = self.recall_page(&known)?;
            let wanted = wanted(&known).then(|| Waiting::new(&known, number));
            if !told {
                wanted
                    .iter()
                    .for_each(|page| self.recall_waiting(page, now));
                continue;
            }
            waiting.extend(wanted);
            discoveries.push(self.recall_discovery(&known, number, needs.words));
            if let Some(visited) = &known.visited {
                visits.insert(known.key.page, Visit::new(visited, number));
            }
        }
        // As they were discovered, and then as they were read: the ledger sorts them otherwise.
        discoveries.sort_unstable_by_key(|page| page.number);
        for page in &discoveries {
            self.tell(Fact::Discovered(Discovered {
                page: page.number,
                url: &page.url,
                host: page.host,
                depth: page.depth,
                seed: page.seed,
            }));
        }
        drop(discoveries);
        let mut reads = Vec::new();
        if told {
            for links in ledger.all_links() {
                let (key, links) = links?;
                let visit = visits.remove(&key.page);
                reads.extend(visit.map(|visit| (visit, key.page, links)));
            }
        }
        reads.sort_unstable_by_key(|(visit, ..)| (visit.at, visit.number));
        for (visit, page, links) in &reads {
            let text = told_of(texts(*page), visit.words);
            self.recall_read(visit.number, text, links);
        }
        for page in &waiting {
            self.recall_waiting(page, now);
        }
        Ok(())
    }

    /// Tells the policy a fact. Nothing waits yet: what pages are worth is asked when all is told.
    fn tell(&mut self, fact: Fact<'_>) {
        self.policy.observe(&fact, &mut self.moves);
        self.moves.drain().for_each(drop);
    }

    fn recall_page(&mut self, known: &Known) -> Result<Number, LedgerError> {
        let page = known.key.page;
        let number = u32::try_from(known.discovery.order).map(Number);
        let number = number.map_err(|_| LedgerError::Damaged {
            what: format!("{page:?}"),
        })?;
        self.roll.restore(page, number);
        self.partitions.insert(page.host(), known.key.partition);
        let copy = known
            .visited
            .as_ref()
            .and_then(|visited| visited.copy.as_ref());
        let text = copy.and_then(|copy| copy.text.as_ref());
        if let (Some(text), Ok(url)) = (text, PageUrl::parse(&known.discovery.url)) {
            self.novelty.observe(url.pattern(), text);
        }
        Ok(number)
    }

    fn recall_discovery(&mut self, known: &Known, number: Number, words: bool) -> Told {
        let url = if words {
            known.discovery.url.as_str()
        } else {
            ""
        };
        Told {
            number,
            host: self.bench.host(known.key.page.host()),
            depth: known.discovery.depth,
            seed: known.discovery.source.is_none(),
            url: url.into(),
        }
    }

    fn recall_read(&mut self, page: Number, text: Text<'_>, links: &OutLinks) {
        let known: Vec<Link<'_>> = links
            .links()
            .map(|(to, anchor)| Link {
                to: Number(to),
                anchor,
            })
            .collect();
        self.tell(Fact::Read(Read {
            page,
            text,
            links: &known,
            out_links: links.out_links,
        }));
    }

    fn recall_waiting(&mut self, page: &Waiting, now: Moment) {
        let history = match &page.history {
            Facts::New { at, depth } => History::discovered(*at, *depth),
            Facts::Old(history) => **history,
        };
        self.wait(page.host, page.number, &history, now);
    }
}

impl Waiting {
    fn new(known: &Known, number: Number) -> Self {
        let history = match &known.visited {
            Some(visited) => Facts::Old(Box::new(visited.history)),
            None => Facts::New {
                at: known.discovery.at,
                depth: known.discovery.depth,
            },
        };
        Self {
            number,
            host: known.key.page.host(),
            history,
        }
    }
}

/// What is still known of a text that had so many words.
fn told_of(text: Text<'_>, words: Option<u32>) -> Text<'_> {
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
