//! The coordinator in a seeded world that crashes it: a source with a log that is pruned up to what was confirmed, a
//! destination, a state store, and interleaved writes. The invariants of `coordinator.rs` are checked after every step;
//! at the end the destination must equal the source.
#![allow(clippy::unwrap_used)]

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::collections::BTreeMap;

use super::coordinator::{Coordinator, Effect, Event, Mark, Outcome, TableIndex};
use super::marker::Marker;
use crate::error::Retry;
use crate::model::Position;
use crate::ports::Bookmark;

const TABLES: usize = 3;
type Rows = BTreeMap<u8, u32>;

/// One committed change: a put or a delete of a key.
#[derive(Clone)]
struct Change {
    table: TableIndex,
    key: u8,
    value: Option<u32>,
}

/// What outlives a crash.
struct World {
    random: StdRng,
    source: Vec<Rows>,
    /// `log[i]` committed at position `i + 1`.
    log: Vec<Change>,
    pruned_to: u64,
    sink: Vec<Rows>,
    markers: BTreeMap<TableIndex, Marker>,
    committed: BTreeMap<TableIndex, u64>,
}

/// What dies with the process.
struct Process {
    coordinator: Coordinator,
    work: Option<Work>,
    snapshots_read: Vec<bool>,
}

enum Work {
    Capture(TableIndex),
    Store { table: TableIndex, marker: Box<Marker>, seed: Option<Mark>, seeded: bool },
    Snapshot { table: TableIndex, keys: Vec<u8> },
    Stream { at: u64, cycle: u32 },
    Wait,
}

fn mark(at: u64) -> Mark {
    Mark { bookmark: Bookmark(at.into()), position: Position::from_commit(at, 0) }
}

impl World {
    fn new(seed: u64) -> Self {
        let mut world = Self {
            random: StdRng::seed_from_u64(seed),
            source: vec![Rows::new(); TABLES],
            log: Vec::new(),
            pruned_to: 0,
            sink: vec![Rows::new(); TABLES],
            markers: BTreeMap::new(),
            committed: BTreeMap::new(),
        };
        (0..30).for_each(|_| world.write());
        world
    }

    fn write(&mut self) {
        let (table, key) = (self.random.random_range(0..TABLES), self.random.random_range(0..12u8));
        let value = self.random.random_bool(0.7).then(|| self.random.random());
        apply(&mut self.source[table], key, value);
        self.log.push(Change { table, key, value });
    }

    fn boot(&mut self) -> (Process, Vec<Effect>) {
        let mut coordinator = Coordinator::new(TABLES, true);
        let tables = (0..TABLES)
            .map(|t| {
                Some((self.markers.get(&t)?.clone(), mark(*self.committed.get(&t).expect("seeded before marked"))))
            })
            .collect();
        let effects = coordinator.step(Event::Started { tables });
        (Process { coordinator, work: None, snapshots_read: vec![false; TABLES] }, effects)
    }

    /// Takes effects in; immediate ones happen at once, work becomes the work in hand.
    fn take(&mut self, process: &mut Process, effects: Vec<Effect>) -> Option<Outcome> {
        for effect in effects {
            let work = match effect {
                Effect::Capture { table } => Work::Capture(table),
                Effect::Store { table, marker, seed } => Work::Store { table, marker, seed, seeded: false },
                Effect::Snapshot { table } => {
                    assert!(self.markers.contains_key(&table), "C3: snapshot before its join point is stored");
                    process.snapshots_read[table] = true;
                    Work::Snapshot { table, keys: (0..12).collect() }
                }
                Effect::Stream { from } => self.begin_stream(process, &from),
                Effect::Confirm { up_to } => {
                    self.pruned_to = self.pruned_to.max(up_to.bookmark.0.as_u64().unwrap());
                    continue;
                }
                Effect::Wait => Work::Wait,
                Effect::Finish(outcome) => return Some(outcome),
            };
            assert!(process.work.is_none(), "two pieces of work at once");
            process.work = Some(work);
        }
        None
    }

    fn begin_stream(&self, process: &Process, from: &Mark) -> Work {
        let at = from.bookmark.0.as_u64().unwrap();
        assert!(at >= self.pruned_to, "the stream starts in the part of the log that was given up");
        let least = (0..TABLES).map(|t| process.coordinator.committed(t).expect("C4").position.clone()).min();
        assert_eq!(Some(&from.position), least.as_ref(), "C4: the stream starts at the least committed position");
        Work::Stream { at, cycle: 0 }
    }

    /// One small step of the work in hand; returns the event it leads to, if any.
    fn advance(&mut self, process: &mut Process) -> Option<Event> {
        let fails = self.random.random_bool(0.05);
        let work = process.work.take()?;
        if fails && !matches!(work, Work::Wait | Work::Capture(_)) {
            return Some(Event::Failed { retry: Retry::Backoff });
        }
        let (left, event) = match work {
            Work::Wait => (None, Some(Event::Woke)),
            Work::Capture(table) => {
                // An existing place in the log is kept: the least that any earlier life still needs.
                let at = if self.pruned_to > 0 { self.pruned_to } else { self.log.len() as u64 };
                self.pruned_to = at;
                (None, Some(Event::Captured { table, at: mark(at) }))
            }
            Work::Store { table, marker, seed, seeded } => self.store(table, marker, seed, seeded),
            Work::Snapshot { table, keys } => self.snapshot(table, keys),
            Work::Stream { at, cycle } => self.stream(at, cycle),
        };
        process.work = left;
        event
    }

