// What the conformance vectors don't reach: refusals, conversions, outputs and configurations.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { logged } from "./node_host";
import { guarded, output } from "../src/crossing";
import * as sdk from "../src/index";
import { Page } from "../src/page";
import { check, withDefaults } from "../src/schema";

const { ABSENT, Column } = sdk;

function page(): Page {
  const text = Column.of("name", "text", ["a", null, ABSENT, "ü"]);
  const id = Column.of("id", "int64", [1n, 2n, 3n, 4n]);
  const columns = [id, text].map((column, index) => new Column(column.wire, 4, index));
  return new Page({ table: "t", key: ["id"] }, columns);
}

function refused(act: () => unknown, message: RegExp): void {
  assert.throws(act, (error) => error instanceof sdk.FaucetError && message.test(error.message));
}

test("a column refuses what it can't hold exactly", () => {
  refused(
    () => Column.of("n", "int64", [2n ** 63n]),
    /column 'n' is int64: it can't hold a number that large \(row 0\)/,
  );
  refused(() => Column.of("n", "int64", [1n, 2 ** 53]), /use a bigint \(row 1\)/);
  refused(() => Column.of("n", "uint64", [-1n]), /that large/);
  refused(() => Column.of("n", "float32", [1e39]), /that large/);
  refused(() => Column.of("n", "date", [0.5]), /whole days/);
  refused(() => Column.of("t", "text", ["\ud83d", "\ude00"]), /surrogate pair \(row 0\)/);
  refused(() => Column.of("t", "text", [1n]), /it takes no bigint/);
  refused(() => Column.of("u", "uuid", ["xyz"]), /no UUID/);
  refused(() => Column.of("x", "native", ["1"]), /does not say which type/);
});

test("numbers that are exact become integers", () => {
  assert.deepEqual([...Column.of("n", "int64", [5, -3n]).numbers], [5n, -3n]);
});

test("NaN payloads and minus zero stay in the buffers", () => {
  const data = new Uint8Array(new BigUint64Array([0x7ff0000000000bedn]).buffer);
  const wire = { ...Column.of("f", "float64", [0]).wire, data };
  assert.equal(new Column(wire, 1, 0).named("g").wire.data, data);
  assert.ok(Object.is(Column.of("f", "float64", [-0]).at(0), -0));
});

test("rows read values, null and absent", () => {
  const rows = [...page().rows()];
  assert.deepEqual(
    rows.map((row) => row.get("name")),
    ["a", null, ABSENT, "ü"],
  );
  assert.deepEqual(rows[2]!.toObject(), { id: 3n });
  assert.equal(rows[0]!.find("other"), ABSENT);
  refused(() => rows[0]!.get("other"), /table 't' has no column 'other' \(it has id, name\)/);
});

test("an output keeps, renames, filters and rejects", () => {
  const input = page();
  input.reject(3, "no good");
  const out = input
    .output()
    .rename("id", "key")
    .put("size", "int64", [1n, 2n, 3n, 4n])
    .keep((row) => row.get("id") !== 1n);
  const { pages, rejected } = output(input, [out]);
  assert.deepEqual(rejected, [{ row: 3, reason: "no good" }]);
  assert.equal(pages[0]!.rows, 2);
  assert.deepEqual([...new Uint32Array(pages[0]!.selection!.buffer)], [1, 2]);
  assert.deepEqual(pages[0]!.columns[0], { tag: "input", val: { index: 0, name: "key" } });
  assert.equal(pages[0]!.key, null);
  const size = pages[0]!.columns[2]!;
  assert.ok(size.tag === "buffers");
  assert.deepEqual([...new BigInt64Array(size.val.data.buffer)], [2n, 3n]);
});

test("repeated rows take columns of the output's length", () => {
  const input = page();
  const out = input.output().repeat([0, 0, 3]).put("at", "int64", [0n, 1n, 0n]);
  refused(() => out.put("x", "int64", [1n, 2n, 3n, 4n]), /has 4 values for 3 rows/);
  input.reject(3, "no");
  const [changed] = output(input, [out]).pages;
  assert.equal(changed!.rows, 2);
  refused(() => page().output().repeat([1, 0]), /order of the page/);
});

test("a copied key column does not move the key", () => {
  const input = page();
  const out = input.output().set(input.column("id").named("copy"));
  assert.deepEqual(output(input, [out]).pages[0]!.key, ["id"]);
});

