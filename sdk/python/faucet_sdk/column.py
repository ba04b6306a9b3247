"""A column of a page: read by row number, as a list, or as its raw numbers."""

from collections.abc import Callable, Iterable
from functools import cached_property

from . import convert, decode, encode, iso
from .errors import Error
from .kind import NUMBERS, Kind
from .values import ABSENT, is_present


class Column:
    """A column. Columns are never changed; what looks like a change gives a new one.

    What a value is in Python:

    | kind | value |
    |---|---|
    | `boolean` | `bool` |
    | `int64`, `uint64` | `int`, exact |
    | `float32`, `float64` | `float` |
    | `decimal` | `str`, the exact digits; see `python_values` for `Decimal` |
    | `text`, `native` | `str` |
    | `json` | `str`, the exact text of the document |
    | `bytes` | `bytes` |
    | `uuid` | `uuid.UUID` |
    | `date` | `int`, days since 1970-01-01 |
    | `time` | `int`, microseconds since midnight |
    | `timestamp`, `timestamptz` | `int`, microseconds since 1970-01-01 (UTC for `timestamptz`) |
    | `interval` | `Interval` |
    """

    def __init__(self, name, kind, native, rows, validity, absent, offsets, data, index=None) -> None:
        self.name: str = name
        self.kind: Kind = kind
        self.native: str | None = native
        self.rows: int = rows
        self.validity: bytes = validity
        self.absent: bytes = absent
        self.offsets: bytes = offsets
        self.data: bytes = data
        # Place in the input page: the host still has such a column, so it need not be sent back.
        self.index: int | None = index

    @classmethod
    def of(cls, name: str, kind: str, values: Iterable, native: str | None = None) -> "Column":
        """A new column. `None` is null, `ABSENT` is absent; values may also be Python's own types for the kind
        (`datetime`, `Decimal`, a `dict` for `json`). `native` names the type in the source as `system:type`; a column
        of kind `native` needs it."""
        kind, values = Kind(kind), list(values)
        if kind is Kind.NATIVE and native is None:
            raise Error(f"column '{name}' is of kind native and does not say which type that is")
        return cls(name, kind, native, len(values), *encode.buffers(name, kind, values))

    def __len__(self) -> int:
        return self.rows

    def __getitem__(self, row: int):
        return self.values[row]

    def __iter__(self):
        return iter(self.values)

    @cached_property
    def values(self) -> list:
        """All values in row order, decoded once. Don't change the list."""
        return decode.values(self)

    @property
    def has_gaps(self) -> bool:
        """Whether any row has no value."""
        return bool(self.validity)

    @property
    def numbers(self) -> memoryview:
        """The numbers of the column without a copy, for kinds that are stored as numbers. What stands in a row
        without a value means nothing."""
        if self.kind not in NUMBERS:
            raise Error(f"column '{self.name}' is {self.kind}: it is not stored as numbers")
        return memoryview(self.data).cast(NUMBERS[self.kind])

    def python_values(self) -> list:
        """The values as Python's own types: `datetime`, `date`, `time`, `timedelta`, `Decimal`, and the content of
        JSON documents."""
        return self._each(convert.to_python)

    def iso_values(self) -> list:
        """The values of dates, times and intervals as ISO 8601 text, `infinity` and years before 1 included."""
        return self._each(iso.to_iso)

    def map_text(self, change: Callable[[str], str]) -> "Column":
        """A new text column with `change` applied to each text. Null stays null, and absent stays absent. A column of
        kind `native` becomes text."""
        if self.kind is not Kind.NATIVE:
            self.expect(Kind.TEXT)
        return Column.of(self.name, Kind.TEXT, self._mapped(change))

    def expect(self, kind: str) -> "Column":
        """This column if it is of kind `kind`; an error that names both kinds if not."""
        if self.kind != kind:
            raise Error(f"column '{self.name}' is {self.kind}, and {kind} is needed")
        return self

    def named(self, name: str) -> "Column":
        """The same column under another name."""
        buffers = (self.validity, self.absent, self.offsets, self.data)
        return Column(name, self.kind, self.native, self.rows, *buffers, index=self.index)

    def take(self, rows: Iterable[int]) -> "Column":
        """A new column of the values at these rows."""
        return Column.of(self.name, self.kind, [self.values[row] for row in rows], self.native)

    def _mapped(self, change: Callable) -> list:
        if not self.validity:
            return list(map(change, self.values))
        return [change(value) if is_present(value) else value for value in self.values]

    def _each(self, change: Callable) -> list:
        try:
            return self._mapped(lambda cell: change(self.kind, cell))
        except KeyError:
            raise Error(f"column '{self.name}' is {self.kind}: no date, time or interval") from None
        except ValueError as error:
            raise Error(f"column '{self.name}': {error}") from None


class ColumnBuilder:
    """A column in the making, for code that goes row by row."""

    def __init__(self, name: str, kind: str, native: str | None = None) -> None:
        self.name, self.kind, self.native = name, Kind(kind), native
        self.values: list = []

    def append(self, value: object) -> None:
        """Adds the value of the next row; `None` is null, `ABSENT` is absent."""
        self.values.append(value)

    def absent(self) -> None:
        """Adds a row that says nothing about this column."""
        self.values.append(ABSENT)

    def finish(self) -> Column:
        """The column."""
        return Column.of(self.name, self.kind, self.values, self.native)
