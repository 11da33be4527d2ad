//! Learns the lines that most pages of a host have: menus, notices, captions of its template.
//!
//! **Invariant:** memory is bounded, by the number of hosts and of lines per host. A learned
//! line only moves from a page's body to its rest; no line is lost.
//!
//! Lines are counted in a hash table with one line per slot. A line whose slot is taken by
//! another decrements the count there, and takes the slot when the count is at most 1. So lines
//! that most pages have stay, and lines of single pages come and go (the majority algorithm of
//! Boyer & Moore, per slot).

use std::collections::HashMap;

use xxhash_rust::xxh3::xxh3_64;

/// Maximum number of hosts; the least recently seen host is forgotten.
const HOSTS: usize = 256;

/// Slots per host. A slot has 8 bytes, so a host takes 16 KiB.
const SLOTS: usize = 2048;

/// Number of counted pages at which all counts of a host are halved, so that older pages count
/// less.
const FADE: u32 = 512;

/// Minimum number of pages with a line that counts as part of the template. The line must also be
/// on more than half of the host's pages.
const PAGES: u32 = 4;

/// Maximum bytes of a line that is counted. A longer line is a paragraph.
const LONGEST: usize = 200;

/// The template lines of all hosts.
#[derive(Default)]
pub(super) struct HostTemplates {
    hosts: HashMap<Box<str>, HostLines>,
    /// Number of pages so far, used as the time at which a host was last seen.
    clock: u64,
}

/// The lines of a host.
struct HostLines {
    pages: u32,
    slots: Box<[Slot]>,
    seen: u64,
}

#[derive(Clone, Copy, Default)]
struct Slot {
    tag: u32,
    pages: u16,
    /// The number of the last page that had the line, so that each page counts once.
    last: u16,
}

impl HostTemplates {
    /// Returns whether any page of a host was learned.
    pub(super) fn knows(&self, host: &str) -> bool {
        self.hosts.contains_key(host)
    }

    /// Returns whether a line is part of its host's template.
    pub(super) fn has(&self, host: &str, line: &str) -> bool {
        self.hosts.get(host).is_some_and(|lines| lines.has(line))
    }

    /// Learns the lines of a page.
    pub(super) fn learn<'a>(&mut self, host: &str, text: impl Iterator<Item = &'a str>) {
        self.clock += 1;
        if !self.hosts.contains_key(host) {
            self.forget();
            self.hosts.insert(host.into(), HostLines::default());
        }
        let lines = self.hosts.get_mut(host).expect("it was put there above");
        lines.seen = self.clock;
        lines.learn(text);
    }

    /// Forgets the least recently seen host if there are too many.
    fn forget(&mut self) {
        if self.hosts.len() < HOSTS {
            return;
        }
        let oldest = self.hosts.iter().min_by_key(|(_, lines)| lines.seen);
        if let Some(oldest) = oldest.map(|(host, _)| host.clone()) {
            self.hosts.remove(&oldest);
        }
    }
}

impl Default for HostLines {
    fn default() -> Self {
        Self {
            pages: 0,
            slots: vec![Slot::default(); SLOTS].into(),
            seen: 0,
        }
    }
}

impl HostLines {
    fn has(&self, line: &str) -> bool {
        if line.len() > LONGEST || self.pages < PAGES {
            return false;
        }
        let (place, tag) = slot(line);
        let slot = self.slots[place];
        let pages = u32::from(slot.pages);
        slot.tag == tag && pages >= PAGES && pages * 2 > self.pages
    }

    fn learn<'a>(&mut self, text: impl Iterator<Item = &'a str>) {
        if self.pages >= FADE {
            self.pages /= 2;
            for slot in &mut self.slots {
                slot.pages /= 2;
                slot.last = 0;
            }
        }
        self.pages += 1;
        let page = self.pages as u16;
        for line in text.filter(|line| (1..=LONGEST).contains(&line.len())) {
            let (place, tag) = slot(line);
            let slot = &mut self.slots[place];
            if slot.tag == tag {
                slot.pages += u16::from(slot.last != page);
            } else if slot.pages > 1 {
                slot.pages -= 1;
                continue;
            } else {
                *slot = Slot {
                    tag,
                    pages: 1,
                    last: page,
                };
            }
            slot.last = page;
        }
    }
}

/// Returns the slot of a line, and the tag that distinguishes it from other lines there.
fn slot(line: &str) -> (usize, u32) {
    let hash = xxh3_64(line.as_bytes());
    (hash as usize % SLOTS, (hash >> 32) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(number: u32, lines: u32) -> String {
        let own: Vec<String> = (0..lines)
            .map(|line| format!("line {line} of page {number}"))
            .collect();
        format!("Home | About\n{}\nNext", own.join("\n"))
    }

    #[test]
    fn lines_that_most_pages_have_are_learned() {
        let mut templates = HostTemplates::default();
        for number in 0..600 {
            let text = page(number, 50);
            let known = templates.has("a.example", "Home | About");
            assert!(!known || number >= PAGES, "{number}");
            assert!(known || number < 4 * PAGES, "{number}");
            assert!(!templates.has("a.example", "line 1 of page 0"));
            templates.learn("a.example", text.lines());
        }
        assert!(templates.has("a.example", "Next"));
        assert!(
            !templates.has("b.example", "Next"),
            "hosts do not share lines"
        );
    }

    #[test]
    fn a_line_repeated_on_few_pages_is_not_template() {
        let mut templates = HostTemplates::default();
        for _ in 0..2 {
            templates.learn("a.example", std::iter::repeat_n("x", 100));
        }
        for number in 0..10 {
            templates.learn("a.example", page(number, 5).lines());
        }
        assert!(!templates.has("a.example", "x"));
    }

    #[test]
    fn a_template_that_changed_is_learned_again() {
        let mut templates = HostTemplates::default();
        (0..FADE).for_each(|number| templates.learn("a.example", page(number, 3).lines()));
        (0..2 * FADE).for_each(|_| templates.learn("a.example", ["Start"].into_iter()));
        assert!(templates.has("a.example", "Start") && !templates.has("a.example", "Next"));
    }

    #[test]
    fn the_number_of_hosts_is_bounded() {
        let mut templates = HostTemplates::default();
        for host in 0..HOSTS + 10 {
            templates.learn(&format!("{host}.example"), ["x"].into_iter());
        }
        assert_eq!(templates.hosts.len(), HOSTS);
        assert!(
            templates.knows(&format!("{}.example", HOSTS + 9)) && !templates.knows("0.example")
        );
    }
}
