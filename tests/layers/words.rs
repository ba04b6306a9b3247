//! What must not be in shipped code: marks of unfinished work. What isn't done is not shipped, or is an issue.

use walkdir::WalkDir;

use crate::none;
use crate::sources;

/// Words in any text, comments included.
const WORDS: [&str; 4] = ["TODO", "FIXME", "XXX", "HACK"];
/// Pieces of text in Rust sources.
const PIECES: [&str; 5] =
    ["todo!(", "unimplemented!(", "//! placeholder", "not implemented yet", "not yet implemented"];

fn has_word(line: &str, word: &str) -> bool {
    let letter = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    line.match_indices(word)
        .any(|(at, _)| !letter(line[..at].chars().next_back()) && !letter(line[at + word.len()..].chars().next()))
}

fn check(path: &str, text: &str, violations: &mut Vec<String>) {
    for (number, line) in text.lines().enumerate() {
        let word = WORDS.iter().find(|w| has_word(line, w)).or_else(|| PIECES.iter().find(|p| line.contains(**p)));
        violations.extend(word.map(|word| format!("{path}:{} has `{word}`", number + 1)));
    }
}

#[test]
fn shipped_code_has_no_unfinished_work() {
    let mut violations = Vec::new();
    for source in sources::shipped() {
        check(&source.path, &source.text, &mut violations);
    }
    let wit = WalkDir::new(sources::root().join("wit")).into_iter().flatten();
    for file in wit.filter(|e| e.path().extension().is_some_and(|e| e == "wit")) {
        let text = std::fs::read_to_string(file.path()).expect("a WIT file is readable");
        check(&file.path().display().to_string(), &text, &mut violations);
    }
    none("unfinished work is not shipped", &violations);
}

#[test]
fn words_are_told_from_parts_of_words() {
    assert!(has_word("// TODO: x", "TODO") && has_word("(FIXME)", "FIXME"));
    assert!(!has_word("MAXXXL", "XXX") && !has_word("TODOS", "TODO"));
}
