import { encodeTexts } from "./host";

// The first 32 bits of the fractional parts of the cube roots of the first 64 primes (FIPS 180-4, 4.2.2).
const ROUND = constants(64, 1 / 3);

// The same of the square roots of the first 8 primes (FIPS 180-4, 5.3.3).
const INITIAL = constants(8, 1 / 2);

const BLOCK = 64;

// The message schedule; one is enough, as a block is compressed in one go. A plain array is what QuickJS reads fastest.
const words = new Array<number>(64).fill(0);

/** SHA-256. QuickJS has no crypto, and a hash is the usual way to hide a value and keep its joins. */
export class Sha256 {
  private readonly state: Int32Array;
  private readonly block: Uint8Array;
  private length: number;

  constructor(from?: Sha256) {
    this.state = from?.state.slice() ?? new Int32Array(INITIAL);
    this.block = from?.block.slice() ?? new Uint8Array(BLOCK);
    this.length = from?.length ?? 0;
  }

  /** Takes in more bytes. */
  update(data: Uint8Array): this {
    let used = this.length % BLOCK;
    this.length += data.length;
    for (let at = 0; at < data.length;) {
      const taken = Math.min(BLOCK - used, data.length - at);
      this.block.set(data.subarray(at, at + taken), used);
      at += taken;
      used += taken;
      if (used === BLOCK) {
        this.compress();
        used = 0;
      }
    }
    return this;
  }

  /** Takes in text, as UTF-8. */
  updateText(text: string): this {
    return this.update(encodeTexts([text])[0]);
  }

  /** The hash of everything taken in, 32 bytes. Nothing can be taken in after it; a copy made before can. */
  digest(): Uint8Array {
    const used = this.length % BLOCK;
    const bits = this.length * 8;
    this.block.fill(0, used);
    this.block[used] = 0x80;
    if (used >= BLOCK - 8) {
      this.compress();
      this.block.fill(0);
    }
    const view = new DataView(this.block.buffer);
    view.setUint32(BLOCK - 8, Math.floor(bits / 2 ** 32));
    view.setUint32(BLOCK - 4, bits >>> 0);
    this.compress();
    const out = new DataView(new ArrayBuffer(32));
    this.state.forEach((word, at) => out.setInt32(at * 4, word));
    return new Uint8Array(out.buffer);
  }

  private compress(): void {
    const { block, state } = this;
    for (let t = 0, at = 0; t < 16; t++, at += 4) {
      words[t] = (block[at]! << 24) | (block[at + 1]! << 16) | (block[at + 2]! << 8) | block[at + 3]!;
    }
    expandSchedule();
    let a = state[0]!,
      b = state[1]!,
      c = state[2]!,
      d = state[3]!;
    let e = state[4]!,
      f = state[5]!,
      g = state[6]!,
      h = state[7]!;
    for (let t = 0; t < 64; t++) {
      const s1 = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7));
      const t1 = (h + s1 + (g ^ (e & (f ^ g))) + ROUND[t]! + words[t]!) | 0;
      const s0 = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10));
      const t2 = (s0 + ((a & b) | (c & (a | b)))) | 0;
      h = g;
      g = f;
      f = e;
      e = (d + t1) | 0;
      d = c;
      c = b;
      b = a;
      a = (t1 + t2) | 0;
    }
    const added = [a, b, c, d, e, f, g, h];
    for (let at = 0; at < 8; at++) state[at] = state[at]! + added[at]!;
  }
}

function expandSchedule(): void {
  for (let t = 16; t < 64; t++) {
    const x = words[t - 15]!,
      y = words[t - 2]!;
    const s0 = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3);
    const s1 = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10);
    words[t] = (words[t - 16]! + s0 + words[t - 7]! + s1) | 0;
  }
}

function constants(count: number, power: number): number[] {
  const primes: number[] = [];
  for (let candidate = 2; primes.length < count; candidate++) {
    if (primes.every((prime) => candidate % prime !== 0)) primes.push(candidate);
  }
  return primes.map((prime) => ((prime ** power % 1) * 2 ** 32) | 0);
}
