//! The memory of an earlier run, made again from its facts.
//!
//! The policy is told what happened, and only then asked what the waiting pages are worth: so another
//! policy than that of the earlier run ranks them as if it had been there from the start.

use std::collections::HashMap;

use page::{HostId, PageId, PageUrl};
use policy::{Discovered, Fact, History, Link, Moment, Number, Outcome, Policy, Read, Text};

use super::Frontier;
use crate::ledger::{Known, Ledger, LedgerError, OutLinks};

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

/// A discovery, as the policy is told of it.
struct Told {
    number: Number,
    host: u32,
    depth: u16,
    seed: bool,
    url: Box<str>,
}

/// What is kept of the words of links: by the page that has them, to which page, which words.
type Anchors = HashMap<PageId, Vec<(Number, String)>>;

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
        let mut read = HashMap::new();
        let mut anchors = Anchors::new();
        for known in ledger.scan() {
            let known = known?;
            let number = self.recall_page(&known);
            if told {
                discoveries.push(self.recall_discovery(&known, number, needs.words));
            }
            if needs.words
                && let Some(source) = known.discovery.source
            {
                let words = known.discovery.anchor.clone();
                anchors.entry(source).or_default().push((number, words));
            }
            if told && was_read(&known) {
                read.insert(known.key.page, (number, words_of(&known)));
            }
            if !wanted(&known) {
                continue;
            }
            let page = Waiting::new(&known, number);
            if told {
                waiting.push(page);
            } else {
                self.recall_waiting(&page, now);
            }
        }
        if needs.words {
            for link in ledger.all_in_links() {
                let (target, link) = link?;
                if let Some(number) = self.roll.number(target.page) {
                    anchors
                        .entry(link.source)
                        .or_default()
                        .push((number, link.anchor));
                }
            }
        }
        // As they were discovered: the ledger sorts them otherwise.
        discoveries.sort_unstable_by_key(|page| page.number);
        for page in discoveries.drain(..) {
            let fact = Fact::Discovered(Discovered {
                page: page.number,
                url: &page.url,
                host: page.host,
                depth: page.depth,
                seed: page.seed,
            });
            self.policy.observe(&fact, &mut self.moves);
            self.moves.drain().for_each(drop);
        }
        if told {
            for links in ledger.all_links() {
                let (key, links) = links?;
                if let Some((number, words)) = read.remove(&key.page) {
                    let text = told_of(texts(key.page), words);
                    self.recall_read(number, text, &links, anchors.get(&key.page));
                }
            }
            // Ordered, so that the same ledger makes the same policy.
            let mut bare: Vec<_> = read.into_iter().collect();
            bare.sort_unstable();
            for (page, (number, words)) in bare {
                let text = told_of(texts(page), words);
                self.recall_read(number, text, &OutLinks::default(), None);
            }
        }
        for page in &waiting {
            self.recall_waiting(page, now);
        }
        Ok(())
    }

    fn recall_page(&mut self, known: &Known) -> Number {
        let page = known.key.page;
        let number = Number(u32::try_from(known.discovery.order).unwrap_or(u32::MAX));
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
        number
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

    fn recall_read(
        &mut self,
        page: Number,
        text: Text<'_>,
        links: &OutLinks,
        anchors: Option<&Vec<(Number, String)>>,
    ) {
        let words: HashMap<Number, &str> = anchors
            .into_iter()
            .flatten()
            .map(|(to, words)| (*to, words.as_str()))
            .collect();
        let link = |to| Link {
            to,
            anchor: words.get(&to).copied().unwrap_or_default(),
        };
        let known: Vec<Link<'_>> = links.targets().map(|to| link(Number(to))).collect();
        let fact = Fact::Read(Read {
            page,
            text,
            links: &known,
            out_links: links.out_links,
        });
        self.policy.observe(&fact, &mut self.moves);
        // Nothing waits yet: what the pages are worth is asked when all is told.
        self.moves.drain().for_each(drop);
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

/// The words of the last copy; `None`: there is no text.
fn words_of(known: &Known) -> Option<u32> {
    let copy = known.visited.as_ref()?.copy.as_ref()?;
    copy.text.as_ref().map(|text| text.words)
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

/// Whether the last visit found something to read, or that there is nothing.
fn was_read(known: &Known) -> bool {
    let outcome = known
        .visited
        .as_ref()
        .and_then(|visited| visited.history.outcome);
    matches!(
        outcome,
        Some(Outcome::Changed | Outcome::Unchanged | Outcome::Gone)
    )
}
