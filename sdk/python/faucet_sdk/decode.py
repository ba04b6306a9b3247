"""From the buffers of a column to Python values."""

import struct
from itertools import pairwise
from uuid import UUID

from . import bits
from .errors import Error
from .kind import NUMBERS, TEXTS, Kind
from .values import ABSENT, Interval


def values(column) -> list:
    """All values of a column in row order, with `None` for null and `ABSENT` for absent."""
    out = _present(column)
    if column.validity:
        absent = bits.unpack(column.absent, column.rows) if column.absent else None
        for row, valid in enumerate(bits.unpack(column.validity, column.rows)):
            if not valid:
                out[row] = ABSENT if absent and absent[row] else None
    return out


def _present(column) -> list:
    kind, data = column.kind, column.data
    if kind in NUMBERS:
        return memoryview(data).cast(NUMBERS[kind]).tolist()
    if kind in TEXTS:
        return texts(column)
    if kind is Kind.BYTES:
        ends = offsets(column)
        return [data[start:end] for start, end in pairwise(ends)]
    if kind is Kind.BOOLEAN:
        return bits.unpack(data, column.rows)
    if kind is Kind.UUID:
        return [UUID(bytes=data[at : at + 16]) for at in range(0, len(data), 16)]
    return [Interval(months, days, us) for us, days, months in struct.iter_unpack("<qii", data)]


def offsets(column) -> list[int]:
    """Where each value starts, and where the last one ends."""
    return memoryview(column.offsets).cast("i").tolist()


def texts(column) -> list[str]:
    """The texts of a column, empty where there is no value. ASCII is cut after decoding it in one go."""
    data, ends = column.data, offsets(column)
    try:
        whole = data.decode()
        if len(whole) == len(data):
            return [whole[start:end] for start, end in pairwise(ends)]
        return [data[start:end].decode() for start, end in pairwise(ends)]
    except UnicodeDecodeError:
        raise Error(f"the host sent column '{column.name}' with invalid UTF-8") from None
