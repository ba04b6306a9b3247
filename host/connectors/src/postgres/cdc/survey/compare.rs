//! What differs between what the publication covers, what was recorded of it, and what the snapshot reads.

use faucet_core::ports::{Difference, Weight};

use super::record::{KINDS, Publication, Published, Record, Table};
use crate::postgres::query::reads::{ReadTable, Reads};

const PLAIN: &str = "write the query as `SELECT * FROM table`, for the table that the publication covers";
const PUBLISHED: &str =
    "name the published table in the query, or add this one to the publication before the mirror begins";
const ONLY: &str =
    "write `SELECT * FROM ONLY table`, and publish the table alone: `CREATE PUBLICATION .. FOR TABLE ONLY table`";
const SAME_DATABASE: &str =
    "give the snapshot's `connection_url` the server and database of the stream's, or of a standby of it";
const ALL_COLUMNS: &str =
    "write `SELECT *`; to leave columns out use a column list of the publication, or a `drop` transform";
const ALL_ROWS: &str =
    "write `SELECT * FROM table`; to leave rows out use a row filter of the publication, or a `filter` transform";

/// What the snapshot's query reads, beside what the stream carries. `columns` are those that it has to read.
pub(super) fn with_query(
    now: &Record,
    published: &Published,
    reads: Option<&Reads>,
    columns: Option<&[String]>,
) -> Vec<Difference> {
    let mut found: Vec<Difference> = others(now, published).into_iter().collect();
    if now.table.as_ref().is_some_and(|table| !table.logged) {
        let what = "the table is UNLOGGED, and its changes are in no stream";
        found.push(Difference::new(Weight::Misread("run `ALTER TABLE .. SET LOGGED` before it is mirrored"), what));
    }
    let Some(reads) = reads else { return found };
    let other = |ours: &Option<String>, theirs: &Option<String>| ours.is_some() && theirs.is_some() && ours != theirs;
    if other(&now.system, &reads.system) || now.database.is_some_and(|database| database != reads.database.0) {
        let what =
            format!("the snapshot reads database \"{}\", and the stream comes from another one", reads.database.1);
        found.push(Difference::new(Weight::Misread(SAME_DATABASE), what));
        return found;
    }
    match (&now.table, &reads.table) {
        (Some(table), Some(read)) if table.entries.is_empty() && read.root == table.oid => {
            let covered: Vec<String> = published.roots.iter().map(|root| root.1.to_string()).collect();
            let what = format!("the snapshot reads {}, and the publication covers {}", read.name, covered.join(", "));
            found.push(Difference::new(Weight::Misread(PUBLISHED), what));
        }
        (Some(table), Some(read)) => found.extend(with_table(table, read, reads.doubt.as_deref(), columns)),
        (_, _) => {
            let what = "it can't be told whether the snapshot's query reads every row of the published table as it is";
            found.push(Difference::new(Weight::Noted, what));
        }
    }
    found
}

/// Other tables of the publication: their changes are left out.
fn others(now: &Record, published: &Published) -> Option<Difference> {
    let ours = now.table.as_ref()?.oid;
    let others: Vec<String> = published.roots.iter().filter(|r| r.0 != ours).map(|r| r.1.to_string()).collect();
    let named = match &others[..] {
        [] => return None,
        [first, second, rest @ ..] if rest.len() > 1 => format!("{first}, {second} and {} more", rest.len()),
        few => few.join(", "),
    };
    let what = format!("the publication also covers {named}: this mirror leaves their changes out");
    Some(Difference::new(Weight::Noted, what))
}

fn with_table(table: &Table, read: &ReadTable, doubt: Option<&str>, columns: Option<&[String]>) -> Vec<Difference> {
    if read.root != table.oid {
        let what = format!("the snapshot reads {}, and the stream carries {}", read.name, table.id());
        return vec![Difference::new(Weight::Misread(PLAIN), what)];
    }
    let mut found = Vec::new();
    if read.oid != table.oid && !covers_only(table, read.oid) {
        let what =
            format!("the snapshot reads the partition {} of {}, and the stream carries all", read.name, table.id());
        found.push(Difference::new(Weight::Misread(PLAIN), what));
    }
    if let Some(heir) = read.heirs.first() {
        let what = format!(
            "{heir} inherits from {}: the snapshot reads its rows, and the stream doesn't carry them as \
                            rows of {}",
            read.name, read.name
        );
        found.push(Difference::new(Weight::Misread(ONLY), what));
    }
    if let Some(why) = doubt {
        let what = format!("the snapshot's query may not read every row of {} as it is: {why}", read.name);
        found.push(Difference::new(Weight::Misread(ALL_ROWS), what));
    }
    let missing = columns.unwrap_or_default().iter().find(|column| !read.columns.contains(column));
    if let Some(column) = missing {
        let what = format!(
            "the snapshot's query doesn't read column \"{column}\" of {} as it is, which the stream \
                            carries",
            read.name
        );
        found.push(Difference::new(Weight::Misread(ALL_COLUMNS), what));
    }
    found
}

/// Whether the publication names this partition and nothing else of the table.
fn covers_only(table: &Table, partition: u32) -> bool {
    table.entries.len() == 1 && table.entries.contains_key(&format!("table {partition}"))
}

