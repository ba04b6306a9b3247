"""Builds a component of a plugin written in Python.

python build.py --src src --world transform --wit wit --out plugin.wasm
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SDK = Path(__file__).resolve().parent
WORLDS = ("transform", "source", "sink")

HTTP = ("wasi:http/types@0.2.0", "wasi:http/outgoing-handler@0.2.0")

# Two interfaces are called `types`; these are the names that the SDK imports them by.
NAMES = ("faucet:connector/types@0.1.0=types", "wasi:http/types@0.2.0=http_types")


def arguments() -> argparse.Namespace:
    """The arguments of the command."""
    parser = argparse.ArgumentParser(description="Builds a component of a plugin written in Python.")
    parser.add_argument("--src", type=Path, required=True, help="folder of plugin.py; all of it is packed")
    parser.add_argument("--world", choices=WORLDS, required=True, help="what the plugin is")
    parser.add_argument("--wit", type=Path, required=True, help="folder of the WIT package faucet:connector")
    parser.add_argument("--out", type=Path, required=True, help="the component")
    parser.add_argument("--packages", type=Path, help="folder of the packages that the plugin imports; all is packed")
    return parser.parse_args()


def uses_http(src: Path) -> bool:
    """Whether the plugin imports `faucet_sdk.http`, and so the host's HTTP."""
    spellings = ("faucet_sdk.http", "from faucet_sdk import http")
    return any(spelling in path.read_text() for path in src.rglob("*.py") for spelling in spellings)


def write_wit(folder: Path, wit: Path, world: str, interfaces: tuple[str, ...]) -> None:
    """A WIT package with one world, `plugin`: the one that is built, and what the plugin imports beyond it."""
    shutil.copytree(SDK / "wasi", folder / "deps")
    shutil.copytree(wit, folder / "deps" / "connector")
    imports = " ".join(f"import {interface};" for interface in interfaces)
    text = f"package faucet:plugin; world plugin {{ include faucet:connector/{world}@0.1.0; {imports} }}\n"
    (folder / "plugin.wit").write_text(text)


def command(args: argparse.Namespace, wit: Path, has_http: bool) -> list[str]:
    """The call of componentize-py, which is installed beside this Python."""
    paths = [args.src, SDK, SDK / "component"] + ([args.packages] if args.packages else [])
    names = [word for name in NAMES if has_http for word in ("--import-interface-name", name)]
    tool = Path(sys.executable).with_name("componentize-py")
    call = [tool, "-q", "-d", wit, "-w", "plugin", *names, "componentize", f"{args.world}s", "-o", args.out]
    return [str(word) for word in call + [word for path in paths for word in ("-p", path)]]


def main() -> int:
    """Builds the component, and gives the exit code of the tool."""
    args = arguments()
    has_http = uses_http(args.src)
    args.out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        wit = Path(folder) / "wit"
        write_wit(wit, args.wit, args.world, HTTP if has_http else ())
        return subprocess.run(command(args, wit, has_http), check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
