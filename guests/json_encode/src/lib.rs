//! `json_encode`: makes a JSON object of columns.
//!
//! Numbers keep every digit, and JSON columns go in as they are.

use faucet_sdk::{Column, ColumnBuilder, Kind, Output, Page, Result, Transform, Value, config, transform};
use faucet_values::config::{OnAbsent, OnMissing, check_columns};
use faucet_values::{Computed, Lacks, first_absent, protect_op, push_json, push_json_string, selected};

/// Which columns go into the object, and where it goes.
#[config]
pub struct Config {
    /// Name of the column for the object.
    pub into: String,
    /// The columns that become its members, in this order; * stands for any characters. Default: all.
    #[serde(default)]
    pub columns: Option<Vec<String>>,
    /// The kind of the new column. Default: json.
    #[serde(default)]
    pub kind: Target,
    /// What to do with a null. Default: include.
    #[serde(default)]
    pub nulls: Nulls,
    /// Leave the columns that are in the object out of the result, apart from the key. Default: false.
    #[serde(default)]
    pub remove: bool,
    /// What to do with an update that sent only some of the columns. Default: reject.
    #[serde(default)]
    pub on_absent: Partial,
}

/// The kind of the new column.
#[config]
#[derive(Copy, PartialEq, Eq, Default)]
#[serde(rename_all = "lowercase")]
pub enum Target {
    /// A JSON document.
    #[default]
    Json,
    /// Its text.
    Text,
}

/// What to do with a null.
#[config]
#[derive(Copy, PartialEq, Eq, Default)]
#[serde(rename_all = "lowercase")]
pub enum Nulls {
    /// Write null.
    #[default]
    Include,
    /// Leave the member out.
    Omit,
}

/// What to do with an update that sent only some of the columns.
#[config]
#[derive(Copy, PartialEq, Eq, Default)]
#[serde(rename_all = "lowercase")]
pub enum Partial {
    /// Report the row as failed: the whole object can't be known.
    #[default]
    Reject,
    /// Leave the object at the destination as it is.
    Leave,
    /// Write an object of the columns that were sent.
    Omit,
}

/// The transform: what to make an object of.
#[derive(Debug)]
pub struct JsonEncode {
    columns: Vec<String>,
    kind: Kind,
    nulls: Nulls,
    remove: bool,
    computed: Computed,
}

#[transform(name = "json_encode")]
impl Transform for JsonEncode {
    type Config = Config;

    fn open(config: Config) -> Result<Self> {
        let Config { into, columns, kind, nulls, remove, on_absent } = config;
        let columns = columns.unwrap_or_else(|| vec!["*".to_owned()]);
        check_columns(&columns, "columns")?;
        protect_op(&into, "into")?;
        let (on_absent, lacks): (_, Lacks) = match on_absent {
            Partial::Reject => (OnAbsent::Reject, first_absent),
            Partial::Leave => (OnAbsent::Leave, first_absent),
            Partial::Omit => (OnAbsent::Leave, |_, _| None),
        };
        let kind = if kind == Target::Json { Kind::Json } else { Kind::Text };
        let computed = Computed { transform: "json_encode", into, on_absent, lacks };
        Ok(Self { columns, kind, nulls, remove, computed })
    }

    fn apply<'a>(&mut self, page: Page<'a>) -> Result<Output<'a>> {
        let names = selected(&page, &self.columns, OnMissing::Error)?;
        let sources = names.iter().map(|name| page.column(name)).collect::<Result<Vec<_>>>()?;
        let mut out = page.pass();
        if self.remove {
            let gone = names.iter().filter(|name| !page.is_key(name) && **name != self.computed.into);
            gone.into_iter().try_for_each(|name| out.remove(name))?;
        }
        let members: Vec<String> = names.iter().map(|name| member(name)).collect();
        let column = ColumnBuilder::new(&self.computed.into, self.kind);
        self.computed.apply(out, &page, &sources, column, |row, column| {
            column.push_text_with(|to| self.write(to, &members, &sources, row));
            Ok(())
        })
    }
}

impl JsonEncode {
    /// An absent member is one the row does not have.
    fn write(&self, to: &mut String, members: &[String], sources: &[Column<'_>], row: usize) {
        let mut before = '{';
        for (member, source) in members.iter().zip(sources) {
            let value = source.value(row);
            if matches!(value, Value::Absent) || matches!(value, Value::Null) && self.nulls == Nulls::Omit {
                continue;
            }
            to.push(before);
            to.push_str(member);
            push_json(to, value);
            before = ',';
        }
        to.push_str(if before == '{' { "{}" } else { "}" });
    }
}

/// The name of a member as JSON, up to its value.
fn member(name: &str) -> String {
    let mut member = String::new();
    push_json_string(&mut member, name);
    member.push(':');
    member
}
