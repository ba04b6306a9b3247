//! Where a change stands in its stream, as bytes that compare with memcmp.

use std::fmt;

/// A place in a change stream: (commit position, ordinal inside the commit), encoded so that byte order is stream order
/// (M4).
///
/// ```
/// use faucet_core::model::Position;
/// let early = Position::from_commit(0x0100, 9);
/// let late = Position::from_commit(0x0200, 0);
/// assert!(early < late);
/// assert_eq!(Position::from_commit(7, 0) < Position::from_commit(7, 1), true);
/// ```
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Position(Vec<u8>);

impl Position {
    /// A position made of a 64-bit commit position and an ordinal inside that commit.
    pub fn from_commit(commit: u64, ordinal: u64) -> Self {
        Self([commit.to_be_bytes(), ordinal.to_be_bytes()].concat())
    }

    /// A position from bytes that are order-preserving already.
    pub fn from_bytes(bytes: impl Into<Vec<u8>>) -> Self {
        Self(bytes.into())
    }

    /// The bytes; their order is the order of the stream.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|b| write!(f, "{b:02x}"))
    }
}

/// The positions of a page's rows: all of one width, side by side.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Positions {
    width: usize,
    data: Vec<u8>,
}

impl Positions {
    /// No positions yet; each will be `width` bytes.
    pub fn new(width: usize) -> Self {
        Self { width, data: Vec::new() }
    }

    /// Positions of `width` bytes each, side by side; `None` if the last one is cut short or one is less than the one
    /// before it.
    pub fn from_raw(width: usize, data: Vec<u8>) -> Option<Self> {
        let whole = width > 0 && data.len().is_multiple_of(width);
        let positions = Self { width, data };
        let rises = || (1..positions.len()).all(|row| positions.get(row - 1) <= positions.get(row));
        (whole && rises()).then_some(positions)
    }

    /// Appends a position made of a commit and an ordinal. Only for a width of 16.
    pub fn push_commit(&mut self, commit: u64, ordinal: u64) {
        debug_assert_eq!(self.width, 16);
        self.data.extend_from_slice(&commit.to_be_bytes());
        self.data.extend_from_slice(&ordinal.to_be_bytes());
    }

    /// Bytes of each position.
    pub fn width(&self) -> usize {
        self.width
    }

    /// All positions, side by side.
    pub fn as_bytes(&self) -> &[u8] {
        &self.data
    }

    /// How many positions are held.
    pub fn len(&self) -> usize {
        self.data.len().checked_div(self.width).unwrap_or(0)
    }

    /// Whether no position is held.
    pub fn is_empty(&self) -> bool {
        self.data.is_empty()
    }

    /// The position of `row` as bytes.
    pub fn get(&self, row: usize) -> &[u8] {
        &self.data[row * self.width..(row + 1) * self.width]
    }

    /// How many leading rows stand at or before `applied`: the rows that a replay has to skip (M4).
    pub fn count_through(&self, applied: &Position) -> usize {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low + (high - low) / 2;
            if self.get(middle) <= applied.as_bytes() {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    /// The positions of the given rows, in that order.
    pub(crate) fn take(&self, rows: &[u32]) -> Self {
        let mut data = Vec::with_capacity(rows.len() * self.width);
        for &row in rows {
            data.extend_from_slice(self.get(row as usize));
        }
        Self { width: self.width, data }
    }

    pub(crate) fn slice(&self, offset: usize, len: usize) -> Self {
        let data = self.data[offset * self.width..(offset + len) * self.width].to_vec();
        Self { width: self.width, data }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_replay_skips_exactly_what_was_applied() {
        let mut positions = Positions::new(16);
        for (commit, ordinal) in [(5, 0), (5, 1), (9, 0), (256, 0), (256, 1)] {
            positions.push_commit(commit, ordinal);
        }
        let through = |c, o| positions.count_through(&Position::from_commit(c, o));
        assert_eq!(through(4, u64::MAX), 0);
        assert_eq!(through(5, 0), 1);
        assert_eq!(through(5, u64::MAX), 2);
        assert_eq!(through(255, u64::MAX), 3);
        assert_eq!(through(256, 1), 5);
    }
}
