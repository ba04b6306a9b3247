/**
 * The page, or the call, can't be processed, and trying again would not help. The message is one sentence, and never
 * has a cell value or a secret in it: it ends up in logs.
 */
export class FaucetError extends Error {
  override name = "FaucetError";
}

/** The other end can't answer now. The host tries again later, on a fresh instance. */
export class Unavailable extends FaucetError {
  override name = "Unavailable";
}

/** The component does not offer this. */
export class Unsupported extends FaucetError {
  override name = "Unsupported";
}

/** One thing wrong with a configuration. */
export interface Problem {
  /** Dotted path from its start (`columns.email.method`, `fields[0]`); empty for all of it. */
  path: string;
  /** What is wrong, one sentence. */
  message: string;
}

/** The configuration can't be used. */
export class ConfigError extends FaucetError {
  override name = "ConfigError";
  /** Everything that is wrong, so that a user can mend all of it at once. */
  readonly problems: Problem[];

  constructor(path: string, message: string);
  constructor(problems: Problem[]);
  constructor(first: string | Problem[], message = "") {
    const problems = typeof first === "string" ? [{ path: first, message }] : first;
    super(problems.map((problem) => (problem.path ? `${problem.path}: ` : "") + problem.message).join("; "));
    this.problems = problems;
  }
}
