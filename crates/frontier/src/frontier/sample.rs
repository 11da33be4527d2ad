//! Computes the price at which the known pages just use up the budget, on a sample of pages.
//!
//! A visited page counts as one fetch per interval between its last visit and its due time at a
//! price. A new page that is worth the price counts as one fetch per *round*, the time in which the
//! budget pays for one fetch of every known page. Any page counts as at most 16 fetches per round.
//! Otherwise a page that a sitemap has just reported as changed would be due at once and outweigh
//! all others.
//!
//! **Invariant:** the sample holds the pages whose number is a multiple of its stride. The
//! stride doubles when the sample becomes too large. So the selection does not depend on the
//! worth of pages. The histories of the sample are kept in memory, so that the price is found
//! without a read from disk.

use page::HostId;
use policy::{History, Moment, Number, Page, Policy, Price};

use super::Frontier;
use super::schedule::LATER;
use crate::record::PageKey;

/// Maximum number of pages in the sample. The price is then off by a few percent, which the price
/// tracker corrects.
const MOST: usize = 1000;

/// Number of bisection steps. They narrow the price from the range 10⁻¹⁵ to 10¹⁵ to a relative
/// precision of a thousandth.
const HALVINGS: u32 = 17;

pub(super) struct Sample {
    stride: u32,
    /// Sorted by number.
    pages: Vec<Sampled>,
}

pub(super) struct Sampled {
    pub number: Number,
    pub host: HostId,
    /// `None`: the page is known from an earlier run, and its history was not read yet.
    pub history: Option<History>,
}

impl Default for Sample {
    fn default() -> Self {
        Self {
            stride: 1,
            pages: Vec::new(),
        }
    }
}

impl Sample {
    /// Adds a page to the sample, if its number is a multiple of the stride.
    pub fn add(&mut self, number: Number, host: HostId, history: Option<&History>) {
        if !number.0.is_multiple_of(self.stride) {
            return;
        }
        self.pages.push(Sampled {
            number,
            host,
            history: history.copied(),
        });
        if self.pages.len() > MOST {
            self.stride *= 2;
            let stride = self.stride;
            (self.pages).retain(|page| page.number.0.is_multiple_of(stride));
        }
    }

    /// Updates the history of a page, if it is in the sample.
    pub fn learn(&mut self, number: Number, history: &History) {
        let place = self.pages.binary_search_by_key(&number, |page| page.number);
        if let Ok(place) = place {
            self.pages[place].history = Some(*history);
        }
    }

    pub fn pages(&self) -> &[Sampled] {
        &self.pages
    }

    /// Returns the pages whose histories are known.
    pub fn known(&self) -> Vec<(Number, History)> {
        let known = |page: &Sampled| Some((page.number, page.history?));
        self.pages.iter().filter_map(known).collect()
    }
}

impl<P: Policy> Frontier<P> {
    /// Returns the pages of the sample; empty without a budget.
    pub fn sampled(&self) -> Vec<PageKey> {
        let pages = self.spending().map(|spending| spending.sample.pages());
        let key = |page: &Sampled| self.key(self.seen.page(page.host, page.number));
        pages.into_iter().flatten().filter_map(key).collect()
    }
}

/// Returns a function from a price to the fetches per second that a sample of pages is worth at
/// that price. `round` is the time in seconds in which the budget pays for one fetch of every known
/// page.
pub(super) fn demand<'a, P: Policy>(
    policy: &'a P,
    sample: &'a [(Number, History)],
    round: f64,
    now: Moment,
) -> impl Fn(Price) -> f64 + use<'a, P> {
    let shortest = round / f64::from(LATER);
    let waiting = sample.iter().map(|(number, history)| {
        let page = Page {
            number: *number,
            history,
        };
        // A new page that fades is not fetched once its worth is below the price.
        let fades = policy.fades(*number).then(|| policy.worth(page, now));
        (policy.dues(page), history.asked, fades)
    });
    let waiting: Vec<_> = waiting.collect();
    move |price| {
        let each = waiting
            .iter()
            .map(|(dues, asked, fades)| match (dues(price), asked) {
                (None, _) => 0.0,
                (Some(_), None) if fades.is_some_and(|worth| !worth.pays(price)) => 0.0,
                (Some(_), None) => 1.0 / round,
                (Some(due), Some(asked)) => 1.0 / due.since(*asked).as_secs_f64().max(shortest),
            });
        each.sum()
    }
}

