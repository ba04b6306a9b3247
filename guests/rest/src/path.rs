//! Paths into an answer: a part of JSONPath (RFC 9535): `$`, `.name`, `['name']`, `[n]` and `[*]`.

use crate::json::{Raw, Shape, child, elements, members, shape};
use faucet_sdk::Result;

/// A path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Path {
    steps: Vec<Step>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Step {
    Member(String),
    Element(usize),
    All,
}

impl Path {
    /// Reads a path; the error says what is wrong.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let mut rest = text.strip_prefix('$').ok_or("a path starts with `$`")?;
        let mut steps = Vec::new();
        while !rest.is_empty() {
            let (step, after) = if let Some(after) = rest.strip_prefix('[') {
                bracket(after)?
            } else if let Some(after) = rest.strip_prefix('.') {
                dotted(after)?
            } else {
                return Err(format!("`{rest}` follows without `.` or `[`"));
            };
            steps.push(step);
            rest = after;
        }
        Ok(Self { steps })
    }

    /// Whether it may lead to many values.
    fn spreads(&self) -> bool {
        self.steps.contains(&Step::All)
    }

    /// All values that it leads to.
    pub(crate) fn all<'a>(&self, root: &'a Raw) -> Result<Vec<&'a Raw>> {
        let mut found = vec![root];
        for step in &self.steps {
            let mut next = Vec::new();
            for raw in found {
                step.take(raw, &mut next)?;
            }
            found = next;
        }
        Ok(found)
    }

    /// The first value that it leads to.
    pub(crate) fn first<'a>(&self, root: &'a Raw) -> Result<Option<&'a Raw>> {
        Ok(self.all(root)?.first().copied())
    }

    /// The records that it leads to: the elements of an array, or the values themselves. None if it leads nowhere.
    pub(crate) fn records<'a>(&self, root: &'a Raw) -> Result<Option<Vec<&'a Raw>>> {
        let found = self.all(root)?;
        match found[..] {
            [] => Ok(self.spreads().then(Vec::new)),
            [only] if self.steps.last() != Some(&Step::All) => Ok(Some(match shape(only)? {
                Shape::Array => elements(only)?,
                Shape::Null => Vec::new(),
                _ => vec![only],
            })),
            _ => Ok(Some(found)),
        }
    }
}

impl Step {
    fn take<'a>(&self, raw: &'a Raw, into: &mut Vec<&'a Raw>) -> Result<()> {
        let shape = shape(raw)?;
        match (self, shape) {
            (Self::Member(name), Shape::Object) => into.extend(child(raw, name)?),
            (Self::Element(index), Shape::Array) => into.extend(elements(raw)?.get(*index).copied()),
            (Self::All, Shape::Array) => into.extend(elements(raw)?),
            (Self::All, Shape::Object) => into.extend(members(raw)?.into_iter().map(|(_, value)| value)),
            _ => {}
        }
        Ok(())
    }
}

/// What follows a `[`.
fn bracket(text: &str) -> Result<(Step, &str), String> {
    if let Some(after) = text.strip_prefix("*]") {
        return Ok((Step::All, after));
    }
    if let Some(quote) = text.chars().next().filter(|c| ['\'', '"'].contains(c)) {
        let (name, after) = text[1..].split_once(quote).ok_or("a quoted name does not end")?;
        let after = after.strip_prefix(']').ok_or("a `[` does not end")?;
        return Ok((Step::Member(name.to_owned()), after));
    }
    let (number, after) = text.split_once(']').ok_or("a `[` does not end")?;
    let index = number.parse().map_err(|_| format!("`[{number}]` is neither a number, `*` nor a quoted name"))?;
    Ok((Step::Element(index), after))
}

/// What follows a `.`.
fn dotted(text: &str) -> Result<(Step, &str), String> {
    let (name, after) = text.split_at(text.find(['.', '[']).unwrap_or(text.len()));
    match name {
        "" => Err("a `.` is followed by no name".to_owned()),
        "*" => Ok((Step::All, after)),
        name => Ok((Step::Member(name.to_owned()), after)),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::json::document;

    const ANSWER: &str = r#"{"data":{"a b":[{"n":1},{"n":2},{}],"one":{"n":3},"none":[],"null":null}}"#;

    fn all(path: &str) -> Vec<&'static str> {
        let found = Path::parse(path).unwrap().all(document(ANSWER).unwrap()).unwrap();
        found.into_iter().collect()
    }

    #[test]
    fn paths_lead_to_values() {
        assert_eq!(all("$"), [ANSWER]);
        assert_eq!(all("$.data['a b'][*].n"), ["1", "2"]);
        assert_eq!(all("$.data[\"a b\"][1]"), [r#"{"n":2}"#]);
        assert_eq!(all("$.data.one.*"), ["3"]);
        assert_eq!(all("$.data.*.n"), ["3"]);
        for nowhere in ["$.x", "$.data['a b'].n", "$[0]", "$.data['a b'][9]", "$.data.null.x"] {
            assert!(all(nowhere).is_empty(), "{nowhere}");
        }
    }

    #[test]
    fn records_are_elements_or_values() {
        let count = |path: &str| {
            let records = Path::parse(path).unwrap().records(document(ANSWER).unwrap()).unwrap();
            records.map(|records| records.len())
        };
        assert_eq!(count("$.data['a b']"), Some(3));
        assert_eq!(count("$.data['a b'][*]"), Some(3));
        assert_eq!(count("$.data.one"), Some(1));
        assert_eq!(count("$.data.none"), Some(0));
        assert_eq!(count("$.data.null"), Some(0));
        assert_eq!(count("$.data.none[*].x"), Some(0));
        assert_eq!(count("$.data.wrong"), None);
    }

    #[test]
    fn what_is_no_path_says_why() {
        for bad in ["", "data", "$data", "$.", "$..a", "$.a[", "$.a[x]", "$.a['x", "$.a['x'", "$.a[-1]"] {
            assert!(Path::parse(bad).is_err(), "{bad}");
        }
    }
}
