//! What does an answer mean for the page, the index and the frontier?
//!
//! Pure: an answer and what was known before go in; the new record, the links and the change of the
//! index come out. The live crawl, `rebuild` and `import` all pass here.

use frontier::{PageCopy, Visited};
use page::media::Media;
use page::{LinkKind, PageId, PageUrl, charset, media};
use policy::{History, Moment, Outcome, Visit};

use crate::answer::Answer;

/// Redirects in a row, at most (hostile-web.md, row 20).
const HOPS: u8 = 10;

/// What is to be found by search.
#[derive(Debug, Clone)]
pub struct Text {
    /// The title, or the URL's last part where there is none.
    pub title: String,
    /// The readable text.
    pub body: String,
    /// The language that the page claims.
    pub claims: Option<String>,
}

/// A link to follow.
#[derive(Debug, Clone)]
pub struct Lead {
    /// Where to.
    pub url: PageUrl,
    /// Its id.
    pub id: PageId,
    /// Whether it is a redirect, and so no step away from the seed.
    pub redirect: bool,
    /// Its words.
    pub anchor: String,
}

/// What an answer means.
#[derive(Debug)]
pub struct Verdict {
    /// The record to keep; its places in the archive are filled in when it is committed.
    pub visited: Visited,
    /// Whether `visited.copy` is of this answer, and not of an earlier one.
    pub copied: bool,
    /// Whether the body is one that the archive has already, byte for byte.
    pub repeated: bool,
    /// What to follow.
    pub leads: Vec<Lead>,
    /// What to index.
    pub text: Option<Text>,
    /// Whether the page leaves the index.
    pub gone: bool,
}

impl Verdict {
    /// Whether a policy is to be told: a page that is as it was, byte for byte, says nothing new, and
    /// neither does an outage. The same words may come with other links.
    pub fn is_news(&self) -> bool {
        let outcome = self.visited.history.outcome;
        let other_bytes = self.copied && !self.repeated;
        other_bytes || matches!(outcome, Some(Outcome::Changed | Outcome::Gone))
    }
}

/// What is known of the page that was asked for.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    /// Its URL.
    pub url: &'a PageUrl,
    /// Redirects in a row that led to it.
    pub hops: u8,
    /// All visits before this one.
    pub history: History,
    /// What the last of them found.
    pub before: Option<&'a Visited>,
    /// When it was asked for.
    pub at: Moment,
}

impl<'a> Asked<'a> {
    /// A page whose archived answer is read once more, for its text.
    pub fn again(url: &'a PageUrl) -> Self {
        Self {
            url,
            hops: 0,
            history: History::default(),
            before: None,
            at: Moment::START,
        }
    }

    /// No answer, for this reason.
    pub fn unanswered(&self, outcome: Outcome, reason: &str, bytes: u64) -> Visited {
        Visited {
            history: self.history.after(Visit::new(self.at, outcome)),
            error: Some(reason.to_owned()),
            bytes,
            copy: self.before.and_then(|before| before.copy.clone()),
            ..Visited::default()
        }
    }

    /// Judges an answer of which `bytes` came over the wire. `ours` says whether a URL belongs to the
    /// crawl: a page whose canonical form does is found under that one.
    pub fn judge(&self, answer: &Answer, bytes: u64, ours: &dyn Fn(&PageUrl) -> bool) -> Verdict {
        let copy = self.before.and_then(|before| before.copy.as_ref());
        match answer.status {
            304 if copy.is_some() => self.settled(answer, bytes, Outcome::Unchanged),
            200..=299 => self.read(answer, bytes, ours),
            300..=399 => self.redirected(answer, bytes),
            429 | 500..=599 => self.settled(answer, bytes, Outcome::Unreachable),
            404 | 410 => Verdict {
                gone: copy.is_some(),
                ..self.settled(answer, bytes, Outcome::Gone)
            },
            _ => self.settled(answer, bytes, Outcome::Gone),
        }
    }

    fn settled(&self, answer: &Answer, bytes: u64, outcome: Outcome) -> Verdict {
        let failed = answer.status >= 400;
        let mut copy = self.before.and_then(|before| before.copy.clone());
        if let Some(copy) = &mut copy {
            copy.indexed &= !matches!(answer.status, 404 | 410);
        }
        Verdict {
            visited: Visited {
                history: self.history.after(Visit::new(self.at, outcome)),
                status: Some(answer.status),
                error: failed.then(|| format!("http:{}", answer.status)),
                bytes,
                copy,
                ..Visited::default()
            },
            copied: false,
            repeated: false,
            leads: Vec::new(),
            text: None,
            gone: false,
        }
    }

