//! The coordinator: decides what a mirror does next. A state machine without I/O and without a clock.
//!
//! `step(event)` returns effects; whoever drives it carries them out and reports what came of them as events. The same
//! code runs under tokio and in a seeded simulator that crashes it at every step.
//!
//! Invariants, each checked after every step of the simulator:
//!
//! * **C1** The confirmed position is never beyond the least committed position of the tables that hold the stream.
//! * **C2** A table's committed position never goes back.
//! * **C3** A table's join point is stored durably before the first row of its snapshot is read.
//! * **C4** The stream starts at the least committed position of all tables, and not before each has joined.
//! * **C5** A stop leads to an end: after it no work is started.

use std::collections::BTreeMap;

use super::marker::{Marker, Stage};
use crate::error::Retry;
use crate::model::Position;
use crate::ports::Bookmark;

/// A table of the mirror, by its place in the plan.
pub type TableIndex = usize;

/// A bookmark and where it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Mark {
    /// Where to resume.
    pub bookmark: Bookmark,
    /// Its order in the stream.
    pub position: Position,
}

/// What happened.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// The mirror starts; for each table, what the state store holds: its marker and its committed mark.
    Started {
        /// One entry per table.
        tables: Vec<Option<(Marker, Mark)>>,
    },
    /// The stream's position for a table was captured, and is kept by the upstream.
    Captured {
        /// The table.
        table: TableIndex,
        /// The join point.
        at: Mark,
    },
    /// A marker is stored durably.
    Stored {
        /// The table.
        table: TableIndex,
    },
    /// A snapshot was read to its end, and is durable in the destination.
    SnapshotDone {
        /// The table.
        table: TableIndex,
    },
    /// A table's changes up to `at` are durable in the destination and recorded in the state store.
    Committed {
        /// The table.
        table: TableIndex,
        /// Up to here.
        at: Mark,
    },
    /// The stream's cycle ended in good order.
    StreamEnded,
    /// The work in hand failed.
    Failed {
        /// Whether trying again can help.
        retry: Retry,
    },
    /// The wait is over.
    Woke,
    /// The work in hand ended because it was told to stop.
    Halted,
    /// Somebody asked the mirror to stop.
    StopRequested,
}

/// What to do now. At most one of `Capture`, `Store`, `Snapshot`, `Stream` and `Wait` is in hand at a time.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Capture the stream's position for a table.
    Capture {
        /// The table.
        table: TableIndex,
    },
    /// Store a table's marker; with it, on a fresh start, its first committed mark.
    Store {
        /// The table.
        table: TableIndex,
        /// What to store.
        marker: Box<Marker>,
        /// The committed mark to seed before the marker, if the table joins anew.
        seed: Option<Mark>,
    },
    /// Read a table's rows.
    Snapshot {
        /// The table.
        table: TableIndex,
    },
    /// Stream changes to all tables.
    Stream {
        /// From here.
        from: Mark,
    },
    /// Tell the upstream that nothing up to here is needed any more.
    Confirm {
        /// Up to here.
        up_to: Mark,
    },
    /// Wait for the backoff's delay, then report [`Event::Woke`].
    Wait,
    /// The mirror ends.
    Finish(Outcome),
}

/// How a mirror ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// One cycle was wanted and is done.
    Done,
    /// It was asked to stop.
    Stopped,
    /// The last failure is the result.
    Failed,
}

/// Where one table stands.
#[derive(Debug, Clone, PartialEq)]
enum Table {
    /// It has no join point yet.
    New,
    /// Its join point is being stored.
    Joining { at: Mark },
    /// Its rows are to be read, or are being read.
    Snapshot { committed: Mark },
    /// The end of its snapshot is being stored.
    Closing { committed: Mark },
    /// It follows the stream.
    Following { committed: Mark },
}

impl Table {
    fn committed(&self) -> Option<&Mark> {
        match self {
            Table::New | Table::Joining { .. } => None,
            Table::Snapshot { committed } | Table::Closing { committed } | Table::Following { committed } => {
                Some(committed)
            }
        }
    }
}

/// The work that is in hand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum InHand {
    Nothing,
    Capturing,
    Work,
    Waiting,
    Ended,
}

/// See the module.
#[derive(Debug, Clone)]
pub struct Coordinator {
    tables: BTreeMap<TableIndex, Table>,
    confirmed: Option<Position>,
    in_hand: InHand,
    continuous: bool,
    stopping: bool,
}

impl Coordinator {
    /// A mirror of `tables` tables; `continuous` goes on after the first cycle and rides out transient failures.
    pub fn new(tables: usize, continuous: bool) -> Self {
        Self {
            tables: (0..tables).map(|t| (t, Table::New)).collect(),
            confirmed: None,
            in_hand: InHand::Nothing,
            continuous,
            stopping: false,
        }
    }

    /// What a table has committed, for invariants and status.
    pub fn committed(&self, table: TableIndex) -> Option<&Mark> {
        self.tables.get(&table).and_then(Table::committed)
    }

    /// What the upstream was told last.
    pub fn confirmed(&self) -> Option<&Position> {
        self.confirmed.as_ref()
    }

