//! Recovery at start: brings archive and index to the state of the ledger.
//!
//! **Invariant:** after recovery, new records are appended behind the archive end that the ledger
//! stores. The index has exactly the pages that the ledger marks as indexed, in their newest
//! version, except pages that the archive has lost. If the ledger has lost commits, all intact
//! records stay in the archive, where `avocet rebuild` finds them.

pub mod in_links;
pub mod searches;

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use frontier::{Entry, PageKey, Placed, Said};
use ledger::{Batch, Ledger};
use page::{PageId, PageUrl, RecordLocation};
use policy::Needs;
use policy::words::{lower, words};
use repository::archive::{self, End};
use repository::index::{self, Index, IndexError, Mentions};
use tracing::{info, warn};

use crate::answer;
use crate::number::counted;
use crate::slot_note::{is_unread, note_of};
use crate::store::Store;
use crate::work_progress::{NoProgress, WorkProgress, WorkUnit};
use crawl::TOKEN;
use crawl::scope::Scope;
use crawl::verdict::{Asked, Details, IndexText, Verdict};
use in_links::{InLinks, PendingLinks};

/// Memory of the index writer for documents that are not written to disk yet, in bytes.
const INDEX_HEAP: usize = 24 << 20;

/// Adds to the scope the URLs to which seeds redirected, if they are in the domain of one of
/// `seeds`.
pub fn widen(scope: &mut Scope, seeds: &[PageUrl], ledger: &Ledger) -> Result<()> {
    for target in ledger
        .seeds()?
        .iter()
        .filter_map(|url| PageUrl::parse(url).ok())
    {
        if seeds.iter().any(|seed| scope.follows_seed(seed, &target)) {
            scope.add_seed(&target);
        }
    }
    Ok(())
}

/// Turns pages that were discovered by links into seeds, because the user names them now.
pub fn name_seeds(seeds: &[PageUrl], ledger: &Ledger) -> Result<()> {
    let mut batch = Batch::default();
    for seed in seeds {
        let key = PageKey::of(seed);
        let Some(mut discovery) = ledger.discovery(key)? else {
            continue;
        };
        if discovery.source.take().is_some() {
            discovery.depth = 0;
            batch.entries.push(Entry::Admitted(key, discovery));
        }
    }
    if !batch.entries.is_empty() {
        ledger.commit(&batch)?;
    }
    Ok(())
}

/// The texts of known pages, for policies that learn from them.
///
/// For an ordering with a query, the index gives the counts of the query's words. For a policy that
/// judges texts, the pages are read again from the archive.
#[derive(Default)]
pub struct Texts {
    mentions: HashMap<PageId, Mentions>,
    archived: HashMap<PageId, (PageUrl, RecordLocation)>,
    archive: PathBuf,
}

