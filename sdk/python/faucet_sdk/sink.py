"""What the author of a sink writes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from .about import Component
from .errors import Unsupported
from .page import Page

WriteMode = Literal["append", "upsert", "overwrite"]
"""How rows meet those that are there: `append` adds every row; `upsert` replaces the row with the same key, and removes
it if the row is marked as a delete; `overwrite` replaces everything at `finish`."""


@dataclass(frozen=True)
class SinkCapabilities:
    """What a sink can do under its configuration."""

    mode: WriteMode = "append"
    """How this configuration writes."""
    modes: Sequence[WriteMode] = ("append",)
    """The modes that some configuration offers."""
    key: Sequence[str] = ()
    """The configured key's columns."""
    delete_marker: str | None = None
    """The column whose values mark deletes, if one is configured."""
    transactional: bool = False
    """A commit makes all its rows visible at once or none."""
    tokens: bool = False
    """A commit stores a token together with its rows, and `last_token` answers."""
    evolves: bool = False
    """It takes columns it has not seen before."""
    rejects: bool = False
    """`write` may reject single rows (`row.reject(reason)`) and take the others."""
    parallel: bool = False
    """Several of its sessions may write at once."""


class Sink(Component):
    """A component that rows go to. An instance is one session; after an error the host opens another one and writes
    again whatever was not committed: by then it must be gone, or be absorbed."""

    capabilities: ClassVar[SinkCapabilities] = SinkCapabilities()
    """What the sink can do, where that does not depend on the configuration."""

    def check(self) -> SinkCapabilities:
        """Checks `self.config` beyond its schema and says what it makes possible. Does no I/O."""
        return self.capabilities

    def open(self, pipeline: str) -> None:
        """Called once, before the first `write`: opens the destination. `pipeline` is a name to show there."""

    def last_token(self, scope: str) -> str | None:
        """The token of the last commit under `scope`, as the destination has it; `None` only if there was none."""
        raise Unsupported(f"sink {self.name} keeps no tokens")

    def write(self, pages: list[Page]) -> None:
        """Writes rows, whole pages or none, but for the rows it rejects."""
        raise NotImplementedError

    def commit(self, token: tuple[str, str] | None) -> None:
        """Everything written is durable when this returns, and with it the token, (scope, token), if there is one."""
        raise NotImplementedError

    def finish(self) -> None:
        """The source has ended: what had to wait for the end happens now, durably."""
