/** From the buffers of a column to values. */
import { bit } from "./bits";
import { FaucetError } from "./errors";
import { decodeTexts } from "./host";
import { isText, NUMBERS, type Kind, type Numbers } from "./kind";
import { ABSENT, type Interval, type Value } from "./values";
import type { WireColumn } from "./wire";

/** All values of a column in row order; a typed array where every row has a number. */
export function decode(column: WireColumn, rows: number): ArrayLike<Value> {
  const present = decodePresent(column, rows);
  if (column.validity.length === 0) return present;
  const values: Value[] = Array.from(present);
  for (let row = 0; row < rows; row++) {
    if (!bit(column.validity, row)) values[row] = column.absent.length && bit(column.absent, row) ? ABSENT : null;
  }
  return values;
}

/** The numbers of a column over its buffer. */
export function numbers(kind: Kind, data: Uint8Array): Numbers | undefined {
  const type = NUMBERS[kind];
  if (!type) return undefined;
  const width = type.BYTES_PER_ELEMENT;
  const aligned = data.byteOffset % width === 0 ? data : data.slice();
  return new type(aligned.buffer, aligned.byteOffset, data.byteLength / width);
}

/** Where each value of a column with offsets starts, and where the last one ends. */
export function ends(offsets: Uint8Array): Int32Array {
  return numbers("date", offsets) as Int32Array;
}

function decodePresent(column: WireColumn, rows: number): ArrayLike<Value> {
  const { kind, data } = column;
  if (isText(kind)) return texts(column);
  if (kind === "bytes") return sliced(data, ends(column.offsets), rows);
  if (kind === "boolean") return Array.from({ length: rows }, (_, row) => bit(data, row));
  if (kind === "uuid") return Array.from({ length: rows }, (_, row) => uuid(data, row * 16));
  if (kind === "interval") return intervals(data, rows);
  return numbers(kind, data) as ArrayLike<Value>;
}

function texts(column: WireColumn): string[] {
  try {
    return decodeTexts(column.data, column.offsets);
  } catch {
    throw new FaucetError(`the host sent column '${column.name}' with invalid UTF-8`);
  }
}

function sliced(data: Uint8Array, ends: Int32Array, rows: number): Uint8Array[] {
  return Array.from({ length: rows }, (_, row) => data.subarray(ends[row], ends[row + 1]));
}

function intervals(data: Uint8Array, rows: number): Interval[] {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  return Array.from({ length: rows }, (_, row) => ({
    months: view.getInt32(row * 16 + 12, true),
    days: view.getInt32(row * 16 + 8, true),
    microseconds: view.getBigInt64(row * 16, true),
  }));
}

// Two hex digits of every byte.
const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

function uuid(data: Uint8Array, at: number): string {
  let text = "";
  for (let byte = 0; byte < 16; byte++) {
    if (byte === 4 || byte === 6 || byte === 8 || byte === 10) text += "-";
    text += HEX[data[at + byte]!];
  }
  return text;
}

/** Bytes as hex digits. */
export function toHex(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at++) text += HEX[bytes[at]!];
  return text;
}
