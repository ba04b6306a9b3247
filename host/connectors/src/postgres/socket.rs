//! The socket below a [`Link`](super::dial::Link): watched by the runtime, or read in pauses.
//!
//! A server that streams changes sends one message at a time. A reader that waits for each is woken for each, and the
//! server's process pays for that: on a busy machine a third of what it takes to decode the log (`adr/0008`). A socket
//! that the runtime watches wakes its thread even if nobody waits for it. So a stream is read from a socket that is
//! registered only while nothing comes; as long as something does, the reader lets it gather for a millisecond.

use socket2::Socket as Raw;
use std::io::{self, ErrorKind, Read, Write};
use std::net::Shutdown;
use std::os::fd::{AsFd, OwnedFd};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpStream, UnixStream};
use tokio::time::{Sleep, sleep};

/// How long what comes may gather.
const PAUSE: Duration = Duration::from_millis(1);

/// An open socket.
#[derive(Debug)]
pub enum Socket {
    /// The runtime watches it.
    Watched(Watched),
    /// It is read in pauses.
    Paced(Paced),
}

/// A socket that the runtime watches.
#[derive(Debug)]
pub enum Watched {
    /// TCP.
    Tcp(TcpStream),
    /// A Unix socket.
    Unix(UnixStream),
}

impl Socket {
    /// From now on it is read in pauses.
    ///
    /// # Errors
    /// The operating system's.
    pub fn pace(&mut self) -> io::Result<()> {
        if let Self::Watched(watched) = self {
            // The one it takes the place of ends its registration.
            *self = Self::Paced(Paced::new(watched.twin()?));
        }
        Ok(())
    }

    fn inner(&mut self) -> Pin<&mut (dyn Stream + '_)> {
        match self {
            Self::Watched(Watched::Tcp(stream)) => Pin::new(stream),
            Self::Watched(Watched::Unix(stream)) => Pin::new(stream),
            Self::Paced(stream) => Pin::new(stream),
        }
    }
}

impl Watched {
    /// The same socket, not registered.
    fn twin(&self) -> io::Result<OwnedFd> {
        match self {
            Self::Tcp(stream) => stream.as_fd().try_clone_to_owned(),
            Self::Unix(stream) => stream.as_fd().try_clone_to_owned(),
        }
    }

    fn poll_read_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self {
            Self::Tcp(stream) => stream.poll_read_ready(cx),
            Self::Unix(stream) => stream.poll_read_ready(cx),
        }
    }
}

/// What bytes are read from and written to.
pub(super) trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

/// Reads and writes through `inner()`.
macro_rules! through_inner {
    ($stream:ty) => {
        impl AsyncRead for $stream {
            fn poll_read(
                mut self: Pin<&mut Self>,
                cx: &mut Context<'_>,
                buf: &mut ReadBuf<'_>,
            ) -> Poll<io::Result<()>> {
                self.inner().poll_read(cx, buf)
            }
        }

        impl AsyncWrite for $stream {
            fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
                self.inner().poll_write(cx, buf)
            }

            fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
                self.inner().poll_flush(cx)
            }

            fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
                self.inner().poll_shutdown(cx)
            }
        }
    };
}
pub(super) use through_inner;

through_inner!(Socket);

/// A socket that is read in pauses.
#[derive(Debug)]
pub struct Paced {
    socket: Raw,
    reading: Reading,
    /// Until then a write that found no room waits.
    full: Option<Pin<Box<Sleep>>>,
}

/// Where the reader stands.
#[derive(Debug)]
enum Reading {
    /// The last read brought something.
    Flowing,
    /// What comes gathers.
    Gathering(Pin<Box<Sleep>>),
    /// Nothing came during a pause, or it is the first look.
    Dry,
    /// A twin of the socket is registered: the first byte wakes.
    Watched(Watched),
}

impl Paced {
    /// Takes a socket that doesn't block and is not registered.
    fn new(socket: OwnedFd) -> Self {
        Self { socket: Raw::from(socket), reading: Reading::Dry, full: None }
    }

    /// Waits until there may be something to read.
    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.reading {
            Reading::Flowing | Reading::Dry => return Poll::Ready(Ok(())),
            Reading::Gathering(pause) => ready!(pause.as_mut().poll(cx)),
            Reading::Watched(watch) => ready!(watch.poll_read_ready(cx))?,
        }
        self.reading = Reading::Dry;
        Poll::Ready(Ok(()))
    }

    /// What to wait for, now that there is nothing.
    fn run_dry(&mut self) -> io::Result<()> {
        self.reading = match self.reading {
            Reading::Flowing => Reading::Gathering(Box::pin(sleep(PAUSE))),
            _ => Reading::Watched(self.watched()?),
        };
        Ok(())
    }

    /// The same socket, registered.
    fn watched(&self) -> io::Result<Watched> {
        let twin = self.socket.as_fd().try_clone_to_owned()?;
        match self.socket.local_addr()?.is_unix() {
            true => UnixStream::from_std(twin.into()).map(Watched::Unix),
            false => TcpStream::from_std(twin.into()).map(Watched::Tcp),
        }
    }
}

