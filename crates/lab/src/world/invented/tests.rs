//! Tests that every invented world must pass.

use super::*;

/// Settings of worlds that are small, but use every feature.
const SMALL: &[(&str, &[(&str, f64)])] = &[
    ("graph", &[("pages", 300.0), ("hosts", 10.0)]),
    (
        "servers",
        &[
            ("pages", 300.0),
            ("servers", 20.0),
            ("one", 0.3),
            ("hundred", 0.3),
        ],
    ),
    (
        "pages",
        &[
            ("pages", 200.0),
            ("hosts", 10.0),
            ("shape", 0.7),
            ("shortest", 5.0),
            ("growth", 0.001),
            ("deaths", 0.001),
            ("hazard", 2.0),
        ],
    ),
    (
        "sources",
        &[
            ("sources", 12.0),
            ("sites", 3.0),
            ("days", 2.0),
            ("after", 1.0),
            ("articles", 0.001),
        ],
    ),
    (
        "corpus",
        &[
            ("pages", 30.0),
            ("sites", 4.0),
            ("weeks", 20.0),
            ("shape", 0.7),
            ("shortest", 5.0),
            ("matter", 0.5),
            ("queries", 50.0),
        ],
    ),
    ("topics", &[("pages", 200.0), ("topics", 4.0)]),
    (
        "town",
        &[
            ("sites", 3.0),
            ("pages", 60.0),
            ("days", 6.0),
            ("births", 30.0),
        ],
    ),
];

/// Returns the debug text of a small world; `turned` replaces one setting.
fn small(name: &str, turned: Option<(&str, f64)>, seed: u64) -> String {
    let (_, knobs) = SMALL.iter().find(|(kind, _)| *kind == name).unwrap();
    let own = |&(knob, value): &(&str, f64)| (knob.to_owned(), value.to_string());
    let wishes: Vec<_> = knobs.iter().chain(&turned).map(own).collect();
    match invent(name, &wishes, seed).unwrap() {
        // Only servers and pages: the other fields include a map, whose order varies.
        World::Servers(web) => format!(
            "{:?}",
            (
                web.servers().collect::<Vec<_>>(),
                web.pages().collect::<Vec<_>>()
            )
        ),
        world => format!("{world:?}"),
    }
}

#[test]
fn equal_seeds_give_equal_worlds_and_other_seeds_others() {
    for kind in KINDS {
        let world = small(kind.name, None, 1);
        assert!(world == small(kind.name, None, 1), "{}", kind.name);
        assert!(world != small(kind.name, None, 2), "{}", kind.name);
    }
}

#[test]
fn every_setting_changes_the_world() {
    for kind in KINDS {
        let usual = small(kind.name, None, 1);
        for knob in kind.knobs {
            // Raised by half, or halved if that exceeds the range.
            let (_, set) = SMALL.iter().find(|(name, _)| *name == kind.name).unwrap();
            let set = set.iter().find(|(name, _)| *name == knob.name);
            let now = set.map_or(knob.default, |(_, value)| *value);
            let up = if now == 0.0 { 0.5 } else { now * 1.5 };
            let other = if up <= knob.most { up } else { now / 2.0 };
            let other = if knob.whole { other.round() } else { other };
            let turned = small(kind.name, Some((knob.name, other)), 1);
            assert!(turned != usual, "{} of {}: {other}", knob.name, kind.name);
        }
    }
}

#[test]
fn the_help_lists_every_world_and_setting_with_a_default_in_range() {
    let help = catalog();
    for kind in KINDS {
        assert!(help.contains(&format!("invented:{} ", kind.name)));
        for knob in kind.knobs {
            assert!(help.contains(knob.meaning) && help.contains(knob.name));
            assert!((knob.least..=knob.most).contains(&knob.default), "{knob:?}");
            assert!(knob.meaning.ends_with('.'), "{knob:?}");
        }
    }
}

#[test]
fn the_documentation_lists_every_setting_as_declared() {
    let text = include_str!("../../../../../docs/science/invented-worlds.md");
    for kind in KINDS {
        let at = text.find(&format!("## `invented:{}`", kind.name));
        let section = &text[at.unwrap_or_else(|| panic!("{} has no section", kind.name))..];
        let rows: Vec<String> = kind.knobs.iter().map(row).collect();
        let table = rows.join("\n");
        assert!(section.contains(&table), "{}:\n{table}", kind.name);
    }
}

fn row(knob: &Knob) -> String {
    let Knob {
        name,
        default,
        least,
        most,
        meaning,
        ..
    } = knob;
    format!("| `{name}` | {default} | {least} to {most} | {meaning} |")
}

#[test]
fn an_unknown_name_is_an_error_that_lists_the_known_names() {
    let Err(error) = invent("grahp", &[], 1) else {
        panic!("it was invented");
    };
    let error = error.to_string();
    assert!(error.contains("\"grahp\"") && names().all(|name| error.contains(name)));
}
