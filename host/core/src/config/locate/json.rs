//! Places in JSON text (RFC 8259). Runs only on text that `serde_json` accepted, so it needs no errors of its own.

use super::{Position, Survey, Walk};

/// Reads the places of `text`, which is valid JSON.
pub fn locate(text: &str) -> Survey {
    let mut walk = Walk::default();
    let mut cursor = Cursor { rest: text, at: Position { line: 1, column: 1 } };
    while let Some(next) = cursor.peek() {
        let at = cursor.at;
        match next {
            '{' => walk.open_mapping(at),
            '[' => walk.open_sequence(at),
            '}' | ']' => walk.close(),
            '"' => {
                let literal = cursor.string();
                if walk.expects_key() {
                    // The text is valid, so every string decodes; an empty name would only lose this one place.
                    walk.key(&serde_json::from_str::<String>(literal).unwrap_or_default(), at);
                } else {
                    walk.scalar(at);
                }
                continue;
            }
            '-' | '0'..='9' | 't' | 'f' | 'n' => {
                walk.scalar(at);
                cursor.word();
                continue;
            }
            _ => {}
        }
        if walk.exhausted(at) {
            break;
        }
        cursor.step(next);
    }
    walk.survey
}

struct Cursor<'a> {
    rest: &'a str,
    at: Position,
}

impl<'a> Cursor<'a> {
    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn step(&mut self, c: char) {
        self.rest = &self.rest[c.len_utf8()..];
        if c == '\n' {
            self.at = Position { line: self.at.line + 1, column: 1 };
        } else {
            self.at.column += 1;
        }
    }

    /// Steps over a string and returns it with its quotes.
    fn string(&mut self) -> &'a str {
        let start = self.rest;
        let mut escaped = true; // the opening quote doesn't close
        while let Some(c) = self.peek() {
            self.step(c);
            match c {
                '"' if !escaped => break,
                '\\' => escaped = !escaped,
                _ => escaped = false,
            }
        }
        &start[..start.len() - self.rest.len()]
    }

    /// Steps over a number, `true`, `false` or `null`.
    fn word(&mut self) {
        while let Some(c) = self.peek().filter(|c| c.is_ascii_alphanumeric() || "+-.".contains(*c)) {
            self.step(c);
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::super::Spot;
    use super::*;

    fn at(survey: &Survey, path: &str, spot: Spot) -> (usize, usize) {
        let found = survey.locations.find(path, spot).unwrap();
        (found.line, found.column)
    }

    #[test]
    fn keys_and_values_have_places() {
        let survey = locate("{\n\t\"a\": [1, {\"b \\\" c\": true}],\n\t\"é\": \"x\\\\\", \"z\": -1.5e+3 }");
        assert_eq!(at(&survey, "a", Spot::Key), (2, 2));
        assert_eq!(at(&survey, "a[1]", Spot::Value), (2, 11));
        assert_eq!(at(&survey, "a[1][\"b \\\" c\"]", Spot::Value), (2, 22));
        assert_eq!(at(&survey, "z", Spot::Key), (3, 14));
        assert_eq!(at(&survey, "z", Spot::Value), (3, 19));
        assert_eq!(at(&survey, "a.missing", Spot::Value), (2, 2));
        assert!(survey.problems.is_empty());
    }

    #[test]
    fn a_repeated_key_is_found() {
        let survey = locate("{\"a\": 1,\n \"a\": 2}");
        assert_eq!(survey.problems.len(), 1);
        assert_eq!(survey.problems[0].position, Some(Position { line: 2, column: 2 }));
        assert!(survey.problems[0].problem.message.contains("first at line 1"));
    }
}
