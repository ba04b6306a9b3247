//! "Did you mean": the closest of the names that would have been right.

/// The closest of `known` to `given`, when it is close enough to be a slip of the keyboard or of the case.
pub fn closest<'a>(given: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let given = fold(given);
    // Two letters are too few to tell a slip from another word.
    let allowance = (given.chars().count() / 3).min(3);
    known
        .into_iter()
        .map(|name| (strsim::damerau_levenshtein(&given, &fold(name)), name))
        .filter(|(distance, _)| *distance <= allowance)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// `a-B` and `a_b` are the same slip.
fn fold(name: &str) -> String {
    name.to_lowercase().replace(['-', ' '], "_")
}

/// What would fix a wrong name: `did you mean "x"?`, else the list of `known` ones after `label`.
pub fn hint(given: &str, known: &[&str], label: &str) -> String {
    match closest(given, known.iter().copied()) {
        Some(name) => format!("did you mean \"{name}\"?"),
        None if known.is_empty() => format!("{label}: none"),
        None => format!("{label}: {}", known.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_recognised_and_other_words_are_not() {
        let known = ["append", "upsert", "overwrite", "create_table"];
        assert_eq!(closest("upser", known), Some("upsert"));
        assert_eq!(closest("Create-Table", known), Some("create_table"));
        assert_eq!(closest("apepnd", known), Some("append"));
        assert_eq!(closest("merge", known), None);
        assert_eq!(closest("c", ["b", "key"]), None);
        assert_eq!(closest("ID", ["id", "key"]), Some("id"));
        assert_eq!(hint("merge", &known, "known"), "known: append, upsert, overwrite, create_table");
    }
}
