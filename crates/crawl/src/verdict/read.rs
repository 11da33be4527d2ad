//! Reads a body and compares it with the last copy.

use bytes::Bytes;
use frontier::PageCopy;
use page::listing::{self, ListingKind, Refused};
use page::media::Media;
use page::missing::{is_missing, looks_missing};
use page::{
    LinkKind, Listing, PageUrl, ReadLimits, TextDigest, body_hash, charset, is_body_hash, language,
    media,
};
use policy::{Moment, Outcome, Visit};

use super::{Asked, HOPS, IndexText, Lead, Signal, Verdict};
use crate::answer::Answer;

/// Words on either side of a link that form its context. The laboratory uses the same number.
const AROUND: usize = 8;

/// What was parsed from a body. The media type decides how it is parsed.
#[derive(Default)]
struct ParsedBody {
    leads: Vec<Lead>,
    text: Option<IndexText>,
    digest: Option<TextDigest>,
    canonical: Option<PageUrl>,
    noindex: bool,
    listing: Option<ListingKind>,
    hub: Option<PageUrl>,
    signals: Vec<Signal>,
    strangers: u32,
    error: Option<&'static str>,
}

impl Asked<'_> {
    /// Judges an answer whose body is read.
    pub(super) fn read(
        &self,
        answer: &Answer,
        bytes: u64,
        ours: &dyn Fn(&PageUrl) -> bool,
    ) -> Verdict {
        let page = self.parse_body(answer);
        let suspect = page.looks_missing();
        if self.is_soft_404(&page, suspect) {
            return self.soft_404(answer, bytes);
        }
        let before = self.copy();
        let payload = answer.payload.unwrap_or_else(|| body_hash(&answer.content));
        let same_bytes = before.is_some_and(|copy| has_body_of(copy, answer, &payload));
        let texts = before
            .and_then(|copy| copy.text.as_ref())
            .zip(page.digest.as_ref());
        let same_text = texts.is_some_and(|(old, new)| old.fingerprint == new.fingerprint);
        let kept_share = texts.map(|(old, new)| old.shingles.resemblance(&new.shingles) as f32);
        let changed = !same_bytes && !same_text;
        let visit = Visit {
            at: self.at,
            outcome: if changed {
                Outcome::Changed
            } else {
                Outcome::Unchanged
            },
            differing: 1.0 - kept_share.unwrap_or(0.0),
        };
        let elsewhere = |canonical: &PageUrl| canonical != self.url && ours(canonical);
        let canonical_elsewhere = page.canonical.as_ref().is_some_and(elsewhere);
        let indexed = page.text.is_some() && !page.noindex && !canonical_elsewhere;
        // The `Link` header has priority over the document (WebSub, §4).
        let hub = answer.hub.as_ref().or(page.hub.as_ref());
        let mut verdict = self.settled(answer, bytes, visit);
        // A suspicion alone is recorded as an error code and has no other effect.
        let suspicion = suspect.then_some("soft-404?");
        verdict.visited.error = answer
            .truncated
            .or(page.error)
            .or(suspicion)
            .map(str::to_owned);
        verdict.visited.kept_share = kept_share;
        verdict.gone = before.is_some_and(|copy| copy.indexed) && !indexed;
        verdict.repeated = same_bytes;
        verdict.copied = true;
        verdict.lied = changed
            && texts.is_some()
            && before.is_some_and(|copy| has_validators_of(copy, answer));
        verdict.visited.copy = Some(PageCopy {
            // An identical body is not archived again: the location stays.
            place: before.filter(|_| same_bytes).and_then(|copy| copy.place),
            at: before
                .filter(|_| same_bytes)
                .map_or(self.at, |copy| copy.at),
            payload,
            etag: answer.etag.clone(),
            last_modified: answer.last_modified.clone(),
            text: page.digest,
            indexed,
            hub: hub.map(|hub| hub.as_str().to_owned()),
        });
        verdict.text = page.text.filter(|_| indexed);
        if let Some(text) = verdict.text.as_mut().filter(|_| !self.details.body) {
            // Frees the text here, on the thread that made it, and not after the commit.
            text.body = String::new();
        }
        verdict.leads = page.leads;
        let history = verdict.visited.history;
        verdict.visited.history = history.listing(page.listing.is_some());
        verdict.listing = page.listing;
        verdict.signals = page.signals;
        verdict.strangers = page.strangers;
        verdict
    }

    /// Returns whether the text is that of the host's soft 404 page. A home page is excluded:
    /// many hosts show it instead of a 404.
    fn is_soft_404(&self, page: &ParsedBody, suspect: bool) -> bool {
        let texts = self.missing.zip(page.digest.as_ref());
        let home = self.url.path_and_query() == "/";
        page.text.is_some()
            && !home
            && texts.is_some_and(|(missing, text)| is_missing(text, missing, suspect))
    }

    fn parse_body(&self, answer: &Answer) -> ParsedBody {
        let declared = answer.content_type.as_deref();
        match media::kind(declared, &answer.content) {
            Media::Html => {
                let (html, _) = charset::decode(&answer.content, declared);
                self.html(answer, &html, "html")
            }
            Media::Text => self.list(answer).unwrap_or_else(|_| self.plain(answer)),
            Media::Feed | Media::Sitemap | Media::Xml => self.list(answer).unwrap_or_else(unlisted),
            Media::Other if is_gzip(&answer.content) => self.list(answer).unwrap_or_else(unlisted),
            Media::Document => self.document(answer),
            Media::Other => ParsedBody::default(),
        }
    }

    /// Parses the HTML that a document was converted to.
    fn document(&self, answer: &Answer) -> ParsedBody {
        match &answer.document {
            Some(Ok(document)) => ParsedBody {
                error: document.cut.then_some("document:cut"),
                ..self.html(answer, &document.html, document.format)
            },
            Some(Err(code)) => ParsedBody {
                error: Some(code),
                ..ParsedBody::default()
            },
            None => ParsedBody::default(),
        }
    }

    /// Returns `words`, if the context of links is requested; else an empty text.
    fn place<'t>(&self, words: impl FnOnce() -> &'t str) -> String {
        match self.details.places {
            true => words().to_owned(),
            false => String::new(),
        }
    }

    /// Detects the language of a text, if it is requested.
    fn language(&self, text: &str, claim: Option<&str>) -> Option<String> {
        let wanted = self.details.language;
        wanted.then(|| language::detect(text, claim)).flatten()
    }

    fn plain(&self, answer: &Answer) -> ParsedBody {
        let (text, _) = charset::decode(&answer.content, answer.content_type.as_deref());
        ParsedBody {
            noindex: answer.directives.noindex,
            digest: Some(TextDigest::of(&text)),
            text: Some(IndexText {
                title: String::new(),
                language: self.language(&text, answer.language.as_deref()),
                body: text.into_owned(),
                asides: Vec::new(),
                sections: Vec::new(),
                linked: 0,
                kind: "text",
                stated: page::Fields::default(),
            }),
            ..ParsedBody::default()
        }
    }

    /// Parses a page. `kind` is its type in the index.
    fn html(&self, answer: &Answer, html: &str, kind: &'static str) -> ParsedBody {
        let limits = ReadLimits {
            parts: self.details.parts(),
            ..ReadLimits::default()
        };
        let mut reading = page::read(html, self.url, &limits);
        let mut leads = Vec::new();
        if !answer.directives.nofollow && !reading.robots.nofollow {
            let links = std::mem::take(&mut reading.links);
            let followed = links.into_iter().filter(|link| !link.nofollow);
            leads.extend(followed.map(|link| Lead {
                anchor: reading.anchor(&link).to_owned(),
                aside: link.aside,
                around: self.place(|| reading.around(&link, AROUND)),
                path: self.place(|| reading.path(&link)),
                url: link.url,
                id: link.id,
                redirect: false,
                listing: link.kind == LinkKind::Feed,
            }));
            let refresh = reading.refresh.filter(|_| self.hops < HOPS);
            leads.extend(refresh.map(Lead::redirect));
            leads.extend(reading.canonical.clone().map(Lead::redirect));
        }
        ParsedBody {
            noindex: answer.directives.noindex || reading.robots.noindex,
            canonical: reading.canonical,
            leads,
            text: Some(IndexText {
                title: reading.title,
                language: self.language(
                    &reading.text,
                    reading.language.as_deref().or(answer.language.as_deref()),
                ),
                body: reading.text,
                asides: reading.asides,
                sections: reading.sections,
                linked: reading.linked,
                kind,
                stated: reading.fields,
            }),
            digest: Some(reading.digest),
            ..ParsedBody::default()
        }
    }

    /// Reads a sitemap or a feed. It has no text to index, so a `noindex` has no effect.
    fn list(&self, answer: &Answer) -> Result<ParsedBody, Refused> {
        let declared = answer.content_type.as_deref();
        let now = self.at.unix_seconds();
        let listing = listing::read(&answer.content, declared, self.url, now)?;
        let mut parsed = ParsedBody {
            digest: Some(listing.digest()),
            listing: Some(listing.kind),
            hub: listing.hub.clone(),
            strangers: listing.strangers,
            error: listing.broken.then_some("listing:broken"),
            ..ParsedBody::default()
        };
        if !answer.directives.nofollow {
            parsed.follow(listing);
        }
        Ok(parsed)
    }
}

