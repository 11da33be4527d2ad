//! Torture by damaged files: one file of a complete store gets a flipped bit or zeros at its end,
//! or is truncated, emptied or removed.
//!
//! Then every command must end, name a remedy if it fails, and keep every intact record of the
//! archive. `rebuild` finds all pages whose records are intact, and the next crawl fetches the
//! others.

use std::collections::BTreeSet;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use rand::{Rng, RngExt};

use crate::kills::{crawl, plan, reported};
use crate::oracle;
use crate::program::{below, copy};
use crate::rounds::{Round, rounds};
use crate::subject::{EndedCommand, TortureSubject};
use crate::webs::serve;

#[derive(Debug, Clone, Copy)]
enum FileDamage {
    Flip,
    Half,
    Zeros,
    Empty,
    Remove,
}

const DAMAGES: [FileDamage; 5] = [
    FileDamage::Flip,
    FileDamage::Half,
    FileDamage::Zeros,
    FileDamage::Empty,
    FileDamage::Remove,
];

impl FileDamage {
    /// Damages a file. Returns the range of its bytes that changed.
    fn inflict(self, file: &Path, chance: &mut impl Rng) -> Range<usize> {
        let mut bytes = fs::read(file).unwrap();
        let length = bytes.len();
        let damaged = match self {
            Self::Flip if length == 0 => return 0..0,
            Self::Flip => {
                let at = chance.random_range(0..length);
                bytes[at] ^= 1 << chance.random_range(0..8);
                at..at + 1
            }
            Self::Half => {
                bytes.truncate(length / 2);
                length / 2..length
            }
            Self::Zeros => {
                let at = length - length.min(chance.random_range(1..=4096));
                bytes[at..].fill(0);
                at..length
            }
            Self::Empty => {
                bytes.clear();
                0..length
            }
            Self::Remove => {
                fs::remove_file(file).unwrap();
                return 0..length;
            }
        };
        fs::write(file, bytes).unwrap();
        damaged
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn after_damage_to_a_file_all_intact_records_stay_and_the_crawl_completes_the_store() {
    rounds("damage", damage).await;
}

async fn damage(mut round: Round) {
    let serving = serve(plan(round.seed, 30)).await;
    let homes = serving.homes();
    let crawl = crawl(&homes);
    let mut whole = TortureSubject::new();
    make_every_file(&mut whole, &crawl, &serving);
    let expected = reported(&mut whole);
    let searchable = whole.verified()["documents"].as_u64().unwrap();

    let mut cases: Vec<(PathBuf, FileDamage)> = Vec::new();
    for file in below(&whole.store()) {
        let file = file.strip_prefix(whole.store()).unwrap();
        cases.extend(DAMAGES.map(|damage| (file.to_owned(), damage)));
    }
    for _ in 0..round.size(2, usize::MAX).min(cases.len()) {
        let (file, damage) = cases.swap_remove(round.chance.random_range(0..cases.len()));
        eprintln!("torture damage: {damage:?} {}", file.display());
        let mut subject = TortureSubject::new();
        fs::remove_dir_all(subject.store()).unwrap();
        copy(&whole.store(), &subject.store());
        let mut case = DamageCase::begin(&mut subject, file, damage, &mut round.chance);
        case.try_everything(&crawl, round.chance.random_bool(0.5));
        assert_eq!(reported(&mut subject), expected);
        let report = subject.verified();
        assert_eq!(report["documents"], searchable, "{report}");
    }
}

/// Creates a store that has every kind of file.
fn make_every_file(
    subject: &mut TortureSubject,
    crawl: &[&str],
    serving: &testweb::site::ServedWeb,
) {
    subject.run(crawl);
    let homes = serving.homes();
    let home = homes[0].as_str();
    let topic = ["topic", "train", "tale", "--sample", "10", "--positive"];
    subject.run(&[&topic[..], &[home, &homes[1]]].concat());
    let queries = subject.path("queries.tsv");
    fs::write(&queries, "some words\t3\nother words\t1\n").unwrap();
    subject.run(&["import", "queries", queries.to_str().unwrap()]);
    let mut run = vec!["run", "--listen", "127.0.0.1:0", "--time", "2s"];
    run.extend(["--allow-private", "--scope", "any", "--budget", "100/s"]);
    run.push(home);
    subject.run(&run);
    subject.run(crawl);
}

/// A store with one damaged file.
struct DamageCase<'a> {
    subject: &'a mut TortureSubject,
    file: PathBuf,
    /// The archive records that are still intact.
    intact: Vec<Vec<u8>>,
    /// The URLs of the responses among them.
    urls: BTreeSet<String>,
    /// Whether a record of the archive is damaged.
    lost: bool,
    /// Content of the file before the damage.
    before: Vec<u8>,
}

impl<'a> DamageCase<'a> {
    fn begin(
        subject: &'a mut TortureSubject,
        file: PathBuf,
        damage: FileDamage,
        chance: &mut impl Rng,
    ) -> Self {
        let path = subject.store().join(&file);
        let archive: Vec<(PathBuf, Vec<u8>)> = subject
            .warcs()
            .into_iter()
            .map(|warc| (warc.clone(), fs::read(warc).unwrap()))
            .collect();
        let before = fs::read(&path).unwrap();
        let damaged = damage.inflict(&path, chance);
        let mut case = Self {
            subject,
            file,
            intact: Vec::new(),
            urls: BTreeSet::new(),
            lost: false,
            before,
        };
        for (warc, bytes) in archive {
            for member in oracle::members(&bytes).0 {
                let touched = damaged.start < member.range.end && member.range.start < damaged.end;
                if warc == path && touched {
                    case.lost = true;
                    continue;
                }
                case.urls.extend(member.copy().map(str::to_owned));
                case.intact.push(bytes[member.range].to_vec());
            }
        }
        case
    }

