//! `avocet verify`: checks that archive, ledger and index agree, and names problems and the remedy.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use anyhow::{Result, bail};
use frontier::PageKey;
use ledger::Ledger;
use page::PageId;
use repository::archive::{self, End, PayloadDigest, RecordKind, RecordLocation, WarcRecord};
use repository::index::{self, Index, IndexError};
use serde_json::json;

use crate::archive_position::ArchivePosition;
use crate::progress_bar::Bar;
use node::access::StoreView;
use node::forget::ForgetLog;
use node::number::counted;
use node::recovery;
use node::slot_note::{is_unread, note_of};
use node::store::Store;
use node::work_progress::{WorkProgress, WorkUnit};

/// Maximum number of problems that are listed; further ones are only counted.
const LISTED: usize = 1000;

/// What the archive and the index must hold according to the ledger.
#[derive(Default)]
struct Expected {
    urls: u64,
    /// URLs that were not requested yet.
    waiting: u64,
    /// URLs that were requested and have no copy: an error, a redirect or a refusal.
    without_copy: u64,
    /// Pages that were fetched with `--no-archive`.
    unarchived: u64,
    /// The page and the payload digest of each copy, by its place in the archive.
    places: HashMap<RecordLocation, (PageKey, [u8; 20])>,
    indexed: HashSet<PageId>,
    /// Pages that were taken over from another node of a cluster. Their copies may not be fetched
    /// and indexed yet.
    arriving: HashSet<PageId>,
    /// Pages that were visited after the last commit of the index. Only a running crawl has such
    /// pages.
    unsettled: HashSet<PageId>,
}

/// Compares archive and index with the ledger. Fails if it finds a problem.
pub fn run(root: &Path, json: bool) -> Result<()> {
    let mut store = StoreView::open(root)?;
    let mut indexed_now = None;
    if store.held().is_none() {
        // The index may only be older than the ledger: it commits later.
        indexed_now = Some(IndexedPages::read(&store)?);
        store = StoreView::open(root)?;
    }
    let Expected {
        urls,
        waiting,
        without_copy,
        unarchived,
        places,
        indexed,
        arriving,
        unsettled,
    } = expected(&store, indexed_now.as_ref())?;
    let copies = places.len();
    let found = check_archive(&store, places, &arriving)?;
    let (mut problems, passed_over, elsewhere) = found;
    let found = match (store.held(), indexed_now) {
        (Some((store, ledger)), _) => check_index(store, ledger, &mut problems)?,
        (None, Some(now)) => Some(now.pages),
        (None, None) => None,
    };
    let documents = found.as_ref().map_or(0, HashSet::len);
    if let Some(found) = found {
        let exempt = arriving.union(&unsettled).copied().collect();
        compare_index(&indexed, &found, &exempt, &mut problems);
    }
    let unfinished = ForgetLog::read(root)?.unfinished();
    problems.extend(unfinished.iter().map(|target| {
        format!("the removal of {target} was interrupted: run `avocet forget` for it again")
    }));
    let agree = problems.is_empty();
    let remedy = format!(
        "`avocet rebuild --store {}`. It rebuilds ledger, index and CDXJ files from what the archive still holds. If WARC \
         files are missing or truncated, it refuses unless --accept-loss is given; the next crawl then fetches the lost pages",
        root.display()
    );
    let found = problems.len();
    problems.truncate(LISTED);
    if json {
        outln!(
            "{}",
            json!({
                "urls": urls, "waiting": waiting, "without_copy": without_copy, "copies": copies,
                "documents": documents, "problems": problems, "agree": agree,
                "passed_over": passed_over, "elsewhere": elsewhere, "arriving": arriving.len(),
                "running": store.held().is_none(), "unsettled": unsettled.len(),
                "remedy": (!agree).then_some(&remedy),
            })
        );
    } else {
        outln!(
            "{} in the ledger: {copies} with a copy in the archive, {waiting} not requested yet, {without_copy} without a copy (errors, redirects, refusals)",
            counted(urls, "URL")
        );
        if unarchived > 0 {
            outln!("{unarchived} more fetched and not archived (--no-archive)");
        }
        if elsewhere > 0 {
            outln!("{elsewhere} of the copies are in files of other nodes of the cluster");
        }
        if !arriving.is_empty() {
            outln!(
                "{} taken over from another node and not read yet: the crawl fetches and indexes their copies",
                counted(arriving.len(), "page")
            );
        }
        if store.held().is_none() {
            outln!(
                "a crawl runs: checked as of now, without the checksums of the index; {} later than the last commit of the index",
                counted(unsettled.len(), "visit")
            );
        }
        let has_index = store.index().exists();
        let rest = match copies.saturating_sub(documents) {
            0 => String::new(),
            rest => format!(
                "; {} not searchable (noindex, no text, another canonical URL, gone from the web)",
                counted(rest, "other copy")
            ),
        };
        match has_index {
            true => outln!("{} in the index{rest}", counted(documents, "document")),
            false => outln!("the store has no index"),
        }
        if passed_over > 0 {
            outln!(
                "{} left in the archive, skipped by `avocet rebuild`",
                counted(passed_over, "damaged record")
            );
        }
        problems.iter().for_each(|problem| outln!("  {problem}"));
        if found > problems.len() {
            outln!("  and {} more", found - problems.len());
        }
        let in_archive = format!("{} in the archive", counted(copies, "copy"));
        if agree && has_index {
            outln!(
                "archive, ledger and index agree: {in_archive}, {} in the index",
                counted(documents, "document")
            );
        } else if agree {
            outln!("archive and ledger agree: {in_archive}");
        }
    }
    if !agree {
        bail!("{}. Run {remedy}", counted(found, "problem"));
    }
    Ok(())
}

