//! A real registry, and a scripted one for the faults that a real one does not have.

#![allow(dead_code, reason = "each test target uses a part of it")]

pub mod real;
pub mod scripted;
pub mod wire;

use faucet_registry::{Client, Credentials, Options, Reference};
use std::time::Duration;

/// The smallest component, with something behind it to tell one from another.
pub fn component(seed: &str) -> Vec<u8> {
    let name = format!("(component (core module ${}))", seed.replace(|c: char| !c.is_alphanumeric(), "_"));
    wat::parse_str(name).expect("it is a component")
}

/// Quick to give up, so that tests are.
pub fn options() -> Options {
    Options {
        connect_timeout: Duration::from_secs(2),
        idle_timeout: Duration::from_secs(5),
        attempts: 3,
        first_pause: Duration::from_millis(5),
        longest_pause: Duration::from_secs(2),
        ..Options::default()
    }
}

pub fn anonymous() -> Client {
    Client::new(options(), Credentials::anonymous()).expect("TLS can be set up")
}

/// Credentials as a user would set them in the environment.
pub fn with_password(user: &str, password: &str) -> Client {
    let (user, password) = (user.to_owned(), password.to_owned());
    let credentials = Credentials::from_variables(|name| match name {
        "FAUCET_REGISTRY_USER" => Some(user.clone().into()),
        "FAUCET_REGISTRY_PASSWORD" => Some(password.clone().into()),
        _ => None,
    });
    Client::new(options(), credentials.expect("both are set")).expect("TLS can be set up")
}

pub fn reference(text: &str) -> Reference {
    text.parse().unwrap_or_else(|e| panic!("{text}: {e}"))
}

/// Everything an error shows, for what must not be in it.
pub fn everything(error: &faucet_core::error::Error) -> String {
    format!("{error:?} {} {:?} {:?}", error, error.hint_text(), error.contexts())
}
