//! What authors see of a page, and what becomes of what they build. Runs natively; nothing here needs a host.
#![allow(clippy::unwrap_used)]

use faucet_sdk::testing::{config_schema, open, page_from_json, page_to_json, run};
use faucet_sdk::{ColumnBuilder, Error, Interval, Kind, Op, Output, Page, Result, Transform, Value, config, transform};
use serde_json::{Value as Json, json};

/// What the transform under test should do.
#[config]
#[serde(rename_all = "snake_case")]
enum Config {
    /// Check the views and pass the page.
    Look,
    /// Set, rename, remove, filter, reject, and send elsewhere.
    Everything,
    /// Hand over a column with too few values.
    Short,
    /// Repeat rows, and keep columns in another order.
    Repeat {
        /// The rows.
        rows: Vec<u32>,
        /// The row to leave out after that.
        without: Option<u32>,
    },
}

struct Probe(Config);

#[transform(name = "probe", summary = "Tests the SDK", nondeterministic)]
impl Transform for Probe {
    type Config = Config;

    fn open(config: Config) -> Result<Self> {
        Ok(Self(config))
    }

    fn apply<'a>(&mut self, page: Page<'a>) -> Result<Output<'a>> {
        match &self.0 {
            Config::Look => look(page),
            Config::Everything => everything(page),
            Config::Short => {
                let mut out = page.pass();
                out.set(ColumnBuilder::new("n", Kind::Int64))?;
                Ok(out.into())
            }
            Config::Repeat { rows, without } => repeat(page, rows, *without),
        }
    }
}

fn repeat<'a>(page: Page<'a>, rows: &[u32], without: Option<u32>) -> Result<Output<'a>> {
    let mut out = page.pass();
    out.repeat(rows.to_vec())?;
    let mut number = ColumnBuilder::new("number", Kind::Int64);
    (0..rows.len()).try_for_each(|at| number.push(Value::Int64(at as i64)))?;
    out.set(number)?;
    out.rename("number", "at")?;
    out.arrange(["at", "id"])?;
    assert!(out.arrange(["name"]).is_err(), "it is gone by now");
    let mut out = Output::from(out);
    without.into_iter().for_each(|row| out.reject(row as usize, "not today"));
    Ok(out)
}