    fn try_everything(&mut self, crawl: &[&str], crawl_first: bool) {
        let found = self.step(&["verify"]);
        if self.lost {
            assert_ne!(found.code(), 0, "damage was not found: {found}");
        }
        self.step(&["search", "a"]);
        self.step(&["status"]);
        if crawl_first {
            self.step(crawl);
        }
        let mut rebuilt = self.step(&["rebuild"]);
        if rebuilt.code() == 1 && rebuilt.errors.contains("--accept-loss") {
            rebuilt = self.step(&["rebuild", "--accept-loss"]);
        }
        assert_eq!(rebuilt.code(), 0, "{rebuilt}");
        self.subject.verified();
        let found = reported(self.subject);
        assert!(self.urls.is_subset(&found), "rebuild did not find all");
        let crawled = self.step(crawl);
        assert_eq!(crawled.code(), 0, "{crawled}");
    }

    /// Runs a command. If it fails, it must name a remedy. If the remedy is to edit a file, the
    /// file is restored and the command runs again.
    fn step(&mut self, arguments: &[&str]) -> EndedCommand {
        let ended = self.subject.end(arguments);
        oracle::check_holds(&self.subject.archive(), &self.intact, &ended.line);
        if ended.code() == 0 {
            return ended;
        }
        // A flipped bit can turn the format version into another one.
        let edits = [
            ("avocet.toml", "avocet.toml"),
            ("FORMAT", "of another version"),
        ];
        let by_hand = |(name, sign): &(&str, &str)| {
            self.file == Path::new(name) && ended.errors.contains(sign)
        };
        if edits.iter().any(by_hand) {
            fs::write(self.subject.store().join(&self.file), &self.before).unwrap();
            return self.step(arguments);
        }
        let remedy = ["`avocet ", "run avocet rebuild", "delete ", "remove "];
        let says = |sign: &&str| ended.errors.contains(*sign);
        assert!(remedy.iter().any(says), "no remedy: {ended}");
        ended
    }
}
