//! The read half of a replication session: one buffer that messages are lent from.
//!
//! Nothing is read unless somebody waits for it, so a slow consumer holds back the server through TCP. The buffer grows
//! to the largest message and shrinks again.

use bytes::{Buf, BytesMut};
use std::io;
use tokio::io::{AsyncRead, AsyncReadExt};

/// Free room asked for before each read.
const CHUNK: usize = 128 * 1024;

/// A buffer that grew beyond this for one large message is given back after it.
const KEEP: usize = 1024 * 1024;

/// The server sends no message above its own allocation limit of 1 GiB.
const LONGEST: usize = 1 << 30;

/// Tag and length.
const HEADER: usize = 5;

#[derive(Debug)]
pub(super) struct Inbox<R> {
    read: R,
    buffer: BytesMut,
}

impl<R: AsyncRead + Unpin> Inbox<R> {
    pub(super) fn new(read: R) -> Self {
        Self::resume(read, BytesMut::new())
    }

    /// Goes on with what was read before.
    pub(super) fn resume(read: R, buffer: BytesMut) -> Self {
        Self { read, buffer }
    }

    /// What it reads from, and what was read and not consumed.
    pub(super) fn into_parts(self) -> (R, BytesMut) {
        (self.read, self.buffer)
    }

    /// The length of the message at the front with its header, once it is there as a whole.
    ///
    /// # Errors
    /// `InvalidData` when its length can't be.
    #[inline]
    pub(super) fn ready(&self) -> io::Result<Option<usize>> {
        let Some(&[_, a, b, c, d]) = self.buffer.first_chunk::<HEADER>() else {
            return Ok(None);
        };
        let length = u32::from_be_bytes([a, b, c, d]) as usize;
        if !(4..=LONGEST).contains(&length) {
            return Err(io::Error::from(io::ErrorKind::InvalidData));
        }
        Ok((self.buffer.len() > length).then_some(length + 1))
    }

    /// Tag and body of the message at the front, whose length [`Inbox::ready`] gave.
    #[inline]
    pub(super) fn message(&self, length: usize) -> (u8, &[u8]) {
        (self.buffer[0], &self.buffer[HEADER..length])
    }

    /// Forgets the message at the front.
    #[inline]
    pub(super) fn consume(&mut self, length: usize) {
        self.buffer.advance(length);
        if self.buffer.is_empty() && length > KEEP {
            self.buffer = BytesMut::new();
        }
    }

    /// Forgets everything that is there.
    pub(super) fn clear(&mut self) {
        self.buffer.clear();
    }

    /// Waits for more bytes; how many came. Cancel-safe.
    ///
    /// # Errors
    /// `UnexpectedEof` when the server closed the connection.
    pub(super) async fn fill(&mut self) -> io::Result<usize> {
        // Twice the room as long as one message needs it: growth is a few copies, and a lying length costs no memory.
        self.buffer.reserve(CHUNK.max(if self.ready()?.is_none() { self.buffer.len() } else { 0 }));
        match self.read.read_buf(&mut self.buffer).await? {
            0 => Err(io::Error::from(io::ErrorKind::UnexpectedEof)),
            count => Ok(count),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use tokio::io::AsyncWriteExt;

    fn framed(tag: u8, body: &[u8]) -> Vec<u8> {
        [&[tag], (body.len() as u32 + 4).to_be_bytes().as_slice(), body].concat()
    }

    #[tokio::test]
    async fn messages_come_out_whole_whatever_the_reads() {
        let (mut server, client) = tokio::io::duplex(7);
        let large = vec![7; 3 * KEEP];
        let bytes = [framed(b'd', b"one"), framed(b'Z', b""), framed(b'd', &large)].concat();
        let writer = async move { server.write_all(&bytes).await.unwrap() };
        let reader = async move {
            let mut inbox = Inbox::new(client);
            for (tag, body) in [(b'd', b"one".as_slice()), (b'Z', b""), (b'd', &large)] {
                let length = loop {
                    match inbox.ready().unwrap() {
                        Some(length) => break length,
                        None => drop(inbox.fill().await.unwrap()),
                    }
                };
                assert_eq!(inbox.message(length), (tag, body));
                inbox.consume(length);
            }
            assert_eq!(inbox.buffer.capacity(), 0);
            assert_eq!(inbox.fill().await.unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
        };
        tokio::join!(writer, reader);
    }

    #[tokio::test]
    async fn a_lying_length_is_refused_before_memory_is_taken() {
        for length in [0_u32, 3, 0x4000_0001, u32::MAX] {
            let bytes = [b"d", length.to_be_bytes().as_slice()].concat();
            let mut inbox = Inbox::new(bytes.as_slice());
            inbox.fill().await.unwrap();
            assert_eq!(inbox.ready().unwrap_err().kind(), io::ErrorKind::InvalidData);
        }
    }
}
