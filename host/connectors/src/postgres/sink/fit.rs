//! What becomes of a source's values in a column of another type: the one place that says it for a pair of types.
//!
//! | a pair is | because |
//! |---|---|
//! | [`Fit::Exact`] | every value arrives as it is |
//! | [`Fit::Checked`] | the server, or the encoder, refuses the values that don't fit: an `integer` is never rounded |
//! | [`Fit::Labels`] | the column is an enum, and has the value among its labels or not |
//! | [`Fit::Proven`] | only the value tells; each is compared with what the column would make of it |
//! | [`Fit::Lossy`] | the server changes values in silence: it rounds, pads, cuts off, or drops a zone |
//!
//! Equal means: the same text as PostgreSQL prints it, or for numbers the same number (`1.5` is `1.50`), and for
//! `character(n)` the same but for the blanks that fill it up.
//!
//! Types are compared as `format_type` spells them, with their modifiers. A column that no PostgreSQL gave is taken for the
//! type of its kind, and what would be lossy then is proven: its source has declared nothing that could be compared.

use faucet_core::model::{Field, Kind};

use crate::postgres::types::{ColumnType, Made};

/// What becomes of values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fit {
    /// All arrive as they are.
    Exact,
    /// All that are written are as they were; the others are errors.
    Checked,
    /// So too, by the labels of an enum.
    Labels,
    /// To be compared one by one.
    Proven(Same),
    /// Some would change in silence.
    Lossy(Same, &'static str),
}

/// When a value is still the same in its column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Same {
    /// It prints as it was.
    Text,
    /// It is the same number.
    Number,
    /// A text means the same moment to the microsecond, whatever its spelling.
    Moment,
    /// A text means the same time of day or interval, and nothing besides.
    Clock,
    /// A JSON text is the same document: no member is there twice.
    Document,
    /// It has no blanks after as many characters, which the server would cut off; it refuses anything else there.
    Within(i64),
}

const ROUNDS: &str = "rounds";
const CUTS: &str = "cuts off what is too long";
const PADS: &str = "fills up with blanks";
const READS: &str = "reads the text as something else, or not at all";
const RESPELLS: &str = "keeps neither the order nor the spelling, and one of two members of one name";

/// What becomes of the values of `field` in a column of type `to`.
pub fn fit(field: &Field, to: &ColumnType) -> Fit {
    // A transform may have put texts into a column that still says what it was.
    let native = field.native_of("postgres").filter(|from| field.kind != Kind::Text || is_text(from));
    match (to.shape, native) {
        (Made::Enum, _) if matches!(field.kind, Kind::Text | Kind::Native) => Fit::Labels,
        (_, Some(from)) => of_native(from, to),
        (_, None) => match of_kind(field.kind, to) {
            Fit::Lossy(same, _) => Fit::Proven(same),
            fit => fit,
        },
    }
}

/// Whether values of the type are texts and nothing else; what is not built in may be.
fn is_text(name: &str) -> bool {
    let (base, _) = spelled(name);
    base.contains('.') || matches!(&*base, "text" | "character varying" | "character" | "bpchar" | "name" | "\"char\"")
}

fn of_native(from: &str, to: &ColumnType) -> Fit {
    let has = &*to.under;
    let own = has.contains('.');
    match to.shape {
        // Under a name like this one there may be another type here, or another currency.
        Made::Composed if last(from) == last(has) => Fit::Proven(Same::Text),
        _ if from == has && from == "money" => Fit::Proven(Same::Text),
        _ if from == has => Fit::Exact,
        _ if own && last(from) == last(has) => Fit::Proven(Same::Text),
        // Such as citext.
        Made::Alike if own && to.kind == Kind::Text => Fit::Exact,
        _ => pair(from, has),
    }
}

fn of_kind(kind: Kind, to: &ColumnType) -> Fit {
    let from = match kind {
        Kind::Text | Kind::Native => return of_text(to),
        Kind::Json if &*to.under == "jsonb" => return Fit::Proven(Same::Document),
        Kind::Bool => "boolean",
        Kind::I64 => "bigint",
        Kind::U64 => "numeric(20,0)",
        Kind::F32 => "real",
        Kind::F64 => "double precision",
        Kind::Decimal => "numeric",
        Kind::Bytes => "bytea",
        Kind::Date => "date",
        Kind::Time => "time without time zone",
        Kind::Timestamp => "timestamp without time zone",
        Kind::TimestampTz => "timestamp with time zone",
        Kind::Interval => "interval",
        Kind::Uuid => "uuid",
        Kind::Json => "json",
    };
    of_native(from, to)
}

