//! What a row costs in a transform of each language, next to a JSON record a call in the same run.
//!
//! The transforms are those that `faucet plugin new` makes, built by `faucet plugin build` and measured by
//! `faucet plugin bench`; Rust's are the components that come with faucet. "Passed through" is the same transform with
//! nothing to hide.

use std::path::{Path, PathBuf};
use std::process::Command;

use faucet_guest_build::Workspace;
use serde_json::{Value, json};

use crate::failure::{Failure, Result};
use crate::{process, setup, workspace};

/// Nanoseconds a row that a compiled language may take, passed through and redacted.
const COMPILED: [f64; 2] = [15.0, 60.0];
/// Milliseconds that making an instance may take.
const MAKE_MS: f64 = 1.0;
/// Milliseconds that opening an instance which is made may take, and in Python, whose `open` is most of it.
const OPEN_MS: [f64; 2] = [1.0, 2.0];
/// Milliseconds that loading from the cache may take, and loading Python.
const LOAD_MS: [f64; 2] = [10.0, 20.0];
/// KiB that a further instance of a Rust component may take.
const INSTANCE_KIB: f64 = 1024.0;

/// How often each is measured. What else runs on a machine only ever adds, so the least figure counts.
const RUNS: usize = 3;

/// A transform, how it is told to do nothing and to redact, and how it is measured with JSON records.
struct Subject {
    language: &'static str,
    pass: (PathBuf, Value),
    redact: (PathBuf, Value),
    records: Records,
}

/// What takes JSON records.
enum Records {
    Nothing,
    /// A component of the world of `sdk/json-baseline`: one call a record.
    OneByOne(PathBuf),
    /// A transform that finds them in a column.
    InColumn(PathBuf),
}

/// What was measured of one.
struct Figures {
    language: &'static str,
    pass: f64,
    redact: f64,
    records: Option<f64>,
    load_ms: f64,
    make_ms: f64,
    open_ms: f64,
    instance_kib: f64,
}

/// Runs the bench with this faucet, prints the figures, and returns the goals that were missed, in words.
pub fn measure(faucet: &Path) -> Result<Vec<String>> {
    setup::authors::ensure()?;
    let folder = workspace::scratch("bench/languages")?;
    let mut subjects = vec![rust()?];
    for (language, called) in [("c", "C"), ("go", "Go"), ("python", "Python"), ("js", "JavaScript")] {
        println!("languages: building a transform in {called}");
        subjects.push(project(faucet, &folder, language, called)?);
    }
    let mut figures = Vec::new();
    for subject in &subjects {
        figures.push(figures_of(faucet, &folder, subject)?);
    }
    print(&figures);
    Ok(figures.iter().flat_map(missed).collect())
}

fn rust() -> Result<Subject> {
    let build = |workspace: &str| {
        let workspace = Workspace { folder: workspace::root().join(workspace), target: workspace::target() };
        workspace.build_with(process::guest_compiler()).map_err(|error| Failure::new(error.to_string()))
    };
    let (guests, tests) = (build("guests")?, build("tests/hostile/guests")?);
    Ok(Subject {
        language: "Rust",
        pass: (tests.join("echo.wasm"), json!("pass")),
        redact: (guests.join("mask.wasm"), redact()),
        records: Records::Nothing,
    })
}

fn project(faucet: &Path, folder: &Path, language: &str, called: &'static str) -> Result<Subject> {
    let project = folder.join(language);
    if project.exists() {
        std::fs::remove_dir_all(&project)?;
    }
    let run = |arguments: &[&str], at: &Path| {
        process::output(process::with_tools(Command::new(faucet)).args(arguments).current_dir(at))
    };
    let name = format!("measured_{language}");
    run(&["plugin", "new", &name, "--lang", language, "--folder", language], folder)?;
    run(&["plugin", "build"], &project)?;
    let component = project.join(format!("{name}.wasm"));
    Ok(Subject {
        language: called,
        pass: (component.clone(), json!({ "columns": ["gone"], "on_missing": "ignore" })),
        redact: (component, redact()),
        records: records(faucet, &project, language)?,
    })
}

