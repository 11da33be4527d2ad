//! Lists the settings in force, each with the layer that gives its value.

use serde::Serialize;

use super::declared::{REPEATED, declared};
use super::layer::Layer;

/// The value of one setting.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SettingInForce {
    /// Its path, such as `crawl.connections`.
    pub setting: String,
    /// The value; `None` if there is neither a value nor a fixed default.
    pub value: Option<serde_json::Value>,
    /// The layer that gives it.
    pub origin: SettingOrigin,
    /// The default in words, if there is one.
    pub default: Option<String>,
    /// The numbers that are allowed, in words; `None` if there is no limit.
    pub range: Option<String>,
    /// The flag that sets it for one run, if there is one.
    pub flag: Option<String>,
    /// What it means.
    pub about: String,
}

/// The layer that gives a setting its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SettingOrigin {
    /// The defaults of Avocet.
    Default,
    /// `avocet.toml`.
    File,
    /// A control of the dashboard or the API.
    Control,
    /// The command line.
    Flag,
}

impl SettingOrigin {
    /// Returns its name, as in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::File => "file",
            Self::Control => "control",
            Self::Flag => "flag",
        }
    }
}

/// Returns all settings, with flags over controls over a file over the defaults.
///
/// `[[host]]` and `[[webhook]]` are left out: they are lists, and may hold secrets.
pub fn in_force(flags: &Layer, controls: &Layer, file: &Layer) -> Vec<SettingInForce> {
    let merged = flags.over(&controls.over(file));
    let settings = declared().into_iter();
    let settings = settings.filter(|setting| !REPEATED.contains(&setting.section));
    settings
        .map(|setting| {
            let given = |layer: &Layer| layer.get(setting.section, setting.key).cloned();
            let origin = match given(&merged) {
                Some(_) if given(flags).is_some() => SettingOrigin::Flag,
                Some(_) if given(controls).is_some() => SettingOrigin::Control,
                Some(_) => SettingOrigin::File,
                None => SettingOrigin::Default,
            };
            let value = given(&merged).or_else(|| setting.default.clone());
            SettingInForce {
                setting: setting.path(),
                value: value.and_then(|value| serde_json::to_value(value).ok()),
                origin,
                default: setting.default_text(),
                range: setting.range.map(|range| range.to_string()),
                flag: setting.flag.as_ref().map(|flag| format!("--{}", flag.name)),
                about: setting.doc,
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_setting_says_which_layer_gives_it() {
        let file = Layer::parse(
            "[crawl]\nfocus = \"learned\"\ndepth = 3\nconnections = 8\n\
             [[host]]\norigin = \"https://e.org\"\nuser = \"me\"\npassword = \"secret\"\n",
        );
        let flags = Layer::parse("[crawl]\nconnections = 9\norder = \"backlink\"\n");
        let controls = Layer::parse("[crawl]\ndelay = \"3s\"\nconnections = 7\n").unwrap();
        let all = in_force(&flags.unwrap(), &controls, &file.unwrap());
        let of = |path: &str| {
            let one = all.iter().find(|one| one.setting == path).unwrap();
            (one.value.clone(), one.origin)
        };
        assert_eq!(
            of("crawl.connections"),
            (Some(json!(9)), SettingOrigin::Flag)
        );
        assert_eq!(of("crawl.delay").1, SettingOrigin::Control);
        assert_eq!(of("crawl.depth"), (Some(json!(3)), SettingOrigin::File));
        assert_eq!(
            of("crawl.per_server"),
            (Some(json!(1)), SettingOrigin::Default)
        );
        // The flag --order excludes the file's focus.
        assert_eq!(of("crawl.focus"), (None, SettingOrigin::Default));
        assert!(!format!("{all:?}").contains("secret"));
    }
}
