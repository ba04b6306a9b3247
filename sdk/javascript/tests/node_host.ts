// A host of Node's own, so that the SDK runs outside a component.
import { connect } from "../src/host";
import { connectRandom } from "../src/random";

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function decode(data: Uint8Array, offsets: Uint8Array): string[] {
  const ends = new DataView(offsets.buffer, offsets.byteOffset, offsets.byteLength);
  const end = (row: number) => ends.getInt32(row * 4, true);
  const text = (_: unknown, row: number) => decoder.decode(data.subarray(end(row), end(row + 1)));
  return Array.from({ length: offsets.byteLength / 4 - 1 }, text);
}

function encode(strings: string[]): [Uint8Array, Uint8Array] {
  const parts = strings.map((part) => new TextEncoder().encode(part));
  const offsets = new Int32Array(parts.length + 1);
  parts.forEach((part, row) => (offsets[row + 1] = offsets[row]! + part.length));
  return [new Uint8Array(Buffer.concat(parts)), new Uint8Array(offsets.buffer)];
}

/** Everything that was logged. */
export const logged: string[] = [];

const nothing = () => {};
const log = (level: string, message: string) => void logged.push(`${level}: ${message}`);
connect({ log, count: nothing, gauge: nothing, secrets: () => [] }, { decode, encode });

/** Bytes that count up. */
let next = 0;
connectRandom({ getRandomBytes: (length) => Uint8Array.from({ length }, () => next++) });
