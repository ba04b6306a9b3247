import type { About } from "./about";
import type { Page } from "./page";

/**
 * How rows meet those that are there: `append` adds every row; `upsert` replaces the row with the same key, and removes
 * it if the row is marked as a delete; `overwrite` replaces everything at `finish`.
 */
export type WriteMode = "append" | "upsert" | "overwrite";

/** What a sink can do under its configuration. */
export interface SinkCapabilities {
  /** How this configuration writes; append unless said otherwise. */
  mode?: WriteMode;
  /** The modes that some configuration offers. */
  modes?: readonly WriteMode[];
  /** The configured key's columns. */
  key?: readonly string[];
  /** The column whose values mark deletes, if one is configured. */
  deleteMarker?: string | null;
  /** A commit makes all its rows visible at once or none. */
  transactional?: boolean;
  /** A commit stores a token together with its rows, and `lastToken` answers. */
  tokens?: boolean;
  /** It takes columns it has not seen before. */
  evolves?: boolean;
  /** `write` may reject single rows (`row.reject(reason)`) and take the others. */
  rejects?: boolean;
  /** Several of its sessions may write at once. */
  parallel?: boolean;
}

/**
 * A session of writing. After an error the host opens another one and writes again whatever was not committed: by then
 * it must be gone, or be absorbed.
 */
export interface SinkSession {
  /** The token of the last commit under `scope`, as the destination has it; null only if there was none. */
  lastToken?(scope: string): string | null;
  /** Writes rows, whole pages or none, but for the rows it rejects. */
  write(pages: Page[]): void;
  /** Everything written is durable when this returns, and with it the token (scope, then token) if there is one. */
  commit(token: [scope: string, token: string] | null): void;
  /** The source has ended: what had to wait for the end happens now, durably. */
  finish?(): void;
}

/** What the author of a sink writes. */
export interface SinkDefinition<Config> extends About {
  /** What it can do; a function, without I/O, where that depends on the configuration or there is more to check. */
  capabilities?: SinkCapabilities | ((config: Config) => SinkCapabilities);
  /** Opens the destination. `pipeline` is a name to show there. */
  open(config: Config, pipeline: string): SinkSession;
}

/** A component that rows go to; the default export of `plugin.ts` or `plugin.js`. */
export interface Sink extends SinkDefinition<any> {
  world: "sink";
}

/** Defines a sink. */
export function sink<Config = any>(definition: SinkDefinition<Config>): Sink {
  return { ...definition, world: "sink" };
}