test("times have an ISO text", () => {
  assert.equal(sdk.toIso("date", 19782), "2024-02-29");
  assert.equal(sdk.toIso("date", -719529), "-0001-12-31");
  assert.equal(sdk.toIso("date", 2932897), "+10000-01-01");
  assert.equal(sdk.toIso("time", 86_400_000_000n), "24:00:00");
  assert.equal(sdk.toIso("timestamptz", -1n), "1969-12-31T23:59:59.999999Z");
  assert.equal(sdk.toIso("timestamp", 2n ** 63n - 1n), "infinity");
  assert.equal(sdk.toIso("interval", { months: 14, days: -3, microseconds: -4_500_000n }), "P14M-3DT-4.5S");
  for (let day = -800_000; day < 800_000; day += 997) {
    const [want] = new Date(day * 86_400_000).toISOString().split("T");
    assert.equal(sdk.toIso("date", day).slice(-5), want!.slice(-5));
  }
  assert.equal(sdk.toDate("timestamptz", -1n).getTime(), -1);
  refused(() => sdk.toDate("timestamp", 2n ** 63n - 1n), /can't hold/);
});

test("SHA-256 is SHA-256", () => {
  for (const length of [0, 1, 3, 55, 56, 63, 64, 65, 119, 120, 1000]) {
    const data = new Uint8Array(length).map((_, at) => at * 7);
    const want = createHash("sha256").update(data).digest("hex");
    const hash = new sdk.Sha256().update(data.subarray(0, length >> 1));
    assert.equal(sdk.toHex(new sdk.Sha256(hash).update(data.subarray(length >> 1)).digest()), want, `${length}`);
  }
});

test("random numbers are the host's", () => {
  const [first] = sdk.randomBytes(1);
  const at = (offset: number) => (first! + offset) & 0xff;
  const top = Array.from({ length: 8 }, (_, index) => BigInt(at(1 + index)) << BigInt(8 * index));
  assert.equal(Math.random(), Number(top.reduce((sum, byte) => sum | byte) >> 11n) / 2 ** 53);
  assert.match(sdk.randomUUID(), /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  assert.equal(sdk.randomBytes(1)[0], at(25));
});

test("a configuration is checked, and its defaults are filled in", () => {
  const schema: sdk.Schema = {
    type: "object",
    properties: {
      mode: { enum: ["a", "b"], default: "a" },
      rules: {
        type: "array",
        items: { type: "object", properties: { n: { type: "integer", minimum: 1 } } },
        minItems: 1,
      },
    },
    required: ["rules"],
    additionalProperties: false,
  };
  const wrong = (config: unknown) => check(schema, config).map(({ path, message }) => `${path}: ${message}`);
  assert.deepEqual(wrong({ rules: [{ n: 1 }] }), []);
  assert.deepEqual(wrong({ mode: "c", rules: [{ n: 0 }, { n: "x" }], z: 1 }), [
    "mode: expected one of a, b",
    "rules[0].n: must be at least 1",
    "rules[1].n: expected a whole number, found text",
    "z: there is no such setting; there is mode, rules",
  ]);
  assert.deepEqual(wrong({}), [": 'rules' is missing"]);
  assert.deepEqual(withDefaults(schema, { rules: [] }), { mode: "a", rules: [] });
});

test("whatever is thrown becomes an error of the boundary", () => {
  const thrown = (error: unknown) => {
    try {
      guarded(() => {
        throw error;
      });
    } catch (found) {
      return found;
    }
  };
  const problem = { path: "a.b", message: "is wrong" };
  assert.deepEqual(thrown(new sdk.ConfigError("a.b", "is wrong")), { tag: "invalid-config", val: [problem] });
  assert.deepEqual(thrown(new sdk.Unavailable("later")), { tag: "unavailable", val: "later" });
  assert.deepEqual(thrown(new sdk.Unsupported("no")), { tag: "unsupported", val: "no" });
  assert.deepEqual(thrown("text"), { tag: "failed", val: "the plugin threw string instead of an Error" });
  const quoting = new SyntaxError("unexpected token: 'ada@example.com'");
  assert.deepEqual(thrown(quoting), { tag: "failed", val: "SyntaxError: unexpected token: '...'" });
  assert.deepEqual(thrown(new TypeError("odd")), { tag: "failed", val: "TypeError: odd" });
  assert.match(logged.at(-1)!, /^error: TypeError: odd\n.*sdk\.test/s);
});

test("changes have what they were before", () => {
  const builder = new sdk.ChangePageBuilder({ table: "t", key: ["id"] }, { id: "int64", name: "text" });
  const at = (last: number) => new Uint8Array([0, last]);
  builder.created({ id: 1n, name: "a" }, at(1), 10n);
  builder.deleted({ id: 1n }, at(2), 20n);
  const { ops, before, page: after } = builder.finish();
  assert.equal(String.fromCharCode(...ops), "cd");
  assert.deepEqual(
    before!.columns.map((column) => column.at(1)),
    [1n, ABSENT],
  );
  assert.equal(after.column("id").at(1), ABSENT);
  refused(() => builder.truncated(new Uint8Array(1), 30n), /same length/);
});
