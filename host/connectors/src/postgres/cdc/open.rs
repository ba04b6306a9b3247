//! Opens a stream: looks first, finds or makes the slot, then starts at the bookmark.

use faucet_core::config::Span;
use faucet_core::error::{Error, Result};
use faucet_core::ports::SourceContext;
use std::time::Duration;
use tokio::time::{Instant, sleep};

use super::catalog::Catalog;
use super::config::{PostgresCdcConfig, SlotType};
use super::feedback::Feedback;
use super::heartbeat::Heartbeat;
use super::intake::Intake;
use super::lsn::{Lsn, Place};
use super::meter::Meter;
use super::preflight::{self, Server};
use super::silence::{Silence, Walsender};
use super::slot::{self, Life, Slot};
use super::stream::{Pace, Stream};
use super::survey::Record;
use super::timeline::Watch;
use super::wire::{Started, Wire, quote_text};
use crate::postgres::connect::Session;
use crate::postgres::endpoint::Endpoint;
use crate::postgres::error::CONFLICT;
use crate::postgres::name::quoted;

/// How long a slot that is in use is waited for: the server may still have to notice that the last session is gone.
const SLOT_PATIENCE: Duration = Duration::from_secs(10);

const SHORTEST_SILENCE: Duration = Duration::from_secs(3);
const LONGEST_SILENCE: Duration = Duration::from_secs(60);

/// Opens the stream of `config`.
pub(super) async fn stream(mut config: PostgresCdcConfig, context: SourceContext) -> Result<Stream> {
    if context.read_only {
        config.create_slot_if_missing = false;
        config.heartbeat_interval = None;
    }
    let endpoint = Endpoint::new(&config.connection_url, config.tls.as_ref())?;
    let bookmark = context.bookmark.as_ref().map(Place::from_bookmark).transpose()?;
    let session = endpoint.connect_source(&context.pipeline).await?;
    let server = preflight::server(&session).await?;
    let published = preflight::publication(&session, &config.publication_name).await;
    published.map_err(|error| preflight::gone(error, &config.publication_name, bookmark.is_some()))?;
    let mut wire = Wire::connect(&endpoint, &context.pipeline).await?;
    let here = preflight::identify(&mut wire).await?;
    let start = match config.slot_type {
        SlotType::Permanent => permanent(&config, &session, &mut wire, &server, &here, bookmark.as_ref()).await?,
        SlotType::Temporary => temporary(&config, &session, &mut wire, bookmark.as_ref()).await?,
    };
    let watch = match server.standby {
        true => Some(Watch::new(Wire::connect(&endpoint, &context.pipeline).await?, here.timeline)),
        false => None,
    };
    let start = Place { lsn: start, ..here };
    let walsender =
        Walsender { pid: wire.pid(), slot: config.slot_name.clone(), publication: config.publication_name.clone() };
    let (inbox, out) = begin(wire, &config, &session, start.lsn).await?;
    if let (Some(bookmark), SlotType::Permanent) = (&bookmark, config.slot_type) {
        still_holds(&config, &session, bookmark).await?;
    }
    tracing::debug!(slot = config.slot_name, start = %start.lsn, "streaming changes");
    let pace = pace(&config, &server);
    // To the server, position 0 confirms nothing; a bookmark may lie beyond what it heard of.
    let confirmed = if context.read_only { Lsn(0) } else { start.lsn };
    let feedback = Feedback::start(out, confirmed, pace.status_interval);
    let beat = |span: Span| Heartbeat::start(endpoint.clone(), context.pipeline.clone(), span.duration());
    let heartbeat = config.heartbeat_interval.map(beat);
    let record = context.covered.as_ref().map(Record::read).transpose()?;
    let catalog = Catalog::new(endpoint, context.pipeline.clone(), session, config.timestamps, record);
    let intake = Intake::new(start, config.batch_size.get() as usize);
    let silence = Silence::new(silence(&server), walsender);
    let meter = Meter::new(&context.pipeline);
    Ok(Stream::new((inbox, feedback), catalog, intake, (pace, silence), meter, heartbeat).watched(watch))
}

/// The slot of that name, checked, or a new one; the position its log begins at.
pub(super) async fn ensure_slot(
    config: &PostgresCdcConfig,
    session: &Session,
    wire: &mut Wire,
    server: &Server,
    may_create: bool,
) -> Result<(Slot, Lsn)> {
    if config.failover {
        preflight::check_failover(server.version)?;
    }
    loop {
        if let Some(slot) = Slot::find(session, &config.slot_name).await? {
            match slot.check(&server.database) {
                Ok(confirmed) => return Ok((slot, confirmed)),
                Err(error) => slot::until_made(session, &config.slot_name, error).await?,
            }
        } else if may_create && config.create_slot_if_missing {
            create(config, session, wire).await?;
        } else {
            return Err(slot::missing(&config.slot_name, !may_create));
        }
    }
}

