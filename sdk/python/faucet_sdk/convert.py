"""Python's own types for values that a column holds as numbers or text, in both directions and never with a loss."""

import json
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, NoReturn
from uuid import UUID

from .kind import Kind
from .values import Interval

_EPOCH_DAY = date(1970, 1, 1).toordinal()
_EPOCH = datetime(1970, 1, 1)
_MICROSECOND = timedelta(microseconds=1)
_DAY = 86_400_000_000


def to_cell(kind: Kind, value: object) -> Any:
    """What a column of this kind stores for `value`. Raises `TypeError` or `ValueError` where that would lose some."""
    return _TO_CELL[kind](value)


def to_python(kind: Kind, cell: Any) -> Any:
    """Python's own type for a stored value: `date`, `time`, `datetime`, `timedelta`, `Decimal`, or a JSON document's
    content. Other kinds are as they are. Raises `ValueError` where Python's type can't hold it (infinity, years before
    1 or after 9999, 24:00:00, months)."""
    convert = _TO_PYTHON.get(kind)
    try:
        return convert(cell) if convert else cell
    except OverflowError:
        raise ValueError(f"Python has no {kind} for this value") from None


def _refuse(value: object) -> NoReturn:
    raise TypeError(type(value).__name__)


def _integer(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else _refuse(value)


def _float(value: object) -> float:
    if isinstance(value, float):
        return float(value)
    number = float(_integer(value))
    return number if number == value else _refuse(value)


def _text(value: object) -> str:
    return str(value) if isinstance(value, str) else _refuse(value)


def _decimal(value: object) -> str:
    if isinstance(value, Decimal):
        if value.is_snan():
            raise ValueError("a signaling NaN")
        return "NaN" if value.is_nan() else format(value, "f")
    return str(value) if isinstance(value, str) else str(_integer(value))


def _json(value: object) -> str:
    if isinstance(value, str):
        return str(value)
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _date(value: object) -> int:
    if isinstance(value, date) and not isinstance(value, datetime):
        return value.toordinal() - _EPOCH_DAY
    return _integer(value)


def _time(value: object) -> int:
    if isinstance(value, time) and value.tzinfo is None:
        return ((value.hour * 60 + value.minute) * 60 + value.second) * 1_000_000 + value.microsecond
    return _integer(value)


def _timestamp(value: object) -> int:
    if isinstance(value, datetime):
        return (value - _EPOCH) // _MICROSECOND
    return _integer(value)


def _timestamptz(value: object) -> int:
    if isinstance(value, datetime):
        return (value - _EPOCH.replace(tzinfo=UTC)) // _MICROSECOND
    return _integer(value)


def _interval(value: object) -> Interval:
    if isinstance(value, timedelta):
        return Interval(0, value.days, value.seconds * 1_000_000 + value.microseconds)
    return Interval(*map(_integer, value)) if isinstance(value, tuple) else _refuse(value)


def _uuid(value: object) -> UUID:
    return UUID(value) if isinstance(value, str) else UUID(bytes=_bytes(value))


def _bytes(value: object) -> bytes:
    return bytes(value) if isinstance(value, (bytes, bytearray, memoryview)) else _refuse(value)


_TO_CELL: dict[Kind, Callable[[Any], Any]] = {
    Kind.BOOLEAN: _refuse,
    Kind.INT64: _integer,
    Kind.UINT64: _integer,
    Kind.FLOAT32: _float,
    Kind.FLOAT64: _float,
    Kind.DECIMAL: _decimal,
    Kind.TEXT: _text,
    Kind.BYTES: _bytes,
    Kind.DATE: _date,
    Kind.TIME: _time,
    Kind.TIMESTAMP: _timestamp,
    Kind.TIMESTAMPTZ: _timestamptz,
    Kind.INTERVAL: _interval,
    Kind.UUID: _uuid,
    Kind.JSON: _json,
    Kind.NATIVE: _text,
}


def _to_time(us: int) -> time:
    if us == _DAY:
        raise ValueError("Python has no 24:00:00")
    return (datetime.min + timedelta(microseconds=us)).time()


def _to_timedelta(value: Interval) -> timedelta:
    if value.months:
        raise ValueError("Python's timedelta has no months")
    return timedelta(days=value.days, microseconds=value.microseconds)


_TO_PYTHON: dict[Kind, Callable[[Any], Any]] = {
    Kind.DATE: lambda days: date.fromordinal(days + _EPOCH_DAY),
    Kind.TIME: _to_time,
    Kind.TIMESTAMP: lambda us: _EPOCH + timedelta(microseconds=us),
    Kind.TIMESTAMPTZ: lambda us: _EPOCH.replace(tzinfo=UTC) + timedelta(microseconds=us),
    Kind.INTERVAL: _to_timedelta,
    Kind.DECIMAL: Decimal,
    Kind.JSON: json.loads,
}
