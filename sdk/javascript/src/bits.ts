/** The bit of a row of a bitmap: one bit a row, least significant bit first. */
export function bit(bitmap: Uint8Array, row: number): boolean {
  return ((bitmap[row >> 3]! >> (row & 7)) & 1) === 1;
}

/** The bitmap of the rows for which `isSet` says so. */
export function pack<T>(values: ArrayLike<T>, isSet: (value: T) => boolean): Uint8Array {
  const bitmap = new Uint8Array((values.length + 7) >> 3);
  for (let row = 0; row < values.length; row++) {
    if (isSet(values[row]!)) bitmap[row >> 3]! |= 1 << (row & 7);
  }
  return bitmap;
}
