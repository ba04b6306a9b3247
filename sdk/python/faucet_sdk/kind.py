"""What the values of a column are, and how they lie in its buffers."""

from enum import StrEnum
from typing import Literal


class Kind(StrEnum):
    """The kinds of a column, spelled as everywhere in faucet. A plain string (`"int64"`) does as well."""

    BOOLEAN = "boolean"
    INT64 = "int64"
    UINT64 = "uint64"
    FLOAT32 = "float32"
    FLOAT64 = "float64"
    DECIMAL = "decimal"
    TEXT = "text"
    BYTES = "bytes"
    DATE = "date"
    TIME = "time"
    TIMESTAMP = "timestamp"
    TIMESTAMPTZ = "timestamptz"
    INTERVAL = "interval"
    UUID = "uuid"
    JSON = "json"
    NATIVE = "native"


Letter = Literal["q", "Q", "f", "d", "i"]

# The letter by which `memoryview.cast` and `array` know the numbers of a kind.
NUMBERS: dict[Kind, Letter] = {
    Kind.INT64: "q",
    Kind.UINT64: "Q",
    Kind.FLOAT32: "f",
    Kind.FLOAT64: "d",
    Kind.DATE: "i",
    Kind.TIME: "q",
    Kind.TIMESTAMP: "q",
    Kind.TIMESTAMPTZ: "q",
}

# Kinds whose values are UTF-8 cut by offsets.
TEXTS = frozenset({Kind.DECIMAL, Kind.TEXT, Kind.JSON, Kind.NATIVE})

# Kinds with offsets.
WITH_OFFSETS = TEXTS | {Kind.BYTES}
