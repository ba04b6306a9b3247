/** Dates and times as text and as `Date`. */
import { FaucetError } from "./errors";
import type { Kind } from "./kind";
import type { Interval, Present } from "./values";

const DAY = 86_400_000_000n;
const SECOND = 1_000_000n;
const INFINITE = new Map<number | bigint, string>([
  [-(2 ** 31), "-infinity"],
  [2 ** 31 - 1, "infinity"],
  [-(2n ** 63n), "-infinity"],
  [2n ** 63n - 1n, "infinity"],
]);

/**
 * The ISO 8601 text of a date, time, timestamp or interval: `2024-02-29`, `24:00:00`, `2024-02-29T12:30:00.5Z`,
 * `P14M3DT-4S`, `infinity`. Years before 1 and after 9999 have a sign and at least four digits; year 0 is 1 BC.
 */
export function toIso(kind: Kind, value: Present): string {
  if (kind === "date") return infinite(value) ?? calendar(value as number);
  if (kind === "time") return clock(value as bigint);
  if (kind === "timestamp") return infinite(value) ?? moment(value as bigint);
  if (kind === "timestamptz") return infinite(value) ?? moment(value as bigint) + "Z";
  if (kind === "interval") return duration(value as Interval);
  throw new FaucetError(`a value of kind ${kind} is no date, time or interval`);
}

/** A date or timestamp as `Date`. What it can't hold is cut off (microseconds) or refused (infinity, far years). */
export function toDate(kind: Kind, value: Present): Date {
  const isMoment = kind === "timestamp" || kind === "timestamptz";
  if (!isMoment && kind !== "date") throw new FaucetError(`a value of kind ${kind} is no date or timestamp`);
  const ms = isMoment ? floorDivide(value as bigint, 1000n)[0] : BigInt(value as number) * 86_400_000n;
  const date = new Date(Number(ms));
  if (INFINITE.has(value as bigint) || Number.isNaN(date.getTime()))
    throw new FaucetError("a Date can't hold this time");
  return date;
}

/** A `Date` as microseconds since 1970-01-01, as columns of kind timestamp and timestamptz have them. */
export function fromDate(date: Date): bigint {
  return BigInt(date.getTime()) * 1000n;
}

function infinite(value: Present): string | undefined {
  return INFINITE.get(value as bigint);
}

function floorDivide(value: bigint, by: bigint): [bigint, bigint] {
  const rest = ((value % by) + by) % by;
  return [(value - rest) / by, rest];
}

/** Counts in eras of 400 years that start on 1 March, so that a leap day is the last day of its year. */
function calendar(days: number): string {
  const since = days + 719_468;
  const era = Math.floor(since / 146_097);
  const day = since - era * 146_097;
  const inEra = Math.floor((day - Math.floor(day / 1460) + Math.floor(day / 36_524) - Math.floor(day / 146_096)) / 365);
  const ofYear = day - (365 * inEra + Math.floor(inEra / 4) - Math.floor(inEra / 100));
  const fromMarch = Math.floor((5 * ofYear + 2) / 153);
  const ofMonth = ofYear + 1 - Math.floor((153 * fromMarch + 2) / 5);
  const month = fromMarch < 10 ? fromMarch + 3 : fromMarch - 9;
  return `${year(inEra + era * 400 + (month < 3 ? 1 : 0))}-${two(month)}-${two(ofMonth)}`;
}

function year(number: number): string {
  const sign = number < 0 ? "-" : number > 9999 ? "+" : "";
  return sign + String(Math.abs(number)).padStart(4, "0");
}

function moment(us: bigint): string {
  const [days, rest] = floorDivide(us, DAY);
  return `${calendar(Number(days))}T${clock(rest)}`;
}

function clock(us: bigint): string {
  const seconds = Number(us / SECOND);
  const [hour, minute, second] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  return `${two(hour)}:${two(minute)}:${two(second)}${fraction(us % SECOND)}`;
}

function fraction(us: bigint): string {
  return us === 0n ? "" : `.${String(us).padStart(6, "0")}`.replace(/0+$/, "");
}

function duration({ months, days, microseconds }: Interval): string {
  const us = microseconds < 0n ? -microseconds : microseconds;
  const sign = microseconds < 0n ? "-" : "";
  const time = us === 0n ? "" : `T${sign}${us / SECOND}${fraction(us % SECOND)}S`;
  return "P" + ((months ? `${months}M` : "") + (days ? `${days}D` : "") + time || "0D");
}

function two(number: number): string {
  return String(number).padStart(2, "0");
}
