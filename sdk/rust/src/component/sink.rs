//! A [`Sink`] as a component.

use crate::bindings::faucet::connector::types;
use crate::bindings::sink::exports::faucet::connector::sinks as exported;
use crate::{Page, Result, Sink};
use std::cell::RefCell;
use std::marker::PhantomData;

/// A component whose sink is `S`. Only the export macro names it.
#[derive(Debug)]
pub struct Component<S>(PhantomData<S>);

impl<S: Sink> exported::Guest for Component<S> {
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
        Ok(S::check(&super::config(&config)?)?.into())
    }

    fn open(config: String, pipeline: String) -> Result<exported::Session, types::Error> {
        let sink = S::open(super::config(&config)?, &pipeline)?;
        Ok(exported::Session::new(Session(RefCell::new(sink))))
    }
}

/// An open sink.
#[derive(Debug)]
pub struct Session<S>(RefCell<S>);

impl<S: Sink> exported::GuestSession for Session<S> {
    fn last_token(&self, scope: String) -> Result<Option<String>, types::Error> {
        Ok(self.0.borrow_mut().last_token(&scope)?)
    }

    fn write(&self, pages: Vec<types::Page>) -> Result<Vec<types::Reject>, types::Error> {
        let mut rejected = Vec::new();
        let mut before = 0;
        for page in &pages {
            let rows = self.0.borrow_mut().write(Page::new(page))?;
            rejected.extend(rows.into_iter().map(|r| types::Reject { row: before + r.row as u32, reason: r.reason }));
            before += page.rows;
        }
        Ok(rejected)
    }

    fn commit(&self, token: Option<(String, String)>) -> Result<(), types::Error> {
        let token = token.as_ref().map(|(scope, token)| (scope.as_str(), token.as_str()));
        Ok(self.0.borrow_mut().commit(token)?)
    }

    fn finish(&self) -> Result<(), types::Error> {
        Ok(self.0.borrow_mut().finish()?)
    }
}