fn look(page: Page<'_>) -> Result<Output<'_>> {
    assert_eq!((page.schema(), page.table(), page.rows()), (Some("public"), "t", 3));
    assert!(page.is_key("id") && !page.is_key("name"));
    assert_eq!(page.ops()?, Some(vec![Op::Update, Op::Delete, Op::Create]));
    let rows = page.by_row()?;
    let row = rows.iter().nth(1).unwrap();
    assert_eq!((row.get("id"), row.get("name"), row.get("nope")), (Value::Int64(2), Value::Null, Value::Absent));
    assert_eq!(row.values().map(|(name, _)| name).collect::<Vec<_>>(), ["__op", "id", "name"]);
    let error = page.column("nope").unwrap_err();
    assert_eq!(error.to_string(), "table 't' has no column 'nope' (it has __op, id, name)");
    let error = page.column("id")?.map_text(|_, _| ()).unwrap_err();
    assert_eq!(error.to_string(), "column 'id' is int64, and text is needed");
    Ok(page.pass().into())
}

fn everything(page: Page<'_>) -> Result<Output<'_>> {
    let mut out = page.pass();
    let mut twice = ColumnBuilder::new("twice", Kind::Int64);
    for value in page.column("id")?.values() {
        let Value::Int64(id) = value else { return Err("id is an integer".into()) };
        twice.push(Value::Int64(id * 2))?;
    }
    out.set(twice)?;
    out.rename("id", "key")?;
    assert!(out.rename("name", "key").is_err(), "two columns of one name");
    assert!(out.rename("id", "x").is_err(), "it has another name by now");
    out.remove("name")?;
    out.retain(|row| row != 0);
    out.set_table(None, "elsewhere");
    let mut out = Output::from(out);
    out.reject(1, "not today");
    Ok(out)
}

fn page() -> Json {
    json!({ "table": "public.t", "key": ["id"], "columns": [
        { "name": "__op", "kind": "text", "values": ["u", "d", "c"] },
        { "name": "id", "kind": "int64", "values": [1, 2, 3] },
        { "name": "name", "kind": "text", "values": [{ "absent": true }, null, "Ada"] },
    ]})
}

#[test]
fn a_page_is_read_by_row_and_column() {
    assert_eq!(run::<Probe>(&json!("look"), &page()).unwrap(), json!({ "pages": [page()], "rejected": [] }));
}

#[test]
fn an_output_page_is_changed_filtered_and_sent_elsewhere() {
    let out = run::<Probe>(&json!("everything"), &page()).unwrap();
    let want = json!({ "table": "elsewhere", "key": ["key"], "columns": [
        { "name": "__op", "kind": "text", "values": ["c"] },
        { "name": "key", "kind": "int64", "values": [3] },
        { "name": "twice", "kind": "int64", "values": [6] },
    ]});
    assert_eq!(out, json!({ "pages": [want], "rejected": [{ "row": 1, "reason": "not today" }] }));
}

fn repeated(rows: &Json, without: Option<u32>) -> Result<(Json, Json)> {
    let mut page = page();
    page["columns"].as_array_mut().unwrap().remove(0);
    let out = run::<Probe>(&json!({ "repeat": { "rows": rows, "without": without } }), &page)?;
    let columns = &out["pages"][0]["columns"];
    assert_eq!((&columns[0]["name"], &columns[1]["name"]), (&json!("at"), &json!("id")));
    Ok((columns[0]["values"].clone(), columns[1]["values"].clone()))
}

#[test]
fn rows_are_repeated_with_values_of_their_own() {
    assert_eq!(repeated(&json!([0, 0, 2]), None).unwrap(), (json!([0, 1, 2]), json!([1, 1, 3])));
    assert_eq!(repeated(&json!([0, 0, 1, 2, 2]), Some(1)).unwrap(), (json!([0, 1, 3, 4]), json!([1, 1, 3, 3])));
    assert_eq!(repeated(&json!([0, 1, 2]), Some(0)).unwrap(), (json!([1, 2]), json!([2, 3])));
    assert_eq!(repeated(&json!([]), None).unwrap(), (json!([]), json!([])));
    for bad in [json!([1, 0]), json!([3])] {
        assert_eq!(repeated(&bad, None).unwrap_err().to_string(), "rows can be repeated once, in the order they have");
    }
    let error = run::<Probe>(&json!({ "repeat": { "rows": [0, 0], "without": null } }), &page()).unwrap_err();
    assert_eq!(error.to_string(), "a change of table 't' can't be repeated");
}

#[test]
fn a_column_with_too_few_values_is_refused() {
    let error = run::<Probe>(&json!("short"), &page()).unwrap_err();
    assert_eq!(error.to_string(), "new column 'n' has 0 values for 3 rows");
}

#[test]
fn configuration_errors_name_the_place() {
    let error = open::<Probe>(&json!("nothing")).err().unwrap();
    assert_eq!(error.problems().len(), 1);
    assert!(error.to_string().starts_with("unknown variant `nothing`"), "{error}");
    let both = Error::config("a", "is wrong").and_config("b[0]", "too");
    assert_eq!(both.to_string(), "a: is wrong; b[0]: too");
    assert!(config_schema::<Probe>().to_string().contains("look"));
}

#[test]
fn every_kind_survives_json_and_back() {
    let page = json!({ "table": "t", "key": [], "columns": [
        { "name": "a", "kind": "boolean", "values": [true, false, null, { "absent": true }] },
        { "name": "b", "kind": "int64", "values": [i64::MIN, i64::MAX, null, { "absent": true }] },
        { "name": "c", "kind": "uint64", "values": [0, u64::MAX, null, { "absent": true }] },
        { "name": "d", "kind": "float32", "values": [0.5, "-Infinity", null, { "absent": true }] },
        { "name": "e", "kind": "float64", "values": [0.1, "NaN", null, { "absent": true }] },
        { "name": "f", "kind": "decimal", "values": ["0.10", "-1", null, { "absent": true }] },
        { "name": "g", "kind": "text", "values": ["", "é", null, { "absent": true }] },
        { "name": "h", "kind": "bytes", "values": ["", "00ff", null, { "absent": true }] },
        { "name": "i", "kind": "date", "values": [i32::MIN, 0, null, { "absent": true }] },
        { "name": "j", "kind": "time", "values": [0, 86_400_000_000_i64, null, { "absent": true }] },
        { "name": "k", "kind": "timestamp", "values": [-1, i64::MAX, null, { "absent": true }] },
        { "name": "l", "kind": "timestamptz", "values": [-1, i64::MIN, null, { "absent": true }] },
        { "name": "m", "kind": "interval", "values": [[1, -2, 3], [0, 0, i64::MIN], null, { "absent": true }] },
        { "name": "n", "kind": "uuid", "values": ["00112233445566778899aabbccddeeff", "ffffffffffffffffffffffffffffffff", null, { "absent": true }] },
        { "name": "o", "kind": "json", "values": ["{}", "null", null, { "absent": true }] },
        { "name": "p", "kind": "native", "native": "postgres:tsvector", "values": ["'a'", "", null, { "absent": true }] },
    ]});
    assert_eq!(page_to_json(&page_from_json(&page).unwrap()), page);
}

#[test]
fn a_builder_takes_its_own_kind_only() {
    let mut column = ColumnBuilder::new("d", Kind::Date);
    column.push(Value::Date(1)).unwrap();
    column.push(Value::Null).unwrap();
    let error = column.push(Value::Interval(Interval::default())).unwrap_err();
    assert_eq!(error.to_string(), "column 'd' is date: it takes no value of kind interval");
    assert_eq!(column.rows(), 2, "a refused value leaves nothing behind");
}
