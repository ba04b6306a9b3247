"""Pages: rows of one table, stored in columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from .column import Column, ColumnBuilder
from .errors import Error
from .kind import Kind
from .output import PageOut
from .row import Row
from .values import ABSENT

OP_COLUMN = "__op"
"""The column that says what a row of a change-data source is: `c` created, `u` updated, `d` deleted, `r` read by the
snapshot, `t` table truncated. Let it, and the rows `d` and `t`, through."""


class Page:
    """Rows of one table."""

    def __init__(self, table: str, columns: Iterable[Column], key: Iterable[str] = (), schema=None, rows=None) -> None:
        self.table: str = table
        self.schema: str | None = schema
        self.columns: list[Column] = list(columns)
        self.key: list[str] = list(key)
        self.row_count: int = self._count() if rows is None else rows
        self.rejected: dict[int, str] = {}
        self._by_name = {column.name: column for column in self.columns}

    def __len__(self) -> int:
        return self.row_count

    def __iter__(self) -> Iterator[Row]:
        return self.rows()

    def __contains__(self, name: str) -> bool:
        return name in self._by_name

    def __getitem__(self, name: str) -> Column:
        return self.column(name)

    def column(self, name: str) -> Column:
        """The column of this name; an error that names the columns there are if there is none."""
        column = self._by_name.get(name)
        if column is None:
            has = ", ".join(self._by_name)
            raise Error(f"table '{self.table}' has no column '{name}' (it has {has})")
        return column

    def find(self, name: str) -> Column | None:
        """The column of this name, or `None`."""
        return self._by_name.get(name)

    def rows(self) -> Iterator[Row]:
        """The page row by row. Only columns that are asked for are decoded."""
        return (Row(self, index) for index in range(self.row_count))

    def ops(self) -> list[str] | None:
        """What each row is (see `OP_COLUMN`), or `None` on a page of plain rows."""
        column = self.find(OP_COLUMN)
        return column.expect(Kind.TEXT).values if column else None

    def reject(self, row: int, reason: str) -> None:
        """Reports a row as failed, and takes it out of every output. `reason` must not contain a value of the row."""
        self.rejected.setdefault(row, reason)

    def output(self) -> PageOut:
        """An output page that passes everything through, to be changed from there."""
        return PageOut(self)

    def _count(self) -> int:
        rows = self.columns[0].rows if self.columns else 0
        for column in self.columns:
            if column.rows != rows:
                raise Error(f"column '{column.name}' has {column.rows} values for {rows} rows")
        return rows


class PageBuilder:
    """A page in the making, for sources that go row by row.

    ```python
    page = PageBuilder("numbers", {"n": "int64", "label": "text"}, key=["n"])
    page.append({"n": 1, "label": None})
    page.finish()
    ```

    A column of kind native is written with its type: `native:postgres:int4range`.
    """

    def __init__(
        self, table: str, kinds: Mapping[str, str], key: Iterable[str] = (), schema: str | None = None
    ) -> None:
        self.table, self.schema, self.key = table, schema, list(key)
        self._columns = {name: ColumnBuilder(name, *_kind_and_native(kind)) for name, kind in kinds.items()}
        self.row_count = 0

    def append(self, row: Mapping[str, Any]) -> None:
        """Adds a row. A column that it does not name is absent."""
        if not row.keys() <= self._columns.keys():
            unknown = ", ".join(sorted(row.keys() - self._columns.keys()))
            raise Error(f"the page of table '{self.table}' has no column {unknown}")
        for name, column in self._columns.items():
            column.append(row.get(name, ABSENT))
        self.row_count += 1

    def __len__(self) -> int:
        return self.row_count

    def finish(self) -> Page:
        """The page."""
        columns = [column.finish() for column in self._columns.values()]
        return Page(self.table, columns, self.key, schema=self.schema, rows=self.row_count)


def _kind_and_native(kind: str) -> tuple[str, str | None]:
    """`int64`, or `native` with the type it stands for: `native:postgres:int4range`."""
    name, _, native = kind.partition(":")
    return name, native or None