fn expected(store: &StoreView, indexed: Option<&IndexedPages>) -> Result<Expected> {
    let mut expected = Expected::default();
    let ledger = store.ledger();
    let note = note_of(ledger)?;
    for known in ledger.scan() {
        let known = known?;
        expected.urls += 1;
        let Some(visited) = known.visited else {
            expected.waiting += 1;
            continue;
        };
        if indexed.is_some_and(|indexed| visited.sequence > indexed.sequence) {
            expected.unsettled.insert(known.key.page);
        }
        let Some(copy) = visited.copy else {
            expected.without_copy += 1;
            continue;
        };
        if copy.indexed {
            expected.indexed.insert(known.key.page);
        }
        match copy.place {
            None => expected.unarchived += 1,
            Some(place) => {
                expected.places.insert(place, (known.key, copy.payload));
                if is_unread(&note, known.key.partition)
                    && !archive::is_own(&store.archive(), place.file)
                {
                    expected.arriving.insert(known.key.page);
                }
            }
        }
    }
    Ok(expected)
}

/// Reads the whole archive, and the copies in files of other nodes of a cluster. Returns the
/// problems, the number of damaged records that a rebuild has skipped, and the number of copies of
/// other nodes.
///
/// Problems are damaged records and CDXJ files, copies that are missing or have another body,
/// records of pages that the ledger does not know, and more records after the last commit than a
/// kill can leave. Skipped records are not problems: there is nothing to repair.
fn check_archive(
    store: &StoreView,
    mut copies: HashMap<RecordLocation, (PageKey, [u8; 20])>,
    arriving: &HashSet<PageId>,
) -> Result<(Vec<String>, u64, u64)> {
    let ledger = store.ledger();
    let name = |key: PageKey| -> Result<String> {
        let known = ledger.discovery(key)?;
        Ok(known.map_or_else(|| format!("{:?}", key.page), |known| known.url))
    };
    let mut problems = Vec::new();
    let (mut uncommitted, mut unknown) = (0u64, 0u64);
    let end = ledger.archive_end()?;
    let end = end.map_or(End { file: 1, offset: 0 }, |(file, offset)| End {
        file,
        offset,
    });
    let behind = |file: u32, offset: u64| End { file, offset } >= end;
    let position = ArchivePosition::of(&store.archive())?;
    let bar = Bar::new();
    bar.begin("checking the archive", position.size(), WorkUnit::Bytes);
    let mut check = |at: &RecordLocation, record: &WarcRecord| -> Result<()> {
        bar.reach(position.before(at.file, at.offset));
        if let Some((key, payload)) = copies.remove(at) {
            if PayloadDigest::of(&[&record.body()]) != PayloadDigest(payload) {
                problems.push(format!("{}: the archive holds another body", name(key)?));
            }
        } else if let (RecordKind::Response | RecordKind::Revisit, Some(url)) =
            (record.kind(), record.url())
        {
            if behind(at.file, at.offset) {
                uncommitted += 1;
            } else if ledger.discovery(PageKey::of(&url))?.is_none() {
                unknown += 1;
            }
        }
        Ok(())
    };
    let wrong = match store.archive().exists() {
        true => archive::verify(&store.archive(), &mut check)?,
        false => Vec::new(),
    };
    bar.finish();
    let known: HashSet<(u32, u64)> = ledger.passed_over()?.into_iter().collect();
    let mut passed_over = 0;
    for error in wrong {
        let place = error.place().map(|place| (place.file, place.offset));
        if place.is_some_and(|place| known.contains(&place)) {
            passed_over += 1;
        // A killed process can leave records after the last commit. The next start removes them.
        } else if !place.is_some_and(|(file, offset)| behind(file, offset)) {
            problems.push(error.to_string());
        }
    }
    let mut lost: Vec<_> = copies.into_iter().collect();
    lost.sort_unstable_by_key(|(at, _)| *at);
    let mut elsewhere = 0;
    for (at, (key, payload)) in lost {
        let own = archive::is_own(&store.archive(), at.file);
        if !own && let Ok(record) = archive::read(&store.archive(), &at) {
            elsewhere += 1;
            if PayloadDigest::of(&[&record.body()]) != PayloadDigest(payload) {
                problems.push(format!(
                    "{}: the file of another node holds another body",
                    name(key)?
                ));
            }
            continue;
        }
        if arriving.contains(&key.page) {
            continue;
        }
        problems.push(format!(
            "{}: its copy is not in the archive (file {}, byte {})",
            name(key)?,
            at.file,
            at.offset
        ));
    }
    // A running crawl writes on.
    if store.held().is_some() && uncommitted > ledger.at_risk()?.unwrap_or(u64::MAX) {
        problems.push(format!(
            "the ledger is damaged: the archive holds {} after the last position that the ledger has committed",
            counted(uncommitted, "record")
        ));
    }
    // A node of a cluster deletes the facts of a slot that it gives away, and keeps the records.
    if unknown > 0 && ledger.note()?.is_none() {
        problems.push(format!(
            "the ledger is damaged: it does not know the pages of {}",
            counted(unknown, "archive record")
        ));
    }
    Ok((problems, passed_over, elsewhere))
}

