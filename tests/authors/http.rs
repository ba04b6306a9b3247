//! HTTP in the languages that share a client: it is put beside the plugin as it is built.

use std::path::Path;

use faucet_tests::Scratch;
use faucet_tests::http::{HttpReply, HttpServer};

use crate::{done, faucet};

const GO: &str = r#"
package main

import (
	"faucet"
	"faucet/transform"
	"time"
)

type config struct {
	URL string `json:"url" doc:"Who is asked."`
}

type asked struct{ config }

func (a *asked) Apply(page *faucet.Page) (*transform.Output, error) {
	column, err := page.Column("it")
	if err != nil {
		return nil, err
	}
	var failed error
	out := transform.Pass(page)
	out.Set(column.MapText(func(to []byte, text string) []byte {
		request := faucet.Request{URL: a.URL}
		if text != "plain" {
			request = faucet.Request{
				Method:  "POST",
				URL:     a.URL + "?say=hello",
				Header:  map[string]string{"Authorization": "Bearer ${secret:token}", "x-kind": "test"},
				Body:    []byte(text),
				Timeout: 20 * time.Second,
			}
		}
		response, err := faucet.Send(request)
		if err == nil {
			err = response.OK()
		}
		if err != nil {
			failed = err
			return to
		}
		to = append(to, response.Header["x-answer"]...)
		to = append(to, ": "...)
		return append(to, response.Body...)
	}))
	return transform.Only(out), failed
}

func init() {
	about := faucet.About{Name: "asked", Version: "0.1.0", Summary: "Asks a server"}
	about.Wants = faucet.Wants{HTTP: []string{"*"}, Secrets: []string{"token"}}
	transform.Register(about, func(c config) (transform.Transform, error) { return &asked{c}, nil })
}

func main() {}
"#;

const JAVASCRIPT: &str = r#"
import { FaucetError, transform, Unavailable } from "faucet-sdk";
import { request } from "faucet-sdk/http";

function ask(url, text) {
  const headers = { Authorization: "Bearer ${secret:token}", "x-kind": "test" };
  const response = text === "plain"
    ? request(url)
    : request(`${url}?say=hello`, { method: "POST", headers, body: text, timeout: 20_000 });
  if (response.status >= 500) throw new Unavailable(`the server answered ${response.status}`);
  if (!response.ok) throw new FaucetError(`the server answered ${response.status}`);
  return `${response.headers["x-answer"]}: ${response.text()}`;
}

export default transform({
  name: "asked", version: "0.1.0", summary: "Asks a server",
  schema: { type: "object", properties: { url: { type: "string" } }, required: ["url"] },
  wants: { http: ["*"], secrets: ["token"] },
  open: ({ url }) => (page) => page.output().set(page.column("it").mapText((text) => ask(url, text))),
});
"#;

const C: &str = r#"
#include "faucet.h"
#include <stdio.h>
#include <string.h>

static bool open(faucet_json *config, void **state) {
    *state = (void *)faucet_json_text(config, "url", NULL);
    faucet_json_require(config, "url");
    return true;
}

static bool ask(const char *url, faucet_text text, faucet_builder *to) {
    const faucet_header headers[] = {{"Authorization", "Bearer ${secret:token}"}, {"x-kind", "test"}};
    faucet_request request = {
        .method = "POST",
        .url = faucet_print("%s?say=hello", url),
        .headers = headers,
        .header_count = 2,
        .body = {(const uint8_t *)text.at, text.size},
        .timeout_ms = 20000,
    };
    if (faucet_text_is(text, "plain")) request = (faucet_request){.url = url};
    const faucet_response *response = faucet_send(&request);
    if (!response || !faucet_is_ok(response)) return false;
    const char *kind = faucet_header_of(response, "x-answer");
    const char *said = faucet_print("%s: %.*s", kind, (int)response->body.size, (const char *)response->body.at);
    faucet_push_text(to, said, strlen(said));
    return true;
}

static bool apply(void *state, const faucet_page *page, faucet_output *output) {
    const faucet_column *it = faucet_column_of(page, "it");
    if (!it) return false;
    faucet_builder *answers = faucet_build_text_like(it);
    for (size_t row = 0; row < page->rows; row++)
        if (!ask(state, faucet_text_at(it, row), answers)) return false;
    faucet_set(faucet_pass(output), answers);
    return true;
}

