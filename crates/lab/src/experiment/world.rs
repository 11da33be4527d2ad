//! Description of a world: counts, distributions and their figures.
//!
//! It works for every kind of world and runs no policy. Users check with it that their data was
//! read as intended, and see which experiments the data can support.
//!
//! **Invariant:** the description is a function of the world alone.

mod changed;
mod clicked;
mod distribution;
mod in_town;
mod lifetimes;
mod linked;
mod queries;
mod served;
#[cfg(test)]
mod tests;

use figure::{Figure, Series};

use super::{ExperimentSetup, Metric, Study};
use crate::LabError;
use crate::findings::{Measured, Params, rows};
use crate::workers::{ExperimentProgress, each};
use crate::world::World;

/// Metrics of this experiment. A suffix says how several numbers were combined: `@mean`,
/// `@median`, `@max`.
pub const METRICS: &[Metric] = &[
    ("pages", "pages that the world has at any time"),
    (
        "hosts",
        "different hosts of these pages: scheme, name and port",
    ),
    (
        "no_url",
        "pages under .invalid: they had no URL, or one that cannot be crawled",
    ),
    ("links", "links between two pages, each counted once"),
    ("in_links@mean", "links to a page, mean over all pages"),
    ("in_links@max", "links to the page that has most"),
    ("out_links@max", "links on the page that has most"),
    ("dangling", "share of pages that link to no other page"),
    ("unlinked", "share of pages that no page links to"),
    ("local", "share of links that stay on their host"),
    (
        "reach",
        "share of pages that can be reached from the page with the most links on it (the first of several)",
    ),
    ("labels", "different labels"),
    (
        "labelled",
        "share of pages with a label; with the parameter `label`, share of pages with this one",
    ),
    (
        "same_label",
        "share of links between labelled pages whose two pages have a label in common",
    ),
    (
        "same_label@chance",
        "probability that two different labelled pages, drawn at random, have a label in common",
    ),
    ("html", "share of bodies that are HTML"),
    (
        "kilobytes@mean",
        "length of a body in thousands of bytes, mean over all bodies",
    ),
    (
        "anchored",
        "share of links whose anchor text is known from the HTML",
    ),
    ("views", "views of all pages"),
    (
        "views@correlation",
        "Spearman's rank correlation of views and links to a page",
    ),
    ("versions", "versions of all pages, first versions included"),
    ("bodies", "different bodies that pages showed"),
    ("days", "days from the first to the last event"),
    (
        "born",
        "share of pages whose first version with a body is later than the first version of any page",
    ),
    ("gone", "versions in which the page is gone"),
    (
        "changes",
        "versions that show another body than the page's previous version; a page that is gone or comes back has not changed",
    ),
    (
        "text_changes",
        "changes that change the text, not only the markup",
    ),
    (
        "changes_per_day@mean",
        "text changes of a page divided by the days since its first version, mean over all pages",
    ),
    ("changes_per_day@median", "the same, median over all pages"),
    ("unchanged", "share of pages whose text never changed"),
    (
        "age_days@mean",
        "days since a page began to show its present text, at the end, mean over the pages that exist then",
    ),
    ("age_days@median", "the same, median"),
    (
        "lifetime_days@age",
        "mean days between two changes of a page, estimated from the ages alone as if change rates were constant (equation 6.14 of Baldi, Frasconi & Smyth, 2003): the sum of the ages, divided by the pages that began to show their text after the beginning",
    ),
    (
        "change_interval",
        "share of pages that change every `x` days or more often on average (figure 6.11 of that book); with the parameter `domain`, of the pages of this top-level domain",
    ),
    ("sources", "pages that link to articles"),
    ("articles", "articles"),
    (
        "shown",
        "links that sources showed; a link that came back counts again",
    ),
    (
        "shown_hours@median",
        "hours for which a link stays on its source, median over all links",
    ),
    (
        "new_per_day@mean",
        "articles per day that a source is the first to link to, without those of the first moment; mean over all sources",
    ),
    ("clicks", "clicks on all articles"),
    (
        "clicks_per_second",
        "clicks divided by the seconds from the first to the last event",
    ),
    ("clicked", "share of articles with a click"),
    (
        "clicks@top",
        "share of clicks on the most clicked hundredth of articles",
    ),
    (
        "clicks_left",
        "share of clicks that come `x` hours after the article's first link or later",
    ),
    ("queries", "different queries"),
    ("asked", "searches: the sum of the counts of all queries"),
    (
        "asked@top",
        "share of searches with the most frequent hundredth of queries",
    ),
    (
        "words@mean",
        "mean number of words of a query, each different query counted once",
    ),
    ("sitemaps", "sitemaps that hint at changes"),
    ("hints", "hints of all sitemaps, true or false"),
    ("servers", "servers"),
    (
        "round_trip@median",
        "round-trip time of a server in seconds, median over all servers",
    ),
    (
        "response@median",
        "response time of a server in seconds, median over all servers",
    ),
    (
        "one_request",
        "share of servers that answer one request per connection",
    ),
];

