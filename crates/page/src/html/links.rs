//! Collects the links of a page.
//!
//! **Invariant:** each target is kept once, in order of first occurrence, up to the limit. The
//! spellings of targets are stored too. A repeated target in a stored spelling costs one hash of
//! its text and no URL parsing. The table of spellings has at most twice as many entries as the
//! limit of links.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::ops::Range;

use memchr::memchr;
use xxhash_rust::xxh3::xxh3_64;

use super::reading::{Link, LinkKind};
use crate::url::{PageUrl, Refusal};

/// Collects links.
pub(super) struct LinkCollector {
    base: PageUrl,
    /// Whether the page has set its base. Later `base` elements are ignored.
    base_set: bool,
    pub(super) links: Vec<Link>,
    /// Index of a link, by the hash of its target as written and by its id.
    known: HashMap<u64, u32, BuildHasherDefault<AlreadyHashed>>,
    pub(super) not_links: u32,
    pub(super) malformed: u32,
    pub(super) dropped: u32,
}

/// The kind and position of a link.
pub(super) struct LinkPlace {
    pub(super) kind: LinkKind,
    pub(super) path: u32,
    pub(super) at: u32,
}

impl LinkCollector {
    pub(super) fn new(base: &PageUrl) -> Self {
        Self {
            base: base.clone(),
            base_set: false,
            links: Vec::with_capacity(64),
            known: HashMap::with_capacity_and_hasher(224, BuildHasherDefault::default()),
            not_links: 0,
            malformed: 0,
            dropped: 0,
        }
    }

    /// Applies the first valid `base` of the page.
    pub(super) fn set_base(&mut self, href: &str) {
        if self.base_set {
            return;
        }
        if let Ok(base) = self.base.join(href.trim()) {
            self.base_set = true;
            self.base = base;
            self.known.clear();
            for (index, link) in self.links.iter().enumerate() {
                self.known
                    .insert(link.id.within_host() ^ link.id.host().0, index as u32);
            }
        }
    }

    /// Resolves a target that is not collected as a link (canonical, refresh).
    pub(super) fn resolve(&self, target: &str) -> Option<PageUrl> {
        self.base.join(target.trim()).ok()
    }

    /// Adds a link. Returns its index, whether it is new or known; `None` if it is not a link or
    /// exceeds the limit.
    ///
    /// `place` is called only for a new link.
    pub(super) fn add(
        &mut self,
        target: &str,
        nofollow: bool,
        limit: usize,
        place: impl FnOnce() -> LinkPlace,
    ) -> Option<u32> {
        let target = trim(target);
        let target = match memchr(b'#', target.as_bytes()) {
            // A reference to a fragment of this page.
            Some(0) if !self.base_set => return None,
            Some(fragment) => &target[..fragment],
            None => target,
        };
        if has_other_scheme(target) {
            self.not_links += 1;
            return None;
        }
        let written = xxh3_64(target.as_bytes());
        if let Some(&index) = self.known.get(&written) {
            return Some(self.again(index, nofollow));
        }
        if self.links.len() >= limit {
            self.dropped += 1;
            return None;
        }
        let url = match self.base.join(target) {
            Ok(url) => url,
            Err(Refusal::Scheme) => {
                self.not_links += 1;
                return None;
            }
            Err(Refusal::Malformed) => {
                self.malformed += 1;
                return None;
            }
        };
        let id = url.id();
        let new = self.links.len() as u32;
        let index = *self
            .known
            .entry(id.within_host() ^ id.host().0)
            .or_insert(new);
        // One target can be written in many ways (`?`, `./`, percent signs), so these keys are
        // bounded too.
        if self.known.len() < 2 * limit {
            self.known.insert(written, index);
        }
        if index < new {
            return Some(self.again(index, nofollow));
        }
        let LinkPlace { kind, path, at } = place();
        self.links.push(Link {
            url,
            id,
            anchor: at..at,
            kind,
            nofollow,
            path,
            aside: false,
        });
        Some(new)
    }

    /// Sets the anchor text of a link, unless it has some. Text outside of navigation replaces
    /// text inside it.
    pub(super) fn set_anchor(&mut self, index: u32, anchor: Range<u32>, aside: bool) {
        if let Some(link) = self.links.get_mut(index as usize)
            && !anchor.is_empty()
            && (link.anchor.is_empty() || link.aside && !aside)
        {
            link.anchor = anchor;
            link.aside = aside;
        }
    }

    /// Handles a further link to a known target. The target counts as nofollow only if all links
    /// to it have `rel=nofollow`.
    fn again(&mut self, index: u32, nofollow: bool) -> u32 {
        if let Some(link) = self.links.get_mut(index as usize) {
            link.nofollow &= nofollow;
        }
        index
    }
}

/// Removes spaces and control characters at both ends, as the URL standard does.
fn trim(target: &str) -> &str {
    let is_edge = |byte: Option<&u8>| byte.is_some_and(|byte| *byte <= b' ');
    match target.as_bytes() {
        bytes if is_edge(bytes.first()) || is_edge(bytes.last()) => {
            target.trim_matches(|c| c <= ' ')
        }
        _ => target,
    }
}

/// Returns whether the target names a scheme other than HTTP.
fn has_other_scheme(target: &str) -> bool {
    let Some(colon) = target
        .bytes()
        .position(|b| !(b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.')))
    else {
        return false;
    };
    let (scheme, rest) = target.split_at(colon);
    rest.starts_with(':')
        && scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && !scheme.eq_ignore_ascii_case("http")
        && !scheme.eq_ignore_ascii_case("https")
}

/// A hasher for keys that are already hashes. Forged collisions slow down only their own page,
/// bounded by the limit of links.
#[derive(Default)]
pub(super) struct AlreadyHashed(u64);

impl Hasher for AlreadyHashed {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0 = xxh3_64(bytes);
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}
