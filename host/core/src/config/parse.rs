//! From text to one tree of values, with places. No meaning is given to any key here.

use serde_json::{Map, Value};

use super::locate::{Position, Survey, locate_json, locate_yaml};
use super::path;
use super::problem::Located;
use super::text::{ConfigText, Format};
use crate::error::Problem;

/// Reads `text` as one tree. `None` when the text can't be understood; the survey says why.
///
/// Numbers keep their exact value, mappings keep their order, and aliases are expanded.
pub fn parse(text: &ConfigText) -> (Option<Value>, Survey) {
    match text.format {
        Format::Yaml => parse_yaml(&text.text),
        Format::Json => parse_json(&text.text),
    }
}

fn parse_json(text: &str) -> (Option<Value>, Survey) {
    let mut survey = match serde_json::from_str::<Value>(text) {
        Ok(value) => {
            let survey = locate_json(text);
            return (survey.problems.is_empty().then_some(value), survey);
        }
        Err(error) => {
            let position = Position { line: error.line().max(1), column: error.column().max(1) };
            let why = error.to_string();
            let why = why.split(" at line ").next().unwrap_or_default();
            let problem = Problem::error("", format!("not valid JSON: {why}"));
            Survey { problems: vec![Located { problem, position: Some(position) }], ..Survey::default() }
        }
    };
    if text.trim().is_empty() {
        survey.problems[0].problem = Problem::error("", "the configuration is empty");
    }
    (None, survey)
}

fn parse_yaml(text: &str) -> (Option<Value>, Survey) {
    let mut survey = locate_yaml(text);
    if !survey.problems.is_empty() {
        return (None, survey);
    }
    let tree = match yaml_value(text) {
        Ok(tree) => tree,
        Err(error) => {
            let position = error.location().map(|at| Position { line: at.line(), column: at.column() });
            let problem = Problem::error("", format!("not valid YAML: {error}"));
            survey.problems.push(Located { problem, position });
            return (None, survey);
        }
    };
    let mut problems = Vec::new();
    let value = to_json(tree, "", &mut problems);
    for problem in problems {
        let position = survey.locations.find(&problem.path, super::locate::Spot::Value);
        survey.problems.push(Located { problem, position });
    }
    (survey.problems.is_empty().then_some(value), survey)
}

/// The one place that calls the YAML library.
pub(super) fn yaml_value(text: &str) -> Result<serde_yaml::Value, serde_yaml::Error> {
    serde_yaml::from_str(text)
}

/// YAML values that JSON has too. The rest (`.nan`, `.inf`) is a problem, never a null.
fn to_json(tree: serde_yaml::Value, at: &str, problems: &mut Vec<Problem>) -> Value {
    use serde_yaml::Value as Yaml;
    match tree {
        Yaml::Null => Value::Null,
        Yaml::Bool(b) => Value::Bool(b),
        Yaml::Number(n) => number(&n, at, problems),
        Yaml::String(s) => Value::String(s),
        Yaml::Sequence(items) => {
            items.into_iter().enumerate().map(|(i, item)| to_json(item, &path::item(at, i), problems)).collect()
        }
        Yaml::Mapping(entries) => {
            let mut map = Map::with_capacity(entries.len());
            for (key, value) in entries {
                // The survey refused every key that isn't text.
                let Yaml::String(key) = key else { continue };
                let value = to_json(value, &path::key(at, &key), problems);
                map.insert(key, value);
            }
            Value::Object(map)
        }
        Yaml::Tagged(tagged) => to_json(tagged.value, at, problems),
    }
}

