//! One read of an API: requests in turn, their records as pages.

use crate::infer::Inferred;
use crate::json::{Raw, Shape, document, elements, shape};
use crate::pagination::{Answer, Pager};
use crate::plan::{Growing, Plan};
use crate::request::Draft;
use crate::water::HighWater;
use crate::window::Spans;
use client::{Attempt, Backoff, Call, Client, Transport, refusal};
use faucet_sdk::http::Response;
use faucet_sdk::{Batch, Bookmark, Error, Level, NewPage, Result};
use std::collections::VecDeque;
use std::time::Duration;

/// A read that goes on from page to page.
#[derive(Debug)]
pub(crate) struct Session<T> {
    plan: Plan,
    client: Client<T>,
    backoff: Backoff,
    pager: Pager,
    water: Option<HighWater>,
    spans: Option<Spans>,
    inferred: Inferred,
    /// Batches of the last answer that were not handed out yet.
    ready: VecDeque<Batch>,
    ended: bool,
}

impl<T: Transport> Session<T> {
    /// Starts at a bookmark, or at the beginning.
    pub(crate) fn new(plan: Plan, transport: T, bookmark: Option<&Bookmark>) -> Result<Self> {
        let water = match &plan.growing {
            Some(Growing { key, start, .. }) => {
                Some(HighWater::new(key.clone(), plan.config.on_missing_key, start.clone(), bookmark)?)
            }
            None => None,
        };
        let spans = spans(&plan, water.as_ref())?;
        let timeout = Duration::from_secs(plan.config.timeout_seconds.into());
        Ok(Self {
            client: Client::new(transport, plan.config.auth.clone(), timeout),
            backoff: Backoff::new(plan.config.retry),
            pager: Pager::new(plan.config.pagination.clone()),
            water,
            spans,
            inferred: Inferred::default(),
            ready: VecDeque::new(),
            ended: false,
            plan,
        })
    }

    /// The next batch: rows of about `max_bytes`, or a pause before a request is repeated.
    pub(crate) fn read(&mut self, max_bytes: usize) -> Result<Option<Batch>> {
        if let Some(batch) = self.ready.pop_front() {
            return Ok(Some(batch));
        }
        if self.ended {
            return Ok(None);
        }
        let call = self.call()?;
        match self.client.attempt(&call)? {
            Attempt::Answer(answer) => {
                self.backoff.reset();
                self.take(&call, &answer, max_bytes)?;
                Ok(self.ready.pop_front())
            }
            Attempt::Later(later) => {
                let pause = self.backoff.next(&later)?;
                faucet_sdk::count("retries", 1);
                faucet_sdk::log(Level::Warn, &format!("{}; trying again in {} ms", later.why, pause.as_millis()));
                Ok(Some(Batch::commit([], None).wait(pause)))
            }
        }
    }

    /// The request for the page that comes next.
    fn call(&self) -> Result<Call> {
        let config = &self.plan.config;
        let mut draft = Draft::new(config);
        let floor = self.water.as_ref().and_then(HighWater::floor);
        if let (Some(bind), Some(floor)) = (&config.replication_bind, floor) {
            bind.write_cursor(&mut draft, floor)?;
        }
        if let (Some(window), Some(spans)) = (&config.window, &self.spans) {
            let (start, end) = spans.current();
            let iso = crate::config::Format::Iso8601;
            window.start.write_moment(&mut draft, start, window.start.format.unwrap_or(iso))?;
            window.end.write_moment(&mut draft, &end, window.end.format.unwrap_or(iso))?;
        }
        self.pager.write(&mut draft)?;
        Ok(draft.finish(config.method))
    }

    /// Makes batches of an answer, and turns to the next page.
    fn take(&mut self, call: &Call, answer: &Response, max_bytes: usize) -> Result<()> {
        if !(200..300).contains(&answer.status) {
            return Err(refusal(&call.method, &call.url, answer.status));
        }
        let root = parsed(answer)?;
        self.refuse_errors(root)?;
        let records = self.plan.records.records(root)?.ok_or_else(|| {
            Error::new(format!("the answer has nothing at {} (`records_path`)", self.plan.config.records_path))
        })?;
        let mut pages = self.pages(&records, max_bytes)?;
        let link = answer.header("link");
        let more = self.pager.advance(Answer { url: &call.url, link, root, records: &records })?;
        let bookmark = self.turn(more)?;
        let last = pages.pop();
        self.ready.extend(pages.into_iter().map(|page| Batch::commit([page], None)));
        self.ready.push_back(Batch::commit(last, bookmark));
        Ok(())
    }

