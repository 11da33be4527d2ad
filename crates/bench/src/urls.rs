//! Generates the URLs and words of invented pages.
//!
//! Hosts follow Zipf's law, as on the web. URLs are about as long as on the web (70 characters).
//!
//! **Invariant:** a URL is a function of its number, so no list is needed. Different numbers give
//! different URLs.

use anyhow::{Context, Result};
use page::PageUrl;

const SUBDOMAINS: [&str; 4] = ["www", "docs", "blog", "en"];
const ENDINGS: [&str; 6] = ["com", "org", "net", "de", "co.uk", "io"];
const SYLLABLES: [&str; 16] = [
    "ba", "co", "di", "fu", "ga", "hel", "in", "jo", "ka", "lum", "mo", "nor", "per", "qui", "ra",
    "sto",
];
const WORDS: [&str; 16] = [
    "archive", "news", "guide", "library", "review", "method", "summer", "report", "city",
    "language", "index", "market", "science", "people", "history", "release",
];

/// A generator of URLs on a number of servers.
#[derive(Debug, Clone, Copy)]
pub struct Urls {
    /// The number of servers.
    pub servers: u64,
}

impl Urls {
    /// Returns the URL of a number.
    pub fn url(self, number: u64) -> Result<PageUrl> {
        let text = self.text(number);
        PageUrl::parse(&text).with_context(|| format!("the invented URL {text}"))
    }

    /// Returns the anchor text of links to a URL: a few words, as in most links.
    pub fn anchor(number: u64) -> String {
        let chance = scramble(!number);
        let pick = |from: u32| WORDS[(chance >> from) as usize % 16];
        match chance >> 62 {
            0 => pick(0).to_owned(),
            1 => format!("{} {}", pick(0), pick(4)),
            2 => format!("the {} of {}", pick(0), pick(4)),
            _ => format!("{} {} and {}", pick(0), pick(4), pick(8)),
        }
    }

    fn text(self, number: u64) -> String {
        let chance = scramble(number);
        let server = self.server(chance);
        let name = scramble(!server);
        let pick = |from: u32| (chance >> from) as usize % 16;
        let syllable = |from: u32| SYLLABLES[(name >> from) as usize % 16];
        format!(
            "https://{}.{}{}{}{server}.{}/{}/{}/{}-{}-{number}.html",
            SUBDOMAINS[(name >> 32) as usize % SUBDOMAINS.len()],
            syllable(0),
            syllable(4),
            syllable(8),
            ENDINGS[(name >> 40) as usize % ENDINGS.len()],
            WORDS[pick(0)],
            2000 + pick(4),
            WORDS[pick(8)],
            WORDS[pick(12)],
        )
    }

    /// Draws a server by Zipf's law.
    ///
    /// The k-th of n servers has the probability ln((k+1)/k) / ln(n+1), about 1/k of that of the
    /// first, since (n+1)^u ≥ k+1 exactly when u ≥ ln(k+1) / ln(n+1).
    fn server(self, chance: u64) -> u64 {
        let rank = ((self.servers + 1) as f64).powf(share(chance)) as u64;
        rank.clamp(1, self.servers)
    }
}

/// Returns a random number whose frequency follows Zipf's law among `ranks` numbers.
///
/// Small and large numbers are equally likely to be frequent. Equal `draw`s give equal numbers.
pub fn popular(draw: u64, ranks: u64) -> u64 {
    scramble((ranks as f64).powf(share(scramble(draw))) as u64)
}

/// Appends the word of a rank, from 1 on. Frequent words are short.
pub fn spell(mut rank: u64, text: &mut String) {
    const SYLLABLES: [&str; 16] = [
        "ka", "lo", "mi", "ten", "ra", "su", "vel", "or", "pa", "ni", "dor", "es", "tu", "gan",
        "bi", "lum",
    ];
    while rank > 0 {
        text.push_str(SYLLABLES[(rank % 16) as usize]);
        rank /= 16;
    }
}

/// Maps random bits to a number from 0 to 1.
pub fn share(chance: u64) -> f64 {
    (chance >> 11) as f64 / (1u64 << 53) as f64
}

/// The hash of SplitMix64 (Steele, Lea & Flood, OOPSLA 2014).
///
/// It is a bijection, and every bit of the result depends on every bit of the argument.
pub fn scramble(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ mixed >> 31
}

#[cfg(test)]
mod tests {
    use std::collections::{HashMap, HashSet};

    use super::*;

    #[test]
    fn urls_are_distinct_and_normal_and_about_70_characters_long() {
        let urls = Urls { servers: 1000 };
        let ids: HashSet<_> = (0..20_000)
            .map(|number| urls.url(number).unwrap().id())
            .collect();
        assert_eq!(ids.len(), 20_000);
        let length: usize = (0..20_000).map(|number| urls.text(number).len()).sum();
        assert!((60..80).contains(&(length / 20_000)), "{}", length / 20_000);
        let odd = (0..1000).find(|&number| urls.url(number).unwrap().as_str() != urls.text(number));
        assert_eq!(odd, None, "all URLs are in normal form");
    }

    #[test]
    fn servers_follow_zipfs_law() {
        let urls = Urls { servers: 100 };
        let mut pages: HashMap<u64, f64> = HashMap::new();
        for number in 0..100_000 {
            *pages.entry(urls.server(scramble(number))).or_default() += 1.0;
        }
        assert_eq!(pages.len(), 100, "every server has pages");
        for rank in [1u64, 2, 10, 50] {
            let expected = 100_000.0 * ((rank + 1) as f64 / rank as f64).ln() / 101f64.ln();
            let off = (pages[&rank] - expected).abs() / expected;
            assert!(
                off < 0.1,
                "server {rank}: {} pages, not {expected}",
                pages[&rank]
            );
        }
    }

    #[test]
    fn a_web_of_one_server_has_all_pages_on_it() {
        let urls = Urls { servers: 1 };
        assert!((0..1000).all(|number| urls.server(scramble(number)) == 1));
    }
}
