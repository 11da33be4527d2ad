//! Which of the pages that match are of a topic?
//!
//! Every page that the index finds is judged by its text as the index keeps it, so that a topic can be asked for that
//! was taught after the crawl. **Invariant:** so many of the best are judged as a search can reach; `total` counts those of
//! them that are of the topic.

use anyhow::Result;
use policy::focus::{Document, ON_TOPIC, Topic};
use repository::index::{Hits, Index, Query};

/// Searches for pages of this topic.
pub fn search(index: &Index, query: &Query<'_>, topic: &Topic) -> Result<Hits> {
    let mut found = Hits::default();
    let mut offset = 0;
    loop {
        let batch = index.search(&Query {
            limit: Query::LIMIT,
            offset,
            // They would count pages of other topics too.
            facets: false,
            ..*query
        })?;
        found.relaxed = batch.relaxed;
        found.corrected = batch.corrected;
        found.unknown = batch.unknown;
        let last = batch.hits.len() < Query::LIMIT || offset >= Query::OFFSET;
        for hit in batch.hits {
            let Some(kept) = index.kept(hit.id)? else {
                continue;
            };
            let probability = topic.probability(&Document {
                url: &kept.url,
                title: &kept.title,
                text: &kept.text,
                anchors: "",
            });
            if probability >= f64::from(ON_TOPIC) {
                found.total += 1;
                found.hits.push(hit);
            }
        }
        if last {
            break;
        }
        offset += Query::LIMIT;
    }
    let hits = found.hits.into_iter();
    found.hits = hits.skip(query.offset).take(query.limit).collect();
    Ok(found)
}
