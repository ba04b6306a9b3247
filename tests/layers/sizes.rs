//! How large functions and files may be. Lines count from the signature to the closing brace, comments included;
//! test code inside a file doesn't count.

use syn::visit::{self, Visit};
use syn::{Block, ImplItemFn, Item, ItemFn, Signature, TraitItemFn};

use crate::none;
use crate::sources::{self, Source, attributes, is_test, lines};

/// No function is longer.
const FUNCTION_MOST: usize = 100;
/// 95 of 100 functions are shorter.
const FUNCTION_P95: usize = 40;
/// No file is longer.
const FILE_MOST: usize = 700;
/// 95 of 100 files are shorter.
const FILE_P95: usize = 400;

#[derive(Default)]
struct Functions {
    found: Vec<(usize, String)>,
}

impl Functions {
    fn of(source: &Source) -> Vec<(usize, String)> {
        let mut functions = Self::default();
        functions.visit_file(&source.syntax);
        functions.found
    }

    fn note(&mut self, signature: &Signature, block: &Block) {
        self.found.push((lines(signature, block), signature.ident.to_string()));
    }
}

impl<'ast> Visit<'ast> for Functions {
    fn visit_item(&mut self, item: &'ast Item) {
        if !is_test(attributes(item)) {
            visit::visit_item(self, item);
        }
    }

    fn visit_item_fn(&mut self, function: &'ast ItemFn) {
        self.note(&function.sig, &function.block);
        visit::visit_item_fn(self, function);
    }

    fn visit_impl_item_fn(&mut self, function: &'ast ImplItemFn) {
        self.note(&function.sig, &function.block);
        visit::visit_impl_item_fn(self, function);
    }

    fn visit_trait_item_fn(&mut self, function: &'ast TraitItemFn) {
        if let Some(block) = &function.default {
            self.note(&function.sig, block);
        }
        visit::visit_trait_item_fn(self, function);
    }
}

/// Lines of a file less those of its test modules.
fn shipped_lines(source: &Source) -> usize {
    let tests = source.syntax.items.iter().filter(|item| is_test(attributes(item)));
    source.text.lines().count() - tests.map(|item| lines(item, item)).sum::<usize>()
}

/// The value 95 of 100 are at most.
fn p95(mut values: Vec<usize>) -> usize {
    values.sort_unstable();
    let index = (values.len() * 95).div_ceil(100).saturating_sub(1);
    values.get(index).copied().unwrap_or(0)
}

#[test]
fn functions_stay_short() {
    let mut lengths = Vec::new();
    let mut violations = Vec::new();
    for source in sources::shipped() {
        for (length, name) in Functions::of(source) {
            lengths.push(length);
            if length > FUNCTION_MOST {
                violations.push(format!("{}: {name} has {length} lines", source.path));
            }
        }
    }
    none(&format!("a function has at most {FUNCTION_MOST} lines"), &violations);
    let p95 = p95(lengths);
    assert!(p95 < FUNCTION_P95, "95% of functions have under {FUNCTION_P95} lines; now it is {p95}");
}

#[test]
fn files_stay_short() {
    let sizes: Vec<(usize, &str)> = sources::shipped().iter().map(|s| (shipped_lines(s), s.path.as_str())).collect();
    let large = sizes.iter().filter(|(size, _)| *size > FILE_MOST);
    let violations: Vec<String> = large.map(|(size, path)| format!("{path} has {size} lines")).collect();
    none(&format!("a file has at most {FILE_MOST} lines"), &violations);
    let p95 = p95(sizes.iter().map(|(size, _)| *size).collect());
    assert!(p95 < FILE_P95, "95% of files have under {FILE_P95} lines; now it is {p95}");
}

#[test]
fn lines_are_counted_right() {
    let text = "/// Doc.\nfn a() {\n    b();\n}\n\n#[cfg(test)]\nmod tests {\n    fn c() {\n    }\n}\n";
    let syntax = syn::parse_file(text).expect("it is Rust");
    let source = Source { path: String::new(), text: text.to_owned(), syntax };
    assert_eq!(Functions::of(&source), [(3, "a".to_owned())]);
    assert_eq!(shipped_lines(&source), 5);
    assert_eq!(p95((1..=100).collect()), 95);
}
