// Builds a component: bundles the project's plugin with the SDK, and packs the bundle with QuickJS.
//
//   node build.mjs --plugin src/plugin.ts --world transform --wit wit --out plugin.wasm
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { componentize } from "componentize-qjs";
import { build } from "esbuild";

const WORLDS = ["transform", "source", "sink"];
const SDK = dirname(fileURLToPath(import.meta.url));

const options = { plugin: { type: "string" }, world: { type: "string" }, wit: { type: "string" }, out: { type: "string" } };

/** The arguments, all of which are needed. */
function args() {
  const { values } = parseArgs({ options });
  const missing = Object.keys(options).filter((name) => !values[name]);
  if (missing.length > 0) throw new Error(`--${missing.join(", --")} is missing`);
  if (!WORLDS.includes(values.world)) throw new Error(`--world must be one of ${WORLDS.join(", ")}`);
  return values;
}

/** One module of the plugin and the SDK. */
async function bundle({ plugin, world }) {
  const { outputFiles } = await build({
    entryPoints: [join(SDK, "component", `${world}.ts`)],
    alias: { "faucet-plugin": resolve(plugin), "faucet-sdk": join(SDK, "src", "index.ts") },
    bundle: true,
    external: ["faucet:*", "wasi:*"],
    format: "esm",
    keepNames: true,
    platform: "neutral",
    target: "es2024",
    write: false,
  });
  return outputFiles[0].text;
}

const { plugin, world, wit, out } = args();
const jsSource = await bundle({ plugin, world });
const { component } = await componentize({ witPath: resolve(wit), jsSource, world, sync: true });
await mkdir(dirname(resolve(out)), { recursive: true });
await writeFile(out, component);
