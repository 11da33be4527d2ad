//! How does a visit to one server go, from the claim to the settlement?
//!
//! The steps between two waits of the engine's `Call`, and nothing else. **Invariant:** a visit is
//! settled once, when no page pays any more or the connection has ended with none claimed.

use std::collections::VecDeque;
use std::time::Duration;

use frontier::{Bound, Visit};
use policy::{Moment, Number};

use super::line::Line;
use super::{Dial, Simulation};
use crate::run::crawl::all;

/// RFC 9309, 2.4, as the engine has it: a robots.txt is good for a day.
const RULES_AGE: Duration = Duration::from_secs(86_400);

/// A visit under way.
pub(super) struct Call {
    visit: Visit,
    server: usize,
    line: Option<Line>,
    waits_for: Waited,
    /// Since when it waits.
    since: Moment,
    /// Pages that were asked for together and are not answered yet.
    asked: VecDeque<Number>,
    /// Those that were, with how long the server took.
    answered: Vec<(Number, Duration)>,
}

/// What a call waits for.
#[derive(Debug, Clone, Copy)]
enum Waited {
    Connection,
    Rules,
    Page,
}

impl Call {
    pub fn new(visit: Visit, server: usize) -> Self {
        Self {
            visit,
            server,
            line: None,
            waits_for: Waited::Connection,
            since: Moment::START,
            asked: VecDeque::new(),
            answered: Vec::new(),
        }
    }
}

impl Simulation<'_> {
    /// What a call waited for has come.
    pub(super) fn proceed(&mut self, place: usize, mut call: Call) {
        let took = self.now.since(call.since);
        match call.waits_for {
            Waited::Connection => {
                call.visit.estimate.connected(took);
                call.line = Some(self.new_line(call.server));
            }
            Waited::Rules => {
                self.known[call.server].rules = Some(self.now);
                self.count_answer(&mut call);
            }
            Waited::Page => {
                self.take_page(&mut call, took);
                let open = call.line.as_ref().is_some_and(Line::is_open);
                if open && !call.asked.is_empty() {
                    // It was sent with the one before, so the server is at it already.
                    let response = self.network.servers()[call.server].response;
                    call.since = self.now;
                    return self.wait(place, call, response);
                }
                self.note(&mut call);
            }
        }
        self.go_on(place, call);
    }

    /// Asks for what is next, or ends the visit.
    pub(super) fn go_on(&mut self, place: usize, mut call: Call) {
        if call.visit.first().is_none() && !self.claims_more(&mut call) {
            return self.hang_up(place, call);
        }
        if !call.line.as_ref().is_some_and(Line::is_open) {
            call.line = self.idle.take(call.visit.host);
        }
        let Some(line) = &mut call.line else {
            return self.dial(place, call);
        };
        let server = &self.network.servers()[call.server];
        let time = std::mem::take(&mut line.late) + server.round_trip + server.response;
        let rules = self.known[call.server].rules;
        if rules.is_some_and(|at| self.now.since(at) < RULES_AGE) {
            call.asked = call.visit.left().take(line.width).collect();
            call.waits_for = Waited::Page;
        } else {
            call.waits_for = Waited::Rules;
        }
        call.since = self.now;
        self.wait(place, call, time);
    }

    /// Claims the next pages, if the connection is open and that pays.
    fn claims_more(&mut self, call: &mut Call) -> bool {
        let open = call.line.as_ref().is_some_and(Line::is_open);
        let free = self.visits < usize::from(self.crawler.connections);
        open && self
            .crawl
            .frontier
            .bench
            .more(&mut call.visit, free, self.now)
    }

    fn dial(&mut self, place: usize, mut call: Call) {
        let bench = &mut self.crawl.frontier.bench;
        match bench.bind(call.visit, self.network.address(call.server)) {
            Bound::Go(visit) => call.visit = visit,
            // Another host has the address; the pages wait there.
            Bound::Moved => {
                self.visits -= 1;
                self.free.push(place);
                return;
            }
        }
        let idle = usize::from(self.crawler.connections) - self.visits;
        while let Some(host) = self.idle.close_one_beyond(idle) {
            self.open -= 1;
            bench.closed(host);
        }
        self.open += 1;
        self.crawled.dials += 1;
        self.crawled.most_open = self.crawled.most_open.max(self.open);
        call.waits_for = Waited::Connection;
        call.since = self.now;
        let round_trip = match self.crawler.dial {
            Dial::Network => self.network.servers()[call.server].round_trip,
            Dial::Loopback => Duration::ZERO,
        };
        self.wait(place, call, round_trip);
    }

    fn new_line(&self, server: usize) -> Line {
        let habits = &self.network.servers()[server];
        let http = self.crawler.http;
        Line {
            served: 0,
            carries: http.carries(habits.requests_per_connection),
            width: self.known[server].pipelining.width(http.width()),
            late: match self.crawler.dial {
                Dial::Network => Duration::ZERO,
                Dial::Loopback => habits.round_trip,
            },
        }
    }

    /// Takes in the answer to a page: what it links to is heard now.
    fn take_page(&mut self, call: &mut Call, took: Duration) {
        let Some(number) = call.asked.pop_front() else {
            return;
        };
        self.crawl.now = self.now;
        self.crawl.fetch(number, all);
        let (page, _) = self.crawl.place(number);
        let at = self.now.since(self.start).as_secs_f64();
        self.crawled.fetched.push((page as u32, at));
        call.answered.push((number, took));
        self.count_answer(call);
    }

    fn count_answer(&mut self, call: &mut Call) {
        if let Some(line) = &mut call.line {
            line.served += 1;
            self.open -= usize::from(!line.is_open());
        }
    }

    /// Takes note of what the answers to pages that were asked for together say of their server. What
    /// was not answered stays in the visit, and is asked for again.
    fn note(&mut self, call: &mut Call) {
        let unanswered = call.asked.len();
        call.asked.clear();
        let (answers, line) = (call.answered.len(), call.line.as_ref());
        if answers + unanswered > 1 {
            let width = line.map_or(1, |line| line.width);
            let pipelining = &mut self.known[call.server].pipelining;
            pipelining.took(width, answers, unanswered);
        }
        let closed = line.filter(|line| !line.is_open());
        for (number, took) in call.answered.drain(..) {
            call.visit.estimate.answered(took);
            if let Some(closed) = closed {
                call.visit.estimate.closed_after(closed.served);
            }
            call.visit.settled(number);
        }
    }

    /// Settles the visit. A connection that is still open is kept for the next one.
    fn hang_up(&mut self, place: usize, mut call: Call) {
        self.visits -= 1;
        self.free.push(place);
        let line = call.line.filter(Line::is_open);
        let open = line.is_some();
        if let Some(line) = line {
            call.visit.estimate.open_after(line.served);
            self.idle.keep(call.visit.host, self.now, line);
        }
        let bench = &mut self.crawl.frontier.bench;
        bench.settle(call.visit, self.now, Duration::ZERO, open);
    }
}