/// A text of another system, which the column's type reads.
fn of_text(to: &ColumnType) -> Fit {
    let (base, modifier) = spelled(&to.under);
    match (&*base, modifier) {
        ("text" | "character varying" | "bpchar", None) => Fit::Exact,
        ("numeric" | "interval", None) | ("smallint" | "integer" | "bigint" | "boolean" | "uuid" | "json", _) => {
            Fit::Checked
        }
        ("numeric" | "real" | "double precision" | "oid", _) => Fit::Proven(Same::Number),
        ("date" | "timestamp without time zone" | "timestamp with time zone", _) => Fit::Proven(Same::Moment),
        ("time without time zone", _) => Fit::Proven(Same::Clock),
        (interval, _) if interval.starts_with("interval") => Fit::Proven(Same::Clock),
        ("time with time zone", _) => Fit::Proven(Same::Text),
        ("jsonb", _) => Fit::Proven(Same::Document),
        ("character varying", Some((most, _))) => Fit::Proven(Same::Within(most)),
        ("character" | "name" | "\"char\"" | "bytea" | "money", _) => Fit::Proven(Same::Text),
        // These read all of a text, or none of it.
        ("inet" | "cidr" | "macaddr" | "macaddr8" | "bit" | "bit varying" | "tsvector" | "tsquery", _) => Fit::Checked,
        _ => Fit::Proven(Same::Text),
    }
}

/// What becomes of values of the type `from` in a column of the type `to`, which are not the same.
fn pair(from: &str, to: &str) -> Fit {
    if let (Some(from), Some(to)) = (from.strip_suffix("[]"), to.strip_suffix("[]")) {
        return elements(from, to);
    }
    let ((f, fm), (t, tm)) = (spelled(from), spelled(to));
    match (&*t, tm) {
        ("text" | "character varying" | "bpchar", None) => Fit::Exact,
        ("character varying" | "character" | "name" | "\"char\"", _) => characters((&f, fm), (&t, tm)),
        ("smallint" | "integer" | "bigint" | "oid" | "numeric" | "real" | "double precision", _) => {
            numbers((&f, fm), (&t, tm))
        }
        ("bit" | "bit varying", _) => bits((&f, fm), (&t, tm)),
        ("jsonb", _) if f == "json" => Fit::Lossy(Same::Document, RESPELLS),
        ("json", _) if f == "jsonb" => Fit::Exact,
        ("int8range", _) if f == "int4range" => Fit::Exact,
        ("int8multirange", _) if f == "int4multirange" => Fit::Exact,
        _ => moments((&f, fm), (&t, tm)),
    }
}

/// Elements of arrays, which travel as one text.
fn elements(from: &str, to: &str) -> Fit {
    let floats = from == "real" && to == "double precision";
    match (from == to, pair(from, to)) {
        (true, _) => Fit::Exact,
        // The elements of an array of boxes are parted by another sign.
        (false, fit @ (Fit::Exact | Fit::Checked)) if !floats && from != "box" => fit,
        (false, Fit::Proven(_)) => Fit::Proven(Same::Text),
        (false, Fit::Lossy(_, what)) => Fit::Lossy(Same::Text, what),
        (false, _) => Fit::Lossy(Same::Text, READS),
    }
}

type Spelled<'a> = (&'a str, Option<(i64, i64)>);

fn characters((f, fm): Spelled<'_>, (t, tm): Spelled<'_>) -> Fit {
    let most = tm.map_or(i64::MAX, |(most, _)| most);
    let longest = match (f, fm) {
        ("character varying" | "character", Some((longest, _))) => longest,
        ("name", _) => 63,
        ("\"char\"", _) => 4,
        _ => i64::MAX,
    };
    match t {
        "character varying" if longest <= most => Fit::Exact,
        "character" if f == "character" && longest <= most => Fit::Exact,
        "character" => Fit::Lossy(Same::Text, PADS),
        "character varying" => Fit::Proven(Same::Within(most)),
        _ => Fit::Lossy(Same::Text, CUTS),
    }
}