    fn store(
        &mut self,
        table: TableIndex,
        marker: Box<Marker>,
        seed: Option<Mark>,
        seeded: bool,
    ) -> (Option<Work>, Option<Event>) {
        if let (Some(seed), false) = (&seed, seeded) {
            self.committed.insert(table, seed.bookmark.0.as_u64().unwrap());
            return (Some(Work::Store { table, marker, seed: Some(seed.clone()), seeded: true }), None);
        }
        self.markers.insert(table, *marker);
        (None, Some(Event::Stored { table }))
    }

    /// Reads one key at a time, so that writes fall between the reads of one snapshot.
    fn snapshot(&mut self, table: TableIndex, mut keys: Vec<u8>) -> (Option<Work>, Option<Event>) {
        let Some(key) = keys.pop() else { return (None, Some(Event::SnapshotDone { table })) };
        if let Some(&value) = self.source[table].get(&key) {
            self.sink[table].insert(key, value);
        }
        (Some(Work::Snapshot { table, keys }), None)
    }

    /// Applies one change that its table lacks: sink first, then state; a crash may fall between the two.
    fn stream(&mut self, at: u64, cycle: u32) -> (Option<Work>, Option<Event>) {
        let Some(change) = self.log.get(at as usize).cloned() else {
            let next = (cycle < 5).then_some(Work::Stream { at, cycle: cycle + 1 });
            return match next {
                Some(next) => (Some(next), None),
                None => (None, Some(Event::StreamEnded)),
            };
        };
        let next = Work::Stream { at: at + 1, cycle };
        if self.committed[&change.table] > at {
            return (Some(next), None);
        }
        apply(&mut self.sink[change.table], change.key, change.value);
        if self.random.random_bool(0.1) {
            return (Some(Work::Stream { at, cycle }), None); // the sink is durable, the state isn't: it is redone
        }
        let before = self.committed.insert(change.table, at + 1);
        assert!(before <= Some(at + 1), "C2");
        (Some(next), Some(Event::Committed { table: change.table, at: mark(at + 1) }))
    }

    fn check(&self, process: &Process) {
        let confirmed = process.coordinator.confirmed().cloned();
        for table in 0..TABLES {
            if let (Some(confirmed), Some(committed)) = (&confirmed, process.coordinator.committed(table)) {
                assert!(*confirmed <= committed.position, "C1: confirmed beyond table {table}");
            }
            if let Some(&stored) = self.committed.get(&table) {
                assert!(self.pruned_to <= stored, "C1: the log table {table} needs is gone");
            }
        }
    }
}

fn apply(rows: &mut Rows, key: u8, value: Option<u32>) {
    match value {
        Some(value) => rows.insert(key, value),
        None => rows.remove(&key),
    };
}

fn live(seed: u64) {
    let mut world = World::new(seed);
    let (mut process, effects) = world.boot();
    world.take(&mut process, effects);
    let crash_until = 1_500;
    for step in 0..4_000 {
        if step < 1_000 && world.random.random_bool(0.2) {
            world.write();
        }
        if step < crash_until && world.random.random_bool(0.02) {
            let (reborn, effects) = world.boot();
            process = reborn;
            world.take(&mut process, effects);
        }
        if let Some(event) = world.advance(&mut process) {
            let in_stream = matches!(event, Event::Committed { .. });
            let effects = process.coordinator.step(event);
            assert!(!in_stream || effects.iter().all(|e| matches!(e, Effect::Confirm { .. })));
            assert_eq!(world.take(&mut process, effects), None, "a continuous mirror doesn't end by itself");
        }
        world.check(&process);
    }
    assert_eq!(world.sink, world.source, "seed {seed}: the destination doesn't equal the source");
}

#[test]
fn the_destination_equals_the_source_across_crashes_at_any_step() {
    (0..400).for_each(live);
}

#[test]
fn a_stop_ends_the_mirror_whatever_is_in_hand() {
    for seed in 0..200 {
        let mut world = World::new(seed);
        let (mut process, effects) = world.boot();
        world.take(&mut process, effects);
        for _ in 0..world.random.random_range(0..120) {
            let Some(event) = world.advance(&mut process) else { continue };
            let effects = process.coordinator.step(event);
            world.take(&mut process, effects);
        }
        let effects = process.coordinator.step(Event::StopRequested);
        assert_eq!(effects, [], "work is in hand at every moment");
        assert_eq!(process.coordinator.step(Event::Halted), [Effect::Finish(Outcome::Stopped)]);
        assert_eq!(process.coordinator.step(Event::StopRequested), []);
    }
}

#[test]
fn one_shot_mirrors_report_their_failures() {
    let follow = || Event::Started { tables: vec![Some((Marker::following(&Bookmark(1.into())), mark(1)))] };
    let mut once = Coordinator::new(1, false);
    assert_eq!(once.step(follow()), [Effect::Stream { from: mark(1) }]);
    assert_eq!(once.step(Event::Failed { retry: Retry::Backoff }), [Effect::Finish(Outcome::Failed)]);
    let mut once = Coordinator::new(1, false);
    once.step(follow());
    assert_eq!(once.step(Event::StreamEnded), [Effect::Finish(Outcome::Done)]);
    let mut riding = Coordinator::new(1, true);
    riding.step(follow());
    assert_eq!(riding.step(Event::Failed { retry: Retry::Backoff }), [Effect::Wait]);
    assert_eq!(riding.step(Event::Woke), [Effect::Stream { from: mark(1) }]);
    assert_eq!(riding.step(Event::Failed { retry: Retry::Operator }), [Effect::Finish(Outcome::Failed)]);
}

#[test]
fn a_source_that_was_never_reached_is_reported_at_once() {
    let mut first = Coordinator::new(1, true);
    assert_eq!(first.step(Event::Started { tables: vec![None] }), [Effect::Capture { table: 0 }]);
    assert_eq!(first.step(Event::Failed { retry: Retry::Backoff }), [Effect::Finish(Outcome::Failed)]);
}
