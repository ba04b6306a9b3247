//! The Rust sources under test, parsed once.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use syn::spanned::Spanned;
use syn::{Attribute, Item};
use walkdir::{DirEntry, WalkDir};

/// Folders whose code ships to users.
pub const SHIPPED: [&str; 4] = ["host", "sdk", "guests", "xtask"];

/// One source file.
pub struct Source {
    /// Path from the root of the checkout, with `/`.
    pub path: String,
    /// Its text.
    pub text: String,
    /// Its syntax tree.
    pub syntax: syn::File,
}

// `syn` trees hold `proc_macro2` spans, which can't cross threads: each test thread parses for itself.
thread_local! {
    static SOURCES: OnceLock<&'static [Source]> = const { OnceLock::new() };
}

/// Shipped sources that are not tests, benches or fuzz targets.
pub fn shipped() -> &'static [Source] {
    SOURCES.with(|cell| *cell.get_or_init(|| Vec::leak(read())))
}

/// The root of the checkout.
pub fn root() -> &'static Path {
    faucet_tests::faucet::workspace()
}

fn read() -> Vec<Source> {
    let folders = SHIPPED.iter().map(|folder| root().join(folder)).filter(|folder| folder.is_dir());
    let files = folders.flat_map(|folder| WalkDir::new(folder).sort_by_file_name().into_iter().filter_entry(ships));
    let paths = files.map(|entry| entry.expect("the checkout is readable").into_path());
    paths.filter(|path| path.extension().is_some_and(|e| e == "rs")).map(parse).collect()
}

/// Whether a file or folder can hold shipped code.
fn ships(entry: &DirEntry) -> bool {
    let name = entry.file_name().to_string_lossy();
    let stem = name.strip_suffix(".rs").unwrap_or(&name);
    !["target", "tests", "benches", "fuzz", "examples"].contains(&stem) && !name.starts_with('.')
}

fn parse(path: PathBuf) -> Source {
    let text = fs::read_to_string(&path).expect("a source file is readable");
    let syntax = syn::parse_file(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let path = path.strip_prefix(root()).expect("the file is in the checkout").to_string_lossy().replace('\\', "/");
    Source { path, text, syntax }
}

/// Whether an item exists only in tests.
pub fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let conditional = attribute.path().is_ident("cfg")
            && matches!(&attribute.meta, syn::Meta::List(list) if list.tokens.to_string().starts_with("test"));
        conditional || attribute.path().is_ident("test")
    })
}

/// Attributes of an item.
pub fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Fn(i) => &i.attrs,
        Item::Impl(i) => &i.attrs,
        Item::Mod(i) => &i.attrs,
        Item::Use(i) => &i.attrs,
        Item::Static(i) => &i.attrs,
        Item::Const(i) => &i.attrs,
        Item::Struct(i) => &i.attrs,
        Item::Enum(i) => &i.attrs,
        _ => &[],
    }
}

/// Lines from the first to the last of something, both counted.
pub fn lines(first: &impl Spanned, last: &impl Spanned) -> usize {
    last.span().end().line - first.span().start().line + 1
}
