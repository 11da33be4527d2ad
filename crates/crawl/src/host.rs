//! A host in memory: its robots.txt rules, timings and failures.

use std::sync::Arc;
use std::time::Duration;

use frontier::{Entry, HostFacts, Partition, Present, Probe, RobotsFact};
use page::{HostId, PageUrl, Robots};
use policy::Moment;
use policy::server::Estimate;

/// RFC 9309, 2.4: a cached robots.txt should not be used for more than a day.
const ROBOTS_AGE: Duration = Duration::from_secs(86_400);
/// RFC 9309, 2.3.1.4: while the file is unreachable, a crawler may use an old copy. This crawler
/// does so for thirty days.
const ROBOTS_STALE: Duration = Duration::from_secs(30 * 86_400);
/// Consecutive failures to reach a host, or its robots.txt, at which [`Host::failed`] gives it up.
const FAILURES: u32 = 4;
/// Consecutive transient failures of requests on open connections at which
/// [`Host::request_failed`] gives a host up.
const FAULTS: u32 = 24;
/// Number of consecutive failed requests that cost no wait, because broken pages come in groups.
const FAULTS_FREE: u32 = 12;
/// Maximum number of unanswered probes of a host in a run. The first probe may meet a closed
/// connection.
const PROBES: u32 = 2;
/// The wait after the first failure to reach a host. It doubles with each further failure. After
/// failed requests beyond `FAULTS_FREE`, the waits are 2, 4, … 64 times this.
const BACK_OFF: Duration = Duration::from_secs(1);
/// Only for a crawl that is not continuous: the pause of a server after the crawl gave up one of
/// its hosts, and the longest wait for a server when nothing else can be fetched.
pub const LONGEST_WAIT: Duration = Duration::from_secs(300);

/// The answer to a request for robots.txt (RFC 9309, 2.3.1).
#[derive(Debug, Clone)]
pub enum RobotsFile {
    /// The file exists.
    Found {
        /// Its text, up to the size limit.
        text: String,
        /// Its rules for this crawler.
        rules: Arc<Robots>,
    },
    /// There is no file: everything is allowed.
    Missing,
    /// The file cannot be reached now. A copy that is less than thirty days old stays in force.
    /// Without such a copy, everything is disallowed. The file is requested again later.
    Unavailable,
}

/// A host in memory.
pub struct Host {
    key: (Partition, HostId),
    facts: HostFacts,
    robots: Option<(Moment, Arc<Robots>)>,
    failures: u32,
    faults: u32,
    unanswered_probes: u32,
}

impl Host {
    /// Returns the host of a page, from the host's facts in the ledger. `rules` are parsed from the
    /// robots.txt in `facts`.
    pub fn recalled(
        url: &PageUrl,
        facts: Option<HostFacts>,
        rules: Option<Arc<Robots>>,
        present: &Present,
    ) -> Self {
        let origin = url.origin().to_owned();
        let facts = facts.unwrap_or_else(|| HostFacts {
            origin,
            ..HostFacts::default()
        });
        let at = facts.robots.as_ref().map(|fact| match fact {
            RobotsFact::Found { at, .. } | RobotsFact::Missing { at } => present.moment(*at),
        });
        Self {
            key: (Partition::of(url), url.host()),
            facts,
            robots: at.zip(rules),
            failures: 0,
            faults: 0,
            unanswered_probes: 0,
        }
    }

    /// Returns the facts to store.
    pub fn facts(&self) -> &HostFacts {
        &self.facts
    }

    /// Returns the crawl delay of its robots.txt.
    pub fn crawl_delay(&self) -> Option<Duration> {
        self.robots
            .as_ref()
            .and_then(|(_, rules)| rules.crawl_delay())
    }

    /// Number of failures to reach the host or its robots.txt, and of failed requests, since the
    /// last answer to a request for a page.
    pub fn failures(&self) -> u32 {
        self.failures + self.faults
    }

    /// Returns its rules, if they are known and less than a day old.
    pub fn rules(&self, now: Moment) -> Option<Arc<Robots>> {
        let (at, robots) = self.robots.as_ref()?;
        (now.since(*at) < ROBOTS_AGE).then(|| robots.clone())
    }

    /// Takes in the answer to a request for robots.txt. Returns the rules in force; `None`: the
    /// host may not be crawled now.
    pub fn learn_rules(&mut self, answer: RobotsFile, now: Moment) -> Option<Arc<Robots>> {
        let (fact, robots) = match answer {
            RobotsFile::Found { text, rules } => (RobotsFact::Found { at: now, text }, rules),
            RobotsFile::Missing => {
                let all = Arc::new(Robots::allow_all());
                (RobotsFact::Missing { at: now }, all)
            }
            RobotsFile::Unavailable => {
                let (at, old) = self.robots.as_ref()?;
                return (now.since(*at) < ROBOTS_STALE).then(|| old.clone());
            }
        };
        self.facts.robots = Some(fact);
        self.robots = Some((now, robots.clone()));
        Some(robots)
    }

    /// Counts an opened connection, and adds the time to open it.
    pub fn connected(&mut self, took: Duration) {
        self.facts.connections = self.facts.connections.saturating_add(1);
        self.facts.connect_micros += took.as_micros() as u64;
    }

    /// Counts an answer to a request for a page, adds its time to the first byte, and resets the
    /// failure counts.
    pub fn answered(&mut self, first_byte: Duration) {
        self.failures = 0;
        self.faults = 0;
        self.facts.requests = self.facts.requests.saturating_add(1);
        self.facts.response_micros += first_byte.as_micros() as u64;
    }

    /// Returns its answer to a probe; `None`: no probe was answered.
    pub fn probe(&self) -> Option<&Probe> {
        self.facts.probe.as_ref()
    }

