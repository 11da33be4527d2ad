//! `avocet topic`: trains, lists, shows, tests and deletes topics.

mod examples;
mod guide;
mod layers;
mod quality;

use std::io::Write;
use std::path::Path;

use anyhow::{Result, bail};
use policy::focus::{Bayes, Field, Topic, TopicDefinition, Trainer, TrainingDocument};
use serde_json::json;

use crate::cli::topic::{TopicCommand, TrainArguments};
use crate::logs::say;
use examples::{Examples, StoredCopies};
use node::access::StoreView;
use node::number::counted;
use node::settings::Usage;
use node::settings::topic::{self, JudgedExample, Lesson};
use node::store;
use quality::ClassifierQuality;

use super::crawl::refuse_other_files;

/// Maximum number of words that `topic show` prints for each field.
const WORDS: usize = 15;
/// Maximum number of examples that `topic test` prints, the least certain first.
const UNSURE: usize = 10;

/// Runs a subcommand of `avocet topic`.
pub fn run(root: &Path, json: bool, arguments: &TopicCommand) -> Result<()> {
    match arguments {
        TopicCommand::Train(arguments) => train(root, json, arguments),
        TopicCommand::List => list(root, json),
        TopicCommand::Show(arguments) => show(&Lesson::of(root, &arguments.name)?, json),
        TopicCommand::Test(arguments) => test(&Lesson::of(root, &arguments.name)?, json),
        TopicCommand::Remove(arguments) => remove(root, json, &arguments.name),
    }
}

fn train(root: &Path, json: bool, arguments: &TrainArguments) -> Result<()> {
    if !topic::is_name(&arguments.name) {
        let why = "the name of a topic may have letters, digits, - and _ only, because a file has this name";
        return Err(Usage(why.into()).into());
    }
    if arguments.negative.is_empty() && arguments.sample == 0 && arguments.under.is_none() {
        let why = "negative examples are needed, too: give --negative FILE|DIR|URL, or --sample 200 to take them from the store";
        return Err(Usage(why.into()).into());
    }
    let above = arguments.under.as_deref();
    let above = above.map(|name| Lesson::of(root, name)).transpose()?;
    if above
        .as_ref()
        .is_some_and(|above| above.topic.name == arguments.name)
    {
        return Err(Usage("a topic cannot be a part of itself".into()).into());
    }
    refuse_other_files(root, arguments.force)?;
    let store = StoreView::create(root)?;
    let copies = StoredCopies::of(&store)?;
    let examples = Examples::gather(&copies, arguments, above.as_ref())?;
    let mut trainer = Trainer::default();
    for example in &examples.pages {
        trainer.add(&example.document(), example.on);
    }
    let trained = trainer.train()?;
    let judge = |page: &TrainingDocument<'_>| {
        let above = above.as_ref();
        let above = above.map_or(1.0, |above| above.topic.probability(page));
        above * trained.bayes.judge(page)
    };
    let topic = Topic {
        layers: layers::learn(&copies, store.ledger(), &examples, arguments.layers)?,
        guide: guide::learn(&copies, &examples, &judge)?,
        ..Topic::taught(&arguments.name, trained.bayes.clone())
    };
    let judged = examples.pages.iter().zip(&trained.judged);
    let lesson = Lesson {
        topic,
        under: arguments.under.clone(),
        examples: judged
            .map(|(example, (probability, on))| JudgedExample {
                name: example.name.clone(),
                on: *on,
                probability: *probability,
            })
            .collect(),
    };
    let path = lesson.write(root)?;
    if !json {
        say(&format!("wrote {}", path.display()));
    }
    test(&lesson, json)
}

fn remove(root: &Path, json: bool, name: &str) -> Result<()> {
    topic::remove(root, name)?;
    if json {
        outln!("{}", json!({ "removed": name }));
    }
    Ok(())
}

fn list(root: &Path, json: bool) -> Result<()> {
    store::must_exist(root)?;
    let mut topics = Vec::new();
    for name in topic::names(root)? {
        let lesson = Lesson::of(root, &name)?;
        let [off, on] = examples_of(&lesson);
        let quality = ClassifierQuality::of(&lesson.examples);
        if json {
            topics.push(json!({ "topic": name, "under": lesson.under, "positive": on, "negative": off, "layers": lesson.topic.layers.len(), "guide": lesson.topic.guide.is_some(), "accuracy": quality.accuracy }));
            continue;
        }
        let under = lesson.under.map(|above| format!(" (part of {above})"));
        outln!(
            "{name}{}: {on} positive and {}, accuracy {:.1} %",
            under.unwrap_or_default(),
            counted(off, "negative example"),
            100.0 * quality.accuracy
        );
    }
    if json {
        outln!("{}", json!({ "topics": topics }));
    }
    Ok(())
}

fn show(lesson: &Lesson, json: bool) -> Result<()> {
    let TopicDefinition::Examples(bayes) = &lesson.topic.known else {
        bail!("this topic has no trained classifier: it is given by words only");
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
        "{}: trained on {on} positive and {}",
        lesson.topic.name,
        counted(off, "negative example")
    )?;
    for (field, words) in words {
        let words: Vec<String> = words
            .iter()
            .map(|(word, odds)| format!("{word} {odds:+.1}"))
            .collect();
        writeln!(out, "  in {field}: {}", words.join(", "))?;
    }
    writeln!(
        out,
        "the numbers are log-odds: ln(P(word | topic) / P(word | other))"
    )?;
    Ok(())
}

fn test(lesson: &Lesson, json: bool) -> Result<()> {
    let quality = ClassifierQuality::of(&lesson.examples);
    let mut unsure: Vec<&JudgedExample> = lesson.examples.iter().collect();
    unsure.sort_by(|one, other| certainty(one).total_cmp(&certainty(other)));
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
    writeln!(out, "least certain examples, with their probability:")?;
    for judged in unsure {
        let kind = if judged.on { "positive" } else { "negative" };
        writeln!(out, "  {:.2}  {kind}  {}", judged.probability, judged.name)?;
    }
    Ok(())
}

/// Returns how far a probability is from one half.
fn certainty(judged: &JudgedExample) -> f64 {
    (judged.probability - 0.5).abs()
}

/// Returns the number of negative and of positive examples.
fn examples_of(lesson: &Lesson) -> [usize; 2] {
    let on = lesson.examples.iter().filter(|example| example.on).count();
    [lesson.examples.len() - on, on]
}

/// Returns the size of the vocabulary of a field.
fn size(bayes: &Bayes, field: Field) -> usize {
    bayes.learned().words[field.index()].len()
}
