//! Partitioned tables are one table, whichever way they are published.

use super::{Fixture, changes};

/// The second partition has its columns in another order.
const DDL: &str = "CREATE TABLE p (id int, at int, note text, PRIMARY KEY (id, at)) PARTITION BY RANGE (at);
    CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (10);
    CREATE TABLE p2 (note text, at int NOT NULL, id int NOT NULL, PRIMARY KEY (id, at));
    ALTER TABLE p ATTACH PARTITION p2 FOR VALUES FROM (10) TO (20)";

fn both_ways(check: impl Fn(Fixture)) {
    check(Fixture::publishing(DDL, "FOR TABLE p"));
    check(Fixture::publishing(DDL, "FOR TABLE p WITH (publish_via_partition_root = true)"));
}

#[test]
fn rows_of_all_partitions_come_in_one_page_of_the_partitioned_table() {
    both_ways(|fixture| {
        fixture.capture();
        fixture.sql("INSERT INTO p VALUES (1, 5, 'a'), (2, 15, 'b'), (3, 6, 'c')");
        let batches = fixture.open().drain();
        assert_eq!(changes(&batches[0]), ["c p id=1 at=5 note=a", "c p id=2 at=15 note=b", "c p id=3 at=6 note=c"]);
        assert_eq!(batches[0].pages.len(), 1);
        assert_eq!(batches[0].pages[0].schema().key, [0, 1]);
    });
}

#[test]
fn a_row_that_moves_between_partitions_keeps_its_order() {
    both_ways(|fixture| {
        fixture.sql("INSERT INTO p VALUES (1, 5, 'a')");
        fixture.capture();
        fixture.sql("UPDATE p SET at = 15 WHERE id = 1");
        fixture.sql("UPDATE p SET at = 6 WHERE id = 1");
        let moves = ["d p < id=1 at=5", "c p id=1 at=15 note=a", "d p < id=1 at=15", "c p id=1 at=6 note=a"];
        assert_eq!(fixture.open().changes(), moves);
    });
}

#[test]
fn a_partition_made_midway_belongs_to_the_table_too() {
    both_ways(|fixture| {
        fixture.capture();
        fixture.sql("INSERT INTO p VALUES (1, 5, 'a')");
        fixture.sql("CREATE TABLE p3 PARTITION OF p FOR VALUES FROM (20) TO (30)");
        fixture.sql("INSERT INTO p VALUES (2, 25, 'b')");
        assert_eq!(fixture.open().changes(), ["c p id=1 at=5 note=a", "c p id=2 at=25 note=b"]);
    });
}

#[test]
fn emptying_the_table_is_one_change_and_emptying_a_partition_is_none() {
    both_ways(|fixture| {
        fixture.capture();
        fixture.sql("INSERT INTO p VALUES (1, 5, 'a'), (2, 15, 'b')");
        fixture.sql("TRUNCATE p1");
        fixture.sql("TRUNCATE p");
        fixture.sql("INSERT INTO p VALUES (3, 5, 'c')");
        let expected = ["c p id=1 at=5 note=a", "c p id=2 at=15 note=b", "t p", "c p id=3 at=5 note=c"];
        assert_eq!(fixture.open().changes(), expected);
    });
}
