/** What the values of a column are, spelled as everywhere in faucet. */
export type Kind =
  | "boolean"
  | "int64"
  | "uint64"
  | "float32"
  | "float64"
  | "decimal"
  | "text"
  | "bytes"
  | "date"
  | "time"
  | "timestamp"
  | "timestamptz"
  | "interval"
  | "uuid"
  | "json"
  | "native";

/** The numbers of a column, over its buffer. */
export type Numbers = BigInt64Array | BigUint64Array | Float32Array | Float64Array | Int32Array;

type NumbersType = {
  new (rows: number): Numbers;
  new (buffer: ArrayBufferLike, offset: number, rows: number): Numbers;
  readonly BYTES_PER_ELEMENT: number;
};

/** The typed array of each kind that is stored as numbers. */
export const NUMBERS: Partial<Record<Kind, NumbersType>> = {
  int64: BigInt64Array,
  uint64: BigUint64Array,
  float32: Float32Array,
  float64: Float64Array,
  date: Int32Array,
  time: BigInt64Array,
  timestamp: BigInt64Array,
  timestamptz: BigInt64Array,
};

/** Whether values of this kind are UTF-8 cut by offsets. */
export function isText(kind: Kind): boolean {
  return kind === "text" || kind === "decimal" || kind === "json" || kind === "native";
}
