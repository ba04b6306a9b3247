//! The text of a configuration and where it came from.

use std::io::Read;
use std::path::{Path, PathBuf};

use crate::error::{Blame, Code, Error, Result, Retry};

/// The largest configuration that is read, in bytes. Real ones have a few kilobytes.
pub const LARGEST: u64 = 4 << 20;

/// A configuration file that can't be read.
pub static UNREADABLE: Code = Code {
    id: "config.unreadable",
    blame: Blame::Config,
    retry: Retry::Never,
    title: "the configuration file can't be read",
    help: "faucet was given a configuration file that doesn't exist, that it isn't allowed to read, that isn't UTF-8 \
           text, or that is larger than 4 MiB. Check the path, which is taken from the current folder, and the file's \
           permissions. `-` reads the configuration from standard input.",
};

/// How a configuration is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// YAML 1.2.
    Yaml,
    /// JSON, without comments.
    Json,
}

/// A configuration as text, before anything in it is understood.
#[derive(Debug, Clone)]
pub struct ConfigText {
    /// What messages call it: its path as given, or `standard input`.
    pub name: String,
    /// The text itself.
    pub text: String,
    /// How it is written.
    pub format: Format,
    /// The folder that relative paths inside it start from.
    pub folder: PathBuf,
}

impl ConfigText {
    /// Reads the file at `path`, or standard input when `path` is `-`.
    ///
    /// A name that ends in `.json` is JSON; everything else is YAML, except that standard input whose first character
    /// is `{` is JSON.
    ///
    /// # Errors
    /// [`UNREADABLE`].
    pub fn read(path: &Path) -> Result<Self> {
        if path == Path::new("-") {
            return Self::from_reader("standard input", std::io::stdin().lock());
        }
        let name = path.display().to_string();
        let file = std::fs::File::open(path).map_err(|e| unreadable(&name, &e.to_string()))?;
        let text = read_text(&name, file)?;
        let json = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("json"));
        let folder = path.parent().unwrap_or(Path::new("")).to_owned();
        Ok(Self { name, text, format: if json { Format::Json } else { Format::Yaml }, folder })
    }

    /// Reads everything from `reader` as the configuration called `name`; relative paths start from the current folder.
    ///
    /// # Errors
    /// [`UNREADABLE`].
    pub fn from_reader(name: &str, reader: impl Read) -> Result<Self> {
        let text = read_text(name, reader)?;
        let format = if text.trim_start().starts_with('{') { Format::Json } else { Format::Yaml };
        Ok(Self { name: name.to_owned(), text, format, folder: PathBuf::new() })
    }

    /// YAML held in memory, for tests and for callers that build a configuration.
    pub fn yaml(name: &str, text: &str) -> Self {
        Self { name: name.to_owned(), text: text.to_owned(), format: Format::Yaml, folder: PathBuf::new() }
    }
}

fn read_text(name: &str, reader: impl Read) -> Result<String> {
    let mut bytes = Vec::new();
    reader.take(LARGEST + 1).read_to_end(&mut bytes).map_err(|e| unreadable(name, &e.to_string()))?;
    if bytes.len() as u64 > LARGEST {
        return Err(unreadable(name, "it is larger than 4 MiB"));
    }
    let text = String::from_utf8(bytes).map_err(|e| {
        let at = e.utf8_error().valid_up_to();
        unreadable(name, &format!("it is not UTF-8 text (byte {at})"))
    })?;
    Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
}

fn unreadable(name: &str, why: &str) -> Error {
    Error::new(&UNREADABLE, format!("can't read the configuration '{name}': {why}"))
        .hint("check the path and its permissions, or pass - to read standard input")
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn the_format_follows_the_name_or_the_first_character() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("p.json");
        std::fs::write(&path, "\u{feff}{}").unwrap();
        let read = ConfigText::read(&path).unwrap();
        assert_eq!((read.format, read.text.as_str()), (Format::Json, "{}"));
        assert_eq!(read.folder, folder.path());
        assert_eq!(ConfigText::from_reader("standard input", &b" {}"[..]).unwrap().format, Format::Json);
        assert_eq!(ConfigText::from_reader("standard input", &b"a: 1"[..]).unwrap().format, Format::Yaml);
    }

    #[test]
    fn what_cannot_be_read_names_the_file() {
        let error = ConfigText::read(Path::new("/nowhere/p.yaml")).unwrap_err();
        assert_eq!(error.code().id, "config.unreadable");
        assert!(error.to_string().contains("/nowhere/p.yaml"), "{error}");
        let error = ConfigText::from_reader("x", &[b'a', 0xff][..]).unwrap_err();
        assert!(error.to_string().contains("byte 1"), "{error}");
        let error = ConfigText::from_reader("x", std::io::repeat(b' ')).unwrap_err();
        assert!(error.to_string().contains("4 MiB"), "{error}");
    }
}
