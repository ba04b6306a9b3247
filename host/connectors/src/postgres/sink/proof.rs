//! Values that only a look at each can let pass: in a column whose type might change them ([`Fit::Proven`],
//! [`Fit::Lossy`] where that may go on), and the labels of enums.
//!
//! The server is asked once per page and column what the column's type makes of the values, before one is written. Columns
//! that hold every value of their source, which is the rule, cost nothing here.

use faucet_core::error::{Blame, Code, Error, Result, Retry};
use faucet_core::model::{Field, Kind, Page, ValueRef, Values};
use std::collections::HashSet;
use tokio_postgres::Client;

use super::copy::in_column;
use super::drift::remedy;
use super::fit::{Fit, Same, scale_of};
use super::labels::Unlisted;
use super::plan::{Origin, Plan, Write};
use super::target::Target;
use crate::postgres::encode::{Lane, Unwritable, text};
use crate::sql::RowOp;

/// A column's type would change a value.
pub static VALUE_WOULD_CHANGE: Code = Code {
    id: "postgres.value_would_change",
    blame: Blame::Sink,
    retry: Retry::Operator,
    title: "the destination's column would change a value",
    help: "PostgreSQL rounds, cuts off or pads some values without a word when a column is narrower than they are. faucet \
           compares a value with what the column makes of it where the types leave that open, and writes only what stays \
           the same. Give the column the type that the message names, or turn the values into the column's type on the \
           way with the transform `cast`, which says what is to be done about the rest.",
};

/// What has to be looked at in pages of one schema.
#[derive(Debug)]
pub struct Proof {
    /// The destination as SQL.
    table: String,
    columns: Vec<Proven>,
}

/// A column whose values are looked at.
#[derive(Debug)]
struct Proven {
    /// The column in the page.
    place: usize,
    write: Write,
    how: How,
}

#[derive(Debug)]
enum How {
    /// By a query; not for plain numbers with at most so many digits after their point.
    Ask { sql: String, scale: Option<usize> },
    /// It has no blanks after so many characters.
    Within(usize),
    /// A JSON document has no member twice.
    Document,
    /// The enum's labels.
    Labels(HashSet<String>),
}

impl How {
    /// To find out whether values stay the `same` in the type `to`.
    fn of(same: Same, to: &str) -> Self {
        match same {
            Same::Document => How::Document,
            Same::Within(most) => How::Within(usize::try_from(most).unwrap_or(usize::MAX)),
            Same::Text | Same::Number | Same::Moment | Same::Clock => {
                let scale = scale_of(to).filter(|_| same == Same::Number);
                How::Ask { sql: question(same, to), scale: scale.and_then(|scale| scale.try_into().ok()) }
            }
        }
    }
}

impl Proof {
    /// What the columns of `plan` need.
    pub fn new(target: &Target, plan: &Plan) -> Self {
        let mut columns = Vec::new();
        for write in &plan.writes {
            let Origin::Column(place) = write.source else {
                // Members of a row that is one document.
                let documents = plan.of.fields.iter().enumerate().filter(|(_, field)| is_respelled(field));
                columns.extend(documents.map(|(place, _)| Proven { place, write: write.clone(), how: How::Document }));
                continue;
            };
            let how = match write.fit {
                Fit::Exact | Fit::Checked => continue,
                Fit::Labels => How::Labels(
                    write.column.column_type.labels.iter().flat_map(|l| l.iter()).map(|l| l.to_string()).collect(),
                ),
                Fit::Proven(same) | Fit::Lossy(same, _) => How::of(same, &write.column.column_type.under),
            };
            columns.push(Proven { place, write: write.clone(), how });
        }
        Self { table: target.sql(), columns }
    }

    /// Whether nothing has to be looked at.
    pub fn is_empty(&self) -> bool {
        self.columns.is_empty()
    }

