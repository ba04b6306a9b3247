//! What the host offers to guests: the interfaces `host` and `text`.

use super::bind::faucet::connector::{host, text};
use crate::capability::Surroundings;
use crate::log::Level;
use wasmtime::component::{HasSelf, Linker};

/// Offers both.
pub(crate) fn link(linker: &mut Linker<Surroundings>) -> wasmtime::Result<()> {
    host::add_to_linker::<_, HasSelf<Surroundings>>(linker, |surroundings| surroundings)?;
    text::add_to_linker::<_, HasSelf<Surroundings>>(linker, |surroundings| surroundings)
}

impl host::Host for Surroundings {
    fn log(&mut self, level: host::Level, message: String) {
        let level = match level {
            host::Level::Debug => Level::Debug,
            host::Level::Info => Level::Info,
            host::Level::Warn => Level::Warn,
            host::Level::Error => Level::Error,
        };
        self.log.line(level, &message);
    }

    fn count(&mut self, metric: String, by: u32) {
        self.metrics.count(&metric, by);
    }

    fn gauge(&mut self, metric: String, value: f64) {
        self.metrics.gauge(&metric, value);
    }

    fn secrets(&mut self) -> Vec<String> {
        self.grants.secrets.keys().cloned().collect()
    }
}

impl text::Host for Surroundings {
    fn decode(&mut self, data: Vec<u8>, offsets: Vec<u8>) -> Result<Vec<String>, String> {
        strings(&data, &offsets)
    }

    fn encode(&mut self, strings: Vec<String>) -> (Vec<u8>, Vec<u8>) {
        buffers(&strings)
    }
}

/// The strings that `offsets` cut out of `data`; the first offset need not be 0.
fn strings(data: &[u8], offsets: &[u8]) -> Result<Vec<String>, String> {
    if !offsets.len().is_multiple_of(4) {
        return Err(format!("{} bytes of offsets are no whole number of them", offsets.len()));
    }
    let offsets: Vec<u32> = offsets.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
    let base = offsets.first().copied().unwrap_or(0);
    let string = |pair: &[u32]| {
        let (start, end) = (pair[0].checked_sub(base)?, pair[1].checked_sub(base)?);
        std::str::from_utf8(data.get(start as usize..end as usize)?).ok().map(str::to_owned)
    };
    let out: Option<Vec<String>> = offsets.windows(2).map(string).collect();
    out.ok_or_else(|| "the offsets do not cut UTF-8 out of the data".to_owned())
}

fn buffers(strings: &[String]) -> (Vec<u8>, Vec<u8>) {
    let data = strings.concat().into_bytes();
    let mut end = 0u32;
    let mut offsets = vec![0; 4];
    for string in strings {
        // A guest has less than 4 GiB of memory.
        end = end.wrapping_add(string.len() as u32);
        offsets.extend_from_slice(&end.to_le_bytes());
    }
    (data, offsets)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_cut_and_joined() {
        let words = ["", "a", "stra\u{df}e"].map(str::to_owned).to_vec();
        let (data, offsets) = buffers(&words);
        assert_eq!(strings(&data, &offsets).unwrap(), words);
        assert_eq!(strings(&data[1..], &offsets[8..]).unwrap(), ["stra\u{df}e"], "a part of both");
        assert_eq!(strings(&[], &[]).unwrap(), Vec::<String>::new());
    }

    #[test]
    fn what_cuts_no_text_is_an_error() {
        for (data, offsets) in [(&[0xff][..], [0u8, 1]), (b"ab", [0, 3]), (b"ab", [1, 0])] {
            let offsets: Vec<u8> = offsets.iter().flat_map(|o| u32::from(*o).to_le_bytes()).collect();
            assert!(strings(data, &offsets).is_err(), "{data:?}");
        }
        assert!(strings(b"a", &[0]).is_err());
    }
}
