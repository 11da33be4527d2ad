//! Checks the delay between requests to one server, over all runs of all nodes, as the server
//! sees it.

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use crawl::VisitId;
use frontier::{Facts, MemoryLedger, PageKey, RobotsFact, ServerKey};
use policy::Moment;

/// Maximum time that a crawl waits for a server when nothing else can be fetched, unless it is
/// continuous.
const PATIENCE: Duration = Duration::from_secs(300);
/// Minimum pause of a server that refuses without a `Retry-After`.
const OWN_WAIT: Duration = Duration::from_secs(5);

/// A request that reached a server.
struct LoggedRequest {
    /// The node and visit that made it.
    by: (usize, VisitId),
    /// When it was made, by the clock of the core.
    at: Moment,
    /// The real time of the request, moved back by the size of every later clock jump. A jump may
    /// make the core believe that this much more time has passed, so the check allows for it.
    real: Moment,
    /// The delay that was required when the request was made.
    due: Duration,
    /// The delay that the answer requires.
    due_by_answer: Duration,
    /// Its number in the burst of its visit, from 1.
    number: u32,
    /// Whether it was sent on a closed connection.
    unheard: bool,
    /// The fact that stores the answer.
    fact: AnswerFact,
}

impl LoggedRequest {
    /// Returns when the next request may be made.
    fn until(&self) -> Moment {
        self.real + self.due.max(self.due_by_answer)
    }
}

/// The pause that an answer requires.
#[derive(Debug, Clone, Copy)]
pub enum RequiredPause {
    SinceRequest(Duration),
    SinceAnswer(Duration),
}

/// The current time, by the clock of the core and in reality.
#[derive(Debug, Clone, Copy)]
pub struct ClockPair {
    pub clock: Moment,
    pub real: Moment,
}

/// The fact that tells a later run about an answer.
pub enum AnswerFact {
    Page(PageKey, Moment),
    Rules(PageKey, Option<Moment>),
    None,
}

/// The requests to all servers, over all runs of all nodes.
#[derive(Default)]
pub struct Politeness {
    asked: HashMap<ServerKey, Vec<LoggedRequest>>,
    /// Visits that are opening a connection or have a request in flight.
    busy: HashMap<ServerKey, BTreeSet<(usize, VisitId)>>,
    /// Most requests of a visit to a server that needs a delay.
    pub longest_burst: u32,
}

impl Politeness {
    /// Checks and records a request that is made now. `due` is the pause that is kept after it,
    /// `delay` the least pause after a single request. A visit may make as many requests in a row
    /// as `burst` allows; the n-th is followed by n delays.
    pub fn request(
        &mut self,
        server: ServerKey,
        by: (usize, VisitId),
        now: ClockPair,
        (due, delay, burst): (Duration, Duration, u16),
        seats: u8,
        fact: AnswerFact,
    ) {
        let asked = self.asked.entry(server).or_default();
        asked.retain(|one| one.until() > now.real);
        // No answer to an earlier request of the burst may have asked for a pause.
        let goes_on =
            |one: &LoggedRequest| one.by == by && one.real + one.due_by_answer <= now.real;
        let earlier = asked
            .iter()
            .filter(|one| goes_on(one))
            .map(|one| one.number);
        let number = earlier.max().unwrap_or(0) + 1;
        if number <= u32::from(burst) {
            asked.retain(|one| !goes_on(one));
            self.longest_burst = self.longest_burst.max(number);
        }
        check!(
            due >= delay * number,
            "request {number} of a burst to {server:?} is followed by {due:?} only"
        );
        check!(
            asked.len() < usize::from(seats),
            "{server:?} is asked at {now:?}, after {:?} with a delay of {due:?}",
            asked
                .iter()
                .map(|one| (one.at, one.real, one.due, one.due_by_answer))
                .collect::<Vec<_>>()
        );
        asked.push(LoggedRequest {
            by,
            at: now.clock,
            real: now.real,
            due,
            due_by_answer: Duration::ZERO,
            number,
            unheard: false,
            fact,
        });
    }

    /// Records the pause that the answer to a request requires, and the requested page.
    pub fn answered(
        &mut self,
        server: ServerKey,
        (by, at): ((usize, VisitId), Moment),
        (wait, page): (RequiredPause, Option<PageKey>),
        now: ClockPair,
    ) {
        let asked = self.asked.entry(server).or_default();
        if let Some(one) = asked
            .iter_mut()
            .rev()
            .find(|one| (one.by, one.at) == (by, at))
        {
            let due = match wait {
                RequiredPause::SinceRequest(wait) => wait,
                RequiredPause::SinceAnswer(wait) => now.real.since(one.real) + wait,
            };
            // If several concurrent requests are refused, only the first one extends the pause,
            // unless another has a `Retry-After`.
            let own = matches!(wait, RequiredPause::SinceAnswer(OWN_WAIT));
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

    /// Applies a clock jump of this size, in either direction: the times since earlier requests
    /// that a core measures may be wrong by as much.
    pub fn jump(&mut self, by: Duration) {
        for one in self.asked.values_mut().flatten() {
            one.real = Moment::START + one.real.since(Moment::START + by);
        }
    }

    /// Takes in that a request found its connection closed. If it was not sent, it does not count.
    /// If it was sent, it counts unless it is made again: the server may have processed it.
    pub fn closed(&mut self, server: ServerKey, (by, at): ((usize, VisitId), Moment), sent: bool) {
        let asked = self.asked.entry(server).or_default();
        if let Some(place) = asked.iter().rposition(|one| (one.by, one.at) == (by, at)) {
            match sent {
                true => asked[place].unheard = true,
                false => drop(asked.remove(place)),
            }
        }
    }

    /// Removes the request of a visit on a closed connection, because it is made again.
    pub fn repeat(&mut self, by: (usize, VisitId)) {
        for asked in self.asked.values_mut() {
            asked.retain(|one| !(one.unheard && one.by == by));
        }
    }

    /// Removes the visits of a node whose run has ended, and its requests on closed connections:
    /// only an answer or a failure is committed, so the next run cannot know of them.
    pub fn end_run(&mut self, node: usize) {
        for asked in self.asked.values_mut() {
            asked.retain(|one| !(one.unheard && one.by.0 == node));
        }
        for busy in self.busy.values_mut() {
            busy.retain(|(other, _)| *other != node);
        }
    }

    /// Removes the effect of uncommitted answers, which the next run cannot know.
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

    /// Returns whether some server requires a longer pause than a crawl that ends waits.
    pub fn rests_long(&self, ledger: &MemoryLedger, now: ClockPair) -> bool {
        let mut asked = self.asked.values().flatten();
        let mut stored = ledger.servers().filter_map(Result::ok);
        asked.any(|one| one.until() > now.real + PATIENCE)
            || stored.any(|(_, facts)| facts.asked + facts.wait > now.clock + PATIENCE)
    }
}

/// Returns the pause that a status and `Retry-After` require.
pub fn refusal(reply: &crawl::Reply) -> RequiredPause {
    match (reply.status, reply.retry_after) {
        (429 | 503, Some(wait)) => RequiredPause::SinceAnswer(wait),
        (429 | 503, None) => RequiredPause::SinceAnswer(OWN_WAIT),
        _ => RequiredPause::SinceRequest(Duration::ZERO),
    }
}
