//! Random numbers in languages that are packed with their state: they are the host's, and none that were drawn as the
//! component was built.

use std::path::Path;

use faucet_tests::Scratch;

use crate::done;

const PYTHON: &str = r#"
import random
import uuid

from faucet_sdk import Page, PageOut, Transform, Wants, export


@export
class Drawn(Transform):
    """Puts random numbers into a column"""

    name, version = "drawn", "0.1.0"
    wants = Wants(random=True)

    def apply(self, page: Page) -> PageOut:
        return page.output().set(page.column("it").map_text(lambda _: f"{random.random()} {uuid.uuid4()}"))
"#;

const JAVASCRIPT: &str = r#"
import { randomUUID, transform } from "faucet-sdk";

export default transform({
  name: "drawn", version: "0.1.0", summary: "Puts random numbers into a column", schema: { type: "object" },
  wants: { random: true },
  open: () => (page) => page.output().set(page.column("it").mapText(() => `${Math.random()} ${randomUUID()} ${crypto.randomUUID()} ${crypto.getRandomValues(new Uint8Array(8))}`)),
});
"#;

const GO: &str = r#"
package main

import (
	"crypto/rand"
	"faucet"
	"faucet/transform"
	"fmt"
	mathrand "math/rand/v2"
)

type config struct{}

type drawn struct{}

func (drawn) Apply(page *faucet.Page) (*transform.Output, error) {
	column, err := page.Column("it")
	if err != nil {
		return nil, err
	}
	out := transform.Pass(page)
	out.Set(column.MapText(func(to []byte, _ string) []byte {
		return fmt.Appendf(to, "%v %s", mathrand.Float64(), rand.Text())
	}))
	return transform.Only(out), nil
}

func init() {
	about := faucet.About{Name: "drawn", Version: "0.1.0", Summary: "Puts random numbers into a column"}
	about.Wants.Random = true
	transform.Register(about, func(config) (transform.Transform, error) { return drawn{}, nil })
}

func main() {}
"#;

/// What two runs draw, with and without the grant.
fn draws(language: &str, file: &str, source: &str) {
    let scratch = Scratch::new(&format!("random-{language}"));
    let folder = scratch.path();
    done(folder, &["plugin", "new", "drawn", "--lang", language]);
    scratch.write(Path::new("drawn").join(file).to_str().unwrap(), source);
    done(&folder.join("drawn"), &["plugin", "build"]);
    scratch.write("in.jsonl", "{\"it\": \"a\"}\n{\"it\": \"b\"}\n");
    let run = |grants: &str| {
        scratch.write(
            "draw.yaml",
            format!(
                "name: draw
plugins: {{ drawn: {{ path: drawn/drawn.wasm{grants} }} }}
pipeline:
  source: {{ type: jsonl, config: {{ path: in.jsonl }} }}
  transforms: [{{ type: drawn }}]
  sink: {{ type: jsonl, config: {{ path: out.jsonl, write_mode: overwrite }} }}
"
            ),
        );
        done(folder, &["run", "draw.yaml"]);
        scratch.read("out.jsonl")
    };
    let real = ", grants: { random: true }";
    let (one, another) = (run(real), run(real));
    for (a, b) in one.split_whitespace().zip(another.split_whitespace()) {
        assert_ne!(a, b, "{language} draws the same in each instance");
    }
    assert_eq!(run(""), run(""), "without the grant {language} draws the same in each instance");
}

#[test]
fn in_python() {
    draws("python", "src/plugin.py", PYTHON);
}

#[test]
fn in_javascript() {
    draws("js", "src/plugin.js", JAVASCRIPT);
}

#[test]
fn in_go() {
    draws("go", "main.go", GO);
}
