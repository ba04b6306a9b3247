//! Gives back what it is given: as new buffers (configuration `"buffers"`), so that every byte crosses twice, or as
//! columns passed through (`"pass"`).

use faucet_sdk::bindings::exports::faucet::connector::transforms::{Description, Guest, GuestTransform, Transform};
use faucet_sdk::bindings::faucet::connector::types::{ColumnOut, Error, Kept, Output, Page, PageOut};

struct Echo {
    buffers: bool,
}

impl Guest for Echo {
    type Transform = Echo;

    fn describe() -> Description {
        Description {
            name: "echo".into(),
            version: "0.1.0".into(),
            summary: "Gives back what it is given".into(),
            config_schema: r#"{ "enum": ["buffers", "pass"] }"#.into(),
            deterministic: true,
            wants: faucet_sdk::Wants::default().into(),
        }
    }

    fn open(config: String) -> Result<Transform, Error> {
        Ok(Transform::new(Echo { buffers: config == "\"buffers\"" }))
    }
}

impl GuestTransform for Echo {
    fn apply(&self, page: Page) -> Result<Output, Error> {
        let kept = |index| ColumnOut::Input(Kept { index, name: None });
        let columns = match self.buffers {
            true => page.columns.into_iter().map(ColumnOut::Buffers).collect(),
            false => (0..page.columns.len() as u32).map(kept).collect(),
        };
        let out = PageOut { table: None, rows: page.rows, selection: None, key: None, columns };
        Ok(Output { pages: vec![out], rejected: Vec::new() })
    }
}

faucet_sdk::bindings::export_component!(Echo with_types_in faucet_sdk::bindings);
