import { Column } from "./column";
import { FaucetError } from "./errors";
import type { Kind } from "./kind";
import type { Page } from "./page";
import { Row } from "./row";
import type { Value } from "./values";

/** A column of an output page, and whether its rows are those of the output rather than those of the input. */
interface Placed {
  column: Column;
  repeated: boolean;
}

/** An output page, ready to cross. */
export interface Finished {
  selection: number[] | null;
  columns: Column[];
}

/**
 * An output page. It starts as the input page; columns that are not set are passed through by the host and cost
 * nothing. Methods return the page, so that calls can be chained.
 */
export class PageOut {
  /** The table, if it is another one. */
  table: { schema: string | null; name: string } | null = null;
  /** The key, if it is another one. */
  key: string[] | null = null;
  private selection: number[] | null = null;
  private isRepeated = false;
  private placed: Placed[];

  constructor(private readonly page: Page) {
    this.placed = page.columns.map((column) => ({ column, repeated: false }));
  }

  /** Names of the columns, in order. */
  get names(): string[] {
    return this.placed.map(({ column }) => column.name);
  }

  /**
   * Puts a column in place of the one with its name, or at the end if there is none. It needs one value for each row of
   * the *input* page, also if rows are filtered out; after `repeat`, one for each row of the output.
   */
  set(column: Column): this {
    const isNew = column.index === null;
    const repeated = this.isRepeated && isNew;
    const needs = repeated ? this.selection!.length : this.page.rowCount;
    if (column.rows !== needs) {
      throw new FaucetError(`new column '${column.name}' has ${column.rows} values for ${needs} rows`);
    }
    // The host takes a kept column under another name for a renamed one, key and all; this may be a copy.
    if (!isNew) this.key = this.keyNow();
    const at = this.names.indexOf(column.name);
    this.placed[at < 0 ? this.placed.length : at] = { column, repeated };
    return this;
  }

  /** Like `set`, with a column made of these values: see `Column.of`. */
  put(name: string, kind: Kind, values: ArrayLike<Value>, native: string | null = null): this {
    return this.set(Column.of(name, kind, values, native));
  }

  /** Applies `change` to each text of these columns. */
  mapText(names: Iterable<string>, change: (text: string, row: number) => string): this {
    for (const name of names) this.set(this.page.column(name).mapText(change));
    return this;
  }

  /** Removes a column. */
  remove(name: string): this {
    this.placed.splice(this.expect(name), 1);
    return this;
  }

  /** Gives a column another name. A key column stays a key column. */
  rename(from: string, to: string): this {
    const at = this.expect(from);
    if (from !== to && this.names.includes(to)) {
      throw new FaucetError(`can't rename column '${from}' to '${to}': there is one of that name`);
    }
    const { column, repeated } = this.placed[at]!;
    if (this.key !== null || column.index === null) this.key = this.keyNow().map((name) => (name === from ? to : name));
    this.placed[at] = { column: column.named(to), repeated };
    return this;
  }

  /** Keeps the rows for which `wanted` says so, of those that are still there. */
  keep(wanted: (row: Row) => boolean): this {
    return this.narrow((row) => wanted(new Row(this.page, row)));
  }

  /** Keeps these rows of the input page, of those that are still there. */
  keepRows(rows: Iterable<number>): this {
    const wanted = new Set(rows);
    return this.narrow((row) => wanted.has(row));
  }

  /**
   * Makes an output row of each of these rows of the input page, in order; a row may come several times. Columns that
   * are set from now on need one value for each row of the output.
   */
  repeat(rows: Iterable<number>): this {
    if (this.selection !== null || this.placed.some(({ column }) => column.index === null)) {
      throw new FaucetError("repeat comes before everything that filters rows or sets columns");
    }
    const selection = [...rows];
    if (selection.some((row, at) => at > 0 && row < selection[at - 1]!)) {
      throw new FaucetError("repeated rows must stay in the order of the page");
    }
    this.selection = selection;
    this.isRepeated = true;
    return this;
  }

  /** Sends the page to another table. */
  setTable(name: string, schema: string | null = null): this {
    this.table = { schema, name };
    return this;
  }

  /** Sets the key, by the names the columns have by now. Without this the input's key stays. */
  setKey(names: Iterable<string>): this {
    this.key = [...names];
    return this;
  }

  /** The selection and the columns at the selected rows, without the rejected rows; for the SDK. */
  finish(): Finished {
    if (this.page.rejected.size > 0) this.narrow((row) => !this.page.rejected.has(row));
    const { selection } = this;
    const columns = this.placed.map(({ column, repeated }) =>
      selection === null || repeated || column.index !== null ? column : column.take(selection),
    );
    return { selection, columns };
  }

  private narrow(wanted: (row: number) => boolean): this {
    const rows = this.selection ?? Array.from({ length: this.page.rowCount }, (_, row) => row);
    const positions = rows.map((_, position) => position).filter((position) => wanted(rows[position]!));
    if (positions.length === rows.length) return this;
    for (const each of this.placed) {
      if (each.repeated) each.column = each.column.take(positions);
    }
    this.selection = positions.map((position) => rows[position]!);
    return this;
  }

  /** The key by the names its columns have by now. */
  private keyNow(): string[] {
    if (this.key !== null) return this.key;
    const names = new Map(
      this.placed.flatMap(({ column }) => (column.index === null ? [] : [[column.index, column.name]])),
    );
    const place = (name: string) => this.page.columns.findIndex((column) => column.name === name);
    return this.page.key.map((name) => names.get(place(name)) ?? name);
  }

  private expect(name: string): number {
    const at = this.names.indexOf(name);
    if (at < 0) throw new FaucetError(`table '${this.page.table}' has no column '${name}'`);
    return at;
  }
}
