/** From values to the buffers of a column. */
import { pack } from "./bits";
import { FaucetError } from "./errors";
import { encodeTexts } from "./host";
import { isText, NUMBERS, type Kind } from "./kind";
import { ABSENT, isPresent, type Interval, type Value } from "./values";

/** What a column stores, but for its name. */
export interface Buffers {
  validity: Uint8Array;
  absent: Uint8Array;
  offsets: Uint8Array;
  data: Uint8Array;
}

const NONE = new Uint8Array(0);

/** The buffers of a column with these values. */
export function encode(name: string, kind: Kind, values: ArrayLike<Value>): Buffers {
  let nulls = 0;
  let absents = 0;
  for (let row = 0; row < values.length; row++) {
    const value = values[row];
    if (value === null) nulls++;
    else if (value === ABSENT) absents++;
  }
  const validity = nulls + absents === 0 ? NONE : pack(values, isPresent);
  const absent = absents === 0 ? NONE : pack(values, (value) => value === ABSENT);
  return { validity, absent, ...encodePresent(new Cells(name, kind, values)) };
}

/**
 * The values of a column on their way in, and what to say about one that does not belong there.
 *
 * What goes over them is written as plain loops: in an interpreter a call for each value takes longer than the rest.
 */
class Cells {
  constructor(
    readonly name: string,
    readonly kind: Kind,
    readonly values: ArrayLike<Value>,
  ) {}

  get rows(): number {
    return this.values.length;
  }

  refuse(row: number, why: string): never {
    throw new FaucetError(`column '${this.name}' is ${this.kind}: ${why} (row ${row})`);
  }

  refuseType(row: number): never {
    return this.refuse(row, `it takes no ${typeof this.values[row]}`);
  }
}

function encodePresent(cells: Cells): { offsets: Uint8Array; data: Uint8Array } {
  if (NUMBERS[cells.kind]) return { offsets: NONE, data: numbers(cells) };
  if (isText(cells.kind)) return texts(cells);
  if (cells.kind === "bytes") return bytes(cells);
  if (cells.kind === "boolean") return { offsets: NONE, data: booleans(cells) };
  if (cells.kind === "uuid") return { offsets: NONE, data: uuids(cells) };
  return { offsets: NONE, data: intervals(cells) };
}

function booleans(cells: Cells): Uint8Array {
  const { values, rows } = cells;
  for (let row = 0; row < rows; row++) {
    const value = values[row];
    if (typeof value !== "boolean" && value !== null && value !== ABSENT) cells.refuseType(row);
  }
  return pack(values, (value) => value === true);
}

function numbers(cells: Cells): Uint8Array {
  const out = new NUMBERS[cells.kind]!(cells.rows);
  if (out instanceof Float32Array || out instanceof Float64Array) floats(cells, out);
  else if (out instanceof Int32Array) days(cells, out);
  else integers(cells, out);
  return new Uint8Array(out.buffer);
}

/** A typed array cuts off what does not fit, so what is in it is compared with what was to be there. */
function integers(cells: Cells, out: BigInt64Array | BigUint64Array): void {
  const { values, rows } = cells;
  for (let row = 0; row < rows; row++) {
    const value = values[row];
    if (value === null || value === ABSENT) continue;
    const whole = typeof value === "number" ? exact(cells, value, row) : value;
    if (typeof whole !== "bigint") cells.refuseType(row);
    out[row] = whole;
    if (out[row] !== whole) cells.refuse(row, "it can't hold a number that large");
  }
}

function exact(cells: Cells, value: number, row: number): bigint {
  if (!Number.isSafeInteger(value))
    cells.refuse(row, "a number is exact only if it is whole and below 2^53; use a bigint");
  return BigInt(value);
}

function days(cells: Cells, out: Int32Array): void {
  const { values, rows } = cells;
  for (let row = 0; row < rows; row++) {
    const value = values[row];
    if (value === null || value === ABSENT) continue;
    if (typeof value !== "number") cells.refuseType(row);
    out[row] = value;
    if (out[row] !== value) cells.refuse(row, "it takes whole days that fit 4 bytes");
  }
}

function floats(cells: Cells, out: Float32Array | Float64Array): void {
  const { values, rows } = cells;
  for (let row = 0; row < rows; row++) {
    const value = values[row];
    if (value === null || value === ABSENT) continue;
    if (typeof value !== "number") cells.refuseType(row);
    out[row] = value;
    if (out[row] === Infinity && value !== Infinity) cells.refuse(row, "it can't hold a number that large");
    if (out[row] === -Infinity && value !== -Infinity) cells.refuse(row, "it can't hold a number that large");
  }
}

function texts(cells: Cells): { offsets: Uint8Array; data: Uint8Array } {
  const { values, rows } = cells;
  const strings = new Array<string>(rows);
  for (let row = 0; row < rows; row++) {
    const value = values[row];
    if (typeof value === "string") strings[row] = value;
    else if (value === null || value === ABSENT) strings[row] = "";
    else cells.refuseType(row);
  }
  // One look at all of them: the separator keeps two halves of different texts from making a pair.
  if (!strings.join("\n").isWellFormed()) {
    cells.refuse(
      strings.findIndex((text) => !text.isWellFormed()),
      "a text has half of a surrogate pair",
    );
  }
  const [data, offsets] = encodeTexts(strings);
  return { offsets, data };
}

function bytes(cells: Cells): { offsets: Uint8Array; data: Uint8Array } {
  const { values, rows } = cells;
  const offsets = new Int32Array(rows + 1);
  for (let row = 0, end = 0; row < rows; row++) {
    const value = values[row];
    if (value instanceof Uint8Array) end += value.length;
    else if (value !== null && value !== ABSENT) cells.refuseType(row);
    offsets[row + 1] = end;
  }
  const data = new Uint8Array(offsets[rows]!);
  for (let row = 0; row < rows; row++) {
    const value = values[row];
    if (value instanceof Uint8Array) data.set(value, offsets[row]);
  }
  return { offsets: new Uint8Array(offsets.buffer), data };
}

function uuids(cells: Cells): Uint8Array {
  const { values, rows } = cells;
  const out = new Uint8Array(rows * 16);
  for (let row = 0; row < rows; row++) {
    const value = values[row];
    if (value === null || value === ABSENT) continue;
    const digits = typeof value === "string" ? value.replaceAll("-", "") : cells.refuseType(row);
    if (!/^[0-9a-f]{32}$/i.test(digits)) cells.refuse(row, "a text is no UUID");
    for (let byte = 0; byte < 16; byte++) out[row * 16 + byte] = parseInt(digits.slice(byte * 2, byte * 2 + 2), 16);
  }
  return out;
}

function intervals(cells: Cells): Uint8Array {
  const { values, rows } = cells;
  const view = new DataView(new ArrayBuffer(rows * 16));
  for (let row = 0; row < rows; row++) {
    const value = values[row];
    if (value === null || value === ABSENT) continue;
    if (typeof value !== "object" || !("months" in value)) cells.refuseType(row);
    const { months, days, microseconds } = value as Interval;
    const fits = (months | 0) === months && (days | 0) === days && BigInt.asIntN(64, microseconds) === microseconds;
    if (!fits) cells.refuse(row, "a part of a value is not whole or too large");
    view.setBigInt64(row * 16, microseconds, true);
    view.setInt32(row * 16 + 8, days, true);
    view.setInt32(row * 16 + 12, months, true);
  }
  return new Uint8Array(view.buffer);
}
