//! Whether both sides are equal, decided by the databases themselves.

use faucet_tests::{Client, Difference, Row, sqlite_rows};

use super::mirrors::Mirror;
use crate::failure::{Failure, Result};

/// What a table must look like: the same columns as text, from either side. The first is the key.
struct Expected {
    table: &'static str,
    source: &'static str,
    destination: &'static str,
}

const EXPECTED: [Expected; 2] = [
    Expected {
        table: "orders",
        source: "SELECT id, customer_id, item, qty, price, status, note FROM orders",
        destination: "SELECT id, customer_id, item, qty, price, status, note FROM orders",
    },
    Expected {
        table: "customers",
        // The first character, stars for the rest of the local part, then the domain.
        source: "SELECT id, name, left(email, 1) || repeat('*', position('@' in email) - 2) || \
                 substr(email, position('@' in email)), city, (joined AT TIME ZONE 'UTC')::text || '+00:00' FROM customers",
        destination: "SELECT id, name, email, city, joined FROM customers",
    },
];

/// An error names the table and the keys that differ.
pub fn compare(client: &Client, mirrors: &[Mirror]) -> Result<()> {
    for mirror in mirrors {
        let Some(expected) = EXPECTED.iter().find(|e| e.table == mirror.table) else { continue };
        let source = client.try_rows(expected.source)?;
        let destination = sqlite_rows(&mirror.database, expected.destination)?;
        let difference = Difference::between(&source, &destination, 1);
        if !difference.is_empty() {
            let counts = format!("{} rows at the source, {} in SQLite", source.len(), destination.len());
            return Err(Failure::new(format!("{} differ: {counts}\n{difference}", mirror.table)));
        }
        if mirror.table == "customers" {
            none_in_clear(client, &destination)?;
        }
    }
    Ok(())
}

/// That no address at the destination is one of the source: the comparison above trusts the mask, this doesn't.
fn none_in_clear(client: &Client, destination: &[Row]) -> Result<()> {
    const EMAIL: usize = 2;
    let clear: std::collections::HashSet<Option<String>> =
        client.try_rows("SELECT email FROM customers")?.into_iter().filter_map(|row| row.into_iter().next()).collect();
    match destination.iter().find(|row| clear.contains(&row[EMAIL])) {
        Some(row) => {
            Err(Failure::new(format!("customer {} has an address in clear", row[0].as_deref().unwrap_or("?"))))
        }
        None => Ok(()),
    }
}
