//! The page on known failures names tests that exist, and has one, or a reason, for each.

use faucet_tests::faucet::workspace;

fn page() -> String {
    std::fs::read_to_string(workspace().join("docs/src/known-failures.md")).expect("the page is there")
}

/// What stands in backquotes and looks like `path.rs::name`.
fn named(text: &str) -> Vec<(&str, &str)> {
    text.split('`').skip(1).step_by(2).filter_map(|quoted| quoted.split_once(".rs::")).collect()
}

/// Whether the file at `path.rs` has a test function of that name.
fn is_test(path: &str, name: &str) -> bool {
    let text = std::fs::read_to_string(workspace().join(path).with_extension("rs")).unwrap_or_default();
    let Some((before, _)) = text.split_once(&format!("fn {name}(")) else { return false };
    // Its attributes stand right above it.
    before.rsplit("\n\n").next().is_some_and(|above| above.contains("test]") || above.contains("tokio::test"))
}

#[test]
fn every_named_test_exists() {
    let page = page();
    let tests = named(&page);
    assert!(tests.len() > 60, "only {} tests are named", tests.len());
    let missing: Vec<_> = tests.into_iter().filter(|(path, name)| !is_test(path, name)).collect();
    assert!(missing.is_empty(), "no such tests: {missing:#?}");
}

#[test]
fn every_report_has_a_test() {
    let page = page();
    let rows = page.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| Report "));
    for row in rows {
        let cells: Vec<_> = row.trim_matches('|').split(" | ").map(str::trim).collect();
        assert_eq!(cells.len(), 4, "{row}");
        assert!(cells[3].contains("the three tests") || !named(cells[3]).is_empty(), "no test: {row}");
    }
}
