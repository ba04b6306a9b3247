//! Ceilings on instruction counts: what decoding, encoding, folding and crossing into a component cost per row, counted
//! by callgrind, so that a change that makes one of them slower fails on any machine and however busy it is.
//!
//! Each subject is a test by itself. The test of its ceiling runs this binary again under valgrind, for that subject
//! alone, and counts only inside the function `measured_SUBJECT`. Counts are those of the test profile: what they are is
//! less telling than that they change. A ceiling has some 15 % of room; lower it when a count falls for good.
#![allow(missing_docs, clippy::unwrap_used, clippy::print_stdout)]

mod crossing;
mod rows;
mod values;

use std::process::Command;

/// Instructions per row of `subject`, which handles `rows` rows.
#[track_caller]
fn assert_at_most(ceiling: f64, subject: &str, rows: usize) {
    let this = std::env::current_exe().unwrap();
    let counted = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(format!("--toggle-collect=*measured_{subject}*"))
        .arg(this)
        .args(["--exact", &format!("subjects::{subject}"), "--test-threads=1"])
        .output()
        .unwrap_or_else(|e| panic!("valgrind is needed to count instructions (`apt-get install valgrind`): {e}"));
    let said = String::from_utf8_lossy(&counted.stderr).into_owned();
    assert!(counted.status.success(), "{said}{}", String::from_utf8_lossy(&counted.stdout));
    let count = said.lines().find_map(|line| line.split_once("Collected :")?.1.trim().parse::<f64>().ok());
    let count = count.unwrap_or_else(|| panic!("callgrind counted nothing:\n{said}"));
    assert!(count > 0.0, "nothing was counted inside measured_{subject}:\n{said}");
    #[allow(clippy::cast_precision_loss, reason = "thousands of rows fit a double")]
    let each = count / rows as f64;
    println!("{subject}: {each:.0} instructions a row");
    assert!(each <= ceiling, "{subject} takes {each:.0} instructions a row, and {ceiling} are the most");
    assert!(each > ceiling * 0.6, "{subject} takes {each:.0} instructions a row now: lower its ceiling of {ceiling}");
}

/// What is counted.
mod subjects {
    use crate::{crossing, rows, values};

    #[test]
    fn decode_stream() {
        let messages = rows::stream_messages();
        assert_eq!(rows::measured_decode_stream(&messages).rows(), rows::ROWS);
    }

    #[test]
    fn decode_copy() {
        let fields = values::copy_fields();
        assert_eq!(values::measured_decode_copy(&fields).rows(), rows::ROWS);
    }

    #[test]
    fn encode_copy() {
        let page = rows::page();
        let mut out = Vec::with_capacity(1 << 20);
        values::measured_encode_copy(&page, &mut out);
        assert!(out.len() > rows::ROWS * 60);
    }

    #[test]
    fn fold() {
        let page = rows::page_of_changes_to_few_keys();
        assert_eq!(rows::measured_fold(&page), rows::ROWS / 2);
    }

    #[test]
    fn crossing() {
        let (runtime, mut component, page) = crossing::echo("pass");
        assert_eq!(crossing::measured_crossing(&runtime, component.as_mut(), page), rows::ROWS);
    }

    #[test]
    fn anew() {
        let (runtime, mut component, page) = crossing::echo("buffers");
        assert_eq!(crossing::measured_anew(&runtime, component.as_mut(), page), rows::ROWS);
    }
}

#[test]
fn a_change_is_decoded_at_the_usual_cost() {
    assert_at_most(6400.0, "decode_stream", rows::ROWS);
}

#[test]
fn a_copied_row_is_decoded_at_the_usual_cost() {
    assert_at_most(3200.0, "decode_copy", rows::ROWS);
}

#[test]
fn a_row_is_encoded_at_the_usual_cost() {
    assert_at_most(3600.0, "encode_copy", rows::ROWS);
}

#[test]
fn a_row_is_folded_at_the_usual_cost() {
    assert_at_most(830.0, "fold", rows::ROWS);
}

#[test]
fn a_row_crosses_into_a_component_at_the_usual_cost() {
    assert_at_most(50.0, "crossing", rows::ROWS);
}

#[test]
fn a_row_that_comes_back_in_new_buffers_is_checked_at_the_usual_cost() {
    assert_at_most(2000.0, "anew", rows::ROWS);
}
