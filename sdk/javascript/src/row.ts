import type { Column } from "./column";
import { toDate, toIso } from "./time";
import { ABSENT, isPresent, type Value } from "./values";

/** What a row needs of its page. */
export interface RowsOf {
  readonly columns: readonly Column[];
  at(name: string, row: number): Value;
  column(name: string): Column;
  find(name: string): Column | undefined;
  reject(row: number, reason: string): void;
}

/** One row of a page. */
export class Row {
  constructor(
    readonly page: RowsOf,
    readonly index: number,
  ) {}

  /** The value of a column: a value, `null` or `ABSENT`. An error if the page has no such column. */
  get(name: string): Value {
    return this.page.at(name, this.index);
  }

  /** Like `get`, but absent where the page has no such column. */
  find(name: string): Value {
    const column = this.page.find(name);
    return column ? column.at(this.index) : ABSENT;
  }

  /** A date or timestamp as `Date`; microseconds are cut off. */
  date(name: string): Date | null | typeof ABSENT {
    const column = this.page.column(name);
    const value = column.at(this.index);
    return isPresent(value) ? toDate(column.kind, value) : (value as null | typeof ABSENT);
  }

  /** A date, time, timestamp or interval as ISO 8601 text. */
  iso(name: string): string | null | typeof ABSENT {
    const column = this.page.column(name);
    const value = column.at(this.index);
    return isPresent(value) ? toIso(column.kind, value) : (value as null | typeof ABSENT);
  }

  /** Names and values in column order, absent ones included. */
  entries(): [string, Value][] {
    return this.page.columns.map((column) => [column.name, column.at(this.index)]);
  }

  /** Names and values of what the row says; absent values are left out. */
  toObject(): Record<string, Exclude<Value, typeof ABSENT>> {
    return Object.fromEntries(this.entries().filter(([, value]) => value !== ABSENT)) as never;
  }

  /** Reports the row as failed, and takes it out of every output. `reason` must not contain a value of the row. */
  reject(reason: string): void {
    this.page.reject(this.index, reason);
  }
}