    /// Takes an event in and says what to do.
    pub fn step(&mut self, event: Event) -> Vec<Effect> {
        match event {
            Event::Started { tables } => self.start(tables),
            Event::Captured { table, at } => self.set_and_go_on(table, Table::Joining { at }),
            Event::Stored { table } => self.stored(table),
            Event::SnapshotDone { table } => self.snapshot_done(table),
            Event::Committed { table, at } => self.commit(table, at),
            Event::StreamEnded => self.cycle_ended(),
            Event::Failed { retry } => self.failed(retry),
            Event::Woke | Event::Halted => self.go_on(),
            Event::StopRequested => self.stop(),
        }
    }

    fn start(&mut self, stored: Vec<Option<(Marker, Mark)>>) -> Vec<Effect> {
        for (table, stored) in stored.into_iter().enumerate() {
            let state = match stored {
                None => Table::New,
                Some((marker, committed)) => match marker.stage {
                    Stage::Snapshot => Table::Snapshot { committed },
                    Stage::Cdc => Table::Following { committed },
                },
            };
            self.tables.insert(table, state);
        }
        self.go_on()
    }

    fn stored(&mut self, table: TableIndex) -> Vec<Effect> {
        let next = match self.tables.remove(&table) {
            // C3: only now may the snapshot be read.
            Some(Table::Joining { at }) => Table::Snapshot { committed: at },
            Some(Table::Closing { committed }) => Table::Following { committed },
            Some(other) => other,
            None => return Vec::new(),
        };
        self.set_and_go_on(table, next)
    }

    fn snapshot_done(&mut self, table: TableIndex) -> Vec<Effect> {
        match self.tables.remove(&table) {
            Some(Table::Snapshot { committed }) => self.set_and_go_on(table, Table::Closing { committed }),
            Some(other) => self.set_and_go_on(table, other),
            None => Vec::new(),
        }
    }

    fn commit(&mut self, table: TableIndex, at: Mark) -> Vec<Effect> {
        if let Some(Table::Following { committed }) = self.tables.get_mut(&table)
            && committed.position < at.position
        {
            *committed = at;
        }
        self.confirm()
    }

    /// C1: the least committed position, once it grew.
    fn confirm(&mut self) -> Vec<Effect> {
        let Some(least) = self.least_committed() else { return Vec::new() };
        if self.confirmed.as_ref().is_some_and(|c| *c >= least.position) {
            return Vec::new();
        }
        self.confirmed = Some(least.position.clone());
        vec![Effect::Confirm { up_to: least }]
    }

    /// The least mark of all tables; `None` while one has none.
    fn least_committed(&self) -> Option<Mark> {
        let marks = self.tables.values().map(Table::committed).collect::<Option<Vec<_>>>()?;
        marks.into_iter().min_by(|a, b| a.position.cmp(&b.position)).cloned()
    }

    fn cycle_ended(&mut self) -> Vec<Effect> {
        match self.continuous || self.stopping {
            true => self.go_on(),
            false => self.finish(Outcome::Done),
        }
    }

    /// Transient failures are ridden out, except before a table first joined: whoever starts a mirror wants to hear
    /// right away that its source can't be reached.
    fn failed(&mut self, retry: Retry) -> Vec<Effect> {
        let first_contact = self.in_hand == InHand::Capturing;
        if self.stopping || !self.continuous || first_contact || retry != Retry::Backoff {
            return self.finish(Outcome::Failed);
        }
        self.in_hand = InHand::Waiting;
        vec![Effect::Wait]
    }

    fn stop(&mut self) -> Vec<Effect> {
        self.stopping = true;
        match self.in_hand {
            // It hears of the stop by itself, ends at its next page boundary, and is reported as `Halted`.
            InHand::Capturing | InHand::Work | InHand::Waiting | InHand::Ended => Vec::new(),
            InHand::Nothing => self.go_on(),
        }
    }

    fn set_and_go_on(&mut self, table: TableIndex, state: Table) -> Vec<Effect> {
        self.tables.insert(table, state);
        self.go_on()
    }

    fn finish(&mut self, outcome: Outcome) -> Vec<Effect> {
        self.in_hand = InHand::Ended;
        vec![Effect::Finish(outcome)]
    }

    /// Nothing is in hand: the next piece of work, in the order of the tables.
    fn go_on(&mut self) -> Vec<Effect> {
        if self.stopping {
            // C5
            return self.finish(Outcome::Stopped);
        }
        let waiting = self.tables.iter().find_map(|(&table, state)| next_for(table, state));
        self.in_hand = match waiting {
            Some(Effect::Capture { .. }) => InHand::Capturing,
            _ => InHand::Work,
        };
        match (waiting, self.least_committed()) {
            (Some(effect), _) => vec![effect],
            // C4: every table follows.
            (None, Some(from)) => vec![Effect::Stream { from }],
            (None, None) => self.finish(Outcome::Done),
        }
    }
}

/// What a table needs before it can follow the stream.
fn next_for(table: TableIndex, state: &Table) -> Option<Effect> {
    match state {
        Table::New => Some(Effect::Capture { table }),
        Table::Joining { at } => {
            let marker = Box::new(Marker::joined(&at.bookmark));
            Some(Effect::Store { table, marker, seed: Some(at.clone()) })
        }
        Table::Snapshot { .. } => Some(Effect::Snapshot { table }),
        Table::Closing { committed } => {
            let marker = Box::new(Marker::following(&committed.bookmark));
            Some(Effect::Store { table, marker, seed: None })
        }
        Table::Following { .. } => None,
    }
}
