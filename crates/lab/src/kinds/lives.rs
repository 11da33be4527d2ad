//! The times at which the texts of pages change.
//!
//! Simulated servers answer from [`Lives`] and judges measure by it; no policy sees it.
//!
//! **Invariant:** the changes of a page are sorted by time, and each shows another text than the
//! one before. The first is the page's birth.

use page::PageUrl;
use policy::Moment;

use super::Histories;
use crate::LabError;

/// Pages and their changes.
#[derive(Debug, Clone, Default)]
pub struct Lives {
    urls: Vec<PageUrl>,
    /// Start of each page's changes in `changes`; the last entry is the end of all.
    starts: Vec<usize>,
    changes: Vec<Change>,
}

/// The text that a page shows from a time on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Change {
    /// Time of the change.
    pub at: Moment,
    /// Hash or number that identifies the text; `None` if the page is gone.
    pub text: Option<u64>,
}

impl Lives {
    /// Creates the changes of pages with these URLs from observations `(page, change)` in any
    /// order.
    ///
    /// Of several observations of a page at one time, the last one given holds.
    ///
    /// # Panics
    /// If a page is out of range.
    pub fn new(urls: Vec<PageUrl>, shown: impl Iterator<Item = (u32, Change)>) -> Self {
        let mut shown: Vec<(u32, Change)> = shown.collect();
        // The sort is stable, so the observation given last stays last of its time.
        shown.sort_by_key(|(page, change)| (*page, change.at));
        let mut lives = Self {
            starts: Vec::with_capacity(urls.len() + 1),
            urls,
            changes: Vec::with_capacity(shown.len()),
        };
        let mut rest = shown.as_slice();
        for page in 0..lives.urls.len() {
            let own = rest.partition_point(|(other, _)| *other as usize <= page);
            let (now, later) = rest.split_at(own);
            rest = later;
            lives.starts.push(lives.changes.len());
            lives.append(now);
        }
        assert!(rest.is_empty(), "an observation is of a page out of range");
        lives.starts.push(lives.changes.len());
        lives
    }

    /// Creates the text changes of the pages of a world, or their body changes if texts are
    /// unknown. Reads all bodies once.
    pub fn of_histories(histories: &Histories) -> Result<Self, LabError> {
        let texts = histories.texts()?;
        let shown = histories.versions().iter().map(|version| {
            let text = version.body.map(|body| texts[body as usize].0);
            (
                version.page,
                Change {
                    at: version.at,
                    text,
                },
            )
        });
        Ok(Self::new(histories.urls().to_vec(), shown))
    }

    fn append(&mut self, shown: &[(u32, Change)]) {
        let mut last = None;
        for (place, (_, change)) in shown.iter().enumerate() {
            let next = shown.get(place + 1);
            let replaced = next.is_some_and(|(_, next)| next.at == change.at);
            if !replaced && change.text != last {
                last = change.text;
                self.changes.push(*change);
            }
        }
    }

    /// Drops the changes of all pages but these, as if the others had never existed. Page numbers
    /// stay.
    pub fn retain(&mut self, kept: &[bool]) {
        let starts = std::mem::take(&mut self.starts);
        let changes = std::mem::take(&mut self.changes);
        for (page, bounds) in starts.windows(2).enumerate() {
            self.starts.push(self.changes.len());
            if kept[page] {
                self.changes
                    .extend_from_slice(&changes[bounds[0]..bounds[1]]);
            }
        }
        self.starts.push(self.changes.len());
    }

    /// Returns the number of pages, alive or not.
    pub fn pages(&self) -> usize {
        self.urls.len()
    }

    /// Returns the URL of a page.
    pub fn url(&self, page: usize) -> &PageUrl {
        &self.urls[page]
    }

    /// Returns the changes of a page, by time. The first is its birth; a page without changes never
    /// existed.
    pub fn of(&self, page: usize) -> &[Change] {
        &self.changes[self.starts[page]..self.starts[page + 1]]
    }

    /// Returns the times of the first birth and of the last change; `None` if there are no
    /// changes.
    pub fn span(&self) -> Option<(Moment, Moment)> {
        let moments = || self.changes.iter().map(|change| change.at);
        Some((moments().min()?, moments().max()?))
    }
}

/// Returns the text that a page with these changes shows at a time; `None` if it does not exist
/// then.
pub fn text_at(changes: &[Change], at: Moment) -> Option<u64> {
    let past = changes.partition_point(|change| change.at <= at);
    changes[..past].last()?.text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kinds::{Bodies, Body, Version};

    #[test]
    fn only_changes_are_kept_and_each_page_has_its_own() {
        let urls = [
            "http://a.example/",
            "http://b.example/",
            "http://c.example/",
        ];
        let urls = urls.map(|url| PageUrl::parse(url).unwrap()).to_vec();
        let at = Moment::from_micros;
        let shown = [
            (2, 5, Some(1)),
            (0, 9, None),
            (0, 3, Some(8)),
            (0, 4, Some(8)), // Unchanged.
            (0, 6, Some(7)), // Replaced at the same time.
            (0, 6, Some(8)),
            (2, 1, None), // Gone before its birth.
        ];
        let change = |(page, moment, text)| {
            (
                page,
                Change {
                    at: at(moment),
                    text,
                },
            )
        };
        let lives = Lives::new(urls, shown.into_iter().map(change));
        let texts = |page| -> Vec<_> {
            let each = lives.of(page).iter();
            each.map(|change| (change.at.micros(), change.text))
                .collect()
        };
        assert_eq!(texts(0), [(3, Some(8)), (9, None)]);
        assert_eq!(texts(1), []);
        assert_eq!(texts(2), [(5, Some(1))]);
        assert_eq!(lives.span(), Some((at(3), at(9))));
        for (moment, text) in [(2, None), (3, Some(8)), (8, Some(8)), (9, None)] {
            assert_eq!(text_at(lives.of(0), at(moment)), text, "{moment}");
        }
        assert_eq!(Lives::default().span(), None);
    }

    #[test]
    fn a_change_of_markup_alone_counts_only_if_texts_are_unknown() {
        let version = |at, body| Version {
            page: 0,
            at: Moment::from_micros(at),
            body,
        };
        let versions = vec![
            version(1, Some(0)),
            version(2, Some(1)),
            version(3, Some(2)),
            version(4, None),
        ];
        let bodies = ["<p>one</p>", "<b>one</b>", "<p>two</p>"].map(Body::html);
        let page = ["http://a.example/"].into_iter();
        let known = Histories::new(
            page.clone(),
            versions.clone(),
            Bodies::kept(bodies.to_vec()),
        );
        let lives = Lives::of_histories(&known).unwrap();
        let moments = |lives: &Lives| -> Vec<u64> {
            let changes = lives.of(0).iter();
            changes.map(|change| change.at.micros()).collect()
        };
        assert_eq!(moments(&lives), [1, 3, 4]);
        let unknown = Histories::new(page, versions, Bodies::unknown(3));
        let lives = Lives::of_histories(&unknown).unwrap();
        assert_eq!(moments(&lives), [1, 2, 3, 4]);
    }
}
