/**
 * The row says nothing about the column: an unchanged TOAST value, a field a document lacks. Absent is not null: a
 * destination leaves an absent column alone.
 */
export const ABSENT: unique symbol = Symbol.for("faucet.absent") as never;

/** A span of time whose parts are independent: 1 month is not 30 days. */
export interface Interval {
  months: number;
  days: number;
  microseconds: bigint;
}

/**
 * A value of a row.
 *
 * | kind | value |
 * |---|---|
 * | `boolean` | boolean |
 * | `int64` `uint64` | bigint: a number is exact only up to 2^53 |
 * | `float32` `float64` | number |
 * | `decimal` | string, the exact digits |
 * | `text` `native` | string |
 * | `json` | string, the exact text of the document |
 * | `bytes` | Uint8Array |
 * | `uuid` | string, 36 characters in lower case |
 * | `date` | number, days since 1970-01-01 |
 * | `time` | bigint, microseconds since midnight |
 * | `timestamp` `timestamptz` | bigint, microseconds since 1970-01-01 (UTC for `timestamptz`) |
 * | `interval` | `Interval` |
 */
export type Value = Present | null | typeof ABSENT;

/** A value that is neither null nor absent. */
export type Present = boolean | bigint | number | string | Uint8Array | Interval;

/** Whether there is a value: neither null nor absent. */
export function isPresent(value: Value): value is Present {
  return value !== null && value !== ABSENT;
}