impl ParsedBody {
    fn follow(&mut self, listing: Listing) {
        let lists = listing.kind == ListingKind::Index;
        for entry in listing.entries {
            let lead = Lead {
                listing: lists,
                ..Lead::to(entry.url)
            };
            let seconds = entry.modified.and_then(|at| u64::try_from(at).ok());
            self.signals.extend(seconds.map(|seconds| Signal {
                page: lead.id,
                modified: Moment::from_micros(seconds.saturating_mul(1_000_000)),
            }));
            self.leads.push(lead);
        }
    }

    fn looks_missing(&self) -> bool {
        let text = self.text.as_ref();
        text.is_some_and(|text| looks_missing(&text.title, &text.body))
    }
}

fn unlisted(refused: Refused) -> ParsedBody {
    ParsedBody {
        error: (refused == Refused::Doctype).then_some("listing:doctype"),
        ..ParsedBody::default()
    }
}

fn is_gzip(content: &Bytes) -> bool {
    content.starts_with(b"\x1f\x8b\x08")
}

/// Returns whether the body of an answer, with this digest, equals that of the copy.
fn has_body_of(copy: &PageCopy, answer: &Answer, payload: &[u8; 20]) -> bool {
    copy.payload == *payload
        || is_body_hash(&copy.payload) && copy.payload == body_hash(&answer.content)
}

/// Returns whether an answer has the validators of the copy, so that the server would have
/// answered 304. If both have an entity tag, it decides alone (RFC 9110, 13.2.2).
fn has_validators_of(copy: &PageCopy, answer: &Answer) -> bool {
    match (&copy.etag, &answer.etag) {
        (Some(old), Some(new)) => old == new,
        _ => copy.last_modified.is_some() && copy.last_modified == answer.last_modified,
    }
}
