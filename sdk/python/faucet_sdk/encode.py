"""From Python values to the buffers of a column."""

import struct
from array import array
from itertools import accumulate
from uuid import UUID

from . import bits, convert
from .errors import Error
from .kind import NUMBERS, TEXTS, Kind
from .values import ABSENT, Interval

# The type that goes into a column as it is; other types are converted one by one.
_OWN_TYPE = {
    Kind.BOOLEAN: bool,
    Kind.FLOAT32: float,
    Kind.FLOAT64: float,
    Kind.BYTES: bytes,
    Kind.INTERVAL: Interval,
    Kind.UUID: UUID,
} | dict.fromkeys(TEXTS, str)

# What stands in a row without a value; its content is ignored.
_FILLER = {bool: False, float: 0.0, bytes: b"", Interval: Interval(), UUID: UUID(int=0), str: "", int: 0}


def buffers(name: str, kind: Kind, values: list) -> tuple[bytes, bytes, bytes, bytes]:
    """The buffers (validity, absent, offsets, data) of a column with these values."""
    own = _OWN_TYPE.get(kind, int)
    types = set(map(type, values))
    if types <= {own}:
        return (b"", b"", *_data(name, kind, values))
    present = [value is not None and value is not ABSENT for value in values]
    filler = _FILLER[own]
    if not types <= {own, type(None), type(ABSENT)}:
        values = [_converted(name, kind, row, value, own) for row, value in enumerate(values)]
    filled = [value if there else filler for value, there in zip(values, present)]
    validity = b"" if all(present) else bits.pack(present)
    absent = bits.pack([value is ABSENT for value in values]) if type(ABSENT) in types else b""
    return (validity, absent, *_data(name, kind, filled))


def _converted(name: str, kind: Kind, row: int, value: object, own: type) -> object:
    if value is None or value is ABSENT or type(value) is own:
        return value
    try:
        return convert.to_cell(kind, value)
    except (TypeError, ValueError, OverflowError, ArithmeticError):
        found = type(value).__name__
        raise Error(f"column '{name}' is {kind}: it takes no such {found} (row {row})") from None


def _data(name: str, kind: Kind, values: list) -> tuple[bytes, bytes]:
    """The buffers (offsets, data) of values that are all there and of the kind's own type."""
    if kind in NUMBERS:
        return b"", _numbers(name, kind, values)
    if kind in TEXTS:
        return _texts(name, values)
    if kind is Kind.BYTES:
        return _offsets(name, map(len, values)), b"".join(values)
    if kind is Kind.BOOLEAN:
        return b"", bits.pack(values)
    if kind is Kind.UUID:
        return b"", b"".join(value.bytes for value in values)
    return b"", b"".join(_interval(name, value) for value in values)


def _numbers(name: str, kind: Kind, values: list) -> bytes:
    try:
        # `array` makes infinity of a float that is too large for 4 bytes; `struct` refuses it.
        if kind is Kind.FLOAT32:
            return struct.pack(f"<{len(values)}f", *values)
        return array(NUMBERS[kind], values).tobytes()
    except OverflowError:
        raise Error(f"column '{name}' is {kind}: it can't hold a number that large") from None


def _interval(name: str, value: Interval) -> bytes:
    try:
        return struct.pack("<qii", value.microseconds, value.days, value.months)
    except struct.error:
        raise Error(f"column '{name}' is interval: a part of a value is too large") from None


def _texts(name: str, values: list[str]) -> tuple[bytes, bytes]:
    whole = "".join(values)
    try:
        if whole.isascii():
            return _offsets(name, map(len, values)), whole.encode()
        encoded = [value.encode() for value in values]
    except UnicodeEncodeError:
        raise Error(f"column '{name}' has a text with half of a surrogate pair") from None
    return _offsets(name, map(len, encoded)), b"".join(encoded)


def _offsets(name: str, lengths) -> bytes:
    try:
        return array("i", accumulate(lengths, initial=0)).tobytes()
    except OverflowError:
        raise Error(f"column '{name}' has more than 2 GiB in one page") from None
