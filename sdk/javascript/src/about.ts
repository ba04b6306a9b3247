import { ConfigError } from "./errors";
import { check, type Schema, withDefaults } from "./schema";

/**
 * What a component asks for beyond its pages. It gets what it asks for here, the configuration grants, and the operator
 * allows: all three.
 */
export interface Wants {
  /** Hosts it sends HTTP requests to, as `host:port`; `*` = those the configuration grants. */
  http?: readonly string[];
  /** Folders it reads, by the absolute path under which it opens them (`/reference`). */
  dirs?: readonly string[];
  /** Folders it writes to. */
  writeDirs?: readonly string[];
  /** Environment variables it reads. */
  env?: readonly string[];
  /** Secrets it puts into requests, by name; `*` = those the configuration grants. */
  secrets?: readonly string[];
  /** The real time, instead of a clock that stands still. */
  clock?: boolean;
  /** Real randomness, instead of a fixed sequence. */
  random?: boolean;
}

/** What every component says about itself. */
export interface About {
  /** Short name, `[a-z0-9_-]+`. */
  name: string;
  /** Version of the component. */
  version: string;
  /** One sentence: what it does. */
  summary: string;
  /** JSON Schema (2020-12) of the configuration. Without one, any object will do. */
  schema?: Schema;
  /** What it needs beyond its pages; most components need nothing. */
  wants?: Wants;
}

/** The configuration, as JSON text, checked against the schema and with its defaults filled in; for the SDK. */
export function configured<Config>(about: About, text: string): Config {
  const config: unknown = JSON.parse(text);
  const schema = schemaOf(about);
  const problems = check(schema, config);
  if (problems.length > 0) throw new ConfigError(problems);
  return withDefaults(schema, config) as Config;
}

/** The schema of a component; for the SDK. */
export function schemaOf(about: About): Schema {
  return about.schema ?? { type: "object" };
}
