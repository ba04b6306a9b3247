//! Waiting for something to become true, without guessing how long it takes.

use std::time::{Duration, Instant};

/// Calls `probe` until it returns `Ok`, and returns that value.
///
/// Panics after `timeout` with `what` and the last reason `probe` gave, so that the failure reads as
/// "waited 10 s for the mirror to settle: 3 rows are missing".
#[track_caller]
pub fn eventually<T>(timeout: Duration, what: &str, mut probe: impl FnMut() -> Result<T, String>) -> T {
    match try_eventually(timeout, &mut probe) {
        Ok(value) => value,
        Err(reason) => panic!("waited {} s for {what}: {reason}", timeout.as_secs_f32()),
    }
}

/// The same without a panic: the last reason comes back as the error.
pub fn try_eventually<T>(timeout: Duration, mut probe: impl FnMut() -> Result<T, String>) -> Result<T, String> {
    let start = Instant::now();
    let mut pause = Duration::from_millis(2);
    loop {
        match probe() {
            Ok(value) => return Ok(value),
            Err(reason) if start.elapsed() >= timeout => return Err(reason),
            Err(_) => std::thread::sleep(pause),
        }
        pause = (pause * 3 / 2).min(Duration::from_millis(100));
    }
}
