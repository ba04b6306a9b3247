//! `faucet mirror drop CONFIG`.

use faucet_core::config::{Plan, Purpose};
use faucet_core::error::{Blame, Code, Error, Result, Retry};
use faucet_core::mirror;
use std::io::{BufRead, IsTerminal, Write};

use crate::args::{DropArgs, Global};
use crate::display::Failure;
use crate::{doctor, load, session};

/// Nobody was there to say yes.
pub static NOT_CONFIRMED: Code = Code {
    id: "mirror.not_confirmed",
    blame: Blame::Config,
    retry: Retry::Never,
    title: "dropping a mirror was not confirmed",
    help: "`faucet mirror drop` drops the replication slot and forgets the stored position: changes made from then on are \
           not kept for this mirror any more. It asks before it does so; in a script, where nobody can answer, say \
           `--yes`.",
};

/// Drops the slot and the state of a mirror, after asking.
pub fn execute(global: &Global, args: &DropArgs) -> Result<(), Failure> {
    let plan = load::plan(&args.config, Purpose::Mirror, global.quiet)?.plan;
    if !args.yes {
        confirm(&plan.name)?;
    }
    let dropped = session::block_on(drop_all(&plan)).and_then(|done| done)?;
    if !global.quiet {
        let slot = if dropped { "its place at the source is dropped" } else { "it had no place at the source" };
        println!("{}: {slot}, its state is forgotten; the destination is as it was", plan.name);
    }
    Ok(())
}

fn confirm(name: &str) -> Result<()> {
    let refused = |what: &str| Error::new(&NOT_CONFIRMED, what).hint("add --yes to go ahead without a question");
    if !std::io::stdin().is_terminal() {
        return Err(refused("standard input is no terminal, so nobody can be asked"));
    }
    print!("Drop the replication slot and the state of mirror '{name}'? The destination stays. [y/N] ");
    let mut answer = String::new();
    let read = std::io::stdout().flush().and_then(|()| std::io::stdin().lock().read_line(&mut answer));
    match read {
        Ok(_) if matches!(answer.trim(), "y" | "Y" | "yes") => Ok(()),
        _ => Err(refused("nothing was dropped")),
    }
}

/// The slot first: should the state fail to go, a later mirror says that its slot is missing, and nothing is lost.
async fn drop_all(plan: &Plan) -> Result<bool> {
    let dropped = doctor::capture(plan)?.release().await?;
    if let Some(stage) = &plan.store {
        let store = stage.kind.open(&stage.config).await?;
        mirror::forget(store.as_ref(), &plan.name).await?;
    }
    Ok(dropped)
}
