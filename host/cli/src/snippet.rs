//! Lines of a configuration shown beside its problems, with the secrets in them covered.

/// Words in a key that say its value is nobody's business.
const SECRET_WORDS: [&str; 5] = ["password", "secret", "token", "passphrase", "api_key"];

/// Covers passwords in URLs and the values of keys that sound secret. Every line and column stays where it was.
pub fn mask_secrets(text: &str) -> String {
    let mut block = None;
    let lines = text.split_inclusive('\n').map(|line| match inside_secrets(line, &mut block) {
        true => mask_value(line),
        false => mask_pairs(&mask_urls(line)),
    });
    lines.collect()
}

/// Whether a line is one of the values below a key `secrets`; `block` is how far that key is indented.
fn inside_secrets(line: &str, block: &mut Option<usize>) -> bool {
    let content = line.trim_start();
    let indent = line.len() - content.len();
    if block.is_some_and(|outer| indent > outer) {
        return true;
    }
    let key = content.split(':').next().unwrap_or("").trim_matches(['"', '\'', ' ', '\n']);
    let opens = content.contains(':') && !content.contains('[') && !content.contains('}');
    *block = (key == "secrets" && opens).then_some(indent);
    false
}

/// A reference to an environment variable is no secret; it is often what the problem is about.
fn mask_value(piece: &str) -> String {
    match piece.split_once(": ") {
        Some((key, value)) if !value.contains("${") => {
            let (value, end) = value.split_at(value.trim_end_matches([' ', '\n', ',', '}']).len());
            format!("{key}: {}{end}", cover(value))
        }
        _ => piece.to_owned(),
    }
}

/// `scheme://user:password@` with the password covered.
fn mask_urls(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find("://") {
        let (before, after) = rest.split_at(at + 3);
        out.push_str(before);
        let authority_end =
            after.find(|c: char| matches!(c, '/' | '"' | '\'' | '?') || c.is_whitespace()).unwrap_or(after.len());
        let (authority, tail) = after.split_at(authority_end);
        out.push_str(&mask_authority(authority));
        rest = tail;
    }
    out + rest
}

fn mask_authority(authority: &str) -> String {
    let Some((user_info, host)) = authority.rsplit_once('@') else { return authority.to_owned() };
    match user_info.split_once(':') {
        Some((user, password)) => format!("{user}:{}@{host}", cover(password)),
        None => authority.to_owned(),
    }
}

/// Covers the values of keys that sound secret, and those in a mapping `secrets: {..}`.
fn mask_pairs(line: &str) -> String {
    let (mut out, mut outer) = (String::with_capacity(line.len()), vec![false]);
    for piece in pieces(line) {
        let (key, value) = piece.split_once(": ").unwrap_or((piece, ""));
        let key = key.trim_matches(['"', '\'', ' ', '-']).to_ascii_lowercase();
        let within = *outer.last().unwrap_or(&false);
        let sounds_secret = within || SECRET_WORDS.iter().any(|word| key.contains(word));
        // A list holds names of secrets; a mapping has its values in pieces or on lines of their own.
        let is_value = !value.trim_start().starts_with(['[', '{']);
        out.push_str(&if sounds_secret && is_value { mask_value(piece) } else { piece.to_owned() });
        if piece.ends_with('{') {
            outer.push(within || key == "secrets");
        } else if piece.ends_with('}') {
            outer.pop();
        }
    }
    out
}

