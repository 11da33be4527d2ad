//! What a crawler pays beyond round trips and the time of servers: closing of connections, slow
//! start, and processor time.
//!
//! Cao, Jiang & Singh, "Scheduling web crawl for better performance and quality" (2003): §3.1 names
//! the first two as the cost of HTTP/1.0, and §5.2.2 finds that the processor limits the crawler
//! once it has 14 to 16 connections to fast servers.

use std::time::Duration;

use policy::Moment;

use crate::run::driver::CrawlerWork;

/// Bytes of a TCP segment over Ethernet (RFC 879, RFC 894).
const SEGMENT: u32 = 1460;

/// Segments that a new connection may send before the first acknowledgement (RFC 2581, §3.1).
pub(super) const FIRST_WINDOW: u32 = 2;

/// Most segments in flight: a receiver without window scaling announces up to 65,535 bytes.
const LARGEST_WINDOW: u32 = 65_535 / SEGMENT;

/// The costs of a simulated crawler.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CrawlerCosts {
    /// Whether TCP costs time: a closing connection keeps its place for a round trip, and an
    /// answer takes the round trips of slow start.
    pub tcp: bool,
    /// Processor time for each answer: to read it, parse it and queue its links.
    pub per_page: Duration,
    /// Processor time for each connection that is opened.
    pub per_connection: Duration,
}

impl CrawlerCosts {
    /// Only round trips and the time of servers cost something.
    pub const NONE: Self = Self {
        tcp: false,
        per_page: Duration::ZERO,
        per_connection: Duration::ZERO,
    };

    /// The crawler of the paper, as far as the paper says.
    ///
    /// Its processor was saturated at 8.4 Mbit/s. The invented servers have pages of 6.6 kB on
    /// average, so that is 159 pages a second, or 6.3 ms a page. The millisecond for a
    /// connection is a guess.
    pub const PUBLISHED: Self = Self {
        tcp: true,
        per_page: Duration::from_micros(6_300),
        per_connection: Duration::from_millis(1),
    };
}

/// Returns the round trips that slow start adds to an answer of this size, and the window after
/// it.
///
/// The server sends a window of segments and waits a round trip for their acknowledgements. Each
/// acknowledged segment lets the window grow by one (RFC 2581, §3.1), up to the receiver's limit.
/// The first window comes with the answer itself and adds nothing.
pub(super) fn slow_start(bytes: u32, mut window: u32) -> (u32, u32) {
    let mut left = bytes.div_ceil(SEGMENT);
    let mut round_trips = 0;
    while left > window {
        left -= window;
        window = (2 * window).min(LARGEST_WINDOW);
        round_trips += 1;
    }
    (round_trips, (window + left).min(LARGEST_WINDOW))
}

/// A processor that does one piece of work after another, in the order of arrival.
#[derive(Debug, Default)]
pub(super) struct Processor {
    busy_until: Moment,
    /// Time spent on answers.
    pub answers: Duration,
    /// Time spent on connections.
    pub connections: Duration,
}

impl Processor {
    /// Returns the time from now until the work is done.
    pub fn process(&mut self, work: CrawlerWork, costs: &CrawlerCosts, now: Moment) -> Duration {
        let (cost, spent) = match work {
            CrawlerWork::Answer => (costs.per_page, &mut self.answers),
            CrawlerWork::Connection => (costs.per_connection, &mut self.connections),
        };
        if cost.is_zero() {
            return Duration::ZERO;
        }
        *spent += cost;
        self.busy_until = self.busy_until.max(now) + cost;
        self.busy_until.since(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_start_doubles_the_window_each_round_trip() {
        // (bytes, window before) and (round trips, window after).
        for (before, after) in [
            ((0, 2), (0, 2)),
            ((1, 2), (0, 3)),
            ((2 * SEGMENT, 2), (0, 4)),
            ((2 * SEGMENT + 1, 2), (1, 5)),
            ((6 * SEGMENT, 2), (1, 8)),
            ((6 * SEGMENT + 1, 2), (2, 9)),
            ((6 * SEGMENT, 8), (0, 14)),
            ((1_000_000, 2), (19, LARGEST_WINDOW)),
        ] {
            assert_eq!(slow_start(before.0, before.1), after, "{before:?}");
        }
    }

    #[test]
    fn a_processor_does_one_piece_of_work_after_another() {
        let costs = CrawlerCosts {
            tcp: false,
            per_page: Duration::from_millis(10),
            per_connection: Duration::from_millis(1),
        };
        let at = |millis: u64| Moment::START + Duration::from_millis(millis);
        let mut processor = Processor::default();
        for (arrives, work, done) in [
            (5, CrawlerWork::Answer, 15),
            (6, CrawlerWork::Connection, 16),
            (6, CrawlerWork::Answer, 26),
            (40, CrawlerWork::Answer, 50),
        ] {
            let after = processor.process(work, &costs, at(arrives));
            assert_eq!(at(arrives) + after, at(done), "{arrives}");
        }
        assert_eq!(processor.answers, Duration::from_millis(30));
        assert_eq!(processor.connections, Duration::from_millis(1));
        let free = processor.process(CrawlerWork::Answer, &CrawlerCosts::NONE, at(41));
        assert_eq!(free, Duration::ZERO);
    }
}
