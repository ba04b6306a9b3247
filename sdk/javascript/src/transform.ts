import type { About } from "./about";
import { FaucetError } from "./errors";
import type { PageOut } from "./output";
import type { Page } from "./page";

/**
 * Transforms one page: returns an output page or a list of them; an empty list filters every row out. State kept
 * between calls must be a cache, never a result: a page may be tried again on a fresh instance.
 */
export type Apply = (page: Page) => PageOut | PageOut[];

/** What the author of a transform writes. */
export interface TransformDefinition<Config> extends About {
  /** Whether the same page always gives the same output; true unless said otherwise. */
  deterministic?: boolean;
  /** Checks the configuration beyond its schema, and gives back the function that transforms pages. */
  open(config: Config): Apply;
}

/** A component that changes rows; the default export of `plugin.ts` or `plugin.js`. */
export interface Transform extends TransformDefinition<any> {
  world: "transform";
}

/**
 * Defines a transform.
 *
 * ```
 * export default transform({
 *   name: "uppercase", version: "0.1.0", summary: "Turns text columns to upper case",
 *   open: ({ columns }) => (page) => page.output().mapText(columns, (text) => text.toUpperCase()),
 * });
 * ```
 */
export function transform<Config = any>(definition: TransformDefinition<Config>): Transform {
  return { ...definition, world: "transform" };
}

/** What a transform returned as a list; for the SDK. */
export function pagesOut(answer: PageOut | PageOut[]): PageOut[] {
  const pages = Array.isArray(answer) ? answer : [answer];
  if (pages.every((page) => typeof page?.finish === "function")) return pages;
  throw new FaucetError("the transform must return page.output(), or a list of such pages");
}
