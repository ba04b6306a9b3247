//! A configuration that was checked, and taken apart once.

use crate::config::{Bind, Config, Method, Pagination, Part, Replication};
use crate::cursor::Cursor;
use crate::fields::Fixed;
use crate::json::document;
use crate::key::Key;
use crate::pagination::body_place;
use crate::path::Path;
use crate::request::{address, check_place};
use crate::window;
use client::origin;
use faucet_sdk::{Error, Result};

/// What a session needs to know.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    pub(crate) config: Config,
    pub(crate) records: Path,
    pub(crate) errors: Option<Path>,
    pub(crate) fields: Vec<Fixed>,
    pub(crate) table: String,
    /// For an incremental read.
    pub(crate) growing: Option<Growing>,
}

/// What decides what is new.
#[derive(Debug, Clone)]
pub(crate) struct Growing {
    pub(crate) key: Key,
    pub(crate) start: Option<Cursor>,
    /// Seconds of a window.
    pub(crate) window: Option<i64>,
}

impl Plan {
    /// Checks a configuration.
    ///
    /// # Errors
    /// What is wrong, with its path.
    pub(crate) fn new(config: Config) -> Result<Self> {
        check_request(&config)?;
        check_pagination(&config)?;
        let records = path("records_path", &config.records_path)?;
        let errors = config.errors_path.as_deref().map(|text| path("errors_path", text)).transpose()?;
        let fields = fields(&config)?;
        let growing = growing(&config)?;
        let table = config.table.clone().unwrap_or_else(|| last_part(&address(&config)));
        Ok(Self { config, records, errors, fields, table, growing })
    }
}

fn path(at: &str, text: &str) -> Result<Path> {
    Path::parse(text).map_err(|why| Error::config(at, why))
}

fn key(at: &str, text: &str) -> Result<Key> {
    Key::parse(text).map_err(|why| Error::config(at, why))
}

fn check_request(config: &Config) -> Result<()> {
    origin(&config.url).map_err(|error| Error::config("url", error.to_string()))?;
    if config.path.is_some() && config.url.contains(['?', '#']) {
        return Err(Error::config("path", "can't follow a `url` with a query: use `params`"));
    }
    if config.body.is_some() && config.method == Method::Get {
        return Err(Error::config("body", "goes with `method: POST`"));
    }
    let holds_secret = |text: &str| text.contains("${secret:") || text.contains("${basic:");
    let mut places = vec![("url", config.url.clone()), ("path", config.path.clone().unwrap_or_default())];
    places.push(("body", config.body.as_ref().map(ToString::to_string).unwrap_or_default()));
    places.push(("params", format!("{:?}", config.params)));
    if let Some((at, _)) = places.iter().find(|(_, text)| holds_secret(text)) {
        return Err(Error::config(*at, "holds a secret: use `auth`, which puts it into a header or the query"));
    }
    if config.timeout_seconds == 0 {
        return Err(Error::config("timeout_seconds", "must be at least 1"));
    }
    if config.max_pages == Some(0) {
        return Err(Error::config("max_pages", "must be at least 1"));
    }
    config.auth.as_ref().map_or(Ok(()), client::Auth::check)
}

fn check_pagination(config: &Config) -> Result<()> {
    let at = |name: &str| format!("pagination.{name}");
    let check_path = |name: &str, text: Option<&str>| text.map_or(Ok(()), |text| path(&at(name), text).map(|_| ()));
    let check_field = |name: &str, field: &str| {
        check_place(config.body.as_ref(), &body_place(field)).map_err(|why| Error::config(at(name), why))
    };
    match &config.pagination {
        Pagination::None | Pagination::LinkHeader => Ok(()),
        Pagination::Cursor { next_token_path, .. } => check_path("next_token_path", Some(next_token_path)),
        Pagination::NextLinkInBody { next_link_path } => check_path("next_link_path", Some(next_link_path)),
        Pagination::PageNumber { page_size, page_size_param, total_pages_path, .. } => {
            if *page_size == Some(0) || (page_size_param.is_some() && page_size.is_none()) {
                return Err(Error::config(at("page_size"), "must be at least 1"));
            }
            check_path("total_pages_path", total_pages_path.as_deref())
        }
        Pagination::CursorInBody { next_token_path, body_cursor_field, has_next_page_path } => {
            check_path("next_token_path", Some(next_token_path))?;
            check_path("has_next_page_path", has_next_page_path.as_deref())?;
            check_field("body_cursor_field", body_cursor_field)
        }
        Pagination::Offset { limit: 0, .. } | Pagination::OffsetInBody { limit: 0, .. } => {
            Err(Error::config(at("limit"), "must be at least 1"))
        }
        Pagination::Offset { total_path, .. } => check_path("total_path", total_path.as_deref()),
        Pagination::OffsetInBody { offset_field, limit_field, total_path, .. } => {
            check_path("total_path", total_path.as_deref())?;
            check_field("offset_field", offset_field)?;
            check_field("limit_field", limit_field)
        }
    }
}

