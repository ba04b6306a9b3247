//! What a mirror copies, follows and writes stays one thing, or the mirror says so.

mod bookmarks;
mod columns;
mod coverage;
mod existing;
mod partitions;
mod query;
mod tables;

use faucet_tests::{Finished, Shape, TableMirror, fresh_database};

const T: &str = "CREATE TABLE t (id int PRIMARY KEY, v text); INSERT INTO t VALUES (1, 'a'), (2, 'b');
                 CREATE TABLE copy (id int PRIMARY KEY, v text)";

/// A mirror of `t` that has begun.
fn mirrored(publish: &str) -> TableMirror {
    mirrored_as(Shape { ddl: T, publish, ..Shape::default() })
}

fn mirrored_as(shape: Shape<'_>) -> TableMirror {
    let m = TableMirror::new(fresh_database(), shape);
    m.run();
    m.settles();
    m
}

/// Runs the mirror, which is refused with `code` and says `part`.
#[track_caller]
fn refused(m: &TableMirror, code: &str, part: &str) -> Finished {
    let finished = m.faucet.run("mirror");
    assert!(matches!(finished.code(), Some(1..)), "it was not refused:\n{}", finished.stderr);
    for wanted in [code, part] {
        assert!(finished.stderr.contains(wanted), "no {wanted}:\n{}", finished.stderr);
    }
    finished
}

/// It is refused at every start, and doing what the hint says makes the copy equal.
#[track_caller]
fn refused_until_made_anew(m: &TableMirror, part: &str) {
    for _ in 0..2 {
        let told = refused(m, "mirror.source_changed", part);
        assert!(told.stderr.contains("faucet mirror drop") && told.stderr.contains("faucet mirror --replace"));
    }
    made_anew(m);
}

#[track_caller]
fn made_anew(m: &TableMirror) {
    m.faucet.run_with(&["mirror", "drop", "--yes", "config.yaml"]).expect_code(0);
    m.faucet.run_with(&["mirror", "--replace", "config.yaml"]).expect_code(0);
    m.settles();
}

/// A mirror of the rows that a filter lets pass.
fn mirrored_as_filtered(ddl: &str, publish: &str) -> TableMirror {
    mirrored_as_filtered_by(Shape { ddl, publish, ..Shape::default() })
}

fn mirrored_as_filtered_by(shape: Shape<'_>) -> TableMirror {
    let m = TableMirror::new(fresh_database(), shape);
    m.run();
    m
}

/// Made anew over a destination that was altered first.
#[track_caller]
fn made_anew_with(m: &TableMirror, sql: &str) {
    m.faucet.run_with(&["mirror", "drop", "--yes", "config.yaml"]).expect_code(0);
    m.sql(sql);
    m.run();
    m.settles();
}
