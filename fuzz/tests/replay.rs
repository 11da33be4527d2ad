//! Replays the corpus of every fuzz target, with mutated copies.
//!
//! **Invariant:** the mutations come from a fixed seed, so every run replays the same inputs.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Number of mutated copies of each file.
const COPIES: usize = 32;
/// Maximum number of mutations in one copy.
const CHANGES: usize = 4;

macro_rules! replay {
    ($($target:ident)*) => {
        $(
            #[test]
            fn $target() {
                replay(stringify!($target), fuzz::$target);
            }
        )*

        #[test]
        fn every_target_has_a_libfuzzer_program_a_corpus_and_a_test() {
            let replayed = BTreeSet::from([$(stringify!($target).to_owned()),*]);
            assert_eq!(names("fuzz_targets"), replayed);
            assert_eq!(names("corpus"), replayed);
        }
    };
}

replay!(article config document html http ledger listing predicate robots url warc);

fn replay(name: &str, target: fn(&[u8])) {
    let files = entries(&Path::new("corpus").join(name));
    let inputs: Vec<(PathBuf, Vec<u8>)> = files
        .into_iter()
        .map(|file| (file.clone(), fs::read(&file).expect("a file of the corpus")))
        .collect();
    assert!(!inputs.is_empty(), "the corpus of {name} is empty");
    let mut random = ChaCha8Rng::seed_from_u64(0);
    for (file, input) in &inputs {
        run(file, 0, input, target);
        for copy in 1..=COPIES {
            let (_, other) = &inputs[random.random_range(..inputs.len())];
            run(file, copy, &changed(input, other, &mut random), target);
        }
    }
}

/// Returns a copy with flipped bits, replaced bytes, a truncated end, or a part of another input
/// inserted.
fn changed(input: &[u8], other: &[u8], random: &mut ChaCha8Rng) -> Vec<u8> {
    let mut copy = input.to_vec();
    for _ in 0..random.random_range(1..=CHANGES) {
        let place = random.random_range(..=copy.len());
        match random.random_range(0..4) {
            0 if place < copy.len() => copy[place] ^= 1 << random.random_range(0..8),
            1 if place < copy.len() => copy[place] = random.random(),
            2 => copy.truncate(place),
            _ => {
                let start = random.random_range(..=other.len());
                let end = random.random_range(start..=other.len());
                copy.splice(place..place, other[start..end].iter().copied());
            }
        }
    }
    copy
}

fn run(file: &Path, copy: usize, input: &[u8], target: fn(&[u8])) {
    let _input = InputOnPanic { file, copy, input };
    target(input);
}

/// Prints the input when the target panics.
struct InputOnPanic<'a> {
    file: &'a Path,
    copy: usize,
    input: &'a [u8],
}

impl Drop for InputOnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let (file, copy) = (self.file.display(), self.copy);
            eprintln!("broken by {file}, copy {copy} (0: the file itself):");
            eprintln!("{}", self.input.escape_ascii());
        }
    }
}

/// Returns the names in a directory of this package, without their extensions.
fn names(directory: &str) -> BTreeSet<String> {
    let stem = |path: PathBuf| path.file_stem().map(|stem| stem.display().to_string());
    let entries = entries(Path::new(directory));
    entries.into_iter().filter_map(stem).collect()
}

/// Returns the sorted entries of a directory of this package.
fn entries(directory: &Path) -> Vec<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(directory);
    let read = fs::read_dir(&path).unwrap_or_else(|why| panic!("{}: {why}", path.display()));
    let mut entries: Vec<PathBuf> = read
        .map(|entry| entry.expect("the corpus can be listed").path())
        .collect();
    entries.sort();
    entries
}
