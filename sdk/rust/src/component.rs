//! Between the generated bindings and [`Transform`]: configuration from JSON, pages in, output back.

use crate::bindings::exports::faucet::connector::transforms as exported;
use crate::bindings::faucet::connector::types as wire;
use crate::{Error, Page, Result, Transform};
use std::cell::RefCell;
use std::marker::PhantomData;

/// A component whose transform is `T`. Only the export macro names it.
#[derive(Debug)]
pub struct Component<T>(PhantomData<T>);

impl<T: Transform> exported::Guest for Component<T> {
    type Transform = Opened<T>;

    fn describe() -> exported::Description {
        describe::<T>()
    }

    fn open(config: String) -> Result<exported::Transform, wire::Error> {
        Ok(exported::Transform::new(Opened(RefCell::new(open::<T>(&config)?))))
    }
}

/// A transform with its configuration.
#[derive(Debug)]
pub struct Opened<T>(RefCell<T>);

impl<T: Transform> exported::GuestTransform for Opened<T> {
    fn apply(&self, page: wire::Page) -> Result<wire::Output, wire::Error> {
        Ok(apply(&mut *self.0.borrow_mut(), &page)?)
    }
}

pub(crate) fn describe<T: Transform>() -> exported::Description {
    exported::Description {
        name: T::NAME.into(),
        version: T::VERSION.into(),
        summary: T::SUMMARY.into(),
        config_schema: schemars::schema_for!(T::Config).as_value().to_string(),
        deterministic: T::DETERMINISTIC,
    }
}

pub(crate) fn open<T: Transform>(config: &str) -> Result<T> {
    let json = &mut serde_json::Deserializer::from_str(config);
    let config = serde_path_to_error::deserialize(json).map_err(|error| {
        let path = match error.path().to_string() {
            whole if whole == "." => String::new(),
            path => path,
        };
        Error::config(path, without_position(&error.into_inner().to_string()))
    })?;
    T::open(config)
}

/// The user did not write this JSON, so its line and column would mislead.
fn without_position(message: &str) -> String {
    message.rsplit_once(" at line ").map_or(message, |(message, _)| message).to_owned()
}

pub(crate) fn apply<T: Transform>(transform: &mut T, page: &wire::Page) -> Result<wire::Output> {
    transform.apply(Page::new(page))?.finish()
}
