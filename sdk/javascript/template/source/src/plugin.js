// Counts from one number to another.
import { bookmarkAt, bookmarkState, ConfigError, PageBuilder, source } from "faucet-sdk";

const ROW_BYTES = 8;

// Numbers of a configuration are exact up to here.
const WHOLE = { type: "integer", minimum: 0, maximum: Number.MAX_SAFE_INTEGER - 1 };

export default source({
  name: "NAME",
  version: "0.1.0",
  summary: "Counts from `start` to `end`",
  schema: {
    type: "object",
    properties: {
      start: { ...WHOLE, default: 1, description: "The first number." },
      end: { ...WHOLE, description: "The number to stop before." },
      page_rows: { type: "integer", minimum: 1, default: 1000, description: "Rows of a page, at most." },
    },
    required: ["end"],
    additionalProperties: false,
  },

  capabilities({ start, end }) {
    if (end < start) throw new ConfigError("end", "comes before start");
    return { replayable: true };
  },

  open({ start, end, page_rows }, bookmark) {
    let next = bookmark ? bookmarkState(bookmark).next : start;
    return {
      read(maxBytes) {
        const rows = Math.min(page_rows, Math.max(1, Math.floor(maxBytes / ROW_BYTES)), end - next);
        if (rows <= 0) return null;
        const page = new PageBuilder({ table: "numbers", key: ["n"] }, { n: "int64" });
        for (const last = next + rows; next < last; next++) page.push({ n: BigInt(next) });
        return { pages: [page.finish()], bookmark: bookmarkAt(BigInt(next), { next }) };
      },
    };
  },
});