/// What differs from what was recorded. `name_taken` is the OID that the recorded table's name stands for now.
pub(super) fn with_known(now: &Record, known: &Record, name_taken: &Option<u32>) -> Vec<Difference> {
    let mut found = Vec::new();
    if known.database.is_some() && known.database != now.database {
        let what = "the database is not the one that was mirrored: it was dropped and made again, or is another";
        found.push(Difference::new(Weight::Refused, what));
    }
    if let (Some(now), Some(known)) = (&now.publication, &known.publication) {
        found.extend(publication(now, known));
    }
    if let Some(known) = &known.table {
        found.extend(table(now.table.as_ref(), known, *name_taken));
    }
    found
}

fn publication(now: &Publication, known: &Publication) -> Option<Difference> {
    let name = &now.name;
    if now.oid != known.oid {
        let what =
            format!("publication \"{name}\" was dropped and made again: changes from in between are in no stream");
        return Some(Difference::new(Weight::Refused, what));
    }
    let lost: Vec<&str> = KINDS.into_iter().filter(|kind| has(known, kind) && !has(now, kind)).collect();
    if !lost.is_empty() {
        let what =
            format!("publication \"{name}\" stopped publishing {}: the destination misses them", lost.join(", "));
        return Some(Difference::new(Weight::Missed, what));
    }
    let told = now.owner != known.owner || now.via_root != known.via_root || now.kinds != known.kinds;
    if now.altered != known.altered && !told {
        let what = format!(
            "publication \"{name}\" was altered: if its `publish` left out kinds of change for a while, the destination \
             misses those"
        );
        return Some(Difference::new(Weight::Missed, what));
    }
    None
}

fn has(publication: &Publication, kind: &str) -> bool {
    publication.kinds.iter().any(|published| published == kind)
}

fn table(now: Option<&Table>, known: &Table, name_taken: Option<u32>) -> Vec<Difference> {
    let name = known.id();
    let refused = |what: String| vec![Difference::new(Weight::Refused, what)];
    let Some(now) = now else {
        return refused(match name_taken {
            Some(_) => format!("{name} was dropped and made again: it is not the table that was mirrored"),
            None => format!("{name}, which was mirrored, was dropped"),
        });
    };
    if name_taken.is_some_and(|taken| taken != now.oid) {
        return refused(format!("the mirrored table is called {} now, and {name} is another table", now.id()));
    }
    let mut found = Vec::new();
    if now.id() != name {
        let what = format!("{name} is called {} now; the mirror follows it, and its query should name it so", now.id());
        found.push(Difference::new(Weight::Noted, what));
    }
    found.extend(coverage(now, known).map(|what| Difference::new(Weight::Refused, what)));
    found.extend(columns(now, known).map(|what| Difference::new(Weight::Refused, what)));
    found.extend(renamed(now, known).map(|what| Difference::new(Weight::Noted, what)));
    let may_be_unlogged = !now.entries.keys().any(|entry| entry.starts_with("table "));
    if now.file != known.file && may_be_unlogged {
        let what = format!(
            "{name} was written anew as a whole (TRUNCATE, VACUUM FULL, a changed type); if it was UNLOGGED meanwhile, \
             changes are missing"
        );
        found.push(Difference::new(Weight::Noted, what));
    }
    found
}

/// Whether the publication has covered the table all the time.
fn coverage(now: &Table, known: &Table) -> Option<String> {
    let name = now.id();
    if now.entries.is_empty() {
        return Some(format!("the publication doesn't cover {name} any more, and changes since then are in no stream"));
    }
    let kept = known.entries.iter().any(|(entry, oid)| now.entries.get(entry) == Some(oid) && is_whole(entry, now));
    let same = |(entry, oid): (&String, &u32)| now.entries.get(entry) == Some(oid);
    if kept || known.entries.is_empty() || known.entries.iter().all(same) {
        return None;
    }
    Some(format!(
        "{name} was taken out of the publication and put back, or its row filter or column list changed: the destination \
         misses what happened in between"
    ))
}

/// Whether an entry covers all of the table.
fn is_whole(entry: &str, table: &Table) -> bool {
    !entry.starts_with("table ") || *entry == format!("table {}", table.oid)
}

/// A column with another name: to the destination it is a new one.
fn renamed(now: &Table, known: &Table) -> Option<String> {
    let renamed = |(number, name): &(&i16, &String)| now.columns.get(number).is_some_and(|is| is != *name);
    let (number, name) = known.columns.iter().find(renamed)?;
    Some(format!(
        "column \"{name}\" of {} is called \"{}\" now: rename it at the destination too, where rows would else lack its values",
        now.id(),
        now.columns[number]
    ))
}

/// A column that was dropped and made again under its name: the rows that were there have another value in it.
fn columns(now: &Table, known: &Table) -> Option<String> {
    let number = |table: &Table, name: &str| table.columns.iter().find(|(_, n)| *n == name).map(|(number, _)| *number);
    let made_again = |name: &&String| number(now, name).is_some_and(|is| number(known, name) != Some(is));
    let name = known.columns.values().find(made_again)?;
    Some(format!(
        "column \"{name}\" of {} was dropped and made again, and the destination has its old values",
        now.id()
    ))
}