/// The pieces of a line, each with one key at most: mappings in braces are taken apart, and nothing else.
fn pieces(line: &str) -> Vec<&str> {
    let (mut out, mut start, mut depth, mut before) = (Vec::new(), 0, 0usize, ':');
    // What ends the quotes or the reference `${..}` that it is in, and whether the next character can't.
    let (mut ends, mut escaped) = (None, false);
    for (at, c) in line.char_indices() {
        let mut cut = false;
        match (ends, before, c) {
            (Some(end), ..) => {
                if c == end && !escaped {
                    ends = None;
                }
                escaped = end == '"' && c == '\\' && !escaped;
            }
            (None, '$', '{') => ends = Some('}'),
            // Two in a row are one that is meant.
            (None, ':' | ',' | '{' | '[', '"' | '\'') | (None, '\'', '\'') => ends = Some(c),
            (None, _, '{' | '}') => {
                depth = if c == '{' { depth + 1 } else { depth.saturating_sub(1) };
                cut = true;
            }
            (None, _, c) => cut = c == ',' && depth > 0,
        }
        if cut {
            out.push(&line[start..=at]);
            start = at + 1;
        }
        before = if c == ' ' { before } else { c };
    }
    out.push(&line[start..]);
    out
}

fn cover(secret: &str) -> String {
    secret.chars().map(|c| if c.is_whitespace() { c } else { '*' }).collect()
}

/// Byte offset and length of the word that starts at a line and column (both from 1); never beyond the text.
pub fn span(text: &str, line: usize, column: usize) -> (usize, usize) {
    let start: usize = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    let this_line = text.get(start..).and_then(|rest| rest.lines().next()).unwrap_or("");
    let offset: usize = this_line.chars().take(column.saturating_sub(1)).map(char::len_utf8).sum();
    let word = this_line[offset..].split(|c: char| c.is_whitespace() || matches!(c, ':' | ',' | '}' | ']')).next();
    (start + offset, word.map_or(0, str::len).max(usize::from(offset < this_line.len())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_covered_in_place() {
        let plugin = "p:\n  grants: { secrets: [k] }\n  secrets:\n    k: hunter2\n    e: ${env:E}\n  path: x\n";
        let masked = plugin.replace("hunter2", "*******");
        assert_eq!(mask_secrets(plugin), masked);
        let masked =
            mask_secrets("url: \"postgres://bob:hunter2@db:5432/x?sslmode=require\"\npassword: abc # x\nkey: [id]\n");
        assert_eq!(masked, "url: \"postgres://bob:*******@db:5432/x?sslmode=require\"\npassword: *** * *\nkey: [id]\n");
        assert_eq!(mask_secrets("token: ${env:T}\n"), "token: ${env:T}\n");
        assert_eq!(mask_secrets("u: postgres://a:p@ss@h/x\n"), "u: postgres://a:****@h/x\n");
    }

    #[test]
    fn secrets_in_braces_are_covered_too() {
        for (line, masked) in [
            (
                "p: { path: x, secrets: { k: a b, l: 'c, d}', e: ${env:E} }, url: y }\n",
                "p: { path: x, secrets: { k: * *, l: *** ***, e: ${env:E} }, url: y }\n",
            ),
            ("c: { password: hunter2, user: it's, token: \"t\" }", "c: { password: *******, user: it's, token: *** }"),
            (
                "- { config: { api_key: k }, grants: { secrets: [k, l] } }",
                "- { config: { api_key: * }, grants: { secrets: [k, l] } }",
            ),
            (
                r#"{ path: "a\\", token: "b\", c", l: 'it''s, x', password: 'y''z, q' }"#,
                r#"{ path: "a\\", token: ***** **, l: 'it''s, x', password: ****** ** }"#,
            ),
            ("password: a, b}\n", "password: ** *}\n"),
            ("secrets: {", "secrets: {"),
            ("a: {b: {", "a: {b: {"),
        ] {
            assert_eq!(mask_secrets(line), masked, "{line}");
        }
    }

    #[test]
    fn spans_point_at_words() {
        let text = "a: 1\n  größe: upser\n";
        assert_eq!(&text[span(text, 2, 10).0..][..span(text, 2, 10).1], "upser");
        assert_eq!(&text[span(text, 2, 3).0..][..span(text, 2, 3).1], "größe");
        let (offset, length) = span(text, 99, 9);
        assert!(offset + length <= text.len());
    }
}
