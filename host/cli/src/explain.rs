//! `faucet explain CODE`.

use faucet_core::error::{Blame, Code, Retry};

use crate::args::ExplainArgs;
use crate::display::Failure;

/// Every code any part of faucet raises, sorted.
pub fn all_codes() -> Vec<&'static Code> {
    let mut codes = [
        faucet_core::codes(),
        faucet_connectors::registry::codes(),
        faucet_registry::CODES.to_vec(),
        faucet_wasm::CODES.to_vec(),
        crate::session::CODES.to_vec(),
    ]
    .concat();
    codes.sort_by_key(|c| c.id);
    codes
}

/// Explains one code, or lists all.
pub fn execute(args: &ExplainArgs) -> Result<(), Failure> {
    let codes = all_codes();
    let Some(wanted) = &args.code else {
        let width = codes.iter().map(|c| c.id.len()).max().unwrap_or(0);
        codes.iter().for_each(|c| println!("{:width$}  {}", c.id, c.title));
        return Ok(());
    };
    match codes.iter().find(|c| c.id == wanted) {
        Some(code) => print!("{}", page(code)),
        None => return Err(Failure::Usage(format!("there is no error code '{wanted}'; `faucet explain` lists all"))),
    }
    Ok(())
}

fn page(code: &Code) -> String {
    format!(
        "{}: {}\n\n{}\n\nWho has to act: {}\nTrying again: {}\n",
        code.id,
        code.title,
        wrap(code.help, 100),
        who(code.blame),
        again(code.retry)
    )
}

fn who(blame: Blame) -> &'static str {
    match blame {
        Blame::Config => "whoever wrote the configuration",
        Blame::Source => "whoever runs the source system",
        Blame::Sink => "whoever runs the destination system",
        Blame::State => "whoever runs the state store",
        Blame::Plugin => "whoever wrote or configured the plugin",
        Blame::Environment => "whoever runs the machine faucet is on",
        Blame::Bug => "the authors of faucet: please report it",
    }
}

fn again(retry: Retry) -> &'static str {
    match retry {
        Retry::Never => "gives the same answer until the cause is changed",
        Retry::Backoff => "faucet does so by itself, with growing delays",
        Retry::Operator => "helps once somebody changed something outside faucet",
    }
}

fn wrap(text: &str, width: usize) -> String {
    let mut lines: Vec<String> = vec![String::new()];
    for word in text.split_whitespace() {
        let line = lines.last_mut().expect("there is always a line");
        if line.is_empty() {
            line.push_str(word);
        } else if line.len() + 1 + word.len() <= width {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_unique_well_formed_and_explained() {
        let codes = all_codes();
        assert!(codes.windows(2).all(|pair| pair[0].id != pair[1].id), "a code is used twice");
        for code in codes {
            let parts: Vec<&str> = code.id.split('.').collect();
            let plain = |p: &&str| {
                !p.is_empty() && p.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
            };
            assert!(parts.len() == 2 && parts.iter().all(plain), "{} is not component.what", code.id);
            assert!(!code.title.is_empty() && !code.title.ends_with('.'), "title of {}", code.id);
            assert!(code.help.len() > 60, "{} is not explained", code.id);
        }
    }
}