fn fields(config: &Config) -> Result<Vec<Fixed>> {
    let mut fields: Vec<Fixed> = Vec::new();
    for (nth, field) in config.schema.iter().enumerate() {
        let at = |name: &str| format!("schema[{nth}].{name}");
        if fields.iter().any(|known| known.name == field.name) {
            return Err(Error::config(at("name"), format!("names column '{}' twice", field.name)));
        }
        let place = match &field.path {
            Some(path) => key(&at("path"), path)?,
            None => Key::Name(field.name.clone()),
        };
        fields.push(Fixed { name: field.name.clone(), kind: field.kind, place });
    }
    for name in &config.primary_key {
        if !fields.is_empty() && !fields.iter().any(|field| field.name == *name) {
            return Err(Error::config("primary_key", format!("names '{name}', which `schema` does not")));
        }
    }
    Ok(fields)
}

fn growing(config: &Config) -> Result<Option<Growing>> {
    if config.replication_method == Replication::FullTable {
        let given = [
            ("replication_key", config.replication_key.is_some()),
            ("start_replication_value", config.start_replication_value.is_some()),
            ("replication_bind", config.replication_bind.is_some()),
            ("window", config.window.is_some()),
        ];
        return match given.iter().find(|(_, given)| *given) {
            Some((name, _)) => Err(Error::config(*name, "goes with `replication_method: { type: Incremental }`")),
            None => Ok(None),
        };
    }
    let name = config.replication_key.as_deref();
    let name = name.ok_or_else(|| Error::config("replication_key", "is needed for Incremental"))?;
    let (key, start) = (key("replication_key", name)?, start(config)?);
    check_binds(config)?;
    let window = match &config.window {
        Some(window) => {
            let size = window::seconds(&window.size);
            Some(size.ok_or_else(|| Error::config("window.size", "is a number and m, h or d, such as 12h"))?)
        }
        None => None,
    };
    if window.is_some() && start.as_ref().and_then(Cursor::moment).is_none() {
        let message = "`window` needs a date or time to start the first run at";
        return Err(Error::config("start_replication_value", message));
    }
    Ok(Some(Growing { key, start, window }))
}

fn start(config: &Config) -> Result<Option<Cursor>> {
    let Some(value) = &config.start_replication_value else { return Ok(None) };
    let text = value.to_string();
    let cursor = Cursor::new(document(&text)?);
    let cursor = cursor.map_err(|_| Error::config("start_replication_value", "is a number or text"))?;
    Ok(cursor)
}

/// Binds are checked one by one, and no two may write to one place.
fn check_binds(config: &Config) -> Result<()> {
    let mut binds: Vec<(&str, &Bind)> = Vec::new();
    binds.extend(config.replication_bind.as_ref().map(|bind| ("replication_bind", bind)));
    if let Some(window) = &config.window {
        binds.extend([("window.start", &window.start), ("window.end", &window.end)]);
    }
    let mut places = Vec::new();
    for (at, bind) in binds {
        if let Some((below, message)) = bind.problems(config.path.as_deref(), config.body.as_ref()) {
            return Err(Error::config(format!("{at}{below}"), message));
        }
        if at != "replication_bind" && bind.template.is_some() {
            return Err(Error::config(format!("{at}.template"), "goes with `replication_bind`"));
        }
        if at == "replication_bind" && bind.into == Part::Path && config.start_replication_value.is_none() {
            let message = "is needed to fill in the path in the first run";
            return Err(Error::config("start_replication_value", message));
        }
        let place = (bind.into, bind.place());
        if places.contains(&place) {
            return Err(Error::config(at, "writes to the same place as another"));
        }
        places.push(place);
    }
    Ok(())
}

/// The last part of an address that names something.
fn last_part(url: &str) -> String {
    let path = url.split(['?', '#']).next().unwrap_or_default();
    let path = path.split_once("://").and_then(|(_, rest)| rest.split_once('/')).map_or("", |(_, path)| path);
    let named = path.rsplit('/').find(|part| !part.is_empty() && !part.contains(['{', '}']));
    named.unwrap_or("records").to_owned()
}