    fn redirected(&self, answer: &Answer, bytes: u64) -> Verdict {
        let mut verdict = self.settled(answer, bytes, Outcome::Gone);
        match &answer.location {
            Some(Ok(target)) if self.hops < HOPS => {
                verdict.leads.push(Lead::redirect(target.clone()))
            }
            Some(Ok(_)) => verdict.visited.error = Some("redirect:too-many".into()),
            Some(Err(_)) => verdict.visited.error = Some("redirect:not-a-page".into()),
            None => {}
        }
        verdict
    }

    fn read(&self, answer: &Answer, bytes: u64, ours: &dyn Fn(&PageUrl) -> bool) -> Verdict {
        let before = self.before.and_then(|before| before.copy.as_ref());
        let page = self.understand(answer);
        let same_bytes = before.is_some_and(|copy| copy.payload == answer.payload);
        let texts = (
            before.and_then(|copy| copy.text.as_ref()),
            page.digest.as_ref(),
        );
        let same_text =
            matches!(texts, (Some(old), Some(new)) if old.fingerprint == new.fingerprint);
        let outcome = if same_bytes || same_text {
            Outcome::Unchanged
        } else {
            Outcome::Changed
        };
        let elsewhere = |canonical: &PageUrl| canonical != self.url && ours(canonical);
        let canonical_elsewhere = page.canonical.as_ref().is_some_and(elsewhere);
        let indexed = page.text.is_some() && !page.noindex && !canonical_elsewhere;
        let kept_share = match texts {
            (Some(old), Some(new)) => Some(old.shingles.resemblance(&new.shingles) as f32),
            _ => None,
        };
        let mut verdict = self.settled(answer, bytes, outcome);
        verdict.visited.error = answer.truncated.map(str::to_owned);
        verdict.gone = before.is_some_and(|copy| copy.indexed) && !indexed;
        verdict.repeated = same_bytes;
        verdict.copied = true;
        verdict.visited.kept_share = kept_share;
        verdict.visited.copy = Some(PageCopy {
            // The body that the archive has already is the one to refer to.
            place: before.filter(|_| same_bytes).and_then(|copy| copy.place),
            at: before
                .filter(|_| same_bytes)
                .map_or(self.at, |copy| copy.at),
            payload: answer.payload,
            etag: answer.etag.clone(),
            last_modified: answer.last_modified.clone(),
            text: page.digest,
            indexed,
        });
        verdict.text = page.text.filter(|_| indexed);
        verdict.leads = page.leads;
        verdict
    }

    fn understand(&self, answer: &Answer) -> Understood {
        let declared = answer.content_type.as_deref();
        let forbidden = answer.directives;
        match media::kind(declared, &answer.content) {
            Media::Html => {
                let (html, _) = charset::decode(&answer.content, declared);
                let mut reading = page::read(&html, self.url, &page::Limits::default());
                let follow = !(forbidden.nofollow || reading.robots.nofollow);
                let mut leads = Vec::new();
                if follow {
                    let followed =
                        |link: &page::Link| !link.nofollow && link.kind != LinkKind::Feed;
                    let links = std::mem::take(&mut reading.links);
                    leads.extend(links.into_iter().filter(followed).map(|link| Lead {
                        anchor: reading.anchor(&link).to_owned(),
                        url: link.url,
                        id: link.id,
                        redirect: false,
                    }));
                    leads.extend(
                        reading
                            .refresh
                            .filter(|_| self.hops < HOPS)
                            .map(Lead::redirect),
                    );
                    leads.extend(reading.canonical.clone().map(Lead::redirect));
                }
                Understood {
                    noindex: forbidden.noindex || reading.robots.noindex,
                    canonical: reading.canonical,
                    leads,
                    text: Some(Text {
                        title: reading.title,
                        claims: reading.language,
                        body: reading.text,
                    }),
                    digest: Some(reading.digest),
                }
            }
            Media::Text => {
                let (text, _) = charset::decode(&answer.content, declared);
                Understood {
                    noindex: forbidden.noindex,
                    digest: Some(page::Digest::of(&text)),
                    text: Some(Text {
                        title: String::new(),
                        claims: None,
                        body: text.into_owned(),
                    }),
                    ..Understood::default()
                }
            }
            _ => Understood::default(),
        }
    }
}

#[derive(Default)]
struct Understood {
    leads: Vec<Lead>,
    text: Option<Text>,
    digest: Option<page::Digest>,
    canonical: Option<PageUrl>,
    noindex: bool,
}

impl Lead {
    /// Where a crawl begins.
    pub fn seed(url: &PageUrl) -> Self {
        Self {
            id: url.id(),
            url: url.clone(),
            redirect: false,
            anchor: String::new(),
        }
    }

    fn redirect(url: PageUrl) -> Self {
        Self {
            id: url.id(),
            url,
            redirect: true,
            anchor: String::new(),
        }
    }
}

#[cfg(test)]
mod tests;
