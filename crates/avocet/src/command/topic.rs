//! `avocet topic`: what a crawl is about, taught by examples.

mod examples;
mod guide;
mod layers;
mod measured;

use std::io::Write;
use std::path::Path;

use anyhow::{Result, bail};
use policy::focus::{Bayes, Document, Field, Known, Topic, Trainer};
use serde_json::json;

use crate::cli::topic::{self as cli, Train};
use examples::{Copies, Examples};
use measured::Quality;
use node::settings::Usage;
use node::settings::topic::{self, Judged, Lesson};
use node::store::{self, Store};

/// Telling words that are shown of each field.
const WORDS: usize = 15;
/// Examples that are shown of those it is least sure of.
const UNSURE: usize = 10;

/// Does what the user asked for.
pub fn run(root: &Path, json: bool, wishes: &cli::Topic) -> Result<()> {
    match wishes {
        cli::Topic::Train(wishes) => train(root, json, wishes),
        cli::Topic::List => list(root, json),
        cli::Topic::Show(wishes) => show(&Lesson::of(root, &wishes.name)?, json),
        cli::Topic::Test(wishes) => test(&Lesson::of(root, &wishes.name)?, json),
        cli::Topic::Remove(wishes) => topic::remove(root, &wishes.name),
    }
}

fn train(root: &Path, json: bool, wishes: &Train) -> Result<()> {
    if !topic::is_name(&wishes.name) {
        let why = "a topic's name has letters, digits, - and _ only: it is the name of a file";
        return Err(Usage(why.into()).into());
    }
    if wishes.negative.is_empty() && wishes.sample == 0 && wishes.under.is_none() {
        let why = "pages of something else are needed, too: --negative FILE|DIR|URL, or --sample 200 of the store";
        return Err(Usage(why.into()).into());
    }
    let above = wishes.under.as_deref();
    let above = above.map(|name| Lesson::of(root, name)).transpose()?;
    if above
        .as_ref()
        .is_some_and(|above| above.topic.name == wishes.name)
    {
        return Err(Usage("a topic cannot be a part of itself".into()).into());
    }
    let store = Store::create(root)?;
    let ledger = store.ledger()?;
    let copies = Copies::of(&store, &ledger)?;
    let examples = Examples::gather(&copies, wishes, above.as_ref())?;
    let mut trainer = Trainer::default();
    for example in &examples.pages {
        trainer.add(&example.document(), example.on);
    }
    let trained = trainer.train()?;
    let judge = |page: &Document<'_>| {
        let above = above.as_ref();
        let above = above.map_or(1.0, |above| above.topic.probability(page));
        above * trained.bayes.judge(page)
    };
    let topic = Topic {
        layers: layers::learn(&copies, &ledger, &examples)?,
        guide: guide::learn(&copies, &examples, &judge)?,
        ..Topic::taught(&wishes.name, trained.bayes.clone())
    };
    let judged = examples.pages.iter().zip(&trained.judged);
    let lesson = Lesson {
        topic,
        under: wishes.under.clone(),
        examples: judged
            .map(|(example, (probability, on))| Judged {
                name: example.name.clone(),
                on: *on,
                probability: *probability,
            })
            .collect(),
    };
    let path = lesson.write(root)?;
    if !json {
        eprintln!("wrote {}", path.display());
    }
    test(&lesson, json)
}

fn list(root: &Path, json: bool) -> Result<()> {
    store::must_exist(root)?;
    let mut out = std::io::stdout().lock();
    for name in topic::names(root)? {
        let lesson = Lesson::of(root, &name)?;
        let [off, on] = examples_of(&lesson);
        let quality = Quality::of(&lesson.examples);
        if json {
            let line = json!({ "topic": name, "under": lesson.under, "positive": on, "negative": off, "layers": lesson.topic.layers.len(), "guide": lesson.topic.guide.is_some(), "accuracy": quality.accuracy });
            writeln!(out, "{line}")?;
        } else {
            let under = lesson.under.map(|above| format!(" (of {above})"));
            writeln!(
                out,
                "{name}{}: {on} pages of it, {off} of other things, {:.1} % judged right",
                under.unwrap_or_default(),
                100.0 * quality.accuracy
            )?;
        }
    }
    Ok(())
}

fn show(lesson: &Lesson, json: bool) -> Result<()> {
    let Known::Examples(bayes) = &lesson.topic.known else {
        bail!("this topic is known by its words alone");
    };
    let [off, on] = examples_of(lesson);
    let words = Field::ALL.map(|field| (field.name(), bayes.strongest(field, WORDS)));
    let mut out = std::io::stdout().lock();
    if json {
        let words: serde_json::Map<_, _> = words
            .iter()
            .map(|(field, words)| ((*field).to_owned(), json!(words)))
            .collect();
        let known = Field::ALL.map(|field| size(bayes, field));
        writeln!(
            out,
            "{}",
            json!({ "topic": lesson.topic.name, "positive": on, "negative": off, "vocabulary": known, "words": words })
        )?;
        return Ok(());
    }
    writeln!(
        out,
        "{}: learned from {on} pages of it and {off} of other things",
        lesson.topic.name
    )?;
    for (field, words) in words {
        let words: Vec<String> = words
            .iter()
            .map(|(word, odds)| format!("{word} {odds:+.1}"))
            .collect();
        writeln!(out, "  in {field}: {}", words.join(", "))?;
    }
    writeln!(out, "a number is ln P(word | topic)/P(word | other)")?;
    Ok(())
}

fn test(lesson: &Lesson, json: bool) -> Result<()> {
    let quality = Quality::of(&lesson.examples);
    let mut unsure: Vec<&Judged> = lesson.examples.iter().collect();
    unsure.sort_by(|one, other| doubt(one).total_cmp(&doubt(other)));
    unsure.truncate(UNSURE);
    let mut out = std::io::stdout().lock();
    if json {
        writeln!(
            out,
            "{}",
            json!({ "topic": lesson.topic.name, "examples": lesson.examples.len(), "quality": quality, "unsure": unsure })
        )?;
        return Ok(());
    }
    writeln!(out, "{}, by cross-validation:", lesson.topic.name)?;
    write!(out, "{quality}")?;
    writeln!(out, "least sure of:")?;
    for judged in unsure {
        let kind = if judged.on { "of it   " } else { "other   " };
        writeln!(out, "  {:.2}  {kind}  {}", judged.probability, judged.name)?;
    }
    Ok(())
}

fn doubt(judged: &Judged) -> f64 {
    (judged.probability - 0.5).abs()
}

fn examples_of(lesson: &Lesson) -> [usize; 2] {
    let on = lesson.examples.iter().filter(|example| example.on).count();
    [lesson.examples.len() - on, on]
}

fn size(bayes: &Bayes, field: Field) -> usize {
    bayes.learned().words[field.index()].len()
}
