//! Pages of changes: sound ones, and ones with one lie in what they say about the changes.

use crate::pages::{numbers, page, plain, texts};
use faucet_sdk::bindings::faucet::connector::types::Column;
use faucet_sdk::bindings::source::exports::faucet::connector::sources::{Before, Change, SourcePage};

const ROWS: u32 = 3;

/// Three changes, which go on where those of the last call ended, and one lie.
pub fn tell(mode: &str, call: u32) -> SourcePage {
    let mut change = honest(call);
    let before = || Before { present: vec![0b111], columns: columns() };
    match mode {
        "change-good" | "change-unclaimed" => {}
        "change-ends" => change.before = Some(Before { present: vec![0b010], ..before() }),
        "change-positions-back" => change = honest(9 - call),
        "change-ops-short" => change.ops.truncate(2),
        "change-op-unknown" => change.ops[1] = b'x',
        "change-positions-fall" => change.positions.reverse(),
        "change-positions-short" => change.positions.truncate(16),
        "change-positions-cut" => change.positions.truncate(23),
        "change-positions-width" => change.position_width = 0,
        "change-positions-wide" => change.position_width = u32::MAX,
        "change-times-cut" => change.committed_at.truncate(23),
        "change-times-short" => change.committed_at.truncate(16),
        "change-before-short" => change.before = Some(Before { present: Vec::new(), ..before() }),
        "change-before-kinds" => {
            change.before = Some(Before { columns: columns().into_iter().rev().collect(), ..before() });
        }
        "change-before-few" => change.before = Some(Before { columns: vec![numbers("id", ROWS)], ..before() }),
        "change-before-rows" => {
            change.before = Some(Before { columns: vec![numbers("id", 2), texts("note", 2)], ..before() });
        }
        "change-delete-unknown" => (change.ops[1], change.before) = (b'd', None),
        "change-delete-hollow" => {
            change.ops[1] = b'd';
            change.before = Some(Before { present: vec![0], ..before() });
        }
        "change-truncate-full" => change.ops[1] = b't',
        "change-op-column" => return SourcePage { change: Some(change), ..with_op_column() },
        _ => panic!("there is no mode {mode}"),
    }
    SourcePage { change: Some(change), ..plain(page()) }
}

fn honest(call: u32) -> Change {
    let first = u64::from(call * ROWS) + 1;
    Change {
        ops: b"cuc".to_vec(),
        position_width: 8,
        positions: (first..first + u64::from(ROWS)).flat_map(u64::to_be_bytes).collect(),
        committed_at: vec![0; ROWS as usize * 8],
        before: None,
    }
}

fn columns() -> Vec<Column> {
    vec![numbers("id", ROWS), texts("note", ROWS)]
}

/// The table has a column of the name that marks what a row does.
fn with_op_column() -> SourcePage {
    let mut page = page();
    page.columns[1].name = "__op".into();
    plain(page)
}