impl Texts {
    /// Passes the text of one page, or the counts of the query's words in it, to `receive`.
    pub fn pass(&self, page: PageId, receive: &mut dyn FnMut(Said<'_>)) {
        let read = self.archived.get(&page).and_then(|(url, place)| {
            let asked = Asked {
                details: Details::ALL,
                ..Asked::again(url)
            };
            kept(&self.archive, *place, &asked)
        });
        if let Some(verdict) = read {
            return pass_archived(verdict, receive);
        }
        let mentions = self.mentions.get(&page).copied().unwrap_or_default();
        receive(Said {
            text: policy::Text::Counted {
                in_title: mentions.in_title,
                in_body: mentions.in_body,
                // `Frontier::recall` takes this number from the ledger.
                words: 0,
            },
            links: &[],
        });
    }
}

/// Collects what [`Texts`] needs to pass texts to a policy after a restart.
///
/// Counts the words of the query in the index, if there is a query and an index. Finds the archive
/// locations of all copies, if the policy needs the places of links.
pub fn texts(store: &Store, ledger: &Ledger, query: Option<&str>, needs: Needs) -> Result<Texts> {
    let mut texts = Texts {
        archive: store.archive(),
        ..Texts::default()
    };
    if let Some(query) = query.filter(|_| store.index().exists()) {
        let words: Vec<String> = words(query).map(|word| lower(word).collect()).collect();
        let found = Index::open(&store.index())?.mentions(&words)?;
        texts.mentions = found.into_iter().collect();
    }
    if needs.places {
        for known in ledger.scan() {
            let known = known?;
            let copy = known.visited.and_then(|visited| visited.copy);
            if let Some(place) = copy.and_then(|copy| copy.place) {
                let url = PageUrl::parse(&known.discovery.url)?;
                texts.archived.insert(known.key.page, (url, place));
            }
        }
    }
    Ok(texts)
}

/// Passes the text of an archived page and the places of its links to `receive`.
fn pass_archived(verdict: Verdict, receive: &mut dyn FnMut(Said<'_>)) {
    let leads = verdict.leads.into_iter();
    let links: Vec<Placed> = leads
        .map(|lead| Placed {
            to: lead.id,
            anchor: lead.anchor,
            around: lead.around,
            path: lead.path,
        })
        .collect();
    let text = verdict.text.as_ref();
    receive(Said {
        text: text.map_or(policy::Text::Nothing, IndexText::told),
        links: &links,
    });
}

/// Opens the index and brings it up to the ledger's sequence. Rebuilds it from the archive if it is
/// damaged, or ahead of the ledger.
pub fn open_index(store: &Store, ledger: &Ledger) -> Result<index::PageIndexWriter> {
    open_index_and_show(store, ledger, &NoProgress)
}

/// Does the work of [`open_index`], and shows how far the index is.
pub fn open_index_and_show(
    store: &Store,
    ledger: &Ledger,
    progress: &dyn WorkProgress,
) -> Result<index::PageIndexWriter> {
    let path = store.index();
    let ahead = IndexAhead::of(store, ledger)?;
    let why = match try_open_index(store, ledger, progress) {
        _ if ahead.is_some() => "it is ahead of the ledger".to_owned(),
        Ok(writer) => return Ok(writer),
        Err(error) if is_damage(&error) => format!("{:#}", error.root_cause()),
        Err(error) => return Err(error),
    };
    warn!(path = %path.display(), "the index is made again from the archive: {why}");
    fs::remove_dir_all(&path).with_context(|| format!("cannot remove {}", path.display()))?;
    try_open_index(store, ledger, progress)
}

fn try_open_index(
    store: &Store,
    ledger: &Ledger,
    progress: &dyn WorkProgress,
) -> Result<index::PageIndexWriter> {
    let index = Index::open(&store.index())?;
    index.check()?;
    let (indexed, committed) = (index.sequence()?, ledger.sequence()?);
    let mut writer = index.writer(INDEX_HEAP)?;
    if indexed != Some(committed) {
        let from = indexed.unwrap_or(0);
        catch_up(store, ledger, &mut writer, from, progress)?;
    }
    Ok(writer)
}

/// An index with commits that the ledger does not have: the ledger has lost them.
#[derive(Debug, thiserror::Error)]
#[error(
    "the ledger is damaged: its last commit is number {ledger}, and the index holds commit {index}"
)]
pub struct IndexAhead {
    ledger: u64,
    index: u64,
}

impl IndexAhead {
    /// Compares index and ledger. Returns `None` if the index is not ahead, or cannot be read.
    pub fn of(store: &Store, ledger: &Ledger) -> Result<Option<Self>> {
        let ledger = ledger.sequence()?;
        let ahead = index::committed(&store.index()).filter(|index| *index > ledger);
        Ok(ahead.map(|index| Self { ledger, index }))
    }
}

fn is_damage(error: &anyhow::Error) -> bool {
    let index = error.downcast_ref::<IndexError>();
    matches!(index, Some(IndexError::Damaged { .. }))
}

/// Opens the archive at the end that the ledger stores, and warns if the two disagree. `at_risk` is
/// the most records that this process can have uncommitted at once.
pub fn open_archive(
    store: &Store,
    ledger: &Ledger,
    info: archive::Info,
    at_risk: usize,
) -> Result<archive::ArchiveWriter> {
    let before = ledger
        .at_risk()?
        .and_then(|before| usize::try_from(before).ok());
    let ahead = IndexAhead::of(store, ledger)?;
    let explained = match &ahead {
        Some(_) => 0,
        None => before.unwrap_or(at_risk),
    };
    let options = archive::ArchiveOptions {
        max_bytes: archive::MAX_BYTES,
        info,
        at_risk: explained,
    };
    let end = ledger
        .archive_end()?
        .map(|(file, offset)| End { file, offset });
    let writer = archive::ArchiveWriter::open(&store.archive(), options, end)
        .context("cannot open the archive")?;
    let found = writer.discrepancy();
    let remedy = format!("avocet rebuild --store {}", store.root().display());
    for path in &found.set_aside {
        warn!(path = %path.display(), "set aside: a killed process had begun this file and committed nothing of it");
    }
    if let Some(ahead) = ahead {
        warn!("{ahead}. Run `{remedy}` to find the lost pages in the archive");
    } else if let Some(records) = found.unexplained {
        warn!(
            "the ledger is damaged: the archive holds {} after the last position that the ledger has committed, and a kill can \
             leave {explained} at most. The archive keeps all records. Run `{remedy}` to find their pages",
            counted(records, "record")
        );
    }
    if let Some(short) = &found.short {
        warn!(
            "the archive is damaged: {short}. New pages go to another file; `avocet verify` lists what is lost"
        );
    }
    if before != Some(at_risk) {
        ledger.set_at_risk(at_risk as u64)?;
    }
    Ok(writer)
}

