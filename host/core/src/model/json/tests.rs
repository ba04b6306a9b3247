use super::*;
use crate::model::{Field, Interval, Kind, PageBuilder, TableId, parse_bytes_hex, parse_interval, parse_timestamptz};
use proptest::prelude::*;
use serde::de::IgnoredAny;
use std::sync::Arc;

fn written(value: ValueRef<'_>) -> String {
    let mut out = Vec::new();
    push_value(&mut out, value);
    String::from_utf8(out).unwrap()
}

fn read<T: serde::de::DeserializeOwned>(json: &str) -> T {
    serde_json::from_str(json).unwrap_or_else(|e| panic!("{json}: {e}"))
}

proptest! {
    #[test]
    fn text_reads_back(text in any::<String>(), plain in "[ -~]{0,40}", nasty in "[\"\\\\\u{0}-\u{1f}a-z\u{7f}é😀]{0,40}") {
        for text in [&text, &plain, &nasty] {
            prop_assert_eq!(&read::<String>(&written(ValueRef::Text(text))), text);
            prop_assert_eq!(&read::<String>(&written(ValueRef::Native(text))), text);
        }
    }

    #[test]
    fn numbers_read_back(signed in any::<i64>(), unsigned in any::<u64>(), wide in any::<u64>(), narrow in any::<u32>()) {
        prop_assert_eq!(read::<i64>(&written(ValueRef::I64(signed))), signed);
        prop_assert_eq!(read::<u64>(&written(ValueRef::U64(unsigned))), unsigned);
        let (wide, narrow) = (f64::from_bits(wide), f32::from_bits(narrow));
        if wide.is_finite() {
            prop_assert_eq!(read::<f64>(&written(ValueRef::F64(wide))).to_bits(), wide.to_bits());
        }
        if narrow.is_finite() {
            prop_assert_eq!(written(ValueRef::F32(narrow)).parse::<f32>().unwrap().to_bits(), narrow.to_bits());
        }
    }

    #[test]
    fn decimals_keep_digits_and_scale(text in "[+-]?([0-9]{1,30}(\\.[0-9]{0,30})?|\\.[0-9]{1,30})([eE][+-]?[0-9]{1,4})?") {
        let json = written(ValueRef::Decimal(&text));
        read::<IgnoredAny>(&json);
        let canonical = |t: &str| {
            let (mantissa, exponent) = t.split_once(['e', 'E']).unwrap_or((t, ""));
            let negative = mantissa.starts_with('-');
            let (whole, fraction) = mantissa.trim_start_matches(['+', '-']).split_once('.').unwrap_or((mantissa.trim_start_matches(['+', '-']), ""));
            (negative, whole.trim_start_matches('0').to_owned(), fraction.to_owned(), exponent.to_owned())
        };
        prop_assert_eq!(canonical(&json), canonical(&text));
    }

    #[test]
    fn bytes_times_and_documents_read_back(
        bytes in any::<Vec<u8>>(), months in any::<i32>(), days in any::<i32>(), microseconds in any::<i64>(),
        instant in -210_866_803_200_000_000..9_223_371_331_200_000_000_i64, member in any::<String>(),
    ) {
        let json = written(ValueRef::Bytes(&bytes));
        prop_assert_eq!(parse_bytes_hex(&read::<String>(&json)), Some(bytes));
        let interval = Interval { months, days, microseconds };
        prop_assert_eq!(parse_interval(&read::<String>(&written(ValueRef::Interval(interval)))), Some(interval));
        prop_assert_eq!(parse_timestamptz(&read::<String>(&written(ValueRef::TimestampTz(instant)))), Some(instant));
        let document = serde_json::json!({ "a": [member, 1.5, null] });
        let pretty = serde_json::to_string_pretty(&document).unwrap();
        let json = written(ValueRef::Json(&pretty));
        prop_assert!(!json.contains(['\n', '\r']));
        prop_assert_eq!(read::<serde_json::Value>(&json), document);
    }
}

