//! What the binary carries for authors: the SDKs with their templates, and the WIT package. `build.rs` packs it.

use std::path::Path;

use super::project::{Kind, Language};
use crate::display::Failure;

/// Path (from the root of the repository) and content of each file.
static FILES: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/kit.rs"));

/// What stands for the project's name in a template, in the names of files and in text.
const NAME: &str = "NAME";

impl Language {
    /// The folder of its SDK.
    fn sdk(self) -> &'static str {
        match self {
            Self::Rust => "sdk/rust",
            Self::Python => "sdk/python",
            Self::Js | Self::Ts => "sdk/javascript",
            Self::Go => "sdk/go",
            Self::C => "sdk/c",
        }
    }

    /// Where its SDK goes in a project. Rust's finds the WIT package beside itself; Go has plans of its own for a folder
    /// named `vendor`.
    pub fn vendored(self) -> &'static str {
        match self {
            Self::Rust => "vendor/faucet/sdk/rust",
            Self::Go => "faucet",
            Self::Python | Self::Js | Self::Ts | Self::C => "vendor/faucet",
        }
    }

    fn reads_wit(self) -> bool {
        match self {
            Self::Rust | Self::Python | Self::Js | Self::Ts => true,
            Self::Go | Self::C => false,
        }
    }

    /// The folder of its templates.
    fn templates(self) -> &'static str {
        match self {
            Self::Ts => "template-ts",
            Self::Rust | Self::Python | Self::Js | Self::Go | Self::C => "template",
        }
    }
}

/// Writes the template of a kind of plugin into a folder, under the project's name.
pub fn write_template(folder: &Path, language: Language, kind: Kind, name: &str) -> Result<(), Failure> {
    let root = format!("{}/{}/{}/", language.sdk(), language.templates(), kind.name());
    let mut written = 0;
    for (path, content) in FILES {
        let Some(inside) = path.strip_prefix(root.as_str()) else { continue };
        let text = String::from_utf8_lossy(content).replace(NAME, name);
        write(&folder.join(inside.replace(NAME, name)), text.as_bytes())?;
        written += 1;
    }
    assert!(written > 0, "every language has a template of every kind");
    Ok(())
}

/// The interface of the HTTP client that `build/link.rs` puts beside a component.
const HTTP: &str = "sdk/http/client.wit";

/// Writes the SDK of a language into the project, and the WIT packages where its tool reads them.
pub fn write_sdk(folder: &Path, language: Language) -> Result<(), Failure> {
    let sdk = format!("{}/", language.sdk());
    for (path, content) in FILES {
        match path.strip_prefix(sdk.as_str()) {
            Some(inside) if !inside.starts_with("template") => {
                write(&folder.join(language.vendored()).join(inside), content)?;
            }
            Some(_) => {}
            None if *path == HTTP && matches!(language, Language::Js | Language::Ts) => {
                write(&folder.join(language.vendored()).join("wasi/http-client/client.wit"), content)?;
            }
            None if path.starts_with("wit/") && language.reads_wit() => {
                write(&folder.join("vendor/faucet").join(path), content)?;
            }
            None => {}
        }
    }
    Ok(())
}

/// The files of `wit/`: name and text.
pub fn wit() -> impl Iterator<Item = (&'static str, &'static str)> {
    FILES.iter().filter_map(|(path, content)| Some((path.strip_prefix("wit/")?, std::str::from_utf8(content).ok()?)))
}

/// The WIT package of the HTTP client: name and text of its file.
pub fn http_wit() -> (&'static str, &'static str) {
    let content = FILES.iter().find(|(path, _)| *path == HTTP).map_or(&b""[..], |(_, content)| content);
    (HTTP, std::str::from_utf8(content).unwrap_or_default())
}

fn write(path: &Path, content: &[u8]) -> Result<(), Failure> {
    let failed = |error: std::io::Error| Failure::Usage(format!("{}: {error}", path.display()));
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(failed)?;
    }
    std::fs::write(path, content).map_err(failed)
}
