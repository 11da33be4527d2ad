//! The declaration of a setting: name, documentation, default, range and flag, in one place.
//!
//! [`section!`] turns a declared section into a struct that `avocet.toml` is read into, its
//! defaults, and a list of [`Setting`]s. `--help`, `avocet config reference`, `avocet config show`,
//! the check of a file and the API are made from that list. A new setting is one declaration in
//! `declared.rs` and one use.

use std::fmt;
use std::ops::{Bound, RangeBounds};

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value as Json;
use toml::Value;

use super::quantity::Time;

/// One setting of `avocet.toml`.
#[derive(Debug, Clone)]
pub struct Setting {
    /// The section, such as `crawl`.
    pub section: &'static str,
    /// The key within the section.
    pub key: &'static str,
    /// What it means, for people.
    pub doc: String,
    /// The default value; `None` if there is none, or it depends on the command or the server.
    pub default: Option<Value>,
    /// The default in words, where `default` does not show it.
    pub usual: Option<&'static str>,
    /// A value that the reference shows where there is no default.
    pub example: Option<Value>,
    /// The words that the value may be, each with its meaning; empty if it is not a choice.
    pub choices: Vec<(String, String)>,
    /// The numbers that are allowed. Times count in seconds.
    pub range: Option<Range>,
    /// The flag that sets it for one run.
    pub flag: Option<Flag>,
    /// Keys of the same section. If a layer gives this setting, these keys are ignored in the
    /// layers below it.
    pub excludes: &'static [&'static str],
    read: fn(&str) -> Result<Value, String>,
}

/// A flag of the command line that sets a setting.
#[derive(Debug, Clone)]
pub struct Flag {
    /// The long name, without dashes.
    pub name: &'static str,
    /// The placeholder of the value in `--help`.
    pub value_name: &'static str,
    /// The help of the flag, if it differs from the setting's documentation.
    pub help: Option<&'static str>,
    /// What it does to the setting.
    pub effect: Effect,
}

/// What a flag does to its setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Sets it to the flag's value.
    Value,
    /// Adds the flag's value to a list.
    Append,
    /// Takes no value, and sets the setting to this.
    Switch(bool),
}

/// An interval of numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Range {
    low: Bound<f64>,
    high: Bound<f64>,
}

/// A section of `avocet.toml`.
#[derive(Debug)]
pub struct SettingsSection {
    /// Its name.
    pub name: &'static str,
    /// What it is about, in one sentence.
    pub about: &'static str,
    /// Its settings, in the order of declaration.
    pub settings: Vec<Setting>,
}

impl Setting {
    /// Returns a setting of type `T`. A `default` of `None` means that there is no default.
    pub fn new<T>(section: &'static str, key: &'static str, doc: &str, default: &T) -> Self
    where
        T: Serialize + DeserializeOwned + JsonSchema,
    {
        Self {
            section,
            key,
            doc: doc.trim().to_owned(),
            default: Value::try_from(default).ok(),
            usual: None,
            example: None,
            choices: choices::<T>(),
            range: None,
            flag: None,
            excludes: &[],
            read: read_as::<T>,
        }
    }

    /// Describes a default that the declared value does not show.
    pub fn usual(self, usual: &'static str) -> Self {
        let usual = Some(usual);
        Self { usual, ..self }
    }

    /// Sets the value that the reference shows where there is no default.
    pub fn example<T: Serialize>(self, example: T) -> Self {
        let example = Value::try_from(example).ok();
        Self { example, ..self }
    }

    /// Allows only numbers of this range.
    pub fn range(self, range: impl RangeBounds<f64>) -> Self {
        let range = Some(Range {
            low: range.start_bound().cloned(),
            high: range.end_bound().cloned(),
        });
        Self { range, ..self }
    }

    /// Allows only numbers above zero.
    pub fn positive(self) -> Self {
        self.range((Bound::Excluded(0.0), Bound::Included(f64::MAX)))
    }

    /// Gives the setting a flag. The flag of a boolean takes no value. The flag of a list may be
    /// repeated.
    pub fn flag(self, name: &'static str, value_name: &'static str) -> Self {
        let effect = match self.default {
            Some(Value::Boolean(_)) => Effect::Switch(true),
            Some(Value::Array(_)) => Effect::Append,
            _ => Effect::Value,
        };
        let flag = Some(Flag {
            name,
            value_name,
            help: None,
            effect,
        });
        Self { flag, ..self }
    }

    /// Gives the setting a flag that sets it to `false`.
    pub fn off_flag(self, name: &'static str, help: &'static str) -> Self {
        let flag = Some(Flag {
            name,
            value_name: "",
            help: Some(help),
            effect: Effect::Switch(false),
        });
        Self { flag, ..self }
    }

