/** Random numbers of the host: real where the plugin asks for them and gets them, and else a fixed sequence. */

/** WASI's interface. */
export interface RandomBindings {
  getRandomBytes(length: number): Uint8Array;
}

let host: RandomBindings;

/**
 * Puts the host's numbers behind `Math.random` and `crypto`; for the SDK. QuickJS seeds its own as the component is built,
 * and would give the same ones in every instance; it has no `crypto`, which packages for UUIDs look for.
 */
export function connectRandom(bindings: RandomBindings): void {
  host = bindings;
  Math.random = () => {
    const [number] = new BigUint64Array(randomBytes(8).buffer);
    return Number(number! >> 11n) / 2 ** 53;
  };
  (globalThis as { crypto?: unknown }).crypto ??= { getRandomValues, randomUUID };
}

/** So many random bytes. */
export function randomBytes(length: number): Uint8Array<ArrayBuffer> {
  return host.getRandomBytes(length).slice();
}

/** A random UUID (version 4 of RFC 9562). */
export function randomUUID(): string {
  const bytes = randomBytes(16);
  bytes[6] = (bytes[6]! & 0x0f) | 0x40;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

function getRandomValues<T extends ArrayBufferView>(array: T): T {
  new Uint8Array(array.buffer, array.byteOffset, array.byteLength).set(randomBytes(array.byteLength));
  return array;
}
