/** The component of a transform. The names in here are those of the WIT package. */
import host from "faucet:connector/host@0.1.0";
import text from "faucet:connector/text@0.1.0";
import plugin from "faucet-plugin";
import random from "wasi:random/random@0.2.12";
import { configured } from "../src/about";
import { described, guarded, output, pageIn } from "../src/crossing";
import { FaucetError } from "../src/errors";
import { connect } from "../src/host";
import { connectRandom } from "../src/random";
import { type Apply, pagesOut, type Transform as Definition } from "../src/transform";
import type { WirePage } from "../src/wire";

connect(host, text);
connectRandom(random);
const definition = expectTransform(plugin);

class Transform {
  constructor(private readonly transform: Apply) {}

  apply(wire: WirePage) {
    return guarded(() => {
      const page = pageIn(wire);
      return output(page, pagesOut(this.transform(page)));
    });
  }
}

export const transforms = {
  Transform,

  describe() {
    return { ...described(definition), deterministic: definition.deterministic ?? true };
  },

  open(config: string) {
    return guarded(() => new Transform(definition.open(configured(definition, config))));
  },
};

function expectTransform(found: Definition): Definition {
  if (found?.world === "transform") return found;
  throw new FaucetError("the default export of the plugin is not made by transform(), and a transform is being built");
}