    /// Sets the help of the flag, if it differs from the documentation.
    pub fn flag_help(mut self, help: &'static str) -> Self {
        if let Some(flag) = &mut self.flag {
            flag.help = Some(help);
        }
        self
    }

    /// Sets the function that reads the value of the flag, if it is written differently in a file.
    pub fn read_by(self, read: fn(&str) -> Result<Value, String>) -> Self {
        Self { read, ..self }
    }

    /// Sets the keys of the same section that are ignored in layers below one with this setting.
    pub fn excludes(self, excludes: &'static [&'static str]) -> Self {
        Self { excludes, ..self }
    }

    /// Returns `section.key`.
    pub fn path(&self) -> String {
        format!("{}.{}", self.section, self.key)
    }

    /// Reads a value as the command line gives it.
    pub fn read(&self, text: &str) -> Result<Value, String> {
        let value = (self.read)(text)?;
        self.check(&value).map(|()| value)
    }

    /// Checks that a number or a time is in the range. Any other value passes.
    pub fn check(&self, value: &Value) -> Result<(), String> {
        let Some(range) = self.range else {
            return Ok(());
        };
        let number = match value {
            Value::Integer(number) => *number as f64,
            Value::Float(number) => *number,
            Value::String(text) => match text.parse::<Time>() {
                Ok(time) => time.0.as_secs_f64(),
                Err(_) => return Ok(()),
            },
            _ => return Ok(()),
        };
        let unit = match value {
            Value::String(_) => " s",
            _ => "",
        };
        match range.contains(number) {
            true => Ok(()),
            false => Err(format!("must be {range}{unit}, and is {value}")),
        }
    }

    /// Returns the value that the reference shows, as TOML: the default if it is not empty, else
    /// the example.
    pub fn shown(&self) -> String {
        let empty = |value: &Value| match value {
            Value::String(text) => text.is_empty(),
            Value::Array(list) => list.is_empty(),
            Value::Table(table) => table.is_empty(),
            _ => false,
        };
        let default = self.default.as_ref().filter(|value| !empty(value));
        let shown = default.or(self.example.as_ref());
        shown.map(Value::to_string).unwrap_or_default()
    }

    /// Returns the default in words; `None` for a boolean, a list, or a setting without a default.
    pub fn default_text(&self) -> Option<String> {
        let text = |value: &Value| match value {
            Value::String(text) => Some(text.clone()),
            Value::Array(_) | Value::Boolean(_) => None,
            other => Some(other.to_string()),
        };
        let usual = self.usual.map(str::to_owned);
        usual.or_else(|| self.default.as_ref().and_then(text))
    }
}

impl Range {
    fn contains(self, number: f64) -> bool {
        (self.low, self.high).contains(&number)
    }

    /// Returns whether the range has a lower and an upper end.
    pub fn is_bounded(self) -> bool {
        let ends = [self.low, self.high];
        ends.iter().all(
            |end| matches!(end, Bound::Included(end) | Bound::Excluded(end) if *end < f64::MAX),
        )
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let high = match self.high {
            Bound::Included(high) if high < f64::MAX => Some(high),
            _ => None,
        };
        match (self.low, high) {
            (Bound::Included(low), Some(high)) => write!(f, "{low} to {high}"),
            (Bound::Included(low), None) => write!(f, "at least {low}"),
            (Bound::Excluded(low), Some(high)) => write!(f, "above {low} and at most {high}"),
            (Bound::Excluded(low), None) => write!(f, "a number above {low}"),
            (Bound::Unbounded, Some(high)) => write!(f, "at most {high}"),
            (Bound::Unbounded, None) => write!(f, "any number"),
        }
    }
}

/// Reads a text as a `T`: as a number if `T` takes that number, else as a string.
fn read_as<T: DeserializeOwned>(text: &str) -> Result<Value, String> {
    let numbers = [
        text.parse().ok().map(Value::Integer),
        text.parse().ok().map(Value::Float),
    ];
    let mut why = None;
    for value in numbers.into_iter().flatten() {
        match T::deserialize(value.clone()) {
            Ok(_) => return Ok(value),
            Err(error) => why = Some(error),
        }
    }
    let list = Value::Array(vec![Value::String(text.to_owned())]);
    for value in [Value::String(text.to_owned()), list] {
        match T::deserialize(value.clone()) {
            // A flag gives one element of a list.
            Ok(_) => return Ok(Value::String(text.to_owned())),
            Err(error) => why = why.or(Some(error)),
        }
    }
    Err(why.map_or_else(String::new, |why| why.message().to_owned()))
}

