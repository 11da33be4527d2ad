//! The distance between requests to one server, through all runs of all nodes, as the server would see it.

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use crawl::VisitId;
use frontier::{Facts, MemoryLedger, PageKey, RobotsFact, ServerKey};
use policy::Moment;

/// How long a crawl that ends waits for a server.
const PATIENCE: Duration = Duration::from_secs(300);
/// How long a server is left alone, at least, that refuses and does not say for how long.
const OWN_WAIT: Duration = Duration::from_secs(5);
/// A request that reached a server.
struct Asked {
    /// By which visit of which node.
    by: (usize, VisitId),
    /// When, by the clock of the core.
    at: Moment,
    /// When it was in truth, less the time by which the clock has jumped since: no core can know more.
    real: Moment,
    /// How long the server was to be left alone, by what was known when it was asked.
    due: Duration,
    /// The same, by what it answered.
    due_by_answer: Duration,
    /// The fact that holds the answer.
    fact: AnswerFact,
}

impl Asked {
    /// Until when the server is to be left alone.
    fn until(&self) -> Moment {
        self.real + self.due.max(self.due_by_answer)
    }
}

/// How long an answer wants its server to be left alone.
#[derive(Debug, Clone, Copy)]
pub enum Wait {
    SinceRequest(Duration),
    SinceAnswer(Duration),
}

/// The present, by the clock of the core and in truth.
#[derive(Debug, Clone, Copy)]
pub struct Times {
    pub clock: Moment,
    pub real: Moment,
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
    asked: HashMap<ServerKey, Vec<Asked>>,
    /// Visits with a connection being opened or a request under way.
    busy: HashMap<ServerKey, BTreeSet<(usize, VisitId)>>,
}

impl Politeness {
    /// Takes in a request that is made now.
    pub fn request(
        &mut self,
        server: ServerKey,
        by: (usize, VisitId),
        now: Times,
        due: Duration,
        seats: u8,
        fact: AnswerFact,
    ) {
        let asked = self.asked.entry(server).or_default();
        asked.retain(|one| one.until() > now.real);
        check!(
            asked.len() < usize::from(seats),
            "{server:?} is asked at {now:?}, after {:?} with a delay of {due:?}",
            asked
                .iter()
                .map(|one| (one.at, one.real, one.due, one.due_by_answer))
                .collect::<Vec<_>>()
        );
        asked.push(Asked {
            by,
            at: now.clock,
            real: now.real,
            due,
            due_by_answer: Duration::ZERO,
            fact,
        });
    }

    /// Takes in how long the answer to a request wants the server to be left alone, and the page that was asked for.
    pub fn answered(
        &mut self,
        server: ServerKey,
        (by, at): ((usize, VisitId), Moment),
        (wait, page): (Wait, Option<PageKey>),
        now: Times,
    ) {
        let asked = self.asked.entry(server).or_default();
        if let Some(one) = asked
            .iter_mut()
            .rev()
            .find(|one| (one.by, one.at) == (by, at))
        {
            let due = match wait {
                Wait::SinceRequest(wait) => wait,
                Wait::SinceAnswer(wait) => now.real.since(one.real) + wait,
            };
            // Of several requests at once that are refused the first counts, unless another says for how long.
            let own = matches!(wait, Wait::SinceAnswer(OWN_WAIT));
            let rests = one.real + one.due_by_answer > now.real;
            if due > one.due_by_answer && !(own && rests) {
                one.due_by_answer = due;
                if let (AnswerFact::Page(key, _), Some(page)) = (&mut one.fact, page) {
                    *key = page;
                }
            }
            if let AnswerFact::Rules(_, moment) = &mut one.fact {
                *moment = Some(now.clock);
            }
        }
    }

    /// Takes in that the clock jumps: distances to earlier requests may be shorter or longer by as much.
    pub fn jump(&mut self, by: Duration) {
        for one in self.asked.values_mut().flatten() {
            one.real = Moment::START + one.real.since(Moment::START + by);
        }
    }

    /// Takes back a request that its server has not dealt with: the connection was closed.
    pub fn retract(&mut self, server: ServerKey, by: (usize, VisitId), at: Moment) {
        let asked = self.asked.entry(server).or_default();
        let place = asked.iter().rposition(|one| (one.by, one.at) == (by, at));
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

    pub fn enter(&mut self, server: ServerKey, node: usize, visit: VisitId, seats: u8) {
        let busy = self.busy.entry(server).or_default();
        busy.insert((node, visit));
        check!(
            busy.len() <= usize::from(seats),
            "{server:?} has more than {seats} visits at once: {busy:?}"
        );
    }

    pub fn leave(&mut self, node: usize, visit: VisitId) {
        for busy in self.busy.values_mut() {
            busy.remove(&(node, visit));
        }
    }

    /// Whether some server wants to be left alone for longer than a crawl that ends waits.
    pub fn rests_long(&self, ledger: &MemoryLedger, now: Times) -> bool {
        let mut asked = self.asked.values().flatten();
        let mut stored = ledger.servers().filter_map(Result::ok);
        asked.any(|one| one.until() > now.real + PATIENCE)
            || stored.any(|(_, facts)| facts.asked + facts.wait > now.clock + PATIENCE)
    }
}

/// How long a server wants to be left alone that answers so.
pub fn refusal(reply: &crawl::Reply) -> Wait {
    match (reply.status, reply.retry_after) {
        (429 | 503, Some(wait)) => Wait::SinceAnswer(wait),
        (429 | 503, None) => Wait::SinceAnswer(OWN_WAIT),
        _ => Wait::SinceRequest(Duration::ZERO),
    }
}