/// The description of one world.
#[derive(Debug, Default)]
struct WorldDescription {
    measured: Vec<Measured>,
    figures: Vec<(String, Figure)>,
    notes: Vec<String>,
}

/// Describes the world of a setup. If the world is invented, each run describes the world of its
/// own seed.
///
/// # Errors
/// If the world cannot be read.
pub fn run(
    setting: &ExperimentSetup,
    progress: &dyn ExperimentProgress,
) -> Result<Study, LabError> {
    let invented = setting.is_invented();
    let worlds = if invented { setting.runs.max(1) } else { 1 };
    progress.begin("worlds", worlds as usize);
    let pieces = (0..u64::from(worlds)).collect();
    let described = each(pieces, setting.threads, progress, |run| {
        let seed = setting.seed_of(run);
        describe_all(World::open_all(&setting.world, &setting.knobs, seed)?)
    });
    let mut described: Vec<WorldDescription> = described.into_iter().collect::<Result<_, _>>()?;
    let runs: Vec<Vec<Measured>> = described
        .iter_mut()
        .map(|world| std::mem::take(&mut world.measured))
        .collect();
    let first = described.into_iter().next().unwrap_or_default();
    let mut notes = first.notes;
    if !invented && setting.runs > 1 {
        notes.push("A recorded world is the same in every run: it was read once.".to_owned());
    }
    if worlds > 1 {
        notes.push(
            "Numbers are means over the runs; figures show the world of the first.".to_owned(),
        );
    }
    Ok(Study {
        findings: setting.findings("world", rows(&runs, None)),
        claims: Vec::new(),
        figures: first.figures,
        notes,
    })
}

/// Describes the parts of a world. If there are several, the parameter `part` of a row and the name
/// of a figure say which part they are about.
fn describe_all(parts: Vec<World>) -> Result<WorldDescription, LabError> {
    let several = parts.len() > 1;
    let mut all = WorldDescription::default();
    for world in parts {
        let kind = world.kind();
        let mut part = describe(world)?;
        if several {
            for row in &mut part.measured {
                row.params.insert("part".to_owned(), kind.into());
            }
            for (name, _) in &mut part.figures {
                *name = format!("{kind}-{name}");
            }
        }
        all.measured.extend(part.measured);
        all.figures.extend(part.figures);
        all.notes.extend(part.notes);
    }
    Ok(all)
}

fn describe(world: World) -> Result<WorldDescription, LabError> {
    let mut description = WorldDescription::default();
    description
        .notes
        .push(format!("A world of the kind {:?}.", world.kind()));
    match world {
        World::Histories(histories) => changed::describe(&histories, &mut description)?,
        World::Corpus(corpus) => {
            changed::describe(&corpus.histories, &mut description)?;
            queries::describe(&corpus.queries, &mut description);
        }
        World::News(news) => clicked::describe(&news, &mut description),
        World::Town(town) => in_town::describe(&town, &mut description),
        World::Queries(queries) => queries::describe(&queries, &mut description),
        World::Servers(web) => {
            served::describe(&web, &mut description);
            linked::describe(World::Servers(web), &mut description)?;
        }
        linked => linked::describe(linked, &mut description)?,
    }
    Ok(description)
}

impl WorldDescription {
    fn number(&mut self, metric: &str, value: f64) {
        self.at(metric, 0.0, value);
    }

    fn count(&mut self, metric: &str, value: usize) {
        self.number(metric, value as f64);
    }

    fn at(&mut self, metric: &str, x: f64, value: f64) {
        self.put(Params::new(), metric, x, value);
    }

    fn put(&mut self, params: Params, metric: &str, x: f64, value: f64) {
        self.measured.push(Measured {
            policy: String::new(),
            params,
            metric: metric.to_owned(),
            x,
            value,
        });
    }

    /// Adds a figure. Lines without points are omitted, and so is a figure without lines.
    fn draw(&mut self, name: &str, labels: [&str; 3], lines: Vec<(&str, Vec<(f64, f64)>)>) {
        let [title, x_label, y_label] = labels.map(str::to_owned);
        let lines = lines.into_iter().filter(|(_, points)| !points.is_empty());
        let series: Vec<Series> = lines
            .map(|(name, points)| Series::line(name, points))
            .collect();
        if series.is_empty() {
            return;
        }
        let figure = Figure {
            title,
            x_label,
            y_label,
            series,
            ..Figure::default()
        };
        self.figures.push((name.to_owned(), figure));
    }
}
