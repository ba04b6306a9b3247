"""Pages of changes, for sources that follow what happens to rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from . import bits, convert
from .column import Column
from .errors import Error
from .kind import Kind
from .page import Page, PageBuilder


@dataclass(frozen=True)
class ChangePage:
    """A page whose rows are changes."""

    page: Page
    ops: bytes
    positions: list[bytes]
    committed_at: Column
    present: bytes | None
    before: list[Column]


class ChangePageBuilder:
    """A page of changes in the making. Every change has a position, bytes whose order is the order of the stream and
    all of one length, and the time it was committed, a `datetime` with a zone or microseconds since 1970-01-01 UTC."""

    def __init__(self, table: str, kinds: Mapping[str, str], key: Iterable[str], schema: str | None = None) -> None:
        self._after = PageBuilder(table, kinds, key, schema=schema)
        self._before = PageBuilder(table, kinds)
        self._ops = bytearray()
        self._positions: list[bytes] = []
        self._times: list[int] = []
        self._present: list[bool] = []

    def __len__(self) -> int:
        return len(self._ops)

    def created(self, row: Mapping[str, Any], position: bytes, committed_at: datetime | int) -> None:
        """A row was created."""
        self._add(b"c", row, None, position, committed_at)

    def updated(self, row: Mapping[str, Any], position: bytes, committed_at: datetime | int, before=None) -> None:
        """A row was updated; `before`, a mapping like `row`, is what is known of it as it was."""
        self._add(b"u", row, before, position, committed_at)

    def deleted(self, before: Mapping[str, Any], position: bytes, committed_at: datetime | int) -> None:
        """A row was deleted; `before` has at least its key."""
        self._add(b"d", {}, before, position, committed_at)

    def read(self, row: Mapping[str, Any], position: bytes, committed_at: datetime | int) -> None:
        """A row was read by a snapshot."""
        self._add(b"r", row, None, position, committed_at)

    def truncated(self, position: bytes, committed_at: datetime | int) -> None:
        """The table was truncated."""
        self._add(b"t", {}, None, position, committed_at)

    def finish(self) -> ChangePage:
        """The page."""
        times = Column.of("committed-at", Kind.TIMESTAMPTZ, self._times)
        present = bits.pack(self._present) if any(self._present) else None
        before = self._before.finish().columns if present is not None else []
        return ChangePage(self._after.finish(), bytes(self._ops), self._positions, times, present, before)

    def _add(self, op: bytes, row, before, position: bytes, committed_at) -> None:
        if self._positions and len(position) != len(self._positions[0]):
            raise Error("the positions of a page must all have the same length")
        self._after.append(row)
        self._before.append(before or {})
        self._ops += op
        self._positions.append(position)
        self._times.append(convert.to_cell(Kind.TIMESTAMPTZ, committed_at))
        self._present.append(before is not None)
