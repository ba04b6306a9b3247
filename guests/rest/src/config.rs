//! The configuration.

use client::{Auth, Retry};
use faucet_sdk::config;
use faucet_sdk::serde_json::Value;
use std::collections::BTreeMap;

/// Which records to read, and how.
#[config]
pub struct Config {
    /// The address, or the start that all paths of the API share.
    pub url: String,
    /// Follows `url`, with one slash between.
    #[serde(default)]
    pub path: Option<String>,
    /// The method.
    #[serde(default)]
    pub method: Method,
    /// Query parameters.
    #[serde(default)]
    pub params: BTreeMap<String, Param>,
    /// Headers.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// A JSON body.
    #[serde(default)]
    pub body: Option<Value>,
    /// Who the requests come from.
    #[serde(default)]
    pub auth: Option<Auth>,
    /// Where the records are in an answer: a JSONPath of `$`, `.name`, `['name']`, `[n]` and `[*]`.
    #[serde(default = "root")]
    pub records_path: String,
    /// Where an answer says that something went wrong, such as `$.errors`: an answer with anything there but null, false
    /// and empty lists fails the run.
    #[serde(default)]
    pub errors_path: Option<String>,
    /// How to get from one page to the next.
    #[serde(default)]
    pub pagination: Pagination,
    /// Stops after so many pages.
    #[serde(default)]
    pub max_pages: Option<u32>,
    /// The name of the table that the rows form. Default: the last part of the address.
    #[serde(default)]
    pub table: Option<String>,
    /// Columns that identify a row.
    #[serde(default)]
    pub primary_key: Vec<String>,
    /// The columns and their kinds. Fields that it does not name are left out. Default: all fields, with kinds found
    /// from their values.
    #[serde(default)]
    pub schema: Vec<Field>,
    /// Whether to read everything each time, or what is new.
    #[serde(default)]
    pub replication_method: Replication,
    /// For Incremental: the field whose values grow, as a name, a dot path or a JSON Pointer.
    #[serde(default)]
    pub replication_key: Option<String>,
    /// For Incremental: what to do with a record that lacks the key.
    #[serde(default)]
    pub on_missing_key: OnMissing,
    /// For Incremental: the least value to read in the first run.
    #[serde(default)]
    pub start_replication_value: Option<Value>,
    /// For Incremental: where a request says from which value on.
    #[serde(default)]
    pub replication_bind: Option<Bind>,
    /// For Incremental by time: reads one span of time after the other.
    #[serde(default)]
    pub window: Option<Window>,
    /// What to do about answers that mean "later".
    #[serde(default)]
    pub retry: Retry,
    /// How long to wait for an answer, in seconds.
    #[serde(default = "timeout")]
    pub timeout_seconds: u32,
}

fn root() -> String {
    "$".to_owned()
}

fn timeout() -> u32 {
    30
}

/// The method of a request.
#[config]
#[derive(Copy, PartialEq, Eq, Default)]
#[serde(rename_all = "UPPERCASE")]
pub enum Method {
    /// Reads.
    #[default]
    Get,
    /// Reads what the body asks for.
    Post,
}

/// The value of a query parameter.
#[config]
#[serde(untagged)]
pub enum Param {
    /// Text.
    Text(String),
    /// A number.
    Number(i64),
    /// True or false.
    Flag(bool),
}

/// How to get from one page to the next.
#[config]
#[derive(PartialEq, Eq, Default)]
#[serde(tag = "type")]
pub enum Pagination {
    /// There is one page.
    #[default]
    None,
    /// An answer holds a cursor, which goes into the query of the next request.
    Cursor {
        /// Where the cursor is in an answer. There is no next page where it is missing, null, empty or false.
        next_token_path: String,
        /// The query parameter it goes into.
        param_name: String,
    },
    /// Pages are numbered. An empty page, and one with fewer than `page_size` records, is the last.
    PageNumber {
        /// The query parameter of the number.
        #[serde(default = "page")]
        param_name: String,
        /// The number of the first page.
        #[serde(default = "one")]
        start_page: u64,
        /// Records of a page.
        #[serde(default)]
        page_size: Option<u64>,
        /// The query parameter of the size.
        #[serde(default)]
        page_size_param: Option<String>,
        /// Where an answer says how many pages there are.
        #[serde(default)]
        total_pages_path: Option<String>,
    },
    /// A request says how many records to skip. A page with fewer than `limit` records is the last.
    Offset {
        /// The query parameter of the number to skip.
        #[serde(default = "offset")]
        offset_param: String,
        /// The query parameter of the number to give.
        #[serde(default = "limit")]
        limit_param: String,
        /// Records of a page.
        limit: u64,
        /// Where an answer says how many records there are.
        #[serde(default)]
        total_path: Option<String>,
    },
    /// The header `Link` names the next page (RFC 8288).
    LinkHeader,
    /// An answer holds the address of the next page.
    NextLinkInBody {
        /// Where it is.
        next_link_path: String,
    },
    /// An answer holds a cursor, which goes into the body of the next request.
    CursorInBody {
        /// Where the cursor is in an answer.
        next_token_path: String,
        /// Where it goes in the body: a field, or a JSON Pointer such as `/variables/after`.
        body_cursor_field: String,
        /// Where an answer says whether there is a next page.
        #[serde(default)]
        has_next_page_path: Option<String>,
    },
    /// As `Offset`, with both numbers in the body.
    OffsetInBody {
        /// Where the number to skip goes in the body: a field or a JSON Pointer.
        #[serde(default = "offset")]
        offset_field: String,
        /// Where the number to give goes.
        #[serde(default = "limit")]
        limit_field: String,
        /// Records of a page.
        limit: u64,
        /// Where an answer says how many records there are.
        #[serde(default)]
        total_path: Option<String>,
    },
}

