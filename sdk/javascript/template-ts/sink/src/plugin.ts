// Writes rows as JSON lines.
import { ABSENT, ConfigError, sink, toHex, type Row, type Value } from "faucet-sdk";
import { OpenFile } from "faucet-sdk/files";

interface Config {
  file: string;
}

const FOLDER = "/out";
const NUMBERS = ["boolean", "int64", "uint64", "float32", "float64"];
const TIMES = ["date", "time", "timestamp", "timestamptz", "interval"];

export default sink<Config>({
  name: "NAME",
  version: "0.1.0",
  summary: "Writes rows as JSON lines to a file in a folder that the configuration grants",
  wants: { writeDirs: [FOLDER] },
  schema: {
    type: "object",
    properties: {
      file: { type: "string", default: "rows.jsonl", description: "Name of the file in the folder /out." },
    },
    additionalProperties: false,
  },

  capabilities({ file }) {
    if (file === "" || file.includes("/"))
      throw new ConfigError("file", "must be the name of a file, without a folder");
    return { evolves: true };
  },

  open({ file }) {
    const out = OpenFile.open(`${FOLDER}/${file}`, { write: true, create: true });
    return {
      write(pages) {
        for (const page of pages) {
          const lines = Array.from(page.rows(), (row) => line(row) + "\n");
          out.appendText(lines.join(""));
        }
      },
      commit() {
        out.sync();
      },
    };
  },
});

/** A row as a JSON object; what it says nothing about is left out. */
function line(row: Row): string {
  const said = row.entries().filter(([, value]) => value !== ABSENT);
  return `{${said.map(([name, value]) => `${JSON.stringify(name)}:${cell(row, name, value)}`).join(",")}}`;
}

/** The JSON text of a value: exact numbers, ISO 8601 for times, hex for bytes, documents as they are, or else text. */
function cell(row: Row, name: string, value: Value): string {
  const { kind } = row.page.column(name);
  if (value === null) return "null";
  if (NUMBERS.includes(kind) && (typeof value !== "number" || Number.isFinite(value))) return String(value);
  if (kind === "json") return String(value).replace(/[\r\n]+/g, " ");
  if (TIMES.includes(kind)) return JSON.stringify(row.iso(name));
  return JSON.stringify(value instanceof Uint8Array ? toHex(value) : String(value));
}
