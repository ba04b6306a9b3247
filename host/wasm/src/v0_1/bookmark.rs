//! Bookmarks of a component, as the state store keeps them.

use crate::cases::{hex, unhex};
use crate::plugin::Shared;
use faucet_core::error::{Error, Result};
use faucet_core::ports::Bookmark;
use serde::{Deserialize, Serialize};

/// A bookmark as the state store keeps it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Kept {
    /// Hex of the plugin's position.
    position: String,
    /// The plugin's state, where it is text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    state: Option<String>,
    /// Hex of the plugin's state, where it is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    state_hex: Option<String>,
}

/// The bookmark as it is stored.
pub(super) fn keep(position: Vec<u8>, state: Vec<u8>) -> Bookmark {
    let position = hex(&position);
    let kept = match String::from_utf8(state) {
        Ok(text) => Kept { position, state: Some(text), state_hex: None },
        Err(error) => Kept { position, state: None, state_hex: Some(hex(error.as_bytes())) },
    };
    Bookmark(serde_json::to_value(kept).expect("three texts are JSON"))
}

/// The position and state of a bookmark, as the plugin gave them; none if the bookmark is of something else.
fn unkeep(bookmark: &Bookmark) -> Option<(Vec<u8>, Vec<u8>)> {
    let kept = Kept::deserialize(&bookmark.0).ok()?;
    let state = match (kept.state, kept.state_hex) {
        (Some(text), None) => text.into_bytes(),
        (None, Some(digits)) => unhex(&digits)?,
        (Some(_), Some(_)) | (None, None) => return None,
    };
    Some((unhex(&kept.position)?, state))
}

impl Shared {
    /// The position and state of a bookmark of this plugin.
    pub(super) fn kept(&self, bookmark: &Bookmark) -> Result<(Vec<u8>, Vec<u8>), Error> {
        unkeep(bookmark).ok_or_else(|| self.foreign_bookmark())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_bookmark_comes_back_as_it_was() {
        for state in [b"{\"page\":7}".to_vec(), vec![], vec![0xff, 0, 1]] {
            let bookmark = keep(vec![0, 255], state.clone());
            assert_eq!(unkeep(&bookmark).unwrap(), (vec![0, 255], state));
        }
        assert!(unkeep(&Bookmark(serde_json::json!({ "lsn": 5 }))).is_none());
        assert!(unkeep(&Bookmark(serde_json::json!({ "position": "0", "state": "" }))).is_none());
    }
}
