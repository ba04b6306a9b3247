import type { HostBindings, Level, TextBindings } from "./wire";

let host: HostBindings;
let text: TextBindings;

/** Connects the SDK to the host; for the SDK. QuickJS has no console, so there is one that writes to the host's log. */
export function connect(hostBindings: HostBindings, textBindings: TextBindings): void {
  host = hostBindings;
  text = textBindings;
  globalThis.console ??= consoleOf();
}

/** Writes a line to the host's log. Never log a cell value or a secret. */
export function log(level: Level, message: string): void {
  host.log(level, message);
}

/** Adds to a counter of the component, `[a-z0-9_]+`. */
export function count(metric: string, by = 1): void {
  host.count(metric, by);
}

/** Sets a gauge of the component, `[a-z0-9_]+`. */
export function gauge(metric: string, value: number): void {
  host.gauge(metric, value);
}

/**
 * Names of the secrets the component may use. It never sees their values: where a header or the path of an HTTP request
 * contains `${secret:NAME}`, the host puts the value there.
 */
export function secrets(): string[] {
  return host.secrets();
}

/** The texts of a column. QuickJS has no decoder, and one written in it takes twenty times as long as the host. */
export function decodeTexts(data: Uint8Array, offsets: Uint8Array): string[] {
  return text.decode(data, offsets);
}

/** The buffers (data, offsets) of a column of texts. */
export function encodeTexts(texts: string[]): [Uint8Array, Uint8Array] {
  return text.encode(texts);
}

function consoleOf(): Console {
  const writer =
    (level: Level) =>
    (...parts: unknown[]) =>
      log(level, parts.map(String).join(" "));
  return {
    debug: writer("debug"),
    log: writer("info"),
    info: writer("info"),
    warn: writer("warn"),
    error: writer("error"),
  };
}