fn page() -> String {
    "page".to_owned()
}

fn one() -> u64 {
    1
}

fn offset() -> String {
    "offset".to_owned()
}

fn limit() -> String {
    "limit".to_owned()
}

/// A column.
#[config]
pub struct Field {
    /// Its name.
    pub name: String,
    /// What its values are.
    pub kind: FieldKind,
    /// Where a record has it, as a name, a dot path or a JSON Pointer. Default: the field of the same name.
    #[serde(default)]
    pub path: Option<String>,
}

/// What the values of a column are.
#[config]
#[derive(Copy, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum FieldKind {
    /// True or false.
    Boolean,
    /// A signed integer of 64 bits.
    Int64,
    /// An unsigned integer of 64 bits.
    Uint64,
    /// A float of 64 bits; a number is rounded to it.
    Float64,
    /// An exact number.
    Decimal,
    /// Text; any other value as its JSON.
    Text,
    /// `2024-06-01`.
    Date,
    /// `2024-06-01T12:30:00.5`; beyond microseconds it is cut off.
    Timestamp,
    /// `2024-06-01T12:30:00.5+02:00`; beyond microseconds it is cut off.
    Timestamptz,
    /// Hex digits with or without hyphens.
    Uuid,
    /// Any value, as its JSON.
    Json,
}

/// Whether to read everything each time.
#[config]
#[derive(Copy, PartialEq, Eq, Default)]
#[serde(tag = "type")]
pub enum Replication {
    /// Everything.
    #[default]
    FullTable,
    /// What is new, by `replication_key`.
    Incremental,
}

/// What to do with a record that lacks the replication key.
#[config]
#[derive(Copy, PartialEq, Eq, Default)]
#[serde(rename_all = "lowercase")]
pub enum OnMissing {
    /// Deliver it.
    #[default]
    Keep,
    /// Leave it out.
    Drop,
    /// Fail the run.
    Fail,
}

/// Where a request says from which value on.
#[config]
#[derive(PartialEq, Eq)]
pub struct Bind {
    /// Which part of the request.
    pub into: Part,
    /// The query parameter, the header, the `{name}` in `path`, or the field of the body.
    #[serde(default)]
    pub name: Option<String>,
    /// For the body: a JSON Pointer, instead of `name`.
    #[serde(default)]
    pub path: Option<String>,
    /// How the value is written. Default: as the API wrote it.
    #[serde(default)]
    pub format: Option<Format>,
    /// For the body: whether it is written as a number or as text. Default: as the API wrote it; text with a format.
    #[serde(default)]
    pub value_type: Option<ValueType>,
    /// Text around the value, which stands where it says `${bookmark}`.
    #[serde(default)]
    pub template: Option<String>,
}

/// A part of a request.
#[config]
#[derive(Copy, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Part {
    /// A query parameter.
    Query,
    /// A header.
    Header,
    /// A part of `path` in braces.
    Path,
    /// A field of the JSON body.
    Body,
}

/// How a point in time is written.
#[config]
#[derive(Copy, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// `2024-06-01T10:30:00.25Z`.
    Iso8601,
    /// `2024-06-01`.
    Date,
    /// Seconds since 1970.
    EpochS,
    /// Milliseconds since 1970.
    EpochMs,
}

/// How a value is written in JSON.
#[config]
#[derive(Copy, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum ValueType {
    /// In quotes.
    String,
    /// As a number.
    Number,
}

/// Spans of time that are read one after the other, from the bookmark to now.
#[config]
pub struct Window {
    /// The length of a span: a number and `m`, `h` or `d`, such as `12h` or `7d`.
    pub size: String,
    /// Where a request says the start of a span.
    pub start: Bind,
    /// Where a request says the end of a span.
    pub end: Bind,
}
