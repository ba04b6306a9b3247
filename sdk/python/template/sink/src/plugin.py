"""Writes rows as JSON lines."""

import json
import os
from math import isfinite
from typing import Any, TextIO

from faucet_sdk import ABSENT, ConfigError, Page, Row, Sink, SinkCapabilities, Unavailable, Wants, export

FOLDER = "/out"
NUMBERS = ("boolean", "int64", "uint64", "float32", "float64")
TIMES = ("date", "time", "timestamp", "timestamptz", "interval")


@export
class JsonLines(Sink):
    """Writes rows as JSON lines to a file in a folder that the configuration grants"""

    name, version = "NAME", "0.1.0"
    capabilities = SinkCapabilities(evolves=True)
    wants = Wants(write_dirs=[FOLDER])
    schema = {
        "type": "object",
        "properties": {
            "file": {"type": "string", "default": "rows.jsonl", "description": "Name of the file in the folder /out."}
        },
        "additionalProperties": False,
    }
    file: TextIO

    def check(self) -> SinkCapabilities:
        """Checks what the schema can't say."""
        if not self.config["file"] or "/" in self.config["file"]:
            raise ConfigError("file", "must be the name of a file, without a folder")
        return self.capabilities

    def open(self, pipeline: str) -> None:
        """Opens the file, to add to it."""
        try:
            self.file = open(f"{FOLDER}/{self.config['file']}", "a", encoding="utf-8")
        except OSError as error:
            raise Unavailable(f"can't open {self.config['file']} in {FOLDER}: {error.strerror}") from None

    def write(self, pages: list[Page]) -> None:
        """Writes one line a row."""
        for page in pages:
            for row in page.rows():
                self.file.write(line(row) + "\n")

    def commit(self, token: tuple[str, str] | None) -> None:
        """Brings everything written to the disk."""
        self.file.flush()
        os.fsync(self.file.fileno())


def line(row: Row) -> str:
    """A row as a JSON object; what it says nothing about is left out."""
    said = [(name, value) for name, value in row.items() if value is not ABSENT]
    return "{" + ",".join(f"{json.dumps(name)}:{cell(row, name, value)}" for name, value in said) + "}"


def cell(row: Row, name: str, value: Any) -> str:
    """The JSON text of a value: exact numbers, ISO 8601 for times, hex for bytes, documents as they are, text for the
    rest."""
    kind = row.page.column(name).kind
    if value is None:
        return "null"
    if kind in NUMBERS:
        # What JSON has no number for (NaN, infinity) becomes text.
        return json.dumps(value) if isfinite(value) else json.dumps(json.dumps(value))
    if kind == "json":
        return value.replace("\r", " ").replace("\n", " ")
    if kind in TIMES:
        return json.dumps(row.iso(name))
    return json.dumps(value.hex() if kind == "bytes" else str(value), ensure_ascii=False)
