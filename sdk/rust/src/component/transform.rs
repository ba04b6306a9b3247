//! A [`Transform`] as a component.

use crate::bindings::exports::faucet::connector::transforms as exported;
use crate::bindings::faucet::connector::types as wire;
use crate::{Page, Result, Transform};
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
        config_schema: super::schema::<T::Config>(),
        deterministic: T::DETERMINISTIC,
        wants: T::wants().into(),
    }
}

pub(crate) fn open<T: Transform>(config: &str) -> Result<T> {
    T::open(super::config(config)?)
}

pub(crate) fn apply<T: Transform>(transform: &mut T, page: &wire::Page) -> Result<wire::Output> {
    transform.apply(Page::new(page))?.finish()
}