    /// Turns to the next page or window. Where one ends whole, there is a bookmark: not before, for records may come in
    /// any order.
    fn turn(&mut self, more: bool) -> Result<Option<Bookmark>> {
        let most = self.plan.config.max_pages;
        if more && most.is_none_or(|most| self.pager.pages() < most) {
            return Ok(None);
        }
        self.ended = more || !self.spans.as_mut().is_some_and(Spans::advance);
        if more {
            faucet_sdk::log(Level::Warn, "there are more pages than `max_pages`: the rest was not read");
            return Ok(None);
        }
        self.pager = Pager::new(self.plan.config.pagination.clone());
        self.water.as_ref().map_or(Ok(None), HighWater::bookmark)
    }

    fn refuse_errors(&self, root: &Raw) -> Result<()> {
        let Some(path) = &self.plan.errors else { return Ok(()) };
        for found in path.all(root)? {
            let fine = match shape(found)? {
                Shape::Null | Shape::Boolean(false) => true,
                Shape::Array => elements(found)?.is_empty(),
                Shape::Boolean(true) | Shape::Number(_) | Shape::Text(_) | Shape::Object => false,
            };
            if !fine {
                return Err(Error::new("the answer holds an error at `errors_path`"));
            }
        }
        Ok(())
    }

    /// Pages of the records that are new, each of about `max_bytes`.
    fn pages(&mut self, records: &[&Raw], max_bytes: usize) -> Result<Vec<NewPage>> {
        let mut pages = Vec::new();
        let (mut rows, mut bytes) = (Vec::new(), 0);
        for record in records {
            if let Some(water) = &mut self.water
                && !water.admit(record)?
            {
                continue;
            }
            rows.push(*record);
            bytes += record.len();
            if bytes >= max_bytes {
                pages.push(self.page(&rows)?);
                (rows, bytes) = (Vec::new(), 0);
            }
        }
        if !rows.is_empty() {
            pages.push(self.page(&rows)?);
        }
        Ok(pages)
    }

    fn page(&mut self, rows: &[&Raw]) -> Result<NewPage> {
        let columns = match self.plan.fields[..] {
            [] => self.inferred.columns(rows)?,
            ref fields => fields.iter().map(|field| field.column(rows)).collect::<Result<_>>()?,
        };
        let key = &self.plan.config.primary_key;
        if let Some(missing) = key.iter().find(|name| !columns.iter().any(|column| column.name() == *name)) {
            return Err(Error::new(format!("no record has a field '{missing}', which `primary_key` names")));
        }
        if columns.is_empty() {
            return Err(Error::new("the records have no fields"));
        }
        let page = NewPage::new(&self.plan.table).key(key);
        Ok(columns.into_iter().fold(page, NewPage::column))
    }
}

fn spans(plan: &Plan, water: Option<&HighWater>) -> Result<Option<Spans>> {
    let Some(size) = plan.growing.as_ref().and_then(|growing| growing.window) else { return Ok(None) };
    let start = water.and_then(HighWater::floor).and_then(|floor| floor.moment());
    let start = start.ok_or_else(|| Error::new("the bookmark is no date or time, and `window` needs one"))?;
    Spans::new(size, start).map(Some)
}

/// The document of an answer.
fn parsed(answer: &Response) -> Result<&Raw> {
    let text = std::str::from_utf8(&answer.body).map_err(|_| Error::new("the answer is not UTF-8"))?;
    document(text.trim_start_matches('\u{feff}')).map_err(|error| match answer.header("content-type") {
        Some(kind) if !kind.contains("json") => {
            let kind: String = kind.chars().filter(|c| !c.is_control()).take(60).collect();
            Error::new(format!("{error}; the server says that it is {kind}"))
        }
        _ => error,
    })
}

#[cfg(test)]
mod tests;