/// Completes all files of the archive, and cuts off what a killed process left uncommitted. Fails
/// if the archive is damaged.
pub fn close_archive(store: &Store, ledger: &Ledger) -> Result<()> {
    let writer = open_archive(store, ledger, archive_info(Vec::new()), 0)?;
    let found = writer.discrepancy();
    if found.unexplained.is_some() || found.short.is_some() {
        bail!(
            "the archive and the ledger do not agree: run `avocet verify --store {}` first",
            store.root().display()
        );
    }
    archive::remove_unfinished(writer.dir())?;
    writer.close().context("cannot close the archive")
}

/// Returns the `warcinfo` fields of the WARC files that this program writes.
pub fn archive_info(notes: Vec<(String, String)>) -> archive::Info {
    archive::Info {
        software: concat!("avocet/", env!("CARGO_PKG_VERSION")).to_owned(),
        robots: "obey".to_owned(),
        notes,
        ..archive::Info::default()
    }
}

/// Indexes the pages that the ledger committed after `sequence`.
///
/// Copies of other nodes of a cluster are left to the background (`copies::arrivals`): a takeover
/// must not wait for them. If the background has read them, an index that is not empty has them.
fn catch_up(
    store: &Store,
    ledger: &Ledger,
    writer: &mut index::PageIndexWriter,
    sequence: u64,
    progress: &dyn WorkProgress,
) -> Result<()> {
    let (mut indexed, mut unread) = (0u64, 0u64);
    // An index that is not empty lacks few pages.
    let pages = match sequence {
        0 => ledger.pages_known()?,
        _ => 0,
    };
    progress.begin("indexing pages", pages, WorkUnit::Steps);
    let note = note_of(ledger)?;
    // An index that is not empty already has its links.
    let mut links = match sequence {
        0 => InLinks::all(ledger)?,
        _ => InLinks::default(),
    };
    for (number, known) in (1..).zip(ledger.scan()) {
        let known = known?;
        progress.reach(number);
        let Some(visited) = known.visited.filter(|visited| visited.sequence > sequence) else {
            continue;
        };
        let Some(copy) = visited.copy else {
            writer.remove(known.key.page)?;
            continue;
        };
        let foreign = |place: &RecordLocation| !archive::is_own(&store.archive(), place.file);
        let left = sequence > 0 || is_unread(&note, known.key.partition);
        if left && copy.indexed && copy.place.as_ref().is_some_and(foreign) {
            continue;
        }
        let url = PageUrl::parse(&known.discovery.url)?;
        let text = match copy.place.filter(|_| copy.indexed) {
            Some(place) => kept_text(&store.archive(), place, &url),
            None => None,
        };
        unread += u64::from(copy.indexed && text.is_none());
        indexed += 1;
        match &text {
            Some(text) => {
                let links = links.take(known.key.page);
                put(
                    writer,
                    known.key,
                    &url,
                    copy.at.unix_seconds(),
                    text,
                    &links,
                )?;
            }
            None => {
                writer.remove(known.key.page)?;
            }
        }
    }
    writer
        .commit(ledger.sequence()?)
        .context("cannot commit the index")?;
    if indexed > 0 {
        info!(documents = indexed, "the index caught up with the ledger");
    }
    if unread > 0 {
        warn!(
            pages = unread,
            "not searchable: the archive does not have them; fetch them again with --refresh-after 1s"
        );
    }
    Ok(())
}

/// Reads the text of an archived page; `None` if it cannot be read or must not be indexed.
pub fn kept_text(archive: &Path, place: RecordLocation, url: &PageUrl) -> Option<IndexText> {
    kept(archive, place, &Asked::again(url))?.text
}

/// Reads an archived page again and judges it.
fn kept(archive: &Path, place: RecordLocation, asked: &Asked<'_>) -> Option<Verdict> {
    let url = asked.url;
    let record = archive::read(archive, &place)
        .inspect_err(|error| warn!(%url, %error, "cannot read the page from the archive"))
        .ok()?;
    let answer = answer::kept(&record, url, TOKEN).ok()?;
    Some(asked.judge(&answer, 0, &|_| false))
}

/// Puts a page into the index, with the links to it that the index does not have yet. Returns the
/// gain for searchers, if it is measured.
pub fn put(
    index: &mut index::PageIndexWriter,
    key: PageKey,
    url: &PageUrl,
    fetched_at: i64,
    text: &IndexText,
    links: &PendingLinks,
) -> Result<Option<f64>> {
    let anchors: Vec<&str> = links.words.iter().map(String::as_str).collect();
    index
        .put(&index::Document {
            title: &text.title,
            text: &text.body,
            asides: &text.asides,
            sections: &text.sections,
            linked: text.linked,
            anchors: &anchors,
            in_links: links.links,
            kind: text.kind,
            language: text.language.as_deref(),
            fetched_at,
            stated: Some(&text.stated),
            ..index::Document::new(key.page, url.as_str(), url.host_name())
        })
        .with_context(|| format!("cannot index {url}"))
}
