//! A [`Source`] as a component.

use crate::bindings::faucet::connector::types;
use crate::bindings::source::exports::faucet::connector::sources as exported;
use crate::{Result, Source};
use std::cell::RefCell;
use std::marker::PhantomData;

/// A component whose source is `S`. Only the export macro names it.
#[derive(Debug)]
pub struct Component<S>(PhantomData<S>);

impl<S: Source> exported::Guest for Component<S> {
    type Session = Session<S>;

    fn describe() -> exported::Description {
        exported::Description {
            name: S::NAME.into(),
            version: S::VERSION.into(),
            summary: S::SUMMARY.into(),
            config_schema: super::schema::<S::Config>(),
            wants: S::wants().into(),
        }
    }

    fn check(config: String) -> Result<exported::Capabilities, types::Error> {
        let abilities = S::check(&super::config(&config)?)?;
        let (changes, capture, replayable) = (abilities.changes, abilities.capture, abilities.replayable);
        Ok(exported::Capabilities { changes, capture, replayable })
    }

    fn discover(config: String) -> Result<Vec<exported::Discovered>, types::Error> {
        let found = S::discover(super::config(&config)?)?;
        let table = |found: crate::Discovered| exported::Discovered {
            table: types::TableId { schema: found.schema, name: found.table },
            key: found.key,
        };
        Ok(found.into_iter().map(table).collect())
    }

    fn capture(config: String) -> Result<exported::Bookmark, types::Error> {
        Ok(S::capture(super::config(&config)?)?.into())
    }

    fn open(config: String, bookmark: Option<exported::Bookmark>) -> Result<exported::Session, types::Error> {
        let source = S::open(super::config(&config)?, bookmark.map(Into::into))?;
        Ok(exported::Session::new(Session(RefCell::new(source))))
    }
}

/// An open source.
#[derive(Debug)]
pub struct Session<S>(RefCell<S>);

impl<S: Source> exported::GuestSession for Session<S> {
    fn read(&self, max_bytes: u32) -> Result<Option<exported::Batch>, types::Error> {
        let batch = self.0.borrow_mut().read(max_bytes as usize)?;
        Ok(batch.map(crate::Batch::finish).transpose()?)
    }

    fn confirm(&self, bookmark: exported::Bookmark) -> Result<(), types::Error> {
        Ok(self.0.borrow_mut().confirm(bookmark.into())?)
    }
}
