//! Every configuration a reader can copy is accepted by `faucet validate`: the files in `examples/`, and each fenced
//! `yaml` block of a Markdown file that is a whole configuration (it has a pipeline with a source and a sink).

use std::collections::BTreeSet;
use std::path::Path;

use faucet_tests::{Faucet, Finished};

use crate::{files, shown};

/// A fenced block and the line it starts on.
struct Block {
    line: usize,
    text: String,
}

/// Fenced blocks marked `yaml` that are whole configurations.
fn configurations(markdown: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<(Block, bool)> = None;
    for (number, line) in markdown.lines().enumerate() {
        match (line.trim_start().strip_prefix("```"), &mut open) {
            (Some(info), None) => {
                let yaml = info.split([',', ' ']).next() == Some("yaml");
                open = Some((Block { line: number + 2, text: String::new() }, yaml));
            }
            (Some(_), Some(_)) => blocks.extend(open.take().filter(|(_, yaml)| *yaml).map(|(block, _)| block)),
            (None, Some((block, _))) => {
                block.text.push_str(line);
                block.text.push('\n');
            }
            (None, None) => {}
        }
    }
    blocks.retain(|b| ["pipeline:", "  source:", "  sink:"].iter().all(|key| has_line(&b.text, key)));
    blocks
}

fn has_line(text: &str, start: &str) -> bool {
    text.lines().any(|line| line.starts_with(start))
}

/// Names in `${env:NAME}`, with or without a default.
fn variables(config: &str) -> BTreeSet<String> {
    let after = config.split("${env:").skip(1);
    after.filter_map(|rest| rest.split([':', '}']).next()).map(str::to_owned).collect()
}

/// Validates `config` as if it lay in `folder`, every environment variable it names being set.
fn validate(config: &str, folder: Option<&Path>) -> Finished {
    let mut faucet = Faucet::new(config);
    for name in variables(config) {
        let value = if name.contains("URL") { "postgres://reader:secret@127.0.0.1:5432/shop" } else { "value" };
        faucet.set_env(&name, value);
    }
    match folder {
        None => faucet.run("validate"),
        Some(folder) => {
            let file = folder.display().to_string();
            faucet.run_with(&["validate", &file])
        }
    }
}

fn check(name: &str, finished: &Finished, refused: &mut Vec<String>) {
    if finished.code() != Some(0) {
        refused.push(format!("{name}:\n{}{}", finished.stdout, finished.stderr));
    }
}

#[test]
fn example_configurations_are_valid() {
    let examples: Vec<_> = files("yaml").into_iter().filter(|p| shown(p).starts_with("examples/")).collect();
    let mut refused = Vec::new();
    for path in &examples {
        let text = std::fs::read_to_string(path).expect("an example is readable");
        check(&shown(path), &validate(&text, Some(path)), &mut refused);
    }
    assert!(refused.is_empty(), "refused:\n{}", refused.join("\n"));
}

#[test]
fn documented_configurations_are_valid() {
    let mut refused = Vec::new();
    for page in files("md") {
        let text = std::fs::read_to_string(&page).expect("a page is readable");
        for block in configurations(&text) {
            check(&format!("{}:{}", shown(&page), block.line), &validate(&block.text, None), &mut refused);
        }
    }
    assert!(refused.is_empty(), "refused:\n{}", refused.join("\n"));
}

/// Without this, a `validate` that accepts everything would make the tests above worthless.
#[test]
fn a_wrong_key_in_a_configuration_is_refused() {
    let config = "version: 1\nname: wrong\npipeline:\n  source: { type: csv, config: { pathh: in.csv } }\n  \
                  sink: { type: jsonl, config: { path: out.jsonl } }\n";
    let finished = validate(config, None).expect_code(2);
    assert!(finished.stderr.contains("pathh") || finished.stdout.contains("pathh"), "{}", finished.stderr);
}

#[test]
fn blocks_are_found_by_language_and_content() {
    let text =
        "```yaml\npipeline:\n  source: ${env:A_URL}\n  sink: {}\n```\n```yaml\nstate: {}\n```\n```sh\npipeline:\n```\n";
    let found = configurations(text);
    assert_eq!(found.iter().map(|b| b.line).collect::<Vec<_>>(), [2]);
    assert_eq!(variables("${env:A_URL} ${env:B:-x} $${file:c}"), ["A_URL", "B"].map(str::to_owned).into());
}
