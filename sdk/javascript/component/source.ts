/** The component of a source. The names in here are those of the WIT package. */
import host from "faucet:connector/host@0.1.0";
import text from "faucet:connector/text@0.1.0";
import plugin from "faucet-plugin";
import random from "wasi:random/random@0.2.12";
import { configured } from "../src/about";
import type { ChangePage } from "../src/changes";
import { described, guarded, pageOut } from "../src/crossing";
import { FaucetError, Unsupported } from "../src/errors";
import { connect } from "../src/host";
import { connectRandom } from "../src/random";
import { Page } from "../src/page";
import type { Batch, Source, SourceCapabilities, SourceSession } from "../src/source";
import type { WireBatch, WireBookmark, WireChange } from "../src/wire";

connect(host, text);
connectRandom(random);
const definition = expectSource(plugin);

class Session {
  constructor(private readonly session: SourceSession) {}

  read(maxBytes: number): WireBatch | null {
    return guarded(() => {
      const batch = this.session.read(maxBytes);
      return batch && batchOut(batch);
    });
  }

  confirm(bookmark: WireBookmark): void {
    guarded(() => this.session.confirm?.(bookmark));
  }
}

export const sources = {
  Session,

  describe() {
    return described(definition);
  },

  check(config: string) {
    return guarded(() => capabilities(configured(definition, config)));
  },

  discover(config: string) {
    return guarded(() => {
      if (!definition.discover) throw new Unsupported(`source ${definition.name} does not list its tables`);
      const found = definition.discover(configured(definition, config));
      return found.map(({ table, schema, key }) => ({
        table: { schema: schema ?? null, name: table },
        key: key ?? [],
      }));
    });
  },

  capture(config: string): WireBookmark {
    return guarded(() => {
      if (!definition.capture) throw new Unsupported(`source ${definition.name} can't say where it stands`);
      return definition.capture(configured(definition, config));
    });
  },

  open(config: string, bookmark: WireBookmark | null) {
    return guarded(() => {
      const checked = configured(definition, config);
      capabilities(checked);
      return new Session(definition.open(checked, bookmark));
    });
  },
};

function capabilities(config: unknown): Required<SourceCapabilities> {
  const { capabilities: can = {} } = definition;
  const { changes = false, capture = false, replayable = false } = typeof can === "function" ? can(config) : can;
  return { changes, capture, replayable };
}

function batchOut({ pages, bookmark = null, ends = true, waitMs = 0 }: Batch): WireBatch {
  const boundary = ends ? { tag: "commit" as const, val: bookmark } : { tag: "inside" as const };
  return { pages: pages.map(sourcePage), boundary, waitMs };
}

function sourcePage(page: Page | ChangePage): WireBatch["pages"][number] {
  if (page instanceof Page) return { page: pageOut(page), change: null };
  return { page: pageOut(page.page), change: changeOut(page) };
}

function changeOut({ ops, positions, committedAt, before }: ChangePage): WireChange {
  const positionWidth = positions[0]?.length ?? 0;
  const joined = new Uint8Array(positions.length * positionWidth);
  positions.forEach((position, row) => joined.set(position, row * positionWidth));
  return {
    ops,
    positionWidth,
    positions: joined,
    committedAt: committedAt.wire.data,
    before: before && { present: before.present, columns: before.columns.map((column) => column.wire) },
  };
}

function expectSource(found: Source): Source {
  if (found?.world === "source") return found;
  throw new FaucetError("the default export of the plugin is not made by source(), and a source is being built");
}
