//! `avocet verify`: checks that archive, ledger and index agree, and names problems and the remedy.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use anyhow::{Result, bail};
use frontier::PageKey;
use ledger::Ledger;
use page::PageId;
use repository::archive::{self, End, PayloadDigest, RecordKind, RecordLocation, WarcRecord};
use repository::index::{Index, IndexError};
use serde_json::json;

use node::forget::ForgetLog;
use node::number::counted;
use node::recovery;
use node::slot_note::{is_unread, note_of};
use node::store::Store;

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
}

/// Compares archive and index with the ledger. Fails if it finds a problem.
pub fn run(root: &Path, json: bool) -> Result<()> {
    let store = Store::open(root)?;
    let ledger = store.ledger()?;
    let Expected {
        urls,
        waiting,
        without_copy,
        unarchived,
        places,
        indexed,
        arriving,
    } = expected(&store, &ledger)?;
    let copies = places.len();
    let found = check_archive(&store, &ledger, places, &arriving)?;
    let (mut problems, passed_over, elsewhere) = found;
    let documents = check_index(&store, &ledger, &indexed, &arriving, &mut problems)?;
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

fn expected(store: &Store, ledger: &Ledger) -> Result<Expected> {
    let mut expected = Expected::default();
    let note = note_of(ledger)?;
    for known in ledger.scan() {
        let known = known?;
        expected.urls += 1;
        let Some(visited) = known.visited else {
            expected.waiting += 1;
            continue;
        };
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
    store: &Store,
    ledger: &Ledger,
    mut copies: HashMap<RecordLocation, (PageKey, [u8; 20])>,
    arriving: &HashSet<PageId>,
) -> Result<(Vec<String>, u64, u64)> {
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
    let mut check = |at: &RecordLocation, record: &WarcRecord| -> Result<()> {
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
    if uncommitted > ledger.at_risk()?.unwrap_or(u64::MAX) {
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

/// Compares the index with the ledger, and adds the problems. Returns the number of documents, or 0
/// if the index is missing, damaged or ahead of the ledger.
fn check_index(
    store: &Store,
    ledger: &Ledger,
    expected: &HashSet<PageId>,
    arriving: &HashSet<PageId>,
    problems: &mut Vec<String>,
) -> Result<usize> {
    if !store.index().exists() {
        return Ok(0);
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
        return Ok(0);
    }
    // After a kill the index may lag behind the ledger. It catches up here, as at every start.
    drop(recovery::open_index(store, ledger)?);
    let index = Index::open(&store.index())?;
    let mut found = HashSet::new();
    index.ids(|id| {
        if !found.insert(id) {
            problems.push(format!("{id:?} is in the index twice"));
        }
    })?;
    let missing = expected
        .difference(&found)
        .filter(|id| !arriving.contains(id));
    problems.extend(missing.map(|id| format!("{id:?} is not in the index")));
    let surplus = found
        .difference(expected)
        .filter(|id| !arriving.contains(id));
    problems.extend(surplus.map(|id| format!("{id:?} is in the index and should not be")));
    Ok(found.len())
}
