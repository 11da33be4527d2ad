//! A secret of the configuration: a text, a variable of the environment, or a file.

use std::fmt;
use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A secret. `Debug` does not show it.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Secret {
    /// The secret itself.
    Text(String),
    /// The variable of the environment that has it.
    Variable(SecretVariable),
    /// The file that has it.
    File(SecretFile),
}

/// A variable of the environment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SecretVariable {
    /// Its name.
    pub env: String,
}

/// A file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SecretFile {
    /// Its path.
    pub file: PathBuf,
}

impl Secret {
    /// Returns the secret, without the line break at the end of a file.
    pub fn read(&self) -> Result<String> {
        match self {
            Self::Text(text) => Ok(text.clone()),
            Self::Variable(SecretVariable { env }) => {
                std::env::var(env).with_context(|| format!("the variable {env} of the environment"))
            }
            Self::File(SecretFile { file }) => {
                let text = fs::read_to_string(file);
                let text = text.with_context(|| format!("cannot read {}", file.display()))?;
                Ok(text.trim_end_matches(['\r', '\n']).to_owned())
            }
        }
    }
}

impl Default for Secret {
    fn default() -> Self {
        Self::Text(String::new())
    }
}

impl From<&str> for Secret {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(_) => formatter.write_str("a secret"),
            Self::Variable(variable) => variable.fmt(formatter),
            Self::File(file) => file.fmt(formatter),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secret(toml: &str) -> Secret {
        let table: toml::Table = toml::from_str(toml).unwrap();
        table["secret"].clone().try_into().unwrap()
    }

    #[test]
    fn secrets_are_texts_variables_or_files_and_are_not_printed() {
        let plain = secret("secret = \"xyz\"");
        assert_eq!(plain.read().unwrap(), "xyz");
        assert_eq!(format!("{plain:?}"), "a secret");
        let home = secret("secret = { env = \"PATH\" }");
        assert_eq!(home.read().unwrap(), std::env::var("PATH").unwrap());
        let missing = secret("secret = { env = \"AVOCET_NO_SUCH\" }");
        let why = missing.read().unwrap_err().to_string();
        assert!(why.contains("AVOCET_NO_SUCH"), "{why}");
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), "from a file\n").unwrap();
        let path = file.path().display();
        let of_file = secret(&format!("secret = {{ file = \"{path}\" }}"));
        assert_eq!(of_file.read().unwrap(), "from a file");
        let wrong: Result<Secret, _> = toml::Value::Integer(3).try_into();
        assert!(wrong.is_err());
    }
}
