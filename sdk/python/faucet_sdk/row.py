"""One row of a page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import convert, iso
from .values import ABSENT, is_present

if TYPE_CHECKING:
    from .page import Page


class Row:
    """One row of a page: `row["email"]` is a value, `None` (null) or `ABSENT`."""

    __slots__ = ("page", "index")

    def __init__(self, page: Page, index: int) -> None:
        self.page = page
        self.index = index

    def __getitem__(self, name: str) -> Any:
        return self.page.column(name).values[self.index]

    def get(self, name: str, default: object = ABSENT) -> Any:
        """The value of a column, or `default` where the page has no such column."""
        column = self.page.find(name)
        return default if column is None else column.values[self.index]

    def items(self) -> list[tuple[str, Any]]:
        """Names and values in column order, absent ones included."""
        return [(column.name, column.values[self.index]) for column in self.page.columns]

    def as_dict(self) -> dict[str, Any]:
        """Names and values of what the row says; absent values are left out."""
        return {name: value for name, value in self.items() if value is not ABSENT}

    def python(self, name: str) -> Any:
        """The value as Python's own type (`datetime`, `Decimal`, a JSON document's content). Raises `ValueError` where
        Python's type can't hold it."""
        return self._as(name, convert.to_python)

    def iso(self, name: str) -> str | None:
        """A date, time or interval as ISO 8601 text."""
        return self._as(name, iso.to_iso)

    def reject(self, reason: str) -> None:
        """Reports the row as failed. `reason` must not contain a value of the row."""
        self.page.reject(self.index, reason)

    def _as(self, name: str, change) -> Any:
        column = self.page.column(name)
        value = column.values[self.index]
        return change(column.kind, value) if is_present(value) else value