/// Builds the component that takes JSON records, with the tool that the project brought.
fn records(faucet: &Path, project: &Path, language: &str) -> Result<Records> {
    let source = workspace::root().join("sdk/json-baseline");
    if language == "go" {
        let (component, columns) = (project.join("measured_go.wasm"), project.join("columns.wasm"));
        std::fs::rename(&component, &columns)?;
        std::fs::copy(source.join("mask.go"), project.join("main.go"))?;
        process::output(process::with_tools(Command::new(faucet)).args(["plugin", "build"]).current_dir(project))?;
        let records = project.join("records.wasm");
        std::fs::rename(&component, &records)?;
        std::fs::rename(&columns, &component)?;
        return Ok(Records::InColumn(records));
    }
    let out = project.join("records.wasm");
    let mut command = match language {
        "python" => {
            let mut command = Command::new(project.join(".venv/bin/componentize-py"));
            command.args(["-d", "records.wit", "-w", "records", "componentize", "mask", "-p", ".", "-o"]).arg(&out);
            command
        }
        "js" => {
            let mut command = Command::new(project.join("vendor/faucet/node_modules/.bin/componentize-qjs"));
            command.args(["--wit", "records.wit", "--js", "mask.js", "-n", "records", "--sync", "-o"]).arg(&out);
            command
        }
        _ => return Ok(Records::Nothing),
    };
    process::output(command.current_dir(source))?;
    Ok(Records::OneByOne(out))
}

fn figures_of(faucet: &Path, folder: &Path, subject: &Subject) -> Result<Figures> {
    let pass = bench(faucet, folder, &subject.pass)?;
    let redact = bench(faucet, folder, &subject.redact)?;
    let records = match &subject.records {
        Records::OneByOne(component) => Some(bench_records(folder, component)?),
        Records::InColumn(component) => Some(bench_column(faucet, folder, component)?),
        Records::Nothing => None,
    };
    Ok(Figures {
        language: subject.language,
        pass: number(&pass, "ns_per_row")?,
        redact: number(&redact, "ns_per_row")?,
        records,
        load_ms: number(&redact, "load_ms")?,
        make_ms: number(&redact, "make_ms")?,
        open_ms: number(&redact, "open_ms")?,
        instance_kib: number(&redact, "instance_kib")?,
    })
}

fn bench(faucet: &Path, folder: &Path, (component, config): &(PathBuf, Value)) -> Result<Vec<Value>> {
    bench_cases(faucet, component, &cases(folder, config, &orders())?)
}

fn bench_cases(faucet: &Path, component: &Path, cases: &Path) -> Result<Vec<Value>> {
    let mut command = Command::new(faucet);
    command.args(["plugin", "bench", "--output", "json"]).arg(component).arg("--cases").arg(cases);
    measured(&mut command)
}

/// The figures of each run of a command.
fn measured(command: &mut Command) -> Result<Vec<Value>> {
    (0..RUNS).map(|_| parsed(&process::output(command)?)).collect()
}

/// What every one redacts.
fn redact() -> Value {
    json!({ "columns": ["email"] })
}

/// JSON records in a column of their own.
fn bench_column(faucet: &Path, folder: &Path, component: &Path) -> Result<f64> {
    let orders = orders();
    let cell = |column: &Value, row: usize| {
        (column["name"].as_str().unwrap_or_default().to_owned(), column["values"][row].clone())
    };
    let row = |row| Value::Object(orders.iter().map(|column| cell(column, row)).collect()).to_string();
    let records = json!({ "name": "record", "kind": "text", "values": (0..ORDERS).map(row).collect::<Vec<_>>() });
    number(&bench_cases(faucet, component, &cases(folder, &redact(), &[records])?)?, "ns_per_row")
}

fn bench_records(folder: &Path, component: &Path) -> Result<f64> {
    let cases = cases(folder, &redact(), &orders())?;
    let mut command = process::cargo(&["bench", "--quiet", "--workspace", "--bench", "records", "--"]);
    number(&measured(command.arg(component).arg(cases))?, "ns_per_row")
}

