//! Puts a value of the replication key into a request.

use crate::config::{Bind, Format, Part, ValueType};
use crate::cursor::Cursor;
use crate::key::pointer_parts;
use crate::request::Draft;
use client::{Moment, inert};
use faucet_sdk::serde_json::Value;
use faucet_sdk::{Error, Result};
use faucet_values::decimal::DecimalText;

/// Where a template says the value.
const BOOKMARK: &str = "${bookmark}";

impl Bind {
    /// Puts a value of the replication key into a request.
    pub(crate) fn write_cursor(&self, draft: &mut Draft, cursor: &Cursor) -> Result<()> {
        let Some(format) = self.format else {
            let number = self.value_type.map_or(cursor.is_number(), |kind| kind == ValueType::Number);
            return self.write(draft, cursor.text(), number && self.template.is_none());
        };
        let moment = cursor.moment().ok_or_else(|| {
            Error::new("the bookmark is no date or time, and `format` of `replication_bind` needs one")
        })?;
        self.write_moment(draft, &moment, format)
    }

    /// Puts a point in time into a request.
    pub(crate) fn write_moment(&self, draft: &mut Draft, moment: &Moment, format: Format) -> Result<()> {
        let far = || Error::new("a time is too far away to count its milliseconds");
        let text = match format {
            Format::Iso8601 => moment.rfc3339(),
            Format::Date => moment.day(),
            Format::EpochS => moment.units(0).ok_or_else(far)?.to_string(),
            Format::EpochMs => moment.units(3).ok_or_else(far)?.to_string(),
        };
        self.write(draft, text, self.value_type == Some(ValueType::Number))
    }

    fn write(&self, draft: &mut Draft, text: String, number: bool) -> Result<()> {
        let text = match &self.template {
            Some(template) => template.replace(BOOKMARK, &text),
            None => text,
        };
        let name = self.name.as_deref().unwrap_or_default();
        match self.into {
            Part::Query => draft.set_query(name, text),
            Part::Path => draft.fill_path(name, &text),
            Part::Header => {
                // The value came from the server.
                inert(&text)?;
                draft.set_header(name, text);
            }
            Part::Body => {
                let value = if number { exact_number(&text)? } else { Value::String(text) };
                draft.set_body(&self.place(), value)?;
            }
        }
        Ok(())
    }

    /// Where it goes in the body.
    pub(crate) fn place(&self) -> Vec<String> {
        match &self.path {
            Some(pointer) => pointer_parts(pointer),
            None => self.name.iter().cloned().collect(),
        }
    }

    /// What is wrong with it, where in it.
    pub(crate) fn problems(&self, path: Option<&str>, body: Option<&Value>) -> Option<(&'static str, String)> {
        let is_body = self.into == Part::Body;
        let problem = |at, message: &str| Some((at, message.to_owned()));
        match (&self.name, &self.path) {
            (Some(_), Some(_)) => return problem("", "takes either `name` or `path`"),
            (None, None) if is_body => return problem("", "needs a `name` or a `path`"),
            (None, _) if !is_body => return problem(".name", "is missing"),
            (Some(name), _) if name.is_empty() => return problem(".name", "names nothing"),
            (_, Some(pointer)) if !pointer.starts_with('/') => {
                return problem(".path", "is a JSON Pointer, which starts with `/`");
            }
            _ => {}
        }
        if self.value_type.is_some() && !is_body {
            return problem(".value_type", "goes with `into: body`");
        }
        if self.template.as_deref().is_some_and(|template| !template.contains(BOOKMARK)) {
            return problem(".template", "does not say ${bookmark}");
        }
        let named = format!("{{{}}}", self.name.as_deref().unwrap_or_default());
        if self.into == Part::Path && !path.is_some_and(|path| path.contains(&named)) {
            return Some((".name", format!("`path` has no {named}")));
        }
        match is_body {
            true => crate::request::check_place(body, &self.place()).err().map(|why| ("", why)),
            false => None,
        }
    }
}

