/** Between the SDK's classes and the records that cross the boundary. */
import { type About, schemaOf } from "./about";
import { Column } from "./column";
import { ConfigError, FaucetError, Unavailable, Unsupported } from "./errors";
import { log } from "./host";
import type { PageOut } from "./output";
import { Page } from "./page";
import type { WireError, WireOutput, WirePage, WirePageOut, WireReject, WireWants } from "./wire";

/** What `call` gives; whatever it throws becomes the error it stands for, so that nothing ends the instance. */
export function guarded<T>(call: () => T): T {
  try {
    return call();
  } catch (error) {
    throw wireError(error);
  }
}

function wireError(error: unknown): WireError {
  if (error instanceof ConfigError) return { tag: "invalid-config", val: error.problems };
  if (error instanceof Unavailable) return { tag: "unavailable", val: error.message };
  if (error instanceof Unsupported) return { tag: "unsupported", val: error.message };
  if (error instanceof FaucetError) return { tag: "failed", val: error.message };
  if (!(error instanceof Error)) return { tag: "failed", val: `the plugin threw ${typeof error} instead of an Error` };
  const message = `${error.name}: ${withoutValues(error)}`;
  log("error", `${message}\n${error.stack ?? ""}`.trimEnd());
  return { tag: "failed", val: message };
}

/** Engines quote what they could not parse, and a cell value must not reach a log. */
function withoutValues(error: Error): string {
  const mayQuote = error instanceof SyntaxError || error instanceof RangeError;
  return mayQuote ? error.message.replace(/(['"]).*\1/s, "'...'") : error.message;
}

/** The fields that every description starts with. */
export function described(about: About) {
  const { name, version, summary } = about;
  return { name, version, summary, configSchema: JSON.stringify(schemaOf(about)), wants: wantsOut(about) };
}

function wantsOut({ wants = {} }: About): WireWants {
  const dirs = (wants.dirs ?? []).map((name) => ({ name, write: false }));
  dirs.push(...(wants.writeDirs ?? []).map((name) => ({ name, write: true })));
  return {
    http: [...(wants.http ?? [])],
    dirs,
    env: [...(wants.env ?? [])],
    secrets: [...(wants.secrets ?? [])],
    clock: wants.clock ?? false,
    random: wants.random ?? false,
  };
}

/** A page that the host sent. */
export function pageIn({ table, rows, key, columns }: WirePage): Page {
  const wrapped = columns.map((column, index) => new Column(column, rows, index));
  return new Page({ table: table.name, schema: table.schema, key }, wrapped, rows);
}

/** A whole page, with the buffers of every column. */
export function pageOut(page: Page): WirePage {
  const table = { schema: page.schema, name: page.table };
  return { table, rows: page.rowCount, key: [...page.key], columns: page.columns.map((column) => column.wire) };
}

/** The answer of a transform. */
export function output(page: Page, outs: PageOut[]): WireOutput {
  return { pages: outs.map((out) => changedPageOut(page, out)), rejected: rejects(page) };
}

/** The rejected rows of a page whose rows are counted from `first`. */
export function rejects(page: Page, first = 0): WireReject[] {
  const rows = [...page.rejected].sort(([a], [b]) => a - b);
  return rows.map(([row, reason]) => ({ row: first + row, reason }));
}

function changedPageOut(page: Page, out: PageOut): WirePageOut {
  const { selection, columns } = out.finish();
  return {
    table: out.table,
    rows: selection?.length ?? page.rowCount,
    selection: selection && new Uint8Array(new Uint32Array(selection).buffer),
    key: out.key,
    columns: columns.map((column) => {
      if (column.index === null) return { tag: "buffers", val: column.wire };
      const isRenamed = page.columns[column.index]!.name !== column.name;
      return { tag: "input", val: { index: column.index, name: isRenamed ? column.name : null } };
    }),
  };
}
