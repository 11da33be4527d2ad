//! Ranking of the focused methods, and their distance to the references that know more (`BOUNDS`).
//!
//! **Invariant:** all means are over the same runs and targets. The better of our methods is
//! compared with the published method that has the largest mean area over all targets. It is not
//! compared with the best method for each target, which a user cannot know in advance.

use super::judged::ALL;
use super::{BOUNDS, FLOOR};
use crate::findings::{Measured, Param};
use crate::statistics::Mean;

/// Methods that are not from the literature.
const OURS: [&str; 2] = ["learned", "bandit"];

/// Descriptions of the entries of `BOUNDS`.
const KNOW: [&str; 3] = [
    "a crawler that knows all pages",
    "learned, with knowledge of each linked page and of the targets behind it",
    "learned, with knowledge of each linked page",
];

/// Lists the methods by area, and gives the area of the better of ours, and of the bounds,
/// relative to that of the best published method.
pub(super) fn notes(runs: &[Vec<Measured>], names: &[String]) -> Vec<String> {
    let mut ranked: Vec<(&str, f64)> = names
        .iter()
        .filter_map(|name| Some((name.as_str(), area(runs, name)?)))
        .collect();
    ranked.sort_by(|one, other| other.1.total_cmp(&one.1));
    let listed: Vec<String> = ranked
        .iter()
        .map(|(name, area)| format!("{name} {area:.3}"))
        .collect();
    let mut notes = vec![format!("area, all topics: {}", listed.join(", "))];
    let of = |wanted: &dyn Fn(&str) -> bool| ranked.iter().find(|(name, _)| wanted(name)).copied();
    let published =
        of(&|name| !OURS.contains(&name) && !FLOOR.contains(&name) && !BOUNDS.contains(&name));
    let ours = of(&|name| OURS.contains(&name));
    if let (Some(published), Some(ours)) = (published, ours) {
        let over = |area: f64| 100.0 * (area / published.1 - 1.0);
        let bounds = BOUNDS.iter().zip(KNOW).map(|(bound, knows)| {
            of(&|name| name == *bound).map_or(String::new(), |bound| {
                format!("; {knows}, {:+.1} %", over(bound.1))
            })
        });
        let most: String = bounds.collect();
        notes.push(format!(
            "{} over {}, the best of the published methods: {:+.1} %{most}",
            ours.0,
            published.0,
            over(ours.1)
        ));
    }
    notes
}

fn area(runs: &[Vec<Measured>], name: &str) -> Option<f64> {
    let is = |number: &&Measured| {
        number.policy == name
            && number.metric == "area"
            && number.params.get("target") == Some(&Param::from(ALL))
    };
    let values: Vec<f64> = runs
        .iter()
        .flatten()
        .filter(is)
        .map(|number| number.value)
        .collect();
    (!values.is_empty()).then(|| Mean::of(&values).value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::Params;

    #[test]
    fn our_method_is_compared_with_the_best_published_method_and_the_bounds() {
        let number = |policy: &str, value: f64| Measured {
            policy: policy.into(),
            params: Params::from([("target".to_owned(), Param::from(ALL))]),
            metric: "area".into(),
            x: 1.0,
            value,
        };
        let areas = [
            ("omniscient", 0.9),
            ("soft", 0.6),
            ("learned", 0.66),
            ("breadth-first", 0.7),
        ];
        let names = areas.map(|(name, _)| name.to_owned());
        let runs = [
            areas.map(|(name, area)| number(name, area)).to_vec(),
            areas.map(|(name, area)| number(name, area)).to_vec(),
        ];
        let notes = notes(&runs, &names);
        assert_eq!(
            notes[0],
            "area, all topics: omniscient 0.900, breadth-first 0.700, learned 0.660, soft 0.600"
        );
        assert_eq!(
            notes[1],
            "learned over soft, the best of the published methods: +10.0 %; a crawler that knows all pages, +50.0 %"
        );
    }
}
