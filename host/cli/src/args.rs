//! The command line, declared once: help, completions and parsing come from here.

use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

use crate::plugin::project::{Kind, Language};

/// Keeps destinations in step with sources: snapshots the rows that exist, then streams changes, without a gap and
/// without a duplicate.
#[derive(Debug, Parser)]
#[command(name = "faucet", version, propagate_version = true, arg_required_else_help = true, after_help = AFTER_HELP)]
pub struct Cli {
    #[command(flatten)]
    pub global: Global,
    #[command(subcommand)]
    pub command: Command,
}

const AFTER_HELP: &str = "\
Start here:
  faucet init --source postgres-cdc --sink sqlite > mirror.yaml
  faucet validate mirror.yaml
  faucet mirror mirror.yaml

Exit codes: 0 done, 1 the run failed, 2 the configuration is wrong, 3 the environment is.
Every error names a code; `faucet explain CODE` says more.";

/// Options every command takes.
#[derive(Debug, Args)]
pub struct Global {
    /// Write results and progress for people or, one JSON object a line, for programs
    #[arg(long, global = true, value_enum, default_value_t = Output::Text, value_name = "FORMAT")]
    pub output: Output,
    /// Print nothing but errors
    #[arg(long, short, global = true)]
    pub quiet: bool,
    /// How log messages are written to standard error [default: observability.log_format, else text]
    #[arg(long, global = true, value_enum, value_name = "FORMAT")]
    pub log_format: Option<LogFormat>,
    /// The least important messages that are logged [default: observability.log_level, else info]
    #[arg(long, global = true, value_enum, value_name = "LEVEL", env = "FAUCET_LOG")]
    pub log_level: Option<LogLevel>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Output {
    Text,
    Json,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    Text,
    Json,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LogLevel {
    Error,
    Warn,
    Info,
    Debug,
    Trace,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run a pipeline until its source ends
    ///
    /// Reads the source, applies the transforms, writes the sink. A source that ends (a query, a file, a change stream
    /// that stayed idle) ends the run. The `mirror:` block is ignored.
    Run(ConfigArgs),
    /// Snapshot a table, then stream its changes
    ///
    /// Captures the change stream's position, reads the rows that exist, then applies every change since that position.
    /// Progress is durable: start the same command again and it resumes where it was, whatever stopped it. A mirror begins
    /// over an empty destination, or says what to do.
    #[command(alias = "replicate", args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
    Mirror(MirrorArgs),
    /// Look at everything a change stream depends on, and say what to fix
    ///
    /// Connects to the source and shows its settings, the role's privileges, the publication and its tables, and the
    /// replication slot with the log it keeps. Changes nothing. Fails if something keeps the stream from working.
    Doctor(ConfigArgs),
    /// Check a configuration without connecting anywhere
    ///
    /// Lists every problem with its line and what would fix it. Warnings don't fail.
    Validate(ConfigArgs),
    /// Follow single records through a pipeline, with no effect on anything
    ///
    /// Shows each record as the source delivers it, then after each transform, then what the sink would do with it. The source
    /// is read from where the next run would begin; nothing is confirmed upstream, stored or written. What is printed are the
    /// records' own values.
    Trace(TraceArgs),
    /// Keep the pages of a source, and what each transform made of them, in a file
    ///
    /// Reads as `trace` does, with no effect on anything. The file has the rows' values and no configuration; only its owner
    /// may read it. `faucet replay` and `faucet trace --pages` use it.
    Record(RecordArgs),
    /// Run another version of a transform over recorded pages, and show what differs
    ///
    /// The recorded pages go into the component; what it makes of them is compared with what was recorded, or with what a
    /// second component makes. Fails if anything differs.
    Replay(ReplayArgs),
    /// Write, build, test and look at plugins
    Plugin(PluginArgs),
    /// Print the JSON Schema of the configuration, for editors
    Schema(SchemaArgs),
    /// List sources, sinks, transforms and state stores with their configuration keys
    List(ListArgs),
    /// Say what an error code means and what to do about it
    Explain(ExplainArgs),
    /// Write a commented configuration for a source and a sink
    Init(InitArgs),
    /// Print a completion script for a shell
    Completions(CompletionsArgs),
}

#[derive(Debug, Args)]
pub struct ConfigArgs {
    /// The configuration, YAML or JSON; - reads standard input
    #[arg(value_name = "CONFIG")]
    pub config: PathBuf,
}

#[derive(Debug, Args)]
pub struct MirrorArgs {
    /// The configuration, YAML or JSON; - reads standard input
    #[arg(value_name = "CONFIG", required = true)]
    pub config: Option<PathBuf>,
    /// Remove the destination's rows before the mirror begins; one that has begun goes on as it is
    #[arg(long, conflicts_with = "keep")]
    pub replace: bool,
    /// Begin although the destination has rows, and keep them
    #[arg(long)]
    pub keep: bool,
    #[command(subcommand)]
    pub command: Option<MirrorCommand>,
}

#[derive(Debug, Subcommand)]
pub enum MirrorCommand {
    /// End a mirror for good: drop its replication slot and forget its state
    ///
    /// The destination's rows stay. A mirror started after this begins with a snapshot.
    Drop(DropArgs),
}

#[derive(Debug, Args)]
pub struct DropArgs {
    /// The configuration of the mirror
    #[arg(value_name = "CONFIG")]
    pub config: PathBuf,
    /// Don't ask
    #[arg(long, short)]
    pub yes: bool,
}

/// Where a pipeline is read from when it is only looked at.
#[derive(Debug, Args)]
pub struct Beginning {
    /// Read the source from its beginning, whatever the state says
    #[arg(long)]
    pub from_start: bool,
    /// Read the rows that exist (`mirror.snapshot.source`) instead of the stream
    #[arg(long)]
    pub snapshot: bool,
}

#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("wanted").required(true).multiple(true))]
pub struct TraceArgs {
    /// The configuration, YAML or JSON; - reads standard input
    #[arg(value_name = "CONFIG")]
    pub config: PathBuf,
    /// The record has this value in this column, before or after the change; several have to fit together
    #[arg(long, value_name = "COLUMN=VALUE", group = "wanted")]
    pub key: Vec<String>,
    /// The record stands here: COMMIT or COMMIT:NUMBER as trace prints them (16/B374D848:3), or the leading bytes in hex
    #[arg(long, group = "wanted")]
    pub position: Option<String>,
    /// Only records of this table, as trace prints it
    #[arg(long)]
    pub table: Option<String>,
    /// Stop after this many records
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    pub limit: u64,
    /// Take the source's pages from a recording
    #[arg(long, value_name = "FILE", conflicts_with_all = ["from_start", "snapshot"])]
    pub pages: Option<PathBuf>,
    #[command(flatten)]
    pub beginning: Beginning,
}

#[derive(Debug, Args)]
pub struct RecordArgs {
    /// The configuration, YAML or JSON; - reads standard input
    #[arg(value_name = "CONFIG")]
    pub config: PathBuf,
    /// The recording to make; it must not exist
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Stop at the end of the batch in which this many rows were read
    #[arg(long, value_name = "N")]
    pub rows: Option<u64>,
    #[command(flatten)]
    pub beginning: Beginning,
}

#[derive(Debug, Args)]
pub struct ReplayArgs {
    /// The recording
    #[arg(value_name = "FILE")]
    pub recording: PathBuf,
    /// The component to try
    #[arg(long, value_name = "FILE")]
    pub plugin: PathBuf,
    /// Compare with this component instead of with what was recorded
    #[arg(long, value_name = "FILE")]
    pub against: Option<PathBuf>,
    /// The transform whose pages to take, by its type or its number from 1 [default: the only component, or the one called as
    /// the plugin's file]
    #[arg(long, value_name = "STEP")]
    pub step: Option<String>,
    /// The pipeline whose configuration of the transform is used [default: the one that was recorded]
    #[arg(long, value_name = "CONFIG")]
    pub config: Option<PathBuf>,
    /// A file with the transform's configuration by itself, YAML or JSON
    #[arg(long, value_name = "FILE", conflicts_with = "config")]
    pub plugin_config: Option<PathBuf>,
    /// How many differing rows to show
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub show: usize,
}

#[derive(Debug, Args)]
pub struct PluginArgs {
    #[command(subcommand)]
    pub command: PluginCommand,
}

#[derive(Debug, Subcommand)]
pub enum PluginCommand {
    /// Make a project: a plugin that works, its cases, and all that is needed to build it
    New(PluginNewArgs),
    /// Build a project's component, with the tool of its language
    Build(ProjectArgs),
    /// Run a project's cases, and what every component has to bear, in the real host
    ///
    /// The cases are the JSON files in the folder `cases`: what goes in and what should come out. Then come the least and
    /// greatest integers, missing values, an empty page, a wide one, 200 in a row, and a configuration that is none.
    Test(PluginTestArgs),
    /// Build and test a project whenever a file of it changes, until stopped
    ///
    /// A pipeline whose plugin has `reload: on_change` takes each new component up between two pages.
    Dev(ProjectArgs),
    /// Report on a component that somebody hands you: what it is, what it asks for, and what it bears
    ///
    /// Like `inspect` and the second half of `test`, with findings instead of details. Nothing is granted but empty folders.
    /// Fails if there is a finding.
    Verify(VerifyArgs),
    /// Measure a transform: time a row beside a native step that does nothing, start-up, and memory
    Bench(VerifyArgs),
    /// Show what a component is and what it asks for, without trusting it with anything
    Inspect(ComponentArgs),
    /// Put a component into an OCI registry
    ///
    /// Prints the reference with the digest of what was pushed. Credentials are those of `docker login` or `podman login`, or
    /// the variables FAUCET_REGISTRY_USER and FAUCET_REGISTRY_PASSWORD.
    Push(PluginPushArgs),
    /// Fetch the plugins of a configuration from their registries, or one component into a file
    ///
    /// Of a configuration, every plugin with `oci` is fetched, and `faucet.lock` beside it says which components they are. What
    /// is locked stays until `--update`. Pipelines themselves never ask a registry.
    Pull(PluginPullArgs),
}

#[derive(Debug, Args)]
pub struct PluginNewArgs {
    /// The plugin's name: a-z, 0-9 and _
    #[arg(value_name = "NAME")]
    pub name: String,
    /// What it is written in
    #[arg(long, value_enum, value_name = "LANGUAGE")]
    pub lang: Language,
    /// What it is to a pipeline
    #[arg(long, value_enum, value_name = "KIND", default_value_t = Kind::Transform)]
    pub kind: Kind,
    /// The folder to make it in, empty or not there yet [default: the name]
    #[arg(long, value_name = "FOLDER")]
    pub folder: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct ProjectArgs {
    /// The project
    #[arg(value_name = "FOLDER", default_value = ".")]
    pub folder: PathBuf,
}

#[derive(Debug, Args)]
pub struct PluginTestArgs {
    /// The project, or any folder with a folder `cases`
    #[arg(value_name = "FOLDER", default_value = ".")]
    pub folder: PathBuf,
    /// The component [default: the one that `faucet plugin build` made]
    #[arg(long, value_name = "FILE")]
    pub component: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct VerifyArgs {
    /// The component's .wasm file
    #[arg(value_name = "FILE")]
    pub component: PathBuf,
    /// Cases with configurations and pages to try it with: a file, or a folder of .json files
    #[arg(long, value_name = "PATH")]
    pub cases: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct PluginPushArgs {
    /// The component's .wasm file
    #[arg(value_name = "FILE")]
    pub component: PathBuf,
    /// Where it goes: REGISTRY/REPOSITORY:TAG
    #[arg(value_name = "REFERENCE")]
    pub reference: String,
    /// Speak to any registry without TLS, not only to one on this machine
    #[arg(long)]
    pub plain_http: bool,
}

#[derive(Debug, Args)]
pub struct PluginPullArgs {
    /// A configuration, or with --file the reference of one component: REGISTRY/REPOSITORY:TAG, or @sha256:DIGEST
    #[arg(value_name = "CONFIG or REFERENCE")]
    pub what: String,
    /// Put the one component that REFERENCE names into this file
    #[arg(long, short = 'o', value_name = "FILE", conflicts_with_all = ["locked", "update"])]
    pub file: Option<PathBuf>,
    /// Fail where faucet.lock would have to change
    #[arg(long, conflicts_with = "update")]
    pub locked: bool,
    /// Look up tags again that are locked already
    #[arg(long)]
    pub update: bool,
    /// Speak to any registry without TLS, not only to one on this machine
    #[arg(long)]
    pub plain_http: bool,
}

#[derive(Debug, Args)]
pub struct ComponentArgs {
    /// The component's .wasm file
    #[arg(value_name = "FILE")]
    pub component: PathBuf,
}

#[derive(Debug, Args)]
pub struct SchemaArgs {
    /// Only the `config:` of this connector, transform or state store
    #[arg(value_name = "TYPE")]
    pub kind: Option<String>,
}

#[derive(Debug, Args)]
pub struct ListArgs {
    /// Show the configuration keys of one type
    #[arg(value_name = "TYPE")]
    pub kind: Option<String>,
    /// Also list the plugins of this configuration
    #[arg(long, value_name = "CONFIG")]
    pub config: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct ExplainArgs {
    /// The code an error names, such as postgres.slot_missing; without it all codes are listed
    #[arg(value_name = "CODE")]
    pub code: Option<String>,
}

#[derive(Debug, Args)]
pub struct InitArgs {
    /// The type of source
    #[arg(long, value_name = "TYPE", default_value = "postgres-cdc")]
    pub source: String,
    /// The type of sink
    #[arg(long, value_name = "TYPE", default_value = "sqlite")]
    pub sink: String,
    /// The pipeline's name
    #[arg(long, value_name = "NAME", default_value = "my_pipeline")]
    pub name: String,
    /// Write to this file, which must not exist, instead of standard output
    #[arg(long, short, value_name = "FILE")]
    pub file: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    pub shell: clap_complete::Shell,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_declaration_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn replicate_is_mirror() {
        let cli = Cli::try_parse_from(["faucet", "replicate", "m.yaml"]).expect("the older name is accepted");
        assert!(matches!(cli.command, Command::Mirror(MirrorArgs { command: None, .. })));
        let cli = Cli::try_parse_from(["faucet", "mirror", "drop", "m.yaml"]).expect("a mirror can be dropped");
        assert!(matches!(cli.command, Command::Mirror(MirrorArgs { command: Some(_), .. })));
        assert!(Cli::try_parse_from(["faucet", "mirror"]).is_err());
    }
}
