/**
 * Write faucet transforms, sources and sinks in JavaScript or TypeScript.
 *
 * A component is the default export of `plugin.ts` or `plugin.js`: see `transform`, `source` and `sink`. What to know:
 *
 * - A page is one table's rows in columns. Columns that a transform does not touch never leave the host.
 * - Absent (`ABSENT`) is not null. Keep both as they are unless the transform's meaning needs otherwise.
 * - Rows of a change-data source carry `__op`. Let it, and the rows `d` and `t`, through.
 * - 64-bit integers are bigint everywhere.
 * - Throw a `ConfigError` for a configuration that can't be used, a `FaucetError` for a page that can't be processed.
 *   The message of any other exception reaches the user too, without what it quotes of a value, and its stack the log.
 */
export type { About, Wants } from "./about";
export { ChangePageBuilder, type Cells, type ChangePage } from "./changes";
export { Column, ColumnBuilder } from "./column";
export { toHex } from "./decode";
export { ConfigError, FaucetError, Unavailable, Unsupported, type Problem } from "./errors";
export { count, gauge, log, secrets } from "./host";
export type { Kind, Numbers } from "./kind";
export type { PageOut } from "./output";
export { OP_COLUMN, type Page, PageBuilder, type PageInfo } from "./page";
export { randomBytes, randomUUID } from "./random";
export type { Row } from "./row";
export type { Schema } from "./schema";
export { Sha256 } from "./sha256";
export { sink, type Sink, type SinkCapabilities, type SinkDefinition, type SinkSession, type WriteMode } from "./sink";
export { type Batch, type Bookmark, bookmarkAt, bookmarkState, type Discovered } from "./source";
export { source, type Source, type SourceCapabilities, type SourceDefinition, type SourceSession } from "./source";
export { fromDate, toDate, toIso } from "./time";
export { type Apply, transform, type Transform, type TransformDefinition } from "./transform";
export { ABSENT, type Interval, isPresent, type Present, type Value } from "./values";
