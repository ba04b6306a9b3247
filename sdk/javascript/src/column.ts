import { decode, ends, numbers } from "./decode";
import { encode, type Buffers } from "./encode";
import { FaucetError } from "./errors";
import { isText, type Kind, type Numbers } from "./kind";
import { toIso } from "./time";
import { isPresent, type Present, type Value } from "./values";
import type { WireColumn } from "./wire";

/**
 * A column: read by row number, all at once, or as its raw numbers. Columns are never changed; what looks like a change
 * gives a new one. What a value is: see `Value`.
 */
export class Column {
  private decoded: ArrayLike<Value> | undefined;

  /** For the SDK; authors use `Column.of`. `index` is the place in the input page: the host still has such a column. */
  constructor(
    readonly wire: WireColumn,
    readonly rows: number,
    readonly index: number | null = null,
  ) {}

  /**
   * A new column. `null` is null, `ABSENT` is absent. `native` names the type in the source as `system:type`; a column
   * of kind `native` needs it.
   */
  static of(name: string, kind: Kind, values: ArrayLike<Value>, native: string | null = null): Column {
    if (kind === "native" && native === null) {
      throw new FaucetError(`column '${name}' is of kind native and does not say which type that is`);
    }
    const buffers: Buffers = encode(name, kind, values);
    return new Column({ name, kind, native, ...buffers }, values.length);
  }

  /** Name. */
  get name(): string {
    return this.wire.name;
  }

  /** What the values are. */
  get kind(): Kind {
    return this.wire.kind;
  }

  /** Type in the source as `system:type` (`postgres:citext`), if it is known. */
  get native(): string | null {
    return this.wire.native;
  }

  /** Whether any row has no value. */
  get hasGaps(): boolean {
    return this.wire.validity.length > 0;
  }

  /** All values in row order, decoded once. Don't change them. */
  get values(): ArrayLike<Value> {
    return (this.decoded ??= decode(this.wire, this.rows));
  }

  /** The value of a row. */
  at(row: number): Value {
    return this.values[row]!;
  }

  /**
   * The numbers of the column without a copy (`BigInt64Array`, `Float64Array` ...), for kinds that are stored as
   * numbers. What stands in a row without a value means nothing.
   */
  get numbers(): Numbers {
    const found = numbers(this.kind, this.wire.data);
    if (!found) throw new FaucetError(`column '${this.name}' is ${this.kind}: it is not stored as numbers`);
    return found;
  }

  /** The bytes of each value without a copy, for texts (UTF-8) and bytes; empty where there is no value. */
  get slices(): Uint8Array[] {
    if (!isText(this.kind) && this.kind !== "bytes") {
      throw new FaucetError(`column '${this.name}' is ${this.kind}: it is not stored as bytes`);
    }
    const end = ends(this.wire.offsets);
    return Array.from({ length: this.rows }, (_, row) => this.wire.data.subarray(end[row], end[row + 1]));
  }

  /** Dates, times and intervals as ISO 8601 text, infinity and years before 1 included. */
  isoValues(): Value[] {
    return this.map((value) => toIso(this.kind, value));
  }

  /** What `change` makes of each value; null stays null and absent stays absent. */
  map(change: (value: Present, row: number) => Value): Value[] {
    const { values } = this;
    const out = new Array<Value>(this.rows);
    for (let row = 0; row < this.rows; row++) {
      const value = values[row]!;
      out[row] = isPresent(value) ? change(value, row) : value;
    }
    return out;
  }

  /**
   * A new text column with `change` applied to each text. Null stays null and absent stays absent. A column of kind
   * `native` becomes text.
   */
  mapText(change: (text: string, row: number) => string): Column {
    if (this.kind !== "native") this.expect("text");
    return Column.of(this.name, "text", this.map(change as (value: Present, row: number) => Value));
  }

  /** This column if it is of kind `kind`; an error that names both kinds if not. */
  expect(kind: Kind): Column {
    if (this.kind === kind) return this;
    throw new FaucetError(`column '${this.name}' is ${this.kind}, and ${kind} is needed`);
  }

  /** The same column under another name. */
  named(name: string): Column {
    return new Column({ ...this.wire, name }, this.rows, this.index);
  }

  /** A new column of the values at these rows. */
  take(rows: ArrayLike<number>): Column {
    const values = Array.from(rows, (row) => this.values[row]!);
    return Column.of(this.name, this.kind, values, this.native);
  }
}

/** A column in the making, for code that goes row by row. */
export class ColumnBuilder {
  private readonly values: Value[] = [];

  constructor(
    readonly name: string,
    readonly kind: Kind,
    readonly native: string | null = null,
  ) {}

  /** Adds the value of the next row; `null` is null, `ABSENT` is absent. */
  push(value: Value): void {
    this.values.push(value);
  }

  /** The column. */
  finish(): Column {
    return Column.of(this.name, this.kind, this.values, this.native);
  }
}
