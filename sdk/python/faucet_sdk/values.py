"""Values that Python has no type of its own for, and what a cell may hold."""

from typing import Final, NamedTuple


class _Absent:
    """The type of `ABSENT`."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "ABSENT"

    def __bool__(self) -> bool:
        return False


ABSENT: Final = _Absent()
"""The row says nothing about the column: an unchanged TOAST value, a field a document lacks.

Absent is not null (`None`): a destination leaves an absent column alone. Compare with `is`."""


class Interval(NamedTuple):
    """A span of time whose parts are independent: 1 month is not 30 days."""

    months: int = 0
    days: int = 0
    microseconds: int = 0


def is_present(value: object) -> bool:
    """Whether there is a value: neither null nor absent."""
    return value is not None and value is not ABSENT
