//! Go that is started when a plugin is built: nothing that a start could have seen of a run is that of the build, and
//! nothing that an instance gets later is lost.

use faucet_tests::Scratch;

use crate::done;

/// A transform that puts `value`, found once a page, into the column `it`. `package` is what its package has beside that.
fn transform(wants: &str, package: &str, value: &str) -> String {
    format!(
        r#"
package main

import (
	"faucet"
	"faucet/transform"
	"fmt"
	"os"
	"runtime"
	"time"
)

var _, _, _, _ = fmt.Sprint, os.Getenv, runtime.GC, time.Now

{package}

type config struct{{}}

type seen struct{{}}

func (seen) Apply(page *faucet.Page) (*transform.Output, error) {{
	column, err := page.Column("it")
	if err != nil {{
		return nil, err
	}}
	value := {value}
	out := transform.Pass(page)
	out.Set(column.MapText(func(to []byte, _ string) []byte {{ return fmt.Append(to, value) }}))
	return transform.Only(out), nil
}}

func init() {{
	about := faucet.About{{Name: "seen", Version: "0.1.0", Summary: "Says what it sees"}}
	about.Wants = faucet.Wants{{ {wants} }}
	transform.Register(about, func(config) (transform.Transform, error) {{ return seen{{}}, nil }})
}}

func main() {{}}
"#
    )
}

/// What `faucet plugin build` says about the transform, and what it does with `rows` rows.
fn built_and_run(name: &str, source: &str, grants: &str, rows: usize) -> (String, Vec<String>) {
    let scratch = Scratch::new(&format!("started-{name}"));
    let folder = scratch.path();
    done(folder, &["plugin", "new", "seen", "--lang", "go"]);
    scratch.write("seen/main.go", source);
    let said = done(&folder.join("seen"), &["plugin", "build"]);
    scratch.write("in.jsonl", "{\"it\": \"?\"}\n".repeat(rows));
    scratch.write(
        "see.yaml",
        format!(
            "name: see
plugins: {{ seen: {{ path: seen/seen.wasm, grants: {{ {grants} }} }} }}
pipeline:
  source: {{ type: jsonl, config: {{ path: in.jsonl }} }}
  transforms: [{{ type: seen }}]
  sink: {{ type: jsonl, config: {{ path: out.jsonl }} }}
"
        ),
    );
    let ran = done(folder, &["run", "see.yaml"]);
    assert!(!ran.contains("crashed"), "{ran}");
    let value = |line: &str| line.trim_start_matches("{\"it\":\"").trim_end_matches("\"}").to_owned();
    (said, scratch.read("out.jsonl").lines().map(value).collect())
}

const NOTE: &str = "note: each instance of seen starts Go, which takes a millisecond: ";

#[test]
fn the_time_that_a_package_begins_with_is_that_of_the_run() {
    let source = transform("Clock: true", "var began = time.Now()", "began.Year() > 2000");
    let (said, values) = built_and_run("time", &source, "clock: true", 1);
    assert!(said.contains(&format!("{NOTE}it asks for the time when it is started")), "{said}");
    assert_eq!(values, ["true"]);
}

#[test]
fn the_environment_that_a_package_begins_with_is_that_of_the_run() {
    let source = transform("Env: []string{\"HOME\"}", "var home = os.Getenv(\"HOME\")", "home != \"\"");
    let (said, values) = built_and_run("env", &source, "env: [HOME]", 1);
    assert!(said.contains(&format!("{NOTE}it asks for the environment variable HOME")), "{said}");
    assert_eq!(values, ["true"]);
}

#[test]
fn what_a_package_tells_as_it_begins_is_told_by_each_instance() {
    let source = transform("", "func init() { faucet.Log(faucet.LevelInfo, \"here\") }", "1");
    let (said, values) = built_and_run("log", &source, "", 1);
    assert!(said.contains(&format!("{NOTE}it does not start when it is alone: ")), "{said}");
    assert_eq!(values, ["1"]);
}

/// The first look at the world comes when the runtime has long been started: what WASI's adapter keeps from then on must
/// not be the collector's.
#[test]
fn what_looks_at_the_world_after_it_is_started_goes_on_doing_so() {
    let package = "
var born = map[string]int{\"a\": 1}

func look() string {
	garbage := make([][]byte, 0)
	for i := range 64 {
		garbage = append(garbage, make([]byte, 4096+i))
		for at := range garbage[i] {
			garbage[i][at] = 0xff
		}
	}
	runtime.GC()
	fmt.Println(len(garbage))
	return fmt.Sprint(time.Now().Year() > 2000, len(born))
}";
    let (said, values) = built_and_run("world", &transform("Clock: true", package, "look()"), "clock: true", 20_000);
    assert!(!said.contains("note:"), "{said}");
    assert_eq!(values, vec!["true 1"; 20_000]);
}