fn number(number: &serde_yaml::Number, at: &str, problems: &mut Vec<Problem>) -> Value {
    if let Some(n) = number.as_i64() {
        return n.into();
    }
    if let Some(n) = number.as_u64() {
        return n.into();
    }
    match number.as_f64().and_then(serde_json::Number::from_f64) {
        Some(n) => Value::Number(n),
        None => {
            problems.push(Problem::error(at, format!("{number} is not a number a configuration can hold")));
            Value::Null
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use serde_json::json;

    use super::super::locate::Spot;
    use super::*;

    fn yaml(text: &str) -> (Option<Value>, Survey) {
        parse(&ConfigText::yaml("test.yaml", text))
    }

    /// The first problem as `line:column message`.
    fn refused(text: &str) -> String {
        let (value, survey) = yaml(text);
        assert_eq!(value, None, "{text:?}");
        let Located { problem, position } = &survey.problems[0];
        let Position { line, column } = position.unwrap();
        format!("{line}:{column} {} ({})", problem.message, problem.hint.as_deref().unwrap_or("-"))
    }

    #[test]
    fn yaml_and_json_give_the_same_tree() {
        let (from_yaml, _) =
            yaml("a: [1, 2.5, yes, null, \"x\"]\nb:\n  c: |\n    two\n    lines\n  d: 18446744073709551615\n");
        let json = r#"{"a":[1,2.5,"yes",null,"x"],"b":{"c":"two\nlines\n","d":18446744073709551615}}"#;
        let text = ConfigText { format: Format::Json, ..ConfigText::yaml("test.json", json) };
        let (from_json, survey) = parse(&text);
        assert!(from_json.is_some());
        assert_eq!(from_yaml, from_json);
        assert_eq!(survey.locations.find("b.d", Spot::Key), Some(Position { line: 1, column: 53 }));
    }

    #[test]
    fn yaml_places_are_counted_from_one() {
        let (_, survey) = yaml("name: é x\npipeline:\n  transforms:\n    - type: a\n    - { type: b, 'odd.key': 1 }\n");
        let find = |path: &str, spot| survey.locations.find(path, spot).map(|p| (p.line, p.column)).unwrap();
        assert_eq!(find("name", Spot::Key), (1, 1));
        assert_eq!(find("name", Spot::Value), (1, 7));
        assert_eq!(find("pipeline.transforms", Spot::Key), (3, 3));
        assert_eq!(find("pipeline.transforms[0].type", Spot::Value), (4, 13));
        assert_eq!(find("pipeline.transforms[1][\"odd.key\"]", Spot::Key), (5, 18));
        assert_eq!(find("pipeline.transforms[1].config.columns", Spot::Value), (5, 7));
    }

    #[test]
    fn texts_that_are_not_one_plain_document_are_refused() {
        insta::assert_snapshot!(
            [
                "",
                "# only a comment\n",
                "a: 1\n---\na: 2\n",
                "a: 1\nb: 2\na: 3\n",
                "a:\n\t- 1\n",
                "a: [1\nb: 2\n",
                "1: x\n",
                "true: x\n",
                "? [a]\n: x\n",
                "a: &x {b: 1}\nc:\n  <<: *x\n",
                "a: !secret x\n",
                "a: &x [*x]\n",
                "a: *nowhere\n",
                "a: .nan\n",
                "a: 123456789012345678901234567890\n",
                "a: { url: ${env:URL} }\n",
                "a: \"unfinished\n",
            ]
            .map(refused)
            .join("\n")
        );
    }

    #[test]
    fn aliases_that_grow_without_bound_are_refused() {
        let mut text = "a0: &a0 [1,1,1,1,1,1,1,1,1,1]\n".to_owned();
        for level in 1..12 {
            let aliases = vec![format!("*a{}", level - 1); 10].join(",");
            text += &format!("a{level}: &a{level} [{aliases}]\n");
        }
        assert!(refused(&text).contains("holds more than 200000 values"));
        let (value, _) = yaml("a: &x [1, 2]\nb: *x\n");
        assert_eq!(value, Some(json!({"a": [1, 2], "b": [1, 2]})));
    }

    #[test]
    fn nesting_without_bound_is_refused() {
        assert!(refused(&"[".repeat(70)).contains("nested deeper than 64 levels"));
        assert!(refused(&"[".repeat(100_000)).starts_with("1:"));
        let text = "{\"a\":".repeat(100) + "1" + &"}".repeat(100);
        let text = ConfigText { format: Format::Json, ..ConfigText::yaml("test.json", &text) };
        assert!(parse(&text).1.problems[0].problem.message.contains("nested deeper than 64 levels"));
    }

    #[test]
    fn json_that_does_not_parse_says_where() {
        let text = ConfigText { format: Format::Json, ..ConfigText::yaml("test.json", "{\n \"a\": tru }") };
        let (value, survey) = parse(&text);
        assert_eq!(value, None);
        assert_eq!(survey.problems[0].position, Some(Position { line: 2, column: 10 }));
        assert_eq!(survey.problems[0].problem.message, "not valid JSON: expected ident");
    }
}