impl AsyncRead for Paced {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        loop {
            ready!(self.poll_ready(cx))?;
            match (&self.socket).read(buf.initialize_unfilled()) {
                Ok(count) => {
                    buf.advance(count);
                    self.reading = Reading::Flowing;
                    return Poll::Ready(Ok(()));
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => self.run_dry()?,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
    }
}

impl AsyncWrite for Paced {
    /// A client of a stream writes a few bytes every few seconds: where there is no room, it looks again.
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        loop {
            if let Some(full) = &mut self.full {
                ready!(full.as_mut().poll(cx));
                self.full = None;
            }
            match (&self.socket).write(buf) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => self.full = Some(Box::pin(sleep(PAUSE))),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                written => return Poll::Ready(written),
            }
        }
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(self.socket.shutdown(Shutdown::Write))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::time::{Instant, timeout};

    fn pair() -> (UnixStream, Socket) {
        let (server, client) = UnixStream::pair().unwrap();
        let mut socket = Socket::Watched(Watched::Unix(client));
        socket.pace().unwrap();
        (server, socket)
    }

    #[tokio::test]
    async fn everything_comes_in_order_and_then_the_end() {
        let (mut server, mut client) = pair();
        let sent: Vec<u8> = (0..200_000_u32).map(|n| n as u8).collect();
        let bytes = sent.clone();
        let writer = async move {
            for piece in bytes.chunks(777) {
                server.write_all(piece).await.unwrap();
                tokio::task::yield_now().await;
            }
        };
        let mut received = Vec::new();
        let (read, ()) = tokio::join!(client.read_to_end(&mut received), writer);
        assert_eq!(read.unwrap(), sent.len());
        assert_eq!(received, sent);
    }

    #[tokio::test]
    async fn a_read_that_is_given_up_loses_nothing() {
        let (mut server, mut client) = pair();
        let mut byte = [0];
        for sent in 0..50 {
            assert!(timeout(Duration::from_micros(300), client.read(&mut byte)).await.is_err());
            server.write_all(&[sent]).await.unwrap();
            client.read_exact(&mut byte).await.unwrap();
            assert_eq!(byte, [sent]);
        }
    }

    /// One that was dry for long is woken by the first byte: it looks at no clock.
    #[tokio::test(start_paused = true)]
    async fn what_is_dry_is_watched() {
        let (mut server, mut client) = pair();
        let mut byte = [0];
        assert!(timeout(Duration::from_secs(3600), client.read(&mut byte)).await.is_err());
        let Socket::Paced(Paced { reading: Reading::Watched(_), .. }) = &client else { panic!("it is not watched") };
        let before = Instant::now();
        server.write_all(b"x").await.unwrap();
        client.read_exact(&mut byte).await.unwrap();
        assert_eq!(before.elapsed(), Duration::ZERO);
    }

    /// What follows gathers, and the socket is not registered meanwhile.
    #[tokio::test(start_paused = true)]
    async fn what_flows_gathers() {
        let (mut server, mut client) = pair();
        server.write_all(b"a").await.unwrap();
        let mut bytes = [0; 8];
        assert_eq!(client.read(&mut bytes).await.unwrap(), 1);
        let mut read = std::pin::pin!(client.read(&mut bytes));
        assert!(futures_util::poll!(read.as_mut()).is_pending());
        server.write_all(b"b").await.unwrap();
        server.write_all(b"c").await.unwrap();
        assert!(futures_util::poll!(read.as_mut()).is_pending(), "it does not look before the pause is over");
        let before = Instant::now();
        assert_eq!(read.await.unwrap(), 2);
        assert_eq!(before.elapsed(), PAUSE);
        assert!(matches!(client, Socket::Paced(Paced { reading: Reading::Flowing, .. })));
    }

    #[tokio::test]
    async fn a_write_waits_for_room() {
        let (mut server, mut client) = pair();
        let sent = vec![7; 4 << 20];
        let writer = async {
            client.write_all(&sent).await.unwrap();
            client.shutdown().await.unwrap();
        };
        let mut received = Vec::new();
        let (_, read) = tokio::join!(writer, server.read_to_end(&mut received));
        assert_eq!(read.unwrap(), sent.len());
    }
}