/// A number as JSON, if that keeps it exact.
pub(crate) fn exact_number(text: &str) -> Result<Value> {
    let number: Option<Value> = serde_json::from_str(text).ok().filter(Value::is_number);
    let same = |number: &Value| {
        let (written, exact) = (DecimalText::new(&number.to_string())?, DecimalText::new(text)?);
        Some(written.as_decimal() == exact.as_decimal())
    };
    number
        .filter(|number| same(number) == Some(true))
        .ok_or_else(|| Error::new("a value that goes into the body as a number is none, or has too many digits"))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::json::document;
    use faucet_sdk::serde_json::{from_value, json};

    /// The URL, the headers and the body after `json` is bound.
    fn bound(bind: Value, json: &str) -> Result<(String, String, String)> {
        let config: Config = from_value(json!({
            "url": "https://h", "path": "/{since}", "body": {"v": {"since": null}}, "headers": {"accept": "x"},
        }))
        .unwrap();
        let bind: Bind = from_value(bind).unwrap();
        assert_eq!(bind.problems(config.path.as_deref(), config.body.as_ref()), None);
        let mut draft = Draft::new(&config);
        bind.write_cursor(&mut draft, &Cursor::new(document(json).unwrap()).unwrap().unwrap())?;
        let call = draft.finish(config.method);
        let header = call.headers.iter().find(|(name, _)| name == "x-since").map(|(_, value)| value.clone());
        Ok((call.url, header.unwrap_or_default(), String::from_utf8(call.body.unwrap()).unwrap()))
    }

    #[test]
    fn a_value_goes_into_each_part() {
        let time = r#""2024-06-01T02:00:00.5+02:00""#;
        let url = |bind| bound(bind, time).unwrap().0;
        assert_eq!(
            url(json!({"into": "query", "name": "s"})),
            "https://h/{since}?s=2024-06-01T02%3A00%3A00.5%2B02%3A00"
        );
        assert_eq!(url(json!({"into": "path", "name": "since", "format": "date"})), "https://h/2024-06-01");
        let header = json!({"into": "header", "name": "X-Since", "format": "epoch_s", "template": ">${bookmark}"});
        assert_eq!(bound(header, time).unwrap().1, ">1717200000");
    }

    #[test]
    fn a_body_takes_numbers_and_text() {
        let body = |mut bind: Value, json| {
            bind["into"] = json!("body");
            bind["path"] = json!("/v/since");
            bound(bind, json).map(|(_, _, body)| body)
        };
        let time = r#""2024-06-01T00:00:00Z""#;
        let millis = json!({"format": "epoch_ms", "value_type": "number"});
        assert_eq!(body(millis, time).unwrap(), r#"{"v":{"since":1717200000000}}"#);
        assert_eq!(body(json!({"format": "epoch_ms"}), time).unwrap(), r#"{"v":{"since":"1717200000000"}}"#);
        assert_eq!(body(json!({}), "17").unwrap(), r#"{"v":{"since":17}}"#);
        assert_eq!(body(json!({"value_type": "string"}), "17").unwrap(), r#"{"v":{"since":"17"}}"#);
        assert!(body(json!({"value_type": "number"}), r#""x""#).is_err());
        assert!(body(json!({}), "1.00000000000000000000001").is_err(), "it would lose digits");
        assert!(body(json!({"format": "date"}), "17").unwrap_err().to_string().contains("no date or time"));
    }

    #[test]
    fn a_server_can_not_ask_for_a_secret() {
        let bind = json!({"into": "header", "name": "X-Since"});
        assert!(bound(bind, r#""${secret:key}""#).is_err());
    }

    #[test]
    fn what_is_wrong_is_found() {
        let cases = [
            (json!({"into": "query"}), ".name"),
            (json!({"into": "body", "name": "a", "path": "/b"}), ""),
            (json!({"into": "body"}), ""),
            (json!({"into": "body", "path": "b"}), ".path"),
            (json!({"into": "body", "path": "/x/y"}), ""),
            (json!({"into": "query", "name": "a", "value_type": "number"}), ".value_type"),
            (json!({"into": "query", "name": "a", "template": "x"}), ".template"),
            (json!({"into": "path", "name": "a"}), ".name"),
        ];
        for (bind, at) in cases {
            let parsed: Bind = from_value(bind.clone()).unwrap();
            let problem = parsed.problems(Some("/{b}"), Some(&json!({})));
            assert_eq!(problem.map(|(at, _)| at), Some(at), "{bind}");
        }
    }
}
