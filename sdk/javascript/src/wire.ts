/** The records of the WIT package as the engine's bindings have them. Authors see none of this. */
import type { Kind } from "./kind";

export type Level = "debug" | "info" | "warn" | "error";

export interface HostBindings {
  log(level: Level, message: string): void;
  count(metric: string, by: number): void;
  gauge(metric: string, value: number): void;
  secrets(): string[];
}

export interface TextBindings {
  decode(data: Uint8Array, offsets: Uint8Array): string[];
  encode(strings: string[]): [Uint8Array, Uint8Array];
}

export interface WireColumn {
  name: string;
  kind: Kind;
  native: string | null;
  validity: Uint8Array;
  absent: Uint8Array;
  offsets: Uint8Array;
  data: Uint8Array;
}

export interface WireTable {
  schema: string | null;
  name: string;
}

export interface WirePage {
  table: WireTable;
  rows: number;
  key: string[];
  columns: WireColumn[];
}

export type WireColumnOut =
  { tag: "input"; val: { index: number; name: string | null } } | { tag: "buffers"; val: WireColumn };

export interface WirePageOut {
  table: WireTable | null;
  rows: number;
  selection: Uint8Array | null;
  key: string[] | null;
  columns: WireColumnOut[];
}

export interface WireReject {
  row: number;
  reason: string;
}

export interface WireOutput {
  pages: WirePageOut[];
  rejected: WireReject[];
}

export type WireError =
  | { tag: "invalid-config"; val: { path: string; message: string }[] }
  | { tag: "unavailable" | "unsupported" | "failed"; val: string };

export interface WireWants {
  http: string[];
  dirs: { name: string; write: boolean }[];
  env: string[];
  secrets: string[];
  clock: boolean;
  random: boolean;
}

export interface WireBookmark {
  position: Uint8Array;
  state: Uint8Array;
}

export interface WireChange {
  ops: Uint8Array;
  positionWidth: number;
  positions: Uint8Array;
  committedAt: Uint8Array;
  before: { present: Uint8Array; columns: WireColumn[] } | null;
}

export interface WireBatch {
  pages: { page: WirePage; change: WireChange | null }[];
  boundary: { tag: "inside" } | { tag: "commit"; val: WireBookmark | null };
  waitMs: number;
}