/// The pages of the index of a running crawl.
struct IndexedPages {
    /// The number of the last batch of the ledger that the index has, or an earlier one.
    sequence: u64,
    pages: HashSet<PageId>,
}

impl IndexedPages {
    fn read(store: &StoreView) -> Result<Self> {
        let sequence = index::committed(&store.index()).unwrap_or(0);
        let mut pages = HashSet::new();
        if sequence > 0 {
            Index::open(&store.index())?.ids(|id| {
                pages.insert(id);
            })?;
        }
        Ok(Self { sequence, pages })
    }
}

/// Checks the files of the index and lets it catch up with the ledger. Adds the problems. Returns
/// the pages of the index, or `None` if it is missing, damaged or ahead of the ledger.
fn check_index(
    store: &Store,
    ledger: &Ledger,
    problems: &mut Vec<String>,
) -> Result<Option<HashSet<PageId>>> {
    if !store.index().exists() {
        return Ok(None);
    }
    let before = problems.len();
    let damaged: Vec<String> = match Index::open(&store.index()).and_then(|index| index.verify()) {
        Ok(files) => files
            .iter()
            .map(|path| format!("index/{}: the checksum is wrong", path.display()))
            .collect(),
        Err(error @ IndexError::Damaged { .. }) => {
            vec![format!("{:#}", anyhow::Error::from(error))]
        }
        Err(error) => return Err(error.into()),
    };
    problems.extend(damaged);
    problems.extend(recovery::IndexAhead::of(store, ledger)?.map(|ahead| ahead.to_string()));
    if problems.len() > before {
        return Ok(None);
    }
    // After a kill the index may lag behind the ledger. It catches up here, as at every start.
    drop(recovery::open_index_and_show(store, ledger, &Bar::new())?);
    let index = Index::open(&store.index())?;
    let mut found = HashSet::new();
    index.ids(|id| {
        if !found.insert(id) {
            problems.push(format!("{id:?} is in the index twice"));
        }
    })?;
    Ok(Some(found))
}

/// Adds the pages that the index lacks, and those that it should not have. The pages of `exempt`
/// may be in the index or not.
fn compare_index(
    expected: &HashSet<PageId>,
    found: &HashSet<PageId>,
    exempt: &HashSet<PageId>,
    problems: &mut Vec<String>,
) {
    let missing = expected.difference(found).filter(|id| !exempt.contains(id));
    problems.extend(missing.map(|id| format!("{id:?} is not in the index")));
    let surplus = found.difference(expected).filter(|id| !exempt.contains(id));
    problems.extend(surplus.map(|id| format!("{id:?} is in the index and should not be")));
}
