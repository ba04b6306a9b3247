//! Frames: a head in JSON and a body of bytes, with their lengths and a checksum.
//!
//! ```text
//! length of the head   u32, little-endian
//! length of the body   u32, little-endian
//! checksum             u32, little-endian: CRC-32 (IEEE) of both lengths, head and body
//! head, body
//! ```

use std::io::{self, Read, Write};

/// The first line of a recording.
pub(super) const MAGIC: &[u8] = b"faucet pages 1\n";

/// Most bytes of a head: names and types of columns.
const LARGEST_HEAD: usize = 16 << 20;

/// Most bytes of a body: pages are far smaller.
const LARGEST_BODY: usize = 1 << 30;

/// Why there is no next frame.
#[derive(Debug)]
pub(super) enum Torn {
    /// The file can't be read.
    Io(io::Error),
    /// What is there is no frame.
    Damaged(&'static str),
}

impl From<io::Error> for Torn {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => Torn::Damaged("the file ends inside a frame"),
            _ => Torn::Io(error),
        }
    }
}

/// A head and a body.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Frame {
    pub(super) head: Vec<u8>,
    pub(super) body: Vec<u8>,
}

impl Frame {
    /// Writes the frame.
    pub(super) fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let too_large = |_| io::Error::new(io::ErrorKind::InvalidInput, "a page is too large for a recording");
        let length = |part: &[u8], most: usize| match part.len() <= most {
            true => u32::try_from(part.len()).map_err(too_large),
            false => Err(io::Error::new(io::ErrorKind::InvalidInput, "a page is too large for a recording")),
        };
        let lengths = [length(&self.head, LARGEST_HEAD)?, length(&self.body, LARGEST_BODY)?];
        lengths.iter().try_for_each(|length| out.write_all(&length.to_le_bytes()))?;
        out.write_all(&self.checksum(lengths).to_le_bytes())?;
        out.write_all(&self.head)?;
        out.write_all(&self.body)
    }

    /// Reads the next frame; `None` at the end of the file.
    pub(super) fn read(from: &mut impl Read) -> Result<Option<Self>, Torn> {
        let Some(prefix) = prefix(from)? else { return Ok(None) };
        let number = |at: usize| {
            let bytes = prefix[at..at + 4].try_into().expect("four bytes of twelve");
            u32::from_le_bytes(bytes)
        };
        let lengths = [number(0), number(4)];
        let [head, body] = lengths.map(|length| length as usize);
        if head > LARGEST_HEAD || body > LARGEST_BODY {
            return Err(Torn::Damaged("a frame's length is beyond what frames have"));
        }
        let frame = Self { head: exactly(from, head)?, body: exactly(from, body)? };
        match frame.checksum(lengths) == number(8) {
            true => Ok(Some(frame)),
            false => Err(Torn::Damaged("a frame's checksum does not fit")),
        }
    }

    fn checksum(&self, lengths: [u32; 2]) -> u32 {
        let mut hasher = crc32fast::Hasher::new();
        lengths.iter().for_each(|length| hasher.update(&length.to_le_bytes()));
        hasher.update(&self.head);
        hasher.update(&self.body);
        hasher.finalize()
    }
}

/// What stands before a head; `None` if the file ends here.
fn prefix(from: &mut impl Read) -> Result<Option<[u8; 12]>, Torn> {
    let mut prefix = Vec::with_capacity(12);
    from.take(12).read_to_end(&mut prefix)?;
    match <[u8; 12]>::try_from(prefix) {
        Ok(prefix) => Ok(Some(prefix)),
        Err(short) if short.is_empty() => Ok(None),
        Err(_) => Err(Torn::Damaged("the file ends inside a frame")),
    }
}

/// So many bytes; no more is allocated than the file has (R2).
fn exactly(from: &mut impl Read, length: usize) -> Result<Vec<u8>, Torn> {
    let mut bytes = Vec::new();
    from.take(length as u64).read_to_end(&mut bytes)?;
    match bytes.len() == length {
        true => Ok(bytes),
        false => Err(Torn::Damaged("the file ends inside a frame")),
    }
}
