import { Column, ColumnBuilder } from "./column";
import { FaucetError } from "./errors";
import type { Kind } from "./kind";
import { PageOut } from "./output";
import { Row } from "./row";
import { ABSENT, type Value } from "./values";

/**
 * The column that says what a row of a change-data source is: `c` created, `u` updated, `d` deleted, `r` read by the
 * snapshot, `t` table truncated. Let it, and the rows `d` and `t`, through.
 */
export const OP_COLUMN = "__op";

/** What a page is beside its columns. */
export interface PageInfo {
  /** The table. */
  table: string;
  /** Its schema or database, where the source has one. */
  schema?: string | null;
  /** Names of the columns that identify a row, in key order. */
  key?: readonly string[];
}

/** Rows of one table, stored in columns. */
export class Page {
  readonly table: string;
  readonly schema: string | null;
  readonly key: readonly string[];
  /** Rows that were rejected, with the reason. */
  readonly rejected = new Map<number, string>();
  private readonly byName: Map<string, Column>;
  private readonly decoded = new Map<string, ArrayLike<Value>>();

  constructor(
    info: PageInfo,
    readonly columns: readonly Column[],
    readonly rowCount = columns[0]?.rows ?? 0,
  ) {
    this.table = info.table;
    this.schema = info.schema ?? null;
    this.key = info.key ?? [];
    this.byName = new Map(columns.map((column) => [column.name, column]));
    const uneven = columns.find((column) => column.rows !== rowCount);
    if (uneven) throw new FaucetError(`column '${uneven.name}' has ${uneven.rows} values for ${rowCount} rows`);
  }

  /** The column of this name; an error that names the columns there are if there is none. */
  column(name: string): Column {
    const column = this.byName.get(name);
    if (column) return column;
    const has = this.columns.map((each) => each.name).join(", ");
    throw new FaucetError(`table '${this.table}' has no column '${name}' (it has ${has})`);
  }

  /** The column of this name, if there is one. */
  find(name: string): Column | undefined {
    return this.byName.get(name);
  }

  /** The value of a column at a row. */
  at(name: string, row: number): Value {
    const values = this.decoded.get(name) ?? this.decode(name);
    return values[row]!;
  }

  /** The page row by row. Only columns that are asked for are decoded. */
  *rows(): Generator<Row, void> {
    for (let row = 0; row < this.rowCount; row++) yield new Row(this, row);
  }

  /** What each row is (see `OP_COLUMN`); undefined on a page of plain rows. */
  ops(): ArrayLike<string> | undefined {
    return this.find(OP_COLUMN)?.expect("text").values as ArrayLike<string> | undefined;
  }

  /** Reports a row as failed, and takes it out of every output. `reason` must not contain a value of the row. */
  reject(row: number, reason: string): void {
    if (!this.rejected.has(row)) this.rejected.set(row, reason);
  }

  /** An output page that passes everything through, to be changed from there. */
  output(): PageOut {
    return new PageOut(this);
  }

  private decode(name: string): ArrayLike<Value> {
    const { values } = this.column(name);
    this.decoded.set(name, values);
    return values;
  }
}

/**
 * A page in the making, for sources that go row by row.
 *
 * ```
 * const page = new PageBuilder({ table: "numbers", key: ["n"] }, { n: "int64", label: "text" });
 * page.push({ n: 1n, label: null });
 * page.finish();
 * ```
 *
 * A column of kind native is written with its type: `native:postgres:int4range`.
 */
export class PageBuilder {
  private readonly columns: ColumnBuilder[];
  private count = 0;

  constructor(
    private readonly info: PageInfo,
    kinds: Record<string, Kind | `native:${string}`>,
  ) {
    this.columns = Object.entries(kinds).map(([name, kind]) => columnOf(name, kind));
  }

  /** Number of rows so far. */
  get rowCount(): number {
    return this.count;
  }

  /** Adds a row. A column that it does not name is absent. */
  push(row: Record<string, Value>): void {
    const known = (name: string) => this.columns.some((column) => column.name === name);
    const unknown = Object.keys(row).find((name) => !known(name));
    if (unknown) throw new FaucetError(`the page of table '${this.info.table}' has no column '${unknown}'`);
    for (const column of this.columns) column.push(Object.hasOwn(row, column.name) ? row[column.name]! : ABSENT);
    this.count++;
  }

  /** The page. */
  finish(): Page {
    return new Page(
      this.info,
      this.columns.map((column) => column.finish()),
      this.count,
    );
  }
}

function columnOf(name: string, kind: string): ColumnBuilder {
  const native = kind.startsWith("native:") ? kind.slice("native:".length) : null;
  return new ColumnBuilder(name, native === null ? (kind as Kind) : "native", native);
}
