//! Learns the lines that most pages of a host have: menus, notices, captions of a template.
//!
//! **Invariant:** memory is bounded, by the number of hosts and by lines for each. What is learned only moves a line
//! from a page's body to its rest; no line is lost.
//!
//! Lines are counted in a table with one line a slot. A line that finds its slot taken takes one off the count
//! there, and the slot at zero: so a line that most pages have stays, and lines of single pages come and go (the
//! majority algorithm of Boyer & Moore, for each slot).

use std::collections::HashMap;

use xxhash_rust::xxh3::xxh3_64;

/// Hosts that are remembered, the most recent.
const HOSTS: usize = 256;

/// Slots of a host: 16 KiB.
const SLOTS: usize = 2048;

/// Pages after which older ones count half.
const FADE: u32 = 512;

/// Pages that must have a line before it counts as a template's.
const PAGES: u32 = 4;

/// Bytes of a line that is looked at: a longer one is a paragraph.
const LONGEST: usize = 200;

/// The lines of all hosts.
#[derive(Default)]
pub(super) struct Templates {
    hosts: HashMap<Box<str>, Lines>,
    /// Counts the pages, to know which host was seen last.
    clock: u64,
}

/// The lines of a host.
struct Lines {
    pages: u32,
    slots: Box<[Slot]>,
    seen: u64,
}

#[derive(Clone, Copy, Default)]
struct Slot {
    tag: u32,
    pages: u16,
    /// The last page that had it, so that a page counts once.
    last: u16,
}

impl Templates {
    /// Whether pages of a host were learned from.
    pub(super) fn knows(&self, host: &str) -> bool {
        self.hosts.contains_key(host)
    }

    /// Whether a line of a host is one of its template.
    pub(super) fn has(&self, host: &str, line: &str) -> bool {
        self.hosts.get(host).is_some_and(|lines| lines.has(line))
    }

    /// Learns from the lines of a page.
    pub(super) fn learn<'a>(&mut self, host: &str, text: impl Iterator<Item = &'a str>) {
        self.clock += 1;
        if !self.hosts.contains_key(host) {
            self.forget();
            self.hosts.insert(host.into(), Lines::default());
        }
        let lines = self.hosts.get_mut(host).expect("it was put there above");
        lines.seen = self.clock;
        lines.learn(text);
    }

    /// Makes room for another host.
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

impl Default for Lines {
    fn default() -> Self {
        Self {
            pages: 0,
            slots: vec![Slot::default(); SLOTS].into(),
            seen: 0,
        }
    }
}

impl Lines {
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

/// The slot of a line, and what tells it from others there.
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
    fn what_most_pages_have_is_learned() {
        let mut templates = Templates::default();
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
    fn a_line_that_is_often_on_one_page_is_none() {
        let mut templates = Templates::default();
        for _ in 0..2 {
            templates.learn("a.example", std::iter::repeat_n("x", 100));
        }
        for number in 0..10 {
            templates.learn("a.example", page(number, 5).lines());
        }
        assert!(!templates.has("a.example", "x"));
    }

    #[test]
    fn a_template_that_changed_is_learned_anew() {
        let mut templates = Templates::default();
        (0..FADE).for_each(|number| templates.learn("a.example", page(number, 3).lines()));
        (0..2 * FADE).for_each(|_| templates.learn("a.example", ["Start"].into_iter()));
        assert!(templates.has("a.example", "Start") && !templates.has("a.example", "Next"));
    }

    #[test]
    fn only_so_many_hosts_are_remembered() {
        let mut templates = Templates::default();
        for host in 0..HOSTS + 10 {
            templates.learn(&format!("{host}.example"), ["x"].into_iter());
        }
        assert_eq!(templates.hosts.len(), HOSTS);
        assert!(
            templates.knows(&format!("{}.example", HOSTS + 9)) && !templates.knows("0.example")
        );
    }
}
