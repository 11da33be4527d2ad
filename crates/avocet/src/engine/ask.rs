//! Pages asked for, one after another or several at once, and what their answers mean for the server.

use std::net::IpAddr;
use std::time::Duration;

use fetch::{Answer, Request, Robots, Trouble};
use policy::{Moment, Outcome};

use super::Engine;
use super::answered::Arrived;
use super::claimed::Claimed;
use super::host::Host;
use super::reach::End;
use super::visit::Call;

/// Every so many revisits a page is fetched whole: a server's 304 is a hint (hostile-web.md, row 68).
const TRUST: u32 = 8;

impl Call<'_> {
    /// Asks for one page and settles it.
    pub(super) async fn ask(&mut self, claimed: &Claimed, delay: Duration) -> Result<(), End> {
        let at = self.engine.clock.now();
        let mut repeated = false;
        let answer = loop {
            self.connect(&claimed.url).await?;
            self.asks(delay).await;
            let Some(open) = &mut self.connection else {
                return Err(End::Trouble(Trouble::Stale));
            };
            let trusts = self.engine.trusts(&claimed.url);
            let answer = open.get(&request(claimed, trusts)).await;
            // A kept connection that was closed under us, or a server that wants another HTTP.
            let repeatable = matches!(&answer.outcome, Err(trouble) if trouble.is_repeatable());
            if repeatable && !repeated {
                self.connection = None;
                repeated = true;
                continue;
            }
            break answer;
        };
        let Some(open) = &self.connection else {
            return Err(End::Trouble(Trouble::Stale));
        };
        let (from, took) = (open.address().ip(), answer.total);
        self.heed_refusal(&answer);
        let settled = self.engine.take(claimed, answer, from, at);
        self.note(claimed, settled, took);
        Ok(())
    }

    /// Asks for a page, for which a permit is held, and for those of the visit that may follow it at
    /// once. What is not answered stays in the visit, and is asked for again.
    pub(super) async fn ask_several(&mut self, first: Claimed, rules: &Robots, width: usize) {
        let batch = self.batch(first, rules, width);
        let requests: Vec<Request<'_>> = (batch.iter())
            .map(|claimed| request(claimed, self.engine.trusts(&claimed.url)))
            .collect();
        let at = self.engine.clock.now();
        let Some(mut open) = self.connection.take() else {
            return;
        };
        let (engine, from) = (self.engine, open.address().ip());
        let mut answers = Vec::new();
        let judged = |index: usize, answer: Answer| {
            let took = answer.first_byte;
            self.heed_refusal(&answer);
            let unanswered = matches!(answer.outcome, Err(Trouble::Unanswered));
            // What it says is handed over at once: a batch of bodies is too much to keep.
            let settled = (!unanswered).then(|| engine.take(&batch[index], answer, from, at));
            answers.push((index, settled, took));
        };
        open.get_all(&requests, judged).await;
        self.connection = Some(open);
        let mut lost = 0;
        for (index, settled, took) in answers {
            match settled {
                Some(settled) => self.note(&batch[index], settled, took),
                None => {
                    engine.permits.add_permits(1);
                    engine.shared().return_unasked();
                    lost += 1;
                }
            }
        }
        // Nothing came: the next is asked for alone, and its answer says why.
        self.alone = lost == batch.len();
    }

    /// The pages that may be asked for together with the first.
    fn batch(&mut self, first: Claimed, rules: &Robots, width: usize) -> Vec<Claimed> {
        let mut batch = vec![first];
        let Some(visit) = &self.visit else {
            return batch;
        };
        let others: Vec<_> = visit.left().skip(1).take(width - 1).collect();
        for number in others {
            let claimed = self.visit.as_ref();
            let claimed = claimed.and_then(|visit| self.engine.claimed(visit, number));
            let Some(claimed) = claimed else {
                break;
            };
            if let Some(reason) = self.engine.forbidden(&claimed.url, rules) {
                self.engine.refuse(&claimed, reason);
                self.settled(number);
                continue;
            }
            let Ok(permit) = self.engine.permits.try_acquire() else {
                break;
            };
            if !self.engine.shared().take_allowance(self.engine.clock.now()) {
                break;
            }
            permit.forget();
            batch.push(claimed);
        }
        batch
    }

    /// Takes note of what the answer to a page says of its server.
    fn note(&mut self, claimed: &Claimed, settled: Settlement, took: Duration) {
        if !settled.pause.is_zero() {
            self.rest_for(settled.pause);
        }
        if let Some(visit) = &mut self.visit {
            visit.estimate.answered(took);
            let closed = self.connection.as_ref().filter(|open| !open.is_open());
            if let Some(closed) = closed.filter(|_| settled.answered) {
                visit.estimate.closed_after(closed.served());
            }
            visit.settled(claimed.number);
        }
    }
}

/// What became of a request.
struct Settlement {
    /// Whether there was an answer.
    answered: bool,
    /// How long the server is to be left alone because there was none.
    pause: Duration,
}

impl Engine {
    /// Settles a page by its answer, or by why there is none.
    fn take(&self, claimed: &Claimed, answer: Answer, from: IpAddr, at: Moment) -> Settlement {
        let response = match &answer.outcome {
            Ok(response) => response,
            Err(trouble) => return self.failed(claimed, trouble, &answer, at),
        };
        if let Some(host) = self.shared().host(claimed.url.host()) {
            host.answered(answer.first_byte);
        }
        let arrived = Arrived {
            bytes: answer.wire_bytes,
            took: answer.total,
            from,
            at,
        };
        self.answered(claimed, response, &arrived);
        Settlement {
            answered: true,
            pause: Duration::ZERO,
        }
    }

    /// Settles a page whose request came to nothing on an open connection.
    fn failed(
        &self,
        claimed: &Claimed,
        trouble: &Trouble,
        answer: &Answer,
        at: Moment,
    ) -> Settlement {
        let mut pause = Duration::ZERO;
        let mut shared = self.shared();
        shared.return_allowance();
        if trouble.is_transient() {
            match shared.host(claimed.url.host()).map(Host::faltered) {
                Some(Some(wait)) => pause = wait,
                Some(None) if self.plan.is_continuous() => pause = self.plan.rest(),
                Some(None) => shared.frontier.bench.park(claimed.url.host()),
                None => {}
            }
        }
        drop(shared);
        let asked = claimed.asked(at);
        let bytes = answer.wire_bytes;
        let visited = asked.unanswered(Outcome::Unreachable, trouble.kind(), bytes);
        self.push(claimed, visited, false, Some(answer.total));
        Settlement {
            answered: false,
            pause,
        }
    }
}

/// A request for a page; the server is told what we have if its answer to that can be trusted.
fn request(claimed: &Claimed, trusts: bool) -> Request<'_> {
    let before = claimed.before.as_ref();
    let copy = before.and_then(|before| before.copy.as_ref());
    let trusted =
        copy.filter(|_| trusts && !(claimed.history().revisits + 1).is_multiple_of(TRUST));
    Request {
        url: &claimed.url,
        etag: trusted.and_then(|copy| copy.etag.as_deref()),
        last_modified: trusted.and_then(|copy| copy.last_modified.as_deref()),
    }
}
