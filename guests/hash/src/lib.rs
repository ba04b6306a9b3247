//! `hash`: makes a column that holds a hash of other columns.
//!
//! What is hashed is the exact text of the values, put together so that different rows never give the same text. It is
//! written down in the README, so that any database can compute the same.

mod digest;

use digest::Digest;
pub use digest::{Form, Method};
use faucet_sdk::{Column, ColumnBuilder, Kind, Output, Page, Result, Transform, Value, config, transform};
use faucet_values::config::{OnAbsent, check_columns};
use faucet_values::{Computed, NamedNull, OrNull, first_absent, protect_op, push_text};

/// What to hash, and how.
#[config]
pub struct Config {
    /// The columns to hash, in this order.
    pub columns: Vec<String>,
    /// Name of the column for the hash. It may be the hashed column, which is then replaced.
    pub into: String,
    /// The hash. Default: sha256.
    #[serde(default)]
    pub method: Method,
    /// How to write it. Default: hex.
    #[serde(default)]
    pub form: Form,
    /// A secret: with it the hash is an HMAC (RFC 2104), and nobody without it can try out likely values. Default: none.
    #[serde(default)]
    pub salt: Option<String>,
    /// What to do where some columns are null. Where all are, the hash is null. Default: include.
    #[serde(default)]
    pub nulls: OrNull<Nulls>,
    /// What to do with an update that sent only some of the columns. Default: reject.
    #[serde(default)]
    pub on_absent: OnAbsent,
}

/// What a null among the columns does.
#[config]
#[derive(Copy, PartialEq, Eq, Default)]
#[serde(rename_all = "lowercase")]
pub enum Nulls {
    /// It is hashed as a mark that no value has.
    #[default]
    Include,
    /// It makes the hash null.
    Null,
}

impl NamedNull for Nulls {
    const NULL: Self = Self::Null;
}

/// The transform: what to hash, and how.
#[derive(Debug)]
pub struct Hash {
    columns: Vec<String>,
    digest: Digest,
    nulls: Nulls,
    computed: Computed,
}

#[transform(name = "hash")]
impl Transform for Hash {
    type Config = Config;

    fn open(config: Config) -> Result<Self> {
        check_columns(&config.columns, "columns")?;
        protect_op(&config.into, "into")?;
        let Config { columns, into, method, form, salt, nulls, on_absent } = config;
        let computed = Computed { transform: "hash", into, on_absent, lacks: first_absent };
        Ok(Self { columns, digest: Digest::new(method, form, salt.as_deref()), nulls: nulls.0, computed })
    }

    fn apply<'a>(&mut self, page: Page<'a>) -> Result<Output<'a>> {
        let sources = self.columns.iter().map(|name| page.column(name)).collect::<Result<Vec<_>>>()?;
        let column = ColumnBuilder::new(&self.computed.into, Kind::Text);
        let mut input = Vec::new();
        self.computed.apply(page.pass(), &page, &sources, column, |row, column| {
            let present = sources.iter().filter(|source| source.is_present(row)).count();
            if present == 0 || present < sources.len() && self.nulls == Nulls::Null {
                return column.push(Value::Null);
            }
            write_input(&mut input, &sources, row);
            column.push_text_with(|to| self.digest.write(&input, to));
            Ok(())
        })
    }
}

/// What is hashed: of one column its text; of several `length:text` each, and `-` for null, so that no two rows are alike
/// unless their values are.
fn write_input(input: &mut Vec<u8>, sources: &[Column<'_>], row: usize) {
    input.clear();
    let mut text = String::new();
    for source in sources {
        text.clear();
        let value = source.value(row);
        push_text(&mut text, value);
        let bytes = if let Value::Bytes(bytes) = value { bytes } else { text.as_bytes() };
        match (sources.len(), value.is_present()) {
            (1, _) => {}
            (_, true) => input.extend_from_slice(format!("{}:", bytes.len()).as_bytes()),
            (_, false) => input.push(b'-'),
        }
        if value.is_present() {
            input.extend_from_slice(bytes);
        }
    }
}
