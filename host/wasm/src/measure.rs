//! The metrics of a guest: counters and gauges under its name, few of them.

use std::collections::HashSet;

/// Metrics that an instance may have. Each is kept for as long as the process runs.
const METRICS: usize = 64;

/// Bytes of a name.
const WIDTH: usize = 64;

/// Where a component's metrics go.
#[derive(Debug)]
pub(crate) struct Metrics {
    plugin: String,
    known: HashSet<String>,
}

impl Metrics {
    pub(crate) fn new(plugin: &str) -> Self {
        Self { plugin: plugin.to_owned(), known: HashSet::new() }
    }

    pub(crate) fn count(&mut self, name: &str, by: u32) {
        if let Some(labels) = self.labels(name) {
            metrics::counter!("faucet_plugin_count", &labels).increment(by.into());
        }
    }

    pub(crate) fn gauge(&mut self, name: &str, value: f64) {
        if let Some(labels) = self.labels(name) {
            metrics::gauge!("faucet_plugin_gauge", &labels).set(value);
        }
    }

    /// The labels of a metric; none if its name is no name or there are too many.
    fn labels(&mut self, name: &str) -> Option<[(&'static str, String); 2]> {
        let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
        let sound = !name.is_empty() && name.len() <= WIDTH && name.bytes().all(plain);
        if !sound || (!self.known.contains(name) && self.known.len() == METRICS) {
            return None;
        }
        if !self.known.contains(name) {
            self.known.insert(name.to_owned());
        }
        Some([("plugin", self.plugin.clone()), ("name", name.to_owned())])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_plain_and_few() {
        let mut metrics = Metrics::new("p");
        assert!(metrics.labels("rows_read").is_some());
        for wrong in ["", "a b", "Ab", &"a".repeat(65)] {
            assert!(metrics.labels(wrong).is_none(), "{wrong}");
        }
        for n in 0..METRICS {
            metrics.labels(&format!("m{n}"));
        }
        assert!(metrics.labels("one_more").is_none() && metrics.labels("rows_read").is_some());
    }
}
