//! The share of discovery that minimizes obsolete pages: WebFountain's optimization of the ratio
//! between old and new URLs.
//!
//! Edwards, McCurley & Tomlin, "An adaptive model for optimizing performance of an incremental web
//! crawler" (WWW 2001), as Baldi, Frasconi & Smyth (2003), §6.4.3, describe it: pages are grouped
//! into buckets of similar change rate, and the ratio of old to new URLs is the solution of a
//! constrained optimization. A page is obsolete if its copy is outdated or missing.
//!
//! Over the horizon H the crawl visits each page of bucket b at the rate `f_b`, and makes `z`
//! first copies a second:
//!
//! - Of the bucket's `n_b` pages, `1 − (f/λ)(1 − e^(−λ/f))` are obsolete on average.
//! - New pages appear at the rate ν, and N wait. `N + (ν − z)t` wait at time t, and on average
//!   `N + (ν − z)H/2`, as long as `z` is at most `ν + N/H`.
//! - The budget is `Σ n_b·f_b + z(1 + c)`, where c is the number of polls for each new page.
//!
//! Both kinds have the same marginal gain at the optimum. One more fetch a second for refreshes of
//! bucket b removes `g(λ/f)/λ` obsolete pages, and one for discovery `H/(2(1 + c))`.
//!
//! **Difference from the paper:** the paper plans the visits to each bucket for several periods,
//! and its crawler follows that plan. Here the rates are constant over the horizon, and only the
//! ratio is used; the production policies choose the pages of each kind.

use policy::plan::gain::age_of_gain;

/// What the crawler knows of its pages.
#[derive(Debug, Clone, PartialEq)]
pub struct OldNew {
    /// Change rate a second and number of pages, for each bucket.
    pub buckets: Vec<(f64, f64)>,
    /// New pages a second.
    pub births: f64,
    /// New pages that are known and have no copy.
    pub waiting: f64,
    /// Polls for each new page.
    pub polls: f64,
    /// Fetches a second.
    pub budget: f64,
    /// The horizon, in seconds.
    pub horizon: f64,
}

/// Returns the share of the budget that discovery gets.
pub fn discovery_share(pages: &OldNew) -> f64 {
    let refreshes = |gain: f64| -> f64 {
        let each = pages.buckets.iter().map(|&(rate, count)| {
            // Visits at which the marginal gain g(λ/f)/λ equals `gain`; none if it never does.
            let ratio = age_of_gain(gain * rate);
            if ratio.is_finite() && ratio > 0.0 {
                count * rate / ratio
            } else {
                0.0
            }
        });
        each.sum()
    };
    let cost = 1.0 + pages.polls;
    let most = cost * (pages.births + pages.waiting / pages.horizon);
    // Refreshes whose marginal gain is larger come before discovery. Discovery takes the rest, up
    // to all that there is to discover. What is then left goes to refreshes with a smaller gain.
    let discovery = pages.horizon / (2.0 * cost);
    let left = (pages.budget - refreshes(discovery)).max(0.0);
    left.min(most) / pages.budget
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: f64 = 86_400.0;

    fn pages() -> OldNew {
        OldNew {
            buckets: vec![(1.0 / DAY, 100.0), (0.1 / DAY, 1000.0)],
            births: 50.0 / DAY,
            waiting: 0.0,
            polls: 1.0,
            budget: 300.0 / DAY,
            horizon: 4.0 * DAY,
        }
    }

    /// Returns the number of obsolete pages if the two buckets and discovery get these shares of
    /// the budget.
    fn obsolete(pages: &OldNew, shares: [f64; 2], discovery: f64) -> f64 {
        let old = pages.buckets.iter().zip(shares);
        let old = old.map(|(&(rate, count), share)| {
            let visits = share * pages.budget / count;
            if visits == 0.0 {
                return count;
            }
            count * (1.0 - visits / rate * (1.0 - (-rate / visits).exp()))
        });
        let first_copies = discovery * pages.budget / (1.0 + pages.polls);
        let first_copies = first_copies.min(pages.births + pages.waiting / pages.horizon);
        let new = pages.waiting + (pages.births - first_copies) * pages.horizon / 2.0;
        old.sum::<f64>() + new
    }

    /// Returns the least number of obsolete pages if discovery gets this share, of all divisions
    /// of the rest in thousandths.
    fn least(pages: &OldNew, discovery: f64) -> f64 {
        let rest = 1.0 - discovery;
        let found = (0..=1000).map(|part| {
            let one = rest * f64::from(part) / 1000.0;
            obsolete(pages, [one, (rest - one).max(0.0)], discovery)
        });
        found.fold(f64::INFINITY, f64::min)
    }

    #[test]
    fn no_division_of_a_brute_force_search_leaves_fewer_obsolete_pages() {
        for (budget, waiting, horizon) in [
            (300.0, 0.0, 4.0),
            (300.0, 100.0, 4.0),
            (100.0, 0.0, 20.0),
            (100.0, 0.0, 1.0),
            (1000.0, 0.0, 4.0),
        ] {
            let pages = OldNew {
                budget: budget / DAY,
                waiting,
                horizon: horizon * DAY,
                ..pages()
            };
            let share = discovery_share(&pages);
            assert!((0.0..=1.0).contains(&share));
            let found = least(&pages, share);
            let searched = (0..=200).map(|part| least(&pages, f64::from(part) / 200.0));
            let best = searched.fold(f64::INFINITY, f64::min);
            assert!(
                found <= best * 1.0001,
                "{budget} {waiting} {horizon}: {share} leaves {found}, the best {best}"
            );
            // The search can tell a wrong share from the right one.
            let wrong = if share > 0.5 {
                share - 0.4
            } else {
                share + 0.4
            };
            assert!(least(&pages, wrong) > best * 1.001, "{share}");
        }
    }

    #[test]
    fn more_new_pages_get_more_of_the_budget() {
        let few = discovery_share(&pages());
        let many = discovery_share(&OldNew {
            births: 200.0 / DAY,
            budget: 1000.0 / DAY,
            ..pages()
        });
        let none = discovery_share(&OldNew {
            births: 0.0,
            ..pages()
        });
        assert!(none < few && few < many, "{none} {few} {many}");
        assert_eq!(none, 0.0);
    }
}
