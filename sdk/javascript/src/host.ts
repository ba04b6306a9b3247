import type { HostBindings, Level, TextBindings } from "./wire";

// Outside a component there is no host: messages go to the console, and texts are coded by the engine.
let host: HostBindings | undefined;
let text: TextBindings | undefined;

/** Connects the SDK to the host; for the SDK. An engine without a console gets one that writes to the host's log. */
export function connect(hostBindings: HostBindings, textBindings: TextBindings): void {
  host = hostBindings;
  text = textBindings;
  globalThis.console ??= consoleOf(hostBindings);
}

/** Writes a line to the host's log. Never log a cell value or a secret. */
export function log(level: Level, message: string): void {
  if (host) host.log(level, message);
  else console.error(`${level}: ${message}`);
}

/** Adds to a counter of the component, `[a-z0-9_]+`. */
export function count(metric: string, by = 1): void {
  host?.count(metric, by);
}

/** Sets a gauge of the component, `[a-z0-9_]+`. */
export function gauge(metric: string, value: number): void {
  host?.gauge(metric, value);
}

/**
 * Names of the secrets the component may use. It never sees their values: where a header or the path of an HTTP request
 * contains `${secret:NAME}`, the host puts the value there.
 */
export function secrets(): string[] {
  return host?.secrets() ?? [];
}

/** The texts of a column. QuickJS has no decoder, and one written in it takes twenty times as long as the host. */
export function decodeTexts(data: Uint8Array, offsets: Uint8Array): string[] {
  if (text) return text.decode(data, offsets);
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  const ends = new DataView(offsets.buffer, offsets.byteOffset, offsets.byteLength);
  const end = (row: number) => ends.getInt32(row * 4, true);
  const decode = (_: unknown, row: number) => decoder.decode(data.subarray(end(row), end(row + 1)));
  return Array.from({ length: offsets.byteLength / 4 - 1 }, decode);
}

/** The buffers (data, offsets) of a column of texts. */
export function encodeTexts(texts: string[]): [Uint8Array, Uint8Array] {
  if (text) return text.encode(texts);
  const parts = texts.map((part) => new TextEncoder().encode(part));
  const offsets = new Int32Array(parts.length + 1);
  parts.forEach((part, row) => (offsets[row + 1] = offsets[row]! + part.length));
  const data = new Uint8Array(offsets[parts.length]!);
  parts.forEach((part, row) => data.set(part, offsets[row]));
  return [data, new Uint8Array(offsets.buffer)];
}

function consoleOf(host: HostBindings): Console {
  const writer = (level: Level) => (...parts: unknown[]) => host.log(level, parts.map(String).join(" "));
  const [debug, info, warn, error] = [writer("debug"), writer("info"), writer("warn"), writer("error")];
  return { debug, trace: debug, log: info, info, warn, error } as unknown as Console;
}
