//! Does one thing wrong; the configuration says which.

mod lies;
mod resources;
mod senses;

use faucet_sdk::bindings::exports::faucet::connector::transforms::{Description, Guest, GuestTransform, Transform};
use faucet_sdk::bindings::faucet::connector::types::{Error, Output, Page, Problem};
use faucet_sdk::Wants;
use faucet_sdk::serde_json::{Value, from_str};
use std::cell::Cell;

struct Hostile {
    mode: String,
    calls: Cell<u32>,
}

impl Guest for Hostile {
    type Transform = Hostile;

    fn describe() -> Description {
        Description {
            name: "hostile".into(),
            version: "0.1.0".into(),
            summary: "Does one thing wrong".into(),
            config_schema: r#"{ "type": "string" }"#.into(),
            deterministic: false,
            wants: Wants::default().into(),
        }
    }

    fn open(config: String) -> Result<Transform, Error> {
        let Ok(Value::String(mode)) = from_str(&config) else {
            return Err(Error::Failed("the configuration is a mode".into()));
        };
        match mode.as_str() {
            "open-panic" => panic!("no configuration pleases me"),
            "open-loop" => resources::endless_loop(),
            "open-problems" => {
                let problem = |path: &str, message: &str| Problem { path: path.into(), message: message.into() };
                return Err(Error::InvalidConfig(vec![problem("a.b", "is wrong"), problem("", "all is wrong")]));
            }
            "open-failed" => return Err(Error::Failed("not today".into())),
            _ => {}
        }
        Ok(Transform::new(Hostile { mode, calls: Cell::new(0) }))
    }
}

impl GuestTransform for Hostile {
    fn apply(&self, page: Page) -> Result<Output, Error> {
        let call = self.calls.replace(self.calls.get() + 1);
        match self.mode.as_str() {
            "failed" => Err(Error::Failed("this page does not please me".into())),
            "every-third" if call == 2 => panic!("tired"),
            "good" | "every-third" => Ok(lies::honest(page)),
            mode if mode.starts_with("sense-") => Ok(senses::report(page, mode)),
            mode if mode.starts_with("use-") => resources::consume(page, mode),
            mode => Ok(lies::tell(page, mode)),
        }
    }
}

faucet_sdk::bindings::export_component!(Hostile with_types_in faucet_sdk::bindings);
