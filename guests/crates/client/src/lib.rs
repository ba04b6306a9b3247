//! How components talk to HTTP servers: credentials that the host fills in, answers that mean "later", redirects that
//! stay on their host, and the times that headers and APIs write.
//!
//! A secret is only ever a placeholder here. Whatever a server says (a link, a token, a cursor) is kept from turning
//! into one: see [`inert`].

mod auth;
mod backoff;
mod call;
mod client;
mod moment;
mod url;

pub use auth::Auth;
pub use backoff::{Backoff, Later, Retry, retry_after};
pub use call::{Call, Transport, Wire, inert};
pub use client::{Attempt, Client, refusal};
pub use moment::{Moment, civil, date, days_from_civil, is_still, unix_now};
pub use url::{encoded, joined, origin, same_origin, with_query};
