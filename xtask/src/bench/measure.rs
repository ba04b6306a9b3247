//! Wall, CPU and memory of a process and of the server behind it.

use std::process::{Child, Command};
use std::time::Instant;

use super::server::Server;
use crate::failure::{Failure, Result};
use crate::process;

/// What one run cost.
#[derive(Debug, Clone, Copy, Default)]
pub struct Sample {
    /// Elapsed seconds.
    pub wall_s: f64,
    /// User and system CPU seconds of the process and the children it waited for.
    pub cpu_s: f64,
    /// CPU seconds of all processes of the PostgreSQL server meanwhile.
    pub pg_cpu_s: f64,
    /// Most memory resident at once, MiB; of the largest process where there are several.
    pub rss_mib: f64,
}

/// The median of each figure.
pub fn median(samples: &[Sample]) -> Sample {
    let middle = |figure: fn(&Sample) -> f64| {
        let mut values: Vec<f64> = samples.iter().map(figure).collect();
        values.sort_by(f64::total_cmp);
        match values.len() {
            0 => 0.0,
            n if n % 2 == 1 => values[n / 2],
            n => f64::midpoint(values[n / 2 - 1], values[n / 2]),
        }
    };
    Sample {
        wall_s: middle(|s| s.wall_s),
        cpu_s: middle(|s| s.cpu_s),
        pg_cpu_s: middle(|s| s.pg_cpu_s),
        rss_mib: middle(|s| s.rss_mib),
    }
}

/// Measures a process from its start to its end; an error unless it ends well.
pub fn process(command: &mut Command, server: &Server) -> Result<Sample> {
    let run = Run::start(command, server)?;
    run.finish()
}

/// A process being measured.
pub struct Run<'s> {
    server: &'s Server,
    shown: String,
    child: Option<Child>,
    start: Instant,
    pg_before: f64,
}

impl<'s> Run<'s> {
    /// Starts it, after the server has written out what earlier runs left to do.
    pub fn start(command: &mut Command, server: &'s Server) -> Result<Self> {
        server.settle()?;
        let pg_before = server.cpu_s();
        let start = Instant::now();
        let child = Some(command.spawn()?);
        Ok(Self { server, shown: process::display(command), child, start, pg_before })
    }

    /// Its process id, while it wasn't waited for.
    pub fn pid(&self) -> Option<u32> {
        self.child.as_ref().map(Child::id)
    }

    /// Seconds since its start.
    pub fn elapsed(&self) -> f64 {
        self.start.elapsed().as_secs_f64()
    }

    /// An error if it ended already.
    pub fn check(&self) -> Result<()> {
        let stat = self.pid().and_then(|pid| std::fs::read_to_string(format!("/proc/{pid}/stat")).ok());
        match stat {
            Some(stat) if !stat.contains(") Z ") => Ok(()),
            _ => Err(Failure::new(format!("`{}` ended early", self.shown))),
        }
    }

    /// Waits for its end.
    #[allow(clippy::zombie_processes, reason = "`wait` below waits for it, by wait4")]
    pub fn finish(mut self) -> Result<Sample> {
        let child = self.child.take().expect("a run is finished once");
        let (code, usage) = wait(&child)?;
        let wall_s = self.elapsed();
        if code != 0 {
            return Err(Failure::new(format!("`{}` failed (wait status {code})", self.shown)));
        }
        Ok(Sample { wall_s, pg_cpu_s: self.server.cpu_s() - self.pg_before, ..usage })
    }
}

impl Drop for Run<'_> {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Waits for a child and returns its wait status, CPU and memory. The standard library reports only the status.
#[allow(unsafe_code, reason = "wait4 has no safe form in the standard library")]
fn wait(child: &Child) -> Result<(i32, Sample)> {
    let pid = libc::pid_t::try_from(child.id()).map_err(|e| Failure::new(e.to_string()))?;
    let mut status = 0;
    // SAFETY: `rusage` is plain data for which all zeroes is a value.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: both pointers are to live locals of the right types, and `pid` is a child nobody else waits for.
    if unsafe { libc::wait4(pid, &raw mut status, 0, &raw mut usage) } != pid {
        return Err(std::io::Error::last_os_error().into());
    }
    #[allow(clippy::cast_precision_loss, reason = "seconds of CPU and MiB fit a double")]
    let seconds = |t: libc::timeval| t.tv_sec as f64 + t.tv_usec as f64 / 1e6;
    // Kilobytes on Linux, bytes on macOS.
    let unit = if cfg!(target_os = "macos") { 1024.0 * 1024.0 } else { 1024.0 };
    #[allow(clippy::cast_precision_loss, reason = "seconds of CPU and MiB fit a double")]
    let rss_mib = usage.ru_maxrss as f64 / unit;
    let cpu_s = seconds(usage.ru_utime) + seconds(usage.ru_stime);
    Ok((status, Sample { cpu_s, rss_mib, ..Sample::default() }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_are_taken_figure_by_figure() {
        let sample = |wall_s, cpu_s| Sample { wall_s, cpu_s, ..Sample::default() };
        let odd = median(&[sample(3.0, 1.0), sample(1.0, 2.0), sample(2.0, 9.0)]);
        assert_eq!((odd.wall_s, odd.cpu_s), (2.0, 2.0));
        let even = median(&[sample(1.0, 1.0), sample(2.0, 4.0)]);
        assert_eq!((even.wall_s, even.cpu_s), (1.5, 2.5));
    }
}
