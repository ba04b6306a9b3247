//! What a guest writes to stdout and stderr: the last few KiB are kept for errors, the rest is dropped.

use bytes::Bytes;
use std::sync::{Arc, Mutex, PoisonError};
use wasmtime_wasi::async_trait;
use wasmtime_wasi::cli::{IsTerminal, StdoutStream};
use wasmtime_wasi::p2::{OutputStream, Pollable, StreamResult};

/// How much is kept, in bytes.
const KEPT: usize = 4096;

/// A stream that keeps the end of what is written to it. Clones share it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Capture(Arc<Mutex<Vec<u8>>>);

impl Capture {
    fn push(&self, bytes: &[u8]) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let new = &bytes[bytes.len().saturating_sub(KEPT)..];
        let surplus = (kept.len() + new.len()).saturating_sub(KEPT);
        kept.drain(..surplus);
        kept.extend_from_slice(new);
    }

    /// Whether nothing was written since it was taken.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    /// Takes what was kept, without control characters that could upset a terminal.
    pub(crate) fn take(&self) -> String {
        let kept = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        let text = String::from_utf8_lossy(&kept);
        let text: String = text.chars().filter(|c| !c.is_control() || *c == '\n').collect();
        text.trim().to_owned()
    }
}

impl IsTerminal for Capture {
    fn is_terminal(&self) -> bool {
        false
    }
}

impl StdoutStream for Capture {
    fn async_stream(&self) -> Box<dyn tokio::io::AsyncWrite + Send + Sync> {
        // Only components of a later WASI ask for this one; none can be linked.
        Box::new(tokio::io::sink())
    }

    fn p2_stream(&self) -> Box<dyn OutputStream> {
        Box::new(self.clone())
    }
}

#[async_trait]
impl Pollable for Capture {
    async fn ready(&mut self) {}
}

#[async_trait]
impl OutputStream for Capture {
    fn write(&mut self, bytes: Bytes) -> StreamResult<()> {
        self.push(&bytes);
        Ok(())
    }

    fn flush(&mut self) -> StreamResult<()> {
        Ok(())
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        Ok(64 << 10)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_is_kept() {
        let capture = Capture::default();
        (0..10_000).for_each(|line| capture.push(format!("line {line}\n").as_bytes()));
        let text = capture.take();
        assert!(text.len() <= KEPT && text.ends_with("line 9999"), "{text}");
        assert_eq!(capture.take(), "");
        capture.push(&[b'x'; 3 * KEPT]);
        assert_eq!(capture.take().len(), KEPT);
    }

    #[test]
    fn control_characters_are_dropped() {
        let capture = Capture::default();
        capture.push(b"\x1b[31mred\x07\xff\nnext\n");
        assert_eq!(capture.take(), "[31mred\u{fffd}\nnext");
    }
}