#[test]
fn a_value_has_one_spelling() {
    let cases = [
        (ValueRef::Null, "null"),
        (ValueRef::Json("null"), "null"),
        (ValueRef::Bool(true), "true"),
        (ValueRef::I64(i64::MIN), "-9223372036854775808"),
        (ValueRef::F64(f64::NAN), r#""NaN""#),
        (ValueRef::F32(f32::NEG_INFINITY), r#""-Infinity""#),
        (ValueRef::F32(0.1), "0.1"),
        (ValueRef::F64(-0.0), "-0.0"),
        (ValueRef::F64(1e300), "1e300"),
        (ValueRef::Decimal("1.50"), "1.50"),
        (ValueRef::Decimal("-00012.0"), "-12.0"),
        (ValueRef::Decimal("+.5"), "0.5"),
        (ValueRef::Decimal("5.e-3"), "5e-3"),
        (ValueRef::Decimal("NaN"), r#""NaN""#),
        (ValueRef::Decimal("-Infinity"), r#""-Infinity""#),
        (ValueRef::Text("\u{1}\t\u{8}\u{c}\"\\/é"), r#""\u0001\t\b\f\"\\/é""#),
        (ValueRef::Bytes(&[0, 255]), r#""\\x00ff""#),
        (ValueRef::Date(0), r#""1970-01-01""#),
        (ValueRef::Date(i32::MAX), r#""infinity""#),
        (ValueRef::Time(86_400_000_000), r#""24:00:00""#),
        (ValueRef::Timestamp(1_704_067_200_500_000), r#""2024-01-01T00:00:00.5""#),
        (ValueRef::TimestampTz(1_704_067_200_500_000), r#""2024-01-01T00:00:00.5Z""#),
        (ValueRef::TimestampTz(i64::MIN), r#""-infinity""#),
        (ValueRef::Interval(Interval::default()), r#""PT0S""#),
        (ValueRef::Uuid(&[0x11; 16]), r#""11111111-1111-1111-1111-111111111111""#),
        (ValueRef::Native("(1,2)"), r#""(1,2)""#),
    ];
    for (value, expected) in cases {
        assert_eq!(written(value), expected, "{value:?}");
    }
}

#[test]
fn absent_slots_are_left_out_and_members_keep_the_columns_order() {
    let fields = ["z", "quo\"te", "a", ""].map(|name| Field::new(name, Kind::I64));
    let schema = Arc::new(Schema::new(TableId::bare("t"), fields.into()));
    let mut page = PageBuilder::rows(schema.clone());
    for row in [[Some(1), None, Some(3), Some(4)], [None, Some(2), None, None]] {
        for (column, value) in page.columns().iter_mut().zip(row) {
            column.push(value.map_or(ValueRef::Absent, ValueRef::I64));
        }
        page.end_row();
    }
    let page = page.finish();
    let rows = JsonRows::new(&schema).unwrap();
    let mut out = Vec::new();
    rows.push_row(&mut out, &page, 0);
    rows.push_row(&mut out, &page, 1);
    assert_eq!(String::from_utf8(out).unwrap(), r#"{"z":1,"a":3,"":4}{"quo\"te":2}"#);
}

#[test]
fn columns_of_one_name_are_refused() {
    let schema = Schema::new(TableId::bare("t"), vec![Field::new("id", Kind::I64), Field::new("id", Kind::Text)]);
    assert_eq!(JsonRows::new(&schema).unwrap_err().code().id, "page.duplicate_column");
}

/// A row of every kind, parsed by another parser: each member is exactly the value's own text.
#[test]
fn rows_parse_elsewhere() {
    let values = [
        ValueRef::Bool(false),
        ValueRef::I64(9_007_199_254_740_993),
        ValueRef::U64(u64::MAX),
        ValueRef::F32(1.5),
        ValueRef::F64(f64::NAN),
        ValueRef::Decimal("123456789012345678901234567890.10"),
        ValueRef::Text(""),
        ValueRef::Bytes(b""),
        ValueRef::Date(-719_163),
        ValueRef::Time(1),
        ValueRef::Timestamp(i64::MAX),
        ValueRef::TimestampTz(0),
        ValueRef::Interval(Interval { months: -1, days: 1, microseconds: -1 }),
        ValueRef::Uuid(&[7; 16]),
        ValueRef::Json("[1.10,{}]"),
        ValueRef::Native("x"),
    ];
    let fields = Kind::ALL.map(|kind| Field::new(kind.name(), kind));
    let schema = Arc::new(Schema::new(TableId::bare("t"), fields.into()));
    let mut page = PageBuilder::rows(schema.clone());
    page.columns().iter_mut().zip(values).for_each(|(column, value)| column.push(value));
    page.end_row();
    let mut out = Vec::new();
    JsonRows::new(&schema).unwrap().push_row(&mut out, &page.finish(), 0);
    let members: serde_json::Map<String, serde_json::Value> = serde_json::from_slice(&out).unwrap();
    assert!(members.keys().eq(Kind::ALL.map(Kind::name)));
    let expected = Kind::ALL.iter().zip(values).map(|(kind, value)| format!("\"{kind}\":{}", written(value)));
    assert_eq!(String::from_utf8(out).unwrap(), format!("{{{}}}", expected.collect::<Vec<_>>().join(",")));
}