    /// Stores its answer to a probe.
    pub fn probed(&mut self, probe: Probe) {
        self.facts.probe = Some(probe);
    }

    /// Counts a probe that had no answer.
    pub fn probe_failed(&mut self) {
        self.unanswered_probes += 1;
    }

    /// Returns whether it is to be probed: it has not answered a probe, and left fewer than two
    /// unanswered in this run.
    pub fn wants_probe(&self) -> bool {
        self.facts.probe.is_none() && self.unanswered_probes < PROBES
    }

    /// Returns whether its 304 answers are trusted.
    pub fn is_trusted(&self) -> bool {
        !self.facts.distrusted
    }

    /// Stops trusting its 304 answers, because a page had changed without new validators.
    pub fn distrust(&mut self) {
        self.facts.distrusted = true;
    }

    /// Stores the current estimate of its speed.
    pub fn measured(&mut self, estimate: Estimate) {
        self.facts.speed = Some(estimate.into());
    }

    /// Returns the fact to commit. `None`: its robots.txt is not known, and no connection to it was
    /// ever opened.
    pub fn fact(&self) -> Option<Entry> {
        let known = self.facts.robots.is_some() || self.facts.connections > 0;
        known.then(|| Entry::Host(self.key.0, self.key.1, self.facts.clone()))
    }

    /// Counts a failure to reach it or its robots.txt. Returns how long to wait; `None`: give the
    /// host up.
    pub fn failed(&mut self) -> Option<Duration> {
        self.failures += 1;
        (self.failures < FAILURES).then(|| (BACK_OFF * (1 << self.failures.min(16))) / 2)
    }

    /// Counts a failed request on an open connection. Returns how long to wait; `None`: give
    /// the host up.
    pub fn request_failed(&mut self) -> Option<Duration> {
        self.faults += 1;
        let doublings = self.faults.saturating_sub(FAULTS_FREE);
        let wait = if doublings == 0 {
            Duration::ZERO
        } else {
            BACK_OFF * (1 << doublings.min(6))
        };
        (self.faults < FAULTS).then_some(wait)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host() -> Host {
        recalled(None, 0)
    }

    /// Returns a host with these facts. Facts dated in the future were first noticed on day 1.
    fn recalled(facts: Option<HostFacts>, today: u64) -> Host {
        let url = PageUrl::parse("http://e.org/").unwrap();
        let present = Present::new(day(today), Some(day(1)));
        let rules = facts.as_ref().map(|_| Arc::new(Robots::allow_all()));
        Host::recalled(&url, facts, rules, &present)
    }

    fn day(number: u64) -> Moment {
        Moment::from_micros(number * 86_400_000_000)
    }

    #[test]
    fn rules_dated_in_the_future_age_from_when_they_were_noticed() {
        let ahead = |at| HostFacts {
            robots: Some(RobotsFact::Missing { at: day(at) }),
            ..HostFacts::default()
        };
        assert!(recalled(Some(ahead(30)), 1).rules(day(1)).is_some());
        assert!(recalled(Some(ahead(30)), 2).rules(day(2)).is_none());
        assert!(recalled(Some(ahead(2)), 2).rules(day(2)).is_some());
    }

    #[test]
    fn consecutive_failures_cost_waits_until_the_host_is_given_up() {
        let mut host = host();
        let waits: Vec<_> = (0..FAILURES)
            .map(|_| host.failed().map(|wait| wait.as_secs()))
            .collect();
        assert_eq!(waits, [Some(1), Some(2), Some(4), None]);
        let mut host = self::host();
        host.failed();
        host.answered(Duration::ZERO);
        assert_eq!(host.failed(), Some(BACK_OFF), "an answer resets the count");
        let faults = (0..)
            .take_while(|_| host.request_failed().is_some())
            .count();
        assert_eq!(faults as u32, FAULTS - 1);
    }

    #[test]
    fn rules_expire_after_a_day_and_hold_up_to_thirty_days_while_the_file_is_unavailable() {
        let mut host = host();
        assert!(
            host.learn_rules(RobotsFile::Unavailable, day(1)).is_none(),
            "nothing may be fetched"
        );
        let text = "User-agent: *\nDisallow: /x";
        let found = RobotsFile::Found {
            text: text.into(),
            rules: Arc::new(Robots::parse(text.as_bytes(), "avocet")),
        };
        host.learn_rules(found, day(1)).unwrap();
        assert!(host.rules(day(1)).is_some() && host.rules(day(2)).is_none());
        assert!(host.learn_rules(RobotsFile::Unavailable, day(20)).is_some());
        assert!(host.learn_rules(RobotsFile::Unavailable, day(40)).is_none());
    }

    #[test]
    fn connections_and_answers_are_counted_with_the_sums_of_their_times() {
        let mut host = host();
        assert!(host.fact().is_none(), "no robots.txt and no connection");
        let millis = Duration::from_millis;
        host.connected(millis(3));
        host.connected(millis(4));
        host.answered(millis(10));
        host.answered(millis(20));
        let facts = host.facts();
        assert_eq!((facts.connections, facts.connect_micros), (2, 7_000));
        assert_eq!((facts.requests, facts.response_micros), (2, 30_000));
        assert!(host.fact().is_some());
    }

    #[test]
    fn a_host_is_probed_until_it_answers_and_twice_at_most() {
        let mut silent = host();
        assert!(silent.wants_probe());
        (0..PROBES).for_each(|_| silent.probe_failed());
        assert!(!silent.wants_probe());
        let mut honest = host();
        honest.probed(Probe::Honest);
        assert!(!honest.wants_probe() && honest.probe() == Some(&Probe::Honest));
        assert!(honest.is_trusted());
        honest.distrust();
        assert!(!honest.is_trusted());
    }
}
