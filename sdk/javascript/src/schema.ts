/**
 * Checks a configuration against a JSON Schema, and fills in defaults.
 *
 * Knows the keywords of `Schema`; others are for readers only. No message contains a value of the configuration: it may
 * be a secret.
 */
import type { Problem } from "./errors";

export type TypeName = "object" | "array" | "string" | "boolean" | "integer" | "number" | "null";

/** A JSON Schema (2020-12). */
export interface Schema {
  type?: TypeName | readonly TypeName[];
  description?: string;
  enum?: readonly unknown[];
  const?: unknown;
  default?: unknown;
  properties?: Record<string, Schema>;
  required?: readonly string[];
  additionalProperties?: boolean | Schema;
  items?: Schema;
  anyOf?: readonly Schema[];
  minItems?: number;
  uniqueItems?: boolean;
  minProperties?: number;
  minLength?: number;
  minimum?: number;
  maximum?: number;
  [keyword: string]: unknown;
}

type Fields = Record<string, unknown>;

const isObject = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const TYPES: Record<TypeName, [words: string, test: (value: unknown) => boolean]> = {
  object: ["an object", isObject],
  array: ["a list", Array.isArray],
  string: ["text", (value) => typeof value === "string"],
  boolean: ["true or false", (value) => typeof value === "boolean"],
  integer: ["a whole number", Number.isInteger],
  number: ["a number", (value) => typeof value === "number"],
  null: ["null", (value) => value === null],
};

/** Everything that is wrong with `value`. */
export function check(schema: Schema, value: unknown, path = ""): Problem[] {
  const wanted = types(schema);
  if (wanted.length > 0 && !wanted.some((name) => TYPES[name][1](value))) {
    return [{ path, message: `expected ${words(wanted)}, found ${found(value)}` }];
  }
  const parts = [
    choice(schema, value, path),
    Array.isArray(value) ? list(schema, value, path) : isObject(value) ? fields(schema, value, path) : [],
    scalar(schema, value, path),
    anyOf(schema.anyOf ?? [], value, path),
  ];
  return parts.flat();
}

/** A copy of `value` with the defaults of the schema where it says nothing. */
export function withDefaults(schema: Schema, value: unknown): unknown {
  if (Array.isArray(value)) return schema.items ? value.map((item) => withDefaults(schema.items!, item)) : value;
  if (!isObject(value)) return value;
  const rest = isObject(schema.additionalProperties) ? (schema.additionalProperties as Schema) : {};
  const known = Object.entries(schema.properties ?? {});
  const defaults = known.flatMap(([name, part]) => ("default" in part ? [[name, part.default]] : []));
  const given = Object.entries(value).map(([name, item]) => [name, withDefaults(part(schema, name) ?? rest, item)]);
  return Object.fromEntries([...defaults, ...given]);
}

function part(schema: Schema, name: string): Schema | undefined {
  return Object.hasOwn(schema.properties ?? {}, name) ? schema.properties![name] : undefined;
}

function types(schema: Schema): readonly TypeName[] {
  if (schema.type === undefined) return [];
  return typeof schema.type === "string" ? [schema.type] : schema.type;
}

function words(names: readonly TypeName[]): string {
  return names.map((name) => TYPES[name][0]).join(" or ");
}

function found(value: unknown): string {
  return Object.values(TYPES).find(([, test]) => test(value))![0];
}

function choice(schema: Schema, value: unknown, path: string): Problem[] {
  const choices = "const" in schema ? [schema.const] : schema.enum;
  if (!choices || choices.includes(value)) return [];
  return [{ path, message: `expected ${choices.length > 1 ? "one of " : ""}${choices.join(", ")}` }];
}

function fields(schema: Schema, value: Fields, path: string): Problem[] {
  const missing = (schema.required ?? []).filter((name) => !Object.hasOwn(value, name));
  const problems = missing.map((name) => ({ path, message: `'${name}' is missing` }));
  problems.push(...tooFew(schema.minProperties, Object.keys(value).length, ["entry", "entries"], path));
  for (const [name, item] of Object.entries(value)) {
    problems.push(...field(schema, name, item, path ? `${path}.${name}` : name));
  }
  return problems;
}

function field(schema: Schema, name: string, item: unknown, path: string): Problem[] {
  const known = part(schema, name);
  const rest = schema.additionalProperties ?? true;
  if (known) return check(known, item, path);
  if (typeof rest === "object") return check(rest, item, path);
  const names = Object.keys(schema.properties ?? {}).join(", ") || "none";
  return rest ? [] : [{ path, message: `there is no such setting; there is ${names}` }];
}

function list(schema: Schema, value: unknown[], path: string): Problem[] {
  const problems = tooFew(schema.minItems, value.length, ["entry", "entries"], path);
  if (schema.uniqueItems && new Set(value).size < value.length) {
    problems.push({ path, message: "names the same thing twice" });
  }
  value.forEach((item, at) => problems.push(...check(schema.items ?? {}, item, `${path}[${at}]`)));
  return problems;
}

function scalar(schema: Schema, value: unknown, path: string): Problem[] {
  if (typeof value === "string") return tooFew(schema.minLength, value.length, ["character", "characters"], path);
  if (typeof value !== "number") return [];
  const { minimum = value, maximum = value } = schema;
  if (value < minimum) return [{ path, message: `must be at least ${minimum}` }];
  return value > maximum ? [{ path, message: `must be at most ${maximum}` }] : [];
}

/** The problems of the schema that is meant for this type of value, if none of them fits. */
function anyOf(schemas: readonly Schema[], value: unknown, path: string): Problem[] {
  const tried = schemas.map((each) => ({ each, problems: check(each, value, path) }));
  if (tried.length === 0 || tried.some(({ problems }) => problems.length === 0)) return [];
  const meant = tried.find(({ each }) => types(each).some((name) => TYPES[name][1](value)));
  const wanted = schemas.flatMap((each) => types(each));
  return meant?.problems ?? [{ path, message: `expected ${words(wanted)}, found ${found(value)}` }];
}

function tooFew(least: number | undefined, count: number, thing: [string, string], path: string): Problem[] {
  if (least === undefined || count >= least) return [];
  return [{ path, message: `needs at least ${least} ${thing[least === 1 ? 0 : 1]}` }];
}
