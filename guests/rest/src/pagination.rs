//! From one page to the next.

use crate::bind::exact_number;
use crate::config::Pagination;
use crate::json::{Raw, Shape, shape};
use crate::key::pointer_parts;
use crate::link;
use crate::path::Path;
use crate::request::Draft;
use client::{inert, joined, same_origin};
use faucet_sdk::serde_json::Value;
use faucet_sdk::{Error, Result};
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

/// A way through the pages of one read.
#[derive(Debug)]
pub(crate) struct Pager {
    style: Pagination,
    place: Place,
    /// Pages that were read.
    pages: u32,
    /// Cursors and links that were followed.
    seen: HashSet<u64>,
    /// What the last page held.
    last: Option<u64>,
}

/// Where the next page is.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Place {
    First,
    /// A cursor, as the API wrote it.
    Token(String),
    /// The number of a page, or of records to skip.
    Number(u64),
    /// An address.
    Link(String),
}

/// What an answer says about the next page.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Answer<'a> {
    /// The address it came from.
    pub(crate) url: &'a str,
    /// Its header `Link`.
    pub(crate) link: Option<&'a str>,
    /// Its document.
    pub(crate) root: &'a Raw,
    /// Its records.
    pub(crate) records: &'a [&'a Raw],
}

impl Pager {
    pub(crate) fn new(style: Pagination) -> Self {
        let place = match &style {
            Pagination::PageNumber { start_page, .. } => Place::Number(*start_page),
            Pagination::Offset { .. } | Pagination::OffsetInBody { .. } => Place::Number(0),
            _ => Place::First,
        };
        Self { style, place, pages: 0, seen: HashSet::new(), last: None }
    }

    /// Pages that were read.
    pub(crate) fn pages(&self) -> u32 {
        self.pages
    }

    /// Turns a request to the next page.
    pub(crate) fn write(&self, draft: &mut Draft) -> Result<()> {
        match (&self.style, &self.place) {
            (Pagination::Cursor { param_name, .. }, Place::Token(token)) => {
                draft.set_query(param_name, plain(token));
            }
            (Pagination::CursorInBody { body_cursor_field, .. }, Place::Token(token)) => {
                let value = if token.starts_with('"') { Value::String(plain(token)) } else { exact_number(token)? };
                draft.set_body(&body_place(body_cursor_field), value)?;
            }
            (Pagination::PageNumber { param_name, page_size, page_size_param, .. }, Place::Number(number)) => {
                draft.set_query(param_name, number.to_string());
                if let (Some(name), Some(size)) = (page_size_param, page_size) {
                    draft.set_query(name, size.to_string());
                }
            }
            (Pagination::Offset { offset_param, limit_param, limit, .. }, Place::Number(number)) => {
                draft.set_query(offset_param, number.to_string());
                draft.set_query(limit_param, limit.to_string());
            }
            (Pagination::OffsetInBody { offset_field, limit_field, limit, .. }, Place::Number(number)) => {
                draft.set_body(&body_place(offset_field), (*number).into())?;
                draft.set_body(&body_place(limit_field), (*limit).into())?;
            }
            (_, Place::Link(url)) => draft.follow(url.clone()),
            _ => {}
        }
        Ok(())
    }

    /// Goes on to the next page; false if this was the last.
    ///
    /// # Errors
    /// If the API leads in a circle, or to another host.
    pub(crate) fn advance(&mut self, answer: Answer<'_>) -> Result<bool> {
        self.pages += 1;
        let next = match &self.style {
            Pagination::None => None,
            Pagination::Cursor { next_token_path, .. } => token(next_token_path, answer.root)?,
            Pagination::CursorInBody { next_token_path, has_next_page_path, .. } => {
                match more(has_next_page_path.as_deref(), answer.root)? {
                    true => token(next_token_path, answer.root)?,
                    false => None,
                }
            }
            Pagination::LinkHeader => {
                answer.link.and_then(link::next).map(|url| address(answer.url, url)).transpose()?
            }
            Pagination::NextLinkInBody { next_link_path } => match token(next_link_path, answer.root)? {
                Some(Place::Token(json)) => Some(address(answer.url, &plain(&json))?),
                _ => None,
            },
            Pagination::PageNumber { .. } | Pagination::Offset { .. } | Pagination::OffsetInBody { .. } => {
                self.next_number(answer)?.map(Place::Number)
            }
        };
        let Some(next) = next else { return Ok(false) };
        self.refuse_circle(&next, answer)?;
        self.place = next;
        Ok(true)
    }

