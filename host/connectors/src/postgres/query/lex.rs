//! Just enough of SQL's surface to put a user's query inside a statement of ours: where it ends and how it begins.
//!
//! Source: PostgreSQL manual, "Lexical Structure" (quotes, dollar quotes, nested comments, escape strings).

/// The query without its final semicolon and whatever follows it.
pub fn body(sql: &str) -> &str {
    let bytes = sql.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at] == b';' {
            return &sql[..at];
        }
        at = skip(bytes, at);
    }
    sql
}

/// The first word of the query in lower case; comments and opening parentheses before it don't count.
pub fn first_word(sql: &str) -> String {
    let bytes = sql.as_bytes();
    let mut at = 0;
    while at < bytes.len() && !bytes[at].is_ascii_alphabetic() {
        at = skip(bytes, at);
    }
    bytes[at..].iter().take_while(|b| b.is_ascii_alphabetic()).map(|b| char::from(b.to_ascii_lowercase())).collect()
}

/// Where the quoted string, comment or single byte at `at` ends.
fn skip(bytes: &[u8], at: usize) -> usize {
    let rest = &bytes[at..];
    match rest {
        [b'-', b'-', ..] => at + rest.iter().position(|b| *b == b'\n').map_or(rest.len(), |p| p + 1),
        [b'/', b'*', ..] => at + comment(rest),
        [b'"', ..] => at + quoted(rest, b'"', false),
        [b'\'', ..] => at + quoted(rest, b'\'', is_escape_string(&bytes[..at])),
        [b'$', ..] if !at.checked_sub(1).is_some_and(|before| in_word(bytes[before])) => at + dollar_quoted(rest),
        _ => at + 1,
    }
}

/// Whether a quote after `before` opens an `E'..'` string.
fn is_escape_string(before: &[u8]) -> bool {
    matches!(before, [.., b'e' | b'E']) && !before.iter().nth_back(1).is_some_and(|b| in_word(*b))
}

fn in_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$') || byte >= 0x80
}

/// A doubled quote is left as two strings side by side, which ends at the same place.
fn quoted(rest: &[u8], quote: u8, escapes: bool) -> usize {
    let mut at = 1;
    while let Some(byte) = rest.get(at) {
        at += match byte {
            b'\\' if escapes => 2,
            b if *b == quote => return at + 1,
            _ => 1,
        };
    }
    rest.len()
}

fn comment(rest: &[u8]) -> usize {
    let (mut at, mut depth) = (2, 1);
    while depth > 0 && at < rest.len() {
        match &rest[at..] {
            [b'/', b'*', ..] => (at, depth) = (at + 2, depth + 1),
            [b'*', b'/', ..] => (at, depth) = (at + 2, depth - 1),
            _ => at += 1,
        }
    }
    at
}

fn dollar_quoted(rest: &[u8]) -> usize {
    let tag = rest[1..].iter().take_while(|b| in_word(**b) && **b != b'$').count();
    let digit_first = rest.get(1).is_some_and(u8::is_ascii_digit);
    if digit_first || rest.get(tag + 1) != Some(&b'$') {
        return 1;
    }
    let delimiter = &rest[..tag + 2];
    let inside = &rest[delimiter.len()..];
    memchr::memmem::find(inside, delimiter).map_or(rest.len(), |end| delimiter.len() * 2 + end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::proptest;

    #[test]
    fn only_a_semicolon_outside_quotes_ends_a_query() {
        for (sql, expected) in [
            ("SELECT 1; -- done", "SELECT 1"),
            ("SELECT ';', \"a;b\" ;", "SELECT ';', \"a;b\" "),
            ("SELECT 'it''s;' ;", "SELECT 'it''s;' "),
            ("SELECT E'\\';' ;", "SELECT E'\\';' "),
            ("SELECT name'\\';", "SELECT name'\\'"),
            ("SELECT $$;$$, $a$;$$;$a$ ;x", "SELECT $$;$$, $a$;$$;$a$ "),
            ("SELECT /* ; /* ; */ ; */ 1;", "SELECT /* ; /* ; */ ; */ 1"),
            ("SELECT a$b$;c", "SELECT a$b$"),
            ("SELECT 1 -- ; no\n;", "SELECT 1 -- ; no\n"),
            ("SELECT 'open", "SELECT 'open"),
        ] {
            assert_eq!(body(sql), expected);
        }
    }

    #[test]
    fn the_first_word_stands_after_comments_and_parentheses() {
        for (sql, expected) in [
            ("  select 1", "select"),
            ("-- TABLE\n/* VALUES */ ((WITH x", "with"),
            ("SHOW all", "show"),
            ("", ""),
            ("é", ""),
        ] {
            assert_eq!(first_word(sql), expected);
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_to_its_end(sql in "[-a-zE'\"$/*;\\\\ \n(é1]{0,40}") {
            assert!(sql.starts_with(body(&sql)));
            first_word(&sql);
        }
    }
}
