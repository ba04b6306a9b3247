//! Help, lists and explanations as printed.

use faucet_tests::Faucet;

fn printed(arguments: &[&str]) -> String {
    let finished = Faucet::new("").run_with(arguments).expect_code(0);
    assert_eq!(finished.stderr, "", "help goes to standard output");
    finished.stdout
}

#[test]
fn help_of_every_command() {
    insta::assert_snapshot!("help", printed(&["--help"]));
    for command in
        ["run", "mirror", "trace", "record", "replay", "validate", "schema", "list", "explain", "init", "completions"]
    {
        insta::assert_snapshot!(format!("help_{command}"), printed(&[command, "--help"]));
    }
    insta::assert_snapshot!("help_plugin", printed(&["plugin", "--help"]));
    for command in ["new", "build", "test", "dev", "verify", "bench", "inspect", "push", "pull"] {
        insta::assert_snapshot!(format!("help_plugin_{command}"), printed(&["plugin", command, "--help"]));
    }
}

#[test]
fn the_list_of_everything() {
    insta::assert_snapshot!("list", printed(&["list"]));
    insta::assert_snapshot!("list_postgres_cdc", printed(&["list", "postgres-cdc"]));
}

#[test]
fn an_explanation() {
    insta::assert_snapshot!("explain", printed(&["explain", "mirror.second_table"]));
}

#[test]
fn a_configuration_to_start_from() {
    insta::assert_snapshot!("init", printed(&["init"]));
}

#[test]
fn completions_name_every_command() {
    for shell in ["bash", "zsh", "fish"] {
        let script = printed(&["completions", shell]);
        assert!(["mirror", "validate", "explain"].iter().all(|c| script.contains(c)), "{shell}");
    }
}

#[test]
fn the_version() {
    assert_eq!(printed(&["--version"]), format!("faucet {}\n", env!("CARGO_PKG_VERSION")));
}