fn numbers((f, fm): Spelled<'_>, (t, tm): Spelled<'_>) -> Fit {
    let rounds = Fit::Lossy(Same::Number, ROUNDS);
    let (from, to) = (integer_digits(f), integer_digits(t));
    match (f, t) {
        ("oid", "bigint") | ("real" | "smallint" | "integer", "double precision") | ("smallint", "real") => Fit::Exact,
        ("smallint" | "integer" | "bigint", "oid") => Fit::Lossy(Same::Number, "takes a number below zero for another"),
        ("numeric", "smallint" | "integer" | "bigint" | "oid") => Fit::Checked,
        (_, "smallint" | "integer" | "bigint") if from.is_some() => {
            if from <= to {
                Fit::Exact
            } else {
                Fit::Checked
            }
        }
        (_, "numeric") => scaled((f, fm), tm),
        ("integer" | "bigint" | "numeric" | "double precision", "real")
        | ("bigint" | "numeric", "double precision") => rounds,
        _ => Fit::Lossy(Same::Text, READS),
    }
}

/// Numbers into `numeric`, whose precision and scale are `to`.
fn scaled((f, fm): Spelled<'_>, to: Option<(i64, i64)>) -> Fit {
    let from = match (f, fm) {
        ("numeric", Some((precision, scale))) => Some((precision - scale, scale)),
        ("numeric", None) => None,
        _ => match integer_digits(f) {
            Some(digits) => Some((digits, 0)),
            None if matches!(f, "real" | "double precision") => return Fit::Lossy(Same::Number, ROUNDS),
            None => return Fit::Lossy(Same::Text, READS),
        },
    };
    match (from, to) {
        (_, None) => Fit::Exact,
        (Some((whole, scale)), Some((precision, to_scale))) if scale <= to_scale => {
            if whole <= precision - to_scale {
                Fit::Exact
            } else {
                Fit::Checked
            }
        }
        (_, Some(_)) => Fit::Lossy(Same::Number, ROUNDS),
    }
}

fn bits((f, fm): Spelled<'_>, (t, tm): Spelled<'_>) -> Fit {
    match (f, fm, t, tm) {
        ("bit" | "\"bit\"" | "bit varying", _, "bit varying", None) => Fit::Exact,
        ("bit" | "bit varying", Some((from, _)), "bit varying", Some((to, _))) if from <= to => Fit::Exact,
        // The server refuses another length, or a greater one.
        ("bit" | "\"bit\"" | "bit varying", ..) => Fit::Checked,
        _ => Fit::Lossy(Same::Text, READS),
    }
}

/// Dates, times and intervals, and all that is left.
fn moments((f, fm): Spelled<'_>, (t, tm): Spelled<'_>) -> Fit {
    let (zoned, local) = ("timestamp with time zone", "timestamp without time zone");
    let digits = |modifier: Option<(i64, i64)>| modifier.map_or(6, |(digits, _)| digits);
    match (f, t) {
        _ if f == t && is_timed(t) => {
            if digits(fm) <= digits(tm) {
                Fit::Exact
            } else {
                Fit::Lossy(Same::Text, ROUNDS)
            }
        }
        _ if f.starts_with("interval") && t == "interval" && digits(fm) <= digits(tm) => Fit::Exact,
        _ if f.starts_with("interval") && t.starts_with("interval") => Fit::Lossy(Same::Text, "drops parts of it"),
        (from, to) if from == zoned && to == local => Fit::Lossy(Same::Text, "drops the time zone"),
        (from, to) if from == local && to == zoned => Fit::Lossy(Same::Text, "takes it for a time in UTC"),
        (from, "date") if from == zoned || from == local => Fit::Lossy(Same::Text, "drops the time of day"),
        _ => Fit::Lossy(Same::Text, READS),
    }
}

/// Whether a modifier of the type is a number of digits of seconds.
fn is_timed(base: &str) -> bool {
    base.starts_with("timestamp ") || base.starts_with("time ") || base.starts_with("interval")
}

