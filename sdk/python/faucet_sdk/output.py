"""What a transform gives back: pages made from the input page."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from .column import Column
from .errors import Error
from .row import Row

if TYPE_CHECKING:
    from .page import Page


@dataclass
class _Placed:
    """A column of an output page."""

    column: Column
    # Whether its rows are those of the output rather than those of the input page.
    repeated: bool = False


class PageOut:
    """An output page. It starts as the input page; columns that are not set are passed through by the host and cost
    nothing. Methods return the page, so that calls can be chained."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.table: str | None = None
        self.schema: str | None = None
        self.key: list[str] | None = None
        self.selection: list[int] | None = None
        self._repeated = False
        self._columns = {column.name: _Placed(column) for column in page.columns}

    @property
    def names(self) -> list[str]:
        """Names of the columns, in order."""
        return list(self._columns)

    def set(self, column: Column) -> PageOut:
        """Puts a column in place of the one with its name, or at the end if there is none. It needs one value for each
        row of the *input* page, also if rows are filtered out; after `repeat`, one for each row of the output."""
        repeated = self._repeated and column.index is None
        needs = len(self._rows()) if repeated else self.page.row_count
        if column.rows != needs:
            raise Error(f"new column '{column.name}' has {column.rows} values for {needs} rows")
        if column.index is not None:
            # The host takes a kept column under another name for a renamed one, key and all; this may be a copy.
            self.key = self._key_now()
        self._columns[column.name] = _Placed(column, repeated)
        return self

    def put(self, name: str, kind: str, values: Iterable, native: str | None = None) -> PageOut:
        """Like `set`, with a column made of these values: `Column.of(name, kind, values, native)`."""
        return self.set(Column.of(name, kind, values, native))

    def map_text(self, names: Iterable[str], change: Callable[[str], str]) -> PageOut:
        """Applies `change` to each text of these columns."""
        for name in names:
            self.set(self.page.column(name).map_text(change))
        return self

    def remove(self, name: str) -> PageOut:
        """Removes a column."""
        self._expect(name)
        del self._columns[name]
        return self

    def rename(self, old: str, new: str) -> PageOut:
        """Gives a column another name. A key column stays a key column."""
        self._expect(old)
        if new != old and new in self._columns:
            raise Error(f"can't rename column '{old}' to '{new}': there is one of that name")
        if self.key is not None or self._columns[old].column.index is None:
            self.key = [new if name == old else name for name in self._key_now()]
        renamed = {old: (new, _Placed(self._columns[old].column.named(new), self._columns[old].repeated))}
        self._columns = dict(renamed.get(name, (name, placed)) for name, placed in self._columns.items())
        return self

    def keep(self, wanted: Callable[[Row], bool]) -> PageOut:
        """Keeps the rows for which `wanted(row)` is true, of those that are still there."""
        return self._narrow([wanted(Row(self.page, row)) for row in self._rows()])

    def keep_rows(self, rows: Iterable[int]) -> PageOut:
        """Keeps these rows of the input page, of those that are still there."""
        wanted = set(rows)
        return self._narrow([row in wanted for row in self._rows()])

    def repeat(self, rows: Iterable[int]) -> PageOut:
        """Makes an output row of each of these rows of the input page, in order; a row may come several times. Columns
        that are set from now on need one value for each row of the output."""
        if self.selection is not None or any(placed.column.index is None for placed in self._columns.values()):
            raise Error("repeat comes before everything that filters rows or sets columns")
        self.selection, self._repeated = list(rows), True
        if any(row > later for row, later in pairwise(self.selection)):
            raise Error("repeated rows must stay in the order of the page")
        return self

    def set_table(self, name: str, schema: str | None = None) -> PageOut:
        """Sends the page to another table."""
        self.table, self.schema = name, schema
        return self

    def set_key(self, names: Iterable[str]) -> PageOut:
        """Sets the key, by the names the columns have by now. Without this the input's key stays."""
        self.key = list(names)
        return self

    def placed(self) -> tuple[list[int] | None, list[Column]]:
        """The selection and the columns at the selected rows, without the rejected rows; for the SDK."""
        if self.page.rejected:
            self._narrow([row not in self.page.rejected for row in self._rows()])
        return self.selection, [self._at_selection(placed) for placed in self._columns.values()]

    def _at_selection(self, placed: _Placed) -> Column:
        if self.selection is None or placed.repeated or placed.column.index is not None:
            return placed.column
        return placed.column.take(self.selection)

    def _rows(self) -> Sequence[int]:
        return range(self.page.row_count) if self.selection is None else self.selection

    def _narrow(self, wanted: list[bool]) -> PageOut:
        if all(wanted):
            return self
        at = [position for position, keep in enumerate(wanted) if keep]
        rows = self._rows()
        for placed in self._columns.values():
            if placed.repeated:
                placed.column = placed.column.take(at)
        self.selection = [rows[position] for position in at]
        return self

    def _key_now(self) -> list[str]:
        """The key by the names its columns have by now."""
        if self.key is not None:
            return self.key
        names = {
            self.page.columns[placed.column.index].name: name
            for name, placed in self._columns.items()
            if placed.column.index is not None
        }
        return [names.get(name, name) for name in self.page.key]

    def _expect(self, name: str) -> None:
        if name not in self._columns:
            raise Error(f"table '{self.page.table}' has no column '{name}'")
