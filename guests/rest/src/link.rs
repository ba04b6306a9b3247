//! The `Link` header (RFC 8288).

/// The target of the link to the next page.
pub(crate) fn next(header: &str) -> Option<&str> {
    let mut rest = header;
    while let Some(start) = rest.find('<') {
        let (target, after) = rest[start + 1..].split_once('>')?;
        let (parameters, after) = parameters(after);
        if parameters.iter().any(|(name, value)| name.eq_ignore_ascii_case("rel") && names_next(value)) {
            return Some(target);
        }
        rest = after;
    }
    None
}

/// A relation may be one of several, separated by blanks.
fn names_next(relations: &str) -> bool {
    relations.split_ascii_whitespace().any(|relation| relation.eq_ignore_ascii_case("next"))
}

/// The parameters of a link, and what follows the comma after them.
fn parameters(text: &str) -> (Vec<(&str, &str)>, &str) {
    let mut found = Vec::new();
    let mut rest = text.trim_start();
    while let Some(after) = rest.strip_prefix(';') {
        let end = after.find(['=', ';', ',']).unwrap_or(after.len());
        let name = after[..end].trim();
        let (value, after) = match after[end..].strip_prefix('=') {
            Some(after) => value(after.trim_start()),
            None => ("", &after[end..]),
        };
        found.push((name, value));
        rest = after.trim_start();
    }
    (found, rest.strip_prefix(',').unwrap_or(rest))
}

/// A token or a quoted string. One with an escaped quote in it is no relation, and may be read short.
fn value(text: &str) -> (&str, &str) {
    match text.strip_prefix('"') {
        Some(quoted) => quoted.split_once('"').unwrap_or((quoted, "")),
        None => {
            let (token, after) = text.split_at(text.find([';', ',']).unwrap_or(text.len()));
            (token.trim_end(), after)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_link_is_found() {
        let cases = [
            (r#"<https://h/x?page=2>; rel="next""#, Some("https://h/x?page=2")),
            (r#"<https://h/x?page=1>; rel="prev", <https://h/x?page=3>; rel="next""#, Some("https://h/x?page=3")),
            (r#"<https://h/a,b;c>; title="x, <y>"; rel=next"#, Some("https://h/a,b;c")),
            (r#"</x>;rel="last next" "#, Some("/x")),
            (r#"</x> ; REL = NEXT ; a"#, Some("/x")),
            (r#"</x>, </y>; rel=next"#, Some("/y")),
            (r#"</x>; rel="prev""#, None),
            (r#"</x>; rel="nextish""#, None),
            (r#"</x>; nofollow; rel="next"#, Some("/x")),
            ("<never ends", None),
            ("", None),
        ];
        for (header, wanted) in cases {
            assert_eq!(next(header), wanted, "{header}");
        }
    }
}
