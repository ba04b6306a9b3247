//! A plugin's project: a folder with `faucet-plugin.yaml`.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

use crate::display::Failure;

/// The file that makes a folder a project.
pub const MANIFEST: &str = "faucet-plugin.yaml";

/// What the file says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// The plugin's name, which its component's file has too.
    pub name: String,
    /// What it is to a pipeline.
    pub kind: Kind,
    /// What it is written in.
    pub language: Language,
}

/// What a plugin is to a pipeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Rows pass through it.
    Transform,
    /// Rows come from it.
    Source,
    /// Rows go to it.
    Sink,
}

impl Kind {
    /// The world in `wit/`, and the folder of its template.
    pub fn name(self) -> &'static str {
        match self {
            Self::Transform => "transform",
            Self::Source => "source",
            Self::Sink => "sink",
        }
    }
}

/// What a plugin is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Language {
    /// Rust.
    Rust,
    /// Python.
    Python,
    /// JavaScript.
    Js,
    /// TypeScript.
    Ts,
    /// Go.
    Go,
    /// C.
    C,
}

/// A project on disk.
#[derive(Debug, Clone)]
pub struct Project {
    /// Its folder.
    pub folder: PathBuf,
    /// What its manifest says.
    pub manifest: Manifest,
}

impl Project {
    /// The project in a folder.
    pub fn open(folder: &Path) -> Result<Self, Failure> {
        let file = folder.join(MANIFEST);
        let text = std::fs::read_to_string(&file).map_err(|error| {
            Failure::Usage(format!("{}: {error}; `faucet plugin new` makes a project", file.display()))
        })?;
        let manifest =
            serde_yaml::from_str(&text).map_err(|error| Failure::Usage(format!("{}: {error}", file.display())))?;
        Ok(Self { folder: folder.to_owned(), manifest })
    }

    /// Where `faucet plugin build` puts the component.
    pub fn component(&self) -> PathBuf {
        self.folder.join(format!("{}.wasm", self.manifest.name))
    }
}
