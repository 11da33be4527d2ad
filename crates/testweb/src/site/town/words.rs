//! The vocabulary of a town.
//!
//! **Invariant:** the first subjects of a list are searched for far more often than the last
//! (Zipf's law), and pages are written about them in the same proportion. Only the manual covers
//! all its features alike. So users mostly search for what many pages are about.

use rand::{Rng, RngExt};
use rand_distr::{Distribution, Zipf};

/// Subjects of the newspaper.
pub(super) const EVENTS: [&str; 24] = [
    "ferry timetable",
    "harbour footbridge",
    "storm warning",
    "oyster harvest",
    "lighthouse repair",
    "school canteen",
    "tidal turbine",
    "seal colony",
    "library opening hours",
    "bus strike",
    "brass band festival",
    "flood wall",
    "rowing final",
    "fish market",
    "cycle lane",
    "museum exhibition",
    "dredging contract",
    "marsh restoration",
    "bakery fire",
    "council budget",
    "chess tournament",
    "wreck survey",
    "kelp farm",
    "night train",
];
/// Subjects of the manual: features of an invented build tool.
pub(super) const FEATURES: [&str; 24] = [
    "build cache",
    "lock file",
    "incremental rebuild",
    "remote execution",
    "dependency graph",
    "workspace layout",
    "test sharding",
    "release profile",
    "toolchain pinning",
    "sandbox mode",
    "glob pattern",
    "environment variable",
    "artifact store",
    "offline mirror",
    "plugin interface",
    "watch mode",
    "error code",
    "config file",
    "checksum policy",
    "parallel linker",
    "shell completion",
    "path remapping",
    "log filter",
    "exit status",
];
/// Subjects of the forum.
pub(super) const TROUBLES: [&str; 24] = [
    "outboard motor",
    "varnish",
    "leaking hatch",
    "anchor chain",
    "spinnaker",
    "bilge pump",
    "solar panel",
    "rudder",
    "mooring fee",
    "depth sounder",
    "rigging",
    "antifouling paint",
    "diesel heater",
    "dinghy trailer",
    "marine radio",
    "life jacket",
    "autopilot",
    "teak deck",
    "propeller",
    "compass error",
    "galley stove",
    "sail repair",
    "tide table",
    "battery charger",
];
/// Products of the shop.
pub(super) const GOODS: [&str; 24] = [
    "rope",
    "oilskin jacket",
    "brass lantern",
    "folding anchor",
    "deck brush",
    "signal flag",
    "snap shackle",
    "sea boots",
    "chart plotter",
    "hand bearing compass",
    "fender",
    "wool blanket",
    "enamel mug",
    "boat hook",
    "storm kettle",
    "sailmaker's needle",
    "winch handle",
    "fog horn",
    "barometer",
    "splicing fid",
    "canvas bag",
    "head torch",
    "bronze cleat",
    "tide clock",
];
pub(super) const PLACES: [&str; 14] = [
    "Gull Point",
    "Saltmarket",
    "the Old Quay",
    "Heron Street",
    "Lower Estuary",
    "Mill Sands",
    "Tolven Bridge",
    "the North Basin",
    "Curlew Lane",
    "Ferry Hill",
    "the Customs House",
    "Brackwater",
    "Pilot Steps",
    "Samphire Green",
];
pub(super) const PEOPLE: [&str; 14] = [
    "Ada Penrose",
    "Tomas Lindqvist",
    "Miriam Okafor",
    "Jory Trelawn",
    "Hanne Visser",
    "Pablo Reyes",
    "Edith Carrow",
    "Sunil Rao",
    "Greta Holm",
    "Davy Pascoe",
    "Lucie Marchand",
    "Owen Tregear",
    "Noor Haddad",
    "Ines Duarte",
];
/// Brand names, which distinguish products of the same kind.
pub(super) const MAKES: [&str; 12] = [
    "Harbour",
    "Skerry",
    "Petrel",
    "Deepwater",
    "Classic",
    "Compact",
    "Heavy",
    "Nordic",
    "Pilot",
    "Coastal",
    "Mariner's",
    "Lightweight",
];

/// What a text is about.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scene {
    pub subject: &'static str,
    pub place: &'static str,
    pub person: &'static str,
}

impl Scene {
    pub fn draw(subjects: &'static [&'static str], rng: &mut impl Rng) -> Self {
        Self {
            subject: often(subjects, rng),
            place: any(&PLACES, rng),
            person: any(&PEOPLE, rng),
        }
    }

    /// Fills the placeholders of a sentence: subject, place, person, another person, another
    /// place, a number.
    pub fn fill(&self, sentence: &str, rng: &mut impl Rng) -> String {
        let mut parts = sentence.split('{');
        let mut filled = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let (gap, rest) = part.split_once('}').unwrap_or((part, ""));
            match gap {
                "subject" => filled.push_str(self.subject),
                "place" => filled.push_str(self.place),
                "person" => filled.push_str(self.person),
                "other" => filled.push_str(any(&PEOPLE, rng)),
                "elsewhere" => filled.push_str(any(&PLACES, rng)),
                _ => filled.push_str(&rng.random_range(2..90u32).to_string()),
            }
            filled.push_str(rest);
        }
        capitalized(&filled)
    }

    /// Returns a paragraph of `count` of these sentences.
    pub fn paragraph(&self, sentences: &[&str], count: usize, rng: &mut impl Rng) -> String {
        let mut text: Vec<String> = Vec::with_capacity(count);
        for _ in 0..count {
            let sentence = any(sentences, rng);
            text.push(self.fill(sentence, rng));
        }
        text.join(" ")
    }
}

/// Returns a text with its first letter in upper case.
pub(super) fn capitalized(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(letters).collect()
}

/// Draws one of the words, all equally likely.
pub(super) fn any<'a>(words: &[&'a str], rng: &mut impl Rng) -> &'a str {
    words[rng.random_range(0..words.len())]
}

/// Draws one of the words by Zipf's law, the first most often.
pub(super) fn often<'a>(words: &[&'a str], rng: &mut impl Rng) -> &'a str {
    let rank = Zipf::new(words.len() as f64, 1.0).map_or(1.0, |zipf| zipf.sample(rng));
    words[rank as usize - 1]
}

/// Returns the form of a title in a URL path.
pub(super) fn slug(title: &str) -> String {
    let plain = title.chars().map(|letter| {
        if letter.is_ascii_alphanumeric() {
            letter.to_ascii_lowercase()
        } else {
            ' '
        }
    });
    plain
        .collect::<String>()
        .split_whitespace()
        .take(6)
        .collect::<Vec<_>>()
        .join("-")
}