    /// The number of the next page, or of the next record.
    fn next_number(&self, answer: Answer<'_>) -> Result<Option<u64>> {
        let Place::Number(at) = self.place else { return Ok(None) };
        let count = answer.records.len() as u64;
        if count == 0 {
            return Ok(None);
        }
        let (next, size, total_path, reached) = match &self.style {
            Pagination::PageNumber { page_size, total_pages_path, .. } => {
                (at + 1, *page_size, total_pages_path.as_deref(), u64::from(self.pages))
            }
            Pagination::Offset { limit, total_path, .. } | Pagination::OffsetInBody { limit, total_path, .. } => {
                (at + count, Some(*limit), total_path.as_deref(), at + count)
            }
            _ => return Ok(None),
        };
        // A total says more than the size of a page: a server may give fewer records than it is asked for.
        let ended = match total(total_path, answer.root)? {
            Some(total) => reached >= total,
            None => size.is_some_and(|size| count < size),
        };
        Ok((!ended).then_some(next))
    }

    /// A cursor that comes twice would be followed for ever, and so would a number that the server ignores.
    fn refuse_circle(&mut self, next: &Place, answer: Answer<'_>) -> Result<()> {
        if !matches!(next, Place::Number(_)) {
            self.seen.insert(digest(&Place::Link(answer.url.to_owned())));
            if !self.seen.insert(digest(next)) {
                return Err(Error::new("the API gives the same cursor or link twice: its pages go in a circle"));
            }
            return Ok(());
        }
        let held = Some(digest(&answer.records));
        if self.last == held {
            return Err(Error::new("two pages in a row are the same: the server seems to ignore the page's number"));
        }
        self.last = held;
        Ok(())
    }
}

fn digest(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// Where a field of the body is.
pub(crate) fn body_place(field: &str) -> Vec<String> {
    if field.starts_with('/') { pointer_parts(field) } else { vec![field.to_owned()] }
}

/// The text of a cursor, or its digits.
fn plain(json: &str) -> String {
    serde_json::from_str(json).unwrap_or_else(|_| json.to_owned())
}

fn value<'a>(path: &str, root: &'a Raw) -> Result<Option<&'a Raw>> {
    Path::parse(path).map_err(Error::new)?.first(root)
}

/// The cursor of an answer, unless there is no next page.
fn token(path: &str, root: &Raw) -> Result<Option<Place>> {
    let Some(raw) = value(path, root)? else { return Ok(None) };
    match shape(raw)? {
        Shape::Null | Shape::Boolean(false) => Ok(None),
        Shape::Text(text) if text.is_empty() => Ok(None),
        Shape::Text(_) | Shape::Number(_) => Ok(Some(Place::Token(raw.to_owned()))),
        Shape::Boolean(true) | Shape::Object | Shape::Array => {
            Err(Error::new(format!("there is neither text nor a number at {path}, where the cursor should be")))
        }
    }
}

/// Whether an answer says that there is a next page, where it says so.
fn more(path: Option<&str>, root: &Raw) -> Result<bool> {
    let Some(path) = path else { return Ok(true) };
    let Some(raw) = value(path, root)? else { return Ok(false) };
    Ok(matches!(shape(raw)?, Shape::Boolean(true)))
}

fn total(path: Option<&str>, root: &Raw) -> Result<Option<u64>> {
    let Some(path) = path else { return Ok(None) };
    let number = value(path, root)?.and_then(|raw| plain(raw).parse().ok());
    number.map(Some).ok_or_else(|| Error::new(format!("there is no whole number at {path}, where the total should be")))
}

/// An address that a server gave, on the same host.
fn address(base: &str, link: &str) -> Result<Place> {
    let url = joined(base, inert(link)?)?;
    if !same_origin(base, &url) {
        return Err(Error::new("the link to the next page leads to another host, which is not followed"));
    }
    Ok(Place::Link(url))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