/// Returns the price for a budget of `per_second` fetches per second for `known` pages, given a
/// sample of them; `None`: the sample is empty.
pub(super) fn price(
    policy: &impl Policy,
    sample: &[(Number, History)],
    known: usize,
    per_second: f64,
    now: Moment,
) -> Option<Price> {
    if sample.is_empty() {
        return None;
    }
    let share = per_second * sample.len() as f64 / known.max(1) as f64;
    let demand = demand(policy, sample, known as f64 / per_second, now);
    let (mut low, mut high) = (1e-15_f64.ln(), 1e15_f64.ln());
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(low, high);
        if demand(Price::new(middle.exp())?) > share {
            low = middle;
        } else {
            high = middle;
        }
    }
    // Demand jumps where many pages have equal worth. At a price just above the jump too few pages
    // are worth it to spend the budget; just below, enough are.
    Price::new(low.exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sample_of_100_000_pages_is_every_128th_page() {
        let mut sample = Sample::default();
        (0..100_000).for_each(|page| sample.add(Number(page), HostId(1), None));
        let pages: Vec<u32> = sample.pages().iter().map(|page| page.number.0).collect();
        assert!((MOST / 2..=MOST).contains(&pages.len()));
        assert!(pages.windows(2).all(|two| two[1] - two[0] == 128));
        assert!(sample.known().is_empty());
        let history = History::discovered(Moment::START, 3);
        sample.learn(Number(128), &history);
        sample.learn(Number(129), &history);
        assert_eq!(sample.known(), [(Number(128), history)]);
    }

    /// The worth is the time since the last visit in seconds. The first page is always due.
    struct WorthByWait;

    impl Policy for WorthByWait {
        fn worth(&self, page: Page<'_>, now: Moment) -> policy::Worth {
            let asked = page.history.asked.unwrap_or_default();
            policy::Worth::new(now.since(asked).as_secs_f64())
        }

        fn due(&self, page: Page<'_>, price: Price) -> Option<Moment> {
            let wait = std::time::Duration::from_secs_f64(price.value().min(1e9));
            let wait = if page.number.0 == 0 {
                wait / u32::MAX
            } else {
                wait
            };
            Some(page.history.asked? + wait)
        }
    }

    /// The worth of every page grows to 7417.4 within a day of its last visit and then stays.
    struct Alike;

    impl Policy for Alike {
        fn worth(&self, page: Page<'_>, now: Moment) -> policy::Worth {
            let age = now.since(page.history.asked.unwrap_or_default());
            policy::Worth::new((age.as_secs_f64() / 86_400.0).min(1.0) * 7417.4)
        }

        fn due(&self, page: Page<'_>, price: Price) -> Option<Moment> {
            let share = price.value() / 7417.4;
            let wait = std::time::Duration::from_secs_f64(86_400.0 * share.min(1.0));
            (share <= 1.0).then(|| page.history.asked.unwrap_or_default() + wait)
        }
    }

    #[test]
    fn pages_of_equal_worth_pay_at_the_computed_price() {
        let history = History {
            asked: Some(Moment::START),
            ..History::default()
        };
        let sample: Vec<_> = (0..100).map(|page| (Number(page), history)).collect();
        // Half of the fetches that the pages need at the highest price at which they are fetched.
        let per_second = 50.0 / 86_400.0;
        let found = price(&Alike, &sample, 100, per_second, Moment::START).unwrap();
        let share = found.value() / 7417.4;
        assert!((0.998..=1.0).contains(&share), "{share}");
    }

    #[test]
    fn a_page_that_is_due_at_once_does_not_outweigh_the_others() {
        let now = Moment::from_micros(1_000_000_000);
        let history = History {
            asked: Some(now),
            ..History::default()
        };
        let sample: Vec<_> = (0..100).map(|page| (Number(page), history)).collect();
        let found = price(&WorthByWait, &sample, 100, 1.0, now).unwrap().value();
        // A hundred pages at one fetch per second: each page is fetched about every hundred
        // seconds.
        assert!((90.0..130.0).contains(&found), "{found}");
    }
}
