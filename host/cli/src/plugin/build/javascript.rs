//! JavaScript and TypeScript: esbuild bundles the plugin with the SDK, componentize-qjs packs it with QuickJS.

use std::path::Path;

use super::{Tool, link, place_bytes, read, scratch};
use crate::display::Failure;
use crate::plugin::project::{Language, Project};

const INSTALL: &str = "install Node.js 20 or later, which brings npm";

/// Builds `src/plugin.js` or `src/plugin.ts`. The tools go into the SDK's folder when it is built for the first time.
pub fn build(project: &Project) -> Result<(), Failure> {
    let sdk = Path::new(Language::Js.vendored());
    let source = if project.manifest.language == Language::Ts { "src/plugin.ts" } else { "src/plugin.js" };
    if !project.folder.join(sdk).join("node_modules").exists() {
        let install =
            Tool::new("npm", INSTALL).args(["ci", "--omit=dev", "--ignore-scripts", "--no-audit", "--no-fund"]);
        install.args(["--prefix".as_ref(), sdk]).run(&project.folder)?;
    }
    let scratch = scratch()?;
    let component = scratch.path().join("plugin.wasm");
    Tool::new("node", INSTALL)
        .args([sdk.join("build.mjs").as_path(), "--plugin".as_ref(), source.as_ref()])
        .args(["--world", project.manifest.kind.name()])
        .args(["--wit".as_ref(), sdk.join("wit").as_path(), "--out".as_ref(), component.as_path()])
        .run(&project.folder)?;
    place_bytes(&link::with_http(read(&component)?)?, project)
}