static const char *const ANY[] = {"*", NULL};
static const char *const TOKEN[] = {"token", NULL};

const faucet_transform faucet_plugin = {
    .about = {.name = "asked", .version = "0.1.0", .summary = "Asks a server",
              .config_schema = "{\"type\": \"object\", \"properties\": {\"url\": {\"type\": \"string\"}}}",
              .wants = {.http = ANY, .secrets = TOKEN}},
    .open = open,
    .apply = apply,
};
"#;

/// What a project with this source does with two rows, and what the server saw.
fn asks(language: &str, file: &str, source: &str) {
    let server = HttpServer::start(|_, request| match request.body.as_slice() {
        b"gone" => HttpReply::status(404),
        b"hang" => HttpReply::hangup(),
        body => HttpReply::text(200, "text/plain", &format!("got {}", String::from_utf8_lossy(body)))
            .header("X-Empty", "")
            .header("X-Answer", "one")
            .header("X-Answer", "two"),
    });
    let scratch = Scratch::new(&format!("http-{language}"));
    let folder = scratch.path();
    done(folder, &["plugin", "new", "asked", "--lang", language]);
    scratch.write(Path::new("asked").join(file).to_str().unwrap(), source);
    let built = done(&folder.join("asked"), &["plugin", "build"]);
    assert!(!built.contains("note:"), "{built}");
    let run = |rows: &str, grants: &str| {
        scratch.write("in.jsonl", rows);
        scratch.write("ask.yaml", configuration(&server, grants));
        let output = faucet(folder, &["run", "ask.yaml"]);
        (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let granted = format!("http: ['127.0.0.1:{}'], secrets: [token]", server.port());

    let (went_well, said) = run("{\"it\": \"caf\u{e9}\"}\n{\"it\": \"\"}\n{\"it\": \"plain\"}\n", &granted);
    assert!(went_well, "{said}");
    let joined = if language == "c" { "one" } else { "one, two" };
    let answer = |of: &str| format!("{{\"it\":\"{joined}: got {of}\"}}\n");
    assert_eq!(scratch.read("out.jsonl"), ["caf\u{e9}", "", ""].map(answer).concat());
    let mut requests = server.requests();
    let plain = requests.pop().unwrap();
    assert_eq!((plain.method.as_str(), plain.path.as_str(), plain.header("x-kind")), ("GET", "/ask", ""));
    assert_eq!(requests.len(), 2);
    for request in requests {
        assert_eq!((request.method.as_str(), request.path.as_str()), ("POST", "/ask?say=hello"));
        assert_eq!((request.header("authorization"), request.header("x-kind")), ("Bearer open sesame", "test"));
    }

    for (rows, grants, code, why) in [
        ("{\"it\": \"gone\"}\n", granted.as_str(), "plugin.failed", "the server answered 404"),
        ("{\"it\": \"hang\"}\n", granted.as_str(), "plugin.unavailable", ""),
        ("{\"it\": \"a\"}\n", "", "plugin.failed", "add it to plugins.asked.grants.http"),
    ] {
        let (went_well, said) = run(rows, grants);
        assert!(!went_well && said.contains(code) && said.contains(why), "{why}: {said}");
        assert!(!said.contains("sesame"), "{said}");
    }
}

fn configuration(server: &HttpServer, grants: &str) -> String {
    format!(
        "name: ask
plugins: {{ asked: {{ path: asked/asked.wasm, secrets: {{ token: open sesame }}, grants: {{ {grants} }} }} }}
pipeline:
  source: {{ type: jsonl, config: {{ path: in.jsonl }} }}
  transforms: [{{ type: asked, config: {{ url: '{}' }} }}]
  sink: {{ type: jsonl, config: {{ path: out.jsonl, write_mode: overwrite }} }}
",
        server.url("/ask")
    )
}

#[test]
fn in_go() {
    asks("go", "main.go", GO);
}

#[test]
fn in_javascript() {
    asks("js", "src/plugin.js", JAVASCRIPT);
}

#[test]
fn in_c() {
    asks("c", "asked.c", C);
}
