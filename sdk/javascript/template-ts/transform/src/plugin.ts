// Hides the values of text columns.
import { ConfigError, FaucetError, Sha256, toHex, transform, type Column, type Page, type Schema } from "faucet-sdk";

type Method = "hash" | "redact";

/** How to mask a column; what is left out comes from the settings beside `columns`. */
interface Rule {
  method?: Method;
  salt?: string;
  text?: string;
}

interface Config extends Rule {
  columns: string[] | Record<string, Rule>;
  on_missing: "error" | "ignore";
}

/** What to do to a column. */
interface Mask {
  name: string;
  method: Method;
  salt: string;
  text: string;
}

const RULE: Record<string, Schema> = {
  method: { enum: ["hash", "redact"], description: "How to mask. Default: redact." },
  salt: { type: "string", description: "For hash: text put before the value." },
  text: { type: "string", description: "For redact: what to write. Default: ***." },
};

// Which method a setting belongs to: with another one it would do nothing, so it is a mistake there.
const OWNERS = { salt: "hash", text: "redact" } as const;

export default transform<Config>({
  name: "NAME",
  version: "0.1.0",
  summary: "Hides the values of text columns: hash or redact",
  schema: {
    type: "object",
    properties: {
      columns: {
        description: "The columns to mask: a list, or an object from column to its own settings.",
        anyOf: [
          { type: "array", items: { type: "string" }, minItems: 1, uniqueItems: true },
          {
            type: "object",
            minProperties: 1,
            additionalProperties: { type: "object", properties: RULE, additionalProperties: false },
          },
        ],
      },
      ...RULE,
      on_missing: {
        enum: ["error", "ignore"],
        default: "error",
        description: "What to do if a table has no such column.",
      },
    },
    required: ["columns"],
    additionalProperties: false,
  },

  open(config) {
    const { columns } = config;
    const rules = Array.isArray(columns)
      ? Object.fromEntries(columns.map((name): [string, Rule] => [name, {}]))
      : columns;
    const masks = Object.entries(rules).map(([name, rule]) => maskOf(name, rule, config));
    return (page) => {
      const out = page.output();
      for (const mask of masks) {
        const column = config.on_missing === "ignore" ? page.find(mask.name) : page.column(mask.name);
        if (column) out.set(masked(page, column, mask));
      }
      return out;
    };
  },
});

/** What to do to a column: its own settings, or else those beside `columns`. */
function maskOf(name: string, rule: Rule, defaults: Rule): Mask {
  const method = rule.method ?? defaults.method ?? "redact";
  for (const [setting, owner] of Object.entries(OWNERS)) {
    if (setting in rule && owner !== method) {
      throw new ConfigError(`columns.${name}.${setting}`, `belongs to method ${owner}, and this column has ${method}`);
    }
  }
  return { name, method, salt: rule.salt ?? defaults.salt ?? "", text: rule.text ?? defaults.text ?? "***" };
}

function masked(page: Page, column: Column, { name, method, salt, text }: Mask): Column {
  if (column.kind !== "text" && column.kind !== "native") {
    throw new FaucetError(`column '${name}' is ${column.kind}: only text can be masked; cast it to text before`);
  }
  if (method === "hash") return hashed(column, salt);
  if (page.key.includes(name)) {
    throw new FaucetError(
      `column '${name}' is part of the key of table '${page.table}', and this method makes distinct keys equal; ` +
        "use method hash for it",
    );
  }
  return column.mapText(() => text);
}

/** SHA-256 of salt and value, as 64 hex digits. */
function hashed(column: Column, salt: string): Column {
  const salted = new Sha256().updateText(salt);
  const values = column.slices;
  return column.mapText((_, row) => toHex(new Sha256(salted).update(values[row]!).digest()));
}
