//! The transforms that are part of the change model itself and therefore native.

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::Value;
use std::sync::Arc;

use super::unwrap::{Unwrap, UnwrapConfig};
use crate::error::{Error, Problem, Result, UNCHECKED_CONFIG};
use crate::ports::{AnyTransform, Transform};

/// All native transforms.
pub fn native_transforms() -> Vec<Arc<dyn AnyTransform>> {
    vec![Arc::new(CdcUnwrap)]
}

struct CdcUnwrap;

#[async_trait]
impl AnyTransform for CdcUnwrap {
    fn name(&self) -> &str {
        "cdc_unwrap"
    }

    fn summary(&self) -> String {
        "Turns changes into plain rows with an `__op` marker that the sink's delete_marker understands".to_owned()
    }

    fn schema(&self) -> Value {
        UnwrapConfig::schema()
    }

    fn takes_changes(&self) -> bool {
        true
    }

    fn validate(&self, config: &Value) -> Vec<Problem> {
        match UnwrapConfig::deserialize(config) {
            Ok(config) => config.validate(),
            Err(error) => vec![Problem::error("", error.to_string())],
        }
    }

    async fn open(&self, config: &Value) -> Result<Box<dyn Transform>> {
        let config = UnwrapConfig::deserialize(config).map_err(|e| Error::new(&UNCHECKED_CONFIG, e.to_string()))?;
        Ok(Box::new(Unwrap::new(config)))
    }
}