    /// Refuses a page with a value that would change. Rows that delete are looked at for their key only.
    ///
    /// # Errors
    /// `postgres.value_would_change`, and what the server says about a value that it can't read.
    pub async fn check(&self, client: &Client, page: &Page, ops: Option<&[RowOp]>) -> Result<()> {
        for column in &self.columns {
            let changes = match &column.how {
                How::Labels(_) => false,
                How::Document => column.texts(page, ops).iter().any(|text| has_twins(text)),
                How::Within(most) => column.texts(page, ops).iter().any(|text| ends_in_blanks(text, *most)),
                How::Ask { sql, scale } => {
                    column.check_numbers(page)?;
                    let mut texts = column.texts(page, ops);
                    texts.retain(|text| scale.is_none_or(|scale| !is_plain(text, scale)));
                    !texts.is_empty() && column.ask(client, sql, &texts).await?
                }
            };
            if changes {
                return Err(column.would_change(&self.table, &page.schema().fields[column.place]));
            }
        }
        Ok(())
    }

    /// A label that a row of the page has and its column's enum lacks.
    pub fn unlisted(&self, page: &Page, ops: Option<&[RowOp]>) -> Option<Unlisted> {
        self.columns.iter().find_map(|column| {
            let How::Labels(labels) = &column.how else { return None };
            let values = &page.columns()[column.place];
            let label = column.rows(page, ops).find_map(|row| match values.value(row) {
                ValueRef::Text(text) | ValueRef::Native(text) if !labels.contains(text) => Some(text.to_owned()),
                _ => None,
            })?;
            let field = &page.schema().fields[column.place];
            Some(Unlisted::new(&self.table, &column.write, field, (label, labels)))
        })
    }

    /// Counts `label` among those of the enum with this OID.
    pub fn list(&mut self, enumerated: u32, label: &str) {
        for column in &mut self.columns {
            if let (How::Labels(labels), true) = (&mut column.how, column.write.column.column_type.base == enumerated) {
                labels.insert(label.to_owned());
            }
        }
    }
}

impl Proven {
    /// The rows with a value that is written.
    fn rows<'a>(&'a self, page: &'a Page, ops: Option<&'a [RowOp]>) -> impl Iterator<Item = usize> + 'a {
        let values = &page.columns()[self.place];
        (0..page.rows()).filter(move |&row| {
            let puts = ops.is_none_or(|ops| matches!(ops[row], RowOp::Upsert | RowOp::Update));
            (puts || self.write.key) && !values.is_null(row)
        })
    }

    /// The values that are written, as PostgreSQL reads them.
    fn texts(&self, page: &Page, ops: Option<&[RowOp]>) -> Vec<String> {
        let lane = Lane::new(&page.columns()[self.place]);
        let spelled = |row| {
            let mut out = Vec::new();
            text::push_plain(&mut out, lane, row);
            // Every kind is spelled in UTF-8.
            String::from_utf8_lossy(&out).into_owned()
        };
        self.rows(page, ops).map(spelled).collect()
    }

    /// Refuses decimals that are no numbers, which a plugin made.
    fn check_numbers(&self, page: &Page) -> Result<()> {
        let Values::Decimal(texts) = page.columns()[self.place].values() else { return Ok(()) };
        let is_number = |text: &str| {
            matches!(text, "NaN" | "Infinity" | "-Infinity") || text.bytes().all(|b| b"0123456789.eE+-".contains(&b))
        };
        let column = &self.write.column;
        match texts.iter().flatten().all(is_number) {
            true => Ok(()),
            false => Err(Unwritable::NotANumber.in_column(&column.name, &column.column_type.name)),
        }
    }

    /// Whether one of the values would change.
    async fn ask(&self, client: &Client, sql: &str, texts: &[String]) -> Result<bool> {
        let row = client.query_one(sql, &[&texts]).await.map_err(|e| in_column(&e, &self.write.column))?;
        Ok(row.get(0))
    }

    fn would_change(&self, table: &str, field: &Field) -> Error {
        let (column, name) = (&self.write.column, &self.write.column.name);
        let (has, is) = (&column.column_type.name, field.native_of("postgres").unwrap_or(field.kind.name()));
        let what = match self.write.fit {
            Fit::Lossy(_, what) => format!(": {has} {what}"),
            _ => String::new(),
        };
        let text = format!("a value for column \"{name}\" of {table} would change: it is {is}, and {has} there{what}");
        let hint = match field.native_of("postgres") {
            Some(is) => remedy(table, name, (has, is)),
            None => {
                "widen the column, correct the value at the source, or convert it with the transform `cast`".to_owned()
            }
        };
        Error::new(&VALUE_WOULD_CHANGE, text).hint(hint)
    }
}

