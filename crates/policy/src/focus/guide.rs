//! Link models learned from completed crawls.
//!
//! Two models are learned from the words of links between read pages. The first predicts whether
//! the page behind a link is of the topic. The second predicts the value of following the link,
//! as in McCallum et al., "Automating the construction of internet portals with machine
//! learning" (2000): V(u) = (1−γ) r(u) + γ max V(pages that u links to), over the whole crawled
//! graph.
//!
//! **Invariant:** only read pages and the links between them are used.

use serde::{Deserialize, Serialize};

use super::judge::ON_TOPIC;
use super::link_model::{LinkExample, LinkModel};
use super::unread::{link_features, url_features, word_features};
use super::word_counts::LinkWords;

/// Discount factor γ of a reward, per link.
pub const GAMMA: f32 = 0.5;
/// Iterations of value iteration. Further ones add less than γ¹⁰ < 0.001.
const ROUNDS: usize = 10;
/// Minimum number of links to pages of the topic, and minimum number of links to other pages, to
/// learn from.
const LEAST: usize = 10;

/// Link models of a topic.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Guide {
    /// Predicts whether the page behind a link is of the topic, from URL, anchor and the words
    /// around it.
    pub topic: LinkModel,
    /// Predicts V of the page behind a link, from the anchor and the words around it, or from the
    /// URL if the link has no words.
    pub reward: LinkModel,
}

/// A link, described without its target's content.
#[derive(Debug, Clone, Copy)]
pub struct Pointer<'a> {
    /// The URL of its target.
    pub url: &'a str,
    /// Its anchor text.
    pub anchor: &'a str,
    /// Its anchor text and some words on either side.
    pub around: &'a str,
}

/// The graph of a completed crawl.
#[derive(Debug, Clone, Default)]
pub struct CrawledGraph {
    rewards: Vec<f32>,
    links: Vec<CrawledLink>,
}

#[derive(Debug, Clone)]
struct CrawledLink {
    from: usize,
    to: usize,
    /// Features for the model [`Guide::topic`].
    signs: Vec<u32>,
    /// Features for the model [`Guide::reward`].
    near: Vec<u32>,
}

impl CrawledGraph {
    /// Adds a page and returns its index. `reward` is the probability that it is of the topic.
    pub fn page(&mut self, reward: f32) -> usize {
        self.rewards.push(reward);
        self.rewards.len() - 1
    }

    /// Adds a link between two pages, given by their indices.
    pub fn link(&mut self, from: usize, to: usize, link: &Pointer<'_>) {
        self.links.push(CrawledLink {
            from,
            to,
            signs: link_features(link),
            near: word_features(
                &LinkWords::of(link.anchor, link.around),
                &url_features(link.url),
            ),
        });
    }

    /// Learns the link models.
    ///
    /// Returns `None` if fewer than [`LEAST`] links lead to the topic, or to other pages.
    pub fn learn(&self) -> Option<Guide> {
        let on = |link: &&CrawledLink| self.rewards[link.to] >= ON_TOPIC;
        let leading = self.links.iter().filter(on).count();
        if leading < LEAST || self.links.len() - leading < LEAST {
            return None;
        }
        let values = self.values();
        let examples = |words: fn(&CrawledLink) -> &Vec<u32>, of: &[f32]| -> Vec<LinkExample> {
            let each = self.links.iter();
            each.map(|link| (words(link).clone(), of[link.to]))
                .collect()
        };
        Some(Guide {
            topic: LinkModel::learn(&examples(|link| &link.signs, &self.rewards)),
            reward: LinkModel::learn(&examples(|link| &link.near, &values)),
        })
    }

    /// Computes V of each page by value iteration.
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
    fn the_value_of_a_page_is_the_discounted_best_reward_that_it_leads_to() {
        // 0 → 1 → 2, which is of the topic; 3 links to itself.
        let mut crawled = CrawledGraph::default();
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
        // Twenty sites: a home page, a list that it links as "courses", a course, and a page
        // about the weather.
        let mut crawled = CrawledGraph::default();
        for _ in 0..20 {
            let [home, list, course, other] = [0.0, 0.0, 1.0, 0.0].map(|r| crawled.page(r));
            crawled.link(home, list, &link("courses"));
            crawled.link(list, course, &link("algebra"));
            crawled.link(home, other, &link("weather"));
        }
        let guide = crawled.learn().unwrap();
        let topic = |words: &str| guide.topic.promise(&link_features(&link(words)));
        let reward = |words: &str| {
            guide
                .reward
                .promise(&word_features(&LinkWords::of(words, ""), &[]))
        };
        assert!(topic("algebra") > 0.6 && topic("courses") < 0.4);
        assert!(reward("algebra") > reward("courses") + 0.1);
        assert!(reward("courses") > reward("weather") + 0.1);
    }
}
