//! Messages of the plugin, as the server writes them.

use super::decode::Value;

/// Builds messages the way the server does.
#[derive(Default, Clone)]
pub(super) struct Bytes(pub(super) Vec<u8>);

impl Bytes {
    pub(super) fn kind(kind: u8) -> Self {
        Self(vec![kind])
    }

    pub(super) fn u8(mut self, value: u8) -> Self {
        self.0.push(value);
        self
    }

    pub(super) fn u16(mut self, value: u16) -> Self {
        self.0.extend(value.to_be_bytes());
        self
    }

    pub(super) fn u32(mut self, value: u32) -> Self {
        self.0.extend(value.to_be_bytes());
        self
    }

    pub(super) fn u64(mut self, value: u64) -> Self {
        self.0.extend(value.to_be_bytes());
        self
    }

    pub(super) fn text(mut self, value: &str) -> Self {
        self.0.extend(value.as_bytes());
        self.u8(0)
    }

    pub(super) fn tuple(self, marker: u8, values: &[Value<'_>]) -> Self {
        let counted = self.u8(marker).u16(values.len() as u16);
        values.iter().fold(counted, |out, value| match value {
            Value::Null => out.u8(b'n'),
            Value::Unchanged => out.u8(b'u'),
            Value::Text(text) => {
                let mut out = out.u8(b't').u32(text.len() as u32);
                out.0.extend(*text);
                out
            }
        })
    }
}
