import type { About } from "./about";
import type { ChangePage } from "./changes";
import type { Page } from "./page";
import { decodeTexts, encodeTexts } from "./host";

/** What a source can do under its configuration. */
export interface SourceCapabilities {
  /** Its pages say what each change did: they are made by `ChangePageBuilder`. */
  changes?: boolean;
  /** `capture` and `discover` answer. */
  capture?: boolean;
  /** Every batch carries a bookmark, and a session opened at it continues identically, whenever that is. */
  replayable?: boolean;
}

/** A place to resume from. */
export interface Bookmark {
  /** Where it stands: bytes whose order is the order of the stream; empty if there is no order. */
  position: Uint8Array;
  /** All that the source needs to resume; it comes back unchanged. */
  state: Uint8Array;
}

/** A bookmark at a number (not negative) or bytes, with a state that JSON can hold. */
export function bookmarkAt(position: bigint | Uint8Array, state: unknown): Bookmark {
  const bytes = typeof position === "bigint" ? bigEndian(position) : position;
  return { position: bytes, state: encodeTexts([JSON.stringify(state)])[0] };
}

/** The state that `bookmarkAt` stored. */
export function bookmarkState<State = any>(bookmark: Bookmark): State {
  const offsets = new Uint8Array(new Int32Array([0, bookmark.state.length]).buffer);
  return JSON.parse(decodeTexts(bookmark.state, offsets)[0]!) as State;
}

function bigEndian(position: bigint): Uint8Array {
  const view = new DataView(new ArrayBuffer(8));
  view.setBigUint64(0, position);
  return new Uint8Array(view.buffer);
}

/** Pages, and what follows them. */
export interface Batch {
  /** Pages in order; may be empty when there is nothing new or only the bookmark moved. */
  pages: readonly (Page | ChangePage)[];
  /** A session opened at it continues exactly after this batch. */
  bookmark?: Bookmark | null;
  /** A transaction ends here, as it does unless said otherwise; false = nothing may be committed yet. */
  ends?: boolean;
  /** There is nothing more for this long: the host waits before it reads again. */
  waitMs?: number;
}

/** A table of the source. */
export interface Discovered {
  table: string;
  schema?: string | null;
  /** Its key's columns in key order. */
  key?: readonly string[];
}

/** A stream of batches. */
export interface SourceSession {
  /** The next batch of about `maxBytes`, or null when the source has ended. */
  read(maxBytes: number): Batch | null;
  /** Everything up to the bookmark is durable: the source may let go of it. Calls may be left out. */
  confirm?(bookmark: Bookmark): void;
}

/** What the author of a source writes. */
export interface SourceDefinition<Config> extends About {
  /** What it can do; a function, without I/O, where that depends on the configuration or there is more to check. */
  capabilities?: SourceCapabilities | ((config: Config) => SourceCapabilities);
  /** The tables there are. */
  discover?(config: Config): Discovered[];
  /** Where the source stands now. */
  capture?(config: Config): Bookmark;
  /** Starts at a bookmark, or at the beginning. */
  open(config: Config, bookmark: Bookmark | null): SourceSession;
}

/** A component that rows come from; the default export of `plugin.ts` or `plugin.js`. */
export interface Source extends SourceDefinition<any> {
  world: "source";
}

/** Defines a source. */
export function source<Config = any>(definition: SourceDefinition<Config>): Source {
  return { ...definition, world: "source" };
}
