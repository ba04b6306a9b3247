//! The metrics of components: under their names, and few of them.

use crate::lair::{apply, load, plain_page, spec};
use faucet_wasm::{Plugin, PluginSpec};
use metrics::{
    Counter, CounterFn, Gauge, GaugeFn, Histogram, Key, KeyName, Label, Metadata, Recorder, SharedString, Unit,
};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// The last value of every metric, by its name and labels.
#[derive(Default)]
pub struct Ledger(Mutex<BTreeMap<Key, Arc<Entry>>>);

#[derive(Default)]
struct Entry(Mutex<f64>);

impl CounterFn for Entry {
    fn increment(&self, value: u64) {
        *self.0.lock().unwrap() += value as f64;
    }

    fn absolute(&self, value: u64) {
        *self.0.lock().unwrap() = value as f64;
    }
}

impl GaugeFn for Entry {
    fn increment(&self, value: f64) {
        *self.0.lock().unwrap() += value;
    }

    fn decrement(&self, value: f64) {
        *self.0.lock().unwrap() -= value;
    }

    fn set(&self, value: f64) {
        *self.0.lock().unwrap() = value;
    }
}

impl Ledger {
    fn entry(&self, key: &Key) -> Arc<Entry> {
        self.0.lock().unwrap().entry(key.clone()).or_default().clone()
    }

    /// The value of a metric of a plugin, if there is one.
    pub fn value(&self, metric: &'static str, plugin: &str, name: &str) -> Option<f64> {
        let labels = vec![Label::new("plugin", plugin.to_owned()), Label::new("name", name.to_owned())];
        let entry = self.0.lock().unwrap().get(&Key::from_parts(metric, labels)).cloned();
        entry.map(|entry| *entry.0.lock().unwrap())
    }

    fn len(&self) -> usize {
        self.0.lock().unwrap().len()
    }
}

impl Recorder for Ledger {
    fn describe_counter(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn describe_gauge(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn describe_histogram(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn register_counter(&self, key: &Key, _: &Metadata<'_>) -> Counter {
        Counter::from_arc(self.entry(key))
    }

    fn register_gauge(&self, key: &Key, _: &Metadata<'_>) -> Gauge {
        Gauge::from_arc(self.entry(key))
    }

    fn register_histogram(&self, _: &Key, _: &Metadata<'_>) -> Histogram {
        Histogram::noop()
    }
}

fn prober() -> Plugin {
    load(&PluginSpec { name: "counting".to_owned(), ..spec("prober.wasm") }).unwrap()
}

/// Has an instance of its own do it.
fn measure(ledger: &Ledger, plugin: &Plugin, config: Value) {
    metrics::with_local_recorder(ledger, || apply(&mut plugin.open(config).unwrap(), plain_page()).unwrap());
}

#[test]
fn a_count_and_a_gauge_arrive_under_the_names_of_plugin_and_metric() {
    let (ledger, plugin) = (Ledger::default(), prober());
    for value in [7, 9] {
        measure(&ledger, &plugin, json!({ "do": "count", "name": "seen_", "times": 2 }));
        measure(&ledger, &plugin, json!({ "do": "gauge", "name": "depth", "value": value }));
    }
    for name in ["seen_0", "seen_1"] {
        assert_eq!(ledger.value("faucet_plugin_count", "counting", name), Some(6.0), "twice 3");
    }
    assert_eq!(ledger.value("faucet_plugin_gauge", "counting", "depth"), Some(9.0));
    assert_eq!(ledger.len(), 3);
}

/// A metric is kept for as long as the process runs, and an instance that breaks is followed by another.
#[test]
fn a_flood_of_names_ends_however_many_instances_there_are() {
    let (ledger, plugin) = (Ledger::default(), prober());
    for name in ["a", "b", "c", "Not A Name "] {
        measure(&ledger, &plugin, json!({ "do": "count", "name": name, "times": 40 }));
    }
    assert_eq!(ledger.len(), 64);
    assert_eq!(ledger.value("faucet_plugin_count", "counting", "b23"), Some(3.0));
    assert_eq!(ledger.value("faucet_plugin_count", "counting", "b24"), None);
}
