//! The plainest implementations.

use crate::memory::{MemoryDestination, MemoryOrigin};

mod sink {
    crate::sinks::sink_suite!(super::MemoryDestination);
}

mod source {
    crate::origins::source_suite!(super::MemoryOrigin);
}