fn parsed(text: &str) -> Result<Value> {
    serde_json::from_str(text.trim()).map_err(|error| Failure::new(format!("no figures: {error}: {text}")))
}

/// The least of a figure.
fn number(runs: &[Value], name: &str) -> Result<f64> {
    let least = runs.iter().filter_map(|figures| figures[name].as_f64()).reduce(f64::min);
    least.ok_or_else(|| Failure::new(format!("no figure `{name}` in {runs:?}")))
}

/// Rows of a case; the bench repeats them.
const ORDERS: usize = 100;

/// The columns of orders, as a shop has them.
fn orders() -> [Value; 10] {
    let column = |name: &str, kind: &str, value: &dyn Fn(usize) -> Value| {
        let values: Vec<Value> = (0..ORDERS).map(value).collect();
        json!({ "name": name, "kind": kind, "values": values })
    };
    let note =
        |row| if row % 4 == 0 { Value::Null } else { json!(format!("please leave parcel {row} with the neighbours")) };
    [
        column("id", "int64", &|row| json!(row)),
        column("customer", "int64", &|row| json!(row * 37 % 5000)),
        column("email", "text", &|row| json!(format!("customer{}@example.com", row * 37 % 5000))),
        column("status", "text", &|row| json!(["new", "paid", "shipped"][row % 3])),
        column("total", "decimal", &|row| json!(format!("{}.{row:02}", row * 7))),
        column("weight", "float64", &|row| json!(row as f64 / 3.0)),
        column("paid", "boolean", &|row| json!(row % 2 == 0)),
        column("created", "timestamptz", &|row| json!(1_700_000_000_000_000_u64 + row as u64)),
        column("day", "date", &|row| json!(19_000 + row)),
        column("note", "text", &note),
    ]
}

/// Writes a case with a page of these columns.
fn cases(folder: &Path, config: &Value, columns: &[Value]) -> Result<PathBuf> {
    let key = columns.first().map(|column| column["name"].clone());
    let page = json!({ "table": "shop.orders", "key": [key], "columns": columns });
    let file = folder.join("cases.json");
    std::fs::write(&file, json!([{ "case": "orders", "config": config, "page": page, "pages": [] }]).to_string())?;
    Ok(file)
}

fn print(figures: &[Figures]) {
    println!(
        "\n{:<12} {:>10} {:>10} {:>12} {:>8} {:>9} {:>9} {:>9} {:>10}",
        "", "pass ns", "redact ns", "JSON ns", "x JSON", "load ms", "make ms", "open ms", "KiB each"
    );
    for f in figures {
        let records = f.records.map_or_else(|| "-".to_owned(), |ns| format!("{ns:.0}"));
        let times = f.records.map_or_else(|| "-".to_owned(), |ns| format!("{:.1}", ns / f.redact));
        println!(
            "{:<12} {:>10.1} {:>10.1} {records:>12} {times:>8} {:>9.1} {:>9.2} {:>9.2} {:>10.0}",
            f.language, f.pass, f.redact, f.load_ms, f.make_ms, f.open_ms, f.instance_kib
        );
    }
}

fn missed(figures: &Figures) -> Vec<String> {
    let compiled = matches!(figures.language, "Rust" | "C");
    let slow = usize::from(figures.language == "Python");
    let (load, open) = (LOAD_MS[slow], OPEN_MS[slow]);
    let checks = [
        (compiled, figures.pass, COMPILED[0], "ns a row passed through"),
        (compiled, figures.redact, COMPILED[1], "ns a row with a column redacted"),
        (true, figures.load_ms, load, "ms to load from the cache"),
        (true, figures.make_ms, MAKE_MS, "ms to make an instance"),
        (true, figures.open_ms, open, "ms to open an instance that is made"),
        (figures.language == "Rust", figures.instance_kib, INSTANCE_KIB, "KiB of a further instance"),
    ];
    let missed = checks.iter().filter(|(counts, is, most, _)| *counts && is > most);
    missed
        .map(|(_, is, most, what)| format!("{}: {is:.1} {what}, and at most {most} is the goal", figures.language))
        .collect()
}
