/** Gives back every page as it is: what an SDK must be able to do. */
import { ColumnBuilder, transform, type Page, type PageOut } from "faucet-sdk";

interface Config {
  mode: "values" | "pass";
}

export default transform<Config>({
  name: "echo-javascript",
  version: "0.1.0",
  summary: "Gives back every page as it is, value by value or untouched",
  schema: {
    type: "object",
    properties: { mode: { enum: ["values", "pass"], description: "Whether to read and write every value." } },
    required: ["mode"],
    additionalProperties: false,
  },
  open:
    ({ mode }) =>
    (page) =>
      mode === "values" ? rewritten(page) : page.output(),
});

function rewritten(page: Page): PageOut {
  const builders = page.columns.map(({ name, kind, native }) => new ColumnBuilder(name, kind, native));
  for (const row of page.rows()) {
    for (const builder of builders) builder.push(row.get(builder.name));
  }
  const out = page.output();
  for (const builder of builders) out.set(builder.finish());
  return out;
}
