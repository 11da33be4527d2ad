//! Quality gained over time and over pages.
//!
//! The three measures of Cao, Jiang & Singh (2003), §5.3: speed, quality and overall efficiency.
//!
//! **Invariant:** shares are of the total quality of the web. Times are from the start of the
//! crawl to the end of a page's response.

/// The quality that one crawl gained, page by page.
#[derive(Debug, Clone, PartialEq)]
pub struct QualityGain {
    /// Pages in order of completion, with the time in seconds.
    fetched: Vec<(u32, f64)>,
    /// Share of the total quality that the pages up to each position hold.
    gained: Vec<f64>,
}

impl QualityGain {
    /// Creates the gain of pages completed in this order; `qualities` are by page number.
    pub fn new(fetched: Vec<(u32, f64)>, qualities: &[f64]) -> Self {
        let all: f64 = qualities.iter().sum();
        let mut sum = 0.0;
        let gained = fetched.iter().map(|&(page, _)| {
            sum += qualities.get(page as usize).copied().unwrap_or(0.0);
            sum / all.max(f64::MIN_POSITIVE)
        });
        let gained = gained.collect();
        Self { fetched, gained }
    }

    /// Returns the gain of the same crawl with other qualities.
    pub fn judged(&self, qualities: &[f64]) -> Self {
        Self::new(self.fetched.clone(), qualities)
    }

    /// Returns the number of pages fetched.
    pub fn pages(&self) -> usize {
        self.fetched.len()
    }

    /// Returns the time at which the last page was completed, in seconds.
    pub fn total(&self) -> f64 {
        self.fetched.last().map_or(0.0, |&(_, at)| at)
    }

    /// Returns the share of quality gained after this share of the fetched pages.
    pub fn at_pages(&self, share: f64) -> f64 {
        self.after((share * self.pages() as f64).round() as usize)
    }

    /// Returns the share of quality gained by a time in seconds.
    pub fn at_time(&self, seconds: f64) -> f64 {
        self.after(self.by(seconds))
    }

    /// Returns the share of the fetched pages completed by a time in seconds.
    pub fn pages_at_time(&self, seconds: f64) -> f64 {
        self.by(seconds) as f64 / self.pages().max(1) as f64
    }

    /// Returns the time in seconds at which this share of the fetched pages was completed.
    pub fn time_of_pages(&self, share: f64) -> f64 {
        let pages = (share * self.pages() as f64).ceil() as usize;
        let last = self.fetched.get(pages.max(1) - 1);
        last.map_or(f64::NAN, |&(_, at)| at)
    }

    /// Returns the time in seconds at which this share of quality was gained; NaN if it never was.
    pub fn time_to(&self, share: f64) -> f64 {
        let enough = self.gained.iter().position(|&gained| gained >= share);
        enough.map_or(f64::NAN, |page| self.fetched[page].1)
    }

    /// Returns the mean share of quality held over the first `seconds`: 1 if all of it were there
    /// from the start.
    pub fn mean_by_time(&self, seconds: f64) -> f64 {
        let (mut area, mut before) = (0.0, (0.0, 0.0));
        for (&(_, at), &gained) in self.fetched.iter().zip(&self.gained) {
            let at = at.min(seconds);
            area += (at - before.0) * before.1;
            before = (at, gained);
        }
        area += (seconds - before.0).max(0.0) * before.1;
        area / seconds.max(f64::MIN_POSITIVE)
    }

    fn by(&self, seconds: f64) -> usize {
        self.fetched.partition_point(|&(_, at)| at <= seconds)
    }

    fn after(&self, pages: usize) -> f64 {
        match pages.min(self.pages()) {
            0 => 0.0,
            pages => self.gained[pages - 1],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_count_the_pages_completed_so_far() {
        // Qualities 1, 5, 2, 2; fetched best first.
        let qualities = [1.0, 5.0, 2.0, 2.0];
        let gain = QualityGain::new(vec![(1, 1.0), (2, 2.0), (3, 4.0), (0, 10.0)], &qualities);
        for (share, expected) in [(0.0, 0.0), (0.25, 0.5), (0.5, 0.7), (0.75, 0.9), (1.0, 1.0)] {
            assert!((gain.at_pages(share) - expected).abs() < 1e-12, "{share}");
        }
        for (time, expected) in [(0.5, 0.0), (1.0, 0.5), (3.9, 0.7), (4.0, 0.9), (99.0, 1.0)] {
            assert!((gain.at_time(time) - expected).abs() < 1e-12, "{time}");
        }
        assert_eq!(gain.pages_at_time(3.0), 0.5);
        assert_eq!((gain.time_to(0.5), gain.time_to(0.8)), (1.0, 4.0));
        assert!(gain.time_to(1.5).is_nan());
        assert_eq!((gain.pages(), gain.total()), (4, 10.0));
        // 1·0 + 1·.5 + 2·.7 + 6·.9 over ten seconds, and 1 for ten more.
        assert!((gain.mean_by_time(10.0) - 0.73).abs() < 1e-12);
        assert!((gain.mean_by_time(20.0) - 0.865).abs() < 1e-12);
        assert!((gain.mean_by_time(3.0) - 1.2 / 3.0).abs() < 1e-12);
    }

    #[test]
    fn other_qualities_are_applied_to_the_same_crawl() {
        let fetched = vec![(0, 1.0), (1, 2.0)];
        let gain = QualityGain::new(fetched.clone(), &[3.0, 1.0]);
        assert_eq!(
            gain.judged(&[1.0, 3.0]),
            QualityGain::new(fetched, &[1.0, 3.0])
        );
        assert_eq!(gain.at_pages(0.5), 0.75);
    }

    #[test]
    fn nothing_fetched_is_nothing_gained() {
        let gain = QualityGain::new(Vec::new(), &[1.0]);
        assert_eq!(
            (gain.at_pages(0.5), gain.at_time(9.0), gain.total()),
            (0.0, 0.0, 0.0)
        );
        assert_eq!(gain.mean_by_time(0.0), 0.0);
    }
}
