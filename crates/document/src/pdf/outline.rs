//! The outline (bookmarks) of a PDF, which says which lines of its pages are headings.

use std::collections::HashMap;

use hayro_interpret::hayro_syntax::Pdf;
use hayro_interpret::hayro_syntax::object::{self, Array, Dict, Object, ObjectIdentifier};

use super::metadata::decode;

/// Most entries that are read.
const ENTRIES: usize = 5_000;
/// Most named destinations that are read.
const DESTINATIONS: usize = 50_000;
/// Deepest level of entries, and of the tree of named destinations.
const DEEPEST: u8 = 16;

/// The entries of an outline by page.
#[derive(Debug, Default)]
pub(super) struct Outline {
    pages: HashMap<usize, Vec<OutlineEntry>>,
}

/// An entry that no line was found for yet.
#[derive(Debug)]
struct OutlineEntry {
    /// Its title without spaces, in lower case.
    title: String,
    /// 1 for an entry at the top.
    level: u8,
}

impl Outline {
    /// Reads the outline. Most documents have none.
    pub fn of(pdf: &Pdf) -> Self {
        let mut outline = Self::default();
        let Some(catalog) = pdf.xref().get::<Dict<'_>>(pdf.xref().root_id()) else {
            return outline;
        };
        let Some(root) = catalog.get::<Dict<'_>>(b"Outlines") else {
            return outline;
        };
        let destinations = Destinations::of(pdf, &catalog);
        let mut room = ENTRIES;
        outline.read(&root, 1, &destinations, &mut room);
        outline
    }

    /// Returns the level of the heading that a line of a page is, if it is one. Each entry is found
    /// once, so that a repeated running head is a heading once.
    pub fn heading(&mut self, page: usize, line: &str) -> Option<u8> {
        let entries = self.pages.get_mut(&page)?;
        let line = folded(line);
        let place = entries.iter().position(|entry| {
            // The line may have a number that the entry lacks: "2.1 Results".
            line.strip_suffix(entry.title.as_str())
                .is_some_and(|number| {
                    number.len() <= 12
                        && number
                            .chars()
                            .all(|c| !c.is_alphabetic() || number.len() <= 3)
                })
        })?;
        Some(entries.swap_remove(place).level)
    }

    fn read(
        &mut self,
        parent: &Dict<'_>,
        level: u8,
        destinations: &Destinations,
        room: &mut usize,
    ) {
        let mut next = parent.get::<Dict<'_>>(b"First");
        while let Some(entry) = next {
            // A cycle of entries ends here too.
            if *room == 0 || level > DEEPEST {
                return;
            }
            *room -= 1;
            let title = entry.get::<object::String<'_>>(b"Title");
            let title = title.map(|title| folded(&decode(title.as_bytes())));
            if let Some(title) = title.filter(|title| !title.is_empty())
                && let Some(page) = destinations.page_of(&entry)
            {
                let entries = self.pages.entry(page).or_default();
                entries.push(OutlineEntry { title, level });
            }
            self.read(&entry, level + 1, destinations, room);
            next = entry.get::<Dict<'_>>(b"Next");
        }
    }
}

/// Returns a text without white space and in lower case, to compare a title with a line whose
/// spaces were guessed.
fn folded(text: &str) -> String {
    let characters = text.chars().filter(|character| !character.is_whitespace());
    characters.flat_map(char::to_lowercase).collect()
}

/// Where the destinations of a document lead.
struct Destinations {
    /// The numbers of the pages.
    pages: HashMap<ObjectIdentifier, usize>,
    /// The pages of named destinations.
    named: HashMap<Vec<u8>, usize>,
}

impl Destinations {
    fn of(pdf: &Pdf, catalog: &Dict<'_>) -> Self {
        let pages = pdf.pages().iter().enumerate();
        let pages = pages.filter_map(|(number, page)| Some((page.raw().obj_id()?, number)));
        let mut destinations = Self {
            pages: pages.collect(),
            named: HashMap::new(),
        };
        if let Some(names) = catalog.get::<Dict<'_>>(b"Names")
            && let Some(tree) = names.get::<Dict<'_>>(b"Dests")
        {
            let mut room = DESTINATIONS;
            destinations.read_tree(&tree, DEEPEST, &mut room);
        }
        if let Some(old) = catalog.get::<Dict<'_>>(b"Dests") {
            for name in old.keys().take(DESTINATIONS) {
                let target = old.get::<Object<'_>>(AsRef::<[u8]>::as_ref(&name));
                if let Some(page) = target.and_then(|target| destinations.page(target)) {
                    destinations
                        .named
                        .insert(AsRef::<[u8]>::as_ref(&name).to_vec(), page);
                }
            }
        }
        destinations
    }

    /// Reads a name tree: leaves have pairs of a name and a destination, other nodes have kids.
    fn read_tree(&mut self, node: &Dict<'_>, levels: u8, room: &mut usize) {
        if levels == 0 {
            return;
        }
        if let Some(pairs) = node.get::<Array<'_>>(b"Names") {
            let mut pairs = pairs.iter::<Object<'_>>();
            while let (Some(name), Some(target)) = (pairs.next(), pairs.next()) {
                if *room == 0 {
                    return;
                }
                *room -= 1;
                if let (Object::String(name), Some(page)) = (name, self.page(target)) {
                    self.named.insert(name.as_bytes().to_vec(), page);
                }
            }
        }
        if let Some(kids) = node.get::<Array<'_>>(b"Kids") {
            for kid in kids.iter::<Dict<'_>>() {
                if *room == 0 {
                    return;
                }
                *room -= 1;
                self.read_tree(&kid, levels - 1, room);
            }
        }
    }

    /// Returns the number of the page to which an entry of the outline leads.
    fn page_of(&self, entry: &Dict<'_>) -> Option<usize> {
        let target = entry.get::<Object<'_>>(b"Dest").or_else(|| {
            let action = entry.get::<Dict<'_>>(b"A")?;
            action.get::<Object<'_>>(b"D")
        })?;
        self.page(target)
    }

    fn page(&self, target: Object<'_>) -> Option<usize> {
        match target {
            Object::Array(array) => {
                let page = array.raw_iter().next()?.as_obj_ref()?;
                self.pages.get(&page.into()).copied()
            }
            Object::Dict(dict) => self.page(Object::Array(dict.get::<Array<'_>>(b"D")?)),
            Object::String(name) => self.named.get(name.as_bytes()).copied(),
            Object::Name(name) => self.named.get::<[u8]>(name.as_ref()).copied(),
            _ => None,
        }
    }
}
