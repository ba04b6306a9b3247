/** The component of a sink. The names in here are those of the WIT package. */
import host from "faucet:connector/host@0.1.0";
import text from "faucet:connector/text@0.1.0";
import plugin from "faucet-plugin";
import random from "wasi:random/random@0.2.12";
import { configured } from "../src/about";
import { described, guarded, pageIn, rejects } from "../src/crossing";
import { FaucetError, Unsupported } from "../src/errors";
import { connect } from "../src/host";
import { connectRandom } from "../src/random";
import type { Sink, SinkCapabilities, SinkSession } from "../src/sink";
import type { WirePage, WireReject } from "../src/wire";

connect(host, text);
connectRandom(random);
const definition = expectSink(plugin);

class Session {
  constructor(private readonly session: SinkSession) {}

  lastToken(scope: string): string | null {
    return guarded(() => {
      if (!this.session.lastToken) throw new Unsupported(`sink ${definition.name} keeps no tokens`);
      return this.session.lastToken(scope);
    });
  }

  write(wires: WirePage[]): WireReject[] {
    return guarded(() => {
      const pages = wires.map(pageIn);
      this.session.write(pages);
      let first = 0;
      return pages.flatMap((page) => {
        const rejected = rejects(page, first);
        first += page.rowCount;
        return rejected;
      });
    });
  }

  commit(token: [string, string] | null): void {
    guarded(() => this.session.commit(token));
  }

  finish(): void {
    guarded(() => this.session.finish?.());
  }
}

export const sinks = {
  Session,

  describe() {
    return described(definition);
  },

  check(config: string) {
    return guarded(() => capabilities(configured(definition, config)));
  },

  open(config: string, pipeline: string) {
    return guarded(() => {
      const checked = configured(definition, config);
      capabilities(checked);
      return new Session(definition.open(checked, pipeline));
    });
  },
};

function capabilities(config: unknown): Required<SinkCapabilities> {
  const { capabilities: can = {} } = definition;
  const found = typeof can === "function" ? can(config) : can;
  const mode = found.mode ?? "append";
  return {
    mode,
    modes: found.modes ?? [mode],
    key: found.key ?? [],
    deleteMarker: found.deleteMarker ?? null,
    transactional: found.transactional ?? false,
    tokens: found.tokens ?? false,
    evolves: found.evolves ?? false,
    rejects: found.rejects ?? false,
    parallel: found.parallel ?? false,
  };
}

function expectSink(found: Sink): Sink {
  if (found?.world === "sink") return found;
  throw new FaucetError("the default export of the plugin is not made by sink(), and a sink is being built");
}
