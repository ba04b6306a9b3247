//! The metrics of a guest: counters and gauges under its name, few of them.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

/// Metrics that a plugin may have. Each is kept for as long as the process runs.
const METRICS: usize = 64;

/// Bytes of a name.
const WIDTH: usize = 64;

/// The names of a plugin's metrics; all its instances share them, for an instance that breaks is followed by another.
#[derive(Debug, Default)]
pub(crate) struct Names(Mutex<HashSet<String>>);

impl Names {
    /// Whether a name is one of the plugin's; a new one is, while there is room.
    fn admit(&self, name: &str) -> bool {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.contains(name) || (known.len() < METRICS && known.insert(name.to_owned()))
    }
}

/// Where a component's metrics go.
#[derive(Debug)]
pub(crate) struct Metrics {
    plugin: String,
    names: Arc<Names>,
}

impl Metrics {
    pub(crate) fn new(plugin: &str, names: Arc<Names>) -> Self {
        Self { plugin: plugin.to_owned(), names }
    }

    pub(crate) fn count(&self, name: &str, by: u32) {
        if let Some(labels) = self.labels(name) {
            metrics::counter!("faucet_plugin_count", &labels).increment(by.into());
        }
    }

    pub(crate) fn gauge(&self, name: &str, value: f64) {
        if let Some(labels) = self.labels(name) {
            metrics::gauge!("faucet_plugin_gauge", &labels).set(value);
        }
    }

    /// The labels of a metric; none if its name is no name or there are too many.
    fn labels(&self, name: &str) -> Option<[(&'static str, String); 2]> {
        let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
        let sound = !name.is_empty() && name.len() <= WIDTH && name.bytes().all(plain);
        (sound && self.names.admit(name)).then(|| [("plugin", self.plugin.clone()), ("name", name.to_owned())])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_plain_and_few() {
        let names = Arc::new(Names::default());
        let (metrics, another) = (Metrics::new("p", names.clone()), Metrics::new("p", names));
        assert!(metrics.labels("rows_read").is_some());
        for wrong in ["", "a b", "Ab", &"a".repeat(65)] {
            assert!(metrics.labels(wrong).is_none(), "{wrong}");
        }
        for n in 0..METRICS {
            metrics.labels(&format!("m{n}"));
        }
        for metrics in [metrics, another] {
            assert!(metrics.labels("one_more").is_none() && metrics.labels("rows_read").is_some());
        }
    }
}
