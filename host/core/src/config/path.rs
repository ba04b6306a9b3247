//! Dotted paths into a configuration: `pipeline.transforms[0].config.columns`.
//!
//! One spelling everywhere, so that a path found by one part is found again by another. A key that isn't a plain word
//! is quoted: `mirror.per_table["shop.orders"].key`.

/// The path of `key` inside the mapping at `parent`.
pub fn key(parent: &str, key: &str) -> String {
    let plain = !key.is_empty() && key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
    match (parent, plain) {
        ("", true) => key.to_owned(),
        (_, true) => format!("{parent}.{key}"),
        (_, false) => format!("{parent}[{}]", serde_json::Value::from(key)),
    }
}

/// The path of the element at `position` (from 0) of the list at `parent`.
pub fn item(parent: &str, position: usize) -> String {
    format!("{parent}[{position}]")
}

/// The path one level up; `None` at the top.
pub fn parent(path: &str) -> Option<&str> {
    if path.is_empty() {
        return None;
    }
    let cut = if path.ends_with('"') || path.ends_with(']') { bracket_start(path) } else { path.rfind('.') };
    Some(&path[..cut.unwrap_or(0)])
}

/// Where the last `[...]` of `path` starts. A quoted key may hold brackets and escaped quotes of its own.
fn bracket_start(path: &str) -> Option<usize> {
    if !path.ends_with("\"]") {
        return path.rfind('[');
    }
    let opening = path[..path.len() - 2]
        .rmatch_indices("[\"")
        .find(|(at, _)| serde_json::from_str::<String>(&path[at + 1..path.len() - 1]).is_ok());
    opening.map(|(at, _)| at)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn keys_that_are_not_words_are_quoted() {
        assert_eq!(key("", "a"), "a");
        assert_eq!(key("a", "b-c_1"), "a.b-c_1");
        assert_eq!(key("a", "shop.orders"), "a[\"shop.orders\"]");
        assert_eq!(key("a", "q\"]"), "a[\"q\\\"]\"]");
        assert_eq!(item("a.b", 3), "a.b[3]");
    }

    #[test]
    fn a_parent_undoes_a_step() {
        for step in ["b", "shop.orders", "q\"]", "[\"x", "", "a[\"b\"]"] {
            assert_eq!(parent(&key("a.b[1]", step)), Some("a.b[1]"), "{step}");
        }
        assert_eq!(parent("a.b[1]"), Some("a.b"));
        assert_eq!(parent("a"), Some(""));
        assert_eq!(parent(""), None);
    }
}
