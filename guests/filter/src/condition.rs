//! The condition: checked when the configuration is read, bound to a column's kind once a page, held against values.

use crate::config::Comparison;
use crate::operand::{Bound, Operand};
use faucet_sdk::serde_json::Value as Json;
use faucet_sdk::{Column, Error, Kind, Result, Value, kind_name};
use regex_lite::Regex;
use std::cmp::Ordering;

/// A condition as configured.
#[derive(Debug)]
pub(crate) enum Test {
    Null { wanted: bool },
    Compare(Order, Operand),
    OneOf { operands: Vec<Operand>, wanted: bool },
    Text(TextTest),
}

/// Which orderings of value and operand meet the condition.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Order {
    less: bool,
    equal: bool,
    greater: bool,
}

#[derive(Debug)]
pub(crate) enum TextTest {
    Contains(String),
    StartsWith(String),
    EndsWith(String),
    Matches(Regex),
}

impl Test {
    pub(crate) fn new(op: Comparison, value: Option<Json>) -> Result<Self> {
        let order = |less, equal, greater| Order { less, equal, greater };
        Ok(match op {
            Comparison::IsNull => null(value, true)?,
            Comparison::NotNull => null(value, false)?,
            Comparison::Eq => Self::Compare(order(false, true, false), one(value)?),
            Comparison::Ne => Self::Compare(order(true, false, true), one(value)?),
            Comparison::Lt => Self::Compare(order(true, false, false), one(value)?),
            Comparison::Le => Self::Compare(order(true, true, false), one(value)?),
            Comparison::Gt => Self::Compare(order(false, false, true), one(value)?),
            Comparison::Ge => Self::Compare(order(false, true, true), one(value)?),
            Comparison::In => Self::OneOf { operands: many(value)?, wanted: true },
            Comparison::NotIn => Self::OneOf { operands: many(value)?, wanted: false },
            Comparison::Contains => Self::Text(TextTest::Contains(text(value)?)),
            Comparison::StartsWith => Self::Text(TextTest::StartsWith(text(value)?)),
            Comparison::EndsWith => Self::Text(TextTest::EndsWith(text(value)?)),
            Comparison::Matches => Self::Text(TextTest::Matches(regex(&text(value)?)?)),
        })
    }

    /// The condition for a column of this kind.
    pub(crate) fn bind(&self, column: &Column<'_>) -> Result<BoundTest<'_>> {
        Ok(match self {
            Self::Null { wanted } => BoundTest::Null { wanted: *wanted },
            Self::Compare(order, operand) => {
                if order.less != order.greater {
                    check_ordered(column)?;
                }
                BoundTest::Compare(*order, operand.bind(column)?)
            }
            Self::OneOf { operands, wanted } => {
                let bound = operands.iter().map(|operand| operand.bind(column)).collect::<Result<_>>()?;
                BoundTest::OneOf { operands: bound, wanted: *wanted }
            }
            Self::Text(test) => match column.kind() {
                Kind::Text | Kind::Json | Kind::Native => BoundTest::Text(test),
                Kind::Boolean | Kind::Int64 | Kind::Uint64 | Kind::Float32 | Kind::Float64 | Kind::Decimal => {
                    return Err(no_text(column));
                }
                Kind::Bytes | Kind::Date | Kind::Time | Kind::Timestamp | Kind::Timestamptz => {
                    return Err(no_text(column));
                }
                Kind::Interval | Kind::Uuid => return Err(no_text(column)),
            },
        })
    }
}

fn no_text(column: &Column<'_>) -> Error {
    let (name, kind) = (column.name(), kind_name(column.kind()));
    Error::new(format!("column '{name}' is {kind}: contains, starts_with, ends_with and matches need text"))
}

/// Kinds without an order that means something can only be tested for equality.
fn check_ordered(column: &Column<'_>) -> Result<()> {
    match column.kind() {
        Kind::Boolean | Kind::Json | Kind::Native => {
            let (name, kind) = (column.name(), kind_name(column.kind()));
            Err(Error::new(format!("column '{name}' is {kind}: it has no order; use eq, ne, in or not_in")))
        }
        Kind::Int64 | Kind::Uint64 | Kind::Float32 | Kind::Float64 | Kind::Decimal | Kind::Text | Kind::Bytes => Ok(()),
        Kind::Date | Kind::Time | Kind::Timestamp | Kind::Timestamptz | Kind::Interval | Kind::Uuid => Ok(()),
    }
}

/// A condition bound to a column.
#[derive(Debug)]
pub(crate) enum BoundTest<'t> {
    Null { wanted: bool },
    Compare(Order, Bound<'t>),
    OneOf { operands: Vec<Bound<'t>>, wanted: bool },
    Text(&'t TextTest),
}

impl BoundTest<'_> {
    /// Whether a value that is not absent meets the condition; the reason if that can't be said.
    pub(crate) fn holds(&self, value: Value<'_>) -> Result<bool, &'static str> {
        let null = matches!(value, Value::Null);
        match self {
            Self::Null { wanted } => Ok(null == *wanted),
            Self::Compare(..) | Self::OneOf { .. } | Self::Text(_) if null => Ok(false),
            Self::Compare(order, operand) => Ok(order.includes(operand.order_of(value)?)),
            Self::OneOf { operands, wanted } => {
                for operand in operands {
                    if operand.order_of(value)? == Ordering::Equal {
                        return Ok(*wanted);
                    }
                }
                Ok(!*wanted)
            }
            Self::Text(test) => Ok(value.as_str().is_some_and(|text| test.holds(text))),
        }
    }
}

impl Order {
    fn includes(self, ordering: Ordering) -> bool {
        match ordering {
            Ordering::Less => self.less,
            Ordering::Equal => self.equal,
            Ordering::Greater => self.greater,
        }
    }
}

impl TextTest {
    fn holds(&self, value: &str) -> bool {
        match self {
            Self::Contains(text) => value.contains(text.as_str()),
            Self::StartsWith(text) => value.starts_with(text.as_str()),
            Self::EndsWith(text) => value.ends_with(text.as_str()),
            Self::Matches(regex) => regex.is_match(value),
        }
    }
}

fn null(value: Option<Json>, wanted: bool) -> Result<Test> {
    match value {
        None | Some(Json::Null) => Ok(Test::Null { wanted }),
        Some(_) => Err(Error::config("value", "is_null and not_null take no value")),
    }
}

fn one(value: Option<Json>) -> Result<Operand> {
    Operand::new(&required(value)?, "value")
}

fn many(value: Option<Json>) -> Result<Vec<Operand>> {
    match required(value)? {
        Json::Array(values) if values.is_empty() => Err(Error::config("value", "the list is empty")),
        Json::Array(values) => {
            values.iter().enumerate().map(|(at, value)| Operand::new(value, &format!("value[{at}]"))).collect()
        }
        _ => Err(Error::config("value", "in and not_in need a list")),
    }
}

fn text(value: Option<Json>) -> Result<String> {
    match required(value)? {
        Json::String(text) => Ok(text),
        _ => Err(Error::config("value", "this op needs text")),
    }
}

fn regex(pattern: &str) -> Result<Regex> {
    Regex::new(pattern).map_err(|error| Error::config("value", format!("is no regular expression: {error}")))
}

fn required(value: Option<Json>) -> Result<Json> {
    match value {
        None => Err(Error::config("value", "is missing: this op compares with a value")),
        Some(Json::Null) => Err(Error::config("value", "is null, which nothing equals; use op is_null or not_null")),
        Some(value) => Ok(value),
    }
}
