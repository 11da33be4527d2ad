//! The distance between requests to one address, through all runs of all nodes, as a server would see it.

use std::collections::{BTreeSet, HashMap};
use std::net::IpAddr;
use std::time::Duration;

use crawl::VisitId;
use frontier::{Facts, MemoryLedger, PageKey, RobotsFact};
use policy::Moment;

/// How long a crawl that ends waits for a server.
const PATIENCE: Duration = Duration::from_secs(300);
/// How long a server is left alone, at least, that refuses and does not say for how long.
const OWN_WAIT: Duration = Duration::from_secs(5);
/// A request that reached a server.
struct Asked {
    at: Moment,
    /// How long the server was to be left alone, by what was known when it was asked.
    due: Duration,
    /// The same, by what it answered.
    due_by_answer: Duration,
    /// The fact that holds the answer.
    fact: AnswerFact,
}

/// The fact by which a later run knows of an answer.
pub enum AnswerFact {
    Page(PageKey, Moment),
    Rules(PageKey, Option<Moment>),
    None,
}

/// When servers were asked, through all runs of all nodes.
#[derive(Default)]
pub struct Politeness {
    asked: HashMap<IpAddr, Vec<Asked>>,
    /// Visits with a connection being opened or a request under way.
    busy: HashMap<IpAddr, BTreeSet<(usize, VisitId)>>,
}

impl Politeness {
    /// Takes in a request that is made now.
    pub fn request(
        &mut self,
        address: IpAddr,
        now: Moment,
        due: Duration,
        seats: u8,
        fact: AnswerFact,
    ) {
        let asked = self.asked.entry(address).or_default();
        asked.retain(|one| one.at + one.due.max(one.due_by_answer) > now);
        check!(
            asked.len() < usize::from(seats),
            "{address} is asked at {now:?}, after {:?} with a delay of {due:?}",
            asked
                .iter()
                .map(|one| (one.at, one.due, one.due_by_answer))
                .collect::<Vec<_>>()
        );
        asked.push(Asked {
            at: now,
            due,
            due_by_answer: Duration::ZERO,
            fact,
        });
    }

    /// Takes in until when the answer to a request wants the server to be left alone, and the page that was asked for.
    pub fn answered(
        &mut self,
        address: IpAddr,
        at: Moment,
        (until, page): (Moment, Option<PageKey>),
        learned: Moment,
    ) {
        let asked = self.asked.entry(address).or_default();
        if let Some(one) = asked.iter_mut().rev().find(|one| one.at == at) {
            // Of several requests at once that are refused the first counts, unless another says for how long.
            let own = until == learned + OWN_WAIT;
            let rests = at + one.due_by_answer > learned;
            if until.since(at) > one.due_by_answer && !(own && rests) {
                one.due_by_answer = until.since(at);
                if let (AnswerFact::Page(key, _), Some(page)) = (&mut one.fact, page) {
                    *key = page;
                }
            }
            if let AnswerFact::Rules(_, moment) = &mut one.fact {
                *moment = Some(learned);
            }
        }
    }

    /// Takes back a request that its server has not dealt with: the connection was closed.
    pub fn retract(&mut self, address: IpAddr, at: Moment) {
        let asked = self.asked.entry(address).or_default();
        let place = asked.iter().rposition(|one| one.at == at);
        place.map(|place| asked.remove(place));
    }

    /// Forgets the visits of a node whose run has ended.
    pub fn end_run(&mut self, node: usize) {
        for busy in self.busy.values_mut() {
            busy.retain(|(other, _)| *other != node);
        }
    }

    /// Forgets what the next run cannot know: answers that were not committed.
    pub fn forget_uncommitted(&mut self, ledger: &MemoryLedger) {
        for one in self.asked.values_mut().flatten() {
            let known = match &one.fact {
                AnswerFact::None => false,
                AnswerFact::Page(key, asked) => {
                    let visited = ledger.visited(*key);
                    visited.is_some_and(|visited| visited.history.asked == Some(*asked))
                }
                AnswerFact::Rules(key, learned) => {
                    let host = ledger.host((key.partition, key.page.host()));
                    let robots = host.and_then(|host| host.robots.as_ref());
                    let at = robots.map(|fact| match fact {
                        RobotsFact::Found { at, .. } | RobotsFact::Missing { at } => *at,
                    });
                    at.is_some() && at == *learned
                }
            };
            if !known {
                one.due_by_answer = Duration::ZERO;
            }
        }
    }

    pub fn enter(&mut self, address: IpAddr, node: usize, visit: VisitId, seats: u8) {
        let busy = self.busy.entry(address).or_default();
        busy.insert((node, visit));
        check!(
            busy.len() <= usize::from(seats),
            "{address} has more than {seats} visits at once: {busy:?}"
        );
    }

    pub fn leave(&mut self, node: usize, visit: VisitId) {
        for busy in self.busy.values_mut() {
            busy.remove(&(node, visit));
        }
    }

    /// Whether some server wants to be left alone for longer than a crawl that ends waits.
    pub fn rests_long(&self, ledger: &MemoryLedger, now: Moment) -> bool {
        let asked = self.asked.values().flatten();
        let said = asked.map(|one| one.at + one.due.max(one.due_by_answer));
        let stored = ledger.servers().filter_map(Result::ok);
        let stored = stored.map(|(_, facts)| facts.asked + facts.wait);
        said.chain(stored).any(|until| until > now + PATIENCE)
    }
}

/// Until when a server wants to be left alone that answers so.
pub fn left_alone_until(reply: &crawl::Reply, now: Moment) -> Moment {
    match (reply.status, reply.retry_after) {
        (429 | 503, Some(wait)) => now + wait,
        (429 | 503, None) => now + OWN_WAIT,
        _ => Moment::START,
    }
}
