/** What exists only inside a component: the console, the host's interfaces, and the project's own entry. */

/** Writes to the host's log. */
interface Console {
  debug(...parts: unknown[]): void;
  log(...parts: unknown[]): void;
  info(...parts: unknown[]): void;
  warn(...parts: unknown[]): void;
  error(...parts: unknown[]): void;
}

declare var console: Console;

declare module "faucet:connector/host@0.1.0" {
  const host: import("../src/wire").HostBindings;
  export default host;
}

declare module "faucet:connector/text@0.1.0" {
  const text: import("../src/wire").TextBindings;
  export default text;
}

declare module "wasi:random/random@0.2.12" {
  const random: import("../src/random").RandomBindings;
  export default random;
}

declare module "faucet-plugin" {
  const plugin: any;
  export default plugin;
}

declare module "wasi:filesystem/preopens@0.2.12" {
  export interface Descriptor {
    read(length: number, offset: number): [Uint8Array, boolean];
    write(buffer: Uint8Array, offset: number): number;
    sync(): void;
    stat(): { size: number };
    openAt(
      pathFlags: { symlinkFollow?: boolean },
      path: string,
      openFlags: { create?: boolean; truncate?: boolean },
      flags: { read?: boolean; write?: boolean },
    ): Descriptor;
    unlinkFileAt(path: string): void;
    renameAt(oldPath: string, folder: Descriptor, newPath: string): void;
  }
  const preopens: { getDirectories(): [Descriptor, string][] };
  export default preopens;
}

declare module "faucet:http/client@0.1.0" {
  export interface Request {
    method: string;
    url: string;
    headers: [string, string][];
    body: Uint8Array;
    timeoutMs?: number | undefined;
  }
  export interface Answer {
    status: number;
    headers: [string, string][];
    body: Uint8Array;
  }
  export interface Failure {
    tag: "unavailable" | "failed";
    val: string;
  }
  const client: { send(request: Request): Answer };
  export default client;
}
