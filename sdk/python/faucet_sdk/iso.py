"""ISO 8601 text for dates and times: what Python's own types can't hold has a text as well."""

from collections.abc import Callable
from typing import Any

from .kind import Kind
from .values import Interval

_DAY = 86_400_000_000
_INFINITE = {-(2**31): "-infinity", 2**31 - 1: "infinity"}
_INFINITE_LONG = {-(2**63): "-infinity", 2**63 - 1: "infinity"}


def to_iso(kind: Kind, cell: Any) -> str:
    """The text of a stored date, time, timestamp or interval: `2024-02-29`, `24:00:00`, `2024-02-29T12:30:00.5Z`,
    `P14M3DT-4S`, `infinity`. Years before 1 and after 9999 have a sign and at least four digits; year 0 is 1 BC."""
    return _TO_ISO[kind](cell)


def _date(days: int) -> str:
    return _INFINITE.get(days) or _calendar(days)


def _calendar(days: int) -> str:
    """Counts in eras of 400 years that start on 1 March, so that a leap day is the last day of its year."""
    era, day = divmod(days + 719_468, 146_097)
    year = (day - day // 1460 + day // 36_524 - day // 146_096) // 365
    day -= 365 * year + year // 4 - year // 100
    month = (5 * day + 2) // 153
    day += 1 - (153 * month + 2) // 5
    month, year = (month + 3, year) if month < 10 else (month - 9, year + 1)
    year += era * 400
    sign = "-" if year < 0 else "+" if year > 9999 else ""
    return f"{sign}{abs(year):04}-{month:02}-{day:02}"


def _time(us: int) -> str:
    seconds, us = divmod(us, 1_000_000)
    minutes, seconds = divmod(seconds, 60)
    return f"{minutes // 60:02}:{minutes % 60:02}:{seconds:02}{_fraction(us)}"


def _fraction(us: int) -> str:
    return f".{us:06}".rstrip("0") if us else ""


def _timestamp(us: int) -> str:
    days, rest = divmod(us, _DAY)
    return _INFINITE_LONG.get(us) or f"{_calendar(days)}T{_time(rest)}"


def _timestamptz(us: int) -> str:
    return _INFINITE_LONG.get(us) or _timestamp(us) + "Z"


def _interval(value: Interval) -> str:
    seconds, us = divmod(abs(value.microseconds), 1_000_000)
    sign = "-" if value.microseconds < 0 else ""
    parts = [
        f"{value.months}M" if value.months else "",
        f"{value.days}D" if value.days else "",
        f"T{sign}{seconds}{_fraction(us)}S" if value.microseconds else "",
    ]
    return "P" + ("".join(parts) or "0D")


_TO_ISO: dict[Kind, Callable[[Any], str]] = {
    Kind.DATE: _date,
    Kind.TIME: _time,
    Kind.TIMESTAMP: _timestamp,
    Kind.TIMESTAMPTZ: _timestamptz,
    Kind.INTERVAL: _interval,
}
