//! Pages asked for, one after another or several at once, and what their answers mean for the server.

use std::time::{Duration, SystemTime};

use fetch::{Answer, Request, Robots, Trouble};
use policy::{Moment, Outcome};

use super::Engine;
use super::claimed::Claimed;
use super::host::Host;
use super::reach::End;
use super::visit::Call;

/// Every so many revisits a page is fetched whole: a server's 304 is a hint (hostile-web.md, row 68).
const TRUST: u32 = 8;
/// How long a busy server is left alone that does not say how long.
const BUSY: Duration = Duration::from_secs(5);

impl Call<'_> {
    /// Asks for one page and settles it.
    pub(super) async fn ask(&mut self, claimed: &Claimed) -> Result<(), End> {
        let at = self.engine.clock.now();
        let mut repeated = false;
        let answer = loop {
            self.connect(&claimed.url).await?;
            let Some(open) = &mut self.connection else {
                return Err(End::Trouble(Trouble::Stale));
            };
            let answer = open.get(&request(claimed)).await;
            // A kept connection that was closed under us: the server never saw the request.
            if matches!(answer.outcome, Err(Trouble::Stale)) && !repeated {
                self.connection = None;
                repeated = true;
                continue;
            }
            break answer;
        };
        let took = answer.total;
        self.take(claimed, &answer, at, took);
        Ok(())
    }

    /// Asks for a page, for which a permit is held, and for those of the visit that may follow it at
    /// once. What is not answered stays in the visit, and is asked for again.
    pub(super) async fn ask_several(&mut self, first: Claimed, rules: &Robots, width: usize) {
        let batch = self.batch(first, rules, width);
        let requests: Vec<Request<'_>> = batch.iter().map(request).collect();
        let at = self.engine.clock.now();
        let Some(mut open) = self.connection.take() else {
            return;
        };
        let mut answers = Vec::new();
        let address = open.address().ip();
        let engine = self.engine;
        let judged = |index: usize, answer: Answer| {
            let claimed = &batch[index];
            if let Ok(response) = &answer.outcome {
                engine.answered(claimed, response, answer.wire_bytes, address, at);
            }
            answers.push((index, answer));
        };
        open.get_all(&requests, judged).await;
        self.connection = Some(open);
        let mut lost = 0;
        for (index, answer) in answers {
            let claimed = &batch[index];
            match &answer.outcome {
                Err(Trouble::Unanswered) => {
                    engine.permits.add_permits(1);
                    engine.shared().return_allowance();
                    lost += 1;
                }
                Err(_) => self.take(claimed, &answer, at, answer.first_byte),
                Ok(_) => self.note(claimed, &answer, answer.first_byte),
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
        let host = visit.host;
        let others: Vec<_> = visit.left().skip(1).take(width - 1).collect();
        for number in others {
            let Some(claimed) = self.engine.claimed(host, number) else {
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
            if !self.engine.shared().take_allowance() {
                break;
            }
            permit.forget();
            batch.push(claimed);
        }
        batch
    }

    /// Takes in an answer, or that there was none.
    fn take(&mut self, claimed: &Claimed, answer: &Answer, at: Moment, took: Duration) {
        match (&answer.outcome, &self.connection) {
            (Ok(response), Some(open)) => {
                let from = open.address().ip();
                let bytes = answer.wire_bytes;
                self.engine.answered(claimed, response, bytes, from, at);
                self.note(claimed, answer, took);
            }
            (Ok(_), None) => {}
            (Err(trouble), _) => {
                let pause = self.engine.failed(claimed, trouble, answer.wire_bytes, at);
                self.pause = self.pause.max(pause);
                if let Some(visit) = &mut self.visit {
                    visit.estimate.answered(took);
                }
                self.settled(claimed.number);
            }
        }
    }

    /// Takes note of what an answer says of its server.
    fn note(&mut self, claimed: &Claimed, answer: &Answer, took: Duration) {
        let Ok(response) = &answer.outcome else {
            return;
        };
        if matches!(response.status, 429 | 503) {
            let wanted = response.retry_after(SystemTime::now());
            self.pause = self.pause.max(wanted.unwrap_or(BUSY));
        }
        if let Some(host) = self.engine.shared().host(claimed.url.host()) {
            host.answered(answer.first_byte);
        }
        if let Some(visit) = &mut self.visit {
            visit.estimate.answered(took);
            if let Some(closed) = self.connection.as_ref().filter(|open| !open.is_open()) {
                visit.estimate.closed_after(closed.served());
            }
        }
        self.settled(claimed.number);
    }
}

impl Engine {
    /// Settles a page whose request came to nothing on an open connection. Returns how long the server
    /// is left alone for it.
    fn failed(&self, claimed: &Claimed, trouble: &Trouble, bytes: u64, at: Moment) -> Duration {
        let mut pause = Duration::ZERO;
        let mut shared = self.shared();
        shared.return_allowance();
        if trouble.is_transient() {
            match shared.host(claimed.url.host()).map(Host::faltered) {
                Some(Some(wait)) => pause = wait,
                Some(None) => shared.frontier.bench.park(claimed.url.host()),
                None => {}
            }
        }
        drop(shared);
        let asked = claimed.asked(at);
        let visited = asked.unanswered(Outcome::Unreachable, trouble.kind(), bytes);
        self.push(claimed, visited, true);
        pause
    }
}

fn request(claimed: &Claimed) -> Request<'_> {
    let before = claimed.before.as_ref();
    let copy = before.and_then(|before| before.copy.as_ref());
    let trusted = copy.filter(|_| !(claimed.history().revisits + 1).is_multiple_of(TRUST));
    Request {
        url: &claimed.url,
        etag: trusted.and_then(|copy| copy.etag.as_deref()),
        last_modified: trusted.and_then(|copy| copy.last_modified.as_deref()),
    }
}
