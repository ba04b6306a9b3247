//! Names of columns: patterns, new names, and the one name that is not a column of the table.

use crate::config::OnMissing;
use faucet_sdk::{Error, OP_COLUMN, Page, PageOut, Result};

/// Whether a name of the configuration stands for several columns.
fn is_pattern(name: &str) -> bool {
    name.contains('*')
}

/// Whether `name` is what `pattern` says, where `*` stands for any characters, or none.
fn matches(pattern: &str, name: &str) -> bool {
    let Some((start, mut rest)) = pattern.split_once('*') else {
        return pattern == name;
    };
    let Some(mut name) = name.strip_prefix(start) else {
        return false;
    };
    // Each piece as far left as it can be; the last one at the end.
    while let Some((piece, after)) = rest.split_once('*') {
        let Some(at) = name.find(piece) else {
            return false;
        };
        name = &name[at + piece.len()..];
        rest = after;
    }
    name.ends_with(rest)
}

/// The columns of the page that a list names, by themselves or with patterns: in the order of the list, each once, and
/// never `__op`.
///
/// # Errors
/// If the page lacks one, and that is not to be ignored.
pub fn selected<'a>(page: &Page<'a>, list: &[String], on_missing: OnMissing) -> Result<Vec<&'a str>> {
    let columns = page.columns().map(|column| column.map(|column| column.name())).collect::<Result<Vec<_>>>()?;
    let mut selected = Vec::new();
    for name in list {
        let before = selected.len();
        let mut is_there = false;
        for column in columns.iter().filter(|column| **column != OP_COLUMN && matches(name, column)) {
            is_there = true;
            if !selected[..before].contains(column) {
                selected.push(*column);
            }
        }
        match (is_there, on_missing) {
            (true, _) | (false, OnMissing::Ignore) => {}
            (false, OnMissing::Error) if is_pattern(name) => {
                let (table, has) = (page.table(), columns.join(", "));
                return Err(Error::new(format!("no column of table '{table}' is named like '{name}' (it has {has})")));
            }
            (false, OnMissing::Error) => page.column(name).map(|_| ())?,
        }
    }
    Ok(selected)
}

/// Refuses to take columns away, or to replace them, that are part of the key.
///
/// # Errors
/// If one of `gone` is; `advice` says what to do instead.
pub fn check_key_stays(page: &Page<'_>, gone: &[&str], advice: &str) -> Result<()> {
    let Some(name) = gone.iter().find(|name| page.is_key(name)) else {
        return Ok(());
    };
    let table = page.table();
    Err(Error::new(format!("column '{name}' is part of the key of table '{table}': {advice}")))
}

/// The same, unless the configuration allows it: then the rows have no key any more.
///
/// # Errors
/// If a part of the key goes, and `allow_key` is false.
pub fn give_up_key(page: &Page<'_>, out: &mut PageOut<'_>, gone: &[&str], allow_key: bool) -> Result<()> {
    match check_key_stays(page, gone, "keep it, or set allow_key: true and have rows without a key") {
        Err(_) if allow_key => out.set_key::<[&str; 0]>([]),
        checked => return checked,
    }
    Ok(())
}

/// Refuses a configuration that names `__op` at `path`.
///
/// # Errors
/// If it does.
pub fn protect_op(name: &str, path: &str) -> Result<()> {
    match name {
        OP_COLUMN => Err(Error::config(path, "is __op, which marks what a change is and always stays as it is")),
        "" => Err(Error::config(path, "is empty")),
        _ => Ok(()),
    }
}

/// Refuses to make a column that the page has already.
///
/// # Errors
/// If it has one of this name; `option` says which option of the configuration gives the name.
pub fn check_new_name(page: &Page<'_>, name: &str, option: &str) -> Result<()> {
    if page.find(name)?.is_none() {
        return Ok(());
    }
    let table = page.table();
    Err(Error::new(format!(
        "table '{table}' has a column '{name}' already; give another name in `{option}`, or drop that column before"
    )))
}

/// Renames columns all at once, so that two can swap their names.
///
/// # Errors
/// If two columns would have one name.
pub fn rename_all(page: &Page<'_>, out: &mut PageOut<'_>, renames: &[(&str, String)]) -> Result<()> {
    let mut names: Vec<(&str, &str)> = Vec::new();
    for column in page.columns() {
        let old = column?.name();
        let new = renames.iter().find(|(name, _)| *name == old).map_or(old, |(_, new)| new);
        if let Some((other, _)) = names.iter().find(|(_, name)| *name == new) {
            let table = page.table();
            return Err(Error::new(format!(
                "columns '{other}' and '{old}' of table '{table}' would both be named '{new}'"
            )));
        }
        names.push((old, new));
    }
    // By way of names that no column has: a control character starts none.
    for (at, (old, _)) in renames.iter().enumerate() {
        out.rename(old, &format!("\0{at}"))?;
    }
    for (at, (_, new)) in renames.iter().enumerate() {
        out.rename(&format!("\0{at}"), new)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_anything() {
        for (pattern, name) in
            [("*", ""), ("*", "a"), ("a*", "a"), ("*a", "ba"), ("a*b*c", "aXbXbc"), ("*a*", "bab"), ("ab", "ab")]
        {
            assert!(matches(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in [("a", "ab"), ("a*a", "a"), ("*ab*b", "ab"), ("a*", "ba"), ("", "a")] {
            assert!(!matches(pattern, name), "{pattern} {name}");
        }
    }
}