/// Creates the slot, unless somebody else just did.
async fn create(config: &PostgresCdcConfig, session: &Session, wire: &mut Wire) -> Result<()> {
    let life = if config.failover { Life::Failover } else { Life::Permanent };
    match slot::create(wire, session, &config.slot_name, life).await {
        Ok(_) => tracing::info!(slot = config.slot_name, "created the replication slot"),
        Err(error) if Slot::find(session, &config.slot_name).await?.is_none() => return Err(error),
        Err(_) => {}
    }
    Ok(())
}

/// Where a stream from a permanent slot starts: at the bookmark, or where the slot stands.
async fn permanent(
    config: &PostgresCdcConfig,
    session: &Session,
    wire: &mut Wire,
    server: &Server,
    here: &Place,
    bookmark: Option<&Place>,
) -> Result<Lsn> {
    let Some(bookmark) = bookmark else {
        let (_, confirmed) = ensure_slot(config, session, wire, server, true).await?;
        return Ok(confirmed);
    };
    preflight::same_log(wire, here, bookmark).await?;
    let (slot, confirmed) = ensure_slot(config, session, wire, server, false).await?;
    slot.check_holds(confirmed, bookmark.lsn)?;
    Ok(bookmark.lsn)
}

/// Looks again now that the slot is ours: until then another reader may have moved it, and the server would begin where
/// that one ended, without a word.
async fn still_holds(config: &PostgresCdcConfig, session: &Session, bookmark: &Place) -> Result<()> {
    match Slot::find(session, &config.slot_name).await? {
        Some(slot) => slot.check_holds(slot.confirmed.unwrap_or_default(), bookmark.lsn),
        None => Err(slot::missing(&config.slot_name, true)),
    }
}

/// Where a stream from a temporary slot starts: now.
async fn temporary(
    config: &PostgresCdcConfig,
    session: &Session,
    wire: &mut Wire,
    bookmark: Option<&Place>,
) -> Result<Lsn> {
    if let Some(bookmark) = bookmark {
        tracing::warn!(
            slot = config.slot_name,
            bookmark = %bookmark.lsn,
            "a temporary slot starts anew: changes committed since the bookmark are not delivered"
        );
    }
    slot::create(wire, session, &config.slot_name, Life::Temporary).await
}

/// Starts the stream; waits a little for a slot that is still in use.
async fn begin(mut wire: Wire, config: &PostgresCdcConfig, session: &Session, start: Lsn) -> Result<Started> {
    // Version 1 of the protocol sends a transaction as a whole, once it is committed, in the order of the commits. Later
    // versions can also send pieces of those still open, between one another: somebody would have to keep them until
    // they commit or are rolled back, and the server, which spills them to disk, can do that for as long as it takes.
    // One list of identifiers inside one literal, so quoted twice.
    let publication = quote_text(&quoted(&config.publication_name));
    let command = format!(
        "START_REPLICATION SLOT {} LOGICAL {start} (proto_version '1', publication_names {publication}, messages 'true')",
        quoted(&config.slot_name)
    );
    let deadline = Instant::now() + SLOT_PATIENCE;
    let mut pause = Duration::from_millis(50);
    loop {
        let (again, error) = match wire.start(&command).await {
            Ok(started) => return Ok(started),
            Err(refusal) => *refusal,
        };
        if error.code() != &CONFLICT {
            return Err(error.context("starting the change stream"));
        }
        match again {
            Some(again) if Instant::now() < deadline => wire = again,
            Some(_) | None => return Err(active(session, &config.slot_name).await),
        }
        sleep(pause).await;
        pause = (pause * 2).min(Duration::from_secs(1));
    }
}

async fn active(session: &Session, name: &str) -> Error {
    match Slot::find(session, name).await {
        Ok(slot) => Slot::active(name, slot.and_then(|s| s.active_pid())),
        Err(error) => error,
    }
}

fn pace(config: &PostgresCdcConfig, server: &Server) -> Pace {
    let timeout = server.wal_sender_timeout;
    let mut status_interval = config.status_update_interval.duration();
    if !timeout.is_zero() {
        status_interval = status_interval.min(timeout / 3);
    }
    Pace {
        linger: config.linger.duration(),
        idle_timeout: config.idle_timeout.duration(),
        max_cycle: config.max_cycle_duration.duration(),
        max_messages: config.max_messages.map_or(u64::MAX, |n| n.get()),
        status_interval,
    }
}

/// How long a server that is well may say nothing. One that hears from us has no need to speak by itself.
fn silence(server: &Server) -> Duration {
    match server.wal_sender_timeout {
        Duration::ZERO => LONGEST_SILENCE,
        timeout => timeout.clamp(SHORTEST_SILENCE, LONGEST_SILENCE),
    }
}
