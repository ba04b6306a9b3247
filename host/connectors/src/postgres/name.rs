//! Names and constants in SQL text. Names are quoted always, and never split on dots.

/// `name` as an identifier.
pub fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// `name` inside `schema` as an identifier; without a schema it is found along the search path.
pub fn qualified(schema: Option<&str>, name: &str) -> String {
    match schema {
        Some(schema) => format!("{}.{}", quoted(schema), quoted(name)),
        None => quoted(name),
    }
}

/// The names as a list of identifiers.
pub fn list<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    names.into_iter().map(quoted).collect::<Vec<_>>().join(", ")
}

/// `text` as a string constant, whatever `standard_conforming_strings` is.
pub fn literal(text: &str) -> String {
    let doubled = text.replace('\'', "''");
    if text.contains('\\') { format!("E'{}'", doubled.replace('\\', "\\\\")) } else { format!("'{doubled}'") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_are_doubled_and_dots_stay() {
        assert_eq!(quoted("a.\"b"), "\"a.\"\"b\"");
        assert_eq!(qualified(Some("s.1"), "T"), "\"s.1\".\"T\"");
        assert_eq!(list(["a", "B"]), "\"a\", \"B\"");
    }
}
