// Builds a component: bundles the project's plugin with the SDK, and packs the bundle with QuickJS.
//
//   node build.mjs --plugin src/plugin.ts --world transform --wit wit --out plugin.wasm
import { cp, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { componentize } from "componentize-qjs";
import { build } from "esbuild";

const WORLDS = ["transform", "source", "sink"];
const SDK = dirname(fileURLToPath(import.meta.url));

const options = {
  plugin: { type: "string" },
  world: { type: "string" },
  wit: { type: "string" },
  out: { type: "string" },
};

/** The arguments, all of which are needed. */
function args() {
  const { values } = parseArgs({ options });
  const missing = Object.keys(options).filter((name) => !values[name]);
  if (missing.length > 0) throw new Error(`--${missing.join(", --")} is missing`);
  if (!WORLDS.includes(values.world)) throw new Error(`--world must be one of ${WORLDS.join(", ")}`);
  return values;
}

/** One module of the plugin and the SDK, and the host's interfaces that it imports. */
async function bundle({ plugin, world }) {
  const { outputFiles, metafile } = await build({
    entryPoints: [join(SDK, "component", `${world}.ts`)],
    alias: {
      "faucet-plugin": resolve(plugin),
      "faucet-sdk": join(SDK, "src", "index.ts"),
      "faucet-sdk/files": join(SDK, "src", "files.ts"),
      "faucet-sdk/http": join(SDK, "src", "http.ts"),
    },
    bundle: true,
    external: ["faucet:*", "wasi:*"],
    format: "esm",
    metafile: true,
    outfile: "plugin.js",
    platform: "neutral",
    target: "es2024",
    write: false,
  });
  const imports = Object.values(metafile.outputs)[0].imports.map(({ path }) => path);
  const beyond = imports.filter((path) => path.startsWith("wasi:") || path.startsWith("faucet:http/"));
  return { jsSource: outputFiles[0].text, interfaces: beyond };
}

/** A WIT package with one world, `plugin`: the one that is built, and what the plugin imports beyond it. */
async function writeWit(folder, { world, wit }, interfaces) {
  await cp(join(SDK, "wasi"), join(folder, "deps"), { recursive: true });
  await cp(wit, join(folder, "deps", "connector"), { recursive: true });
  const imports = interfaces.map((path) => `import ${path};`).join(" ");
  const text = `package faucet:plugin; world plugin { include faucet:connector/${world}@0.1.0; ${imports} }\n`;
  await writeFile(join(folder, "plugin.wit"), text);
}

const given = args();
const { jsSource, interfaces } = await bundle(given);
const witPath = await mkdtemp(join(tmpdir(), "faucet-"));
try {
  await writeWit(witPath, given, interfaces);
  const { component } = await componentize({ witPath, jsSource, world: "plugin", sync: true });
  await mkdir(dirname(resolve(given.out)), { recursive: true });
  await writeFile(given.out, component);
} finally {
  await rm(witPath, { recursive: true });
}
