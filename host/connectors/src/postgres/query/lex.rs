//! Just enough of SQL's surface to put a user's query inside a statement of ours: where it ends, how it begins, and which
//! words stand in it outside of parentheses.
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

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A keyword or a name without quotes.
    Word,
    /// A name in quotes.
    Name,
    /// A string or a number.
    Constant,
    /// One byte of anything else.
    Sign,
}

/// A piece of a query that is neither space nor comment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token<'q> {
    /// What it is.
    pub kind: Kind,
    /// It, as it is written.
    pub text: &'q str,
    /// Where it begins.
    pub start: usize,
    /// How many parentheses and brackets it stands in. Those themselves stand outside of what they hold.
    pub depth: usize,
}

impl Token<'_> {
    /// Whether it is the keyword `word`, which is given in lower case.
    pub fn is(&self, word: &str) -> bool {
        self.kind == Kind::Word && self.text.eq_ignore_ascii_case(word)
    }

    /// Whether it is this sign.
    pub fn sign(&self, sign: &str) -> bool {
        self.kind == Kind::Sign && self.text == sign
    }
}

/// The tokens of a query. Parentheses that aren't open are closed at depth 0.
pub fn tokens(sql: &str) -> Vec<Token<'_>> {
    let bytes = sql.as_bytes();
    let (mut at, mut depth, mut tokens) = (0, 0_usize, Vec::new());
    while at < bytes.len() {
        let start = at;
        let kind = match bytes[at] {
            b if b.is_ascii_whitespace() => None,
            b'-' if bytes[at..].starts_with(b"--") => None,
            b'/' if bytes[at..].starts_with(b"/*") => None,
            b'"' => Some(Kind::Name),
            b if b.is_ascii_digit() => Some(Kind::Constant),
            b if in_word(b) && b != b'$' => Some(Kind::Word),
            b'\'' | b'$' => Some(Kind::Constant),
            _ => Some(Kind::Sign),
        };
        at = match bytes[at] {
            b if in_word(b) && b != b'$' => at + bytes[at..].iter().take_while(|b| in_word(**b)).count(),
            _ => skip(bytes, at),
        };
        // A doubled quote is part of the name.
        while kind == Some(Kind::Name) && bytes.get(at) == Some(&b'"') {
            at = skip(bytes, at);
        }
        if matches!(bytes[start], b')' | b']') {
            depth = depth.saturating_sub(1);
        }
        if let Some(kind) = kind {
            tokens.push(Token { kind, text: &sql[start..at], start, depth });
        }
        if matches!(bytes[start], b'(' | b'[') {
            depth += 1;
        }
    }
    tokens
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

    #[test]
    fn tokens_know_their_depth_and_kind() {
        let found = tokens("SELECT a1, \"B\"\"b\" /* ( */ FROM t WHERE x = E'(\\'' AND f(y[1]) > 1.5 -- )");
        let shown: Vec<String> = found.iter().map(|t| format!("{}{}", t.text, t.depth)).collect();
        let expected =
            "SELECT0 a10 ,0 \"B\"\"b\"0 FROM0 t0 WHERE0 x0 =0 E0 '(\\''0 AND0 f0 (0 y1 [1 12 ]1 )0 >0 10 .0 50";
        assert_eq!(shown.join(" "), expected);
        assert_eq!(found[3].kind, Kind::Name);
        assert!(found[0].is("select") && !found[3].is("b") && found[2].sign(","));
    }

    proptest! {
        #[test]
        fn any_text_is_cut_into_tokens(sql in "[-a-zE'\"$/*;\\\\ \n()\\[\\]é1]{0,40}") {
            let mut end = 0;
            for token in tokens(&sql) {
                assert!(token.start >= end && !token.text.is_empty());
                end = token.start + token.text.len();
            }
        }

        #[test]
        fn any_text_is_read_to_its_end(sql in "[-a-zE'\"$/*;\\\\ \n(é1]{0,40}") {
            assert!(sql.starts_with(body(&sql)));
            first_word(&sql);
        }
    }
}
