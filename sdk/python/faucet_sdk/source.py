"""What the author of a source writes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from .about import Component
from .changes import ChangePage
from .errors import Unsupported
from .page import Page


@dataclass(frozen=True)
class SourceCapabilities:
    """What a source can do under its configuration."""

    changes: bool = False
    """Its pages say what each change did: they are made by `ChangePageBuilder`."""
    capture: bool = False
    """`capture` and `discover` answer."""
    replayable: bool = False
    """Every batch carries a bookmark, and a source opened at it continues identically, whenever that is."""


@dataclass(frozen=True)
class Bookmark:
    """A place to resume from.

    `position` is where it stands: bytes whose order is the order of the stream, or empty if there is no order.
    `state` is all that the source needs to resume; it comes back unchanged.
    """

    position: bytes
    state: bytes

    @classmethod
    def at(cls, position: int | bytes, state: Any) -> Bookmark:
        """A bookmark at a number (not negative) or bytes, with a state that JSON can hold."""
        if isinstance(position, int):
            position = position.to_bytes(8, "big")
        return cls(position, json.dumps(state).encode())

    def json(self) -> Any:
        """The state that `at` stored."""
        return json.loads(self.state)


@dataclass(frozen=True)
class Batch:
    """Pages, and what follows them."""

    pages: Sequence[Page | ChangePage] = ()
    """Pages in order; may be empty when there is nothing new or only the bookmark moved."""
    bookmark: Bookmark | None = None
    """A source opened at it continues exactly after this batch."""
    ends: bool = True
    """A transaction ends here; false = it goes on, and nothing may be committed yet."""
    wait_ms: int = 0
    """There is nothing more for this long: the host waits before it reads again."""


@dataclass(frozen=True)
class Discovered:
    """A table of the source, and its key's columns in key order."""

    table: str
    key: Sequence[str] = ()
    schema: str | None = None


class Source(Component):
    """A component that rows come from. An instance is one stream of batches."""

    capabilities: ClassVar[SourceCapabilities] = SourceCapabilities()
    """What the source can do, where that does not depend on the configuration."""

    def check(self) -> SourceCapabilities:
        """Checks `self.config` beyond its schema and says what it makes possible. Does no I/O."""
        return self.capabilities

    def discover(self) -> Iterable[Discovered]:
        """The tables there are."""
        raise Unsupported(f"source {self.name} does not list its tables")

    def capture(self) -> Bookmark:
        """Where the source stands now."""
        raise Unsupported(f"source {self.name} can't say where it stands")

    def open(self, bookmark: Bookmark | None) -> None:
        """Called once, before the first `read`: starts at a bookmark, or at the beginning."""

    def read(self, max_bytes: int) -> Batch | None:
        """The next batch of about `max_bytes`, or `None` when the source has ended."""
        raise NotImplementedError

    def confirm(self, bookmark: Bookmark) -> None:
        """Everything up to the bookmark is durable: the source may let go of it. Calls may be left out."""