/// Returns the words that a value of type `T` may be, with the comments on them.
fn choices<T: JsonSchema>() -> Vec<(String, String)> {
    let settings = schemars::generate::SchemaSettings::draft2020_12();
    let settings = settings.with(|settings| settings.inline_subschemas = true);
    let schema = settings.into_generator().into_root_schema_for::<T>();
    let one_of = |schema: &Json| schema.get("oneOf").and_then(Json::as_array).cloned();
    // For an optional value, the words are one level deeper in the schema.
    let inner = schema.get("anyOf").and_then(Json::as_array);
    let inner = inner.into_iter().flatten().find_map(one_of);
    let words = one_of(schema.as_value()).or(inner).unwrap_or_default();
    let text = |word: &Json, key: &str| word.get(key).and_then(Json::as_str).map(str::to_owned);
    words
        .iter()
        .filter_map(|word| {
            let meaning = text(word, "description").unwrap_or_default();
            let meaning = meaning.replace('\n', " ");
            Some((text(word, "const")?, meaning))
        })
        .collect()
}

/// Declares a section: a struct, its defaults and its [`Setting`]s.
///
/// A declaration is a doc comment, a key, a type, a default, and calls of methods of [`Setting`].
macro_rules! section {
    (
        $(#[doc = $about:literal])+
        [$section:ident] $name:ident {
            $(
                $(#[doc = $doc:literal])+
                $key:ident: $type:ty = $default:expr
                    $(, $method:ident($($argument:expr),*))*;
            )+
        }
    ) => {
        $(#[doc = $about])+
        #[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(default, deny_unknown_fields)]
        pub struct $name {
            $(
                $(#[doc = $doc])+
                pub $key: $type,
            )+
        }

        impl Default for $name {
            fn default() -> Self {
                Self { $($key: $default,)+ }
            }
        }

        impl $name {
            /// Returns the declarations of this section.
            fn section() -> SettingsSection {
                let default = Self::default();
                let settings = vec![$(
                    Setting::new::<$type>(
                        stringify!($section),
                        stringify!($key),
                        concat!($($doc),+),
                        &default.$key,
                    )
                    $(.$method($($argument),*))*
                ),+];
                let about = concat!($($about),+).trim_ascii();
                SettingsSection { name: stringify!($section), about, settings }
            }
        }
    };
}

pub(super) use section;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_read_as_the_type_of_their_setting() {
        let number = Setting::new::<u16>("a", "b", "", &1).range(1.0..=10.0);
        assert_eq!(number.read("3"), Ok(Value::Integer(3)));
        for wrong in ["0", "11", "-1", "70000", "3.5", "many", ""] {
            assert!(number.read(wrong).is_err(), "{wrong}");
        }
        let text = Setting::new::<String>("a", "b", "", &String::new());
        assert_eq!(text.read("42"), Ok(Value::String("42".into())));
        let share = Setting::new::<Option<f64>>("a", "b", "", &None).positive();
        assert_eq!(share.read("2"), Ok(Value::Integer(2)));
        assert_eq!(share.read(".5"), Ok(Value::Float(0.5)));
        for wrong in ["0", "-1", "inf", "nan"] {
            assert!(share.read(wrong).is_err(), "{wrong}");
        }
        let time = Setting::new::<Time>("a", "b", "", &Time::seconds(5)).range(1.0..);
        assert_eq!(time.read("2m"), Ok(Value::String("2m".into())));
        let why = time.read("20ms").unwrap_err();
        assert_eq!(why, "must be at least 1 s, and is \"20ms\"");
        let list = Setting::new::<Vec<String>>("a", "b", "", &Vec::new()).flag("b", "B");
        assert_eq!(list.read("x"), Ok(Value::String("x".into())));
        assert_eq!(list.flag.map(|flag| flag.effect), Some(Effect::Append));
    }

    #[test]
    fn a_range_is_described_in_words() {
        let said = |range: Range| range.to_string();
        let range = |low, high| Range { low, high };
        let cases = [
            (range(Bound::Included(1.0), Bound::Included(9.0)), "1 to 9"),
            (range(Bound::Included(1.0), Bound::Unbounded), "at least 1"),
            (
                range(Bound::Excluded(0.0), Bound::Included(1.0)),
                "above 0 and at most 1",
            ),
            (
                range(Bound::Excluded(0.0), Bound::Included(f64::MAX)),
                "a number above 0",
            ),
        ];
        for (range, expected) in cases {
            assert_eq!(said(range), expected);
        }
    }
}
