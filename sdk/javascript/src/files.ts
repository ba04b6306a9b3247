/** Files in folders that the configuration grants. A component says in `wants` which folders it opens. */
import preopens, { type Descriptor } from "wasi:filesystem/preopens@0.2.12";
import { FaucetError } from "./errors";
import { decodeTexts, encodeTexts } from "./host";

/** How a file is opened. */
export interface OpenFlags {
  /** To write to it. */
  write?: boolean;
  /** If it is not there, make it. */
  create?: boolean;
  /** Empty it. */
  truncate?: boolean;
}

const PIECE = 1 << 20;

/** An open file. */
export class OpenFile {
  private constructor(
    private readonly descriptor: Descriptor,
    readonly path: string,
  ) {}

  /** Opens a file by its absolute path, which begins with the name of a granted folder. */
  static open(path: string, { write = false, create = false, truncate = false }: OpenFlags = {}): OpenFile {
    const [folder, name] = locate(path);
    const flags = { read: true, write };
    return attempt(path, () => {
      const descriptor = folder.openAt({ symlinkFollow: true }, name, { create, truncate }, flags);
      return new OpenFile(descriptor, path);
    });
  }

  /** Its length in bytes. */
  get size(): number {
    return attempt(this.path, () => this.descriptor.stat().size);
  }

  /** Everything in it. */
  read(): Uint8Array {
    const out = new Uint8Array(this.size);
    for (let at = 0, ended = false; !ended && at < out.length;) {
      const [piece, last] = attempt(this.path, () => this.descriptor.read(Math.min(PIECE, out.length - at), at));
      out.set(piece, at);
      at += piece.length;
      ended = last;
    }
    return out;
  }

  /** Everything in it, as UTF-8. */
  readText(): string {
    const data = this.read();
    return decodeTexts(data, new Uint8Array(new Int32Array([0, data.length]).buffer))[0]!;
  }

  /** Writes bytes at the end. */
  append(data: Uint8Array): void {
    let end = this.size;
    for (let at = 0; at < data.length;) {
      const written = attempt(this.path, () => this.descriptor.write(data.subarray(at, at + PIECE), end));
      at += written;
      end += written;
    }
  }

  /** Writes text at the end, as UTF-8. */
  appendText(text: string): void {
    this.append(encodeTexts([text])[0]);
  }

  /** Returns when everything written is on the disk. */
  sync(): void {
    attempt(this.path, () => this.descriptor.sync());
  }
}

/** Removes a file. */
export function removeFile(path: string): void {
  const [folder, name] = locate(path);
  attempt(path, () => folder.unlinkFileAt(name));
}

/** Gives a file another name in the same folder, in place of the file that has it. */
export function renameFile(path: string, newName: string): void {
  const [folder, name] = locate(path);
  const parent = name.slice(0, name.lastIndexOf("/") + 1);
  attempt(path, () => folder.renameAt(name, folder, parent + newName));
}

/** The granted folder that holds a path, and the rest of the path. */
function locate(path: string): [Descriptor, string] {
  const granted = preopens.getDirectories();
  const found = granted.find(([, name]) => path.startsWith(name.endsWith("/") ? name : `${name}/`));
  if (!found) throw new FaucetError(`${path} is in no folder that the configuration grants`);
  return [found[0], path.slice(found[1].length).replace(/^\/+/, "")];
}

function attempt<T>(path: string, call: () => T): T {
  try {
    return call();
  } catch (error) {
    throw error instanceof Error ? error : new FaucetError(`${path}: ${String(error)}`);
  }
}
