//! Named settings of invented worlds, with their ranges and defaults.
//!
//! **Invariant:** fields, defaults, ranges and meanings of a plan are declared once, in
//! [`plan!`]. Parser and help use the declaration, and a test compares the documentation with it.

use crate::LabError;

/// A setting of an invented world: a number that the user can set.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Knob {
    /// Its name, as in `--set pages=1000`.
    pub name: &'static str,
    /// The default value.
    pub default: f64,
    /// The lower bound.
    pub least: f64,
    /// The upper bound.
    pub most: f64,
    /// Whether it must be a whole number.
    pub whole: bool,
    /// Its meaning, with its unit.
    pub meaning: &'static str,
}

/// A plan whose fields can be set by name.
pub(crate) trait Tuned: Default {
    /// All settings of the plan.
    const KNOBS: &'static [Knob];

    /// Sets the field `name` to a value that is known to be in range.
    fn set(&mut self, name: &str, value: f64);
}

/// A number type that plans can have.
pub(super) trait KnobNumber {
    /// Whether the type has no fractions.
    const WHOLE: bool;

    /// Converts the user's number; it is whole if [`Self::WHOLE`].
    fn from_wish(value: f64) -> Self;
}

/// Creates a plan with the user's settings. A later setting of the same name wins.
pub(crate) fn tuned<P: Tuned>(world: &str, wishes: &[(String, String)]) -> Result<P, LabError> {
    let mut plan = P::default();
    for (name, text) in wishes {
        let Some(knob) = P::KNOBS.iter().find(|knob| knob.name == name) else {
            let names: Vec<_> = P::KNOBS.iter().map(|knob| knob.name).collect();
            return Err(LabError::Wish(format!(
                "invented:{world} has no setting {name:?}; it has {}",
                names.join(", ")
            )));
        };
        plan.set(name, knob.read(world, text)?);
    }
    Ok(plan)
}

impl Knob {
    fn read(&self, world: &str, text: &str) -> Result<f64, LabError> {
        let value = text.trim().parse::<f64>().ok();
        // NaN is in no range.
        let value = value.filter(|value| (self.least..=self.most).contains(value));
        let value = value.filter(|value| !self.whole || value.fract() == 0.0);
        value.ok_or_else(|| {
            LabError::Wish(format!(
                "{} of invented:{world} must be {}, not {text:?}",
                self.name,
                self.range()
            ))
        })
    }

    /// Returns the range in words.
    pub fn range(&self) -> String {
        let kind = if self.whole { "whole number" } else { "number" };
        format!("a {kind} from {} to {}", self.least, self.most)
    }
}

impl KnobNumber for f64 {
    const WHOLE: bool = false;

    fn from_wish(value: f64) -> Self {
        value
    }
}

impl KnobNumber for u32 {
    const WHOLE: bool = true;

    fn from_wish(value: f64) -> Self {
        value as Self
    }
}

/// Declares a plan: the name of its type, then `/// Meaning.` and
/// `name: type = default, least to most;` for each field.
macro_rules! plan {
    (
        $(#[$about:meta])*
        $plan:ident {
            $( $(#[doc = $meaning:literal])+ $name:ident: $type:ty = $default:literal, $least:literal to $most:literal; )+
        }
    ) => {
        $(#[$about])*
        #[derive(Debug, Clone, PartialEq)]
        pub struct $plan {
            $( $(#[doc = $meaning])+ pub $name: $type, )+
        }

        impl Default for $plan {
            fn default() -> Self {
                Self { $( $name: $default, )+ }
            }
        }

        impl $crate::invent::knob::Tuned for $plan {
            const KNOBS: &'static [$crate::invent::Knob] = &[ $( $crate::invent::Knob {
                name: stringify!($name),
                default: $default as f64,
                least: $least as f64,
                most: $most as f64,
                whole: <$type as $crate::invent::knob::KnobNumber>::WHOLE,
                meaning: concat!($($meaning),+).trim_ascii(),
            }, )+ ];

            fn set(&mut self, name: &str, value: f64) {
                match name {
                    $( stringify!($name) => {
                        self.$name = $crate::invent::knob::KnobNumber::from_wish(value);
                    } )+
                    _ => {}
                }
            }
        }
    };
}

pub(super) use plan;

#[cfg(test)]
mod tests {
    use super::*;

    plan! {
        /// A plan to try.
        TrialPlan {
            /// Pages,
            /// in all.
            pages: u32 = 10, 1 to 1_000;
            /// The share of something.
            share: f64 = 0.5, 0 to 1;
        }
    }

    fn wish(wishes: &[(&str, &str)]) -> Result<TrialPlan, LabError> {
        let own = |&(name, value): &(&str, &str)| (name.to_owned(), value.to_owned());
        tuned("trial", &wishes.iter().map(own).collect::<Vec<_>>())
    }

    #[test]
    fn settings_are_applied_or_refused_with_the_valid_ranges_and_names() {
        assert_eq!(wish(&[]).unwrap(), TrialPlan::default());
        let pages = |text| wish(&[("pages", text)]).map(|plan| plan.pages);
        assert_eq!(pages("1e2").unwrap(), 100);
        assert_eq!(pages(" 7").unwrap(), 7);
        let twice = wish(&[("share", "0"), ("share", "1")]).unwrap();
        assert_eq!((twice.share, twice.pages), (1.0, 10));
        for wrong in ["0", "1001", "1.5", "nan", "inf", "-3", "", "many"] {
            let error = pages(wrong).unwrap_err().to_string();
            let range = "a whole number from 1 to 1000";
            assert!(error.contains(range) && error.contains(wrong), "{error}");
        }
        let error = wish(&[("page", "3")]).unwrap_err().to_string();
        assert!(error.contains("it has pages, share"), "{error}");
    }

    #[test]
    fn the_settings_have_the_declared_meaning_default_and_range() {
        assert_eq!(TrialPlan::KNOBS[0].meaning, "Pages, in all.");
        assert_eq!(
            (TrialPlan::KNOBS[0].default, TrialPlan::KNOBS[0].whole),
            (10.0, true)
        );
        assert_eq!(
            (TrialPlan::KNOBS[1].least, TrialPlan::KNOBS[1].most),
            (0.0, 1.0)
        );
    }
}
