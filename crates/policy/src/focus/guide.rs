//! Where did links lead, in crawls that have ended?
//!
//! Two things are learned of the words of links between pages that were read. Whether the page behind a link is of the
//! topic; and, as McCallum et al., "Automating the construction of internet portals with machine learning" (2000), what following it
//! is worth in all: V(u) = (1−γ) r(u) + γ max V(pages that u leads to), over the whole of the web that was crawled. **Invariant:** only
//! pages that were read are learned of, and only links between them.

use serde::{Deserialize, Serialize};

use super::judge::ON_TOPIC;
use super::seen::{named, near, signs};
use super::signpost::{Lesson, Signpost};
use super::word_counts::Spoken;

/// What is left of a reward a link further.
pub const GAMMA: f32 = 0.5;
/// Rounds after which what is still to come of a reward is below a thousandth.
const ROUNDS: usize = 10;
/// Links to pages of the topic, and to others, without which there is nothing to learn.
const LEAST: usize = 10;

/// What links promise.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Guide {
    /// That the page behind a link is of the topic: by URL, anchor and the words around it.
    pub topic: Signpost,
    /// (1−γ)·Q of following it: by anchor and the words around it, by its URL where it has none.
    pub reward: Signpost,
}

/// A link, as those see it who have not followed it.
#[derive(Debug, Clone, Copy)]
pub struct Pointer<'a> {
    /// Where to.
    pub url: &'a str,
    /// Its words.
    pub anchor: &'a str,
    /// Its words and some on either side.
    pub around: &'a str,
}

/// A crawl that has ended.
#[derive(Debug, Clone, Default)]
pub struct Crawled {
    rewards: Vec<f32>,
    links: Vec<Followed>,
}

#[derive(Debug, Clone)]
struct Followed {
    from: usize,
    to: usize,
    signs: Vec<u32>,
    near: Vec<u32>,
}

impl Crawled {
    /// Takes in a page that is of the topic so likely. Returns its place among the pages.
    pub fn page(&mut self, reward: f32) -> usize {
        self.rewards.push(reward);
        self.rewards.len() - 1
    }

    /// Takes in a link between two pages that were taken in.
    pub fn link(&mut self, from: usize, to: usize, link: &Pointer<'_>) {
        self.links.push(Followed {
            from,
            to,
            signs: signs(link),
            near: near(&Spoken::of(link.anchor, link.around), &named(link.url)),
        });
    }

    /// What is to be learned; `None`: too few links lead to the topic, or to anything else.
    pub fn learn(&self) -> Option<Guide> {
        let on = |link: &&Followed| self.rewards[link.to] >= ON_TOPIC;
        let leading = self.links.iter().filter(on).count();
        if leading < LEAST || self.links.len() - leading < LEAST {
            return None;
        }
        let values = self.values();
        let lessons = |words: fn(&Followed) -> &Vec<u32>, of: &[f32]| -> Vec<Lesson> {
            let each = self.links.iter();
            each.map(|link| (words(link).clone(), of[link.to]))
                .collect()
        };
        Some(Guide {
            topic: Signpost::learn(&lessons(|link| &link.signs, &self.rewards)),
            reward: Signpost::learn(&lessons(|link| &link.near, &values)),
        })
    }

    /// V of each page.
    fn values(&self) -> Vec<f32> {
        let own: Vec<f32> = self.rewards.iter().map(|r| (1.0 - GAMMA) * r).collect();
        let mut values = own.clone();
        for _ in 0..ROUNDS {
            let mut next = own.clone();
            for link in &self.links {
                let through = own[link.from] + GAMMA * values[link.to];
                next[link.from] = next[link.from].max(through);
            }
            values = next;
        }
        values
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(anchor: &str) -> Pointer<'_> {
        Pointer {
            url: "http://a.org/x",
            anchor,
            around: "",
        }
    }

    #[test]
    fn a_page_is_worth_what_can_be_reached_from_it() {
        // 0 → 1 → 2, which is of the topic; 3 leads to itself.
        let mut crawled = Crawled::default();
        for reward in [0.0, 0.0, 1.0, 0.0] {
            crawled.page(reward);
        }
        for (from, to) in [(0, 1), (1, 2), (3, 3)] {
            crawled.link(from, to, &link(""));
        }
        assert_eq!(crawled.values(), [0.125, 0.25, 0.5, 0.0]);
        assert!(crawled.learn().is_none(), "one link leads to the topic");
    }

    #[test]
    fn hubs_have_a_reward_and_are_not_of_the_topic() {
        // Twenty sites: a home page, a list that it calls "courses", a course, and a page about nothing.
        let mut crawled = Crawled::default();
        for _ in 0..20 {
            let [home, list, course, other] = [0.0, 0.0, 1.0, 0.0].map(|r| crawled.page(r));
            crawled.link(home, list, &link("courses"));
            crawled.link(list, course, &link("algebra"));
            crawled.link(home, other, &link("weather"));
        }
        let guide = crawled.learn().unwrap();
        let topic = |words: &str| guide.topic.promise(&signs(&link(words)));
        let reward = |words: &str| guide.reward.promise(&near(&Spoken::of(words, ""), &[]));
        assert!(topic("algebra") > 0.6 && topic("courses") < 0.4);
        assert!(reward("algebra") > reward("courses") + 0.1);
        assert!(reward("courses") > reward("weather") + 0.1);
    }
}