/// Whether every value of the type `from` is one of `to`, and a column of the one can be made one of the other: both are
/// spelled as `format_type` does.
pub fn widens(from: &str, to: &str) -> bool {
    if let (Some(from), Some(to)) = (from.strip_suffix("[]"), to.strip_suffix("[]")) {
        return widens(from, to);
    }
    let ((f, _), (t, _)) = (spelled(from), spelled(to));
    let is_whole = |base: &str| integer_digits(base).is_some() && base != "oid";
    let kin = match (&*f, &*t) {
        ("real", "double precision") | ("character varying", "text") => true,
        (whole, "numeric") if is_whole(whole) => true,
        (from, to) if is_whole(from) && is_whole(to) => true,
        ("numeric" | "character varying" | "character" | "bit varying", _) => f == t,
        (from, to) => from == to && is_timed(from) || from.starts_with("interval") && to == "interval",
    };
    from != to && kin && pair(from, to) == Fit::Exact
}

/// Decimal digits that hold every value of an integer type.
fn integer_digits(name: &str) -> Option<i64> {
    match name {
        "smallint" => Some(5),
        "integer" | "oid" => Some(10),
        "bigint" => Some(19),
        _ => None,
    }
}

/// The digits after the point that a column of a `numeric` type holds, where it says so.
pub fn scale_of(name: &str) -> Option<i64> {
    match spelled(name) {
        (base, Some((_, scale))) if base == "numeric" => Some(scale),
        _ => None,
    }
}

/// A type's name and its modifier: `numeric(12,2)` is `numeric` with 12 and 2, `time(3) with time zone` has 3.
fn spelled(name: &str) -> (String, Option<(i64, i64)>) {
    let parts = name.split_once('(').and_then(|(before, rest)| Some((before, rest.split_once(')')?)));
    let Some((before, (numbers, after))) = parts else { return (name.to_owned(), None) };
    let (first, second) = numbers.split_once(',').unwrap_or((numbers, "0"));
    (format!("{before}{after}"), first.parse().ok().zip(second.parse().ok()))
}

/// A type's name without its schema.
fn last(name: &str) -> &str {
    name.split_once('.').map_or(name, |(_, last)| last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_is_widened_only_where_no_value_is_lost() {
        for (from, to) in [
            ("smallint", "integer"),
            ("integer", "bigint"),
            ("bigint", "numeric"),
            ("bigint", "numeric(19,0)"),
            ("integer", "numeric(12,2)"),
            ("real", "double precision"),
            ("numeric(10,2)", "numeric(12,2)"),
            ("numeric(10,2)", "numeric(12,4)"),
            ("numeric(10,2)", "numeric"),
            ("character varying(10)", "character varying(20)"),
            ("character varying(10)", "character varying"),
            ("character varying(10)", "text"),
            ("character varying", "text"),
            ("character(3)", "character(5)"),
            ("bit varying(3)", "bit varying(9)"),
            ("timestamp(0) without time zone", "timestamp(6) without time zone"),
            ("timestamp(3) with time zone", "timestamp with time zone"),
            ("time(0) without time zone", "time without time zone"),
            ("interval(0)", "interval"),
            ("interval year to month", "interval"),
            ("numeric(10,2)[]", "numeric(14,4)[]"),
        ] {
            assert!(widens(from, to), "{from} to {to}");
            assert!(!widens(to, from), "{to} to {from}");
        }
        for (from, to) in [
            ("bigint", "numeric(18,0)"),
            ("bigint", "numeric(30,-2)"),
            ("integer", "real"),
            ("bigint", "double precision"),
            ("numeric(10,2)", "numeric(11,4)"),
            ("text", "integer"),
            ("integer", "text"),
            ("character(10)", "text"),
            ("json", "jsonb"),
            ("jsonb", "json"),
            ("timestamp without time zone", "timestamp with time zone"),
            ("timestamp(3) without time zone", "timestamp(6) with time zone"),
            ("date", "timestamp without time zone"),
            ("interval year to month", "interval day to second(3)"),
            ("oid", "bigint"),
        ] {
            assert!(!widens(from, to), "{from} to {to}");
        }
    }

    #[test]
    fn a_modifier_is_found_wherever_it_stands() {
        for (name, base, modifier) in [
            ("numeric(12,2)", "numeric", Some((12, 2))),
            ("numeric(3,-3)", "numeric", Some((3, -3))),
            ("timestamp(3) with time zone", "timestamp with time zone", Some((3, 0))),
            ("interval day to second(2)", "interval day to second", Some((2, 0))),
            ("text", "text", None),
        ] {
            assert_eq!(spelled(name), (base.to_owned(), modifier), "{name}");
        }
    }
}
