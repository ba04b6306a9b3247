// Redacts text columns of JSON records, one call a row: what the column way is measured against.
let columns = [];

/** Sets the columns to redact. */
export function configure(names) {
  columns = JSON.parse(names);
}

/** Redacts one row. */
export function apply(row) {
  const cells = JSON.parse(row);
  for (const name of columns) {
    if (cells[name] != null) cells[name] = "***";
  }
  return JSON.stringify(cells);
}