/// Whether `jsonb` may keep another document than the one that a column has.
fn is_respelled(field: &Field) -> bool {
    field.kind == Kind::Json && field.native_of("postgres") != Some("jsonb")
}

/// A query over texts `$1`: whether the type `to` would make something else of one.
fn question(same: Same, to: &str) -> String {
    let printed = format!("pg_catalog.format('%s', v.x::{to})");
    let stays = match same {
        Same::Text | Same::Document | Same::Within(_) => format!("{printed} = v.x"),
        Same::Number => format!("{printed}::pg_catalog.numeric = v.x::pg_catalog.numeric"),
        // The session is in UTC. Both round more than six digits of a second, and both overlook brackets.
        Same::Moment => format!(
            "v.x::{to}::pg_catalog.timestamptz = v.x::pg_catalog.timestamptz \
             AND v.x !~ '[.][0-9]{{6}}[0-9]*[1-9]|[{{}}]'"
        ),
        Same::Clock => {
            format!("v.x::{to}::pg_catalog.interval = v.x::pg_catalog.interval AND v.x !~ '[.][0-9]{{6}}[0-9]*[1-9]'")
        }
    };
    format!("SELECT EXISTS (SELECT FROM pg_catalog.unnest($1::pg_catalog.text[]) AS v (x) WHERE NOT ({stays}))")
}

/// Whether nothing but blanks comes after the first `most` characters, and something does.
fn ends_in_blanks(text: &str, most: usize) -> bool {
    let mut rest = text.chars().skip(most).peekable();
    rest.peek().is_some() && rest.all(|c| c == ' ')
}

/// Whether it is a number of digits, with no more of them after its point than `scale`.
fn is_plain(text: &str, scale: usize) -> bool {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
    digits(whole.strip_prefix('-').unwrap_or(whole)) && digits(fraction) && fraction.len() <= scale
}

/// Whether an object of a JSON document has two members of one name, of which `jsonb` keeps the last.
fn has_twins(document: &str) -> bool {
    let bytes = document.as_bytes();
    // The names met in each object that is open; an array has none.
    let mut open: Vec<Option<HashSet<String>>> = Vec::new();
    let (mut at, mut expects_name) = (0, false);
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'{' => open.push(Some(HashSet::new())),
            b'[' => open.push(None),
            b'}' | b']' => drop(open.pop()),
            b'"' => {
                let end = end_of_string(bytes, at);
                let name = if expects_name { document.get(at..end) } else { None };
                if let (Some(names), Some(name)) = (open.last_mut().and_then(Option::as_mut), name) {
                    // What is no string is no JSON, and the server says so.
                    let name = serde_json::from_str(name).unwrap_or_else(|_| name.to_owned());
                    if !names.insert(name) {
                        return true;
                    }
                }
                at = end - 1;
            }
            _ => {}
        }
        if !byte.is_ascii_whitespace() {
            expects_name = matches!(byte, b'{' | b',');
        }
        at += 1;
    }
    false
}

/// Where the string ends that begins at `start`.
fn end_of_string(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_of_one_name_are_found_at_any_depth() {
        for twins in [
            r#"{"a":1,"a":2}"#,
            r#"[1, {"x": {"b" : 1, "c": [], "b": 2}}]"#,
            r#"{"a":1,"\u0061":2}"#,
            r#"{"a": {"a": "a"}, "b": ["a", "a"], "a": 0}"#,
        ] {
            assert!(has_twins(twins), "{twins}");
        }
        for single in [
            r#"{"a": {"a": "a"}, "b": ["a", "a", {"a": 1}, {"a": 1}]}"#,
            r#"["a", "a"]"#,
            r#""{\"a\":1,\"a\":1}""#,
            r#"{"a,": "a", "b": "x\"y,", "c": "\\"}"#,
            "null",
            "{\"",
            "\"\\",
        ] {
            assert!(!has_twins(single), "{single}");
        }
    }
}
