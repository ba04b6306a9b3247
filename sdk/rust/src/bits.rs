//! Bitmaps: one bit a row, least significant bit first.

/// The bit of row `at`; false beyond the end.
pub(crate) fn get(bits: &[u8], at: usize) -> bool {
    bits.get(at / 8).is_some_and(|byte| byte >> (at % 8) & 1 == 1)
}

/// Number of bytes that `rows` bits take.
pub(crate) fn bytes(rows: usize) -> usize {
    rows.div_ceil(8)
}

/// A growing bitmap that costs nothing as long as every bit is `usual`.
#[derive(Debug, Clone)]
pub(crate) struct Bitmap {
    usual: bool,
    rows: usize,
    bits: Vec<u8>,
}

impl Bitmap {
    pub(crate) fn new(usual: bool) -> Self {
        Self { usual, rows: 0, bits: Vec::new() }
    }

    pub(crate) fn push(&mut self, bit: bool) {
        if bit != self.usual && self.bits.is_empty() {
            let fill = if self.usual { 0xff } else { 0 };
            self.bits = vec![fill; bytes(self.rows)];
        }
        let (byte, mask) = (self.rows / 8, 1 << (self.rows % 8));
        self.rows += 1;
        if self.bits.is_empty() && bit == self.usual {
            return;
        }
        if byte == self.bits.len() {
            self.bits.push(0);
        }
        match bit {
            true => self.bits[byte] |= mask,
            false => self.bits[byte] &= !mask,
        }
    }

    /// The bitmap as it crosses the boundary: empty if every bit is the usual one.
    pub(crate) fn into_bits(self) -> Vec<u8> {
        self.bits
    }

    /// The bitmap in full, even if every bit is the usual one.
    pub(crate) fn into_full_bits(self) -> Vec<u8> {
        let fill = if self.usual { 0xff } else { 0 };
        if self.bits.is_empty() { vec![fill; bytes(self.rows)] } else { self.bits }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bitmap_is_empty_until_an_unusual_bit_comes() {
        for usual in [true, false] {
            for first in 0..20 {
                let mut map = Bitmap::new(usual);
                (0..20).for_each(|row| map.push((row == first) != usual));
                let bits = map.into_bits();
                assert_eq!(bits.len(), 3);
                assert!((0..20).all(|row| get(&bits, row) == ((row == first) != usual)), "{usual} {first}");
            }
            let mut map = Bitmap::new(usual);
            (0..20).for_each(|_| map.push(usual));
            assert!(map.into_bits().is_empty());
        }
    }
}
